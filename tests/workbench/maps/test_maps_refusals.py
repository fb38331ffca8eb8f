"""What a run refuses before it begins, and what it stops at, by a sentence."""

import os
import shutil

import machines
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import sensors
from machines import calling, flow, jsonl, passing

from workbench import maps
from workbench.tables import commits

MANIFEST = {"InputType": "PARQUET", "ManifestType": "ATHENA_DATA"}


@pytest.fixture
def refused(spark, namespace, tmp_path):
    """Return the sentence by which a run of a definition is refused; nothing of it may reach the table."""

    def head(name):
        return commits.head(commits.load(spark, name), "main") if spark.catalog.tableExists(name) else None

    def run(definition, *, run_id="r", table="t", **options):
        name = f"{namespace}.{table}"
        before = head(name)
        with pytest.raises(ValueError) as error:
            maps.run(spark, definition, name, run_id=run_id, buckets={"lake": str(tmp_path)}, **options)
        assert head(name) == before
        return str(error.value)

    return run


def manifest(tmp_path, *lines):
    (tmp_path / "m.csv").write_text("\n".join(lines))


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        (["s3://lake/none.parquet", "s3://lake/a.parquet", "s3://lake/none2.parquet"], ", and 1 more"),
        (["s3://lake/a.parquet", "s3://lake/b.parquet", "s3://lake/a.parquet"], "names 1 files twice, s3://lake/a.parquet among them"),
        (["s3://lake/a.parquet", "s3://lake/c.csv"], "s3://lake/c.csv cannot be read as Parquet"),
        (["lake/a.parquet"], "has 'lake/a.parquet'; expected s3://bucket/key"),
        (["s3://lake/a.parquet", "s3://lake/other.parquet"], "s3://lake/other.parquet has other columns than s3://lake/a.parquet"),
        (["s3://lake/a.parquet", "s3://lake/_hidden.parquet"], "begins with _ or ."),
        (["s3://lake/dated.parquet"], "when date, price decimal(5,2)"),
        (["s3://lake/cased.parquet"], "the column a twice, in two cases"),
    ],
)  # fmt: skip
def test_a_manifest_that_cannot_be_run(tmp_path, refused, lines, words):
    from datetime import date
    from decimal import Decimal

    for name in ("a", "b", "_hidden"):
        pq.write_table(pa.table({"a": [1, 2]}), tmp_path / f"{name}.parquet")
    pq.write_table(pa.table({"a": ["x"]}), tmp_path / "other.parquet")
    pq.write_table(pa.table({"when": [date(2026, 1, 1)], "price": [Decimal("1.50")]}, schema=pa.schema([("when", pa.date32()), ("price", pa.decimal128(5, 2))])), tmp_path / "dated.parquet")  # fmt: skip
    pq.write_table(pa.table({"a": [1], "A": [2]}), tmp_path / "cased.parquet")
    (tmp_path / "c.csv").write_text("a\n1\n")
    manifest(tmp_path, *lines)
    assert words in refused(flow(passing(), tmp_path / "d", config=MANIFEST, key="m.csv"))


def test_a_manifest_or_file_that_is_not_there(tmp_path, refused):
    assert "there is no manifest s3://lake/m.csv" in refused(
        flow(passing(), tmp_path, config=MANIFEST, key="m.csv")
    )
    assert "there is no file s3://lake/items.jsonl, looked for at /" in refused(flow(passing(), tmp_path))


def test_what_a_resource_is_not_bound_to(tmp_path, refused):
    jsonl(tmp_path, [{"n": 1}])
    definition = flow(calling(), tmp_path)
    assert refused(definition) == f"resources lacks what Call calls {machines.FUNCTION}; it has none"
    assert "to a Delivery; that is for firehose:putRecord" in refused(definition, resources={machines.FUNCTION: maps.Delivery("a INT")})  # fmt: skip
    assert "expected a function or a Delivery" in refused(definition, resources={machines.FUNCTION: 5})


def test_arguments_that_are_wrong(spark, namespace, tmp_path, refused):
    from datetime import datetime

    jsonl(tmp_path, [{"n": 1}])
    definition = flow(passing(), tmp_path)
    assert "input is not JSON" in refused(definition, input={1, 2})
    assert "input has 262,146 bytes" in refused(definition, input="x" * 262_144)
    assert "expected a datetime with a time zone" in refused(definition, started=datetime(2026, 1, 1))
    assert "MaxConcurrency must be a whole number of at least 0, found -1" in refused(flow(passing(), tmp_path, MaxConcurrency="{% $states.input %}"), input=-1)  # fmt: skip
    assert "the JSONata expression '$states.input.none' of ToleratedFailureCount returned nothing" in refused(flow(passing(), tmp_path, ToleratedFailureCount="{% $states.input.none %}"), input={})  # fmt: skip
    with pytest.raises(ValueError, match="has no run 'none'; it has none"):
        spark.sql(f"CREATE TABLE {namespace}.empty (a INT) USING iceberg")
        maps.describe(spark, f"{namespace}.empty", run_id="none")


