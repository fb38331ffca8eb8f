"""boto3 through the proxy against a real S3 that checks signatures; orders and outcomes, proven by what is stored."""

import concurrent.futures
import random

import pytest
from botocore.exceptions import ClientError, ConnectionClosedError
from proxy_upstreams import KEYS, s3, weed
from waiting import until

from workbench_standins import proxy
from workbench_standins.proxy import METADATA_PUT, Match, Rule

FIRST, SECOND = "t/metadata/00001-a.metadata.json", "t/metadata/00001-b.metadata.json"


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    with weed(tmp_path_factory.mktemp("weed")) as found:
        yield found


@pytest.fixture
def between(store):
    with proxy.between(store.s3, clients=KEYS) as found:
        yield found


@pytest.fixture(scope="module")
def direct(store):
    return Straight(s3(store.s3, "a"))


@pytest.fixture
def straight(direct):
    """What is stored, seen past the proxy; the bucket is emptied afterwards."""
    yield direct
    for key in direct.stored():
        direct.client.delete_object(Bucket="plain", Key=key)


class Straight:
    def __init__(self, client):
        self.client = client

    def stored(self):
        return [one["Key"] for one in self.client.list_objects_v2(Bucket="plain").get("Contents", [])]

    def text(self, key):
        return self.client.get_object(Bucket="plain", Key=key)["Body"].read().decode()


@pytest.fixture
def threads():
    with concurrent.futures.ThreadPoolExecutor(60) as found:
        yield found


def put(client, key, text="x", **options):
    return client.put_object(Bucket="plain", Key=key, Body=text.encode(), **options)


def outcome(future):
    """Return what a client was told: a status, or the name of its error."""
    try:
        return future.result(90)["ResponseMetadata"]["HTTPStatusCode"]
    except ClientError as error:
        return error.response["ResponseMetadata"]["HTTPStatusCode"]
    except Exception as error:
        return type(error).__name__


def lines(between):
    return [(one.client, one.status, one.action, one.told) for one in between.log]


def test_objects_go_in_and_out(between, straight):
    a, key, body = s3(between.endpoint, "a"), "a b/ä+%&=?.txt", random.Random(1).randbytes(100_000)
    a.put_object(Bucket="plain", Key=key, Body=body, Metadata={"who": "me"}, ContentType="text/x")
    head = a.head_object(Bucket="plain", Key=key)
    assert (head["ContentLength"], head["ContentType"], head["Metadata"]) == (100_000, "text/x", {"who": "me"})
    assert a.get_object(Bucket="plain", Key=key)["Body"].read() == body
    part = a.get_object(Bucket="plain", Key=key, Range="bytes=10-19")
    assert (part["ContentRange"], part["Body"].read()) == ("bytes 10-19/100000", body[10:20])
    assert [one["Key"] for one in a.list_objects_v2(Bucket="plain", Prefix="a b/")["Contents"]] == [key]
    with pytest.raises(ClientError, match="NoSuchKey"):
        a.get_object(Bucket="plain", Key="none")
    with pytest.raises(ClientError, match="404"):
        a.head_object(Bucket="plain", Key="none")
    with pytest.raises(ClientError, match="304"):
        a.get_object(Bucket="plain", Key=key, IfNoneMatch=head["ETag"])
    a.delete_object(Bucket="plain", Key=key)
    assert straight.stored() == []


def test_an_object_of_several_parts(between, straight):
    a, body = s3(between.endpoint, "a"), random.Random(2).randbytes(5 * 1024 * 1024 + 7)
    cut, upload = 5 * 1024 * 1024, a.create_multipart_upload(Bucket="plain", Key="parts")["UploadId"]
    named = {"Bucket": "plain", "Key": "parts", "UploadId": upload}
    parts = [
        {"PartNumber": n, "ETag": a.upload_part(**named, PartNumber=n, Body=part)["ETag"]}
        for n, part in ((1, body[:cut]), (2, body[cut:]))
    ]
    a.complete_multipart_upload(**named, MultipartUpload={"Parts": parts})
    assert straight.client.get_object(Bucket="plain", Key="parts")["Body"].read() == body


