"""Errors brought to their tables after all: each once, whatever is killed, repeated, or done by two at once."""

import pytest
from conftest import own_namespace
from delivery_cases import RECORD, ROUTE, deliver, event, item, lake, make_tables, rows, send, targets
from pyspark.sql import DataFrameWriterV2
from topic_server import Made, broker, topic

from workbench import streams
from workbench.streams import replays
from workbench.tables import commits
from workbench.tables.snapshots import TableNotFound


def replay(spark, lake, topic, **options):
    given = {"parse": RECORD, "tables": targets(lake), "route": ROUTE.format(lake)} | options
    return streams.replay(spark, f"{lake}.errors", source=topic.source(), **given)


@pytest.fixture
def with_errors(spark, lake, topic):
    """Two records of a kind that has no route yet, one of another, and one that is no JSON."""
    return make_errors(spark, lake, topic)


@pytest.fixture(scope="module")
def untouched(spark, broker):
    """The same for all replays that bring nothing: namespace, topic and route."""
    topic = Made(broker, "untouched-errors")
    with own_namespace(spark, "t_untouched") as lake:
        make_tables(spark, lake)
        yield lake, topic, make_errors(spark, lake, topic)


def make_errors(spark, lake, topic):
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
    send(topic, {"kind": "new", "id": 5})
    assert deliver(spark, lake, topic).errors == 1
    assert replay(spark, lake, topic, route=with_errors, id="mended").tables == {new: 1}  # a name is used again
    assert rows(spark, new, "id") == [(1,), (2,), (3,), (5,)]


@pytest.mark.proof("test_errors_are_replayed_once shows it for records without such a field")
def test_a_field_called_as_the_place_in_an_aggregate_is_the_records_own(spark, lake, topic):
    """A topic has no aggregates: its records may have been brought from a stream with what named them there."""
    spark.sql(f"CREATE TABLE {lake}.brought (id BIGINT, sub_sequence_number STRING) USING iceberg")
    given = {"parse": streams.Json("id BIGINT, kind STRING, sub_sequence_number STRING"), "source": topic.source()}
    given |= {"tables": {f"{lake}.brought": streams.Target()}}
    send(topic, *[{"id": n, "kind": "xy"[n % 2], "sub_sequence_number": f"no. {n}"} for n in range(4)])
    route = f"CASE kind WHEN 'x' THEN '{lake}.brought' END"
    assert streams.deliver(spark, errors=f"{lake}.errors", route=route, **given).errors == 2
    mended = streams.replay(spark, f"{lake}.errors", route=f"'{lake}.brought'", **given)
    assert mended.tables == {f"{lake}.brought": 2}
    assert rows(spark, f"{lake}.brought", "id", "sub_sequence_number") == [(n, f"no. {n}") for n in range(4)]


@pytest.mark.proof(
    "test_a_mistyped_source_or_store_is_said shows that the errors of a topic are told from those of others"
)
def test_errors_of_another_topic_stay(spark, lake, topic, with_errors):
    """Those of both would be compared by their offsets, and a tombstone of one delete a row of the other."""
    other = Made(topic.broker, f"{topic.name}-other")
    spark.sql(f"CREATE TABLE {lake}.others (id BIGINT, text STRING) USING iceberg")
    send(other, {"kind": "new", "id": 9}, {"kind": "new", "id": 10})
    assert deliver(spark, lake, other, tables={f"{lake}.others": streams.Target()}).errors == 2
    assert replay(spark, lake, topic, route=with_errors).tables == {f"{lake}.events": 2}
    assert [one[0] for one in rows(spark, f"{lake}.events", "id")] == [1, 2, 3]
    left = spark.table(f"{lake}.errors").where("replay IS NULL").groupBy("stream").count().collect()
    assert {row.stream: row["count"] for row in left} == {topic.name: 2, other.name: 2}


def test_a_mistyped_source_or_store_is_said(spark, untouched):
    lake, topic, with_errors = untouched
    nobody = Made(topic.broker, f"{topic.name}-nobody")
    with pytest.raises(ValueError, match=f"has no errors of {nobody.name}; it has those of {topic.name}"):
        replay(spark, lake, nobody, route=with_errors)
    given = {"parse": RECORD, "tables": targets(lake), "route": with_errors}
    with pytest.raises(TableNotFound):
        streams.replay(spark, f"{lake}.errrors", source=topic.source(), **given)
    assert not spark.catalog.tableExists(f"{lake}.errrors")


