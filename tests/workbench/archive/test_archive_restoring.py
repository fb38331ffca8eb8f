"""Restores: asked once, waited for with the clock, and what became of each object said by name."""

import os
import shutil
import sqlite3
from contextlib import closing
from datetime import UTC, datetime, timedelta

import pytest
from botocore.exceptions import ConnectionClosedError
from conftest import PROVE

from workbench import archive
from workbench.archive import requests
from workbench_standins import archive as local


@pytest.fixture(scope="module")
def store():
    with local.serve() as found:
        yield found


@pytest.fixture
def attic(store, request, tmp_path):
    return Attic(store, "t" + str(abs(hash(request.node.name)))[:20], tmp_path / "state.db")


class Killed(BaseException):
    """In the place of signal 9, which test_archive_kill sends: nothing catches it."""


def kill(**_):
    raise Killed


def lost():
    raise ConnectionClosedError(endpoint_url="of S3")


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

    def meanwhile(self, action, point="before"):
        """A client whose first request for a restore is preceded by something; or followed, before it is noted."""
        client, left = self.store.client(retries={"max_attempts": 0}, max_pool_connections=32), [action]

        def once(**_):
            if left:
                left.pop()()

        client.meta.events.register(f"{point}-call.s3.RestoreObject", once)
        return client

    def killed(self, plan, point="before", **options):
        """Restore, and end at the first requests as a kill would: before they are sent, or after their answer."""
        client = self.store.client(retries={"max_attempts": 0})
        client.meta.events.register(f"{point}-call.s3.RestoreObject", kill)
        with pytest.raises(Killed):
            self.restore(plan, s3=client, wait_hours=0, workers=1, **options)

    def by_another(self, key, days, tier="Expedited"):
        asked = {"Days": days, "GlacierJobParameters": {"Tier": tier}}
        self.s3.restore_object(Bucket=self.bucket, Key=key, RestoreRequest=asked)

    def until(self, key):
        (found,) = [one for one in self.found() if one.key == key]
        return found.restored_until and f"{found.restored_until:%m-%d}"

    def at(self, hour, minute=0):
        """Move the clock to an hour of the day; returns its time."""
        now = self.store.clock.now()
        goal = now.replace(hour=hour, minute=minute)
        return self.store.clock.advance((goal - now).total_seconds() % 86_400)

    def tiers(self):
        return [(told["tier"], told["status"]) for told in self.store.restores()[self.asked_before :]]

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


def test_cut_after_some_requests_the_same_arguments_plan_the_rest(attic):
    attic.put(*"abcdefghij", storage_class="DEEP_ARCHIVE")
    client, left = attic.store.client(retries={"max_attempts": 0}), [1] * 5
    client.meta.events.register(
        "before-call.s3.RestoreObject", lambda **_: left.pop() and None if left else kill()
    )
    with pytest.raises(Killed):
        attic.restore(attic.plan(), s3=client, workers=1)
    again = attic.plan()  # of the five under way nobody tells the tier
    assert (again.waiting, again.objects, again.hours, len(again.expiring)) == (5, 5, 48, 5)
    found = attic.restore(again)
    assert (found.complete, found.ready, found.requested) == (True, 10, 5)
    assert sorted(attic.asked()) == [(key, 202) for key in "abcdefghij"]


def test_a_copy_that_ends_before_the_days_and_is_not_prolonged_is_named(attic):
    attic.put("a", "b")
    attic.by_another("a", days=2)
    attic.store.clock.advance(hours=1)
    found = attic.restore(attic.plan(days=9, tier="Expedited"))
    ends = next(one.restored_until for one in attic.found() if one.key == "a")
    assert (attic.asked(), found.expiring) == ([("a", 202), ("b", 202)], ((*attic.addresses("a"), ends),))
    for one in attic.plan(days=9).expiring:  # as docs/archive.md prolongs them
        attic.s3.restore_object(Bucket=one.bucket, Key=one.key, RestoreRequest={"Days": 9})
    assert (attic.plan(days=9).expiring, attic.asked()[2:]) == ((), [("a", 200)])


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
    s3 = attic.meanwhile(lambda: attic.by_another("a", 5))
    found = attic.restore(attic.plan(), s3=s3)
    assert (found.requested, found.already, found.ready, found.complete) == (0, 1, 1, True)
    assert attic.asked() == [("a", 202), ("a", 409)]


