"""The generated data: all of it or none, and the same every time."""

import tempfile

import duckdb
import pytest

from workbench import session
from workbench_proofs.tpcds import data, layouts

ROWS = {
    "call_center": 1, "catalog_page": 11718, "catalog_returns": 1358, "catalog_sales": 14313, "customer": 1000,
    "customer_address": 500, "customer_demographics": 19208, "date_dim": 73049, "household_demographics": 7200,
    "income_band": 20, "inventory": 23490, "item": 180, "promotion": 3, "reason": 1, "ship_mode": 20, "store": 1,
    "store_returns": 2810, "store_sales": 28810, "time_dim": 86400, "warehouse": 1, "web_page": 1,
    "web_returns": 679, "web_sales": 7212, "web_site": 1,
}  # fmt: skip
DIGEST = "ee4731d1f13c7fab501a53d1603d27953ce6aac8d419d3cf72a5b52e976e0bf9"


@pytest.fixture(scope="module")
def generated(tmp_path_factory):
    """In a home of O'Brien's, and a folder with brackets: data are made in a folder of any name."""
    return data.generate(0.01, cache=tmp_path_factory.mktemp("O'Brien [1] k=7"))


def test_the_24_tables_at_the_smallest_scale(generated):
    assert {name: table.rows for name, table in generated.tables.items()} == ROWS
    assert (generated.scale, generated.digest) == ("0.01", DIGEST)
    assert sorted(path.name for path in generated.folder.iterdir()) == sorted(
        [*(f"{table}.parquet" for table in data.TABLES), "data.json"]
    )


def test_columns_are_spelled_as_the_query_texts_spell_them(generated):
    connection = data.connect(generated)
    found = {
        table: [row[0] for row in connection.execute(f"DESCRIBE {table}").fetchall()] for table in data.TABLES
    }
    kinds = {row[1] for table in data.TABLES for row in connection.execute(f"DESCRIBE {table}").fetchall()}
    connection.close()
    assert kinds == {"INTEGER", "VARCHAR", "DATE", "DECIMAL(5,2)", "DECIMAL(7,2)", "DECIMAL(15,2)"}
    assert "c_last_review_date" in found["customer"] and "s_tax_percentage" in found["store"]
    assert not set(data.SPELLINGS) & {column for columns in found.values() for column in columns}


def test_what_is_there_is_not_generated_again(generated):
    before = {path: path.stat().st_mtime_ns for path in generated.folder.iterdir()}
    assert data.generate("0.010", cache=generated.folder.parent) == generated
    assert {path: path.stat().st_mtime_ns for path in generated.folder.iterdir()} == before


def test_a_killed_generation_and_a_damaged_file_are_replaced(generated):
    """The second generation gives the same data: the digest is of the rows, not of the files."""
    cache, name = generated.folder.parent, generated.folder.name
    (cache / f"{name}.part").mkdir()
    (cache / f"{name}.part" / "store_sales.parquet").write_text("half a fi")
    with generated.path("web_sales").open("ab") as file:
        file.write(b"x")
    again = data.generate(0.01, cache=cache)
    assert again.digest == DIGEST and {name: table.rows for name, table in again.tables.items()} == ROWS
    assert sorted(path.name for path in cache.iterdir()) == [name, f"{name}.lock"]
    connection = data.connect(again)
    assert connection.execute("SELECT count(*) FROM web_sales").fetchone() == (7212,)
    connection.close()


@pytest.mark.parametrize("torn", ["", "{", "[]", '{"scale": "0.01"}', '{"scale": "0.01", "tables": {"item": {}}}'])
def test_a_folder_whose_manifest_is_torn_is_no_data(tmp_path, torn):
    (tmp_path / data.MANIFEST).write_text(torn)
    assert data._read(tmp_path) is None


