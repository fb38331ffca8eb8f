"""Engines in processes of their own: the same files, the same questions, and what each of them read."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from contextlib import ExitStack
from pathlib import Path

import psutil
import pyarrow.parquet
import pytest
from conftest import ENVIRONMENT, PROVE, drop_namespace

from workbench import session
from workbench.engines import profiles as engines
from workbench_proofs import tpcds
from workbench_proofs.tpcds import measuring, processes

NAMESPACE = "t_tpcds_processes"
TABLES = ("date_dim", "item", "store_sales")
QUERIES = ("q3", "q42", "q52")
SALES = 28_810  # rows of store_sales at 0.01, by the generator: tests/workbench_proofs/tpcds/test_tpcds_data.py
HERE = ["duckdb", "sail", "spark41", "baseline"]


@pytest.fixture(scope="module")
def data():
    return tpcds.generate(0.01)


@pytest.fixture(scope="module")
def catalog(spark, data):
    tpcds.load(spark, data, NAMESPACE, layout="flat", tables=TABLES)
    yield session.catalog(ENVIRONMENT)
    drop_namespace(spark, NAMESPACE)


def opened(name, catalog, data, tables=TABLES):
    return processes.opened(tpcds.engine(name), catalog, NAMESPACE, data, tables=tables)


@pytest.fixture(scope="module")
def running(catalog, data):
    """Give the process of an engine by its name, which all tests share that leave it as it was."""
    with ExitStack() as stack:
        begun = {}

        def of(name):
            if name not in begun or begun[name].process.poll() is not None:
                begun[name] = stack.enter_context(opened(name, catalog, data))
            return begun[name]

        yield of


def skipped(name):
    if wrong := engines.lacks(tpcds.engine(name)):
        pytest.skip(f"{name}: {wrong}")


def chunk_bytes(path, columns):
    """Return the bytes of columns in a Parquet file, by its footer: whoever adds the columns up read them."""
    footer = pyarrow.parquet.ParquetFile(path.removeprefix("file://")).metadata
    groups = [footer.row_group(n) for n in range(footer.num_row_groups)]
    chunks = [group.column(n) for group in groups for n in range(group.num_columns)]
    return sum(chunk.total_compressed_size for chunk in chunks if chunk.path_in_schema in columns)


NOTEBOOK = pytest.mark.proof("nbval runs the notebook 90, which asks spark41 and duckdb in processes of their own")
COLD = pytest.mark.proof(
    "the cases of duckdb and sail read the same bytes, which one function takes from the system for all engines"
)


def each(mark):
    """All engines; Spark's, which take longest, with a mark."""
    return [pytest.param(name, marks=[mark] if tpcds.engine(name).family == "spark" else []) for name in HERE]


@pytest.mark.parametrize("name", each(NOTEBOOK))
def test_an_engine_answers_and_says_what_it_took(name, running, data, tmp_path):
    skipped(name)
    engine, process = tpcds.engine(name), running(name)
    others = {query: tpcds.Judgement("equal", "by Spark") for query in QUERIES}
    results = list(tpcds.run(engine, process, data, queries=QUERIES, place=tmp_path, others=others))
    table, read = process.ask("SELECT sum(ss_quantity) AS q, count(*) AS n FROM store_sales WHERE ss_quantity > 0")
    again = process.ask("SELECT 1 AS one")[1]
    allowed = os.sched_getaffinity(process.process.pid)
    assert {one.query: one.verdict.kind for one in results} == {"q3": "vacuous", "q42": "equal", "q52": "equal"}
    assert {(one.engine, one.layout) for one in results} == {(name, "flat")}
    assert all(one.seconds > 0 and one.peak_bytes > 50 << 20 for one in results)
    assert table.num_rows == 1
    tells = tpcds.engine(name).family == "spark"
    assert (read["rows_read"], again["rows_read"]) == ((SALES, 0) if tells else (None, None))
    assert len(allowed) == min(2, os.cpu_count())


NOISE = 600_000  # bytes: metadata of tables, checksums, classes that Java loads late


