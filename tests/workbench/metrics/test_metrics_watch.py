"""A running session is watched by one line: what it did is kept, by three routes alike, and it goes on whatever happens."""

import fcntl
import os
import threading
import time
from datetime import UTC, datetime, timedelta

import metrics_cases
import pytest

from workbench import metrics
from workbench.metrics import events, incidents, kernel, reports, watching
from workbench.metrics.watching import APPENDER, LOGGERS, REPORTS
from workbench.tables import doctor, reads


def appenders(spark):
    return spark._jvm.org.apache.logging.log4j.LogManager.getContext(False).getConfiguration().getAppenders()


def test_a_session_is_watched(spark, namespace, tmp_path):
    table = f"{namespace}.readings"
    with metrics.watch(spark, tmp_path / "watched") as watching:
        spark.sql(f"CREATE TABLE {table} (id BIGINT, k INT) USING iceberg")
        for n in range(2):
            spark.range(n * 100, n * 100 + 100, 1, 1).selectExpr("id", "CAST(id % 3 AS INT) AS k").writeTo(
                table
            ).append()
        counted = reads.counted(spark, f"SELECT count(k) FROM {table} WHERE id < 50")
        with pytest.raises(Exception, match="UNRESOLVED_COLUMN"):
            spark.sql(f"SELECT nothing FROM {table}")
    assert watching.failure is None
    run, kept = events.read(tmp_path / "watched"), reports.read(tmp_path / "watched")
    assert run.whole and run.spark_version == spark.version and run.settings["spark.master"] == "local[2]"
    # rows by tasks, by Iceberg's report and by the table's own metadata
    summary = spark.sql(
        f"SELECT summary['total-records'] FROM {table}.snapshots ORDER BY committed_at DESC"
    ).first()[0]
    assert (
        sum(stage.rows_out for stage in run.stages)
        == sum(c.added_rows for c in kept.commits)
        == int(summary)
        == 200
    )
    assert [(commit.tries, commit.operation) for commit in kept.commits] == [(1, "append")] * 2
    # files read, by the event log, by the report, and counted beneath Iceberg
    scan = next(scan for scan in run.scans if scan.table.endswith(table))
    assert scan.data_files == kept.scans[-1].data_files == counted.data_files == 1 and scan.skipped_files == 1
    assert [incident.cause for incident in incidents.find(run, kept)] in ([], ["schema_change"])
    # nothing is left behind in the session
    configuration = spark._jvm.org.apache.logging.log4j.LogManager.getContext(False).getConfiguration()
    assert appenders(spark).get(APPENDER) is None
    assert not [name for name in LOGGERS if configuration.getLoggers().get(name) is not None]
    size = (tmp_path / "watched" / REPORTS).stat().st_size
    spark.table(table).count()
    assert (tmp_path / "watched" / REPORTS).stat().st_size == size


def test_a_run_and_its_notebook_watch_one_session(spark, namespace, tmp_path):
    table = f"{namespace}.twice"
    spark.sql(f"CREATE TABLE {table} (id BIGINT) USING iceberg")
    of_the_run = watching.begin(spark, tmp_path / "run", kernel.APPENDER)
    with metrics.watch(spark, tmp_path / "own"):
        spark.range(5).writeTo(table).append()
    spark.range(7).writeTo(table).append()
    of_the_run.stop()
    assert of_the_run.failure is None and events.read(tmp_path / "own").whole
    own, run = (reports.read(tmp_path / name).commits for name in ("own", "run"))
    assert ([commit.added_rows for commit in own], [commit.added_rows for commit in run]) == ([5], [5, 7])
    configuration = spark._jvm.org.apache.logging.log4j.LogManager.getContext(False).getConfiguration()
    assert not [name for name in LOGGERS if configuration.getLoggers().get(name) is not None]


def test_a_watch_that_fails_is_no_hindrance(spark, tmp_path):
    (tmp_path / "file").write_text("x")
    with pytest.raises(ValueError, match="file is a file, expected a folder"):
        metrics.watch(spark, tmp_path / "file")
    with pytest.raises(ValueError, match="folder is empty, expected where"):
        metrics.watch(spark, "")
    with (
        pytest.warns(UserWarning, match="the session is not watched: ") as warned,
        metrics.watch(spark, tmp_path / "file" / "x") as watching,
    ):
        assert spark.range(10).count() == 10
    assert warned[0].filename == __file__ and watching.failure.startswith("the session is not watched: ")
    with metrics.watch(spark, tmp_path / "first"):
        with pytest.warns(UserWarning, match="being watched already"):
            assert "being watched already" in metrics.watch(spark, tmp_path / "second").failure
        assert appenders(spark).get(APPENDER) is not None
    # the disk goes while the job runs
    watching = metrics.watch(spark, tmp_path / "gone")
    for path in (tmp_path / "gone").iterdir():
        path.unlink()
    (tmp_path / "gone").rmdir()
    assert spark.range(10).count() == 10
    watching.stop()
    watching.stop()
    assert appenders(spark).get(APPENDER) is None
    assert watching.failure == f"watching did not end well: the event log is no longer in {tmp_path / 'gone'}"


