"""Runners that end at once leave one index that has them all."""

import threading

from test_ledger import leave_a_run

from workbench._base import locks
from workbench_ops.pages import report
from workbench_ops.run import publishing


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
