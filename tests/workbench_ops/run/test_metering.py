"""A watched run: what it did is kept, read and told, and its verdict is that of a run that nobody watched."""

import json
import os
import shutil
import signal
import subprocess
import sys
import threading
from pathlib import Path

import inside
import psutil
import pytest
from conftest import COMMAND, ROOT, workbench, write_notebook
from waiting import until

sys.path.insert(0, str(ROOT / "tests" / "workbench" / "metrics"))
import metrics_cases

from workbench.metrics import documents, kernel
from workbench_ops.pages import report
from workbench_ops.run import fold, ledger, measured, metering, publishing
from workbench_ops.run import record as records

SESSION = "from workbench import results, session\nspark = session.start('local')"
WORK = """spark.sql("CREATE NAMESPACE IF NOT EXISTS m")
spark.sql("CREATE TABLE m.t (id BIGINT, k INT) USING iceberg PARTITIONED BY (k)")
for n in range(3):
    spark.range(n * 100, n * 100 + 100, 1, 1).selectExpr("id", f"{n} AS k").writeTo("m.t").append()
counted = len(spark.sql("SELECT id FROM m.t WHERE k = 1").collect())
commits = spark.sql("SELECT count(*) AS n FROM m.t.snapshots").first().n
results.record(rows=counted, commits=commits)"""


@pytest.fixture
def command(monkeypatch, capsys):
    return inside.command(monkeypatch, capsys)


def last(project, name="job"):
    return records.read(max((project / "runs" / name).glob("*/run.json"), key=lambda path: path.stat().st_mtime))


def content(record):
    return json.loads((records.folder(record) / "metrics.json").read_text())


def test_a_watched_run(project, command):
    """The witness: figures by the event log, by Iceberg's reports and by the table's own metadata; nothing is left."""
    write_notebook(project / "notebooks" / "job.ipynb", "# Job", SESSION, WORK)
    said = workbench("run", "job", "--metrics", "run", cwd=project)
    assert said.returncode == 0, said.stderr
    record = last(project)
    assert record.status == "passed" and record.metrics == records.Metrics(
        mode="run", state="folded", rows=record.metrics.rows, log_kept=False
    )
    folder = records.folder(record)
    assert not (folder / "metrics").exists() and not (folder / "log.txt").exists()
    found = content(record)
    assert found["totals"]["commits"] == record.results["commits"] == 3
    assert found["totals"]["files_planned"] == found["totals"]["files_read"] == 1
    assert found["totals"]["files_skipped"] + found["totals"]["manifests_skipped"] == 2
    (session,) = found["sessions"]
    run, _ = documents.read(session)
    assert run.whole and run.scans[0].rows == record.results["rows"] == 100
    assert [entry["table"] for entry in found["tables"]] == ["lake.m.t"] and found["tables"][0]["note"] is None
    text = (folder / "metrics.prom").read_text()
    assert 'workbench_run_commits_total{workload="job",table="lake.m.t"} 3' in text and text.endswith("# EOF\n")
    page = (folder / "report.html").read_text()
    assert page.count('<svg class="plot"') == 3 and "Data files of scans" in page
    # the tables beside the ledger, each run once
    assert ledger.sync() == 0
    rows = [ledger.existing(("workbench", name)).scan().to_arrow() for name in ("stages", "scans", "commits")]
    assert [len(table) for table in rows] == [record.metrics.rows[name] for name in ("stages", "scans", "commits")]
    assert set(rows[2]["run_id"].to_pylist()) == {record.run_id} and rows[2]["tries"].to_pylist() == [1, 1, 1]
    told = command("runs", "--metrics", cwd=project).stdout.splitlines()[1].split()
    assert told[0] == record.run_id and told[-1] == "none"
    assert told[5:8] == ["403", "1", "1"]  # rows: 300 of ranges, 100 of the table, 3 of its snapshots
    assert command("metrics", record.run_id, cwd=project).stdout.startswith("workbench, Spark")
    assert command("incidents", record.run_id, cwd=project).stdout.splitlines()[-1] == "0 incidents"


# the parts, on logs of real runs


