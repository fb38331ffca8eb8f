"""What goes through the proxy stays what it was, both ways; whatever breaks, breaks, and is sent once."""

import gzip
import hashlib
import http.client
import random
import socket
from contextlib import contextmanager

import pytest
from proxy_upstreams import Got, recorder
from waiting import until

from workbench_standins import proxy

CHUNK = 64 * 1024


@pytest.fixture(scope="module")
def running():
    with recorder() as upstream, proxy.between(upstream.endpoint, clients=["a"]) as between:
        yield upstream, between


@pytest.fixture
def upstream(running):
    running[0].got.clear()
    running[0].answers.clear()
    return running[0]


@pytest.fixture
def between(running):
    return running[1]


@contextmanager
def connected(between):
    found = http.client.HTTPConnection("127.0.0.1", int(between.endpoint.rpartition(":")[2]), timeout=90)
    try:
        yield found
    finally:
        found.close()


def send(between, method, target, headers=(), body=b""):
    """Send exactly these headers; returns (status, reason, headers, body). A list is sent as chunks."""
    with connected(between) as connection:
        connection.putrequest(method, target, skip_host=True, skip_accept_encoding=True)
        for name, value in headers:
            connection.putheader(name, value)
        connection.endheaders()
        if isinstance(body, list):
            for one in body:
                connection.send(b"%x\r\n%s\r\n" % (len(one), one))
            connection.send(b"0\r\n\r\n")
        else:
            connection.send(body)
        answer = connection.getresponse()
        return answer.status, answer.reason, answer.getheaders(), answer.read()


@pytest.mark.parametrize("size", [0, 1, CHUNK - 1, CHUNK, CHUNK + 1, 1_000_003, 20_000_000])
def test_a_body_with_a_length_arrives_as_it_is(upstream, between, size):
    body = random.Random(size).randbytes(size)
    upstream.answers["/x"] = (200, [], body)
    headers = [
        ("Host", "bucket.example:9000"),
        ("authorization", "AWS4-HMAC-SHA256 Credential=K/20260101/us-east-1/s3/aws4_request, Signature=00"),
        ("X-AMZ-Date", "20260101T000000Z"),
        ("x-amz-meta-two", "1"),
        ("x-amz-meta-two", "2"),
        ("Content-Length", str(size)),
    ]
    answer = send(between, "PUT", "/x", headers, body)
    (got,) = upstream.got
    assert (got.line, got.headers) == ("PUT /x HTTP/1.1", [*headers, ("Connection", "close")])
    assert digest(got.body) == digest(body)
    assert answer[:3] == (200, "OK", [("Content-Length", str(size))])
    assert digest(answer[3]) == digest(body)


@pytest.mark.parametrize("sizes", [[], [1], [CHUNK, 1, 3 * CHUNK], [700_000, 2_000_000]])
def test_chunks_arrive_as_chunks(upstream, between, sizes):
    chunks = [random.Random(size).randbytes(size) for size in sizes]
    upstream.answers["/x"] = (200, [("ETag", '"1"')], chunks)
    headers = [("Host", "h"), ("Transfer-Encoding", "chunked")]
    answer = send(between, "PUT", "/x", headers, chunks)
    (got,) = upstream.got
    assert sorted(got.headers) == [("Connection", "close"), ("Host", "h"), ("Transfer-Encoding", "chunked")]
    assert digest(got.body) == digest(b"".join(chunks))
    assert answer[:3] == (200, "OK", [("ETag", '"1"'), ("Transfer-Encoding", "chunked")])
    assert digest(answer[3]) == digest(b"".join(chunks))


def test_signed_chunks_of_s3_are_a_body_like_any_other(upstream, between):
    body = b"5;chunk-signature=" + b"0" * 64 + b"\r\nhello\r\n0;chunk-signature=" + b"1" * 64 + b"\r\n\r\n"
    headers = [("Host", "h"), ("Content-Encoding", "aws-chunked"), ("x-amz-decoded-content-length", "5")]
    send(between, "PUT", "/x", [*headers, ("Content-Length", str(len(body)))], body)
    send(between, "PUT", "/x", [*headers, ("Transfer-Encoding", "chunked")], [body[:7], body[7:]])
    assert [(got.body, dict(got.headers)["Content-Encoding"]) for got in upstream.got] == [
        (body, "aws-chunked")
    ] * 2


