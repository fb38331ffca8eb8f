"""A topic with rights: a wrong password and an unknown user are said to be that, and a missing right is named."""

import re

import pytest
import secured_topics

from workbench import streams

pytestmark = pytest.mark.proof(
    "test_topics has the sentences of brokers that do not answer; this needs one with users"
)


@pytest.fixture(scope="module")
def closed():
    group = secured_topics.of_group("reader", "iceberg-workbench")
    with secured_topics.serving(secured_topics.READS, group, partitions=2) as served:
        yield served


def topic(closed, user="reader", **config):
    broker = closed.broker(user)
    return streams.Topic("sales", broker.bootstrap, config=broker.config | config)


def test_a_user_with_rights_reads(closed):
    described = topic(closed).describe()
    assert sorted(described.shards) == ["0", "1"] and topic(closed).begin(described) == {}


@pytest.mark.parametrize(
    ("login", "user"),
    [({"sasl.password": "env:ANOTHER"}, "reader"), ({"sasl.username": "nobody"}, "nobody")],
)
def test_a_wrong_password_and_an_unknown_user_are_said_to_be_that(closed, monkeypatch, login, user):
    monkeypatch.setenv("ANOTHER", "a wrong one")
    refused = topic(closed, **login)
    sentence = f"topic sales cannot be read: {refused.bootstrap} refuses the log-in as {user}: wrong password"
    with pytest.raises(ValueError, match=re.escape(sentence)) as error:
        refused.describe()
    assert "a wrong one" not in str(error.value)


def test_a_missing_right_is_named(closed):
    with pytest.raises(ValueError, match="topic sales at .* cannot be read: .*[Aa]uthorization failed"):
        topic(closed, "writer").describe()


def test_nobody_there_is_still_said_to_be_that(closed):
    nowhere = streams.Topic("sales", "127.0.0.1:9", config=topic(closed).config)
    with pytest.raises(ValueError, match=r"no broker answers at 127\.0\.0\.1:9"):
        nowhere.describe()


def endless(asked):
    """Records, as many as are asked for."""
    while len(asked) < 10_000_000:
        asked.append(1)
        yield "k", b"x"


@pytest.mark.parametrize("elsewhere", [False, True], ids=["no topic", "another topic"])
@pytest.mark.parametrize("user", ["reader", "writer"])
def test_a_writer_without_the_right_is_told_which_and_who(closed, user, elsewhere):
    """One that may read the topic, and one that may nothing of it; the brokers tell of them in two ways."""
    if elsewhere:
        closed.grant(user, "write", topic="other")
    refused, asked = topic(closed, user), []
    sentence = f"topic sales cannot be written: {refused.bootstrap} grants the user {user} no right WRITE of the topic sales"
    try:
        with pytest.raises(ValueError, match=re.escape(sentence)):
            streams.produce(refused, endless(asked), patience_seconds=30)
    finally:
        if elsewhere:
            closed.revoke(user, "write", topic="other")
    assert len(asked) < 10_000_000  # what comes behind the first refusal is not sent


def test_a_writer_with_the_right_writes(closed):
    closed.grant("writer", "write", topic="sales")
    try:
        assert streams.produce(topic(closed, "writer"), [("k", b"x")]) == 1
    finally:
        closed.revoke("writer", "write", topic="sales")


def test_a_writer_with_a_wrong_password_is_told_so(closed, monkeypatch):
    monkeypatch.setenv("ANOTHER", "a wrong one")
    refused = topic(closed, "writer", **{"sasl.password": "env:ANOTHER"})
    sentence = f"topic sales cannot be written: {refused.bootstrap} refuses the log-in as writer: wrong password"
    with pytest.raises(ValueError, match=re.escape(sentence)) as error:
        streams.produce(refused, [("k", b"x")], patience_seconds=5)
    assert "a wrong one" not in str(error.value)
