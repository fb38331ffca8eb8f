"""Runs of one job, never side by side, and of one request, of which at most one passes.

A scheduler that loses sight of a run asks again: its task was killed, the notebook goes on. Both ask with the same
request (Airflow: the DAG run and how often a person cleared the task), which stands in the run's record. So the
second waits for the run under way and takes its verdict, or takes that of the run which passed meanwhile.
"""

import hashlib
import json
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from workbench._base import locks
from workbench_ops.run import record as records
from workbench_ops.run.record import Record

POLL_SECONDS = 1  # between two looks at who holds a job's lock
SAME = ("notebook_path", "notebook_sha256", "params_file", "parameters", "environment", "engine")


@dataclass(frozen=True)
class Turn:
    """The answer to asking for a job's turn.

    Attributes:
        refusal: sentence, where another run has the turn and is not waited for.
        waited_for: run ids of those that had it before.
    """

    refusal: str | None = None
    waited_for: tuple[str, ...] = ()


@contextmanager
def turn(record: Record, *, wait: bool, tell: Callable[..., None] = lambda **event: None) -> Iterator[Turn]:
    """Hold a job's lock: its notebook, params file and environment have one run at a time.

    Args:
        record: of the run that asks, as `record.new` makes it. A run of the same request is waited for.
        wait: whether any other run is waited for, too.
        tell: called with the event `said` when it begins to wait.
    """
    parts = [record.notebook_path, record.params_file or "", record.environment or ""]
    name = hashlib.sha256("\n".join(parts).encode()).hexdigest()[:16]
    folder = records.runs_folder() / ".jobs"
    owner = folder / f"{name}.run"
    job = f"{record.notebook} with {record.params_file or 'no params file'} runs already in this environment"
    waited_for: list[str] = []
    looks = 0
    with ExitStack() as living:
        while True:
            try:
                living.enter_context(
                    locks.held(folder / f"{name}.lock", job, seconds=POLL_SECONDS if looks else 0)
                )
                break
            except ValueError as busy:
                run_id, request = _owner(owner)
                ours = wait or (request is not None and request == record.request)
                # a run that has just begun writes its id in a moment; until then there is the last one's, or none
                if not ours and looks:
                    other = run_id or "one that has just begun"
                    yield Turn(refusal=f"{busy}: {other}; wait, or give this one its own file")
                    return
                looks += 1
                if ours and run_id and run_id not in waited_for:
                    waited_for.append(run_id)
                    tell(event="said", text=f"{record.notebook}  waits for the run under way, {run_id}")
        owner.write_text(json.dumps({"run_id": record.run_id, "request": record.request}))
        yield Turn(waited_for=tuple(waited_for))


def earlier(record: Record, waited_for: tuple[str, ...] = ()) -> Record | None:
    """Return the record of a run by which a request is answered; None where the job is to be run.

    Args:
        record: of the run that asks; it holds the job's turn.
        waited_for: run ids that it waited for: the last one's verdict counts, whatever it is, unless its runner
            was killed and nobody gave one.

    Returns:
        The record of the run that was waited for, or of one that passed; of the same request, notebook and
        parameters.
    """
    if record.request is None:
        return None
    answers = [
        other
        for other in records.every(record.notebook)
        if other.request == record.request and _asked(other) == _asked(record) and _answers(other, waited_for)
    ]
    return answers[-1] if answers else None


def _answers(record: Record, waited_for: tuple[str, ...]) -> bool:
    """Say whether the verdict of a run counts for a repeated request."""
    given = record.status != "running" and record.reason != records.KILLED
    return record.status == "passed" or (record.run_id in waited_for and given)


def _asked(record: Record) -> str:
    """Return what two runs of one job have in common, as JSON holds it."""
    return json.dumps([getattr(record, name) for name in SAME], sort_keys=True, default=str)


def _owner(path: Path) -> tuple[str | None, str | None]:
    """Return (run id, request) of the run that holds a job's lock, or held it last; None, None without one."""
    try:
        named = json.loads(path.read_text(encoding="utf-8"))
        return named["run_id"], named["request"]
    except (OSError, ValueError, KeyError, TypeError):
        return None, None
