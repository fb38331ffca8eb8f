"""The fast way: the same rows and statistics as Iceberg's own rewrite, one commit, and Spark where it is unusual."""

from datetime import date

import pyarrow as pa
import pytest
from conftest import ENVIRONMENT, PROVE
from digests import digest
from maintenance_cases import (
    MERGE_ON_READ,
    PLAIN,
    data_files,
    folder,
    made,
    plan,
    policy,
    stored,
)

from workbench import session
from workbench.tables import commits, maintenance
from workbench.tables.maintenance import arrow, parquet, sentences, storage, wording

COLUMNS = (
    "id BIGINT NOT NULL, n INT, f FLOAT, d DOUBLE, b BOOLEAN, s STRING, x BINARY, day DATE, at TIMESTAMP, "
    "wall TIMESTAMP_NTZ, small DECIMAL(4,2), middle DECIMAL(15,3), large DECIMAL(30,5), v STRING, "
    "`col-ümn 1` DOUBLE"  # files have its name with numbers in the place of the odd characters
)
VALUES = """
    id, IF(id % 4 = 0, NULL, CAST(id AS INT)) AS n, CASE WHEN id % 5 = 0 THEN float('NaN') ELSE float(id) / 3 END AS f,
    CASE WHEN id % 7 = 0 THEN double('NaN') WHEN id % 7 = 1 THEN NULL WHEN id % 7 = 2 THEN -0.0D ELSE id / 7 END AS d,
    id % 2 = 0 AS b, concat('ü', repeat(char(97 + id % 26), CAST(20 + id % 9 AS INT))) AS s,
    unhex(lpad(hex(id), 4, '0')) AS x, date_add(DATE '1969-12-01', CAST(id AS INT)) AS day,
    TIMESTAMP '1960-01-01 00:00:00.000001' + make_interval(0, 0, 0, 0, CAST(id AS INT)) AS at,
    TIMESTAMP_NTZ '2030-01-01 00:00:00' + make_interval(0, 0, 0, CAST(id AS INT)) AS wall,
    CAST(id % 90 AS DECIMAL(4,2)) AS small, CAST(-id AS DECIMAL(15,3)) AS middle,
    CAST(id * 1000000007 AS DECIMAL(30,5)) AS large, CAST(NULL AS STRING) AS v,
    IF(id % 9 = 0, double('NaN'), id / 9) AS odd
"""
STATISTICS = "record_count, sort_order_id, spec_id, value_counts, null_value_counts, nan_value_counts, lower_bounds, upper_bounds"


@pytest.fixture
def table(spark, namespace):
    return f"{namespace}.t"


def refused(result):
    """Return why the fast way did nothing, as a sentence."""
    done, obstacle = result
    assert done is None
    return wording.obstacle(obstacle)


def wide(spark, table, partitioned=""):
    made(spark, table, columns=COLUMNS, partitioned=partitioned)
    each, files = commits_of(partitioned)
    for n in range(0, 100, each):
        spark.sql(f"INSERT INTO {table} SELECT {VALUES} FROM range({n}, {n + each}, 1, {files})")
    return table


def commits_of(partitioned):
    """Rows and files of a commit; a partition gets one file of it."""
    return (20, 1) if PROVE else (50, 1) if partitioned else (100, 5)


def statistics(spark, table):
    spark.sql(f"REFRESH TABLE {table}")
    found = (
        spark.sql(f"SELECT partition, {STATISTICS} FROM {table}.data_files").collect()
        if "partition" in spark.table(f"{table}.data_files").columns
        else spark.sql(f"SELECT {STATISTICS} FROM {table}.data_files").collect()
    )
    return sorted(map(repr, found))


OTHERS = pytest.mark.proof("the same test shows it for a table that is partitioned by a boolean")


@pytest.mark.parametrize(
    ("partitioned", "dropped"),
    [
        ("b", ()),
        pytest.param("", (), marks=OTHERS),
        pytest.param("b, bucket(2, id), months(at)", (), marks=OTHERS),
        pytest.param("b, months(at)", ("b", "months(at)"), marks=OTHERS),
    ],
    ids=["boolean", "flat", "partitioned", "evolved"],
)
def test_rows_and_statistics_are_those_of_icebergs_own_rewrite(spark, table, partitioned, dropped):
    few = {"min_input_files": 2}
    found = {}
    for name, fast in ((table, True), (table + "_slow", False)):
        before = digest(spark, wide(spark, name, partitioned))
        for field in dropped:
            spark.sql(f"ALTER TABLE {name} DROP PARTITION FIELD {field}")
        files, parts = data_files(spark, name), plan(spark, name, "compact_data", **few).actions[0].groups
        (done,) = maintenance.run(spark, plan(spark, name, "compact_data", fast=fast, **few))
        assert (done.fast, done.files - done.files_after, sentences(done)) == (
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
    ] == ["append"] * (100 // commits_of(partitioned)[0]) + ["replace"]


@pytest.mark.proof(
    "test_what_is_told_of_long_values_is_what_is_there shows it for PyArrow's files, "
    "test_maintenance_bounds.py by the examples of Iceberg's rules"
)
@pytest.mark.parametrize("row_group_bytes", [128 * 1024**2, 50_000], ids=["one row group", "one for each file"])
def test_long_values_have_the_bounds_of_icebergs_own_rewrite(spark, table, row_group_bytes):
    """No Parquet footer has any of more than 4 KB; of the short ones of another row group it has them."""
    modes = {"whole": "full", "counted": "counts", "ignored": "none"}
    more = "".join(f", 'write.metadata.metrics.column.{name}' = '{mode}'" for name, mode in modes.items())
    more += f", 'write.parquet.row-group-size-bytes' = '{row_group_bytes}'"
    texts = ", ".join(
        f"repeat(concat('ü', id), CASE WHEN id < 20 THEN 1 WHEN id < 100 THEN 3000 END) AS {name}"
        for name in ("s", *modes)
    )
    values = (
        f"id, {texts}, unhex(repeat(concat('FF', lpad(hex(id), 2, '0')), 5000)) AS x, CAST(NULL AS STRING) AS v, "
        "unhex(repeat('FF', IF(id < 20, 1, 5000))) AS last"  # no bytes of 16 are greater: it has no upper bound
    )
    columns = "id BIGINT, s STRING, whole STRING, counted STRING, ignored STRING, x BINARY, v STRING, last BINARY"
    found = {}
    for name, fast in ((table, True), (table + "_slow", False)):
        made(spark, name, columns=columns, properties=PLAIN + more)
        for n in range(6):
            spark.sql(f"INSERT INTO {name} SELECT /*+ COALESCE(1) */ {values} FROM range({20 * n}, {20 * n + 20})")
        before = digest(spark, name)
        (done,) = maintenance.run(spark, plan(spark, name, "compact_data", fast=fast))
        assert (done.fast, digest(spark, name)) == (6 * fast, before)
        found[fast] = statistics(spark, name)
    assert found[True] == found[False]
    bounds = spark.sql(f"SELECT map_keys(upper_bounds) AS ids FROM {table}.data_files").first()
    assert sorted(bounds.ids) == [1, 2, 3, 6]
    asked = f"SELECT id FROM {table} WHERE s = repeat('ü85', 3000)"  # too narrow bounds leave the file out
    assert [row.id for row in spark.sql(asked).collect()] == [85]


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
    "format 1": (PLAIN.replace("'2'", "'1'"), "id BIGINT, v STRING", "the table has format 1"),
    "format 3": (PLAIN.replace("'2'", "'3'"), "id BIGINT, v STRING", "the table has format 3, whose row lineage would be lost"),
    "list": (PLAIN, "id BIGINT, v STRING, l ARRAY<INT>", "its column l is of type list"),
    "bloom": (PLAIN + ", 'write.parquet.bloom-filter-enabled.column.id' = 'true'", "id BIGINT, v STRING",
              "it has the property write.parquet.bloom-filter-enabled.column.id, which only Iceberg's own writer knows"),
    "orc": (PLAIN + ", 'write.format.default' = 'orc'", "id BIGINT, v STRING", "its files are written as orc"),
}  # fmt: skip


@pytest.mark.proof(
    "test_what_is_unusual_is_told_before_anything_is_written shows each reason, "
    "test_limits_hold_and_the_next_run_goes_on the way through Spark"
)
@pytest.mark.parametrize("kind", UNUSUAL)
def test_unusual_tables_go_through_spark_and_the_reason_is_told(spark, table, kind):
    properties, columns, why = UNUSUAL[kind]
    made(spark, table, properties=properties, columns=columns)
    more = ", array(1)" if "ARRAY" in columns else ""
    for n in range(5):
        spark.sql(f"INSERT INTO {table} SELECT {n}, 'v'{more}")
    before = digest(spark, table)
    (done,) = maintenance.run(spark, plan(spark, table, "compact_data"))
    assert (done.fast, done.files, done.files_after, sentences(done)) == (0, 5, 1, (f"through Spark: {why}",))
    assert digest(spark, table) == before


