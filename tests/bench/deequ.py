"""Our DQDL against deequ's own engine on Spark 3.5: every case of tests/workbench/quality/deequ_cases.yml, both answers kept.

Fails when a case differs without an explanation, and when an explained one does not differ. deequ runs in an
environment of its own (`make compare-deequ` makes it); `timed` lets a benchmark time it there.
"""

import argparse
import contextlib
import io
import json
import math
import os
import re
import subprocess
import sys
import tempfile
import tomllib
from collections import Counter
from datetime import UTC, datetime, timedelta
from pathlib import Path

import yaml

from bench import deequ_engine, evidence
from workbench._base import jars, java

ROOT = Path(__file__).resolve().parents[2]
CASES = ROOT / "tests" / "workbench" / "quality" / "deequ_cases.yml"
JARS = Path(__file__).with_name("deequ_jars.toml")
PYTHON = ROOT / ".workbench" / "deequ" / "venv" / "bin" / "python"
ASPECTS = ("outcome", "rows", "metrics")


def own_jars():
    """Return the paths of deequ's jars in the user's cache, fetching what is not there."""
    table = tomllib.loads(JARS.read_text(encoding="utf-8"))["jars"]
    return jars.fetch({one["coordinate"]: one["sha256"] for one in table.values()})


def engine(*arguments):
    """Run deequ_engine.py in its environment; returns what it printed. Its errors are shown when it fails."""
    if not PYTHON.exists():
        raise ValueError(f"{PYTHON} is missing: `make compare-deequ` makes it")
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("SPARK_", "PYSPARK_", "PYTHON"))}
    environment |= {
        "JAVA_HOME": str(java.launcher()),
        "PYSPARK_PYTHON": str(PYTHON),
        "SPARK_LOCAL_IP": "127.0.0.1",
        "DEEQU_JARS": os.pathsep.join(map(str, own_jars())),
        "TZ": "UTC",
    }
    command = [PYTHON, Path(deequ_engine.__file__), *arguments]
    said = subprocess.run(list(map(str, command)), env=environment, capture_output=True, text=True, check=False)
    if said.returncode:
        raise RuntimeError(f"deequ's engine ended with {said.returncode}:\n{said.stderr[-4000:]}")
    return said.stdout


def timed(ruleset, data, *, rounds=3, master="local[2]", memory="4g"):
    """Time deequ on a ruleset file over a Parquet path, one fresh process, warmed up once.

    Returns:
        {"warm_up_seconds": float, "seconds": list of one float a round, "outcomes": {rule: Passed or Failed}}.
    """
    said = engine("time", ruleset, data, "--rounds", rounds, "--master", master, "--memory", memory)
    return json.loads(said.strip().splitlines()[-1])


def read_cases(now, path=CASES):
    """Read the cases, with every value of a frame as text, `now - 3 hours` as that time."""
    read = yaml.safe_load(path.read_text(encoding="utf-8"))
    frames = {
        name: found | {"rows": [[_text(value, now) for value in row] for row in found["rows"]]}
        for name, found in read["frames"].items()
    }
    cases = [
        {
            "name": case["name"],
            "frame": case["frame"],
            "ruleset": f"{case.get('before', '')} Rules = [ {case['rule']} ]".strip(),
            "references": case.get("references", {}),
            "differs": case.get("differs", {}),
        }
        for case in read["cases"]
    ]
    names = Counter(case["name"] for case in cases)
    wrong = [f"{name} occurs {count} times" for name, count in names.items() if count > 1]
    wrong += [f"{c['name']}: no aspect {a}" for c in cases for a in c["differs"] if a not in ASPECTS]
    used = {c["frame"]: c["name"] for c in cases} | {f: c["name"] for c in cases for f in c["references"].values()}
    wrong += [f"{name}: no frame {frame}" for frame, name in used.items() if frame not in frames]
    if wrong:
        raise ValueError(f"{path.name}: {'; '.join(wrong)}")
    return frames, cases


def _text(value, now):
    ago = re.fullmatch(r"now - (\d+) (minutes|hours|days)", value) if isinstance(value, str) else None
    if ago:
        return f"{now - timedelta(**{ago[2]: int(ago[1])}):%Y-%m-%d %H:%M:%S}"
    return None if value is None else str(value)


def answer(spark, frames, case, now):
    """Let `workbench.quality` answer one case, in the form of `deequ_engine.answer`; `Error` is a defect of ours."""
    from workbench import quality

    data = deequ_engine.frame(spark, frames[case["frame"]])
    others = {alias: deequ_engine.frame(spark, frames[name]) for alias, name in case["references"].items()}
    try:
        found = quality.evaluate(spark, data, case["ruleset"], references=others, now=now)
    except ValueError as error:
        return {"outcome": "Refused", "reason": str(error), "metrics": {}, "rows": None}
    except Exception as error:  # the other cases are still worth their answers
        return {"outcome": "Error", "reason": f"{type(error).__name__}: {error}", "metrics": {}, "rows": None}
    (one,) = found.outcomes
    return {
        "outcome": "Passed" if one.passed else "Failed",
        "reason": one.reason,
        "metrics": dict(one.metrics),
        "rows": deequ_engine.verdicts(found.rowLevelOutcomes, data.columns),
    }


