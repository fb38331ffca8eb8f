"""The run record: what ran, with what, and how it ended; one `run.json` a run, written by the runner alone."""

import glob
import importlib.metadata
import json
import platform
import shlex
import uuid
from collections.abc import Callable, Collection, Iterable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any, Final, Literal

from filelock import FileLock
from pydantic import AfterValidator, ConfigDict, Field, ValidationError

from workbench._base import files, java, secrets, settings
from workbench._base.errors import ArgumentError
from workbench._base.strict import Strict

VERSION: Final = 1  #  of the form of run.json; version 0.1 of the library wrote it without one
EXIT_CODES = {"passed": 0, "failed": 1, "refused": 2, "timed_out": 3, "died": 4, "interrupted": 143}
KILLED = "the runner was killed from outside"  # reason of a run without a verdict of its own
PACKAGES = ("iceberg-workbench", "pyspark", "pyiceberg", "pandas", "pyarrow", "duckdb", "papermill")
NAMED = ("run_id", "notebook", "status", "started_at", "finished_at")  # by which a record is found: no secrets
CHOSEN = ("mode", "state")  # words of ours in a block


def _with_zone(text: str) -> str:
    try:
        zone = datetime.fromisoformat(text).tzinfo
    except ValueError:
        zone = None
    if zone is None:
        raise ArgumentError("expected an ISO date and time with its zone")
    return text


Moment = Annotated[str, AfterValidator(_with_zone)]


class FailingCell(Strict):
    """The cell that stopped a run: `number` among the code cells that are not empty, `line` the one under way."""

    model_config = ConfigDict(strict=True)

    number: int
    first_line: str = ""
    error: str = ""
    message: str = ""
    line: str | None = None


class Check(Strict):
    """A check of the notebook and its outcome."""

    model_config = ConfigDict(strict=True, extra="allow")  # a notebook writes results.json, and may write more

    name: str
    found: Any = None
    expected: Any = None
    passed: bool


class Table(Strict):
    """A table that the notebook noted, and its snapshot at that moment."""

    model_config = ConfigDict(strict=True, extra="allow")

    name: str
    snapshot_id: Any = None  # an int, where the notebook let `results.table` write it


class Metrics(Strict):
    """What became of watching a run: `note` is what could not be kept or read, `log_kept` whether its log stays.

    `incidents` are causes, `slower` is a comparison with earlier runs, `rows` how many stages, scans and commits
    `metrics.json` has.
    """

    model_config = ConfigDict(strict=True)

    mode: Literal["run", "keep"]
    state: Literal["watching", "folded", "failed"]
    note: str | None = None
    incidents: list[str] = Field(default_factory=list)
    slower: str | None = None
    rows: dict[str, int] = Field(default_factory=dict)
    log_kept: bool = True


class Record(Strict):
    """What `run.json` holds of a run. Times are ISO texts, `tables` to `checks` what the notebook noted.

    `engine` is None for the notebook's own kernel, `environment` where the notebook takes none, `request` where
    nobody asks for the run again. What a run has at its end only is None while it is running.
    """

    model_config = ConfigDict(strict=True)

    version: Literal[1] = VERSION
    run_id: str
    notebook: str
    notebook_path: str = ""
    notebook_sha256: str = ""
    params_file: str | None = None
    parameters: dict[str, Any] = Field(default_factory=dict)
    environment: str | None = None
    engine: str | None = None
    request: str | None = None
    status: Literal["running", "passed", "failed", "refused", "timed_out", "died", "interrupted"]
    reason: str | None = None
    failing_cell: FailingCell | None = None
    started_at: Moment
    finished_at: Moment | None = None
    seconds: float | None = None
    versions: dict[str, str] = Field(default_factory=dict)
    tables: list[Table] = Field(default_factory=list)
    results: dict[str, Any] = Field(default_factory=dict)
    measurements: dict[str, Any] = Field(default_factory=dict)
    checks: list[Check] = Field(default_factory=list)
    command: str = ""
    exit_code: int | None = None
    kept_lake: str | None = None
    metrics: Metrics | None = None

    @property
    def started(self) -> datetime:
        """The moment at which the run started."""
        return datetime.fromisoformat(self.started_at)


