"""Programs under collectors, in JVMs of their own: answers, deaths, what they took, and a load that omits nobody."""

import dataclasses
import math
import sys
from pathlib import Path

import metrics_cases
import parents
import psutil
import pytest
from waiting import until

from workbench._base import java
from workbench.metrics import collectors
from workbench_proofs import collectors as loads

HEAP = 64 << 20
STORE = {"rate": 300, "seconds": 0.5, "warm_up_seconds": 0.2, "live_bytes": 8 << 20, "heap_bytes": HEAP}


@pytest.fixture(scope="module")
def trials(tmp_path_factory):
    """Two collectors in two rounds, and one whose heap does not hold the store."""

    def attempt(name):
        folder = tmp_path_factory.mktemp("trial")
        if name == "too small":
            return loads.memory("G1", folder=folder, variant=name, **STORE | {"live_bytes": 80 << 20})
        return loads.memory(name, folder=folder, **STORE)

    return collectors.rounds(attempt, ["Parallel", "G1", "too small"], rounds=2)


def test_each_round_begins_with_another_variant(trials):
    order = ["Parallel", "G1", "too small", "G1", "too small", "Parallel"]
    assert [trial.variant for trial in trials] == order


def test_answers_against_a_second_route(trials):
    """What the store answers is known by its keys: computed here without Java, of the requests that count."""
    known = loads.memory_answer(**{name: STORE[name] for name in STORE if name != "heap_bytes"})
    assert {trial.answer for trial in trials if trial.death is None} == {known}
    assert known != loads.memory_answer(rate=300, seconds=0.5)  # another store, another answer
    assert {trial.load.requests for trial in trials if trial.load} == {150}


def test_what_a_trial_took(trials):
    for trial in trials:
        assert 0.1 < trial.cpu_seconds < 60 and trial.seconds > 0.3
        assert trial.peak_memory_bytes > HEAP / 2  # the heap is touched
        assert trial.canary_seconds >= 0
    log = next(trial.collection for trial in trials if trial.variant == "Parallel")
    assert log.collector == "Parallel" and len(log.pauses) >= 1 and log.heap_bytes <= HEAP


def test_a_collector_that_dies_is_a_row(trials):
    table = collectors.medians(trials)
    assert list(table.variant) == ["Parallel", "G1", "too small"] and list(table["rounds"]) == [2, 2, 2]
    assert list(table.died) == [0, 0, 2] and list(table.out_of_memory) == [False, False, True]
    assert "OutOfMemoryError: Java heap space" in table.death[2] and table.death[0] is None
    assert list(table.requests[:2]) == [150, 150] and math.isnan(table.requests[2])
    assert (table.cpu_seconds > 0).all() and (table["response_p90_seconds"][:2] > 0).all()


def test_other_answers_and_rates_are_refused(trials):
    g1 = next(trial for trial in trials if trial.variant == "G1")
    other = dataclasses.replace(g1, variant="Z", answer="7 wrong 1")
    with pytest.raises(ValueError, match="the answers differ, .*: G1 says .* wrong 0; Z says 7 wrong 1"):
        collectors.medians([g1, other])
    slow = dataclasses.replace(g1, load=dataclasses.replace(g1.load, rate=100.0))
    with pytest.raises(ValueError, match="the loads have different rates"):
        collectors.medians([g1, slow])
    with pytest.raises(ValueError, match="trials has none"):
        collectors.medians([])
    with pytest.raises(ValueError, match="variants must be different names, at least one, found G1, G1"):
        collectors.rounds(lambda name: g1, ["G1", "G1"])
    with pytest.raises(ValueError, match="attempt of Serial gave a trial of G1"):
        collectors.rounds(lambda name: g1, ["Serial"])


STOP = """
public class Stop implements Target {
    long begin = 0;
    public void open(String[] arguments) { }
    public synchronized long call(int number) throws Exception {
        if (number == 120) {
            Thread.sleep(400);
        }
        if (number % 100 == 99) {
            throw new java.io.IOException("planted");
        }
        return 1;
    }
    public String close() { return "closed"; }
}
"""


def test_a_stop_is_met_by_all_who_were_due_meanwhile(tmp_path):
    """Coordinated omission, in the load that is Java: one stop of 0.4 s, errors counted and not timed."""
    (source := tmp_path / "Stop.java").write_text(STOP)
    trial = collectors.drive(
        source, [], "Serial", rate=200, seconds=1.5, threads=1, folder=tmp_path / "logs", heap_bytes=HEAP
    )
    met = trial.load
    assert (met.requests, dict(met.errors), trial.answer) == (297, {"IOException": 3}, None)
    assert met.service_seconds["p90"] < 0.1 < met.response_seconds["p90"] and met.late >= 60
    assert met.response_seconds["max"] >= met.service_seconds["max"] >= 0.4
    assert set(met.service_seconds) == {"p50", "p90", "p99", "max"}  # 297 requests have no p99.9


