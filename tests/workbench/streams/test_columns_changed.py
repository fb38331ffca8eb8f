"""A table that others change while it is ingested into, or between two runs."""

import pytest
from stream_server import server, stream
from test_ingest import CLEAN, expire, files_twice, forget_old_metadata, ids, ingest, refs, table

from workbench import session, streams
from workbench.streams import keys, publish
from workbench.tables import commits, snapshots

ADDED = pytest.mark.proof("columns that swapped their names show that those of today are compared")


@pytest.mark.parametrize("change", ["swapped", pytest.param("added", marks=ADDED)])
def test_duplicates_are_found_by_the_columns_of_today(spark, stream, namespace, change):
    """No snapshot knows of a change of columns; the columns of the newest one are those of its day."""
    table = f"{namespace}.changed"
    spark.sql(f"CREATE TABLE {table} (id BIGINT, nr BIGINT) USING iceberg")
    parse, key = streams.Json("id BIGINT, nr BIGINT"), streams.RecordKey(("id",))
    stream.send(range(10), record=lambda n: {"id": n, "nr": 100 + n})
    ingest(spark, table, stream, parse=parse, lineage=())
    if change == "swapped":
        for old, new in (("id", "was"), ("nr", "id"), ("was", "nr")):
            spark.sql(f"ALTER TABLE {table} RENAME COLUMN {old} TO {new}")
        record, expected = lambda n: {"id": 100 + n}, (1, 5)
    else:
        spark.sql(f"ALTER TABLE {table} ADD COLUMN other BIGINT")
        parse, key = streams.Json("id BIGINT, other BIGINT"), streams.RecordKey(("other",))
        record, expected = lambda n: {"other": n // 2}, (4, 2)
    stream.send(range(5, 11), record=record)
    done = ingest(spark, table, stream, parse=parse, lineage=(), record_key=key)
    assert (done.good, done.duplicates) == expected


def once(change):
    """A function of a batch that changes something behind the first one."""
    changes = [change]
    return lambda batch: changes.pop()() if changes else None


OTHERS = pytest.mark.proof("a column that is dropped under a run shows that the table is looked at again")


@pytest.mark.parametrize(
    "change",
    [
        "DROP COLUMN note",
        pytest.param("RENAME COLUMN note TO remark", marks=OTHERS),
        pytest.param("ADD COLUMN more STRING", marks=OTHERS),
        pytest.param("ADD PARTITION FIELD bucket(4, id)", marks=OTHERS),
    ],
)
def test_columns_that_are_not_of_the_schema_may_change_under_a_run(spark, stream, table, change):
    stream.send(range(20))
    alter = once(lambda: spark.sql(f"ALTER TABLE {table} {change}"))
    assert ingest(spark, table, stream, max_records_per_batch=8, on_batch=alter).good == 20
    assert ids(spark, table) == list(range(20))


@pytest.mark.proof("test_a_column_that_is_renamed_under_a_run_is_a_sentence shows it for a column of the lineage")
def test_a_column_of_the_schema_that_is_renamed_under_a_run_is_a_sentence(spark, stream, table):
    stream.send(range(20))
    alter = once(lambda: spark.sql(f"ALTER TABLE {table} RENAME COLUMN text TO words"))
    with pytest.raises(ValueError, match="has no column text; it has id, words"):
        ingest(spark, table, stream, max_records_per_batch=8, on_batch=alter)
    before = ids(spark, table)
    assert 0 < len(before) <= 8 and refs(spark, table) == CLEAN
    parse = streams.Json("id BIGINT NOT NULL, words STRING")
    assert ingest(spark, table, stream, parse=parse).good == 20 - len(before)
    assert ids(spark, table) == list(range(20))


def test_a_session_that_is_led_to_a_branch_under_a_run_is_a_sentence(spark, stream, table):
    spark.sql(f"ALTER TABLE {table} SET TBLPROPERTIES ('write.wap.enabled' = 'true')")
    stream.send(range(20))
    try:
        with pytest.raises(ValueError, match="the session has spark.wap.id = audit; unset it first"):
            ingest(
                spark, table, stream, max_records_per_batch=8,
                on_batch=once(lambda: spark.conf.set("spark.wap.id", "audit")),
            )  # fmt: skip
    finally:
        spark.conf.unset("spark.wap.id")
    ingest(spark, table, stream)
    assert ids(spark, table) == list(range(20))


@pytest.mark.parametrize(
    ("change", "error", "said"),
    [
        ("renamed", snapshots.TableNotFound, "no table .*events"),
        pytest.param(
            "made again",
            streams.PositionsLost,
            "the table was replaced or rolled back while this run worked",
            marks=pytest.mark.proof("test_a_table_that_is_replaced_under_a_run shows it within one session"),
        ),
    ],
)
def test_a_table_that_another_process_takes_away_is_a_sentence(spark, stream, table, change, error, said):
    """The session still remembers the table that was."""
    catalog = session.catalog("local")

    def away():
        schema = catalog.load_table(table).schema()
        catalog.rename_table(table, f"{table}_old")
        if change == "made again":
            catalog.create_table(table, schema=schema)

    stream.send(range(20))
    with pytest.raises(error, match=said):
        ingest(spark, table, stream, max_records_per_batch=8, on_batch=once(away))
    assert 0 < len(ids(spark, f"{table}_old")) <= 8


def test_a_rollback_under_a_run_is_not_taken_for_another_run(spark, stream, table):
    stream.send(range(20))
    begin = lambda: spark.sql(f"SELECT * FROM {table}.snapshots ORDER BY committed_at").first().snapshot_id  # noqa: E731
    back = once(lambda: spark.sql(f"CALL system.rollback_to_snapshot('{table}', {begin()})").collect())
    with pytest.raises(streams.PositionsLost, match="rolled back behind what this run had brought"):
        ingest(spark, table, stream, max_records_per_batch=8, on_batch=back)
    assert ids(spark, table) == [] and refs(spark, table) == CLEAN
    assert ingest(spark, table, stream).good == 20
    assert ids(spark, table) == list(range(20))


def test_a_zombie_that_looks_for_duplicates_is_told(spark, stream, table, monkeypatch):
    """The other run's publication drops the branch on which this one looks."""
    stream.send(range(20))
    real, key = keys.once, streams.RecordKey(("id",))

    def others_first(*arguments):
        monkeypatch.setattr(keys, "once", real)
        ingest(spark, table, stream, record_key=key)
        return real(*arguments)

    monkeypatch.setattr(keys, "once", others_first)
    with pytest.raises(streams.AnotherWriter, match="its branch was dropped"):
        ingest(spark, table, stream, record_key=key)
    assert ids(spark, table) == list(range(20)) and refs(spark, table) == CLEAN


STILL = pytest.mark.proof("the case in which main moves loses the same answers, and one more")


@pytest.mark.parametrize("moved", [pytest.param(False, marks=STILL), True])
def test_commits_whose_answers_are_lost_are_found(spark, stream, table, monkeypatch, moved):
    """Each commit of a run is made, and then the connection breaks: nobody but the table knows of it."""
    attempt, real, lost, letters = commits.attempt, publish.publish, [], f"{table}_dead"

    def unanswered(commit, **options):
        told = []

        def answered():
            value = commit()
            if not told:
                told.append(value)
                lost.append(value)
                raise ConnectionError("the answer was lost")
            return value

        return attempt(answered, **options)

    def others_first(spark, place, *rest):
        commits.load(spark, place.table).newFastAppend().commit()
        return real(spark, place, *rest)

    stream.send(range(20), record=lambda n: b"bad" if n == 3 else {"id": n})
    with monkeypatch.context() as broken:
        broken.setattr(commits, "attempt", unanswered)
        broken.setattr(commits.moves, "attempt", unanswered)
        if moved:
            broken.setattr(publish, "publish", others_first)
        done = ingest(spark, table, stream, dead_letters=letters)
    assert (done.records, done.good, done.dead, done.snapshot_id) == (20, 19, 1, snapshots.current(spark, table))
    assert len(lost) > 8  # two beginnings, and for each table stage, append, publication, end
    assert ids(spark, table) == [n for n in range(20) if n != 3] and spark.table(letters).count() == 1
    assert files_twice(spark, table) == files_twice(spark, letters) == []
    assert refs(spark, table) == refs(spark, letters) == CLEAN


def test_a_table_whose_refs_grow_old_at_once(spark, stream, table, monkeypatch):
    """Expiry removes what is older than a property of the table says; not the tag, and not a branch at work."""
    spark.sql(f"ALTER TABLE {table} SET TBLPROPERTIES ('history.expire.max-ref-age-ms' = '1')")
    real = publish.publish

    def expired_first(*arguments):
        expire(spark, table)
        return real(*arguments)

    monkeypatch.setattr(publish, "publish", expired_first)
    stream.send(range(10))
    assert ingest(spark, table, stream).good == 10
    spark.sql(f"CALL system.rewrite_data_files('{table}', options => map('rewrite-all', 'true'))").collect()
    expire(spark, table)
    assert refs(spark, table) == CLEAN
    forget_old_metadata(spark, table)
    assert ingest(spark, table, stream).records == 0
