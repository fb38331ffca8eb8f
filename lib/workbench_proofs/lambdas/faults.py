"""Strike a function of Lambda behind its commit; this file travels with its code, and imports nothing of ours.

A message that is to kill its function, or to let it raise, does so once: the note of it is a file in the folder
that the variable FAULTS names, written before the blow.
"""

import json
import os
import signal
from collections.abc import Mapping
from pathlib import Path
from typing import Any


def strike(event: Mapping[str, Any]) -> None:
    """Kill this process or raise, as one of a batch's messages has it; a batch is struck once for all of them.

    Raises:
        RuntimeError: the blow of a message that lets its function raise.
    """
    faults = {fault for record in event["Records"] if (fault := _noted(record["body"]))}
    if "killed" in faults:
        os.kill(os.getpid(), signal.SIGKILL)
    if faults:
        raise RuntimeError("planted behind the commit")


def _noted(body: str) -> str | None:
    """Return the fault of a message that has not struck yet, and note that it does now."""
    try:
        message = json.loads(body)
    except ValueError:
        return None
    if message["fault"] is None:
        return None
    try:
        (Path(os.environ["FAULTS"]) / message["id"]).touch(exist_ok=False)
    except FileExistsError:
        return None
    return str(message["fault"])
