"""Arguments that say nothing are refused by a sentence before anything is done; of names of cells see cells."""

import json
import re
from dataclasses import asdict, replace

import pytest

from workbench.tables import snapshots
from workbench_proofs import conflicts
from workbench_proofs.conflicts import Cell, Result, claims, kept, scans
from workbench_standins import proxy

CELL = Cell("append", "append", None, "same")
ONE = Result("append", "append", None, "same", "v3", "retried_and_committed", None, None, 12, "both",
             "indistinguishable", "4.1.4", "1.11.0")  # fmt: skip
CELLS, GIVEN = "expected cells, as conflicts.cells gives them", "expected what conflicts.run gives"
FILE = "must be a text of at least 1 character or a path"
VERSION = "must be a text or a list of texts"
STATEMENT = "must be a text or a function"
APPEND = conflicts.OPERATIONS["append"]


def refused(call, why):
    with pytest.raises(ValueError) as told:
        call()
    assert str(told.value) == why


@pytest.mark.parametrize(
    ("call", "why"),
    [
        (lambda: conflicts.cells(3), "operations must be several texts or None, found 3"),
        (lambda: conflicts.cells([None]), "operations holds None, which is NoneType: operations are texts"),
        (lambda: conflicts.cells([["append"]]), "operations holds ['append'], which is list: operations are texts"),
        (lambda: conflicts.cells(modes=None), "modes must be several texts, found None"),
        (lambda: conflicts.cells(modes="v3"), "modes must be a list of modes: write modes=['v3']"),
        (lambda: conflicts.cells(isolation="snapshot"), "isolation must be a list of isolation levels: write isolation=['snapshot']"),
        (lambda: conflicts.cells(partitions=True), "partitions must be several texts, found True"),
        (lambda: conflicts.variants(isolation=None), "isolation must be several texts, found None"),
        (lambda: conflicts.telling("v3"), "modes must be a list of modes: write modes=['v3']"),
        (lambda: conflicts.telling(None), "modes must be several texts, found None"),
        (lambda: conflicts.asked(None), "operations must be a text, found None"),
        (lambda: conflicts.asked(["append"]), "operations must be a text, found ['append']"),
        (lambda: conflicts.asked("append", modes=("v3",)), "modes must be a text, found ('v3',)"),
        (lambda: conflicts.asked("append", isolation=None), "isolation must be a text, found None"),
        (lambda: APPEND.statement(None), "table must be a text of at least 1 character, found None"),
        (lambda: APPEND.statement("a.b", part=2),
         "part must be an integer of at least 0 and of at most 1, found 2"),
        (lambda: APPEND.statement("a.b", n=True),
         "n must be an integer of at least 1 and of at most 2, found True"),
        (lambda: kept.read(None), f"path {FILE}, found None"),
        (lambda: kept.append("", ONE), f"path {FILE}, found ''"),
        (lambda: kept.missing(CELL, "none", versions={}), f"cells must be several Cell, found {CELL!r}"),
        (lambda: kept.missing([ONE], "none", versions={}), f"cells holds {ONE!r}, which is Result, {CELLS}"),
        (lambda: kept.missing([CELL], "none", versions=("4.1.4", "1.11.0")),
         "versions must be a dict of texts to texts, found ('4.1.4', '1.11.0')"),
        (lambda: kept.missing([CELL], "none", versions={"spark": "4.1.4"}),
         "versions is {'spark': '4.1.4'}, expected what conflicts.versions returns, of spark and iceberg"),
        (lambda: kept.cell_of(None), "result must be Result or a dict of texts to values, found None"),
        (lambda: kept.cell_of({"first": "append"}),
         f"result is {{'first': 'append'}}, {GIVEN}, or a dict of its fields"),
        (lambda: kept.against([], [ONE], environment="s3"),
         "measured is list, expected what conflicts.measured returns"),
        (lambda: kept.against(({"environment": "s3"}, []), ONE, environment="s3"),
         f"results is Result, expected a list: {GIVEN[9:]}"),
        (lambda: kept.against(({"environment": "s3"}, []), [ONE], environment=None),
         "environment is None, expected the name of an environment"),
        (lambda: claims.held(None), "results must be several Result, found None"),
        (lambda: claims.held([asdict(ONE)]),
         f"results holds {asdict(ONE)!r}, which is dict, expected results, as conflicts.run gives them"),
        (lambda: claims.held([ONE], "all"), "claims is str, expected a list: claims, as in CLAIMS"),
        (lambda: conflicts.measured(3), "start must be a text, a path or None, found 3"),
        (lambda: conflicts.measured("/nowhere"), "start is /nowhere, and there is no such folder"),
        (lambda: conflicts.measured(name=None), "name must be a text, found None"),
        (lambda: conflicts.measured(name="../conflicts"),
         "name is '../conflicts', expected that of a benchmark, such as conflicts"),
    ],
)  # fmt: skip
def test_a_wrong_argument_is_said(call, why):
    refused(call, why)


