"""States of objects under a prefix: one listing where it tells them, HEAD requests where it does not."""

from datetime import UTC, datetime

import pytest

from workbench import archive
from workbench_standins import archive as local


@pytest.fixture(scope="module")
def attic():
    """A bucket with an object of every state; the store, its client."""
    with local.serve(start=datetime(2026, 1, 5, 10)) as store:
        s3 = store.client(max_pool_connections=32)
        s3.create_bucket(Bucket="attic")
        for key, name in {
            "t/": "STANDARD", "t/active": "STANDARD", "t/archived": "GLACIER", "t/deep": "DEEP_ARCHIVE",
            "t/instant": "GLACIER_IR", "t/resting": "INTELLIGENT_TIERING", "t/restored": "GLACIER",
            "t/under way": "GLACIER", "u": "GLACIER",
        }.items():  # fmt: skip
            s3.put_object(Bucket="attic", Key=key, Body=b"" if key == "t/" else b"hello", StorageClass=name)
        store.archive_tier("attic", "t/resting", "ARCHIVE_ACCESS")
        s3.restore_object(Bucket="attic", Key="t/restored", RestoreRequest={"Days": 3})
        store.clock.advance(hours=5)
        s3.restore_object(Bucket="attic", Key="t/under way", RestoreRequest={"Days": 3})
        yield store, s3


EXPECTED = [
    ("t/", 0, "STANDARD", "active", None, None),
    ("t/active", 5, "STANDARD", "active", None, None),
    ("t/archived", 5, "GLACIER", "archived", None, None),
    ("t/deep", 5, "DEEP_ARCHIVE", "archived", None, None),
    ("t/instant", 5, "GLACIER_IR", "active", None, None),
    ("t/resting", 5, "INTELLIGENT_TIERING", "archived", None, "ARCHIVE_ACCESS"),
    ("t/restored", 5, "GLACIER", "restored", datetime(2026, 1, 9, tzinfo=UTC), None),
    ("t/under way", 5, "GLACIER", "restoring", None, None),
]


def facts(found):
    return [(o.key, o.size, o.storage_class, o.state, o.restored_until, o.access_tier) for o in found]


def requests(store, before):
    return {name: n - before.get(name, 0) for name, n in store.requests().items() if n != before.get(name, 0)}


@pytest.mark.parametrize(
    ("told", "status", "heads"),
    [(True, "auto", 1), (True, "listing", 1), (True, "head", 3), (False, "auto", 5), (False, "listing", 1)],
)
def test_states_by_listing_and_by_head(attic, told, status, heads):
    store, s3 = attic
    store.set(restore_status=told)
    before = store.requests()
    found = facts(archive.inventory("s3://attic/t/", s3=s3, status=status))
    assert requests(store, before) == {"GetBucketSettings": 1, "HeadObject": heads, "ListObjectsV2": 1}
    trusted_wrongly = not told and status == "listing"
    assert (found == EXPECTED) is not trusted_wrongly
    store.set(restore_status=True)


def test_many_objects_take_one_request_a_thousand(attic):
    store, s3 = attic
    s3.create_bucket(Bucket="many")
    store.plant("many", "p/", 2500, restored=10)
    before = store.requests()
    states = [one.state for one in archive.inventory("s3://many/p/", s3=s3)]
    assert (states.count("restored"), states.count("archived")) == (10, 2490)
    assert requests(store, before) == {"GetBucketSettings": 1, "ListObjectsV2": 3}


def test_of_versions_the_newest_counts(attic):
    _, s3 = attic
    s3.create_bucket(Bucket="versions")
    s3.put_bucket_versioning(Bucket="versions", VersioningConfiguration={"Status": "Enabled"})
    for body, name in ((b"old", "GLACIER"), (b"newer", "STANDARD")):
        newest = s3.put_object(Bucket="versions", Key="a", Body=body, StorageClass=name)["VersionId"]
    s3.put_object(Bucket="versions", Key="deleted", Body=b"x", StorageClass="GLACIER")
    s3.delete_object(Bucket="versions", Key="deleted")
    (found,) = archive.inventory("s3://versions", s3=s3)
    assert (found.size, found.state, found.version_id, found.version) == (5, "active", newest, newest)


def test_without_versions_the_etag_tells_contents_apart(attic):
    _, s3 = attic
    (found,) = archive.inventory("s3://attic/u", s3=s3)
    assert (found.version_id, found.version) == (None, "5d41402abc4b2a76b9719d911017c592")  # md5 of hello


def test_bad_arguments_are_refused_at_once_and_nothing_is_asked(attic):
    store, s3 = attic
    before = store.requests()
    for wrong, sentence in [
        ({"source": "file:///tmp"}, "is not an address in S3"),
        ({"source": "s3://attic", "status": "guess"}, "status must be 'auto', 'listing' or 'head', found 'guess'"),
        ({"source": "s3://attic", "workers": 0}, "workers must be an integer of at least 1 and of at most 256"),
        (
            {"source": "s3://attic", "where": "id = 1"},
            "where is an argument for a table; s3://attic is a directory",
        ),
        ({"source": "n.t"}, "n.t is read by Spark: give the session as spark="),
    ]:
        with pytest.raises(ValueError, match=sentence):
            archive.inventory(wrong.pop("source"), s3=s3, **wrong)
    assert requests(store, before) == {}
