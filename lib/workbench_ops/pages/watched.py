"""What the report of a watched run says of Spark and Iceberg: sums, incidents, figures."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from workbench._base.errors import WorkbenchError
from workbench_ops.pages import markup
from workbench_ops.run.record import Record

_SUMS = (  # name, words, unit
    ("tasks", "tasks", ""),
    ("failed_tasks", "failed tasks", ""),
    ("cpu_seconds", "CPU of tasks", "s"),
    ("run_seconds", "time of tasks", "s"),
    ("gc_seconds", "collection in tasks", "s"),
    ("peak_memory_bytes", "largest task's memory", "B"),
    ("rows_in", "rows read", ""),
    ("bytes_in", "read from files", "B"),
    ("bytes_out", "written to files", "B"),
    ("shuffle_bytes_read", "read from shuffles", "B"),
    ("spilled_bytes", "spilled to disk", "B"),
    ("largest_task_over_median", "largest task over median, bytes", "×"),
    ("files_read", "data files read", ""),
    ("files_planned", "data files planned", ""),
    ("files_skipped", "data files skipped", ""),
    ("commits", "commits", ""),
    ("commit_tries", "tries of them", ""),
    ("refused_commits", "refused commits", ""),
)


def section(run_dir: Path, record: Record, redact: Callable[[str], str]) -> dict[str, Any] | None:
    """Return what a report shows of a run's metrics; None of a run that was not watched.

    What cannot be read is said in `note`, and never raises.

    Args:
        run_dir: folder of the run.
        record: its run record.
        redact: removes secrets from a text.
    """
    if record.metrics is None:
        return None
    shown: dict[str, Any] = {"note": record.metrics.note, "slower": record.metrics.slower}
    try:
        content = _content(run_dir)
        if content is None:
            return shown | {"note": shown["note"] or "Nothing was read of what this run did."}
        return shown | _shown(markup.cleaned(content, redact))
    except Exception as error:  # whatever is wrong with the file, the verdict must still reach its reader
        words = str(error) if isinstance(error, WorkbenchError) else type(error).__name__
        return shown | {"note": f"Its metrics cannot be shown: {words}"}


def _content(run_dir: Path) -> dict[str, Any] | None:
    from workbench_ops.run import metering  # here: pages of runs that nobody watched do without it

    return metering.document(run_dir)


def _shown(content: Mapping[str, Any]) -> dict[str, Any]:
    from workbench.metrics import documents
    from workbench_ops.pages import figures
    from workbench_ops.run import fold

    sessions = [documents.read(session) for session in content["sessions"]]
    drawn: list[figures.Figure] = []
    if sessions:
        run, _ = fold.merged(sessions)
        drawn = [figure for draw in (figures.stages, figures.tasks, figures.files) if (figure := draw(run))]
    totals = content["totals"]
    tables = [table for table in content["tables"] if table["findings"] or table["note"]]
    return {
        "sessions": len(sessions),
        "sums": [(words, _amount(totals[name], unit)) for name, words, unit in _SUMS if totals.get(name)],
        "incidents": content["incidents"],
        "figures": drawn,
        "tables": tables,
        "healthy": [table["table"] for table in content["tables"] if table not in tables],
    }


def _amount(value: float, unit: str) -> str:
    """Return a figure with its unit as people read it: 1.2 MB, 14.2 s, 3,500."""
    if unit != "B":
        return f"{value:,.4g}{f' {unit}' if unit else ''}" if value < 1000 else f"{value:,.0f} {unit}".strip()
    size, units = float(value), ["B", "kB", "MB", "GB", "TB"]
    while size >= 1000 and len(units) > 1:
        size /= 1000
        units.pop(0)
    return f"{size:,.3g} {units[0]}"
