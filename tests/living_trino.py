"""A real Trino over real Iceberg tables: the two worlds of each kind, with the rules of their reader in force."""

import pytest
from pyiceberg.catalog.sql import SqlCatalog
from trino_lakes import KINDS, TABLES, Lake, together, written

from workbench import access
from workbench.access import worlds
from workbench_standins import trino


@pytest.fixture(scope="session")
def lake(tmp_path_factory):
    """The worlds as tables of a catalog in a file, and a server with their rules in force."""
    folder = tmp_path_factory.mktemp("trino")
    catalog = SqlCatalog("lake", uri=f"sqlite:///{folder}/catalog.db", warehouse=f"file://{folder}/warehouse")
    rules = []
    for kind in KINDS:
        first, second = worlds.rows(kind)
        tables = {
            name: written(catalog, name, rows)
            for name, rows in zip(TABLES[kind], (first, second, first), strict=True)
        }
        ids = {name: {f.name: f.field_id for f in table.schema().fields} for name, table in tables.items()}
        rules.append(access.export.trino(worlds.policy(kind, ids), tables, catalog="lake"))
    whole = Lake(catalog, together(rules))
    properties = trino.translated({"name": "lake", "type": "sql", **catalog.properties})
    # the same tables by a catalog that tells statistics: a planted hole
    told = properties | {"iceberg.table-statistics-enabled": "true"}
    with trino.serve({"lake": properties, "told": told}, whole.rules, within=folder) as server:
        whole.server = server
        yield whole


@pytest.fixture
def in_force(lake):
    """The lake with the worlds' rules in force, and again behind the test."""
    yield lake
    lake.put(lake.rules)
