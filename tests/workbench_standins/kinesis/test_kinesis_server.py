"""The server as a process and on HTTP: starts, ends, clients, what it refuses, the command's function."""

import http.client
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from botocore.exceptions import ClientError
from kinesis_clients import client, new_client

from workbench_standins import kinesis


@pytest.fixture(scope="module")
def unlimited():
    """One server without limits for tests that only need some server; each takes streams of its own."""
    with kinesis.serve(limits=kinesis.UNLIMITED) as server:
        yield server


def children(pid):
    """Ids of the processes that a process started and that still run."""
    return [int(one) for one in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def gone(pid, seconds=60):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        try:
            if Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z":
                return True
        except FileNotFoundError:
            return True
        time.sleep(0.02)
    return False


def test_a_child_process_serves_and_ends_with_its_context(capfd):
    before = children(os.getpid())
    with kinesis.serve() as server:
        (pid,) = set(children(os.getpid())) - set(before)
        assert client(server.endpoint).list_streams()["StreamNames"] == []
        port = int(server.endpoint.rpartition(":")[2])
        assert listening_on(port) == {"0100007F"}  # 127.0.0.1, and nothing else
    assert gone(pid)
    with pytest.raises(OSError):
        socket.create_connection(("127.0.0.1", port), timeout=1)
    assert capfd.readouterr() == ("", "")


def listening_on(port):
    """Addresses, as the kernel writes them, on which a port listens."""
    found = set()
    for table in ("/proc/net/tcp", "/proc/net/tcp6"):
        for line in Path(table).read_text().splitlines()[1:]:
            local, state = line.split()[1], line.split()[3]
            if state == "0A" and int(local.rpartition(":")[2], 16) == port:
                found.add(local.rpartition(":")[0])
    return found


def test_the_child_ends_when_its_parent_is_killed():
    code = "from workbench_standins import kinesis\nimport sys, time\nwith kinesis.serve() as s: print(s.endpoint, flush=True); time.sleep(60)"
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) as parent:
        endpoint = parent.stdout.readline().strip()
        (pid,) = children(parent.pid)
        parent.kill()
        assert client(endpoint) and gone(pid)


def test_a_child_that_died_is_told():
    before = children(os.getpid())  # other tests' servers may run on
    with kinesis.serve() as server:
        (pid,) = set(children(os.getpid())) - set(before)
        os.kill(pid, signal.SIGKILL)
        with pytest.raises(ChildProcessError, match="ended by itself, exit code -9"):
            server.clock.now()


def test_thread_and_child_do_the_same():
    said = []
    for in_thread in (True, False):
        fault = kinesis.Fault("internal_failure", operations=["ListStreams"], most=1)
        with kinesis.serve(
            start=1_800_000_000, faults=[fault], transition_seconds=1, region="eu-west-1", in_thread=in_thread
        ) as server:
            k = client(server.endpoint, attempts=3)
            k.create_stream(StreamName="s", ShardCount=1)
            states = [k.describe_stream(StreamName="s")["StreamDescription"]["StreamStatus"]]
            states += [
                server.clock.advance(1),
                k.describe_stream(StreamName="s")["StreamDescription"]["StreamStatus"],
            ]
            k.list_streams()
            with pytest.raises(ValueError, match="seconds must be a number of at least 0 and below inf, found -1"):
                server.clock.advance(-1)
            said.append(
                (states, server.faults.injected(), server.calls(), server.clock.stop(), server.clock.now())
            )
    assert said[0] == said[1] == (
        ["CREATING", 1_800_000_001.0, "ACTIVE"],
        [kinesis.Injected("internal_failure", 2, 1)],
        {"CreateStream": 1, "DescribeStream": 2, "ListStreams": 2},
        1_800_000_001.0,
        1_800_000_001.0,
    )  # fmt: skip


