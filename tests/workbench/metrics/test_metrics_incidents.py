"""Each planted incident is found by its cause alone, healthy runs have none, and each threshold can be crossed."""

import copy
from dataclasses import replace
from datetime import timedelta

import metrics_cases
import pytest
from metrics_cases import HEALTHY, PLANTED, ended, listed, write

from workbench.metrics import errors, events, incidents
from workbench.metrics.causes import CAUSES, SOURCES, Thresholds
from workbench.metrics.detectors import DETECTORS


def found(name, **more):
    return incidents.find(metrics_cases.run(name), metrics_cases.kept(name), **more)


@pytest.mark.parametrize("name", HEALTHY)
def test_a_healthy_run_has_none(name):
    assert found(name) == ()


@pytest.mark.parametrize("name", PLANTED)
def test_a_planted_incident_is_found_and_nothing_else(name):
    cause, besides = PLANTED[name]
    causes = [incident.cause for incident in found(name)]
    assert cause in causes and set(causes) - {cause} == besides


def test_an_incident_says_where_by_how_much_and_by_which_rule():
    (skew,) = found("skewed")
    assert (skew.where, skew.severity, skew.unit, skew.threshold) == ("stage 35", "slow", "times the median", 5.0)
    assert skew.evidence == "the largest of 16 tasks read 31,447,371 bytes, the median task 392,480"
    assert skew.figure == pytest.approx(31_447_371 / 392_480, rel=1e-3) and "skewedPartitionFactor" in skew.source
    (refused,) = found("refused")
    assert (refused.figure, refused.severity) == (14, "failed") and "CommitFailedException" in refused.evidence
    (storm,) = found("stormed")
    assert (storm.where, storm.evidence) == ("table lake.m.stormed0", "20 commits took 68 tries, 48 of them lost")


def test_a_real_spill_by_its_figures():
    (spill,) = found("spilled")
    assert (spill.where, spill.figure) == ("stage 2", 203_959_790)
    assert spill.evidence.startswith("1 tasks wrote 203,959,790 bytes to disk")


def test_a_threshold_above_the_figure_hides_it():
    (skew,) = found("skewed")
    assert found("skewed", thresholds=Thresholds(skew_factor=skew.figure + 1)) == ()
    assert (
        found("skewed", thresholds=Thresholds(skew_factor=skew.figure))[0].source == "the caller's, or calibrated"
    )
    assert found("exploded", thresholds=Thresholds(open_cost_bytes=1 << 40)) == ()
    low = Thresholds(skew_factor=1.01, skew_bytes=1, skew_tasks=2, open_cost_bytes=1)
    assert {incident.cause for incident in found("merged", thresholds=low)} >= {"small_files", "file_explosion"}


def test_no_reports_no_incident_of_theirs():
    assert incidents.find(metrics_cases.run("stormed")) == ()


def test_two_at_once_are_both_found(tmp_path):
    first, second = listed("skewed"), listed("full")
    other = [
        event
        for event in second
        if event["Event"] not in ("SparkListenerLogStart", "SparkListenerApplicationStart")
    ]
    causes = [incident.cause for incident in incidents.find(events.read(write(tmp_path / "log", first + other)))]
    assert causes == ["disk_full", "skew"]  # what failed stands first


def changed(tmp_path, name, change):
    """Return the incidents of a real log after a change of its events."""
    happenings = copy.deepcopy(listed(name))
    for event in happenings:
        change(event)
    return incidents.find(events.read(write(tmp_path / "log", happenings)))


def of_tasks(event):
    return event.get("Task Metrics") if event["Event"] == "SparkListenerTaskEnd" else None


def test_spill_is_found_by_its_bytes(tmp_path):
    def spill(event):
        if metrics := of_tasks(event):
            metrics["Disk Bytes Spilled"] = 300_000

    causes = [(i.cause, i.figure) for i in changed(tmp_path, "aggregate", spill)]
    assert causes == [("spill", 1_200_000)]  # of the stage with four tasks; two tasks are below the threshold


