"""Code as users write it from the pages, as their checkers see it: right calls pass and wrong ones are found.

A line that a checker must refuse ends in `# wrong: ` and mypy's codes. The packages are found where they are installed,
by `py.typed`, as a user's are.
"""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import ROOT

HERE = Path(__file__).parent
BIN = Path(sys.executable).parent
USERS = sorted(HERE.glob("user_*.py"))
ERROR = re.compile(r"(user_\w+\.py):(\d+): error: .*\[([a-z-]+)\]")


def marked():
    """The lines that are marked as wrong, with mypy's codes: (file, line, code)."""
    return {
        (path.name, number, code)
        for path in USERS
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        for code in line.partition("# wrong: ")[2].split(", ")
        if code
    }


def unlike(found, wrong):
    """What a checker refuses and no mark says, and what is marked and it lets pass."""
    refused = [f"{place} is refused: {message}" for place, message in found.items() if place not in wrong]
    return refused + [f"{place} is let pass" for place in sorted(wrong - found.keys())]


def test_every_page_has_calls_that_are_right_and_calls_that_are_wrong():
    for path in USERS:
        lines = path.read_text(encoding="utf-8").splitlines()
        assert len([line for line in lines if "# wrong: " in line]) >= 5
        assert len([line for line in lines if "assert_type(" in line]) >= 3


def test_mypy_refuses_the_wrong_calls_and_no_others():
    command = [BIN / "mypy", "--config-file", "mypy.ini", "--cache-dir", ROOT / ".workbench" / "typed", *USERS]
    process = subprocess.run(command, cwd=HERE, capture_output=True, text=True)
    assert process.returncode == 1, process.stdout + process.stderr
    errors = [line for line in process.stdout.splitlines() if ": error: " in line]
    found = {(file, int(line), code): error for error in errors for file, line, code in ERROR.findall(error)}
    assert unlike(found, marked()) == []


@pytest.mark.proof("test_mypy_refuses_the_wrong_calls_and_no_others reads the same lines with another checker")
def test_pyright_refuses_the_wrong_calls_and_no_others():
    command = [BIN / "basedpyright", "--project", HERE, "--pythonpath", sys.executable, "--outputjson"]
    process = subprocess.run(command, cwd=HERE, capture_output=True, text=True)
    assert process.returncode == 1, process.stdout + process.stderr
    errors = [entry for entry in json.loads(process.stdout)["generalDiagnostics"] if entry["severity"] == "error"]
    found = {(Path(entry["file"]).name, entry["range"]["start"]["line"] + 1): entry["message"] for entry in errors}
    assert unlike(found, {(file, line) for file, line, _ in marked()}) == []
