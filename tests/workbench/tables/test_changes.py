"""What changed: whole small answers by each back-end, and what is refused, reported or left out."""

from datetime import UTC, datetime

import pytest
from commit_times import line, set_times

from workbench.tables import changes

ALL = ("row lineage", "snapshot diff", "changelog view")
KINDS = {
    "v2 copy-on-write": (2, "copy-on-write", ALL[1:]),
    "v2 merge-on-read": (2, "merge-on-read", ALL[1:2]),
    "v3 copy-on-write": (3, "copy-on-write", ALL),
    "v3 merge-on-read": (3, "merge-on-read", ALL[:2]),
}


# in the check one kind each: rows are compared where files are rewritten, and told by their deletes where they stay
ORACLE = "test_changes_by_every_back_end compares copy-on-write with its oracle, and v2 merge-on-read stays here"
NESTED = "v2 copy-on-write compares such values by their hashes, and what is paired is compared by the same code"


def but_in_proof(kind, witness):
    """All kinds, of which the check has one."""
    return [one if one == kind else pytest.param(one, marks=pytest.mark.proof(witness)) for one in KINDS]


def make(spark, name, kind, columns="id BIGINT, name STRING, price INT"):
    version, mode, _ = KINDS[kind]
    modes = ", ".join(f"'write.{op}.mode' = '{mode}'" for op in ("merge", "update", "delete"))
    spark.sql(
        f"CREATE TABLE {name} ({columns}) USING iceberg TBLPROPERTIES ('format-version' = '{version}', {modes})"
    )
    return name


def ids(spark, table):
    return [snapshot for snapshot, _ in line(spark, table)]


def shown(frame):
    return sorted((tuple(row)[:-2] for row in frame.collect()), key=str)


@pytest.mark.parametrize("kind", but_in_proof("v2 merge-on-read", ORACLE))
def test_a_row_a_change(spark, namespace, kind):
    table = make(spark, f"{namespace}.t", kind)
    rows = "(1L, 'heater', 250), (2L, 'lamp', 10), (3L, 'fan', 30), (4L, 'mat', CAST(NULL AS INT))"
    spark.sql(f"INSERT INTO {table} SELECT /*+ COALESCE(1) */ * FROM VALUES {rows}")
    spark.sql(
        f"MERGE INTO {table} t USING (SELECT * FROM VALUES (1L, 500), (2L, 10), (5L, 7) AS s(id, price)) s "
        "ON t.id = s.id WHEN MATCHED THEN UPDATE SET price = s.price "
        "WHEN NOT MATCHED THEN INSERT (id, name, price) VALUES (s.id, 'cup', s.price)"
    )
    spark.sql(f"DELETE FROM {table} WHERE id IN (3, 5)")
    # a null changes its place: no sum of hashes that passes over nulls sees it
    spark.sql(f"UPDATE {table} SET name = NULL, price = 3 WHERE id = 4")
    spark.sql(
        f"CALL system.rewrite_data_files(table => '{table}', options => map('rewrite-all', 'true'))"
    ).collect()
    first, last = ids(spark, table)[0], ids(spark, table)[-1]
    full = [
        (1, "heater", 250, "update_before", 0),
        (1, "heater", 500, "update_after", 0),
        (3, "fan", 30, "delete", 1),
        (4, "mat", None, "update_before", 2),
        (4, None, 3, "update_after", 2),
        (5, "cup", 7, "delete", 1),
        (5, "cup", 7, "insert", 0),
    ]
    net = [(*row[:-1], 2) for row in full if row[0] != 5]
    assert changes.back_ends(spark, table, start=first) == KINDS[kind][2]
    for back_end in KINDS[kind][2]:
        how = {"key": "id", "start": first, "back_end": back_end}
        assert shown(changes.between(spark, table, **how)) == sorted(full, key=str), back_end
        assert shown(changes.between(spark, table, net=True, **how)) == sorted(net, key=str), back_end
    begun = changes.between(spark, table, key="id", end=first)
    assert shown(begun) == [
        (n, *row, "insert", 0)
        for n, row in enumerate([("heater", 250), ("lamp", 10), ("fan", 30), ("mat", None)], 1)
    ]
    assert shown(changes.between(spark, table, key="id", start=last)) == []
    found = changes.between(spark, table, key="id", start=first, before_images=False)
    assert shown(found) == sorted((row for row in full if row[3] != "update_before"), key=str)
    found = changes.between(spark, table, key="id", start=first, before_images=False, compared=False)
    again = [(2, "lamp", 10, "update_after", 0)] if kind == "v3 copy-on-write" else []  # written again as it was
    expected = [row for row in full if row[3] != "update_before"] + again
    assert shown(found) == sorted(expected, key=str)
    with pytest.raises(ValueError, match="compared=False needs before_images=False"):
        changes.between(spark, table, key="id", compared=False)
    stamps = {(r.change_ordinal, r.commit_snapshot_id, r.commit_time) for r in found.collect()}
    times = {r.snapshot_id: r.committed_at for r in spark.sql(f"SELECT * FROM {table}.snapshots").collect()}
    assert stamps == {(n, one, times[one]) for n, one in enumerate(ids(spark, table)[1:4])}
    assert found.columns == ["id", "name", "price", *changes.COLUMNS]


