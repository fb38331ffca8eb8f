"""Which tables the commits of a thread went to, told by Iceberg's own event of each.

The listener is of Java alone: one in Python would be called for every commit of the application, from any thread.
"""

from contextlib import contextmanager
from functools import cache

from workbench.tables.commits.errors import WrongTable, first_line
from workbench.tables.commits.loading import identified, load, snapshots_of


@contextmanager
def committed(spark):
    """Give a function that tells which commits Spark made in this thread since, through Iceberg.

    Yields:
        Function without arguments: list of (full name of a table, snapshot id), in their order.
    """
    mine, queue = _listening(spark._jvm), spark._jvm.java.util.concurrent.LinkedBlockingQueue()
    around = mine.get()
    mine.set(queue)
    try:
        yield lambda: [(one.tableName(), one.snapshotId()) for one in queue.toArray()]
    finally:
        mine.set(around)


def refuse_others(spark, table, made, error=None):
    """Refuse commits none of which went to a table; where there are none, nothing is said.

    Args:
        spark: classic session whose catalog holds the table.
        table: `namespace.name`.
        made: as `committed` tells it.
        error: what ended the write, or None.

    Raises:
        WrongTable: with the table that they went to.
    """
    found = identified(spark, table) if made else None
    if found is None or _full(found) in (names := [name for name, _ in made]):
        return
    loaded = load(spark, table)  # one may write by another name of it
    there = {one["snapshot-id"] for one in snapshots_of(spark, loaded)}
    if loaded.name() in names or there & {snapshot for _, snapshot in made}:
        return
    name, snapshot = made[-1]
    ended = f", and ended then: {first_line(error)}" if error is not None else ""
    raise WrongTable(
        f"a write to {table} committed snapshot {snapshot} to {name} instead, which stays there{ended}; its name "
        f"is looked for in {table}, so that it would be written again: name the table that it commits to"
    ) from error


def _full(found):
    return ".".join([found.catalog().name(), *found.identifier().namespace(), found.identifier().name()])


@cache
def _listening(jvm):
    """Return the Java ThreadLocal with the queue that a thread's events go to; none is kept where it was not set.

    Once a JVM, because Iceberg has no way to take a listener off again.
    """
    invoke, loader = jvm.java.lang.invoke, jvm.java.lang.Thread.currentThread().getContextClassLoader()
    load_class = loader.loadClass
    anything, queue = load_class("java.lang.Object"), load_class("java.util.Queue")
    lookup, kind = invoke.MethodHandles.publicLookup(), invoke.MethodType.methodType
    # its offer keeps nothing, for nobody waits to take it
    nobody = invoke.MethodHandles.constant(anything, jvm.java.util.concurrent.SynchronousQueue())
    made = invoke.MethodHandleProxies.asInterfaceInstance
    local = jvm.java.lang.ThreadLocal.withInitial(made(load_class("java.util.function.Supplier"), nobody))
    get = lookup.findVirtual(load_class("java.lang.ThreadLocal"), "get", kind(anything)).bindTo(local)
    offer = lookup.findVirtual(queue, "offer", kind(jvm.java.lang.Boolean.TYPE, anything))
    keep = invoke.MethodHandles.collectArguments(offer, 0, get.asType(kind(queue)))
    listener = made(load_class("org.apache.iceberg.events.Listener"), keep)
    event = load_class("org.apache.iceberg.events.CreateSnapshotEvent")
    jvm.org.apache.iceberg.events.Listeners.register(listener, event)
    return local