@pytest.mark.proof("the column `col-ümn 1` of the tests of the fast way shows a name in another spelling")
def test_names_that_files_have_in_another_spelling_are_taken(spark, table):
    """Iceberg writes a_x2Eb into a file for a.b: the same column, and not another one than the table has."""
    made(spark, table, columns="id BIGINT, `a.b` STRING, `c``d` DOUBLE, `1 e` DATE")
    values = "id, 'x', IF(id = 3, double('NaN'), 0.5D), date_add(DATE '2026-01-01', int(id))"
    spark.sql(f"INSERT INTO {table} SELECT {values} FROM range(0, 5, 1, 5)")
    rows = [(n, "x", float("nan") if n == 3 else 0.5, date(2026, 1, 1 + n)) for n in range(5)]
    chosen = plan(spark, table, "compact_data").actions[0].groups
    done, why = arrow.rewrite(spark, table, chosen, policy(), tries=1)
    assert (done and (done.files, done.files_after), why) == ((5, 1), None)
    spark.sql(f"REFRESH TABLE {table}")
    assert sorted(map(str, map(tuple, spark.table(table).collect()))) == list(map(str, rows))


TWO_COLUMNS = "id BIGINT, v STRING"


@pytest.mark.parametrize(
    ("properties", "columns", "partitioned", "why"),
    [
        *((*UNUSUAL[kind][:2], "", UNUSUAL[kind][2]) for kind in UNUSUAL),
        (PLAIN, "id BIGINT, d DECIMAL(5,2)", "d", "it is partitioned by values of type decimal(5, 2)"),
        (PLAIN.replace("'2'", "'1'"), TWO_COLUMNS, "v", "a field was dropped from its partitioning"),
    ],
    ids=[*UNUSUAL, "decimal", "dropped"],
)
def test_what_is_unusual_is_told_before_anything_is_written(spark, table, properties, columns, partitioned, why):
    made(spark, table, properties=properties, columns=columns, partitioned=partitioned)
    if "dropped" in why:  # in format 1 it stays as one without a value, also when the format is raised
        spark.sql(f"ALTER TABLE {table} DROP PARTITION FIELD {partitioned}")
        spark.sql(f"ALTER TABLE {table} SET TBLPROPERTIES ('format-version' = '2')")
    commits.load(spark, table).newFastAppend().commit()
    spark.sql(f"REFRESH TABLE {table}")
    assert refused(arrow.rewrite(spark, table, (), policy(), tries=1)) == why
    assert not (folder(spark, table) / "data").exists()


def test_deletes_sort_orders_and_older_columns_go_through_spark(spark, table):
    made(spark, table, properties=MERGE_ON_READ, appends=6)
    chosen = plan(spark, table, "compact_data").actions[0].groups
    spark.sql(f"ALTER TABLE {table} WRITE ORDERED BY id")
    assert refused(arrow.rewrite(spark, table, chosen, policy(), tries=1)) == "the table has a sort order"
    spark.sql(f"ALTER TABLE {table} WRITE UNORDERED")
    spark.sql(f"ALTER TABLE {table} RENAME COLUMN v TO w")
    why = "some of its files were written with other columns than it has now"
    assert refused(arrow.rewrite(spark, table, chosen, policy(), tries=1)) == why
    spark.sql(f"ALTER TABLE {table} RENAME COLUMN w TO v")
    spark.sql(f"DELETE FROM {table} WHERE id = 1")
    assert refused(arrow.rewrite(spark, table, chosen, policy(), tries=1)) == "the table has delete files"
    assert len(stored(spark, table)) == 7  # nothing was left by what was begun


def test_rows_stay_in_the_order_in_which_they_came(spark, table):
    """So that what came together is found together, whatever the drawn names of the files are."""
    made(spark, table, columns="id BIGINT")
    append = session.catalog(ENVIRONMENT).load_table(table).append
    for n in range(8):
        append(pa.table({"id": range(1000 * n, 1000 * n + 1000)}))
    spark.sql(f"REFRESH TABLE {table}")
    size = spark.sql(f"SELECT sum(file_size_in_bytes) FROM {table}.data_files").first()[0]
    (done,) = maintenance.run(spark, plan(spark, table, "compact_data", target_file_bytes=size // 4 + 1))
    bounds = "readable_metrics.id.lower_bound AS low, readable_metrics.id.upper_bound AS high"
    found = [tuple(row) for row in spark.sql(f"SELECT {bounds} FROM {table}.data_files ORDER BY low").collect()]
    assert done.fast == 8
    assert found == [(0, 1999), (2000, 3999), (4000, 5999), (6000, 7999)]


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
