"""One query put to one engine: in a process of its own, or in a session of this one."""

import time
from contextlib import contextmanager
from dataclasses import dataclass

from workbench._base import identifiers
from workbench._base.errors import ArgumentError
from workbench.engines import profiles as engines
from workbench_proofs.tpcds import answers, dialect, processes, texts


@dataclass(frozen=True)
class Ran:
    """What an engine returned and what that took.

    Attributes:
        answer: its Answer.
        seconds: from the text to the last row.
        bytes_read: that its process read from files, less what it had written itself; None where nobody says.
        rows_read: by the tables' scans; None where the engine does not say.
        peak_bytes: most memory that its process has had so far; None where nobody says.
    """

    answer: answers.Answer
    seconds: float
    bytes_read: int | None = None
    rows_read: int | None = None
    peak_bytes: int | None = None


def run(engine, query, session, *, namespace=None, limited=True):
    """Run one query and fetch its whole answer.

    Args:
        engine: Engine.
        query: its name.
        session: processes.Process, a SparkSession, or a DuckDB connection.
        namespace: of the tables in a SparkSession; the others know where theirs are.
        limited: False drops the outermost LIMIT.

    Returns:
        Ran.

    Raises:
        ValueError: the profile is not what is installed, the session is of another family, or a setting cannot be
            made in a running session.
        processes.NoAnswer: the engine in its process refused the query.
    """
    text, hidden = _text(engine, query, limited)
    if isinstance(session, processes.Process):
        table, figures = session.ask(text)
    else:
        engines.require(engine)
        _of_family(engine, session)
        table, figures = _in_session(engine, text, session, namespace)
    return Ran(answers.of(table.select(range(table.num_columns - hidden))), **figures)


def _text(engine, query, limited):
    """Return a query in the engine's SQL, and how many columns of its answer are sort keys only."""
    text = texts.text(query)
    if engine.family == "duckdb":
        said = dialect.to_duckdb(text)  # with its sort keys, which cost nothing: they are sorted by anyway
        return said.sql if limited else said.unlimited, said.hidden
    return text if limited else dialect.without_limit(text), 0


def _of_family(engine, session):
    """Refuse a session of another family: its answer and its time would be told as this engine's."""
    kind = type(session).__module__
    known = {"duckdb": "duckdb", "connect": "spark or sail"}  # what serves Spark Connect is not told
    there = next((families for word, families in known.items() if word in kind), "spark")
    if engine.family not in there.split(" or "):
        raise ArgumentError(f"engine {engine.name} is of the family {engine.family}, this session is of {there}")


def _in_session(engine, text, session, namespace):
    if engine.family == "duckdb":
        start = time.perf_counter()
        table = session.execute(text).to_arrow_table()
        return table, {"seconds": time.perf_counter() - start}
    with _configured(session, engine.conf), _using(session, namespace):
        start = time.perf_counter()
        table = session.sql(text).toArrow()
        return table, {"seconds": time.perf_counter() - start}


@contextmanager
def _configured(spark, conf):
    """Make the profile's settings for a block; those that a running session cannot change must be there."""
    before = {}
    try:
        for key, value in conf.items():
            value = str(value).lower() if isinstance(value, bool) else str(value)
            there = spark.conf.get(key, None)
            if there == value:
                continue
            if not spark.conf.isModifiable(key):
                raise ArgumentError(f"{key} is {there}, the engine wants {value}: it needs a process of its own")
            before[key] = there
            spark.conf.set(key, value)
        yield
    finally:
        for key, value in before.items():
            spark.conf.unset(key) if value is None else spark.conf.set(key, value)


@contextmanager
def _using(spark, namespace):
    """Let unqualified table names mean those of a namespace, for a block."""
    if namespace is None:
        yield
        return
    before = spark.sql("SELECT current_catalog(), current_schema()").first()
    spark.catalog.setCurrentDatabase(identifiers.joined(identifiers.parts(namespace, least=1)))
    try:
        yield
    finally:
        spark.catalog.setCurrentCatalog(before[0])
        if before[1]:
            spark.catalog.setCurrentDatabase(before[1])
