"""Which engines answer as Spark does: what is said of a table is what they do."""

import light_cases
import pytest
from conftest import ENVIRONMENT
from light_cases import cases, lake, read, rows, sparks

from workbench import light, session
from workbench._base.sessions import configured
from workbench.light import abilities

EQUALITY, AVRO, ORC, VECTORS = (
    "it has deletes by equality", "it has files in the format AVRO", "it has files in the format ORC",
    "it has deletes as vectors, in Puffin files",
)  # fmt: skip
NULL_LISTS = "a list or map of structs in its column {} is or may be null, and is read as empty"
NONE = {"spark": (), "duckdb": (), "pyiceberg": (), "polars": (), "datafusion": ()}
# of each table, what is not empty
REASONS = {
    "deletion_vectors": {"datafusion": (VECTORS,)},
    "equality_deletes": {"pyiceberg": (EQUALITY,), "polars": (EQUALITY,)},
    "evolved": {"datafusion": ("its struct s has had a field added",)},
    "types": {"pyiceberg": (NULL_LISTS.format("l"),)},
    "avro": dict.fromkeys(("duckdb", "pyiceberg", "polars", "datafusion"), (AVRO,)),
    "orc": dict.fromkeys(("duckdb", "polars", "datafusion"), (ORC,)),
    "null_lists": {"pyiceberg": (NULL_LISTS.format("m"), NULL_LISTS.format("deep"))},
}
OTHERS = ("pyiceberg", "polars", "datafusion")


@pytest.mark.parametrize("case", [make.__name__ for make in light_cases.ALL])
def test_engines_do_as_is_said_of_each_table(spark, cases, case):
    table = f"{cases}.{case}"
    assert light.able(lake(), table) == NONE | REASONS.get(case, {})
    expected = sparks(spark, f"SELECT * FROM {table} ORDER BY id")
    for engine in OTHERS:
        answer = answered(engine, table)
        assert (answer == expected) is (engine not in REASONS.get(case, {})), engine


def answered(engine, table, where=None):
    """What an engine makes of a table: rows, or the error with which it refuses."""
    try:
        return read(engine, session.catalog(ENVIRONMENT).load_table(table), where=where)
    except Exception as error:
        return error


def test_a_range_over_nan_is_answered_in_four_ways(spark, cases):
    """It is refused for each but Spark, whose own answer is not that of the rows either."""
    table, where = f"{cases}.nans", ("f", ">", 100)
    counts = {engine: len(answered(engine, table, where)) for engine in OTHERS}
    assert sparks(spark, f"SELECT count(*) FROM {table} WHERE f > 100") == [(50,)]
    assert counts == {"pyiceberg": 43, "polars": 65, "datafusion": 65}
    reasons = light.able(lake(), table, f"SELECT * FROM {table} WHERE f > 100")
    assert [engine for engine, refusals in reasons.items() if not refusals] == ["spark"]


def test_spark_misses_a_uuid_that_is_there(spark, cases):
    """So a comparison of UUIDs is refused for each but Spark; what does not compare them is answered."""
    table, where = f"{cases}.uuids", f"WHERE u = '{light_cases.UUIDS[1]}'"
    assert sparks(spark, f"SELECT count(*) FROM {table} {where}") == [(0,)]
    for sql in (f"SELECT id FROM {table} {where}", f"SELECT max(u) FROM {table}"):
        reasons = light.able(lake(), table, sql)
        assert [engine for engine, refusals in reasons.items() if not refusals] == ["spark"]
        with pytest.raises(ValueError, match="its column u is a UUID and the statement compares it"):
            light.query(lake(), sql)
    sql = f"SELECT u, count(*) AS n FROM {table} WHERE id < 2 GROUP BY u ORDER BY u"
    assert (
        light_cases.rows(light.query(lake(), sql))
        == sparks(spark, sql)
        == [(uuid, 1) for uuid in light_cases.UUIDS]
    )


SHORT = pytest.mark.proof("DOUBLE shows it for a type that is compared by the same statements")


