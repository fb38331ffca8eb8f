"""Where a publisher stands in a table: what the newest of its snapshots in main's history says."""

from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

from workbench._base.typing import Java, SparkSession, jvm
from workbench.tables import commits

T = TypeVar("T")


def newest(
    spark: SparkSession, loaded: Java, parse: Callable[[Java], T | None], *, tagged: Iterable[int] = ()
) -> tuple[T | None, Java]:
    """Return the newest position in main's history, and its snapshot; (None, None) where there is none.

    Where maintenance has cut main's history, older metadata files have the rest of it. A tag that is merely older
    proves nothing, for main may have been rolled back behind it before the history was cut.

    Args:
        spark: the session.
        loaded: Iceberg's own table object.
        parse: function of a snapshot that returns the position in its summary, or None.
        tagged: ids of snapshots of which the newest position is one, if main descends from it.

    Returns:
        The position and Iceberg's snapshot.
    """
    main = commits.head(loaded)
    if main is None:
        return None, None
    position, at = None, None
    for snapshot_id in tagged:
        # of several, such as a user's own tags beside the publisher's, the one that descends from the others
        if commits.descends(spark, loaded, main, snapshot_id) and (
            at is None or commits.descends(spark, loaded, snapshot_id, at.snapshotId())
        ):
            snapshot = loaded.snapshot(snapshot_id)
            if (parsed := parse(snapshot)) is not None:
                position, at = parsed, snapshot
    if at is not None:
        return position, at
    for snapshot in line(spark, loaded, main):
        if (position := parse(snapshot)) is not None:
            return position, snapshot
    return None, None


def line(spark: SparkSession, loaded: Java, snapshot_id: int | None) -> Iterator[Java]:
    """Yield a snapshot and its ancestors, expired ones too as long as a metadata file has them."""
    known = [loaded.operations().current()]
    older = [entry.file() for entry in known[0].previousFiles()]
    while snapshot_id is not None:
        snapshot = next((candidate for metadata in known if (candidate := metadata.snapshot(snapshot_id))), None)
        if snapshot is not None:
            yield snapshot
            snapshot_id = snapshot.parentId()
        elif older:
            known += _metadata(spark, loaded, older.pop())
        else:
            return


def _metadata(spark: SparkSession, loaded: Java, file: str) -> list[Java]:
    """Return the content of a metadata file in a list, which is empty where the file was deleted."""
    try:
        return [jvm(spark).org.apache.iceberg.TableMetadataParser.read(loaded.io(), file)]
    except Exception as error:
        if not any(name.endswith("NotFoundException") for name in commits.causes(error)):
            raise
        return []


def tags(loaded: Java, prefix: str) -> dict[str, int]:
    """Return the tags whose names begin with a prefix, name to the id of the snapshot that each keeps."""
    return {name: ref.snapshotId() for name, ref in _refs(loaded, prefix) if ref.isTag()}


def branches(loaded: Java, prefix: str) -> dict[str, int]:
    """Return the branches whose names begin with a prefix, name to the id of the snapshot that each is at."""
    return {name: ref.snapshotId() for name, ref in _refs(loaded, prefix) if ref.isBranch()}


def _refs(loaded: Java, prefix: str) -> list[tuple[str, Java]]:
    refs = loaded.refs()
    return [(name, refs[name]) for name in list(refs) if name.startswith(prefix)]
