"""The process in which one notebook of a batch runs: the runner as it is, its events written as JSON lines.

A process of its own, because a run's throw-away lake, its clock and the signals that stop it belong to a process.
"""

import argparse
import json
import os
import signal
import sys
from collections.abc import Callable
from contextlib import suppress
from types import FrameType
from typing import Any

from workbench_ops.run import processes, watch
from workbench_ops.run import record as records
from workbench_ops.saying import say

NOT_STARTED = 143  # exit code where the run was stopped before anything could be recorded


def main(arguments: list[str] | None = None) -> None:
    """Run a notebook; the last event holds its record.

    A signal stops the run and has it recorded. Before the run has begun there is nothing to record, and once it
    has ended the report is still written. The death of the batch counts as such a signal.
    """
    parser = argparse.ArgumentParser()
    for name in ("job", "events", "lifeline"):
        parser.add_argument(f"--{name}", required=True)
    given = parser.parse_args(arguments)
    state = {"begun": False}

    def stop(number: int, frame: FrameType | None) -> None:
        if not state["begun"]:
            sys.exit(NOT_STARTED)

    events = os.fdopen(int(given.events), "wb")

    def tell(event: str, **facts: Any) -> None:
        state["begun"] |= event == "begin"
        if event == "end":
            facts["record"] = records.document(facts["record"])
        with suppress(BrokenPipeError):  # a batch that is gone needs no answer
            events.write(json.dumps({"event": event, **facts}).encode() + b"\n")
            events.flush()

    with watch.handling(stop):
        processes.when_cut(int(given.lifeline), lambda: os.kill(os.getpid(), signal.SIGTERM))
        sys.exit(_run(json.loads(given.job), tell))


def _run(job: dict[str, Any], tell: Callable[..., None]) -> int:
    """Run a job; return the exit code where nothing could be recorded, otherwise 0, as the record has it."""
    from workbench_ops.run import preparing, runner

    try:
        runner.run(preparing.Job(**job, tell=tell))
    except (ValueError, OSError) as error:
        say(str(error))
        return 2 if isinstance(error, ValueError) else 1
    return 0


if __name__ == "__main__":
    main()
