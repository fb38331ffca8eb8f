"""The process that reads what was kept of a watched run, and writes `metrics.json` and `metrics.prom` beside it.

It is a process of its own so that a log which is too large, or damaged in a way that nobody thought of, costs the
figures of a run and nothing else. It reads what to do from its standard input, and prints a line: what it found.
"""

import json
import sys
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from workbench._base import files, secrets
from workbench._base.errors import WorkbenchError
from workbench.metrics import (
    Incident,
    Reports,
    Run,
    documents,
    errors,
    events,
    incidents,
    logs,
    prometheus,
    reports,
)
from workbench.metrics.kernel import STATE
from workbench.metrics.runs import FIGURES, Scan
from workbench.metrics.watching import REPORTS
from workbench_ops.run.metering import FOLDED, FOLDER, PROMETHEUS

VERSION = 1
SLOWER_FACTOR = 1.5  # of the median time of the earlier runs
LEAST = 3  # earlier runs, for a comparison
Session = tuple[str, Run, Reports]  # its folder in that of the logs, empty for the first


def main() -> None:
    """Read a run as standard input says; exit 1 with a sentence where it cannot be read."""
    asked = json.load(sys.stdin)
    try:
        summary = fold(
            Path(asked["folder"]), job=asked["job"], hidden=asked["hidden"], error=asked["error"],
            earlier=[Path(path) for path in asked["earlier"]] if asked["passed"] else (),
        )  # fmt: skip
    except (WorkbenchError, OSError) as error:
        sys.exit(str(error))
    print(json.dumps(summary))


def fold(
    folder: Path, *, job: str, hidden: Sequence[str] = (), error: str | None = None, earlier: Sequence[Path] = ()
) -> dict[str, Any]:
    """Read the sessions of a run and write what they did.

    Args:
        folder: of the run.
        job: name of its notebook.
        hidden: values that are blanked out, beside what looks like a secret.
        error: what the run ended with.
        earlier: `metrics.json` of earlier runs of its job, oldest first.

    Returns:
        What the record of the run says of it, see `record.Metrics`: note, incidents, slower, rows.

    Raises:
        ValueError: a log is damaged.
    """
    state = _state(folder / FOLDER)
    sessions, notes = _sessions(folder / FOLDER, state)
    for session, *_ in sessions:
        _blank(folder / FOLDER / session, hidden)
    by_session = [
        (name, incident)
        for number, (name, run, kept) in enumerate(sessions)
        # the error is of the session that was there last
        for incident in incidents.find(run, kept, error=error if number == len(sessions) - 1 else None)
    ]
    if not sessions and error and (cause := errors.cause(error)):
        notes.append(f"the run ended before a session was watched, with {cause}")
    whole = [(run, kept) for _, run, kept in sessions]
    content = {
        "version": VERSION,
        "note": "; ".join(notes) or None,
        "totals": totals(whole),
        "incidents": [_incident(name, incident) for name, incident in by_session],
        "slower": _slower(whole, earlier),
        "tables": state.get("tables", []),
        "sessions": [{"folder": name, **documents.document(run, kept)} for name, run, kept in sessions],
    }
    content = secrets.redact(content, hidden)
    _write(folder / FOLDED, json.dumps(content, ensure_ascii=False))
    if sessions:
        text = prometheus.text(*merged(whole), [incident for _, incident in by_session], job=job)
        _write(folder / PROMETHEUS, secrets.redact(text, hidden))
    causes = [incident["cause"] for incident in content["incidents"]]
    rows = {name: content["totals"][name] for name in ("stages", "scans", "commits")}
    slower = (content["slower"] or {}).get("sentence")
    return {"note": content["note"], "incidents": causes, "slower": slower, "rows": rows}


def totals(whole: Sequence[tuple[Run, Reports]]) -> dict[str, float]:
    """Return the sums of a run's sessions, by name: of tasks, scans and commits.

    `files_read` counts no more files of a scan than its tasks were given splits; `refused_commits` are executions
    whose error says so, as no report does.
    """
    runs = [run for run, _ in whole]
    tasks = [task for run in runs for task in run.tasks]
    scans = [scan for run in runs for scan in run.scans]
    commits = [commit for _, kept in whole for commit in kept.commits]
    executions = [execution for run in runs for execution in run.executions]
    stages = [stage for run in runs for stage in run.stages]
    factors = [stage.largest_task_bytes / stage.median_task_bytes for stage in stages if stage.median_task_bytes]
    counted: dict[str, float] = {name: round(sum(run.total(name) for run in runs), 3) for name in FIGURES}
    return counted | {
        "stages": len(stages),
        "tasks": len(tasks),
        "failed_tasks": sum(not task.succeeded for task in tasks),
        "peak_memory_bytes": max((task.peak_memory_bytes for task in tasks), default=0),
        "largest_task_over_median": round(max(factors, default=0.0), 2),
        "executions": len(executions),
        "failed_executions": sum(execution.error is not None for execution in executions),
        "scans": len(scans),
        "files_planned": sum(scan.data_files for scan in scans),
        "files_read": sum(files_read(scan) for scan in scans),
        "files_skipped": sum(scan.skipped_files for scan in scans),
        "manifests_read": sum(scan.manifests for scan in scans),
        "manifests_skipped": sum(scan.skipped_manifests for scan in scans),
        "commits": len(commits),
        "commit_tries": sum(commit.tries for commit in commits),
        "retries": sum(len(kept.retries) for _, kept in whole),
        "refused_commits": sum(errors.cause(e.error or "") == "commit_conflicts" for e in executions),
    }


