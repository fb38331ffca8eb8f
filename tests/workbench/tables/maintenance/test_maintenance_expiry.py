"""Which snapshots may go, reckoned without a session: lines, forks, cuts, ages and who goes on from where."""

from datetime import UTC, datetime, timedelta
from types import SimpleNamespace

import pytest

from workbench.tables import maintenance
from workbench.tables.maintenance import Hindrance, Obstacle, expiry, metadata

DAY = 86_400_000
NOW = datetime.now(UTC).replace(microsecond=0) + timedelta(days=100)
NEWEST = NOW.timestamp() * 1000 - 50 * DAY  # when the newest snapshot was committed; the others a day apart


def history(*lines, numbered=True, ages=None):
    """Snapshots of lines as `1-2-3`, each number the id and the sequence number of one; the first is main's."""
    parents = {}
    for line in lines:
        ids = [int(one) for one in line.split("-")]
        parents |= {ids[0]: parents.get(ids[0])} | dict(zip(ids[1:], ids, strict=False))
    last = max(parents)
    return {
        id: {
            "snapshot-id": id, "parent-snapshot-id": parents[id],
            "timestamp-ms": NEWEST - (ages or {}).get(id, last - id) * DAY,
        } | ({"sequence-number": id} if numbered else {})
        for id in sorted(parents)
    }  # fmt: skip


def ref(id, *, branch=False, age=None, own_age=None, least=None):
    return SimpleNamespace(
        snapshotId=lambda: id, isBranch=lambda: branch, maxRefAgeMs=lambda: age, maxSnapshotAgeMs=lambda: own_age,
        minSnapshotsToKeep=lambda: least,
    )  # fmt: skip


@pytest.fixture
def expirable(monkeypatch):
    """Function of a history, its main's head and other refs, that returns the Expiry."""

    def found(known, head, *, marks=(), now=NOW, properties=None, main=None, refs=None, **policy):
        there = {"main": main or ref(head, branch=True)} | (refs or {})
        loaded = SimpleNamespace(refs=lambda: there, properties=lambda: properties or {}, name=lambda: "t")
        monkeypatch.setattr(metadata, "lineage", lambda *_: known)
        policy = maintenance.Policy(**{"keep_snapshots": 1, "snapshots_older_than_days": 5} | policy)
        return expiry.expirable(None, loaded, policy, marks=marks, now=now)

    return found


MAIN = "1-2-3-4-5-6"


@pytest.mark.parametrize(
    ("lines", "refs", "more", "going"),
    [
        ([MAIN], {}, {}, (1, 2, 3, 4, 5)),
        ([MAIN], {}, {"keep_snapshots": 3}, (1, 2, 3)),
        ([MAIN], {}, {"marks": [3]}, (1, 2)),
        ([MAIN], {"tag": ref(3)}, {}, (1, 2)),
        ([MAIN], {"tag": ref(3)}, {"solitary_refs": ["tag"]}, (1, 2, 4, 5)),
        # of a branch: its own, where it left main, and main from there
        ([MAIN, "3-7-8"], {"side": ref(8, branch=True)}, {}, (1, 2)),
        ([MAIN, "3-7-8"], {"side": ref(8, branch=True)}, {"solitary_refs": ["side"]}, (1, 2, 4, 5)),
        ([MAIN, "3-7-8"], {"side": ref(8)}, {"solitary_refs": ["side"]}, (1, 2, 3, 4, 5, 7)),  # a tag: itself
        ([MAIN, "3-7-8"], {"side": ref(8)}, {}, (1, 2)),  # who goes on from it goes back to main first
        ([MAIN, "3-7-8"], {}, {"marks": [7]}, (1, 2, 8)),
        ([MAIN, "6-7"], {"side": ref(7, branch=True)}, {}, (1, 2, 3, 4, 5)),
        ([MAIN], {"side": ref(2, branch=True)}, {}, (1,)),
        ([MAIN], {"side": ref(2, branch=True)}, {"solitary_refs": ["side"]}, (1, 3, 4, 5)),
        ([MAIN, "7-8"], {"tag": ref(7)}, {"solitary_refs": ["*"]}, (1, 2, 3, 4, 5, 8)),
    ],
)
def test_who_holds_what(expirable, lines, refs, more, going):
    assert expirable(history(*lines), 6, refs=refs, **more).snapshots == going


def test_a_way_to_main_that_was_cut_holds_what_came_later(expirable):
    known = history("1-2-4-6", "3-5")  # of what 3 came from nothing is left
    assert expirable(known, 6, refs={"side": ref(5, branch=True)}).snapshots == (1, 2, 4)
    assert expirable(known, 6, marks=[3]).snapshots == (1, 2, 5)
    # in format 1 nothing has a sequence number: nobody knows what came later
    unnumbered = history("1-2-4-6", "3-5", numbered=False)
    assert expirable(unnumbered, 6, refs={"side": ref(5, branch=True)}).snapshots == ()
    assert expirable(unnumbered, 6, marks=[3]).snapshots == (5,)


