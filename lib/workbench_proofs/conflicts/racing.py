"""Two writers whose commits land in a stated order: without sleeps, and without luck."""

from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import FIRST_COMPLETED, Future, wait
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Annotated, Any
from urllib.parse import urlsplit

from workbench._base import arguments, releases
from workbench._base.bounds import MinLen
from workbench._base.door import checked
from workbench._base.errors import ArgumentError, WorkbenchError
from workbench._base.typing import SparkSession
from workbench.tables import commits
from workbench_standins import proxy

TIMEOUT_SECONDS = 120
Name = Annotated[str, MinLen(1)]
Statement = str | Callable[[SparkSession], Any]  # SQL text, or function of the session that runs it


class NothingHeld(WorkbenchError, RuntimeError):
    """The second statement ended without a commit that could be held: it had nothing to do, or failed before."""


@dataclass(frozen=True)
class Writers:
    """Sessions of one application: two writers, each with a way of its own to the storage, and one aside.

    Attributes:
        a: session of the writer whose commit lands first.
        b: session of the writer who is held.
        aside: session for what is not raced, straight to the storage.
        between: the proxy they talk through.
        what: what is held: the request that stands right before a swap, or the commit itself.
    """

    a: SparkSession
    b: SparkSession
    aside: SparkSession
    between: proxy.Proxy = field(repr=False)
    what: proxy.Match = field(repr=False)

    def hold(self) -> proxy.Held:
        """Return the gate that holds b's next commit."""
        return self.between.hold("b", self.what)


@dataclass(frozen=True)
class Race:
    """How two statements ended.

    Attributes:
        first: error of the first, or None.
        second: error of the second, or None.
        attempts: how often the second stood before its swap; 2 and more when Iceberg tried again by itself.
    """

    first: Exception | None
    second: Exception | None
    attempts: int


@checked
@contextmanager
def writers(spark: SparkSession, *, catalog: Name | None = None) -> Iterator[Writers]:
    """Give two sessions on the catalog of a running one, behind a proxy that can hold either's commits.

    They have the catalog's table cache off, which would let a statement begin on a state that is 30 seconds old,
    and dynamic partition overwrite on. The session that is given stays as it is.

    Args:
        spark: classic session; its catalog keeps tables in an S3 that is reached by plain HTTP (`s3.endpoint`), or
            is a REST catalog that is.
        catalog: name of the catalog; None for the default one.

    Yields:
        Writers.

    Raises:
        ValueError: an argument is wrong, or there is nothing on plain HTTP that a proxy could stand before.
    """
    commits.classic(spark)
    name = catalog or spark.conf.get("spark.sql.defaultCatalog")
    key = f"spark.sql.catalog.{name}"
    settings = {name: value for name, value in releases.settings(spark).items() if name.startswith(key)}
    rest = settings.get(f"{key}.type") == "rest"
    way = f"{key}.uri" if rest else f"{key}.s3.endpoint"
    address = urlsplit(settings.get(way, ""))
    if address.scheme != "http" or not address.netloc:
        raise ArgumentError(
            f"the commits of catalog {name} cannot be held: {way} must be an address "
            f"such as http://127.0.0.1:8333, found {settings.get(way)!r}; "
            "the environments s3, rest and archive have one"
        )
    with proxy.between(f"http://{address.netloc}", clients=["a", "b"]) as between:
        ways = [between.endpoint_of(client) + address.path for client in ("a", "b")]
        settings |= {f"{key}.cache-enabled": "false", "spark.sql.sources.partitionOverwriteMode": "dynamic"}
        a, b, aside = (_session(spark, settings | {way: endpoint}) for endpoint in (*ways, settings[way]))
        yield Writers(a, b, aside, between, proxy.COMMIT if rest else proxy.METADATA_PUT)


def _session(spark: SparkSession, settings: Mapping[str, str]) -> SparkSession:
    """Return a new session of the same application with settings of its own."""
    session = spark.newSession()
    for name, value in settings.items():
        session.conf.set(name, value)
    return session


