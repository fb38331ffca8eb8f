"""Records within aggregates of the Kinesis Producer Library: rows, dead letters and errors, each once."""

import json
import os
import signal

import pytest
from aggregate_cases import aggregate, sealed
from stream_server import dying_at_rows, server, stream
from test_ingest import ids, ingest
from test_kills import RECORDS, SCHEMA, WAIT_SECONDS, begun, found, watch

from workbench import session, streams
from workbench.streams import dead_letters, publish, replays
from workbench_proofs import kills

LINEAGE = ["shard_id", "sequence_number", "partition_key", "sub_sequence_number"]
NUMBER = "sub_sequence_number BIGINT, "
IDENTITY = ("shard_id", "sequence_number", "sub_sequence_number")


@pytest.fixture
def table(spark, namespace):
    name = f"{namespace}.events"
    more = ", ".join(f"{one} {'BIGINT NOT NULL' if one.startswith('sub') else 'STRING'}" for one in LINEAGE)
    spark.sql(f"CREATE TABLE {name} (id BIGINT NOT NULL, text STRING, {more}) USING iceberg")
    return name


def line(n):
    """A record; every tenth is bad."""
    return b"bad" if n % 10 == 0 else json.dumps({"id": n, "text": f"t{n}"}).encode()


def packed(numbers):
    return aggregate(*[(line(n), n % 2) for n in numbers], keys=["even", "odd"])


def send(stream, numbers, size=7):
    """Records, of which two of three parts come in aggregates of some size, the others alone."""
    parts = [numbers[begin : begin + size] for begin in range(0, len(numbers), size)]
    sent = [one for at, part in enumerate(parts) for one in ([packed(part)] if at % 3 else map(line, part))]
    stream.send(range(len(sent)), record=lambda n: sent[n])


def rows(spark, table, *columns):
    spark.catalog.refreshTable(table)
    return sorted(tuple(row) for row in spark.table(table).select(*columns).collect())


def made_before(spark, name, schema):
    """A table as a version made it that did not read aggregates."""
    spark.sql(f"CREATE TABLE {name} ({schema.replace(NUMBER, '')}) USING iceberg")
    assert "sub_sequence_number" not in spark.table(name).columns


def test_each_record_is_once_a_row_or_a_dead_letter(spark, stream, table):
    """Stopped between dead letters, whose table is of an earlier version, and rows; then run to the end."""
    letters = f"{table}_dead"
    made_before(spark, letters, dead_letters.SCHEMA)
    spark.sql(f"INSERT INTO {letters} (reason) VALUES ('earlier')")
    send(stream, range(100))
    stream.send([0], record=lambda n: aggregate((line(101), 0), (line(102), 5), (line(103), 0)))
    stream.send([0], record=lambda n: sealed(b"\x1a\xff"))
    options = {"dead_letters": letters, "lineage": LINEAGE}
    with dying_at_rows(table):
        ingest(spark, table, stream, max_records_per_batch=60, **options)
    assert len(rows(spark, letters, "reason")) > 3 and ids(spark, table) == []
    done = ingest(spark, table, stream, max_records_per_batch=80, **options)
    assert (done.records, done.good, done.dead, done.caught_up) == (104, 92, 12, True)
    assert ids(spark, table) == [n for n in range(100) if n % 10] + [101, 103]
    dead = spark.table(letters).where("reason <> 'earlier'").collect()
    told = [(one.reason, bytes(one.raw), one.partition_key, one.sub_sequence_number) for one in dead]
    assert sorted(reason for reason, *_ in told) == ["aggregated", *["not_json"] * 10, "unknown_key"]
    assert ("unknown_key", line(102), None, 1) in told and ("aggregated", sealed(b"\x1a\xff"), "key-0", 0) in told
    every = rows(spark, table, *IDENTITY) + [tuple(one[name] for name in IDENTITY) for one in dead]
    assert len(every) == 104 == len(set(every)) and max(number for _, _, number in every) == 6
    within = spark.table(table).where("sub_sequence_number > 0 AND id < 100").collect()
    assert len(within) > 40 and all(one.partition_key == ("odd" if one.id % 2 else "even") for one in within)
    assert spark.table(letters).where("reason = 'earlier' AND sub_sequence_number IS NULL").count() == 1