@pytest.mark.parametrize("name", each(COLD))
def test_what_an_engine_reads_is_what_the_footer_says(name, running, catalog):
    """The bytes of a scan are known: those of its columns. A shuffle of the same rows reads nothing more."""
    skipped(name)
    (task,) = catalog.load_table(f"{NAMESPACE}.store_sales").scan().plan_files()
    columns = [field.name for field in catalog.load_table(f"{NAMESPACE}.store_sales").schema().fields]
    known = chunk_bytes(task.file.file_path, columns)
    assert known > NOISE
    sums = ", ".join(f"sum({column}) AS s{n}" for n, column in enumerate(columns))
    most = ", ".join(f"max({column}) AS m{n}" for n, column in enumerate(columns))
    grouped = f"SELECT ss_item_sk, ss_ticket_number, {most} FROM store_sales GROUP BY ss_item_sk, ss_ticket_number"
    wide = ", ".join(f"sum(m{n}) AS s{n}" for n in range(len(columns)))
    process = running(name)
    for sql in (f"SELECT {sums} FROM store_sales", f"SELECT {wide} FROM ({grouped}) x"):
        process.ask(sql)  # a cold process reads its own program too
        read = process.ask(sql)[1]
        assert 0.98 * known < read["bytes_read"] < known + NOISE, sql
    assert process.ask("SELECT 1 AS one")[1]["bytes_read"] < NOISE


HELD = pytest.mark.proof(
    "the case of sail of this test looks at each thread of an engine that has no setting for its cores"
)


@pytest.mark.skipif(not hasattr(os, "sched_getaffinity"), reason="no such thing here")
@pytest.mark.parametrize("name", ["sail", pytest.param("spark41", marks=HELD)])
def test_an_engine_is_held_to_its_cores(name, catalog, data):
    """PySail has no setting for that, and would take the whole machine: each thread is looked at."""
    skipped(name)
    with processes.opened(tpcds.engine(name), catalog, NAMESPACE, data, tables=TABLES, cores=1) as process:
        process.ask("SELECT count(*) AS n FROM store_sales GROUP BY ss_item_sk")
        family = psutil.Process(process.process.pid)
        threads = [one.id for each in (family, *family.children(recursive=True)) for one in each.threads()]
        assert len(threads) > 5
        assert {cores_of(thread) for thread in threads} - {None} == {1}


def cores_of(thread):
    try:
        return len(os.sched_getaffinity(thread))
    except ProcessLookupError:  # it has ended since it was listed
        return None


def test_all_engines_here_read_the_same_rows(running):
    found = {}
    for name in HERE:
        if engines.lacks(tpcds.engine(name)) is None:
            sql = "SELECT sum(ss_item_sk) AS a, count(ss_ext_sales_price) AS b FROM store_sales"
            found[name] = [int(value) for value in running(name).ask(sql)[0].to_pylist()[0].values()]
    assert len(found) >= 3 and len(set(map(tuple, found.values()))) == 1


def test_what_an_engine_refuses_does_not_end_it_and_is_no_right_answer(running, data, monkeypatch, tmp_path):
    engine, process = tpcds.engine("spark41"), running("spark41")
    with pytest.raises(processes.NoAnswer, match="AnalysisException: .TABLE_OR_VIEW_NOT_FOUND"):
        process.ask("SELECT * FROM nowhere")
    assert process.ask("SELECT 1 AS one")[0].to_pylist() == [{"one": 1}]
    monkeypatch.setattr(processes.Process, "ask", lambda *_: (_ for _ in ()).throw(processes.NoAnswer("no heap")))
    (found,) = tpcds.run(engine, process, data, queries=["q42"], place=tmp_path)
    assert (found.verdict.kind, found.verdict.sentence) == ("different", "no answer: no heap")


