"""Two writers whose commits land in a stated order: without sleeps, and without luck."""

from concurrent.futures import FIRST_COMPLETED, Future, wait
from contextlib import contextmanager
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from workbench._base import arguments, releases
from workbench._base.errors import ArgumentError, WorkbenchError
from workbench.tables import commits
from workbench_standins import proxy

TIMEOUT_SECONDS = 120


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

    a: object
    b: object
    aside: object
    between: proxy.Proxy = field(repr=False)
    what: proxy.Match = field(repr=False)

    def hold(self):
        """Return the gate that holds b's next commit, a proxy.Held."""
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


@contextmanager
def writers(spark, *, catalog=None):
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
    check_catalog(catalog)
    name = catalog or spark.conf.get("spark.sql.defaultCatalog")
    key = f"spark.sql.catalog.{name}"
    settings = {one: value for one, value in releases.settings(spark).items() if one.startswith(key)}
    rest = settings.get(f"{key}.type") == "rest"
    way = f"{key}.uri" if rest else f"{key}.s3.endpoint"
    address = urlsplit(settings.get(way, ""))
    if address.scheme != "http" or not address.netloc:
        raise ArgumentError(
            f"the commits of catalog {name} cannot be held: {way} is {settings.get(way)!r}, and an address "
            "as http://127.0.0.1:8333 is needed; the environments s3, rest and archive have one"
        )
    with proxy.between(f"http://{address.netloc}", clients=["a", "b"]) as between:
        ways = [between.endpoint_of(client) + address.path for client in ("a", "b")]
        settings |= {f"{key}.cache-enabled": "false", "spark.sql.sources.partitionOverwriteMode": "dynamic"}
        a, b, aside = (_session(spark, settings | {way: one}) for one in (*ways, settings[way]))
        yield Writers(a, b, aside, between, proxy.COMMIT if rest else proxy.METADATA_PUT)


def check_catalog(catalog):
    """Refuse what is neither a catalog's name nor None.

    Raises:
        ValueError: with what is there.
    """
    if catalog is not None:
        arguments.text("catalog", catalog, "the name of a catalog, or None for the default one")


def _session(spark, settings):
    """Return a new session of the same application with settings of its own."""
    found = spark.newSession()
    for name, value in settings.items():
        found.conf.set(name, value)
    return found


def race(spark_a, spark_b, first, second, *, hold):
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
        ValueError: another argument is wrong: no session, no statement, one session for both, or a second one
            that does not reach the storage by the way that `hold` holds; nothing was begun.
        TypeError: hold is no function.
    """
    for name, session in (("spark_a", spark_a), ("spark_b", spark_b)):
        commits.classic(session, name)
    if spark_a is spark_b:
        raise ArgumentError("spark_a and spark_b are one session; the first would be held with the second")
    for name, statement in (("first", first), ("second", second)):
        check_statement(name, statement)
    if not callable(hold):
        raise TypeError(
            f"hold is a function, as `two.hold` without brackets, not {hold!r}; let that gate go first"
        )
    held = hold()
    arguments.kind("what hold returns", held, proxy.Held, "a gate of the proxy, as `two.hold` gives it")
    before = _passed(held)
    with held:
        _refuse_unheld(held, spark_b)
        late = begun(spark_b, second)
        _until_held(held, late)
        early = begun(spark_a, first)
        error = early.result(TIMEOUT_SECONDS)
    return Race(error, late.result(TIMEOUT_SECONDS), _passed(held) - before)


def check_statement(name, statement):
    """Refuse what cannot be run as a statement.

    Raises:
        ValueError: with what was expected.
    """
    if isinstance(statement, str) and statement.strip():
        return
    if isinstance(statement, str) or not callable(statement):
        there = repr(statement) if isinstance(statement, str) else type(statement).__name__
        raise ArgumentError(f"{name} is {there}, expected SQL text or a function of the session")


def _refuse_unheld(held, spark):
    """Refuse a session that talks to the storage by another way than the one that is held."""
    way = held.proxy.endpoint_of(held.match.client)
    if not any(value.startswith(way) for value in releases.settings(spark).values()):
        raise ArgumentError(
            f"spark_b is not the session whose commits hold holds: none of its settings has the address {way}"
        )


def begun(spark, statement):
    """Run a statement in a thread where its session is the active one; returns a future of its error, or None."""
    from pyspark import InheritableThread

    ended = Future()

    def run():
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


def _until_held(held, running):
    """Wait until the gate holds a request, or the statement has ended without one."""
    wait([held.gate.first, running], TIMEOUT_SECONDS, FIRST_COMPLETED)
    if running.done() and not held.gate.first.done():
        error = running.result()
        why = "it failed" if error is not None else "it had nothing to commit"
        raise NothingHeld(f"the second statement ended before a commit of its own could be held: {why}") from error
    held.wait(0)


def _passed(held):
    return len(held.proxy.passed(held.match.client, held.match))
