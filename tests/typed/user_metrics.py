"""Watching a run, its incidents and cures, collectors: docs/observability.md."""

from typing import assert_type

from pyspark.sql import SparkSession

from workbench import metrics
from workbench.metrics import collectors, events, incidents, prometheus, reports


def watched(spark: SparkSession) -> None:
    with metrics.watch(spark, "watched") as watching:
        assert_type(watching.failure, str | None)
    run, kept = events.read("watched"), reports.read("watched")
    assert_type(run.whole, bool)
    assert_type(kept.commits[0].tries, int)
    for incident in incidents.find(run, kept, error="x"):
        assert_type(incident.figure, float)
        (cure, *_) = incidents.cures(incident)
        trial = incidents.trial(incident, cure, run, run, answers_equal=True)
        assert_type(trial.cpu_seconds_after, float)
        incidents.trial(incident, cure, run, run)  # wrong: call-arg
    assert_type(prometheus.text(run, kept, job="nightly"), str)
    assert_type(metrics.settings("watched"), dict[str, str])
    metrics.watch(spark)  # wrong: call-arg
    events.read(3)  # wrong: arg-type
    incidents.find("watched")  # wrong: arg-type
    prometheus.text(run)  # wrong: call-arg


def compared() -> None:
    assert_type(collectors.options("G1", "gc.log", java=21), list[str])
    met = collectors.load(print, rate=100, seconds=1)
    assert_type(met.response_seconds["p99"], float)
    collectors.compare({"G1": collectors.read("gc.log")}, {"G1": met})
    job = collectors.run(["python", "job.py"], "G1", folder="logs", heap_bytes=1 << 30)
    assert_type(job.cpu_seconds, float)
    trials = collectors.rounds(lambda name: job, ["G1"], rounds=3)
    assert_type(trials, list[collectors.Trial])
    collectors.medians(trials)
    assert_type(collectors.available("java"), list[str])
    assert_type(collectors.command("Mine.java", rate=100, seconds=1), list[str])
    collectors.run("python job.py", "G1", folder="logs")  # wrong: call-arg
    collectors.rounds(["G1"], print)  # wrong: arg-type
    collectors.options("ZGC", "gc.log", java=21)  # wrong: arg-type
    collectors.load(print, rate="100", seconds=1)  # wrong: arg-type
