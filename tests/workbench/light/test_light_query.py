"""Questions without Spark: Spark's answers, from the catalog's own pointer, or a sentence."""

import json
import sqlite3
import subprocess
import sys
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path

import light_cases
import pyarrow as pa
import pytest
from conftest import ENVIRONMENT
from light_cases import cases, lake, own_lake, rest, rows, sparks
from pyiceberg.catalog import load_catalog

from workbench import light, session
from workbench._base import duck
from workbench.light import engine

REFUSED = {"avro": "AVRO", "orc": "ORC"}


def small_lake(folder):
    """A lake without Spark: table n.t with two snapshots of one row each."""
    properties = own_lake(folder)
    catalog = light.catalogs.load(properties)
    table = catalog.create_table("n.t", pa.schema([("id", pa.int64()), ("name", pa.string())]))
    table.append(pa.table({"id": [1], "name": ["a"]}))
    table.manage_snapshots().create_tag(table.current_snapshot().snapshot_id, "first").commit()
    table.append(pa.table({"id": [2], "name": pa.array([None], pa.string())}))
    return properties, table


@pytest.fixture
def small(tmp_path):
    return small_lake(tmp_path)


@pytest.mark.parametrize("case", [make.__name__ for make in light_cases.ALL])
def test_each_table_is_answered_as_by_spark_or_refused(spark, cases, case):
    sql = f"SELECT * FROM {cases}.{case} ORDER BY id"
    if case in REFUSED:
        with pytest.raises(
            ValueError, match=f"from {cases}.{case} as Spark does: it has files in the format {REFUSED[case]}"
        ):
            light.query(lake(), sql)
    else:
        assert rows(light.query(lake(), sql)) == sparks(spark, sql)


@pytest.mark.parametrize("version", ["first", "side", "main"])
def test_a_tag_and_a_branch(spark, cases, version):
    sql = f"SELECT * FROM {cases}.plain"
    answer = rows(light.query(lake(), f"{sql} ORDER BY id", at=version))
    assert answer == sparks(spark, f"{sql} VERSION AS OF '{version}' ORDER BY id")


def test_nulls_are_sorted_and_sums_have_the_type_of_spark(spark, cases):
    sql = f"SELECT name, sum(id) AS total FROM {cases}.plain GROUP BY name ORDER BY name, total DESC"
    answer = light.query(lake(), sql)
    assert answer.schema.field("total").type == pa.int64()
    assert rows(answer) == sparks(spark, sql) == [(None, 2), ("a", 1), ("c", 3)]


def test_a_snapshot_an_id_and_a_time(small):
    properties, table = small
    first, second = (snapshot.snapshot_id for snapshot in table.snapshots())
    between = datetime.fromtimestamp(table.snapshots()[0].timestamp_ms / 1000, UTC)
    for at, expected in ((None, 2), (second, 2), (first, 1), ("first", 1), (between, 1), (between.isoformat(), 1)):
        assert light.query(properties, "SELECT count(*) AS n FROM n.t", at=at).to_pylist() == [{"n": expected}]


def test_values_are_no_text_of_the_statement(small):
    properties, table = small
    sql = "SELECT id FROM own.n.t WHERE name = $name OR id = $id"
    assert light.query(properties, sql, name="x' OR true --", id=Decimal(2)).to_pylist() == [{"id": 2}]
    assert light.query(table.catalog, sql, name="a", id=7).to_pylist() == [{"id": 1}]


def test_a_common_table_is_no_table_of_the_catalog(small):
    sql = "WITH u AS (SELECT id FROM n.t) SELECT count(*) AS n FROM u JOIN (SELECT id FROM n.t) AS t USING (id), range(3)"
    assert light.query(small[0], sql).to_pylist() == [{"n": 6}]


def test_the_catalogs_pointer_is_read_and_not_the_newest_file(small):
    """A commit that fails behind its metadata file leaves one that is newer than the pointer."""
    properties, table = small
    path = Path(table.metadata_location.removeprefix("file://"))
    metadata = json.loads(path.read_text())
    metadata["current-snapshot-id"] = metadata["snapshots"][0]["snapshot-id"]
    metadata["refs"]["main"]["snapshot-id"] = metadata["current-snapshot-id"]
    (path.parent / "00009-of-a-commit-that-failed.metadata.json").write_text(json.dumps(metadata))
    assert light.query(properties, "SELECT count(*) AS n FROM n.t").to_pylist() == [{"n": 2}]


def test_a_rest_catalog_and_its_storage(rest):
    catalog = load_catalog(**rest)
    catalog.create_namespace("asked")
    table = catalog.create_table("asked.t", pa.schema([("id", pa.int64())]))
    table.append(pa.table({"id": [1, 2, 3]}))
    for given in (rest, catalog):
        assert light.query(given, "SELECT sum(id) AS s FROM lake.asked.t").to_pylist() == [{"s": 6}]
    with pytest.raises(ValueError, match=r"table asked\.u is not in the catalog; there are asked\.t$"):
        light.query(rest, "SELECT * FROM asked.u")
    with pytest.raises(ValueError, match="answers 40[0-9]"):
        light.query(rest | {"credential": "nobody:nothing"}, "SELECT * FROM asked.t")


