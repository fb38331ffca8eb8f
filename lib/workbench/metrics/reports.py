"""Read what Iceberg reported of commits and scans, its retries, and what Spark's listeners dropped.

The lines are those of the Log4j file of `watch`: milliseconds, logger, message. Iceberg's reports are texts there
(`CommitReport{tableName=…, commitMetrics=CommitMetricsResult{…}}`, org.apache.iceberg.metrics).

A commit that is refused for good reports nothing: it is an error of its execution in the event log. Scans of a
table that the same session made by CREATE TABLE AS SELECT are not reported either: the event log has them.
"""

import re
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from workbench._base import secrets
from workbench._base.door import checked
from workbench._base.errors import ArgumentError
from workbench.metrics.folding import moment
from workbench.metrics.watching import REPORTS

_LINE = re.compile(r"(\d{12,14}) ([\w.$]+) (.*)")
_REPORT = re.compile(r"Received metrics report: (Commit|Scan)Report\{tableName=(.*?), snapshotId=(-?\d+), ")
_FIGURE = re.compile(
    r"(\w+)=(?:CounterResult\{unit=\w+, value=(-?\d+)\}|TimerResult\{[^}]*totalDuration=(PT[^,}]+)|null)"
)
_DURATION = re.compile(r"PT(?:(\d+)H)?(?:(\d+)M)?(?:([\d.]+)S)?")
_RETRY = re.compile(r"Retrying task after failure: (.*)")
_DROPPED = re.compile(r"Dropped (\d+) events from (\w+) since")
_REPORTER = "LoggingMetricsReporter"


@dataclass(frozen=True)
class Commit:
    """A commit that landed.

    Attributes:
        table: as the catalog's client names it; of CREATE TABLE AS SELECT without the catalog.
        at: when it was reported.
        snapshot_id: that it made.
        operation: append, overwrite, replace or delete.
        tries: how often it was tried; 1 where nobody was faster.
        seconds: with all its tries.
        added_data_files, removed_data_files, added_delete_files: files.
        added_rows, removed_rows: records of data files.
        added_bytes, removed_bytes: sizes of files.
        total_data_files, total_rows, total_bytes: of the table afterwards.
        manifests_made, manifests_kept, manifests_replaced: manifests.
    """

    table: str
    at: datetime
    snapshot_id: int
    operation: str
    tries: int
    seconds: float
    added_data_files: int
    removed_data_files: int
    added_delete_files: int
    added_rows: int
    removed_rows: int
    added_bytes: int
    removed_bytes: int
    total_data_files: int
    total_rows: int
    total_bytes: int
    manifests_made: int
    manifests_kept: int
    manifests_replaced: int


@dataclass(frozen=True)
class Planning:
    """A scan that was planned; it may be planned again, and need not be run.

    Attributes:
        table, at: as in `Commit`.
        snapshot_id: that was read.
        seconds: of planning.
        data_files, delete_files: to be read.
        skipped_files: data files that their own figures ruled out.
        manifests, skipped_manifests: of data files.
        bytes: sizes of the data files, whole.
    """

    table: str
    at: datetime
    snapshot_id: int
    seconds: float
    data_files: int
    delete_files: int
    skipped_files: int
    manifests: int
    skipped_manifests: int
    bytes: int


@dataclass(frozen=True)
class Retry:
    """A call that failed and was tried again: of a commit, or of storage or a catalog.

    Attributes:
        at: when.
        why: what failed, without secrets.
    """

    at: datetime
    why: str


@dataclass(frozen=True)
class Reports:
    """What a session reported.

    Attributes:
        commits, scans, retries: in the order of the file.
        dropped_events: that Spark's event log lost because it was slower than the job, as Spark counts them.
        cut_off: whether the last line is not whole.
    """

    commits: tuple[Commit, ...]
    scans: tuple[Planning, ...]
    retries: tuple[Retry, ...]
    dropped_events: int
    cut_off: bool


