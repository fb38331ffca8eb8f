"""Exactly once into a table: what is there after runs, restarts, other writers, maintenance."""

import json
import threading
import time
from collections import Counter
from dataclasses import dataclass, replace
from types import SimpleNamespace

import pytest
from conftest import own_namespace
from pyspark.errors import PythonException
from stream_server import Stream, server, stream

from workbench import streams
from workbench._base.errors import ArgumentError
from workbench.streams import chunks, keys, positions, publish
from workbench.streams.readers import shards, sources
from workbench.tables import commits, snapshots
from workbench_standins import kinesis

PARSE = streams.Json("id BIGINT NOT NULL, text STRING")


COLUMNS = "id BIGINT NOT NULL, text STRING, shard_id STRING, note STRING"


@pytest.fixture
def table(spark, namespace):
    name = f"{namespace}.events"
    spark.sql(f"CREATE TABLE {name} ({COLUMNS}) USING iceberg")
    return name


@pytest.fixture(scope="module")
def untouched(spark, server):
    """A stream and a table for all ingests that are refused: neither is read or written."""
    with own_namespace(spark, "t_untouched") as name:
        spark.sql(f"CREATE TABLE {name}.events ({COLUMNS}) USING iceberg")
        yield Stream(server, "untouched"), f"{name}.events"


def ingest(spark, table, stream, **options):
    source = {
        key: options.pop(key)
        for key in ("start", "at", "max_records_per_batch", "fail_on_data_loss")
        if key in options
    }
    return streams.ingest(
        spark, table, source=stream.source(**source), **{"parse": PARSE, "lineage": ["shard_id"]} | options
    )


def ids(spark, table):
    spark.catalog.refreshTable(table)
    return sorted(row.id for row in spark.table(table).select("id").collect())


def refs(spark, table):
    loaded = commits.load(spark, table)
    return sorted((one.split("_")[0], loaded.refs()[one].type().name()) for one in list(loaded.refs()))


def files_twice(spark, table):
    """Paths that the live entries of main name more than once: a commit that came twice."""
    spark.catalog.refreshTable(table)
    entries = spark.sql(f"SELECT data_file.file_path AS path FROM {table}.entries WHERE status < 2").collect()
    return [path for path, times in Counter(row.path for row in entries).items() if times > 1]


CLEAN = [("main", "BRANCH"), ("streams", "TAG")]


def test_rows_positions_and_figures(spark, stream, table):
    stream.send(range(50))
    done = ingest(spark, table, stream, max_records_per_batch=20)
    assert (done.records, done.good, done.dead, done.duplicates, done.dropped) == (50, 50, 0, 0, 0)
    assert done.batches >= 3 and done.caught_up and not done.resumed and done.lost == ()
    assert ids(spark, table) == list(range(50))
    assert done.snapshot_id == snapshots.current(spark, table)
    rows = spark.table(table).where("id < 2").orderBy("id").drop("shard_id").collect()
    assert [tuple(row) for row in rows] == [(0, "t0", None), (1, "t1", None)]
    assert {row[0] for row in spark.sql(f"SELECT DISTINCT shard_id FROM {table}").collect()} == set(
        stream.shards()
    )
    assert refs(spark, table) == CLEAN and files_twice(spark, table) == []
    # each batch is one snapshot, the first one says where it begins
    assert snapshots.history(spark, table).count() == done.batches + 1


def test_a_second_run_goes_on_from_the_table_alone(spark, stream, table):
    stream.send(range(30))
    ingest(spark, table, stream)
    stream.split(stream.shards()[0])
    stream.send(range(30, 60))
    stream.merge(*stream.shards()[-2:])
    stream.send(range(60, 90))
    done = ingest(spark, table, stream)
    assert (done.resumed, done.records, done.good) == (True, 60, 60)
    assert ids(spark, table) == list(range(90))
    again = ingest(spark, table, stream)
    assert (again.records, again.batches, again.snapshot_id) == (0, 0, done.snapshot_id)


@pytest.mark.proof("test_a_table_whose_refs_grow_old_at_once finds its place after a compaction and an expiry")
def test_after_compaction_and_expiry_to_the_minimum_it_goes_on(spark, stream, table):
    for n in range(3):
        stream.send(range(n * 10, n * 10 + 10))
        ingest(spark, table, stream)
    spark.sql(f"CALL system.rewrite_data_files('{table}', options => map('rewrite-all', 'true'))").collect()
    spark.sql(
        f"CALL system.expire_snapshots(table => '{table}', older_than => TIMESTAMP'2100-01-01', retain_last => 1)"
    ).collect()
    main = commits.load(spark, table).currentSnapshot()
    assert main.operation() == "replace"
    stream.send(range(30, 40))
    done = ingest(spark, table, stream)
    assert (done.resumed, done.good) == (True, 10)
    assert ids(spark, table) == list(range(40)) and files_twice(spark, table) == []


