"""Which tables the commits of a thread went to, by the event that Iceberg sends of each.

The listener is written in Java alone: a Python function would be called for every commit of the application,
from any thread.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache

from workbench._base.typing import Java, SparkSession, jvm
from workbench.tables.commits.errors import WrongTable, first_line
from workbench.tables.commits.loading import identified, load, snapshots_of


@contextmanager
def committed(spark: SparkSession) -> Iterator[Callable[[], list[tuple[str, int]]]]:
    """Give a function that returns the commits that Spark has made in this thread since, through Iceberg.

    Yields:
        Function without arguments: list of (full name of a table, snapshot id), in their order.
    """
    mine, queue = _listening(jvm(spark)), jvm(spark).java.util.concurrent.LinkedBlockingQueue()
    around = mine.get()
    mine.set(queue)
    try:
        yield lambda: [(event.tableName(), event.snapshotId()) for event in queue.toArray()]
    finally:
        mine.set(around)


def refuse_others(
    spark: SparkSession, table: str, commits: Sequence[tuple[str, int]], error: Exception | None = None
) -> None:
    """Raise WrongTable where there are commits and none of them went to a table.

    Args:
        spark: classic session whose catalog holds the table.
        table: `namespace.name`.
        commits: what the function of `committed` returns.
        error: what ended the write, or None.

    Raises:
        WrongTable: with the table that they went to.
    """
    identity = identified(spark, table) if commits else None
    if identity is None or _full(identity) in (names := [name for name, _ in commits]):
        return
    loaded = load(spark, table)  # the write may have another name of it
    ids = {entry["snapshot-id"] for entry in snapshots_of(spark, loaded)}
    if loaded.name() in names or ids & {snapshot for _, snapshot in commits}:
        return
    name, snapshot = commits[-1]
    ended = f", and ended then: {first_line(error)}" if error is not None else ""
    raise WrongTable(
        f"a write to {table} committed snapshot {snapshot} to {name} instead{ended}. "
        f"The snapshot stays there, and another try would write it again, because it is looked for in {table}: "
        f"name {name} in the call"
    ) from error


def _full(identity: Java) -> str:
    return ".".join([identity.catalog().name(), *identity.identifier().namespace(), identity.identifier().name()])


@cache
def _listening(machine: Java) -> Java:
    """Return the Java ThreadLocal with the queue that a thread's events go to; without one they are not kept.

    It is made once a JVM, because Iceberg has no way to take a listener off again.
    """
    invoke, loader = machine.java.lang.invoke, machine.java.lang.Thread.currentThread().getContextClassLoader()
    load_class = loader.loadClass
    anything, queue = load_class("java.lang.Object"), load_class("java.util.Queue")
    lookup, kind = invoke.MethodHandles.publicLookup(), invoke.MethodType.methodType
    # its offer keeps nothing, for nobody waits to take it
    nobody = invoke.MethodHandles.constant(anything, machine.java.util.concurrent.SynchronousQueue())
    implementing = invoke.MethodHandleProxies.asInterfaceInstance
    local = machine.java.lang.ThreadLocal.withInitial(
        implementing(load_class("java.util.function.Supplier"), nobody)
    )
    get = lookup.findVirtual(load_class("java.lang.ThreadLocal"), "get", kind(anything)).bindTo(local)
    offer = lookup.findVirtual(queue, "offer", kind(machine.java.lang.Boolean.TYPE, anything))
    keep = invoke.MethodHandles.collectArguments(offer, 0, get.asType(kind(queue)))
    listener = implementing(load_class("org.apache.iceberg.events.Listener"), keep)
    event = load_class("org.apache.iceberg.events.CreateSnapshotEvent")
    machine.org.apache.iceberg.events.Listeners.register(listener, event)
    return local
