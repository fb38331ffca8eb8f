"""One statement run and shown: its first rows, as text and as a table, cut to a size that a notebook bears."""

import os
import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from decimal import Decimal
from typing import Annotated, Any

from workbench import show
from workbench._base.bounds import Ge
from workbench._base.door import checked
from workbench._base.errors import ArgumentError
from workbench._base.typing import DataFrame, SparkSession
from workbench.sql import text, values

LIMIT = 20  # rows
LONGEST = 500  # characters of a value that are shown
MOST = 200_000  # characters of all that is shown
FRONT_END = "JPY_SESSION_NAME"  # set by Jupyter's server in the kernels that a person opened; in no headless run
LAB = "WORKBENCH_LAB"  # set by `workbench lab`, whose page shows the media type TABLE; elsewhere nobody would
TABLE = "application/vnd.workbench.table+json"


class StatementError(ArgumentError):
    """Spark refused a statement; the message is Spark's, without its plan."""


@checked
def run(
    spark: SparkSession, statement: str, *, limit: Annotated[int, Ge(1)] = LIMIT, ordered: bool | None = None
) -> DataFrame:
    """Run one statement and show its first rows; a command without rows shows nothing.

    Args:
        spark: session.
        statement: of Spark SQL; values are `session.NAME`.
        limit: rows shown at most. No more than one further row is computed, so that the others are not counted.
        ordered: whether a query that shows several rows needs ORDER BY; left out, it does where nobody looks on
            (no Jupyter server started this kernel), because outputs are to be equal.

    Returns:
        DataFrame of the statement, lazy for a query.

    Raises:
        StatementError: Spark refuses it.
        ValueError: it is not one statement, has the name of a value without `session.` before it, or shows
            several rows without an order.
    """
    values.refuse_no_session(spark)
    statement = text.single(statement)
    parts = text.parts(statement)
    names = values.names(spark)
    _require_qualified(spark, statement, parts, names)
    statement = text.with_system(statement, parts, names)
    must_be_ordered = FRONT_END not in os.environ if ordered is None else ordered
    try:
        with _ended_with_its_cell(spark):
            df = spark.sql(statement)
            if not df.columns:
                return df
            rows = _first(df, limit + 1)
    except Exception as error:
        if _of_the_statement(error):
            raise StatementError(_sentence(error)) from None
        raise
    if must_be_ordered and len(rows) > 1 and text.asks_for_rows(parts) and not text.is_ordered(parts):
        raise ArgumentError("several rows come in any order: write ORDER BY at the end of the query")
    _shown(df.dtypes, rows, limit)
    return df


def _require_qualified(
    spark: SparkSession, statement: str, parts: Sequence[text.Part], names: frozenset[str]
) -> None:
    for part in text.unqualified(parts, names):
        name = part.text
        if not _can_be_a_value(spark, statement, part):
            continue
        raise ArgumentError(
            f"{name} stands without session. before it, where a column of that name would win over the value: "
            f"write session.{name}, or `{name}` between backticks for a column"
        )


def _can_be_a_value(spark: SparkSession, statement: str, name: text.Part) -> bool:
    """Say whether a value can stand where a name does; not in CREATE TABLE, beside a value TABLE."""
    if not hasattr(spark, "_jsparkSession"):  # Spark Connect, whose parser is at the server
        return True
    try:
        spark._jsparkSession.sessionState().sqlParser().parsePlan(
            f"{statement[: name.begin]}session.{statement[name.begin :]}"
        )
    except Exception as error:
        if _of_the_statement(error):
            return False
        raise
    return True


@contextmanager
def _ended_with_its_cell(spark: SparkSession) -> Iterator[None]:
    """Cancel the jobs of a block that is interrupted: Spark alone would go on, before what is asked next."""
    if not hasattr(spark, "_jsparkSession"):  # the server of Spark Connect is told by its own client
        yield
        return
    tag = f"workbench-sql-{uuid.uuid4().hex}"
    context = spark.sparkContext
    context.addJobTag(tag)
    try:
        yield
    except BaseException as error:
        if not _was_interrupted(error):
            context.removeJobTag(tag)
            raise
        _reconnected(lambda: context.cancelJobsWithTag(tag))
        _reconnected(lambda: context.removeJobTag(tag))
        raise KeyboardInterrupt from None
    context.removeJobTag(tag)


