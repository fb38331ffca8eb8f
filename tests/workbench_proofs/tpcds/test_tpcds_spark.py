"""Spark on Iceberg against DuckDB on Parquet: the same data, the same questions."""

import duckdb
import pytest
from conftest import ENVIRONMENT, PROVE, drop_namespace

from workbench import session
from workbench_proofs import tpcds
from workbench_proofs.tpcds import asking, figures, layouts, runs

NAMESPACE = "t_tpcds"
# query to the kinds of its verdict; which peers of q59 Spark keeps is its own
KINDS = {"q3": {"vacuous"}, "q42": {"equal"}}
TABLES = ("date_dim", "item", "store_sales")
if PROVE:
    KINDS |= {"q1": {"equal"}, "q7": {"same value in another scale"}}
    KINDS |= {"q59": {"tie at the limit", "same value in another scale"}}
    TABLES += ("customer", "customer_demographics", "promotion", "store", "store_returns")
QUERIES = sorted(KINDS, key=lambda name: int(name[1:]))
VACUOUS = [
    "q3",
    "q4",
    "q8",
    "q10",
    "q11",
    "q13",
    "q16",
    "q19",
    "q23a",
    "q23b",
    "q24a",
    "q24b",
    "q25",
    "q30",
    "q31",
    "q32",
    "q37",
    "q38",
    "q39a",
    "q39b",
    "q41",
    "q44",
    "q49",
    "q54",
    "q58",
    "q64",
    "q65",
    "q73",
    "q74",
    "q82",
    "q83",
    "q85",
    "q88",
    "q90",
    "q91",
    "q92",
    "q93",
    "q94",
    "q95",
    "q96",
]


@pytest.fixture(scope="module")
def data():
    return tpcds.generate(0.01)


@pytest.fixture(scope="module")
def engine():
    return tpcds.engine("spark41")


@pytest.fixture(scope="module")
def loaded(spark, data):
    """The tables of a handful of queries, flat."""
    found = tpcds.load(spark, data, NAMESPACE, layout="flat", tables=TABLES)
    yield found
    drop_namespace(spark, NAMESPACE)


def kinds(results):
    return {one.query: one.verdict.kind for one in results}


def test_loading_tells_what_it_took(loaded, data):
    assert [(one.table, one.rows, one.partitions, one.files) for one in loaded] == [
        (table, data.tables[table].rows, 1, 1) for table in TABLES
    ]
    assert all(one.bytes > 0 and one.seconds > 0 for one in loaded)


def test_a_handful_of_queries_and_their_verdicts(spark, data, engine, loaded, tmp_path):
    results = list(tpcds.run(engine, spark, data, namespace=NAMESPACE, queries=QUERIES, place=tmp_path))
    found = kinds(results)
    assert list(found) == QUERIES and {query for query, kind in found.items() if kind not in KINDS[query]} == set()
    tpcds.require(results)
    # what was verified is not asked about again: the oracle's data may be gone
    gone = data.__class__(**(vars(data) | {"folder": tmp_path / "gone"}))
    again = list(tpcds.run(engine, spark, gone, namespace=NAMESPACE, queries=QUERIES[:4], place=tmp_path))
    assert [one.verdict for one in again] == [one.verdict for one in results[:4]]


def test_a_run_leaves_the_session_as_it_was(spark, data, engine, loaded):
    def settings():
        return spark.sql("SELECT current_catalog(), current_schema()").first(), {
            key: spark.conf.get(key) for key in engine.conf
        }

    before = settings()
    asking.run(engine, "q42", spark, namespace=NAMESPACE)
    with pytest.raises(Exception, match="TABLE_OR_VIEW_NOT_FOUND"):
        asking.run(engine, "q37", spark, namespace=NAMESPACE)
    assert settings() == before


def test_a_setting_of_a_running_session_that_cannot_be_made_is_refused(spark, engine, loaded):
    other = engine.model_copy(update={"conf": {"spark.sql.shuffle.partitions": 3, "spark.driver.memory": "9g"}})
    with pytest.raises(ValueError, match="expected 9g: it needs a process of its own"):
        asking.run(other, "q42", spark, namespace=NAMESPACE)
    assert spark.conf.get("spark.sql.shuffle.partitions") == "2"


