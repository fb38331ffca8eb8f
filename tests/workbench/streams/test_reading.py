"""One shard read without Spark: faults, gaps, ends; and the order in which shards are read."""

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from botocore.exceptions import ClientError
from stream_server import REGION, Stream, server, stream

from workbench.streams.readers import reading, shards, sources
from workbench_standins.kinesis import Fault


def ids_of(records):
    return [json.loads(one)["id"] for one in records.data]


def everything(source, task):
    progress = reading.Progress(task.position or None)
    answers = reading.read(source, task, progress, sleep=lambda seconds: None)
    return [one for records in answers for one in ids_of(records)], progress


def drained(source, *, cap=100, positions=None):
    """Read micro-batches of a whole stream until nothing is left; returns (ids, positions)."""
    found, positions = [], dict(positions or {})
    while True:
        stream = sources.describe(source)
        ends, before = {}, len(found)
        for task in shards.plan(stream, positions, cap):
            ids, progress = everything(source, task)
            found += ids
            ends[task.shard] = progress.position
        after = shards.advance(stream, positions, ends)
        if after == positions and len(found) == before:
            return found, positions
        positions = after


def test_a_shard_is_read_in_order_and_from_where_it_stopped(stream):
    stream.send(range(10), key=lambda n: "a")
    (task,) = [t for t in plan(stream) if everything(stream.source(), t)[0]]
    ids, progress = everything(stream.source(), shards.Task(task.shard, shards.OLDEST, 4))
    assert (ids, progress.behind_millis > 0) == ([0, 1, 2, 3], True)
    ids, progress = everything(stream.source(), shards.Task(task.shard, progress.position, 100))
    assert (ids, progress.behind_millis, progress.unbroken) == ([4, 5, 6, 7, 8, 9], 0, True)
    ids, again = everything(stream.source(), shards.Task(task.shard, progress.position, 100))
    assert (ids, again.position) == ([], progress.position)


def plan(stream, **options):
    return shards.plan(sources.describe(stream.source()), {}, 100, **options)


def test_a_reading_is_repeated_exactly_up_to_its_report(stream):
    stream.send(range(10), key=lambda n: "a")
    (task,) = [t for t in plan(stream) if everything(stream.source(), t)[0]]
    ids, progress = everything(stream.source(), shards.Task(task.shard, shards.OLDEST, 4))
    stream.send(range(10, 20), key=lambda n: "a")
    again = shards.Task(task.shard, shards.OLDEST, 10**9, upto=progress.position)
    assert everything(stream.source(), again)[0] == ids == [0, 1, 2, 3]
    behind = shards.Task(task.shard, shards.OLDEST, 10**9, upto=str(int(progress.position) + 1))
    with pytest.raises(shards.RecordsLost, match="cannot be repeated"):
        everything(stream.source(), behind)


@pytest.mark.parametrize(
    "fault",
    [
        Fault("throughput_exceeded", share=0.25),
        Fault("internal_failure", share=0.25),
        Fault("unavailable", share=0.25),
        Fault("throttling", share=0.25),
        Fault("expired_iterator", share=0.25),
        Fault("empty_read", share=0.5),
        Fault("empty_read", most=50),
        Fault("lost_answer", share=0.25),
        Fault("lost_request", share=0.25),
        Fault("late_end"),
    ],
    ids=lambda fault: f"{fault.kind}-{fault.share}",
)
def test_faults_lose_and_double_nothing(stream, fault):
    stream.send(range(60))
    stream.split(stream.shards()[0])
    stream.send(range(60, 120))
    stream.server.faults.set([fault], seed=3)
    found, positions = drained(stream.source(), cap=20)
    assert stream.server.faults.injected()[0].hit > 0
    assert sorted(found) == list(range(120))
    assert positions[stream.shards(opened=False)[0]] == shards.END


def test_a_key_keeps_its_order_through_splits_and_merges(stream):
    sent = 0
    for step in range(4):
        stream.send(range(sent, sent + 70))
        sent += 70
        opened = stream.shards()
        stream.split(opened[0]) if step % 2 == 0 else stream.merge(*opened[-2:])
    stream.send(range(sent, sent + 70))
    found, positions = drained(stream.source(), cap=40)
    assert sorted(found) == list(range(sent + 70))
    for key in range(7):
        of_key = [one for one in found if one % 7 == key]
        assert of_key == sorted(of_key)
    listed = stream.shards(opened=False)
    assert {s for s in positions if positions[s] != shards.END} == set(stream.shards())
    assert set(positions) == set(listed)


