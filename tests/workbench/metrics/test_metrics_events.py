"""What an event log says is what Spark did, and what it lacks is said; real logs of small runs."""

import gzip
import json

import metrics_cases
import pyarrow as pa
import pytest
from metrics_cases import GOLDEN, ended, listed, write

from workbench.metrics import events


def test_a_run_by_its_figures():
    run = metrics_cases.run("merged")
    assert (run.name, run.spark_version, run.application_id[:6], run.cut_off) == (
        "golden",
        "4.1.4",
        "local-",
        False,
    )
    assert [(scan.table, scan.data_files, scan.rows) for scan in run.scans] == [("lake.m.merged0", 2, 3000)] * 2
    assert [execution.error for execution in run.executions] == [None] * 4
    assert sum(stage.rows_out for stage in run.stages) == 3000 + 3500  # as its commits report
    assert sum(stage.ended_tasks for stage in run.stages) == len(run.tasks) == 18
    assert run.total("cpu_seconds") == pytest.approx(sum(stage.cpu_seconds for stage in run.stages))
    assert all(stage.started <= stage.ended and stage.execution_id is not None for stage in run.stages)
    with pytest.raises(ValueError, match="tasks have no figure cpu; they have seconds, run_seconds, cpu_seconds"):
        run.total("cpu")


def test_files_read_and_skipped_are_those_that_iceberg_reports():
    (scan,) = metrics_cases.run("written").scans
    (planned,) = metrics_cases.kept("written").scans
    for name in ("data_files", "skipped_files", "manifests", "skipped_manifests", "bytes", "delete_files"):
        assert getattr(scan, name) == getattr(planned, name), name
    assert (scan.data_files, scan.skipped_files) == (1, 2)
    assert scan.planning_seconds == pytest.approx(planned.seconds, abs=0.002)


def test_figures_of_tasks_against_a_second_route():
    """Sums over the raw events, by another program than the reader's."""
    run, raw = metrics_cases.run("skewed"), listed("skewed")
    tasks = [event for event in raw if event["Event"] == "SparkListenerTaskEnd"]
    metrics = [event["Task Metrics"] for event in tasks]
    assert len(run.tasks) == len(tasks)
    assert run.total("cpu_seconds") == pytest.approx(sum(m["Executor CPU Time"] for m in metrics) / 1e9)
    read = [m["Shuffle Read Metrics"] for m in metrics]
    assert run.total("shuffle_bytes_read") == sum(m["Local Bytes Read"] + m["Remote Bytes Read"] for m in read)
    written = sum(m["Shuffle Write Metrics"]["Shuffle Bytes Written"] for m in metrics)
    assert run.total("shuffle_bytes_written") == written > 10_000_000
    completed = [event["Stage Info"] for event in raw if event["Event"] == "SparkListenerStageCompleted"]
    totals = {a["Name"]: 0 for stage in completed for a in stage["Accumulables"]}
    for stage in completed:  # Spark's own sums
        for entry in stage["Accumulables"]:
            if entry["Name"].startswith("internal.metrics."):
                totals[entry["Name"]] += int(entry["Value"]) if not isinstance(entry["Value"], list) else 0
    assert run.total("shuffle_bytes_written") == totals["internal.metrics.shuffle.write.bytesWritten"]
    assert run.total("run_seconds") == pytest.approx(totals["internal.metrics.executorRunTime"] / 1e3)


def test_a_stream_by_its_batches():
    (stream,) = metrics_cases.run("streamed").streams
    assert len(stream.batches) >= 5 and stream.ended is not None and stream.error is None
    assert [batch.batch for batch in stream.batches] == [*range(len(stream.batches))]
    assert all(batch.rows_behind is None for batch in stream.batches)  # a rate has no offsets to count


def test_rows_behind_are_told_by_kafkas_offsets(tmp_path):
    raw = listed("streamed")
    progress = next(event for event in raw if event["Event"].endswith("QueryProgressEvent"))
    source = progress["progress"]["sources"][0]
    source |= {"description": "KafkaV2[Subscribe[t]]", "endOffset": {"t": {"0": 10, "1": 20}}, "latestOffset": {"t": {"0": 15, "1": 20, "2": 7}}}  # fmt: skip
    batch = events.read(write(tmp_path / "log", raw)).streams[0].batches[0]
    assert batch.rows_behind == 5 + 0 + 7


