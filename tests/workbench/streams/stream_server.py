"""What the tests of streams share: one Kinesis server a worker, streams of their own, records that are numbers.

Not a conftest: a second module of that name would be found where others import from the first.
"""

import contextlib
import functools
import json

import boto3
import pytest
from botocore.config import Config

from workbench.streams import publish
from workbench.streams.readers import sources
from workbench_standins import kinesis

REGION = "us-east-1"


@contextlib.contextmanager
def dying_at_rows(table):
    """What is run here is stopped where it would write the first rows of the table: its dead letters are there."""
    real = publish.append

    def append(spark, place, *rest):
        if place.table == table:
            raise KeyboardInterrupt
        return real(spark, place, *rest)

    with pytest.MonkeyPatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(publish, "append", append)
        yield


@functools.cache  # imported, a fixture for a session would be one a file, and its servers would run side by side
def serving(config):
    """The worker's server, which ends with it."""
    stack = contextlib.ExitStack()
    config.add_cleanup(stack.close)
    return stack.enter_context(kinesis.serve(limits=kinesis.UNLIMITED))


@pytest.fixture(scope="module")
def server(request):
    return serving(request.config)


@pytest.fixture
def stream(server, request):
    """A stream of the test's own; faults are gone afterwards."""
    name = "".join(c if c.isalnum() else "-" for c in request.node.name)[:100]
    yield Stream(server, name)
    server.faults.clear()


class Stream:
    def __init__(self, server, name, shards=2):
        self.server, self.name = server, name
        config = Config(retries={"total_max_attempts": 10, "mode": "standard"})
        self.client = boto3.client("kinesis", endpoint_url=server.endpoint, region_name=REGION, config=config)
        self.client.create_stream(StreamName=name, ShardCount=shards)

    def source(self, **options):
        return sources.Source(self.name, region=REGION, endpoint=self.server.endpoint, **options)

    def send(self, ids, *, key=lambda n: f"key-{n % 7}", record=lambda n: {"id": n, "text": f"t{n}"}):
        """Send numbered records, JSON unless bytes are given."""
        made = [(key(n), record(n)) for n in ids]
        entries = [
            {"PartitionKey": k, "Data": r if isinstance(r, bytes) else json.dumps(r).encode()} for k, r in made
        ]
        for begin in range(0, len(entries), 500):
            answer = self.client.put_records(StreamName=self.name, Records=entries[begin : begin + 500])
            assert answer["FailedRecordCount"] == 0

    def shards(self, *, opened=True):
        found = self.client.list_shards(StreamName=self.name)["Shards"]
        return [
            s["ShardId"] for s in found if not opened or "EndingSequenceNumber" not in s["SequenceNumberRange"]
        ]

    def split(self, shard):
        found = self.client.list_shards(StreamName=self.name)["Shards"]
        keys = next(s["HashKeyRange"] for s in found if s["ShardId"] == shard)
        middle = (int(keys["StartingHashKey"]) + int(keys["EndingHashKey"])) // 2 + 1
        self.client.split_shard(StreamName=self.name, ShardToSplit=shard, NewStartingHashKey=str(middle))

    def merge(self, one, other):
        self.client.merge_shards(StreamName=self.name, ShardToMerge=one, AdjacentShardToMerge=other)


def ids(rows):
    return [json.loads(bytes(row.data))["id"] for row in rows]
