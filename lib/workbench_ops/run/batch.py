"""Several notebooks run side by side, each by a runner in a process of its own that does not outlive this one."""

import json
import os
import selectors
import tempfile
import threading
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import BinaryIO

from workbench._base import hardware, scratch
from workbench_ops.run import durations, ledger, preparing, publishing, watch
from workbench_ops.run import notebook as notebooks
from workbench_ops.run import record as records
from workbench_ops.run.member import NOT_STARTED
from workbench_ops.run.preparing import Job
from workbench_ops.run.record import Record

BESIDE_HEAP_BYTES = 3 << 30  # of a run, beside its driver's heap: JVM, kernel, Python workers, stand-ins
STOP = "stop"


@dataclass(frozen=True)
class Ending:
    """How a notebook's part of a batch ended: `record` is None where none could be written.

    Then `exit_code` is 143 where the batch was stopped before it began, else that of the runner, which said why.
    """

    notebook: str
    record: Record | None
    exit_code: int


@dataclass
class _Member:
    """A runner at work, and what is known about its run so far."""

    name: str
    child: watch.Child
    output: BinaryIO
    run_id: str | None = None
    record: Record | None = None


def fitting() -> int:
    """Return how many notebooks this machine runs at once: one a core, as far as the memory goes, at least one."""
    run_bytes = hardware.driver_heap_bytes() + BESIDE_HEAP_BYTES
    return max(min(hardware.cores(), hardware.memory_bytes() // run_bytes), 1)


def usual_seconds(jobs: Sequence[Job]) -> dict[str, float | None]:
    """Return how long each job is likely to take: name of its notebook to seconds, None where it is not known.

    Raises:
        Refused: a notebook is missing or cannot be read.
    """
    history = records.every()
    seconds = {}
    for job in jobs:
        path = notebooks.find(job.notebook)
        notebook = notebooks.read(path)
        try:
            values = {name: parameter.default for name, parameter in notebooks.parameters(notebook).items()}
        except notebooks.Refused:  # its runner says so, and records it
            values = {}
        values |= {"ENVIRONMENT": job.environment} if job.environment else {}
        work = durations.Work(path.stem, values, values.get("ENVIRONMENT"), job.kernel)
        seconds[path.stem] = durations.usual_seconds(work, history, notebook)
    return seconds


def run(
    jobs: Sequence[Job],
    *,
    at_once: int,
    usual_seconds: Mapping[str, float | None],
    tell: Callable[..., None] = lambda name, event, **facts: None,
) -> list[Ending]:
    """Run notebooks side by side; one that fails stops none of the others.

    SIGTERM, SIGINT and SIGHUP are passed on: what runs is interrupted and recorded so, nothing more is started.

    Args:
        jobs: what to run, each of another notebook; their `tell` is not called.
        at_once: how many run at the same time at most.
        usual_seconds: as the function of that name returns them: they decide in which order they start.
        tell: called with a notebook's name and an event: those of `runner.run`, and `start`, `stop`,
            `said` (text), `unrecorded` (exit_code).

    Returns:
        list, one for each job, in their order.

    Raises:
        Refused: nothing was started, because the runs folder cannot be written.
    """
    preparing.require_writable(records.runs_folder())
    threading.Thread(target=ledger.load, daemon=True).start()
    by_name = {Path(job.notebook).stem: job for job in jobs}
    waiting = deque(durations.starting_order(usual_seconds))
    members: list[_Member] = []
    endings: dict[str, Ending] = {}
    with selectors.DefaultSelector() as selector, watch.stop_requests() as stops:
        selector.register(stops, selectors.EVENT_READ, STOP)

        def fill() -> None:
            while waiting and len(members) < at_once:
                name = waiting.popleft()
                tell(name, "start")
                members.append(_started(name, by_name[name]))
                selector.register(members[-1].child.events, selectors.EVENT_READ, members[-1])

        fill()
        for source, line in watch.lines(selector):
            if source is STOP and line is not None:
                waiting.clear()
                for member in members:
                    member.child.process.send_signal(int(line))
                    tell(member.name, "stop")
            elif line is not None:
                _hear(source, line, tell)
            else:
                members.remove(source)
                endings[source.name] = _ended(source, tell)
                fill()
            if not members:
                break
        publishing.write_ledger()
    return [endings.get(name) or Ending(name, None, NOT_STARTED) for name in by_name]


def _started(name: str, job: Job) -> _Member:
    """Start the runner of a job; its throw-away lake is its own, whichever this process has."""
    values = {field.name: getattr(job, field.name) for field in fields(job) if field.name != "tell"}
    values["ledger"] = False  # we write it, once
    env = {key: value for key, value in os.environ.items() if key != scratch.VARIABLE}
    output = tempfile.TemporaryFile()  # noqa: SIM115, closed when the runner has ended
    child = watch.spawned("workbench_ops.run.member", {"job": json.dumps(values)}, env=env, output=output)
    return _Member(name, child, output)


def _hear(member: _Member, line: bytes, tell: Callable[..., None]) -> None:
    """Pass an event on; the record is passed on when its runner's process has ended, after its last output."""
    event = json.loads(line)
    kind = event.pop("event")
    if kind == "end":
        member.record = Record(**event["record"])
        return
    member.run_id = event.get("run_id") or member.run_id
    tell(member.name, kind, **event)


def _ended(member: _Member, tell: Callable[..., None]) -> Ending:
    """Return how a runner ended that sends no more events; one that was killed is recorded as killed."""
    code = member.child.process.wait()
    os.close(member.child.events)
    os.close(member.child.lifeline)
    with member.output as output:
        output.seek(0)
        if text := output.read().decode(errors="replace").strip():
            tell(member.name, "said", text=text)
    if member.record is None and member.run_id:
        if dead := publishing.recover():
            publishing.publish(dead)
        member.record = next((r for r in records.every() if r.run_id == member.run_id), None)
    if member.record is None:
        stopped = code == NOT_STARTED or -code in watch.STOPS
        ending = Ending(member.name, None, NOT_STARTED if stopped else max(code, 1))
        tell(member.name, "unrecorded", exit_code=ending.exit_code)
        return ending
    tell(member.name, "end", record=member.record)
    return Ending(member.name, member.record, records.exit_code(member.record))
