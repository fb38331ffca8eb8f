"""The archive store against the descriptions of S3, each behaviour for which moto is patched: docs/archive.md."""

import time
import urllib.error
import urllib.request
from datetime import UTC, datetime

import psutil
import pytest
from botocore.exceptions import ClientError

from workbench_standins import archive

BUCKET = "attic"
CLASSES = ("STANDARD", "STANDARD_IA", "GLACIER_IR", "GLACIER", "DEEP_ARCHIVE")


@pytest.fixture(scope="module")
def store():
    with archive.serve() as found:
        yield found


@pytest.fixture
def s3(store, request):
    """A client and a bucket of the test's own."""
    client = store.client(retries={"max_attempts": 0})
    name = "t" + "".join(c if c.isalnum() else "-" for c in request.node.name.lower())[:55].strip("-")
    client.create_bucket(Bucket=name)
    store.set(expedited=True, restore_status=True, latency_s=0)
    return Attic(client, name)


class Attic:
    """Calls on one bucket; a refusal is its (status, code)."""

    def __init__(self, client, bucket):
        self.client, self.bucket = client, bucket

    def __getattr__(self, operation):
        def call(Key=None, **arguments):
            named = {"Bucket": self.bucket} | ({"Key": Key} if Key else {}) | arguments
            try:
                return getattr(self.client, operation)(**named)
            except ClientError as error:
                return error.response["ResponseMetadata"]["HTTPStatusCode"], error.response["Error"]["Code"]

        return call

    def put(self, key, storage_class="GLACIER", body=b"hello"):
        self.put_object(key, Body=body, StorageClass=storage_class)

    def restore(self, key, *, tier=None, days=2, **more):
        asked = ({"Days": days} if days is not None else {}) | (
            {"GlacierJobParameters": {"Tier": tier}} if tier else {}
        )
        said = self.restore_object(key, RestoreRequest=asked, **more)
        return said if isinstance(said, tuple) else said["ResponseMetadata"]["HTTPStatusCode"]

    def text(self, key, **more):
        said = self.get_object(key, **more)
        return said if isinstance(said, tuple) else said["Body"].read()


def test_only_the_two_archive_classes_need_a_restore(s3):
    for name in CLASSES:
        s3.put(name, name)
    assert {name: s3.text(name) for name in CLASSES} == {
        "STANDARD": b"hello",
        "STANDARD_IA": b"hello",
        "GLACIER_IR": b"hello",
        "GLACIER": (403, "InvalidObjectState"),
        "DEEP_ARCHIVE": (403, "InvalidObjectState"),
    }
    assert s3.text("GLACIER", Range="bytes=0-1") == (403, "InvalidObjectState")
    assert {name: s3.restore(name) for name in CLASSES} == {
        "STANDARD": (403, "InvalidObjectState"),
        "STANDARD_IA": (403, "InvalidObjectState"),
        "GLACIER_IR": (403, "InvalidObjectState"),
        "GLACIER": 202,
        "DEEP_ARCHIVE": 202,
    }


def test_the_refusal_names_the_class(s3):
    s3.put("a", "DEEP_ARCHIVE")
    with pytest.raises(ClientError) as caught:
        s3.client.get_object(Bucket=s3.bucket, Key="a")
    assert caught.value.response["Error"]["StorageClass"] == "DEEP_ARCHIVE"


@pytest.mark.parametrize(
    ("storage_class", "tier", "minutes"),
    [
        ("GLACIER", "Expedited", 5),
        ("GLACIER", "Standard", 300),
        ("GLACIER", None, 300),
        ("GLACIER", "Bulk", 720),
        ("DEEP_ARCHIVE", "Standard", 720),
        ("DEEP_ARCHIVE", "Bulk", 2880),
    ],
)
def test_a_restore_takes_the_time_of_its_tier(store, s3, storage_class, tier, minutes):
    s3.put("a", storage_class)
    assert s3.restore("a", tier=tier) == 202
    store.clock.advance(60 * minutes - 1)
    assert (s3.head_object("a")["Restore"], s3.text("a")) == (
        'ongoing-request="true"',
        (403, "InvalidObjectState"),
    )
    store.clock.advance(1)
    assert s3.text("a") == b"hello"
    assert s3.head_object("a")["StorageClass"] == storage_class


