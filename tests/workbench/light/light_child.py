"""Writers as processes of their own: told what to write and where to die, they say what was done.

One process imports what they need and forks a writer whenever it is asked: to import PyIceberg takes seconds.
"""

import json
import os
import signal
import subprocess
import sys
from contextlib import contextmanager
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
    whole, lost = catalog.commit_table, []

    def commit_table(*arguments):
        if fault == "killed before":
            die()
        answer = whole(*arguments)
        if fault == "killed behind":
            die()
        if fault == "answer lost" and not lost:
            lost.append(answer)
            raise CommitStateUnknownException("the answer was lost")
        return answer

    catalog.commit_table = commit_table


def write(properties, table, calls, fault):
    """Do a writer's calls; gives what each of them said."""
    catalog = light.catalogs.load(properties)
    commit_answers(catalog, fault)
    handle = functions.handler(json.loads, catalog=catalog, table=table, tries=100, schema=SCHEMA)
    for call in calls:
        if "Records" in call:
            yield handle(call, None)
        elif "key" in call:
            yield [light.merge(properties, table, call["rows"], key=call["key"], tries=200).rows]
        else:
            done = light.append(catalog, table, call["rows"], ids=call["ids"], tries=100)
            yield [done.rows, list(done.repeated)]


def forked(properties, table, calls, fault):
    """Start a writer; gives its process id and the end of a pipe that says what it did."""
    reads, writes = os.pipe()
    if child := os.fork():
        os.close(writes)
        return child, reads
    os.close(reads)
    code = 1
    try:
        with os.fdopen(writes, "w") as said:
            for answer in write(properties, table, calls, fault):
                said.write(json.dumps(answer) + "\n")
        code = 0
    finally:
        os._exit(code)


def main():
    for line in sys.stdin:
        told = json.loads(line)
        children = [forked(told["catalog"], told["table"], *writer) for writer in told["writers"]]
        ended = []
        for child, reads in children:
            with os.fdopen(reads) as said:
                answers = [json.loads(answer) for answer in said]
            ended.append([answers, os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])])
        print(json.dumps(ended), flush=True)


@pytest.fixture(scope="session")
def writers():
    """A function that lets several writers write at once: (what each said, its exit code) of each."""
    with _serving() as ask:
        yield ask


@contextmanager
def _serving():
    command = [sys.executable, str(Path(__file__))]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:

        def ask(catalog, table, *calls, fault=None):
            told = {"catalog": catalog, "table": table, "writers": [[part, fault] for part in calls]}
            process.stdin.write(json.dumps(told) + "\n")
            process.stdin.flush()
            return [tuple(ended) for ended in json.loads(process.stdout.readline())]

        yield ask
        process.stdin.close()


if __name__ == "__main__":
    main()
