"""Every notebook on every environment that this machine has: it passes with the facts of `local`, or is listed.

One that cannot be on `local` has its facts from another. `aws-glue` is tried on a stand-in for AWS (aws_stand_in.py),
`cluster` on a real one of this machine. `glue-6.0` is the notebook as it is exported for Glue, with that stand-in, in a
kernel that takes it as Glue's does; `glue-5.1` the one for that version, on the engine `spark35`. `spark-3.5` is the
notebook where its facts come from, on that engine.

    python -m environment_matrix [NOTEBOOK …]     # what is right in the evidence and has not changed is not run again
    python -m environment_matrix --anew
    python -m environment_matrix --home spark-3.5 [NOTEBOOK …]     # this one alone

Listed are the skips that are allowed, in environments_skips.yml: notebook, environment, feature, says, reason. What
is listed is run all the same: it must fail, and the failure must say what the list says. The rows are written to
docs/evidence/matrix.json one by one, so that an interrupted matrix goes on where it was.
"""

import argparse
import functools
import hashlib
import json
import os
import subprocess
import sys
import tempfile
from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path

import aws_stand_in
import nbformat
import yaml
from prove import depends

from workbench._base import yaml_files
from workbench_standins import cluster

ROOT = Path(__file__).resolve().parents[1]
EVIDENCE = ROOT / "docs" / "evidence" / "matrix.json"
SKIPS = ROOT / "tests" / "environments_skips.yml"
BASE, ENVIRONMENTS = "local", ("s3", "rest", "aws-glue", "cluster", "glue-6.0", "glue-5.1", "spark-3.5")
BASES = {
    "22_race_writers": "s3",  # it holds requests between Spark and a store, and files are no store
    "32_compare_formats": "formats",  # as 33
    "33_move_to_iceberg": "formats",  # Delta Lake's own engine makes its source
    "50_restore_archive": "archive",  # storage classes, and a clock that is moved
    "61_serve_hidden_cells": "s3",  # files are no store that asks for keys
}
STARTED = {  # what an environment needs beside itself
    "aws-glue": aws_stand_in.account,
    "cluster": cluster.serve,
    "glue-6.0": aws_stand_in.account,
    "glue-5.1": aws_stand_in.account,
}
EXPORTED = {"glue-6.0": "aws-glue", "glue-5.1": "aws-glue"}  # homes that are given another file; what it names
ENGINES = {"spark-3.5": "spark35", "glue-5.1": "spark35"}  # homes on another engine
ALL_QUERIES = ["--set", "QUERIES="]  # the default is some of them
CELLS_TWICE = ["--set", "REPEAT=2"]  # the default is once, and the committed matrix is one of s3
GIVEN = {
    **{("22_race_writers", name): CELLS_TWICE for name in ("s3", "rest", "cluster", "spark-3.5")},
    ("90_benchmark_tpcds", "local"): ALL_QUERIES,
    ("90_benchmark_tpcds", "spark-3.5"): [
        *ALL_QUERIES,
        "--set",
        "ENGINES=spark35,duckdb",
    ],  # spark41 is no engine there
}
KEYS = {"notebook", "environment", "feature", "says", "reason"}


def skips(path=SKIPS):
    """Read the allowed skips: (notebook, environment) to its entry.

    Raises:
        ValueError: an entry lacks a key, has another, is given twice or names what is not there.
    """
    found = {}
    for entry in yaml_files.read(path):
        if set(entry) != KEYS or not all(isinstance(text, str) and text.strip() for text in entry.values()):
            raise ValueError(f"{path.name}: an entry has {', '.join(sorted(KEYS))}, each a text; found {entry}")
        place = entry["notebook"], entry["environment"]
        if place[0] not in notebooks() or place[1] not in ENVIRONMENTS or place in found:
            raise ValueError(f"{path.name}: {place} is no cell of the matrix, or is given twice")
        found[place] = entry
    return found


def notebooks():
    """Return the names of all notebooks."""
    return sorted(path.stem for path in (ROOT / "notebooks").glob("[0-9][0-9]_*.ipynb"))


def base_of(notebook):
    """Return the environment whose facts a notebook must record on the others, too."""
    return BASES.get(notebook, BASE)


OTHER = "other facts: "  # what a listed skip says that passes: these facts differ, all of them, and no others