@checked
def race(
    spark_a: SparkSession,
    spark_b: SparkSession,
    first: Statement,
    second: Statement,
    *,
    hold: Callable[[], proxy.Held],
) -> Race:
    """Run two statements that begin on the same state; the first's commit lands first, and the second meets it.

    The second is started first. When it has planned and written and stands before its swap, it is held; the first
    runs to its end; then the second goes on.

    Args:
        spark_a: session of the first, as `writers` gives it.
        spark_b: session of the second, behind the proxy.
        first: SQL text, or function of its session.
        second: SQL text, or function of its session.
        hold: function without arguments that begins to hold the second's commits: `Writers.hold`.

    Returns:
        Race. Errors of the statements are in it, not raised; where the first has one, nothing was raced.

    Raises:
        NothingHeld: the second ended before it came to a swap; the error it ended with is the cause.
        TimeoutError: it did not come to a swap, as where an older gate holds it; it goes on, and may land yet.
        ValueError: an argument is wrong: not a session, not a statement, one session for both, or a second one
            that does not reach the storage by the way that `hold` holds; nothing was begun.
    """
    for name, session in (("spark_a", spark_a), ("spark_b", spark_b)):
        commits.classic(session, name)
    if spark_a is spark_b:
        raise ArgumentError(
            "spark_a and spark_b are the same session, expected two: what holds one would hold the other"
        )
    for name, statement in (("first", first), ("second", second)):
        check_statement(name, statement)
    gate = hold()
    arguments.kind("what hold returns", gate, proxy.Held, "a gate of the proxy, as `two.hold` gives it")
    before = _passed(gate)
    with gate:
        _refuse_unheld(gate, spark_b)
        late = begin(spark_b, second)
        _until_held(gate, late)
        error = begin(spark_a, first).result(TIMEOUT_SECONDS)
    return Race(error, late.result(TIMEOUT_SECONDS), _passed(gate) - before)


def check_statement(name: str, statement: Statement) -> None:
    """Refuse an empty text.

    Raises:
        ValueError: with what was expected.
    """
    if isinstance(statement, str) and not statement.strip():
        raise ArgumentError(f"{name} is {statement!r}, expected SQL text or a function of the session")


def _refuse_unheld(gate: proxy.Held, spark: SparkSession) -> None:
    """Refuse a session that talks to the storage by another way than the one that is held."""
    way = gate.proxy.endpoint_of(gate.match.client)
    if not any(value.startswith(way) for value in releases.settings(spark).values()):
        raise ArgumentError(
            f"spark_b is not the session whose commits hold holds: none of its settings has the address {way}"
        )


def begin(spark: SparkSession, statement: Statement) -> Future[Exception | None]:
    """Run a statement in a thread where its session is the active one; returns a future of its error, or None."""
    from pyspark import InheritableThread

    ended: Future[Exception | None] = Future()

    def run() -> None:
        try:
            # procedures and functions that Iceberg calls ask for the thread's active session
            releases.activate(spark)
            spark.sql(statement).collect() if isinstance(statement, str) else statement(spark)
            ended.set_result(None)
        except Exception as error:
            ended.set_result(error)
        except BaseException as error:
            ended.set_exception(error)
            raise

    InheritableThread(target=run, daemon=True).start()
    return ended


def _until_held(gate: proxy.Held, running: Future[Exception | None]) -> None:
    """Wait until the gate holds a request, or the statement has ended without one."""
    futures: list[Future[Any]] = [gate.gate.first, running]
    wait(futures, TIMEOUT_SECONDS, FIRST_COMPLETED)
    if running.done() and not gate.gate.first.done():
        error = running.result()
        why = "it failed" if error is not None else "it had nothing to commit"
        raise NothingHeld(f"the second statement ended before a commit of its own could be held: {why}") from error
    gate.wait(0)


def _passed(gate: proxy.Held) -> int:
    return len(gate.proxy.passed(gate.match.client, gate.match))