def runs_folder() -> Path:
    """Return the folder that all runs leave their folders in."""
    return settings.home() / "runs"


def new(
    notebook: Path | str,
    *,
    params_file: Path | str | None = None,
    parameters: Mapping[str, Any] | None = None,
    environment: str | None = None,
    overrides: Iterable[str] = (),
    engine: str | None = None,
    request: str | None = None,
    other: Mapping[str, str] | None = None,
) -> Record:
    """Return a record of a run that is about to start; nothing is written yet.

    Args:
        notebook: path of the notebook.
        params_file: path of the params file, or None.
        parameters: every value the notebook will see, defaults included.
        environment: name of the environment, or None where the notebook takes none.
        overrides: texts NAME=VALUE as given.
        engine: name of the engine in whose kernel it runs, or None for the notebook's own.
        request: what asked for the run, where it may ask again.
        other: the versions of its kernel's packages, where they are not ours.
    """
    now = datetime.now(UTC)
    command = ["workbench", "run", _shown(notebook)]
    command += ["--params", _shown(params_file)] if params_file else []
    command += ["--engine", engine] if engine else []
    command += [part for text in overrides for part in ("--set", _hidden(text))]
    return Record(
        run_id=f"{now:%Y%m%dT%H%M%SZ}-{uuid.uuid4().hex[:6]}",
        notebook=Path(notebook).stem,
        notebook_path=_shown(notebook),
        notebook_sha256=files.sha256(notebook),
        params_file=_shown(params_file) if params_file else None,
        parameters={name: secrets.hide(name, value) for name, value in (parameters or {}).items()},
        environment=environment,
        engine=engine,
        request=request,
        status="running",
        started_at=now.isoformat(timespec="seconds"),
        versions={name: (other or {}).get(name, version) for name, version in versions().items()},
        command=shlex.join(command),
    )


def changed(record: Record, **values: Any) -> Record:
    """Return a record with other values."""
    return Record(**(dict(record) | values))


def document(record: Record) -> dict[str, Any]:
    """Return a record as `run.json` holds it."""
    values = record.model_dump()
    for block, name in ((values, "kept_lake"), (values, "metrics"), (values["failing_cell"] or {}, "line")):
        if block.get(name) is None:  # these are left out where there is none
            block.pop(name, None)
    return values


def folder(record: Record) -> Path:
    """Return the folder of a run."""
    return runs_folder() / record.notebook / record.run_id


def redacted(record: Record, hidden: Collection[str]) -> Record:
    """Return a record in which `hidden` values, and what looks like a secret, are blanked out.

    The names of its fields and of NAMED stay, even where a secret is spelled like them.
    """

    def clean(value: Any) -> Any:
        if isinstance(value, Strict):
            return type(value)(**{name: item if name in CHOSEN else clean(item) for name, item in value})
        return [clean(item) for item in value] if isinstance(value, list) else secrets.redact(value, hidden)

    return Record(**{name: value if name in NAMED else clean(value) for name, value in record})


def write(record: Record, *, hidden: Collection[str] = ()) -> Path:
    """Write a record in one step, redacted; return the path of its file."""
    text = json.dumps(document(redacted(record, hidden)), indent=1, ensure_ascii=False)
    path = folder(record) / "run.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        _replace(path, text)
    except OSError:
        (path.parent / ".reserve").unlink(missing_ok=True)  # the disk is full: give back what was set aside
        _replace(path, text)
    return path


