"""Files that no snapshot knows: found by listing, looked at a second time, and only then removed.

A file is written before the commit that makes it known. So young files are never orphans, whatever the
metadata says.
"""

from datetime import UTC, datetime, timedelta

from workbench._base.errors import ArgumentError
from workbench.tables import commits
from workbench.tables.maintenance import metadata, wording
from workbench.tables.maintenance.results import Hindrance, Obstacle

GUARD = timedelta(hours=24)
_AT_ONCE = 500
_EVER = 2**62  # milliseconds: no file is younger
_FEW = 100  # files whose ages are asked one by one: more is slower than to list the storage again


class Ambiguous(ArgumentError):
    """What is an orphan cannot be told, for files of another table may be among them; nothing was removed.

    Attributes:
        obstacle: what is in the way.
    """

    def __init__(self, obstacle: Obstacle) -> None:
        super().__init__(wording.obstacle(obstacle))
        self.obstacle = obstacle


def check(policy, *, now, no_commit_under_way=False):
    """Refuse a cut-off that could take the files of commits under way.

    Raises:
        ValueError: it is less than 24 hours ago, by the policy or because `now` is in the future, and nobody said
            that no commit is under way.
    """
    if no_commit_under_way:
        return
    why = (
        "files younger than 24 hours may belong to a commit under way, and removing them would break it. If no "
        "writer is at work on this table, say no_commit_under_way=True"
    )
    age = timedelta(days=policy.orphans_older_than_days)
    if age < GUARD:
        hours = policy.orphans_older_than_days * 24
        raise ArgumentError(
            f"orphans_older_than_days is {policy.orphans_older_than_days:g} ({hours:g} hours): {why}"
        )
    if now - age > datetime.now(UTC) - GUARD:
        raise ArgumentError(f"now is {now:%Y-%m-%d %H:%M}, and orphans would be younger by the clock: {why}")


def find(spark, table, policy, *, now, no_commit_under_way=False):
    """Return the locations of orphans, sorted; lists the storage below the table and changes nothing.

    Args:
        spark: classic session.
        table: its name.
        policy: Policy.
        now: datetime with a zone.
        no_commit_under_way: the caller's word that no writer is at work: lifts the guard of 24 hours.

    Raises:
        Ambiguous: the files of another table lie below this one's location, or the catalog names an old state.
        ValueError: the guard.
    """
    check(policy, now=now, no_commit_under_way=no_commit_under_way)
    before = now - timedelta(days=policy.orphans_older_than_days)
    seen = metadata.still(spark, commits.load(spark, table))
    unknown = _unknown(spark, seen, _EVER)
    listed = _older(spark, seen, unknown, int(before.timestamp() * 1000))
    if not listed:
        return ()
    # another table's metadata may all be young, where each of its commits deletes the one before
    described = [one for one in unknown if one.endswith(metadata.FILES)]
    # known was loaded before the listing: a file that was committed in between looks like an orphan
    fresh = metadata.still(spark, commits.load(spark, table))
    _alone(spark, fresh, _still_unknown(spark, fresh, described))
    return tuple(_still_unknown(spark, fresh, listed))


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
    try:
        found = action.olderThan(before_millis).deleteWith(_nothing(jvm)).execute()
    except Exception as error:
        if commits.kind(error) != commits.VALIDATION:
            raise
        first = commits.errors.first_line(error)
        raise Ambiguous(Obstacle(Hindrance.LISTING_REFUSED, name=loaded.name(), error=first)) from error
    return sorted(found.orphanFileLocations())


def _older(spark, loaded, locations, before_millis):
    """Return those of some files that are older than a moment; what is gone meanwhile is not."""
    from py4j.java_gateway import is_instance_of

    lists = is_instance_of(
        spark.sparkContext._gateway, loaded.io(), "org.apache.iceberg.io.SupportsPrefixOperations"
    )
    if len(locations) > _FEW or not lists:
        old = set(_unknown(spark, loaded, before_millis)) if locations else ()
        return [one for one in locations if one in old]
    return [one for one in locations if (at := _created(loaded.io(), one)) is not None and at < before_millis]


def _created(io, location):
    """Return when a file was created, in milliseconds, as a listing tells it; None where it is not there."""
    try:
        each = io.listPrefix(location).iterator()
        while each.hasNext():
            one = each.next()
            if metadata.path(one.location()) == metadata.path(location):
                return one.createdAtMillis()
    except Exception:
        if io.newInputFile(location).exists():  # the storage is at fault
            raise
    return None


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
    known = metadata.known(spark, loaded).select(metadata.path(F.col("at")).alias("path"))
    asked = metadata.texts(spark, locations).select(F.col("at").alias("location"))
    asked = asked.withColumn("path", metadata.path(F.col("location")))
    rows = asked.join(known, "path", "left_anti").select("location").collect()
    return sorted(row.location for row in rows)


def _alone(spark, loaded, locations):
    """Refuse when the files of another table lie below this one's location.

    A writer that was killed leaves a metadata file that is empty or cut off. In this table's own folder of
    metadata that is all there may be; elsewhere nobody can tell whose it is.

    Raises:
        Ambiguous: there is a metadata file of another table, of nobody knows whom, or of a commit that this one
            does not know, among the orphans.
    """
    own = metadata.path(loaded.operations().current().metadataFileLocation()).rpartition("/")[0]
    logs = {}
    for location in locations:
        uuid, logs[location] = _described(spark, loaded, location)
        folder = location.rpartition("/")[0]
        if uuid is None and metadata.path(folder) != own:
            why = Hindrance.UNREADABLE_METADATA
        elif uuid not in (None, loaded.uuid().toString()):
            why = Hindrance.METADATA_OF_ANOTHER
        else:
            continue
        raise Ambiguous(Obstacle(why, location=loaded.location(), folder=folder))
    _newest(loaded, logs)


def _newest(loaded, logs):
    """Refuse where the catalog came back from an old copy: what was committed since is not known to it.

    A commit has been where a later one names it. Files from before the table's own log are merely forgotten.

    Args:
        loaded: Java handle of the table.
        logs: location to log, of its metadata files that it does not know.

    Raises:
        Ambiguous: it does not know a commit of its own.
    """
    state = loaded.operations().current()
    known = [state.metadataFileLocation(), *[one.file() for one in state.previousFiles()]]
    first = min((number for one in known if (number := metadata.number(one)) is not None), default=0)
    named = {metadata.path(one) for log in logs.values() for one in log}
    for location in logs:
        forgotten = (number := metadata.number(location)) is not None and number < first
        if metadata.path(location) in named and not forgotten:
            raise Ambiguous(Obstacle(Hindrance.UNKNOWN_COMMIT, location=location))


def _described(spark, loaded, location):
    """Return (the table's id, its log) of a metadata file; None for the id where the file is there and is none."""
    try:
        there = spark._jvm.org.apache.iceberg.TableMetadataParser.read(loaded.io(), location)
        return there.uuid(), [one.file() for one in there.previousFiles()]
    except Exception:
        file = loaded.io().newInputFile(location)
        if not file.exists():  # the next commit deleted it
            return loaded.uuid().toString(), []
        stream = file.newStream()  # raises where the storage is at fault
        stream.read()
        stream.close()
        return None, []
