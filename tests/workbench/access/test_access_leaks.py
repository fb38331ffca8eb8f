"""Two worlds: what is governed tells nothing, and every planted hole is found."""

import duckdb
import pytest
from pyiceberg.io.pyarrow import _pyarrow_to_schema_without_ids
from pyiceberg.schema import Schema, assign_fresh_schema_ids

from workbench import access
from workbench.access import arrows, statements, worlds

NAMES = {"first": "n.world_a1", "second": "n.world_b1", "twin": "n.world_a2"}
KINDS = ("cells", "rows", "patterns")


def tables(kind):
    """Name to its rows and the decision of its reader."""
    first, second = worlds.rows(kind)
    rows = dict(zip(NAMES.values(), (first, second, first), strict=True))
    schema = assign_fresh_schema_ids(_pyarrow_to_schema_without_ids(first.schema))
    ids = {field.name: field.field_id for field in Schema(*schema.fields).fields}
    policy = worlds.policy(kind, dict.fromkeys(rows, ids))
    return {name: (table, access.decide(policy, worlds.READER, name, schema)) for name, table in rows.items()}


def route(kind, view):
    """The route of a reader of DuckDB, who may send a SELECT over views."""
    connection = duckdb.connect(config={"python_enable_replacements": False})
    connection.execute("CREATE SCHEMA n")
    for name, (rows, decision) in tables(kind).items():
        own = name.rpartition(".")[2]
        connection.register(f"raw_{own}", rows)
        connection.execute(f"CREATE VIEW {name} AS {view(decision, f'raw_{own}')}")

    def ask(statement):
        if not statement.startswith("SELECT") or "SAMPLE" in statement or "$" in statement:
            raise ValueError("a SELECT is expected")
        return connection.execute(statement).fetchall()

    return access.by_statement(ask)


def governed(decision, raw):
    return access.sql(decision, "duckdb", source=raw)


def with_all_data(kind):
    """The published answer: all rows beside those that may be seen."""
    ask = route(kind, governed)
    rows = {name: rows for name, (rows, _) in tables(kind).items()}
    return lambda probe, table: {"rows": ask(probe, table), "allData": rows[table].to_pylist()}


def by_arrow(kind):
    """The route of a reader who is given Arrow tables and asks them by DuckDB."""
    given = {name: arrows.governed(rows, decision) for name, (rows, decision) in tables(kind).items()}
    connection = duckdb.connect()
    connection.execute("CREATE SCHEMA n")
    for name, rows in given.items():
        connection.register("given", rows)
        connection.execute(f"CREATE TABLE {name} AS FROM given")
    return access.by_statement(lambda statement: connection.execute(statement).fetchall())


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_governed_tells_nothing(kind):
    proof = access.leaks({"duckdb": route(kind, governed), "arrow": by_arrow(kind)}, **NAMES)
    assert proof.clean and proof.leaks == () and proof.probes == len(access.PROBES) >= 43
    assert {leak.probe for leak in proof.undecided} <= {"plan with what it read"}
    assert min(proof.answered.values()) >= 35


HOLES = {
    "SQL that is forwarded": ("cells", lambda kind: route(kind, lambda decision, raw: f"SELECT * FROM {raw}"), 35),
    "a projection": ("cells", lambda kind: route(kind, lambda decision, raw: f"SELECT id, name, state, amount FROM {raw}"), 25),
    "rows that are not filtered": ("rows", lambda kind: route(kind, lambda decision, raw: f"SELECT * EXCLUDE (address) FROM {raw}"), 25),
    "rows that are masked": ("rows", lambda kind: route(kind, lambda decision, raw: governed(decision, raw).partition(" WHERE ")[0]), 3),
    "all data beside it": ("cells", with_all_data, 35),
    "a sentinel where there was a value": ("cells", lambda kind: route(kind, lambda decision, raw: f"SELECT id, CASE WHEN state = 'UK' OR name IS NULL THEN name ELSE '<HIDDEN>' END AS name, state, NULL::BIGINT AS amount FROM {raw}"), 5),
    "a filter that keeps what is unknown": ("rows", lambda kind: route(kind, lambda decision, raw: f"SELECT * FROM {raw} WHERE state = 'UK' OR amount IS NULL"), 3),
}  # fmt: skip


@pytest.mark.parametrize("hole", HOLES)
def test_a_planted_hole_is_found(hole):
    kind, make, least = HOLES[hole]
    proof = access.leaks({"hole": make(kind)}, **NAMES)
    assert len(proof.leaks) >= least and not proof.clean
    assert "Zed" not in str(proof) and "North" not in str(proof)


class Row(tuple):
    """A row as that of Trino's client: it says of each attribute that it has it."""

    def __getattr__(self, name):
        return None


def test_a_hidden_value_inside_a_row_is_found():
    rows = {
        name: [[Row(record.values()) for record in rows.to_pylist()]]
        for name, (rows, _) in tables("cells").items()
    }
    proof = access.leaks({"rows": lambda probe, table: rows[table]}, **NAMES)
    assert len(proof.leaks) == proof.probes == proof.answered["rows"]


def test_an_answer_that_cannot_be_read_is_no_refusal():
    class Damaged(dict):
        def items(self):
            raise UnicodeDecodeError("utf-8", b"", 0, 1, "damaged")

    with pytest.raises(UnicodeDecodeError):
        access.leaks({"damaged": lambda probe, table: Damaged()}, **NAMES)


