"""The matrix of conflicts, resumable: a line a cell under .workbench/conflicts, and all of it in docs/evidence.

A clone that has no such lines goes on from what is committed.

`python -m bench.conflicts s3 copy-on-write,v3` runs what is missing, repeats one cell in ten, writes
docs/evidence/conflicts.json (of another environment: conflicts_NAME.json) and says what is still missing.
"""

import json
import sys
import time
from dataclasses import asdict, fields

from bench import evidence
from workbench import conflicts, session, settings
from workbench.conflicts import kept

ONE_IN = 10


def main(environment="s3", modes=""):
    """Run the missing cells of the modes, then repeat; keep the figures of all modes that are there."""
    wanted = conflicts.cells(modes=modes.split(",")) if modes else conflicts.cells()
    file = settings.home() / ".workbench" / "conflicts" / f"{environment}.jsonl"
    again = file.with_name(f"{environment}.again.jsonl")
    unlike = [] if file.is_file() else begun(environment, file, again)
    spark = session.start(environment)
    about = conflicts.versions(spark)
    print(f"{len(wanted)} cells, {len(kept.missing(wanted, file, versions=about))} to run", flush=True)
    try:
        run(spark, sorted(kept.missing(wanted, file, versions=about), key=urgency), file)
        run(spark, kept.missing(wanted[::ONE_IN], again, versions=about), again)
    finally:  # an interrupt leaves evidence of what is there
        write(environment, about, file, again, unlike)
    session.stop(spark)


def begun(environment, file, again):
    """Begin with the committed matrix of an environment; returns the keys that were not the same when repeated."""
    try:
        there, results = kept.measured(evidence.FOLDER, name=name_of(environment))
    except ValueError:
        return []
    repeated = set(there["repeated"])
    for one in results:
        kept.append(file, one)
        if "/".join(kept.cell_of(one).key) in repeated:
            kept.append(again, one)
    return there["repeated_unlike"]


def name_of(environment):
    """Return the name of an environment's evidence; that of s3 is the one that notebook and library read."""
    return "conflicts" if environment == "s3" else f"conflicts_{environment}"


def urgency(cell):
    """What people ask for first comes first: rows of one partition, at Iceberg's default isolation."""
    return list(conflicts.MODES).index(cell.mode), cell.isolation == "snapshot", cell.partition == "other"


def run(spark, cells, file):
    """Run cells and keep each as soon as it is there."""
    begin = time.monotonic()
    for number, result in enumerate(conflicts.run(spark, cells), 1):
        kept.append(file, result)
        if number % 10 == 0 or number == len(cells):
            print(f"{number} of {len(cells)}  {(time.monotonic() - begin) / number:.1f} s a cell", flush=True)


def write(environment, about, file, again, before=()):
    """Write the evidence from what is kept, and say what is missing and what was not the same."""
    every = conflicts.cells()
    found = {kept.cell_of(one).key: one for one in kept.read(file) if of(one, about)}
    twice = {kept.cell_of(one).key: one for one in kept.read(again) if of(one, about)}
    unlike = {"/".join(key) for key, one in twice.items() if key in found and found[key] != one} | set(before)
    absent = [cell.key for cell in every if cell.key not in found]
    rows = [found[cell.key] for cell in every if cell.key in found]
    path = evidence.write(
        name_of(environment),
        what="outcome of the second of two commits, whose order is fixed, for every pair of operations",
        environment=environment,
        cells_there_are=len(every),
        cells_measured=len(rows),
        cells_repeated=len(twice),
        repeated_unlike=sorted(unlike),
        outcomes={name: sum(one.outcome == name for one in rows) for name in conflicts.OUTCOMES},
        repeated=sorted({"/".join(key) for key in twice} - unlike),
        columns=[field.name for field in fields(conflicts.Result)],
    )
    with_cells(path, [[*asdict(one).values()] for one in rows])
    print(f"missing: {len(absent)} of {len(every)} cells", *("/".join(key) for key in absent[:20]), sep="\n  ")


def with_cells(path, rows):
    """Put the cells behind the figures, one a line."""
    listed = ",\n".join("  " + json.dumps(row) for row in rows)
    text = path.read_text(encoding="utf-8").rstrip().removesuffix("}").rstrip()
    path.write_text(f'{text},\n "cells": [\n{listed}\n ]\n}}\n', encoding="utf-8")


def of(one, about):
    return about == {"spark": one.spark, "iceberg": one.iceberg}


if __name__ == "__main__":
    main(*sys.argv[1:])