def test_slow_storage_is_a_hint(tmp_path):
    def slow(event):
        if metrics := of_tasks(event):
            metrics["Input Metrics"] = {"Bytes Read": 20 << 20, "Records Read": 5}
            metrics |= {"Executor Run Time": 60_000, "Executor CPU Time": 10**9}

    found = changed(tmp_path, "aggregate", slow)
    assert {(i.cause, i.severity) for i in found} == {("slow_storage", "hint")} and found[0].figure > 0.95

    def busy(event):
        slow(event)
        if metrics := of_tasks(event):
            metrics["Executor CPU Time"] = 55 * 10**9

    assert changed(tmp_path, "aggregate", busy) == ()


def test_slow_storage_is_seen_where_tasks_count_no_bytes():
    """S3FileIO reads beside the file systems whose statistics Spark counts: the scan says what its files are."""
    run = metrics_cases.run("written")
    (number,) = {scan.execution_id for scan in run.scans}
    stage = next(stage for stage in run.stages if stage.execution_id == number and stage.rows_in)
    execution = next(execution for execution in run.executions if execution.execution_id == number)
    scan = replace(execution.scans[0], bytes=30 << 20)

    def read_in(seconds, scan):
        slow = replace(stage, bytes_in=0, run_seconds=seconds, cpu_seconds=1.0, gc_seconds=0.0)
        stages = tuple(slow if other == stage else other for other in run.stages)
        executions = tuple(replace(e, scans=(scan,)) if e == execution else e for e in run.executions)
        return [i.cause for i in incidents.find(replace(run, stages=stages, executions=executions))]

    assert scan.splits == scan.data_files
    assert read_in(60.0, scan) == ["slow_storage"]
    assert read_in(20.0, scan) == []  # a megabyte and a half a second
    assert read_in(60.0, replace(scan, bytes=10 << 20)) == []  # too little to be told by


def batches(seconds, rows, *, more=()):
    raw = listed("streamed")
    progress = next(event for event in raw if event["Event"].endswith("QueryProgressEvent"))
    kept = [
        event for event in raw if "QueryProgressEvent" not in event["Event"] and "Terminated" not in event["Event"]
    ]
    new = []
    for number, (took, count) in enumerate(zip(seconds, rows, strict=True)):
        batch = copy.deepcopy(progress)
        batch["progress"] |= {"batchId": number, "durationMs": {"triggerExecution": took * 1000}}
        batch["progress"]["sources"][0]["numInputRows"] = count
        new.append(batch)
    return [*kept, *new, *more]


@pytest.mark.parametrize(
    ("seconds", "rows", "causes"),
    [
        ((9, 1, 2, 4, 8), (9, 10, 20, 40, 80), ["stream_lag"]),
        ((9, 1, 1.2, 1.4, 1.6), (9, 10, 20, 40, 80), []),  # more rows, hardly more time
        ((9, 1, 2, 4, 8), (9, 10, 20, 20, 80), []),  # longer, and not of more rows: the machine
        ((1, 2, 4, 8), (10, 20, 40, 80), []),  # the first starts up: three are too few
        ((9, 1, 2, 4, 8, 1), (9, 10, 20, 40, 80, 10), ["stream_lag"]),  # it caught up, and lagged all the same
        ((9, 1, 1.25, 1.56, 1.95, 2.44), (9, 10, 12, 15, 19, 24), ["stream_lag"]),  # slowly, and on and on
        ((9, 1, 1.25, 1.56, 1.2, 1.95, 2.44), (9, 10, 12, 15, 9, 19, 24), []),  # with a pause of it
    ],
)
def test_a_stream_that_lags(tmp_path, seconds, rows, causes):
    run = events.read(write(tmp_path / "log", batches(seconds, rows)))
    assert [i.cause for i in incidents.find(run)] == causes


