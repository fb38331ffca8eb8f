"""How far the tasks of a streaming query's micro-batches came, in a folder that driver and workers share.

Nobody can ask Kinesis for its latest sequence number, and a driver that reads ahead to find it fetches every
record twice. So a micro-batch is a number for Spark, the tasks report where they stopped, and **the first report
of a task wins**: whoever does the task again reads exactly as far.

    stream.json            whose positions these are
    looked.json            when nothing was found in any shard, milliseconds since 1970
    00000007/plan.json     positions before the seventh micro-batch, its tasks, and when it was planned
    00000007/<shard>.json  where the task of a shard stopped

Every file is put in place whole; all but looked.json by a hard link, which fails when there is one already.
"""

import json
import os
import uuid
from pathlib import Path
from typing import Any

from workbench._base.errors import ArgumentError, WorkbenchError


class ReportedTwice(WorkbenchError, RuntimeError):
    """Another attempt of the same task reported first; this one has to be done again, up to that report."""


def claim(folder: str | Path, owner: dict[str, Any]) -> None:
    """Note whose positions a folder holds.

    Raises:
        ValueError: it holds those of another stream.
    """
    first = put(Path(folder) / "stream.json", owner)
    if first != owner:
        raise ArgumentError(
            f"{folder} holds the positions of {first['arn']} made at {first['created_millis']}, not of "
            f"{owner['arn']} made at {owner['created_millis']}; each query has a folder of its own"
        )


def put(path: Path, content: Any) -> Any:
    """Write a JSON file unless there is one, and return what it holds now."""
    path.parent.mkdir(parents=True, exist_ok=True)
    part = _part(path.parent, content)
    try:
        os.link(part, path)
    except FileExistsError:
        return json.loads(path.read_text(encoding="utf-8"))
    finally:
        part.unlink()
    return content


def get(path: Path) -> Any:
    """Return what a JSON file holds; None when there is none."""
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None


def _part(folder: Path, content: Any) -> Path:
    """Write JSON under a name of its own, from which it is put in place whole."""
    part = folder / f".{uuid.uuid4().hex}.part"
    part.write_text(json.dumps(content), encoding="utf-8")
    return part


def look(folder: str | Path, millis: int) -> None:
    """Note when nothing was found in any shard."""
    _part(Path(folder), millis).replace(Path(folder) / "looked.json")


def looked(folder: str | Path) -> int | None:
    """Return when every shard was last looked at, milliseconds since 1970; None when that is not known."""
    noted, newest = get(Path(folder) / "looked.json"), last(folder)
    for number in (newest, newest - 1):  # the last one may be under way
        plan = get(batch(folder, number) / "plan.json")
        if plan and "millis" in plan and len(reported(folder, number)) >= len(plan["tasks"]):
            return max(noted or 0, plan["millis"])
    return noted


def batch(folder: str | Path, number: int) -> Path:
    """Return the folder of a micro-batch."""
    return Path(folder) / f"{number:08d}"


def last(folder: str | Path) -> int:
    """Return the number of the last micro-batch that was planned; 0 when none was."""
    names = [plan.parent.name for plan in Path(folder).glob("*/plan.json")]
    return max((int(name) for name in names if name.isdigit()), default=0)


def reported(folder: str | Path, number: int) -> dict[str, Any]:
    """Return the reports of a micro-batch: shard id to {"position", …}."""
    files = [file for file in batch(folder, number).glob("*.json") if file.name != "plan.json"]
    return {file.stem: get(file) for file in files}


def report(folder: str | Path, number: int, shard: str, content: dict[str, Any]) -> None:
    """Report where a task stopped.

    Raises:
        ReportedTwice: another attempt reported something else first.
    """
    first = put(batch(folder, number) / f"{shard}.json", content)
    if first["position"] != content["position"]:
        raise ReportedTwice(
            f"shard {shard} in micro-batch {number} was read up to {content['position']}, but another attempt had "
            f"reported {first['position']}; the task has to be done again"
        )


def forget(folder: str | Path, number: int) -> None:
    """Remove the micro-batches before one; what is left holds the whole positions."""
    for old in Path(folder).iterdir():
        if old.name.isdigit() and int(old.name) < number:
            for file in old.iterdir():
                file.unlink(missing_ok=True)
            old.rmdir()
