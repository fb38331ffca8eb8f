"""Routed records, each in its table once: by unique keys, out of order, with an error store."""

import random

import pytest
from conftest import PROVE, own_namespace
from delivery_cases import RECORD, ROUTE, deliver, event, item, lake, make_tables, rows, send, targets
from stream_server import Stream, server
from topic_server import Made, broker, made_again, topic

from workbench import streams
from workbench.streams import delivery, positions, publish, routes
from workbench.tables import commits


def test_records_go_where_they_belong(spark, lake, topic):
    send(topic, event(1), item(7, 1, "I", "a"), event(2), item(8, 1, "I"), item(7, 2, "U", "b"), item(8, 2, "D"))
    done = deliver(spark, lake, topic)
    assert done.tables == {
        f"{lake}.events": {"appended": 2}, f"{lake}.items": {"upserted": 3, "deleted": 1},
    }  # fmt: skip
    assert (done.errors, done.run.records, done.run.good, done.run.caught_up) == (0, 6, 6, True)
    assert rows(spark, f"{lake}.events", "id", "text", "offset", "note") == [
        (1, "t1", 0, None),
        (2, "t2", 1, None),
    ]
    assert rows(spark, f"{lake}.items", "id", "version", "text", "gone") == [(7, 2, "b", False), (8, 2, "x", True)]
    again = deliver(spark, lake, topic)
    assert again.run.resumed and again.run.records == 0


def test_what_cannot_be_delivered_is_kept_whole_with_its_reason(spark, lake, topic):
    long = b"bad" + b"x" * 100_000
    send(
        topic, long, {"kind": "what"}, {"kind": "odd"}, item(None, 1), item(1, None), item(1, 1, "X"), item(1, 1, None),
        event(5),
    )  # fmt: skip
    done = deliver(spark, lake, topic)
    assert (done.errors, done.run.dead, done.run.good) == (7, 7, 1)
    found = rows(spark, f"{lake}.errors", "reason", "message", "sequence_number", "raw_bytes", "replay")
    assert [(one[0], one[1]) for one in found if one[0] != "not_json"] == [
        ("no_route", "the route names no table"),
        ("null_in_key", f"field 'id' is null, and names a row of {lake}.items"),
        ("null_in_sequence", f"field 'version' is null, and orders the rows of {lake}.items"),
        ("unknown_operation", "field 'op' is none of I, U, D"),
        ("unknown_operation", "field 'op' is none of I, U, D"),
        ("unknown_table", "the route names no.where, which is none of the tables"),
    ]
    kept = spark.table(f"{lake}.errors").where("reason = 'not_json'").collect()[0]
    assert bytes(kept.raw) == long and kept.raw_bytes == len(long)
    odd = spark.table(f"{lake}.errors").where("reason = 'unknown_table'").collect()[0]
    assert bytes(odd.raw) == b'{"kind": "odd"}' and len(odd.raw_sha256) == 64 and odd.partition_key == "key-2"


def test_reasons_add_up_and_do_not_multiply(spark):
    """One nested in the next they would double with each: 48 million expressions for eight tables."""

    def size(count):
        names, fields = [f"t{n}" for n in range(count)], RECORD.fields()
        item = streams.Target(key=("id",), sequence=("version",), operation="op", deleted="gone")
        plan = routes.Plan("kind", dict.fromkeys(names, item), dict.fromkeys(names, fields), fields, ())
        found = routes.routed(spark.createDataFrame([], fields), plan)
        return len(found._jdf.queryExecution().analyzed().toJSON())

    assert size(4) < 3 * size(2)


@pytest.mark.proof("test_a_share_above_the_threshold_stops_before_anything shows it for an ingest into one table")
def test_too_many_errors_stop_before_anything_is_committed(spark, lake, topic):
    send(topic, event(1), {"kind": "what"}, item(1, 1))
    with pytest.raises(streams.TooManyBad, match="1 of 3 records"):
        deliver(spark, lake, topic, max_bad_share=0.3)
    assert rows(spark, f"{lake}.events", "id") == rows(spark, f"{lake}.items", "id") == []
    assert spark.table(f"{lake}.errors").count() == 0
    assert deliver(spark, lake, topic, max_bad_share=0.4).run.good == 2


