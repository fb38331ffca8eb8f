"""Figures of measurements: medians, totals, ratios of engines, queries that became slower; kept in a table."""

import dataclasses
import statistics
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from workbench._base import identifiers
from workbench._base.door import checked
from workbench._base.errors import ArgumentError
from workbench._base.typing import SparkSession
from workbench_proofs.tpcds.data import Data
from workbench_proofs.tpcds.measuring import WARM
from workbench_proofs.tpcds.runs import Result
from workbench_proofs.tpcds.verdicts import DIFFERENT, Judgement

SLOWER = 1.3
Seconds = Mapping[str, float]  # query to seconds
COLUMNS = (
    "run INT, scale STRING, data STRING, engine STRING, layout STRING, round INT, phase STRING, query STRING, "
    "verdict STRING, sentence STRING, scaled BOOLEAN, seconds DOUBLE, check_seconds DOUBLE, bytes_read BIGINT, "
    "rows_read BIGINT, peak_bytes BIGINT"
)


@dataclass(frozen=True)
class Ratio:
    """An engine against another one, over the queries that both answered and that were verified for both.

    Attributes:
        queries: how many.
        total: sum of the seconds of the other one by the sum of the engine's: above 1 the engine is faster.
        geomean: the same of geometric means.
    """

    queries: int
    total: float
    geomean: float


@checked
def medians(
    results: Iterable[Result],
    *,
    phase: str = WARM,
    layout: str | None = None,
    verified: bool = True,
    scales: bool = True,
) -> dict[str, dict[str, float]]:
    """Return the median seconds over the rounds: engine to query to seconds.

    Args:
        results: Results.
        phase: `cold` or `warm`.
        layout: of the tables; None for any.
        verified: False also takes answers that are vacuous or unverified; what is different never counts.
        scales: False leaves out queries that agree only in another scale, whatever else their verdict says.
    """
    times: dict[str, dict[str, list[float]]] = {}
    asked: Counter[tuple[str, str]] = Counter()
    for result in results:
        if result.phase == phase and layout in (None, result.layout):
            asked[result.engine, result.query] += 1
            if _counts(result.verdict, verified, scales):
                times.setdefault(result.engine, {}).setdefault(result.query, []).append(result.seconds)
    rounds = {engine: max(count for (name, _), count in asked.items() if name == engine) for engine in times}
    return {
        engine: {query: statistics.median(values) for query, values in of.items() if len(values) == rounds[engine]}
        for engine, of in times.items()
    }  # a query that was wrong in one round has no time


@checked
def total(seconds: Seconds) -> tuple[float, float]:
    """Return (sum, geometric mean) of a dict of query to seconds; (0, 0) of none."""
    values = list(seconds.values())
    return (sum(values), statistics.geometric_mean(values)) if values else (0.0, 0.0)


@checked
def ratio(seconds: Seconds, other: Seconds) -> Ratio:
    """Return the Ratio of two dicts of query to seconds.

    Raises:
        ValueError: no query is in both.
    """
    common = [query for query in seconds if query in other]
    if not common:
        raise ArgumentError("no query was verified for both engines, so there is no ratio")
    mine, theirs = ({query: of[query] for query in common} for of in (seconds, other))
    (sum_mine, mean_mine), (sum_theirs, mean_theirs) = total(mine), total(theirs)
    return Ratio(len(common), sum_theirs / sum_mine, mean_theirs / mean_mine)


@checked
def slower(
    earlier: Iterable[Result],
    later: Iterable[Result],
    *,
    engine: str,
    against: str | None = None,
    phase: str = WARM,
    factor: float = SLOWER,
) -> dict[str, float]:
    """Name the queries of an engine that became slower between two runs, whatever the machine did meanwhile.

    Times are divided by those of the other engine in the same run, or by the engine's own geometric mean over the
    queries that are compared: those that both runs have.

    Args:
        earlier: Results of one run, on one layout.
        later: Results of another one, on the same layout and data.
        engine: name of the engine.
        against: name of the engine that both runs measured; None for none.
        phase: `cold` or `warm`.
        factor: from which ratio of the ratios on a query is named.

    Returns:
        dict of query to factor, the slowest first.

    Raises:
        ValueError: a run did not measure an engine, no query is in both, or the runs are of other layouts.
    """
    runs = [list(earlier), list(later)]
    layouts = [sorted({str(result.layout) for result in run}) for run in runs]
    if len({*layouts[0], *layouts[1]}) > 1:
        both = " and ".join(map(", ".join, layouts))
        raise ArgumentError(f"runs on different layouts cannot be compared; the runs are of {both}")
    times = [_times(run, engine, against, phase) for run in runs]
    common = [query for query in times[1][engine] if all(query in of for run in times for of in run.values())]
    if not common:
        raise ArgumentError("no query was answered in both runs, so nothing can be said of what became slower")
    before, after = (_relative(run, engine, against, common) for run in times)
    factors = {query: after[query] / before[query] for query in common}
    slowest_first = sorted(factors.items(), key=lambda item: -item[1])
    return {query: worse for query, worse in slowest_first if worse > factor}