def test_a_log_that_lost_its_disk_is_said_to_be_so(spark, tmp_path):
    """As on a full disk, each write fails from a moment on; Spark's writer tells nobody."""
    watching = metrics.watch(spark, tmp_path)
    (log,) = (
        listener
        for listener in spark.sparkContext._jsc.sc().listenerBus().listeners()
        if listener.getClass().getSimpleName() == "EventLoggingListener"
    )
    assert spark.range(10).count() == 10
    log.logWriter().writer().get().close()
    assert spark.range(10).count() == 10
    watching.stop()
    assert watching.failure == (
        f"watching did not end well: the event log in {tmp_path} is not whole: its disk was full or went away"
    )
    run = events.read(tmp_path)
    assert run.ended is None and not run.whole and len(run.tasks) > 0


def test_reports_that_cannot_be_written_do_not_hold_up_the_job(spark, namespace, tmp_path, monkeypatch):
    """A pipe that nobody reads takes 4 kB, and then a writer waits for ever."""
    monkeypatch.setattr(watching, "_DRAIN_SECONDS", 2)
    os.mkfifo(pipe := tmp_path / REPORTS)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    fcntl.fcntl(reader, fcntl.F_SETPIPE_SZ, 4096)
    rows, watched = [], metrics.watch(spark, tmp_path)

    def job():
        spark.sql(f"CREATE TABLE {namespace}.t (id BIGINT) USING iceberg")
        for number in range(6):
            spark.range(number).writeTo(f"{namespace}.t").append()
        rows.append(spark.table(f"{namespace}.t").count())
        watched.stop()

    working = threading.Thread(target=job, daemon=True)
    working.start()
    working.join(90)
    held_up = working.is_alive()
    while _read(reader) or working.is_alive():  # whatever waits goes on
        working.join(0.1)
    os.close(reader)
    assert rows == [15] and not held_up
    assert watched.failure.endswith(f"{REPORTS} was not closed within 2 s: its disk hangs")
    assert appenders(spark).get(APPENDER) is None


def _read(pipe):
    try:
        return os.read(pipe, 1 << 16)
    except BlockingIOError:
        return b""


def test_files_that_a_limit_leaves_out_were_not_opened(spark, namespace, tmp_path):
    table = f"{namespace}.small"
    spark.sql(f"CREATE TABLE {table} (id BIGINT) USING iceberg")
    spark.range(0, 400, 1, 40).writeTo(table).append()
    with metrics.watch(spark, tmp_path):
        assert len(spark.table(table).limit(1).collect()) == 1
    run = events.read(tmp_path)
    assert incidents.find(run) == ()
    (scan,) = run.scans
    assert scan.data_files == 40 and 1 <= scan.splits <= 8


def test_a_scan_is_counted_where_it_was_read(spark, namespace, tmp_path):
    """A frame that is cached, or whose shuffle is there, shows its plan again and reads nothing."""
    table = f"{namespace}.once"
    spark.range(0, 3000, 1, 3).selectExpr("id", "id % 3 AS part").writeTo(table).create()
    frames = {
        "cached": spark.table(table).where("part = 1").cache(),
        "shuffled": spark.table(table).groupBy("part").count(),
        "plain": spark.table(table).where("part = 2"),
    }
    scans = {}
    for name, frame in frames.items():
        with metrics.watch(spark, tmp_path / name):
            assert frame.collect() == frame.collect()
        run = events.read(tmp_path / name)
        scans[name] = [(scan.data_files, scan.rows, scan.splits) for scan in run.scans]
        assert sum(stage.rows_in for stage in run.stages) // 3000 == len(scans[name])
        assert [scan.planning_seconds > 0 for scan in run.scans[1:]] == [False] * (len(scans[name]) - 1)
    frames["cached"].unpersist()
    assert scans == {"cached": [(3, 3000, 3)], "shuffled": [(3, 3000, 3)], "plain": [(3, 3000, 3)] * 2}


