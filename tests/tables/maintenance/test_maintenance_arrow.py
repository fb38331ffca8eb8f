"""The fast way: the same rows and statistics as Iceberg's own rewrite, one commit, and Spark where it is unusual."""

import pytest
from maintenance_cases import (
    LATER,
    LONG,
    MERGE_ON_READ,
    PLAIN,
    append,
    data_files,
    digest,
    ids,
    made,
    plan,
    policy,
    stored,
)

from workbench.tables import commits, maintenance
from workbench.tables.maintenance import arrow, parquet, storage

COLUMNS = (
    "id BIGINT NOT NULL, n INT, f FLOAT, d DOUBLE, b BOOLEAN, s STRING, x BINARY, day DATE, at TIMESTAMP, "
    "wall TIMESTAMP_NTZ, small DECIMAL(4,2), middle DECIMAL(15,3), large DECIMAL(30,5), v STRING"
)
VALUES = """
    id, IF(id % 4 = 0, NULL, CAST(id AS INT)) AS n, CASE WHEN id % 5 = 0 THEN float('NaN') ELSE float(id) / 3 END AS f,
    CASE WHEN id % 7 = 0 THEN double('NaN') WHEN id % 7 = 1 THEN NULL WHEN id % 7 = 2 THEN -0.0D ELSE id / 7 END AS d,
    id % 2 = 0 AS b, concat('ü', repeat(char(97 + id % 26), CAST(20 + id % 9 AS INT))) AS s,
    unhex(lpad(hex(id), 4, '0')) AS x, date_add(DATE '1969-12-01', CAST(id AS INT)) AS day,
    TIMESTAMP '1960-01-01 00:00:00.000001' + make_interval(0, 0, 0, 0, CAST(id AS INT)) AS at,
    TIMESTAMP_NTZ '2030-01-01 00:00:00' + make_interval(0, 0, 0, CAST(id AS INT)) AS wall,
    CAST(id % 90 AS DECIMAL(4,2)) AS small, CAST(-id AS DECIMAL(15,3)) AS middle,
    CAST(id * 1000000007 AS DECIMAL(30,5)) AS large, CAST(NULL AS STRING) AS v
"""
STATISTICS = "record_count, sort_order_id, spec_id, value_counts, null_value_counts, nan_value_counts, lower_bounds, upper_bounds"


@pytest.fixture
def table(spark, namespace):
    return f"{namespace}.t"


def wide(spark, table, partitioned=""):
    made(spark, table, columns=COLUMNS, partitioned=partitioned)
    for n in range(5):
        spark.sql(f"INSERT INTO {table} SELECT /*+ COALESCE(1) */ {VALUES} FROM range({20 * n}, {20 * n + 20})")
    return table


def statistics(spark, table):
    spark.sql(f"REFRESH TABLE {table}")
    found = (
        spark.sql(f"SELECT partition, {STATISTICS} FROM {table}.data_files").collect()
        if "partition" in spark.table(f"{table}.data_files").columns
        else spark.sql(f"SELECT {STATISTICS} FROM {table}.data_files").collect()
    )
    return sorted(map(repr, found))


@pytest.mark.parametrize(
    "partitioned", [pytest.param("", marks=LONG), "b, bucket(2, id), months(at)"], ids=["flat", "partitioned"]
)
def test_rows_and_statistics_are_those_of_icebergs_own_rewrite(spark, table, partitioned):
    few = {"min_input_files": 2}
    found = {}
    for name, fast in ((table, True), (table + "_slow", False)):
        before = digest(spark, wide(spark, name, partitioned))
        files, parts = data_files(spark, name), plan(spark, name, "compact_data", **few).actions[0].groups
        (done,) = maintenance.run(spark, plan(spark, name, "compact_data", fast=fast, **few))
        assert (done.fast, done.files - done.files_after, done.said) == (
            (done.files, files - len(parts), ())
            if fast
            else (0, files - len(parts), ("through Spark: the policy says fast: false",))
        )
        assert (digest(spark, name), data_files(spark, name)) == (before, len(parts))
        found[fast] = statistics(spark, name)
    assert found[True] == found[False]
    assert [
        row.operation
        for row in spark.sql(f"SELECT operation FROM {table}.snapshots ORDER BY committed_at").collect()
    ][5:] == ["replace"]