def files_read(scan: Scan) -> int:
    """Return how many data files of a scan tasks were given, at most: a large file is several splits."""
    return min(scan.data_files, scan.splits or 0)


def merged(whole: Sequence[tuple[Run, Reports]]) -> tuple[Run, Reports]:
    """Return the sessions of a run as one, for its sums; numbers of stages may come twice in it.

    Args:
        whole: at least one.
    """
    runs, kept = [run for run, _ in whole], [reports for _, reports in whole]
    if len(runs) == 1:
        return whole[0]
    joined: dict[str, Any] = {
        name: tuple(item for run in runs for item in getattr(run, name))
        for name in ("stages", "tasks", "executions", "executors", "streams", "errors")
    }
    run = replace(
        runs[0],
        started=min(run.started for run in runs),
        ended=None if any(run.ended is None for run in runs) else max(run.ended for run in runs if run.ended),
        until=max(run.until for run in runs),
        cut_off=any(run.cut_off for run in runs),
        compacted=any(run.compacted for run in runs),
        missing_tasks=sum(run.missing_tasks for run in runs),
        missing_ends=sum(run.missing_ends for run in runs),
        **joined,
    )
    lists: dict[str, Any] = {
        name: tuple(item for reports in kept for item in getattr(reports, name))
        for name in ("commits", "scans", "retries")
    }
    dropped, cut = sum(reports.dropped_events for reports in kept), any(reports.cut_off for reports in kept)
    return run, Reports(**lists, dropped_events=dropped, cut_off=cut)


def _state(folder: Path) -> dict[str, Any]:
    """Return what the kernel noted; empty where it was not IPython's, or was killed before it began."""
    try:
        state = json.loads((folder / STATE).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {"note": "the kernel did not watch: it is not IPython's, lacks this library, or never began"}
    return state if isinstance(state, dict) else {}


def _sessions(folder: Path, state: dict[str, Any]) -> tuple[list[Session], list[str]]:
    """Return the sessions that left a log, and what is to be said of those that left none."""
    notes = [state["note"]] if state.get("note") else []
    failures = {entry["folder"]: entry["failure"] for entry in state.get("sessions", ()) if entry["failure"]}
    notes += failures.values()
    names = sorted((path.name for path in folder.glob("[0-9]*") if path.is_dir()), key=int)
    sessions = []
    for name in ["", *names]:
        if (folder / name).is_dir() and any(_is_log(path) for path in (folder / name).iterdir()):
            sessions.append((name, events.read(folder / name), reports.read(folder / name)))
            lost = sessions[-1][2].dropped_events
            notes += [f"Spark dropped {lost:,} events: sums are too small"] if lost else []
    return sessions, notes


def _is_log(path: Path) -> bool:
    return path.is_file() and path.suffix not in logs.BESIDE and not path.name.startswith(".")


def _blank(folder: Path, hidden: Sequence[str]) -> None:
    """Blank out secrets in a session's files: Spark hides the values of settings by their names alone."""
    for path in [path for path in folder.iterdir() if _is_log(path) or path.name == REPORTS]:
        lines = [line for _, line in logs.Lines(path)] if _is_log(path) else path.read_text("utf-8").split("\n")
        clean = [_blanked(line, hidden) for line in lines]
        if clean != lines:
            _rewrite(path, "\n".join(clean), compressed=".zstd" in path.suffixes)


def _blanked(line: str, hidden: Sequence[str]) -> str:
    """Return a line of a log without secrets; of an event only texts change, so that it stays one."""
    if secrets.redact(line, hidden) == line:
        return line
    try:
        return json.dumps(secrets.redact(json.loads(line), hidden), separators=(",", ":"))
    except ValueError:
        return str(secrets.redact(line, hidden))


def _rewrite(path: Path, text: str, *, compressed: bool) -> None:
    import pyarrow as pa

    with files.replacing(path) as new:
        if not compressed:
            new.write_text(text, encoding="utf-8")
            return
        with pa.CompressedOutputStream(pa.OSFile(str(new), "wb"), "zstd") as stream:
            stream.write(text.encode())


def _incident(session: str, incident: Incident) -> dict[str, Any]:
    cures = [{"name": cure.name, "words": cure.words} for cure in incidents.cures(incident)]
    return {
        "session": session, **asdict(incident), "severity": incident.severity, "unit": incident.unit,
        "cures": cures,
    }  # fmt: skip


def _slower(whole: Sequence[tuple[Run, Reports]], earlier: Sequence[Path]) -> dict[str, Any] | None:
    """Compare a run with earlier ones of its job; None where it is not slower, or they are too few."""
    if not whole or not (run := merged(whole)[0]).whole:
        return None
    others = []
    for path in earlier:
        try:
            sessions = json.loads(path.read_text(encoding="utf-8"))["sessions"]
            other = merged([documents.read(session) for session in sessions])[0]
        except (OSError, ValueError, LookupError):  # it is of another version, or was pruned
            continue
        others += [other] if other.whole else []
    slower = incidents.slower(run, others, factor=SLOWER_FACTOR) if len(others) >= LEAST else None
    return None if slower is None else asdict(slower)


def _write(path: Path, text: str) -> None:
    with files.replacing(path) as new:
        new.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
