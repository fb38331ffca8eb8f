"""`workbench access serve-front` and `token`: one's own table shared by a policy file and one command."""

import signal
import subprocess
import sys
import time

import lakes
import psutil
import pyarrow as pa
import pytest
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
SMALL = 'spark: {master: "local[1]", driver_memory: 1g, shuffle_partitions: 1}\n'


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
    lakes.environment(tmp_path, more=SMALL)
    catalog = lakes.catalog(tmp_path)
    catalog.create_namespace("n")
    rows = pa.table({"id": [1, 2], "place": ["home", "away"], "note": ["a", "b"]})
    catalog.create_table("n.orders", rows.schema).append(rows)
    port, started = ports.choose(["front"], {})["front"], []

    def start():
        words = ["access", "serve-front", "policy.yml", "--key", "key"]
        words += ["--port", str(port), "--environment", "own.yml"]
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
    below = psutil.Process(first.pid).children(recursive=True)
    assert below
    first.kill()
    first.wait()
    assert psutil.wait_procs(below, timeout=60)[1] == []
    (tmp_path / "policy.yml").write_text(POLICY)
    second = start()
    client = reader(tmp_path, port)
    assert client.sql("SELECT count(*) FROM n.orders").first()[0] == 2
    client.stop()
    second.send_signal(signal.SIGTERM)
    assert second.wait(timeout=60) == 0
    assert "Traceback" not in (tmp_path / "log").read_text()