def test_a_cold_query_imports_neither_pyiceberg_nor_spark(small):
    code = (
        "import sys; from workbench import light; "
        f"print(light.query({small[0]!r}, 'SELECT count(*) AS n FROM n.t').to_pylist(), "
        "[name for name in ('pyiceberg', 'pyspark', 'pandas', 'sqlalchemy', 'boto3', 'pydantic') if name in sys.modules])"
    )
    process = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (process.stdout, process.stderr) == ("[{'n': 2}] []\n", "")


@pytest.mark.parametrize(
    ("sql", "sentence"),
    [
        ("SELECT * FROM n.u", "table n.u is not in the catalog; there are n.t"),
        ("SELECT nope FROM n.t", 'the statement does not fit its tables: .*"nope" not found'),
        ("INSERT INTO n.t VALUES (3, 'c')", "query reads and never writes; found INSERT, expected one SELECT"),
        ("COPY (SELECT 1) TO '/nowhere/x'", "never writes; found COPY"),
        ("ATTACH 'x.db'", "never writes; found ATTACH"),
        ("SELECT 1; SELECT 2", "expected one SELECT, found 2 statements"),
        (" ", "expected the text of one SELECT"),
        ("SELEC 1", "is not SQL that DuckDB reads"),
        ("SELECT * FROM t", "'t' is not a table's name; expected namespace.name"),
        ("SELECT * FROM '/etc/x.parquet'", "is not a table's name"),
        ("SELECT * FROM read_csv('/etc/passwd')", "found the table function read_csv"),
        ("DESCRIBE n.t", "found DESCRIBE"),
        ("SELECT * FROM n.t AT (VERSION => 1)", "name it by at="),
        ("SELECT * FROM main.t", "DuckDB keeps for itself"),
        ("SELECT $1 FROM n.t", "parameters have names"),
        ("SELECT $x FROM n.t", r"the parameter \$x has no value; the statement has \$x"),
        ("SELECT st_point(1, 2)", "st_point"),
    ],
)
def test_what_is_refused(small, sql, sentence):
    with pytest.raises(ValueError, match=sentence):
        light.query(small[0], sql)


@pytest.mark.parametrize(
    ("at", "sentence"),
    [
        ("gone", "no tag, branch or time 'gone': it never had, or it was expired; there are first, main"),
        (5, "has no snapshot 5: it never had, or it was expired; it has 2, from 20"),
        ("2020-01-01", "has no snapshot of 2020-01-01T00:00:00.00:00 or before"),
        (1.5, "at must be a snapshot's id, a tag, a branch or a time, found 1.5"),
    ],
)
def test_a_version_that_is_not_there(small, at, sentence):
    with pytest.raises(ValueError, match=sentence):
        light.query(small[0], "SELECT * FROM n.t", at=at)


def test_a_value_too_many(small):
    with pytest.raises(ValueError, match=r"y is not a parameter of the statement; it has \$x"):
        light.query(small[0], "SELECT $x FROM n.t", x=1, y=2)


def test_an_expired_snapshot_is_told_from_one_in_time(small):
    properties, table = small
    oldest = table.snapshots()[0]
    table.manage_snapshots().remove_tag("first").commit()
    table.maintenance.expire_snapshots().by_id(oldest.snapshot_id).commit()
    with pytest.raises(ValueError, match="was expired; it has 1, from"):
        light.query(properties, "SELECT * FROM n.t", at=oldest.snapshot_id)
    with pytest.raises(ValueError, match="(was expired|or before); it has 1|or before: it has 1"):
        light.query(properties, "SELECT * FROM n.t", at=datetime.fromtimestamp(oldest.timestamp_ms / 1000, UTC))


def test_a_time_at_which_an_expired_snapshot_was_current_is_not_answered_by_an_older_one(small):
    """PyIceberg takes what it expires out of the log alone."""
    properties, table = small
    table.append(table.scan().to_arrow())
    second = table.snapshots()[1]
    table.maintenance.expire_snapshots().by_id(second.snapshot_id).commit()
    with pytest.raises(ValueError, match="that was current at .* was expired; it has 2, from"):
        light.query(properties, "SELECT * FROM n.t", at=datetime.fromtimestamp(second.timestamp_ms / 1000, UTC))


def test_a_branch_behind_a_change_of_the_schema(small):
    """Spark reads it with the table's schema, DuckDB with that of its last commit."""
    properties, table = small
    table.manage_snapshots().create_branch(table.snapshots()[0].snapshot_id, "side").commit()
    with table.update_schema() as update:
        update.rename_column("name", "label")
    assert light.query(properties, "SELECT label FROM n.t WHERE id = 1").to_pylist() == [{"label": "a"}]
    assert light.query(properties, "SELECT name FROM n.t", at="first").to_pylist() == [{"name": "a"}]
    with pytest.raises(ValueError, match="schema of n.t changed after the last commit of its branch side"):
        light.query(properties, "SELECT * FROM n.t", at="side")


