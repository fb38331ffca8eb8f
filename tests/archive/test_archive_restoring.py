"""Restores: asked once, waited for with the clock, and what became of each object said by name."""

from datetime import UTC, datetime, timedelta

import pytest

from workbench import archive
from workbench.local import archive as local


@pytest.fixture(scope="module")
def store():
    with local.serve() as found:
        yield found


@pytest.fixture
def attic(store, request, tmp_path):
    return Attic(store, "t" + str(abs(hash(request.node.name)))[:20], tmp_path / "state.db")


class Attic:
    """A bucket of the test's own, and restores of it by the store's clock."""

    def __init__(self, store, bucket, state):
        self.store, self.bucket, self.state = store, bucket, state
        self.s3 = store.client(retries={"max_attempts": 0}, max_pool_connections=32)
        self.s3.create_bucket(Bucket=bucket)
        store.set(expedited=True, restore_status=True)
        self.asked_before = len(store.restores())

    def put(self, *keys, storage_class="GLACIER"):
        for key in keys:
            self.s3.put_object(Bucket=self.bucket, Key=key, Body=b"hello", StorageClass=storage_class)

    def found(self):
        return list(archive.inventory(f"s3://{self.bucket}", s3=self.s3))

    def states(self):
        return {one.key: one.state for one in self.found()}

    def plan(self, **options):
        return archive.plan(self.found(), now=self.store.clock.now(), **options)

    def restore(self, plan, **options):
        return archive.restore(
            plan, **{"s3": self.s3, "state": self.state, "now": self.store.clock.now, "sleep": self.store.clock.advance}
            | options,
        )  # fmt: skip

    def asked(self):
        """(key, status) of every request since the test began."""
        return [(told["key"], told["status"]) for told in self.store.restores()[self.asked_before :]]

    def addresses(self, *keys):
        return tuple(f"s3://{self.bucket}/{key}" for key in keys)


def test_all_is_asked_once_waited_for_and_there(attic):
    attic.put("a", "b")
    attic.put("c", storage_class="STANDARD")
    begin, seen = attic.store.clock.now(), []
    found = attic.restore(attic.plan(tier="Standard"), progress=lambda ready, total: seen.append((ready, total)))
    assert found == archive.Outcome(
        requested=2, prolonged=0, resumed=0, already=0, ready=2, waiting=(), failed=(), expiring=(),
        seconds=(attic.store.clock.now() - begin).total_seconds(),
    )  # fmt: skip
    assert found.complete and timedelta(hours=5) <= timedelta(seconds=found.seconds) <= timedelta(hours=6)
    assert sorted(attic.asked()) == [("a", 202), ("b", 202)]
    assert attic.states() == {"a": "restored", "b": "restored", "c": "active"}
    assert (seen[0], seen[-1]) == ((0, 2), (2, 2))


def test_run_again_it_asks_for_nothing(attic):
    attic.put("a", "b")
    plan = attic.plan()
    attic.restore(plan)
    again = attic.restore(plan)
    assert (again.requested, again.resumed, again.ready, again.complete) == (0, 2, 2, True)
    assert len(attic.asked()) == 2


def test_without_waiting_it_asks_and_a_later_run_waits(attic):
    attic.put("a", "b")
    first = attic.restore(attic.plan(), wait_hours=0)
    assert (first.requested, first.ready, first.waiting) == (2, 0, attic.addresses("a", "b"))
    second = attic.restore(attic.plan())  # a new plan: it waits for what is under way
    assert (second.requested, second.already, second.resumed, second.ready) == (0, 0, 2, 2)
    assert sorted(attic.asked()) == [("a", 202), ("b", 202)]


def test_somebody_elses_restore_is_waited_for(attic):
    attic.put("a", "b")
    attic.s3.restore_object(Bucket=attic.bucket, Key="a", RestoreRequest={"Days": 5})
    found = attic.restore(attic.plan())
    assert (found.requested, found.already, found.ready) == (1, 1, 2)
    assert attic.asked() == [("a", 202), ("b", 202)]


