"""A commit's own name in its snapshot's summary, by which it is found again when nobody knows how it ended.

A name lives as long as its snapshot: `expire_snapshots` removes both, and a commit whose snapshot is gone is not
found any more.
"""

import uuid
from numbers import Integral

from workbench._base import arguments
from workbench._base.errors import ArgumentError
from workbench.tables.commits.loading import classic, load, snapshots_of

KEY = "workbench.commit-id"
_LONGEST = 200


def named(id=None):
    """Return the mark of a commit: the caller's own, checked, or a new random one.

    Raises:
        ValueError: it is no text of 1 to 200 printable characters.
    """
    return uuid.uuid4().hex if id is None else _checked(id)


def _checked(id):
    if not isinstance(id, str) or not 1 <= len(id) <= _LONGEST or not id.isprintable():
        raise ArgumentError(f"a commit's id is a text of 1 to {_LONGEST} printable characters, not {id!r}")
    return id


def find(spark, table, id, *, anywhere=False, but=frozenset()):
    """Return the id of the newest snapshot with a mark; None when there is none.

    Args:
        spark: classic session whose catalog holds the table.
        table: `namespace.name`.
        id: the mark.
        anywhere: look at all snapshots that were not expired, also those that no branch or tag leads to: what was
            committed and rolled back since, or committed to a branch that is gone.
        but: ids of snapshots that do not count.

    Raises:
        TableNotFound: no such table.
        ValueError: an argument is wrong.
    """
    id = _checked(id)  # None would be that of all snapshots without a mark
    arguments.flag("anywhere", anywhere)
    but = frozenset(arguments.each("but", but, Integral, "ids of snapshots"))
    loaded = load(spark, table)
    known = snapshots_of(spark, loaded)
    marked = [one for one in known if one["summary"].get(KEY) == id and one["snapshot-id"] not in but]
    if marked and not anywhere:
        heads = [ref.snapshotId() for ref in loaded.refs().values()]
        reached = _reached(heads, {one["snapshot-id"]: one.get("parent-snapshot-id") for one in known})
        marked = [one for one in marked if one["snapshot-id"] in reached]
    return max(marked, key=_age)["snapshot-id"] if marked else None


def every(spark, table, id):
    """Return the ids of all snapshots with a mark that were not expired, wherever they are: frozenset.

    Raises:
        TableNotFound: no such table.
        ValueError: an argument is wrong.
    """
    id = _checked(id)
    known = snapshots_of(spark, load(spark, table))
    return frozenset(one["snapshot-id"] for one in known if one["summary"].get(KEY) == id)


def stamped(spark, mark, write):
    """Call a function; every snapshot that Spark commits in it has the mark in its summary.

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
    mark = _checked(mark)
    if KEY in (around := _properties(spark).get()):
        raise ArgumentError(f"a marked write cannot hold another one; this one is within {around[KEY]!r}")
    return with_properties(spark, {KEY: mark}, write)


def with_properties(spark, properties, write):
    """Call a function; every snapshot that Spark commits in it has these properties in its summary, as `stamped`.

    Args:
        spark: classic session.
        properties: text to text.
        write: function without arguments.

    Returns:
        What `write` returns.

    Raises:
        ValueError: an argument is wrong, or PySpark runs without pinned threads.
    """
    properties = arguments.entries("properties", properties, "entries of a snapshot's summary, text to text")
    arguments.function("write", write, "a function without arguments that commits")
    local = _properties(spark)
    around = local.get()
    local.set(dict(around) | properties)
    try:
        return write()
    finally:
        local.set(around)


def _properties(spark):
    """Return the Java ThreadLocal with what Iceberg adds to the summaries of a thread's commits.

    Iceberg's own way in, `CommitMetadata.withCommitProperties`, calls back into Python; once a stream's
    foreachBatch was used it does so in another Python thread, which an interrupt does not reach.
    """
    from py4j.clientserver import ClientServer

    classic(spark)
    if not isinstance(spark.sparkContext._gateway, ClientServer):
        raise ArgumentError("a marked write needs PySpark's pinned threads, and PYSPARK_PIN_THREAD=false is set")
    loader = spark._jvm.java.lang.Thread.currentThread().getContextClassLoader()
    field = loader.loadClass("org.apache.iceberg.spark.CommitMetadata").getDeclaredField("COMMIT_PROPERTIES")
    field.setAccessible(True)
    return field.get(None)


def _age(snapshot):
    """Return what orders snapshots; those of format 1 have no sequence number, and their times must do."""
    return snapshot.get("sequence-number", 0), snapshot["timestamp-ms"]


def _reached(heads, parents):
    """Return the ids of the snapshots from which a history leads to one of the heads."""
    reached = set()
    for at in heads:
        while at in parents and at not in reached:
            reached.add(at)
            at = parents[at]
    return reached