def test_what_stands_in_a_path_is_no_column_and_no_pattern(tmp_path):
    """DuckDB takes k=7 in a path for a column, and x[1] for a pattern, which x1 fits."""
    for number, name in enumerate(("k=7", "x[1]", "x1", "a*b", "aab", "it's", "q?", "q1")):
        (tmp_path / name).mkdir()
        told = str(tmp_path / name / "a.parquet").replace("'", "''")
        duckdb.sql(f"COPY (SELECT {number}::INT AS k) TO '{told}' (FORMAT parquet)")
    for number, name in ((0, "k=7"), (1, "x[1]"), (3, "a*b"), (5, "it's"), (6, "q?")):
        connection = data.over({"t": [str(tmp_path / name / "a.parquet")]})
        found = connection.execute("SELECT * FROM t").fetchall(), connection.execute("DESCRIBE t").fetchall()
        connection.close()
        assert found[0] == [(number,)] and [row[:2] for row in found[1]] == [("k", "INTEGER")], name


def test_data_are_made_in_a_folder_of_any_name(generated):
    assert generated.folder.parent.name.startswith("O'Brien [1] k=7")
    connection = data.connect(generated)
    rows = {table: connection.execute(f"SELECT count(*) FROM {table}").fetchone()[0] for table in data.TABLES}
    connection.close()
    assert (generated.digest, rows) == (DIGEST, ROWS)


@pytest.mark.parametrize("scale", [0, 0.001, 11, "much", float("nan"), None])
def test_a_scale_out_of_range_is_refused(scale, tmp_path):
    why = (
        "a scale factor is a number from 0.01 to 10, not " if scale is not None else "scale must be .*, found None"
    )
    with pytest.raises(ValueError, match=f"^{why}"):
        data.generate(scale, cache=tmp_path)
    assert list(tmp_path.iterdir()) == []


SIZE, FULL = "'write.parquet.row-group-size-bytes' = '16777216'", "'write.metadata.metrics.default' = 'full'"


@pytest.mark.parametrize(
    ("layout", "partitioned", "properties", "written"),
    [
        ("flat", "", "", None),
        ("published", "PARTITIONED BY (inv_date_sk) ", "", None),
        (
            "ours", "PARTITIONED BY (truncate(180, inv_date_sk)) ", f", {SIZE}",
            "DISTRIBUTED BY PARTITION LOCALLY ORDERED BY inv_date_sk",
        ),
        ("truncated", "PARTITIONED BY (truncate(180, inv_date_sk)) ", "", None),
        ("sorted", "", "", "ORDERED BY inv_date_sk"),
        ("row_groups", "", f", {SIZE}", None),
        ("whole_bounds", "", f", {FULL}", None),
    ],
)  # fmt: skip
def test_a_layout_pulls_its_levers_and_no_other(layout, partitioned, properties, written):
    assert layouts.statements("inventory", "inv_date_sk INT", layout, name="t") == (
        "CREATE TABLE t (inv_date_sk INT) USING iceberg "
        f"{partitioned}TBLPROPERTIES ('workbench.tpcds.layout' = '{layout}', "
        f"'workbench.tpcds.way' = '{layouts.definition(layout)}'{properties})",
        *([f"ALTER TABLE t WRITE {written}"] if written else []),
    )
    dimension = layouts.statements("item", "i_item_sk INT", layout, name="t")
    assert len(dimension) == 1 and "PARTITIONED" not in dimension[0] and properties in dimension[0]


def test_the_oracle_leaves_the_engine_its_memory_and_the_working_folder_alone():
    sizes = []
    for connection in (data.connect(data.generate("0.01")), data.over({})):
        limit, folder = connection.execute(
            "SELECT current_setting('memory_limit'), current_setting('temp_directory')"
        ).fetchone()
        number, unit = limit.split()
        sizes.append(float(number) * {"GiB": 1 << 30, "MiB": 1 << 20}[unit])
        assert folder.startswith(tempfile.gettempdir())
        connection.close()
    assert sizes[0] <= session.machine_memory_bytes() / 4 * 1.01 and sizes[1] > 2 * sizes[0]