def test_a_stream_that_is_stuck(tmp_path):
    raw = batches((1, 1), (10, 10))
    last = events.read(write(tmp_path / "log", raw)).streams[0].batches[-1].at.timestamp()
    for later, causes in ((30, []), (90, ["stream_stuck"])):
        happenings = [*raw, {"Event": "SparkListenerApplicationEnd", "Timestamp": int((last + 1 + later) * 1000)}]
        assert [i.cause for i in incidents.find(events.read(write(tmp_path / "log", happenings)))] == causes, later
    over = {
        "Event": "org.apache.spark.sql.streaming.StreamingQueryListener$QueryTerminatedEvent",
        **_ids(raw),
        "exception": None,
    }
    happenings.insert(-1, over)
    assert incidents.find(events.read(write(tmp_path / "log", happenings))) == ()


def test_a_stream_that_hangs_until_it_is_ended_was_stuck(tmp_path):
    raw = batches((1, 1), (10, 10))
    last = events.read(write(tmp_path / "log", raw)).streams[0].batches[-1].at.timestamp()
    over = {
        "Event": "org.apache.spark.sql.streaming.StreamingQueryListener$QueryTerminatedEvent",
        **_ids(raw),
        "exception": None,
    }
    for later, causes in ((30, []), (90, ["stream_stuck"])):
        job = {"Event": "SparkListenerJobStart", "Job ID": 99, "Stage IDs": [], "Submission Time": int((last + later) * 1000)}  # fmt: skip
        found = incidents.find(events.read(write(tmp_path / "log", [*raw, job, over])))
        assert [i.cause for i in found] == causes, later
    assert found[0].evidence == "its last batch, 1, ended 89 s before the query"


def test_a_stream_at_rest_is_not_stuck(tmp_path):
    """Spark says of a stream without rows that it is idle, and a trigger may be minutes long."""
    raw = batches((1, 1), (10, 10))
    last = events.read(write(tmp_path / "log", raw)).streams[0].batches[-1].at
    end = {"Event": "SparkListenerApplicationEnd", "Timestamp": int((last.timestamp() + 100) * 1000)}
    idle = {
        "Event": "org.apache.spark.sql.streaming.StreamingQueryListener$QueryIdleEvent",
        **_ids(raw),
        "timestamp": (last + timedelta(seconds=91)).isoformat(),
    }
    assert [i.cause for i in incidents.find(events.read(write(tmp_path / "log", [*raw, end])))] == ["stream_stuck"]
    run = events.read(write(tmp_path / "log", [*raw, idle, end]))
    assert incidents.find(run) == () and run.streams[0].idle == last + timedelta(seconds=91)
    for event in raw:
        if "QueryProgressEvent" in event["Event"] and event["progress"]["batchId"] == 0:
            event["progress"]["timestamp"] = (last - timedelta(seconds=50)).isoformat()
    assert incidents.find(events.read(write(tmp_path / "log", [*raw, end]))) == ()


def _ids(raw):
    progress = next(event for event in raw if event["Event"].endswith("QueryProgressEvent"))["progress"]
    return {"id": progress["id"], "runId": progress["runId"], "name": None}


@pytest.mark.parametrize(
    ("reason", "causes"),
    [
        (
            "Remote RPC client disassociated. Likely due to containers exceeding thresholds, or network issues.",
            ["lost_executor"],
        ),
        ("Command exited with code 52", ["out_of_memory"]),
        ("Command exited with code 137", ["lost_executor"]),
        ("Executor killed by driver.", []),
        ("Executor idle timeout", []),
    ],
)
def test_executors_that_went(tmp_path, reason, causes):
    raw = listed("aggregate")
    at = raw[-1]["time"]
    raw += [
        {"Event": "SparkListenerExecutorAdded", "Timestamp": at, "Executor ID": "1", "Executor Info": {"Host": "h", "Total Cores": 2}},
        {"Event": "SparkListenerExecutorRemoved", "Timestamp": at + 5, "Executor ID": "1", "Removed Reason": reason},
    ]  # fmt: skip
    assert [i.cause for i in incidents.find(events.read(write(tmp_path / "log", raw)))] == causes