def test_a_watch_ends_with_its_session(spark, namespace, tmp_path, monkeypatch):
    """What the same JVM's next session commits is not reported to the folder of the one before."""
    stopped = []
    monkeypatch.setattr(type(spark.sparkContext), "stop", lambda context: stopped.append(appenders(spark).size()))
    before = appenders(spark).size()
    watched = metrics.watch(spark, tmp_path / "first")
    spark.range(5).writeTo(f"{namespace}.first").create()
    spark.sparkContext.stop()
    assert stopped == [before] and watched.failure is None and events.read(tmp_path / "first").whole
    with metrics.watch(spark, tmp_path / "second"):
        spark.range(7).writeTo(f"{namespace}.second").create()
    rows = [[c.added_rows for c in reports.read(tmp_path / name).commits] for name in ("first", "second")]
    assert rows == [[5], [7]] and "stop" not in vars(spark.sparkContext)


def test_what_was_before_a_watch_is_no_time_of_its_run(spark, tmp_path):
    before = datetime.now(UTC) - timedelta(seconds=1)
    with metrics.watch(spark, tmp_path):
        spark.range(10).count()
    run = events.read(tmp_path)
    assert before < run.started <= run.executions[0].started


def test_a_second_watch_has_a_file_of_its_own(spark, tmp_path):
    for _ in range(2):
        with metrics.watch(spark, tmp_path):
            spark.range(10).count()
    logs = sorted(
        path.name for path in tmp_path.iterdir() if ".zstd" in path.name and not path.name.startswith(".")
    )
    assert len(logs) == 2
    with pytest.raises(ValueError, match="holds 2 event logs; name one of them"):
        events.read(tmp_path)
    assert {events.read(tmp_path / name).application_id for name in logs} == {spark.sparkContext.applicationId}


def test_a_session_with_the_settings_keeps_what_a_watched_one_keeps():
    """The run `written`, once watched and once in a session with `settings`, its log whole from start to end."""
    run, kept = metrics_cases.run("reported"), metrics_cases.kept("reported")
    watched, reported = metrics_cases.run("written"), metrics_cases.kept("written")
    assert run.whole and run.settings["spark.eventLog.compression.codec"] == "zstd"
    figures = [[(c.table, c.tries, c.added_rows) for c in each.commits] for each in (kept, reported)]
    assert figures[0] == figures[1] == [("lake.m.written0", 1, 1000)] * 3
    scans = [[(s.table, s.data_files, s.skipped_files, s.rows) for s in each.scans] for each in (run, watched)]
    assert scans[0] == scans[1] == [("lake.m.written0", 1, 2, 1000)]


def test_settings_of_a_session(tmp_path):
    conf = metrics.settings(tmp_path, java_options="-Dx=1")
    assert conf["spark.eventLog.dir"] == tmp_path.as_uri() and conf["spark.eventLog.rolling.enabled"] == "false"
    options = conf["spark.driver.extraJavaOptions"].split()
    assert options[0] == "-Dx=1" and options[-1] == f"-Dworkbench.metrics={tmp_path / REPORTS}"
    assert options[1].startswith(
        "-Dlog4j2.configurationFile=classpath:org/apache/spark/log4j2-defaults.properties,file:/"
    )
    with pytest.raises(ValueError, match="the path has a space"):
        metrics.settings(tmp_path / "a b")
    with pytest.raises(ValueError, match="java_options name a Log4j configuration; give its file as log4j="):
        metrics.settings(tmp_path, java_options="-Dlog4j2.configurationFile=x")


def test_the_table_with_most_new_files_is_looked_at_first_and_none_after_the_time(
    spark, namespace, tmp_path, monkeypatch
):
    few, many = f"{namespace}.few_files", f"{namespace}.many_files"
    kept = kernel._Kernel(tmp_path)
    kept.begin(spark)
    for table, files in ((few, 1), (many, 8)):
        spark.sql(f"CREATE TABLE {table} (id BIGINT) USING iceberg")
        spark.range(16, numPartitions=files).writeTo(table).append()
    kept.end(spark.sparkContext)
    diagnose = doctor.diagnose

    def slow(*arguments):
        time.sleep(kernel.TABLES_SECONDS + 0.1)
        return diagnose(*arguments)

    monkeypatch.setattr(doctor, "diagnose", slow)
    kernel._look_at_tables(kept, spark)
    first, second = kept.state["tables"]
    assert (first["table"].endswith(many), first["note"]) == (True, None) and first["findings"]
    assert (second["table"].endswith(few), second["note"]) == (True, "not looked at: the time for it was over")
    kept.began -= 1000 * kernel.TABLES_SECONDS  # a long run has a share of its time
    kept.state["tables"].clear()
    kernel._look_at_tables(kept, spark)
    assert [entry["note"] for entry in kept.state["tables"]] == [None, None]
