"""SQL executions of an event log, and what their plans' metrics say of Iceberg tables."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from workbench._base import secrets
from workbench.metrics.folding import moment
from workbench.metrics.runs import Execution, Scan

# Iceberg's custom metrics (spark/source/metrics in Iceberg's Spark module) by their descriptions
_FILES = "number of result data files"
_FIGURES = {
    "data_files": _FILES,
    "delete_files": "number of result delete files",
    "skipped_files": "number of skipped data files",
    "manifests": "number of scanned data manifests",
    "skipped_manifests": "number of skipped data manifests",
    "bytes": "total data file size (bytes)",
}
_PLANNING = "total planning duration (ms)"
_ROWS = "number of output rows"
_SPLITS = "number of file splits read"  # counted by tasks, where the figures above are of the planning
_NODE = "BatchScan "


class Plans:
    """Executions, their scans and the values of their metrics, as events tell them."""

    def __init__(self) -> None:
        self.started: dict[int, Mapping[str, Any]] = {}
        self._ended: dict[int, Mapping[str, Any]] = {}
        self._scans: dict[int, dict[int, tuple[str, dict[str, int]]]] = {}
        self._planned: dict[int, int] = {}  # by metric: what planning told last
        self._planned_in: dict[int, set[int]] = {}  # by execution: the metrics that it told
        self._read_in: dict[int, dict[int, tuple[int, int]]] = {}  # by execution and metric: before, until now
        self._wanted: set[int] = set()

    def start(self, event: Mapping[str, Any]) -> None:
        """Take the start of an execution, with its plan."""
        self.started[event["executionId"]] = event
        self.plan(event["executionId"], event["sparkPlanInfo"])

    def end(self, event: Mapping[str, Any]) -> None:
        """Take the end of an execution."""
        self._ended[event["executionId"]] = event

    def plan(self, execution: int, info: Mapping[str, Any]) -> None:
        """Take a plan of an execution, the first one or one that was made again meanwhile."""
        known = self._scans.setdefault(execution, {})
        for node in _nodes(info):
            metrics = {metric["name"]: metric["accumulatorId"] for metric in node.get("metrics", ())}
            if _FILES in metrics:
                table = str(node["nodeName"]).removeprefix(_NODE).strip()
                known[metrics[_FILES]] = (table, metrics)
                self._wanted |= set(metrics.values())

    def take_driver(self, execution: int, updates: Iterable[list[int]]) -> None:
        """Take values that the driver sent."""
        values = {number: value for number, value in updates if number in self._wanted}
        self._planned |= values
        self._planned_in.setdefault(execution, set()).update(values)

    def take_updates(self, execution: int | None, accumulables: Iterable[Mapping[str, Any]]) -> None:
        """Take values that a task had when it ended; each is the sum until then, also over earlier executions."""
        if execution is None:
            return
        known = self._read_in.setdefault(execution, {})
        for entry in accumulables:
            number, until = entry["ID"], _count(entry.get("Value"))
            if number not in self._wanted or until is None:
                continue
            before = until - (_count(entry.get("Update")) or 0) if "Update" in entry else 0
            first, last = known.get(number, (before, until))
            known[number] = min(first, before), max(last, until)

    def executions(self) -> tuple[Execution, ...]:
        """Return the executions, in the order of their numbers."""
        return tuple(self._execution(number, event) for number, event in sorted(self.started.items()))

    def _execution(self, number: int, event: Mapping[str, Any]) -> Execution:
        end = self._ended.get(number)
        return Execution(
            execution_id=number,
            description=secrets.redact(str(event.get("description", ""))),
            started=moment(event["time"]),
            ended=moment(end["time"]) if end else None,
            error=secrets.redact(end["errorMessage"]) if end and end.get("errorMessage") else None,
            scans=tuple(self._read(number)),
        )

    def _read(self, number: int) -> Iterator[Scan]:
        """Yield the scans that were planned or read in an execution, and whose planning told its figures.

        A plan that was replaced has none. The plan of a frame that is cached, or collected again, is that of an
        earlier execution, which read for this one.
        """
        planned, read = self._planned_in.get(number, set()), self._read_in.get(number, {})
        for table, metrics in self._scans[number].values():
            if metrics[_FILES] not in self._planned:
                continue
            if metrics[_FILES] not in planned and read.keys().isdisjoint(metrics.values()):
                continue
            figures = {name: self._planned.get(metrics.get(words, -1), 0) for name, words in _FIGURES.items()}
            planning = (
                self._planned.get(metrics.get(_PLANNING, -1), 0) / 1e3 if metrics[_FILES] in planned else 0.0
            )
            rows, splits = (_risen(read.get(metrics.get(words, -1))) for words in (_ROWS, _SPLITS))
            yield Scan(
                execution_id=number, table=table, planning_seconds=planning, rows=rows, splits=splits, **figures
            )


def _count(value: object) -> int | None:
    return int(str(value)) if str(value).isdigit() else None


def _risen(bounds: tuple[int, int] | None) -> int | None:
    return None if bounds is None else bounds[1] - bounds[0]


def _nodes(info: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Yield a plan's nodes; a loop, as plans can be deeper than Python's stack."""
    waiting = [info]
    while waiting:
        node = waiting.pop()
        yield node
        waiting += node.get("children", ())