def differences(theirs, ours):
    """Return the aspects in which two answers differ.

    Rows are compared where deequ told rows apart, metrics where both report one of that name. Reasons are not
    compared: ours are worded as AWS Glue's, deequ's name the share.
    """
    found = {"outcome"} if theirs["outcome"] != ours["outcome"] else set()
    told = {verdict for _, verdict in theirs["rows"] or ()} - {"skip"}
    if told and ours["outcome"] != "Refused" and theirs["rows"] != ours["rows"]:
        found.add("rows")
    both = theirs["metrics"].keys() & ours["metrics"].keys()
    if not all(_same(theirs["metrics"][name], ours["metrics"][name]) for name in both):
        found.add("metrics")
    return found


def _same(one, other):
    return math.isclose(one, other, rel_tol=1e-9, abs_tol=1e-12) or (math.isnan(one) and math.isnan(other))


def compare(case, theirs, ours):
    """Return the record of one case and what is wrong with it (a list of sentences)."""
    found, explained = differences(theirs, ours), case["differs"]
    wrong = [f"{case['name']}: {aspect} differs without an explanation" for aspect in found - explained.keys()]
    wrong += [f"{case['name']}: {aspect} is explained and does not differ" for aspect in explained.keys() - found]
    record = {key: case[key] for key in ("name", "frame", "ruleset", "references") if case[key]}
    common = sorted(theirs["metrics"].keys() & ours["metrics"].keys())
    record |= {"deequ": _kept(theirs), "ours": _kept(ours), "metrics_compared": common, "agree": not found}
    return record | ({"differs": explained} if explained else {}), wrong


def _kept(said):
    """What the record keeps of an answer: counts of rows for rows, no Java addresses or plans, finite numbers."""
    counts = Counter(verdict for _, verdict in said["rows"] or ())
    reason = re.sub(r"@[0-9a-f]{5,8}\b|;\n'.*", "", said["reason"] or "", flags=re.DOTALL) or None
    metrics = {name: value if math.isfinite(value) else str(value) for name, value in said["metrics"].items()}
    return said | {
        "reason": reason,
        "metrics": metrics,
        "rows": dict(sorted(counts.items())) if set(counts) - {"skip"} else None,
    }


def main(only=None):
    """Ask both, compare, keep the record; exits with 1 when something is not explained."""
    now = datetime.now(UTC).replace(microsecond=0)
    frames, cases = read_cases(now)
    cases = [case for case in cases if not only or re.search(only, case["name"])]
    with tempfile.TemporaryDirectory() as folder:
        asked, said = Path(folder) / "cases.json", Path(folder) / "answers.json"
        asked.write_text(json.dumps({"frames": frames, "cases": cases}), encoding="utf-8")
        engine("cases", asked, said)
        theirs = json.loads(said.read_text(encoding="utf-8"))
    from workbench import session

    spark = session.start("local")
    records, wrong = [], []
    for case in cases:
        record, sentences = compare(case, theirs["answers"][case["name"]], answer(spark, frames, case, now))
        records.append(record)
        wrong += sentences
        print(f"{'agrees ' if record['agree'] else 'differs'}  {case['name']}", flush=True)
    if not only:
        keep(records, theirs["versions"], frames)
    agree = sum(record["agree"] for record in records)
    print(f"{len(records)} cases, {agree} agree, {len(records) - agree} differ, {len(wrong)} without account")
    sys.exit("\n".join(sorted(wrong)) or None)


def keep(records, versions, frames):
    """Write docs/evidence/deequ.json."""
    with contextlib.redirect_stdout(io.StringIO()):  # evidence.write also prints, and this is long
        evidence.write(
            "deequ",
            what="each rule on each frame by deequ's own DQDL engine and by workbench.quality",
            deequ=versions | {name: path.stem for name, path in zip(("deequ", "dqdl"), own_jars(), strict=True)},
            compared="outcome; rows where deequ tells them apart; metrics that both name; not the wording of reasons",
            cases=len(records),
            agree=sum(record["agree"] for record in records),
            differ_and_explained=sum(not record["agree"] for record in records),
            frames={name: found["columns"] for name, found in frames.items()},
            answers=records,
        )


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--only", help="regular expression over the names of cases; keeps no record")
    main(parser.parse_args().only)