NONE = Reports((), (), (), 0, False)
_COMMIT = {
    "tries": "attempts",
    "added_data_files": "addedDataFiles",
    "removed_data_files": "removedDataFiles",
    "added_delete_files": "addedDeleteFiles",
    "added_rows": "addedRecords",
    "removed_rows": "removedRecords",
    "added_bytes": "addedFilesSizeInBytes",
    "removed_bytes": "removedFilesSizeInBytes",
    "total_data_files": "totalDataFiles",
    "total_rows": "totalRecords",
    "total_bytes": "totalFilesSizeInBytes",
    "manifests_made": "manifestsCreated",
    "manifests_kept": "manifestsKept",
    "manifests_replaced": "manifestsReplaced",
}
_SCAN = {
    "data_files": "resultDataFiles",
    "delete_files": "resultDeleteFiles",
    "skipped_files": "skippedDataFiles",
    "manifests": "scannedDataManifests",
    "skipped_manifests": "skippedDataManifests",
    "bytes": "totalFileSizeInBytes",
}


@checked
def read(path: str | Path) -> Reports:
    """Read the reports of a watched session.

    Args:
        path: the file, or the folder of `watch`. A folder without one is of a session that reported nothing.

    Returns:
        Reports.

    Raises:
        ValueError: there is no such file or folder, or it holds other lines.
    """
    path = Path(path)
    if path.is_dir():
        path = path / REPORTS
        if not path.exists():
            return NONE
    try:
        text = path.read_text(encoding="utf-8", errors="replace")
    except OSError as error:
        raise ArgumentError(f"{path} cannot be read: {error.strerror or error}") from None
    *lines, rest = text.split("\n")
    commits: list[Commit] = []
    scans: list[Planning] = []
    retries: list[Retry] = []
    dropped = 0
    for number, line in enumerate(lines, 1):
        parts = _LINE.fullmatch(line)
        if not parts:
            raise ArgumentError(f"{path}, line {number} is not a line of Iceberg's reports as `watch` keeps them")
        at, logger, message = moment(int(parts[1])), parts[2], parts[3]
        if logger.endswith(_REPORTER):
            _take_report(f"{path}, line {number}", at, message, commits, scans)
        elif retry := _RETRY.match(message):
            retries.append(Retry(at, secrets.redact(retry[1])))
        elif (lost := _DROPPED.search(message)) and lost[2] == "eventLog":
            dropped += int(lost[1])
    return Reports(tuple(commits), tuple(scans), tuple(retries), dropped, bool(rest))


def _take_report(where: str, at: datetime, message: str, commits: list[Commit], scans: list[Planning]) -> None:
    head = _REPORT.match(message)
    if not head:
        raise ArgumentError(f"{where} is a report of a form that is not known: {message[:80]}")
    kind, table, snapshot = head[1], secrets.redact(head[2]), int(head[3])
    # behind the filter, whose text is the user's own
    place = message.rfind(f"{kind.lower()}Metrics={kind}MetricsResult{{")
    figures = _figures(message[place:]) if place >= 0 else {}
    if place < 0 or not figures:
        raise ArgumentError(f"{where} is a report without figures")
    if kind == "Commit":
        operation = re.search(r"\boperation=(\w+)", message[head.end() : place])
        seconds = figures.get("totalDuration", 0.0)
        counts = {name: int(figures.get(key, 0)) for name, key in _COMMIT.items()}
        counts["tries"] = max(1, counts["tries"])
        commits.append(
            Commit(table, at, snapshot, operation=operation[1] if operation else "", seconds=seconds, **counts)
        )
    else:
        counts = {name: int(figures.get(key, 0)) for name, key in _SCAN.items()}
        scans.append(Planning(table, at, snapshot, seconds=figures.get("totalPlanningDuration", 0.0), **counts))


def _figures(text: str) -> dict[str, float]:
    """Return the counters and timers of a report, by Iceberg's names; timers in seconds."""
    figures: dict[str, float] = {}
    end = text.find("}, metadata=")
    for match in _FIGURE.finditer(text, 0, end if end >= 0 else len(text)):
        if match[2] is not None:
            figures[match[1]] = int(match[2])
        elif match[3] is not None:
            figures[match[1]] = _seconds(match[3])
    return figures


def _seconds(duration: str) -> float:
    parts = _DURATION.fullmatch(duration)
    if not parts:
        raise ArgumentError(f"{duration} is not a duration as Java writes it, PT1.5S")
    hours, minutes, seconds = (float(part or 0) for part in parts.groups())
    return hours * 3600 + minutes * 60 + seconds
