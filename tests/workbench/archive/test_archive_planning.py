"""A plan: what would be asked, its price and time, what a query does now. Sums by a second route."""

from dataclasses import replace
from datetime import timedelta, timezone
from decimal import Decimal
from pathlib import Path

import pytest
from archive_attic import GIB, NOW, made

from workbench import archive, costs
from workbench.archive import planning


def test_price_time_and_steps_of_a_mixed_directory():
    found = [
        made("active", "STANDARD", "active"),
        made("flexible-1"),
        made("flexible-2", size=3 * GIB),
        made("deep", "DEEP_ARCHIVE"),
        made("under way", state="restoring"),
        made("restored", state="restored", until_hours=100),
        made("folder/", size=0),
    ]
    plan = archive.plan(found, tier="Bulk", days=5, now=NOW)
    copies = Decimal("0.023") * 5 * 6 / 30  # five days, and to the midnight after
    assert plan.usd == copies + Decimal("0.0025") + Decimal("0.025") / 1000
    assert (plan.objects, plan.size, plan.hours, plan.readable, plan.waiting) == (3, 5 * GIB, 48, 2, 1)
    assert (plan.query, plan.expiring, plan.prices_date) == ("fails", (found[5],), "2026-06-05")
    assert [(step.object.key, step.action, step.tier, step.hours) for step in plan.steps] == [
        ("flexible-1", "restore", "Bulk", 12),
        ("flexible-2", "restore", "Bulk", 12),
        ("deep", "restore", "Bulk", 48),
        ("under way", "wait", None, 0),
    ]


