"""Log-ins to Amazon MSK by IAM, without AWS: what is signed, what is refused, and that it is signed again in time.

The broker of this machine takes no signatures of AWS: it refuses the log-in (tried), and for reading on past the end
of tokens it is given its own, by the same callback. That MSK takes ours was not tried.
"""

import base64
import re
import time
from urllib.parse import parse_qs, urlsplit

import pytest
import secured_topics
from aws_msk_iam_sasl_signer import MSKAuthTokenProvider
from confluent_kafka import Consumer, Producer

from workbench import streams
from workbench._base.errors import ArgumentError, MissingPackageError
from workbench.streams.readers import msk, shards, topics
from workbench.streams.readers.reading import Progress

KEYS = {"AWS_ACCESS_KEY_ID": "AKIDEXAMPLE", "AWS_SECRET_ACCESS_KEY": "not-a-real-key"}
NOWHERE = "127.0.0.1:9"


@pytest.fixture
def keys(monkeypatch):
    for name, value in KEYS.items():
        monkeypatch.setenv(name, value)


def parts(token):
    """Return the address that a token is, and its parameters."""
    url = urlsplit(base64.urlsafe_b64decode(token + "=" * (-len(token) % 4)).decode())
    return url, {name: value for name, [value] in parse_qs(url.query).items()}


@pytest.mark.parametrize("session", [None, "a-session"])
def test_what_is_signed(keys, monkeypatch, session):
    if session:
        monkeypatch.setenv("AWS_SESSION_TOKEN", session)
    before = time.time()
    token, expires = msk.signed("eu-central-1")
    url, query = parts(token)
    assert (url.scheme, url.hostname, url.path) == ("https", "kafka.eu-central-1.amazonaws.com", "/")
    assert query["Action"] == "kafka-cluster:Connect" and query["X-Amz-Algorithm"] == "AWS4-HMAC-SHA256"
    key, day, region, service, end = query["X-Amz-Credential"].split("/")
    assert (key, region, service, end) == ("AKIDEXAMPLE", "eu-central-1", "kafka-cluster", "aws4_request")
    assert query["X-Amz-Date"].startswith(day) and query["X-Amz-SignedHeaders"] == "host"
    assert query["X-Amz-Expires"] == "900" and 895 < expires - before < 905
    assert query.get("X-Amz-Security-Token") == session and re.fullmatch("[0-9a-f]{64}", query["X-Amz-Signature"])
    assert KEYS["AWS_SECRET_ACCESS_KEY"] not in url.geturl() and not set(token) & set("=+/")


def topic(bootstrap="b-1.example:9098", **config):
    return streams.Topic("sales", bootstrap, config={"token": "msk:eu-central-1"} | config)


@pytest.mark.parametrize(
    ("bootstrap", "config", "sentence"),
    [
        ("b:9098", {"token": "msk:"}, "token must be msk:REGION, such as msk:eu-central-1, or a reference to it"),
        ("b:9098", {"token": "msk:Frankfurt"}, "token must be msk:REGION"),
        ("b:9098", {"token": "hidden"}, "token must be msk:REGION"),
        ("b:9098", {"token": 5}, "token must be msk:REGION"),
        ("b:9098", {"sasl.mechanism": "PLAIN"}, "config has token, which says how to log in, and sasl.mechanism"),
        ("b:9098", {"security.protocol": "sasl_plaintext"}, "security.protocol must be SASL_SSL, found SASL_PLAINTEXT"),
        ("b:9098,127.0.0.1:9", {"security.protocol": "SASL_PLAINTEXT"}, "security.protocol must be SASL_SSL"),
        (NOWHERE, {"security.protocol": "PLAINTEXT"}, "security.protocol must be SASL_SSL, found PLAINTEXT"),
    ],
)  # fmt: skip
def test_settings_that_do_not_go_with_it(bootstrap, config, sentence):
    with pytest.raises(ArgumentError, match=re.escape(sentence)) as refusal:
        topic(bootstrap, **config)
    assert "hidden" not in str(refusal.value)


def test_what_a_client_is_given(keys, monkeypatch):
    monkeypatch.setenv("HOW", "msk:us-gov-west-1")
    given = topics.settings((("client.id", "mine"), ("token", "env:HOW")))
    token, _ = given.pop("oauth_cb")("")
    assert parts(token)[0].hostname == "kafka.us-gov-west-1.amazonaws.com"
    assert given == {"security.protocol": "SASL_SSL", "sasl.mechanism": "OAUTHBEARER", "client.id": "mine"}
    monkeypatch.setenv("HOW", "hidden")
    with pytest.raises(ArgumentError, match="token must be msk:REGION") as refusal:
        topics.settings((("token", "env:HOW"),))
    assert "hidden" not in str(refusal.value)