def test_refused_tiers_days_and_a_second_request(s3):
    for name in ("GLACIER", "DEEP_ARCHIVE"):
        s3.put(name, name)
    assert s3.restore("DEEP_ARCHIVE", tier="Expedited") == (400, "InvalidArgument")
    assert s3.restore("GLACIER", days=None) == (400, "MalformedXML")
    assert s3.restore("GLACIER", days=0) == (400, "InvalidArgument")
    assert s3.restore("GLACIER", tier="Leisurely") == (400, "MalformedXML")
    assert s3.restore("nowhere") == (404, "NoSuchKey")
    assert s3.restore("GLACIER", tier="Bulk") == 202
    assert s3.restore("GLACIER", tier="Bulk") == (409, "RestoreAlreadyInProgress")
    assert s3.restore("GLACIER", tier="Standard", days=9) == (409, "RestoreAlreadyInProgress")
    assert s3.restore("GLACIER", tier="Standard") == 202  # faster, the same days


def test_a_faster_tier_shortens_the_wait_and_a_slower_is_refused(store, s3):
    s3.put("a")
    s3.restore("a", tier="Bulk")
    store.clock.advance(hours=1)
    assert s3.restore("a", tier="Expedited") == 202
    assert s3.restore("a", tier="Standard") == (409, "RestoreAlreadyInProgress")
    store.clock.advance(300)
    assert s3.text("a") == b"hello"


def test_expedited_capacity_can_be_wanting(store, s3):
    s3.put("a")
    store.set(expedited=False)
    assert s3.restore("a", tier="Expedited") == (503, "GlacierExpeditedRetrievalNotAvailable")
    assert s3.restore("a", tier="Standard") == 202


def test_a_copy_expires_at_a_midnight_and_the_object_is_archived_again(s3):
    with archive.serve(
        start=datetime(2012, 10, 15, 5, 30)
    ) as store:  # the user guide's example, five hours before
        attic = Attic(store.client(retries={"max_attempts": 0}), "guide")
        attic.create_bucket()
        attic.put("a")
        attic.restore("a", days=3)
        store.clock.advance(hours=5)
        assert store.clock.now() == datetime(2012, 10, 15, 10, 30, tzinfo=UTC)
        assert attic.head_object("a")["Restore"].endswith('expiry-date="Fri, 19 Oct 2012 00:00:00 GMT"')
        store.clock.advance(days=3, hours=13.5, seconds=-1)
        assert attic.text("a") == b"hello"
        store.clock.advance(1)
        assert attic.text("a") == (403, "InvalidObjectState")
        assert "Restore" not in attic.head_object("a")
        assert attic.restore("a") == 202


def test_a_request_for_a_restored_object_prolongs_its_copy_from_now(s3):
    with archive.serve(start=datetime(2026, 3, 1, 12)) as store:
        attic = Attic(store.client(), "prolong")
        attic.create_bucket()
        attic.put("a")
        attic.restore("a", days=1, tier="Expedited")
        store.clock.advance(hours=12)
        assert attic.head_object("a")["Restore"].endswith('expiry-date="Tue, 03 Mar 2026 00:00:00 GMT"')
        assert attic.restore("a", days=10) == 200
        assert attic.head_object("a")["Restore"].endswith('expiry-date="Fri, 13 Mar 2026 00:00:00 GMT"')
        assert [told["status"] for told in store.restores()] == [202, 200]


@pytest.mark.parametrize("operation", ["list_objects", "list_objects_v2", "list_object_versions"])
def test_listings_tell_the_state_of_restores_when_asked(store, s3, operation):
    for key in ("archived", "restored", "under way", "with a +%"):
        s3.put(key)
    s3.put("active", "STANDARD")
    for key in ("restored", "with a +%"):
        s3.restore(key, tier="Expedited")
    store.clock.advance(300)
    s3.restore("under way")

    def statuses(**asked):
        said = getattr(s3, operation)(**asked)
        return {row["Key"]: row.get("RestoreStatus") for row in said.get("Contents") or said["Versions"]}

    until = s3.head_object("restored")["Restore"].split('"')[3]
    found = statuses(OptionalObjectAttributes=["RestoreStatus"])
    for key in ("restored", "with a +%"):
        assert found[key].pop("RestoreExpiryDate").strftime("%a, %d %b %Y %H:%M:%S GMT") == until
    assert found == {
        "active": None,
        "archived": None,
        "restored": {"IsRestoreInProgress": False},
        "under way": {"IsRestoreInProgress": True},
        "with a +%": {"IsRestoreInProgress": False},
    }
    assert set(statuses().values()) == {None}
    store.set(restore_status=False)
    assert set(statuses(OptionalObjectAttributes=["RestoreStatus"]).values()) == {None}