@pytest.mark.proof("test_a_rollback_whose_line_was_cut_is_a_rollback_still shows it with an expiry besides")
def test_a_rollback_brings_the_rows_again_that_it_took_away(spark, stream, table):
    stream.send(range(10))
    first = ingest(spark, table, stream).snapshot_id
    stream.send(range(10, 20))
    ingest(spark, table, stream)
    spark.sql(f"CALL system.rollback_to_snapshot('{table}', {first})").collect()
    assert ids(spark, table) == list(range(10))
    assert ingest(spark, table, stream).good == 10
    assert ids(spark, table) == list(range(20))


def expire(spark, table):
    spark.sql(
        f"CALL system.expire_snapshots(table => '{table}', older_than => TIMESTAMP'2100-01-01', retain_last => 1)"
    ).collect()


@pytest.mark.proof(
    "test_main_that_moved_without_positions_gets_the_files_that_are_written expires the table, and goes on"
)
def test_with_a_line_cut_behind_the_tag_it_goes_on(spark, stream, table):
    stream.send(range(10))
    ingest(spark, table, stream)
    for n in (-3, -2, -1):
        spark.sql(f"INSERT INTO {table} VALUES ({n}, 'mine', NULL, NULL)")
    expire(spark, table)
    stream.send(range(10, 20))
    assert ingest(spark, table, stream).good == 10
    assert ids(spark, table) == list(range(-3, 20))


FORGOTTEN = pytest.mark.proof(
    "test_positions_that_vanished_are_a_stop refuses where all that said it is forgotten"
)


@pytest.mark.parametrize("forgotten", [False, pytest.param(True, marks=FORGOTTEN)])
def test_a_rollback_whose_line_was_cut_is_a_rollback_still(spark, stream, table, forgotten):
    """The tag is on what was rolled back, and older than all that main has left."""
    runs = []
    for n in range(3):
        stream.send(range(n * 10, n * 10 + 10))
        runs.append(ingest(spark, table, stream))
    spark.sql(f"CALL system.rollback_to_snapshot('{table}', {runs[0].snapshot_id})").collect()
    spark.sql(f"INSERT INTO {table} VALUES (-1, 'mine', NULL, NULL)")
    expire(spark, table)
    if forgotten:
        forget_old_metadata(spark, table)
        with pytest.raises(streams.PositionsLost):
            ingest(spark, table, stream)
        assert ids(spark, table) == list(range(-1, 10))
    else:
        assert ingest(spark, table, stream).good == 20
        assert ids(spark, table) == list(range(-1, 30))


def forget_old_metadata(spark, table):
    for n in range(2):
        spark.sql(
            f"ALTER TABLE {table} SET TBLPROPERTIES ('write.metadata.previous-versions-max' = '1', 'n' = '{n}')"
        )


def test_positions_that_vanished_are_a_stop(spark, stream, table):
    stream.send(range(10))
    ingest(spark, table, stream)
    tags = [one for one in list(commits.load(spark, table).refs()) if one.startswith("streams_")]
    spark.sql(f"CALL system.rewrite_data_files('{table}', options => map('rewrite-all', 'true'))").collect()
    for tag in tags:
        spark.sql(f"ALTER TABLE {table} DROP TAG {tag}")
    spark.sql(
        f"CALL system.expire_snapshots(table => '{table}', older_than => TIMESTAMP'2100-01-01', retain_last => 1)"
    ).collect()
    forget_old_metadata(spark, table)
    with pytest.raises(streams.PositionsLost, match="no snapshot in main's history or under a tag says how far"):
        ingest(spark, table, stream)
    assert ids(spark, table) == list(range(10))


def test_a_table_with_rows_of_another_origin_is_asked_about(spark, stream, table):
    spark.sql(f"INSERT INTO {table} VALUES (-1, 'old', NULL, NULL)")
    stream.send(range(5))
    with pytest.raises(ValueError, match="has rows, and none of its snapshots says from which stream"):
        ingest(spark, table, stream)
    assert ids(spark, table) == [-1]
    ingest(spark, table, stream, onto_rows=True)
    assert ids(spark, table) == [-1, 0, 1, 2, 3, 4]


@pytest.mark.proof(
    "test_positions_are_of_one_stream_and_of_the_time_it_was_made shows that no stream takes the "
    "positions of another one"
)
def test_two_streams_into_one_table(spark, stream, server, table):
    other = Stream(server, stream.name + "-2", shards=1)
    stream.send(range(10))
    other.send(range(100, 110))
    ingest(spark, table, stream)
    ingest(spark, table, other)
    stream.send(range(10, 15))
    other.send(range(110, 115))
    assert [ingest(spark, table, one).good for one in (stream, other)] == [5, 5]
    assert ids(spark, table) == [*range(15), *range(100, 115)]
    assert refs(spark, table) == [*CLEAN, ("streams", "TAG")]