def test_an_engine_that_hangs_is_ended(catalog, data, monkeypatch, tmp_path):
    """It was waited for without end, and the night with it."""
    monkeypatch.setattr(processes, "PATIENCE_SECONDS", 1)
    with opened("duckdb", catalog, data) as process:
        monkeypatch.setattr(processes, "ANSWER_SECONDS", 0.5)
        family = psutil.Process(process.process.pid)
        os.kill(process.process.pid, signal.SIGSTOP)
        engine, others = tpcds.engine("duckdb"), {"q42": tpcds.Judgement("equal", "by Spark")}
        with pytest.raises(TimeoutError, match="q42: the engine duckdb gave no answer in 0.5 seconds"):
            list(tpcds.run(engine, process, data, queries=["q42"], place=tmp_path, others=others))
    assert not lives(family)


def test_an_engine_that_hangs_on_its_way_up_is_ended(catalog, data, monkeypatch):
    monkeypatch.setattr(processes, "OPEN_SECONDS", 0.001)
    with (
        pytest.raises(TimeoutError, match="the engine duckdb, asked to start, gave no answer in 0.001"),
        opened("duckdb", catalog, data),
    ):
        pass


def lives(process):
    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:  # it went between the two questions
        return False


ENDS = pytest.mark.proof("test_an_engine_that_is_busy_ends_with_who_asked shows that the JVM of a Spark ends")


@pytest.mark.parametrize("name", ["duckdb", pytest.param("spark41", marks=ENDS)])
def test_an_engine_ends_with_its_context(name, catalog, data):
    with opened(name, catalog, data) as process:
        family = [
            psutil.Process(process.process.pid),
            *psutil.Process(process.process.pid).children(recursive=True),
        ]
        assert any("java" in one.name() for one in family) is (name == "spark41")
    assert not [one for one in family if lives(one)]
    assert not process.folder.exists()


def test_an_engine_that_was_killed_is_missed(catalog, data):
    with opened("duckdb", catalog, data) as process:
        os.kill(process.process.pid, signal.SIGKILL)
        with pytest.raises(ChildProcessError, match="the engine duckdb ended by itself, exit code -9"):
            process.ask("SELECT 1")


LONG = "SELECT sum(sqrt(id)) AS s FROM range(1000000000000)"  # a quarter of an hour


OTHER = pytest.mark.proof("the case of spark41 of this test is another Spark, whose process is the same program")


@pytest.mark.parametrize("name", ["spark41", pytest.param("baseline", marks=OTHER)])
def test_an_engine_that_is_busy_ends_with_who_asked(name, running):
    """A killed benchmark left Spark on both cores until its query ended, beside whatever was measured next."""
    skipped(name)
    process = running(name)
    child = psutil.Process(process.process.pid)
    family = [child, *child.children(recursive=True)]
    process.process.stdin.write(json.dumps({"sql": LONG, "into": os.devnull}).encode() + b"\n")
    process.process.stdin.flush()
    before = busy(family)
    deadline = time.monotonic() + 120
    while busy(family) < before + 1:
        assert time.monotonic() < deadline, "it is not busy"
        time.sleep(0.1)
    process.process.stdin.close()  # all that it sees of a parent's death
    process.process.wait(120)
    deadline = time.monotonic() + 60
    while any(map(lives, family)) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert not [one for one in family if lives(one)]


def busy(family):
    return sum(sum(one.cpu_times()[:2]) for one in family)


STOPPED = """
from workbench import session
from workbench_proofs.tpcds.child import _Spark
engine = _Spark(session.start("local"))
print(engine.alive(), end=" ")
engine.session.stop()
print(engine.alive())
"""


def test_an_engine_whose_context_stopped_is_dead(tmp_path):
    """Its JVM lives on, and each query after it was called different, in no time."""
    done = subprocess.run(
        [sys.executable, "-c", STOPPED], cwd=tmp_path, capture_output=True, text=True, timeout=300
    )
    assert done.stdout.split()[-2:] == ["True", "False"], done.stderr[-2000:]