@pytest.mark.parametrize("operations", ["", " ", "append"])
@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        (
            {"isolation": "serialisable"},
            "'serialisable' is not a known isolation (did you mean serializable?); there are ",
        ),
        ({"isolation": ""}, "'' is not a known isolation; there are serializable, snapshot, both"),
        ({"isolation": "serializable,snapshot"}, "'serializable,snapshot' is not a known isolation"),
        ({"modes": "v2"}, "'v2' is not a known mode; there are copy-on-write, merge-on-read, v3"),
        ({"modes": ""}, "'' is not a known mode; there are copy-on-write, merge-on-read, v3"),
        ({"modes": "v3,v3"}, "mode must be one name or several different ones, found v3, v3"),
    ],
)
def test_what_texts_ask_for_is_checked_also_where_it_decides_nothing(operations, given, sentence):
    with pytest.raises(ValueError, match=re.escape(sentence)):
        conflicts.asked(operations, **given)


def test_texts_ask_for_cells():
    assert conflicts.asked("") == conflicts.asked(" ", isolation="both") == conflicts.telling()
    assert conflicts.asked("", modes="v3, copy-on-write") == conflicts.telling(["v3", "copy-on-write"])
    one = conflicts.cells(["append", "update"], isolation=["snapshot"], modes=["v3"], partitions=["same"])
    assert conflicts.asked("append, update", isolation="snapshot", modes="v3") == one
    both = conflicts.asked("append,update", isolation="both", modes="v3")
    assert both == conflicts.cells(["append", "update"], modes=["v3"])
    with pytest.raises(ValueError, match="'' is not a known operation"):
        conflicts.asked("append,")


def test_a_generator_is_taken_for_a_list(tmp_path):
    found = conflicts.cells((name for name in ["append", "update"]), modes=(mode for mode in ["v3"]))
    assert found == conflicts.cells(["append", "update"], modes=["v3"])
    about = {"spark": "4.1.4", "iceberg": "1.11.0"}
    assert kept.missing((one for one in [CELL]), tmp_path / "none", versions=about) == [CELL]
    held = claims.held((one for one in [ONE]), (one for one in claims.CLAIMS[:2]))
    assert [one.cells for one in held] == [1, 0]


def test_a_line_that_holds_no_result_is_said(tmp_path):
    file, lines, good = tmp_path / "matrix.db", tmp_path / "matrix.jsonl", json.dumps(asdict(ONE)) + "\n"
    for bad in ("{", '"text"', '{"first": "append"}', json.dumps(asdict(ONE) | {"mode": "v4"})):
        lines.write_text(f"{good}{bad}\n{good}")
        with pytest.raises(ValueError, match=r"matrix\.jsonl: line 2 is not a result: "):
            kept.read(file)
    lines.unlink()
    with pytest.raises(ValueError, match="^results must be Result, found {'first': 'append', "):
        kept.append(file, asdict(ONE))


def test_evidence_that_is_no_json_is_said(tmp_path):
    (folder := tmp_path / "docs" / "evidence").mkdir(parents=True)
    (folder / "conflicts.json").write_text("{")
    with pytest.raises(ValueError, match=r"conflicts\.json is not JSON: Expecting property name"):
        conflicts.measured(tmp_path)


# sessions