def test_what_somebody_asked_for_since_the_plan_is_not_asked_for(attic):
    attic.put("a", "b")
    plan = attic.plan(days=2)
    attic.by_another("a", 30)
    attic.store.clock.advance(600)  # there, for 30 days: a request would cut it to 2
    attic.by_another("b", 5)  # under way
    until = attic.until("a")
    found = attic.restore(plan)
    assert (found.requested, found.prolonged, found.already, found.ready) == (0, 0, 1, 2)
    assert (attic.asked(), attic.until("a")) == ([("a", 202), ("b", 202)], until)


def test_an_object_that_became_active_meanwhile_is_ready(attic):
    attic.put("a", "b")
    plan = attic.plan()
    attic.store.move(attic.bucket, "a", "STANDARD")
    s3 = attic.meanwhile(lambda: attic.store.move(attic.bucket, "b", "STANDARD"))
    found = attic.restore(plan, s3=s3)
    assert (found.ready, found.complete, attic.asked()) == (2, True, [("b", 403)])


def test_an_object_that_a_rule_moved_since_the_plan_is_another_price(attic):
    attic.put("a")
    plan = attic.plan(tier="Bulk")
    attic.store.move(attic.bucket, "a", "DEEP_ARCHIVE")
    found = attic.restore(plan)
    why = "it is DEEP_ARCHIVE now, and was GLACIER in the plan; plan it anew"
    assert (found.failed, attic.asked()) == (((attic.addresses("a")[0], why),), [])


def test_a_copy_that_goes_too_soon_is_prolonged(attic):
    attic.at(20)  # copies go at midnight: in the morning it would stay long enough
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


def test_after_a_kill_the_new_plans_tier_and_days_are_asked(attic):
    attic.put("a", "b")
    attic.killed(attic.plan(tier="Expedited", days=30))
    assert attic.tiers() == []
    found = attic.restore(attic.plan(tier="Bulk", days=2))
    assert (attic.tiers(), found.complete) == ([("Bulk", 202)] * 2, True)
    assert found.expiring == ()


def test_what_came_and_went_unseen_is_asked_for_by_the_new_plan(attic):
    attic.put("a")
    attic.restore(attic.plan(tier="Expedited", days=1), wait_hours=0)
    attic.store.clock.advance(days=4)
    assert attic.restore(attic.plan(tier="Bulk", days=10)).complete
    assert attic.tiers() == [("Expedited", 202), ("Bulk", 202)]


def test_what_a_new_plan_sees_archived_is_not_taken_for_under_way(attic):
    attic.put("a")
    attic.restore(attic.plan(tier="Bulk", days=30), wait_hours=0)
    attic.s3.delete_object(Bucket=attic.bucket, Key="a")
    attic.store.clock.advance(3600)
    attic.put("a")  # the same bytes: to the state table the same object
    assert attic.restore(attic.plan(tier="Expedited")).complete
    assert attic.tiers() == [("Bulk", 202), ("Expedited", 202)]


def test_one_inventory_planned_twice_is_asked_for_once_and_nothing_is_shortened(attic):
    attic.put("a")
    found = attic.found()
    attic.restore(archive.plan(found, days=9, now=attic.store.clock.now()))
    until = attic.until("a")
    attic.store.clock.advance(60)
    assert attic.restore(archive.plan(found, days=2, now=attic.store.clock.now())).complete
    assert (attic.asked(), attic.until("a")) == ([("a", 202)], until)