def test_boto3_reads_the_shapes_it_knows(unlimited):
    k = client(unlimited.endpoint)
    k.create_stream(StreamName="shapes", ShardCount=1)
    with pytest.raises(k.exceptions.ResourceInUseException):
        k.create_stream(StreamName="shapes", ShardCount=1)
    with pytest.raises(
        k.exceptions.ResourceNotFoundException, match="Stream nowhere under account 000000000000 not found"
    ):
        k.describe_stream(StreamName="nowhere")
    with pytest.raises(k.exceptions.InvalidArgumentException, match="Invalid ShardIterator"):
        k.get_records(ShardIterator="x")
    k.get_waiter("stream_exists").wait(StreamName="shapes")
    assert [
        s["ShardId"]
        for page in k.get_paginator("list_shards").paginate(StreamName="shapes")
        for s in page["Shards"]
    ] == ["shardId-000000000000"]
    k.put_record(StreamName="shapes", Data=bytes(range(256)), PartitionKey='quote " and \\ and 日本')
    iterator = k.get_shard_iterator(
        StreamName="shapes", ShardId="shardId-000000000000", ShardIteratorType="TRIM_HORIZON"
    )
    (record,) = k.get_records(ShardIterator=iterator["ShardIterator"])["Records"]
    assert (record["Data"], record["PartitionKey"]) == (bytes(range(256)), 'quote " and \\ and 日本')
    assert abs(record["ApproximateArrivalTimestamp"].timestamp() - time.time()) < 60
    k.delete_stream(StreamName="shapes")
    k.get_waiter("stream_not_exists").wait(StreamName="shapes")


def test_a_stream_is_in_the_region_that_the_caller_signed_for(unlimited):
    client(unlimited.endpoint, region="eu-west-1").create_stream(StreamName="there", ShardCount=1)
    assert "there" in client(unlimited.endpoint, region="eu-west-1").list_streams()["StreamNames"]
    with pytest.raises(ClientError, match="Stream there under account 000000000000 not found"):
        client(unlimited.endpoint).describe_stream(StreamName="there")


def ask(
    server,
    body,
    *,
    target="Kinesis_20131202.ListStreams",
    media="application/x-amz-json-1.1",
    path="/",
    method="POST",
):
    connection = http.client.HTTPConnection(server.endpoint.removeprefix("http://"), timeout=10)
    connection.request(method, path, body, {"X-Amz-Target": target, "Content-Type": media})
    answer = connection.getresponse()
    text = answer.read()
    connection.close()
    return answer.status, json.loads(text).get("__type") if text.startswith(b"{") else None


def test_unsigned_calls_are_served_and_odd_ones_refused(unlimited):
    assert ask(unlimited, b"{}") == (200, None)
    assert ask(unlimited, b"{") == (400, "SerializationException")
    assert ask(unlimited, b"[" * 100_000) == (400, "SerializationException")
    assert ask(unlimited, b"[]") == (400, "SerializationException")
    assert ask(unlimited, b"\xff") == (400, "SerializationException")
    assert ask(unlimited, b'{"Limit": NaN}') == (400, "SerializationException")
    assert ask(unlimited, b"{}", target="Kinesis_20131202.Dance") == (400, "UnknownOperationException")
    assert ask(unlimited, b"{}", target="DynamoDB_20120810.ListTables") == (400, "UnknownOperationException")
    assert ask(unlimited, b"{}", media="text/plain") == (415, "SerializationException")  # what a web page can send
    assert ask(unlimited, b"{}", path="/elsewhere")[0] == 404
    assert ask(unlimited, None, method="GET")[0] == 405
    assert ask(unlimited, b" " * (33 * 1024 * 1024))[0] == 413
    assert ask(unlimited, b"{}") == (200, None)