def test_409_between_plan_and_request_is_no_failure(attic):
    attic.put("a")
    plan = attic.plan()
    attic.s3.restore_object(Bucket=attic.bucket, Key="a", RestoreRequest={"Days": 5})
    found = attic.restore(plan)
    assert (found.requested, found.already, found.ready, found.complete) == (0, 1, 1, True)
    assert attic.asked() == [("a", 202), ("a", 409)]


def test_an_object_that_became_active_meanwhile_is_ready(attic):
    attic.put("a")
    plan = attic.plan()
    attic.store.move(attic.bucket, "a", "STANDARD")
    found = attic.restore(plan)
    assert (found.ready, found.complete, attic.asked()) == (1, True, [("a", 403)])


def test_a_copy_that_goes_too_soon_is_prolonged(attic):
    attic.put("a")
    attic.restore(attic.plan(tier="Expedited", days=2))
    attic.put("b")
    attic.store.clock.advance(days=1, hours=12)
    plan = attic.plan(tier="Standard", days=4)
    assert [(step.object.key, step.action) for step in plan.steps] == [("b", "restore"), ("a", "prolong")]
    found = attic.restore(plan)
    assert (found.requested, found.prolonged, found.ready) == (1, 1, 2)
    assert [told for told in attic.asked() if told[0] == "a"] == [("a", 202), ("a", 200)]
    untils = [one.restored_until for one in attic.found()]
    assert all(until > attic.store.clock.now() + timedelta(days=3) for until in untils)


def test_what_expired_before_use_is_asked_for_again_by_a_new_plan(attic):
    attic.put("a")
    attic.restore(attic.plan(days=2))
    attic.store.clock.advance(days=10)
    assert attic.plan(days=2).query == "fails"
    found = attic.restore(attic.plan(days=2))
    assert (found.requested, found.ready) == (1, 1)
    assert attic.asked() == [("a", 202), ("a", 202)]


def test_what_was_written_anew_with_the_same_bytes_is_asked_for_again(attic):
    for _ in range(2):
        attic.put("a")  # the same ETag: to the state table the same object
        attic.store.clock.advance(1)
        done = attic.restore(attic.plan(days=3))
        assert (done.complete, attic.states()) == (True, {"a": "restored"})
    assert attic.asked() == [("a", 202), ("a", 202)]


def test_one_of_a_hundred_never_returns(attic):
    keys = [f"{n:03d}" for n in range(100)]
    attic.store.plant(attic.bucket, "", 100)
    attic.store.stuck(attic.bucket, "000042")
    plan = attic.plan(tier="Bulk", days=5)
    found = attic.restore(plan, wait_hours=30)
    assert (found.requested, found.ready, found.waiting) == (100, 99, attic.addresses("000042"))
    assert not found.complete and timedelta(seconds=found.seconds) == timedelta(hours=30)
    assert len(keys) == len(attic.asked())


def test_no_capacity_for_expedited_is_tried_again_and_then_said(attic):
    attic.put("a")
    attic.store.set(expedited=False)
    plan, looks = attic.plan(tier="Expedited"), []

    def sleep(seconds):
        attic.store.clock.advance(seconds)
        looks.append(seconds)
        if len(looks) == 2:
            attic.store.set(expedited=True)

    assert attic.restore(plan, wait_hours=5, sleep=sleep).complete
    assert attic.asked() == [("a", 503), ("a", 503), ("a", 202)]
    assert looks == [300, 600, 1200]

    attic.put("b")
    attic.store.set(expedited=False)
    found = attic.restore(attic.plan(tier="Expedited"), wait_hours=5, tries=2)
    why = "GlacierExpeditedRetrievalNotAvailable: Glacier expedited retrievals are currently not available, please try again later"
    assert (found.ready, found.failed) == (0, ((attic.addresses("b")[0], why),))
    assert [told for told in attic.asked() if told[0] == "b"] == [("b", 503), ("b", 503)]


