"""Every check of every notebook can fail: a fault planted for it (tests/faults) fails exactly this check."""

import json
import os
import subprocess
import sys

import nbformat
import pytest
import yaml
from conftest import ROOT, execute

from workbench import checks, results
from workbench._base import scratch
from workbench.data import nyc
from workbench_ops.run import notebook as notebooks

NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))


def faults(notebooks):
    """Every planted fault of notebooks."""
    for path in notebooks:
        for fault in yaml.safe_load((ROOT / "tests" / "faults" / f"{path.stem}.yml").read_text()):
            yield pytest.param(path, fault, id=f"{path.stem}-{fault['check']}")


FAULT = """
import json, sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
from conftest import execute
fault = json.loads(sys.argv[3])
stopped = execute(Path(sys.argv[2]), Path(sys.argv[4]), parameters=fault.get("parameters"), fault=fault)
print(repr(type(stopped)), stopped)
"""


def stopped_in_a_process_of_its_own(path, fault, run_dir):
    """Run a faulted notebook whose environment is not `local`: a process runs one session, of one environment."""
    command = [sys.executable, "-c", FAULT, str(ROOT / "tests"), str(path), json.dumps(fault), str(run_dir)]
    # a lake of its own too: one whose tables lie in the store of another process is of no use
    env = {name: value for name, value in os.environ.items() if name != scratch.VARIABLE}
    said = subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True, timeout=600, check=False)
    assert said.returncode == 0, said.stderr[-2000:]
    return said.stdout.splitlines()[-1]


@pytest.fixture(scope="module")
def january(tmp_path_factory):
    """A file of the flights of January alone, which is all that a notebook of one month keeps of the year's."""
    header, *lines = nyc.csv("flights").read_text(encoding="utf-8").splitlines(keepends=True)
    path = tmp_path_factory.mktemp("january") / "flights.csv"
    path.write_text(header + "".join(line for line in lines if line.startswith("2013,1,")), encoding="utf-8")
    return path


@pytest.fixture(autouse=True)
def months_that_are_read(request, monkeypatch):
    """Give a fault that asks for one month of flights a file without the others, which Spark and pandas read to drop."""
    if (
        "fault" in request.fixturenames
        and (request.getfixturevalue("fault").get("parameters") or {}).get("MONTHS") == 1
    ):
        whole, path = nyc.csv, request.getfixturevalue("january")
        monkeypatch.setattr(nyc, "csv", lambda name: path if name == "flights" else whole(name))


def planted(path, fault, request, tmp_path):
    """Run a notebook with a fault, and see which check fails."""
    declared = notebooks.parameters(nbformat.read(path, 4))
    if declared["ENVIRONMENT"].default == "local":
        request.getfixturevalue("spark")
        stopped = execute(path, tmp_path, parameters=fault.get("parameters"), fault=fault)
        assert isinstance(stopped, checks.CheckFailed), stopped
    else:
        stopped = stopped_in_a_process_of_its_own(path, fault, tmp_path)
        assert stopped.startswith(repr(checks.CheckFailed)), stopped
    assert [c["name"] for c in results.read(tmp_path)["checks"] if not c["passed"]] == [fault["check"]]


@pytest.mark.parametrize(("path", "fault"), list(faults(NOTEBOOKS[:1])))
def test_a_planted_fault_of_the_template_fails_exactly_its_check(path, fault, request, tmp_path):
    planted(path, fault, request, tmp_path)


@pytest.mark.proof(
    "test_a_planted_fault_of_the_template_fails_exactly_its_check plants those of 00, and test_notebooks.py holds that "
    "each check of the others has a fault"
)
@pytest.mark.parametrize(("path", "fault"), list(faults(NOTEBOOKS[1:])))
def test_a_planted_fault_fails_exactly_its_check(path, fault, request, tmp_path):
    planted(path, fault, request, tmp_path)