@pytest.mark.parametrize(
    ("text", "cause"),
    [
        ("java.lang.OutOfMemoryError: Java heap space", "out_of_memory"),
        (
            "ExecutorLostFailure (executor 2 exited caused by one of the running tasks) Reason: Container from a bad node. Exit status: 143, exceeding physical memory limits",
            "out_of_memory",
        ),
        ("ExecutorLostFailure\nSlave lost", "lost_executor"),
        ("FetchFailed\norg.apache.spark.shuffle.FetchFailedException: Connection refused", "fetch_failure"),
        ("java.io.IOException: No space left on device", "disk_full"),
        (
            "software.amazon.awssdk.services.s3.model.S3Exception: Access Denied (Service: S3, Status Code: 403, Request ID: 1)",
            "permission_denied",
        ),
        ("java.lang.NoClassDefFoundError: org/apache/x/Y", "missing_class"),
        (
            "AnalysisException: [DATA_SOURCE_NOT_FOUND] Failed to find the data source: com.example.Missing.",
            "missing_class",
        ),
        ("IllegalArgumentException: Unsupported format in USING: com_example_missing", "missing_class"),
        ("[UNRESOLVED_COLUMN.WITH_SUGGESTION] A column `v` cannot be resolved", "schema_change"),
        (
            "org.apache.iceberg.exceptions.ValidationException: Found conflicting files that can contain records",
            "commit_conflicts",
        ),
        (
            "[UNRESOLVED_COLUMN.WITH_SUGGESTION] `nope` cannot be resolved. SQLSTATE: 42703; line 1 pos 7;\n"
            "'Project ['nope]\n+- Filter s#50 LIKE %OutOfMemoryError%\n   +- RelationV2[s#50] lake.logs.t\n",
            "schema_change",
        ),
        (
            "[DIVIDE_BY_ZERO] Division by zero. SQLSTATE: 22012\n== SQL (line 1, position 8) ==\n"
            "select 1/(k-k) from t where s <> 'Permission denied'\n       ^^^^^^^\n\n\tat org.apache.spark.X",
            None,
        ),
        (
            '[CAST_INVALID_INPUT] The value \'No space left on device\' of the type "STRING" cannot be cast to "INT"',
            None,
        ),
        ("[X] y. SQLSTATE: 42000;\n'Project\n\nCaused by: java.lang.OutOfMemoryError: heap", "out_of_memory"),
        ("java.lang.ArithmeticException: / by zero", None),
        ("403 rows were read, 137 more follow; exit early", None),
        ("my_memory_error, permissions and classes were looked at", None),
    ],
)
def test_the_cause_that_an_error_tells(text, cause):
    assert errors.cause(text) == cause
    causes = [incident.cause for incident in incidents.find(metrics_cases.run("aggregate"), error=text)]
    assert causes == ([cause] if cause else [])


def test_an_error_that_spark_never_saw_is_told_by_its_caller():
    error = ModuleNotFoundError("No module named 'pandas_gbq'")
    (incident,) = found("aggregate", error=error)
    assert (incident.cause, incident.evidence) == (
        "missing_class",
        "ModuleNotFoundError: No module named 'pandas_gbq'",
    )
    (incident,) = found("aggregate", error="NoClassDefFoundError at http://u:s3cr3t@h AKIAABCDEFGHIJKLMNOP")
    assert incident.evidence == "NoClassDefFoundError at http://[secret]@h [secret]"


def test_gc_thrash_needs_the_collectors_log():
    for name, words in (
        ("g1-full", "G1 paused 2.31 s and"),
        ("z17", "Z paused 0.00 s and threads waited 13.66 s for memory"),
    ):
        log = metrics_cases.collection(name)
        (incident,) = found("aggregate", collection=log)
        assert incident.cause == "gc_thrash" and incident.evidence.startswith(words)
        assert found("aggregate", collection=replace(log, pauses=log.pauses[:9], stalls=())) == ()