def test_a_copy_shorter_than_the_plans_days_is_named(attic):
    attic.put("a")
    plan = attic.plan(days=9)
    attic.by_another("a", 3)
    found = attic.restore(plan)
    assert (found.complete, [uri for uri, _ in found.expiring]) == (True, list(attic.addresses("a")))


def test_what_was_ready_is_looked_at_again(attic):
    attic.put("kept", "gone", "other")
    plan = attic.plan(days=5)
    assert attic.restore(plan).complete
    attic.s3.delete_object(Bucket=attic.bucket, Key="gone")
    attic.s3.put_object(Bucket=attic.bucket, Key="other", Body=b"another", StorageClass="GLACIER")
    gone, other = attic.addresses("gone", "other")
    again = attic.restore(plan)
    assert (again.requested, again.resumed, again.ready, again.failed) == (
        0, 3, 1, ((gone, "it is not there any more"), (other, "it was overwritten since the plan")),
    )  # fmt: skip


def test_a_state_table_of_another_time_is_no_proof(attic):
    attic.put("a")
    ahead = attic.store.clock.now
    attic.restore(attic.plan(days=9), now=lambda: ahead() + timedelta(hours=12))
    attic.s3.delete_object(Bucket=attic.bucket, Key="a")
    attic.put("a")
    assert attic.restore(attic.plan(days=9)).complete
    assert (attic.states(), attic.asked()) == ({"a": "restored"}, [("a", 202), ("a", 202)])


def test_an_old_plan_run_again_after_its_copies_expired_asks_again(attic):
    attic.put("a")
    plan = attic.plan(days=2)
    attic.restore(plan)
    attic.store.clock.advance(days=10)
    assert attic.restore(plan).complete
    assert attic.asked() == [("a", 202), ("a", 202)]


def test_a_prolongation_whose_answer_was_lost_is_not_asked_for_twice(attic):
    attic.put("a")
    attic.put("z", storage_class="DEEP_ARCHIVE")
    attic.at(20)
    attic.by_another("a", 1)
    attic.store.clock.advance(600)
    plan = attic.plan(tier="Bulk", days=3)
    attic.killed(plan, "after")
    until = attic.until("a")
    attic.at(21)
    attic.store.clock.advance(hours=3)  # a prolongation from now would last a day more
    attic.restore(plan, wait_hours=0)
    assert sorted(attic.asked()[1:]) == [("a", 200), ("z", 202)]
    assert attic.until("a") == until


def test_a_prolongation_that_never_arrived_is_asked_for(attic):
    attic.put("a", "z")
    attic.at(20)
    attic.by_another("a", 1)
    attic.store.clock.advance(600)
    plan = attic.plan(days=4)
    attic.killed(plan)
    attic.restore(plan, wait_hours=0)
    assert sorted(attic.asked()[1:]) == [("a", 200), ("z", 202)]


def test_a_prolongation_without_an_answer_is_asked_for_when_it_did_not_arrive(attic):
    attic.put("a", "z")
    attic.at(20)
    attic.by_another("a", 1)
    attic.store.clock.advance(600)
    found = attic.restore(attic.plan(days=4), s3=attic.meanwhile(lost, "before"), workers=1)
    assert (found.prolonged, found.requested, found.complete) == (1, 1, True)
    assert sorted(attic.asked()[1:]) == [("a", 200), ("z", 202)]


def test_a_prolongation_that_would_change_nothing_is_not_asked_for(attic):
    attic.put("a", "z")
    attic.at(20)
    attic.by_another("a", 1)
    attic.store.clock.advance(600)
    plan = attic.plan(days=2)
    assert [step.action for step in plan.steps] == ["restore", "prolong"]
    attic.by_another("a", 9)  # a request would cut it to 2
    until = attic.until("a")
    found = attic.restore(plan)
    assert (found.prolonged, found.ready, attic.until("a")) == (0, 2, until)


