"""The embedded lake's catalog is made once, whoever comes first, and both engines find it right."""

import sqlite3
import subprocess
import sys

import pyarrow as pa
import pytest
import yaml
from conftest import PROVE
from pyiceberg.catalog import load_catalog

from workbench import session
from workbench._base import lake

MAKE = "import sys; from pathlib import Path; from workbench._base import lake; sys.stdin.read(1); lake.make(Path(sys.argv[1]))"


def columns(path, table):
    with sqlite3.connect(path) as database:
        return [row[1:3] for row in database.execute(f"PRAGMA table_info({table})")]


def test_it_is_what_the_engines_would_have_made(tmp_path):
    lake.make(tmp_path / "ours")
    theirs = tmp_path / "theirs.db"
    load_catalog("lake", type="sql", uri=f"sqlite:///{theirs}", warehouse=f"file://{tmp_path}")
    for table in ("iceberg_tables", "iceberg_namespace_properties"):
        ours = columns(tmp_path / "ours" / "catalog.db", table)
        assert {name for name, _ in ours} == {name for name, _ in columns(theirs, table)}


PROCESSES = 8 if PROVE else 3


def test_processes_that_come_first(tmp_path):
    folder = tmp_path / "lake"
    running = [
        subprocess.Popen([sys.executable, "-c", MAKE, str(folder)], stdin=subprocess.PIPE, stderr=subprocess.PIPE)
        for _ in range(PROCESSES)
    ]
    said = [process.communicate(b"g") for process in running]
    assert [process.returncode for process in running] == [0] * PROCESSES, said


def test_pyiceberg_writes_where_spark_will_read(tmp_path):
    lake.make(tmp_path)
    catalog = load_catalog("lake", **lake.pyiceberg_properties(tmp_path))
    catalog.create_namespace("n")
    catalog.create_table("n.t", schema=pa.schema([("id", pa.int64())])).append(pa.table({"id": [1, 2]}))
    assert catalog.load_table("n.t").scan().to_arrow().num_rows == 2
    assert lake.spark_properties(tmp_path)["warehouse"] == catalog.properties["warehouse"]


@pytest.mark.parametrize("name", ["a%41", "a#b", "a?b"])
def test_a_path_that_no_address_can_hold_is_refused(tmp_path, name):
    with pytest.raises(ValueError, match="in its path"):
        lake.make(tmp_path / name)


@pytest.mark.parametrize(
    ("jdbc", "uri"),
    [
        ("jdbc:sqlite:file:/a%20b/c.db?busy_timeout=1", "sqlite:////a b/c.db?timeout=30"),
        ("jdbc:sqlite:/a%20b/c.db", "sqlite:////a%20b/c.db?timeout=30"),
        ("jdbc:postgresql://host/db?ssl=true", "postgresql://host/db?ssl=true"),
        ("http://host", "http://host"),
    ],
)
def test_pyiceberg_finds_what_spark_reaches_by_jdbc(jdbc, uri):
    assert lake.pyiceberg_uri(jdbc) == uri


def test_a_jdbc_catalog_of_ones_own_is_read_by_pyiceberg(tmp_path):
    folder, path = tmp_path / "my lake", tmp_path / "own.yml"
    lake.make(folder)
    spark = lake.spark_properties(folder)
    own = {name: spark[name] for name in ("type", "uri", "warehouse")} | {"name": "lake"}
    path.write_text(yaml.safe_dump({"description": "d", "catalog": own}))
    load_catalog("lake", **lake.pyiceberg_properties(folder)).create_namespace("n")
    assert session.catalog(str(path)).list_namespaces() == [("n",)]
