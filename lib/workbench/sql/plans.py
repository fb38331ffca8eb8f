"""What a query does, step by step, and how many files it reads of all; without ids, so that it stays equal."""

from collections.abc import Iterator
from dataclasses import dataclass

from workbench._base.door import checked
from workbench._base.typing import DataFrame, Java
from workbench.tables import reads

WRAPPERS = ("WholeStageCodegen", "InputAdapter", "AdaptiveSparkPlan", "ColumnarToRow", "ResultQueryStage",
            "ShuffleQueryStage", "TableCacheQueryStage", "BroadcastQueryStage", "AQEShuffleRead")  # fmt: skip


@dataclass(frozen=True)
class Step:
    """A step of a plan.

    Attributes:
        depth: how far it is from the last one, which has 0.
        name: Spark's, as SortMergeJoin; of a scan with the table's name.
        rows: that it gave; None where it did not run, gave none, or Spark does not count them.
    """

    depth: int
    name: str
    rows: int | None


@dataclass(frozen=True)
class Plan:
    """What a query does.

    Attributes:
        steps: the last one first, each before those that it takes its rows from.
        files_read: data files of Iceberg tables that its scans open, each once.
        files: data files that these tables have in the snapshots that are read.
    """

    steps: tuple[Step, ...]
    files_read: int
    files: int


@checked
def plan(df: DataFrame) -> Plan:
    """Describe the plan of a query over Iceberg tables. It does not run; of one that ran, rows are told.

    Args:
        df: DataFrame of a classic session; `df.collect()` before gives its steps their rows.

    Returns:
        Plan.

    Raises:
        ValueError: the query reads something other than Iceberg tables.
    """
    execution = df._jdf.queryExecution()
    steps = tuple(_steps(_final(execution.executedPlan()), 0))
    return Plan(steps, len(reads.files(df)), sum(_total(scan) for scan in reads._scans(df)))


def _final(node: Java) -> Java:
    """Return the plan that runs, of an adaptive one."""
    return node.executedPlan() if node.getClass().getSimpleName() == "AdaptiveSparkPlanExec" else node


def _steps(node: Java, depth: int) -> Iterator[Step]:
    kind = node.getClass().getSimpleName().removesuffix("Exec")
    wrapped = kind in WRAPPERS
    if not wrapped:
        yield Step(depth, _name(node, kind), _rows(node))
    if "QueryStage" in kind:
        yield from _steps(node.plan(), depth)
        return
    children = node.children()
    for n in range(children.size()):
        yield from _steps(children.apply(n), depth if wrapped else depth + 1)


def _name(node: Java, kind: str) -> str:
    return f"Scan {node.table().name().rpartition(' ')[2]}" if kind == "BatchScan" else kind


def _rows(node: Java) -> int | None:
    metric = node.metrics().get("numOutputRows")
    count = metric.get().value() if metric.isDefined() else 0
    return count or None


def _total(scan: Java) -> int:
    """Return how many data files a scanned table has in the snapshot that is read."""
    table, wanted = scan.table().table(), scan.table().snapshotId()
    snapshot = table.snapshot(wanted) if wanted is not None else table.currentSnapshot()
    return 0 if snapshot is None else int(snapshot.summary().get("total-data-files") or 0)
