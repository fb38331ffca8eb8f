"""A cure is judged by a repeat: helped, no effect, worse, or void; never by its name."""

import copy
from dataclasses import replace

import metrics_cases
import pytest
from metrics_cases import ended, listed, write

from workbench.metrics import events, incidents
from workbench.metrics.causes import CAUSES, Incident


def a_run(tmp_path, name, *, spill=0, cpu=10, error=None):
    """Return a whole run of four tasks with a spill, CPU seconds and perhaps an error."""
    happenings = ended(copy.deepcopy(listed("aggregate")))
    for event in happenings:
        if event["Event"] == "SparkListenerTaskEnd":
            event["Task Metrics"] |= {"Disk Bytes Spilled": spill, "Executor CPU Time": int(cpu * 1e9 / 6)}
        if event["Event"].endswith("SQLExecutionEnd") and error:
            event["errorMessage"] = error
    return events.read(write(tmp_path / name, happenings))


@pytest.fixture
def spilled(tmp_path):
    before = a_run(tmp_path, "before", spill=10_000_000)
    incident = incidents.find(before)[0]
    return before, incident, incidents.cures(incident)[0]


@pytest.mark.parametrize(
    ("after", "equal", "verdict", "why"),
    [
        ({"spill": 0}, True, "helped", "it is gone"),
        ({"spill": 0, "cpu": 10.5}, True, "helped", "it is gone"),
        ({"spill": 0, "cpu": 12}, True, "worse", "it takes more CPU"),
        ({"spill": 9_000_000}, True, "no effect", "it is still there"),
        ({"spill": 9_000_000, "cpu": 8}, True, "helped", "it takes less CPU"),
        ({"spill": 20_000_000}, True, "worse", "there is more of it"),
        ({"spill": 0}, False, "void", "the answers differ"),
        ({"spill": 0}, None, "void", "nobody compared the answers"),
        (
            {"spill": 0, "error": "java.lang.OutOfMemoryError: x"},
            True,
            "worse",
            "it failed: java.lang.OutOfMemoryError: x",
        ),
    ],
)
def test_a_cure_is_judged_by_its_repeat(tmp_path, spilled, after, equal, verdict, why):
    before, incident, cure = spilled
    trial = incidents.trial(incident, cure, before, a_run(tmp_path, "after", **after), answers_equal=equal)
    assert trial.verdict == verdict and f": {verdict}, {why};" in trial.sentence


def test_a_run_that_failed_is_no_measure_of_cpu(tmp_path):
    """It took less because it did not come to its end."""
    before = a_run(tmp_path, "before", cpu=2, error="java.lang.OutOfMemoryError: Java heap space")
    (memory,) = incidents.find(before)
    cure = incidents.cures(memory)[0]
    trial = incidents.trial(memory, cure, before, a_run(tmp_path, "after", cpu=20), answers_equal=True)
    assert (trial.verdict, trial.figure_before, trial.figure_after) == ("helped", 1, 0)
    other = a_run(tmp_path, "other", cpu=20, error="java.lang.ArithmeticException: / by zero")
    assert incidents.trial(memory, cure, before, other, answers_equal=True).verdict == "worse"


def test_what_a_cure_costs_counts(tmp_path, spilled):
    before, incident, cure = spilled
    after = a_run(tmp_path, "after", cpu=5)
    for cost, verdict in ((1, "helped"), (7, "worse")):
        trial = incidents.trial(incident, cure, before, after, answers_equal=True, cure_cpu_seconds=cost)
        assert (trial.verdict, trial.cpu_seconds_after) == (verdict, pytest.approx(5 + cost))
    assert trial.sentence.startswith("more partitions: worse, it takes more CPU; spill ")


