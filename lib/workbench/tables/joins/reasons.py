"""Why a join is not partitioned by storage: what Spark's EnsureRequirements, which adds exchanges, compares."""

from types import MappingProxyType
from typing import Literal

from workbench._base.typing import Java, SparkSession
from workbench.tables import reads
from workbench.tables.joins import plans
from workbench.tables.joins.plans import Side

Way = Literal[
    "partitioned by storage", "partitioned before", "in one partition", "one side shuffled", "shuffled",
    "broadcast", "nested loop",
]  # fmt: skip

BUCKETING = "spark.sql.sources.v2.bucketing.enabled"
PUSH_VALUES = "spark.sql.sources.v2.bucketing.pushPartValues.enabled"
GROUPING = "spark.sql.iceberg.planning.preserve-data-grouping"
ALL_KEYS = "spark.sql.requireAllClusterKeysForCoPartition"
SUBSET = "spark.sql.sources.v2.bucketing.allowJoinKeysSubsetOfPartitionKeys.enabled"
COMPATIBLE = "spark.sql.sources.v2.bucketing.allowCompatibleTransforms.enabled"
BROADCAST = "spark.sql.autoBroadcastJoinThreshold"
_OF_SPARK_4 = (SUBSET, COMPATIBLE)  # Spark 3.5 keeps them, and does nothing by them
_UNKNOWN = MappingProxyType(dict.fromkeys((GROUPING, *_OF_SPARK_4), "false"))  # a session may know nothing of them


def way(spark: SparkSession, join: str, left: Side, right: Side) -> tuple[Way, tuple[str, ...]]:
    """Return how a join runs, and why it is not partitioned by storage.

    Args:
        spark: session with the settings that the query was planned by.
        join: class of the join.
        left: its left side.
        right: its right side.

    Returns:
        (way, sentences; none of a join by storage).
    """
    if not left.keys:
        return "nested loop", ("the join compares nothing by equality",)
    if join == "BroadcastHashJoinExec":
        return "broadcast", (_broadcast(spark),)
    sides, shuffled = (left, right), left.shuffled + right.shuffled
    if not shuffled and left.grouping is not None and right.grouping is not None:
        return "partitioned by storage", ()
    if not shuffled and all(plans.kind(side.plan.outputPartitioning()) == "SinglePartition$" for side in sides):
        return "in one partition", ("each side is one partition, so that there is nothing to shuffle",)
    reasons = [f"{key} is not true" for key in (BUCKETING, GROUPING) if not _is_true(spark, key)]
    reasons = reasons or [reason for side in sides for reason in _lost(spark, side)] or _unlike(spark, left, right)
    found: Way = ("partitioned before", "one side shuffled", "shuffled")[shuffled]
    return found, tuple(dict.fromkeys(reasons or ["Spark shuffles for a reason that is not known here"]))


def _is_true(spark: SparkSession, key: str) -> bool:
    if key in _OF_SPARK_4 and int(spark.version.partition(".")[0]) < 4:
        return False
    value = spark.conf.get(key, _UNKNOWN[key]) if key in _UNKNOWN else spark.conf.get(key)
    return str(value).lower() == "true"


def _broadcast(spark: SparkSession) -> str:
    threshold = str(spark.conf.get(BROADCAST))
    if threshold.startswith("-"):
        return "a hint or NOT IN asks for the broadcast of one side"
    return f"one side is small enough to be broadcast: {BROADCAST} is {threshold}"


def _lost(spark: SparkSession, side: Side) -> list[str]:
    """Return why one side by itself is not partitioned by what the join compares."""
    if side.grouping is None:
        return [_ungrouped(side)]
    columns = plans.columns(side.grouping)
    missing = [column for column in columns if not plans.is_among(column, side.keys)]
    every = _is_true(spark, ALL_KEYS)
    if missing and (every or len(missing) == len(columns) or not _is_true(spark, SUBSET)):
        return [_missing(side, column) for column in missing]
    alone = [key for key in side.keys if not plans.is_among(key, columns)]
    if alone and every:
        also = plans.shown(*alone)
        return [
            f"the join also compares {also}, by which {side.tables} is not partitioned, and {ALL_KEYS} is true"
        ]
    return []