def test_a_snapshot_has_the_schema_of_its_commit(small):
    """As in Spark: also the last one, where the table's schema changed since."""
    properties, table = small
    with table.update_schema() as update:
        update.rename_column("name", "label")
    for sql, at in (
        ("SELECT label FROM n.t", None),
        ("SELECT name FROM n.t", table.current_snapshot().snapshot_id),
    ):
        assert light.query(properties, f"{sql} WHERE id = 1", at=at).num_rows == 1


def test_a_moved_warehouse(small):
    properties, table = small
    place = Path(table.location().removeprefix("file://"))
    place.rename(place.with_name("elsewhere"))
    with pytest.raises(ValueError, match="there is no such file: was the warehouse moved"):
        light.query(properties, "SELECT * FROM n.t")


def test_another_version_of_the_format(small):
    properties, table = small
    path = Path(table.metadata_location.removeprefix("file://"))
    path.write_text(json.dumps(json.loads(path.read_text()) | {"format-version": 4}))
    with pytest.raises(ValueError, match="n.t has version 4 of Iceberg's table format; known here are 1, 2, 3"):
        light.query(properties, "SELECT * FROM n.t")


def test_catalogs_that_cannot_be_asked(small, tmp_path):
    for catalog, sentence in (
        ({"type": "hive", "uri": "thrift://h:1"}, "has the type 'hive'; expected sql, rest or glue"),
        ({"type": "sql", "uri": "postgresql://h/d"}, "in postgresql, which PyIceberg alone reads here"),
        ({"type": "sql", "uri": f"sqlite:///{tmp_path}/none.db"}, "none.db is not there"),
        (small[0] | {"name": "other"}, "holds no catalog 'other'; it holds own"),
        ({"type": "rest", "uri": "http://127.0.0.1:9"}, "cannot be reached"),
        (5, "catalog is int, expected PyIceberg's Catalog or a dict"),
    ):
        with pytest.raises(ValueError, match=sentence):
            light.query(catalog, "SELECT * FROM n.t")


def test_a_table_elsewhere(small):
    properties, _ = small
    database_file = properties["uri"].removeprefix("sqlite:///").partition("?")[0]
    with sqlite3.connect(database_file) as database:
        database.execute("UPDATE iceberg_tables SET metadata_location = 'hdfs://h/t.metadata.json'")
    with pytest.raises(ValueError, match="lies at hdfs://, and DuckDB reads files and S3 here; ask Spark"):
        light.query(properties, "SELECT * FROM n.t")


def test_an_extension_of_another_duckdb(tmp_path, monkeypatch):
    package = tmp_path / "duckdb_extension_of_old"
    (package / "extensions" / "v1.0.0").mkdir(parents=True)
    (package / "__init__.py").touch()
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(ValueError, match="duckdb-extension-of_old is made for DuckDB v1.0.0, here is v"):
        duck.extension("of_old", extra="light")
    with pytest.raises(ValueError, match="duckdb-extension-none is not installed: pip install"):
        duck.extension("none", extra="light")


def test_nothing_is_fetched():
    with engine.connection(None) as connection:
        settings = (
            "SELECT name, value FROM duckdb_settings() WHERE name LIKE 'auto%known_extensions' ORDER BY name"
        )
        assert connection.execute(settings).fetchall() == [
            ("autoinstall_known_extensions", "false"), ("autoload_known_extensions", "false")
        ]  # fmt: skip


def test_properties_of_an_environment_are_those_of_its_catalog(spark, cases):
    assert session.catalog(ENVIRONMENT).name == lake()["name"] == "lake"
    assert light.query(session.catalog(ENVIRONMENT), f"SELECT id FROM {cases}.plain").num_rows == 3


@pytest.mark.parametrize(
    ("in_duckdb", "in_spark", "differ"),
    [
        ("1 / 0", "1 / 0", True),
        ("1 / nullif(0, 0)", "1 / nullif(0, 0)", False),
        ("7 % 0", "7 % 0", True),
        ("7 % nullif(0, 0)", "7 % nullif(0, 0)", False),
        ("2.5::INT", "CAST(2.5 AS INT)", True),
        ("floor(-2.5)::INT", "CAST(floor(-2.5) AS INT)", False),
        ("round(2.5)::INT", "CAST(round(2.5) AS INT)", False),
        ("concat('a', NULL)", "concat('a', NULL)", True),
        ("'a' || NULL", "'a' || NULL", False),
        ("[5, 6][1]", "array(5, 6)[1]", True),
        ("dayofweek(DATE '2026-11-29')", "dayofweek(DATE '2026-11-29')", True),
    ],
)
def test_what_an_expression_means_is_as_the_page_has_it(spark, small, in_duckdb, in_spark, differ):
    """docs/light.md lists them: a statement is in DuckDB's SQL."""
    (answer,) = light.query(small[0], f"SELECT {in_duckdb} AS x FROM n.t LIMIT 1").to_pylist()
    try:
        expected = spark.sql(f"SELECT {in_spark} AS x").first().x
    except Exception as error:
        assert "DIVIDE_BY_ZERO" in str(error) or "REMAINDER_BY_ZERO" in str(error)
        expected = "an error"
    assert (answer["x"] != expected) is differ
