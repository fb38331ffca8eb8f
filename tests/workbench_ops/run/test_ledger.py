"""The ledger holds each run once, whoever writes it, and stays small."""

import subprocess
import sys
from pathlib import Path

import pytest

from workbench_ops.run import ledger
from workbench_ops.run import record as records


def leave_a_run(project, name="x", status="passed", **changes):
    notebook = project / "notebooks" / f"{name}.ipynb"
    notebook.touch()
    record = records.finish(records.new(notebook, environment="local"), status, seconds=1.5)
    record = records.changed(record, **changes)
    records.write(record)
    return record


def test_missing_rows_are_added_once(project):
    first, second = (
        leave_a_run(project),
        leave_a_run(project, "y", "failed", failing_cell=records.FailingCell(number=3)),
    )
    assert ledger.sync() == 2
    assert ledger.sync() == 0
    third = leave_a_run(project, started_at="2020-01-01T00:00:00+00:00")
    assert ledger.sync() == 1
    assert {row["run_id"] for row in ledger.rows()} == {record.run_id for record in (first, second, third)}
    assert [(row["notebook"], row["failing_cell"]) for row in ledger.rows(status="failed")] == [("y", 3)]
    assert [row["run_id"] for row in ledger.rows(notebook="x", since="2020-01-02")] == [first.run_id]
    assert ledger.rows()[-1]["run_id"] == third.run_id  # newest first
    with pytest.raises(ValueError, match="'soon' is not an ISO date"):
        ledger.rows(since="soon")


def test_a_run_that_goes_on_is_no_row_yet(project):
    (project / "notebooks" / "x.ipynb").touch()
    records.write(records.new(project / "notebooks" / "x.ipynb"))
    assert ledger.sync() == 0


def test_writers_at_once_leave_a_row_each(project):
    from conftest import PROVE  # here, because the writers import this module, too

    writers = 8 if PROVE else 2
    code = (
        "import sys; sys.path.insert(0, sys.argv[2]); from pathlib import Path; import test_ledger as t; "
        "from workbench_ops.run import ledger; t.leave_a_run(Path(sys.argv[1]), sys.argv[3]); ledger.sync()"
    )
    tests = str(Path(__file__).resolve().parent)
    running = [
        subprocess.Popen([sys.executable, "-c", code, str(project), tests, f"n{i}"], stderr=subprocess.PIPE)
        for i in range(writers)
    ]
    for process in running:
        _, said = process.communicate(timeout=600)
        assert process.returncode == 0, said.decode()
    assert sorted(row["notebook"] for row in ledger.rows()) == [f"n{i}" for i in range(writers)]


def test_it_keeps_its_rows_and_keeps_itself_small(project, monkeypatch):
    monkeypatch.setattr(ledger, "FILES_BEFORE_REWRITE", 4)
    for _ in range(9):
        leave_a_run(project)
        ledger.sync()
    assert len(ledger.rows()) == 9
    files = [path for path in (project / ".workbench" / "lake").rglob("*.parquet")]
    assert len(files) <= 4
    assert len(list((project / ".workbench" / "lake").rglob("*.avro"))) <= 12
