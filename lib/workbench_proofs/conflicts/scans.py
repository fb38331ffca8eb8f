"""Something that happens while a statement is under way, where no proxy can hold its commit: behind its scan."""

from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from typing import Any

from workbench._base.door import checked
from workbench._base.typing import SparkSession, jvm
from workbench.tables import commits
from workbench_proofs.conflicts.racing import TIMEOUT_SECONDS, Statement, begin, check_statement

# full name of a table: functions, each for one scan; Iceberg has no way to take a listener off again
_armed: dict[str, list[Callable[[], None]]] = {}
_registered: list[Any] = []  # SparkContexts


class _Listener:
    """Iceberg's listener of scans, in Python; it serves all tables that something is armed for."""

    def notify(self, event: Any) -> None:
        waiting = _armed.get(event.tableName(), [])
        if waiting:
            waiting.pop(0)()

    class Java:
        implements = ("org.apache.iceberg.events.Listener",)


@checked
@contextmanager
def meanwhile(spark: SparkSession, table: str, statement: Statement) -> Iterator[Future[Exception | None]]:
    """Run a statement when the next scan of a table has been planned; whoever scans waits for its end.

    An UPDATE, DELETE, MERGE or compaction reads the table before it writes. So what runs here lands after its read
    and before its commit: the same order every time, on any catalog.

    Args:
        spark: classic session, in which the statement runs, in a thread of its own.
        table: `namespace.name` or `catalog.namespace.name`; a scan that names another catalog is not meant.
        statement: SQL text, or function of the session.

    Yields:
        Future of the statement's error, or None; not done when nothing was scanned.

    Raises:
        TableNotFound: no such table.
        ValueError: it is not an Iceberg table, or another argument is wrong; nothing was armed.
    """
    check_statement("statement", statement)
    table = commits.load(spark, table).name()  # in full, as events have it
    _listen(spark)
    ended: Future[Exception | None] = Future()

    def act() -> None:
        try:
            ended.set_result(begin(spark, statement).result(TIMEOUT_SECONDS))
        except BaseException as error:
            ended.set_exception(error)

    _armed.setdefault(table, []).append(act)
    try:
        yield ended
    finally:
        if act in _armed[table]:
            _armed[table].remove(act)


def _listen(spark: SparkSession) -> None:
    """Register the listener once in this application."""
    from pyspark.java_gateway import ensure_callback_server_started

    if spark.sparkContext in _registered:
        return
    ensure_callback_server_started(spark.sparkContext._gateway)  # type: ignore[no-untyped-call]
    loader = jvm(spark).java.lang.Thread.currentThread().getContextClassLoader()
    event = loader.loadClass("org.apache.iceberg.events.ScanEvent")
    jvm(spark).org.apache.iceberg.events.Listeners.register(_Listener(), event)
    _registered.append(spark.sparkContext)