@pytest.mark.proof("test_a_topic_made_again_is_refused_and_then_read_from_its_beginning shows it for Kafka")
def test_a_stream_that_was_made_again_is_another_one(spark, stream, table):
    stream.send(range(10))
    ingest(spark, table, stream)
    stream.client.delete_stream(StreamName=stream.name)
    again = Stream(stream.server, stream.name)
    again.send(range(10, 20))
    with pytest.raises(
        streams.RecordsLost, match="which was deleted and made again; what was not read of it is gone"
    ):
        ingest(spark, table, again)
    done = ingest(spark, table, again, fail_on_data_loss=False)
    assert (done.good, len(done.lost)) == (10, 1)
    assert ids(spark, table) == list(range(20))


def run_of(spark, table, stream, **options):
    """A run that has begun, as ingest makes it, to be driven by hand."""
    from workbench.streams import loop

    run = loop.Run(spark, table, stream.source(**options), PARSE, 1.0, None, ("shard_id",), "run")
    run.begin(None, False)
    return run


def test_a_zombie_is_refused_wherever_it_was_stopped(spark, stream, table, monkeypatch):
    """Case 7 in one process: A is held before its publication, B commits, A goes on."""
    stream.send(range(10))
    a = run_of(spark, table, stream)
    real = publish.publish

    def others_first(*arguments):
        monkeypatch.setattr(publish, "publish", real)
        ingest(spark, table, stream)
        return real(*arguments)

    monkeypatch.setattr(publish, "publish", others_first)
    with pytest.raises(streams.AnotherWriter, match="another run ingests .* into .*: its"):
        a.batch()
    a.end()
    assert ids(spark, table) == list(range(10)) and refs(spark, table) == CLEAN and files_twice(spark, table) == []


