"""The token endpoint: who gets a token, what is told of none, and a client that outlives its tokens by itself."""

import base64
import json
import os
import re
import time
import urllib.error
import urllib.request
from dataclasses import replace

import pytest
import secured_topics
from confluent_kafka import Consumer, KafkaError, Producer, TopicPartition

from workbench._base.errors import ArgumentError
from workbench_standins.kafka import issuer
from workbench_standins.kafka.issuer import Issuer
from workbench_standins.kafka.secured import Secured

HERE = {"admin": "127.0.0.1:1", "scram": "127.0.0.1:2", "oauth": "127.0.0.1:3", "controller": "127.0.0.1:4"}
ON_A_BROKER = pytest.mark.proof("the tests without a broker have the endpoint's answers; all else is Kafka's")
GRANT = b"grant_type=client_credentials"


@pytest.fixture
def closed(tmp_path):
    return Secured(HERE, tmp_path, {"reader": "hidden", "a-b": "hidden too"}, b"0" * 32)


def basic(user, word):
    return "Basic " + base64.b64encode(f"{user}:{word}".encode()).decode()


def asked(url, authorization):
    """Return the status and the content of an endpoint's answer."""
    request = urllib.request.Request(url, GRANT, {"Authorization": authorization})
    try:
        with urllib.request.urlopen(request, timeout=30) as answer:
            return answer.status, json.load(answer)
    except urllib.error.HTTPError as refused:
        return refused.code, json.load(refused)


def test_a_client_with_its_secret_gets_a_token_and_nobody_else(closed):
    with issuer.serve(closed, seconds=60) as tokens:
        status, content = asked(tokens.url, basic("reader", tokens.secrets["reader"]))
        assert (status, sorted(content), content["expires_in"]) == (
            200,
            ["access_token", "expires_in", "token_type"],
            60.0,
        )
        refused = [
            basic("reader", "another"),
            basic("reader", tokens.secrets["a-b"]),
            basic("nobody", ""),
            "",
            "Basic ä",
        ]
        refused += [basic("reader", tokens.secrets["reader"]).replace("Basic", "Bearer")]
        answers = [tokens.answer(text, GRANT) for text in refused]
        assert answers == [(401, {"error": "invalid_client"})] * len(refused)
        other = tokens.answer(basic("reader", tokens.secrets["reader"]), b"grant_type=password")
        assert other == (400, {"error": "unsupported_grant_type"})
        assert [tokens.issued(user) for user in ("reader", "a-b")] == [1, 0]


def test_what_has_ended_is_counted(closed):
    now = time.monotonic()
    log = [("reader", now - 20), ("a-b", now - 20), ("reader", now - 5), ("reader", now)]
    tokens = Issuer("http://127.0.0.1:5/token", 10.0, {"reader": "x", "a-b": "y"}, closed, log)
    assert (tokens.issued("reader"), tokens.ended("reader")) == (3, 1)
    assert replace(tokens, seconds=1.0).ended("reader") == 2


def test_what_is_shown_holds_no_secret_and_what_was_set_is_gone(closed):
    before = dict(os.environ)
    with issuer.serve(closed) as tokens:
        broker = tokens.broker("a-b")
        assert broker.bootstrap == HERE["oauth"]
        shown = repr(tokens) + repr(broker)
        assert not [word for word in tokens.secrets.values() if word in shown]
        client = broker.client()
        assert client["sasl.oauthbearer.client.secret"] == tokens.secrets["a-b"]
        assert client["sasl.oauthbearer.token.endpoint.url"] == tokens.url
        for call in (tokens.broker, tokens.issued, tokens.ended):
            with pytest.raises(ArgumentError, match=re.escape("there is no user 'riter'; there are reader, a-b")):
                call("riter")
    assert dict(os.environ) == before
    with pytest.raises(urllib.error.URLError):
        urllib.request.urlopen(tokens.url, timeout=5)


@ON_A_BROKER
def test_a_client_outlives_its_tokens_without_code_and_one_with_a_wrong_secret_gets_none():
    rights = (secured_topics.WRITES, secured_topics.READS, secured_topics.of_group("reader", "g"))
    with secured_topics.serving(*rights) as closed, issuer.serve(closed, seconds=7) as tokens:
        producer = Producer(tokens.broker("writer").client() | {"log_level": 0})
        own = {"group.id": "g", "log_level": 0, "enable.auto.commit": False}
        consumer = Consumer(tokens.broker("reader").client() | own)
        consumer.assign([TopicPartition("sales", 0, 0)])
        offsets, sent, until = [], 0, time.monotonic() + 20
        while time.monotonic() < until:
            producer.produce("sales", str(sent))
            sent += 1
            assert producer.flush(30) == 0
            message = consumer.poll(0.2)
            if message is not None and not message.error():
                offsets.append(message.offset())
        consumer.close()
        assert offsets == list(range(len(offsets))) and len(offsets) > sent // 2
        assert [tokens.ended(user) >= 2 for user in ("writer", "reader")] == [True, True]

        failures = []
        wrong = tokens.broker("reader").client() | {"sasl.oauthbearer.client.secret": "another"}
        stranger = Consumer(wrong | own | {"error_cb": failures.append})
        until = time.monotonic() + 40
        while time.monotonic() < until and not failures:
            stranger.poll(0.2)
        stranger.close()
        assert failures[0].code() == KafkaError._AUTHENTICATION and "invalid_client" in failures[0].str()