def test_parents_come_before_children():
    stream = sources.Stream("arn", 0, 24, {"a": (), "b": (), "c": ("a",), "d": ("b", "c")}, frozenset("d"))
    names = lambda positions: [task.shard for task in shards.plan(stream, positions, 100)]  # noqa: E731
    assert names({}) == ["a", "b"]
    assert names({"a": shards.END, "b": "17"}) == ["b", "c"]
    assert names({"a": shards.END, "b": shards.END}) == ["c"]
    assert names({"a": shards.END, "b": shards.END, "c": shards.END}) == ["d"]
    # the service has forgotten a: nobody waits for it
    later = sources.Stream("arn", 0, 24, {"c": ("a",), "d": ("b", "c")}, frozenset("d"))
    assert [task.shard for task in shards.plan(later, {}, 100)] == ["c"]


def test_a_shard_that_ended_is_forgotten_with_the_service():
    stream = sources.Stream("arn", 0, 24, {"b": (), "c": ()}, frozenset("c"))
    before = {"a": shards.END, "b": "17", "c": "20"}
    assert shards.advance(stream, before, {"b": shards.END, "c": None}) == {"b": shards.END, "c": "20"}


def test_positions_behind_the_trim_horizon_are_named():
    from workbench_standins import kinesis

    with kinesis.serve(limits=kinesis.UNLIMITED, start=1_800_000_000.0) as server:
        stream = Stream(server, "trimmed", shards=1)
        stream.send([1])
        (task,) = plan(stream)
        position = everything(stream.source(), task)[1].position
        server.clock.advance(3_600)
        stream.send([2])
        server.clock.advance(23.5 * 3_600)
        stream.send([3])
        behind = shards.Task(task.shard, position, 100)
        with pytest.raises(
            shards.RecordsLost, match=rf"position {position} is no longer there, the oldest one is"
        ):
            everything(stream.source(), behind)
        ids, progress = everything(stream.source(fail_on_data_loss=False), behind)
        assert (ids, "may have been trimmed unread" in progress.gap) == ([2, 3], True)
        # a reader that was there all the time and saw nothing to read knows that nothing is missing
        ids, progress = everything(stream.source(), shards.Task(task.shard, position, 100, seen=True))
        assert (ids, progress.gap) == ([2, 3], None)


@pytest.mark.parametrize(("seen", "closed"), [(False, False), (True, False), (False, True), (True, True)])
def test_a_reader_that_stood_still_in_the_middle_names_what_was_trimmed(seen, closed, monkeypatch):
    """As on a machine that slept over the weekend: its iterator expired, and so did the record it had read."""
    from workbench_standins import kinesis

    monkeypatch.setattr(reading, "CALL", 2)
    with kinesis.serve(limits=kinesis.UNLIMITED, start=1_800_000_000.0) as server:
        stream = Stream(server, "asleep", shards=1)
        stream.send(range(4))
        (task,) = plan(stream)
        first = everything(stream.source(), shards.Task(task.shard, shards.OLDEST, 1))[1].position
        task = shards.Task(task.shard, first, 100, seen=seen, closed=closed)
        answers = reading.read(stream.source(), task, reading.Progress(first))
        assert ids_of(next(answers)) == [1]
        server.clock.advance(23 * 3_600)
        stream.split(task.shard) if closed else None
        server.clock.advance(2 * 3_600)
        stream.send([4])
        with pytest.raises(shards.RecordsLost, match="may have been trimmed unread"):
            list(answers)


def test_a_record_that_was_not_taken_is_still_behind():
    """Where the record of a position is gone, the place asked for it in the answer holds one too many."""
    from workbench_standins import kinesis

    with kinesis.serve(limits=kinesis.UNLIMITED, start=1_800_000_000.0) as server:
        stream = Stream(server, "one-more", shards=1)
        stream.send([0])
        (task,) = plan(stream)
        position = everything(stream.source(), task)[1].position
        server.clock.advance(25 * 3_600)
        stream.send([1, 2])
        ids, progress = everything(stream.source(), shards.Task(task.shard, position, 1, seen=True))
        assert (ids, progress.behind_millis > 0) == ([1], True)


