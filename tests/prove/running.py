"""One part, run: its tests by pytest, its programs after them; counted, timed, and told as a row."""

import os
import resource
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree as ET
from collections import Counter
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from bench import evidence

from prove import depends
from prove.parts import ROOT
from prove.rows import State
from workbench._base import children
from workbench_ops.run import record as records

PROVE, DIGEST = "WORKBENCH_PROVE", "WORKBENCH_PART_DIGEST"
WORKERS = ("-n", "2", "--dist", "worksteal")
NO_TESTS = 5  # pytest's exit code when it ran none
# of a caller's environment, what would make another proof of a part under its name
FOREIGN = ("WORKBENCH_", "PYTEST_", "PYTHONOPTIMIZE")


def run(state: State, log: Path, root: Path = ROOT) -> dict:
    """Run a part and return its row; what it prints goes to a file.

    Args:
        state: the part with the digest and the files as they are now.
        log: file that takes the output of tests and programs.
        root: the project's folder.

    Returns:
        dict: part, verdict (`passed`, or what failed), date, digest, seconds, cpu_seconds (of processes that were waited for),
        passed, failed, skipped (tests; a program counts as one), waiting (reason of a skip to number), machine,
        versions, files.

    Raises:
        ChildProcessError: what the part needs could not be made.
    """
    part, begin, before = state.part, time.monotonic(), _cpu()
    env = (
        {name: value for name, value in os.environ.items() if not name.startswith(FOREIGN)}
        | {
            PROVE: "1",
            DIGEST: depends.digest(state.contents),
            "PYTHONPATH": f"{root / 'tests'}{os.pathsep}{ROOT / 'tests'}",
        }
        | dict(part.env)
    )
    counts, waiting, failures = Counter(), Counter(), []
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open("w") as output:
        call = partial(_call, cwd=root, env=env, stdout=output, stderr=output)
        if part.needs and call(["make", *part.needs]):
            raise ChildProcessError(
                f"{part.name} needs {', '.join(part.needs)}, which could not be made: see {log}"
            )
        if part.tests:
            failures += _tests(part, call, counts, waiting)
        for program in part.programs:
            code = call([sys.executable, "-m", *program.split()])
            counts["failed" if code else "passed"] += 1
            failures += [f"{program} ended with {code}"] if code else []
    return {
        "part": part.name,
        "verdict": "; ".join(failures[:5]) or "passed",
        "date": f"{datetime.now(UTC):%Y-%m-%d}",
        "digest": state.digest,
        "seconds": round(time.monotonic() - begin),
        "cpu_seconds": round(_cpu() - before),
        **{name: counts[name] for name in ("passed", "failed", "skipped")},
        "waiting": dict(sorted(waiting.items())),
        "machine": evidence.machine(),
        "versions": records.versions(),
        "files": state.contents,
    }  # fmt: skip


def _call(command, **options):
    """Run a command, which ends with this process, however that ends; returns its exit code."""
    return subprocess.run(command, check=False, preexec_fn=children.end_with_parent, **options).returncode


def _tests(part, call, counts, waiting):
    """Run the tests of a part; returns what failed."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder, "report.xml")
        command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", f"--junit-xml={report}"]
        command += [*(() if part.alone else WORKERS), *(("-k", part.select) if part.select else ()), *part.tests]
        code = call(command)
        failures = count(report, counts, waiting) if report.is_file() else []
    if code == NO_TESTS or (code == 0 and not counts["passed"]):  # those that were skipped did not run
        return ["no test was run"]
    return failures or ([f"pytest ended with {code}"] if code else [])


def count(report: Path, counts: Counter, waiting: Counter) -> list[str]:
    """Count the tests of a report of pytest's; returns the names of those that failed."""
    failures = []
    for case in ET.parse(report).iter("testcase"):
        kinds = {child.tag: child for child in case}
        if {"failure", "error"} & set(kinds):
            counts["failed"] += 1
            failures.append(f"{case.get('classname')}::{case.get('name')}")
        elif "skipped" in kinds:
            counts["skipped"] += 1
            waiting[kinds["skipped"].get("message") or "no reason"] += 1
        else:
            counts["passed"] += 1
    return failures


def _cpu():
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime
