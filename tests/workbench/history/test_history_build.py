"""What a build does beside its rows: where it stops and why, what it keeps, what it leaves alone."""

from datetime import UTC, datetime

import pytest
from commit_times import line, set_times
from conftest import PROVE, views

from workbench import history
from workbench.tables import commits
from workbench.tables.changes import files

BASE = 1_760_000_000_000


@pytest.fixture
def source(spark, namespace):
    name = f"{namespace}.source"
    spark.sql(
        f"CREATE TABLE {name} (id BIGINT, name STRING, price INT) USING iceberg TBLPROPERTIES ('format-version' = '3')"
    )
    spark.sql(f"INSERT INTO {name} SELECT /*+ COALESCE(1) */ * FROM VALUES (1L, 'heater', 250), (2L, 'lamp', 10)")
    return name


@pytest.fixture
def target(namespace):
    return f"{namespace}.target"


def timed(spark, table, *seconds):
    """Give the snapshots the times BASE + seconds, a compaction included."""
    ids = [snapshot for snapshot, _ in line(spark, table)]
    set_times(spark, table, {one: BASE + round(1000 * at) for one, at in zip(ids, seconds, strict=True)})


def versions(spark, target):
    """id, price, valid_from, valid_to in seconds since BASE, is_current, version, change_ordinal."""

    def seconds(time):
        return None if time is None else time.replace(tzinfo=UTC).timestamp() - BASE / 1000

    rows = spark.sql(f"SELECT * FROM {target} ORDER BY id, version").collect()
    return [
        (r.id, r.price, seconds(r.valid_from), seconds(r.valid_to), r.is_current, r.version, r.change_ordinal)
        for r in rows
    ]


def snapshots_of(spark, table):
    return spark.sql(f"SELECT * FROM {table}.snapshots").count()


@pytest.mark.proof(
    "test_history_in_steps compares the versions, "
    "test_nothing_but_compaction_moves_the_position_and_makes_no_version counts the commits"
)
def test_first_and_next_by_one_commit_each(spark, source, target):
    spark.sql(f"UPDATE {source} SET price = 500 WHERE id = 1")
    timed(spark, source, 0, 1)
    built = history.build(spark, source, target, key="id")
    assert (built.commits, built.snapshot_id) == (2, line(spark, source)[-1][0])
    assert snapshots_of(spark, target) == 1
    spark.sql(f"DELETE FROM {source} WHERE id = 2")
    timed(spark, source, 0, 1, 2)
    assert history.build(spark, source, target, key="id").commits == 1
    assert snapshots_of(spark, target) == 2
    spark.sql(f"INSERT INTO {source} VALUES (2L, 'lamp', 10)")
    timed(spark, source, 0, 1, 2, 3)
    assert history.build(spark, source, target, key="id").commits == 1
    assert versions(spark, target) == [
        (1, 250, 0, 1, False, 1, 0),
        (1, 500, 1, None, True, 2, 1),
        (2, 10, 0, 2, False, 1, 0),
        (2, 10, 3, None, True, 2, 3),
    ]
    before = snapshots_of(spark, target)
    assert history.build(spark, source, target, key="id").commits == 0
    assert snapshots_of(spark, target) == before
    assert [
        r.id for r in history.as_of(spark, target, datetime.fromtimestamp(BASE / 1000 + 2, UTC)).collect()
    ] == [1]
    refs = spark.sql(f"SELECT name, type, snapshot_id FROM {target}.refs ORDER BY type").collect()
    assert [(r.name, r.type) for r in refs] == [("main", "BRANCH"), (f"history_{refs[0].snapshot_id}", "TAG")]


def test_nothing_but_compaction_moves_the_position_and_makes_no_version(spark, source, target):
    spark.sql(f"ALTER TABLE {source} SET TBLPROPERTIES ('history.expire.max-ref-age-ms' = '1')")
    history.build(spark, source, target, key="id")
    spark.sql(f"ALTER TABLE {target} CREATE TAG history_20261231")  # a user's own stays
    before = versions(spark, target)
    spark.sql(
        f"CALL system.rewrite_data_files(table => '{source}', options => map('rewrite-all', 'true'))"
    ).collect()
    assert history.build(spark, source, target, key="id") == history.Built(0, line(spark, source)[-1][0])
    assert versions(spark, target) == before
    assert history.build(spark, source, f"{spark.catalog.currentCatalog()}.{target}", key="id").commits == 0
    assert snapshots_of(spark, target) == 2  # the position moved with a commit of its own, once
    spark.sql(f"CALL system.expire_snapshots(table => '{source}', older_than => TIMESTAMP'2100-01-01')").collect()
    refs = {name: sorted(row.name for row in spark.table(f"{name}.refs").collect()) for name in (source, target)}
    mine = f"history_{commits.head(commits.load(spark, target))}"
    assert refs[target] == sorted(["history_20261231", "main", mine]) and len(refs[source]) == 2