def test_the_files_are_what_icebergs_readers_expect(spark, table):
    from pyarrow import parquet as pq

    wide(spark, table)
    slow = table + "_slow"
    wide(spark, slow)
    maintenance.run(spark, plan(spark, table, "compact_data"))
    maintenance.run(spark, plan(spark, slow, "compact_data", fast=False))
    ours, theirs = (
        pq.ParquetFile(spark.sql(f"SELECT file_path FROM {name}.data_files").collect()[0][0].removeprefix("file:"))
        for name in (table, slow)
    )
    assert str(ours.schema).splitlines()[2:] == str(theirs.schema).splitlines()[2:]  # the root has another name
    assert ours.metadata.metadata[b"iceberg.schema"] == theirs.metadata.metadata[b"iceberg.schema"]
    assert ours.metadata.row_group(0).column(0).compression == theirs.metadata.row_group(0).column(0).compression
    # without its size Iceberg tells no offsets of a file
    (row,) = spark.sql(f"SELECT split_offsets, file_size_in_bytes FROM {table}.data_files").collect()
    assert row.split_offsets == [4]
    # pruning goes by what was committed
    assert spark.sql(f"SELECT id FROM {table} WHERE id = 57 AND s LIKE 'ü%'").collect()[0].id == 57


UNUSUAL = {
    "format 3": (PLAIN.replace("'2'", "'3'"), "id BIGINT, v STRING", "the table has format 3, whose row lineage would be lost"),
    "list": (PLAIN, "id BIGINT, v STRING, l ARRAY<INT>", "its column l is of type list"),
    "bloom": (PLAIN + ", 'write.parquet.bloom-filter-enabled.column.id' = 'true'", "id BIGINT, v STRING",
              "it has the property write.parquet.bloom-filter-enabled.column.id, which only Iceberg's own writer knows"),
    "orc": (PLAIN + ", 'write.format.default' = 'orc'", "id BIGINT, v STRING", "its files are written as orc"),
}  # fmt: skip


@pytest.mark.parametrize("kind", UNUSUAL)
def test_unusual_tables_go_through_spark_and_the_reason_is_told(spark, table, kind):
    properties, columns, why = UNUSUAL[kind]
    made(spark, table, properties=properties, columns=columns)
    more = ", array(1)" if "ARRAY" in columns else ""
    for n in range(5):
        spark.sql(f"INSERT INTO {table} SELECT {n}, 'v'{more}")
    before = digest(spark, table)
    (done,) = maintenance.run(spark, plan(spark, table, "compact_data"))
    assert (done.fast, done.files, done.files_after, done.said) == (0, 5, 1, (f"through Spark: {why}",))
    assert digest(spark, table) == before


def test_deletes_sort_orders_and_older_columns_go_through_spark(spark, table):
    made(spark, table, properties=MERGE_ON_READ, appends=6)
    chosen = plan(spark, table, "compact_data").actions[0].groups
    spark.sql(f"ALTER TABLE {table} WRITE ORDERED BY id")
    assert arrow.rewrite(spark, table, chosen, policy(), tries=1) == (None, "the table has a sort order")
    spark.sql(f"ALTER TABLE {table} WRITE UNORDERED")
    spark.sql(f"ALTER TABLE {table} RENAME COLUMN v TO w")
    why = "some of its files were written with other columns than it has now"
    assert arrow.rewrite(spark, table, chosen, policy(), tries=1) == (None, why)
    spark.sql(f"ALTER TABLE {table} RENAME COLUMN w TO v")
    spark.sql(f"DELETE FROM {table} WHERE id = 1")
    assert arrow.rewrite(spark, table, chosen, policy(), tries=1) == (None, "the table has delete files")
    assert len(stored(spark, table)) == 7  # nothing was left by what was begun


def beside(spark, table, write, tries=3):
    """Rewrite while somebody commits between the writing of the new files and their commit, the first time."""
    chosen, calls = plan(spark, table, "compact_data").actions[0].groups, []

    def meanwhile():
        calls.append(1)
        if len(calls) == 1:
            write()

    done, why = arrow.rewrite(spark, table, chosen, policy(), tries=tries, before_commit=meanwhile)
    return done, why, len(calls)


def test_an_append_meanwhile_is_kept(spark, table):
    made(spark, table, appends=5)
    done, why, calls = beside(spark, table, lambda: append(spark, table, 5))
    assert (done.files, done.files_after, done.tries, why, calls) == (5, 1, 1, None, 1)
    assert (digest(spark, table)[0], data_files(spark, table)) == (60, 2)


def test_rows_that_others_delete_meanwhile_do_not_come_back(spark, table):
    """Copy-on-write replaces a file under the rewrite: it is refused, its files go, and it begins again."""
    made(spark, table, appends=6)
    done, why, calls = beside(spark, table, lambda: spark.sql(f"DELETE FROM {table} WHERE id < 5"))
    assert (done.files, done.files_after, done.tries, why, calls) == (6, 1, 2, None, 2)
    assert (digest(spark, table)[0], data_files(spark, table)) == (55, 1)
    assert len(stored(spark, table)) == 6 + 1 + 1