def test_the_server_says_who_it_is(store, s3):
    def name():
        return s3.list_objects_v2()["ResponseMetadata"]["HTTPHeaders"]["server"]

    assert name() == "AmazonS3"
    store.set(restore_status=False)
    assert name() == "workbench"


def test_pages_of_a_listing_are_in_order_and_whole(store, s3):
    store.plant(s3.bucket, "p/", 2500)
    pages = s3.client.get_paginator("list_objects_v2").paginate(Bucket=s3.bucket, Prefix="p/")
    found = [[row["Key"] for row in page["Contents"]] for page in pages]
    assert [len(page) for page in found] == [1000, 1000, 500]
    assert [key for page in found for key in page] == [f"p/{n:06d}" for n in range(2500)]
    assert s3.list_objects_v2(Prefix="p/0024", StartAfter="p/002497")["Contents"][0]["Key"] == "p/002498"
    assert s3.list_objects_v2(Prefix="p/", Delimiter="9", MaxKeys=3)["KeyCount"] == 3


def test_copies_from_an_archived_object_are_refused(store, s3):
    s3.put("a", body=b"x" * 100)
    source = f"{s3.bucket}/a"
    upload = s3.create_multipart_upload("b")["UploadId"]
    part = {"Key": "b", "UploadId": upload, "PartNumber": 1, "CopySource": source}
    assert s3.copy_object("b", CopySource=source) == (403, "ObjectNotInActiveTierError")
    assert s3.upload_part_copy(**part) == (403, "ObjectNotInActiveTierError")
    s3.restore("a", tier="Expedited")
    assert s3.copy_object("b", CopySource=source) == (403, "ObjectNotInActiveTierError")
    store.clock.advance(300)
    s3.copy_object("b", CopySource=source)
    assert (s3.text("b"), s3.head_object("b").get("StorageClass")) == (b"x" * 100, None)
    assert "CopyPartResult" in s3.upload_part_copy(**part)


def test_nothing_is_selected_from_an_archived_object(store, s3):
    s3.put("a", body=b"1\n2\n")
    query = {
        "Expression": "SELECT * FROM s3object", "ExpressionType": "SQL",
        "InputSerialization": {"CSV": {}}, "OutputSerialization": {"CSV": {}},
    }  # fmt: skip
    assert s3.select_object_content("a", **query) == (403, "InvalidObjectState")
    s3.restore("a", tier="Expedited")
    store.clock.advance(300)
    assert "Payload" in s3.select_object_content("a", **query)


def test_what_needs_no_bytes_is_to_be_had_of_an_archived_object(s3):
    s3.put_object("a", Body=b"hello", StorageClass="GLACIER", Tagging="team=attic")
    assert s3.get_object_tagging("a")["TagSet"] == [{"Key": "team", "Value": "attic"}]
    assert s3.head_object("a")["ContentLength"] == 5


def test_the_archive_tiers_of_intelligent_tiering(store, s3):
    s3.put("a", "INTELLIGENT_TIERING")
    assert (s3.text("a"), s3.restore("a", days=None)) == (b"hello", (403, "InvalidObjectState"))
    store.archive_tier(s3.bucket, "a", "DEEP_ARCHIVE_ACCESS")
    assert (s3.text("a"), s3.head_object("a")["ArchiveStatus"]) == (
        (403, "InvalidObjectState"),
        "DEEP_ARCHIVE_ACCESS",
    )
    assert s3.restore("a", days=3) == (400, "InvalidArgument")
    assert s3.restore("a", days=None, tier="Expedited") == (400, "InvalidArgument")
    assert s3.restore("a", days=None) == 202
    store.clock.advance(hours=12)
    store.clock.advance(days=400)  # it does not expire
    assert (s3.text("a"), "ArchiveStatus" in s3.head_object("a")) == (b"hello", False)
    with pytest.raises(ValueError, match="a is of class INTELLIGENT_TIERING and the tier 'ATTIC'"):
        store.archive_tier(s3.bucket, "a", "ATTIC")


def test_each_version_has_a_restore_of_its_own(store, s3):
    s3.put_bucket_versioning(VersioningConfiguration={"Status": "Enabled"})
    s3.put("a", body=b"old")
    old = s3.head_object("a")["VersionId"]
    s3.put("a", body=b"new")
    assert s3.restore("a", VersionId=old) == 202
    store.clock.advance(hours=5)
    assert (s3.text("a", VersionId=old), s3.text("a")) == (b"old", (403, "InvalidObjectState"))
    assert s3.restore("a", VersionId="00000000-0000-0000-0000-000000000000")[0] == 404