def test_what_never_ran_under_the_collector_is_not_a_result(tmp_path):
    program = str(java.find())

    def refused(sentence, *words, kind=ValueError, collector="G1", **more):
        folder = tmp_path / str(len(list(tmp_path.iterdir())))
        with pytest.raises(kind, match=sentence):
            collectors.run(list(words), collector, folder=folder, heap_bytes=HEAP, **more)

    refused("collector must be 'Serial', .*, found 'ZGC'", program, collector="ZGC")
    refused("no JVM of the program began a collector's log, .*: it said nothing", "true")
    refused(
        "no JVM of the program began .*: .*(Multiple garbage collectors|[Cc]onflicting)",
        program,
        "{options}",
        "-XX:+UseSerialGC",
        "-version",
    )
    refused("had a heap of 32 MiB, expected 64", program, "{options}", "-Xms32m", "-Xmx32m", "-version")
    refused("/nowhere/x could not be started: No such file", "/nowhere/x")
    refused("command has no word")
    refused("java_program must be|/nowhere/java must be a `java` that runs", "true", java_program="/nowhere/java")
    refused("took longer than 0.5 s", "sleep", "60", kind=TimeoutError, limit_seconds=0.5)
    (tmp_path / "used").mkdir()
    (tmp_path / "used" / "gc.log").write_text("x")
    with pytest.raises(ValueError, match="used has the logs of another trial"):
        collectors.run([program], "G1", folder=tmp_path / "used", heap_bytes=HEAP)


def test_a_load_that_never_began_is_not_a_death(tmp_path):
    (source := tmp_path / "Wrong.java").write_text("public class Wrong implements Target { int x = nothing; }")
    with pytest.raises(ChildProcessError, match=r"the load did not begin: .*Wrong.java', Line 1"):
        collectors.drive(source, [], "Serial", rate=100, seconds=1, folder=tmp_path / "logs", heap_bytes=HEAP)


def test_a_load_that_asks_nothing_is_refused(tmp_path):
    source = loads.SOURCES / "Memory.java"
    with pytest.raises(ValueError, match="rate 1 for 0.5 s is no request"):
        collectors.command(source, rate=1, seconds=0.5)
    with pytest.raises(ValueError, match="Missing.java must be a file of Java source"):
        collectors.command(tmp_path / "Missing.java", rate=1, seconds=1)
    with pytest.raises(ValueError, match="rate must be a number above 0, found 0"):
        collectors.command(source, rate=0, seconds=1)


def test_the_collectors_of_a_jvm():
    has = collectors.available(java.find())
    assert {"Serial", "G1"} <= set(has) <= {"Serial", "Parallel", "G1", "Z", "Shenandoah"}
    with pytest.raises(ValueError, match="nowhere must be a `java` that runs"):
        collectors.available("/nowhere")


def test_pauses_from_a_moment_on():
    whole = metrics_cases.collection("g1")
    with metrics_cases.log_file("g1") as path:
        later = collectors.read(path, since_seconds=whole.seconds / 2)
    assert 0 < len(later.pauses) < len(whole.pauses) and later.pauses == whole.pauses[-len(later.pauses) :]
    assert 0 < len(later.safepoints) < len(whole.safepoints)
    assert later.seconds == pytest.approx(whole.seconds / 2) and later.collector == "G1"
    assert later.heap_bytes == whole.heap_bytes


SLEEPS = """
import sys
from workbench.metrics import collectors
print("begun", flush=True)
collectors.run(["sleep", "613"], "Serial", folder=sys.argv[1], heap_bytes=1 << 26)
"""


def test_what_is_measured_ends_with_whoever_asked(tmp_path):
    with parents.serving(SLEEPS, tmp_path / "logs") as (_, said):
        assert said == "begun\n"
        until(lambda: sleeping())
    until(lambda: not sleeping())


def sleeping():
    """The processes that the test above measures."""
    found = []
    for process in psutil.process_iter():
        try:
            if process.cmdline() == ["sleep", "613"]:
                found.append(process)
        except psutil.Error:
            continue
    return found


JOB = """
from pyspark.sql import SparkSession
spark = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false").getOrCreate()
print(spark.range(1000).selectExpr("sum(id)").first()[0])
"""


@pytest.mark.proof("test_answers_against_a_second_route runs programs in the same way, without Spark")
def test_a_job_of_spark_runs_under_the_collector(tmp_path):
    (script := tmp_path / "job.py").write_text(JOB)
    env = {"SPARK_HOME": str(java.spark_home()), "SPARK_LOCAL_IP": "127.0.0.1"}
    heap, words = 512 << 20, [sys.executable, str(script)]
    trials = [
        collectors.run(words, name, folder=tmp_path / name, heap_bytes=heap, env=env)
        for name in ("Parallel", "G1")
    ]
    assert [(trial.answer, trial.death, trial.collection.collector) for trial in trials] == [
        ("499500", None, "Parallel"), ("499500", None, "G1"),
    ]  # fmt: skip
    for trial in trials:  # the JVM is not the script's own process, and is counted
        assert trial.cpu_seconds > 3 and trial.peak_memory_bytes > heap / 2
    script.write_text(JOB.replace('("local[1]")', '("local[1]").config("spark.driver.memory", "600m")'))
    with pytest.raises(ValueError, match="had a heap of 600 MiB, expected 512: does the job set a memory"):
        collectors.run(words, "G1", folder=tmp_path / "other", heap_bytes=heap, env=env)


def test_sources_of_the_load_travel_with_the_library():
    from workbench.metrics.collectors import driving

    assert sorted(path.name for path in driving.SOURCES.iterdir()) == [
        "Boot.java",
        "Mixed.java",
        "OpenLoop.java",
        "Target.java",
    ]
    assert Path(loads.SOURCES / "Memory.java").is_file()