def test_signatures_are_checked_behind_the_proxy(between, straight):
    with pytest.raises(ClientError, match="SignatureDoesNotMatch"):
        put(s3(between.endpoint, "a", secret="another"), "x", "x" * 3_000_000)
    with pytest.raises(ClientError, match="SignatureDoesNotMatch"):
        put(s3(between.endpoint_of("b"), "a", secret="another"), "x")
    assert straight.stored() == []
    assert lines(between) == [("a", 403, "pass", 403), ("b", 403, "pass", 403)]


def test_a_client_is_told_by_its_port_and_else_by_its_key(between, straight):
    from urllib.request import urlopen

    put(s3(between.endpoint, "a"), "x")
    put(s3(between.endpoint, "b"), "x")
    put(s3(between.endpoint_of("a"), "b"), "x")
    presigned = s3(between.endpoint, "b").generate_presigned_url("get_object", {"Bucket": "plain", "Key": "x"})
    with urlopen(presigned, timeout=90) as answer:
        assert answer.read() == b"x"
    assert [one.client for one in between.log] == ["a", "b", "a", "b"]


def test_the_order_of_two_swaps_is_the_one_that_was_asked_for(between, straight, threads):
    """Both write the same object if nobody has: the one that comes second is refused by the store itself."""
    for first, second in (("a", "b"), ("b", "a"), ("a", "b")):
        with between.hold(second) as held:
            late = threads.submit(put, s3(between.endpoint, second), FIRST, second, IfNoneMatch="*")
            line = held.wait(90)
            assert (line.client, line.method, line.path) == (second, "PUT", "/plain/" + FIRST)
            assert straight.stored() == []
            put(s3(between.endpoint, first), FIRST, first, IfNoneMatch="*")
        assert (outcome(late), straight.text(FIRST)) == (412, first)
        straight.client.delete_object(Bucket="plain", Key=FIRST)
    assert [(one.client, one.status) for one in between.passed(what=METADATA_PUT)] == [
        ("a", 200), ("b", 412), ("b", 200), ("a", 412), ("a", 200), ("b", 412),
    ]  # fmt: skip


def test_only_what_was_meant_is_held(between, straight, threads):
    a, b = s3(between.endpoint, "a"), s3(between.endpoint, "b")
    with between.hold("a", skip=1) as held:
        put(a, "t/data/1.parquet")
        put(a, FIRST)
        put(b, SECOND)
        a.get_object(Bucket="plain", Key=FIRST)
        late = threads.submit(put, a, "t/metadata/00002-a.metadata.json", "second")
        assert held.wait(90).path == "/plain/t/metadata/00002-a.metadata.json"
        assert straight.stored() == ["t/data/1.parquet", FIRST, SECOND]
    assert outcome(late) == 200
    assert straight.text("t/metadata/00002-a.metadata.json") == "second"


def test_what_never_comes_is_told(between, straight):
    put(s3(between.endpoint, "a"), "t/data/1.parquet")
    with between.hold("a") as held, pytest.raises(TimeoutError) as caught:
        held.wait(0.05)
    assert str(caught.value) == (
        "PUT of /**.metadata.json by a did not come within 0.05 s; "
        "the last that passed: PUT /plain/t/data/1.parquet"
    )
    with pytest.raises(ConnectionAbortedError, match="opened before a request came"):
        held.wait(0.05)


ENDINGS = {  # ending: what is done with what is held, what the client is told, whether the object is there, the log
    "release": (lambda held: held.release(), 200, True, ("a", 200, "hold", 200)),
    "drop": (lambda held: held.drop(), "ConnectionClosedError", True, ("a", 200, "hold, lose_answer", None)),
    "lose": (lambda held: held.lose(), "ConnectionClosedError", False, ("a", None, "hold, lose_request", None)),
    "fail": (lambda held: held.fail(503), 503, False, ("a", None, "hold, fail", 503)),
}


@pytest.mark.parametrize("ending", ENDINGS)
def test_how_a_held_request_can_end(between, straight, threads, ending):
    act, told, there, line = ENDINGS[ending]
    held = between.hold("a")
    late = threads.submit(put, s3(between.endpoint, "a"), FIRST)
    held.wait(90)
    assert (straight.stored(), late.done()) == ([], False)
    act(held)
    assert (outcome(late), straight.stored(), lines(between)) == (told, [FIRST] * there, [line])
    assert outcome(threads.submit(put, s3(between.endpoint, "a"), SECOND)) == 200  # the gate stays open