@pytest.mark.proof(
    "test_each_record_is_once_a_row_or_a_dead_letter stops an ingest in its own process, and "
    "11_survive_kills kills one whose records come alone"
)
@pytest.mark.parametrize("window", list(kills.WINDOWS))
def test_killed_in_a_window_and_run_again(spark, stream, table, window):
    send(stream, range(RECORDS), size=30)
    letters = f"{table}_dead"
    process = begun(stream, table, "--dead-letters", letters, "--lineage", ",".join(LINEAGE))
    try:
        killed = kills.strike(
            process, watch(stream, table, dead_letters=letters), window, timeout_seconds=WAIT_SECONDS
        )
        assert killed is not None and process.returncode == -9, "the window was not found"
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
    good = [n for n in range(RECORDS) if n % 10]
    before = found(spark, table)
    assert 0 < len(before) < len(good)
    source = stream.source(max_records_per_batch=1_000)
    parse = streams.Json(SCHEMA)
    done = streams.ingest(spark, table, source=source, parse=parse, dead_letters=letters, lineage=LINEAGE)
    assert done.resumed and done.good == len(good) - len(before)
    assert sorted(found(spark, table)) == good
    read = [session.catalog("local").load_table(one).scan().to_arrow().to_pylist() for one in (table, letters)]
    every = [tuple(row[name] for name in IDENTITY) for one in read for row in one]
    assert len(every) == RECORDS == len(set(every)) and len(read[1]) == RECORDS // 10


@pytest.mark.proof("test_duplicates_keep_the_first_offset shows it for records that come alone")
def test_of_duplicates_within_an_aggregate_the_first_one_is_kept(spark, stream, table):
    same = [b'{"id": 1, "text": "t%d"}' % n for n in range(20)]
    stream.send([0], record=lambda n: aggregate(*same))
    done = ingest(spark, table, stream, lineage=LINEAGE, record_key=streams.RecordKey(("id",)))
    assert (done.records, done.good, done.duplicates) == (20, 1, 19)
    assert rows(spark, table, "text", "sub_sequence_number") == [("t0", 0)]


def test_errors_within_aggregates_are_replayed_also_those_of_an_earlier_version(
    spark, stream, namespace, monkeypatch
):
    table, store = f"{namespace}.events", f"{namespace}.errors"
    spark.sql(f"CREATE TABLE {table} (id BIGINT, partition_key STRING, sub_sequence_number BIGINT) USING iceberg")
    target = streams.Target(lineage=("partition_key", "sub_sequence_number"))
    given = {"source": stream.source(), "tables": {table: target}}
    strict, mended = streams.Json("id BIGINT", unknown="dead"), streams.Json("id BIGINT")
    stream.send(
        [0], record=lambda n: aggregate((line(101), 0), b'{"id": 102}', (line(103), 0), (b'{"id": 104}', 3))
    )
    done = streams.deliver(spark, parse=strict, errors=store, **given)
    assert (done.tables, done.errors, done.run.records) == ({table: {"appended": 1}}, 3, 4)
    assert rows(spark, store, "reason", "sub_sequence_number") == [
        ("unknown_field", 0), ("unknown_field", 2), ("unknown_key", 3),
    ]  # fmt: skip
    # an error of a version that took nothing apart, beside one that is another record and one that is no aggregate
    earlier, other = packed([11, 20, 13]), sealed(b"\x1a\xff")
    one = spark.table(store).limit(1)
    for raw, sequence in ((earlier, "5"), (other, "6"), (b'{"id": 7}', "7")):
        changed = {"raw": f"X'{raw.hex()}'", "raw_bytes": f"{len(raw)}L", "sequence_number": f"'{sequence}'"}
        changed |= {"reason": "'aggregated'", "sub_sequence_number": "NULL"}
        one.selectExpr(*[f"{changed.get(name, name)} AS {name}" for name in one.columns]).writeTo(store).append()
    real = replays.commits.retrying

    def beside_another(spark, table, merge, **options):
        merge()  # of a process that was quicker with the same
        return real(spark, table, merge, **options)

    with monkeypatch.context() as patched:
        patched.setattr(replays.commits, "retrying", beside_another)
        replayed = streams.replay(spark, store, parse=mended, id="mended", **given)
    assert (replayed.tables, replayed.left, replayed.cut) == ({table: 6}, {"not_parsed": 2}, 0)
    assert rows(spark, table, "id", "partition_key", "sub_sequence_number") == [
        (7, spark.table(store).where("sequence_number = '7'").first().partition_key, 0),
        (11, "odd", 0), (13, "odd", 2), (101, "key", 0), (102, "key", 1), (103, "key", 2), (104, None, 3),
    ]  # fmt: skip
    left = spark.table(store).where("replayed IS NULL").orderBy("sequence_number").collect()
    assert [(bytes(row.raw), row.sub_sequence_number) for row in left] == [(b"bad", 1), (other, None)]
    assert (left[0].partition_key, left[0].raw_bytes) == ("even", 3)
    assert streams.replay(spark, store, parse=mended, **given).tables == {}