def leave(project, golden, *, seconds=None, name="job", status="passed", mode="run", changes=None, **fields):
    """Leave a run as its kernel and its runner do, with the log of a real session; or one that ended after seconds."""
    notebook = project / "notebooks" / f"{name}.ipynb"
    write_notebook(notebook, "# Job", "1 + 1")
    record = metering.begun(records.new(notebook, environment="local"), mode)
    record = records.changed(records.finish(record, status, seconds=1.5), **fields)
    records.write(record)
    folder = Path(metering.variables(record)[metering.VARIABLE])
    if seconds:
        run, happenings = metrics_cases.run(golden), metrics_cases.listed(golden)
        end = {
            "Event": "SparkListenerApplicationEnd",
            "Timestamp": int((run.started.timestamp() + seconds) * 1000),
        }
        metrics_cases.write(folder / "app", [*happenings, end])
    elif golden:
        shutil.copytree(metrics_cases.GOLDEN / golden, folder, dirs_exist_ok=True)
    state = {"sessions": [], "tables": [], "note": None} | (changes or {})
    (folder / kernel.STATE).write_text(json.dumps(state))
    return record


def test_the_variable_is_that_of_the_kernel():
    assert metering.VARIABLE == kernel.VARIABLE


def test_the_log_of_a_healthy_run_is_removed_and_others_stay(project):
    assert not metering.folded(leave(project, "aggregate"), ()).metrics.log_kept
    assert metering.folded(leave(project, "aggregate", mode="keep"), ()).metrics.log_kept
    assert metering.folded(leave(project, "aggregate", status="failed"), ()).metrics.log_kept
    found = metering.folded(leave(project, "skewed"), ())
    assert found.metrics.log_kept and found.metrics.incidents == ["skew"]
    assert metering.sentence(found) == f"job  incidents: skew (workbench metrics {found.run_id})"
    assert records.read(records.folder(found) / "run.json") == found


def test_a_log_that_cannot_be_read_is_a_sentence_and_stays(project, command):
    record = leave(project, "aggregate")
    log = next(path for path in (records.folder(record) / "metrics").iterdir() if ".zstd" in path.name)
    log.write_bytes(b"\x00" * 100)
    ended = metering.folded(record, ())
    assert (ended.status, ended.exit_code, ended.metrics.state) == ("passed", 0, "failed")
    assert "its metrics could not be read" in ended.metrics.note and log.exists()
    page = report.write(records.folder(ended), ended).read_text()
    assert "its metrics could not be read" in page and "Passed" in page
    metering.folded(leave(project, None, name="dull"), ())
    records.write(
        records.finish(records.new(write_notebook(project / "notebooks" / "x.ipynb", "1")), "passed", seconds=1)
    )
    lines = {line.split()[1]: line for line in command("runs", "--metrics", cwd=project).stdout.splitlines()}
    assert "its metrics could not be read" in lines["job"]
    assert lines["dull"].endswith("none: no stage ran") and lines["x"].endswith("not watched")


def test_what_was_not_watched_is_said(project):
    ended = metering.folded(leave(project, None, changes={"note": "RuntimeError: no disk"}), ())
    assert ended.metrics.state == "folded" and ended.metrics.note == "RuntimeError: no disk"
    record = leave(project, None)
    (records.folder(record) / "metrics" / kernel.STATE).unlink()
    assert metering.folded(record, ()).metrics.note.startswith("the kernel did not watch")


def test_a_reader_that_is_killed_is_a_sentence_and_nothing_is_lost(project):
    """kill -9: the reader is held up by a pipe that nobody writes to."""
    record = leave(project, "stormed")
    state = records.folder(record) / "metrics" / kernel.STATE
    state.unlink()
    os.mkfifo(state)

    def reader():
        for process in psutil.Process().children():
            if "workbench_ops.run.fold" in process.cmdline():
                return process

    def kill():
        until(reader).send_signal(signal.SIGKILL)

    killing = threading.Thread(target=kill)
    killing.start()
    ended = metering.folded(record, ())
    killing.join()
    assert (ended.status, ended.exit_code, ended.metrics.state) == ("passed", 0, "failed")
    assert ended.metrics.note == "its metrics were not read: the reader was ended by SIGKILL"
    assert ended.metrics.log_kept and not (records.folder(ended) / "metrics.json").exists()
    state.unlink()  # what was kept is all there
    assert fold.fold(records.folder(ended), job="job")["rows"]["commits"] == 20