def test_stopped_between_staging_and_publication_it_goes_on_and_no_branch_is_left(
    spark, stream, table, monkeypatch
):
    """As a killed run leaves it: its branch has a batch that nobody published."""
    stream.send(range(20))
    stopped = run_of(spark, table, stream, max_records_per_batch=8)
    before = stopped.batch().records

    def dies(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patched, pytest.raises(KeyboardInterrupt):
        patched.setattr(publish, "publish", dies)
        stopped.batch()
    assert 0 < before < 20 and len(ids(spark, table)) == before
    assert [kind for _, kind in refs(spark, table)].count("BRANCH") == 2
    done = ingest(spark, table, stream)
    assert done.resumed and done.good == 20 - before
    assert ids(spark, table) == list(range(20)) and files_twice(spark, table) == []
    assert refs(spark, table) == CLEAN


OLDER = pytest.mark.proof("the table of version 3 shows it, whose rows have numbers besides")


@pytest.mark.parametrize("version", [pytest.param(1, marks=OLDER), pytest.param(2, marks=OLDER), 3])
def test_main_that_moved_without_positions_gets_the_files_that_are_written(
    spark, stream, table, monkeypatch, version
):
    spark.sql(f"ALTER TABLE {table} SET TBLPROPERTIES ('format-version' = '{version}')") if version > 1 else None
    stream.send(range(10))
    ingest(spark, table, stream)
    stream.send(range(10, 20))
    real, written = (publish.publish, publish.append), []

    def compacted_first(*arguments):
        spark.sql(f"CALL system.rewrite_data_files('{table}', options => map('rewrite-all', 'true'))").collect()
        spark.sql(f"INSERT INTO {table} VALUES (-1, 'mine', NULL, NULL)")
        return real[0](*arguments)

    monkeypatch.setattr(publish, "publish", compacted_first)
    monkeypatch.setattr(publish, "append", lambda *arguments: written.append(1) or real[1](*arguments))
    done = ingest(spark, table, stream)
    assert (done.good, done.snapshot_id) == (10, snapshots.current(spark, table)) and len(written) == 1
    assert ids(spark, table) == list(range(-1, 20)) and files_twice(spark, table) == []
    assert refs(spark, table) == CLEAN
    if version == 3:
        numbers = [row[0] for row in spark.sql(f"SELECT _row_id FROM {table}").collect()]
        assert None not in numbers and len(set(numbers)) == 21
        # those of the carried rows are of the commit that they are in
        carried = [row[0] for row in spark.sql(f"SELECT _row_id FROM {table} WHERE id >= 10").collect()]
        assert min(carried) == commits.load(spark, table).currentSnapshot().firstRowId()
    monkeypatch.undo()
    expire(spark, table)  # the files are of two snapshots, and one of them goes
    stream.send(range(20, 30))
    assert ingest(spark, table, stream).good == 10
    assert ids(spark, table) == list(range(-1, 30))


def test_with_a_record_key_main_that_moved_is_compared_with_again(spark, stream, table, monkeypatch):
    stream.send(range(10))
    ingest(spark, table, stream)
    stream.send(range(10, 20))
    real, tries = publish.publish, []

    def others_first(*arguments):
        tries.append(1)
        if len(tries) == 1:
            spark.sql(f"INSERT INTO {table} VALUES (15, 'mine', NULL, NULL)")
        return real(*arguments)

    monkeypatch.setattr(publish, "publish", others_first)
    done = ingest(spark, table, stream, record_key=streams.RecordKey(("id",)))
    assert (done.good, done.duplicates, len(tries)) == (9, 1, 2)
    assert ids(spark, table) == list(range(20))


@pytest.mark.proof("test_a_zombie_that_looks_for_duplicates_is_told shows it where the branch is dropped earlier")
def test_what_was_staged_and_is_gone_is_not_carried(spark, stream, table, monkeypatch):
    stream.send(range(10))
    real = publish.publish

    def dropped_first(spark, place, *rest):
        spark.sql(f"ALTER TABLE {table} DROP BRANCH {place.branch}")
        spark.sql(f"INSERT INTO {table} VALUES (-1, 'mine', NULL, NULL)")
        expire(spark, table)
        return real(spark, place, *rest)

    monkeypatch.setattr(publish, "publish", dropped_first)
    with pytest.raises(streams.AnotherWriter, match="its branch was dropped"):
        ingest(spark, table, stream)
    assert ids(spark, table) == [-1]
    monkeypatch.undo()
    assert ingest(spark, table, stream).good == 10


@pytest.mark.proof("test_a_commit_between_the_look_and_the_note_is_seen shows it at the latest moment")
def test_a_note_is_fenced_like_rows_are(spark, stream, table):
    stream.send(range(10))
    ingest(spark, table, stream)
    described = sources.describe(stream.source())
    place = publish.Place(table, described, "unused")
    found = positions.find(spark, commits.load(spark, table), described)
    summary = positions.properties(described, found.shards, "a batch of nothing")
    with pytest.raises(streams.AnotherWriter, match="its positions moved"):
        publish.note(spark, place, {"shardId-000000000000": "1"}, summary)
    publish.note(spark, place, found.shards, summary)
    assert ids(spark, table) == list(range(10))


def test_a_commit_between_the_look_and_the_note_is_seen(spark, stream, table, monkeypatch):
    stream.send(range(10))
    ingest(spark, table, stream)
    described = sources.describe(stream.source())
    place = publish.Place(table, described, "unused")
    found = positions.find(spark, commits.load(spark, table), described)
    real, done = publish._tagged, []

    def late(*arguments):
        if not done:
            done.append(1)
            stream.send(range(10, 20))
            ingest(spark, table, stream)
        return real(*arguments)

    monkeypatch.setattr(publish, "_tagged", late)
    with pytest.raises(streams.AnotherWriter, match="its positions moved"):
        publish.note(spark, place, found.shards, positions.properties(described, {}, "x"))
    assert ids(spark, table) == list(range(20))


@pytest.mark.proof("test_a_zombie_is_refused_wherever_it_was_stopped shows it before a publication")
def test_two_runs_at_once_one_is_told(spark, stream, table):
    stream.send(range(20))
    a = run_of(spark, table, stream, max_records_per_batch=4)
    assert a.batch().records > 0
    done = ingest(spark, table, stream)
    with pytest.raises(streams.AnotherWriter):
        a.batch()
    a.end()
    assert done.resumed and ids(spark, table) == list(range(20))


@pytest.mark.proof(
    "test_latest_on_a_machine_whose_clock_is_wrong ingests from latest on, and "
    "test_latest_is_a_time_that_stays passes over what was there"
)
def test_latest_begins_when_the_run_does(spark, stream, table):
    stream.send(range(10))
    threading.Event().wait(0.05)
    done = ingest(spark, table, stream, start="latest")
    assert (done.records, done.batches) == (0, 0)
    stream.send(range(10, 20))  # between two runs: the first one has fixed the beginning
    assert ingest(spark, table, stream, start="latest").good == 10
    assert ids(spark, table) == list(range(10, 20))


def test_rows_that_were_read_again_differently_are_not_committed(spark, stream, table, monkeypatch):
    """A worker that is lost with what it had kept reads again, and may read more: its positions say less."""
    from workbench.streams import chunks

    stream.send(range(10))
    real, tries = chunks.rows, []

    def one_more(frame, schema):
        tries.append(1)
        rows = real(frame, schema)
        return rows.union(rows.limit(1)) if len(tries) == 1 else rows

    monkeypatch.setattr(chunks, "rows", one_more)
    assert ingest(spark, table, stream).good == 10
    assert len(tries) == 2 and ids(spark, table) == list(range(10)) and refs(spark, table) == CLEAN


def test_duplicates_of_a_producer_are_kept_once(spark, stream, namespace):
    table = f"{namespace}.keyed"
    spark.sql(f"CREATE TABLE {table} (id BIGINT, at TIMESTAMP) USING iceberg PARTITIONED BY (days(at))")
    record = lambda n: {"id": n % 10 if n < 20 else n, "at": f"2026-01-0{1 + n % 5}T00:00:00Z"}  # noqa: E731
    options = {
        "parse": streams.Json("id BIGINT, at TIMESTAMP"), "lineage": (),
        "record_key": streams.RecordKey(("id",), time="at", hours=24 * 7),
    }  # fmt: skip
    stream.send(range(15), record=record)
    done = ingest(spark, table, stream, **options)
    assert (done.records, done.good, done.duplicates) == (15, 10, 5)
    stream.send(range(10, 25), record=record)  # ten that are in the table, five that are new
    stream.send([0], record=lambda n: {"id": None, "at": "2026-01-01T00:00:00Z"})
    stream.send([0], record=lambda n: {"id": None, "at": "2026-01-01T00:00:00Z"})
    done = ingest(spark, table, stream, **options)
    assert (done.records, done.good, done.duplicates) == (17, 7, 10)
    stream.send(range(5), record=record)  # nothing but duplicates
    done = ingest(spark, table, stream, **options)
    assert (done.records, done.good, done.duplicates) == (5, 0, 5)
    assert ingest(spark, table, stream, **options).records == 0
    spark.catalog.refreshTable(table)
    found = [row.id for row in spark.table(table).orderBy("id").collect()]
    assert found == [None, None, *range(10), *range(20, 25)]


WHOLE = pytest.mark.proof("the table that is partitioned by the time shows it, where more is left out")


@pytest.mark.parametrize("partitions", [pytest.param("", marks=WHOLE), "PARTITIONED BY (days(at))"])
def test_a_duplicate_without_a_time_is_found_in_the_table(spark, stream, namespace, partitions):
    table = f"{namespace}.timeless"
    spark.sql(f"CREATE TABLE {table} (id BIGINT, at TIMESTAMP) USING iceberg {partitions}")
    options = {
        "parse": streams.Json("id BIGINT, at TIMESTAMP"), "lineage": (),
        "record_key": streams.RecordKey(("id",), time="at"),
    }  # fmt: skip
    record = lambda n: {"id": n, "at": None if n < 3 else "2026-01-01T00:00:00Z"}  # noqa: E731
    for numbers in (range(5), range(6)):  # beside rows that have a time, which is what the table is pruned by
        stream.send(numbers, record=record)
        done = ingest(spark, table, stream, **options)
    assert (done.good, done.duplicates) == (1, 5)
    assert ids(spark, table) == list(range(6))


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"max_bad_share": 2}, "max_bad_share must be a number of at least 0 and of at most 1, found 2"),
        ({"max_batches": 0}, "max_batches must be an integer of at least 1 or None, found 0"),
        ({"lineage": ["offset"]}, "lineage has offset; a record has stream, shard_id"),
        ({"parse": streams.Json("id INT NOT NULL")}, "column id of .* is bigint, the schema says int"),
        (
            {"parse": streams.Json("id BIGINT, text STRING")},
            "column id of .* is required; the schema has to say NOT NULL",
        ),
        ({"parse": streams.Json("text STRING")}, "column id of .* is required, and the schema does not have it"),
        ({"parse": streams.Json("id BIGINT NOT NULL, price DOUBLE")}, "has no column price; it has id, text"),
        ({"parse": streams.Json("id BIGINT NOT")}, "is not a schema"),
        ({"parse": streams.Json("id BIGINT NOT NULL, text STRING, Text STRING")}, "has text and Text; a name can"),
        (
            {"parse": streams.Json("id BIGINT NOT NULL, text BINARY")},
            "of type binary, which a JSON record cannot give",
        ),
        ({"record_key": streams.RecordKey(("nr",))}, "the record key names nr; the schema has id, text"),
        (
            {"record_key": streams.RecordKey(("id",), time="text")},
            "the record key's time text is string; it is one",
        ),
        ({"record_key": "id"}, "record_key must be RecordKey or None, found 'id'"),
        ({"poll_seconds": -1}, "poll_seconds must be a number of at least 0, found -1"),
        ({"stop": True}, "stop must be a function or None, found True"),
        ({"on_batch": "line"}, "on_batch must be a function or None, found 'line'"),
        ({"parse": streams.Json("")}, "the schema has no field"),
        ({"parse": streams.Json("id BIGINT NOT NULL, id BIGINT")}, "has id and id; a name can be there once"),
        ({"lineage": ["partition_key"]}, "has no column partition_key"),
    ],
)
def test_what_does_not_fit_is_one_sentence(spark, untouched, options, said):
    stream, table = untouched
    with pytest.raises(ValueError, match=said):
        ingest(spark, table, stream, **options)
    assert snapshots.history(spark, table).count() == 0


