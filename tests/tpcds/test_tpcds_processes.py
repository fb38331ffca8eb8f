"""Engines in processes of their own: the same files, the same questions, and what each of them read."""

import os
import shutil
import signal
from pathlib import Path

import psutil
import pytest
from conftest import ENVIRONMENT

from workbench import session, tpcds
from workbench.tpcds import engines, measuring, processes

NAMESPACE = "t_tpcds_processes"
TABLES = ("date_dim", "item", "store_sales")
QUERIES = ("q3", "q42", "q52")
SALES = 28_810  # rows of store_sales at 0.01, by the generator: tests/tpcds/test_tpcds_data.py
HERE = ["duckdb", "sail", "spark41", "baseline"]


@pytest.fixture(scope="module")
def data():
    return tpcds.generate(0.01)


@pytest.fixture(scope="module")
def catalog(spark, data):
    tpcds.load(spark, data, NAMESPACE, layout="flat", tables=TABLES)
    yield session.catalog(ENVIRONMENT)
    for table in TABLES:
        spark.sql(f"DROP TABLE {NAMESPACE}.{table} PURGE")
    spark.sql(f"DROP NAMESPACE {NAMESPACE}")


def opened(name, catalog, data, tables=TABLES):
    return processes.opened(tpcds.engine(name), catalog, NAMESPACE, data, tables=tables)


def skipped(name):
    if wrong := engines.lacks(tpcds.engine(name)):
        pytest.skip(f"{name}: {wrong}")


@pytest.mark.parametrize("name", HERE)
def test_an_engine_answers_and_says_what_it_took(name, catalog, data, tmp_path):
    skipped(name)
    engine = tpcds.engine(name)
    others = {query: tpcds.Verdict("equal", "by Spark") for query in QUERIES}
    with opened(name, catalog, data) as process:
        results = list(tpcds.run(engine, process, data, queries=QUERIES, place=tmp_path, others=others))
        table, read = process.ask(
            "SELECT sum(ss_quantity) AS q, count(*) AS n FROM store_sales WHERE ss_quantity > 0"
        )
        again = process.ask("SELECT 1 AS one")[1]
    assert {one.query: one.verdict.kind for one in results} == {"q3": "vacuous", "q42": "equal", "q52": "equal"}
    assert {(one.engine, one.layout) for one in results} == {(name, "flat")}
    assert all(one.seconds > 0 and one.peak_bytes > 50 << 20 for one in results)
    assert table.num_rows == 1
    if name == "sail":  # it does not say
        assert (read["rows_read"], read["bytes_read"]) == (None, None)
    else:
        assert read["rows_read"] == SALES
        size = sum(
            task.file.file_size_in_bytes
            for task in catalog.load_table(f"{NAMESPACE}.store_sales").scan().plan_files()
        )
        assert 0 < read["bytes_read"] < size
        assert (again["rows_read"], again["bytes_read"]) == (0, 0)


def test_all_engines_here_read_the_same_rows(catalog, data):
    found = {}
    for name in HERE:
        if engines.lacks(tpcds.engine(name)) is None:
            with opened(name, catalog, data) as process:
                sql = "SELECT sum(ss_item_sk) AS a, count(ss_ext_sales_price) AS b FROM store_sales"
                found[name] = [int(value) for value in process.ask(sql)[0].to_pylist()[0].values()]
    assert len(found) >= 3 and len(set(map(tuple, found.values()))) == 1


def test_what_an_engine_refuses_does_not_end_it_and_is_no_right_answer(catalog, data, monkeypatch, tmp_path):
    engine = tpcds.engine("spark41")
    with opened("spark41", catalog, data, ("date_dim",)) as process:
        with pytest.raises(processes.NoAnswer, match="AnalysisException: .TABLE_OR_VIEW_NOT_FOUND"):
            process.ask("SELECT * FROM nowhere")
        assert process.ask("SELECT 1 AS one")[0].to_pylist() == [{"one": 1}]
        monkeypatch.setattr(
            processes.Process, "ask", lambda *_: (_ for _ in ()).throw(processes.NoAnswer("no heap"))
        )
        (found,) = tpcds.run(engine, process, data, queries=["q42"], place=tmp_path)
    assert (found.verdict.kind, found.verdict.sentence) == ("different", "no answer: no heap")