def test_what_cannot_be_judged_is_refused(tmp_path, spilled):
    before, incident, cure = spilled
    after = a_run(tmp_path, "after")
    (skew,) = incidents.find(metrics_cases.run("skewed"))
    with pytest.raises(
        ValueError,
        match=r"split skewed partitions is not a cure for spill of stage \d+; those are more partitions",
    ):
        incidents.trial(incident, incidents.cures(skew)[0], before, after, answers_equal=True)
    (small,) = [i for i in incidents.find(metrics_cases.run("small_files")) if i.cause == "small_files"]
    other = incidents.cures(replace(small, where="table lake.other.t"))[0]
    with pytest.raises(ValueError, match="compact is not a cure for small_files of table lake.m.small0"):
        incidents.trial(small, other, before, after, answers_equal=True)
    with pytest.raises(ValueError, match="before has no spill: it is not the run of the incident"):
        incidents.trial(incident, cure, after, after, answers_equal=True)
    cut = events.read(write(tmp_path / "cut", listed("aggregate")))
    with pytest.raises(ValueError, match="the log of after is not whole"):
        incidents.trial(incident, cure, before, cut, answers_equal=True)


def test_cures_name_the_table_as_sql_has_it():
    small = Incident("small_files", "table lake.m.t", 1, 1, "", "")
    (compact, larger) = incidents.cures(small)
    assert compact.statements == (
        "CALL `lake`.system.rewrite_data_files(table => '`m`.`t`', options => map('min-input-files', '2'))",
    )
    assert larger.statements == (
        "ALTER TABLE `lake`.`m`.`t` SET TBLPROPERTIES ('write.distribution-mode' = 'hash')",
    )
    (compact, _) = incidents.cures(replace(small, where="table m.t"))
    assert compact.statements[0].startswith("CALL system.rewrite_data_files(table => '`m`.`t`'")
    odd = incidents.cures(replace(small, where="table lake.m.it's a table'); DROP TABLE x"))
    assert all(cure.by_hand for cure in odd)


def test_retries_are_no_cure_where_what_was_read_has_changed():
    """Iceberg tries a commit again that was late (CommitFailedException), and none whose own check refused it."""
    late = "org.apache.iceberg.exceptions.CommitFailedException: metadata location has changed"
    (first, *_) = incidents.cures(Incident("commit_conflicts", "run", 2, 1, "", late))
    assert first.name == "more and later retries"
    for text in ("Found conflicting files that can", "Found new conflicting delete files that can"):
        refused = f"org.apache.iceberg.exceptions.ValidationException: {text} contain records matching true: []"
        found = incidents.cures(Incident("commit_conflicts", "run", 2, 1, "", refused))
        assert [cure.name for cure in found] == ["run the job again", "change less"]
        assert all(cure.by_hand for cure in found)


def test_each_cause_has_cures_and_an_unknown_one_is_refused():
    for cause in CAUSES:
        assert incidents.cures(Incident(cause, "run", 1, 1, "", "")), cause
    with pytest.raises(ValueError, match="there is no cause nonsense; there are commit_conflicts, disk_full"):
        incidents.cures(Incident("nonsense", "run", 1, 1, "", ""))


def test_cures_are_tried_until_one_helps(tmp_path, spilled):
    before, incident, _ = spilled
    tried = []

    def repeat(cure):
        tried.append(cure.name)
        return (
            a_run(tmp_path, f"r{len(tried)}", spill=0 if cure.name == "more memory" else 9_000_000),
            metrics_cases.kept("aggregate"),
            True,
        )

    assert [trial.verdict for trial in incidents.mitigate(incident, before, repeat)] == ["no effect", "helped"]
    assert tried == ["more partitions", "more memory"]
    assert [trial.verdict for trial in incidents.mitigate(incident, before, repeat, tries=1)] == ["no effect"]
    with pytest.raises(ValueError, match="tries must be an integer of at least 1, found 0"):
        incidents.mitigate(incident, before, repeat, tries=0)


def test_more_memory_for_a_collector_is_judged_by_its_logs(tmp_path):
    run = a_run(tmp_path, "run")
    small, calm = metrics_cases.collection("g1-full"), metrics_cases.collection("shenandoah")
    (incident,) = incidents.find(run, collection=small)
    cure = incidents.cures(incident)[0]
    logs = {"collection_before": small, "collection_after": replace(calm, paced_seconds=0)}
    assert incidents.trial(incident, cure, run, run, answers_equal=True, **logs).verdict == "helped"
    logs["collection_after"] = small
    assert incidents.trial(incident, cure, run, run, answers_equal=True, **logs).verdict == "no effect"
    with pytest.raises(ValueError, match="its reports or its collector's log are missing"):
        incidents.trial(incident, cure, run, run, answers_equal=True)