def test_every_tier_is_offered_with_its_price_before_anything_is_asked():
    plan = archive.plan([made(f"{n}", size=GIB // 2) for n in range(2000)], tier="Standard", days=29, now=NOW)
    copies = Decimal(23)
    assert [(o.archived_as, o.tier, o.objects, o.hours, o.usd, o.chosen) for o in plan.offers] == [
        ("GLACIER", "Expedited", 2000, 0.08, copies + 30 + 20, False),
        ("GLACIER", "Standard", 2000, 5, copies + 10 + Decimal("0.1"), True),
        ("GLACIER", "Bulk", 2000, 12, copies, False),
    ]


def test_expedited_is_not_for_deep_archive_and_each_class_can_have_its_tier():
    found = [made("a"), made("b", "DEEP_ARCHIVE")]
    with pytest.raises(
        ValueError, match="DEEP_ARCHIVE offers Standard, Bulk, not 'Expedited', and 1 object is in"
    ):
        archive.plan(found, tier="Expedited", days=5, now=NOW)
    with pytest.raises(ValueError, match="DEEP_ARCHIVE offers Standard, Bulk, not None"):
        archive.plan(found, tier={"GLACIER": "Expedited"}, days=5, now=NOW)
    plan = archive.plan(found, tier={"GLACIER": "Expedited", "DEEP_ARCHIVE": "Standard"}, days=5, now=NOW)
    assert [(step.tier, step.hours) for step in plan.steps] == [("Expedited", 0.08), ("Standard", 12)]


def test_copies_that_would_be_gone_before_the_slowest_is_there_are_refused():
    found = [made("a"), made("b", "DEEP_ARCHIVE")]
    tiers = {"GLACIER": "Expedited", "DEEP_ARCHIVE": "Bulk"}
    with pytest.raises(
        ValueError, match="copies of 2 days, there after 0.08 hours, are gone after 48.08; all are .* days=3"
    ):
        archive.plan(found, tier=tiers, days=2, now=NOW)
    assert archive.plan(found, tier=tiers, days=3, now=NOW).hours == 48
    assert archive.plan(found, tier=tiers, days=2, now=NOW, margin_hours=0).hours == 48


def test_the_refusal_of_days_says_the_sum():
    found = [made("a"), made("b", "DEEP_ARCHIVE")]
    said = (
        "copies of 1 day, there after 5 hours, are gone after 29; all are there after 12 and shall be readable "
        "together for 24 more (margin_hours): take days=2. Nothing was asked"
    )
    with pytest.raises(ValueError) as caught:
        archive.plan(found, days=1, now=NOW)
    assert str(caught.value) == said


def test_copies_that_end_before_the_days_are_named_also_where_no_step_prolongs_them():
    ends = {"before": 119, "after": 120}
    found = [made(name, state="restored", until_hours=hours) for name, hours in ends.items()]
    for more in ([], [made("a")]):
        plan = archive.plan(found + more, days=5, now=NOW)
        assert ([one.key for one in plan.expiring], len(plan.steps)) == (["before"], len(more))


def test_copies_that_go_too_soon_are_named_and_prolonged():
    found = [
        made("a"),
        made("soon", state="restored", until_hours=28),
        made("later", state="restored", until_hours=29),
    ]
    plan = archive.plan(found, days=5, now=NOW)
    assert [one.key for one in plan.expiring] == ["soon", "later"]  # the other one before five days are over
    assert [(step.object.key, step.action) for step in plan.steps] == [("a", "restore"), ("soon", "prolong")]
    assert plan.objects == 2
    copies = Decimal("0.023") * 6 / 30
    assert plan.size == GIB  # what lives on is not retrieved
    assert plan.usd == 2 * copies + Decimal("0.01") + Decimal("0.05") / 1000 + Decimal("0.005") / 1000


@pytest.mark.parametrize("state", ["archived", "restored"])
def test_the_price_is_enough_for_the_longest_life_of_a_copy_and_for_no_more(state):
    def lives(begin):
        return Decimal((planning.lives_until(begin, 3) - begin) / timedelta(seconds=1)) / 86_400

    one = made("a", state=state, until_hours=1 if state == "restored" else None)
    others = [made("b", size=0)] * (state == "restored")  # something to restore, so that the copy is prolonged
    requests = Decimal("0.00005") if state == "archived" else Decimal("0.000055")
    retrieved = Decimal("0.01") if state == "archived" else 0
    copies = archive.plan([one, *others], days=3, now=NOW).usd - requests - retrieved
    longest = max(lives(NOW.replace(hour=0) + timedelta(minutes=minute)) for minute in range(24 * 60))
    assert abs(copies - Decimal("0.023") / 30 * longest) < Decimal("1e-20")


@pytest.mark.parametrize(
    ("days", "until_hours", "step"),  # at 10:00: a day from now is 38 hours, to the next midnight; two are 62
    [(1, 37, True), (1, 38, False), (1, 39, False), (2, 38, True), (2, 61, True), (2, 62, False), (2, 71, False)],
)
def test_a_copy_that_the_days_do_not_lengthen_is_named_and_has_no_step(days, until_hours, step):
    """Somebody's object is under way, for 48 hours at most: a request was priced that `restore` never sends."""
    warm, under_way = (
        made("warm", state="restored", until_hours=until_hours),
        made("b", "DEEP_ARCHIVE", "restoring"),
    )
    plan = archive.plan([under_way, warm], days=days, now=NOW)
    steps = [(step.object.key, step.action) for step in plan.steps]
    assert steps == [("warm", "prolong")] * step + [("b", "wait")]
    assert (plan.objects, plan.usd > 0, warm in plan.expiring) == (step, step, True)


@pytest.mark.parametrize("offset", [-12, -5, 1, 14])
@pytest.mark.parametrize("until_hours", [15, 37, 38, 39, 47])
def test_a_plan_does_not_depend_on_the_zone_in_which_now_is_told(offset, until_hours):
    """S3's midnight is that of UTC: by Berlin's a prolongation was priced that `restore` never sends."""
    warm, under_way = (
        made("warm", state="restored", until_hours=until_hours),
        made("b", "DEEP_ARCHIVE", "restoring"),
    )
    there = timezone(timedelta(hours=offset))
    for hours in (0, 13.5):  # at 10:00 and at 23:30 UTC
        now = NOW + timedelta(hours=hours)
        plans = [archive.plan([under_way, warm], days=1, now=one) for one in (now, now.astimezone(there))]
        assert plans[0] == plans[1]


def test_copies_that_go_too_soon_are_named_and_left_when_nothing_is_restored():
    plan = archive.plan([made("soon", state="restored", until_hours=3)], now=NOW)
    assert ([one.key for one in plan.expiring], plan.steps, plan.usd) == (["soon"], (), 0)


def test_days_that_would_not_prolong_long_enough_are_refused():
    deep, warm = made("deep", "DEEP_ARCHIVE"), made("warm", state="restored", until_hours=49)
    resting = made("resting", "INTELLIGENT_TIERING", access_tier="DEEP_ARCHIVE_ACCESS")
    for slow in (deep, resting):
        with pytest.raises(ValueError, match="copies of 2 days, prolonged now, are gone after 48; all .* days=3"):
            archive.plan([slow, warm], tier="Bulk", days=2, now=NOW)
        assert archive.plan([slow, warm], tier="Bulk", days=3, now=NOW).expiring == (warm,)
    assert archive.plan([resting], tier="Bulk", days=1, now=NOW).hours == 48


def test_what_is_under_way_takes_as_long_as_the_slowest_tier():
    warm = made("warm", state="restored", until_hours=43)
    for under_way, hours in ((made("b", "DEEP_ARCHIVE", "restoring"), 48), (made("b", state="restoring"), 12)):
        plan = archive.plan([under_way, warm], days=3, now=NOW)
        assert (plan.query, plan.hours) == ("waits", hours)
        prolonged = [(step.object.key, step.action) for step in plan.steps if step.action == "prolong"]
        assert prolonged == ([("warm", "prolong")] if hours == 48 else [])


def test_what_is_under_way_refuses_no_days_and_is_named_when_it_may_come_too_late():
    under_way, other = made("b", "DEEP_ARCHIVE", "restoring"), made("c", "DEEP_ARCHIVE")
    plan = archive.plan([under_way, other], days=2, now=NOW)  # its copies: from 12 to 60 hours
    assert (plan.hours, plan.expiring) == (48, (under_way,))
    assert archive.plan([under_way, other], days=3, now=NOW).expiring == ()
    assert archive.plan([under_way], days=1, now=NOW).expiring == ()  # no copy of this plan


def test_a_copy_that_has_gone_since_the_inventory_is_archived():
    plan = archive.plan([made("a", state="restored", until_hours=1)], now=NOW + timedelta(hours=1))
    assert (plan.query, plan.readable, plan.objects, plan.expiring) == ("fails", 0, 1, ())
    assert [step.action for step in plan.steps] == ["restore"]


def test_an_object_that_comes_twice_is_paid_once():
    one, other = made("a"), made("b")
    again = replace(one, uri=one.uri.replace("s3://", "s3a://"))
    twice = archive.plan([one, other, one, again], now=NOW)
    assert (twice.steps, twice.usd) == (
        archive.plan([one, other], now=NOW).steps,
        archive.plan([one, other], now=NOW).usd,
    )
    versions = [replace(one, version_id=version) for version in "12"]
    assert archive.plan(versions, now=NOW).objects == 2


def test_what_a_query_does_now():
    active, archived, under_way = made("a", "STANDARD", "active"), made("b"), made("c", state="restoring")
    restored = made("d", state="restored", until_hours=1)
    queries = {
        "works": [active, restored],
        "waits": [active, under_way],
        "fails": [active, under_way, archived],
    }
    assert {archive.plan(found, now=NOW).query: found for found in queries.values()} == queries
    nothing = archive.plan([active], now=NOW)
    assert (nothing.query, nothing.steps, nothing.usd, nothing.hours) == ("works", (), 0, 0)


def test_no_object_at_all_is_no_plan():
    read_before = iter([made("a")])
    archive.plan(read_before, now=NOW)
    for found in (read_before, [], [made("folder/", size=0)]):
        with pytest.raises(ValueError, match=r"no object to plan for: .* was read before; keep it as list\("):
            archive.plan(found, now=NOW)


def test_what_deleting_now_would_cost_at_least():
    found = [made("old"), made("young", age_days=60), made("deep", "DEEP_ARCHIVE", age_days=150, size=2 * GIB)]
    plan = archive.plan(found, days=3, now=NOW)
    left = Decimal("0.0036") * 30 / 30 + Decimal("0.00099") * 2 * 30 / 30
    assert plan.minimum_storage == archive.MinimumStorage(2, left)


def test_intelligent_tiering_has_no_copy_to_pay_for():
    plan = archive.plan([made("a", "INTELLIGENT_TIERING", access_tier="DEEP_ARCHIVE_ACCESS")], days=1, now=NOW)
    assert (plan.usd, plan.hours, plan.steps[0].tier) == (0, 12, "Standard")


@pytest.mark.parametrize(
    "wrong",
    [
        {"days": 0},
        {"days": 1.5},
        {"days": True},
        {"margin_hours": -1},
        {"margin_hours": "1"},
        {"margin_hours": float("nan")},
        {"margin_hours": float("inf")},
        {"days": 10**8},
        {"now": NOW.replace(tzinfo=None)},
    ],
)
def test_bad_arguments(wrong):
    with pytest.raises(ValueError, match=f"^{next(iter(wrong))} must be a"):
        archive.plan([made("a")], **{"now": NOW} | wrong)


def test_the_plan_knows_when_it_was_made():
    assert archive.plan([made("a")], now=NOW + timedelta(days=1)).made_at == NOW + timedelta(days=1)


@pytest.mark.parametrize(
    ("tier", "sentence"),
    [
        ("bulk", "no tier 'bulk'; there are Bulk, Expedited, Standard; did you mean 'Bulk'?"),
        ({"GLACIER": "Fast"}, "no tier 'Fast'; there are Bulk, Expedited, Standard"),
        ({"GLACIAL": "Bulk"}, "no class 'GLACIAL' has tiers; those that have are GLACIER, DEEP_ARCHIVE, "),
        (3, "tier must be a text or a dict of texts to texts, found 3"),
    ],
)
def test_a_tier_that_nothing_has_is_refused(tier, sentence):
    with pytest.raises(ValueError) as caught:
        archive.plan([made("a")], tier=tier, now=NOW)
    assert str(caught.value).startswith(sentence)


@pytest.mark.parametrize(
    ("objects", "sentence"),
    [
        ("s3://attic/a", "objects must be the Objects of an inventory, found 's3://attic/a'"),
        (["s3://attic/a"], "objects must be the Objects of an inventory, found 's3://attic/a' in it"),
        (None, "objects must be several Object, found None"),
        (3, "objects must be several Object, found 3"),
    ],
)
def test_what_is_no_inventory_is_refused(objects, sentence):
    with pytest.raises(ValueError, match=f"^{sentence}$"):
        archive.plan(objects, now=NOW)


def test_what_is_no_plan_is_not_restored(tmp_path):
    for wrong in ("s3://attic/a", [made("a")]):
        with pytest.raises(ValueError, match="^plan must be Plan, found "):
            archive.restore(wrong, s3=None, state=tmp_path / "state.db")
    with pytest.raises(ValueError, match="^now must be a function or None, found datetime"):
        archive.restore(archive.plan([made("a")], now=NOW), s3=None, state=tmp_path / "state.db", now=NOW)


def test_prices_are_a_file_of_ones_own(tmp_path):
    shipped = Path(costs.__file__).parents[1] / "prices" / "s3.toml"
    own = tmp_path / "own.toml"
    own.write_text(shipped.read_text(encoding="utf-8").replace("2026-06-05", "2026-07-01"), encoding="utf-8")
    for path in (own, str(own)):
        assert archive.plan([made("a")], prices=path, now=NOW).prices_date == "2026-07-01"


def test_a_copy_of_which_nobody_knows_when_it_goes_is_told_and_not_prolonged():
    known, unknown = made("known", state="restored", until_hours=1), made("unknown", state="restored")
    found = archive.plan([unknown, known, made("archived")], now=NOW)
    assert (found.readable, found.expiring) == (2, (unknown, known))
    assert [(one.object.uri[11:], one.action) for one in found.steps] == [
        ("archived", "restore"), ("known", "prolong"),
    ]  # fmt: skip
    assert archive.plan([unknown], now=NOW).query == "works"