NESTED = pytest.mark.proof("structures within structures of an array show it")


@pytest.mark.parametrize(
    ("kind", "place"),
    [
        pytest.param("STRUCT<x: DOUBLE NOT NULL>", "STRUCT<x: DOUBLE>", marks=NESTED),
        ("ARRAY<STRUCT<a: STRUCT<x: INT NOT NULL>>>", "ARRAY<STRUCT<a: STRUCT<x: INT>>>"),
        ("MAP<STRING, STRUCT<x: INT NOT NULL>>", "MAP<STRING, STRUCT<x: INT>>"),
    ],
)
def test_what_is_required_inside_a_column_has_to_be_in_the_schema(spark, stream, namespace, kind, place):
    """A null there would stop Spark in the middle of writing, and each run after that."""
    table = f"{namespace}.places"
    spark.sql(f"CREATE TABLE {table} (id BIGINT, place {kind}) USING iceberg")
    with pytest.raises(ValueError, match=r"place\S*\.x of .* is required; the schema has to say NOT NULL"):
        ingest(spark, table, stream, parse=streams.Json(f"id BIGINT, place {place}"), lineage=())
    stream.send([1], record=lambda n: {"id": n})
    assert ingest(spark, table, stream, parse=streams.Json(f"id BIGINT, place {kind}"), lineage=()).good == 1