def test_late_and_out_of_order_in_any_batches(spark, lake, topic):
    """Against a dict that keeps the newest version: an older one never undoes a newer, a delete lasts."""
    chance = random.Random(7)
    every = [item(n, version, chance.choice("UUUD"), f"v{version}") for n in range(6) for version in range(1, 9)]
    newest = {n: max((one for one in every if one["id"] == n), key=lambda one: one["version"]) for n in range(6)}
    sent = every + chance.sample(every, 10)  # some come twice
    chance.shuffle(sent)
    send(topic, *sent)
    done = deliver(spark, lake, topic, source={"max_records_per_batch": 16 if PROVE else 30})
    assert done.run.batches >= (4 if PROVE else 2) and done.run.records == 58
    expected = sorted((n, one["version"], one["text"], one["op"] == "D") for n, one in newest.items())
    assert rows(spark, f"{lake}.items", "id", "version", "text", "gone") == expected


def test_killed_between_two_tables_each_takes_what_it_does_not_have(spark, lake, topic, monkeypatch):
    send(topic, *[event(n) if n % 2 else item(n, 1) for n in range(20)], b"bad")
    whole, met = delivery.Delivery._into, []

    def dies(self, name, *more):
        if met:
            raise KeyboardInterrupt
        met.append(name)
        return whole(self, name, *more)

    monkeypatch.setattr(delivery.Delivery, "_into", dies)
    with pytest.raises(KeyboardInterrupt):
        deliver(spark, lake, topic)
    assert len(rows(spark, f"{lake}.events", "id")) == 10 and rows(spark, f"{lake}.items", "id") == []
    monkeypatch.undo()
    topic.send(range(20, 30), record=event)
    done = deliver(spark, lake, topic, source={"max_records_per_batch": 6 if PROVE else 20})
    assert rows(spark, f"{lake}.events", "id") == [(n,) for n in [*range(1, 20, 2), *range(20, 30)]]
    assert rows(spark, f"{lake}.items", "id") == [(n,) for n in range(0, 20, 2)]
    assert spark.table(f"{lake}.errors").count() == 1 and done.run.lost == ()


@pytest.mark.proof(
    "test_killed_between_two_tables_each_takes_what_it_does_not_have goes on with batches that bring one table nothing"
)
def test_a_table_without_records_does_not_hold_the_others_back(spark, lake, topic):
    topic.send(range(10), record=event)
    deliver(spark, lake, topic)
    topic.trim(0, 5)
    topic.trim(1, 5)
    send(topic, item(1, 1), event(99))
    assert deliver(spark, lake, topic).run.good == 2


@pytest.mark.proof(
    "test_with_a_record_key_main_that_moved_is_compared_with_again shows it for an ingest into one table"
)
def test_others_move_main_meanwhile(spark, lake, topic, monkeypatch):
    send(topic, event(1), item(1, 2, text="new"), item(2, 1))
    spark.sql(f"INSERT INTO {lake}.items VALUES (1, 1, 'old', false)")
    whole, moved = publish.publish, []

    def publishing(spark, place, staged, base, expected):
        if place.table.endswith("items") and not moved:
            moved.append(spark.sql(f"INSERT INTO {lake}.items VALUES (3, 1, 'theirs', false)"))
        return whole(spark, place, staged, base, expected)

    monkeypatch.setattr(publish, "publish", publishing)
    deliver(spark, lake, topic, onto_rows=True)
    assert moved and rows(spark, f"{lake}.items", "id", "text") == [(1, "new"), (2, "x"), (3, "theirs")]


@pytest.mark.proof("test_a_zombie_is_refused_wherever_it_was_stopped shows it for an ingest into one table")
def test_the_second_of_two_runs_is_told_and_nothing_is_twice(spark, lake, topic):
    topic.send(range(10), record=event)

    def other(batch):
        topic.send(range(10, 20), record=event)
        deliver(spark, lake, topic, on_batch=lambda _: None)

    with pytest.raises(positions.AnotherWriter):
        deliver(spark, lake, topic, on_batch=other, max_batches=2, until_caught_up=False)
    deliver(spark, lake, topic)
    assert rows(spark, f"{lake}.events", "id") == [(n,) for n in range(20)]


