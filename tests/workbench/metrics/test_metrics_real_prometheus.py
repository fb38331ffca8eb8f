"""A real Prometheus scrapes what `workbench metrics --port` serves, and answers with the same figures."""

import json
import signal
import socket
import subprocess
import sys
import urllib.parse
import urllib.request
from contextlib import contextmanager

import pytest
import yaml
from conftest import ROOT
from metrics_cases import GOLDEN
from test_metrics_prometheus import samples
from waiting import until

from workbench.metrics import dashboards

PROGRAMS = ROOT / ".workbench" / "prometheus" / "usr" / "bin"
WHY = "no Prometheus here: make .workbench/prometheus/.packages (Debian's package, amd64)"
SHOWN = "Prometheus' own parser for Python reads the same text, and names in the rules are compared with it"
pytestmark = [
    pytest.mark.proof(SHOWN),
    pytest.mark.skipif(not (PROGRAMS / "prometheus").exists(), reason=WHY),
]
WORKBENCH = [sys.executable, "-m", "workbench_ops.cli"]


@contextmanager
def served(log):
    """Serve a log's metrics as a person does; yield the address."""
    words = [*WORKBENCH, "metrics", str(log), "--port", "0", "--job", "nightly"]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as process:
        try:
            yield process.stdout.readline().split(",")[0]
        finally:
            process.send_signal(signal.SIGKILL)


@contextmanager
def scraping(address, rules, folder):
    """Start a Prometheus that scrapes an address every second; yield what asks its API."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    target = urllib.parse.urlsplit(address).netloc
    job = {"job_name": "workbench", "static_configs": [{"targets": [target]}]}
    config = {"global": {"scrape_interval": "1s", "evaluation_interval": "1s"}, "scrape_configs": [job]}
    (folder / "prometheus.yml").write_text(yaml.safe_dump(config | {"rule_files": [str(rules)]}))
    words = [
        str(PROGRAMS / "prometheus"), f"--config.file={folder / 'prometheus.yml'}",
        f"--storage.tsdb.path={folder / 'data'}", f"--web.listen-address=127.0.0.1:{port}",
    ]  # fmt: skip
    with (folder / "log").open("wb") as log, subprocess.Popen(words, stdout=log, stderr=log) as process:

        def ask(path, **query):
            try:
                url = f"http://127.0.0.1:{port}/api/v1/{path}?{urllib.parse.urlencode(query)}"
                with urllib.request.urlopen(url, timeout=10) as answer:
                    return json.load(answer)["data"]
            except OSError:
                return None  # it is not up yet

        try:
            yield ask
        finally:
            process.terminate()
            process.wait(30)


@pytest.fixture(scope="module")
def printed():
    words = [*WORKBENCH, "metrics", "--rules"]
    return subprocess.run(words, capture_output=True, text=True, check=True).stdout


@pytest.fixture
def rules(tmp_path, printed):
    path = tmp_path / "rules.yml"
    path.write_text(printed)
    return path


def checked(path):
    """Return (exit code, what it says) of Prometheus' own check of rules."""
    words = [str(PROGRAMS / "promtool"), "check", "rules", str(path)]
    run = subprocess.run(words, capture_output=True, text=True, check=False)
    return run.returncode, run.stdout + run.stderr


def test_prometheus_own_tool_takes_the_rules_and_refuses_a_damaged_one(rules):
    code, said = checked(rules)
    count = len(dashboards.rules()["groups"][0]["rules"])
    assert code == 0 and f"SUCCESS: {count} rules found" in said
    rules.write_text(rules.read_text().replace(" > 0", " > > 0", 1))
    assert checked(rules)[0] != 0


def up(ask):
    """Return the value of the target's `up`; None before the first scrape."""
    answer = ask("query", query="up")
    return answer["result"][0]["value"][1] if answer and answer["result"] else None


def test_a_real_prometheus_has_the_same_figures(rules, tmp_path):
    with served(GOLDEN / "stormed") as address, scraping(address, rules, tmp_path) as ask:
        with urllib.request.urlopen(address) as answer:
            expected = samples(answer.read().decode())
        assert until(lambda: up(ask), "a scrape", 60) == "1"
        answer = ask("query", query='{__name__=~"workbench_.*"}')["result"]
        found = {}
        for series in answer:
            labels = {
                key: text for key, text in series["metric"].items() if key not in ("__name__", "job", "instance")
            }
            found[series["metric"]["__name__"], *sorted(labels.items())] = float(series["value"][1])
        assert found == expected and len(found) > 30
        # every question of the dashboard is one that it answers
        for panel in dashboards.dashboard()["panels"]:
            for target in panel["targets"]:
                asked = ask("query", query=target["expr"].replace("$workload", ".*"))
                assert asked is not None and (asked["result"] or "table" in target["expr"]), target["expr"]

        def firing():
            alerts = [
                alert["labels"]["alertname"] for alert in ask("alerts")["alerts"] if alert["state"] == "firing"
            ]
            return alerts or None

        assert set(until(firing, "an alert", 60)) == {"WorkbenchRetryStorm"}


def test_a_log_that_is_gone_is_a_target_that_is_down(rules, tmp_path):
    """No old figures pass for new ones: the planted fault of the scrape."""
    import shutil

    shutil.copytree(GOLDEN / "stormed", tmp_path / "log-folder")
    with served(tmp_path / "log-folder") as address, scraping(address, rules, tmp_path) as ask:
        assert until(lambda: up(ask), "a scrape", 60) == "1"
        shutil.rmtree(tmp_path / "log-folder")
        until(lambda: up(ask) == "0", "a target that is down", 60)
        assert ask("query", query="workbench_run_ended")["result"] == []
