"""A definition's Map runs on Spark: each item once, with its file and row, and failures where they are."""

import json

import machines
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import sensors
from machines import Noted, calling, flow, jsonl, passing
from published import FILE, NAMES

from workbench import maps
from workbench.maps import targets

AT_LIMIT = pytest.mark.proof(
    "test_the_limit_itself_is_tolerated has each limit; a run below its limits and one above them show what follows"
)
ATHENA = "arn:aws:states:::athena:startQueryExecution.sync"


@pytest.fixture
def lake(tmp_path):
    folder = tmp_path / "lake"
    folder.mkdir()
    return folder


@pytest.fixture
def go(spark, namespace, lake):
    """Run a definition into the test's table, over the test's folder in the place of the bucket."""

    def run(definition, *, run_id="r", table="t", again=False, **options):
        call = maps.redrive if again else maps.run
        return call(
            spark, definition, f"{namespace}.{table}", run_id=run_id, buckets={"lake": str(lake)}, **options
        )

    return run


def rows(spark, namespace, *columns, run_id="r", table="t"):
    return [
        tuple(row)
        for row in maps.results(spark, f"{namespace}.{table}", run_id=run_id)
        .orderBy("_index", "_record")
        .select(*columns)
        .collect()
    ]


def outputs(spark, namespace, **options):
    return [text and json.loads(text) for (text,) in rows(spark, namespace, "_output", **options)]


def published(uri):
    return {
        NAMES["AnalyseArn"]: sensors.handler,
        "readings": maps.Delivery(sensors.DDL),
        ATHENA: lambda arguments, call: {"QueryExecution": {"ResultConfiguration": {"OutputLocation": uri}}},
    }


def fifteen(value):
    """A number as $string keeps it."""
    return float(f"{value:.15g}")


def test_the_published_definition_answers_as_plain_python_does(spark, namespace, lake, go):
    every, uri = sensors.written(lake, devices=3, hours=30)
    definition = maps.read(FILE, names=NAMES)
    done = go(definition, resources=published(uri), input={"bucket": "lake"}, wave_rows=40)
    assert (done.state, done.items, done.items_done, done.failed, done.files, done.waves) == (
        "succeeded",
        90,
        90,
        0,
        3,
        2,
    )
    written = maps.results(spark, f"{namespace}.t", run_id="r").orderBy("_index").collect()
    expected = []
    for source, readings in every.items():
        for row, reading in enumerate(readings):
            answer = sensors.handler(reading, None)
            answer["metrics"] = {name: fifteen(value) for name, value in answer["metrics"].items()}
            expected.append((len(expected), source, row, 1, 1, None, answer))
    names = list(sensors.handler(every[next(iter(every))][0], None))
    assert [
        (r["_index"], r["_source"], r["_row"], r["_record"], r["_attempts"], r["_error"],
         {name: r.asDict(recursive=True)[name] for name in names})
        for r in written
    ] == expected  # fmt: skip
    assert {r["_run"] for r in written} == {"r"} and any(r["anomalycount"] for r in written)
    assert go(definition, resources=published(uri)) == done
    assert spark.table(f"{namespace}.t").count() == 90