@pytest.mark.proof(
    "test_history_in_steps builds between two commits of one millisecond, and under a clock that was held"
)
def test_commits_of_one_millisecond_over_two_builds(spark, source, target):
    """The version of the first was never to be seen: it goes, and its number is taken by the next."""
    spark.sql(f"UPDATE {source} SET price = 300 WHERE id = 1")
    timed(spark, source, 0, 1)
    history.build(spark, source, target, key="id")
    spark.sql(f"UPDATE {source} SET price = 500 WHERE id = 1")
    spark.sql(f"DELETE FROM {source} WHERE id = 2")
    timed(spark, source, 0, 1, 1, 0.5)  # the last clock was behind: held at 1
    history.build(spark, source, target, key="id")
    expected = [(1, 250, 0, 1, False, 1, 0), (1, 500, 1, None, True, 2, 2), (2, 10, 0, 1, False, 1, 0)]
    assert versions(spark, target) == expected
    history.build(spark, source, f"{target}_whole", key="id")
    assert versions(spark, f"{target}_whole") == expected


def test_a_target_of_the_users_own_keeps_what_it_is(spark, source, target):
    spark.sql(
        f"CREATE TABLE {target} (version INT, valid_from TIMESTAMP, valid_to TIMESTAMP, is_current BOOLEAN, "
        "change_ordinal INT, id BIGINT, name STRING, price INT) USING iceberg PARTITIONED BY (bucket(4, id)) "
        "TBLPROPERTIES ('format-version' = '2', 'write.merge.mode' = 'copy-on-write', 'owner-note' = 'ours')"
    )
    if PROVE:
        timed(spark, source, 0)
        history.build(spark, source, target, key="id")
    spark.sql(f"UPDATE {source} SET price = 500 WHERE id = 1")
    timed(spark, source, 0, 1)
    history.build(spark, source, target, key="id")
    assert versions(spark, target) == [
        (1, 250, 0, 1, False, 1, 0),
        (1, 500, 1, None, True, 2, 1),
        (2, 10, 0, None, True, 1, 0),
    ]
    made = spark.sql(f"SHOW CREATE TABLE {target}").collect()[0][0]
    assert "PARTITIONED BY (bucket(4, id))" in made and "'owner-note' = 'ours'" in made
    assert (
        snapshots_of(spark, target) == (2 if PROVE else 1) + 1
    )  # an empty table gets an empty snapshot to branch from


@pytest.mark.proof(
    "test_history_in_steps adds one between two builds, test_a_column_renamed_dropped_or_made_anew_stops "
    "has the refusals"
)
def test_a_new_column_is_added_and_a_missing_one_stops(spark, source, target):
    history.build(spark, source, target, key="id")
    spark.sql(f"ALTER TABLE {source} ADD COLUMN note STRING AFTER id")
    spark.sql(f"UPDATE {source} SET note = 'n' WHERE id = 1")
    history.build(spark, source, target, key="id")
    found = spark.sql(f"SELECT id, note, version FROM {target} ORDER BY id, version").collect()
    assert [tuple(row) for row in found] == [(1, None, 1), (1, "n", 2), (2, None, 1)]
    spark.sql(f"ALTER TABLE {source} RENAME COLUMN note TO remark")
    spark.sql(f"UPDATE {source} SET price = 1 WHERE id = 1")
    with pytest.raises(ValueError, match="column note of .* is now called remark"):
        history.build(spark, source, target, key="id")
    spark.sql(f"ALTER TABLE {source} DROP COLUMN remark")
    with pytest.raises(ValueError, match="column note was dropped"):
        history.build(spark, source, target, key="id")
    spark.sql(f"ALTER TABLE {source} ADD COLUMN note STRING")  # another column of the same name
    with pytest.raises(ValueError, match="column note was dropped"):
        history.build(spark, source, target, key="id")


def test_a_column_renamed_dropped_or_made_anew_stops(spark, namespace, target):
    source = f"{namespace}.source"
    columns = "id BIGINT, name STRING, s STRUCT<a: INT, b: INT>"
    spark.sql(f"CREATE TABLE {source} ({columns}) USING iceberg TBLPROPERTIES ('format-version' = '3')")
    spark.sql(f"INSERT INTO {source} VALUES (1L, 'heater', named_struct('a', 1, 'b', 2))")
    history.build(spark, source, target, key="id")
    for changed, said in (
        (["RENAME COLUMN name TO label"], "column name of .* is now called label"),
        (["DROP COLUMN label"], "column name was dropped"),
        (["ADD COLUMN name STRING"], "column name was dropped"),  # another column of the same name
        (["DROP COLUMN s.b", "ADD COLUMN s.b INT"], r"column s\.b was dropped from"),
    ):
        for change in changed:
            spark.sql(f"ALTER TABLE {source} {change}")
        with pytest.raises(ValueError, match=said):
            history.build(spark, source, target, key="id")


