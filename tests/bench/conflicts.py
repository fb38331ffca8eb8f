"""The matrix of conflicts, resumable: a row a cell under .workbench/conflicts, and all of it in docs/evidence.

A clone that has no such rows goes on from what is committed.

`python -m bench.conflicts s3 copy-on-write,v3` runs what is missing, repeats one cell in ten, writes
docs/evidence/conflicts.json (of another environment: conflicts_NAME.json) and says what is still missing. Cells that
cannot be on an environment are left out and listed with the reason; one of each kind is tried, and must be refused.
A third argument, `variants`, names the statements that the matrix does not stand for: conflicts_s3_variants.json.
"""

import sys
import time
from dataclasses import asdict, fields

from bench import evidence
from workbench import session, show
from workbench._base import settings
from workbench_proofs import conflicts
from workbench_proofs.conflicts import kept, outcomes

ONE_IN = 10
LEFT_OUT = {  # environment: what cannot be there, and the word by which its refusal is known
    "rest": {
        "mode": "v3",
        "operations": ("update", "delete", "merge"),
        "reason": "they write deletion vectors in Puffin files, which the server's table bucket does not take",
        "says": "403",
    }
}


SETS = {"matrix": conflicts.cells, "variants": conflicts.variants}


def main(environment="s3", modes="", which="matrix"):
    """Run the missing cells of the modes, then repeat; keep the figures of all modes that are there."""
    name, cells = name_of(environment, which), SETS[which]
    out = left_out(environment)
    asked = cells(modes=modes.split(",")) if modes else cells()
    wanted = [cell for cell in asked if cell not in out]
    stem = environment if which == "matrix" else f"{environment}_{which}"
    file = settings.home() / ".workbench" / "conflicts" / f"{stem}.db"
    again = file.with_name(f"{stem}.again.db")
    spark = session.start(environment)
    about = conflicts.versions(spark)
    unlike = begun(name, about, file, again)
    refused = refusals(spark, environment)
    print(f"{len(wanted)} cells, {len(kept.missing(wanted, file, versions=about))} to run", flush=True)
    try:
        run(spark, sorted(kept.missing(wanted, file, versions=about), key=urgency), file)
        run(spark, kept.missing(wanted[::ONE_IN], again, versions=about), again)
    finally:  # an interrupt leaves evidence of what is there
        every = [cell for cell in cells() if cell not in out]
        write(environment, about, file, again, name=name, every=every, out=out, before=unlike, refused=refused)
    session.stop(spark)


def begun(name, about, file, again):
    """Begin with the committed evidence of a name where no cell was run; returns the keys once found unlike."""
    if not (evidence.FOLDER / f"{name}.json").is_file():
        return []
    there, results = kept.measured(evidence.FOLDER, name=name)
    repeated = set(there["repeated"])
    if not kept.read(file):
        kept.append(again, *(result for result in results if "/".join(kept.cell_of(result).key) in repeated))
        kept.append(file, *results)
    same = about == {"spark": there["versions"]["pyspark"], "iceberg": there["versions"]["iceberg"]}
    return there["repeated_unlike"] if same else []


def left_out(environment):
    """Return the cells that cannot be on an environment, by LEFT_OUT."""
    out = LEFT_OUT.get(environment, {"mode": None, "operations": ()})
    return {
        cell
        for cell in conflicts.cells()
        if cell.mode == out["mode"] and {cell.first, cell.second} & set(out["operations"])
    }


def refusals(spark, environment):
    """Try a cell of each operation that is left out: it must be refused, and as listed. Returns what was said."""
    said, out = {}, LEFT_OUT.get(environment, {"operations": ()})
    for name in out["operations"]:
        try:
            list(conflicts.run(spark, [conflicts.Cell("append", name, "serializable", "same", out["mode"])]))
        except conflicts.NothingHeld as error:
            said[name] = show.steady(": ".join(outcomes.reason(error.__cause__)))
        if out["says"] not in said.get(name, ""):
            found = said.get(name, "it passes: take it off the list")
            raise RuntimeError(
                f"{name} in {out['mode']} on {environment} is left out otherwise than listed: {found}"
            )
    return said


def name_of(environment, which="matrix"):
    """Return the name of an environment's evidence; that of s3 is the one that notebook and library read."""
    if which == "variants" and environment == "s3":
        return "conflicts_s3_variants"
    if which != "matrix":
        raise SystemExit(
            f"no {which} on {environment}: there are the matrix of any environment, and variants on s3"
        )
    return "conflicts" if environment == "s3" else f"conflicts_{environment}"


def urgency(cell):
    """What people ask for first comes first: rows of one partition, at Iceberg's default isolation."""
    return list(conflicts.MODES).index(cell.mode), cell.isolation == "snapshot", cell.partition == "other"


def run(spark, cells, file):
    """Run cells and keep each as soon as it is there."""
    begin = time.monotonic()
    with kept.keeping(file) as keep:
        for number, result in enumerate(conflicts.run(spark, cells), 1):
            keep(result)
            if number % 10 == 0 or number == len(cells):
                print(f"{number} of {len(cells)}  {(time.monotonic() - begin) / number:.1f} s a cell", flush=True)


def write(environment, about, file, again, *, name, every, out, before=(), refused=()):
    """Write the evidence of `every` cell from what is kept, and say what is missing and what was not the same."""
    found = {kept.cell_of(one).key: one for one in kept.read(file) if of(one, about)}
    twice = {kept.cell_of(one).key: one for one in kept.read(again) if of(one, about)}
    unlike = {"/".join(key) for key, one in twice.items() if key in found and found[key] != one} | set(before)
    absent = [cell.key for cell in every if cell.key not in found]
    rows = [found[cell.key] for cell in every if cell.key in found]
    path = evidence.write(
        name,
        what="outcome of the second of two commits, whose order is fixed, for every pair of operations",
        environment=environment,
        cells_there_are=len(every) + len(out),
        cells_measured=len(rows),
        cells_repeated=len(twice),
        repeated_unlike=sorted(unlike),
        cells_left_out=len(out),
        left_out=[LEFT_OUT[environment] | {"refused": refused}] if out else [],
        outcomes={name: sum(one.outcome == name for one in rows) for name in conflicts.OUTCOMES},
        repeated=sorted({"/".join(key) for key in twice} - unlike),
        columns=[field.name for field in fields(conflicts.Result)],
    )
    evidence.with_lines(path, "cells", [[*asdict(one).values()] for one in rows])
    if out:
        print(f"left out: {len(out)} cells, as {LEFT_OUT[environment]['reason']}")
    print(f"missing: {len(absent)} of {len(every)} cells", *("/".join(key) for key in absent[:20]), sep="\n  ")


def of(one, about):
    return about == {"spark": one.spark, "iceberg": one.iceberg}


if __name__ == "__main__":
    main(*sys.argv[1:])
