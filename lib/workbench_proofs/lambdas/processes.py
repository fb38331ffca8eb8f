"""A queue of messages and the functions that it calls, as processes of this machine: a batch, a process.

It behaves as SQS and Lambda's event source mapping do with ReportBatchItemFailures: several functions run at once,
what a function does not acknowledge comes again when all others had their turn, and what came too often goes to
the dead letters. There is no clock, so that the same messages meet in a batch on every run: a turn ends when its
last function has.

One process imports what a function needs and is forked for each call, because importing PyIceberg takes seconds.
"""

import importlib
import json
import os
import signal
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from workbench._base import children
from workbench._base.errors import ProcessError
from workbench_standins.account.functions import RECEIVES

# what a function imports at its first call; a catalog's own client is imported where there is one
PRELOADED = (
    "pyarrow.parquet",
    "pyiceberg.io.pyarrow",
    "pyiceberg.catalog.sql",
    "pyiceberg.catalog.rest",
    "tenacity",
)
Handler = Callable[[Any, Any], Any]  # of event and context, as Lambda calls it


def main() -> None:
    """Serve as a child (`workbench._base.children`): read one delivery, make it, say how its calls ended."""
    order = json.loads(sys.stdin.readline())
    sys.path.insert(0, order["folder"])
    for name in PRELOADED:
        importlib.import_module(name)
    handler = getattr(importlib.import_module("app"), order["handler"])
    children.say(queue(handler, order["bodies"], batch=order["batch"], concurrency=order["concurrency"]))


def queue(handler: Handler, bodies: Sequence[str], *, batch: int, concurrency: int) -> dict[str, Any]:
    """Call a handler with all messages until each is acknowledged or a dead letter.

    Returns:
        dict: `calls` (how each ended to how often: acknowledged, in part, raised, killed) and `dead_letters`
        (bodies, in the order of sending).

    Raises:
        ChildProcessError: a process ended in a way that no function of Lambda does.
    """
    calls: Counter[str] = Counter()
    waiting = list(range(len(bodies)))
    for receive in range(1, RECEIVES + 1):
        batches = [waiting[first : first + batch] for first in range(0, len(waiting), batch)]
        events = [[_record(number, bodies[number], receive) for number in numbers] for numbers in batches]
        waiting = []
        for place, ending, failed in _turn(handler, events, concurrency):
            calls[ending] += 1
            waiting += batches[place] if failed is None else [int(name) for name in failed]
        waiting.sort()
    return {"calls": dict(calls), "dead_letters": [bodies[number] for number in waiting]}


def _record(number: int, body: str, receive: int) -> dict[str, Any]:
    """Return a message as the event of SQS has it; its name is its number in the order of sending."""
    stamps = {"ApproximateReceiveCount": str(receive), "SentTimestamp": str(int(time.time() * 1000))}
    return {"messageId": str(number), "body": body, "attributes": stamps}


def _turn(
    handler: Handler, events: Sequence[Any], concurrency: int
) -> Iterator[tuple[int, str, list[str] | None]]:
    """Call a handler with each event, so many at once.

    Yields:
        Place of the event, how the call ended, and the names of messages that failed; None for all of them.
    """
    running: dict[int, tuple[int, int]] = {}
    for place, records in enumerate(events):
        if len(running) == concurrency:
            yield _ended(running)
        process, answers = _forked(handler, {"Records": records})
        running[process] = place, answers
    while running:
        yield _ended(running)


def _forked(handler: Handler, event: Mapping[str, Any]) -> tuple[int, int]:
    """Start a call as a process; returns its id and the end of a pipe that has its answer."""
    reads, writes = os.pipe()
    if process := os.fork():
        os.close(writes)
        return process, reads
    code = 1
    try:
        children.end_with_parent()
        os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # our standard output is the parent's alone
        answer = handler(event, None)
        with os.fdopen(writes, "w") as pipe:
            json.dump(answer, pipe)
        code = 0
    except Exception as error:
        print(f"the function raised {type(error).__name__}: {error}", flush=True)
    finally:
        os._exit(code)


def _ended(running: dict[int, tuple[int, int]]) -> tuple[int, str, list[str] | None]:
    """Wait for one of the processes that run and take it off them."""
    process, status = os.wait()
    place, reads = running.pop(process)
    with os.fdopen(reads) as pipe:
        answer = pipe.read()
    code = os.waitstatus_to_exitcode(status)
    if code == 0:
        failed = [failure["itemIdentifier"] for failure in (json.loads(answer) or {}).get("batchItemFailures", [])]
        return place, "in part" if failed else "acknowledged", failed
    if code not in (1, -signal.SIGKILL):
        raise ProcessError(f"a function ended with exit code {code}, which neither a raise nor a kill gives")
    return place, "raised" if code == 1 else "killed", None
