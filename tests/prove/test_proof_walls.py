"""Nothing is left that nobody ever runs: each test belongs to a part, and what the check leaves out has a witness."""

import ast
import functools
import json
import re
from pathlib import Path

import pytest
import yaml
from conftest import ROOT

from prove import depends, parts

TESTS = sorted((ROOT / "tests").rglob("test_*.py"))
SLOW = ROOT / "tests" / "slow.yml"
SLOW_SECONDS, MOST_SLOW = 3, 96  # as many as are left of the slowest machine so far; 60 are to be enough


def covered(table, root=ROOT):
    """The test files that a part runs."""
    paths = [root / name for part in table.values() for name in part.tests]
    return {file for path in paths for file in ([path] if path.is_file() else path.rglob("test_*.py"))}


def test_every_test_belongs_to_a_part():
    assert set(TESTS) - covered(parts.read()) == set()


def test_one_that_belongs_to_none_is_seen():
    table = parts.read()
    table = {name: part for name, part in table.items() if "tests/workbench/test_wap.py" not in part.tests}
    assert set(TESTS) - covered(table) == {ROOT / "tests" / "workbench" / "test_wap.py"}


@functools.cache
def parsed(path):
    return ast.parse(path.read_text(encoding="utf-8"))


def is_proof(call):
    return isinstance(call.func, ast.Attribute) and ast.unparse(call.func) == "pytest.mark.proof"


def witnesses(tree):
    """The arguments of each mark `proof` in a module."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and is_proof(node):
            yield node.args


@pytest.mark.parametrize("path", TESTS, ids=lambda path: path.stem)
def test_what_the_check_leaves_out_says_what_shows_it_there(path):
    for arguments in witnesses(parsed(path)):
        assert len(arguments) == 1
        assert not isinstance(arguments[0], ast.Constant) or len(arguments[0].value.split()) >= 4


def sentences(tree):
    """What the marks `proof` of a module say, those included that stand in a constant."""
    texts = {
        ast.unparse(node.targets[0]): node.value.value
        for node in tree.body
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant)
    }
    for argument in (one for arguments in witnesses(tree) for one in arguments):
        yield argument.value if isinstance(argument, ast.Constant) else texts.get(ast.unparse(argument), "")


def in_the_check(tree):
    """The test functions of a module that no mark `proof` leaves out as a whole."""
    marks = {
        ast.unparse(node.targets[0])
        for node in tree.body
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call) and is_proof(node.value)
    }
    for node in tree.body:
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_") and "pytestmark" not in marks:
            decorators = [ast.unparse(one) for one in node.decorator_list]
            if not any(one in marks or one.startswith("pytest.mark.proof(") for one in decorators):
                yield node.name


def lost_witnesses(modules, files):
    """What the marks of modules name as a witness that the check does not have: tests, test files, notebooks."""
    run = {name: set(in_the_check(tree)) for name, tree in modules.items()}
    for name, tree in modules.items():
        own = {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
        for sentence in sentences(tree):
            for witness in re.findall(r"\b(?:test_\w+|\d\d_\w+)", sentence):
                there = run[name] if witness in own else files.union(*run.values())
                if witness not in there:
                    yield f"{name}: {witness}"


def test_a_witness_is_run_by_the_check():
    """A test that moves to the proof takes with it what it was named for."""
    files = {path.stem for path in [*TESTS, *(ROOT / "notebooks").glob("*.ipynb")]}
    modules = {str(path.relative_to(ROOT)): parsed(path) for path in (ROOT / "tests").rglob("*.py")}
    assert list(lost_witnesses(modules, files)) == []


def test_a_witness_that_is_not_run_by_the_check_is_seen():
    marked = '@pytest.mark.proof("{} shows it in another way")\ndef test_{}(): pass\n'
    sources = {
        "one": "def test_a(): pass\n" + marked.format("test_a", "b") + marked.format("test_b", "c"),
        "other": "def test_b(): pass\n" + marked.format("test_a and 01_first_table", "d"),
        "constant": 'WHY = "test_d and 99_gone"\nOURS = pytest.mark.proof(WHY)\n@OURS\ndef test_e(): pass\n',
        "whole": 'pytestmark = pytest.mark.proof("test_f and test_file show it here")\ndef test_f(): pass\n',
    }
    modules = {name: ast.parse(source) for name, source in sources.items()}
    assert list(lost_witnesses(modules, {"01_first_table", "test_file"})) == [
        "one: test_b", "constant: test_d", "constant: 99_gone", "whole: test_f",
    ]  # fmt: skip


def test_no_test_is_skipped_because_it_is_long():
    """A mark `proof` does that, with a sentence; a variable of a file's own is seen by no table."""
    own = {ROOT / "tests" / "conftest.py", *Path(__file__).parent.glob("*.py")}
    named = {
        path for path in (ROOT / "tests").rglob("*.py") if "WORKBENCH_PROVE" in path.read_text(encoding="utf-8")
    }
    assert named - own == set()


def test_every_file_beside_the_code_is_in_a_part():
    house, table = depends.House(ROOT), parts.read()
    reached = set().union(*(depends.files(house, **part.reach()) for part in table.values()))
    assert {str(path.relative_to(ROOT)) for path in depends.data_files(ROOT)} - reached == set()


def slow_problems(listed, measured):
    """What is wrong with the list of slow tests, given the seconds that tests took in the check."""
    yield from (f"{name} took {seconds} s and is not listed" for name, seconds in measured.items()
                if seconds > SLOW_SECONDS and name not in listed)  # fmt: skip
    yield from (f"{name} is listed and no slow test" for name in listed if measured.get(name, 0) <= SLOW_SECONDS)
    yield from (f"{name} has no reason" for name, reason in listed.items() if len(str(reason).split()) < 4)
    if len(listed) > MOST_SLOW:
        yield f"{len(listed)} slow tests are listed, at most {MOST_SLOW}"


def marked_cases(function):
    """The ids of those cases of a test whose values stand beside their mark."""
    for call in (one for mark in function.decorator_list for one in ast.walk(mark) if isinstance(one, ast.Call)):
        if ast.unparse(call.func) == "pytest.param" and any(one.arg == "marks" for one in call.keywords):
            yield "-".join(str(one.value) for one in call.args if isinstance(one, ast.Constant))


def moved_to_the_proof(name):
    """Whether a test that was measured in the check is marked `proof` since, as a whole or this case of it."""
    path, _, test = name.partition("::")
    function, _, case = test.removesuffix("]").partition("[")
    for node in ast.walk(parsed(ROOT / path)):
        if isinstance(node, ast.FunctionDef) and node.name == function:
            return function not in in_the_check(parsed(ROOT / path)) or case in marked_cases(node)
    return True  # renamed or gone


def test_a_slow_test_of_the_check_is_listed_with_its_reason():
    evidence = json.loads((ROOT / "docs" / "evidence" / "check.json").read_text(encoding="utf-8"))
    measured = {name: s for name, s in evidence["slow_tests"].items() if not moved_to_the_proof(name)}
    assert list(slow_problems(yaml.safe_load(SLOW.read_text(encoding="utf-8")), measured)) == []


def test_a_slow_test_that_is_not_listed_is_seen():
    listed = {"a": "it starts a process of its own", "b": "it starts a process of its own", "c": "slow"}
    measured = {"a": 4.0, "c": 9.0, "d": 3.1, "e": 2.9}
    assert list(slow_problems(listed, measured)) == [
        "d took 3.1 s and is not listed", "b is listed and no slow test", "c has no reason",
    ]  # fmt: skip