def test_what_is_gone_or_overwritten_since_the_plan_is_said(attic):
    attic.put("gone", "other", "kept")
    plan = attic.plan()
    attic.s3.delete_object(Bucket=attic.bucket, Key="gone")
    attic.s3.put_object(Bucket=attic.bucket, Key="other", Body=b"another", StorageClass="GLACIER")
    found = attic.restore(plan)
    gone, other = attic.addresses("gone", "other")
    assert found.failed == (
        (gone, "NoSuchKey: The specified key does not exist."),
        (other, "it was overwritten since the plan"),
    )
    assert found.ready == 1


def test_a_version_is_restored_by_its_id(attic):
    attic.s3.put_bucket_versioning(Bucket=attic.bucket, VersioningConfiguration={"Status": "Enabled"})
    attic.put("a")
    plan = attic.plan()
    attic.s3.put_object(Bucket=attic.bucket, Key="a", Body=b"newer")
    assert attic.restore(plan).complete
    (told,) = attic.store.restores()[attic.asked_before :]
    assert (told["version_id"], told["status"]) == (plan.steps[0].object.version_id, 202)


def test_copies_about_to_expire_are_named(attic):
    attic.put("a")
    found = attic.restore(attic.plan(tier="Expedited", days=2), wait_hours=1)
    assert found.expiring == ()
    attic.store.clock.advance(days=1, hours=12)
    again = attic.restore(attic.plan(), wait_hours=1)
    assert again.ready == 0  # nothing to do: the plan has no step
    until = attic.found()[0].restored_until
    plan = attic.plan(margin_hours=48)
    assert [one.uri for one in plan.expiring] == list(attic.addresses("a"))
    assert until - attic.store.clock.now() < timedelta(days=2)


def test_intelligent_tiering_is_restored_without_days(attic):
    attic.put("a", storage_class="INTELLIGENT_TIERING")
    attic.store.archive_tier(attic.bucket, "a", "ARCHIVE_ACCESS")
    found = attic.restore(attic.plan())
    assert (found.requested, found.ready, attic.states()) == (1, 1, {"a": "active"})


def test_a_caller_without_rights_is_told_so(attic):
    from botocore.exceptions import ClientError

    attic.put("a")
    plan = attic.plan()
    policy = '{"Version": "2012-10-17", "Statement": [{"Effect": "Deny", "Principal": "*", "Action": "s3:PostObject", "Resource": "arn:aws:s3:::%s/*"}]}'
    attic.s3.put_bucket_policy(Bucket=attic.bucket, Policy=policy % attic.bucket)
    with pytest.raises(ClientError):
        attic.restore(plan)
    attic.s3.delete_bucket_policy(Bucket=attic.bucket)
    found = attic.restore(plan)
    assert (found.requested, found.ready) == (1, 1)
    assert attic.asked() == [("a", 202)]


def test_one_state_table_serves_one_restore_at_a_time(attic):
    attic.put("a")
    plan = attic.plan()

    def again(ready, total):
        with pytest.raises(ValueError, match="another restore has the state table .* open"):
            attic.restore(plan)

    assert attic.restore(plan, progress=again).complete


def test_bad_arguments_are_refused_before_anything_is_asked(attic, tmp_path):
    attic.put("a")
    plan = attic.plan()
    broken = tmp_path / "broken.db"
    broken.write_bytes(b"no database" * 1000)
    for wrong, sentence in [
        ({"wait_hours": -1}, "wait_hours is from 0"),
        ({"poll_s": 0}, "poll_s above 0"),
        ({"tries": 0}, "tries from 1"),
        ({"workers": 1000}, "workers is a whole number"),
        ({"state": tmp_path / "nowhere" / "state.db"}, "the folder of the state table .* is not there"),
        ({"state": broken}, "broken.db is no state table"),
    ]:
        with pytest.raises(ValueError, match=sentence):
            attic.restore(plan, **wrong)
    assert attic.asked() == []


def test_now_is_the_machines_time_by_default(attic):
    assert abs(archive.plan([]).made_at - datetime.now(UTC)) < timedelta(seconds=5)
