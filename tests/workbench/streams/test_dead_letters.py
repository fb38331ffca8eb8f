"""The dead-letter table: what is in it, that it is exactly once by itself, and when it is not written at all."""

import hashlib

import pytest
from conftest import PROVE
from stream_server import dying_at_rows, server, stream
from test_ingest import CLEAN, PARSE, files_twice, ids, ingest, refs, table

from workbench import streams
from workbench.streams import chunks, publish
from workbench.tables import commits, snapshots


@pytest.fixture
def letters(table):
    return f"{table}_dead"


def bad(n):
    """Every third record is bad, in one of three ways."""
    spoiled = [b"", b'{"id": null}', b'{"id": %d}{}' % n]
    return spoiled[n // 3 % 3] if n % 3 == 0 else {"id": n, "text": f"t{n}"}


def dead(spark, letters):
    spark.catalog.refreshTable(letters)
    return spark.table(letters).collect()


def good(numbers):
    return [n for n in numbers if n % 3]


def test_good_and_dead_are_all(spark, stream, table, letters):
    stream.send(range(60), record=bad)
    done = ingest(spark, table, stream, dead_letters=letters, max_records_per_batch=20, run_id="night-1")
    assert (done.records, done.good, done.dead) == (60, 40, 20)
    assert ids(spark, table) == good(range(60))
    rows = dead(spark, letters)
    reasons = [row.reason for row in rows]
    assert {one: reasons.count(one) for one in set(reasons)} == {
        "empty": 7, "null_in_required": 7, "more_than_one": 6,
    }  # fmt: skip
    assert sorted(bytes(row.raw) for row in rows) == sorted(bad(n) for n in range(0, 60, 3))
    one = next(row for row in rows if row.reason == "more_than_one")
    raw = bytes(one.raw)
    assert (one.raw_bytes, one.raw_sha256) == (len(raw), hashlib.sha256(raw).hexdigest())
    assert (one.stream, one.run_id, one.schema_version) == (stream.name, "night-1", "1")
    assert one.message.startswith("something follows the first value") and one.partition_key.startswith("key-")
    assert one.shard_id in stream.shards() and len(one.sequence_number) == 56
    assert refs(spark, letters) == refs(spark, table) == CLEAN


def test_raw_bytes_are_capped_and_the_hash_is_of_all(spark, stream, table, letters):
    whole = b"x" * 100_000
    stream.send([1], record=lambda n: whole)
    ingest(spark, table, stream, dead_letters=letters)
    (row,) = dead(spark, letters)
    assert (len(row.raw), row.raw_bytes) == (65_536, 100_000)
    assert row.raw_sha256 == hashlib.sha256(whole).hexdigest()


@pytest.mark.proof("test_each_record_is_once_a_row_or_a_dead_letter stops there, with records in aggregates")
def test_stopped_between_dead_letters_and_rows_nothing_comes_twice(spark, stream, table, letters):
    stream.send(range(30), record=bad)
    with dying_at_rows(table):
        ingest(spark, table, stream, dead_letters=letters)
    assert len(dead(spark, letters)) == 10 and ids(spark, table) == []
    stream.send(range(30, 60), record=bad)  # the next run's first batch is another one than the stopped run's
    done = ingest(spark, table, stream, dead_letters=letters, max_records_per_batch=16)
    assert (done.records, done.good, done.dead) == (60, 40, 20)
    assert ids(spark, table) == good(range(60)) and files_twice(spark, letters) == []
    rows = dead(spark, letters)
    assert len(rows) == 20 == len({(row.shard_id, row.sequence_number) for row in rows})


@pytest.mark.proof("notebook 11_survive_kills wakes a zombie and looks for dead letters that are there twice")
def test_a_zombie_writes_no_dead_letters(spark, stream, table, letters, monkeypatch):
    stream.send(range(30), record=bad)
    real = publish.publish

    def others_first(spark, place, *rest):
        monkeypatch.setattr(publish, "publish", real)
        assert place.table == letters
        ingest(spark, table, stream, dead_letters=letters)
        return real(spark, place, *rest)

    monkeypatch.setattr(publish, "publish", others_first)
    with pytest.raises(streams.AnotherWriter, match="_dead: its"):
        ingest(spark, table, stream, dead_letters=letters)
    assert ids(spark, table) == good(range(30)) and len(dead(spark, letters)) == 10


@pytest.mark.proof("test_rows_that_were_read_again_differently_are_not_committed shows it for rows")
def test_dead_letters_that_were_read_again_differently_are_not_committed(
    spark, stream, table, letters, monkeypatch
):
    """One from behind the positions that it is committed with would be a dead letter twice."""
    stream.send(range(30), record=bad)
    real, tries = chunks.dead, []

    def one_more(frame):
        tries.append(1)
        rows = real(frame)
        return rows.union(rows.limit(1)) if len(tries) == 1 else rows

    monkeypatch.setattr(chunks, "dead", one_more)
    done = ingest(spark, table, stream, dead_letters=letters)
    assert (done.good, done.dead, len(dead(spark, letters))) == (20, 10, 10) and len(tries) == 2


def test_a_share_above_the_threshold_stops_before_anything(spark, stream, table, letters):
    stream.send(range(1, 30), record=lambda n: {"id": n, "text": "x"})
    assert ingest(spark, table, stream, dead_letters=letters, max_bad_share=0.3).good == 29
    before = [snapshots.history(spark, one).count() for one in (table, letters)]
    stream.send(range(30, 60), record=bad)
    with pytest.raises(streams.TooManyBad, match="10 of 30 records .* max_bad_share = 0.3; nothing of this batch"):
        ingest(spark, table, stream, dead_letters=letters, max_bad_share=0.3)
    assert [snapshots.history(spark, one).count() for one in (table, letters)] == before
    assert refs(spark, table) == refs(spark, letters) == CLEAN
    done = ingest(spark, table, stream, dead_letters=letters, max_bad_share=0.34)
    assert (done.good, done.dead) == (20, 10)


def test_without_a_table_for_it_the_first_bad_record_stops(spark, stream, table):
    stream.send(range(30), record=bad)
    with pytest.raises(streams.TooManyBad, match="10 of 30 .* no dead_letters table was named"):
        ingest(spark, table, stream)
    assert ids(spark, table) == []


def test_a_batch_of_nothing_but_bad_records_moves_on(spark, stream, table, letters):
    stream.send(range(12), record=lambda n: b"bad")
    done = ingest(spark, table, stream, dead_letters=letters, max_records_per_batch=6 if PROVE else 12)
    assert (done.records, done.good, done.dead) == (12, 0, 12)
    assert ingest(spark, table, stream, dead_letters=letters).records == 0
    assert len(dead(spark, letters)) == 12


@pytest.mark.proof("test_unknown_fields_are_counted_or_dead shows both policies of the parser")
def test_drift_by_policy(spark, stream, table, letters):
    records = [b'{"id": 1, "new": true}', b'{"id": 2}', b'{"id": 3, "text": 5}', b'{"text": "no id"}']
    stream.send(range(4), record=lambda n: records[n])
    strict = streams.Json(PARSE.schema, unknown="dead", version="2")
    done = ingest(spark, table, stream, dead_letters=letters, parse=strict)
    assert (done.good, done.dead, done.unknown) == (1, 3, 0)
    found = sorted((row.reason, row.schema_version) for row in dead(spark, letters))
    assert found == [("missing_field", "2"), ("unknown_field", "2"), ("wrong_type", "2")]
    stream.send([0], record=lambda n: records[0])
    assert ingest(spark, table, stream, dead_letters=letters).unknown == 1


def test_another_table_is_no_dead_letter_table(spark, stream, table):
    with pytest.raises(
        ValueError,
        match="is not a table of dead letters: approximate_arrival_timestamp should be timestamp and is not there",
    ):
        ingest(spark, table, stream, dead_letters=table)


@pytest.mark.proof(
    "test_commits_whose_answers_are_lost_are_found moves main of both tables and looks for files that came twice"
)
def test_letters_are_carried_over_where_main_moved_meanwhile(spark, stream, table, letters, monkeypatch):
    stream.send(range(30), record=bad)
    real, written = (publish.publish, publish.append), []

    def others_first(spark, place, *rest):
        if place.table == letters:
            commits.load(spark, letters).newFastAppend().commit()
        return real[0](spark, place, *rest)

    monkeypatch.setattr(publish, "publish", others_first)
    monkeypatch.setattr(publish, "append", lambda *arguments: written.append(1) or real[1](*arguments))
    done = ingest(spark, table, stream, dead_letters=letters)
    assert (done.good, done.dead, len(dead(spark, letters)), len(written)) == (20, 10, 10, 2)
    assert files_twice(spark, letters) == []
