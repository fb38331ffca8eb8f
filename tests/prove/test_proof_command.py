"""`make prove`: what is known, what is run, what is kept, also when it is killed in the middle."""

import json
import os
import subprocess
import sys
from collections import Counter

import pytest
from conftest import ROOT
from waiting import until

from prove import __main__ as command
from prove import depends, ignoring, parts, rows, running
from workbench._base import locks
from workbench._base.errors import ArgumentError

TABLE = """
first: {what: the first promise, tests: [tests/test_first.py]}
second: {what: the second promise, tests: [tests/test_second.py]}
third: {what: the third promise, programs: [third 3], env: {THIRD: x}}
"""
RAN = 'from pathlib import Path\ndef test_it():\n    with Path("ran").open("a") as file: file.write("{}\\n")\n'
FILES = {
    "tests/prove/parts.yml": TABLE,
    "tests/conftest.py": "",
    "tests/test_first.py": RAN.format("first"),
    "tests/test_second.py": "import time\nimport pytest\nfrom pathlib import Path\ndef test_waits():\n"
    '    Path("waiting").touch()\n    while not Path("go").exists(): time.sleep(0.05)\n'
    '@pytest.mark.skip("no chromium")\ndef test_page(): pass\n',
    "tests/third.py": 'import os, sys\nsys.exit(0 if (sys.argv[1], os.environ["THIRD"], os.environ["WORKBENCH_PROVE"])'
    ' == ("3", "x", "1") else 1)\n',
    "lib/workbench/__init__.py": "",
    "lib/workbench/_base/jars.toml": "",
    "locks/project.lock": "",
    "docs/evidence/.keep": "",
}


@pytest.fixture
def project(tmp_path, monkeypatch):
    """A project of three parts, whose tests and programs are quick."""
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    monkeypatch.setattr(running, "WORKERS", ())
    monkeypatch.setattr(os, "nice", lambda by: None)
    return tmp_path


def states(root):
    return {s.part.name: s for s in rows.states(parts.read(root).values(), depends.House(root), rows.read(root))}


def known(root):
    return {name: state.state for name, state in states(root).items()}


MAIN = "import sys; from pathlib import Path; from prove.__main__ import main; main([], Path(sys.argv[1]))"


def test_killed_in_the_middle_it_goes_on_with_what_is_missing(project):
    env = os.environ | {"PYTHONPATH": str(ROOT / "tests")}
    process = subprocess.Popen([sys.executable, "-c", MAIN, project], env=env, stdout=subprocess.DEVNULL)
    try:
        until(lambda: (project / "waiting").exists() or process.poll() is not None, "the second part")
        assert process.poll() is None
    finally:
        process.kill()
        process.wait()
    assert known(project) == {"first": rows.HOLDS, "second": rows.NEVER, "third": rows.NEVER}
    (project / "go").touch()
    assert command.main([], project) == 0
    assert set(known(project).values()) == {rows.HOLDS}
    assert (project / "ran").read_text() == "first\n"
    row = rows.read(project)["second"]
    assert (row["passed"], row["skipped"], row["waiting"]) == (1, 1, {"no chromium": 1})
    assert row["machine"]["cores"] and row["versions"]["pyspark"] and row["seconds"] >= 0


def test_a_check_leaves_out_long_files_that_a_part_has_run_whole(project, capsys):
    times = [
        ["tests/test_first.py", 1, 5.0, 4.0],
        ["tests/test_second.py", 1, 4.9, 4.0],
        ["notebooks/a.ipynb", 1, 9, 9],
    ]
    (project / ignoring.TIMES).write_text(json.dumps({"files": times}))

    def ignored():
        assert command.main(["--ignored"], project) == 0
        return capsys.readouterr().out

    assert ignored() == "\n", "nothing is proved"
    (project / "go").touch()
    assert command.main(["first", "second"], project) == 0
    capsys.readouterr()
    assert ignored() == "--ignore=tests/test_first.py\n", "the second takes less than five seconds"
    table = (project / parts.TABLE).read_text()
    for change in ('select: "it"', "env: {HOME: x}"):
        (project / parts.TABLE).write_text(
            table.replace("tests: [tests/test_first.py]", f"tests: [tests], {change}")
        )
        assert ignored() == "\n", f"a part with {change} is another proof"
    (project / parts.TABLE).write_text(table)
    (project / "tests/test_first.py").write_text("def test_it(): pass\n")
    assert ignored() == "\n", "its file has changed"