@pytest.mark.parametrize(
    "call",
    [
        lambda given: conflicts.versions(given),
        lambda given: conflicts.run(given, [CELL]),
        lambda given: conflicts.writers(given).__enter__(),
        lambda given: conflicts.race(given, given, "SELECT 1", "SELECT 1", hold=print),
        lambda given: scans.meanwhile(given, "a.b", "SELECT 1").__enter__(),
    ],
    ids=["versions", "run", "writers", "race", "meanwhile"],
)
@pytest.mark.parametrize(("given", "there"), [(None, "NoneType"), ("local", "str")])
def test_anything_but_a_classic_session_is_said(call, given, there):
    why = rf"this needs a classic Spark session, and (spark|spark_a) is {there}; Spark Connect"
    with pytest.raises(ValueError, match=why):
        call(given)


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ({"cells": None}, "cells must be several Cell, found None"),
        ({"cells": CELL}, f"cells must be several Cell, found {CELL!r}"),
        ({"cells": "append"}, f"cells is str, expected a list: {CELLS[9:]}"),
        ({"cells": [CELL, CELL.key]}, f"cells holds {CELL.key!r}, which is tuple, {CELLS}"),
        ({"namespace": None}, "namespace must be a text of at least 1 character, found None"),
        ({"namespace": ""}, "namespace must be a text of at least 1 character, found ''"),
        ({"catalog": 3}, "catalog must be a text of at least 1 character or None, found 3"),
        ({"catalog": ""}, "catalog must be a text of at least 1 character or None, found ''"),
    ],
)
def test_a_run_is_refused_before_its_first_cell_is_asked_for(spark, options, why):
    refused(lambda: conflicts.run(spark, **({"cells": [CELL]} | options)), why)


def test_a_namespace_that_does_not_go_is_said(spark):
    with pytest.raises(ValueError, match="'a b' is not the name of a namespace; expected one part or more"):
        conflicts.run(spark, [CELL], namespace="a b")


@pytest.mark.parametrize(
    ("statements", "why"),
    [
        ((None, "SELECT 1"), f"first {STATEMENT}, found None"),
        (("SELECT 1", ["SELECT 1"]), f"second {STATEMENT}, found ['SELECT 1']"),
        (("SELECT 1", " "), "second is ' ', expected SQL text or a function of the session"),
    ],
)
def test_a_race_of_no_statements_is_refused(spark, statements, why):
    held = []
    refused(lambda: conflicts.race(spark, spark.newSession(), *statements, hold=lambda: held.append(1)), why)
    assert held == []


def test_a_race_is_refused_where_the_second_cannot_be_held(spark):
    """It would land first, and it was said that it had nothing to commit."""
    b, ran = spark.newSession(), []
    statements = (ran.append, ran.append)
    why = "spark_a and spark_b are the same session, expected two: what holds one would hold the other"
    refused(lambda: conflicts.race(spark, spark, *statements, hold=list), why)
    why = "what hold returns is list, expected a gate of the proxy, as `two.hold` gives it"
    refused(lambda: conflicts.race(spark, b, *statements, hold=list), why)
    with proxy.between("http://127.0.0.1:9", clients=["a", "b"]) as between:
        held = between.hold("b")
        way = between.endpoint_of("b")
        why = "spark_b is not the session whose commits hold holds: none of its settings has the address "
        refused(lambda: conflicts.race(spark, b, *statements, hold=lambda: held), f"{why}{way}")
        b.conf.set("spark.sql.catalog.lake.s3.endpoint", between.endpoint_of("a"))  # the other's way
        refused(lambda: conflicts.race(spark, b, *statements, hold=lambda: held), f"{why}{way}")
        assert held.waiting() == [] and held.gate.is_open
    assert ran == []


def test_a_second_statement_that_commits_nothing_is_said(spark):
    """It ends before the storage is asked for anything, so there is none."""
    b, ends = spark.newSession(), {"SELECT 2": "it had nothing to commit", "SELECT nowhere": "it failed"}
    with proxy.between("http://127.0.0.1:9", clients=["b"]) as between:
        b.conf.set("spark.sql.catalog.lake.s3.endpoint", between.endpoint_of("b"))
        for statement, why in ends.items():
            why = f"the second statement ended before a commit of its own could be held: {why}"
            with pytest.raises(conflicts.NothingHeld, match=f"^{why}$"):
                conflicts.race(spark, b, "SELECT 1", statement, hold=lambda: between.hold("b"))


# what lands behind a scan


@pytest.fixture
def table(spark, namespace):
    name = f"{namespace}.t"
    spark.sql(f"CREATE TABLE {name} (id BIGINT) USING iceberg")
    spark.sql(f"INSERT INTO {name} VALUES (1)")
    return name


