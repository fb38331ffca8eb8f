"""A record is written whole, without secrets, and a killed run is found again."""

import json
import subprocess
import sys

from workbench_ops.run import record as records


def new(project, **options):
    (project / "notebooks" / "x.ipynb").write_text("{}")
    return records.new(project / "notebooks" / "x.ipynb", **options)


def test_the_keys_of_a_record(project):
    record = new(project, parameters={"A": 1}, environment="local", overrides=["A=1"])
    assert set(record) >= {
        "run_id", "notebook", "notebook_sha256", "parameters", "environment", "status", "failing_cell", "started_at",
        "finished_at", "seconds", "versions", "tables", "results", "measurements",
    }  # fmt: skip
    assert record["command"] == "workbench run notebooks/x.ipynb --set A=1"
    assert {"python", "pyspark", "iceberg", "java"} <= set(record["versions"])


def test_no_secret_reaches_the_file(project):
    record = new(project, parameters={"NOTE": "AKIAABCDEFGHIJKLMNOP", "OTHER": "hush-hush"})
    text = records.write(record, hidden=["hush-hush"]).read_text()
    assert "AKIA" not in text and "hush" not in text
    assert json.loads(text)["parameters"] == {"NOTE": "[secret]", "OTHER": "[secret]"}


def test_a_run_without_a_living_runner_was_interrupted(project):
    dead, alive = new(project), new(project)
    for record in (dead, alive):
        records.write(record)
    code = "import sys, json; from workbench_ops.run import record as r; l = r.lock(json.loads(sys.argv[1])); l.acquire(); print('held', flush=True); sys.stdin.read()"
    holder = subprocess.Popen(
        [sys.executable, "-c", code, json.dumps(alive)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert holder.stdout.readline() == b"held\n"
    assert [record["run_id"] for record in records.recover()] == [dead["run_id"]]
    holder.kill()
    holder.wait()
    assert [record["run_id"] for record in records.recover()] == [alive["run_id"]]
    assert {r["status"] for r in records.every()} == {"interrupted"}
    assert records.recover() == []


def test_a_run_that_ends_while_another_looks_for_dead_ones_keeps_its_verdict(project, monkeypatch):
    """The other one had read *running*, then got the lock that the run had just let go, and wrote *interrupted*."""
    record = new(project)
    records.write(record)
    seen_before = records.every()
    passed = records.finish(record, "passed", seconds=1.0)
    records.write(passed)
    with monkeypatch.context() as patched:
        patched.setattr(records, "every", lambda: seen_before)
        assert records.recover() == []
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
        (folder / "run.json").write_text(json.dumps(good | {"run_id": folder.name} | change))
    assert [record["run_id"] for record in records.every()] == [good["run_id"]]


def test_secrets_reach_neither_the_command_nor_the_parameters(project):
    record = new(
        project,
        parameters={"A": {"PASSWORD": "hunter2"}, "L": ["AKIAABCDEFGHIJKLMNOP"]},
        overrides=["PASSWORD=hunter2"],
    )
    text = records.write(record).read_text()
    assert "hunter2" not in text and "AKIA" not in text


def test_half_a_character_is_no_obstacle(project):
    records.write(new(project, parameters={"A": "\ud800"}))
    assert len(records.every()) == 1
