"""The code of a function of Lambda, and its calls by a queue: as processes here, or in an account's stand-in."""

import shutil
import uuid
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from workbench._base import arguments, children
from workbench._base.errors import ArgumentError, ProcessError
from workbench.light import functions as lambda_functions
from workbench_proofs.lambdas import faults
from workbench_standins import account as accounts
from workbench_standins.account import functions as deployed

TIMEOUT_SECONDS = 300  # of a call in an account; where others use the machine, a first one takes a minute
VISIBILITY_SECONDS = 45  # in an account a message whose function died comes again after those
PATIENCE_SECONDS, PATIENCE_SECONDS_EACH = 900, 5  # until a queue is empty, and for each of its messages


@dataclass(frozen=True)
class Function:
    """The code of a function, and how a queue calls it.

    Attributes:
        folder: with its code, app.py; its faults, and what it said, `log`.
        variables: of its environment.
        batch: messages of a call at most.
        concurrency: calls at once at most.
        account: the stand-in that it is deployed to; None for processes of this machine.
    """

    folder: Path
    variables: dict[str, str]
    batch: int
    concurrency: int
    account: accounts.Account | None


@dataclass(frozen=True)
class Delivery:
    """How a queue got rid of its messages.

    Attributes:
        dead_letters: bodies that no call acknowledged, sorted.
        calls: how a call ended to how often (acknowledged, in part, raised, killed); empty in an account, which
            does not tell.
    """

    dead_letters: tuple[str, ...]
    calls: dict[str, int]


def written(
    code: str,
    folder: str | Path,
    *,
    variables: Mapping[str, str],
    batch: int,
    concurrency: int,
    account: accounts.Account | None = None,
) -> Function:
    """Write the code of a function with its faults, and the zip of it where an account takes it.

    Args:
        code: of the module app; it calls `faults.strike(event)` behind its commit.
        folder: made for it.
        variables: of the function's environment.
        batch: messages of a call at most.
        concurrency: calls at once at most; an account takes 2 to 1000.
        account: a running stand-in; None for processes of this machine.

    Raises:
        ValueError: batch or concurrency is below 1, the folder exists, or the zip is larger than Lambda takes.
    """
    arguments.whole("batch", batch, 1, "a call has a message at least")
    arguments.whole("concurrency", concurrency, 1, "one call runs at least")
    folder = Path(folder).absolute()
    if folder.exists():
        raise ArgumentError(f"{folder} exists; a function is written to a folder of its own")
    for name in ("function", "struck"):
        (folder / name).mkdir(parents=True)
    (folder / "function" / "app.py").write_text(code, encoding="utf-8")
    shutil.copy(faults.__file__, folder / "function" / "faults.py")
    if account is not None:
        lambda_functions.package(folder / "function", folder / "function.zip")
    own = {"FAULTS": str(folder / "struck")}
    return Function(folder, {**variables, **own}, batch, concurrency, account)


def deliver(function: Function, handler: str, bodies: Sequence[str]) -> Delivery:
    """Send messages to a queue and wait until it has none left.

    Args:
        function: of `written`.
        handler: name of the one of its functions that the queue calls.
        bodies: of the messages.

    Raises:
        ChildProcessError: the code cannot be imported; its log says why.
        TimeoutError: the queue of an account is not empty after 15 minutes and 5 seconds a message.
    """
    make = _by_processes if function.account is None else _by_account
    return make(function, handler, bodies)


def struck(function: Function) -> set[str]:
    """Return the ids of messages that killed a function behind its commit, or let it raise there."""
    return {note.name for note in Path(function.variables["FAULTS"]).iterdir()}


def _by_processes(function: Function, handler: str, bodies: Sequence[str]) -> Delivery:
    order = {
        "folder": str(function.folder / "function"), "handler": handler, "bodies": list(bodies),
        "batch": function.batch, "concurrency": function.concurrency,
    }  # fmt: skip
    log = function.folder / "log"
    with (
        log.open("ab") as output,
        children.started("workbench_proofs.lambdas.processes", env=function.variables, log=output) as process,
    ):
        try:
            ended = children.ask(process, order, name=f"queue of {handler}")
        except ProcessError as error:
            raise ProcessError(f"{error}: {log.read_text(errors='replace')[-800:]}") from error
    return Delivery(tuple(sorted(ended["dead_letters"])), ended["calls"])


def _by_account(function: Function, handler: str, bodies: Sequence[str]) -> Delivery:
    assert function.account is not None  # for a type checker: `deliver` asked
    name = f"{handler}-{uuid.uuid4().hex[:8]}".replace("_", "-")
    place = deployed.deploy(
        function.account, function.folder / "function.zip", handler=f"app.{handler}", name=name,
        variables=function.variables, batch=function.batch, concurrency=function.concurrency,
        timeout_seconds=TIMEOUT_SECONDS, visibility_seconds=VISIBILITY_SECONDS,
    )  # fmt: skip
    queues = function.account.client("sqs")
    for body in bodies:
        queues.send_message(QueueUrl=place.queue, MessageBody=body)
    deployed.drained(queues, place.queue, patience_seconds=PATIENCE_SECONDS + PATIENCE_SECONDS_EACH * len(bodies))
    return Delivery(tuple(sorted(_received(queues, place.dead_letters))), {})


def _received(queues: Any, queue: str) -> Iterator[str]:
    """Yield the bodies of all messages of a queue, which takes them off it."""
    while messages := queues.receive_message(QueueUrl=queue, MaxNumberOfMessages=10).get("Messages", []):
        for message in messages:
            yield message["Body"]
            queues.delete_message(QueueUrl=queue, ReceiptHandle=message["ReceiptHandle"])