def test_what_differs_between_twins_proves_nothing():
    counter = iter(range(10_000))
    proof = access.leaks({"clock": lambda probe, table: next(counter)}, **NAMES)
    assert proof.clean and len(proof.undecided) == proof.probes


def test_a_route_that_answers_nothing_and_tables_that_are_one_are_refused():
    def refuse(probe, table):
        raise ValueError("no")

    with pytest.raises(ValueError, match="the route front answers none of 76 probes, which proves nothing"):
        access.leaks({"front": refuse}, **NAMES)
    with pytest.raises(
        ValueError, match="first, second and twin are three tables, found n.world_a1, n.world_a1 and"
    ):
        access.leaks({}, **NAMES | {"second": NAMES["first"]})


def test_a_server_that_is_gone_proves_nothing():
    """Answers that fail alike in both worlds would look like a clean route."""

    def gone(probe, table):
        if probe.name == "count of rows":
            raise ConnectionError("nobody answers")
        return table

    with pytest.raises(ConnectionError, match="nobody answers"):
        access.leaks({"gone": gone}, **NAMES)


def refusing(error):
    """A cursor whose server refuses, or is not there."""

    class Cursor:
        def execute(self, statement):
            raise error

    return Cursor()


@pytest.mark.parametrize(
    ("kind", "raised"),
    [("USER_ERROR", ValueError), (None, ConnectionError), ("INSUFFICIENT_RESOURCES", ConnectionError)],
)
def test_only_what_trino_itself_says_is_a_refusal(kind, raised):
    error = RuntimeError("x")
    if kind:
        error.error_type, error.message = (
            kind,
            "query 20261130_000000_00001_abcde at 5.3ms of n.t$data@123456789012",
        )
    with pytest.raises(raised) as caught:
        access.trino._asked(refusing(error), access.trino.PROBES[0], "n.t", "lake")
    if raised is ValueError:
        assert str(caught.value) == "query QUERY at TIME of n.t$data@SNAPSHOT"


def test_questions_of_trino_are_of_one_table_each():
    names = [probe.name for probe in (*access.PROBES, *access.trino.PROBES)]
    assert len(names) == len(set(names)) == 133
    for probe in access.trino.PROBES:
        assert any(mark in probe.statement for mark in ("{table}", "{name}", "{catalog}")), probe.name
    known = {name for kind in KINDS for name in access.trino.KNOWN[kind]}
    assert known <= set(names) and all(access.trino.KNOWN[kind] for kind in KINDS)


def tables_of_spark(spark, namespace, kind):
    """Names of both worlds and the twin, written to tables of Spark, and the decision of each."""
    first, second = worlds.rows(kind)
    names = {key: f"{namespace}.{name.rpartition('.')[2]}" for key, name in NAMES.items()}
    for name, rows in zip(names.values(), (first, second, first), strict=True):
        spark.createDataFrame(
            rows.to_pylist(), "id BIGINT, name STRING, state STRING, amount BIGINT, address STRING"
        ).coalesce(1).writeTo(name).create()
    schemas = {name: access.schema(spark, name) for name in names.values()}
    policy = worlds.policy(
        kind, {name: {f.name: f.field_id for f in schema.fields} for name, schema in schemas.items()}
    )
    decisions = {name: access.decide(policy, worlds.READER, name, schema) for name, schema in schemas.items()}
    return names, decisions


@pytest.mark.proof(
    "test_spark_shows_what_arrow_shows_and_nothing_behind_it shows it by hidden columns that cannot be named"
)
@pytest.mark.parametrize("kind", KINDS)
def test_a_frame_tells_nothing_and_a_projection_does(spark, namespace, kind):
    names, decisions = tables_of_spark(spark, namespace, kind)

    def projection(name):
        rows = spark.table(name)
        rows = rows if kind == "cells" else rows.where("state = 'UK'")
        return rows.selectExpr(
            "id", "IF(state = 'UK', name, NULL) AS name", "state", "IF(state = 'UK', amount, NULL) AS amount"
        )

    asked = [probe for probe in access.PROBES if probe.select]
    routes = {
        "frame": access.by_frame(lambda name: access.frame(spark, name, decisions[name])),
        "projection": access.by_frame(projection),
    }
    proof = access.leaks(routes, **names, probes=asked)
    assert [leak for leak in proof.leaks if leak.route == "frame"] == []
    leaking = {leak.probe for leak in proof.leaks if leak.route == "projection"}
    assert leaking >= ({"a hidden column equals", "order by a hidden column"} if kind == "cells" else set())


def test_an_error_tells_of_no_hidden_row(spark, namespace):
    names, decisions = tables_of_spark(spark, namespace, "patterns")
    statement = {name: access.sql(decision, "spark") for name, decision in decisions.items()}
    routes = {
        "frame": lambda name: access.frame(spark, name, decisions[name]),
        "sql": lambda name: spark.sql(statement[name]),
        "sql without the barrier": lambda name: spark.sql(
            statement[name].replace(f" WHERE {statements.APART}", "")
        ),
    }
    asked = [probe for probe in access.PROBES if probe.name in ("all rows", "error on a row of NULLs")]
    proof = access.leaks({name: access.by_frame(route) for name, route in routes.items()}, **names, probes=asked)
    assert proof.leaks == (access.Leak("sql without the barrier", "error on a row of NULLs"),)