def finish(record: Record, status: str, *, seconds: float, **values: Any) -> Record:
    """Return the record of a run that ended now.

    Args:
        record: of the run while it was running.
        status: a key of EXIT_CODES.
        seconds: how long it took.
        values: other fields that are known now, such as the reason.
    """
    now = datetime.now(UTC).isoformat(timespec="seconds")
    ended = {"status": status, "exit_code": EXIT_CODES[status], "finished_at": now, "seconds": round(seconds, 2)}
    return changed(record, **ended | values)


def exit_code(record: Record) -> int:
    """Return the exit code of a run that has ended."""
    if record.exit_code is None:
        raise ArgumentError(f"the run {record.run_id} has no exit code: it is running")
    return record.exit_code


def every(
    notebook: str | None = None, *, on_damage: Callable[[str], object] = lambda sentence: None
) -> list[Record]:
    """Read all records, oldest first.

    Those that cannot be read are passed over: cut off by a full disk, of a newer version, changed by another
    program, or not in their run's folder: records name folders that are deleted and pages that are linked.

    Args:
        notebook: name of one, whose records alone are read; None for all.
        on_damage: called with a sentence for each record that is passed over.
    """
    records = []
    for path in runs_folder().glob(f"{glob.escape(notebook) if notebook else '*'}/*/run.json"):
        try:
            records.append(read(path))
        except ValueError as error:
            on_damage(str(error))
    return sorted(records, key=lambda record: (record.started_at, record.run_id))


def read(path: Path) -> Record:
    """Read the record in a run's folder.

    Raises:
        ArgumentError: the file cannot be read, has a newer version than this library knows, is damaged, or is not
            in the folder of its own run; the sentence names the file.
    """
    try:
        text = path.read_bytes()
    except OSError as error:
        raise ArgumentError(f"the run record {path} cannot be read: {error.strerror}") from None
    try:
        record = Record.model_validate_json(text)
    except ValidationError as error:
        raise ArgumentError(f"the run record {path} {_wrong(text, error)}") from None
    if (record.notebook, record.run_id) != (path.parent.parent.name, path.parent.name):
        raise ArgumentError(f"the run record {path} is of another run, {record.notebook}/{record.run_id}")
    return record


def _wrong(text: bytes, error: ValidationError) -> str:
    """Return what is wrong with the text of a record that the model refused."""
    try:
        values = json.loads(text)
    except ValueError:
        return "cannot be read: it is cut off, or not JSON"
    if not isinstance(values, dict):
        return f"is damaged: expected keys and values, found a {type(values).__name__}"
    version = values.get("version")
    if type(version) is int and version > VERSION:
        return (
            f"has version {version}, and this library reads versions up to {VERSION}: "
            "a newer iceberg-workbench wrote it; upgrade this one"
        )
    problems = (f"{'.'.join(map(str, problem['loc']))}: {problem['msg']}" for problem in error.errors()[:3])
    return f"is damaged: {'; '.join(problems)}"


def lock(record: Record) -> FileLock:
    """Return the lock that a living runner holds on its run's folder."""
    return FileLock(folder(record) / ".lock")


def versions() -> dict[str, str]:
    """Return the versions that a run depends on: name to text."""
    installed = {"python": platform.python_version()}
    for package in PACKAGES:
        try:
            installed[package] = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            continue
    installed["iceberg"] = java.pair()["iceberg"]
    try:
        installed["java"] = java.version(str(java.find())) or "unknown"
    except ValueError:
        installed["java"] = "none"
    return installed


def _hidden(override: str) -> str:
    name, equals, value = override.partition("=")
    return f"{name}{equals}{secrets.hide(name, value)}"


def _shown(path: Path | str) -> str:
    """Return a path as people type it: relative to the project's folder where it is inside."""
    path = Path(path).resolve()
    return str(path.relative_to(settings.home())) if path.is_relative_to(settings.home()) else str(path)


def _replace(path: Path, text: str) -> None:
    with files.replacing(path) as new:
        new.write_bytes(text.encode("utf-8", "replace"))  # half a character has no UTF-8