@pytest.mark.parametrize(("ending", "told"), [("release", 200), ("drop", "ConnectionClosedError"), ("fail", 504)])
def test_a_held_answer_is_of_what_is_done(between, straight, threads, ending, told):
    held = between.hold("a", answer=True)
    late = threads.submit(put, s3(between.endpoint, "a"), FIRST)
    held.wait(90)
    assert (straight.stored(), late.done()) == ([FIRST], False)
    with pytest.raises(ValueError, match="has taken effect"):
        held.lose()
    getattr(held, ending)(*[504] * (ending == "fail"))
    assert (outcome(late), straight.stored()) == (told, [FIRST])


@pytest.mark.parametrize(
    ("rule", "told", "there"),
    [
        (Rule("lose_answer", METADATA_PUT), "ConnectionClosedError", True),
        (Rule("lose_request", METADATA_PUT), "ConnectionClosedError", False),
        (Rule("fail", METADATA_PUT, status=503), 503, False),
        (Rule("fail_answer", METADATA_PUT, status=500), 500, True),
        (Rule("delay", METADATA_PUT, seconds=0.01), 200, True),
        (Rule("delay_answer", METADATA_PUT, seconds=0.01), 200, True),
    ],
    ids=lambda one: getattr(one, "do", ""),
)
def test_rules_do_what_they_say(store, straight, threads, rule, told, there):
    with proxy.between(store.s3, clients=KEYS, script=[rule]) as between:
        assert outcome(threads.submit(put, s3(between.endpoint, "a"), FIRST)) == told
        put(s3(between.endpoint, "a"), "t/data/1.parquet")
        assert straight.stored() == ["t/data/1.parquet"] + [FIRST] * there
        assert between.injected() == [proxy.Injected(rule.do, 1, 1)]
        assert [one.action for one in between.log] == [rule.do, "pass"]


def test_a_lost_answer_that_boto3_tries_again_took_effect_twice(store, straight):
    with proxy.between(store.s3, clients=KEYS, script=[Rule("lose_answer", METADATA_PUT, most=1)]) as between:
        put(s3(between.endpoint, "a", attempts=2), FIRST)
        assert lines(between) == [("a", 200, "lose_answer", None), ("a", 200, "pass", 200)]


def test_a_script_lets_another_client_go_first(store, straight, threads):
    script = [Rule("hold", METADATA_PUT.of("a"), until=METADATA_PUT.of("b"))]
    with proxy.between(store.s3, clients=KEYS, script=script) as between:
        late = threads.submit(put, s3(between.endpoint, "a"), FIRST, "a", IfNoneMatch="*")
        until(lambda: between.injected()[0].hit, "the request of a")
        put(s3(between.endpoint, "b"), "t/data/1.parquet")
        assert (late.done(), straight.stored()) == (False, ["t/data/1.parquet"])
        put(straight.client, SECOND)
        with pytest.raises(ClientError, match="PreconditionFailed"):  # what fails does not open the gate
            put(s3(between.endpoint, "b"), SECOND, "b", IfNoneMatch="*")
        assert (late.done(), FIRST in straight.stored()) == (False, False)
        put(s3(between.endpoint, "b"), FIRST, "b", IfNoneMatch="*")
        assert (outcome(late), straight.text(FIRST)) == (412, "b")
        put(s3(between.endpoint, "a"), SECOND)  # open for good
        assert between.injected() == [proxy.Injected("hold", 2, 1)]


def test_a_held_request_lands_late_although_its_client_has_gone(between, straight, threads):
    held = between.hold("a")
    late = threads.submit(put, s3(between.endpoint, "a", read_timeout=0.2), FIRST)
    assert outcome(late) == "ReadTimeoutError"
    until(lambda: [gone for _, gone in held.waiting()] == [True], "the end of the client")
    assert straight.stored() == []
    held.release()
    (line,) = held.done(90)
    assert (line.status, line.action, line.told) == (200, "hold, client broke off", None)
    assert straight.stored() == [FIRST]