def test_what_a_killed_runner_left_unread_is_read_at_the_next_start(project):
    record = leave(project, "stormed")
    (recovered,) = publishing.recover()
    assert recovered.run_id == record.run_id and recovered.status == "passed"
    assert recovered.metrics.state == "folded" and recovered.metrics.incidents == ["retry_storm"]
    assert publishing.recover() == []


def test_two_sessions_are_read_and_added_up(project):
    record = leave(project, "aggregate", mode="keep")
    folder = records.folder(record) / "metrics"
    shutil.copytree(metrics_cases.GOLDEN / "stormed", folder / "2")
    metering.folded(record, ())
    found = content(record)
    assert [session["folder"] for session in found["sessions"]] == ["", "2"]
    tasks = [len(metrics_cases.run(name).tasks) for name in ("aggregate", "stormed")]
    assert found["totals"]["tasks"] == sum(tasks) and found["totals"]["commits"] == 20
    assert [incident["session"] for incident in found["incidents"]] == ["2"]


def test_a_secret_is_in_nothing_that_is_kept(project):
    """A table's name stands for a secret: it is in statements, plans, scans and reports."""
    record = leave(project, "stormed")
    metering.folded(record, ["stormed0"])
    folder = records.folder(record)
    for path in folder.rglob("*"):
        if path.is_file() and path.name != "run.json":
            text = path.read_bytes()
            if ".zstd" in path.name:
                import pyarrow as pa

                text = pa.CompressedInputStream(pa.OSFile(str(path)), "zstd").read()
            assert b"stormed0" not in text, path.name
    assert len(content(record)["sessions"][0]["reports"]["commits"]["rows"]) == 20
    assert fold.fold(folder, job="job")["rows"]["commits"] == 20  # the blanked log is one, too


def test_a_run_that_is_slower_than_its_history_names_the_cause(project, command):
    for n in range(3):
        started = f"2026-01-0{n + 1}T00:00:00+00:00"
        usual = metering.folded(leave(project, "aggregate", seconds=1_000, started_at=started), ())
        assert usual.metrics.slower is None
    slow = leave(project, "skewed", seconds=2_000)  # the same job by its name and values, another amount of work
    ended = metering.folded(slow, ())
    assert "times the median of 3 earlier runs; most grew" in ended.metrics.slower
    ledger.sync()
    out = command("runs", "--metrics", cwd=project).stdout
    assert f"{ended.run_id}  slower: it took" in out and "skew, slower" in out
    page = report.write(records.folder(ended), ended).read_text()
    assert "Slower than usual: it took" in page


def test_rows_are_added_once_a_run(project):
    first = metering.folded(leave(project, "stormed"), ())
    assert ledger.sync() == 1 and ledger.sync() == 0
    assert measured.sums()[first.run_id]["retries"] == 48
    second = metering.folded(leave(project, "merged"), ())
    # a run whose files are gone keeps its rows, and its record is not there to be added again
    shutil.rmtree(records.folder(first))
    ledger.sync()
    sums = measured.sums()
    assert sums[first.run_id]["retries"] == 48 and sums[second.run_id]["files_planned"] == 4
    commits = ledger.existing(("workbench", "commits")).scan().to_arrow()
    assert len(commits) == 20 + 2


def test_runs_that_nobody_watches_leave_no_tables(project):
    records.write(
        records.finish(records.new(write_notebook(project / "notebooks" / "x.ipynb", "1")), "passed", seconds=1)
    )
    ledger.sync()
    assert all(ledger.existing(("workbench", name)) is None for name in measured.NAMES)


def test_a_mode_that_there_is_not(project, command):
    write_notebook(project / "notebooks" / "job.ipynb", "1 + 1")
    said = command("run", "job", "--metrics", "live", cwd=project)
    assert said.returncode == 2 and "metrics must be off, run or keep, found 'live'" in said.stderr
    assert not (project / "runs" / "job").exists()


