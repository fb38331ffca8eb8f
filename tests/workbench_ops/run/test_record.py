"""A record is written whole, without secrets, and a killed run is found again."""

import json
import subprocess
import sys

import inside
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from workbench_ops.run import publishing
from workbench_ops.run import record as records


def new(project, **options):
    (project / "notebooks" / "x.ipynb").write_text("{}")
    return records.new(project / "notebooks" / "x.ipynb", **options)


def test_the_keys_of_a_record(project):
    record = new(project, parameters={"A": 1}, environment="local", overrides=["A=1"])
    assert set(records.document(record)) >= {
        "run_id", "notebook", "notebook_sha256", "parameters", "environment", "status", "failing_cell", "started_at",
        "finished_at", "seconds", "versions", "tables", "results", "measurements",
    }  # fmt: skip
    assert record.command == "workbench run notebooks/x.ipynb --set A=1"
    assert {"python", "pyspark", "iceberg", "java"} <= set(record.versions)


def test_no_secret_reaches_the_file(project):
    record = new(project, parameters={"NOTE": "AKIAABCDEFGHIJKLMNOP", "OTHER": "hush-hush"})
    text = records.write(record, hidden=["hush-hush"]).read_text()
    assert "AKIA" not in text and "hush" not in text
    assert json.loads(text)["parameters"] == {"NOTE": "[secret]", "OTHER": "[secret]"}


def test_a_run_without_a_living_runner_was_interrupted(project):
    dead, alive = new(project), new(project)
    for record in (dead, alive):
        records.write(record)
    code = "import sys; from pathlib import Path; from workbench_ops.run import record as r; l = r.lock(r.read(Path(sys.argv[1]))); l.acquire(); print('held', flush=True); sys.stdin.read()"
    path = str(records.folder(alive) / "run.json")
    holder = subprocess.Popen([sys.executable, "-c", code, path], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert holder.stdout.readline() == b"held\n"
    assert [record.run_id for record in publishing.recover()] == [dead.run_id]
    holder.kill()
    holder.wait()
    assert [record.run_id for record in publishing.recover()] == [alive.run_id]
    assert {record.status for record in records.every()} == {"interrupted"}
    assert publishing.recover() == []


def test_a_run_that_ends_while_another_looks_for_dead_ones_keeps_its_verdict(project, monkeypatch):
    """The other one had read *running*, then got the lock that the run had just let go, and wrote *interrupted*."""
    record = new(project)
    records.write(record)
    seen_before = records.every()
    passed = records.finish(record, "passed", seconds=1.0)
    records.write(passed)
    with monkeypatch.context() as patched:
        patched.setattr(records, "every", lambda: seen_before)
        assert publishing.recover() == []
    assert records.every() == [passed]


def test_unreadable_records_are_passed_over(project):
    records.write(new(project))
    broken = project / "runs" / "x" / "broken"
    broken.mkdir()
    (broken / "run.json").write_text('{"run_id": "b')
    assert len(records.every()) == 1


def test_a_record_that_lies_elsewhere_or_is_not_ours_is_passed_over(project):
    good = new(project)
    records.write(good)
    for number, change in enumerate(
        [
            {"run_id": "../../../victim"},
            {"notebook": "y"},
            {"notebook": None},
            {"started_at": "2020-01-01T00:00:00"},
            {"started_at": 3},
            {"status": None},
            {"seconds": "many"},
            {"parameters": [1]},
        ]
    ):
        folder = project / "runs" / "x" / f"r{number}"
        folder.mkdir()
        (folder / "run.json").write_text(json.dumps(records.document(good) | {"run_id": folder.name} | change))
    assert [record.run_id for record in records.every()] == [good.run_id]


def test_secrets_reach_neither_the_command_nor_the_parameters(project):
    record = new(
        project,
        parameters={"A": {"PASSWORD": "hunter2"}, "L": ["AKIAABCDEFGHIJKLMNOP"]},
        overrides=["PASSWORD=hunter2"],
    )
    text = records.write(record).read_text()
    assert "hunter2" not in text and "AKIA" not in text


def test_a_secret_that_is_spelled_like_a_field_or_a_verdict_costs_no_record(project):
    cell = records.FailingCell(number=1, message="no message")
    checks = [{"name": "failed", "found": {"message": 1}, "passed": False, "message": "m"}]
    record = records.finish(new(project), "failed", seconds=1.0, failing_cell=cell, checks=checks)
    kept = records.read(records.write(record, hidden=["failed", "message", "number", "status", "run_id"]))
    assert (kept.status, kept.run_id, kept.failing_cell.message) == ("failed", record.run_id, "no [secret]")
    assert records.document(kept)["checks"] == [
        {"name": "[secret]", "found": {"[secret]": 1}, "expected": None, "passed": False, "message": "m"}
    ]


def test_half_a_character_is_no_obstacle(project):
    records.write(new(project, parameters={"A": "\ud800"}))
    assert len(records.every()) == 1


def test_a_record_is_read_as_it_was_written(project):
    cell = records.FailingCell(number=2, first_line="f()", error="ValueError", message="no", line="g()")
    ended = records.finish(
        new(project, parameters={"A": [1, {"b": 1.5}]}, environment="local", request="day/0"),
        "failed",
        seconds=1.5,
        reason="cell 2 failed",
        failing_cell=cell,
        results={"rows": 3, "rows_equal": True, "total": "1.50"},
        measurements={"seconds": 0.5},
        tables=[{"name": "a.b", "snapshot_id": 2**60}],
        checks=[{"name": "rows", "found": {"a": None}, "expected": [1], "passed": False}],
    )
    path = records.write(ended)
    assert records.read(path) == ended
    assert json.loads(path.read_text())["version"] == records.VERSION == 1
    assert "kept_lake" not in records.document(ended)  # it has none
    without_line = records.changed(ended, failing_cell=records.FailingCell(number=2))
    assert "line" not in records.document(without_line)["failing_cell"]


TEXTS = st.text(st.characters(codec="utf-8"), max_size=20)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=8,
)
FACTS = st.dictionaries(TEXTS, VALUES, max_size=4)
ROWS = st.fixed_dictionaries({"name": TEXTS, "found": VALUES, "expected": VALUES, "passed": st.booleans()})


