"""The Spark Connect server on this machine: what is refused before a JVM starts, and its life."""

import os
import signal
import socket
import stat
import struct
import subprocess
import time

import pytest

from workbench._base import children
from workbench._base.errors import ArgumentError
from workbench_standins import ports, spark_connect
from workbench_standins.spark_connect import node

CONF = {"spark.master": "local[1]", "spark.driver.memory": "600m"}

LAKE = {"spark.sql.catalog.lake": "org.apache.iceberg.spark.SparkCatalog", "spark.sql.catalog.lake.type": "hadoop"}


@pytest.mark.parametrize(
    ("conf", "options", "sentence"),
    [
        ({"spark.master": 1}, {}, "conf must be a dict of texts to texts, found 1 in it"),
        (CONF, {"port": -1}, "port must be an integer of at least 0"),
        (CONF, {"folder": "a", "within": "b"}, "give folder, the server's own, or within"),
        (CONF | {"spark.hadoop.key": "env:NO_SUCH_VARIABLE"}, {}, "NO_SUCH_VARIABLE, which is not set"),
    ],
)
def test_what_is_wrong_is_refused_before_anything_starts(conf, options, sentence):
    with pytest.raises(ArgumentError, match=sentence), spark_connect.serve(conf, **options):
        pass


def test_a_port_or_a_folder_of_others_is_refused(tmp_path):
    (tmp_path / "mine").write_text("x")
    with pytest.raises(ArgumentError, match="holds other things"), spark_connect.serve(CONF, folder=tmp_path):
        pass
    with socket.create_server((ports.HOST, 0)) as taken:
        port = taken.getsockname()[1]
        sentence = f"port {port} of 127.0.0.1 cannot be had"
        with pytest.raises(ArgumentError, match=sentence), spark_connect.serve(CONF, port=port):
            pass


def test_settings_are_for_this_user_alone_and_as_java_reads_them(tmp_path):
    before = os.umask(0)
    try:
        node.configure(tmp_path, {"spark.a b": "c:\\d = é#!\n😀", "spark.e": " f "}, 4711, "the token")
    finally:
        os.umask(before)
    path = tmp_path / "server.properties"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert path.read_text(encoding="ascii").splitlines() == [
        r"spark.a\ b=c\:\\d\ \=\ \u00e9\#\!\n\ud83d\ude00",
        r"spark.e=\ f\ ",
        "spark.connect.grpc.binding.address=127.0.0.1",
        "spark.connect.grpc.binding.port=4711",
        r"spark.connect.authenticate.token=the\ token",
    ]


def test_what_keeps_readers_safe_cannot_be_set_otherwise(monkeypatch):
    """Whatever the environment says, the settings of SAFE are those that the child is told."""
    asked = {}

    def running(settings):
        asked.update(settings)
        raise ArgumentError("far enough")

    monkeypatch.setattr(spark_connect.child, "running", running)
    with (
        pytest.raises(ArgumentError, match="far enough"),
        spark_connect.serve(CONF | LAKE | {"spark.sql.variable.substitute": "true"}),
    ):
        pass
    fresh = {"spark.sql.catalog.lake.cache-enabled": "false", "spark.authenticate": "true"}
    assert asked["conf"] == CONF | LAKE | spark_connect.SAFE | fresh
    assert asked["conf"]["spark.sql.variable.substitute"] == "false"


def block(port, name):
    """What a port of the JVM answers to somebody who asks it for a block, by Spark's own protocol and no token."""
    words = [word.encode() for word in ("app", "driver", name)]
    texts = [struct.pack(">i", len(word)) + word for word in words]
    body = b"\x00" + texts[0] + texts[1] + struct.pack(">i", 1) + texts[2]  # OpenBlocks
    head = b"\x03" + struct.pack(">qi", 7, len(body))  # RpcRequest
    with socket.create_connection((ports.HOST, port), timeout=60) as connection:
        connection.sendall(struct.pack(">q", 8 + len(head) + len(body)) + head + body)
        answer = connection.recv(65536)
    return {4: "RpcResponse", 5: "RpcFailure"}.get(answer[8]), answer[17:].decode("latin-1")


def alive(port):
    return not ports.free(port)


@pytest.mark.proof(
    "test_what_is_wrong_is_refused_before_anything_starts shows the server's settings without a JVM"
)
def test_a_server_lives_as_long_as_its_context_and_takes_its_token_alone(tmp_path):
    blocks = ports.choose(("blocks",), {"blocks": 0})["blocks"]
    conf = CONF | {"spark.blockManager.port": str(blocks)}
    with spark_connect.serve(conf, within=tmp_path) as server:
        assert server.address == f"127.0.0.1:{server.port}" and node._answers(server.port, server.token())
        assert not node._answers(server.port, "another")
        assert stat.S_IMODE(server.token_file.stat().st_mode) == 0o600
        whole = ["ps", "-eww", "-o", "args"]  # without ww, lines are cut to COLUMNS
        commands = subprocess.run(whole, capture_output=True, text=True, check=True).stdout
        assert str(tmp_path) in commands and server.token() not in commands
        from pyspark.sql.connect.session import SparkSession

        spark = SparkSession.builder.remote(server.remote()).create()
        assert spark.range(3).count() == 3
        kind, said = block(blocks, "broadcast_0_piece0")
        assert kind == "RpcFailure" and "Sasl" in said
        assert spark.conf.get("spark.sql.optimizer.datasourceV2ExprFolding") == "false"
        assert spark.sql("select '${spark.connect.authenticate.token}' as t").first().t.startswith("${")
        spark.stop()
    assert not alive(server.port)


@pytest.mark.proof(
    "test_what_is_wrong_is_refused_before_anything_starts shows the server's settings without a JVM"
)
def test_a_server_ends_when_its_process_is_killed(tmp_path):
    """Killed, the process between us and the JVM cannot end it: the kernel does."""
    settings = {"folder": None, "within": str(tmp_path), "conf": CONF, "port": 0}
    with children.started(spark_connect.child.__name__, patience_seconds=30) as process:
        port = children.ask(process, settings, name="Spark Connect server's process")["port"]
        assert alive(port)
        os.kill(process.pid, signal.SIGKILL)
        end = time.monotonic() + 30
        while alive(port) and time.monotonic() < end:
            time.sleep(0.2)
        assert not alive(port)
