"""`workbench incidents` and `workbench metrics`, as a person calls them."""

import json
import signal
import subprocess
import sys
import urllib.request

import pytest
import yaml
from metrics_cases import GOLDEN, ended, listed, write
from typer.testing import CliRunner

from workbench.metrics import dashboards
from workbench_ops.cli import app


def call(*words):
    result = CliRunner().invoke(app, [str(word) for word in words])
    return result.exit_code, result.output if isinstance(result.exception, SystemExit | None) else result.exception


def test_incidents_are_printed_with_cures():
    code, text = call("incidents", GOLDEN / "skewed")
    assert code == 1 and text.splitlines()[-1] == "1 incident"
    assert "slow  skew of stage 35: the largest of 16 tasks read 31,447,371 bytes, the median task 392,480" in text
    assert "80.1 times the median, from 5 on (Spark, spark.sql.adaptive.skewJoin.skewedPartitionFactor)" in text
    assert "try: salt the key" in text and "spark.sql.adaptive.skewJoin.enabled=true" in text


def test_what_was_not_looked_at_is_said(tmp_path):
    log = write(tmp_path / "app", ended(listed("aggregate")))
    assert call("incidents", log) == (
        0, "note: there are no reports of Iceberg: retries and files of commits were not looked at\n0 incidents\n",
    )  # fmt: skip
    happenings = [event for event in ended(listed("aggregate")) if event["Event"] != "SparkListenerTaskEnd"]
    code, text = call("incidents", write(tmp_path / "app", happenings))
    assert code == 0 and "note: at least 6 events were lost: sums are too small" in text
    code, text = call("incidents", GOLDEN / "merged")
    assert code == 0 and "note: the log has no end; the run was killed, or goes on." in text


def test_an_error_and_healthy_runs_by_options(tmp_path):
    code, text = call("incidents", GOLDEN / "aggregate", "--error", "java.lang.NoClassDefFoundError: x")
    assert code == 1 and "failed  missing_class of run: java.lang.NoClassDefFoundError: x" in text
    calm = [word for _ in range(3) for word in ("--healthy", GOLDEN / "skewed")]
    assert call("incidents", GOLDEN / "skewed", *calm)[0] == 0
    code, error = call("incidents", GOLDEN / "skewed", "--healthy", GOLDEN / "merged")
    assert "healthy must be at least 3 runs, found 1" in str(error)


def test_a_run_by_its_figures():
    code, text = call("metrics", GOLDEN / "merged")
    lines = text.splitlines()
    assert code == 0 and lines[0] == "golden, Spark 4.1.4, log cut off, killed or still written"
    assert [line.split() for line in lines if line.startswith("lake.m.merged0  2")] == [
        ["lake.m.merged0", "2", "0", "5,572", "0.01"], ["lake.m.merged0", "2", "0", "5,572", "0.05"],
    ]  # fmt: skip
    assert ["lake.m.merged0", "overwrite", "1", "3,500", "4"] in [line.split() for line in lines]


def test_metrics_for_prometheus():
    code, text = call("metrics", GOLDEN / "stormed", "--prometheus", "--job", "nightly")
    assert code == 0 and text.endswith("# EOF\n")
    assert 'workbench_run_commit_retries_total{workload="nightly",table="lake.m.stormed0"} 48' in text


def test_metrics_are_served_until_ctrl_c():
    words = [sys.executable, "-m", "workbench_ops.cli", "metrics", GOLDEN / "stormed", "--port", "0"]
    with subprocess.Popen(
        words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # a job in the background ignores it
    ) as process:  # fmt: skip
        try:
            line = process.stdout.readline()
            assert line.startswith("http://127.0.0.1:") and line.endswith("/metrics, until Ctrl-C\n")
            address = line.split(",")[0]
            with urllib.request.urlopen(address) as response:
                assert b"workbench_run_commit_retries_total" in response.read()
            process.send_signal(signal.SIGINT)
            assert process.communicate(timeout=60) == ("", "") and process.returncode == 0
        finally:
            process.kill()
    with pytest.raises(OSError):
        urllib.request.urlopen(address)


def test_dashboard_and_rules_by_file(tmp_path):
    code, text = call("metrics", "--dashboard")
    assert code == 0 and json.loads(text) == dashboards.dashboard()
    (board := tmp_path / "board.json").write_text(text)
    assert call("metrics", "--check", board) == (0, f"{board}: 20 expressions, each of a metric that there is\n")
    code, text = call("metrics", "--rules")
    assert code == 0 and yaml.safe_load(text) == dashboards.rules()
    (rules := tmp_path / "rules.yml").write_text(text.replace("workbench_run_ended", "workbench_run_over"))
    assert "there is no metric workbench_run_over" in str(call("metrics", "--check", rules)[1])
    (board := tmp_path / "list.json").write_text("[1]")
    assert "is neither a dashboard of Grafana nor rules" in str(call("metrics", "--check", board)[1])


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["metrics"], "name an event log, a folder of a watched session, or a run id"),
        (["metrics", "--dashboard", "--rules"], "--dashboard is printed alone"),
        (["metrics", "x", "--rules"], "--rules is printed alone"),
        (["metrics", "20260101-nothing"], "there is no file and no run 20260101-nothing"),
        (["incidents", "no/such/file"], "there is no event log no/such/file"),
    ],
)
def test_what_cannot_be_done_is_refused(project, words, sentence):
    code, error = call(*words)
    assert code != 0 and sentence in str(error)


def test_a_run_by_its_id(project):
    folder = project / "runs" / "10_x" / "run-1"
    folder.mkdir(parents=True)
    assert "the run run-1 was not watched: it has no folder metrics" in str(call("metrics", "run-1")[1])
    (folder / "metrics").mkdir()
    write(folder / "metrics" / "app", ended(listed("skewed")))
    code, text = call("incidents", "run-1")
    assert code == 1 and "skew of stage 35" in text