@pytest.mark.parametrize(("days", "paid"), [(1, 0), (2, 1), (3, 1)])
def test_a_plan_counts_the_prolongations_that_are_asked_for(attic, days, paid):
    """Of one day it counted one that was never sent, said that all was complete, and nobody named the copy."""
    attic.put("copy")
    attic.put("under_way", storage_class="DEEP_ARCHIVE")
    attic.at(3, 20)
    attic.by_another("copy", 2)
    attic.store.clock.advance(hours=30)
    attic.by_another("under_way", 9, tier="Bulk")
    ends, asked = attic.until("copy"), len(attic.asked())
    plan = attic.plan(days=days)
    assert (plan.objects, plan.usd > 0) == (paid, paid == 1)
    assert [one.key for one in plan.expiring] == ["copy"] + ["under_way"] * (days == 2)  # gone before it is read
    found = attic.restore(plan, wait_hours=0)
    assert (attic.asked()[asked:], found.prolonged) == ([("copy", 200)] * paid, paid)
    assert (attic.until("copy") == ends) == (paid == 0)
    assert [uri for uri, _ in found.expiring] == list(attic.addresses("copy")) * (paid == 0)


def test_a_prolongation_that_comes_too_late_is_no_retrieval(attic):
    attic.put("a", storage_class="DEEP_ARCHIVE")
    attic.by_another("a", 1, "Standard")
    attic.store.clock.advance(hours=13)
    attic.put("z", storage_class="DEEP_ARCHIVE")
    plan = attic.plan(tier="Bulk", days=3)
    assert [(step.object.key, step.action) for step in plan.steps] == [("z", "restore"), ("a", "prolong")]
    attic.store.clock.advance(days=3)
    found = attic.restore(plan, wait_hours=0)
    why = "its copy is gone since the plan, and getting it back is another price; plan it anew"
    assert found.failed == ((attic.addresses("a")[0], why),)
    assert attic.asked() == [("a", 202), ("z", 202)]


def test_a_row_without_an_end_does_not_stop_later_runs(attic):
    attic.put("a")
    plan = attic.plan()
    attic.store.move(attic.bucket, "a", "STANDARD")
    attic.restore(plan)  # ready, and nothing ends
    attic.store.move(attic.bucket, "a", "GLACIER")
    attic.at(20)
    attic.by_another("a", 1)
    attic.store.clock.advance(600)
    attic.put("z")
    found = attic.restore(attic.plan(tier="Bulk", days=3))
    assert (found.prolonged, found.requested, found.complete) == (1, 1, True)


def test_a_wait_that_ends_in_the_archive_is_said(attic):
    attic.put("a")
    attic.by_another("a", 5, "Bulk")
    plan = attic.plan()

    def sleep(seconds):
        attic.store.clock.advance(seconds)
        attic.store.move(attic.bucket, "a", "GLACIER")  # its restore is gone with it

    found = attic.restore(plan, sleep=sleep)
    why = "it was under way, and is archived again; plan it anew"
    assert (found.failed, attic.asked()) == (((attic.addresses("a")[0], why),), [("a", 202)])


def test_another_version_than_the_planned_one_is_not_restored(attic):
    attic.put("a")
    attic.s3.put_bucket_versioning(Bucket=attic.bucket, VersioningConfiguration={"Status": "Enabled"})
    plan = attic.plan()
    assert plan.steps[0].object.version_id is None  # put before the bucket kept versions
    attic.s3.put_object(Bucket=attic.bucket, Key="a", Body=b"newer", StorageClass="GLACIER")
    found = attic.restore(plan)
    why = "it was overwritten since the plan"
    assert (found.failed, attic.asked()) == (((attic.addresses("a")[0], why),), [])


def test_two_versions_of_one_key_are_two_objects(attic):
    attic.s3.put_bucket_versioning(Bucket=attic.bucket, VersioningConfiguration={"Status": "Enabled"})
    attic.put("a")
    found = attic.found()
    attic.put("a")
    done = attic.restore(archive.plan(found + attic.found(), now=attic.store.clock.now()))
    assert (done.requested, done.ready, done.complete) == (2, 2, True)


