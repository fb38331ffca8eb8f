"""A commit's own name in its snapshot's summary, by which it is found again when nobody knows how it ended.

A name lives as long as its snapshot: `expire_snapshots` removes both, and a commit whose snapshot is gone is not
found any more.
"""

import uuid
from collections.abc import Callable, Iterable, Mapping
from numbers import Integral
from typing import Annotated, Any, TypeVar

from workbench._base import arguments
from workbench._base.bounds import MinLen
from workbench._base.door import checked
from workbench._base.errors import ArgumentError
from workbench._base.typing import Java, SparkSession, jvm
from workbench.tables.commits.loading import classic, load, snapshots_of

T = TypeVar("T")
Properties = Mapping[Annotated[str, MinLen(1)], str]  # of a table, or of a snapshot's summary
KEY = "workbench.commit-id"
_LONGEST = 200


@checked
def named(id: str | None = None) -> str:
    """Return the mark of a commit: the caller's own, or a new random one.

    Raises:
        ValueError: it is not a text of 1 to 200 printable characters.
    """
    if id is None:
        return uuid.uuid4().hex
    _refuse_unprintable(id)
    return id


def _refuse_unprintable(id: str) -> None:
    if not 1 <= len(id) <= _LONGEST or not id.isprintable():
        raise ArgumentError(f"a commit's id is a text of 1 to {_LONGEST} printable characters, not {id!r}")


@checked
def find(
    spark: SparkSession, table: str, id: str, *, anywhere: bool = False, but: Iterable[Any] = frozenset()
) -> int | None:
    """Return the id of the newest snapshot with a mark; None when there is none.

    Args:
        spark: classic session whose catalog holds the table.
        table: `namespace.name`.
        id: the mark.
        anywhere: look at all snapshots that were not expired, also those that no branch or tag leads to: what was
            committed and rolled back since, or committed to a branch that is gone.
        but: ids of snapshots that do not count, in any collection.

    Raises:
        TableNotFound: no such table.
        ValueError: an argument is wrong.
    """
    _refuse_unprintable(id)
    but = frozenset(arguments.each("but", but, Integral, "ids of snapshots"))
    loaded = load(spark, table)
    known = snapshots_of(spark, loaded)
    marked = [
        snapshot for snapshot in known if snapshot["summary"].get(KEY) == id and snapshot["snapshot-id"] not in but
    ]
    if marked and not anywhere:
        heads = [ref.snapshotId() for ref in loaded.refs().values()]
        reached = _reached(
            heads, {snapshot["snapshot-id"]: snapshot.get("parent-snapshot-id") for snapshot in known}
        )
        marked = [snapshot for snapshot in marked if snapshot["snapshot-id"] in reached]
    return max(marked, key=_age)["snapshot-id"] if marked else None


@checked
def every(spark: SparkSession, table: str, id: str) -> frozenset[int]:
    """Return the ids of all snapshots with a mark that were not expired, wherever they are: frozenset.

    Raises:
        TableNotFound: no such table.
        ValueError: an argument is wrong.
    """
    _refuse_unprintable(id)
    known = snapshots_of(spark, load(spark, table))
    return frozenset(snapshot["snapshot-id"] for snapshot in known if snapshot["summary"].get(KEY) == id)


@checked
def stamped(spark: SparkSession, mark: str, write: Callable[[], T]) -> T:
    """Call a function, and give every snapshot that Spark commits in it the mark in its summary.

    The mark is bound to this Python thread and the Java thread that belongs to it: writers in other threads, also
    of the same session, do not get it (a session property would give it to all of them). INSERT, MERGE, UPDATE,
    DELETE and DataFrame writes take it; procedures (`CALL …`) and changes through Iceberg's Java interface do not.

    Args:
        spark: classic session.
        mark: text.
        write: function without arguments.

    Returns:
        What `write` returns.

    Raises:
        ValueError: an argument is wrong, within another marked write, or PySpark runs without pinned threads.
    """
    _refuse_unprintable(mark)
    if KEY in (around := _properties(spark).get()):
        raise ArgumentError(f"a marked write cannot be inside another one; this one is inside {around[KEY]!r}")
    return with_properties(spark, {KEY: mark}, write)


@checked
def with_properties(spark: SparkSession, properties: Properties, write: Callable[[], T]) -> T:
    """Call a function, and give every snapshot that Spark commits in it these properties, bound as by `stamped`.

    Args:
        spark: classic session.
        properties: entries of the snapshots' summaries, name to text.
        write: function without arguments.

    Returns:
        What `write` returns.

    Raises:
        ValueError: an argument is wrong, or PySpark runs without pinned threads.
    """
    local = _properties(spark)
    around = local.get()
    local.set(dict(around) | dict(properties))
    try:
        return write()
    finally:
        local.set(around)


def _properties(spark: SparkSession) -> Java:
    """Return the Java ThreadLocal with what Iceberg adds to the summaries of a thread's commits.

    Iceberg's own way in, `CommitMetadata.withCommitProperties`, calls back into Python; once a stream's
    foreachBatch was used it does so in another Python thread, which an interrupt does not reach.
    """
    from py4j.clientserver import ClientServer

    classic(spark)
    if not isinstance(spark.sparkContext._gateway, ClientServer):
        raise ArgumentError("a marked write needs PySpark's pinned threads, and PYSPARK_PIN_THREAD=false is set")
    loader = jvm(spark).java.lang.Thread.currentThread().getContextClassLoader()
    field = loader.loadClass("org.apache.iceberg.spark.CommitMetadata").getDeclaredField("COMMIT_PROPERTIES")
    field.setAccessible(True)
    return field.get(None)


def _age(snapshot: Mapping[str, Any]) -> tuple[int, int]:
    """Return what orders snapshots: the sequence number, and the time where format 1 has none."""
    return snapshot.get("sequence-number", 0), snapshot["timestamp-ms"]


def _reached(heads: Iterable[int], parents: Mapping[int, int | None]) -> set[int]:
    """Return the ids of the snapshots from which a history leads to one of the heads."""
    reached: set[int] = set()
    at: int | None
    for at in heads:
        while at is not None and at in parents and at not in reached:
            reached.add(at)
            at = parents[at]
    return reached
