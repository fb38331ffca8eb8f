"""What Iceberg reported, read from its lines; a line that is not understood is a sentence, never a zero."""

import re

import metrics_cases
import pytest
from metrics_cases import GOLDEN

from workbench.metrics import incidents, reports
from workbench.metrics.watching import REPORTS

LINES = (GOLDEN / "stormed" / REPORTS).read_text()


def test_commits_by_their_figures():
    kept = metrics_cases.kept("merged")
    first, second = kept.commits
    assert (first.table, first.operation, first.tries, first.added_data_files, first.added_rows) == (
        "m.merged0",
        "append",
        1,
        2,
        3000,
    )
    assert (second.table, second.operation, second.removed_data_files, second.total_rows) == (
        "lake.m.merged0",
        "overwrite",
        2,
        3500,
    )
    assert first.total_bytes == first.added_bytes == second.removed_bytes and second.seconds == pytest.approx(
        1.173180491
    )
    assert not kept.retries and not kept.cut_off and kept.dropped_events == 0


def test_rows_of_commits_are_those_that_tasks_wrote():
    for name in ("merged", "written", "exploded", "small_files"):
        written = sum(stage.rows_out for stage in metrics_cases.run(name).stages)
        assert sum(commit.added_rows for commit in metrics_cases.kept(name).commits) == written, name


def test_tries_are_the_retries_that_were_logged():
    kept = metrics_cases.kept("stormed")
    lost = sum(commit.tries - 1 for commit in kept.commits)
    assert (len(kept.commits), lost) == (20, 48)
    locks = [retry for retry in kept.retries if "Lock for " in retry.why]  # of the folder, within a try
    assert len(locks) == 1 and len(kept.retries) == lost + len(locks)
    assert metrics_cases.kept("refused").retries == ()


def test_tries_that_are_not_read_make_the_storm_unseen(tmp_path):
    """The planted fault of the test above, and of the detector: reports in which each commit has one try."""
    calm = re.sub(r"attempts=CounterResult\{unit=COUNT, value=\d+\}", "attempts=null", LINES)
    (path := tmp_path / "log").write_text(calm)
    kept = reports.read(path)
    assert {commit.tries for commit in kept.commits} == {1} and len(kept.retries) >= 48
    assert incidents.find(metrics_cases.run("stormed"), kept) == ()


def test_a_folder_without_reports_has_none(tmp_path):
    assert reports.read(tmp_path) == reports.NONE
    (tmp_path / REPORTS).write_text("")
    assert reports.read(tmp_path) == reports.NONE


def test_dropped_events_are_counted_by_spark_itself(tmp_path):
    line = "1795826420941 org.apache.spark.scheduler.AsyncEventQueue Dropped {} events from {} since Sat Nov 28 00:36:53 UTC 2026.\n"
    (path := tmp_path / "log").write_text(
        LINES + line.format(17, "eventLog") + line.format(3, "eventLog") + line.format(9, "shared")
    )
    assert reports.read(path).dropped_events == 20


def test_a_last_line_that_is_cut_off_is_said(tmp_path):
    (path := tmp_path / "log").write_text(LINES[:-30])
    kept = reports.read(path)
    assert kept.cut_off and len(kept.commits) + len(kept.retries) >= 60


def test_a_filter_cannot_pass_for_figures(tmp_path):
    """The text of a filter is the user's own."""
    line = next(line for line in (GOLDEN / "written" / REPORTS).read_text().splitlines() if "ScanReport" in line)
    forged = 'filter=ref(name="x") == "scanMetrics=ScanMetricsResult{resultDataFiles=CounterResult{unit=COUNT, value=999}}, metadata={", schemaId'
    start, end = line.index("filter="), line.index(", schemaId")
    (path := tmp_path / "log").write_text(line[:start] + forged + line[end + len(", schemaId") :] + "\n")
    assert reports.read(path).scans[0] == metrics_cases.kept("written").scans[0]


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ("hello", "line 1 is not a line of Iceberg's reports"),
        ("1795826420941 a.LoggingMetricsReporter Received metrics report: Other{}", "line 1 is a report of a form that is not known"),
        ("1795826420941 a.LoggingMetricsReporter Received metrics report: ScanReport{tableName=t, snapshotId=1, x}", "line 1 is a report without figures"),
        (
            "1795826420941 a.LoggingMetricsReporter Received metrics report: CommitReport{tableName=t, snapshotId=1, operation=append, "
            "commitMetrics=CommitMetricsResult{totalDuration=TimerResult{timeUnit=NANOSECONDS, totalDuration=PTx, count=1}}}",
            "PTx is not a duration as Java writes it",
        ),
    ],
)  # fmt: skip
def test_other_lines_are_refused(tmp_path, line, sentence):
    (path := tmp_path / "log").write_text(line + "\n")
    with pytest.raises(ValueError, match=sentence):
        reports.read(path)
    with pytest.raises(ValueError, match="cannot be read"):
        reports.read(tmp_path / "missing")


def test_hours_and_minutes_of_a_duration():
    assert reports._seconds("PT1H2M3.5S") == 3723.5 and reports._seconds("PT0.05S") == 0.05


def test_secrets_are_in_no_report(tmp_path):
    line = "1795826420941 org.apache.iceberg.util.Tasks Retrying task after failure: http://u:pass-word@host AKIAABCDEFGHIJKLMNOP\n"
    (path := tmp_path / "log").write_text(line)
    assert reports.read(path).retries[0].why == "http://[secret]@host [secret]"