def test_latest_is_a_time_that_stays(stream):
    stream.send(range(5))
    before = sources.now_millis()
    positions = shards.begin(stream.source(start="latest"), sources.describe(stream.source()), before + 1_000_000)
    # a clock that is ahead of the service's: nothing is there yet, and nothing is wrong
    assert drained(stream.source(), positions=positions) == ([], positions)
    positions = {shard: f"@{before}" for shard in positions}
    assert sorted(drained(stream.source(), positions=positions)[0]) in ([], [0, 1, 2, 3, 4])
    stream.send(range(5, 9))
    assert set(drained(stream.source(), positions=positions)[0]) >= {5, 6, 7, 8}


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"stream": ""}, "name of a Kinesis stream"),
        ({"start": "oldest"}, "start must be one of trim_horizon, latest, at_timestamp, found 'oldest'"),
        ({"start": "at_timestamp"}, "go together"),
        ({"max_records_per_batch": 0}, "max_records_per_batch must be an integer of at least 1, found 0"),
    ],
)
def test_wrong_sources(options, said):
    with pytest.raises(ValueError, match=said):
        sources.Source(**{"stream": "s"} | options)


def test_a_wrong_stream_lists_those_there_are(stream):
    with pytest.raises(sources.StreamNotFound, match=f"no stream nowhere in region us-east-1 .* {stream.name}"):
        sources.describe(sources.Source("nowhere", region="us-east-1", endpoint=stream.server.endpoint))
    with pytest.raises(sources.StreamNotFound, match="in region eu-west-1 .* there is none"):
        sources.describe(sources.Source(stream.name, region="eu-west-1", endpoint=stream.server.endpoint))


def test_an_endpoint_that_is_not_there():
    with pytest.raises(ValueError, match="stream s cannot be read: Could not connect"):
        sources.describe(sources.Source("s", region="us-east-1", endpoint="http://127.0.0.1:9"))


def test_no_credentials(stream, monkeypatch, tmp_path):
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.delenv(name)
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(tmp_path / "none"))
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "none"))
    source = sources.Source(stream.name, region="us-west-1", endpoint=stream.server.endpoint)
    with pytest.raises(ValueError, match=f"no AWS credentials to read stream {stream.name} with"):
        sources.describe(source)


def test_every_shard_has_its_turn_however_small_a_batch_is(stream):
    for shard in stream.shards():
        stream.split(shard)
    stream.send(range(40), key=lambda n: f"key-{n}")
    found, positions = drained(stream.source(), cap=1)
    assert sorted(found) == list(range(40))
    assert {s for s in positions if positions[s] != shards.END} == set(stream.shards())


@pytest.fixture
def refusing():
    """An address whose server refuses every call with the code and message that are put in the dict."""
    said = {}

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            self.rfile.read(int(self.headers["Content-Length"]))
            self.send_response(400)
            self.send_header("Content-Type", "application/x-amz-json-1.1")
            self.end_headers()
            self.wfile.write(json.dumps(said).encode())

        def log_message(self, *_):
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}", said
        server.shutdown()


@pytest.mark.parametrize("code", ["AccessDeniedException", "ExpiredTokenException", "UnrecognizedClientException"])
def test_credentials_that_may_not_are_a_sentence(refusing, code):
    endpoint, said = refusing
    said |= {"__type": code, "message": "the security token is not one of ours"}
    source = sources.Source("orders", region=REGION, endpoint=endpoint)
    with pytest.raises(ValueError, match=f"stream orders cannot be read: .*{code}.*not one of ours"):
        sources.describe(source)
    said["__type"] = "SomethingElseException"
    with pytest.raises(ClientError):
        sources.describe(source)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"region": "nowhere land"}, "with region 'nowhere land'"),
        ({"endpoint": "127.0.0.1:4567"}, "endpoint '127.0.0.1:4567': "),
    ],
)
def test_what_is_no_region_and_no_address_is_a_sentence(options, sentence):
    source = sources.Source("orders", **({"region": REGION} | options))
    with pytest.raises(ValueError, match=f"Kinesis cannot be reached .*{sentence}"):
        sources.describe(source)


def test_a_name_that_is_none_is_a_sentence(server):
    source = sources.Source("arn:aws:kinesis:us-east-1:1:stream/orders", region=REGION, endpoint=server.endpoint)
    with pytest.raises(ValueError, match="stream arn:.*/orders cannot be read: .*ValidationException"):
        sources.describe(source)
