"""`workbench tables`: what it prints, and its exit codes."""

import json
import re

import lakes
import pyarrow as pa
import pytest
from conftest import ENVIRONMENT, own_namespace
from pyiceberg.types import DateType
from typer.testing import CliRunner

from workbench._base.errors import ArgumentError
from workbench_ops.cli import app


@pytest.fixture
def command(tmp_path):
    """The command on an environment of its own, with a table of two commits, a tag and a name that hides a colour."""
    lakes.environment(tmp_path)
    catalog = lakes.catalog(tmp_path)
    catalog.create_namespace("n")
    table = catalog.create_table("n.orders", pa.schema([("id", pa.int64()), ("na\x1b[31mme", pa.string())]))
    table.append(pa.table({"id": [1, 2], "na\x1b[31mme": ["a\nb", None]}))
    table.manage_snapshots().create_tag(table.current_snapshot().snapshot_id, "first").commit()
    table.append(pa.table({"id": [3], "na\x1b[31mme": ["x" * 99]}))
    with table.update_schema() as update:
        update.add_column("day", DateType(), doc="of <b>delivery</b>")

    def call(*arguments):
        words = ["tables", *map(str, arguments), "--environment", str(tmp_path / "own.yml")]
        done = CliRunner().invoke(app, words)
        return done.exit_code, re.sub(r"\d{15,}", "ID", done.output), done.exception

    return call


def test_each_command_prints_what_it_found(command, tmp_path):
    assert command("tree")[:2] == (0, "n\n  n.orders\n")
    code, output, _ = command("head", "n.orders")
    lines = output.splitlines()
    assert code == 0 and lines[2].startswith("2 snapshots, the current one is ID of ")
    assert lines[:2] == [f"n.orders, format version 2, in file://{tmp_path}/n/orders", "3 rows in 2 data files"]
    assert lines[3:] == [
        "partitioned by: nothing",
        "sorted by: nothing",
        "tag first: ID",
        "branch main: ID",
        "ID  COLUMN        TYPE      COMMENT",
        "1   id            long",
        "2   na\\x1b[31mme  string",
        "3   day           date      of <b>delivery</b>",
    ]
    code, output, _ = command("snapshots", "n.orders")
    rows = [
        re.split(r"  +", re.sub(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3}", "TIME", line))
        for line in output.splitlines()
    ]
    assert rows == [
        ["N", "SNAPSHOT", "COMMITTED (UTC)", "OPERATION", "ADDED", "REMOVED", "ROWS", "FILES", "REFS"],
        ["1", "ID", "TIME", "append", "2", "0", "2", "1", "first"],
        ["2", "ID", "TIME", "append", "1", "0", "3", "2", "main"],
    ]
    output = command("schemas", "n.orders")[1]
    assert [line for line in output.splitlines() if line.startswith("schema")] == [
        "schema 0",
        "schema 1, the current one",
    ]
    output = command("files", "n.orders", "--at", "first")[1]
    assert [line.split()[:2] for line in output.splitlines()] == [["CONTENT", "ROWS"], ["data", "2"]]


def test_a_preview_shows_one_row_a_line(command):
    code, output, _ = command("preview", "n.orders", "--at", "first")
    assert (code, output) == (
        0,
        "id  na\\x1b[31mme\n1   a\\nb\n2   NULL\nthese are all rows\n",
    )
    output = command("preview", "n.orders", "--limit", 1)[1]
    assert output.splitlines()[1:] == [f"3   {'x' * 59}…  NULL", "the first 1 row; there are more"]


def test_a_difference(command):
    code, output, _ = command("diff", "n.orders", "first")
    assert (code, output) == (
        0,
        "from ID to ID\n1 data file came with 1 row\n0 data files went with 0 rows\n"
        "0 delete files came, 0 went\ncolumn came: day date (of <b>delivery</b>)\n",
    )


def test_where_delete_files_are_it_says_that_their_rows_are_counted(spark):
    """A delete as merge-on-read leaves the data files as they are, and their rows with them."""
    counted = "rows are those of data files; rows that delete files delete are still counted"

    def lines(*words):
        done = CliRunner().invoke(app, ["tables", *words, "--environment", ENVIRONMENT])
        assert done.exit_code == 0, done.output
        return done.output.splitlines()

    with own_namespace(spark, "deleted") as namespace:
        table = f"{namespace}.trips"
        spark.sql(
            f"CREATE TABLE {table} USING iceberg TBLPROPERTIES ('format-version' = '2', "
            "'write.delete.mode' = 'merge-on-read') AS SELECT /*+ COALESCE(1) */ id FROM range(9)"
        )
        spark.sql(f"ALTER TABLE {table} CREATE TAG whole")
        assert counted not in lines("snapshots", table) and counted not in lines("diff", table, "whole")
        spark.sql(f"DELETE FROM {table} WHERE id = 3")
        assert lines("snapshots", table)[-1] == counted
        assert lines("head", table)[1:3] == [
            "9 rows in 1 data file",
            "rows that its 1 delete file deletes are still counted",
        ]
        assert lines("diff", table, "whole")[1:] == [
            "0 data files came with 0 rows", "0 data files went with 0 rows", "1 delete file came, 0 went", counted,
        ]  # fmt: skip
        spark.sql(f"ALTER TABLE {table} CREATE TAG fewer")
        assert counted in lines("diff", table, "fewer")


def test_json_is_one_document(command):
    for words in (("head",), ("snapshots",), ("schemas",), ("files",), ("preview",), ("diff",)):
        extra = ("first",) if words == ("diff",) else ()
        json.loads(command(*words, "n.orders", *extra, "--json")[1].replace("ID", "0"))
    assert json.loads(command("tree", "--json")[1]) == [
        {"name": "n", "tables": ["n.orders"], "error": None, "views": []}
    ]


def test_refusals(command):
    for words, sentence in (
        (("head", "n.other"), "table n.other is not in the catalog; there are n.orders"),
        (
            ("files", "n.orders", "--at", "7"),
            "n.orders has no snapshot 7: it never had, or it was expired; it has 2,",
        ),
        (("tree", "m"), "namespace m is not in the catalog; there are n"),
    ):
        code, _, error = command(*words)
        assert code == 1 and isinstance(error, ArgumentError) and str(error).startswith(sentence)