def verdict(row, base, skip, name=BASE):
    """Judge a row.

    Args:
        row: {"status", "said", "facts"} of a run on the environment.
        base: the row to compare with, or None.
        skip: the entry of the list, or None.
        name: the environment of `base`.

    Returns:
        (one of "same", "skipped", "wrong", sentence).
    """
    names = sorted({*row["facts"], *((base or {}).get("facts") or {})})
    other = [each for each in names if not base or row["facts"].get(each) != base["facts"].get(each)]
    if skip:
        if row["status"] == "passed" and not (other and base and skip["says"] == OTHER + ", ".join(other)):
            return "wrong", "it is listed as a skip and passes: take it off the list"
        if row["status"] == "passed":
            return "skipped", f"{skip['feature']}: {skip['reason']}"
        if skip["says"] not in row["said"]:
            return "wrong", f"it fails otherwise than listed: {row['said'][:300]}"
        return "skipped", f"{skip['feature']}: {skip['reason']}"
    if row["status"] != "passed":
        return "wrong", f"{row['status']}: {row['said'][:300]}"
    if not base or base["status"] != "passed":
        return "wrong", f"there is no passed run on {name} to compare with"
    if other:
        return "wrong", f"other facts than on {name}: {', '.join(other)}"
    return "same", f"{len(row['facts'])} facts"


def run(notebook, environment, variables=None):
    """Run a notebook headless, with variables beside ours; returns its row."""
    named = ["--environment", named_for(notebook, environment), "--json", *home(environment)]
    how = ["export", "try"] if environment in EXPORTED else ["run"]
    named += GIVEN.get((notebook, environment), [])
    command = [str(Path(sys.executable).parent / "workbench"), *how, notebook, *named]
    env = os.environ | (variables or {})
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, env=env)
    if not done.stdout.strip():
        raise ChildProcessError(f"{notebook} on {environment} did not run: {done.stderr[-500:]}")
    record = _record(done)
    cell = record["failing_cell"] or {}
    said = " ".join(str(text) for text in (record["reason"], cell.get("error"), cell.get("message")) if text)
    return {
        "notebook": notebook,
        "environment": environment,
        "status": record["status"],
        "said": nameless(" ".join(said.split()))[:1200],
        "facts": record["results"],
        "seconds": record["seconds"],
        "date": f"{datetime.now(UTC):%Y-%m-%d}",
        "of": of(notebook, environment),
        **({"digest": digest} if (digest := depended_on(notebook, environment)) else {}),
    }


def nameless(text):
    """Return a text without the places of this machine, since rows are committed."""
    for place, name in ((ROOT, "PROJECT"), (Path.home(), "HOME"), (tempfile.gettempdir(), "TEMP")):
        text = text.replace(f"{place}/", f"{name}/")
    return text


def _record(done):
    """Return the record that a command printed, or one of what it said when it did not even begin."""
    last = done.stdout.splitlines()[-1]
    if last.startswith("{"):
        return json.loads(last)
    return {"status": "cannot run", "reason": done.stdout, "failing_cell": None, "results": {}, "seconds": None}


def home(environment):
    """Return the options that take a notebook to a home that is more than an environment."""
    if environment in EXPORTED:
        return ["--version", environment.partition("-")[2]]
    return ["--engine", ENGINES[environment]] if environment in ENGINES else []


def named_for(notebook, environment):
    """Return the environment that a notebook is given: that of its name, or the one that a home stands for."""
    if environment in EXPORTED:
        return EXPORTED[environment]
    return base_of(notebook) if environment in ENGINES else environment


def of(notebook, environment):
    """Return the checksum of what a row was made from: the notebook's code, and the files of environment and engine."""
    params, unread = ROOT / "params", {"description"}
    if environment in EXPORTED:
        unread |= {"jars"}  # the kernel like Glue's brings its own
    made_from = [
        code(ROOT / "notebooks" / f"{notebook}.ipynb"),
        said(params / "environments" / f"{named_for(notebook, environment)}.yml", unread),
    ]
    if environment in ENGINES:
        made_from.append(said(params / "engines" / f"{ENGINES[environment]}.yml", unread))
        made_from.append((ROOT / "locks" / f"{ENGINES[environment]}.lock").read_bytes())
    return hashlib.sha256(b"".join(made_from)).hexdigest()[:16]