def test_compressed_bodies_stay_compressed(upstream, between):
    body = gzip.compress(b"metadata" * 100, mtime=0)
    upstream.answers["/x"] = (200, [("Content-Encoding", "gzip")], body)
    headers = [("Host", "h"), ("Content-Encoding", "gzip"), ("Content-Length", str(len(body)))]
    answer = send(between, "PUT", "/x", headers, body)
    assert (upstream.got[0].body, answer[3]) == (body, body)
    assert answer[2] == [("Content-Encoding", "gzip"), ("Content-Length", str(len(body)))]


TARGETS = [
    "/bucket/a%2Fb/%E4%F6//x/../y%2e?uploads",
    "/b/k%20+~'()*?list-type=2&prefix=a%2Fb%20c&x=&y=+",
    "//double?a=1?b=2",
    "/v1/w/namespaces/a%1Fb/tables/t",
    "/%0A",
    "/" + "k" * 20_000,
]


@pytest.mark.parametrize("target", TARGETS)
def test_the_target_stays_as_it_was_signed(upstream, between, target):
    send(between, "GET", target, [("Host", "h")])
    assert upstream.got == [Got(f"GET {target} HTTP/1.1", [("Host", "h"), ("Connection", "close")], b"")]


def test_long_headers_pass(upstream, between):
    headers = [("Host", "h"), ("Authorization", "Bearer " + "t" * 30_000), ("x-amz-meta-name", "gr\u00fcn")]
    upstream.answers["/x"] = (200, [("x-long", "v" * 30_000)], b"")
    with connected(between) as connection:
        connection.putrequest("GET", "/x", skip_host=True, skip_accept_encoding=True)
        for name, value in headers:
            connection.putheader(name, value.encode("utf-8"))
        connection.endheaders()
        assert connection.getresponse().getheader("x-long") == "v" * 30_000
    found = [(name, value.encode("latin-1").decode()) for name, value in upstream.got[0].headers]
    assert found == [*headers, ("Connection", "close")]


ANSWERS = [  # method, status, headers, body
    ("GET", 206, [("Content-Range", "bytes 2-5/10"), ("Content-Type", "text/plain")], b"2345"),
    ("GET", 304, [("ETag", '"1"')], b""),
    ("GET", 404, [("Content-Type", "application/xml"), ("x-amz-request-id", "1")], b"<Error/>"),
    ("GET", 301, [("Location", "http://127.0.0.1:1/")], b"there"),
    ("GET", 503, [("Retry-After", "1")], b""),
    ("GET", 200, [("Set-Cookie", "a=1"), ("Set-Cookie", "b=2"), ("Date", "today"), ("Server", "me")], b"x"),
    ("HEAD", 200, [("ETag", '"1"'), ("Content-Length", "12345")], b""),
    ("HEAD", 404, [("Content-Length", "0")], b""),
    ("DELETE", 204, [("x-amz-version-id", "null")], b""),
    ("POST", 200, [("Content-Type", "application/json"), ("x-empty", "")], b"{}"),
]


@pytest.mark.parametrize(("method", "status", "headers", "body"), ANSWERS, ids=lambda v: str(v)[:12])
def test_the_answer_stays_as_it_was_given(upstream, between, method, status, headers, body):
    upstream.answers["/x"] = (status, headers, body)
    length = [("Content-Length", str(len(body)))]
    expected = headers + (length if status not in (204, 304) and "Content-Length" not in dict(headers) else [])
    for _ in range(2):  # the cookies of the first are not sent with the second
        answer = send(between, method, "/x", [("Host", "h"), ("Content-Length", "0")])
        assert (answer[0], answer[2], answer[3]) == (status, expected, body)
    sent = [("Host", "h"), ("Content-Length", "0"), ("Connection", "close")]
    assert [got.headers for got in upstream.got] == [sent, sent]