def test_a_row_written_again_as_it_was_is_a_change_only_where_rows_are_not_compared(spark, namespace):
    table = make(spark, f"{namespace}.t", "v3 copy-on-write")
    spark.sql(f"INSERT INTO {table} SELECT /*+ COALESCE(1) */ * FROM VALUES (1L, 'heater', 250), (2L, 'lamp', 10)")
    first = ids(spark, table)[0]
    spark.sql(f"UPDATE {table} SET price = IF(id = 1, 500, price) WHERE id > 0")
    how = {"key": "id", "start": first, "before_images": False}
    expected = [(1, "heater", 500, "update_after", 0), (2, "lamp", 10, "update_after", 0)]
    assert shown(changes.between(spark, table, **how)) == expected[:1]
    assert shown(changes.between(spark, table, **how, compared=False)) == expected


def test_a_back_end_that_cannot_is_refused_with_those_that_can(spark, namespace):
    table = make(spark, f"{namespace}.t", "v2 merge-on-read")
    spark.sql(f"INSERT INTO {table} SELECT /*+ COALESCE(1) */ * FROM VALUES (1L, 'a', 1), (2L, 'b', 2)")
    first = ids(spark, table)[0]
    assert changes.back_ends(spark, table) == ("snapshot diff", "changelog view")
    spark.sql(f"DELETE FROM {table} WHERE id = 1")
    with pytest.raises(ValueError, match="by row lineage .* it has format 2.*; snapshot diff can$"):
        changes.between(spark, table, key="id", back_end="row lineage")
    with pytest.raises(
        ValueError, match="by changelog view .* refuses snapshots with delete files.*; snapshot diff can$"
    ):
        changes.between(spark, table, key="id", back_end="changelog view")
    with pytest.raises(
        ValueError,
        match="back_end must be 'auto', 'row lineage', 'snapshot diff' or 'changelog view', found 'diff'",
    ):
        changes.between(spark, table, key="id", back_end="diff")
    spark.sql(f"ALTER TABLE {table} SET TBLPROPERTIES ('format-version' = '3')")
    with pytest.raises(
        ValueError, match="by row lineage .* written before it had row lineage; snapshot diff can$"
    ):
        changes.between(spark, table, key="id", start=first, back_end="row lineage")
    spark.sql(f"UPDATE {table} SET price = 5 WHERE id = 2")  # the first snapshot that has lineage
    upgraded = ids(spark, table)[-1]
    spark.sql(f"UPDATE {table} SET price = 6 WHERE id = 2")
    expected = [(2, "b", 5, "update_before", 0), (2, "b", 6, "update_after", 0)]
    for back_end in ("row lineage", "snapshot diff"):
        assert shown(changes.between(spark, table, key="id", start=upgraded, back_end=back_end)) == expected


def test_what_is_gone_is_reported(spark, namespace):
    table = make(spark, f"{namespace}.t", "v2 copy-on-write")
    for n in range(5):
        spark.sql(f"INSERT INTO {table} VALUES ({n}, 'a', {n})")
    one, two, three, four, five = ids(spark, table)
    spark.sql(f"CALL system.rollback_to_snapshot('{table}', {four})").collect()
    with pytest.raises(changes.HistoryExpired, match=f"snapshot {five} is not an ancestor of main"):
        changes.between(spark, table, key="id", start=two, end=five)
    times = {n: 1_760_000_000_000 + 1000 * at for at, n in enumerate((one, two, three, four, five))}
    set_times(spark, table, times)
    spark.sql(
        f"CALL system.expire_snapshots(table => '{table}', older_than => TIMESTAMP'2026-01-01', retain_last => 2)"
    ).collect()
    with pytest.raises(
        changes.HistoryExpired, match=f"has no snapshot {one}: it was expired.*main goes back to snapshot {three}"
    ):
        changes.between(spark, table, key="id", start=one)
    with pytest.raises(
        changes.HistoryExpired, match="the table's beginning is gone, older snapshots were expired"
    ):
        changes.between(spark, table, key="id")
    with pytest.raises(changes.HistoryExpired, match="the state of 2020-01-01.* is gone"):
        changes.between(spark, table, key="id", start=datetime(2020, 1, 1))
    assert shown(changes.between(spark, table, key="id", start=three)) == [(3, "a", 3, "insert", 0)]
    with pytest.raises(ValueError, match="ends before it starts"):
        changes.between(spark, table, key="id", start=four, end=three)


