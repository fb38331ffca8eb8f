"""Spark's physical plan of a query: its nodes, and the two sides of a join as Spark found them."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from workbench._base.typing import Java

JOINS = (
    "SortMergeJoinExec", "ShuffledHashJoinExec", "BroadcastHashJoinExec", "BroadcastNestedLoopJoinExec",
    "CartesianProductExec",
)  # fmt: skip
THROUGH = ("WholeStageCodegenExec", "InputAdapter", "ColumnarToRowExec", "SortExec", "AQEShuffleReadExec")


@dataclass(frozen=True)
class Side:
    """One side of a join, below the exchange that Spark put there for the join.

    Attributes:
        tables: that it comes from, with commas between; the name of a node where it comes from none.
        keys: expressions that the join compares.
        plan: what the side is without that exchange.
        grouping: how it is partitioned by storage; None where it is not.
        shuffled: whether the exchange is there.
    """

    tables: str
    keys: list[Java]
    plan: Java
    grouping: Java | None
    shuffled: bool


def nodes(plan: Java, *, subqueries: bool = True) -> Iterator[Java]:
    """Yield the nodes of a physical plan, inputs first; what is reused comes once."""
    within = inside(plan)
    if within is not None:
        yield from nodes(within, subqueries=subqueries)
        return
    for inputs in ([plan.subqueries()] if subqueries else []) + [plan.children()]:
        for node in items(inputs):
            yield from nodes(node, subqueries=subqueries)
    yield plan


def inside(plan: Java) -> Java | None:
    """Return the plan that adaptive execution has wrapped up; None of another node."""
    if kind(plan) == "AdaptiveSparkPlanExec":
        return plan.executedPlan()
    return plan.plan() if kind(plan).endswith("QueryStageExec") else None


def unwrapped(plan: Java) -> Java:
    """Return the first node that changes rows or where they are."""
    within = inside(plan)
    if within is None and kind(plan) in THROUGH:
        within = plan.child()
    return plan if within is None else unwrapped(within)


def kind(value: Java) -> str:
    """Return the name of an object's class, without its package."""
    return str(value.getClass().getSimpleName())


def items(sequence: Java) -> list[Java]:
    """Return what a sequence of Scala holds."""
    return [sequence.apply(n) for n in range(sequence.size())]


def sides(join: Java) -> tuple[Side, Side]:
    """Return the two sides of a join, the left one first."""
    compared = kind(join) not in ("BroadcastNestedLoopJoinExec", "CartesianProductExec")
    left, right = (items(join.leftKeys()), items(join.rightKeys())) if compared else ([], [])
    return _side(join.left(), left), _side(join.right(), right)


def _side(plan: Java, keys: list[Java]) -> Side:
    plan, shuffled = unwrapped(plan), False
    if kind(plan) == "ReusedExchangeExec":  # of another side, whose columns have other ids: the keys in its terms
        plan = plan.child()
        if kind(plan.outputPartitioning()) == "HashPartitioning":
            keys = items(plan.outputPartitioning().expressions())
    if kind(plan) == "ShuffleExchangeExec" and plan.shuffleOrigin().toString() == "ENSURE_REQUIREMENTS":
        plan, shuffled = unwrapped(plan.child()), True
    scans = [node for node in nodes(plan, subqueries=False) if is_iceberg(node)]
    tables = ", ".join(dict.fromkeys(str(scan.table().table().name()) for scan in scans))
    found = groupings(plan.outputPartitioning())
    # after a join the rows are grouped by the columns of either side: that of the keys counts
    grouping = max(found, key=lambda each: sum(is_among(column, keys) for column in columns(each)), default=None)
    return Side(tables or plan.nodeName(), keys, plan, grouping, shuffled)


def is_iceberg(node: Java) -> bool:
    """Say whether a node scans an Iceberg table."""
    return kind(node) == "BatchScanExec" and "org.apache.iceberg" in node.scan().getClass().getName()


def groupings(partitioning: Java) -> list[Java]:
    """Return the partitionings by storage among those that a plan has."""
    if kind(partitioning) == "PartitioningCollection":
        return [each for part in items(partitioning.partitionings()) for each in groupings(part)]
    return [partitioning] if kind(partitioning) == "KeyGroupedPartitioning" else []


def columns(grouping: Java) -> list[Java]:
    """Return the column of each partition field."""
    return [leaf for field in items(grouping.expressions()) for leaf in items(field.collectLeaves())]


def is_among(expression: Java, expressions: list[Java]) -> bool:
    """Say whether an expression means the same as one of several."""
    return any(expression.semanticEquals(other) for other in expressions)


def shown(*expressions: Java) -> str:
    """Return expressions as people write them: `id, bucket(8, id), cast(id as bigint)`."""
    return ", ".join(map(_shown, expressions))


def _shown(expression: Java) -> str:
    if kind(expression) != "TransformExpression":
        return re.sub(r"#\d+L?", "", expression.toString())
    count = expression.numBucketsOpt()
    buckets = [str(count.get())] if count.isDefined() else []
    return f"{expression.function().name()}({', '.join([*buckets, shown(*items(expression.children()))])})"