def test_another_source_another_key_and_a_foreign_table_stop(spark, source, target, namespace):
    history.build(spark, source, target, key="id")
    with pytest.raises(ValueError, match="built with the key id, not id, name"):
        history.build(spark, source, target, key=["id", "name"])
    other = f"{namespace}.other"
    spark.sql(f"CREATE TABLE {other} USING iceberg AS SELECT * FROM {source}")
    with pytest.raises(
        history.OtherSource, match=f"built from {source} .*; {other} is now table .*: another table, or made again"
    ):
        history.build(spark, other, target, key="id")
    with pytest.raises(ValueError, match=f"{other} holds rows, but none of its snapshots says"):
        history.build(spark, source, other, key="id")
    with pytest.raises(ValueError, match="cannot be its own history"):
        history.build(spark, source, source, key="id")
    with pytest.raises(ValueError, match=f"{other} is not a history: it has no column valid_from"):
        history.current(spark, other)
    empty = f"{namespace}.empty"
    spark.sql(f"CREATE TABLE {empty} (id BIGINT, name STRING, price BIGINT) USING iceberg")
    with pytest.raises(ValueError, match="column price of .* is bigint, and has to be int"):
        history.build(spark, source, empty, key="id")


@pytest.mark.proof("test_a_beginning_that_was_expired_stops_unless_truncated shows it for a first build")
def test_expired_history_stops_and_the_last_position_is_kept(spark, source, target, namespace):
    timed(spark, source, 0)
    history.build(spark, source, target, key="id")
    for n in range(3):
        spark.sql(f"UPDATE {source} SET price = {n} WHERE id = 1")
    timed(spark, source, 0, 1, 2, 3)
    expire = f"CALL system.expire_snapshots(table => '{source}', older_than => TIMESTAMP'2026-01-01', retain_last => %d)"
    spark.sql(expire % 3).collect()  # all but the first, which a tag of the build keeps
    assert history.build(spark, source, target, key="id").commits == 3
    for n in range(3):
        spark.sql(f"UPDATE {source} SET price = {n + 10} WHERE id = 1")
    timed_ids = spark.sql(f"SELECT snapshot_id FROM {source}.snapshots").collect()
    set_times(spark, source, {row[0]: BASE for row in timed_ids})
    spark.sql(expire % 1).collect()
    with pytest.raises(history.HistoryExpired, match="is not an ancestor of main"):
        history.build(spark, source, target, key="id")
    with pytest.raises(history.HistoryExpired, match="the table's beginning is gone"):
        history.build(spark, source, f"{namespace}.late", key="id")
    assert not spark.catalog.tableExists(f"{namespace}.late")
    assert history.build(spark, source, f"{namespace}.late", key="id", truncated=True).commits == 1
    assert [row[:2] + row[4:] for row in versions(spark, f"{namespace}.late")] == [
        (1, 12, True, 1, 0),
        (2, 10, True, 1, 0),
    ]


def test_a_beginning_that_was_expired_stops_unless_truncated(spark, source, target):
    spark.sql(f"UPDATE {source} SET price = 12 WHERE id = 1")
    later = "TIMESTAMP '2100-01-01 00:00:00'"
    spark.sql(
        f"CALL system.expire_snapshots(table => '{source}', older_than => {later}, retain_last => 1)"
    ).collect()
    with pytest.raises(history.HistoryExpired, match="the table's beginning is gone"):
        history.build(spark, source, target, key="id")
    assert not spark.catalog.tableExists(target)
    assert history.build(spark, source, target, key="id", truncated=True).commits == 1
    assert [row[:2] + row[4:] for row in versions(spark, target)] == [(1, 12, True, 1, 0), (2, 10, True, 1, 0)]


