"""All that can be refused before a run starts: its notebook, values, environment, kernel, and who else runs it."""

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from nbformat import NotebookNode

from workbench._base import jars, secrets, settings
from workbench.session import services
from workbench_ops import account
from workbench_ops.run import kernel as kernels
from workbench_ops.run import metering, requests
from workbench_ops.run import notebook as notebooks
from workbench_ops.run import record as records
from workbench_ops.run.record import Record

LONGEST_SECONDS = 10**7  # of a timeout


@dataclass(frozen=True)
class Job:
    """What is asked for: a notebook and its values, not validated yet.

    `kernel` replaces the notebook's own. `versions` are the packages of the environment that the kernel is
    in, where it is not ours. Without `ledger` whoever starts several runs writes it, once, when they have ended.
    `request` names what asked for the run, where that asks again after it has lost sight of it: of a request at
    most one run passes (`workbench_ops.run.requests`). With `wait` the job waits for another run of it, instead of
    being refused. `metrics` is how the run is watched, of `metering.MODES`.
    """

    notebook: str
    params_file: str | None = None
    overrides: tuple[str, ...] = ()
    environment: str | None = None
    timeout_seconds: float | None = None
    keep_scratch: bool = False
    on_failure: str | None = None
    kernel: str | None = None
    versions: Mapping[str, str] = field(default_factory=dict)
    ledger: bool = True
    request: str | None = None
    wait: bool = False
    metrics: str = "off"
    tell: Callable[..., None] = field(default=lambda **event: None)


@dataclass(frozen=True)
class Prepared:
    """A job that was examined, before anything of it is executed.

    Attributes:
        job: what was asked for.
        path: of the notebook.
        notebook: as `notebook.read` returned it.
        record: of the run that it would be.
        given: values beside the notebook's defaults, name to value.
        environment: read once for the whole run; None where the notebook takes none, or it does not exist.
        refusal: sentence, None where the run may start.
        answer: record of the run that answers the job's request already; None where the job is to be run.
        waited: whether another run of the job was waited for.
    """

    job: Job
    path: Path
    notebook: NotebookNode
    record: Record
    given: dict[str, Any]
    environment: settings.Environment | None
    refusal: str | None
    answer: Record | None = None
    waited: bool = False


def kernel_of(notebook: Path | str, engine: str | None = None) -> dict[str, Any]:
    """Return the fields of a Job on its notebook's kernel, `kernel` and `versions`; none where it is ours.

    Args:
        notebook: name in notebooks/, or path.
        engine: in whose kernel it is to run; None for the one that the notebook names, as it does if it was saved
            in it.

    Raises:
        ArgumentError: the engine has no kernel, or lacks something.
    """
    if (name := engine or _engine_of(notebook)) is None:
        return {}
    from workbench.engines import profiles

    return {"kernel": name, "versions": profiles.versions_in(name)}


def _engine_of(notebook: Path | str) -> str | None:
    """Return the engine whose kernel a notebook names; None for ours, and for kernels of no engine."""
    try:
        own = kernels.named(notebooks.read(notebooks.find(notebook)))
    except notebooks.Refused:  # the runner says what is wrong
        return None
    if own in (None, kernels.DEFAULT):
        return None
    from workbench.engines import profiles  # here: few runs need it

    return own if own in profiles.names() and profiles.engine(own).kernel else None


def planned(job: Job) -> Prepared:
    """Examine a job that is not to be started now; nothing is written.

    Variables that its environment refers to need not be set: the scheduler may have others than the author of the
    schedule.

    Raises:
        Refused: there is no such notebook, it cannot be read, or the timeout or `metrics` is invalid: that is not
            recorded.
    """
    try:
        metering.require(job.metrics)
    except ValueError as error:
        raise notebooks.Refused(str(error)) from None
    if job.timeout_seconds is not None and not 0 < job.timeout_seconds < LONGEST_SECONDS:
        raise notebooks.Refused(f"the timeout is a number of seconds, found {job.timeout_seconds}")
    path = notebooks.find(job.notebook)
    notebook = notebooks.read(path)
    values, given, refusal = _values(job, notebook)
    name, environment = values.get("ENVIRONMENT"), None
    if name is not None and not isinstance(name, str):
        refusal, name = refusal or f"ENVIRONMENT takes a name, found {name!r}", None
    if refusal is None and name is not None:
        environment, refusal = _environment(job, name)
    record = records.new(
        path,
        params_file=job.params_file if job.params_file and Path(job.params_file).exists() else None,
        parameters=values,
        environment=name,
        overrides=[*job.overrides, *([f"ENVIRONMENT={job.environment}"] if job.environment else [])],
        engine=job.kernel,
        request=job.request,
        other=job.versions,
    )
    record = metering.begun(record, job.metrics)
    return Prepared(job, path, notebook, record, given, environment, refusal)


