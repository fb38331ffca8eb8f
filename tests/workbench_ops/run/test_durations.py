"""How long a run is likely to take comes from its job's own runs, else from what its notebook says."""

import nbformat
import pytest

from workbench_ops.run import durations
from workbench_ops.run.record import Record


def titled(text):
    return nbformat.v4.new_notebook(cells=[nbformat.v4.new_markdown_cell(f"# Do it\n\n*Reads* nothing.\n{text}")])


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("*Takes* about ten seconds with the defaults.", 10),
        ("*Takes* about thirty-five seconds; days of waiting pass on a clock.", 35),
        ("*Takes* about a minute with the defaults.", 60),
        ("*Takes* about a minute and a half with the defaults.", 90),
        ("*Takes* half a minute", 30),
        ("*Takes* two to three minutes with the defaults.", 180),
        ("*Takes* 60 s", 60),
        ("*Takes* 2-3 min", 180),
        ("*Takes* an hour", 3600),
        ("*Takes* a few seconds", None),
        ("*Takes* no time", None),
        ("Takes 5 seconds", None),
    ],
)
def test_what_a_notebook_announces(text, seconds):
    assert durations.announced_seconds(titled(text)) == seconds


def test_a_notebook_without_text_announces_nothing():
    assert durations.announced_seconds(nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell("1")])) is None


def test_the_newest_passed_runs_of_the_same_job_count():
    planned = durations.Work("x", {"N": 1}, "local")

    def ran(seconds, status="passed", **changes):
        values = vars(planned) | {"status": status, "seconds": seconds} | changes
        return Record(run_id="x", started_at="2026-11-01T16:05:01Z", **values)

    records = [ran(100), ran(100), *(ran(seconds) for seconds in (8, 1, 7, 3, 5))]
    others = [ran(50, "failed"), ran(60, parameters={"N": 2}), ran(70, engine="spark35"), ran(None, "running")]
    assert durations.usual_seconds(planned, [*records, *others], titled("*Takes* 60 s")) == 5
    assert durations.usual_seconds(planned, others, titled("*Takes* 60 s")) == 60
    assert durations.usual_seconds(planned, [], titled("")) is None


def test_the_shortest_starts_first_and_then_the_longest():
    seconds = {"a": 20, "b": 90, "c": None, "d": 10, "e": 40}
    assert durations.starting_order(seconds) == ["d", "c", "b", "e", "a"]
    assert durations.starting_order({"a": None, "b": None}) == ["a", "b"]
    assert durations.starting_order({"a": 5.0}) == ["a"]