def test_two_clients_at_once_lose_nothing(unlimited):
    new_client(unlimited.endpoint).create_stream(StreamName="two", ShardCount=2)
    sent = {name: [] for name in "ab"}

    def produce(name):
        k = new_client(unlimited.endpoint)
        for n in range(20):
            records = [{"Data": b"", "PartitionKey": f"{name}-{n}-{i}"} for i in range(50)]
            answer = k.put_records(StreamName="two", Records=records)
            sent[name] += [
                (r["ShardId"], int(r["SequenceNumber"]), e["PartitionKey"])
                for r, e in zip(answer["Records"], records, strict=True)
            ]

    found = {0: [], 1: []}

    def consume(shard):
        k = new_client(unlimited.endpoint)
        start = k.get_shard_iterator(
            StreamName="two", ShardId=f"shardId-{shard:012d}", ShardIteratorType="TRIM_HORIZON"
        )["ShardIterator"]
        while len(found[0]) + len(found[1]) < 2000 and time.monotonic() < end:
            read = k.get_records(ShardIterator=start, Limit=100)
            start = read["NextShardIterator"]
            found[shard] += [
                (f"shardId-{shard:012d}", int(r["SequenceNumber"]), r["PartitionKey"]) for r in read["Records"]
            ]

    end = time.monotonic() + 120
    threads = [threading.Thread(target=produce, args=name) for name in "ab"] + [
        threading.Thread(target=consume, args=(shard,)) for shard in (0, 1)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(found[0] + found[1]) == sorted(sent["a"] + sent["b"])
    for shard in (0, 1):  # a shard's order is that of its numbers, and a client's records keep theirs
        assert found[shard] == sorted(found[shard])
    for name in "ab":
        assert len(sent[name]) == 1000
        for shard in ("shardId-000000000000", "shardId-000000000001"):
            numbers = [number for where, number, _ in sent[name] if where == shard]
            assert numbers == sorted(numbers)


def test_a_client_that_comes_back_goes_on_where_it_was(unlimited):
    k = new_client(unlimited.endpoint)
    k.create_stream(StreamName="back", ShardCount=1)
    numbers = [k.put_record(StreamName="back", Data=b"", PartitionKey=str(n))["SequenceNumber"] for n in range(3)]
    asked = {"StreamName": "back", "ShardId": "shardId-000000000000"}
    first = k.get_records(
        ShardIterator=k.get_shard_iterator(**asked, ShardIteratorType="TRIM_HORIZON")["ShardIterator"], Limit=1
    )
    again = new_client(unlimited.endpoint)  # the iterator and the sequence number are all that a restart needs
    assert [r["PartitionKey"] for r in again.get_records(ShardIterator=first["NextShardIterator"])["Records"]] == [
        "1",
        "2",
    ]
    after = again.get_shard_iterator(
        **asked, ShardIteratorType="AFTER_SEQUENCE_NUMBER", StartingSequenceNumber=numbers[1]
    )
    assert [r["PartitionKey"] for r in again.get_records(ShardIterator=after["ShardIterator"])["Records"]] == ["2"]


@pytest.mark.parametrize(
    "wrong, says",
    [
        ({"port": 70_000}, "port must be an integer of at least 0 and of at most 65535, found 70000"),
        ({"limits": "off"}, "limits must be Limits or None, found 'off'"),
        ({"start": "now"}, "start must be a number above -inf and below inf or None, found 'now'"),
        ({"transition_seconds": -1}, "transition_seconds must be a number of at least 0 and below 3600, found -1"),
        ({"seed": 1.5}, "seed must be an integer, found 1.5"),
    ],
)
def test_arguments_that_do_not_go_start_nothing(wrong, says, monkeypatch):
    monkeypatch.setattr("workbench._base.children.subprocess.Popen", None)
    with pytest.raises(ValueError, match=says), kinesis.serve(**wrong):
        pass


@pytest.mark.parametrize("in_thread", [True, False])
def test_a_taken_port_is_told(in_thread):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        says = f"port {port} of 127.0.0.1 cannot be had: "
        with pytest.raises(ValueError, match=says), kinesis.serve(port=port, in_thread=in_thread):
            pass


def test_without_aiohttp_the_missing_package_is_named(monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(ModuleNotFoundError, match=r"pip install 'iceberg-workbench\[streams\]'"), kinesis.serve():
        pass


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_serving_forever_ends_by_a_signal(number, tmp_path):
    (tmp_path / "faults.yml").write_text("faults: [{kind: internal_failure, operations: [ListStreams], most: 1}]")
    code = (
        "from workbench_standins import kinesis\n"
        f"kinesis.serve_forever(port=0, faults={str(tmp_path / 'faults.yml')!r}, ready=lambda endpoint: print(endpoint, flush=True))\n"
        "print('ended')"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        endpoint = process.stdout.readline().strip()
        with pytest.raises(ClientError, match="InternalFailure"):
            client(endpoint).list_streams()
        assert client(endpoint).list_streams()["StreamNames"] == []
        process.send_signal(number)
        assert process.communicate(timeout=60) == ("ended\n", "")
        assert process.returncode == 0
