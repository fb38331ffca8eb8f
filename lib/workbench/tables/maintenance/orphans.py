"""Files that no snapshot knows: found by listing, looked at a second time, and only then removed.

A file is written before the commit that makes it known. So young files are never orphans, whatever the
metadata says.
"""

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta

from workbench._base.errors import ArgumentError
from workbench._base.typing import Java, SparkSession
from workbench.tables import commits
from workbench.tables.maintenance import metadata, wording
from workbench.tables.maintenance.policy import Policy
from workbench.tables.maintenance.results import Hindrance, Obstacle

GUARD = timedelta(hours=24)
_AT_ONCE = 500
_EVER = 2**62  # milliseconds: no file is younger
_FEW = 100  # files whose ages are asked one by one: more is slower than to list the storage again


class Ambiguous(ArgumentError):
    """Files of another table may be among the orphans; nothing was removed.

    Attributes:
        obstacle: what is in the way.
    """

    def __init__(self, obstacle: Obstacle) -> None:
        super().__init__(wording.obstacle(obstacle))
        self.obstacle = obstacle


def check(policy: Policy, *, now: datetime, no_commit_under_way: bool = False) -> None:
    """Refuse a cut-off that could take the files of commits under way.

    Raises:
        ValueError: it is less than 24 hours ago, by the policy or because `now` is in the future, and
            `no_commit_under_way` is False.
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
        raise ArgumentError(
            f"now is {now:%Y-%m-%d %H:%M}, which is too late: orphans would be younger than the policy says: {why}"
        )


def find(
    spark: SparkSession, table: str, policy: Policy, *, now: datetime, no_commit_under_way: bool = False
) -> tuple[str, ...]:
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
    described = [location for location in unknown if location.endswith(metadata.FILES)]
    # known was loaded before the listing: a file that was committed in between looks like an orphan
    fresh = metadata.still(spark, commits.load(spark, table))
    _alone(spark, fresh, _still_unknown(spark, fresh, described))
    return tuple(_still_unknown(spark, fresh, listed))


def remove(
    spark: SparkSession, table: str, locations: Sequence[str], *, go_on: Callable[[], bool] = lambda: True
) -> int:
    """Delete orphans, some hundred at a time; each time what the table has come to know since is left out.

    Args:
        spark: classic session.
        table: its name.
        locations: of `find`.
        go_on: asked before each part.

    Returns:
        How many were deleted.
    """
    deleted = 0
    for start in range(0, len(locations), _AT_ONCE):
        if not go_on():
            break
        loaded = metadata.still(spark, commits.load(spark, table))
        part = _still_unknown(spark, loaded, locations[start : start + _AT_ONCE])
        files = metadata.jvm(spark).java.util.ArrayList()
        for location in part:
            files.add(location)
        loaded.io().deleteFiles(files)
        deleted += len(part)
    return deleted


def _unknown(spark: SparkSession, loaded: Java, before_millis: int) -> list[str]:
    """Return the files below a table's location that its metadata does not know, by Iceberg's own action."""
    action = metadata.actions(spark).deleteOrphanFiles(loaded)
    if "S3FileIO" in loaded.io().getClass().getName():
        action = action.usePrefixListing(True)
    try:
        result = action.olderThan(before_millis).deleteWith(_nothing(metadata.jvm(spark))).execute()
    except Exception as error:
        if commits.kind(error) != commits.VALIDATION:
            raise
        first = commits.errors.first_line(error)
        raise Ambiguous(Obstacle(Hindrance.LISTING_REFUSED, name=loaded.name(), error=first)) from error
    return sorted(result.orphanFileLocations())


def _older(spark: SparkSession, loaded: Java, locations: Sequence[str], before_millis: int) -> list[str]:
    """Return those of some files that are older than a moment; what is gone meanwhile is not."""
    from py4j.java_gateway import is_instance_of

    lists = is_instance_of(
        spark.sparkContext._gateway, loaded.io(), "org.apache.iceberg.io.SupportsPrefixOperations"
    )
    if len(locations) > _FEW or not lists:
        old = set(_unknown(spark, loaded, before_millis)) if locations else ()
        return [location for location in locations if location in old]
    return [
        location
        for location in locations
        if (created := _created(loaded.io(), location)) is not None and created < before_millis
    ]


def _created(io: Java, location: str) -> int | None:
    """Return when a file was created, in milliseconds, as a listing has it; None where it is gone."""
    try:
        files = io.listPrefix(location).iterator()
        while files.hasNext():
            file = files.next()
            if metadata.path(file.location()) == metadata.path(location):
                return file.createdAtMillis()
    except Exception:
        if io.newInputFile(location).exists():  # the storage is at fault
            raise
    return None


def _nothing(jvm: Java) -> Java:
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


def _still_unknown(spark: SparkSession, loaded: Java, locations: Sequence[str]) -> list[str]:
    """Return the locations that no file of any snapshot, ref or metadata version has, compared by path."""
    from pyspark.sql import functions as F

    if not locations:
        return []
    known = metadata.known(spark, loaded).select(metadata.path(F.col("at")).alias("path"))
    asked = metadata.texts(spark, locations).select(F.col("at").alias("location"))
    asked = asked.withColumn("path", metadata.path(F.col("location")))
    rows = asked.join(known, "path", "left_anti").select("location").collect()
    return sorted(row.location for row in rows)


def _alone(spark: SparkSession, loaded: Java, locations: Sequence[str]) -> None:
    """Refuse when the files of another table lie below this one's location.

    A writer that was killed leaves a metadata file that is empty or cut off. In this table's own folder of
    metadata that is all there may be; elsewhere it is not known whose it is.

    Raises:
        Ambiguous: a metadata file of another table, of an unknown one, or of a commit that this one does not
            know, is among the orphans.
    """
    own = metadata.path(loaded.operations().current().metadataFileLocation()).rpartition("/")[0]
    logs: dict[str, list[str]] = {}
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


def _newest(loaded: Java, logs: Mapping[str, Sequence[str]]) -> None:
    """Refuse where the catalog came back from an old copy: what was committed since is not known to it.

    A commit has been where a later one names it. Files from before the table's own log are merely forgotten.

    Args:
        loaded: Java handle of the table.
        logs: location to log, of its metadata files that it does not know.

    Raises:
        Ambiguous: it does not know a commit of its own.
    """
    state = loaded.operations().current()
    known = [state.metadataFileLocation(), *[entry.file() for entry in state.previousFiles()]]
    first = min((number for file in known if (number := metadata.number(file)) is not None), default=0)
    named = {metadata.path(file) for log in logs.values() for file in log}
    for location in logs:
        forgotten = (number := metadata.number(location)) is not None and number < first
        if metadata.path(location) in named and not forgotten:
            raise Ambiguous(Obstacle(Hindrance.UNKNOWN_COMMIT, location=location))


def _described(spark: SparkSession, loaded: Java, location: str) -> tuple[str | None, list[str]]:
    """Return (the table's id, its log) of a metadata file; None for the id where it cannot be read as one."""
    try:
        metadata_file = metadata.jvm(spark).org.apache.iceberg.TableMetadataParser.read(loaded.io(), location)
        return metadata_file.uuid(), [entry.file() for entry in metadata_file.previousFiles()]
    except Exception:
        file = loaded.io().newInputFile(location)
        if not file.exists():  # the next commit deleted it
            return loaded.uuid().toString(), []
        stream = file.newStream()  # raises where the storage is at fault
        stream.read()
        stream.close()
        return None, []