def test_delete_files_that_come_meanwhile_send_it_to_spark(spark, table):
    """Merge-on-read leaves the files in place and adds deletes: only the validation sees them."""
    made(spark, table, properties=MERGE_ON_READ, appends=6)
    done, why, calls = beside(spark, table, lambda: spark.sql(f"DELETE FROM {table} WHERE id = 3"))
    assert (done, why, calls) == (None, "the table has delete files", 1)
    assert (digest(spark, table)[0], data_files(spark, table), len(stored(spark, table))) == (59, 6, 7)


def test_an_unknown_outcome_is_settled_by_looking(spark, table, monkeypatch):
    made(spark, table, appends=5)
    before, whole = digest(spark, table), arrow._commit

    def answer_lost(*arguments):
        whole(*arguments)
        raise ConnectionError("the answer did not come")

    monkeypatch.setattr(arrow, "_commit", answer_lost)
    done, why = arrow.rewrite(
        spark, table, plan(spark, table, "compact_data").actions[0].groups, policy(), tries=2
    )
    assert (done.files, done.files_after, done.commits, why) == (5, 1, 1, None)
    assert (digest(spark, table), data_files(spark, table), len(ids(spark, table))) == (before, 1, 6)


def test_an_error_of_its_own_leaves_no_file(spark, table, monkeypatch):
    made(spark, table, appends=5)
    groups = plan(spark, table, "compact_data").actions[0].groups

    def full():
        raise OSError("no space left")

    with pytest.raises(OSError, match="no space left"):
        arrow.rewrite(spark, table, groups, policy(), tries=3, before_commit=full)
    assert len(stored(spark, table)) == 5 and len(ids(spark, table)) == 5


class Killed(BaseException):
    """What no handler sees, as a process that is gone."""


@pytest.mark.parametrize("place", ["before the commit", "behind the commit"])
def test_a_run_that_was_killed_and_is_begun_again_is_harmless(spark, table, monkeypatch, place):
    table += place[:6]  # a folder of its own: what is dropped leaves its orphans
    made(spark, table, appends=5)
    before, whole, planned = digest(spark, table), arrow._commit, plan(spark, table, "compact_data")

    def killed(*arguments):
        if place == "behind the commit":
            whole(*arguments)
        raise Killed

    monkeypatch.setattr(arrow, "_commit", killed)
    with pytest.raises(Killed):
        maintenance.run(spark, planned)
    monkeypatch.setattr(arrow, "_commit", whole)
    assert len(stored(spark, table)) == 6
    (done,) = maintenance.run(spark, planned)
    assert done.files == (5 if place == "before the commit" else 0)
    assert (digest(spark, table), data_files(spark, table)) == (before, 1)
    left = maintenance.run(spark, plan(spark, table, "remove_orphans"), now=LATER)[0].orphans
    assert len([one for one in left if one.endswith("-fast.parquet")]) == (
        1 if place == "before the commit" else 0
    )


def test_a_commit_keeps_the_data_sequence_number(spark, table):
    """So that deletes by equality, which name no file, still apply to the new one."""
    made(spark, table, appends=5)
    seen = commits.load(spark, table).currentSnapshot().sequenceNumber()
    beside(spark, table, lambda: append(spark, table, 5))
    spark.sql(f"REFRESH TABLE {table}")
    rows = spark.sql(
        f"SELECT sequence_number, data_file.record_count AS n FROM {table}.entries WHERE status < 2"
    ).collect()
    assert sorted((row.n, row.sequence_number) for row in rows) == [(10, seen + 1), (50, seen)]


@pytest.mark.parametrize(
    ("sizes", "count", "expected"),
    [
        ([1] * 6, 2, [[0, 1, 2], [3, 4, 5]]),
        ([9, 1, 1, 1], 2, [[0], [1, 2, 3]]),
        ([5], 3, [[0]]),
        ([0, 0], 1, [[0, 1]]),
    ],
)
def test_files_are_shared_out_evenly(sizes, count, expected):
    found = parquet.evenly(sizes, count)
    assert sorted(n for run in found for n in run) == list(range(len(sizes)))
    assert found == expected


def test_storage_that_only_iceberg_reaches_is_unfit(spark, table):
    class Table:
        def location(self):
            return "hdfs://there/t"

        def io(self):
            return commits.load(spark, table).io()

    made(spark, table)
    with pytest.raises(storage.Unfit, match="its files are reached by HadoopFileIO at hdfs:"):
        storage.opened(Table())