@checked
def save(spark: SparkSession, table: str, results: Iterable[Result], data: Data) -> int:
    """Append results to an Iceberg table, made when missing, and return the number of their run, from 1.

    Args:
        spark: session.
        table: `namespace.name`; the namespace must exist.
        results: Results.
        data: tpcds.data.Data that they are about.
    """
    name = identifiers.quoted(table)
    spark.sql(f"CREATE TABLE IF NOT EXISTS {name} ({COLUMNS}) USING iceberg")
    if "scaled" not in spark.table(name).columns:  # a table of before this column
        spark.sql(f"ALTER TABLE {name} ADD COLUMN scaled BOOLEAN AFTER sentence")
    ((last,),) = spark.sql(f"SELECT max(run) FROM {name}").collect()
    run: int = (last or 0) + 1
    rows = [
        (run, data.scale, data.digest, result.engine, result.layout, result.round, result.phase, result.query,
         result.verdict.kind, result.verdict.sentence, result.verdict.scaled, result.seconds, result.check_seconds,
         result.bytes_read, result.rows_read, result.peak_bytes)
        for result in results
    ]  # fmt: skip
    spark.createDataFrame(rows, COLUMNS).coalesce(1).writeTo(name).append()
    return run


@checked
def saved(spark: SparkSession, table: str, run: int, data: Data | None = None) -> list[Result]:
    """Return the Results of a run in a table of `save`, in no order.

    Args:
        spark: session.
        table: `namespace.name`.
        run: its number.
        data: tpcds.data.Data that the run must be about; None takes any.

    Raises:
        ValueError: there is no such run, or it is about other data.
    """
    name, fields = identifiers.quoted(table), [field.name for field in dataclasses.fields(Result)]
    rows = [row.asDict() for row in spark.table(name).where(f"run = {int(run)}").collect()]
    if not rows:
        runs = [row.run for row in spark.sql(f"SELECT DISTINCT run FROM {name} ORDER BY run").collect()]
        raise ArgumentError(f"{table} has no run {run}; there are {', '.join(map(str, runs)) or 'none'}")
    if data is not None and (other := {row["scale"] for row in rows if row["data"] != data.digest}):
        raise ArgumentError(
            f"run {run} of {table} is about other data, of scale factor {', '.join(sorted(other))}"
        )
    return [
        Result(
            **{key: row[key] for key in fields if key != "verdict"},
            verdict=Judgement(row["verdict"], row["sentence"], bool(row.get("scaled"))),
        )
        for row in rows
    ]


def _counts(verdict: Judgement, verified: bool, scales: bool) -> bool:
    if verdict.scaled and not scales:
        return False
    return verdict.verified if verified else verdict.kind != DIFFERENT


def _times(results: list[Result], engine: str, against: str | None, phase: str) -> dict[str, Seconds]:
    """Return the medians of an engine and of the one that it is divided by: name to query to seconds."""
    times = medians(results, phase=phase, verified=False)
    names = (engine, *([against] if against else []))
    for name in names:
        if name not in times:
            measured = ", ".join(sorted({f"{result.engine} {result.phase}" for result in results})) or "nothing"
            raise ArgumentError(f"the run did not measure {name} {phase}; it measured {measured}")
    return {name: times[name] for name in names}


def _relative(
    times: Mapping[str, Seconds], engine: str, against: str | None, queries: Iterable[str]
) -> dict[str, float]:
    """Return the seconds of queries by those of another engine, or by their own geometric mean."""
    mine = {query: times[engine][query] for query in queries}
    if against:
        return {query: seconds / times[against][query] for query, seconds in mine.items()}
    mean = statistics.geometric_mean(mine.values())
    return {query: seconds / mean for query, seconds in mine.items()}
