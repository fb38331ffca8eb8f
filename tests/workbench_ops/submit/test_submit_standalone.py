"""Drivers on a standalone cluster of this machine, by its REST interface and with its filter."""

import os
import signal
import sys
import time
from pathlib import Path

import pytest
from submit_kills import Killing, forked

from workbench_ops.submit import Folder, TargetUnavailable, cancel, cost, job, logs, start, state, wait
from workbench_ops.submit.targets import Standalone

JOB = """
import os, sys, time
from workbench_ops.submit import fence
if not fence():
    print("declined")
    raise SystemExit(0)
line = os.open(sys.argv[1], os.O_WRONLY | os.O_APPEND | os.O_CREAT)
os.write(line, b"line\\n")
time.sleep(float(sys.argv[2]))
print("x" * 1_500_000 + "the end" if len(sys.argv) > 4 else "the end")
sys.exit(int(sys.argv[3]))
"""
SPARK = """
import os, sys
from pyspark.sql import SparkSession
from workbench_ops.submit import fence
if fence():
    spark = (SparkSession.builder.appName("counted")
             .config("spark.authenticate.secret", os.environ["_SPARK_AUTH_SECRET"]).getOrCreate())
    counted = spark.range(1000).repartition(2).count()
    with open(sys.argv[1], "a") as out:
        out.write(f"{spark.sparkContext.master} {counted}\\n")
"""
# a driver with a session is four starts of a JVM or Python: 178 s on two cores that 44 processes waited for
PATIENCE_SECONDS = 900


@pytest.fixture(scope="module")
def cluster():
    from workbench_standins.cluster import submissions

    with submissions.serve(applications=3, memory="600m") as taking:
        yield taking


class Place:
    def __init__(self, folder, cluster, monkeypatch):
        monkeypatch.setenv("SUBMIT_KEY", cluster.key)
        self.folder, self.script, self.out = folder, folder / "job.py", folder / "out"
        self.script.write_text(JOB)
        self.claims = Folder(folder / "claims")
        self.target = Standalone(
            name="own", type="standalone", rest=cluster.rest, master=cluster.master, page=cluster.page,
            secret="env:SUBMIT_KEY", memory="600m", python=sys.executable,
            conf={"spark.authenticate": "true", "spark.network.crypto.enabled": "true",
                  "spark.executor.memory": "600m"},
        )  # fmt: skip

    def start(self, *arguments, claims=None, target=None, text=None):
        if text:
            self.script.write_text(text)
        described = job(self.script, str(self.out), *arguments)
        return start(described, {"own": target or self.target}, token="load", claims=claims or self.claims)

    def lines(self):
        return self.out.read_text().splitlines() if self.out.exists() else []


@pytest.fixture
def place(tmp_path, cluster, monkeypatch):
    return Place(tmp_path, cluster, monkeypatch)


def ended(run):
    return wait(run, timeout_seconds=PATIENCE_SECONDS, poll_seconds=0.2)


pytestmark = pytest.mark.proof("test_submit_kills and test_submit have the same order on processes")


def test_a_user_s_script_runs_once_under_a_killed_submitter(place):
    killing = Killing(place.claims.path, 3, True)  # the cluster has it, and nobody wrote its id down
    pid = forked(lambda: place.start("0", "0", claims=killing))
    assert os.WTERMSIG(os.waitpid(pid, 0)[1]) == signal.SIGKILL
    run = place.start("0", "0")
    assert ended(run) == "passed"
    assert place.start("0", "0").adopted
    assert ended(place.start("0", "0")) == "passed"
    time.sleep(5)  # the double has asked by now, whichever it was
    assert place.lines() == ["line"]
    assert logs(run).rstrip().splitlines()[-1] == "the end" and cost(run) is None


def test_it_computes_on_the_cluster(place, cluster):
    run = place.start(text=SPARK)
    assert ended(run) == "passed", logs(run)
    assert place.lines() == [f"{cluster.master} 1000"]


def test_a_failed_driver_is_followed_a_running_one_cancelled_a_long_log_read(place):
    first = place.start("0", "3", "long")
    assert ended(first) == "failed"
    assert len(logs(first)) > 1_500_000
    second = place.start("0", "3", "long")
    assert second.generation == 2 and ended(second) == "failed" and place.lines() == ["line"] * 2


def test_a_driver_is_cancelled(place):
    run = place.start("600", "0")
    until = time.monotonic() + 120
    while not place.lines() and time.monotonic() < until:
        time.sleep(0.2)
    cancel(run)
    assert ended(run) == "cancelled" and state(run) == "cancelled"


def test_what_is_refused(place, cluster, monkeypatch):
    with pytest.raises(ValueError, match=r"never calls fence\(\), and own may start it twice"):
        place.start(text="print(1)")
    place.script.write_text(JOB)
    monkeypatch.setenv("SUBMIT_KEY", cluster.key[::-1].replace("=", "") + "=")
    with pytest.raises(TargetUnavailable, match=r"refuses our signature \(40[13]\): its secret is another one"):
        place.start("0", "0")
    monkeypatch.setenv("SUBMIT_KEY", "short")
    with pytest.raises(ValueError, match="must be at least 32 bytes in base64url"):
        place.start("0", "0")
    dead = place.target.model_copy(update={"page": "http://127.0.0.1:9"})
    with pytest.raises(TargetUnavailable, match=r"no target answers; own: http://127\.0\.0\.1:9 does not answer"):
        Place.start(place, "0", "0", target=dead, claims=Folder(Path(place.folder / "others")))
