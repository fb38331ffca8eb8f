"""The fast way on what is unusual: nothing is lost, nothing is left out in silence, and no error is Java's."""

import pytest
from conftest import ENVIRONMENT
from digests import digest
from maintenance_cases import PLAIN, append, data_files, error_behind_the_commit, made, plan, policy, stored
from pyiceberg.expressions import IsNaN, NotNaN

from workbench import session
from workbench.tables import commits, maintenance
from workbench.tables.maintenance import arrow, parquet, sentences, storage


@pytest.fixture
def table(spark, namespace):
    return f"{namespace}.t"


def compacted(spark, table, **more):
    """Compact a table, and see that its rows stay and nothing is left to do; returns what was done."""
    before = digest(spark, table)
    (done,) = maintenance.run(spark, plan(spark, table, "compact_data", **more))
    assert digest(spark, table) == before and plan(spark, table, "compact_data", **more).actions == ()
    return done


def test_large_files_beside_small_ones_are_left(spark, table):
    made(spark, table)
    spark.range(1000, 20_000).selectExpr("id", "uuid() AS v").coalesce(1).writeTo(table).append()
    for n in range(5):
        append(spark, table, n)
    done = compacted(spark, table, target_file_bytes=100_000)
    assert (done.fast, done.files_after, data_files(spark, table), sentences(done)) == (5, 1, 2, ())


@pytest.mark.proof(
    "test_what_is_unusual_is_told_before_anything_is_written shows that such a table is none for the fast way"
)
def test_partitions_that_are_no_plain_literals_go_through_spark_all_of_them(spark, table):
    """The one of NULL could be told, the others not: they were left out, and planned again for ever."""
    made(spark, table, columns="id BIGINT, d DECIMAL(5,2), f DOUBLE, at TIMESTAMP", partitioned="d, f, at")
    rows = "(1, NULL, NULL, NULL), (2, 1.50, double('NaN'), TIMESTAMP '2020-01-01'), (3, 2.50, -0.0D, NULL)"
    for _ in range(5):
        spark.sql(f"INSERT INTO {table} VALUES {rows}")
    done = compacted(spark, table)
    assert (done.files, done.files_after, done.fast) == (15, 3, 0)
    assert sentences(done) == ("through Spark: it is partitioned by values of type decimal(5, 2)",)


def test_a_partition_field_that_was_dropped_is_gone(spark, table):
    made(spark, table, partitioned="v")
    spark.sql(f"ALTER TABLE {table} DROP PARTITION FIELD v")
    for n in range(5):
        append(spark, table, n)
    done = compacted(spark, table)
    assert (done.fast, done.files_after, sentences(done)) == (5, 1, ())


@pytest.mark.proof(
    "test_what_is_unusual_is_told_before_anything_is_written shows the field without a value, "
    "test_a_partition_field_that_was_dropped_is_gone the one that is gone"
)
def test_a_partition_field_that_was_dropped_in_format_1_stays_without_a_value(spark, table):
    """Also when the format is raised."""
    made(spark, table, partitioned="v", properties=PLAIN.replace("'2'", "'1'"))
    spark.sql(f"ALTER TABLE {table} DROP PARTITION FIELD v")
    for n in range(5):
        append(spark, table, n)
    spark.sql(f"ALTER TABLE {table} SET TBLPROPERTIES ('format-version' = '2')")
    done = compacted(spark, table)
    assert (done.files, done.files_after) == (5, 1)
    assert sentences(done) == ("through Spark: a field was dropped from its partitioning",)


@pytest.mark.proof(
    "test_rows_and_statistics_are_those_of_icebergs_own_rewrite goes the same way with one partitioning"
)
def test_files_from_before_the_partitioning_was_dropped_go_together_with_later_ones(spark, table):
    """Values of these fields are no plain literals, and are not asked for: all rows belong to one partition now."""
    made(spark, table, columns="id BIGINT, d DECIMAL(5,2), f DOUBLE, at TIMESTAMP", partitioned="d, f, at")
    rows = "(1, NULL, NULL, NULL), (2, 1.50, double('NaN'), TIMESTAMP '2020-01-01'), (3, 2.50, -0.0D, NULL)"
    for _ in range(5):
        spark.sql(f"INSERT INTO {table} VALUES {rows}")
    for field in ("d", "f", "at"):
        spark.sql(f"ALTER TABLE {table} DROP PARTITION FIELD {field}")
    spark.sql(f"INSERT INTO {table} VALUES (4, NULL, NULL, NULL)")
    spec = commits.load(spark, table).spec().specId()
    before, (action,) = digest(spark, table), plan(spark, table, "compact_data").actions
    assert [(one.partition, one.files, one.spec_id < spec) for one in action.groups] == [("{}", 15, True)]
    (done,) = maintenance.run(spark, plan(spark, table, "compact_data"))
    assert (done.fast, done.files, done.files_after, sentences(done)) == (15, 15, 1, ())
    assert digest(spark, table) == before
    assert sorted(map(tuple, spark.sql(f"SELECT spec_id, record_count FROM {table}.data_files").collect())) == [
        (spec, 1),
        (spec, 15),
    ]
    done = compacted(spark, table, min_input_files=2)  # a file of before among the table's own, and no other
    assert (done.fast, done.files_after) == (2, 1)