def by_offset(spark, lake, *, before=()):
    """One table by the records' ids, in the order of their offsets; `before` are columns that decide first."""
    spark.sql(
        f"CREATE TABLE {lake}.latest (id BIGINT, text STRING, offset BIGINT, "
        "approximate_arrival_timestamp TIMESTAMP) USING iceberg"
    )
    lineage = ("offset", "approximate_arrival_timestamp")
    target = streams.Target(key=("id",), sequence=(*before, "offset"), lineage=lineage)
    return {"tables": {f"{lake}.latest": target}, "route": None, "source": {"fail_on_data_loss": False}}


def test_offsets_that_begin_again_do_not_make_newer_records_older(spark, lake, broker, topic):
    """The offsets of a topic made anew are below those that the table's rows are ordered by."""
    given = by_offset(spark, lake)
    topic.send(range(8), record=lambda n: event(1) | {"text": f"old {n}"}, partitions=1)
    deliver(spark, lake, topic, **given)
    made_again(broker, topic)
    topic.send(range(2), record=lambda n: event(1) | {"text": f"new {n}"}, partitions=1)
    for _ in range(2 if PROVE else 1):
        with pytest.raises(ValueError, match="latest are ordered by the offsets of a topic .* SET offset = -1"):
            deliver(spark, lake, topic, **given)
    spark.sql(f"UPDATE {lake}.latest SET offset = -1")
    done = deliver(spark, lake, topic, **given)
    assert done.run.lost and rows(spark, f"{lake}.latest", "text", "offset") == [("new 1", 1)]
    assert deliver(spark, lake, topic, **given).run.resumed


@pytest.mark.proof(
    "test_offsets_that_begin_again_do_not_make_newer_records_older shows the refusal that a time avoids"
)
def test_a_time_before_the_offset_goes_on_in_a_topic_made_anew(spark, lake, broker, topic):
    given = by_offset(spark, lake, before=("approximate_arrival_timestamp",))
    topic.send(range(8), record=lambda n: event(1) | {"text": f"old {n}"}, partitions=1)
    deliver(spark, lake, topic, **given)
    made_again(broker, topic)
    topic.send(range(2), record=lambda n: event(1) | {"text": f"new {n}"}, partitions=1)
    deliver(spark, lake, topic, **given)
    assert rows(spark, f"{lake}.latest", "text") == [("new 1",)]


@pytest.mark.proof("test_a_partition_shorter_than_it_was_is_not_read_on shows the refusal of the reader")
def test_a_partition_that_is_shorter_than_what_was_delivered(spark, lake, topic):
    """Its next records have offsets that the tables are said to have; to go on would pass over them."""
    topic.send(range(6), record=event, partitions=1)
    deliver(spark, lake, topic)
    stream = topic.source().describe()
    for name in ("events", "items", "errors"):  # as if 94 more had been there, and the broker had lost them
        place, at = publish.Place(f"{lake}.{name}", stream, "x"), {"0": "5"}
        had = positions.find(spark, commits.load(spark, place.table), stream).shards
        publish.note(spark, place, had, positions.properties(stream, at | {"0": "99"}, "more"))
    topic.send(range(6, 9), record=event, partitions=1)
    with pytest.raises(positions.shards.RecordsLost, match="ends at offset 8, and it was read up to 99"):
        deliver(spark, lake, topic)
    with pytest.raises(positions.shards.RecordsLost, match="ends before offset 99, up to which it was delivered"):
        deliver(spark, lake, topic, source={"fail_on_data_loss": False})


TAG = pytest.mark.proof("the error store that is rolled back too shows the refusal and the way that loses nothing")