def test_an_error_of_an_execution_is_its_own():
    run = metrics_cases.run("refused")
    errors = [execution.error for execution in run.executions if execution.error]
    assert len(errors) == 14 and all("CommitFailedException" in error for error in errors)
    assert len(run.executions) == 20 + 1 and len(metrics_cases.kept("refused").commits) == 6


@pytest.mark.parametrize("form", ["plain", "zstd", "in progress", "a folder with one", "rolling"])
def test_the_same_run_in_each_form(tmp_path, form):
    whole, text = metrics_cases.run("written"), metrics_cases.text("written")
    lines = text.splitlines(keepends=True)
    path = tmp_path / "app"
    if form == "plain":
        path.write_text(text)
    elif form == "zstd":
        path = metrics_cases.log("written")
    elif form == "in progress":
        path = tmp_path / "app.inprogress"
        path.write_text(text)
    elif form == "a folder with one":
        path.mkdir()
        (path / "app").write_text(text)
        (path / "iceberg-reports.log").write_text("")
    else:
        path = tmp_path / "eventlog_v2_app"
        path.mkdir()
        (path / "appstatus_app").touch()
        for number, part in ((1, lines[:5]), (2, lines[5:20]), (10, lines[20:])):  # 10 is behind 2
            with pa.CompressedOutputStream(str(path / f"events_{number}_app.zstd"), "zstd") as file:
                file.write("".join(part).encode())
        with pytest.raises(ValueError, match="lacks part 3 of a rolling event log that has 3 others"):
            events.read(path)
        (path / "events_10_app.zstd").rename(path / "events_3_app.zstd")
    assert events.read(path) == whole


def test_a_compacted_log_says_so(tmp_path):
    path = tmp_path / "eventlog_v2_app"
    path.mkdir()
    lines = metrics_cases.text("written").splitlines(keepends=True)
    (path / "events_1_app").write_text("must not be read")
    (path / "events_2_app.compact").write_text("".join(lines[:2]))
    (path / "events_2_app").write_text("must not be read")
    (path / "events_3_app").write_text("".join(lines[-8:]))
    run = events.read(path)
    assert run.compacted and not run.whole and run.application_id


@pytest.mark.parametrize("bytes_less", [1, 40, 900])
def test_a_log_cut_off_is_read_until_there(tmp_path, bytes_less):
    text = metrics_cases.text("written")
    (path := tmp_path / "app").write_text(text[:-bytes_less])
    run, whole = events.read(path), metrics_cases.run("written")
    assert run.cut_off and not run.whole
    assert [task for task in whole.tasks if task in run.tasks] == list(run.tasks)
    path = tmp_path / "app.zstd.inprogress"
    with path.open("wb") as file, pa.CompressedOutputStream(file, "zstd") as stream:
        for line in text.splitlines(keepends=True):
            stream.write(line.encode())
            stream.flush()  # as Spark does at the end of each job and execution
    path.write_bytes(path.read_bytes()[:-bytes_less])
    run = events.read(path)
    assert run.cut_off and run.application_id == whole.application_id and run.tasks


def test_a_jvm_killed_by_signal_9_has_told_what_it_did():
    """It was killed just behind its second query, in a session with the library's own settings."""
    run = metrics_cases.run("killed")
    assert run.ended is None and not run.whole and run.missing_tasks == 0
    assert run.settings["spark.eventLog.rolling.enabled"] == "false" and run.settings["spark.master"] == "local[2]"
    assert [execution.error for execution in run.executions if execution.ended] == [None, None]
    assert sum(task.succeeded for task in run.tasks) == 6


def test_every_cut_of_a_log_is_a_run_or_a_sentence(tmp_path):
    """No half of a log is taken for a whole one: cut at each event and within one, no end is made up."""
    whole = ended(listed("written"))
    for count in range(1, len(whole)):
        run = events.read(write(tmp_path / "log", whole[:count]))
        assert run.ended is None and not run.whole, count
    assert events.read(write(tmp_path / "log", whole)).whole