def test_an_engine_ends_with_its_context_and_is_missed_when_it_was_killed(catalog, data):
    with opened("spark41", catalog, data) as process:
        family = [
            psutil.Process(process.process.pid),
            *psutil.Process(process.process.pid).children(recursive=True),
        ]
        assert any("java" in one.name() for one in family)
    assert not [one for one in family if one.is_running() and one.status() != psutil.STATUS_ZOMBIE]
    assert not process.folder.exists()
    with opened("duckdb", catalog, data) as process:
        os.kill(process.process.pid, signal.SIGKILL)
        with pytest.raises(ChildProcessError, match="the engine duckdb ended by itself, exit code -9"):
            process.ask("SELECT 1")


def test_one_wrong_cent_in_the_tables_is_seen_by_every_engine(spark, catalog, data, tmp_path):
    """DuckDB too: the oracle reads other files than the engine, so the same code disagrees with itself."""
    table = f"{NAMESPACE}.store_sales"
    before = spark.sql(f"SELECT max(snapshot_id) FROM {table}.snapshots").first()[0]
    spark.sql(f"UPDATE {table} SET ss_ext_sales_price = ss_ext_sales_price + 0.01 WHERE ss_ext_sales_price > 1")
    try:
        for name in ("duckdb", "sail"):
            engine, others = tpcds.engine(name), {"q42": tpcds.Verdict("equal", "by Spark")}
            with opened(name, catalog, data) as process:
                results = list(tpcds.run(engine, process, data, queries=["q42"], place=tmp_path, others=others))
            assert [one.verdict.kind for one in results] == ["different"]
            with pytest.raises(tpcds.AnswersDiffer, match="q42: row 1, column 4"):
                tpcds.require(results)
    finally:
        spark.sql(f"CALL system.rollback_to_snapshot('{table}', {before})")


def test_metadata_that_was_never_committed_is_not_read(catalog, data):
    folder = Path(catalog.load_table(f"{NAMESPACE}.item").location().removeprefix("file://")) / "metadata"
    newest = max(folder.glob("*.metadata.json"))
    stray = shutil.copy(newest, folder / "09999-never-committed.metadata.json")
    try:
        with (
            pytest.raises(
                ValueError, match="newest metadata file of item is not the one in the catalog: 09999-never"
            ),
            opened("sail", catalog, data),
        ):
            pass
    finally:
        Path(stray).unlink()


def test_deleted_rows_are_not_read(spark, catalog, data):
    table = f"{NAMESPACE}.item"
    before = spark.sql(f"SELECT max(snapshot_id) FROM {table}.snapshots").first()[0]
    spark.sql(f"ALTER TABLE {table} SET TBLPROPERTIES ('write.delete.mode' = 'merge-on-read')")
    spark.sql(f"DELETE FROM {table} WHERE i_item_sk = 7")
    try:
        with pytest.raises(ValueError, match="item has delete files"), opened("duckdb", catalog, data):
            pass
    finally:
        spark.sql(f"ALTER TABLE {table} UNSET TBLPROPERTIES ('write.delete.mode')")
        spark.sql(f"CALL system.rollback_to_snapshot('{table}', {before})")


def test_what_cannot_be_opened_is_refused(catalog, data, project):
    other = data.__class__(**(vars(data) | {"digest": "0" * 64}))
    with (
        pytest.raises(ValueError, match="does not hold the data of scale factor 0.01; load it first"),
        opened("duckdb", catalog, other),
    ):
        pass
    with (
        pytest.raises(ValueError, match="engine baseline cannot run here: its environment is not there"),
        opened("baseline", catalog, data),
    ):
        pass
    elsewhere = type("Catalog", (), {"name": "prod", "properties": {"type": "rest", "warehouse": "s3://w"}})()
    with pytest.raises(ValueError, match="which catalog prod is not"), opened("duckdb", elsewhere, data):
        pass


def test_cold_and_warm_of_two_engines(catalog, data, tmp_path):
    wanted = [tpcds.engine(name) for name in ("duckdb", "sail")]
    todo = measuring.units(wanted, ["flat"])
    found = dict(measuring.run(todo, catalog, data, {"flat": NAMESPACE}, queries=QUERIES, place=tmp_path))
    assert [unit.engine for unit in found] == ["sail", "duckdb"]
    for unit, results in found.items():
        assert [(one.query, one.phase, one.round) for one in results] == [
            (query, phase, 1) for phase in ("cold", "warm") for query in QUERIES
        ]
        assert [one.verdict.kind for one in results] == ["vacuous", "equal", "equal"] * 2, unit
    with pytest.raises(ValueError, match=f"the tables of {NAMESPACE} lie flat, not ours"):
        list(measuring.run(measuring.units(wanted, ["ours"]), catalog, data, {"ours": NAMESPACE}, queries=QUERIES))