def test_csv_and_manifest_and_odd_names(spark, namespace, lake, go):
    (lake / "a b").mkdir()
    (lake / "a b" / "one [1].csv").write_text('id,note\n1,"x,\ny"\n2\n')
    (lake / "a b" / "two%20{2}.csv").write_text("id,note\n3,z\n")
    (lake / "m.csv").write_text("s3://lake/a b/one [1].csv\ns3://lake/a b/two%20{2}.csv\n")
    config = {"InputType": "CSV", "ManifestType": "ATHENA_DATA", "CSVHeaderLocation": "FIRST_ROW"}
    select = {"at": "{% $states.context.Map.Item.Index %}", "id": "{% $states.context.Map.Item.Value.id %}",
              "of": "{% $states.context.Map.Item.Source %}", "from": "{% $states.input.from %}"}  # fmt: skip
    definition = flow(passing(), lake, config=config, key="m.csv", ItemSelector=select)
    assert go(definition, input={"from": "me"}).items == 3
    assert outputs(spark, namespace) == [
        {"at": 0, "id": "1", "of": "s3://lake/a b/one [1].csv", "from": "me"},
        {"at": 1, "id": "2", "of": "s3://lake/a b/one [1].csv", "from": "me"},
        {"at": 2, "id": "3", "of": "s3://lake/a b/two%20{2}.csv", "from": "me"},
    ]
    assert rows(spark, namespace, "_source", "_row")[1:] == [
        ("s3://lake/a b/one [1].csv", 1), ("s3://lake/a b/two%20{2}.csv", 0),
    ]  # fmt: skip
    headed = flow(passing(), lake, config={"InputType": "CSV", "CSVHeaderLocation": "GIVEN", "CSVHeaders": ["a", "b"], "MaxItems": 2}, key="a b/one [1].csv")  # fmt: skip
    assert go(headed, run_id="headed").items == 2
    assert outputs(spark, namespace, run_id="headed") == [{"a": "id", "b": "note"}, {"a": "1", "b": "x,\ny"}]


@pytest.mark.proof("34_map_items requires the answers in batches, and how many children they had")
def test_batches_are_the_same_however_files_are_split(spark, namespace, lake, go):
    sensors.written(lake, devices=2, hours=25, per_group=3)
    config = {"InputType": "PARQUET", "ManifestType": "ATHENA_DATA"}
    output = "{% {'n': $count($states.input.Items), 'first': $states.input.Items[0].timestamp, 'day': $states.input.BatchInput.day} %}"  # fmt: skip
    batcher = {"MaxItemsPerBatch": 10, "BatchInput": {"day": "{% $states.input.day %}"}}
    definition = flow(passing(output), lake, config=config, key="daily-manifest.csv", ItemBatcher=batcher)
    by_split = []
    for run_id, split in (("one", 600), ("two", 2**27)):
        spark.conf.set("spark.sql.files.maxPartitionBytes", split)
        try:
            assert go(definition, run_id=run_id, input={"day": "d"}).items == 50
        finally:
            spark.conf.unset("spark.sql.files.maxPartitionBytes")
        by_split.append(rows(spark, namespace, "_index", "_items", "_row", "_output", run_id=run_id))
    assert by_split[0] == by_split[1]
    assert [row[:3] for row in by_split[0]] == [
        (0, 10, 0),
        (10, 10, 10),
        (20, 5, 20),
        (25, 10, 0),
        (35, 10, 10),
        (45, 5, 20),
    ]
    assert json.loads(by_split[0][1][3]) == {"n": 10, "first": "2026-01-01T10:00:00Z", "day": "d"}