def depended_on(notebook, environment):
    """Return the checksum of all that a cell depends on, in a part of the proof; None outside of one.

    So a home goes on with the cells of a notebook that was changed, and runs no other again.
    """
    if not os.environ.get("WORKBENCH_PART_DIGEST"):
        return None
    reads = ["lib/workbench_ops/export/*.py"] if environment in EXPORTED else []
    if environment in ENGINES:
        engine = ENGINES[environment]
        reads += [f"params/engines/{engine}.yml", f"locks/{engine}.lock"]
    if environment in STARTED:
        reads += ["locks/ministack.lock"]
    programs = [STARTED[environment].__module__] if environment in STARTED else []
    house = _house()
    names = depends.files(
        house,
        programs=programs,
        notebooks=[notebook],
        environments=[named_for(notebook, environment)],
        reads=reads,
    )
    how = house.checksum("tests/environment_matrix.py", names), skips().get((notebook, environment))
    return depends.digest(depends.contents(house, names), *how)


@functools.cache
def _house():
    return depends.House(ROOT)


def said(path, unread):
    """Return what a YAML file says but for some keys: its comments are read by nobody who runs."""
    told = yaml.safe_load(path.read_text(encoding="utf-8"))
    return json.dumps({key: value for key, value in told.items() if key not in unread}).encode()


def code(path):
    """Return a notebook's code cells, with their tags: outputs and texts change without another fact."""
    cells = [cell for cell in nbformat.read(path, as_version=4).cells if cell.cell_type == "code"]
    return json.dumps([(cell.source, cell.metadata.get("tags", [])) for cell in cells]).encode()


def read(path=EVIDENCE):
    """Return the rows there are: (notebook, environment) to row."""
    rows = json.loads(path.read_text())["rows"] if path.is_file() else []
    return {(row["notebook"], row["environment"]): row for row in rows}


def write(rows, path=EVIDENCE):
    """Write the rows in order, each with its verdict."""
    listed, told = skips(), []
    for place in sorted(rows):
        row = dict(rows[place])
        if place[1] != (base := base_of(place[0])):
            row["verdict"], row["why"] = verdict(row, rows.get((place[0], base)), listed.get(place), base)
        told.append(row)
    path.write_text(json.dumps({"rows": told}, indent=1, ensure_ascii=False) + "\n")
    return told


def due(place, rows, listed):
    """Tell whether a cell is to be run: it was not, or not as its files are now, or it was wrong.

    In a part of the proof, a row of other files than those that it depends on now is not one.
    """
    row, digest = rows.get(place), depended_on(*place)
    if row is None or row["of"] != of(*place) or (digest and row.get("digest") != digest):
        return True
    if place[1] == (base := base_of(place[0])):
        return row["status"] != "passed"
    return verdict(row, rows.get((place[0], base)), listed.get(place), base)[0] == "wrong"


def main():
    """Run what is missing or has changed, print a line a cell, and return 1 when one is wrong."""
    parser = argparse.ArgumentParser()
    parser.add_argument("notebooks", nargs="*")
    parser.add_argument("--anew", action="store_true")
    parser.add_argument("--home", choices=ENVIRONMENTS)
    given = parser.parse_args()
    rows, listed = {} if given.anew else read(), skips()
    rows = {place: row for place, row in rows.items() if place[0] in notebooks()}
    with ExitStack() as living:
        _cells(
            given.notebooks or notebooks(),
            rows,
            listed,
            living,
            homes=[given.home] if given.home else ENVIRONMENTS,
        )
    return exit_code(write(rows), given.home)


def exit_code(written, home=None):
    """Return 1 where a row is wrong, of one home alone where it is given: rows of others may be older than their base.

    A row on a base has no verdict, and has to have passed.
    """
    verdicts = [
        row.get("verdict", "same" if row["status"] == "passed" else "wrong")
        for row in written
        if home in (None, row["environment"])
    ]
    return int("wrong" in verdicts)


def _cells(wanted, rows, listed, living, *, homes=ENVIRONMENTS):
    """Run what is due, and start what an environment needs with its first cell."""
    variables = {}
    for notebook in wanted:
        bare = all((notebook, environment) in listed for environment in homes)
        base = base_of(notebook)
        for environment in (*(() if bare or base in homes else (base,)), *homes):
            place = notebook, environment
            if due(place, rows, listed):
                if environment in STARTED and environment not in variables:
                    started = living.enter_context(STARTED[environment]())
                    variables[environment] = started if isinstance(started, dict) else started.variables()
                rows[place] = run(*place, variables.get(environment))
            told = {(row["notebook"], row["environment"]): row for row in write(rows)}[place]
            print(
                f"{notebook:26} {environment:8} {told.get('verdict', told['status']):8} {told.get('why', '')}",
                flush=True,
            )


if __name__ == "__main__":
    sys.exit(main())
