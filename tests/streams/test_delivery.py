"""Routed records, each in its table once: by unique keys, out of order, with an error store."""

import os
import random
import signal

import pytest
from topic_server import broker, topic

from workbench import session, streams
from workbench.streams import delivery, errors, kills, loop, positions, publish
from workbench.tables import commits

RECORD = streams.Json("kind STRING, id BIGINT, version BIGINT, op STRING, text STRING")
ROUTE = "CASE kind WHEN 'event' THEN '{0}.events' WHEN 'item' THEN '{0}.items' WHEN 'odd' THEN 'no.where' END"


@pytest.fixture
def lake(spark, namespace):
    spark.sql(
        f"CREATE TABLE {namespace}.events (id BIGINT, text STRING, offset BIGINT, note STRING) USING iceberg"
    )
    spark.sql(
        f"CREATE TABLE {namespace}.items (id BIGINT NOT NULL, version BIGINT, text STRING, gone BOOLEAN) USING iceberg"
    )
    return namespace


def targets(lake):
    item = streams.Target(key=("id",), sequence=("version",), operation="op", deleted="gone")
    return {f"{lake}.events": streams.Target(lineage=("offset",)), f"{lake}.items": item}


def deliver(spark, lake, topic, *, source=None, **options):
    given = {
        "parse": RECORD, "tables": targets(lake), "errors": f"{lake}.errors", "route": ROUTE.format(lake),
    } | options  # fmt: skip
    return streams.deliver(spark, source=topic.source(**(source or {})), **given)


def event(n):
    return {"kind": "event", "id": n, "text": f"t{n}"}


def item(n, version, op="U", text="x"):
    return {"kind": "item", "id": n, "version": version, "op": op, "text": text}


def send(topic, *records):
    topic.send(range(len(records)), record=lambda n: records[n])


def rows(spark, table, *columns):
    spark.catalog.refreshTable(table)
    return sorted(tuple(row) for row in spark.table(table).select(*columns).collect())


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
    done = deliver(spark, lake, topic, source={"max_records_per_batch": 16})
    assert done.run.batches >= 4 and done.run.records == 58
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
    done = deliver(spark, lake, topic, source={"max_records_per_batch": 6})
    assert rows(spark, f"{lake}.events", "id") == [(n,) for n in [*range(1, 20, 2), *range(20, 30)]]
    assert rows(spark, f"{lake}.items", "id") == [(n,) for n in range(0, 20, 2)]
    assert spark.table(f"{lake}.errors").count() == 1 and done.run.lost == ()


def test_a_table_without_records_does_not_hold_the_others_back(spark, lake, topic):
    topic.send(range(10), record=event)
    deliver(spark, lake, topic)
    topic.trim(0, 5)
    topic.trim(1, 5)
    send(topic, item(1, 1), event(99))
    assert deliver(spark, lake, topic).run.good == 2


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


def test_the_second_of_two_runs_is_told_and_nothing_is_twice(spark, lake, topic):
    topic.send(range(10), record=event)

    def other(batch):
        topic.send(range(10, 20), record=event)
        deliver(spark, lake, topic, on_batch=lambda _: None)

    with pytest.raises(positions.AnotherWriter):
        deliver(spark, lake, topic, on_batch=other, max_batches=2, until_caught_up=False)
    deliver(spark, lake, topic)
    assert rows(spark, f"{lake}.events", "id") == [(n,) for n in range(20)]


def test_updates_that_change_nothing_still_move_the_positions(spark, lake, topic):
    send(topic, item(1, 5, text="new"))
    deliver(spark, lake, topic)
    send(topic, item(1, 4, text="old"))
    done = deliver(spark, lake, topic)
    assert done.tables[f"{lake}.items"] == {"upserted": 1}
    assert rows(spark, f"{lake}.items", "text") == [("new",)]
    loaded = commits.load(spark, f"{lake}.items")
    assert positions.find(spark, loaded, topic.source().describe()).shards == {"0": "1"}


def test_a_stream_of_kinesis_is_delivered_too(spark, lake):
    from stream_server import Stream

    from workbench.local import kinesis

    with kinesis.serve(limits=kinesis.UNLIMITED) as server:
        stream = Stream(server, "mixed")
        stream.send(range(40), record=lambda n: event(n) if n % 4 else b"bad")
        table = streams.Target()
        given = {"parse": RECORD, "tables": {f"{lake}.events": table}, "errors": f"{lake}.errors"}
        done = streams.deliver(spark, source=stream.source(max_records_per_batch=10), **given)
        assert (done.tables, done.errors) == ({f"{lake}.events": {"appended": 30}}, 10)
        stream.send(range(40, 44), record=event)
        assert streams.deliver(spark, source=stream.source(), **given).run.good == 4
    assert rows(spark, f"{lake}.events", "id") == [(n,) for n in range(44) if n % 4 or n >= 40]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"route": "nothing"}, "no expression over kind, id"),
        ({"route": "id"}, "gives a bigint"),
        ({"route": "concat('x', rand())"}, "another table each time"),
        ({"route": None}, "with 2 tables a route is needed"),
        ({"route": ""}, "a SQL expression over a record's fields"),
        ({"tables": {}}, "with one at least"),
        ({"max_bad_share": 2}, "a number from 0 to 1"),
        ({"parse": streams.Json("id STRING, kind STRING")}, "is bigint, the records' is string"),
    ],
)
def test_arguments_that_do_not_go(spark, lake, topic, options, said):
    with pytest.raises(ValueError, match=said):
        deliver(spark, lake, topic, **options)
    assert not spark.catalog.tableExists(f"{lake}.errors")