def test_bounds_by_time_follow_the_order_of_commits(spark, namespace):
    table = make(spark, f"{namespace}.t", "v3 copy-on-write")
    for n in range(4):
        spark.sql(f"INSERT INTO {table} VALUES ({n}, 'a', {n})")
    base = 1_024_003  # milliseconds of 1970, where a float of the same time lies before it
    clock = [0, 5000, 2000, 9000]  # the third writer's clock was behind
    set_times(spark, table, {one: base + at for one, at in zip(ids(spark, table), clock, strict=True)})

    def at(millis):
        return datetime.fromtimestamp((base + millis) / 1000, UTC)

    def between(start, end):
        return [row[0] for row in shown(changes.between(spark, table, key="id", start=start, end=end))]

    assert between(at(-1), at(0)) == [0]
    assert between(at(0), at(1999)) == []
    assert between(at(0), at(2000)) == [1, 2]  # the newest commit that is not later, and all it builds on
    assert between(at(2000).replace(tzinfo=None), None) == [3]
    with pytest.raises(ValueError, match="start must be an integer, a datetime or None, found 'yesterday'"):
        changes.between(spark, table, key="id", start="yesterday")


def test_a_key_is_checked_before_anything_is_read(spark, namespace):
    table = make(spark, f"{namespace}.t", "v2 copy-on-write", "id BIGINT, at STRUCT<x: INT>, m MAP<STRING, INT>")
    with pytest.raises(ValueError, match="has no column code; it has id, at, m"):
        changes.between(spark, table, key="code")
    with pytest.raises(ValueError, match="at is struct<x:int>: such values cannot name a row"):
        changes.between(spark, table, key=["id", "at"])
    with pytest.raises(ValueError, match="a key is one column or several different ones"):
        changes.between(spark, table, key=[])
    odd = make(spark, f"{namespace}.odd", "v2 copy-on-write", "id BIGINT, change_type STRING")
    with pytest.raises(ValueError, match="has a column change_type; this name is reserved"):
        changes.between(spark, odd, key="id")


@pytest.mark.parametrize("kind", but_in_proof("v2 copy-on-write", NESTED))
def test_nested_values_and_odd_names_are_compared(spark, namespace, kind):
    columns = "`a key` BIGINT, l ARRAY<INT>, m MAP<STRING, INT>, s STRUCT<x: INT, y: INT>, `dot.ted` DOUBLE"
    table = make(spark, f"{namespace}.t", kind, columns)
    spark.sql(
        f"INSERT INTO {table} SELECT /*+ COALESCE(1) */ id, array(NULL, 1), map('a', 1, 'b', 2), "
        "named_struct('x', NULL, 'y', 1), double('NaN') FROM range(5)"
    )
    first = ids(spark, table)[0]
    spark.sql(
        f"UPDATE {table} SET l = IF(`a key` = 0, array(1, NULL), l), m = IF(`a key` = 1, map('a', 2), map('b', 2, 'a', 1)), "
        "s = IF(`a key` = 2, named_struct('x', 1, 'y', CAST(NULL AS INT)), s), "
        "`dot.ted` = IF(`a key` = 3, 0.5, `dot.ted`) WHERE `a key` >= 0"
    )
    for back_end in KINDS[kind][2][:2] if kind != "v2 copy-on-write" else ALL[1:2]:
        found = changes.between(spark, table, key="a key", start=first, back_end=back_end).collect()
        assert sorted((row[0], row.change_type) for row in found) == [
            (n, kind) for n in range(4) for kind in ("update_after", "update_before")
        ], back_end


