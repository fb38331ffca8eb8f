"""A topic with rights: a wrong password and an unknown user are said to be that, and a missing right is named."""

import re

import pytest

from workbench import streams
from workbench_standins.kafka import secured

pytestmark = pytest.mark.proof(
    "test_topics has the sentences of brokers that do not answer; this needs one with users"
)


@pytest.fixture(scope="module")
def closed():
    with secured.serve(users=("writer", "reader")) as served:
        served.owner().create_topic("sales", partitions=2)
        served.grant("reader", "read", topic="sales")
        served.grant("reader", "describe", group="iceberg-workbench")
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