@contextmanager
def turn(prepared: Prepared) -> Iterator[Prepared]:
    """Hold the turn of a job that is to be run now, and yield it with what is known by then.

    Where an earlier run of the job's request is under way it is waited for, and its record is the answer. Where
    one passed, its record is.
    """
    job, record = prepared.job, prepared.record
    with requests.turn(record, wait=job.wait, tell=job.tell) as asked:
        if answer := requests.earlier(record, asked.waited_for):
            refusal = None
        else:
            refusal = prepared.refusal or asked.refusal or _lacking(prepared)
        yield replace(prepared, answer=answer, refusal=refusal, waited=bool(asked.waited_for))


def require_writable(folder: Path) -> None:
    """Validate that the folder of runs can be written.

    Raises:
        Refused: it is not a folder, or not ours to write.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        probe = folder / f".probe-{os.getpid()}"
        probe.touch()
        probe.unlink()
    except OSError as error:
        raise notebooks.Refused(f"the runs folder {folder} cannot be written: {error.strerror}") from None


def require_sole_values(notebook: NotebookNode, given: Mapping[str, Any]) -> None:
    """Validate that a notebook runs with the values of the record and no others.

    papermill writes a run's values after the first cell with the tag `parameters`, or in place of those of an
    earlier run; what a later cell of parameters assigns replaces them, and without any the earlier ones stay.

    Args:
        notebook: as `notebook.read` returned it.
        given: the values of this run beside the defaults.

    Raises:
        Refused: it has a second cell of parameters, or values of an earlier run that would count.
    """
    own, earlier = _tagged(notebook, "parameters"), _tagged(notebook, "injected-parameters")
    if len(own) > 1:
        raise notebooks.Refused(
            f"cells {own[0] + 1} and {own[1] + 1} both have the tag parameters, and a run's values stand after "
            "the first: what the other assigns would replace them; make them one cell"
        )
    if own and earlier and (not given or earlier[0] < own[0] or earlier[1:]):
        raise notebooks.Refused(
            f"cell {earlier[-1] + 1} has the values of an earlier run (tag injected-parameters), which would "
            "count and not those of this one; delete it"
        )


def _tagged(notebook: NotebookNode, tag: str) -> list[int]:
    """Return the indices of the code cells with a tag."""
    cells = enumerate(notebook.cells)
    return [n for n, cell in cells if cell.cell_type == "code" and tag in (cell.metadata.get("tags") or [])]


def _values(job: Job, notebook: NotebookNode) -> tuple[dict[str, Any], dict[str, Any], str | None]:
    """Return all values of a job, those that are given beside the defaults, and why it is refused or None."""
    declared: dict[str, notebooks.Parameter] = {}
    given: dict[str, Any] = {}
    refusal = None
    try:
        declared = notebooks.parameters(notebook)
        given = notebooks.values(
            declared, file=job.params_file, overrides=job.overrides, environment=job.environment
        )
        require_sole_values(notebook, given)
        notebooks.runnable(notebook, kernel=job.kernel)
    except notebooks.Refused as error:
        refusal = str(error)
    return {name: parameter.default for name, parameter in declared.items()} | given, given, refusal


def _environment(job: Job, name: str) -> tuple[settings.Environment | None, str | None]:
    """Return the environment of a job and why it is refused, or None."""
    environment = None
    try:
        environment = settings.environment(name)
        if job.kernel is None and not job.versions:  # the session of another Spark asks for its jars
            jars.for_environment(environment.jars, name)
        services.require(environment)
    except (ValueError, ModuleNotFoundError) as error:
        return environment, str(error)
    return environment, None


def _lacking(prepared: Prepared) -> str | None:
    """Return which variables the session needs and are not set, or that nobody is signed in; otherwise None."""
    environment, name = prepared.environment, prepared.record.environment
    if environment is None:
        return None
    spark = environment.spark
    values = [*settings.catalog_references(environment).values(), spark.master, *map(str, spark.conf.values())]
    variables = {v.removeprefix("env:") for v in values if v.startswith("env:") and secrets.REFERENCE.fullmatch(v)}
    if not (unset := sorted(variable for variable in variables if not os.environ.get(variable))):
        with suppress(ModuleNotFoundError):  # boto3, which Spark does not need
            return account.missing_credentials(environment)
        return None
    by = "; `workbench local cluster` gives both" if name == "cluster" else ""
    return f"{name} refers to variables that are not set: export {'=… '.join(unset)}=…{by}"
