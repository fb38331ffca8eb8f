"""A run and its reports as JSON are the same run and reports when they are read again."""

import json

import metrics_cases
import pytest

from workbench.metrics import documents, prometheus
from workbench.metrics.runs import Stage


@pytest.mark.parametrize("name", [*metrics_cases.HEALTHY, *metrics_cases.PLANTED, "killed"])
def test_what_is_read_again_is_equal(name):
    run, kept = metrics_cases.run(name), metrics_cases.kept(name)
    written = json.dumps(documents.document(run, kept))
    assert documents.read(json.loads(written)) == (run, kept)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda d: d.update(version=2), "it has version 2; this library reads version 1"),
        (lambda d: d["run"].pop("stages"), "KeyError 'stages'"),
        (lambda d: d["run"].update(missing_tasks="3"), "expected int, found '3'"),
        (lambda d: d["run"]["tasks"]["rows"][0].pop(), "ValueError"),
        (lambda d: d["reports"].update(commits=None), "TypeError"),
    ],
)
def test_what_was_changed_is_refused(change, said):
    document = json.loads(json.dumps(documents.document(metrics_cases.run("merged"))))
    change(document)
    with pytest.raises(ValueError, match=said):
        documents.read(document)


def test_the_columns_of_a_stage_are_single_values():
    columns = documents.columns(Stage)
    assert columns["stage_id"] is int and columns["failure"] is str and columns["cpu_seconds"] is float


def test_metrics_of_several_tables_are_in_the_order_of_their_names():
    text = prometheus.text(metrics_cases.run("merged"), metrics_cases.kept("merged"), job="nightly")
    lines = [line for line in text.splitlines() if line.startswith("workbench_run_table_data_files{")]
    assert len(lines) == 2 and lines == sorted(lines)