@pytest.mark.proof("test_changes_by_every_back_end finds what rows were over commits and a compaction")
def test_what_rows_were_is_found_over_every_way_they_came(spark, namespace):
    """Of a row that is updated: in the state before, new in an earlier commit, added or compacted in between."""
    table = make(spark, f"{namespace}.t", "v3 copy-on-write")
    compact = f"CALL system.rewrite_data_files(table => '{table}', options => map('rewrite-all', 'true'))"
    spark.sql(f"INSERT INTO {table} SELECT /*+ COALESCE(1) */ id, 'a', 0 FROM range(4)")
    first = ids(spark, table)[0]
    spark.sql(f"UPDATE {table} SET price = 1 WHERE id = 0")
    spark.sql(f"INSERT INTO {table} VALUES (9, 'b', 0)")
    spark.sql(compact).collect()
    spark.sql(f"UPDATE {table} SET price = price + 10 WHERE id IN (0, 1, 9)")
    spark.sql(f"ALTER TABLE {table} SET TBLPROPERTIES ('write.update.mode' = 'merge-on-read')")
    spark.sql(f"UPDATE {table} SET price = price + 100 WHERE id IN (1, 2)")
    spark.sql(f"ALTER TABLE {table} SET TBLPROPERTIES ('write.update.mode' = 'copy-on-write')")
    spark.sql(f"UPDATE {table} SET price = price + 1000 WHERE id IN (1, 2, 3)")
    expected = [(9, "b", 0, "insert", 1)]
    for row, name, old, new, n in [
        (0, "a", 0, 1, 0), (0, "a", 1, 11, 2), (1, "a", 0, 10, 2), (9, "b", 0, 10, 2), (1, "a", 10, 110, 3),
        (2, "a", 0, 100, 3), (1, "a", 110, 1110, 4), (2, "a", 100, 1100, 4), (3, "a", 0, 1000, 4),
    ]:  # fmt: skip
        expected += [(row, name, old, "update_before", n), (row, name, new, "update_after", n)]
    for back_end in ("row lineage", "snapshot diff"):
        found = changes.between(spark, table, key="id", start=first, back_end=back_end)
        assert shown(found) == sorted(expected, key=str), back_end


def test_a_key_twice_raises_where_it_is_met(spark, namespace):
    table = make(spark, f"{namespace}.t", "v2 copy-on-write")
    spark.sql(
        f"INSERT INTO {table} SELECT /*+ COALESCE(1) */ * FROM VALUES (1L, 'a', 1), (1L, 'b', 2), (2L, 'c', 3)"
    )
    first = ids(spark, table)[0]
    spark.sql(f"UPDATE {table} SET price = 9 WHERE id = 1")
    with pytest.raises(Exception, match=r'KEY_TWICE\["1"\] of \(id\)'):
        changes.between(spark, table, key="id", start=first).collect()


def test_deletes_of_rows_that_were_moved_or_deleted_before_are_told_apart(spark, namespace):
    """In a file that stays, the same deletes are listed again with every further one."""
    table = make(spark, f"{namespace}.t", "v3 merge-on-read")
    spark.sql(f"INSERT INTO {table} SELECT /*+ COALESCE(1) */ id, 'a', 0 FROM range(8)")
    for n in range(4):
        spark.sql(f"DELETE FROM {table} WHERE id = {n}")
    spark.sql(
        f"CALL system.rewrite_position_delete_files(table => '{table}', options => map('rewrite-all', 'true'))"
    ).collect()
    spark.sql(f"UPDATE {table} SET price = 1 WHERE id = 5")
    start = ids(spark, table)[2]
    assert shown(changes.between(spark, table, key="id", start=start)) == [
        (2, "a", 0, "delete", 0),
        (3, "a", 0, "delete", 1),
        (5, "a", 0, "update_before", 2),
        (5, "a", 1, "update_after", 2),
    ]


@pytest.mark.parametrize(
    ("kind", "said"),
    [
        ("BINARY", "takes equal bytes for different ones, and data holds bytes; snapshot diff"),
        ("ARRAY<STRUCT<x: BINARY>>", "takes equal bytes for different ones, and data holds bytes; snapshot diff"),
        (
            "MAP<INT, STRUCT<x: FLOAT>>",
            "takes each NaN within an array or map for another one, and data may hold them",
        ),
    ],
)
def test_a_table_with_bytes_has_no_changelog_view(spark, namespace, kind, said):
    """Iceberg's procedure takes equal values for different ones: it told changes of rows that had only moved."""
    table = f"{namespace}.t"
    spark.sql(f"CREATE TABLE {table} (id INT, data {kind}) USING iceberg TBLPROPERTIES ('format-version' = '2')")
    assert changes.back_ends(spark, table) == ("snapshot diff",)
    with pytest.raises(ValueError, match=said):
        changes.between(spark, table, key="id", back_end="changelog view")