def test_what_would_never_be_scanned_is_refused(spark, table):
    for statement, why in (
        (None, f"statement {STATEMENT}, found None"),
        ("", "statement is '', expected SQL text or a function of the session"),
        (["SELECT 1"], f"statement {STATEMENT}, found ['SELECT 1']"),
    ):
        refused(lambda one=statement: scans.meanwhile(spark, table, one).__enter__(), why)
    with pytest.raises(snapshots.TableNotFound, match=rf"no table {table}x; .* has {table}$"):
        scans.meanwhile(spark, f"{table}x", "SELECT 1").__enter__()
    with pytest.raises(ValueError, match=f"{table}.history is a part of the table {table}; name that one"):
        scans.meanwhile(spark, f"{table}.history", "SELECT 1").__enter__()
    with pytest.raises(ValueError, match="table must be a text, found 3"):
        scans.meanwhile(spark, 3, "SELECT 1").__enter__()


def test_the_catalog_may_be_named(spark, table):
    """The name with its catalog was never the one that a scan told, so nothing ever landed."""
    catalog = spark.conf.get("spark.sql.defaultCatalog")
    with scans.meanwhile(spark.newSession(), f"{catalog}.{table}", f"INSERT INTO {table} VALUES (2)") as ended:
        assert [row.id for row in spark.sql(f"SELECT * FROM {table}").collect()] == [1]
    assert ended.result(0) is None
    spark.sql(f"REFRESH TABLE {table}")
    assert sorted(row.id for row in spark.table(table).collect()) == [1, 2]


# the table of results


@pytest.mark.parametrize(
    ("call", "why"),
    [
        (lambda s, t: conflicts.save(None, t, [ONE]), "spark is NoneType, expected a Spark session"),
        (lambda s, t: conflicts.save(s, None, [ONE]), "table must be a text, found None"),
        (lambda s, t: conflicts.save(s, t, None), "results must be several Result, found None"),
        (lambda s, t: conflicts.save(s, t, ONE),
         f"results must be several Result, found {repr(ONE)[:120]}… (Result)"),
        (lambda s, t: conflicts.save(s, t, [ONE, None]), f"results holds None, which is NoneType, {GIVEN}"),
        (lambda s, t: conflicts.compare("s3", t, "1", "2"), "spark is str, expected a Spark session"),
        (lambda s, t: conflicts.compare(s, t, None, "2"), f"before {VERSION}, found None"),
        (lambda s, t: conflicts.compare(s, t, "1", 2), f"after {VERSION}, found 2"),
        (lambda s, t: conflicts.compare(s, t, "1", ("4.1.4",)),
         "after is ('4.1.4',), expected Iceberg's version, or (Spark's, Iceberg's)"),
        (lambda s, t: conflicts.compare(s, t, ("4.1.4", None), "1"), f"before {VERSION}, found ('4.1.4', None)"),
    ],
)  # fmt: skip
def test_a_wrong_argument_makes_no_table(spark, namespace, call, why):
    refused(lambda: call(spark, f"{namespace}.new"), why)
    assert not snapshots.exists(spark, f"{namespace}.new")


def test_a_result_made_by_hand_makes_no_table(spark, namespace):
    with pytest.raises(ValueError, match="a result has a value of the wrong type: .*rows"):
        conflicts.save(spark, f"{namespace}.new", [replace(ONE, rows="twelve")])
    assert not snapshots.exists(spark, f"{namespace}.new")


def test_another_table_is_no_matrix(spark, namespace, table):
    why = f"{table} is not a matrix: it has id bigint; a matrix has first string, "
    before = snapshots.current(spark, table)
    for call in (lambda: conflicts.save(spark, table, [ONE]), lambda: conflicts.compare(spark, table, "1", "2")):
        with pytest.raises(ValueError, match=why):
            call()
    assert snapshots.current(spark, table) == before
    with pytest.raises(snapshots.TableNotFound, match=rf"no table {namespace}\.none"):
        conflicts.compare(spark, f"{namespace}.none", "1", "2")


@pytest.mark.proof(
    "test_a_cell_measured_again_is_replaced_and_one_given_twice_refused has a view of its matrix refused"
)
def test_a_view_of_a_matrix_is_no_table(spark, namespace):
    conflicts.save(spark, f"{namespace}.m", [ONE])
    spark.sql(f"CREATE VIEW {namespace}.v AS SELECT * FROM {namespace}.m")
    try:
        with pytest.raises(ValueError, match=f"{namespace}.v is not an Iceberg table: "):
            conflicts.save(spark, f"{namespace}.v", [replace(ONE, rows=13)])
    finally:
        spark.sql(f"DROP VIEW {namespace}.v")
    assert [row.rows for row in spark.table(f"{namespace}.m").collect()] == [12]
