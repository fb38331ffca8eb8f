"""No hidden value is in what the front answers, in its logs and in its server's, whatever is asked of it."""

import logging
from pathlib import Path

import canaries
import pyarrow as pa
import pytest

from workbench import access, session
from workbench_ops import front

pytest_plugins = ["living_servers"]
pytestmark = pytest.mark.proof("test_front_calls.py shows that errors of the server are told without their words")

TABLE = "front_canary.people"
HIDDEN = canaries.words(6)
SEEN = canaries.words(2)
COLUMNS = {"id": "BIGINT", "name": "STRING", "state": "STRING", "note": "STRING"}
ROWS = [(1, SEEN[0], "UK", HIDDEN[0]), (2, HIDDEN[1], "FR", HIDDEN[2]), (3, HIDDEN[3], None, HIDDEN[4])]
ROWS += [(4, SEEN[1], "UK", HIDDEN[5])]
POLICY = f"""
principals: {{reader: {{}}}}
administrators: [owner]
tables:
  {TABLE}:
    columns: {{id: {{tags: {{}}}}, name: {{tags: {{}}}}, state: {{tags: {{}}}}, note: {{tags: {{}}}}}}
filters: {{uk: {{table: {TABLE}, where: "state = 'UK'"}}}}
grants:
  - {{to: reader, by: owner, table: {TABLE}, columns: [id, state]}}
  - {{to: reader, by: owner, table: {TABLE}, columns: [name], filter: uk}}
"""
STATEMENTS = (
    "SELECT * FROM {t} ORDER BY name",
    "SELECT name, count(*) FROM {t} GROUP BY name",
    "SELECT max(name), min(name), collect_list(name) FROM {t}",
    "SELECT note FROM {t}",
    "SELECT id FROM {t} WHERE note > ''",
    "SELECT id FROM {t} ORDER BY note",
    "SELECT CAST(name AS INT) FROM {t}",
    "SELECT CAST(concat(name, state) AS DATE) FROM {t}",
    "SELECT id FROM {t} WHERE CAST(name AS BIGINT) > 0",
    "SELECT 1 / (id - 2) FROM {t}",
    "SELECT id FROM {t} WHERE 1 / coalesce(id - 2, 0) > 0",
    "SELECT element_at(array(name), 7) FROM {t}",
    "SELECT raise_error(name) FROM {t}",
    "SELECT assert_true(name IS NULL) FROM {t}",
    "SELECT from_json(name, 'a INT', map('mode', 'FAILFAST')) FROM {t}",
    "SELECT to_timestamp(name, 'yyyy') FROM {t}",
    "SELECT * FROM {t}.files",
    "SELECT * FROM {t}.snapshots",
    "SELECT * FROM {t} VERSION AS OF 1",
    "EXPLAIN EXTENDED SELECT * FROM {t}",
    "EXPLAIN COST SELECT * FROM {t}",
    "DESCRIBE EXTENDED {t}",
    "SHOW CREATE TABLE {t}",
    "ANALYZE TABLE {t} COMPUTE STATISTICS FOR ALL COLUMNS",
    "INSERT INTO {t} SELECT * FROM {t}",
    "SELECT * FROM parquet.`{location}`",
    "SELECT * FROM {t} TABLESAMPLE (100 PERCENT)",
    "SELECT input_file_name(), * FROM {t}",
    "SELECT _file, _partition FROM {t}",
    "SELECT * FROM front_canary.none",
    "SELECT",
    "SET spark.connect.authenticate.token",
)


@pytest.fixture(scope="module")
def lake(tmp_path_factory):
    catalog = session.catalog("local")
    catalog.create_namespace_if_not_exists("front_canary")
    content = {name: list(values) for name, values in zip(COLUMNS, zip(*ROWS, strict=True), strict=True)}
    table = catalog.create_table(TABLE, pa.table(content).schema)
    table.append(pa.table(content))
    path = tmp_path_factory.mktemp("canary") / "policy.yml"
    path.write_text(POLICY)
    access.bind(path, TABLE, table)
    yield catalog, path, table.location()
    catalog.drop_table(TABLE)


