"""What is too long for `make check` is run by a soak of the Makefile: nothing is left that nobody ever runs."""

import re
from pathlib import Path

from conftest import ROOT

MARK = "WORKBENCH_SOAK"
KNOWN = {Path("tests/conftest.py"), Path("tests/test_long_cases.py")}


def forgotten(makefile, modules):
    """Return those of the modules (paths from the project's folder) that no soak line of a Makefile names."""
    lines = [line for line in makefile.splitlines() if f"{MARK}=1" in line]
    named = [
        Path(word) for line in lines for word in re.findall(r"\btests/[\w/.]+", re.sub(r"--ignore \S+", "", line))
    ]
    ignored = {Path(word) for line in lines for word in re.findall(r"--ignore (\S+)", line)}
    return {path for path in modules if path in ignored or not any(path.is_relative_to(name) for name in named)}


def test_every_long_case_belongs_to_a_soak():
    found = {path.relative_to(ROOT) for path in (ROOT / "tests").rglob("*.py") if MARK in path.read_text()}
    # its cases are drawn by a program of their own, which `make soak-maintenance` starts behind the tests
    found -= KNOWN | {Path("tests/tables/maintenance/test_maintenance_histories.py")}
    assert len(found) > 10 and forgotten((ROOT / "Makefile").read_text(), found) == set()


def test_one_that_is_forgotten_is_named():
    makefile = f"\t@{MARK}=1 pytest -q tests/a tests/b.py\n\t@{MARK}=1 pytest tests/c --ignore tests/c/x.py\n\t@pytest tests/d"
    modules = {Path(f"tests/{name}.py") for name in ("a/x", "b", "c/x", "c/y", "d/x", "bb")}
    assert forgotten(makefile, modules) == {Path(f"tests/{name}.py") for name in ("c/x", "d/x", "bb")}