@pytest.mark.parametrize("kind", ["DOUBLE", pytest.param("FLOAT", marks=SHORT)])
@pytest.mark.parametrize(
    ("values", "where", "spark_finds", "holds"),
    [
        ("-0D, -3D, -0D", "f = 0", 0, True),  # by the greatest value of the file
        ("-0D, -3D, -0D", "f >= 0", 0, True),
        ("-0D, -0D, -0D, 100D, 100D, 100D", "f = 0", 0, True),  # by the dictionary of the column
        ("-0D, -0D, -0D, 100D, 100D, 100D", "f IN (0, 5)", 0, True),
        ("-3D, 0D, 1D", "f = 0", 1, False),
        ("1D, 0D, 1D", "f >= 0", 3, False),
        ("-1D, -2D, -3D", "f >= 0", 0, False),
    ],
)
def test_spark_misses_a_zero_whose_sign_is_minus(spark, namespace, kind, values, where, spark_finds, holds):
    """The engines differ wherever a column holds one: none but Spark itself is asked."""
    table = f"{namespace}.t"
    spark.sql(f"CREATE TABLE {table} (id BIGINT, f {kind}) USING iceberg")
    rows_of = ", ".join(f"({n}L, {value})" for n, value in enumerate(values.split(", ")))
    spark.sql(f"INSERT INTO {table} SELECT /*+ COALESCE(1) */ * FROM VALUES {rows_of}")
    sql = f"SELECT count(*) AS n FROM {table} WHERE {where}"
    assert sparks(spark, sql) == [(spark_finds,)]
    refused = {engine for engine, refusals in light.able(lake(), table, sql).items() if refusals}
    assert refused == ({"duckdb", *OTHERS} if holds else set())
    if holds:
        with pytest.raises(ValueError, match="its column f holds -0.0 and the statement compares it"):
            light.query(lake(), sql)
    else:
        assert rows(light.query(lake(), sql)) == [(spark_finds,)]
    assert light.query(lake(), f"SELECT count(f) AS n FROM {table}").to_pylist() == [
        {"n": len(values.split(", "))}
    ]


COMPARED = (
    "SELECT * FROM {} WHERE f > 100",
    "SELECT id FROM {} WHERE f BETWEEN 1 AND 2",
    "SELECT id FROM {} WHERE NOT f <= 100",
    "SELECT id FROM {} WHERE F <> 5",
    "SELECT id FROM {} AS t WHERE t.f IN (1, 2)",
    "SELECT max(f) FROM {}",
    "SELECT id FROM {} ORDER BY f DESC LIMIT 3",
    "SELECT f, id FROM {} ORDER BY 1 LIMIT 3",
    "SELECT * FROM (SELECT f AS g FROM {}) WHERE g > 100",
    "SELECT * FROM (SELECT f FROM {}) AS t(g) WHERE g > 100",
    "SELECT * FROM (SELECT f AS id FROM {}) WHERE id > 100",
    "WITH t(g) AS (SELECT f FROM {}) SELECT g FROM t WHERE g < 5",
    "SELECT * FROM {} AS a JOIN {} AS b USING (f)",
    "SELECT CASE WHEN f > 3 THEN 1 END FROM {}",
)
NOT_COMPARED = (
    "SELECT * FROM {} WHERE id > 100",
    "SELECT t.f FROM {} AS t WHERE t.id > 100",
    "SELECT f, count(*) FROM {} GROUP BY f ORDER BY f",
    "SELECT id FROM {} WHERE isnan(f)",
    "SELECT id AS f2 FROM {} WHERE id = 3",
    "SELECT sum(f) FROM {} WHERE f IS NOT NULL",
)


@pytest.mark.parametrize("sql", COMPARED)
def test_a_statement_that_compares_nan_is_refused(spark, cases, sql):
    text = sql.replace("{}", f"{cases}.nans")
    assert "its column f holds NaN" in light.able(lake(), f"{cases}.nans", text)["duckdb"][0]
    with pytest.raises(ValueError, match="does not answer from .*nans as Spark does: its column f holds NaN"):
        light.query(lake(), text)


@pytest.mark.parametrize("sql", NOT_COMPARED)
def test_a_statement_that_does_not_is_answered(spark, cases, sql):
    text = sql.replace("{}", f"{cases}.nans")
    assert light.able(lake(), f"{cases}.nans", text)["duckdb"] == ()
    order = {"key": repr}
    assert sorted(light_cases.rows(light.query(lake(), text)), **order) == sorted(sparks(spark, text), **order)


