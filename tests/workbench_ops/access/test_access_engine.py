"""Rules of Trino that follow the policy and the tables: what changed is put into force, what fails closes all."""

import logging

import lakes
import pyarrow as pa
import pytest
from pyiceberg.types import StringType
from typer.testing import CliRunner
from waiting import until

from workbench import access
from workbench._base.errors import ArgumentError
from workbench_ops.access import engine
from workbench_ops.cli import app
from workbench_standins import trino
from workbench_standins.trino import node

POLICY = """
principals: {reader: {}}
administrators: [owner]
tables: {n.orders: {columns: {id: {id: 1, tags: {}}, note: {id: 2, tags: {}}}}}
grants: [{to: reader, by: owner, table: n.orders, columns: [id]}]
"""


@pytest.fixture
def shared(tmp_path, monkeypatch):
    """A lake and its policy, and the rules that a server would be given, which is not started."""
    environment = lakes.environment(tmp_path)
    (tmp_path / "policy.yml").write_text(POLICY)
    catalog = lakes.catalog(tmp_path)
    catalog.create_namespace("n")
    table = catalog.create_table("n.orders", pa.schema([("id", pa.int64()), ("note", pa.string())]))
    monkeypatch.setattr(trino, "require", lambda: None)
    return environment, tmp_path / "policy.yml", table


class Served:
    """Where rules are put: what a server's `replace` and `serve` are given."""

    def __init__(self, monkeypatch):
        self.rules = []
        monkeypatch.setattr(trino, "serve", self.serve)

    def serve(self, catalogs, rules, **options):
        import contextlib

        self.catalogs, self.rules = catalogs, [rules]
        return contextlib.nullcontext(self)

    def replace(self, rules):
        self.rules.append(rules)


def columns(rules):
    return {column["name"]: column.get("allow") for rule in rules["tables"][:-1] for column in rule["columns"]}


def test_a_new_column_is_hidden_at_the_next_look_and_a_broken_policy_closes_all(shared, monkeypatch, caplog):
    environment, path, table = shared
    served = Served(monkeypatch)
    with engine.share(path, environment=environment, every_seconds=0.1):
        assert served.catalogs["own"]["iceberg.table-statistics-enabled"] == "false"
        assert {name: shown for name, shown in columns(served.rules[0]).items() if "$" not in name} == {
            "note": False
        }
        with table.update_schema() as update:
            update.add_column("more", StringType())
        until(lambda: columns(served.rules[-1]).get("more") is False, "the new column", 60)
        with caplog.at_level(logging.ERROR):
            path.write_text("grants: [")
            until(lambda: served.rules[-1] == access.export.CLOSED, "closed rules", 60)
        path.write_text(POLICY)
        until(lambda: "more" in columns(served.rules[-1]), "the policy again", 60)
    assert [record.levelname for record in caplog.records].count("ERROR") == 1  # said once, not at each look
    count = len(served.rules)
    assert count == 4  # what did not change is not put into force again


def test_a_table_that_is_gone_is_a_sentence(shared):
    environment, path, _ = shared
    path.write_text(POLICY.replace("n.orders", "n.others"))
    sentence = "there is no table n.others, which is in policy.yml"
    with pytest.raises(ArgumentError, match=sentence), engine.share(path, environment=environment):
        pass


def test_closed_rules_allow_nothing():
    closed = access.export.CLOSED
    assert closed["catalogs"] == [{"catalog": ".*", "allow": "none"}] and closed["tables"] == [{"privileges": []}]
    assert all(not rules for name, rules in closed.items() if name in ("queries", "functions", "procedures"))


def test_a_token_is_printed_for_a_server_that_is_there(tmp_path):
    words = ["access", "trino-token", "ann", "--folder", str(tmp_path)]
    refused = CliRunner().invoke(app, words).exception
    assert str(refused) == f"{tmp_path} is not the folder of a Trino server: No such file or directory"
    node.configure(tmp_path, tmp_path, {"http": 1, "https": 2}, "x", {"rules": {}, "catalogs": {}})
    done = CliRunner().invoke(app, words)
    assert done.exit_code == 0 and done.stdout.count(".") == 2


def test_the_command_refuses_before_anything_starts(shared, monkeypatch, tmp_path):
    environment, path, _ = shared
    words = [
        "access",
        "serve-trino",
        str(path),
        "--folder",
        str(tmp_path / "server"),
        "--environment",
        str(environment),
    ]

    def missing():
        raise ArgumentError("Trino is not installed here: workbench engines install trino")

    monkeypatch.setattr(trino, "require", missing)
    error = CliRunner().invoke(app, words).exception
    assert str(error) == "Trino is not installed here: workbench engines install trino"
    assert not (tmp_path / "server").exists()