def test_a_branch_that_somebody_wrote_to_is_not_published(spark, stream, table, monkeypatch):
    stream.send(range(10))
    real = publish.publish

    def written_first(spark, place, *rest):
        spark.sql(f"INSERT INTO {table}.branch_{place.branch} VALUES (-1, 'mine', NULL, NULL)")
        return real(spark, place, *rest)

    monkeypatch.setattr(publish, "publish", written_first)
    with pytest.raises(streams.AnotherWriter, match="its branch was moved"):
        ingest(spark, table, stream)
    assert ids(spark, table) == []


def test_a_shard_that_expired_before_its_end_is_named(spark, stream, table):
    run = run_of(spark, table, stream)
    run.at = {"shardId-000000000099": "17"}
    with pytest.raises(streams.RecordsLost, match="shard shardId-000000000099 .* expired before it was read"):
        run.batch()
    run.end()


@pytest.mark.proof("test_duplicates_keep_the_first_offset shows it for Kafka")
def test_of_a_producers_duplicates_the_first_one_is_kept(spark, stream, table):
    stream.send(range(6), key=lambda n: "a", record=lambda n: {"id": 0, "text": f"t{n}"})
    ingest(spark, table, stream, record_key=streams.RecordKey(("id",)))
    assert [row.text for row in spark.table(table).collect()] == ["t0"]


def test_a_table_that_is_replaced_under_a_run(spark, stream, table):
    stream.send(range(20))

    def replace(batch):
        spark.sql(
            f"CREATE OR REPLACE TABLE {table} (id BIGINT NOT NULL, text STRING, shard_id STRING) USING iceberg"
        )

    with pytest.raises(streams.PositionsLost, match="replaced or rolled back while this run worked"):
        ingest(spark, table, stream, max_records_per_batch=4, on_batch=replace)
    with pytest.raises(streams.PositionsLost, match="to begin anew remove the table property"):
        ingest(spark, table, stream)
    assert ids(spark, table) == []


