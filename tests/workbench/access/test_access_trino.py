"""A real Trino with a policy's rules in force: two worlds are one but for what is known, and planted holes are found."""

import json
import os
import signal
import ssl
import subprocess
import time
import urllib.error
import urllib.request
from concurrent.futures import ThreadPoolExecutor

import pyarrow as pa
import pytest
from pyiceberg.types import StringType
from trino_lakes import KINDS, TABLES, lacking, partitioned, written

from workbench import access
from workbench._base import children, signing
from workbench.access.reading import judged
from workbench_standins import ports, trino
from workbench_standins.trino import node

pytest_plugins = ["living_trino"]
WHY = lacking()
SHOWN = "test_the_rules_of_trino shows the rules, and test_trino_files.py the server's files, without a server"
pytestmark = [pytest.mark.proof(SHOWN), pytest.mark.skipif(WHY is not None, reason=str(WHY))]
SIDE_BY_SIDE = 4
ALL = (*access.PROBES, *access.trino.PROBES)


def learned(lake, kind, probes=ALL, catalog="lake"):
    first, second, twin = TABLES[kind]
    routes = {"trino": access.trino.by_cursor(lambda: lake.connect(catalog=catalog), catalog=catalog)}
    return access.leaks(routes, first=first, second=second, twin=twin, probes=probes)


def leaking(proof):
    return {leak.probe for leak in proof.leaks}


@pytest.mark.parametrize("kind", KINDS)
def test_two_worlds_are_one_to_a_reader_but_for_what_is_known(lake, kind):
    with ThreadPoolExecutor(SIDE_BY_SIDE) as pool:
        proofs = list(pool.map(lambda turn: learned(lake, kind, ALL[turn::SIDE_BY_SIDE]), range(SIDE_BY_SIDE)))
    assert set().union(*map(leaking, proofs)) == access.trino.KNOWN[kind].keys()
    assert [leak for proof in proofs for leak in proof.undecided] == []
    assert sum(proof.probes for proof in proofs) == len(ALL) >= 130
    assert sum(proof.answered["trino"] for proof in proofs) >= 60


@pytest.mark.parametrize("kind", KINDS)
def test_what_a_query_read_is_told(lake, kind):
    first, second, twin = TABLES[kind]
    routes = {"counted": access.trino.counted(lake.connect, catalog="lake")}
    proof = access.leaks(routes, first=first, second=second, twin=twin, probes=access.trino.COUNTED)
    assert leaking(proof) == access.trino.KNOWN_COUNTS[kind].keys() and proof.undecided == ()


def only(*names):
    return [probe for probe in ALL if probe.name in names]


def opened(rules):
    """The planted hole: names of tables as `.*`, which fit a table's metadata, too."""
    for rule in rules["tables"][:-1]:
        rule["table"] += ".*"


def opened_beside(rules):
    """The planted hole: a table's metadata by a rule of their own, without the filter, whose columns they lack."""
    places = ("user", "catalog", "schema")
    for rule in rules["tables"][:-1]:
        own = {place: rule[place] for place in places}
        rules["tables"].insert(0, own | {"table": rule["table"] + r"\$.*", "privileges": ["SELECT"]})


def without_masks(rules):
    for rule in rules["tables"][:-1]:
        rule["columns"] = [column for column in rule["columns"] if "mask" not in column]


def without_filter(rules):
    for rule in rules["tables"][:-1]:
        rule.pop("filter", None)


def with_address(rules):
    for rule in rules["tables"][:-1]:
        rule["columns"] = [column for column in rule["columns"] if column["name"] != "address"]


HOLES = {
    "tables by a pattern": (opened, "cells", {"Trino: $files", "Trino: $partitions", "Trino: $entries"}),
    "rows by a pattern": (opened_beside, "rows", {"Trino: $files", "Trino: $snapshots", "Trino: $manifests"}),
    "no masks": (
        without_masks,
        "cells",
        {"hidden text equals", "greatest hidden number", "order by hidden text", "Trino: a whole row",
         "Trino: a row as JSON", "Trino: an error of a hidden text"},
    ),
    "no filter of rows": (without_filter, "rows", {"count of rows", "groups by hidden text"}),
    "no filter of no row": (without_filter, "patterns", {"count of rows", "Trino: an error of a row of NULLs"}),
    "a column that is not denied": (with_address, "cells", {"a hidden column", "order by a hidden column"}),
}  # fmt: skip


