"""What measurements say: medians, totals, ratios between engines, queries that became slower; kept in a table."""

import dataclasses
import statistics
from collections import Counter
from dataclasses import dataclass

from workbench._base import identifiers
from workbench._base.errors import ArgumentError
from workbench_proofs.tpcds.measuring import WARM
from workbench_proofs.tpcds.runs import Result
from workbench_proofs.tpcds.verdicts import Judgement

SLOWER = 1.3
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


def medians(results, *, phase=WARM, layout=None, verified=True, scales=True):
    """Return the median seconds over the rounds: engine to query to seconds.

    Args:
        results: Results.
        phase: `cold` or `warm`.
        layout: of the tables; None for any.
        verified: False also takes answers that are vacuous or unverified; what is different never counts.
        scales: False leaves out queries that agree only in another scale, whatever else their verdict says.
    """
    found, asked = {}, Counter()
    for one in results:
        if one.phase == phase and layout in (None, one.layout):
            asked[one.engine, one.query] += 1
            if _counts(one.verdict, verified, scales):
                found.setdefault(one.engine, {}).setdefault(one.query, []).append(one.seconds)
    rounds = {engine: max(times for (name, _), times in asked.items() if name == engine) for engine in found}
    return {
        engine: {query: statistics.median(times) for query, times in of.items() if len(times) == rounds[engine]}
        for engine, of in found.items()
    }  # a query that was wrong in one round has no time


def total(seconds):
    """Return (sum, geometric mean) of a dict of query to seconds; (0, 0) of none."""
    values = list(seconds.values())
    return (sum(values), statistics.geometric_mean(values)) if values else (0.0, 0.0)


def ratio(seconds, other):
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


def slower(earlier, later, *, engine, against=None, phase=WARM, factor=SLOWER):
    """Name the queries of an engine that became slower between two runs, whatever the machine did meanwhile.

    Times are taken by those of the other engine in the same run, or by the engine's own geometric mean over the
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
    lie = [{one.layout for one in results} for results in (earlier, later)]
    if len(lie[0] | lie[1]) > 1:
        told = " and ".join(", ".join(sorted(str(each) for each in of)) for of in lie)
        raise ArgumentError(f"tables that lie otherwise make no query slower: the runs are of {told}")
    times = [_times(results, engine, against, phase) for results in (earlier, later)]
    common = [query for query in times[1][engine] if all(query in of for run in times for of in run.values())]
    if not common:
        raise ArgumentError("no query was answered in both runs, so nothing can be said of what became slower")
    before, after = (_relative(run, engine, against, common) for run in times)
    found = {query: after[query] / before[query] for query in common}
    return {query: worse for query, worse in sorted(found.items(), key=lambda one: -one[1]) if worse > factor}


def save(spark, table, results, data):
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
    run = (spark.sql(f"SELECT max(run) FROM {name}").first()[0] or 0) + 1
    rows = [
        (run, data.scale, data.digest, one.engine, one.layout, one.round, one.phase, one.query, one.verdict.kind,
         one.verdict.sentence, one.verdict.scaled, one.seconds, one.check_seconds, one.bytes_read, one.rows_read,
         one.peak_bytes)
        for one in results
    ]  # fmt: skip
    spark.createDataFrame(rows, COLUMNS).coalesce(1).writeTo(name).append()
    return run


def saved(spark, table, run, data=None):
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


def _counts(verdict, verified, scales):
    if verdict.scaled and not scales:
        return False
    return verdict.verified if verified else verdict.kind != "different"


def _times(results, engine, against, phase):
    """Return the medians of an engine and of the one that it is taken by: name to query to seconds."""
    found = medians(results, phase=phase, verified=False)
    wanted = (engine, *([against] if against else []))
    for name in wanted:
        if name not in found:
            there = ", ".join(sorted({f"{one.engine} {one.phase}" for one in results})) or "nothing"
            raise ArgumentError(f"the run did not measure {name} {phase}; it measured {there}")
    return {name: found[name] for name in wanted}


def _relative(times, engine, against, queries):
    """Return the seconds of queries by those of another engine, or by their own geometric mean."""
    mine = {query: times[engine][query] for query in queries}
    if against:
        return {query: seconds / times[against][query] for query, seconds in mine.items()}
    mean = statistics.geometric_mean(mine.values())
    return {query: seconds / mean for query, seconds in mine.items()}
