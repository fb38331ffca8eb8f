"""`workbench access`: what it prints, and its exit codes."""

import json

import lakes
import pyarrow as pa
import pytest
from typer.testing import CliRunner

from workbench._base.errors import ArgumentError
from workbench_ops.cli import app

POLICY = """
principals: {reader: {arn: "arn:aws:iam::111122223333:role/r"}}
administrators: [owner]
tables:
  n.orders:
    columns:
      id: {tags: {}}
      place: {tags: {}}
      note: {tags: {}}
filters: {home: {table: n.orders, where: "place = 'home'"}}
grants:
  - {to: reader, by: owner, table: n.orders, columns: [id, place]}
  - {to: reader, by: owner, table: n.orders, filter: home}
"""


@pytest.fixture
def command(tmp_path):
    own = lakes.environment(tmp_path)
    (tmp_path / "policy.yml").write_text(POLICY)
    catalog = lakes.catalog(tmp_path)
    catalog.create_namespace("n")
    rows = pa.table({"id": [1, 2], "place": ["home", "away"], "note": ["a\nb", None], "extra": ["x", "y"]})
    catalog.create_table("n.orders", rows.schema).append(rows)

    def call(name, *arguments):
        words = [
            "access",
            name,
            str(tmp_path / "policy.yml"),
            *arguments,
            "--environment",
            str(own),
        ]
        done = CliRunner().invoke(app, words)
        return done.exit_code, done.stdout, done.exception

    return call


def test_a_policy_is_bound_checked_shown_and_exported(command):
    code, output, _ = command("bind", "n.orders")
    assert (code, output.splitlines()) == (1, [
        "bound: id, field 1", "bound: place, field 2", "bound: note, field 3",
        "not tagged, hidden from everybody: extra",
    ])  # fmt: skip
    assert command("check", "--table", "n.orders")[:2] == (0, "\n".join([
        "n.orders", "COLUMN  reader", "id      always", "place   always", "note    \"place\" = 'home'", "extra   never", "",
    ]))  # fmt: skip
    assert command("show", "n.orders", "--as", "reader")[:2] == (0, "\n".join([
        "id  place  note  _hidden", "1   home   a\\nb", "2   away   ░░░   note", "these are all visible rows", "",
    ]))  # fmt: skip
    assert (
        command("show", "n.orders", "--as", "reader", "--limit", "1")[1].splitlines()[-1]
        == "the first 1 rows; there are 1 more"
    )
    code, output, _ = command("export", "--to", "lake-formation", "--account", "111122223333")
    assert (code, [call["operation"] for call in json.loads(output)]) == (
        0,
        ["CreateDataCellsFilter", *["GrantPermissions"] * 2],
    )
    code, output, _ = command("export", "--to", "trino", "--catalog", "lake")
    assert (code, json.loads(output)["tables"][-1]) == (0, {"privileges": []})


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("show", "n.orders", "--as", "somebody"), "'somebody' is not a principal of the policy"),
        (("show", "n.others", "--as", "reader"), "there is no table n.others in the environment"),
        (("export", "--to", "lake-formation"), "--account is missing"),
        (("export", "--to", "trino"), "--catalog is missing, Trino's name of the catalog; the policy has none either"),
    ],
)  # fmt: skip
def test_a_refusal_is_a_sentence(command, arguments, sentence):
    _, _, error = command(*arguments)
    assert isinstance(error, ArgumentError) and sentence in str(error)


def test_nothing_is_shown_before_anything_is_bound(command):
    error = command("show", "n.orders", "--as", "reader")[2]
    assert (
        str(error)
        == "the filter home of n.orders reads a column that is not bound to a field id; nothing is shown by it"
    )