def test_a_part_of_the_errors(spark, untouched):
    lake, topic, with_errors = untouched
    done = replay(spark, lake, topic, route=with_errors, where="shard_id = '0' AND reason = 'no_route'")
    assert (done.tables, done.left) == ({}, {"no_route": 1})
    with pytest.raises(ValueError, match="is not a condition on the columns"):
        replay(spark, lake, topic, route=with_errors, where="nothing = 1")


UNWRITTEN = pytest.mark.proof("a replay that was killed behind its write shows it, where rows could come twice")


@pytest.mark.proof(
    "test_two_at_one_replay_bring_its_records_once leaves one behind its write that was not finished, and "
    "finishes it by its name"
)
@pytest.mark.parametrize("place", [pytest.param("_write", marks=UNWRITTEN), "_finished"])
def test_a_replay_that_was_killed_is_finished_by_its_name(spark, lake, topic, with_errors, monkeypatch, place):
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


@pytest.mark.proof(
    "test_late_and_out_of_order_in_any_batches shows that an older version never undoes a newer one"
)
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


@pytest.mark.proof("test_errors_are_replayed_once uses the name of a replay again for a later error")
@pytest.mark.parametrize("id", ["nightly", "x" * 200])
def test_a_name_is_used_again_for_later_errors(spark, lake, topic, with_errors, id):
    assert replay(spark, lake, topic, route=with_errors, id=id).tables == {f"{lake}.events": 2}
    send(topic, {"kind": "new", "id": 5})
    deliver(spark, lake, topic)
    assert replay(spark, lake, topic, route=with_errors, id=id).tables == {f"{lake}.events": 1}
    assert rows(spark, f"{lake}.events", "id") == [(1,), (2,), (3,), (5,)]


def test_two_at_one_replay_bring_its_records_once(spark, lake, topic, with_errors, monkeypatch):
    """A scheduler begins one again by its name that is not dead yet."""
    whole, met, done = DataFrameWriterV2.append, [], []

    def appending(self):
        met.append(self)
        if len(met) == 1:
            done.append(replay(spark, lake, topic, route=with_errors, id="two"))
        return whole(self)

    with monkeypatch.context() as patched:
        patched.setattr(replays, "_finished", lambda *_: None)  # the second is not done when the first goes on
        patched.setattr(DataFrameWriterV2, "append", appending)
        done.append(replay(spark, lake, topic, route=with_errors, id="two"))
    assert [one.tables for one in done] == [{f"{lake}.events": 2}] * 2
    assert rows(spark, f"{lake}.events", "id") == [(1,), (2,), (3,)]
    with pytest.raises(ValueError, match="the replay two of .* was not finished"):
        replay(spark, lake, topic, route=with_errors)
    with pytest.raises(ValueError, match="has planned 2 records for .*events, and 0 of them go there"):
        replay(spark, lake, topic, id="two")
    replay(spark, lake, topic, route=with_errors, id="two")
    assert rows(spark, f"{lake}.events", "id") == [(1,), (2,), (3,)]
    assert [one for one in commits.load(spark, f"{lake}.events").refs() if one.startswith("replay_")] == []
    assert [one for one in states(spark, lake) if one[2] and not one[4]] == []


@pytest.mark.proof("test_two_at_one_replay_bring_its_records_once shows it for records that are appended")
def test_a_merge_that_another_process_made_is_done(spark, lake, topic, monkeypatch):
    """Two at one replay: the merge that is refused for the other's finds the name that it has itself."""
    send(topic, {"kind": "thing", "id": 1, "version": 1, "op": "U", "text": "x"})
    deliver(spark, lake, topic)
    whole = replays.upserts.merge

    def beside(*arguments, **options):
        whole(*arguments, **options)
        raise commits.PartlyCommitted("a write committed a snapshot and was refused after that")

    monkeypatch.setattr(replays.upserts, "merge", beside)
    done = replay(spark, lake, topic, route=ROUTE.format(lake).replace("'item'", "'thing'"), id="two")
    assert done.tables == {f"{lake}.items": 1} and rows(spark, f"{lake}.items", "id") == [(1,)]
    assert [one for one in states(spark, lake) if one[2] and not one[4]] == []