def test_one_connection_takes_many_requests(upstream, between):
    upstream.answers["/x"] = (200, [], b"answer")
    with connected(between) as connection:
        for place in range(5):
            connection.request("PUT", "/x", body=b"%d" % place)
            assert connection.getresponse().read() == b"answer"
    assert [got.body for got in upstream.got] == [b"0", b"1", b"2", b"3", b"4"]


def test_a_client_that_asks_first_is_told_to_continue(upstream, between):
    with connected(between) as connection:
        connection.connect()
        connection.sock.sendall(b"PUT /x HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\nExpect: 100-continue\r\n\r\n")
        assert connection.sock.recv(1000) == b"HTTP/1.1 100 Continue\r\n\r\n"
        connection.sock.sendall(b"hello")
        assert connection.sock.recv(1000).startswith(b"HTTP/1.1 200 OK\r\n")
    assert upstream.got == [
        Got("PUT /x HTTP/1.1", [("Host", "h"), ("Content-Length", "5"), ("Connection", "close")], b"hello")
    ]


def test_a_refusal_before_the_body_is_read_comes_through():
    """A server may answer after the headers; the client that is still sending gets that answer or sees the end."""
    with (
        socket.create_server(("127.0.0.1", 0)) as upstream,
        proxy.between(f"http://127.0.0.1:{upstream.getsockname()[1]}") as between,
        connected(between) as client,
    ):
        client.putrequest("PUT", "/x")
        client.putheader("Content-Length", "1000000")
        client.endheaders()
        client.send(b"x" * 1000)
        taken, _ = upstream.accept()
        with taken:
            until(lambda: b"\r\n\r\n" in taken.recv(10_000), "the headers")
            taken.sendall(b"HTTP/1.1 403 Forbidden\r\nContent-Length: 2\r\nConnection: close\r\n\r\nno")
            answer = client.getresponse()
            assert (answer.status, answer.read()) == (403, b"no")


@pytest.mark.parametrize("method", ["GET", "HEAD", "PUT", "DELETE", "POST"])
def test_a_request_is_sent_once_although_the_upstream_breaks_off(upstream, between, method):
    upstream.answers["/x"] = (None, [], b"")
    status, _, headers, _ = send(between, method, "/x", [("Host", "h"), ("Content-Length", "0")])
    assert (status, dict(headers)["Content-Type"], len(upstream.got)) == (502, "application/xml", 1)
    assert between.log[-1] == proxy.Passed(
        between.log[-1].n, None, method, "/x", None, "pass, upstream broke off", 502
    )


def test_an_answer_that_breaks_off_breaks_off(upstream, between):
    upstream.answers["/x"] = (200, [], b"0123456789", 4)
    with pytest.raises(http.client.IncompleteRead) as caught:
        send(between, "GET", "/x", [("Host", "h")])
    assert caught.value.partial == b"0123"
    last = between.log[-1]
    assert (last.status, last.action, last.told) == (200, "pass, upstream broke off", None)


def test_a_body_that_breaks_off_never_arrives_in_full(upstream, between):
    place = len(between.log)
    with connected(between) as connection:
        connection.putrequest("PUT", "/x")
        connection.putheader("Content-Length", "1000")
        connection.endheaders()
        connection.send(b"x" * 10)
        until(lambda: upstream.got, "the request")
    (line,) = until(lambda: between.log[place:], "the line in the log")
    until(lambda: not upstream.got[0].whole and upstream.got[0].body, "the broken body")
    assert upstream.got[0].body == b"x" * 10
    assert (line.status, line.action, line.told) == (None, "pass, client broke off", None)


def test_no_upstream_is_a_bad_gateway():
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    with proxy.between(f"http://127.0.0.1:{port}") as between:
        status, _, _, body = send(between, "POST", "/v1/x", [("Host", "h"), ("Content-Type", "application/json")])
        assert status == 502
        assert b'"code": 502' in body and str(port).encode() in body


def test_no_other_host_can_be_named(upstream, between):
    with connected(between) as connection:
        connection.connect()
        connection.sock.sendall(b"GET http://127.0.0.1:1/x HTTP/1.1\r\nHost: h\r\n\r\n")
        assert connection.sock.recv(1000).startswith(b"HTTP/1.1 502 ")
    assert upstream.got == []


def digest(body):
    return len(body), hashlib.sha256(body).hexdigest()
