"""Files that no snapshot knows: found by listing, looked at a second time, and only then removed.

A file is written before the commit that makes it known. So young files are never orphans, whatever the
metadata says.
"""

from datetime import timedelta

from workbench.tables import commits
from workbench.tables.maintenance import metadata

GUARD = timedelta(hours=24)
_AT_ONCE = 500
_SCHEME = r"^[A-Za-z][A-Za-z0-9+.-]*:(//[^/]*)?"


def check(policy, *, no_commit_under_way=False):
    """Refuse a cut-off that could take the files of commits under way.

    Raises:
        ValueError: it is under 24 hours and nobody said that no commit is under way.
    """
    if timedelta(days=policy.orphans_older_than_days) < GUARD and not no_commit_under_way:
        hours = policy.orphans_older_than_days * 24
        raise ValueError(
            f"orphans_older_than_days is {policy.orphans_older_than_days:g} ({hours:g} hours): files younger than "
            "24 hours may belong to a commit under way, and removing them would break it. If no writer is at work "
            "on this table, say no_commit_under_way=True"
        )


def find(spark, table, policy, *, now, no_commit_under_way=False):
    """Return the locations of orphans, sorted; lists the storage below the table and changes nothing.

    Args:
        spark: classic session.
        table: its name.
        policy: Policy.
        now: datetime with a zone.
        no_commit_under_way: the caller's word that no writer is at work: lifts the guard of 24 hours.

    Raises:
        ValueError: the guard; or the files of another table lie below this one's location.
    """
    check(policy, no_commit_under_way=no_commit_under_way)
    before = now - timedelta(days=policy.orphans_older_than_days)
    listed = _unknown(spark, metadata.still(spark, commits.load(spark, table)), int(before.timestamp() * 1000))
    # known was loaded before the listing: a file that was committed in between looks like an orphan
    fresh = metadata.still(spark, commits.load(spark, table))
    left = _still_unknown(spark, fresh, listed)
    _alone(spark, fresh, left)
    return tuple(left)


def remove(spark, table, found, *, go_on=lambda: True):
    """Delete orphans, some hundred at a time; each time what the table has come to know since is left out.

    Args:
        spark: classic session.
        table: its name.
        found: locations, of `find`.
        go_on: asked before each part.

    Returns:
        How many were deleted.
    """
    deleted = 0
    for start in range(0, len(found), _AT_ONCE):
        if not go_on():
            break
        loaded = metadata.still(spark, commits.load(spark, table))
        part = _still_unknown(spark, loaded, found[start : start + _AT_ONCE])
        files = spark._jvm.java.util.ArrayList()
        for location in part:
            files.add(location)
        loaded.io().deleteFiles(files)
        deleted += len(part)
    return deleted


def _unknown(spark, loaded, before_millis):
    """Return the files below a table's location that its metadata does not know, by Iceberg's own action."""
    jvm = spark._jvm
    action = jvm.org.apache.iceberg.spark.actions.SparkActions.get(spark._jsparkSession).deleteOrphanFiles(loaded)
    if "S3FileIO" in loaded.io().getClass().getName():
        action = action.usePrefixListing(True)
    found = action.olderThan(before_millis).deleteWith(_nothing(jvm)).execute()
    return sorted(found.orphanFileLocations())


def _nothing(jvm):
    """Return a Java consumer that keeps what it is given and deletes nothing: the action has no dry run."""
    loader = jvm.java.lang.Thread.currentThread().getContextClassLoader()
    lang, of = jvm.java.lang, jvm.java.lang.Class.forName
    boolean = of("java.lang.Boolean").getField("TYPE").get(None)
    add = lang.invoke.MethodType.methodType(boolean, of("java.lang.Object"))
    queue = jvm.java.util.concurrent.ConcurrentLinkedQueue()
    handle = lang.invoke.MethodHandles.publicLookup().bind(queue, "add", add)
    return lang.invoke.MethodHandleProxies.asInterfaceInstance(
        of("java.util.function.Consumer", True, loader), handle
    )


def _still_unknown(spark, loaded, locations):
    """Return the locations that no file of any snapshot, ref or metadata version has, compared by path."""
    from pyspark.sql import functions as F

    if not locations:
        return []
    known = metadata.frame(spark, loaded, "ALL_FILES").select(F.col("file_path").alias("at"))
    for kind, column in (
        ("ALL_MANIFESTS", "path"),
        ("SNAPSHOTS", "manifest_list"),
        ("METADATA_LOG_ENTRIES", "file"),
    ):
        known = known.union(metadata.frame(spark, loaded, kind).select(column))
    more = [one.path() for one in [*loaded.statisticsFiles(), *loaded.partitionStatisticsFiles()]]
    more.append(loaded.operations().current().metadataFileLocation())
    known = known.union(_texts(spark, more))

    def path(column):
        # without scheme and host: one file under two schemes is kept, not deleted
        return F.regexp_replace(F.regexp_replace(column, _SCHEME, ""), "/+", "/")

    asked = _texts(spark, locations).toDF("location").withColumn("path", path("location"))
    rows = asked.join(known.select(path("at").alias("path")), "path", "left_anti").select("location").collect()
    return sorted(row.location for row in rows)


def _texts(spark, values):
    """Return a frame of texts; by Arrow, which starts no Python worker."""
    import pyarrow as pa

    return spark.createDataFrame(pa.table({"at": pa.array(list(values), pa.string())}))


def _alone(spark, loaded, locations):
    """Refuse when the files of another table lie below this one's location.

    Raises:
        ValueError: there is a metadata file of another table among the orphans.
    """
    parser = spark._jvm.org.apache.iceberg.TableMetadataParser
    newest = {}
    for location in locations:
        if location.endswith(".metadata.json"):
            newest[location.rpartition("/")[0]] = location
    for folder, location in newest.items():
        uuid = parser.read(loaded.io(), location).uuid()
        if uuid != loaded.uuid().toString():
            raise ValueError(
                f"another table's metadata lies below {loaded.location()}, in {folder}: its files would be taken "
                "for orphans. Nothing is removed"
            )
