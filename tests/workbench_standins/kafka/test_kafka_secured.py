"""The secured broker: who is let in, what each right is needed for, and a controller that answers nobody else."""

import json
import os
import re
import socket
import stat
import struct
import subprocess
import sys
import time
from base64 import urlsafe_b64decode
from pathlib import Path

import pytest
import secured_topics
from confluent_kafka import Consumer, KafkaError, KafkaException, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic
from typer.testing import CliRunner

from workbench._base.errors import ArgumentError
from workbench_ops.cli import app
from workbench_standins import kafka
from workbench_standins.kafka import secured
from workbench_standins.kafka.secured import Secured

HERE = {"admin": "127.0.0.1:1", "scram": "127.0.0.1:2", "oauth": "127.0.0.1:3", "controller": "127.0.0.1:4"}
ON_A_BROKER = pytest.mark.proof(
    "test_names_that_are_refused and the tokens' test need no broker; all else is Kafka's"
)
# DescribeQuorum of __cluster_metadata's partition 0, which an open controller answers to everybody
QUORUM = (
    struct.pack("!hhih", 55, 0, 7, -1)
    + b"\x00\x02\x13__cluster_metadata\x02"
    + struct.pack("!i", 0)
    + b"\x00\x00\x00"
)


@pytest.fixture(scope="module")
def closed():
    groups = [secured_topics.of_group(user, "g") for user in secured_topics.USERS]
    with secured_topics.serving(secured_topics.WRITES, secured_topics.READS, *groups) as served:
        yield served


def write(config, value=b"1"):
    """Write a record; its error's code, None where it is there."""
    errors = []
    producer = Producer(config | {"log_level": 0, "message.timeout.ms": 20_000})
    producer.produce("sales", value, on_delivery=lambda error, _: errors.append(error))
    producer.flush(40)
    return errors[0].code() if errors[0] else None


def read(config, seconds=40.0, refused_only=False):
    """Read the first record without a group's offsets; its value, or the code of the first error.

    A record may come before the refusal of a group, which another connection asks for: `refused_only` passes over it.
    """
    failures = []
    own = {"group.id": "g", "log_level": 0, "error_cb": failures.append, "enable.auto.commit": False}
    consumer = Consumer(config | own)
    consumer.assign([TopicPartition("sales", 0, 0)])
    until = time.monotonic() + seconds
    try:
        while time.monotonic() < until:
            message = consumer.poll(0.2)
            if message is not None and (message.error() or not refused_only):
                return message.error().code() if message.error() else message.value()
            if refused := [error.code() for error in failures if error.code() == KafkaError._AUTHENTICATION]:
                return refused[0]
    finally:
        consumer.close()
    return None


@pytest.mark.parametrize(
    ("users", "sentence"),
    [
        ((), "users must be names, each once, and at least one"),
        (("a", "a"), "users must be names, each once, and at least one"),
        (("admin",), "a user must be of letters, digits, - and _, and not admin or node, found 'admin'"),
        (('a" password="',), "a user must be of letters, digits, - and _"),
    ],
)
def test_names_that_are_refused(users, sentence):
    with pytest.raises(ArgumentError, match=re.escape(sentence)), secured.serve(users=users):
        pass


def test_what_is_no_right_is_refused_and_no_secret_is_shown(tmp_path):
    served = Secured(HERE, tmp_path, {"reader": "hidden"}, b"0" * 32)
    for wrong, sentence in (
        ({"user": "riter"}, "there is no user 'riter'; there are reader"),
        ({"operation": "all"}, "operation must be one of read, write, create"),
        ({"topic": "a", "group": "b"}, "give topic or group, and not both"),
    ):
        given = {"user": "reader", "operation": "read"} | wrong
        with pytest.raises(ArgumentError, match=re.escape(sentence)):
            served.grant(given.pop("user"), given.pop("operation"), **given)
    assert "hidden" not in repr(served) and "hidden" not in repr(served.broker("reader"))
    assert served.broker("reader").config["sasl.password"] == "env:WORKBENCH_KAFKA_1_READER"


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (
            ["--users", "a", "--grant", "b:read:t"],
            "a right must be USER:OPERATION:TOPIC or USER:OPERATION:group:NAME",
        ),
        (
            ["--users", "a", "--grant", "a:all:t"],
            "a right must be USER:OPERATION:TOPIC or USER:OPERATION:group:NAME",
        ),
        (["--users", "a", "--folder", "f"], "--grant needs --users, which takes free ports and keeps nothing"),
        (["--grant", "a:read:t"], "--grant needs --users"),
    ],
)
def test_what_the_command_refuses(options, sentence):
    with pytest.raises(ArgumentError, match=re.escape(sentence)):
        CliRunner().invoke(app, ["local", "kafka", *options], catch_exceptions=False)


@ON_A_BROKER
def test_by_hand_a_shell_gets_the_passwords_and_the_rights_are_granted():
    options = ["--users", "writer,reader", "--grant", "writer:write:sales"]
    command = [str(Path(sys.executable).with_name("workbench")), "local", "kafka", *options]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as running:
        lines = [running.stdout.readline() for _ in range(7)]
        file = Path(lines[5].split()[2])
        passwords = dict(line.removeprefix("export ").split("=", 1) for line in file.read_text().splitlines())
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
        assert not [word for word in passwords.values() if word in "".join(lines)]
        address = lines[0].split()[2]
        config = {
            "bootstrap.servers": address, "security.protocol": "SASL_PLAINTEXT", "sasl.mechanism": "SCRAM-SHA-512",
            "sasl.username": "writer", "sasl.password": passwords[lines[3].split("env:")[1].strip()],
        }  # fmt: skip
        topics = AdminClient(config | {"log_level": 0}).list_topics(timeout=30).topics
        assert "sales" not in topics
        running.terminate()
        assert running.wait(60) == 0 and not file.exists()