def _was_interrupted(error: BaseException | None) -> bool:
    """Say whether a block was interrupted, also where another error stands over the interrupt.

    Py4J ends the connection in which an interrupt arrives, and asks the JVM by another one to end every connection
    of the process, without waiting: the next calls meet a connection that is just going.
    """
    while error is not None:
        if isinstance(error, KeyboardInterrupt):
            return True
        error = error.__context__
    return False


def _reconnected(call: Callable[[], None]) -> None:
    """Call the JVM, again while connections are being ended by an interrupt; both calls may arrive twice."""
    import tenacity
    from py4j.protocol import Py4JNetworkError

    tenacity.retry(
        retry=tenacity.retry_if_exception_type((Py4JNetworkError, OSError)),
        stop=tenacity.stop_after_delay(10),
        wait=tenacity.wait_fixed(0.1),
        reraise=True,
    )(call)()


def _first(df: DataFrame, count: int) -> list[list[Any]]:
    some = df.limit(count)
    try:
        collected = some.collect()
    except (ValueError, OverflowError):  # Python has no times beyond 9999, and not the first day of all
        collected = some.select(*map(show._time_as_text, some.schema)).collect()
    return [[show._NAN if value != value else value for value in row] for row in collected]


def _of_the_statement(error: Exception) -> bool:
    """Say whether an error is Spark's refusal of a statement: neither ours nor one of the Python around it."""
    from pyspark.errors import AnalysisException, PySparkException

    return isinstance(error, AnalysisException | PySparkException)


def _sentence(error: Exception) -> str:
    """Return Spark's message without the plan behind it."""
    return str(error).partition(";\n")[0].partition("\n\nJVM stacktrace")[0].strip()


def _shown(columns: Sequence[tuple[str, str]], rows: list[list[Any]], limit: int) -> None:
    """Show rows by the means of `show.rows`, so that a cell looks like any other; under Lab as a table, too."""
    names = [name for name, _ in columns]
    notes = [f"more than {limit:,} rows"] if len(rows) > limit else []
    rows = rows[:limit]
    width = _fitting([[name] for name in names], MOST // 4)
    if width < len(names):
        notes.append(f"{len(names) - width:,} more columns")
    kinds = [kind for _, kind in columns[:width]]
    cells = [[_cut(_text(value, kind)) for value, kind in zip(row, kinds, strict=False)] for row in rows]
    if (height := _fitting(cells, MOST)) < len(rows):
        notes.append(f"{len(rows) - height:,} rows of the first {limit:,} that are too long")
    cells, rows = cells[:height], rows[:height]
    right = [all(show._is_number(row[n]) for row in rows if row[n] is not None) for n in range(width)]
    more, shown = f"… and {', '.join(notes)}" if notes else "", [_cut(name) for name in names[:width]]
    media: dict[str, Any] = {
        "text/plain": show._plain(shown, cells, right, more),
        "text/html": show._rich(shown, cells, right, more),
    }
    if LAB in os.environ and FRONT_END in os.environ:  # not in a run that was begun from a terminal of Lab
        exact = [
            [None if value is None else _cut(_exact(value, kind)) for value, kind in zip(row, kinds, strict=False)]
            for row in rows
        ]
        typed = [{"name": name, "type": kind} for name, (_, kind) in zip(shown, columns, strict=False)]
        media[TABLE] = {"columns": typed, "rows": exact, "note": more}
    show.emit(media)


def _text(value: Any, kind: str) -> str:
    """Return a value as a text that can be copied into the next statement.

    A float has the digits that hold whatever the order of its sum: 15, or 7 of a FLOAT.
    """
    if value is None:
        return "null"
    return f"{value:.15g}" if isinstance(value, float) and kind != "float" else _exact(value, kind)


def _exact(value: Any, kind: str) -> str:
    """Return a value as a text from which it can be sorted: numbers neither rounded nor divided."""
    if isinstance(value, bool):
        return str(value).lower()
    if kind == "float":
        import numpy

        return str(numpy.float32(value))
    return f"{value:f}" if isinstance(value, Decimal) and value.is_finite() else str(value)


def _fitting(lines: Sequence[Sequence[str]], most: int) -> int:
    """Return how many lines have together at most so many characters; at least one."""
    total = 0
    for n, line in enumerate(lines):
        total += sum(len(_cut(cell)) + 8 for cell in line)
        if total > most and n:
            return n
    return len(lines)


def _cut(value: str) -> str:
    return value if len(value) <= LONGEST else f"{value[: LONGEST - 1]}…"