@pytest.mark.parametrize("hole", HOLES)
def test_a_planted_hole_is_found(in_force, hole):
    change, kind, least = HOLES[hole]
    in_force.changed(change)
    assert leaking(learned(in_force, kind, only(*least))) == least


def test_statistics_are_a_hole_where_the_catalog_tells_them(in_force):
    def told(rules):
        for rule in (*rules["catalogs"][:1], *rules["tables"][:-1]):
            rule["catalog"] = "lake|told"

    in_force.changed(told)
    names = ("Trino: statistics", "Trino: statistics of a condition", "Trino: plan of all")
    assert leaking(learned(in_force, "rows", only(*names), catalog="told")) == set(names)
    assert leaking(learned(in_force, "rows", only(*names))) == set()


def test_partitions_of_a_hidden_column_are_hidden(in_force):
    table = partitioned(in_force.catalog, "trino_parts.towns")
    ids = {"id": {"id": 1, "tags": {}}, "town": {"id": 2, "tags": {}}}
    policy = judged(
        {
            "principals": {"reader": {}}, "administrators": ["owner"],
            "tables": {"trino_parts.towns": {"columns": ids}},
            "grants": [{"to": "reader", "by": "owner", "table": "trino_parts.towns", "columns": ["id"]}],
        },
        "test",
    )  # fmt: skip
    rules = access.export.trino(policy, {"trino_parts.towns": table}, catalog="lake")
    in_force.put(rules)
    assert sorted(in_force.ask("SELECT * FROM trino_parts.towns")) == [[1], [2]]
    for column in ("$partition", "$path", "$file_modified_time"):
        assert denied(refused(in_force, f'SELECT "{column}" FROM trino_parts.towns'))
    [rule] = rules["tables"][:-1]
    rule["columns"] = rule["columns"][:1]  # the planted hole: what the connector adds is not denied
    in_force.put(rules)
    assert "Leeds" in str(in_force.ask('SELECT "$partition", "$path" FROM trino_parts.towns'))


def refused(lake, statement, **options):
    """What a reader is told."""
    with pytest.raises(Exception) as error:
        lake.ask(statement, **options)
    return f"{type(error.value).__name__}: {error.value}"


def denied(message):
    """Say whether somebody is refused for want of a right, and not for another mistake."""
    return "Access Denied" in message or "Relation not found or not allowed" in message


TABLE = TABLES["rows"][0]
DENIED = (
    f"INSERT INTO {TABLE} VALUES (9, 'x', 'UK', 1, 'y')", f"DELETE FROM {TABLE}", f"UPDATE {TABLE} SET name = 'x'",
    f"DROP TABLE {TABLE}", f"ALTER TABLE {TABLE} ADD COLUMN more INTEGER", f"ANALYZE {TABLE}",
    f"CREATE TABLE trino_rows.mine AS SELECT * FROM {TABLE}",
    f"CREATE VIEW trino_rows.mine AS SELECT * FROM {TABLE}", "CREATE SCHEMA lake.mine",
    "CALL lake.system.rollback_to_snapshot('trino_rows', 'world_a', 1)",
    "CALL lake.system.register_table('trino_rows', 'mine', 'file:///tmp')",
    "SELECT * FROM system.runtime.nodes", "SELECT * FROM system.runtime.queries", "SELECT * FROM told.trino_rows.world_a",
    "SET SESSION lake.statistics_enabled = true", "SET SESSION query_max_run_time = '1d'",
    f"SELECT address FROM {TABLE}", f'SELECT * FROM trino_rows."{TABLE.split(".")[1]}$files"',
    "CALL system.runtime.kill_query('20260101_000000_00000_aaaaa', 'x')",
    "CREATE CATALOG mine USING memory", "GRANT SELECT ON trino_rows.world_a TO USER other",
)  # fmt: skip


@pytest.mark.parametrize("statement", DENIED)
def test_a_hostile_reader_is_refused(lake, statement):
    assert denied(refused(lake, statement))
    assert len(lake.ask(f"SELECT * FROM {TABLE}")) == 3


WRITING = ("optimize", "optimize_manifests", "expire_snapshots", "remove_orphan_files", "drop_extended_stats")
READ_BY = {  # table to the reader's grants of it
    "trino_kept.whole": [{}], "trino_kept.columns": [{"columns": ["id"]}], "trino_kept.hidden": [],
    "trino_kept.cells": [{"columns": ["id"]}, {"filter": "cells"}], "trino_kept.rows": [{"filter": "rows"}],
}  # fmt: skip