def test_a_long_collection_that_gives_memory_back_is_no_thrash():
    log = replace(metrics_cases.collection("g1-full"), seconds=3.0, stalls=())
    for pauses, causes in (((0.2, 0.6, 0.8, 0.1), []), ((0.2, 0.6, 0.8, 0.1, 0.1), ["gc_thrash"])):
        incidents_of_log = found("aggregate", collection=replace(log, pauses=pauses))
        assert [incident.cause for incident in incidents_of_log] == causes


def test_each_cause_has_a_detector_a_source_and_a_planted_fault():
    assert {cause for causes in DETECTORS.values() for cause in causes} == set(CAUSES)
    assert {cause.threshold for cause in CAUSES.values()} <= set(SOURCES)
    assert set(SOURCES) == {*vars(Thresholds()), "once"}
    for incident in found("small_files"):
        assert incidents.cures(incident)


def test_thresholds_that_allow_nothing_are_refused():
    for value in (0, -1, float("nan"), float("inf"), True, "5"):
        with pytest.raises(ValueError, match="skew_factor must be a number above 0, found"):
            Thresholds(skew_factor=value)
    with pytest.raises(ValueError, match="run must be Run, found 'x'"):
        incidents.find("x")


def test_calibration_raises_and_never_lowers():
    healthy = [metrics_cases.run(name) for name in ("merged", "written", "windows")]
    assert incidents.calibrate(healthy) == Thresholds()
    spilled = [metrics_cases.run("skewed")] * 3
    (skew,) = found("skewed")
    limits = incidents.calibrate(spilled)
    assert limits == replace(Thresholds(), skew_factor=limits.skew_factor)
    assert limits.skew_factor == pytest.approx(skew.figure * 1.5)
    with pytest.raises(ValueError, match="at least 3 runs, found 2"):
        incidents.calibrate(healthy[:2])
    with pytest.raises(ValueError, match="reports must be one of each run, found 1 of 3 runs"):
        incidents.calibrate(healthy, [metrics_cases.kept("merged")])


def test_a_run_slower_than_its_history_names_what_grew(tmp_path):
    def read(name, seconds, bytes_read=0):
        happenings = listed("aggregate")
        start = next(event for event in happenings if event["Event"] == "SparkListenerApplicationStart")[
            "Timestamp"
        ]
        for event in happenings:
            if metrics := of_tasks(event):
                metrics["Input Metrics"] = {"Bytes Read": bytes_read, "Records Read": 1}
        happenings.append({"Event": "SparkListenerApplicationEnd", "Timestamp": start + seconds * 1000})
        return events.read(write(tmp_path / name, happenings))

    earlier = [read(f"e{n}", 100 + n, 1000) for n in range(3)]
    assert incidents.slower(read("same", 110, 9000), earlier) is None
    slower = incidents.slower(read("more", 303, 9000), earlier)
    assert (slower.factor, slower.grown[0][0]) == (3.0, "bytes read")
    assert (
        slower.sentence
        == "it took 303.0 s, 3.0 times the median of 3 earlier runs; most grew bytes read: 54,000 after 6,000"
    )
    assert "no figure of it grew" in incidents.slower(read("wait", 303, 1000), earlier).sentence
    with pytest.raises(ValueError, match="at least 3 runs, found 2"):
        incidents.slower(earlier[0], earlier[:2])
    with pytest.raises(ValueError, match="is not whole, its figures are too small"):
        incidents.slower(metrics_cases.run("aggregate"), earlier)


def test_a_whole_log_is_needed_nowhere_to_find_incidents(tmp_path):
    """A killed run is looked at, too: its log has no end."""
    happenings = ended(listed("full"))[:-3]
    assert [i.cause for i in incidents.find(events.read(write(tmp_path / "log", happenings)))] == ["disk_full"]