# kills and faults of the watcher, with and without watching

HARM = {
    "the folder becomes a file": """import os, pathlib, shutil
if place := os.environ.get("WORKBENCH_METRICS"):
    shutil.rmtree(place)
    pathlib.Path(place).write_text("x")""",
    "the extension is broken": """import sys
if "workbench.metrics.kernel" in sys.modules:
    from workbench.metrics import watching
    watching._keep_events = None""",
}


@pytest.mark.proof("a log of a real run that cannot be read changes no verdict either")
@pytest.mark.parametrize("harm", HARM)
def test_a_watcher_that_fails_is_no_hindrance(project, harm):
    write_notebook(project / "notebooks" / "job.ipynb", HARM[harm], SESSION, WORK)
    for mode in ("off", "run"):
        said = workbench("run", "job", "--metrics", mode, cwd=project)
        record = last(project)
        assert (said.returncode, record.status, record.results) == (0, "passed", {"rows": 100, "commits": 3}), said
    assert record.metrics.note and "metrics: " in said.stderr


LAKE = "from workbench import session\nspark = session.start('lake')"
ACKNOWLEDGED = """from pathlib import Path
import os, signal, time
watched = os.environ.get("WORKBENCH_METRICS")
table = "m.watched" if watched else "m.unwatched"
spark.sql("CREATE NAMESPACE IF NOT EXISTS m")
spark.sql(f"CREATE TABLE {{table}} (id BIGINT) USING iceberg")
for n in range(4):
    spark.range(n + 1).writeTo(table).append()
while watched and (Path(watched) / "iceberg-reports.log").read_text().count("CommitReport") < 4:
    time.sleep(0.1)  # what is in the queues of the JVM is lost with it
Path({told!r}).touch()
{kill}
spark.range(3).count()"""
JVM = "import psutil\n[p.kill() for p in psutil.Process().children(recursive=True) if 'java' in p.name()]"
KILLS = {
    "driver": (JVM, ("failed", 1)),
    "kernel": ("os.kill(os.getpid(), signal.SIGKILL)", ("died", 4)),
}


def committed(table):
    """Return how many commits a table of the lake has, by PyIceberg."""
    return len(ledger.existing(("m", table)).snapshots())


@pytest.mark.proof("the reader of a run's metrics is killed, and what it did not read is read later")
@pytest.mark.parametrize("killed", KILLS)
def test_what_was_acknowledged_before_a_kill_is_kept(project, killed):
    kill, (status, code) = KILLS[killed]
    told = project / "told"
    write_notebook(project / "notebooks" / "job.ipynb", LAKE, ACKNOWLEDGED.format(told=str(told), kill=kill))
    for mode in ("off", "run"):
        said = workbench("run", "job", "--metrics", mode, cwd=project)
        record = last(project)
        assert (said.returncode, record.status) == (code, status), said.stderr
    assert record.metrics.state == "folded" and record.metrics.log_kept
    assert content(record)["totals"]["commits"] == committed("watched") == committed("unwatched") == 4


@pytest.mark.proof("a run whose runner left its log unread is read at the next start")
def test_what_was_acknowledged_before_the_runner_was_killed_is_read_later(project):
    told = project / "told"
    cell = ACKNOWLEDGED.format(told=str(told), kill="time.sleep(300)")
    write_notebook(project / "notebooks" / "job.ipynb", LAKE, cell)
    verdicts = []
    for mode in ("off", "run"):
        told.unlink(missing_ok=True)
        running = subprocess.Popen([COMMAND, "run", "job", "--metrics", mode], cwd=project, stderr=subprocess.PIPE)
        until(told.exists, "four commits")
        running.kill()
        running.communicate()
        (recovered,) = publishing.recover()
        verdicts.append((recovered.status, recovered.exit_code, recovered.reason))
    assert verdicts[0] == verdicts[1] == ("interrupted", 143, records.KILLED)
    assert content(recovered)["totals"]["commits"] == committed("watched") == committed("unwatched") == 4
    assert ledger.sync() == 2 and len(ledger.existing(("workbench", "commits")).scan().to_arrow()) == 4
