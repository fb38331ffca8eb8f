"""The rights that each notebook records are enough, and each is needed: `python -m bench.rights [NOTEBOOK …]` under tests.

Each notebook that passes on the stand-in of an AWS account (environment aws-glue, two runs) is recorded, and run as often
under its policy on an empty account that enforces it; then each right is left out once by judging the kept requests
again. Then it is run once more without the rights to delete objects: refusals that such a run survives are swallowed.

A row is kept in docs/evidence/rights.json as soon as it is there, so that a stop costs one notebook. What is right and of
the files as they are now is not run again. Notebooks without a policy stand there with the reason: of those that do not
pass in an account (tests/environments_skips.yml) and of those that call nothing in it.
"""

import argparse
import json
import os
import subprocess
import sys
import time
from pathlib import Path

import aws_stand_in
import environment_matrix

from bench import evidence
from workbench._base import settings
from workbench_ops.policies import proving, rehearsing
from workbench_ops.run import notebook
from workbench_ops.run.preparing import Job, kernel_of
from workbench_standins.account import enforced

ROOT = Path(__file__).resolve().parents[2]
ENVIRONMENT, RUNS = "aws-glue", 2  # the second run finds the tables of the first
DELETES = "s3:DeleteObject"
WHAT = (
    "each notebook's policy as `workbench policies --prove` records it in two runs: `requests` different ones under it, "
    "`rights` of it, `needed` by one of them at least; `swallowed`: refusals that a run without the right to delete "
    "objects passed with; `left_out`: why a notebook has no policy here"
)


def main(argv=None):
    """Prove the notebooks that are due, print a line each, and return 1 when one does not hold."""
    parser = argparse.ArgumentParser()
    parser.add_argument("notebooks", nargs="*")
    parser.add_argument("--one", action="store_true", help="prove one, and print its row")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="begin no other one after so many")
    given = parser.parse_args(argv)
    if given.one:
        print(json.dumps(row_of(given.notebooks[0])))
        return 0
    begin, rows = time.monotonic(), kept()
    for name in given.notebooks or environment_matrix.notebooks():
        if due(name, rows.get(name)):
            if time.monotonic() - begin > given.seconds:
                break
            rows[name] = reasoned(name) or proved(name)
            write(rows)
        print(f"{name:26} {sentence(rows[name])}", flush=True)
    missing = [name for name in environment_matrix.notebooks() if due(name, rows.get(name))]
    print(f"{len(rows) - len(missing)} of {len(environment_matrix.notebooks())} notebooks are proved or left out")
    return int(bool(missing) or not all(right(row) for row in rows.values()))


def kept():
    """Return the rows there are, of notebooks that are there."""
    file = evidence.FOLDER / "rights.json"
    rows = json.loads(file.read_text(encoding="utf-8"))["notebooks"] if file.is_file() else []
    return {row["notebook"]: row for row in rows if row["notebook"] in environment_matrix.notebooks()}


def write(rows):
    """Write the rows, one a line."""
    path = evidence.write("rights", show=False, what=WHAT, environment=ENVIRONMENT, runs=RUNS)
    evidence.with_lines(path, "notebooks", [rows[name] for name in sorted(rows)])


def due(name, row):
    """Tell whether a notebook is to be proved: it was not, or not as its files are now, or it did not hold."""
    return row is None or not right(row) or bool(made_from(name).items() - row.items())


def made_from(name):
    """Return what a row is of: checksums of the notebook with its environment and, in a part of the proof, of all it needs."""
    digest = environment_matrix.depended_on(name, ENVIRONMENT)
    return {"of": environment_matrix.of(name, ENVIRONMENT)} | ({"digest": digest} if digest else {})


def right(row):
    """Tell whether a notebook's rights were enough and each needed, or why there are none is known."""
    if "left_out" in row or "failed" in row:
        return "left_out" in row
    wrong = not row["passed"] or row["missing"] or row["unneeded"] or row["refused"]
    return not wrong and row["requests"] > 0


def reasoned(name):
    """Return the row of a notebook that does not pass in an account; None of another."""
    skip = environment_matrix.skips().get((name, ENVIRONMENT))
    if skip is None or skip["says"].startswith(environment_matrix.OTHER):
        return None
    return {"notebook": name, "left_out": f"{skip['feature']}: {skip['reason']}"} | made_from(name)


def proved(name):
    """Return the row of a notebook, from a process of its own with an account of its own."""
    words = [sys.executable, "-m", "bench.rights", "--one", name]
    with aws_stand_in.account() as variables:
        done = subprocess.run(
            words, cwd=ROOT, env=os.environ | variables, capture_output=True, text=True, check=False
        )
    if done.returncode:
        row = {"notebook": name, "failed": environment_matrix.nameless(done.stderr[-500:])}
    else:
        row = json.loads(done.stdout.splitlines()[-1])
    return row | made_from(name)


def row_of(name, environment=ENVIRONMENT):
    """Record a notebook in the account that this process's variables name, prove its rights, and return its row."""
    begin, path, said = time.monotonic(), str(notebook.find(name)), []
    job = Job(path, environment=environment, **kernel_of(path))
    seen = rehearsing.record(job, RUNS)
    if seen.record.status != "passed":
        return {
            "notebook": name,
            "failed": f"{seen.record.status} when it was recorded: {seen.record.failing_cell}",
        }
    if not seen.to_aws():
        return {"notebook": name, "left_out": "it calls nothing in the account"}
    policy, known = rehearsing.policy_of(seen, settings.environment(environment), say=said.append)
    if policy is None:
        return {"notebook": name, "failed": "; ".join(said)}
    rehearsal = rehearsing.rehearse(policy.document, known, job, RUNS)
    proof = proving.prove(rehearsal.document, rehearsal.judgements)
    row = {
        "notebook": name, "passed": rehearsal.passed, "requests": proof.requests,
        "rights": len(proving.rights(policy.document)), "needed": len(proof.needed),
        "for_failures": len(proof.for_failures), "unneeded": [str(right) for right in proof.unneeded],
        "refused": refusals(rehearsal.judgements), "missing": list(policy.missing),
    }  # fmt: skip
    return row | without_deletes(policy.document, known, job) | {"seconds": round(time.monotonic() - begin)}


def refusals(judgements):
    """Return what was refused, as texts, with how often."""
    found = {}
    for judgement in judgements:
        if not judgement.allowed:
            place = f"{judgement.action} on {judgement.resource}"
            found[place] = found.get(place, 0) + 1
    return dict(sorted(found.items()))


def without_deletes(document, known, job):
    """Return what a run without the rights to delete objects swallowed: refusals that it passed with."""
    rest = document
    for right in proving.rights(document):
        if right.action == DELETES:
            rest = proving.without(rest, right)
    if rest == document:
        return {"swallowed": 0}
    rehearsal = rehearsing.rehearse(rest, known, job, 1)
    refused = sum(refusals(rehearsal.judgements).values())
    return {"passed_without_deletes": rehearsal.passed, "swallowed": refused if rehearsal.passed else 0}


def sentence(row):
    """Return what is to be said of a row."""
    if "left_out" in row:
        return f"left out: {row['left_out']}"
    if "failed" in row:
        return f"WRONG: {row['failed']}"
    said = f"{row['rights']} rights, {row['needed']} needed by {row['requests']} requests"
    wrong = [*([] if row["passed"] else ["did not pass"]), *row["missing"], *row["unneeded"], *row["refused"]]
    return f"{said}; {row['swallowed']} refusals swallowed" + (f"; WRONG: {', '.join(wrong)}" if wrong else "")


if __name__ == "__main__":
    enforced.require()
    sys.exit(main())