def test_from_a_scale_factor_of_10_spark_has_half_of_the_memory(tmp_path, monkeypatch):
    monkeypatch.setattr(processes.session, "machine_memory_bytes", lambda: 24 << 30)
    large, small = (processes.memory_bytes(type("Data", (), {"scale": scale})) for scale in ("10", "1"))
    assert (large, small) == (12 << 30, None)
    heap = [
        processes._conf(tpcds.engine("spark41"), "lake", tmp_path, tmp_path, 2, memory)["spark.driver.memory"]
        for memory in (large, small)
    ]
    assert heap == ["12288m", session.driver_memory("auto")]


def test_duckdb_keeps_to_its_memory(catalog, data, monkeypatch):
    wide = "SELECT count(*) AS n FROM (SELECT DISTINCT ss_ticket_number, ss_item_sk, i_item_sk, i_item_id"
    wide += " FROM store_sales CROSS JOIN (SELECT i_item_sk, i_item_id FROM item WHERE i_item_sk <= 200) x) y"
    monkeypatch.setattr(processes, "memory_bytes", lambda _: 16 << 20)
    with opened("duckdb", catalog, data) as process, pytest.raises(processes.NoAnswer, match="Out of Memory"):
        process.ask(wide)


JVM = pytest.mark.proof(
    "test_an_engine_whose_context_stopped_is_dead shows how the end of a JVM is seen; here sail is killed"
)


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("sail", "the engine sail ended by itself, exit code -9"),
        pytest.param("spark41", "the engine's own process ended: ", marks=JVM),
    ],
)
def test_an_engine_that_dies_gave_a_wrong_answer_and_the_rest_is_measured(
    name, sentence, catalog, data, tmp_path, monkeypatch
):
    """Each query after it was called different, in no time, where the JVM had died; else the whole unit was lost."""
    asked, real = [], processes.Process.ask

    def ask(process, sql):
        asked.append(process.process.pid)
        if len(asked) == 2:  # q42, cold
            victim = psutil.Process(asked[-1])
            if name == "spark41":
                (victim,) = [one for one in victim.children(recursive=True) if "java" in one.name()]
            victim.kill()
            while lives(victim):
                time.sleep(0.01)
        return real(process, sql)

    monkeypatch.setattr(processes.Process, "ask", ask)
    todo = measuring.units([tpcds.engine(name)], ["flat"])
    (found,) = dict(
        measuring.run(todo, catalog, data, {"flat": NAMESPACE}, queries=QUERIES, place=tmp_path)
    ).values()
    assert [(one.query, one.phase) for one in found] == [
        (query, phase) for phase in ("cold", "warm") for query in QUERIES
    ]
    kinds = [one.verdict.kind for one in found]
    assert kinds == ["vacuous", "different", "equal", "vacuous", "equal", "equal"]
    assert found[1].verdict.sentence.startswith(f"no answer: {QUERIES[1]}: {sentence}")
    assert (
        len(set(asked)) == 2 and len(asked) == 9
    )  # one more to begin the second process with, and two of the first once more before they are warm


def test_one_wrong_cent_in_the_tables_is_seen_by_every_engine(spark, catalog, data, tmp_path):
    """DuckDB too: the oracle reads other files than the engine, so the same code disagrees with itself."""
    table = f"{NAMESPACE}.store_sales"
    before = spark.sql(f"SELECT max(snapshot_id) FROM {table}.snapshots").first()[0]
    spark.sql(f"UPDATE {table} SET ss_ext_sales_price = ss_ext_sales_price + 0.01 WHERE ss_ext_sales_price > 1")
    try:
        for name in ("duckdb", "sail") if PROVE else ("duckdb",):  # that engine reads other files than the oracle
            engine, others = tpcds.engine(name), {"q42": tpcds.Judgement("equal", "by Spark")}
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


@pytest.mark.proof(
    "the case of sail of the test of one that dies is measured cold and warm, and in the notebook 90 two engines are in turn"
)
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
    with pytest.raises(ValueError, match=f"the tables of {NAMESPACE} have the layout flat, expected ours"):
        list(measuring.run(measuring.units(wanted, ["ours"]), catalog, data, {"ours": NAMESPACE}, queries=QUERIES))