def test_a_look_that_s3_does_not_answer_is_repeated(attic):
    from botocore.awsrequest import AWSResponse

    class Nothing:
        def stream(self, *_, **__):
            yield b""

    attic.store.plant(attic.bucket, "", 20)
    plan, heads = attic.plan(), []

    def unavailable(request, **_):
        heads.append(request)
        if len(heads) % 7 == 0:
            return AWSResponse(request.url, 503, {}, Nothing())

    s3 = attic.store.client(retries={"max_attempts": 0}, max_pool_connections=32)
    s3.meta.events.register("before-send.s3.HeadObject", unavailable)
    found = attic.restore(plan, s3=s3)
    assert (found.requested, found.ready, found.complete) == (20, 20, True)
    assert len(attic.asked()) == 20


def test_a_request_without_an_answer_is_looked_at(attic):
    attic.put("a", "b")
    for point in ("after", "before"):  # the request arrived, or never did
        found = attic.restore(attic.plan(tier="Expedited"), s3=attic.meanwhile(lost, point))
        assert (found.ready, found.complete) == (2, True)
        attic.store.clock.advance(days=4)
    assert sorted(attic.asked()) == [("a", 202)] * 2 + [("b", 202)] * 2


def test_what_is_there_is_seen_though_another_never_comes(attic):
    attic.put("a", "b")
    attic.store.stuck(attic.bucket, "a")
    found = attic.restore(attic.plan(days=5), workers=1, wait_hours=20)
    assert (found.ready, found.waiting) == (1, attic.addresses("a"))
    seen = []
    attic.put(*(f"{n:02d}" for n in range(1, 8, 2)))
    attic.put(*(f"{n:02d}" for n in range(0, 8, 2)), storage_class="DEEP_ARCHIVE")
    plan = archive.plan(
        [one for one in attic.found() if one.key[0] == "0"], now=attic.store.clock.now(), days=4,
        tier={"GLACIER": "Expedited", "DEEP_ARCHIVE": "Bulk"},
    )  # fmt: skip
    attic.restore(plan, workers=4, progress=lambda ready, _: seen.append(ready))
    assert 4 in seen  # the quick half, long before the slow one


def test_one_of_many_never_returns(attic):
    many = 100 if PROVE else 20
    attic.store.plant(attic.bucket, "", many)
    attic.store.stuck(attic.bucket, "000012")
    plan = attic.plan(tier="Bulk", days=5)
    found = attic.restore(plan, wait_hours=30)
    assert (found.requested, found.ready, found.waiting) == (many, many - 1, attic.addresses("000012"))
    assert not found.complete and timedelta(seconds=found.seconds) == timedelta(hours=30)
    assert many == len(attic.asked())


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
    found = attic.restore(attic.plan(tier="Expedited"), tries=2)
    why = "GlacierExpeditedRetrievalNotAvailable: Glacier expedited retrievals are currently not available, please try again later"
    assert (found.ready, found.failed) == (0, ((attic.addresses("b")[0], why),))
    assert [told for told in attic.asked() if told[0] == "b"] == [("b", 503), ("b", 503)]

    attic.put("c")  # by default there is time for all tries, and what was never taken does not count as under way
    found = attic.restore(
        archive.plan(
            [one for one in attic.found() if one.key == "c"], tier="Expedited", now=attic.store.clock.now()
        )
    )
    assert (found.waiting, [uri for uri, _ in found.failed]) == ((), list(attic.addresses("c")))
    assert [told for told in attic.asked() if told[0] == "c"] == [("c", 503)] * 5
    found = attic.restore(attic.plan(tier="Expedited"), wait_hours=0)
    assert (found.waiting, [uri for uri, _ in found.failed]) == ((), list(attic.addresses("b", "c")))