def _missing(side: Side, column: Java) -> str:
    """Return why a partition column is not among what is compared."""
    assert side.grouping is not None
    name, fields = column.name(), plans.shown(*plans.items(side.grouping.expressions()))
    for key in side.keys:
        if not plans.is_among(column, plans.items(key.collectLeaves())):
            continue
        if plans.kind(key) == "Cast":
            own, other = column.dataType().simpleString(), key.dataType().simpleString()
            return f"the types differ: {name} of {side.tables} is {own} and is compared as {other}"
        return f"the join compares {plans.shown(key)}, and {side.tables} is partitioned by {fields}"
    return f"{side.tables} is partitioned by {fields}, and the join does not compare {name}"


def _ungrouped(side: Side) -> str:
    """Return why a side is not partitioned by storage at all."""
    plan, above = side.plan, side.plan
    while plans.kind(plan) != "BatchScanExec":
        within = plans.inside(plan)
        inputs = plans.items(plan.children()) if within is None else [within]
        if not inputs:
            return f"{plan.nodeName()} is not an Iceberg table"
        if len(inputs) > 1:
            what = "a join" if plans.kind(plan) in plans.JOINS else plan.nodeName()
            return f"{side.tables} come from {what}, which is not partitioned by storage"
        if plans.kind(plan) not in plans.THROUGH and not plans.groupings(plan.outputPartitioning()):
            above = plan
        plan = inputs[0]
    if not plans.is_iceberg(plan):
        return f"{plan.nodeName()} is not an Iceberg table"
    if plans.groupings(plan.outputPartitioning()):
        return f"the partitioning of {side.tables} is lost on the way to the join, in {above.nodeName()}"
    return _unpartitioned(side, plan)


def _unpartitioned(side: Side, scan: Java) -> str:
    """Return why the scan of an Iceberg table has no partitions that Spark can join by."""
    table, partitioning = scan.table().table(), scan.scan().outputPartitioning()
    if plans.kind(partitioning) == "KeyGroupedPartitioning":
        transforms = partitioning.keys()
        fields = ", ".join(transform.toString() for transform in transforms)
        return f"{side.tables} is partitioned by {fields}, and Spark joins by columns, buckets and times only"
    present = table.spec().specId()
    if table.specs().size() > 1 and any(task.spec().specId() != present for task in reads.tasks(scan)):
        return f"{side.tables} has files of an older partitioning, which has no field of the present one"
    if table.spec().isUnpartitioned():
        return f"{side.tables} is not partitioned"
    if not scan.inputPartitions().size():
        return f"the query reads no file of {side.tables}"
    names = (table.schema().findColumnName(field.sourceId()) for field in table.spec().fields())
    return f"{side.tables} is partitioned by {', '.join(names)}, and the join compares {plans.shown(*side.keys)}"


def _unlike(spark: SparkSession, left: Side, right: Side) -> list[str]:
    """Return how two sides that are both partitioned by what is compared differ."""
    groupings: list[Java] = [left.grouping, right.grouping]
    fields = [plans.items(grouping.expressions()) for grouping in groupings]
    texts = [plans.shown(*each) for each in fields]
    differ = f"{left.tables} is partitioned by {texts[0]}, {right.tables} by {texts[1]}"
    places = [_places(grouping, side.keys) for grouping, side in zip(groupings, (left, right), strict=True)]
    if sorted(places[0]) != sorted(places[1]):
        return [f"the partition columns differ: {differ}"]
    if places[0] != places[1]:
        return [f"the order of the partition fields differs: {differ}"]
    if any(not _alike(spark, a, b) for a, b in zip(*fields, strict=True)):
        what = "buckets" if all("bucket" in text for text in texts) else "transforms"
        return [f"the {what} differ: {differ}"]
    values = [grouping.partitionValues() for grouping in groupings]
    if not _is_true(spark, PUSH_VALUES) and not values[0].equals(values[1]):
        return [f"a partition is missing on one side, and {PUSH_VALUES} is not true"]
    return []


def _places(grouping: Java, keys: list[Java]) -> list[int]:
    """Return which of the compared pairs each partition field belongs to; -1 where to none."""
    return [
        next((n for n, key in enumerate(keys) if column.semanticEquals(key)), -1)
        for column in plans.columns(grouping)
    ]


def _alike(spark: SparkSession, left: Java, right: Java) -> bool:
    kinds = {plans.kind(left), plans.kind(right)}
    if kinds != {"TransformExpression"}:
        return "TransformExpression" not in kinds
    same: bool = left.isSameFunction(right)
    return same or (_is_true(spark, COMPATIBLE) and bool(left.isCompatible(right)))