def test_dropped_events_are_seen(tmp_path):
    whole = ended(listed("written"))
    ends = [n for n, event in enumerate(whole) if event["Event"] == "SparkListenerTaskEnd"]
    for count in (1, 3):
        run = events.read(write(tmp_path / "log", [e for n, e in enumerate(whole) if n not in ends[:count]]))
        assert run.missing_tasks == count and not run.whole
    for name in ("SparkListenerStageCompleted", "org.apache.spark.sql.execution.ui.SparkListenerSQLExecutionEnd"):
        place = next(n for n, event in enumerate(whole) if event["Event"] == name)
        run = events.read(write(tmp_path / "log", whole[:place] + whole[place + 1 :]))
        assert run.missing_ends == 1 and not run.whole, name


def test_a_watch_that_began_amid_a_stage_lacks_nothing(tmp_path):
    whole = ended(listed("written"))
    first = next(n for n, event in enumerate(whole) if event["Event"] == "SparkListenerTaskEnd")
    head = [event for event in whole[:2]]
    assert events.read(write(tmp_path / "log", head + whole[first + 1 :])).missing_tasks == 0


def test_secrets_are_in_nothing_that_is_read(tmp_path):
    key, address = "AKIAABCDEFGHIJKLMNOP", "postgres://user:s3cret-pass@host/db"
    raw = listed("refused")
    settings = {"spark.hadoop.fs.s3a.secret.key": "topsecret123", "spark.app.name": "x", "spark.my.uri": address}
    raw.insert(2, {"Event": "SparkListenerEnvironmentUpdate", "Spark Properties": settings})
    for event in raw:
        name = event["Event"]
        if name.endswith("SQLExecutionStart"):
            event["description"] = f"load {address}"
        if name.endswith("SQLExecutionEnd") and event.get("errorMessage"):
            event["errorMessage"] += f" with {key}"
        if name == "SparkListenerTaskEnd":
            event["Task End Reason"] = {
                "Reason": "ExceptionFailure",
                "Class Name": "x",
                "Description": key,
                "Full Stack Trace": address,
            }
        if name == "SparkListenerApplicationStart":
            event["App Name"] = address
    run = events.read(write(tmp_path / "log", raw))
    shown = repr(run)
    assert run.settings["spark.app.name"] == "x" and run.settings["spark.hadoop.fs.s3a.secret.key"] == "[secret]"
    for secret in (key, "s3cret-pass", "topsecret123"):
        assert secret not in shown
    assert shown.count("[secret]") > 20


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        ("", "is not a whole event log: it has 0 events"),
        ("hello\n", "is not an event log: app, line 1 is not JSON"),
        ('{"a": 1}\n', "line 1 is JSON and not an event of Spark"),
        ("[1]\n", "line 1 is JSON and not an event of Spark"),
        (
            '{"Event":"SparkListenerLogStart","Spark Version":"2.4.8"}\n',
            "the log is of Spark 2.4.8; logs of Spark 3 and 4",
        ),
        (
            '{"Event":"SparkListenerLogStart","Spark Version":"4.1.4"}\nbroken\n{"Event":"x"}\n',
            "app, line 2 is not an event: the log is damaged",
        ),
        (
            '{"Event":"SparkListenerLogStart","Spark Version":"4.1.4"}\n{"Event":"SparkListenerTaskEnd"}\n',
            "event 2 of the log, TaskEnd, has another form than Spark 4.1.4 writes",
        ),
    ],
)
def test_what_is_no_event_log_is_refused(tmp_path, content, sentence):
    (path := tmp_path / "app").write_text(content)
    with pytest.raises(ValueError, match=sentence):
        events.read(path)


