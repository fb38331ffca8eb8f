"""What version 0.1 left of its runs is read on: records, which had no version of their own, and the ledger.

The files beside this one are what four runs of that version left: one that passed as a try of a schedule, one whose
check failed, a refused one and one whose runner was killed; and the ledger, when all four had ended.
"""

import json
import shutil
from pathlib import Path

import fastavro
import inside
import pytest

from workbench._base import lake
from workbench_ops.run import batch, ledger, publishing
from workbench_ops.run.preparing import Job

LEFT = Path(__file__).with_name("version_0_1")
LEDGER_PLACE = "file:///project/.workbench/lake"  # as its files name it: Iceberg's paths are absolute


@pytest.fixture
def earlier(project):
    """A project as version 0.1 left it."""
    for path in LEFT.glob("*-*.json"):
        values = json.loads(path.read_text())
        folder = project / "runs" / values["notebook"] / values["run_id"]
        folder.mkdir(parents=True)
        shutil.copy(path, folder / "run.json")
    for path in LEFT.glob("*.notebook"):
        shutil.copy(path, project / "notebooks" / f"{path.stem}.ipynb")
    (project / "params" / "night").mkdir(parents=True)
    shutil.copy(LEFT / "nightly.yml", project / "params" / "night")
    shutil.copy(LEFT / "schedules.yml", project / "params")
    put_ledger(project / ".workbench" / "lake")
    return project


def put_ledger(folder):
    """Put the ledger into a lake's folder, its files named where they are now."""
    from pyiceberg.catalog import load_catalog

    place = f"file://{folder}"
    for name in ("data", "metadata"):
        (folder / "workbench" / "runs" / name).mkdir(parents=True)
    for path in (LEFT / "ledger").iterdir():
        target = folder / "workbench" / "runs" / ("data" if path.suffix == ".parquet" else "metadata") / path.name
        if path.suffix == ".parquet":
            shutil.copy(path, target)
        elif path.suffix == ".json":
            target.write_text(path.read_text().replace(LEDGER_PLACE, place))
            current = target
        else:
            put_manifest(path, target, place)
    lake.make(folder)
    catalog = load_catalog("lake", **lake.pyiceberg_properties(folder))
    catalog.create_namespace("workbench")
    catalog.register_table(("workbench", "runs"), f"file://{current}")


def put_manifest(path, target, place):
    with path.open("rb") as file:
        reader = fastavro.reader(file)
        rows = [replaced(row, place) for row in reader]
        metadata = {key: value for key, value in reader.metadata.items() if not key.startswith("avro.")}
        with target.open("wb") as new:
            fastavro.writer(new, reader.writer_schema, rows, codec=reader.codec, metadata=metadata)


def replaced(value, place):
    if isinstance(value, dict):
        return {key: replaced(item, place) for key, item in value.items()}
    return value.replace(LEDGER_PLACE, place) if isinstance(value, str) else value


@pytest.fixture
def command(monkeypatch, capsys):
    return inside.command(monkeypatch, capsys)


def listed(said):
    return {(line.split()[1], line.split()[2]) for line in said.stdout.splitlines()[1:]}


ENDED = {("night", "passed"), ("short", "failed"), ("short", "refused"), ("slow", "interrupted")}


def test_runs_are_listed_from_the_ledger_and_none_is_added_twice(earlier, command):
    assert listed(command("runs", cwd=earlier)) == ENDED
    assert len(ledger.rows()) == 4
    shown = json.loads(command("runs", "--show", "20261127T034945Z-e6c3f6", cwd=earlier).stdout)
    assert shown.items() >= json.loads((LEFT / "night-passed.json").read_text()).items()


def test_records_alone_make_a_ledger(earlier, command):
    shutil.rmtree(earlier / ".workbench" / "lake")
    assert listed(command("runs", cwd=earlier)) == ENDED
    (row,) = ledger.rows(notebook="night")
    assert (row["seconds"], row["environment"], json.loads(row["results"])) == (
        27.5, "local", {"rows": 5, "total": "5.50", "rows_equal": True},
    )  # fmt: skip
    assert [row["failing_cell"] for row in ledger.rows(status="failed")] == [4]


def test_a_run_that_was_killed_is_found(earlier):
    assert len(publishing.recover()) == 1
    before = json.loads((LEFT / "slow-killed.json").read_text())
    path = earlier / "runs" / "slow" / before["run_id"] / "run.json"
    after = json.loads(path.read_text())
    assert before["status"] == "running" and after["run_id"] == before["run_id"]
    assert (after["status"], after["exit_code"]) == ("interrupted", 143)
    ended = {"status", "reason", "exit_code", "finished_at", "seconds"}
    kept = {name: value for name, value in after.items() if name in before and name not in ended}
    assert kept == {name: value for name, value in before.items() if name not in ended}


def test_the_usual_seconds_are_those_of_the_earlier_runs(earlier):
    passed = earlier / "runs" / "night" / "20261127T034945Z-e6c3f6" / "run.json"
    text = passed.read_text()
    assert batch.usual_seconds([Job("night")]) == {"night": None}  # with other values
    passed.write_text(text.replace('"ROWS": 5', '"ROWS": 3'))
    assert batch.usual_seconds([Job("night")]) == {"night": 27.5}


def test_a_report_shows_what_they_say(earlier, command):
    said = command("report", cwd=earlier).stdout.splitlines()
    assert [line.split()[:2] for line in said[:3]] == [
        ["night", "passed"], ["short", "refused"], ["slow", "running"],
    ]  # fmt: skip
    command("report", "20261127T035017Z-90fb5e", cwd=earlier)
    page = (earlier / "runs" / "short" / "20261127T035017Z-90fb5e" / "report.html").read_text()
    for words in ("Stopped in cell 4", "checks.require(&#39;rows&#39;, ROWS, 3)", "rows: found 4, expected 3"):
        assert words in page
    index = (earlier / "runs" / "index.html").read_text()
    assert "cell 4" in index and index.count("<tr>") >= 5


def test_a_schedule_takes_the_verdict_of_an_earlier_run(earlier, command):
    asked = "schedule", "run", "night", "--try", "2", "--request", "workbench_night/2026-01-31/0"
    said = command(*asked, cwd=earlier)
    assert (said.returncode, said.stdout.split("/")[-2]) == (0, "20261127T034945Z-e6c3f6")
    assert "which answers workbench_night/2026-01-31/0: not run again" in said.stderr
    assert len(list((earlier / "runs" / "night").iterdir())) == 1
