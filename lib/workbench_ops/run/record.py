"""The run record: what ran, with what, and how it ended; one `run.json` a run, written by the runner alone."""

import importlib.metadata
import json
import platform
import shlex
import uuid
from datetime import UTC, datetime
from pathlib import Path

from filelock import FileLock, Timeout

from workbench._base import files, java, secrets, settings

EXIT_CODES = {"passed": 0, "failed": 1, "refused": 2, "timed_out": 3, "died": 4, "interrupted": 143}
KILLED = "the runner was killed from outside"  # reason of a run that nobody gave a verdict
PACKAGES = ("iceberg-workbench", "pyspark", "pyiceberg", "pandas", "pyarrow", "duckdb", "papermill")


def runs_folder():
    """Return the folder that all runs leave their folders in."""
    return settings.home() / "runs"


def new(notebook, *, params_file=None, parameters=None, environment=None, overrides=(), engine=None, other=()):
    """Make a record of a run that is about to start; nothing is written yet.

    Args:
        notebook: path of the notebook.
        params_file: path of the params file, or None.
        parameters: every value the notebook will see, defaults included.
        environment: name of the environment, or None where the notebook takes none.
        overrides: texts NAME=VALUE as given.
        engine: name of the engine in whose kernel it runs, or None for the notebook's own.
        other: the versions there, where they are not ours.

    Returns:
        dict with the keys of run.json; times are ISO texts in UTC, seconds a float.
    """
    now = datetime.now(UTC)
    command = ["workbench", "run", _shown(notebook)]
    command += ["--params", _shown(params_file)] if params_file else []
    command += ["--engine", engine] if engine else []
    command += [part for text in overrides for part in ("--set", _hidden(text))]
    return {
        "run_id": f"{now:%Y%m%dT%H%M%SZ}-{uuid.uuid4().hex[:6]}",
        "notebook": Path(notebook).stem,
        "notebook_path": _shown(notebook),
        "notebook_sha256": files.sha256(notebook),
        "params_file": _shown(params_file) if params_file else None,
        "parameters": {name: secrets.hide(name, value) for name, value in (parameters or {}).items()},
        "environment": environment,
        "engine": engine,
        "request": None,
        "status": "running",
        "reason": None,
        "failing_cell": None,
        "started_at": now.isoformat(timespec="seconds"),
        "finished_at": None,
        "seconds": None,
        "versions": {name: dict(other).get(name, found) for name, found in versions().items()},
        "tables": [],
        "results": {},
        "measurements": {},
        "checks": [],
        "command": shlex.join(command),
        "exit_code": None,
    }


def folder(record):
    """Return the folder of a run."""
    return runs_folder() / record["notebook"] / record["run_id"]


def write(record, *, hidden=()):
    """Write a record in one step; `hidden` values, and what looks like a secret, are blanked out."""
    text = json.dumps(secrets.redact(record, hidden), indent=1, ensure_ascii=False)
    path = folder(record) / "run.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        _replace(path, text)
    except OSError:
        (path.parent / ".reserve").unlink(missing_ok=True)  # the disk is full: give back what was set aside
        _replace(path, text)
    return path


def finish(record, status, *, seconds, reason=None, failing_cell=None):
    """Return the record of an ended run."""
    now = datetime.now(UTC).isoformat(timespec="seconds")
    ended = {
        "status": status,
        "reason": reason,
        "failing_cell": failing_cell,
        "exit_code": EXIT_CODES[status],
    }
    return record | ended | {"finished_at": now, "seconds": round(seconds, 2)}


def every():
    """Read all records there are, oldest first.

    Passed over are those that are cut off (a full disk), that another program changed, or that do not lie where
    their run does: a record names folders that are deleted and pages that are linked.
    """
    records = [record for path in runs_folder().glob("*/*/run.json") if (record := _read(path))]
    return sorted(records, key=lambda record: (record.get("started_at") or "", record["run_id"]))


def _read(path):
    """Return the record in a file, or None where it is cut off, not one of ours, or not in its own folder."""
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return record if _valid(record, path) else None


def _valid(record, path):
    """Tell whether a record is one of ours, and lies in the folder of its own run."""
    if not isinstance(record, dict):
        return False
    own = (record.get("notebook"), record.get("run_id")) == (path.parent.parent.name, path.parent.name)
    seconds, status = record.get("seconds"), record.get("status")
    blocks = ("parameters", "results", "measurements", "versions")
    try:
        in_time = datetime.fromisoformat(record.get("started_at")).tzinfo is not None
    except (TypeError, ValueError):
        in_time = False
    return (
        own
        and in_time
        and (status == "running" or status in EXIT_CODES)
        and (seconds is None or isinstance(seconds, int | float))
        and all(isinstance(record.get(block) or {}, dict) for block in blocks)
    )


def lock(record):
    """Return the lock that a living runner holds on its run's folder."""
    return FileLock(folder(record) / ".lock")


def recover():
    """Find runs that were killed from outside and record them as interrupted.

    A run is dead when it says *running* and nobody holds its lock, which the operating system lets go however
    the runner ended. Its record is read again under the lock: it may have ended since all were read.

    Returns:
        list of the records that were put right.
    """
    dead = []
    for record in every():
        if record.get("status") != "running":
            continue
        try:
            with lock(record).acquire(timeout=0):
                record = _read(folder(record) / "run.json")
                if record is None or record["status"] != "running":
                    continue
                started = datetime.fromisoformat(record["started_at"])
                seconds = max((_last_sign(record) - started).total_seconds(), 0)
                ended = finish(record, "interrupted", seconds=seconds, reason=KILLED)
                write(ended)
                dead.append(ended)
        except Timeout:
            continue
    return dead


def versions():
    """Return the versions that a run depends on: name to text."""
    found = {"python": platform.python_version()}
    for package in PACKAGES:
        try:
            found[package] = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            continue
    found["iceberg"] = java.pair()["iceberg"]
    try:
        found["java"] = java.version(str(java.find())) or "unknown"
    except ValueError:
        found["java"] = "none"
    return found


def _hidden(override):
    name, equals, value = override.partition("=")
    return f"{name}{equals}{secrets.hide(name, value)}"


def _last_sign(record):
    times = [path.stat().st_mtime for path in folder(record).iterdir()]
    return datetime.fromtimestamp(max(times), UTC)


def _shown(path):
    """Return a path as people type it: from the project's folder where it lies in there."""
    path = Path(path).resolve()
    return str(path.relative_to(settings.home())) if path.is_relative_to(settings.home()) else str(path)


def _replace(path, text):
    with files.replacing(path) as new:
        new.write_bytes(text.encode("utf-8", "replace"))  # half a character has no UTF-8