def test_other_places_are_refused(tmp_path):
    with pytest.raises(ValueError, match="there is no event log .*missing"):
        events.read(tmp_path / "missing")
    with pytest.raises(ValueError, match="there is no event log in"):
        events.read(tmp_path)
    (tmp_path / "app-1.lz4").write_bytes(b"x")
    with pytest.raises(ValueError, match=r"compressed by Java's own form of lz4.*compression.codec=zstd"):
        events.read(tmp_path)
    (tmp_path / "app-2").write_text("x")
    with pytest.raises(ValueError, match="holds 2 event logs; name one of them: app-1.lz4, app-2"):
        events.read(tmp_path)
    with gzip.open(tmp_path / "app-3.zstd", "wb") as file:
        file.write(b"x" * 100)
    with pytest.raises(ValueError, match="app-3.zstd is damaged"):
        events.read(tmp_path / "app-3.zstd")
    with pytest.raises(ValueError, match="path must be a text or a path, found 3"):
        events.read(3)


def test_ten_thousand_tasks_are_read_whole(tmp_path):
    raw = listed("aggregate")
    task = next(event for event in raw if event["Event"] == "SparkListenerTaskEnd")
    place = raw.index(task)
    stage = next(event for event in raw if event["Event"] == "SparkListenerStageCompleted")["Stage Info"]
    stage["Number of Tasks"] = 10_000
    many = []
    for number in range(10_000):
        info = task["Task Info"] | {"Task ID": number, "Index": number, "Partition ID": number}
        many.append(task | {"Task Info": info})
    others = [
        event
        for event in raw[place:]
        if event["Event"] != "SparkListenerTaskEnd" or event["Stage ID"] != stage["Stage ID"]
    ]
    run = events.read(write(tmp_path / "log", raw[:place] + many + others))
    (first,) = (each for each in run.stages if each.stage_id == stage["Stage ID"])
    assert (first.ended_tasks, run.missing_tasks) == (10_000, 0)


def test_the_golden_cases_have_no_names_of_a_machine():
    for path in GOLDEN.rglob("*.zstd*"):
        content = pa.CompressedInputStream(pa.OSFile(str(path)), "zstd")
        text = b""
        try:
            while part := content.read(1 << 16):
                text += part
        except OSError:
            pass
        assert path.stat().st_size < 100_000
        for word in (b"/tmp/", b"/" + b"root/", b"/home/", b"Classpath Entries", b"java.home"):
            assert word.replace(b"/home/", b"/home/" + b"x") not in text, (path, word)
        hosts = {
            json.loads(line)["Task Info"]["Host"]
            for line in text.splitlines()
            if b'"SparkListenerTaskEnd"' in line
        }
        assert hosts <= {"localhost", "127.0.0.1"}


ENDS = {"JobEnd": "Job ID", "StageCompleted": "Stage ID", "TaskEnd": "Stage ID", "SQLExecutionEnd": "executionId"}


@pytest.mark.parametrize("name", ENDS)
def test_the_end_of_what_began_before_the_log_is_no_failure_of_it(tmp_path, name):
    late = [failed(event) for event in listed("denied") if event["Event"].endswith(name)]
    begin, *rest = (shifted(event) for event in listed("merged"))
    run = events.read(write(tmp_path / "late", [begin, *late, *rest]))
    assert late and run == events.read(write(tmp_path / "log", [begin, *rest]))
    whole = events.read(metrics_cases.log("denied"))  # where they began in the log, they are failures
    assert whole.errors and any(task.failure for task in whole.tasks)


def failed(event):
    """Return the end of something with a failure in it, whether the log's had one or not."""
    if event["Event"].endswith("StageCompleted"):
        return event | {
            "Stage Info": event["Stage Info"] | {"Failure Reason": "java.io.IOException: No space left on device"}
        }
    if event["Event"].endswith("SQLExecutionEnd"):
        return event | {"errorMessage": "java.io.IOException: No space left on device"}
    return event


def shifted(event):
    """Return an event whose jobs, stages and executions have numbers that those of another log have not."""
    event = json.loads(json.dumps(event))
    for holder in (event, event.get("Stage Info", {}), event.get("Properties") or {}):
        for key in ("Job ID", "Stage ID", "executionId"):
            if key in holder:
                holder[key] += 1000
    if "Stage IDs" in event:
        event["Stage IDs"] = [number + 1000 for number in event["Stage IDs"]]
    if (execution := (event.get("Properties") or {}).get("spark.sql.execution.id")) is not None:
        event["Properties"]["spark.sql.execution.id"] = str(int(execution) + 1000)
    return event