@pytest.mark.proof(
    "test_batches_end_at_their_items_and_bytes has the batches, test_limits_are_what_the_definition_says the field"
)
def test_batches_end_at_their_bytes(spark, namespace, lake, go):
    jsonl(lake, [{"n": n, "text": "x" * 100} for n in range(6)])
    definition = flow(
        passing("{% $count($states.input.Items) %}"), lake, ItemBatcher={"MaxInputBytesPerBatch": 260}
    )
    go(definition)
    size = len(json.dumps({"n": 0, "text": "x" * 100}, separators=(",", ":")))
    each = (260 - len('{"Items":[]}')) // (size + 1)
    assert rows(spark, namespace, "_items") == [(each,)] * (6 // each)


@pytest.mark.proof(
    "test_the_published_definition_answers_as_plain_python_does has items of several files in order"
)
def test_splits_do_not_change_items_without_batches(spark, namespace, lake, go):
    every, _ = sensors.written(lake, devices=2, hours=25, per_group=3)
    config = {"InputType": "PARQUET", "ManifestType": "ATHENA_DATA", "MaxItems": 40}
    definition = flow(passing("{% $states.input.timestamp %}"), lake, config=config, key="daily-manifest.csv")
    spark.conf.set("spark.sql.files.maxPartitionBytes", 600)
    try:
        go(definition, wave_rows=1)
    finally:
        spark.conf.unset("spark.sql.files.maxPartitionBytes")
    stamps = [reading["timestamp"] for readings in every.values() for reading in readings]
    assert outputs(spark, namespace) == stamps[:40]


@pytest.mark.parametrize(
    ("fields", "failing", "passes"),
    [
        pytest.param({}, 1, False, marks=AT_LIMIT),
        pytest.param({"ToleratedFailurePercentage": 10}, 2, True, marks=AT_LIMIT),
        pytest.param({"ToleratedFailurePercentage": 10}, 3, False, marks=AT_LIMIT),
        ({"ToleratedFailureCount": "{% $states.input.most %}"}, 3, True),
        ({"ToleratedFailureCount": 2, "ToleratedFailurePercentage": 99.5}, 3, False),
    ],
)
def test_the_run_fails_above_what_is_tolerated(spark, namespace, lake, go, fields, failing, passes):
    jsonl(lake, [{"n": n} for n in range(20)])
    states = {
        "Odd": {"Type": "Choice", "Choices": [{"Condition": f"{{% $states.input.n < {failing} %}}", "Next": "No"}], "Default": "Yes"},
        "No": {"Type": "Fail", "Error": "Mine", "Cause": "{% 'item ' & $states.input.n %}"},
        "Yes": {"Type": "Succeed"},
    }  # fmt: skip
    definition = flow(states, lake, **fields)
    if passes:
        assert (go(definition, input={"most": 3}).state, maps.describe(spark, f"{namespace}.t", run_id="r").failed) == ("succeeded", failing)  # fmt: skip
    else:
        with pytest.raises(maps.TooManyFailed, match=f"{failing} of 20 items failed") as refused:
            go(definition, input={"most": 3})
        assert refused.value.run.state == "failed"
        with pytest.raises(maps.TooManyFailed):  # nor is it run again by the same call
            go(definition)
    wrong = rows(spark, namespace, "_index", "_error", "_cause", "_output")[:failing]
    assert wrong == [(n, "Mine", f"item {n}", None) for n in range(failing)]


def test_no_items_at_all(spark, namespace, lake, go):
    (lake / "items.jsonl").write_text("")
    done = go(flow(passing(), lake))
    assert (done.state, done.items, done.waves, done.files_done) == ("succeeded", 0, 0, 1)
    assert rows(spark, namespace, "_index") == []


@pytest.mark.proof("34_map_items requires which items a redrive runs again")
def test_redrive_runs_the_failed_ones_alone_and_what_had_not_begun(spark, namespace, lake, go, tmp_path):
    for part in range(3):
        jsonl(lake, [{"n": n} for n in range(10 * part, 10 * part + 10)], f"p{part}.jsonl")
    (lake / "m.csv").write_text("".join(f"s3://lake/p{part}.jsonl\n" for part in range(3)))
    function = Noted(tmp_path / "noted")
    config = {"InputType": "JSONL", "ManifestType": "ATHENA_DATA"}
    definition = flow(calling(), lake, config=config, key="m.csv", ToleratedFailureCount=1)
    function.fail(3, 11, 12)
    with pytest.raises(maps.TooManyFailed) as failed:
        go(definition, resources={machines.FUNCTION: function}, wave_rows=10)
    assert (failed.value.run.files_done, failed.value.run.failed, failed.value.run.waves) == (2, 3, 2)
    (most,) = failed.value.failures
    assert (most.error, most.items, most.causes, most.index) == (
        "ConnectionError",
        3,
        3,
        3,
    ) and "item 3 is busy" in most.cause
    assert "3 by ConnectionError for 3 causes, as item 3: {" in str(failed.value)
    assert maps.failures(spark, f"{namespace}.t", run_id="r") == [most]
    before = len(function.calls())
    function.mend()
    function.fail(12)
    done = go(definition, again=True, resources={machines.FUNCTION: function}, wave_rows=10)
    assert (done.state, done.redrive, done.failed, done.items_done) == ("succeeded", 1, 1, 30)
    own = targets.token(spark, f"{namespace}.t")
    assert sorted(function.calls()[before:]) == sorted(f"{own}/r/{n}/Call 0" for n in (3, 11, 12, *range(20, 30)))
    counting = rows(spark, namespace, "_index", "_redrive", "_error")
    assert [row[0] for row in counting] == list(range(30)) and [row for row in counting if row[2]] == [
        (12, 1, "ConnectionError")
    ]
    assert {row[0]: row[1] for row in counting if row[0] in (2, 3, 25)} == {2: 0, 3: 1, 25: 1}
    function.mend()
    assert go(definition, again=True, resources={machines.FUNCTION: function}).failed == 0
    assert outputs(spark, namespace) == [{"n": n, "square": n * n} for n in range(30)]
    with pytest.raises(ValueError, match="no item of run r failed"):
        go(definition, again=True, resources={machines.FUNCTION: function})


@pytest.mark.proof("test_maps_work.py has the row and its tries by the worker's own work, without Spark")
def test_fails_twice_then_works_is_one_row_with_three_tries(spark, namespace, lake, go, tmp_path):
    jsonl(lake, [{"n": n} for n in range(4)])
    function = Noted(tmp_path / "noted")
    function.fail(2, times=2)
    retry = [{"ErrorEquals": ["ConnectionError"], "IntervalSeconds": 1, "MaxDelaySeconds": 1}]
    go(flow(calling(Retry=retry), lake), resources={machines.FUNCTION: function}, threads=2)
    assert rows(spark, namespace, "_index", "_attempts", "_error") == [
        (0, 1, None),
        (1, 1, None),
        (2, 3, None),
        (3, 1, None),
    ]
    own = targets.token(spark, f"{namespace}.t")
    assert [call for call in function.calls() if "/r/2/" in call] == [
        f"{own}/r/2/Call {tries}" for tries in range(3)
    ]


def test_not_more_children_at_once_than_max_concurrency(spark, namespace, lake, go, tmp_path):
    for part in range(4):
        jsonl(lake, [{"n": n} for n in range(5)], f"p{part}.jsonl")
    (lake / "m.csv").write_text("".join(f"s3://lake/p{part}.jsonl\n" for part in range(4)))
    config = {"InputType": "JSONL", "ManifestType": "ATHENA_DATA"}
    for most, threads in ((1, 8), (3, 3)):
        function = Noted(tmp_path / f"noted {most}", wait=0.03)
        definition = flow(calling(), lake, config=config, key="m.csv", MaxConcurrency=most)
        go(definition, run_id=f"r{most}", resources={machines.FUNCTION: function}, threads=threads)
        at_once = max(map(int, (tmp_path / f"noted {most}" / "at once").read_text().split()))
        assert (1 if most == 1 else 2) <= at_once <= most and len(function.calls()) == 20


def test_one_bad_item_fails_alone(spark, namespace, lake, go):
    good = {"id": 1, "name": "a"}
    records = [good, {"id": "2", "name": "b"}, {"id": 3}, {"name": "no id"}, {"id": 5, "name": "e", "more": 1}, {"id": 2**40, "name": "f"}, {"id": 7, "name": "x" * 262_144}]  # fmt: skip
    lines = [json.dumps(record) for record in records] + ["{", '{"id": NaN}']
    (lake / "items.jsonl").write_text("\n".join(lines))
    put = {"Put": {"Type": "Task", "Resource": machines.PUT, "End": True,
                   "Arguments": {"DeliveryStreamName": "s", "Record": {"Data": "{% $string($states.input) %}"}}}}  # fmt: skip
    definition = flow(put, lake, ToleratedFailurePercentage=100)
    done = go(definition, resources={"s": maps.Delivery("id INT NOT NULL, name STRING")})
    assert done.failed == 7
    assert rows(spark, namespace, "_index", "_record", "_error", "id", "name") == [
        (0, 1, None, 1, "a"),
        (1, 0, "Delivery.wrong_type", None, None),
        (2, 1, None, 3, None),
        (3, 0, "Delivery.missing_field", None, None),
        (4, 0, "Delivery.unknown_field", None, None),
        (5, 0, "Delivery.out_of_range", None, None),
        (6, 0, "States.DataLimitExceeded", None, None),
        (7, 0, "States.ItemReaderFailed", None, None),
        (8, 0, "States.ItemReaderFailed", None, None),
    ]


@pytest.mark.proof("test_maps_work.py has the same items by the worker's own work, without Spark")
def test_a_number_that_is_none_fails_its_item(spark, namespace, lake, go):
    import pyarrow as pa
    import pyarrow.parquet as pq

    pq.write_table(pa.table({"a": [1.5, float("nan"), None, float("inf")]}), lake / "a.parquet")
    definition = flow(passing(), lake, config={"InputType": "PARQUET"}, key="a.parquet", ToleratedFailureCount=2)
    assert go(definition).failed == 2
    assert rows(spark, namespace, "_error", "_output") == [
        (None, '{"a":1.5}'), ("States.ItemReaderFailed", None), (None, '{"a":null}'), ("States.ItemReaderFailed", None),
    ]  # fmt: skip


@pytest.mark.proof("test_maps_work.py has the rows of a child by the worker's own work, without Spark")
def test_several_records_of_a_child(spark, namespace, lake, go):
    jsonl(lake, [{"n": 1}, {"n": 2}])
    put = {"Type": "Task", "Resource": machines.PUT, "Output": "{% $states.input %}",
           "Arguments": {"DeliveryStreamName": "s", "Record": {"Data": "{% $string($states.input) %}"}}}  # fmt: skip
    states = {"A": put | {"Next": "If"},
              "If": {"Type": "Choice", "Choices": [{"Condition": "{% $states.input.n = 2 %}", "Next": "B"}], "Default": "End"},
              "B": put | {"Next": "End"}, "End": {"Type": "Succeed"}}  # fmt: skip
    done = go(flow(states, lake), resources={"s": maps.Delivery("n INT")})
    assert (done.items_done, done.failed) == (2, 0)
    assert rows(spark, namespace, "_index", "_record", "_items", "n") == [(0, 1, 1, 1), (1, 1, 1, 2), (1, 2, 1, 2)]


@pytest.mark.proof("test_a_pass_gives_what_its_output_says has the clock, without Spark")
def test_a_byte_that_is_not_utf8_fails_its_item_alone(spark, namespace, lake, go):
    (lake / "items.jsonl").write_bytes(b'{"n": 1}\n{"n": "caf\xe9"}\n{"n": "caf\xc3\xa9"}\n')
    go(flow(passing("{% $states.input.n %}"), lake, ToleratedFailureCount=1))
    assert outputs(spark, namespace) == [1, None, "caf\u00e9"]
    (cause,) = [text for error, text in rows(spark, namespace, "_error", "_cause") if error]
    assert cause == "it is not UTF-8: byte 0xe9 at character 11"
    (lake / "items.jsonl").write_bytes(b"a,b\n1,x\n2,\xff\n3,\xc3\xa9\n")
    config = {"InputType": "CSV", "CSVHeaderLocation": "FIRST_ROW"}
    go(flow(passing(), lake, config=config, ToleratedFailureCount=1), run_id="csv", table="csv")
    assert outputs(spark, namespace, run_id="csv", table="csv") == [
        {"a": "1", "b": "x"}, None, {"a": "3", "b": "\u00e9"},
    ]  # fmt: skip


def test_a_header_with_a_name_twice_fails_every_item(spark, namespace, lake, go):
    (lake / "items.jsonl").write_text("id,v,id\n1,x,2\n")
    config = {"InputType": "CSV", "CSVHeaderLocation": "FIRST_ROW"}
    with pytest.raises(maps.TooManyFailed):
        go(flow(passing(), lake, config=config))
    assert rows(spark, namespace, "_error", "_cause") == [
        ("States.ItemReaderFailed", "the header names 'id' twice")
    ]


def test_maps_of_parquet_are_objects(spark, namespace, lake, go):
    kind = pa.map_(pa.string(), pa.list_(pa.map_(pa.string(), pa.int64())))
    given = [[("k", [[("a", 1)]])], [], None, [("twice", []), ("twice", [])]]
    pq.write_table(pa.table({"m": pa.array(given, kind)}), lake / "items.parquet")
    states = passing("{% {'m': $states.input.m, 'kind': $type($states.input.m)} %}")
    go(flow(states, lake, config={"InputType": "PARQUET"}, key="items.parquet", ToleratedFailureCount=1))
    answers = outputs(spark, namespace)
    assert answers[:2] == [{"m": {"k": [{"a": 1}]}, "kind": "object"}, {"m": {}, "kind": "object"}]
    assert answers[2]["kind"] == "null" and answers[3] is None
    assert rows(spark, namespace, "_cause")[3] == ("it has a map with a key twice",)


def test_another_input_under_the_same_name_is_refused(spark, namespace, lake, go):
    jsonl(lake, [{"n": 1}])
    definition = flow(passing(), lake)
    go(definition, input={"vat": 0.5, "key": [1]})
    for given in ({"key": [1], "vat": 0.5}, None):  # the same, or left out
        assert go(definition, input=given).state == "succeeded"
    for given in ({"vat": 0.19, "key": [1]}, {}):
        with pytest.raises(ValueError, match=r"^run r of .* was begun with another input; begin another run$"):
            go(definition, input=given)


def test_what_no_state_calls_is_refused(spark, namespace, lake, go):
    jsonl(lake, [{"n": 1}])
    with pytest.raises(ValueError, match="^resources binds typo, which no state calls; they call nothing$"):
        go(flow(passing(), lake), resources={"typo": print})


def test_a_bucket_that_this_session_cannot_read(spark, namespace, lake):
    with pytest.raises(
        ValueError, match="this session cannot read s3a://lake/items.jsonl, it has no jars of that"
    ):
        maps.run(spark, flow(passing(), lake), f"{namespace}.t", run_id="r")


def test_the_clock_stands_still(spark, namespace, lake, go):
    from datetime import UTC, datetime

    jsonl(lake, [{"n": 1}, {"n": 2}])
    started = datetime(2026, 1, 31, 10, tzinfo=UTC)
    go(flow(passing("{% [$now(), $states.context.State.EnteredTime] %}"), lake), started=started)
    assert outputs(spark, namespace) == [["2026-01-31T10:00:00.000Z"] * 2] * 2


@pytest.mark.proof("test_the_published_definition_answers_as_plain_python_does has each item once, of few files")
def test_a_million_items_once(spark, namespace, lake, go):
    spark.range(0, 1_000_000, 1, 8).write.parquet(str(lake / "many"))
    names = sorted(path.name for path in (lake / "many").glob("*.parquet"))
    (lake / "m.csv").write_text("".join(f"s3://lake/many/{name}\n" for name in names))
    config = {"InputType": "PARQUET", "ManifestType": "ATHENA_DATA"}
    definition = flow(passing("{% $states.input.id * 2 %}"), lake, config=config, key="m.csv")
    done = go(definition, wave_rows=250_000)
    assert (done.state, done.items_done, done.waves) == ("succeeded", 1_000_000, 4)
    counts = maps.results(spark, f"{namespace}.t", run_id="r").selectExpr(
        "count(*)",
        "count(DISTINCT _index)",
        "count(DISTINCT _output)",
        "sum(CAST(_output AS BIGINT))",
        "max(_index)",
    )
    assert tuple(counts.first()) == (1_000_000, 1_000_000, 1_000_000, 999_999_000_000, 999_999)
