"""One query put to one engine: in a process of its own, or in a session of this one."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from workbench._base import identifiers, sessions
from workbench._base.errors import ArgumentError
from workbench._base.typing import SparkSession
from workbench.engines import profiles as engines
from workbench_proofs.tpcds import answers, dialect, processes, texts


@dataclass(frozen=True)
class Ran:
    """What an engine returned and what that took.

    Attributes:
        answer: its Answer.
        seconds: from the text to the last row.
        bytes_read: that its process read from files, less what it had written itself; None where it is not known.
        rows_read: by the tables' scans; None where the engine does not say.
        peak_bytes: most memory that its process has had so far; None where it is not known.
    """

    answer: answers.Answer
    seconds: float
    bytes_read: int | None = None
    rows_read: int | None = None
    peak_bytes: int | None = None


def run(
    engine: engines.Engine, query: str, session: Any, *, namespace: str | None = None, limited: bool = True
) -> Ran:
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


def _text(engine: engines.Engine, query: str, limited: bool) -> tuple[str, int]:
    """Return a query in the engine's SQL, and how many columns of its answer are sort keys only."""
    text = texts.text(query)
    if engine.family == "duckdb":
        translation = dialect.to_duckdb(text)  # with its sort keys, which cost nothing: they are sorted by anyway
        return translation.sql if limited else translation.unlimited, translation.hidden
    return text if limited else dialect.without_limit(text), 0


def _of_family(engine: engines.Engine, session: Any) -> None:
    """Refuse a session of another family: its answer and its time would be taken for this engine's."""
    module = type(session).__module__
    known = {"duckdb": "duckdb", "connect": "spark or sail"}  # Spark Connect does not say what serves it
    family = next((families for word, families in known.items() if word in module), "spark")
    if engine.family not in family.split(" or "):
        raise ArgumentError(f"engine {engine.name} is of the family {engine.family}, this session is of {family}")


def _in_session(
    engine: engines.Engine, text: str, session: Any, namespace: str | None
) -> tuple[Any, dict[str, float]]:
    if engine.family == "duckdb":
        start = time.perf_counter()
        table = session.execute(text).to_arrow_table()
        return table, {"seconds": time.perf_counter() - start}
    with sessions.configured(session, engine.conf), _using(session, namespace):
        start = time.perf_counter()
        table = session.sql(text).toArrow()
        return table, {"seconds": time.perf_counter() - start}


@contextmanager
def _using(spark: SparkSession, namespace: str | None) -> Iterator[None]:
    """Let unqualified table names mean those of a namespace, for a block."""
    if namespace is None:
        yield
        return
    ((catalog, schema),) = spark.sql("SELECT current_catalog(), current_schema()").collect()
    spark.catalog.setCurrentDatabase(identifiers.joined(identifiers.parts(namespace, least=1)))
    try:
        yield
    finally:
        if schema:
            spark.catalog.setCurrentCatalog(catalog)
            spark.catalog.setCurrentDatabase(schema)
        else:  # no statement names the empty namespace, and Spark forgets one only where the catalog changes
            spark.catalog.setCurrentCatalog("spark_catalog")
            spark.catalog.setCurrentCatalog(catalog)