def test_the_young_stay_wherever_they_are(expirable):
    known = history(MAIN, "2-7", ages={3: -47, 7: -46, 1: -40})
    assert expirable(known, 6, snapshots_older_than_days=5).snapshots == (1, 2, 4, 5)
    assert expirable(known, 6, snapshots_older_than_days=10.5).snapshots == (2, 4, 5)
    edge = history(MAIN)  # the first is 55 days old, to the millisecond
    assert expirable(edge, 6, snapshots_older_than_days=55).snapshots == ()
    assert expirable(edge, 6, snapshots_older_than_days=54.999).snapshots == (1,)


def test_what_is_held_and_by_whom(expirable):
    found = expirable(history(MAIN), 6, marks=[4], refs={"reader": ref(2), "eoy": ref(1)}, solitary_refs=["eoy"])
    assert (found.snapshots, found.needed, found.by) == ((), 3, "reader")
    found = expirable(history(MAIN), 6, marks=[4])
    assert (found.snapshots, found.needed, found.by) == ((1, 2, 3), 2, "snapshot 4")


@pytest.mark.parametrize(
    ("own", "every", "drops"),
    [(None, None, ()), (60, None, ()), (40, None, ("tag",)), (None, "40", ("tag",)), (None, "60", ()),
     (60, "40", ()), (40, "60", ("tag",))],
)  # fmt: skip
def test_a_maximum_age_of_its_own_goes_before_that_of_all(expirable, own, every, drops):
    given = {
        "refs": {"tag": ref(6, age=own and own * DAY)},
        "properties": {expiry.MAX_AGE: str(int(every) * DAY)} if every else {},
    }
    assert expirable(history(MAIN), 6, **given).drops == drops  # main itself never goes
    refused = expirable(history(MAIN), 6, marks=["tag"], **given).refused
    assert bool(refused) == bool(drops)


def test_ages_of_refs_are_told_by_the_clock_where_it_is_ahead(expirable):
    """Iceberg asks its own clock; an earlier moment that is asked about keeps no ref for it."""
    known, past = history(MAIN, ages=dict.fromkeys(range(1, 7), 60)), NOW - timedelta(days=109)
    assert expirable(known, 6, refs={"tag": ref(3, age=5 * DAY)}, now=past).drops == ("tag",)


@pytest.mark.parametrize("value", ["false", "FALSE", "False"])
def test_a_table_whose_files_may_belong_to_others_is_refused(expirable, value):
    found = expirable(history(MAIN), 6, properties={"gc.enabled": value})
    assert (found.snapshots, found.refused) == ((), Obstacle(Hindrance.GC_DISABLED))
    assert expirable(history(MAIN), 6, properties={"gc.enabled": "true"}).refused is None


def branch_age(needed):
    return Obstacle(Hindrance.BRANCH_SNAPSHOT_AGE, name="main", number=needed)


@pytest.mark.parametrize(
    ("least", "own_age", "keep", "needed"),
    [
        (None, 52, 1, None),  # it takes what may go anyhow
        (None, 52, 5, 2),  # 1 alone may go, and by its rule 1, 2 and 3
        (1, 49, 3, 2),
        (2, 49, 3, 1),
        (3, 49, 3, None),
        (None, 49, 1, None),  # the newest is always left
        (None, 49, 2, 1),
    ],
)
def test_a_branch_with_a_rule_of_its_own(expirable, least, own_age, keep, needed):
    main = ref(6, branch=True, own_age=own_age * DAY, least=least)
    found = expirable(history(MAIN), 6, main=main, keep_snapshots=keep)
    assert found.refused == (branch_age(needed) if needed else None)


def test_a_rule_of_a_branch_that_takes_what_a_mark_needs(expirable):
    main = ref(6, branch=True, own_age=52 * DAY)
    assert expirable(history(MAIN), 6, main=main, marks=[3]).refused == branch_age(1)
    # no rule of a tag
    assert expirable(history(MAIN), 6, refs={"tag": ref(3, own_age=1)}).refused is None


def test_marks_that_are_nothing(expirable):
    for mark in (9, "no_such"):
        with pytest.raises(ValueError, match="is neither a snapshot of t nor one of its branches and tags"):
            expirable(history(MAIN), 6, marks=[mark])


@pytest.mark.parametrize(
    ("name", "refs", "alone"),
    [
        ("reader", ["r_*"], False), ("reader", ["readers*"], False), ("reader", ["reader*"], True),
        ("reader", ["rea*"], True), ("reader", ["rea"], False), ("reader", ["eader*"], False), ("a*", ["a*"], True),
        ("reader", [], False), ("reader", ["*"], True),
    ],
)  # fmt: skip
def test_solitary_is_what_is_named_or_begins_so(name, refs, alone):
    assert expiry.solitary(name, maintenance.Policy(solitary_refs=refs)) == alone
