"""A run that is watched: where its kernel keeps what it sees, what is read of it, and what becomes of its log.

The watching is the kernel's own (`workbench.metrics.kernel`), the reading a process of its own (`fold`), so that
neither is in the way of the run: what fails there is a sentence in the record, and the verdict is the same.
"""

import json
import shutil
import signal
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Literal, get_args

from workbench._base import children
from workbench._base.errors import ArgumentError, WorkbenchError
from workbench_ops.run import record as records
from workbench_ops.run import watch
from workbench_ops.run.record import Metrics, Record

Mode = Literal["off", "run", "keep"]
MODES: tuple[str, ...] = get_args(Mode)
VARIABLE = "WORKBENCH_METRICS"  # of workbench.metrics.kernel, which takes a second to import
FOLDER = "metrics"  # in the run's folder: the event log and Iceberg's reports
FOLDED = "metrics.json"
PROMETHEUS = "metrics.prom"
FOLD_SECONDS = 120  # that the reader has; what it has not read by then stays in the log
HASTY_SECONDS = 10  # where the run was interrupted: whoever did it waits
COMPARED = 5  # earlier runs, the newest


def require(mode: str) -> None:
    """Validate how a run is to be watched.

    Raises:
        ArgumentError: there is no such mode.
    """
    if mode not in MODES:
        raise ArgumentError(f"metrics must be {', '.join(MODES[:-1])} or {MODES[-1]}, found {mode!r}")


def begun(record: Record, mode: str) -> Record:
    """Return the record of a run that begins, with how it is watched."""
    if mode == "off":
        return record
    return records.changed(record, metrics=Metrics.model_validate({"mode": mode, "state": "watching"}))


def variables(record: Record) -> dict[str, str]:
    """Return the variable by which a run's kernel keeps what it sees: empty where it is not watched.

    It is set in any case: the runner may be within the kernel of another run.
    """
    if record.metrics is None:
        return {VARIABLE: ""}
    folder = records.folder(record) / FOLDER
    with suppress(OSError):  # the kernel says that nothing could be kept
        folder.mkdir()
    return {VARIABLE: str(folder)}


def folded(record: Record, hidden: Sequence[str]) -> Record:
    """Read what was kept of a run that ended, and return its record with what came of it, written.

    The log is removed where the run passed, all was read, no incident was found, and nobody asked to keep it.

    Args:
        record: with its verdict, as it is written; one of a run that was not watched is returned as it is.
        hidden: secret values of its environment.
    """
    if record.metrics is None:
        return record
    folder = records.folder(record)
    try:
        metrics = _changed(record.metrics, state="folded", **_read(record, hidden))
    except Exception as error:  # whatever it is: the verdict is written, and stays
        metrics = _changed(record.metrics, state="failed", note=str(error))
    dull = record.status == "passed" and metrics.state == "folded" and not (metrics.incidents or metrics.note)
    if dull and metrics.mode == "run":
        shutil.rmtree(folder / FOLDER, ignore_errors=True)
    log_kept = (folder / FOLDER).is_dir() and any(path.is_file() for path in (folder / FOLDER).iterdir())
    ended = records.changed(record, metrics=_changed(metrics, log_kept=log_kept))
    with suppress(OSError):  # the verdict is written; a disk that is full has no room for more
        records.write(ended, hidden=hidden)
    return ended


def _read(record: Record, hidden: Sequence[str]) -> dict[str, Any]:
    """Let the reader read, and return what it says.

    Raises:
        WorkbenchError: it could not, or was ended; the sentence says why.
    """
    folder = records.folder(record)
    cell = record.failing_cell
    seconds = HASTY_SECONDS if record.status == "interrupted" else FOLD_SECONDS
    asked = {
        "folder": str(folder),
        "hidden": list(hidden),
        "earlier": [str(records.folder(other) / FOLDED) for other in _earlier(record)],
        "job": record.notebook,
        "passed": record.status == "passed",
        "error": f"{cell.error}: {cell.message}" if cell else None,
    }
    try:
        with watch.signals():
            reader = subprocess.run(
                [sys.executable, "-m", "workbench_ops.run.fold"], input=json.dumps(asked), capture_output=True,
                text=True, timeout=seconds, check=False, preexec_fn=children.end_with_parent,
            )  # fmt: skip
    except subprocess.TimeoutExpired:
        raise WorkbenchError(f"its metrics were not read within {seconds} seconds") from None
    except watch.Interrupted as stop:
        raise WorkbenchError(f"its metrics were not read: {signal.Signals(stop.args[0]).name}") from None
    if reader.returncode < 0:
        name = signal.Signals(-reader.returncode).name
        raise WorkbenchError(f"its metrics were not read: the reader was ended by {name}")
    if reader.returncode:
        last = (reader.stderr.strip().splitlines() or [f"exit code {reader.returncode}"])[-1]
        raise WorkbenchError(f"its metrics could not be read: {last[:500]}")
    summary: dict[str, Any] = json.loads(reader.stdout)
    return summary


def _earlier(record: Record) -> list[Record]:
    """Return the newest passed runs of a run's job that were read, oldest first."""
    from workbench_ops.pages import report  # here: the process that executes the notebook needs no pages

    runs = [
        other
        for other in records.every(record.notebook)
        if other.status == "passed"
        and other.started < record.started
        and other.engine == record.engine
        and report.same_job(other, record)
        and (records.folder(other) / FOLDED).is_file()
    ]
    return runs[-COMPARED:]


def _changed(metrics: Metrics, **values: Any) -> Metrics:
    return Metrics(**(dict(metrics) | values))


def sentence(record: Record) -> str | None:
    """Return what a person should know of a run's metrics at once; None where there is nothing."""
    if (metrics := record.metrics) is None:
        return None
    words = [f"incidents: {', '.join(sorted(set(metrics.incidents)))}"] if metrics.incidents else []
    words += [f"slower: {metrics.slower}"] if metrics.slower else []
    words += [f"metrics: {metrics.note}"] if metrics.note else []
    return f"{record.notebook}  {'; '.join(words)} (workbench metrics {record.run_id})" if words else None


def document(folder: Path) -> dict[str, Any] | None:
    """Return what was read of a run: the content of `metrics.json` in its folder; None where there is none.

    Raises:
        ArgumentError: it is damaged.
    """
    path = folder / FOLDED
    if not path.is_file():
        return None
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ArgumentError(f"{path} cannot be read: {error}") from None
    if not isinstance(content, dict) or content.get("version") != 1:
        raise ArgumentError(f"{path} is not of a version that this library reads")
    return content