def test_what_is_gone_or_overwritten_since_the_plan_is_said(attic):
    attic.put("gone", "other", "kept")
    plan = attic.plan()
    attic.s3.delete_object(Bucket=attic.bucket, Key="gone")
    attic.s3.put_object(Bucket=attic.bucket, Key="other", Body=b"another", StorageClass="GLACIER")
    found = attic.restore(plan)
    gone, other = attic.addresses("gone", "other")
    assert found.failed == (
        (gone, "it is not there any more"),
        (other, "it was overwritten since the plan"),
    )
    assert (found.ready, attic.asked()) == (1, [("kept", 202)])


def test_what_goes_just_before_its_request_is_said_as_s3_says_it(attic):
    attic.put("a")
    s3 = attic.meanwhile(lambda: attic.s3.delete_object(Bucket=attic.bucket, Key="a"))
    found = attic.restore(attic.plan(), s3=s3)
    assert found.failed == ((attic.addresses("a")[0], "NoSuchKey: The specified key does not exist."),)


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


ALONE = pytest.mark.proof(
    "the case of a whole later batch denies each of its objects, and none of them stops the others"
)


@pytest.mark.parametrize(
    "denied",
    [pytest.param(("000000",), marks=ALONE), ("000048", "000049", "00005*")],
    ids=["one", "a whole later batch"],
)
def test_denied_objects_do_not_stop_the_others(attic, denied):
    import json

    attic.store.plant(attic.bucket, "p/", 60)
    statement = {
        "Effect": "Deny", "Principal": "*", "Action": "s3:PostObject",
        "Resource": [f"arn:aws:s3:::{attic.bucket}/p/{name}" for name in denied],
    }  # fmt: skip
    policy = json.dumps({"Version": "2012-10-17", "Statement": [statement]})
    attic.s3.put_bucket_policy(Bucket=attic.bucket, Policy=policy)
    wrong = [f"p/{n:06d}" for n in (range(1) if len(denied) == 1 else range(48, 60))]
    found = attic.restore(attic.plan(), workers=4)  # sixteen at once
    assert [uri for uri, _ in found.failed] == list(attic.addresses(*wrong))
    assert (found.requested, found.ready) == (60 - len(wrong), 60 - len(wrong))
    attic.s3.delete_bucket_policy(Bucket=attic.bucket)
    again = attic.restore(attic.plan())
    assert (again.requested, again.complete) == (len(wrong), True)


def test_one_state_table_serves_one_restore_at_a_time(attic):
    attic.put("a")
    plan = attic.plan()

    def again(ready, total):
        with pytest.raises(ValueError, match="another restore has the state table .* open"):
            attic.restore(plan)

    assert attic.restore(plan, progress=again).complete


def foreign_files(folder):
    """Files that are no state tables: name to what the refusal says of them."""
    folder.mkdir()
    for name, statements in {
        "orders.db": ["CREATE TABLE orders (id)", "INSERT INTO orders VALUES (1)"],
        "wal.db": ["PRAGMA journal_mode = WAL", "CREATE TABLE orders (id)"],
        "other.db": ["CREATE TABLE requests (id, at)"],
        "more.db": [f"CREATE TABLE {requests.STATE_TABLE.definition}", "CREATE TABLE requests_old (id)"],
        "keyless.db": [f"CREATE TABLE {requests.STATE_TABLE.definition}".replace("PRIMARY KEY", "UNIQUE")],
        "trigger.db": [
            f"CREATE TABLE {requests.STATE_TABLE.definition}",
            "CREATE TRIGGER t AFTER INSERT ON requests BEGIN DELETE FROM requests; END",
        ],
    }.items():
        with closing(sqlite3.connect(folder / name)) as database:
            for statement in statements:
                database.execute(statement)
            database.commit()
    with closing(sqlite3.connect(folder / "wal.db")) as database:  # what is in its log alone
        database.execute("CREATE TABLE late (id)")
        for end in ("", "-wal"):
            shutil.copy(folder / f"wal.db{end}", folder / f"log.db{end}")
    (folder / "text.db").write_bytes(b"no database" * 1000)
    (folder / "short.db").write_bytes(b"x")
    (folder / "target.db").touch()
    (folder / "link.db").symlink_to(folder / "target.db")
    (folder / "nowhere.db").symlink_to(folder / "missing.db")
    (folder / "hard.db").hardlink_to(folder / "target.db")
    os.mkfifo(folder / "pipe.db")
    return {
        "orders.db": "a database with orders", "wal.db": "a database with late, orders", "other.db": "with requests",
        "more.db": "with requests, requests_old", "keyless.db": "with requests", "trigger.db": "with requests, t",
        "log.db": "a database with late, orders", "text.db": "file is not a database", "short.db": "file is not a database", "link.db": "but a link: a second",
        "nowhere.db": "but a link: a second", "hard.db": "but a link: a second", "pipe.db": "or a device",
    }  # fmt: skip


