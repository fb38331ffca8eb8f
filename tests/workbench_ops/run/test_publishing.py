"""What is left of a run that ended: its verdict, and one index of all, whichever runners end at once."""

import json
import threading

import pytest
from test_ledger import leave_a_run

from workbench._base import locks
from workbench_ops.pages import report
from workbench_ops.run import publishing, watch
from workbench_ops.run import record as records


def test_a_slow_index_does_not_hide_a_run_that_ended_meanwhile(project, monkeypatch):
    """Both runners had read the records first; the one that wrote last had not seen the other's verdict."""
    whole, writing, go_on = report.write_index, threading.Event(), threading.Event()

    def slow_at_first(folder, records):
        if not writing.is_set():
            writing.set()
            go_on.wait(20)
        return whole(folder, records)

    monkeypatch.setattr(report, "write_index", slow_at_first)
    leave_a_run(project, "first")
    slow, other = threading.Thread(target=publishing.write_index), threading.Thread(target=publishing.write_index)
    slow.start()
    assert writing.wait(20)
    leave_a_run(project, "second")
    other.start()
    other.join(1)  # without turns it is done by then
    go_on.set()
    slow.join(20)
    other.join(20)
    index = (project / "runs" / "index.html").read_text()
    assert "first" in index and "second" in index


def test_an_index_that_another_runner_holds_is_said_and_changes_no_verdict(project, monkeypatch, capsys):
    monkeypatch.setattr(publishing, "INDEX_SECONDS", 0.1)
    record = leave_a_run(project)
    with locks.held(project / "runs" / ".index.lock", "held"):
        published = publishing.publish([record])
    assert "the index could not be written, the next run does: another runner" in capsys.readouterr().err
    assert published == [record] and record.status == "passed"


def test_what_a_notebook_wrote_itself_is_no_obstacle(project):
    """results.json is a file in the notebook's reach: what is more in it is kept, as long as it has names."""
    record = leave_a_run(project, status="passed")
    noted = {
        "results": {"rows": [1, None]},
        "measurements": {"seconds": "many"},
        "tables": [{"name": "a", "snapshot_id": "newest", "why": 1}],
        "checks": [{"name": "c", "passed": True, "why": 1}],
    }
    (records.folder(record) / "results.json").write_text(json.dumps(noted))
    ended = publishing.verdict(record, watch.Outcome("passed", None), {}, seconds=1.0)
    assert records.read(records.write(ended)) == ended and ended.status == "passed"
    document = records.document(ended)
    assert {name: document[name] for name in noted} == noted | {
        "checks": [{"name": "c", "found": None, "expected": None, "passed": True, "why": 1}]
    }


@pytest.mark.parametrize(
    ("outcome", "cell", "failing"),
    [
        (watch.Outcome("passed", None), {"number": 1, "first_line": "a"}, None),
        (watch.Outcome("died", "it ended", error="Died"), {}, None),
        (
            watch.Outcome("timed_out", "too slow", error="Timeout"),
            {"number": 2, "first_line": "b", "of": 3, "heading": ""},
            records.FailingCell(number=2, first_line="b", error="Timeout", message="too slow"),
        ),
        (
            watch.Outcome("interrupted", "stopped by SIGTERM"),
            {"number": 2, "first_line": "b"},
            records.FailingCell(number=2, first_line="b", error="interrupted", message="stopped by SIGTERM"),
        ),
        (
            watch.Outcome("failed", "cell 1 failed", records.FailingCell(number=1)),
            {"number": 2, "first_line": "b"},
            records.FailingCell(number=1),
        ),
    ],
)
def test_the_cell_under_way_is_to_blame_where_the_process_could_not_say(project, outcome, cell, failing):
    ended = publishing.verdict(leave_a_run(project), outcome, cell, seconds=1.0)
    assert (ended.status, ended.reason, ended.failing_cell) == (outcome.status, outcome.reason, failing)
    assert ended.exit_code == records.EXIT_CODES[outcome.status]
