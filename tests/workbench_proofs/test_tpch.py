"""Tables of TPC-H: the same rows every time, all of them or none, and what cannot be made is a sentence."""

import importlib.metadata
from decimal import Decimal

import pytest

from workbench_proofs import segments, tpch

ROWS = {"nation": 25, "customer": 1_500, "orders": 15_000, "lineitem": 60_175}
REVENUE = Decimal("2045134942.0939")  # of DuckDB's dbgen at 0.01, too


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    return tpch.generate(0.01, cache=tmp_path_factory.mktemp("O'Brien"))


def test_the_tables_of_a_scale_factor(made):
    with tpch.connect(made, schema="a b") as duck:
        counts = {table: duck.sql(f'SELECT count(*) FROM "a b".{table}').fetchone()[0] for table in tpch.TABLES}
        names = duck.sql('SELECT n_name, n_regionkey FROM "a b".nation ORDER BY n_nationkey').fetchall()
        revenue = 'SELECT sum(l_extendedprice * (1 - l_discount)) FROM "a b".lineitem'
        assert duck.sql(revenue).fetchone()[0] == REVENUE
    assert counts == ROWS
    assert tuple(names) == segments.NATIONS


def test_what_is_there_is_not_made_again_and_a_killed_one_is(made):
    before = {path: path.stat().st_mtime_ns for path in made.folder.iterdir()}
    (made.folder.parent / f"{made.folder.name}.part").mkdir()
    assert tpch.generate(0.01, cache=made.folder.parent) == made
    assert {path: path.stat().st_mtime_ns for path in made.folder.iterdir()} == before
    part = made.folder.parent / f"{made.folder.name.replace('0.01', '0.001')}.part"
    part.mkdir()
    (part / "lineitem.parquet").write_text("half a fi")
    small = tpch.generate(0.001, cache=made.folder.parent)
    assert (small.path("lineitem").read_bytes()[:4], part.exists()) == (b"PAR1", False)


def test_in_iceberg(spark, namespace, made):
    tpch.load(spark, made, namespace)
    tpch.load(spark, made, namespace)
    assert {table: spark.table(f"{namespace}.{table}").count() for table in tpch.TABLES} == ROWS


@pytest.mark.parametrize("scale", [0, 0.0009, 11, float("nan"), "0.01"])
def test_a_scale_factor_that_cannot_be_made(scale):
    with pytest.raises(ValueError, match="scale must be a number"):
        tpch.generate(scale)


def test_what_stops_it_is_a_sentence(tmp_path, monkeypatch):
    with pytest.raises(ChildProcessError, match="tpchgen-cli ended with 2: .*scale"):
        tpch._run(tpch._program()[0], float("nan"), tmp_path)

    def missing(name):
        raise importlib.metadata.PackageNotFoundError(name)

    monkeypatch.setattr(importlib.metadata, "distribution", missing)
    tpch._program.cache_clear()
    with pytest.raises(
        ModuleNotFoundError, match="tpchgen-cli is not installed: pip install 'iceberg-workbench.tpch"
    ):
        tpch.generate(0.01, cache=tmp_path)