def test_no_credentials_and_no_package(monkeypatch, tmp_path):
    for name in (*KEYS, "AWS_PROFILE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    for name in ("AWS_CONFIG_FILE", "AWS_SHARED_CREDENTIALS_FILE"):
        monkeypatch.setenv(name, str(tmp_path / "none"))
    needs = "token msk:eu-central-1 needs AWS credentials, by variables, a profile or a role"
    with pytest.raises(ArgumentError, match=f"{needs}, and none were found"):
        topic().describe()
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "AKIDEXAMPLE")
    with pytest.raises(ArgumentError, match=f"{needs}: Partial credentials found"):
        topic().describe()
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None if "msk" in name else object())
    with pytest.raises(MissingPackageError, match=re.escape("pip install 'iceberg-workbench[msk]'")):
        topic().describe()


def counted(monkeypatch):
    """Return the list that gets the time of each signature; all else is the signer's."""
    times, sign = [], msk.signed

    def signed(where):
        times.append(time.monotonic())
        return sign(where)

    monkeypatch.setattr(msk, "signed", signed)
    return times


def signed_again(monkeypatch, kind, seconds, *, calls):
    """Return when a client had tokens signed that are valid for so long, until it had so many."""
    monkeypatch.setattr(MSKAuthTokenProvider, "DEFAULT_TOKEN_EXPIRY_SECONDS", seconds)  # of AWS's signer: 900
    times = counted(monkeypatch)
    own = {"bootstrap.servers": NOWHERE, "log_level": 0} | ({"group.id": "g"} if kind is Consumer else {})
    client = topics._client(kind, own, (("token", "msk:eu-central-1"), ("security.protocol", "SASL_PLAINTEXT")))
    until = time.monotonic() + 120
    while time.monotonic() < until and len(times) <= calls:
        client.poll(0.1)
    return times[1:]  # the first one is to see that it can be signed


def test_a_client_has_it_signed_again(keys, monkeypatch):
    assert len(signed_again(monkeypatch, Consumer, 4, calls=2)) == 2


@pytest.mark.proof("the check has that it is signed again; that it is in time needs longer tokens")
@pytest.mark.parametrize("kind", [Consumer, Producer])
def test_a_client_has_it_signed_again_before_it_expires(keys, monkeypatch, kind):
    first, second, third = signed_again(monkeypatch, kind, 20, calls=3)
    assert second - first < 19 and third - second < 19  # of the 20 the signer's clock cuts off a fraction


ON_A_BROKER = pytest.mark.proof("the tests without a broker have what is signed, and that it is signed again")


@pytest.fixture(scope="module")
def closed():
    group = secured_topics.of_group("reader", "iceberg-workbench")
    with secured_topics.serving(secured_topics.WRITES, secured_topics.READS, group) as served:
        yield served


def here(closed):
    return topic(closed.addresses["oauth"], **{"security.protocol": "SASL_PLAINTEXT"})


@ON_A_BROKER
def test_a_token_arrives_at_a_broker_and_a_refused_one_is_told(keys, closed):
    with pytest.raises(ValueError, match="refuses the log-in: wrong password, unknown user or expired token"):
        here(closed).describe()


@ON_A_BROKER
def test_a_reader_goes_on_past_the_end_of_its_tokens(closed, monkeypatch):
    seconds, times = 7, []

    def signed(where):
        times.append((where, time.monotonic()))
        return closed.token("reader", seconds=seconds), time.time() + seconds

    monkeypatch.setattr(msk, "signed", signed)
    topics.consumer.cache_clear(), topics.admin.cache_clear()
    source, producer = here(closed), Producer(closed.broker("writer").client() | {"log_level": 0})
    described, began, read, sent = source.describe(), time.monotonic(), 0, 0
    while time.monotonic() - began < 3 * seconds:
        producer.produce("sales", str(sent))
        sent += 1
        assert producer.flush(30) == 0
        task = shards.Task("0", str(read - 1) if read else shards.OLDEST, limit=1000)
        progress = Progress(None)
        read += sum(len(records.data) for records in source.read(task, progress))
        assert sorted(source.describe().shards) == sorted(described.shards)
        time.sleep(0.5)
    assert read == sent and {where for where, _ in times} == {"eu-central-1"}
    assert sum(at + seconds < time.monotonic() for _, at in times) >= 2