def test_what_a_client_sends_again_is_held_too(between, straight, threads):
    held = between.hold("a")
    client = s3(between.endpoint, "a", attempts=2, read_timeout=0.2)
    assert outcome(threads.submit(put, client, FIRST)) == "ReadTimeoutError"
    until(lambda: [gone for _, gone in held.waiting()] == [True, True], "both")
    held.lose()
    assert [(one.status, one.action) for one in held.done(90)] == [(None, "hold, lose_request")] * 2
    assert straight.stored() == []


def test_the_end_releases_what_is_held_but_nothing_of_a_client_that_has_gone(store, straight, threads):
    slow = Rule("delay", Match("b"), seconds=3600)
    with proxy.between(store.s3, clients=KEYS, script=[slow]) as between:
        held = between.hold("a")
        gone = threads.submit(put, s3(between.endpoint, "a", read_timeout=0.2), FIRST)
        until(lambda: [gone for _, gone in held.waiting()] == [True], "the end of the client")
        outcome(gone)
        stays = threads.submit(put, s3(between.endpoint, "a"), SECOND)
        delayed = threads.submit(put, s3(between.endpoint, "b"), "delayed")
        until(lambda: len(held.waiting()) == 2 and between.injected()[0].hit, "all")
        never = between.hold("b")
    assert (outcome(stays), outcome(delayed)) == (200, 200)
    assert straight.stored() == ["delayed", SECOND]
    assert [(one.status, one.told) for one in held.done()] == [(None, None), (200, 200)]
    assert [(one.client, one.told) for one in between.passed(what=METADATA_PUT)] == [("a", None), ("a", 200)]
    assert between.injected() == [proxy.Injected("delay", 1, 1)]
    held.release()  # nothing is left to do
    with pytest.raises(ConnectionAbortedError):
        never.wait()


def test_fifty_at_once(between, straight, threads):
    client, held = s3(between.endpoint, "a"), between.hold("a", Match(method="PUT"))
    bodies = {f"many/{place:02d}": str(place) * 20_000 for place in range(50)}
    futures = [threads.submit(put, client, key, body) for key, body in bodies.items()]
    until(lambda: len(held.waiting()) == 50, "all fifty")
    assert straight.stored() == []
    held.release()
    assert [outcome(one) for one in futures] == [200] * 50
    texts = threads.map(lambda key: client.get_object(Bucket="plain", Key=key)["Body"].read().decode(), bodies)
    assert dict(zip(bodies, texts, strict=True)) == bodies


def test_a_script_can_be_replaced(between, straight):
    client = s3(between.endpoint, "a")
    between.play([Rule("lose_request", METADATA_PUT.of("a"), skip=1, most=1)])
    put(client, FIRST)
    with pytest.raises(ConnectionClosedError):
        put(client, SECOND)
    put(client, SECOND)
    assert between.injected() == [proxy.Injected("lose_request", 3, 1)]
    between.play([])
    assert between.injected() == []
    with pytest.raises(ValueError, match="no client 'c'; there are a, b"):
        between.play([Rule("lose_request", METADATA_PUT.of("c"))])


@pytest.mark.proof("test_a_body_with_a_length_arrives_as_it_is passes 20 MB, whose memory is not looked at")
def test_the_memory_stays_flat_with_a_large_object(between, straight):
    """The process holds the proxy and reads and writes 200 MB piece by piece; its store is another process."""
    import psutil

    class Zeros:
        left = 200_000_000

        def read(self, size=-1):
            found, peak[0] = bytes(min(size if size >= 0 else 1 << 16, self.left, 1 << 16)), max(peak[0], rss())
            self.left -= len(found)
            return found

        def __len__(self):
            return self.left

    def rss():
        return psutil.Process().memory_info().rss

    url = s3(between.endpoint, "a").generate_presigned_url("put_object", {"Bucket": "plain", "Key": "large"})
    import http.client
    from urllib.parse import urlsplit

    parts, before, peak, size = urlsplit(url), rss(), [0], 0
    connection = http.client.HTTPConnection(parts.netloc, timeout=300)
    connection.request("PUT", f"{parts.path}?{parts.query}", body=Zeros(), headers={"Content-Length": "200000000"})
    assert connection.getresponse().read() == b""
    body = s3(between.endpoint, "a").get_object(Bucket="plain", Key="large")["Body"]
    while chunk := body.read(1 << 16):
        size, peak[0] = size + len(chunk), max(peak[0], rss())
    assert size == 200_000_000
    assert peak[0] - before < 60_000_000
