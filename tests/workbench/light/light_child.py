"""Writers as processes of their own: asked to write and to die at a point, they answer what was done.

One process imports what they need and forks a writer whenever it is asked: to import PyIceberg takes seconds.
"""

import json
import os
import signal
import subprocess
import sys
from functools import cache
from pathlib import Path

import pyarrow as pa
import pytest
from pyiceberg.catalog import load_catalog
from pyiceberg.exceptions import CommitStateUnknownException

from workbench import light
from workbench.light import functions

SCHEMA = pa.schema([("id", pa.int64()), ("name", pa.string())])


def die():
    os.kill(os.getpid(), signal.SIGKILL)


def commit_answers(catalog, fault):
    """Let the catalog's commit end otherwise than it says: killed before it, killed behind it, its answer lost once."""
    commit, lost = catalog.commit_table, []

    def commit_table(*arguments):
        if fault == "killed before":
            die()
        answer = commit(*arguments)
        if fault == "killed behind":
            die()
        if fault == "answer lost" and not lost:
            lost.append(answer)
            raise CommitStateUnknownException("the answer was lost")
        return answer

    catalog.commit_table = commit_table


def write(properties, table, calls, fault):
    """Do a writer's calls; yields the answer of each."""
    catalog = light.catalogs.load(properties)
    commit_answers(catalog, fault)
    handle = functions.handler(json.loads, catalog=catalog, table=table, tries=100, schema=SCHEMA)
    for call in calls:
        if "Records" in call:
            yield handle(call, None)
        elif "key" in call:
            yield [light.merge(properties, table, call["rows"], key=call["key"], tries=200).rows]
        else:
            append = light.append(catalog, table, call["rows"], ids=call["ids"], tries=100)
            yield [append.rows, list(append.repeated)]


def forked(properties, table, calls, fault):
    """Start a writer; returns its process id and the end of a pipe with its answers."""
    reads, writes = os.pipe()
    if child := os.fork():
        os.close(writes)
        return child, reads
    os.close(reads)
    code = 1
    try:
        with os.fdopen(writes, "w") as pipe:
            for answer in write(properties, table, calls, fault):
                pipe.write(json.dumps(answer) + "\n")
        code = 0
    finally:
        os._exit(code)


def main():
    for line in sys.stdin:
        order = json.loads(line)
        children = [forked(order["catalog"], order["table"], *writer) for writer in order["writers"]]
        ended = []
        for child, reads in children:
            with os.fdopen(reads) as pipe:
                answers = [json.loads(answer) for answer in pipe]
            ended.append([answers, os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])])
        print(json.dumps(ended), flush=True)


@pytest.fixture(scope="session")
def writers():
    """A function that lets several writers write at once: (answers, exit code) of each."""
    process = _process()

    def ask(catalog, table, *calls, fault=None):
        order = {"catalog": catalog, "table": table, "writers": [[part, fault] for part in calls]}
        process.stdin.write(json.dumps(order) + "\n")
        process.stdin.flush()
        return [tuple(ended) for ended in json.loads(process.stdout.readline())]

    yield ask
    process.stdin.close()
    process.wait()


@cache  # each module that imports the fixture has one of its own
def _process():
    return subprocess.Popen(
        [sys.executable, str(Path(__file__))], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )


if __name__ == "__main__":
    main()