@pytest.mark.parametrize("remedy", ["error store", pytest.param("tag", marks=TAG)])
def test_a_table_that_was_rolled_back_does_not_go_on_without_its_records(spark, lake, topic, remedy):
    """The error store says that they are read. Rolled back too, they come again, and to the others not twice."""
    begun = []
    for n in range(2):
        send(topic, event(n), item(n, 1), b"bad")
        deliver(spark, lake, topic)
        begun.append({name: commits.head(commits.load(spark, f"{lake}.{name}")) for name in ("events", "errors")})

    def roll_back(name):
        spark.sql(f"CALL system.rollback_to_snapshot('{lake}.{name}', {begun[0][name]})").collect()

    roll_back("events")
    with pytest.raises(
        positions.PositionsLost, match="events was rolled back behind .* tag streams_[0-9a-f]{8}_[0-9]+$"
    ):
        deliver(spark, lake, topic)
    if remedy == "error store":
        roll_back("errors")
    else:
        (tag,) = [one for one in commits.load(spark, f"{lake}.events").refs() if one.startswith("streams_")]
        spark.sql(f"ALTER TABLE {lake}.events DROP TAG `{tag}`")
    again = 3 if remedy == "error store" else 0
    assert [deliver(spark, lake, topic).run.records for _ in range(2)] == [again, 0]
    assert rows(spark, f"{lake}.events", "id") == ([(0,), (1,)] if again else [(0,)])
    assert rows(spark, f"{lake}.items", "id") == [(0,), (1,)] and spark.table(f"{lake}.errors").count() == 2


@pytest.mark.proof("test_late_and_out_of_order_in_any_batches has older versions and reads each record once")
def test_updates_that_change_nothing_still_move_the_positions(spark, lake, topic):
    send(topic, item(1, 5, text="new"))
    deliver(spark, lake, topic)
    send(topic, item(1, 4, text="old"))
    done = deliver(spark, lake, topic)
    assert done.tables[f"{lake}.items"] == {"upserted": 1}
    assert rows(spark, f"{lake}.items", "text") == [("new",)]
    loaded = commits.load(spark, f"{lake}.items")
    assert positions.find(spark, loaded, topic.source().describe()).shards == {"0": "1"}


@pytest.mark.proof(
    "test_rows_positions_and_figures reads Kinesis by the same loop, and the other tests here deliver from Kafka"
)
def test_a_stream_of_kinesis_is_delivered_too(spark, lake, server):
    stream = Stream(server, "mixed")
    stream.send(range(40), record=lambda n: event(n) if n % 4 else b"bad")
    given = {"parse": RECORD, "tables": {f"{lake}.events": streams.Target()}, "errors": f"{lake}.errors"}
    done = streams.deliver(spark, source=stream.source(max_records_per_batch=10 if PROVE else 40), **given)
    assert (done.tables, done.errors) == ({f"{lake}.events": {"appended": 30}}, 10)
    stream.send(range(40, 44), record=event)
    assert streams.deliver(spark, source=stream.source(), **given).run.good == 4
    assert rows(spark, f"{lake}.events", "id") == [(n,) for n in range(44) if n % 4 or n >= 40]


@pytest.fixture(scope="module")
def untouched(spark, broker):
    """A namespace with its tables and a topic for all deliveries that are refused: none of them is read or written."""
    with own_namespace(spark, "t_untouched") as lake:
        make_tables(spark, lake)
        yield lake, Made(broker, "untouched")


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"route": "nothing"}, "is not an expression over kind, id"),
        ({"route": "id"}, "gives a bigint"),
        ({"route": "concat('x', rand())"}, "another table each time"),
        ({"route": None}, "with 2 tables a route is needed"),
        ({"route": ""}, "a SQL expression over a record's fields"),
        ({"tables": {}}, "tables must have a Target at least, found none"),
        ({"max_bad_share": 2}, "max_bad_share must be a number of at least 0 and of at most 1, found 2"),
        ({"parse": streams.Json("id STRING, kind STRING")}, "is bigint, the records' is string"),
        ({"parse": "id BIGINT"}, "parse must be Json, Avro, Protobuf or an object .* found 'id BIGINT'"),
        ({"errors": None}, "errors must be a text, found None"),
        ({"errors": "mistyped.errors"}, "mistyped.errors cannot be made: there is no namespace mistyped"),
        ({"tables": ["sales.orders"]}, "tables must be a dict of texts to Target, found"),
    ],
)
def test_arguments_that_do_not_go(spark, untouched, options, said):
    lake, topic = untouched
    with pytest.raises(ValueError, match=said):
        deliver(spark, lake, topic, **options)
    assert not spark.catalog.tableExists(f"{lake}.errors")
    assert not spark.catalog.databaseExists("mistyped")