@pytest.mark.parametrize(
    ("target", "said"),
    [
        ({"key": "id", "sequence": ("version",)}, "key of a target is a tuple"),
        ({"key": ("id",)}, "key and sequence of a target go together"),
        ({"operation": "op"}, "needs a key"),
        ({"key": ("id",), "sequence": ("version",), "operation": "op"}, "operation and deleted go together"),
    ],
)
def test_targets_that_do_not_go(target, said):
    with pytest.raises(ValueError, match=said):
        streams.Target(**target)


def test_a_target_that_is_the_error_store_too(spark, lake, topic):
    with pytest.raises(ValueError, match="it can be one of them"):
        deliver(spark, lake, topic, errors=f"{lake}.items")


def test_a_table_that_is_no_error_store(spark, lake, topic):
    spark.sql(f"CREATE TABLE {lake}.other (id BIGINT) USING iceberg")
    with pytest.raises(ValueError, match="is no error store: approximate_arrival_timestamp should be"):
        deliver(spark, lake, topic, errors=f"{lake}.other")


def replay(spark, lake, topic, **options):
    given = {"parse": RECORD, "tables": targets(lake), "route": ROUTE.format(lake)} | options
    return streams.replay(spark, f"{lake}.errors", source=topic.source(), **given)


@pytest.fixture
def with_errors(spark, lake, topic):
    """Two records of a kind that has no route yet, one of another, and one that is no JSON."""
    send(topic, event(1), {"kind": "new", "id": 2}, b"bad", {"kind": "new", "id": 3}, {"kind": "other", "id": 4})
    deliver(spark, lake, topic)
    return ROUTE.format(lake).replace("'event'", "'new'")


def states(spark, lake):
    return rows(spark, f"{lake}.errors", "sequence_number", "shard_id", "replay", "replay_table", "replayed")


def test_errors_are_replayed_once(spark, lake, topic, with_errors):
    done = replay(spark, lake, topic, route=with_errors, id="mended")
    assert (done.tables, done.left, done.cut) == ({f"{lake}.events": 2}, {"no_route": 1, "not_parsed": 1}, 0)
    assert rows(spark, f"{lake}.events", "id", "offset") == [(1, 0), (2, 0), (3, 1)]
    new = f"{lake}.events"
    assert sorted(one[2:] for one in states(spark, lake) if one[2]) == [("mended", new, True)] * 2
    again = replay(spark, lake, topic, route=with_errors)
    assert again.tables == {} and len(rows(spark, f"{lake}.events", "id")) == 3
    assert deliver(spark, lake, topic).run.records == 0


def test_a_part_of_the_errors(spark, lake, topic, with_errors):
    done = replay(spark, lake, topic, route=with_errors, where="shard_id = '0' AND reason = 'no_route'")
    assert (done.tables, done.left) == ({}, {"no_route": 1})
    with pytest.raises(ValueError, match="is no condition on the columns"):
        replay(spark, lake, topic, route=with_errors, where="nothing = 1")


@pytest.mark.parametrize("place", ["_write", "_finished"])
def test_a_replay_that_was_killed_is_finished_by_its_name(spark, lake, topic, with_errors, monkeypatch, place):
    from workbench.streams import replays

    def dies(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(replays, place, dies)
    with pytest.raises(KeyboardInterrupt):
        replay(spark, lake, topic, route=with_errors, id="killed")
    monkeypatch.undo()
    with pytest.raises(ValueError, match="the replay killed of .* was not finished"):
        replay(spark, lake, topic, route=with_errors)
    with pytest.raises(ValueError, match="has planned 2 records for .*events, and 0 of them go there"):
        replay(spark, lake, topic, id="killed")
    done = replay(spark, lake, topic, route=with_errors, id="killed")
    assert done.tables == {f"{lake}.events": 2}
    assert rows(spark, f"{lake}.events", "id") == [(1,), (2,), (3,)]
    assert [one for one in states(spark, lake) if one[2] and not one[4]] == []


def test_replayed_updates_do_not_undo_newer_ones(spark, lake, topic):
    send(topic, {"kind": "thing", "id": 1, "version": 1, "op": "U", "text": "old"}, item(1, 2, text="new"))
    deliver(spark, lake, topic)
    route = ROUTE.format(lake).replace("'item'", "'thing'")
    assert replay(spark, lake, topic, route=route).tables == {f"{lake}.items": 1}
    assert rows(spark, f"{lake}.items", "version", "text") == [(2, "new")]


def test_what_is_not_whole_is_not_replayed(spark, lake, topic, with_errors):
    spark.sql(f"UPDATE {lake}.errors SET raw = substr(raw, 1, 3) WHERE reason = 'no_route'")
    done = replay(spark, lake, topic, route=with_errors)
    assert (done.tables, done.cut, done.left) == ({}, 3, {"not_parsed": 1})