def driven(running, location):
    """What a reader gets of each statement: rows, or all that the error holds."""
    from pyspark.sql.connect.session import SparkSession

    reader = SparkSession.builder.remote(running.remote("reader")).create()
    answers = []
    for text in STATEMENTS:
        statement = text.format(t=TABLE, location=location)
        for act in (
            lambda statement=statement: reader.sql(statement).collect(),
            lambda statement=statement: reader.sql(statement).toArrow().to_pydict(),
            lambda statement=statement: reader.sql(statement)._explain_string(extended=True),
        ):
            answers.append((statement, told(act)))
    frame = reader.table(TABLE)
    for name, act in {
        "show": lambda: frame._show_string(20, False, True),
        "describe": lambda: frame.describe().collect(),
        "schema": lambda: frame.schema.json(),
        "files": lambda: frame.inputFiles(),
        "tree": lambda: frame._tree_string(),
        "hidden column": lambda: frame.select(frame.note).collect(),
        "observed": lambda: frame.sample(0.9).collect(),
        "function": lambda: frame.filter("java_method('java.lang.System', 'getProperties') IS NOT NULL").collect(),
    }.items():
        answers.append((name, told(act)))
    reader.stop()
    return answers


def told(act):
    """What an act returns, or all the words of its error, of those behind it and of gRPC's details."""
    try:
        return repr(act())
    except Exception as error:
        parts, each = [], error
        while each is not None:
            parts += [repr(each), str(each), repr(getattr(each, "__dict__", {}))]
            for name in ("details", "debug_error_string", "trailing_metadata", "getMessageParameters"):
                if callable(getattr(each, name, None)):
                    parts.append(repr(getattr(each, name)()))
            each = each.__cause__ or each.__context__
        return "error: " + " ".join(parts)


@pytest.mark.parametrize("level", [1, logging.WARNING])
def test_no_hidden_value_is_answered_or_logged(lake, server, tmp_path, caplog, capfd, monkeypatch, level):
    monkeypatch.setenv("SPARK_CONNECT_MODE_ENABLED", "1")
    catalog, path, location = lake
    governed = front.by_policy(lambda: access.read(path), catalog, name="lake")
    sharing = front.serve(governed, server=server, users={"reader"}, key=tmp_path / "key", catalog="lake")
    with caplog.at_level(level), sharing as running:
        answers = driven(running, location)
    output = capfd.readouterr()
    held = [text for _, text in answers] + [caplog.text, output.out, output.err, Path(server.folder), path]
    assert canaries.found(HIDDEN, *held) == []
    assert {word for word, _ in canaries.found(SEEN, *held)} == set(SEEN)
    errors = [statement for statement, text in answers if text.startswith("error: ")]
    assert len(answers) > len(errors) > 40, errors


def test_a_planted_leak_is_seen(lake, server, tmp_path, monkeypatch):
    """A front that puts the table itself in its place answers with the words: the search finds each."""
    monkeypatch.setenv("SPARK_CONNECT_MODE_ENABLED", "1")
    _, _, location = lake

    def forwarded(principal, table):
        return f"SELECT id, name, state, note, array() AS _hidden FROM {table}"

    sharing = front.serve(forwarded, server=server, users={"reader"}, key=tmp_path / "key", catalog="lake")
    with sharing as running:
        answers = driven(running, location)
    assert {word for word, _ in canaries.found(HIDDEN, *(text for _, text in answers))} == set(HIDDEN)
    # what Spark says of a cell that it cannot cast is not passed on, whoever may see it
    of_errors = [text for _, text in answers if text.startswith("error: ")]
    assert canaries.found(HIDDEN, *of_errors) == []