def test_a_source_or_a_session_that_is_none(spark, untouched):
    lake, _ = untouched
    given = {"parse": RECORD, "tables": targets(lake), "errors": f"{lake}.errors", "route": ROUTE.format(lake)}
    with pytest.raises(ValueError, match="source must be a Topic or a Source, found 'sales'"):
        streams.deliver(spark, source="sales", **given)
    with pytest.raises(ValueError, match="source must be a Topic or a Source, found 'sales'"):
        streams.replay(spark, f"{lake}.errors", source="sales", parse=RECORD, tables=targets(lake))
    with pytest.raises(ValueError, match="needs a classic Spark session"):
        streams.deliver(None, source=streams.Topic("sales", "127.0.0.1:1"), **given)


@pytest.mark.parametrize(
    ("column", "kind", "said"),
    [
        ("gone", "STRING", "gone is string; the column that marks deleted rows is boolean"),
        ("id", "DOUBLE", "id is double: such values cannot name a row"),
        ("version", "STRING", "version is string; a sequence is an exact number"),
    ],
)
def test_a_table_that_no_merge_would_take_is_refused_before_anything_is_read(spark, untouched, column, kind, said):
    lake, topic = untouched
    send(topic, b"bad")  # no row would come to the merge
    kinds = {"kind": "STRING", "id": "BIGINT", "version": "BIGINT", "op": "STRING"} | {column: kind}
    parse = streams.Json(", ".join(f"{name} {kinds[name]}" for name in ("kind", "id", "version", "op")))
    columns = {"id": "BIGINT", "version": "BIGINT", "gone": "BOOLEAN"} | {column: kind}
    table = f"{lake}.{column}_typed"
    spark.sql(f"CREATE TABLE {table} ({', '.join(map(' '.join, columns.items()))}) USING iceberg")
    item = streams.Target(key=("id",), sequence=("version",), operation="op", deleted="gone")
    with pytest.raises(ValueError, match=f"typed cannot be merged into: {said}"):
        deliver(spark, lake, topic, parse=parse, tables={table: item}, route=None)
    assert not spark.catalog.tableExists(f"{lake}.errors")


@pytest.mark.parametrize(
    ("target", "said"),
    [
        ({"key": "id", "sequence": ("version",)}, "key of a target must be a tuple of names, found 'id'"),
        ({"key": ("id",)}, "key and sequence of a target go together"),
        ({"operation": "op"}, "needs a key"),
        ({"key": ("id",), "sequence": ("version",), "operation": "op"}, "operation and deleted go together"),
        (
            {"operations": {"new": "insert"}},
            "operations of a target must be a dict, word to 'upsert' or 'delete', found {'new': 'insert'}",
        ),
        ({"operations": ["U"]}, "operations of a target must be a dict, word to 'upsert' or 'delete', found "),
        ({"operations": {}}, "operations of a target must be a dict, word to 'upsert' or 'delete', found "),
    ],
)
def test_targets_that_do_not_go(target, said):
    with pytest.raises(ValueError, match=said):
        streams.Target(**target)


@pytest.mark.parametrize("name", ["offset", "Stream", "sequence_number", "_route", "_raw", "_tombstone"])
def test_a_field_that_is_called_as_something_of_a_delivery(spark, untouched, name):
    lake, topic = untouched
    parse = streams.Json(f"kind STRING, id BIGINT, `{name}` BIGINT")
    with pytest.raises(ValueError, match=f"{name} is a field of the records, and a delivery keeps something"):
        deliver(spark, lake, topic, parse=parse, tables={f"{lake}.events": streams.Target()}, route=None)


def test_a_target_that_is_the_error_store_too(spark, untouched):
    lake, topic = untouched
    with pytest.raises(ValueError, match="it can be one of them"):
        deliver(spark, lake, topic, errors=f"{lake}.items")


def test_a_table_that_is_no_error_store(spark, untouched):
    lake, topic = untouched
    spark.sql(f"CREATE TABLE {lake}.other (id BIGINT) USING iceberg")
    with pytest.raises(ValueError, match="is not an error store: approximate_arrival_timestamp should be"):
        deliver(spark, lake, topic, errors=f"{lake}.other")