@pytest.mark.parametrize(
    ("codec", "level", "expected"),
    [("snappy", "3", ("snappy", None)), ("uncompressed", "1", ("none", None)), ("gzip", "9", ("gzip", 9)),
     ("zstd", "22", ("zstd", 22)), ("ZSTD", None, ("zstd", None)), ("zstd", "null", ("zstd", None))],
)  # fmt: skip
def test_a_level_counts_where_iceberg_goes_by_it(codec, level, expected):
    given = {"write.parquet.compression-codec": codec}
    found = parquet.options(given | ({"write.parquet.compression-level": level} if level else {}))
    assert (found["compression"], found["compression_level"]) == expected


def test_a_level_that_there_is_not_is_left_to_spark():
    given = {"write.parquet.compression-codec": "zstd", "write.parquet.compression-level": "30"}
    with pytest.raises(storage.Unfit, match="its files are compressed by zstd at level 30"):
        parquet.options(given)


@pytest.mark.proof(
    "test_a_commit_that_arrives_late_keeps_its_files shows that files stay when nobody knows whether a commit took"
)
def test_files_stay_when_java_dies_behind_the_commit(spark, table, monkeypatch):
    """Python sees an error of Py4J's then, which says nothing of the commit: its files may be live."""
    from py4j.protocol import Py4JNetworkError

    made(spark, table, appends=5)
    before = digest(spark, table)
    error_behind_the_commit(monkeypatch, Py4JNetworkError("Answer from Java side is empty"))
    chosen = plan(spark, table, "compact_data").actions[0].groups
    with pytest.raises(Py4JNetworkError):
        arrow.rewrite(spark, table, chosen, policy(), tries=3)
    assert (digest(spark, table), len(stored(spark, table))) == (before, 6)


def test_a_commit_that_arrives_late_keeps_its_files(spark, table, monkeypatch):
    """Nobody knew whether it took, it was tried again, and only then it arrived: the second one's files go."""
    made(spark, table, appends=5)
    before, whole, calls = digest(spark, table), arrow._commit, []

    def late(*arguments):
        calls.append(arguments)
        if len(calls) == 1:
            raise ConnectionError("the answer did not come")
        if len(calls) == 2:
            whole(*calls[0])
        whole(*arguments)

    monkeypatch.setattr(arrow, "_commit", late)
    chosen = plan(spark, table, "compact_data").actions[0].groups
    arrow.rewrite(spark, table, chosen, policy(), tries=3)
    assert (len(calls), digest(spark, table), data_files(spark, table)) == (2, before, 1)
    assert maintenance.inventory(spark, table).missing == ()


def test_files_that_lie_elsewhere_are_left_to_spark(spark, table):
    made(spark, table)
    _, path = storage.opened(commits.load(spark, table))
    assert path("file:/a b/x%20y") == path("file:///a b/x%20y") == path("/a b/x%20y") == "/a b/x%20y"
    for elsewhere in ("s3://bucket/x", "hdfs://host/x", "relative/x"):
        with pytest.raises(storage.Unfit, match="some of its files lie elsewhere, at "):
            path(elsewhere)


def test_texts_that_are_no_utf8_hide_no_row(spark, table):
    """Spark takes any bytes for a text. Iceberg reads them as U+FFFD, above which there is no ü: it was not found."""
    made(spark, table, columns="id BIGINT, v STRING, w STRING")
    values = ("X'80'", "X'C3BC'", "encode(repeat('ü', 3000), 'utf-8')", "X'FF61'", "encode('a', 'utf-8')")
    for n, value in enumerate(values):
        spark.sql(f"INSERT INTO {table} SELECT {n}, CAST({value} AS STRING), 'w{n}'")
    asked = {
        "v = 'ü'": [1],
        "v = repeat('ü', 3000)": [2],
        "v = 'a'": [4],
        "startswith(v, 'ü')": [1, 2],
        "w = 'w3'": [3],
    }
    found = {one: [row.id for row in spark.table(table).where(one).orderBy("id").collect()] for one in asked}
    done = compacted(spark, table)
    assert (found, done.fast, done.files_after) == (asked, 5, 1)
    assert {
        one: [row.id for row in spark.table(table).where(one).orderBy("id").collect()] for one in asked
    } == asked
    (bounds,) = spark.sql(
        f"SELECT map_keys(lower_bounds) AS low, map_keys(upper_bounds) AS high FROM {table}.files"
    ).collect()
    assert (sorted(bounds.low), sorted(bounds.high)) == ([1, 3], [1, 3])