def test_one_wrong_cent_in_the_tables_fails_the_run(spark, data, engine, loaded, tmp_path):
    """Everything is right but one price of one sale of November 2000, which q42 adds up."""
    list(tpcds.run(engine, spark, data, namespace=NAMESPACE, queries=["q42"], place=tmp_path))
    table = f"{NAMESPACE}.store_sales"
    before = spark.sql(f"SELECT max(snapshot_id) FROM {table}.snapshots").first()[0]
    sale = spark.sql(
        f"SELECT ss_item_sk, ss_ticket_number FROM {table} JOIN {NAMESPACE}.item ON ss_item_sk = i_item_sk "
        f"JOIN {NAMESPACE}.date_dim ON ss_sold_date_sk = d_date_sk WHERE d_year = 2000 AND d_moy = 11 "
        "AND i_manager_id = 1 AND ss_ext_sales_price > 1 ORDER BY 1, 2 LIMIT 1"
    ).first()
    spark.sql(
        f"UPDATE {table} SET ss_ext_sales_price = ss_ext_sales_price + 0.01 "
        f"WHERE ss_item_sk = {sale[0]} AND ss_ticket_number = {sale[1]}"
    )
    try:
        results = list(tpcds.run(engine, spark, data, namespace=NAMESPACE, queries=["q42"], place=tmp_path))
        assert kinds(results) == {"q42": "different"}
        with pytest.raises(
            tpcds.AnswersDiffer, match=r"q42: row 1, column 4 .* found 43822.55, expected 43822.54"
        ):
            tpcds.require(results)
    finally:
        spark.sql(f"CALL system.rollback_to_snapshot('{table}', {before})")


def test_a_time_is_not_told_for_data_that_is_not_there(spark, data, engine, loaded):
    with pytest.raises(ValueError, match=f"{NAMESPACE}.inventory does not hold the data of scale factor 0.01"):
        list(tpcds.run(engine, spark, data, namespace=NAMESPACE, queries=["q22"]))
    other = data.__class__(**(vars(data) | {"digest": "0" * 64}))
    with pytest.raises(ValueError, match=f"{NAMESPACE}.date_dim does not hold the data"):
        list(tpcds.run(engine, spark, other, namespace=NAMESPACE, queries=["q42"]))


@pytest.mark.proof(
    "nbval loads this fact in three layouts in the notebook 90, and test_tpcds_data.py has the statements of all"
)
def test_the_three_layouts_of_a_fact(spark, data, namespace):
    """Partitions by a second route: DuckDB counts the days, and the half years, of the same rows."""
    key = layouts.FACTS["web_returns"]
    source = f"FROM '{data.path('web_returns')}'"
    days, halves = duckdb.sql(
        f"SELECT count(*), count(DISTINCT coalesce(day // 180, -1)) FROM (SELECT DISTINCT {key} AS day {source})"
    ).fetchone()
    found = {}
    for layout in tpcds.LAYOUTS:
        (one,) = tpcds.load(spark, data, namespace, layout=layout, tables=["web_returns"])
        found[layout] = (one.rows, one.partitions, one.files)
        assert layouts.require(spark, namespace, data, ["web_returns"]) == layout
    assert found == {"flat": (679, 1, 1), "published": (679, days, days), "ours": (679, halves, halves)}
    assert (days, halves) == (564, 14)
    bounds = spark.sql(
        f"SELECT readable_metrics.{key}.lower_bound, readable_metrics.{key}.upper_bound "
        f"FROM {namespace}.web_returns.files ORDER BY 1"
    ).collect()
    assert all(low // 180 == high // 180 for low, high in bounds if low is not None)
    for layout in set(layouts.WAYS) - set(tpcds.LAYOUTS):  # flat with one lever of ours: the same rows
        (one,) = tpcds.load(spark, data, namespace, layout=layout, tables=["web_returns"])
        found[layout] = (one.rows, one.partitions, one.files)
        assert layouts.require(spark, namespace, data, ["web_returns"]) == layout
    levers = {"truncated": halves, "row_groups": 1, "whole_bounds": 1}
    assert {layout: found[layout] for layout in levers} == {
        layout: (679, files, files) for layout, files in levers.items()
    }
    assert found["sorted"][:2] == (679, 1)


def test_a_namespace_that_is_not_there_holds_no_data(spark, data):
    with pytest.raises(
        ValueError, match="nowhere.item does not hold the data of scale factor 0.01; load it first"
    ):
        layouts.require(spark, "nowhere", data, ["item"])


def test_a_table_that_is_not_ours_is_not_replaced(spark, data, namespace):
    spark.sql(f"CREATE TABLE {namespace}.reason (mine STRING) USING iceberg")
    with pytest.raises(ValueError, match="reason was not loaded by this benchmark and is not replaced"):
        tpcds.load(spark, data, namespace, layout="flat", tables=["reason"])
    assert spark.table(f"{namespace}.reason").columns == ["mine"]


def test_a_load_that_was_killed_is_replaced_and_not_compared_with(spark, data, namespace):
    name = f"{namespace}.reason"
    for statement in layouts.statements("reason", "r_reason_sk BIGINT", "flat", name=name):
        spark.sql(statement)
    with pytest.raises(ValueError, match="reason does not hold the data of scale factor 0.01; load it first"):
        layouts.require(spark, namespace, data, ["reason"])
    tpcds.load(spark, data, namespace, layout="flat", tables=["reason"])
    assert layouts.require(spark, namespace, data, ["reason"]) == "flat"


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"layout": "round"}, "no layout 'round'; there are flat, published, ours"),
        ({"layout": "flat", "tables": ["sales"]}, "no table 'sales'; there are call_center"),
    ],
)
def test_what_cannot_be_loaded_is_refused(spark, data, options, sentence):
    with pytest.raises(ValueError, match=sentence):
        tpcds.load(spark, data, "t_nowhere", **options)


