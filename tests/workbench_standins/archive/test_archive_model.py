"""The life of an archived object, any order of requests and hours, against a second telling of the description."""

import itertools

import archive_oracle
import pytest
from botocore.exceptions import ClientError
from conftest import PROVE
from hypothesis import given, settings
from hypothesis import strategies as st

from workbench_standins import archive

EXAMPLES = 300 if PROVE else 25
ASK = st.tuples(
    st.just("ask"), st.sampled_from(["Bulk", "Standard", "Expedited"]), st.integers(1, 3), st.booleans()
)
WAIT = st.tuples(
    st.just("wait"), st.sampled_from([60, 300, 4 * 3600, 5 * 3600, 12 * 3600, 86_399, 86_400, 200_000])
)
numbers = itertools.count()


@pytest.fixture(scope="module")
def served():
    with archive.serve() as store:
        s3 = store.client(retries={"max_attempts": 0})
        s3.create_bucket(Bucket="attic")
        yield store, s3


@settings(max_examples=EXAMPLES, deadline=None)
@given(storage_class=st.sampled_from(["GLACIER", "DEEP_ARCHIVE"]), script=st.lists(ASK | WAIT, max_size=8))
def test_any_story_of_an_object_is_the_described_one(served, storage_class, script):
    store, s3 = served
    oracle, key = archive_oracle.Oracle(storage_class), f"k{next(numbers)}"
    s3.put_object(Bucket="attic", Key=key, Body=b"once", StorageClass=storage_class)
    for kind, *step in script:
        if kind == "wait":
            store.clock.advance(step[0])
        else:
            tier, days, capacity = step
            store.set(expedited=capacity)
            expected = oracle.ask(store.clock.now().timestamp(), tier, days, capacity)
            assert asked(s3, key, tier, days) == expected
        now = store.clock.now().timestamp()
        assert looked_at(s3, key) == (oracle.seen(now), oracle.gone_at is not None)


def asked(s3, key, tier, days):
    try:
        said = s3.restore_object(
            Bucket="attic", Key=key, RestoreRequest={"Days": days, "GlacierJobParameters": {"Tier": tier}}
        )
        return said["ResponseMetadata"]["HTTPStatusCode"], None
    except ClientError as error:
        return error.response["ResponseMetadata"]["HTTPStatusCode"], error.response["Error"]["Code"]


def looked_at(s3, key):
    """What HEAD says, and whether GET gives the bytes; the listing says the same as HEAD."""
    told = s3.head_object(Bucket="attic", Key=key).get("Restore")
    (row,) = s3.list_objects_v2(Bucket="attic", Prefix=key, MaxKeys=1, OptionalObjectAttributes=["RestoreStatus"])[
        "Contents"
    ]
    status = row.get("RestoreStatus")
    if told is None or told == 'ongoing-request="true"':
        assert status == (told and {"IsRestoreInProgress": True})
        seen = told and "true"
    else:
        assert told.startswith('ongoing-request="false", expiry-date="')
        seen = told.split('"')[3]
        assert status["IsRestoreInProgress"] is False
        assert status["RestoreExpiryDate"].strftime("%a, %d %b %Y %H:%M:%S GMT") == seen
    try:
        read = s3.get_object(Bucket="attic", Key=key)["Body"].read() == b"once"
    except ClientError as error:
        assert error.response["Error"]["Code"] == "InvalidObjectState"
        read = False
    return seen, read