def test_an_overwritten_object_has_no_restore(store, s3):
    s3.put("a")
    s3.restore("a", tier="Expedited")
    store.clock.advance(300)
    s3.put("a", body=b"again")
    assert s3.text("a") == (403, "InvalidObjectState")


def rules(*rules):
    return {
        "Rules": [
            {"ID": str(n), "Status": "Enabled", "Filter": {"Prefix": ""}} | rule for n, rule in enumerate(rules)
        ]
    }


def test_lifecycle_rules_move_and_expire_objects_by_the_clock(s3):
    with archive.serve(start=datetime(2026, 1, 1, 12)) as store:
        attic = Attic(store.client(retries={"max_attempts": 0}), "rules")
        attic.create_bucket()
        big = b"x" * 131_072
        for key in ("data/a", "logs/a", "data/small"):
            attic.put_object(key, Body=big if key != "data/small" else b"x")
        down = [{"Days": 30, "StorageClass": "GLACIER"}, {"Days": 100, "StorageClass": "DEEP_ARCHIVE"}]
        attic.put_bucket_lifecycle_configuration(
            LifecycleConfiguration=rules(
                {"Filter": {"Prefix": "data/"}, "Transitions": down},
                {"Filter": {"Prefix": "logs/"}, "Expiration": {"Days": 40}},
            )
        )

        def classes():
            return {row["Key"]: row["StorageClass"] for row in attic.list_objects_v2().get("Contents", [])}

        store.clock.advance(days=30, hours=11)  # 30 days are over, the midnight after is not
        assert classes() == {"data/a": "STANDARD", "data/small": "STANDARD", "logs/a": "STANDARD"}
        store.clock.advance(hours=1)
        assert classes() == {"data/a": "GLACIER", "data/small": "STANDARD", "logs/a": "STANDARD"}
        store.clock.advance(days=10)
        assert classes() == {"data/a": "GLACIER", "data/small": "STANDARD"}
        store.clock.advance(days=60)
        assert classes() == {"data/a": "DEEP_ARCHIVE", "data/small": "STANDARD"}
        assert attic.text("data/a") == (403, "InvalidObjectState")


def test_a_rule_with_a_size_moves_small_objects_too(s3):
    with archive.serve() as store:
        attic = Attic(store.client(), "sizes")
        attic.create_bucket()
        for size in (10, 200):
            attic.put_object(str(size), Body=b"x" * size)
        attic.put_bucket_lifecycle_configuration(
            LifecycleConfiguration=rules(
                {"Filter": {"ObjectSizeGreaterThan": 100}, "Transitions": [{"Days": 1, "StorageClass": "GLACIER"}]}
            )
        )
        store.clock.advance(days=2)
        assert [row["StorageClass"] for row in attic.list_objects_v2()["Contents"]] == ["STANDARD", "GLACIER"]


def test_expiration_wins_over_a_restore(s3):
    with archive.serve() as store:
        attic = Attic(store.client(retries={"max_attempts": 0}), "wins")
        attic.create_bucket()
        attic.put("a")
        attic.put_bucket_lifecycle_configuration(LifecycleConfiguration=rules({"Expiration": {"Days": 3}}))
        attic.restore("a", days=10, tier="Expedited")
        store.clock.advance(300)
        assert attic.text("a") == b"hello"
        store.clock.advance(days=4)
        assert attic.text("a") == (404, "NoSuchKey")


def test_the_clock_stands_until_it_is_moved_forward(store, s3):
    before = store.clock.now()
    s3.put("a")
    assert (store.clock.now(), s3.head_object("a")["LastModified"]) == (before, before)
    for wrong in (-1, float("inf"), "1"):
        with pytest.raises((ValueError, TypeError)):
            store.clock.advance(wrong)
    with pytest.raises(ValueError, match="the clock ends in the year 8000"):
        store.clock.advance(days=365 * 7000)
    assert store.clock.now() == before


def test_requests_are_counted_and_held_back(store, s3):
    before = store.requests()
    s3.put("a")
    s3.head_object("a"), s3.text("a"), s3.list_objects_v2(), s3.list_object_versions(), s3.restore("a")
    found = {name: count - before.get(name, 0) for name, count in store.requests().items()}
    assert {name: count for name, count in found.items() if count} == {
        "PutObject": 1, "HeadObject": 1, "GetObject": 1, "ListObjectsV2": 1, "ListObjectVersions": 1,
        "RestoreObject": 1,
    }  # fmt: skip
    store.set(latency_s=0.3)
    begin = time.perf_counter()
    s3.head_object("a")
    assert time.perf_counter() - begin >= 0.3