def test_a_token_says_who_and_how_long(tmp_path):
    served = Secured(HERE, tmp_path, {"reader": "hidden"}, b"0" * 32)
    claims = served.token("reader", seconds=60).split(".")[1]
    said = json.loads(urlsafe_b64decode(claims + "=" * (-len(claims) % 4)))
    assert said["sub"] == "reader" and 50 < said["exp"] - time.time() < 61
    assert served.by_token("reader", seconds=60)["oauth_cb"]("")[1] > time.time()


@ON_A_BROKER
def test_a_right_lets_in_by_password_and_by_token_and_nobody_else(closed):
    assert write(closed.broker("writer").client(), b"first") is None
    assert read(closed.broker("reader").client()) == b"first"
    assert read(closed.by_token("reader", seconds=60)) == b"first"
    assert read(closed.by_token("reader", seconds=-60)) == KafkaError._AUTHENTICATION
    forged = Secured(closed.addresses, closed.folder, closed.passwords, b"0" * 32)
    assert read(forged.by_token("reader", seconds=60)) == KafkaError._AUTHENTICATION


@ON_A_BROKER
def test_a_client_renews_its_token_and_reads_on_behind_its_end(closed):
    renewals = []
    config = closed.by_token("reader", seconds=4)
    renew = config["oauth_cb"]
    config["oauth_cb"] = lambda text: renewals.append(1) or renew(text)
    consumer = Consumer(config | {"group.id": "g", "log_level": 0, "enable.auto.commit": False})
    consumer.assign([TopicPartition("sales", 0, 0)])
    values, until = [], time.monotonic() + 15
    while time.monotonic() < until:
        message = consumer.poll(0.2)
        if len(values) == 1 and time.monotonic() > until - 5:
            assert write(closed.broker("writer").client(), b"later") is None
        if message is not None and not message.error():
            values.append(message.value())
    consumer.close()
    assert values[0] == b"first" and values[-1] == b"later" and len(renewals) > 2


@ON_A_BROKER
@pytest.mark.parametrize("login", [{"sasl.password": "another"}, {"sasl.username": "nobody"}])
def test_a_wrong_password_and_an_unknown_user_are_refused(closed, login):
    assert read(closed.broker("reader").client() | login) == KafkaError._AUTHENTICATION


@ON_A_BROKER
def test_each_right_is_needed(closed):
    assert write(closed.broker("reader").client()) == KafkaError.TOPIC_AUTHORIZATION_FAILED
    assert read(closed.broker("writer").client()) == KafkaError.TOPIC_AUTHORIZATION_FAILED
    closed.grant("reader", "describe", topic="sales")  # without it a consumer waits, and hears of nothing
    closed.revoke("reader", "read", topic="sales")
    assert read(closed.broker("reader").client()) == KafkaError.TOPIC_AUTHORIZATION_FAILED
    closed.grant("reader", "read", topic="sales")
    assert read(closed.broker("reader").client()) == b"first"
    closed.revoke("reader", "describe", group="g")
    refusal = read(closed.broker("reader").client(), refused_only=True)
    assert refusal == KafkaError.GROUP_AUTHORIZATION_FAILED
    closed.grant("reader", "describe", group="g")
    admin = AdminClient(closed.broker("writer").client() | {"log_level": 0})
    with pytest.raises(KafkaException) as refused:
        admin.create_topics([NewTopic("other", 1)])["other"].result(30)
    assert refused.value.args[0].code() in (
        KafkaError.TOPIC_AUTHORIZATION_FAILED,
        KafkaError.CLUSTER_AUTHORIZATION_FAILED,
    )


def asked(address, timeout=20):
    """Ask a listener for the quorum without a log-in; the bytes of its answer, none where it hangs up."""
    host, _, port = address.rpartition(":")
    with socket.create_connection((host, int(port)), timeout=timeout) as connection:
        connection.sendall(struct.pack("!i", len(QUORUM)) + QUORUM)
        try:
            return connection.recv(4096)
        except ConnectionResetError:
            return b""


@ON_A_BROKER
def test_the_controller_hangs_up_where_an_open_one_answers(closed):
    assert [asked(address) for address in closed.addresses.values()] == [b""] * 4
    with (
        kafka.serve() as broker
    ):  # without it the test could not tell a closed door from a question nobody answers
        settings = (broker.folder / "server.properties").read_text()
        controller = re.search(r"CONTROLLER://(\S+:\d+)", settings)[1]
        assert len(asked(controller)) > 8


@ON_A_BROKER
def test_its_secrets_are_its_owner_s_alone(closed):
    for name in ("server.properties", "jwks.json", "kafka.log"):
        assert stat.S_IMODE((closed.folder / name).stat().st_mode) & 0o077 == 0, name
    hidden = [*closed.passwords.values(), closed.key.hex(), os.environ[closed.owner().config["sasl.password"][4:]]]
    for process in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{process}/cmdline", "rb") as file:
                line = file.read().decode(errors="replace")
        except OSError:
            continue
        assert not [secret for secret in hidden if secret in line]
