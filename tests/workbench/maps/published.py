"""The published definition, and copies of it with one thing changed."""

import copy
import json
from pathlib import Path

FILE = Path(__file__).parent / "definitions" / "published.asl.json"
NAMES = {
    "Partition": "aws",
    "AnalyseArn": "arn:aws:lambda:eu-central-1:123456789012:function:analyse",
    "StreamName": "readings",
    "ResultsBucket": "results",
}
MAP = ("States", "EachReading")
CHILD = (*MAP, "ItemProcessor")
ANALYSE = (*CHILD, "States", "Analyse")
DELIVER = (*CHILD, "States", "Deliver")
GONE = object()


def changed(*changes):
    """The definition with values set at paths, or taken out where a value is GONE."""
    machine = copy.deepcopy(json.loads(FILE.read_text()))
    for path, value in changes:
        parent = machine
        for part in path[:-1]:
            parent = parent[part]
        if value is GONE:
            del parent[path[-1]]
        else:
            parent[path[-1]] = value
    return machine


def written(machine, folder, name="machine.asl.json"):
    """The path of a file with a definition."""
    path = folder / name
    path.write_text(machine if isinstance(machine, str) else json.dumps(machine, indent=2))
    return path
