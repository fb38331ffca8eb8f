"""Table properties for many small writers. The values were measured: docs/commits.md, `make bench-commits`."""

from workbench._base import arguments, identifiers
from workbench.tables.commits.attempts import attempt
from workbench.tables.commits.loading import load

PROFILE = {
    # Iceberg's own retries keep the files that were written and only swap again; the default gives up after 4
    "commit.retry.num-retries": "30",
    "commit.retry.min-wait-ms": "50",
    "commit.retry.max-wait-ms": "2000",
    "commit.retry.total-timeout-ms": "600000",
    # each commit writes a metadata file; without this all of them stay for ever
    "write.metadata.delete-after-commit.enabled": "true",
    "write.metadata.previous-versions-max": "100",
}


def set_profile(spark, table, *, properties=PROFILE):
    """Give a table the properties for many small writers.

    They decide how often a commit is swapped again before it fails, and that old metadata files go. They repeat no
    data conflict and lose none: what was written on rows that somebody else changed is refused as before.

    Args:
        spark: classic session whose catalog holds the table.
        table: `namespace.name`.
        properties: name to text.

    Returns:
        Attempt, its value the properties. Nothing is committed when the table has all of them.

    Raises:
        TableNotFound: no such table.
        ValueError: it is no Iceberg table, or the properties are none; nothing was set.
    """
    properties = arguments.entries("properties", properties, "names of table properties, text to text")
    quoted = identifiers.quoted(table)

    def landed():
        there = load(spark, table).properties()
        return properties if all(there.get(name) == value for name, value in properties.items()) else None

    def commit():
        if landed() is None:
            update = load(spark, table).updateProperties()
            for name, value in properties.items():
                update = update.set(name, value)
            update.commit()
            spark.sql(f"REFRESH TABLE {quoted}")
        return properties

    return attempt(commit, landed=landed, conditional=True, tries=20, first_wait_s=0.05, longest_wait_s=2)
