"""`workbench access serve-front` and `token`: one's own table shared by a policy file and one command."""

import os
import re
import signal
import subprocess
import sys
import time

import pyarrow as pa
import pytest
from pyiceberg.catalog import load_catalog
from typer.testing import CliRunner

from workbench._base.errors import ArgumentError
from workbench_ops.cli import app
from workbench_ops.front import tokens
from workbench_standins import ports

POLICY = """
principals: {reader: {}}
administrators: [owner]
tables:
  n.orders:
    columns:
      id: {id: 1, tags: {}}
      place: {id: 2, tags: {}}
      note: {id: 3, tags: {}}
filters: {home: {table: n.orders, where: "place = 'home'"}}
grants:
  - {to: reader, by: owner, table: n.orders, columns: [id, place]}
  - {to: reader, by: owner, table: n.orders, filter: home}
"""
OWN = """
description: a lake of one's own
catalog:
  type: jdbc
  name: own
  uri: jdbc:sqlite:file:{folder}/catalog.db
  warehouse: file://{folder}
spark: {{master: "local[1]", driver_memory: 1g, shuffle_partitions: 1}}
"""


def token(key, principal="reader"):
    return CliRunner().invoke(app, ["access", "token", principal, "--key", str(key), "--port", "15003"])


def test_a_token_is_printed_for_whom_has_the_key(tmp_path):
    tokens.make_key(tmp_path / "key")
    done = token(tmp_path / "key")
    address, _, secret = done.stdout.strip().partition("/;token=")
    assert (done.exit_code, address) == (0, "sc://localhost:15003")
    assert tokens.principal_of(tokens.read_key(tmp_path / "key"), secret) == "reader"
    (tmp_path / "key").chmod(0o644)
    for key, sentence in (
        (tmp_path / "key", "must be yours and of mode 600"),
        (tmp_path / "none", "cannot be read"),
    ):
        error = token(key).exception
        assert isinstance(error, ArgumentError) and sentence in str(error)
    (tmp_path / "key").chmod(0o600)
    assert "a name without spaces and quotes" in str(token(tmp_path / "key", "a reader").exception)


@pytest.fixture
def serving(tmp_path):
    """The command as a process: a function that starts it and waits until it serves, and its port."""
    (tmp_path / "policy.yml").write_text(POLICY)
    (tmp_path / "own.yml").write_text(OWN.format(folder=tmp_path))
    catalog = load_catalog(
        "own", type="sql", uri=f"sqlite:///{tmp_path}/catalog.db", warehouse=f"file://{tmp_path}"
    )
    catalog.create_namespace("n")
    rows = pa.table({"id": [1, 2], "place": ["home", "away"], "note": ["a", "b"]})
    catalog.create_table("n.orders", rows.schema).append(rows)
    port, started = ports.choose(["front"], {})["front"], []

    def start():
        words = [
            "access",
            "serve-front",
            "policy.yml",
            "--key",
            "key",
            "--port",
            str(port),
            "--environment",
            "own.yml",
        ]
        log = (tmp_path / "log").open("w")
        command = [sys.executable, "-m", "workbench_ops.cli", *words]
        started.append(subprocess.Popen(command, cwd=tmp_path, stdout=log, stderr=subprocess.STDOUT))
        while "Ctrl-C ends it" not in (text := (tmp_path / "log").read_text()):
            assert started[-1].poll() is None, text
            time.sleep(0.05)
        return started[-1]

    yield start, port
    for process in started:
        if process.poll() is None:
            process.kill()
            process.wait()


def reader(folder, port):
    from pyspark.sql.connect.session import SparkSession

    words = ["access", "token", "reader", "--key", str(folder / "key"), "--port", str(port)]
    return SparkSession.builder.remote(CliRunner().invoke(app, words).stdout.strip()).create()


def servers(process):
    """The processes below one, with their command lines."""
    listed = subprocess.run(
        ["ps", "-e", "-o", "pid=,ppid=,args="], capture_output=True, text=True, check=True
    ).stdout
    rows = [re.match(r" *(\d+) +(\d+) (.*)", line).groups() for line in listed.splitlines()]
    below, parents = [], {process.pid}
    while children := {int(pid) for pid, parent, _ in rows if int(parent) in parents}:
        below += children
        parents = children
    return below


def living(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


@pytest.mark.proof("test_front_calls.py and test_front_governing.py show what the command serves")
def test_a_table_is_shared_by_a_file_and_a_command(serving, tmp_path, monkeypatch):
    monkeypatch.setenv("SPARK_CONNECT_MODE_ENABLED", "1")
    start, port = serving
    first = start()
    client = reader(tmp_path, port)
    rows = [row.asDict() for row in client.sql("SELECT * FROM n.orders ORDER BY id").collect()]
    assert rows == [
        {"id": 1, "place": "home", "note": "a", "_hidden": []},
        {"id": 2, "place": "away", "note": None, "_hidden": ["note"]},
    ]
    (tmp_path / "policy.yml").write_text(
        POLICY.replace("principals: {reader: {}}", "principals: {reader: {}, x: {}}").replace(
            "to: reader", "to: x"
        )
    )
    with pytest.raises(Exception, match="n.orders is not shared with reader, or does not exist"):
        client.sql("SELECT * FROM n.orders").collect()
    (tmp_path / "policy.yml").write_text("nothing")
    with pytest.raises(Exception, match="UNAUTHENTICATED|PERMISSION_DENIED|not let in"):
        client.sql("SELECT 1").collect()
    assert "nobody is let in" in (tmp_path / "log").read_text()
    client.stop()

    # killed: nothing stays behind, and it is started anew on the same port by the same key
    below = servers(first)
    assert below
    first.kill()
    first.wait()
    deadline = time.monotonic() + 60
    while any(map(living, below)) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert [pid for pid in below if living(pid)] == []
    (tmp_path / "policy.yml").write_text(POLICY)
    second = start()
    client = reader(tmp_path, port)
    assert client.sql("SELECT count(*) FROM n.orders").first()[0] == 2
    client.stop()
    second.send_signal(signal.SIGTERM)
    assert second.wait(timeout=60) == 0
    assert "Traceback" not in (tmp_path / "log").read_text()
