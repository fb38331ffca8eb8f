"""How the joins of a query run: partitioned by storage, or shuffled and why; and whether both answer alike.

Tables that are partitioned alike by the columns of a join need no shuffle: Spark joins partition with partition.
Where a condition of it is lost, the plan shows an exchange and no reason. `look` finds the reason.
"""

import statistics
import time
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Annotated

from annotated_types import Ge

from workbench._base.door import checked
from workbench._base.errors import ArgumentError
from workbench._base.sessions import configured
from workbench._base.typing import Java, SparkSession, jvm
from workbench.tables import reads
from workbench.tables.commits import errors
from workbench.tables.joins import plans, reasons

__all__ = ["BY_STORAGE", "Comparison", "Join", "Look", "compare", "look"]

# what a session needs; all but Iceberg's grouping and the broadcast are defaults of Spark 4 where each key of the
# join is a partition column
BY_STORAGE: Mapping[str, str] = MappingProxyType({
    reasons.BUCKETING: "true", reasons.PUSH_VALUES: "true", reasons.GROUPING: "true", reasons.ALL_KEYS: "false",
    reasons.BROADCAST: "-1",
})  # fmt: skip


@dataclass(frozen=True)
class Join:
    """How one join of a query runs.

    Attributes:
        left, right: the tables that each side comes from, with commas between.
        on: pairs of what is compared, `id = id, day = day`; empty where nothing is compared by equality.
        way: `partitioned by storage`: both sides as their files lie. `partitioned before`: by a shuffle further
            down. `in one partition`: there is nothing to shuffle.
        reasons: why it is not partitioned by storage, a sentence each; empty where it is.
    """

    left: str
    right: str
    on: str
    way: reasons.Way
    reasons: tuple[str, ...]


@dataclass(frozen=True)
class Look:
    """How a query ran.

    Attributes:
        joins: its joins, the innermost first; those of subqueries before those of the query.
        exchanges: shuffles of its plan, those for something else than a join too; broadcasts are none.
        shuffled_bytes: written by them, compressed as Spark does; None of a MERGE.
        rows: of the answer; None of a MERGE.
        seconds: from the text to the last row; None of a MERGE.
    """

    joins: tuple[Join, ...]
    exchanges: int
    shuffled_bytes: int | None
    rows: int | None
    seconds: float | None


@dataclass(frozen=True)
class Comparison:
    """One query by storage and by shuffle.

    Attributes:
        equal: whether the answers are the same rows, whatever their order; floats to ten digits.
        by_storage, shuffled: how each ran; the last run of each.
        ratio: seconds by shuffle by seconds by storage, the medians of runs in turn.
    """

    equal: bool
    by_storage: Look
    shuffled: Look
    ratio: float


@checked
def look(spark: SparkSession, query: str) -> Look:
    """Run a query and say of each of its joins whether it was partitioned by storage, or why not.

    The settings are those of the session: `BY_STORAGE` has what it takes. The rows are counted and not kept. A
    MERGE is planned and does not run.

    Args:
        spark: classic session.
        query: SQL text, or that of a MERGE.

    Returns:
        Look. A reason says what keeps Spark from it; where there are several, each has to go.

    Raises:
        ValueError: the text cannot be analysed, or is another command than MERGE.
    """
    merge = _merge(spark, query)
    if merge is None:
        return _looked(spark, *_ran(spark, query))
    try:
        return _looked(spark, merge, None, None)
    except ArgumentError:
        raise
    except Exception as error:
        raise ArgumentError(f"query cannot be planned: {errors.first_line(error)}") from error


@checked
def compare(
    spark: SparkSession,
    query: str,
    *,
    settings: Mapping[str, str] | None = None,
    repeats: Annotated[int, Ge(1)] = 3,
) -> Comparison:
    """Run a query partitioned by storage and, all else alike, shuffled; compare the answers.

    Spark can join by storage **wrongly**: with allowCompatibleTransforms, three tables of 12, 8 and 6 buckets lose
    most of their rows (SPARK-59121). A query whose answer is left to chance, as a LIMIT without an order, may
    differ for that reason alone.

    Args:
        spark: classic session; its settings are what they were at the end.
        query: SQL text.
        settings: of both runs, on top of the session's; `BY_STORAGE` when None. The shuffled run has
            spark.sql.sources.v2.bucketing.enabled false beside.
        repeats: how often each runs for its time; one more run of each is for the answer.

    Returns:
        Comparison.

    Raises:
        ValueError: the text cannot be analysed, or is a command; or a setting cannot be changed.
    """
    if _merge(spark, query) is not None:
        raise ArgumentError("query is a MERGE, expected a query: what it changes can be compared once only")
    common = dict(BY_STORAGE if settings is None else settings)
    variants = (common, common | {reasons.BUCKETING: "false"})
    digests, looks = [], []
    for variant in variants:
        with configured(spark, variant):
            _analysed(spark, query)  # a command would run at spark.sql
            digests.append(reads.digest(spark.sql(query)))
    seconds: tuple[list[float], list[float]] = ([], [])
    for number in range(repeats):
        for variant, taken in zip(variants, seconds, strict=True):
            with configured(spark, variant):
                execution, rows, spent = _ran(spark, query)
                taken.append(spent)
                if number == repeats - 1:
                    looks.append(_looked(spark, execution, rows, spent))
    ratio = statistics.median(seconds[1]) / max(statistics.median(seconds[0]), 1e-9)
    return Comparison(digests[0] == digests[1], looks[0], looks[1], ratio)


def _merge(spark: SparkSession, query: str) -> Java | None:
    """Return the execution of a MERGE, which nothing has started; None where the text is none."""
    state = spark._jsparkSession.sessionState()
    try:
        parsed = state.sqlParser().parsePlan(query)
    except Exception:  # who analyses it says what is wrong
        return None
    return _execution(spark, parsed) if parsed.getClass().getSimpleName() == "MergeIntoTable" else None


def _analysed(spark: SparkSession, query: str) -> Java:
    try:
        return reads.analysed(spark, query)
    except ArgumentError as error:
        raise ArgumentError(f"query {error}") from error


def _execution(spark: SparkSession, plan: Java) -> Java:
    skip = jvm(spark).org.apache.spark.sql.execution.CommandExecutionMode.SKIP()
    return spark._jsparkSession.sessionState().executePlan(plan, skip)


def _ran(spark: SparkSession, query: str) -> tuple[Java, int, float]:
    """Return the execution of a query that ran to its last row, how many there were, and the seconds."""
    begin = time.perf_counter()
    execution = _execution(spark, _analysed(spark, query))
    rows = execution.toRdd().count()
    return execution, rows, time.perf_counter() - begin


def _looked(spark: SparkSession, execution: Java, rows: int | None, seconds: float | None) -> Look:
    """Return what the plan of an execution says; the session has the settings that it was planned by."""
    nodes = list(plans.nodes(execution.executedPlan()))
    exchanges = [node for node in nodes if plans.kind(node) == "ShuffleExchangeExec"]
    shuffled = sum(node.metrics().apply("shuffleBytesWritten").value() for node in exchanges)
    joins = tuple(_join(spark, node) for node in nodes if plans.kind(node) in plans.JOINS)
    return Look(joins, len(exchanges), None if seconds is None else shuffled, rows, seconds)


def _join(spark: SparkSession, node: Java) -> Join:
    left, right = plans.sides(node)
    on = ", ".join(f"{plans.shown(a)} = {plans.shown(b)}" for a, b in zip(left.keys, right.keys, strict=True))
    way, why = reasons.way(spark, plans.kind(node), left, right)
    return Join(left.tables, right.tables, on, way, why)
