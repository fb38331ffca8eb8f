"""Table properties for many small writers. The values were measured: docs/commits.md, `make bench-commits`."""

from collections.abc import Mapping

from workbench._base import identifiers
from workbench._base.door import checked
from workbench._base.typing import SparkSession
from workbench.tables.commits.attempts import Attempt, attempt
from workbench.tables.commits.loading import load
from workbench.tables.commits.marks import Properties

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


@checked
def set_profile(spark: SparkSession, table: str, *, properties: Properties = PROFILE) -> Attempt:
    """Give a table the properties for many small writers.

    They decide how often a commit is swapped again before it fails, and that old metadata files go. Data conflicts
    are refused as before: what was written on rows that somebody else changed is not committed.

    Args:
        spark: classic session whose catalog holds the table.
        table: `namespace.name`.
        properties: table properties, name to text.

    Returns:
        Attempt, its value the properties. Nothing is committed when the table has all of them.

    Raises:
        TableNotFound: no such table.
        ValueError: it is not an Iceberg table, or the properties are not texts; nothing was set.
    """
    quoted = identifiers.quoted(table)

    def landed() -> Mapping[str, str] | None:
        current = load(spark, table).properties()
        return properties if all(current.get(name) == value for name, value in properties.items()) else None

    def commit() -> Mapping[str, str]:
        if landed() is None:
            update = load(spark, table).updateProperties()
            for name, value in properties.items():
                update = update.set(name, value)
            update.commit()
            spark.sql(f"REFRESH TABLE {quoted}")
        return properties

    return attempt(commit, landed=landed, conditional=True, tries=20, first_wait_s=0.05, longest_wait_s=2)