def test_columns_with_odd_names(spark, stream, namespace):
    table, columns = f"{namespace}.odd", "`a.b` BIGINT, `c``d` STRING, `at.t` TIMESTAMP"
    spark.sql(f"CREATE TABLE {table} ({columns}) USING iceberg")
    stream.send(range(4), record=lambda n: {"a.b": n // 2, "c`d": "x", "at.t": "2026-01-31T10:00:00Z"})
    key = streams.RecordKey(("a.b", "c`d"), time="at.t")
    done = ingest(spark, table, stream, parse=streams.Json(columns), lineage=(), record_key=key)
    assert (done.good, done.duplicates) == (2, 2)
    assert sorted(row[0] for row in spark.table(table).collect()) == [0, 1]


def test_a_missing_table_or_stream(spark, stream, table):
    namespace = table.partition(".")[0]
    with pytest.raises(snapshots.TableNotFound, match=f"no table {namespace}.other; {namespace} has {table}"):
        ingest(spark, f"{namespace}.other", stream)
    stream.client.delete_stream(StreamName=stream.name)
    with pytest.raises(streams.StreamNotFound, match=f"no stream {stream.name} in region"):
        ingest(spark, table, stream)


@pytest.mark.proof("test_what_stops_the_reading_of_a_shard_has_its_name deletes the stream later in a batch")
def test_a_stream_that_is_deleted_while_it_is_read(spark, stream, table):
    stream.send(range(20))

    def delete(batch):
        stream.client.delete_stream(StreamName=stream.name)

    with pytest.raises(streams.StreamNotFound, match=f"no stream {stream.name}"):
        ingest(spark, table, stream, max_records_per_batch=4, on_batch=delete)
    assert 0 < len(ids(spark, table)) <= 4 and refs(spark, table) == CLEAN


def test_what_stops_the_reading_of_a_shard_has_its_name(spark, stream, table, monkeypatch):
    stream.send(range(20))
    read = chunks.read

    def too_late(*arguments):
        stream.client.delete_stream(StreamName=stream.name)  # after the last look at it, so a worker meets it
        return read(*arguments)

    monkeypatch.setattr(chunks, "read", too_late)
    with pytest.raises(streams.StreamNotFound, match=f"^no stream {stream.name} in region"):
        ingest(spark, table, stream)
    assert ids(spark, table) == [] and refs(spark, table) == CLEAN


def test_what_a_source_refuses_in_a_worker_is_a_sentence(spark, stream, table):
    @dataclass(frozen=True)
    class Refused(sources.Source):
        def read(self, task, progress):
            yield from ()  # a generator, as the reading of a shard is: it raises where records are asked for
            raise ArgumentError(f"stream {self.stream} cannot be read: access denied")

    source = Refused(**vars(stream.source()))
    with pytest.raises(ArgumentError, match=f"^stream {stream.name} cannot be read: access denied$"):
        streams.ingest(spark, table, source=source, parse=PARSE)
    assert ids(spark, table) == []


@pytest.mark.proof(
    "test_positions_behind_the_trim_horizon_are_named shows it for the reading of a shard, "
    "test_trimmed_unread_stops_before_anything_is_committed for an ingest of Kafka"
)
def test_records_that_were_trimmed_unread_stop_it(spark, table):
    with kinesis.serve(limits=kinesis.UNLIMITED, start=1_800_000_000.0) as server:
        stream = Stream(server, "trimmed", shards=1)
        stream.send([1])
        ingest(spark, table, stream)
        server.clock.advance(3_600)
        stream.send([2])
        server.clock.advance(23.5 * 3_600)
        stream.send([3])
        with pytest.raises(streams.RecordsLost, match="^shard shardId-0+ of trimmed: the record of position"):
            ingest(spark, table, stream)
        assert ids(spark, table) == [1]
        done = ingest(spark, table, stream, fail_on_data_loss=False)
        assert (done.good, len(done.lost)) == (2, 1)


def test_a_shard_that_cannot_be_read_again_gives_no_rows(spark, stream):
    stream.send(range(20))
    source = stream.source()
    tasks = shards.plan(sources.describe(source), {}, 100)
    frame = chunks.frame(spark, source, tasks, PARSE.parser(), ())
    assert chunks.read(frame, tasks).good == 20
    stream.client.delete_stream(StreamName=stream.name)  # nothing was kept, so unpacking reads again
    for again in (chunks.rows(frame, PARSE.fields()), chunks.dead(frame)):
        with pytest.raises(PythonException, match="could not be read again"):
            again.collect()


def test_a_line_a_batch():
    batch = streams.Batch(3, 1200, 1000, 150, 50, 0, 7, 9, 2.0, 1.25, 0.0, True, 1)
    assert (
        streams.line(batch) == "batch 3: 1,000 rows, 150 dead, 50 duplicates, 600 records/s, lag 1.2 s, caught up"
    )


@pytest.mark.proof("10_ingest_stream reads the positions out of a summary")
def test_positions_are_plain_json_in_the_summary(spark, stream, table):
    stream.send(range(10), key=lambda n: "a")
    ingest(spark, table, stream)
    told = json.loads(commits.load(spark, table).currentSnapshot().summary().get("streams.positions"))
    (shard,) = [one for one, at in told["shards"].items()]
    assert told["stream"].endswith(f":stream/{stream.name}") and len(told["shards"][shard]) == 56


def test_how_far_back_duplicates_are_looked_for_does_not_depend_on_clocks_that_change(spark, monkeypatch):
    """At 07:30 UTC New York has just gone over from 01:59 to 03:00: one hour before is half past one there."""
    rows = spark.sql("SELECT TIMESTAMP'2026-03-08 07:30:00 UTC' AS at, DATE'2026-03-08' AS day")
    monkeypatch.setenv("TZ", "America/New_York")
    time.tzset()
    try:
        earliest = keys.since(rows, keys.RecordKey(("id",), time="at", hours=1.0))
        day = keys.since(rows, keys.RecordKey(("id",), time="day", hours=24.0))
        found = rows.select(earliest.cast("string"), day.cast("string")).collect()[0]
    finally:
        monkeypatch.undo()
        time.tzset()
    assert tuple(found) == ("2026-03-08 06:30:00", "2026-03-07")


@pytest.mark.parametrize(
    ("time", "hours", "earliest"),
    [
        ("DATE'0001-01-01'", 24, "0000-12-31"),
        ("DATE'0500-06-01'", 24, "0500-05-31"),
        ("DATE'2026-01-02'", 23, "2026-01-02"),
        ("DATE'2026-01-02'", float("inf"), "-18016-07-11"),
        ("TIMESTAMP_NTZ'0001-01-01 00:00:00'", 24, "0000-12-31 00:00:00"),
        ("TIMESTAMP_NTZ'2026-03-29 02:30:00.000001'", 0.5, "2026-03-29 02:00:00.000001"),
        ("TIMESTAMP_NTZ'+20000-01-01 00:00:00'", 24, "+19999-12-31 00:00:00"),
        ("TIMESTAMP'0001-01-01 00:00:00'", 24, "0000-12-31 00:00:00"),
        ("CAST(NULL AS DATE)", 24, None),
    ],
)
def test_how_far_back_duplicates_are_looked_for_is_told_of_any_time(spark, time, hours, earliest):
    """One record of the first day of all, which stands for *unknown* in many tables, stopped the stream for good."""
    rows = spark.sql(f"SELECT {time} AS at")
    found = keys.since(rows, keys.RecordKey(("id",), time="at", hours=hours))
    assert (found if found is None else rows.select(found.cast("string")).collect()[0][0]) == earliest


@pytest.mark.proof("test_how_far_back_duplicates_are_looked_for_is_told_of_any_time shows it without a stream")
def test_a_record_of_the_first_day_does_not_stop_a_stream(spark, stream, namespace):
    table = f"{namespace}.early"
    spark.sql(f"CREATE TABLE {table} (id BIGINT, day DATE) USING iceberg PARTITIONED BY (day)")
    options = {
        "parse": streams.Json("id BIGINT, day DATE"), "lineage": (),
        "record_key": streams.RecordKey(("id",), time="day"),
    }  # fmt: skip
    for numbers in (range(2), range(3)):
        stream.send(numbers, record=lambda n: {"id": n, "day": "0001-01-01" if n == 0 else "2026-01-01"})
        done = ingest(spark, table, stream, **options)
    assert (done.good, done.duplicates) == (1, 2)
    assert ids(spark, table) == [0, 1, 2]


def test_a_closed_shard_that_ends_where_a_batch_does_is_not_taken_for_the_streams_end(spark, table, server):
    stream = Stream(server, "closed-at-the-cap", shards=1)
    stream.send(range(10))
    stream.split(stream.shards()[0])
    stream.send(range(10, 25))
    done = ingest(spark, table, stream, max_records_per_batch=10)
    assert (done.good, done.caught_up) == (25, True)
    assert ids(spark, table) == list(range(25))


@pytest.mark.proof(
    "test_a_closed_shard_that_ends_where_a_batch_does_is_not_taken_for_the_streams_end reads "
    "children in the run of their parent, and test_a_second_run_goes_on_from_the_table_alone a "
    "merged one"
)
def test_a_reshard_under_a_run_is_followed(spark, stream, table):
    stream.send(range(20))

    def reshard(batch):
        if batch.number == 1:
            stream.split(stream.shards()[0])
            stream.merge(*stream.shards()[-2:])
            stream.send(range(20, 60))

    done = ingest(spark, table, stream, max_records_per_batch=8, on_batch=reshard)
    assert (done.good, done.caught_up) == (60, True)
    assert ids(spark, table) == list(range(60))


def test_positions_are_of_one_stream_and_of_the_time_it_was_made():
    first = sources.Stream("arn:a", 17, 24, {}, frozenset())
    snapshot = SimpleNamespace(summary=lambda: positions.properties(first, {"s": "1"}, "b"))
    assert positions._parse(snapshot, first) == {"s": "1"}
    for other in (replace(first, arn="arn:b"), replace(first, created=18)):
        assert positions._parse(snapshot, other) is None
