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

from workbench._base.errors import ArgumentError, WorkbenchError


class ReportedTwice(WorkbenchError, RuntimeError):
    """Another attempt of the same task reported first; this one has to be done again, up to that report."""


def claim(folder, owner):
    """Note whose positions a folder holds.

    Raises:
        ValueError: it holds those of another stream.
    """
    found = put(Path(folder) / "stream.json", owner)
    if found != owner:
        raise ArgumentError(
            f"{folder} holds the positions of {found['arn']} made at {found['created_millis']}, not of "
            f"{owner['arn']} made at {owner['created_millis']}; each query has a folder of its own"
        )


def put(path, content):
    """Write a JSON file unless there is one; returns what it holds now."""
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f".{uuid.uuid4().hex}.part")
    part.write_text(json.dumps(content), encoding="utf-8")
    try:
        os.link(part, path)
    except FileExistsError:
        return json.loads(path.read_text(encoding="utf-8"))
    finally:
        part.unlink()
    return content


def get(path):
    """Return what a JSON file holds; None when there is none."""
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None


def look(folder, millis):
    """Note when nothing was found in any shard."""
    part = Path(folder) / f".{uuid.uuid4().hex}.part"
    part.write_text(json.dumps(millis), encoding="utf-8")
    part.replace(Path(folder) / "looked.json")


def looked(folder):
    """Return when every shard was last looked at, milliseconds since 1970; None when that is not known."""
    found, number = get(Path(folder) / "looked.json"), last(folder)
    for one in (number, number - 1):  # the last one may be under way
        plan = get(batch(folder, one) / "plan.json")
        if plan and "millis" in plan and len(reported(folder, one)) >= len(plan["tasks"]):
            return max(found or 0, plan["millis"])
    return found


def batch(folder, number):
    """Return the folder of a micro-batch."""
    return Path(folder) / f"{number:08d}"


def last(folder):
    """Return the number of the last micro-batch that was planned; 0 when none was."""
    numbers = [int(one.parent.name) for one in Path(folder).glob("*/plan.json") if one.parent.name.isdigit()]
    return max(numbers, default=0)


def reported(folder, number):
    """Return the reports of a micro-batch: shard id to {"position", …}."""
    files = [one for one in batch(folder, number).glob("*.json") if one.name != "plan.json"]
    return {one.stem: get(one) for one in files}


def report(folder, number, shard, content):
    """Report where a task stopped.

    Raises:
        ReportedTwice: another attempt reported something else first.
    """
    found = put(batch(folder, number) / f"{shard}.json", content)
    if found["position"] != content["position"]:
        raise ReportedTwice(
            f"shard {shard} in micro-batch {number} was read up to {content['position']}, but another attempt had "
            f"reported {found['position']}; the task has to be done again"
        )


def forget(folder, number):
    """Remove the micro-batches before one; what is left holds the whole positions."""
    for old in Path(folder).iterdir():
        if old.name.isdigit() and int(old.name) < number:
            for one in old.iterdir():
                one.unlink(missing_ok=True)
            old.rmdir()