def interrupted(*arguments, **options):
    raise KeyboardInterrupt


@pytest.mark.parametrize(
    ("argument", "file", "text", "code", "sentence"),
    [
        ("nope", None, None, 2, "prove: nope is not a part of the proof; `make prove LIST=1` lists them\n"),
        (
            "first",
            rows.FILE,
            '{"name": "proof", "par',
            2,
            f"prove: {rows.FILE} cannot be read: Unterminated string",
        ),
        (
            "first",
            rows.FILE,
            '{"name": "proof"}',
            2,
            f"prove: {rows.FILE} cannot be read: 'parts'; expected the rows",
        ),
        ("first", parts.TABLE, "first: {what: x, tests: a}", 2, "prove: first: tests must be a list, found 'a'\n"),
        (
            "first",
            parts.TABLE,
            "first: {what: x, tests: [a]}",
            2,
            "prove: a part of the proof names tests a, which ",
        ),
        ("first", None, None, 130, "prove: interrupted; begun again, it goes on"),
    ],
)
def test_what_cannot_be_done_is_said_in_a_sentence(
    project, monkeypatch, capfd, argument, file, text, code, sentence
):
    if file:
        (project / file).write_text(text)
    if code == 130:
        monkeypatch.setattr(running, "run", interrupted)
    monkeypatch.setattr(sys, "argv", ["prove", argument])
    assert command.command(project) == code
    assert capfd.readouterr().err.startswith(sentence)
    assert not (project / "ran").exists()  # no part was begun


def test_what_changed_is_out_of_date_and_says_why(project, capsys):
    (project / "go").touch()
    assert command.main([], project) == 0
    (project / "tests/test_first.py").write_text(FILES["tests/test_first.py"] + "x = 1\n")
    (project / "tests/prove/parts.yml").write_text(TABLE.replace("third 3", "third 4"))
    found = states(project)
    assert {name: (state.state, state.why) for name, state in found.items()} == {
        "first": (rows.OUT_OF_DATE, "tests/test_first.py changed"),
        "second": (rows.HOLDS, ""),
        "third": (rows.OUT_OF_DATE, "it runs something else"),
    }
    assert command.counted(list(found.values())) == "proof: 3 parts, 2 out of date (make prove)"
    assert command.main(["--changed", "--list"], project) == 0
    assert "1 of 3 parts hold" in capsys.readouterr().out
    assert command.main(["--changed"], project) == 1  # the third one fails with another number
    assert known(project) == {"first": rows.HOLDS, "second": rows.HOLDS, "third": rows.FAILED}
    assert "third 4 ended with 1" in rows.read(project)["third"]["verdict"]


def test_a_failure_is_kept_and_does_not_stop_the_others(project):
    (project / "go").touch()
    (project / "tests/test_first.py").write_text("def test_it(): assert 1 == 2\n")
    assert command.main([], project) == 1
    assert known(project) == {"first": rows.FAILED, "second": rows.HOLDS, "third": rows.HOLDS}
    assert rows.read(project)["first"]["verdict"] == "tests.test_first::test_it"


def test_what_changed_while_it_ran_is_not_kept(project, capsys):
    (project / "tests/test_first.py").write_text(
        "from pathlib import Path\ndef test_it(): Path(__file__).with_name('conftest.py').write_text('x = 1')\n"
    )
    assert command.main(["first"], project) == 1
    assert rows.read(project) == {}
    assert "not kept: its files changed while it ran: tests/conftest.py changed" in capsys.readouterr().out


def test_a_part_is_proved_by_one_process_at_a_time(project, capsys):
    with locks.held(project / ".workbench/proof/first.lock", "this test holds it"):
        assert command.main(["first"], project) == 1
    assert "left: another process proves first" in capsys.readouterr().out
    assert not (project / "ran").exists()
    waiting = states(project)["first"]
    assert command.main(["first"], project) == 0
    assert command.prove([waiting], project) == 0  # another process passed it after this one had looked
    assert "passed in another process meanwhile" in capsys.readouterr().out
    assert (project / "ran").read_text() == "first\n"


def test_a_part_is_proved_as_its_files_are_when_it_begins(project):
    before = states(project)["first"]
    (project / "tests/test_first.py").write_text(FILES["tests/test_first.py"] + "x = 1\n")
    assert command.prove([before], project) == 0
    assert known(project)["first"] == rows.HOLDS


