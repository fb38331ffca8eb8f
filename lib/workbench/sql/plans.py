"""What a query does, step by step, and how many files it reads of all; without ids, so that it stays equal."""

from collections.abc import Iterator
from dataclasses import dataclass

from workbench._base.door import checked
from workbench._base.errors import ArgumentError
from workbench._base.typing import DataFrame, Java
from workbench.tables import reads
from workbench.tables.joins import plans

WRAPPERS = ("WholeStageCodegen", "InputAdapter", "ColumnarToRow", "AQEShuffleRead")


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
        ValueError: df is not a DataFrame of a classic session, or reads something other than Iceberg tables.
    """
    if not hasattr(df, "_jdf"):
        raise ArgumentError(
            f"df must be a DataFrame of a classic session, found {type(df).__module__}.{type(df).__qualname__}"
        )
    execution = df._jdf.queryExecution()
    steps = tuple(_steps(execution.executedPlan(), 0))
    return Plan(steps, len(reads.files(df)), sum(_total(scan) for scan in reads._scans(df)))


def _steps(node: Java, depth: int) -> Iterator[Step]:
    within = plans.inside(node)
    if within is not None:
        yield from _steps(within, depth)
        return
    kind = plans.kind(node).removesuffix("Exec")
    wrapped = kind in WRAPPERS
    if not wrapped:
        yield Step(depth, _name(node, kind), _rows(node))
    for child in plans.items(node.children()):
        yield from _steps(child, depth if wrapped else depth + 1)


def _name(node: Java, kind: str) -> str:
    return f"Scan {node.table().name().rpartition(' ')[2]}" if kind == "BatchScan" else kind


def _rows(node: Java) -> int | None:
    metric = node.metrics().get("numOutputRows")
    count = metric.get().value() if metric.isDefined() else 0
    return count or None


def _total(scan: Java) -> int:
    """Return how many data files a scanned table has in the snapshot that is read."""
    table, snapshot_id = scan.table().table(), scan.table().snapshotId()
    snapshot = table.snapshot(snapshot_id) if snapshot_id is not None else table.currentSnapshot()
    return 0 if snapshot is None else int(snapshot.summary().get("total-data-files") or 0)
