"""Small definitions for tests of runs, and functions that note how they were called."""

import json
import os
import sys
import time
from pathlib import Path

from pyspark import cloudpickle

from workbench import maps

FUNCTION = "arn:aws:lambda:eu-central-1:123456789012:function:f"
PUT = "arn:aws:states:::aws-sdk:firehose:putRecord"


def flow(states, folder, *, config=None, key="items.jsonl", **fields):
    """Read a definition whose Map is its only state."""
    reader = {
        "Resource": "arn:aws:states:::s3:getObject",
        "ReaderConfig": config or {"InputType": "JSONL"},
        "Arguments": {"Bucket": "lake", "Key": key},
    }
    child = {"ProcessorConfig": {"Mode": "DISTRIBUTED", "ExecutionType": "STANDARD"}}
    machine = {
        "QueryLanguage": "JSONata",
        "StartAt": "Each",
        "States": {
            "Each": {
                "Type": "Map",
                "ItemReader": reader,
                "ItemProcessor": child | {"StartAt": next(iter(states)), "States": states},
                "End": True,
                **fields,
            }
        },
    }
    folder.mkdir(exist_ok=True)
    path = folder / "flow.asl.json"
    path.write_text(json.dumps(machine))
    return maps.read(path)


def passing(output="{% $states.input %}"):
    return {"Give": {"Type": "Pass", "Output": output, "End": True}}


def calling(**more):
    return {"Call": {"Type": "Task", "Resource": FUNCTION, "End": True, **more}}


def jsonl(folder, items, name="items.jsonl"):
    (folder / name).write_text("".join(json.dumps(item) + "\n" for item in items))


class Noted:
    """A function that notes each call in a file and fails while a file says so."""

    def __init__(self, folder, wait=0.0):
        self.folder = Path(folder)
        self.wait = wait
        self.folder.mkdir(exist_ok=True)

    def __call__(self, item, call):
        with (self.folder / "calls").open("a") as file:
            file.write(f"{call.key} {call.tries}\n")
        if self.wait:
            mark = self.folder / f"now {os.getpid()} {call.index}"
            mark.touch()
            at_once = len(list(self.folder.glob("now *")))
            with (self.folder / "at once").open("a") as file:
                file.write(f"{at_once}\n")
            time.sleep(self.wait)
            mark.unlink()
        fails = self.folder / f"fails {item['n']}"
        if fails.exists():
            times_left = int(fails.read_text())
            fails.write_text(str(times_left - 1))
            if times_left > 0:
                raise ConnectionError(f"item {item['n']} is busy")
        return {"n": item["n"], "square": item["n"] ** 2}

    def fail(self, *numbers, times=10**6):
        for number in numbers:
            (self.folder / f"fails {number}").write_text(str(times))

    def mend(self):
        for path in self.folder.glob("fails *"):
            path.unlink()

    def calls(self):
        path = self.folder / "calls"
        return path.read_text().splitlines() if path.exists() else []


cloudpickle.register_pickle_by_value(sys.modules[__name__])