def test_a_stuck_retrieval_never_ends(store, s3):
    s3.put("a")
    store.stuck(s3.bucket, "a")
    s3.restore("a", tier="Expedited")
    store.clock.advance(days=100)
    assert s3.head_object("a")["Restore"] == 'ongoing-request="true"'


def listening(process):
    """Addresses on which a process listens; none when it has ended."""
    try:
        return [one.laddr for one in process.net_connections() if one.status == "LISTEN"]
    except psutil.Error:
        return []


def test_only_this_machine_and_no_web_page_reaches_it(store):
    def status(path, *, data=None, **headers):
        request = urllib.request.Request(store.endpoint + path, data=data, headers=headers)
        try:
            return urllib.request.urlopen(request, timeout=10).status
        except urllib.error.HTTPError as error:
            return error.code

    assert status("/", Host="attacker.example") == 403
    assert status("/_store/now", data=b"{}") == 403  # as a form is sent
    assert status("/_store/now", data=b"{}", **{"Content-Type": "application/json"}) == 200
    assert status("/moto-api/reset", data=b"") != 200
    found = [listening(process) for process in psutil.Process().children()]  # other stores may be among them
    (ours,) = [one for one in found if int(store.endpoint.rpartition(":")[2]) in {address.port for address in one}]
    assert {address.ip for address in ours} == {"127.0.0.1"}


def test_it_ends_with_its_context_and_its_port_is_refused_when_taken(store):
    before = set(psutil.Process().children())
    with archive.serve() as other:
        (process,) = set(psutil.Process().children()) - before
        port = int(other.endpoint.rpartition(":")[2])
        with pytest.raises(ValueError, match=f"port {port} of 127.0.0.1 cannot be had"), archive.serve(port=port):
            pass
    assert not process.is_running()
    with pytest.raises(ConnectionError, match=f"no archive store answers at {other.endpoint}"):
        other.clock.now()


def test_bad_arguments_are_refused_before_a_process_starts(store):
    with (
        pytest.raises(ValueError, match="port must be an integer of at least 0 and of at most 65535, found -1"),
        archive.serve(port=-1),
    ):
        pass
    with pytest.raises(ValueError, match="start must be a datetime, found 'now'"), archive.serve(start="now"):
        pass
    with pytest.raises(ValueError, match="there is no object nothing in nowhere|nowhere"):
        store.stuck("nowhere", "nothing")
    from workbench_standins.archive import child

    with pytest.raises(ValueError, match="has no control 'open'; it has access_tier, advance, now"):
        child.ask(store.endpoint, "open")


def test_a_key_with_a_percent_sign_is_found_in_a_listing_of_versions(store, s3):
    s3.put_bucket_versioning(VersioningConfiguration={"Status": "Enabled"})
    s3.put("a%20b")
    s3.put("a b")
    s3.restore("a%20b", tier="Expedited")
    store.clock.advance(300)
    rows = s3.list_object_versions(OptionalObjectAttributes=["RestoreStatus"])["Versions"]
    assert {row["Key"]: "RestoreStatus" in row for row in rows} == {"a b": False, "a%20b": True}
    assert s3.text("a%20b") == b"hello"


def test_days_without_a_date_are_refused(s3):
    s3.put("a")
    assert s3.restore("a", days=10**8) == (400, "InvalidArgument")
    assert s3.restore("a", days=36_500) == 202
    assert "ongoing" in s3.head_object("a")["Restore"]


def test_controls_that_do_not_go_are_refused_in_a_sentence(store, s3):
    s3.put("a")
    for wrong, sentence in [
        (
            lambda: store.set(latency_s=-1),
            "latency_s must be a number of at least 0 and below inf or None, found -1",
        ),
        (lambda: store.move(s3.bucket, "a", "FOO"), "storage class you specified is not valid"),
        (lambda: store.plant(s3.bucket, "p", 1, storage_class="NOPE"), "storage class you specified is not valid"),
        (lambda: store.plant("no-bucket", "p", 1), "bucket does not exist"),
        (lambda: store.plant(s3.bucket, "p", -1), "count must be an integer of at least 0, found -1"),
        (lambda: store.clock.advance("x"), "seconds must be a number, found 'x'"),
    ]:
        with pytest.raises(ValueError, match=sentence):
            wrong()
    assert [row["Key"] for row in s3.list_objects_v2()["Contents"]] == ["a"]