@pytest.mark.proof("test_stopped_behind_its_commit_and_run_again finds the tag that keeps the position")
def test_the_position_outlives_maintenance_of_the_target(spark, source, target):
    history.build(spark, source, target, key="id")
    for _ in range(2):
        spark.sql(
            f"CALL system.rewrite_data_files(table => '{target}', options => map('rewrite-all', 'true'))"
        ).collect()
    set_times(spark, target, {snapshot: BASE for snapshot, _ in line(spark, target)})
    spark.sql(
        f"CALL system.expire_snapshots(table => '{target}', older_than => TIMESTAMP'2026-01-01', retain_last => 1)"
    ).collect()
    assert snapshots_of(spark, target) == 2  # the newest, and the tagged one, with a gap between
    spark.sql(f"UPDATE {source} SET price = 1 WHERE id = 1")
    assert history.build(spark, source, target, key="id").commits == 1
    assert [row[:2] + row[4:] for row in versions(spark, target)] == [
        (1, 250, False, 1, 0),
        (1, 1, True, 2, 1),
        (2, 10, True, 1, 0),
    ]


@pytest.mark.proof(
    "test_a_living_key_inserted_again_stops shows it, and test_a_key_twice_raises_where_it_is_met of changes"
)
@pytest.mark.parametrize("back_end", ["row lineage", "snapshot diff", "changelog view"])
def test_a_key_twice_stops_before_anything_is_written(spark, source, target, back_end):
    spark.sql(f"UPDATE {source} SET id = 1 WHERE id = 2")
    with pytest.raises(history.KeyTwice, match=f"{source} has two rows with (id = 1|a key) after one commit"):
        history.build(spark, source, target, key="id", back_end=back_end)
    assert not spark.catalog.tableExists(target)


def test_a_living_key_inserted_again_stops(spark, source, target):
    history.build(spark, source, target, key="id")
    spark.sql(f"INSERT INTO {source} VALUES (2L, 'lamp', 11)")
    before = versions(spark, target)
    with pytest.raises(history.KeyTwice, match="two rows with id = 2"):
        history.build(spark, source, target, key="id")
    assert versions(spark, target) == before
    whole = f"{target}_whole"
    with pytest.raises(history.KeyTwice, match="two rows with id = 2"):
        history.build(spark, source, whole, key="id")


def test_a_null_key_stops(spark, source, target):
    spark.sql(f"INSERT INTO {source} VALUES (NULL, 'lamp', 10)")
    with pytest.raises(history.NullKey, match=r"has a row with a null in its key \(id\)"):
        history.build(spark, source, target, key="id")


def test_a_target_changed_by_hand_is_noticed(spark, source, target):
    history.build(spark, source, target, key="id")
    spark.sql(f"DELETE FROM {target} WHERE id = 1")
    spark.sql(f"UPDATE {source} SET price = 1 WHERE id = 1")
    with pytest.raises(ValueError, match="has 0 open versions for 1 changed keys"):
        history.build(spark, source, target, key="id")


@pytest.mark.proof("test_the_slower_of_two_first_builds_says_that_main_moved shows it for first builds")
def test_a_commit_of_somebody_else_to_the_target_stops_the_build(spark, source, target, monkeypatch):
    from workbench.history import publish

    history.build(spark, source, target, key="id")
    spark.sql(f"UPDATE {source} SET price = 1 WHERE id = 1")
    merge = publish.merge

    def late(*arguments):
        write = merge(*arguments)

        def write_and_lose(table):
            write(table)
            spark.sql(
                f"CALL system.rewrite_data_files(table => '{target}', options => map('rewrite-all', 'true'))"
            ).collect()

        return write_and_lose

    monkeypatch.setattr(publish, "merge", late)
    before = versions(spark, target)
    with pytest.raises(history.MainMoved, match="moved from snapshot"):
        history.build(spark, source, target, key="id")
    assert versions(spark, target) == before
    monkeypatch.undo()
    assert history.build(spark, source, target, key="id").commits == 1
    refs = spark.sql(f"SELECT name FROM {target}.refs WHERE type = 'BRANCH'").collect()
    assert [row.name for row in refs] == ["main"]


@pytest.mark.proof("views_dropped looks for views behind each test that shares a session")
def test_the_session_is_left_as_it_was(spark, source, target):
    if PROVE:
        history.build(spark, source, target, key="id")
    spark.sql(f"UPDATE {source} SET price = 1 WHERE id = 1")

    java = spark._jvm.org.apache.iceberg.spark
    handle = java.Spark3Util.loadIcebergTable(spark._jsparkSession, source)
    cached = files.Reader(spark, handle)._tables()  # other tests' frames, which read changes, keep theirs there

    def state():
        settings = {row.key: row.value for row in spark.sql("SET").collect()}
        return settings, views(spark), cached.size()

    before = state()
    for back_end in ("row lineage", "changelog view") if PROVE else ("row lineage",):
        history.build(spark, source, f"{target}_{back_end[:3]}", key="id", back_end=back_end)
    if PROVE:
        history.build(spark, source, target, key="id", back_end="snapshot diff")
    assert state() == before
    assert java.ScanTaskSetManager.get().fetchSetIds(handle).isEmpty()
