"""A project of dbt whose sources are Iceberg tables: dbt-duckdb reads them by a plugin, dbt-spark in our session.

`write` makes the folder; `run` runs dbt in it, in the environment of the engine `dbt`.
"""

import json
import os
import subprocess
from datetime import date
from pathlib import Path

import lakes
import pyarrow as pa
import pytest

from workbench.engines import profiles

ENGINE = "dbt"
GOLDEN = Path(__file__).parent / "workbench" / "dbt" / "golden"  # what the real dbt left of these rows
PEOPLE = pa.table({"id": [1, 2, 3], "mail": [None, "b@x", "c@x"], "kind": ["a", "b", "z"]})
VISITS = pa.table(
    {
        "person": [1, 2, 9, None],
        "day": [date(2026, 1, 2), date(2026, 1, 3), date(2026, 1, 4), date(2025, 12, 31)],
        "note": ["1", "x", "2", "3"],
    }
)
DATABASE = "shop"  # of DuckDB's file, so that names are "shop"."main"."people"
PROJECT = """
name: shop
version: "1.0"
profile: shop
test-paths: [tests]
macro-paths: [macros]
target-path: target
flags: {send_anonymous_usage_stats: false, use_colors: false, require_generic_test_arguments_property: true}
"""
PROFILES = """
shop:
  target: duckdb
  outputs:
    duckdb:
      type: duckdb
      path: shop.duckdb
      schema: main
      threads: 2
      module_paths: ["."]
      plugins:
        - module: iceberg_views
    spark: {type: spark, method: session, host: NA, schema: main, threads: 2}
"""
# views of the tables at the metadata files in tables.json, in each connection; nothing is downloaded
PLUGIN = """
import importlib.util
import json
from pathlib import Path

from dbt.adapters.duckdb.plugins import BasePlugin


class Plugin(BasePlugin):
    def configure_connection(self, conn):
        for name in ("avro", "iceberg"):
            (folder,) = importlib.util.find_spec(f"duckdb_extension_{name}").submodule_search_locations
            (file,) = Path(folder).glob(f"extensions/*/{name}.duckdb_extension")
            conn.execute(f"LOAD '{file}'")
        for name, location in json.loads(Path("tables.json").read_text()).items():
            conn.execute(f"CREATE OR REPLACE VIEW main.{name} AS SELECT * FROM iceberg_scan('{location}')")
"""


def tables(folder, rows):
    """Make the lake of a folder with tables of the namespace `main`; return them by name: {name: rows}."""
    catalog = lakes.catalog(folder)
    catalog.create_namespace("main")
    made = {name: catalog.create_table(f"main.{name}", table.schema) for name, table in rows.items()}
    for name, table in made.items():
        table.append(rows[name])
    return made


def edit(target, change):
    """Change the manifest of a target folder by a function of it."""
    path = Path(target) / "manifest.json"
    manifest = json.loads(path.read_text())
    change(manifest)
    path.write_text(json.dumps(manifest))


def python():
    """Return the interpreter that has dbt; without one the test is skipped, and says what to do."""
    engine = profiles.engine(ENGINE)
    if wrong := profiles.lacks(engine):
        pytest.skip(f"dbt: {wrong}")
    return profiles.python(engine)


def write(folder, sources, singular=None, macros=None, project=""):
    """Write a project.

    Args:
        folder: where it goes, with a folder `target` in it after dbt ran.
        sources: {table: {column: [tests]}} of the source `main`, as dbt's YAML has tests.
        singular: {name: SQL} of singular tests.
        macros: {name: text} of files of macros.
        project: lines behind dbt_project.yml.
    """
    tables = [
        {"name": table, "columns": [{"name": column, "data_tests": tests} for column, tests in columns.items()]}
        for table, columns in sources.items()
    ]
    texts = {
        "dbt_project.yml": PROJECT + project,
        "profiles.yml": PROFILES,
        "iceberg_views.py": PLUGIN,
        "models/sources.yml": json.dumps(
            {"version": 2, "sources": [{"name": "main", "schema": "main", "tables": tables}]}
        ),
    }
    texts |= {f"tests/{name}.sql": text for name, text in (singular or {}).items()}
    texts |= {f"macros/{name}.sql": text for name, text in (macros or {}).items()}
    for name, text in texts.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def show(folder, locations):
    """Have dbt-duckdb see tables at metadata files: {name without a schema: location}."""
    (folder / "tables.json").write_text(json.dumps(locations))


def run(folder, *arguments, expect=0):
    """Run dbt in a project; return what it printed."""
    command = [str(python().with_name("dbt")), *arguments]
    env = os.environ | {"PYTHONPATH": "", "DBT_PROFILES_DIR": str(folder)}
    done = subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == expect, done.stdout + done.stderr
    return done.stdout


def results(path):
    """Return dbt's outcomes of tests, without those of hooks: {unique_id: [status, failures]}."""
    listed = json.loads(Path(path).read_text())["results"]
    return {r["unique_id"]: [r["status"], r["failures"]] for r in listed if r["unique_id"].startswith("test.")}