@pytest.mark.proof("test_rows_and_statistics_are_those_of_icebergs_own_rewrite compares the bounds of floats")
def test_zeros_keep_their_sign(spark, table):
    """A footer has -0.0 below and 0.0 above for any zero; a bound is the answer where the lowest value is asked."""
    columns = "id BIGINT, low DOUBLE, high FLOAT, both DOUBLE, cut DOUBLE, nan FLOAT"
    made(spark, table, columns=columns, properties=PLAIN + ", 'write.metadata.metrics.column.cut' = 'truncate(1)'")
    for n in range(2):
        values = (
            f"id, {n}.0D, float('-{n}'), IF({n} = 0, -0.0D, 0.0D), 0.0D, IF(id = 0, float('NaN'), float('-0'))"
        )
        spark.sql(f"INSERT INTO {table} SELECT /*+ COALESCE(1) */ {values} FROM range(2)")
    ends = [f"{end}({one})" for one in ("low", "high", "both", "cut") for end in ("min", "max")]
    answers = [["0.0", "1.0", "-1.0", "-0.0", "-0.0", "0.0", "0.0", "0.0"]]
    answers.append([spark.sql(f"SELECT CAST({one} AS STRING) FROM {table}").first()[0] for one in ends])
    assert compacted(spark, table, min_input_files=2).fast == 2
    answers.append([spark.sql(f"SELECT CAST({one} AS STRING) FROM {table}").first()[0] for one in ends])
    assert answers[1:] == answers[:1] * 2
    bounds = "readable_metrics.nan.lower_bound AS low, readable_metrics.nan.upper_bound AS high"
    (row,) = spark.sql(f"SELECT {bounds} FROM {table}.data_files").collect()
    assert (str(row.low), str(row.high)) == ("-0.0", "-0.0")


def test_rows_with_nan_are_found(spark, table):
    """In a row group whose other values are equal PyArrow, by which PyIceberg reads, looked for no NaN."""
    made(spark, table, columns="id BIGINT, d DOUBLE, f FLOAT")
    spark.sql(f"INSERT INTO {table} SELECT 0, 1.0D, 1.0F"), spark.sql(f"INSERT INTO {table} SELECT 1, 1.0D, NULL")
    spark.sql(f"INSERT INTO {table} SELECT 2, double('NaN'), float('NaN')")

    def found():
        loaded = session.catalog(ENVIRONMENT).load_table(table)
        rows = [
            loaded.scan(row_filter=condition).to_arrow() for condition in (IsNaN("d"), IsNaN("f"), NotNaN("d"))
        ]
        return [sorted(one["id"].to_pylist()) for one in rows]

    assert found() == [[2], [2], [0, 1]]
    assert compacted(spark, table, min_input_files=2).fast == 3
    assert found() == [[2], [2], [0, 1]]
    for n, nulls in ((2, 0), (3, 1)):
        told = f"value_counts[{n}], null_value_counts[{n}], nan_value_counts[{n}], lower_bounds[{n}] = upper_bounds[{n}]"
        assert tuple(spark.sql(f"SELECT {told} FROM {table}.files").first()) == (3, nulls, 1, True)


@pytest.mark.proof(
    "test_a_partition_of_such_a_day_is_named shows the name of such a partition, which a plan tells by the same "
    "code"
)
def test_days_that_python_does_not_have(spark, table):
    """A clock in the wrong unit gives years of five digits; a plan of such a table broke off."""
    made(spark, table, columns="id BIGINT, at TIMESTAMP", partitioned="days(at)")
    for n in range(5):
        moments = "(timestamp_micros(1700000000000000000)), (timestamp_micros(-170000000000000000)), (NULL)"
        spark.sql(f"INSERT INTO {table} SELECT {n}, at FROM VALUES {moments} AS t(at)")
    (action,) = plan(spark, table, "compact_data").actions
    assert sorted(one.partition for one in action.groups) == [
        '{"at_day": "+55840-11-08"}',
        '{"at_day": "-3418-11-30"}',
        '{"at_day": null}',
    ]
    done = compacted(spark, table)
    assert (done.files, done.files_after, done.fast, sentences(done)) == (15, 3, 15, ())