def test_of_several_tables_each_is_named(spark, cases):
    sql = f"SELECT a.id FROM {cases}.plain AS a JOIN {cases}.avro AS b ON a.id = b.id"
    assert light.able(lake(), f"{cases}.plain", sql)["duckdb"] == (f"{cases}.avro: {AVRO}",)
    with pytest.raises(ValueError, match=f"does not read {cases}.orc; it reads {cases}.avro, {cases}.plain"):
        light.able(lake(), f"{cases}.orc", sql)


@pytest.mark.parametrize(
    ("datafusion", "core", "reason"),
    [
        ("53.0.0", "0.10.1", None),
        ("55.0.0", "0.10.1", "datafusion is 55.0.0, and pyiceberg-core 0.10.1 is made for 53: together they end"),
        ("53.0.0", "0.11.0", "it is not known for which DataFusion pyiceberg-core 0.11.0 is made"),
        ("53.0.0", None, "pyiceberg-core, by which DataFusion reads Iceberg, is not installed"),
    ],
)
def test_a_datafusion_of_another_major_version(datafusion, core, reason):
    reasons = abilities.mismatch(datafusion, core)
    assert len(reasons) == bool(reason) and (not reason or reasons[0].startswith(reason))


@pytest.mark.parametrize(("version", "partition", "applied"), [(2, "f", True), (3, "f", False), (3, "s", True)])
def test_vectors_in_a_partition_of_nan_are_not_applied_by_python(spark, namespace, version, partition, applied):
    """A row of 500 random tables: what an update had replaced was read, too."""
    table = f"{namespace}.t"
    spark.sql(
        f"CREATE TABLE {table} (id BIGINT, f DOUBLE, s STRING) USING iceberg PARTITIONED BY ({partition}) "
        f"TBLPROPERTIES ('format-version' = '{version}', {light_cases.MERGE_ON_READ})"
    )
    spark.sql(
        f"INSERT INTO {table} SELECT /*+ COALESCE(1) */ * FROM VALUES "
        "(1L, DOUBLE('NaN'), NULL), (2L, DOUBLE('NaN'), NULL), (3L, 1D, 'a')"
    )
    spark.sql(f"UPDATE {table} SET s = 'new' WHERE id = 1")
    expected = sparks(spark, f"SELECT * FROM {table} ORDER BY id")
    reasons = light.able(lake(), table)
    for engine in ("pyiceberg", "polars"):
        assert [reason.startswith("it has deletes as vectors, in Puffin files, and partitions by f, a float")
                for reason in reasons[engine]] == [True] * (not applied)  # fmt: skip
    assert (answered("polars", table) == expected) is applied
    assert rows(light.query(lake(), f"SELECT * FROM {table} ORDER BY id")) == expected


@pytest.mark.parametrize(("both", "fails"), [(True, True), (False, False)])
def test_polars_reads_vectors_that_were_replaced(spark, namespace, both, fails):
    """A row of 500 random tables: it fails where one of the vectors of a Puffin file was replaced."""
    table = f"{namespace}.t"
    spark.sql(
        f"CREATE TABLE {table} (id BIGINT, s STRING) USING iceberg "
        f"TBLPROPERTIES ('format-version' = '3', {light_cases.MERGE_ON_READ})"
    )
    for start in (0, 10):
        spark.range(start, start + 10).selectExpr("id", "'a' AS s").coalesce(1).writeTo(table).append()
    with configured(spark, {"spark.sql.shuffle.partitions": 1}):  # one task, which writes one Puffin file
        spark.sql(f"DELETE FROM {table} WHERE id % 10 = 1{'' if both else ' AND id < 10'}")
        spark.sql(f"DELETE FROM {table} WHERE id = 5")
    expected = sparks(spark, f"SELECT * FROM {table} ORDER BY id")
    reasons = light.able(lake(), table)["polars"]
    assert [reason.startswith("it has deletes as vectors in 2 Puffin files") for reason in reasons] == [
        True
    ] * fails
    assert (answered("polars", table) == expected) is not fails
    assert rows(light.query(lake(), f"SELECT * FROM {table} ORDER BY id")) == expected
