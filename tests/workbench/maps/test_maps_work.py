"""What a worker of Spark does with its items, without Spark: batches, rows, several records, tries."""

import json

import pyarrow as pa
import pytest
from machines import PUT, calling, flow, passing

from workbench import maps
from workbench.maps import plans
from workbench.maps.states import About, Machine
from workbench.maps.work import Batches, Reader, Source, Work
from workbench.records.parsing import Parser

ABOUT = About("r", "flow", "2026-01-31T10:00:00.000Z", 1769853600000)
NUMBERS = {"type": "struct", "fields": [{"name": "n", "type": "integer", "nullable": True, "metadata": {}}]}


@pytest.fixture
def no_waits(monkeypatch):
    """The seconds that are waited between tries, in place of the waiting."""
    waits = []
    monkeypatch.setitem(Machine.__init__.__kwdefaults__, "sleep", waits.append)
    return waits


def work(states, *, bound=None, batches=None, kind="JSONL", threads=1, parser=None):
    return Work(
        machine={"StartAt": next(iter(states)), "States": states}, state="Each", bound=bound or {}, about=ABOUT, redrive=0,
        sources={"file:/a": Source("s3://lake/a", 0, 100)}, reader=Reader(kind), selector=None, states_input={},
        variables={}, batches=batches, threads=threads, output=parser is None, parser=parser,
    )  # fmt: skip


def rows(work, columns, *names):
    """The rows that a worker gives for one Arrow batch of a file's lines or items."""
    (count,) = {len(values) for values in columns.values()}
    batch = pa.RecordBatch.from_pydict({"_file": ["file:///a"] * count, **columns})
    return [tuple(row[name] for name in names) for given in work([batch]) for row in given.to_pylist()]


def lines(items):
    return {"line": [json.dumps(item).encode() for item in items]}


@pytest.mark.parametrize(("most_items", "most_bytes", "sizes"), [(100, 260, [2, 2, 2]), (4, 260_000, [4, 2])])
def test_batches_end_at_their_items_and_bytes(most_items, most_bytes, sizes):
    items = [{"n": n, "text": "x" * 100} for n in range(6)]
    batched = work(passing("{% $states.input.Items.n %}"), batches=Batches(most_items, most_bytes))
    given = rows(batched, lines(items), "_index", "_items", "_row", "_output")
    starts = [sum(sizes[:place]) for place in range(len(sizes))]
    assert [row[:3] for row in given] == [(start, size, start) for start, size in zip(starts, sizes, strict=True)]
    assert [n for row in given for n in json.loads(row[3])] == list(range(6))


def test_limits_are_what_the_definition_says(tmp_path):
    def limits(value=None, **fields):
        definition = flow(passing(), tmp_path, **fields)
        return plans._limits(definition, plans._scope(definition, ABOUT, value, {}))

    assert limits() == plans.Limits(0, None, None, None, None)
    batcher = {"MaxInputBytesPerBatch": 260, "BatchInput": {"day": "{% $states.input.day %}"}}
    assert limits(
        {"most": 3, "day": "d"}, MaxConcurrency=2, ToleratedFailureCount="{% $states.input.most %}",
        ToleratedFailurePercentage=99.5, ItemBatcher=batcher,
    ) == plans.Limits(2, None, 3, "99.5", Batches(100_000_000, 260, {"day": "d"}))  # fmt: skip
    assert limits(ItemBatcher={"MaxItemsPerBatch": 7}).batches == Batches(7, 262_144)


def test_a_number_that_is_none_fails_its_item():
    items = {"_row": [0, 1, 2, 3], "item": [{"a": 1.5}, {"a": float("nan")}, {"a": None}, {"a": float("inf")}]}
    assert rows(work(passing(), kind="PARQUET"), items, "_error", "_output") == [
        (None, '{"a":1.5}'), ("States.ItemReaderFailed", None), (None, '{"a":null}'), ("States.ItemReaderFailed", None),
    ]  # fmt: skip


def test_a_child_has_a_row_for_each_record_that_it_delivers():
    put = {"Type": "Task", "Resource": PUT, "Output": "{% $states.input %}",
           "Arguments": {"DeliveryStreamName": "s", "Record": {"Data": "{% $string($states.input) %}"}}}  # fmt: skip
    states = {"A": put | {"Next": "If"},
              "If": {"Type": "Choice", "Choices": [{"Condition": "{% $states.input.n = 2 %}", "Next": "B"}], "Default": "End"},
              "B": put | {"Next": "End"}, "End": {"Type": "Succeed"}}  # fmt: skip
    target = maps.Delivery("n INT")
    delivering = work(states, bound={"A": target, "B": target}, parser=Parser(NUMBERS, strict=True))
    assert rows(delivering, lines([{"n": 1}, {"n": 2}, {"n": "x"}]), "_index", "_record", "_items", "_error", "n") == [
        (0, 1, 1, None, 1), (1, 1, 1, None, 2), (1, 2, 1, None, 2), (2, 0, 1, "Delivery.wrong_type", None),
    ]  # fmt: skip


@pytest.mark.parametrize("threads", [1, 2])
def test_fails_twice_then_works_is_one_row_with_three_tries(no_waits, threads):
    tried = []

    def busy(item, call):
        if item["n"] == 2:
            tried.append((call.key, call.tries))
            if len(tried) < 3:
                raise ConnectionError("busy")
        return item

    retry = [{"ErrorEquals": ["ConnectionError"], "IntervalSeconds": 1}]
    retried = work(calling(Retry=retry), bound={"Call": busy}, threads=threads)
    assert rows(retried, lines([{"n": n} for n in range(4)]), "_index", "_attempts", "_error") == [
        (0, 1, None), (1, 1, None), (2, 3, None), (3, 1, None),
    ]  # fmt: skip
    assert (tried, no_waits) == ([("r/2/Call", tries) for tries in range(3)], [1, 2.0])