def test_no_procedure_of_a_table_is_run_by_a_reader(in_force):
    """Trino's rules have none against them; it runs none on a table with a filter of rows."""
    rows = pa.table({"id": pa.array([1], pa.int64()), "secret": ["x"]})
    tables, columns = {}, {"id": {"id": 1, "tags": {}}, "secret": {"id": 2, "tags": {}}}
    for name in READ_BY:
        tables[name] = written(in_force.catalog, name, rows)
        tables[name].append(rows)
    grants = [
        {"to": "reader", "by": "owner", "table": name} | grant for name in READ_BY for grant in READ_BY[name]
    ]
    policy = judged(
        {
            "principals": {"reader": {}}, "administrators": ["owner"],
            "tables": {name: {"columns": columns} for name in READ_BY}, "grants": grants,
            "filters": {kind: {"table": f"trino_kept.{kind}", "where": "id = 1"} for kind in ("cells", "rows")},
        },
        "test",
    )  # fmt: skip
    rules = access.export.trino(policy, tables, catalog="lake")
    in_force.put(rules)
    for name, table in tables.items():
        back = f"rollback_to_snapshot(snapshot_id => {table.metadata.snapshots[0].snapshot_id})"
        kept = table.metadata_location
        for procedure in (*WRITING, back):
            message = refused(in_force, f"ALTER TABLE {name} EXECUTE {procedure}")
            exactly = "ALTER TABLE EXECUTE is not supported for table with row filter"
            assert denied(message) if name == "trino_kept.hidden" else exactly in message
        assert table.refresh().metadata_location == kept
    for rule in rules["tables"][:-1]:
        rule.pop("filter")
    in_force.put(rules)  # the planted hole: who sees all rows has no filter
    for name in ("trino_kept.whole", "trino_kept.columns"):
        kept = tables[name].metadata_location
        in_force.ask(f"ALTER TABLE {name} EXECUTE optimize")
        assert tables[name].refresh().metadata_location != kept


def posted(lake, headers, scheme="https", port=None):
    """The status of a statement that is posted by hand, and the error that it ends with."""
    trusted = ssl.create_default_context(cafile=str(lake.server.certificate))
    opener = urllib.request.build_opener(
        urllib.request.ProxyHandler({}), urllib.request.HTTPSHandler(context=trusted)
    )
    address, data = f"{scheme}://127.0.0.1:{port or lake.server.port}/v1/statement", b"SELECT current_user"
    try:
        while True:
            request = urllib.request.Request(address, data=data, headers=headers)
            with opener.open(request, timeout=60) as answer:
                told = json.load(answer)
            if "nextUri" not in told:
                return answer.status, told.get("error", {}).get("message", "")
            address, data = told["nextUri"], None
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode(errors="replace")


def forged(lake, **changes):
    """A token that the server did not issue so."""
    import base64

    key = changes.pop("key", None) or base64.b64decode((lake.server.folder / node.KEY).read_text())
    now = int(time.time())
    return signing.token(key, {"sub": "reader", "aud": node.AUDIENCE, "iat": now, "exp": now + 900} | changes)


def test_only_a_token_of_the_servers_own_lets_in(lake):
    def bearer(token):
        return {"Authorization": f"Bearer {token}"}

    assert posted(lake, bearer(lake.server.token("reader")))[0] == 200
    none = lake.server.token("reader").rpartition(".")[0] + "."
    refusals = {
        "no token": {}, "a name alone": {"X-Trino-User": "reader"}, "no signature": bearer(none),
        "another key": bearer(forged(lake, key=bytes(32))), "another purpose": bearer(forged(lake, aud="workbench-front")),
        "expired": bearer(forged(lake, exp=int(time.time()) - 100)),
    }  # fmt: skip
    for name, headers in refusals.items():
        assert posted(lake, headers)[0] == 401, name
    _, message = posted(lake, bearer(lake.server.token("reader")) | {"X-Trino-User": "owner"})
    assert "User reader cannot impersonate user owner" in message
    config = (lake.server.folder / "etc" / "config.properties").read_text()
    http = int(
        next(line for line in config.splitlines() if line.startswith("http-server.http.port")).split("=")[1]
    )
    assert posted(lake, {"X-Trino-User": "reader"}, "http", http)[0] in (401, 403)
    assert posted(lake, bearer(lake.server.token("reader")), "http", http)[0] in (401, 403)
    commands = running()
    assert str(lake.server.folder) in commands and (lake.server.folder / node.KEY).read_text() not in commands