def held(folder):
    """What is in a folder, but for the index of a log, which SQLite makes anew at will."""
    return {
        path.name: (path.lstat().st_mtime_ns, path.is_file() and path.read_bytes())
        for path in folder.iterdir()
        if path.suffix != ".db-shm"
    }


def test_somebody_elses_file_is_refused_and_left_as_it_is(attic, tmp_path):
    attic.put("a")
    plan, folder = attic.plan(), tmp_path / "theirs"
    sentences = foreign_files(folder)
    before, requested = held(folder), attic.store.requests()
    for name, sentence in sentences.items():
        with pytest.raises(ValueError, match=f"{name} is not a state table") as caught:
            attic.restore(plan, state=folder / name)
        assert sentence in str(caught.value) and "\n" not in str(caught.value)
    after = held(folder)
    assert {name for name in before | after if before.get(name) != after.get(name)} == set()
    assert attic.store.requests() == requested


def test_an_empty_file_and_a_name_that_sqlite_keeps_for_itself_become_state_tables(attic, tmp_path, monkeypatch):
    attic.put("a")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "empty?mode=ro#.db").touch()
    for number, state in enumerate(("empty?mode=ro#.db", ":memory:")):
        assert attic.restore(attic.plan(), state=state).complete
        assert attic.restore(attic.plan(), state=state).complete  # its own
        assert (tmp_path / state).stat().st_size > 0
        attic.store.clock.advance(days=4)
        assert len(attic.asked()) == number + 1


def test_bad_arguments_are_refused_before_anything_is_asked(attic, tmp_path):
    attic.put("a")
    plan = attic.plan()
    broken = tmp_path / "broken.db"
    broken.write_bytes(b"no database" * 1000)
    for wrong, sentence in [
        ({"wait_hours": -1}, "wait_hours must be a number of at least 0 and of at most 8760 or None, found -1"),
        ({"poll_s": 0}, "poll_s must be a number above 0 and below inf, found 0"),
        ({"tries": 0}, "tries must be an integer of at least 1, found 0"),
        ({"poll_s": "300"}, "poll_s must be a number above 0 and below inf, found '300'"),
        ({"poll_s": 10, "longest_poll_s": 9}, "longest_poll_s must be a number of at least poll_s, 10; found 9"),
        ({"wait_hours": float("nan")}, "wait_hours must be .*, found nan"),
        ({"wait_hours": float("inf")}, "wait_hours must be .*, found inf"),
        ({"wait_hours": 1e9}, "wait_hours must be .* at most 8760 or None, found 1000000000.0"),
        ({"state": tmp_path}, "is not a state table"),
        ({"workers": 1000}, "workers must be an integer of at least 1 and of at most 256, found 1000"),
        ({"state": tmp_path / "nowhere" / "state.db"}, "the folder of the state table .* is not there"),
        ({"state": broken}, "broken.db is not a state table"),
    ]:
        with pytest.raises(ValueError, match=sentence):
            attic.restore(plan, **wrong)
    assert attic.asked() == []


def test_now_is_the_machines_time_by_default(attic):
    attic.put("a")
    before = datetime.now(UTC)
    assert before <= archive.plan(attic.found()).made_at <= datetime.now(UTC)