def test_another_table_is_not_touched(spark, namespace, tmp_path, refused):
    jsonl(tmp_path, [{"n": 1}])
    spark.sql(f"CREATE TABLE {namespace}.mine (a INT) USING iceberg")
    assert "is not a map's table: it has no column _attempts" in refused(flow(passing(), tmp_path), table="mine")
    maps.run(spark, flow(passing(), tmp_path), f"{namespace}.t", run_id="first", buckets={"lake": str(tmp_path)})
    put = {"Put": {"Type": "Task", "Resource": machines.PUT, "End": True, "Arguments": {"DeliveryStreamName": "s", "Record": {"Data": "{}"}}}}  # fmt: skip
    definition = flow(put, tmp_path)
    sentence = refused(definition, resources={"s": maps.Delivery("a INT")})
    assert "is the table of another map: it has _output string; expected is " in sentence and "`a` int" in sentence
    assert "has the column _run, which" in refused(
        definition, resources={"s": maps.Delivery("_run INT")}, table="u"
    )
    assert "is not a schema" in refused(definition, resources={"s": maps.Delivery("a INTT")}, table="v")


def test_a_run_that_goes_on_has_the_files_that_it_began_with(spark, namespace, tmp_path):
    sensors.written(tmp_path, devices=2, hours=3)
    states = {"No": {"Type": "Fail", "Error": "E"}}
    definition = flow(states, tmp_path, config=MANIFEST, key="daily-manifest.csv")
    (file,) = tmp_path.glob("daily/*-001/*.parquet")
    names, kept = tmp_path / "daily-manifest.csv", tmp_path / "kept"
    shutil.copy2(file, kept)

    def again(definition):
        options = {"run_id": "r", "buckets": {"lake": str(tmp_path)}, "wave_rows": 1}
        call = maps.redrive if spark.catalog.tableExists(f"{namespace}.t") else maps.run
        return call(spark, definition, f"{namespace}.t", **options)

    with pytest.raises(maps.TooManyFailed):
        again(definition)
    changes = {
        "content": lambda: pq.write_table(pa.Table.from_pylist(sensors.readings(9, 4)), file),
        "time": lambda: os.utime(file, (1, 1)),
        "one more": lambda: names.write_text(f"{listed}s3://lake/kept\n"),
    }
    listed = names.read_text()
    for change in changes.values():
        change()
        with pytest.raises(ValueError, match="are not those that it began with"):
            again(definition)
        shutil.copy2(kept, file)
        names.write_text(listed)
    other = flow(states, tmp_path, config=MANIFEST, key="daily-manifest.csv", MaxConcurrency=1)
    with pytest.raises(ValueError, match="another definition"):
        again(other)
    with pytest.raises(maps.TooManyFailed, match="failed"):  # what is as it was goes on
        again(definition)


def test_the_states_before_the_map(spark, namespace, tmp_path):
    import json

    jsonl(tmp_path, [{"n": 1}])
    flow(passing("{% $states.input %}"), tmp_path)
    path = tmp_path / "flow.asl.json"
    machine = json.loads(path.read_text())
    resource = "arn:aws:states:::dynamodb:getItem"
    machine["States"] |= {
        "First": {"Type": "Task", "Resource": resource, "Arguments": {"id": "{% $states.input.id %}"}, "Assign": {"day": "{% $states.result.day %}"}, "Output": {"got": "{% $states.result %}"}, "Next": "If"},
        "If": {"Type": "Choice", "Choices": [{"Condition": "{% $day = 'none' %}", "Next": "Stop"}], "Default": "Each"},
        "Stop": {"Type": "Fail", "Error": "NoDay", "Cause": "there is none"},
    }  # fmt: skip
    machine["StartAt"] = "First"
    machine["States"]["Each"]["ItemSelector"] = {"day": "{% $day %}", "got": "{% $states.input.got %}"}
    path.write_text(json.dumps(machine))
    definition, calls = maps.read(path), []

    def function(arguments, call):
        calls.append(arguments)
        return {"day": arguments["id"]}

    options = {"resources": {resource: function}, "buckets": {"lake": str(tmp_path)}}
    with pytest.raises(maps.StatesFailed, match="NoDay: there is none"):
        maps.run(spark, definition, f"{namespace}.t", run_id="none", input={"id": "none"}, **options)
    for _ in range(2):
        maps.run(spark, definition, f"{namespace}.t", run_id="r", input={"id": "d1"}, **options)
    assert calls == [{"id": "none"}, {"id": "d1"}]
    (row,) = maps.results(spark, f"{namespace}.t", run_id="r").collect()
    assert json.loads(row["_output"]) == {"day": "d1", "got": {"day": "d1"}}