@pytest.mark.proof(
    "test_a_handful_of_queries_and_their_verdicts judges two, and nbval runs the notebook 90 with six"
)
@pytest.mark.parametrize("layout", ["flat", "ours"])
def test_all_103_have_a_verdict_and_none_is_different(spark, data, engine, tmp_path, layout):
    namespace = f"t_tpcds_{layout}"
    tpcds.load(spark, data, namespace, layout=layout)
    try:
        results = list(tpcds.run(engine, spark, data, namespace=namespace, place=tmp_path))
        again = list(tpcds.run(engine, spark, data, namespace=namespace, place=tmp_path))
    finally:
        drop_namespace(spark, namespace)
    assert [one.query for one in results] == list(tpcds.names())
    tpcds.require(results + again)
    assert [query for query, kind in kinds(results).items() if kind == "vacuous"] == VACUOUS
    assert sum(one.verdict.verified for one in results) == 103 - len(VACUOUS)
    # with kept verdicts the check is a small part of the run
    share = sum(one.check_seconds for one in again) / sum(one.seconds + one.check_seconds for one in again)
    assert share <= 0.1


@pytest.mark.proof(
    "test_an_engine_that_cuts_is_held_to_cutting and test_tpcds_values.py find lost digits without an engine"
)
def test_an_engine_that_loses_digits_is_found_out(spark, data, tmp_path):
    """PySail cuts each quotient after six decimals, then q66 adds them up."""
    tpcds.load(spark, data, "t_tpcds_sail", layout="flat")
    try:
        engine = tpcds.engine("sail")
        with tpcds.opened(engine, session.catalog(ENVIRONMENT), "t_tpcds_sail", data) as process:
            results = list(tpcds.run(engine, process, data, place=tmp_path))
    finally:
        drop_namespace(spark, "t_tpcds_sail")
    found = {one.query: one.verdict.sentence for one in results if one.verdict.kind == "different"}
    assert found == {"q66": "row 1, column 21 (jan_sales_per_sq_foot): found 0.075248, expected 0.075249098219"}
    assert [query for query, kind in kinds(results).items() if kind == "vacuous"] == VACUOUS


def test_results_are_kept_in_a_table_by_run(spark, data, namespace):
    table, about = f"{namespace}.results", ("flat", 1, "warm")
    right, wrong = (
        tpcds.Judgement(kind, "so it is", kind == "only order") for kind in ("only order", "different")
    )
    older = figures.COLUMNS.replace("scaled BOOLEAN, ", "")
    spark.sql(f"CREATE TABLE {table} ({older}) USING iceberg")  # before there was this column
    first = [runs.Result("a", "q1", right, 1.5, 0.1, 7, 8, 9, *about), runs.Result("b", "q1", wrong, 2.5, 0.2)]
    second = [runs.Result("a", "q1", right, 2.5, 0.1, None, None, None, *about)]
    assert [figures.save(spark, table, results, data) for results in (first, second)] == [1, 2]
    assert sorted(figures.saved(spark, table, 1), key=lambda one: one.engine) == first
    assert figures.saved(spark, table, 2) == second
    assert spark.table(table).select("scale", "data").distinct().collect() == [("0.01", data.digest)]
    assert figures.saved(spark, table, 2, data) == second
    other = data.__class__(**(vars(data) | {"digest": "0" * 64}))
    with pytest.raises(ValueError, match="run 2 of .*results is about other data, of scale factor 0.01"):
        figures.saved(spark, table, 2, other)
    with pytest.raises(ValueError, match="has no run 3; there are 1, 2"):
        figures.saved(spark, table, 3)


def test_all_kinds_of_verdicts_are_counted(data):
    assert runs.counts([]) == dict.fromkeys(tpcds.KINDS, 0)
    one_each = [runs.Result("a", "q1", tpcds.Judgement(kind, ""), 0.0, 0.0) for kind in tpcds.KINDS]
    assert runs.counts([*one_each, one_each[0]]) == dict.fromkeys(tpcds.KINDS, 1) | {tpcds.KINDS[0]: 2}
