"""What a query opens and reads, against what PyArrow finds in the files' own footers."""

import pytest
from conftest import own_namespace
from pyarrow import parquet as pq

from workbench.tables import reads, snapshots

MERGE_ON_READ = "TBLPROPERTIES ('format-version' = '2', 'write.delete.mode' = 'merge-on-read')"
COLUMNS = "id", "CAST(id % 4 AS INT) AS part", "concat('note ', xxhash64(id)) AS note"


def filled(spark, name):
    columns = "id BIGINT, part INT, note STRING"
    spark.sql(f"CREATE TABLE {name} ({columns}) USING iceberg PARTITIONED BY (part) {MERGE_ON_READ}")
    for _ in range(2):
        spark.range(0, 20_000, 1, 1).selectExpr(*COLUMNS).writeTo(name).append()
    return name


@pytest.fixture(scope="module")
def shared(spark):
    """A table for tests that only read it."""
    with own_namespace(spark, "t_reads") as name:
        yield filled(spark, f"{name}.t")


def footers(spark, table, *columns):
    """Bytes of each file but for columns that are not named, by its own footer: partition to list."""
    found = {}
    for row in spark.sql(f"SELECT part, _file FROM {table} GROUP BY 1, 2").collect():
        whole, path = 0, row._file.removeprefix("file:")
        meta = pq.read_metadata(path)
        for n in range(meta.num_row_groups):
            chunks = [meta.row_group(n).column(i) for i in range(meta.num_columns)]
            whole -= sum(one.total_compressed_size for one in chunks if one.path_in_schema not in columns)
        with open(path, "rb") as file:
            found.setdefault(row.part, []).append(whole + file.seek(0, 2))
    return found


def test_files_and_bytes_of_what_is_left_after_pruning(spark, shared):
    known = footers(spark, shared, "id", "part")
    one = reads.counted(spark, f"SELECT sum(id) FROM {shared} WHERE part = 1")
    assert (one.data_files, one.delete_files, one.delete_bytes) == (2, 0, 0)
    assert 0 <= sum(known[1]) - one.bytes < 200  # the partition itself need not be read
    every = reads.counted(spark, f"SELECT sum(id), count(DISTINCT part) FROM {shared}")
    assert (every.data_files, every.bytes) == (8, sum(map(sum, known.values())))
    assert every.answer == [(2 * sum(range(20_000)), 4)] and every.seconds > 0


def test_a_column_that_is_not_asked_for_is_not_read(spark, shared):
    whole = reads.counted(spark, f"SELECT max(note), sum(id), max(part) FROM {shared} WHERE id >= 0")
    few = reads.counted(spark, f"SELECT sum(id) FROM {shared}")
    assert whole.bytes == spark.sql(f"SELECT sum(file_size_in_bytes) FROM {shared}.files").first()[0]
    assert few.bytes == sum(map(sum, footers(spark, shared, "id").values())) < whole.bytes / 2


def test_each_scan_reads_its_own(spark, shared):
    first = f"{shared} VERSION AS OF {snapshots.at(spark, shared, 1)}"
    alone = [reads.counted(spark, f"SELECT max(id) FROM {of} WHERE note > ''") for of in (first, shared)]
    assert [one.data_files for one in alone] == [4, 8]
    both = reads.counted(
        spark,
        f"SELECT max(id) FROM (SELECT id FROM {first} WHERE note > '' UNION ALL SELECT id FROM {shared} WHERE note > '')",
    )
    assert (both.data_files, both.bytes) == (8, sum(one.bytes for one in alone))


def test_a_count_is_metadata_until_something_is_deleted(spark, namespace):
    table = filled(spark, f"{namespace}.t")
    count = f"SELECT count(*) FROM {table}"
    before = reads.counted(spark, count)
    assert (before.data_files, before.bytes, before.answer) == (0, 0, [(40_000,)])
    spark.sql(f"DELETE FROM {table} WHERE id % 8 = 0")
    after = reads.counted(spark, count)
    deletes = spark.sql(f"SELECT count(*), sum(file_size_in_bytes) FROM {table}.delete_files").first()
    assert (after.delete_files, after.delete_bytes) == tuple(deletes) and deletes[0] == 2
    assert after.data_files == 8 and after.answer == [(35_000,)]
    assert after.bytes == sum(map(sum, footers(spark, table).values())) > 0


def test_what_is_no_iceberg_table_is_refused(spark):
    with pytest.raises(ValueError, match="of Iceberg tables only; this query has a Range"):
        reads.counted(spark, "SELECT * FROM range(3)")


SAME = "SELECT * FROM VALUES (1, NULL, 0.1D), (NULL, 2, 0.5D) AS rows (a, b, c)"


@pytest.mark.parametrize(
    ("query", "equal"),
    [
        ("SELECT * FROM VALUES (NULL, 2, 0.5D), (1, NULL, 0.1D + 1e-15D) AS rows (b, b, a)", True),
        ("SELECT * FROM VALUES (NULL, 1, 0.1D), (NULL, 2, 0.5D) AS rows (a, b, c)", False),
        (f"{SAME} UNION ALL {SAME}", False),
        ("SELECT 1, 2, 3D WHERE false", False),
    ],
)
def test_a_digest_tells_answers_apart(spark, query, equal):
    assert (reads.digest(spark.sql(query)) == reads.digest(spark.sql(SAME))) == equal