def test_of_named_parts_those_that_changed(project):
    assert command.main(["first", "third"], project) == 0
    (project / "tests/test_first.py").write_text(FILES["tests/test_first.py"] + "x = 1\n")
    assert command.main(["first", "third", "--changed"], project) == 0
    assert (project / "ran").read_text() == "first\nfirst\n"


@pytest.mark.parametrize("tests", ["x = 1\n", "import pytest\n@pytest.mark.skip\ndef test_it(): pass\n"])
def test_no_test_is_no_proof(project, tests):
    (project / "tests/test_first.py").write_text(tests)
    assert command.main(["first"], project) == 1
    assert rows.read(project)["first"]["verdict"] == "no test was run"


def test_the_environment_of_the_caller_makes_no_other_proof(project, monkeypatch):
    for name, value in {
        "PYTEST_ADDOPTS": "--collect-only",
        "PYTHONOPTIMIZE": "1",
        "WORKBENCH_TEST_X": "s3",
    }.items():
        monkeypatch.setenv(name, value)
    (project / "tests/test_first.py").write_text(
        "import os\ndef test_it(): assert 'WORKBENCH_TEST_X' not in os.environ\n"
        "def test_another(): assert 1 == 2\n"
    )
    (project / "tests/third.py").write_text("assert 1 == 2\n")
    assert command.main(["first", "third"], project) == 1
    assert rows.read(project)["first"]["verdict"] == "tests.test_first::test_another"
    assert rows.read(project)["third"]["verdict"] == "third 3 ended with 1"


def test_parts_are_named_by_patterns(project):
    table = parts.read(project)
    assert parts.named(table, ["*ir*"]) == {"first", "third"}
    with pytest.raises(ValueError, match=r"frist is not a part of the proof \(did you mean first\?\)"):
        parts.named(table, ["frist"])


@pytest.mark.parametrize(
    ("entry", "sentence"),
    [
        ("{what: x, test: [a]}", "test is not a key of a part"),
        ("{what: x, tests: a}", "tests must be a list, found 'a'"),
        ("{what: x}", "has tests or programs"),
        ("{tests: [a]}", "says what it proves"),
        ("{what: x, tests: [a], each: notebook}", "stands in the name"),
        ("", "first: a part must be a mapping, found None"),
        ("{what: x, tests: [1]}", "first: tests must hold texts, found 1"),
        ("{what: x, programs: ['']}", "first: programs must hold texts, found ''"),
        ("{what: x, tests: [a], env: {A: 1}}", "first: env must hold texts, found 1"),
        ("{what: x, tests: [a]}\n1.1: {what: x, tests: [a]}", "1.1 is not the name of a part"),
        ("{what: x, tests: [a]}\n../a: {what: x, tests: [a]}", "'../a' is not the name of a part"),
        (
            "{what: x, tests: [a]}\nhome-s3: {what: x, tests: [a]}\nhome-{each}: {each: home, what: x, tests: [a]}",
            "two parts have the name home-s3, the second from home-{each}",
        ),
    ],
)
def test_a_wrong_entry_is_refused(project, entry, sentence):
    (project / "tests/prove/parts.yml").write_text(f"first: {entry}\n")
    with pytest.raises(ArgumentError, match=sentence):
        parts.read(project)


@pytest.mark.parametrize("table", ["", "- first"])
def test_a_table_that_is_no_mapping_is_refused(project, table):
    (project / "tests/prove/parts.yml").write_text(table)
    with pytest.raises(ArgumentError, match="must be a mapping of the names of parts"):
        parts.read(project)


def test_failures_and_errors_of_a_report_are_counted(tmp_path):
    report = tmp_path / "report.xml"
    report.write_text(
        '<testsuites><testsuite><testcase classname="a" name="b"/><testcase classname="a" name="c"><failure/></testcase>'
        '<testcase classname="a" name="d"><error/></testcase><testcase classname="a" name="e"><skipped message="why"/>'
        "</testcase></testsuite></testsuites>"
    )
    counts, waiting = Counter(), Counter()
    assert running.count(report, counts, waiting) == ["a::c", "a::d"]
    assert (counts, waiting) == ({"passed": 1, "failed": 2, "skipped": 1}, {"why": 1})