def test_a_stranger_with_a_token_asks_nothing(lake):
    assert denied(refused(lake, "SELECT 1", user="stranger"))


def test_a_hidden_table_is_told_from_a_missing_one(lake):
    """Known and told: Trino has no rule against it. The hidden one is in no list."""
    written(lake.catalog, "trino_rows.secret", pa.table({"x": pa.array([1], pa.int64())}))
    assert denied(refused(lake, "SELECT * FROM trino_rows.secret"))
    assert "does not exist" in refused(lake, "SELECT * FROM trino_rows.missing")
    assert "secret" not in str(lake.ask("SHOW TABLES FROM trino_rows"))
    assert "secret" not in str(lake.ask("SELECT table_name FROM information_schema.tables"))


def test_a_grant_that_is_taken_away_is_gone_and_a_damaged_file_shows_nothing(in_force):
    assert len(in_force.ask(f"SELECT * FROM {TABLE}")) == 3

    def revoked(rules):
        rules["tables"] = [rule for rule in rules["tables"] if rule.get("schema") != "trino_rows"]

    in_force.changed(revoked)
    assert denied(refused(in_force, f"SELECT * FROM {TABLE}"))
    in_force.put({"tables": [{"privileges": "no list"}]})
    assert refused(in_force, f"SELECT * FROM {TABLES['cells'][0]}")


def test_a_renamed_column_needs_an_export_and_a_new_one_is_visible_until_then(in_force):
    """What goes by names and not by ids: the two limits that are told."""
    rows = pa.table({"id": pa.array([1], pa.int64()), "secret": ["x"]})
    table = written(in_force.catalog, "trino_new.people", rows)
    ids = {"id": {"id": 1, "tags": {}}, "secret": {"id": 2, "tags": {}}}
    policy = judged(
        {
            "principals": {"reader": {}}, "administrators": ["owner"], "tables": {"trino_new.people": {"columns": ids}},
            "grants": [{"to": "reader", "by": "owner", "table": "trino_new.people", "columns": ["id"]}],
        },
        "test",
    )  # fmt: skip

    def exported():
        in_force.put(access.export.trino(policy, {"trino_new.people": table.refresh()}, catalog="lake"))

    exported()
    assert in_force.ask("SELECT * FROM trino_new.people") == [[1]]
    with table.update_schema() as update:
        update.rename_column("secret", "hidden")
        update.add_column("more", StringType())
    assert in_force.ask("SELECT * FROM trino_new.people") == [[1, "x", None]]
    exported()
    assert in_force.ask("SELECT * FROM trino_new.people") == [[1]]
    for name in ("hidden", "more", "secret"):
        message = refused(in_force, f"SELECT {name} FROM trino_new.people")
        assert denied(message) or (name == "secret" and "cannot be resolved" in message)


def test_a_server_ends_when_its_process_is_killed(lake, tmp_path):
    """Killed, the process between us and the JVM cannot end it: the kernel does."""
    properties = trino.translated({"name": "lake", "type": "sql", **lake.catalog.properties})
    settings = {
        "folder": None, "within": str(tmp_path), "port": 0, "home": str(node.home()), "memory_mb": 768,
        "catalogs": {"lake": properties}, "rules": lake.rules,
    }  # fmt: skip
    with children.started(trino.child.__name__, patience_seconds=30) as process:
        answer = children.ask(process, settings, name="Trino server's process")
        mine = str(answer["folder"])
        assert not ports.free(answer["port"]) and mine in running()
        os.kill(process.pid, signal.SIGKILL)
        end = time.monotonic() + 60  # a process that ends has no name any more before its port is closed
        while (mine in running() or not ports.free(answer["port"])) and time.monotonic() < end:
            time.sleep(0.2)
        assert mine not in running()
        assert ports.free(answer["port"])


def running():
    """The command lines of all processes, whole: `ps` cuts them to COLUMNS, a variable of whoever runs the tests."""
    return subprocess.run(["ps", "-eww", "-o", "args"], capture_output=True, text=True, check=True).stdout