def text_of(document):
    return json.dumps(document, sort_keys=True)


@settings(max_examples=50)
@given(reason=st.none() | TEXTS, facts=FACTS, parameters=FACTS, checks=st.lists(ROWS, max_size=3), line=TEXTS)
def test_any_record_is_what_json_holds_of_it(reason, facts, parameters, checks, line):
    """1, 1.0 and true stay what they are, and nothing is added or lost."""
    cell = {"number": 1, "first_line": line, "error": "", "message": line, "line": line}
    values = {"run_id": "a", "notebook": "x", "status": "failed", "started_at": "2026-11-01T16:05:01+00:00"}
    values |= {"reason": reason, "results": facts, "parameters": parameters, "checks": checks}
    document = records.document(records.Record(**values, failing_cell=cell))
    again = records.document(records.Record.model_validate_json(json.dumps(document)))
    values |= {"failing_cell": cell}
    for known in (document, values):
        assert text_of({name: again[name] for name in known}) == text_of(known)
    assert set(again) == set(document)


def test_every_verdict_has_an_exit_code(project):
    for status, code in records.EXIT_CODES.items():
        assert records.finish(new(project), status, seconds=0).exit_code == code
    with pytest.raises(ValueError, match="status"):
        records.changed(new(project), status="green")


DAMAGED = [
    ("{", "cannot be read: it is cut off, or not JSON"),
    ("[1]", "is damaged: expected keys and values, found a list"),
    ({"version": 2}, "has version 2, and this library reads versions up to 1: a newer iceberg-workbench wrote it"),
    ({"version": "1"}, "is damaged: version: "),
    ({"version": 0}, "is damaged: version: "),
    ({"status": "green"}, "is damaged: status: "),
    (
        {"started_at": "2026-11-01T16:05:01"},
        "started_at: Value error, expected an ISO date and time with its zone",
    ),
    ({"seconds": "1"}, "is damaged: seconds: "),
    ({"seconds": True}, "is damaged: seconds: "),
    ({"exit_code": "0"}, "is damaged: exit_code: "),
    ({"failing_cell": {"number": "2"}}, "is damaged: failing_cell.number: "),
    ({"checks": [{"name": "rows"}]}, "is damaged: checks.0.passed: "),
    ({"wrong": 1}, "is damaged: wrong: "),
    ({"run_id": "another"}, "is of another run, x/another"),
]


@pytest.mark.parametrize(("change", "sentence"), DAMAGED)
def test_what_is_wrong_with_a_record_is_a_sentence(project, capsys, monkeypatch, change, sentence):
    path = records.write(new(project))
    values = json.loads(path.read_text())
    path.write_text(change if isinstance(change, str) else json.dumps(values | change))
    with pytest.raises(ValueError, match="the run record ") as caught:
        records.read(path)
    assert str(path) in str(caught.value) and sentence in str(caught.value)
    said = []
    assert records.every(on_damage=said.append) == [] and said == [str(caught.value)]
    command = inside.command(monkeypatch, capsys)
    listed, shown = command("runs", cwd=project), command("runs", "--show", values["run_id"], cwd=project)
    assert (listed.returncode, listed.stderr) == (0, f"workbench: {caught.value}\n")
    assert (shown.returncode, shown.stderr) == (2, f"workbench: {caught.value}\n")


def test_the_version_before_wrote_none(project):
    path = records.write(new(project))
    values = json.loads(path.read_text())
    del values["version"]
    path.write_text(json.dumps(values))
    assert [record.version for record in records.every()] == [1]
