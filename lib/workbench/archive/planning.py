"""Plan what a restore would ask, take and cost, before anything is asked: pure, of objects, prices and a time."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Annotated

from workbench import costs
from workbench._base import moved
from workbench._base.bounds import Ge, Le
from workbench._base.door import checked
from workbench._base.errors import ArgumentError
from workbench.archive.objects import ARCHIVED, RESTORED, RESTORING, Object, counted, is_folder

WORKS, WAITS, FAILS = "works", "waits", "fails"
MOST_DAYS = 36_500
TO_MIDNIGHT_DAYS = 1  # at most: from the end of the days to the next midnight, UTC, when S3 ends a copy
RESTORE, PROLONG, WAIT = "restore", "prolong", "wait"


@dataclass(frozen=True, slots=True)
class Step:
    """The action for one object: `restore` it, `prolong` its copy, or `wait` for a restore that is under way."""

    object: Object
    action: str
    tier: str | None
    hours: float


@dataclass(frozen=True)
class Offer:
    """One tier for the archived objects of one class.

    Attributes:
        archived_as: class, or access tier of Intelligent-Tiering.
        tier: Expedited, Standard or Bulk.
        objects: how many.
        size: their bytes.
        hours: until the last of them is there, at the upper end of what it takes typically.
        usd: retrieval, requests and copies, at most.
        chosen: whether the plan takes it.
    """

    archived_as: str
    tier: str
    objects: int
    size: int
    hours: float
    usd: Decimal
    chosen: bool


@dataclass(frozen=True)
class MinimumStorage:
    """The cost of deleting, rewriting or moving the objects now: the rest of the least time billed.

    Classes are billed for 30, 90 or 180 days at least. S3 says when an object was put, not when a rule moved it,
    so an object that was moved later has more of that time left: this is the least it would be.

    Attributes:
        objects: how many are younger than their class's least time.
        usd: at least.
    """

    objects: int
    usd: Decimal


@dataclass(frozen=True)
class Plan:
    """The steps of a restore, and what they take and cost.

    Attributes:
        steps: one for each object that needs one, in the order in which they came.
        days: how long copies live.
        objects: how many requests are paid for.
        size: bytes retrieved.
        hours: until the last object is there, typically at most; of what is under way, whose tier is not known,
            the slowest of its class.
        usd: the most that the requests, the retrieval and the copies cost; copies for a day more than `days`,
            because S3 adds the days and rounds up to the next midnight, UTC (Amazon S3 User Guide, Restoring an
            archived object). What a copy lives less than that is not billed.
        offers: every tier there is for the archived objects.
        readable: objects that can be read now.
        waiting: objects whose restore is under way.
        query: what a query does now: `works`, `waits` (all that is missing is under way), `fails`.
        expiring: restored objects whose copy goes before all is there and read, or before `days` from now are
            over, of which the former have a step where anything is still to come and the days lengthen them; those
            whose end is not known, which have no step; and
            objects under way that, if somebody asked for them by the slowest tier, come only when copies of this
            plan are about to go.
        minimum_storage: MinimumStorage of all objects looked at.
        prices_date: the day of the price list.
        made_at: when the plan was made.
    """

    steps: tuple[Step, ...]
    days: int
    objects: int
    size: int
    hours: float
    usd: Decimal
    offers: tuple[Offer, ...]
    readable: int
    waiting: int
    query: str
    expiring: tuple[Object, ...]
    minimum_storage: MinimumStorage
    prices_date: str
    made_at: datetime


@moved.renamed(found="objects")
@checked
def plan(
    objects: Iterable[Object],
    *,
    tier: str | Mapping[str, str] = "Standard",
    days: Annotated[int, Ge(1), Le(MOST_DAYS)] = 2,
    prices: costs.Prices | str | Path | None = None,
    now: datetime | None = None,
    margin_hours: Annotated[float, Ge(0), Le(24 * MOST_DAYS)] = 24,
) -> Plan:
    """Plan what restoring objects would take and cost. Asks nothing.

    Args:
        objects: as `inventory` gives them; read once. Folder keys are ignored, and an object that comes twice
            counts once.
        tier: Expedited, Standard or Bulk; or a mapping of class to tier.
        days: how many days copies live, from 1.
        prices: costs.Prices of S3, or the path of a price file; those shipped by default.
        now: the time; datetime with a zone, by default the machine's.
        margin_hours: how long all objects shall be readable together; copies that go sooner are prolonged, as far
            as `days` from now, to the next midnight, lengthen them.

    Returns:
        Plan.

    Raises:
        ValueError: an argument is wrong, a class does not offer the tier, or copies would go before the slowest
            object that is asked for is there.
    """
    now = now or datetime.now(UTC)
    if now.tzinfo is None:
        raise ArgumentError(f"now must be a datetime that names its time zone, found {now!r}")
    prices = costs.prices(file=prices) if isinstance(prices, str | Path) else prices or costs.prices("s3")
    _check_tiers(prices, tier)
    groups: dict[str, list[Object]] = defaultdict(list)
    restored, waiting, readable, young, early = [], [], 0, 0, Decimal(0)
    for entry in _some(_once(objects)):
        gone = entry.state == RESTORED and not _lives(entry, now)
        readable += entry.readable and not gone
        billed_days = costs.minimum_days(prices, entry.storage_class) - (now - entry.modified) / timedelta(days=1)
        if billed_days > 0:
            young += 1
            early += costs.storage_usd(prices, entry.storage_class, entry.size, billed_days)
        if entry.state == ARCHIVED or gone:
            groups[_archived_as(entry)].append(entry)
        elif entry.state == RESTORING:
            waiting.append(entry)
        elif entry.state == RESTORED:
            restored.append(entry)
    chosen = {name: _tier(prices, tier, name, entries) for name, entries in groups.items()}
    offers = tuple(_offers(prices, groups, chosen, days))
    taken = [offer for offer in offers if offer.chosen]
    slow = {name: _slowest(prices, name) for name in {_archived_as(entry) for entry in waiting}}
    asked_hours = max((offer.hours for offer in taken), default=0.0)
    hours = max([asked_hours, *slow.values()])
    together = now + timedelta(hours=hours + margin_hours)
    soon = [copy for copy in restored if _goes_by(copy, together)] if groups or waiting else []
    prolong = [copy for copy in soon if _goes_by(copy, lives_until(now, days))]
    needed_until = max(together, now + timedelta(days=days))
    going = [copy for copy in restored if copy.restored_until is None or copy.restored_until < needed_until]
    first = _first_copy(taken, prolong)
    _refuse_short(first, days, asked_hours, margin_hours)
    late = [entry for entry in waiting if _gone_first(first, days, slow[_archived_as(entry)], margin_hours)]
    per = {offer.archived_as: offer.hours for offer in taken}
    steps = [Step(entry, RESTORE, chosen[name], per[name]) for name in groups for entry in groups[name]]
    steps += [Step(copy, PROLONG, None, 0.0) for copy in prolong]
    steps += [Step(entry, WAIT, None, 0.0) for entry in waiting]
    more = costs.prolonging(
        prices, objects=len(prolong), size=sum(copy.size for copy in prolong), days=days + TO_MIDNIGHT_DAYS
    )
    return Plan(
        steps=tuple(steps), days=days, objects=sum(offer.objects for offer in taken) + len(prolong),
        size=sum(offer.size for offer in taken), hours=hours,
        usd=sum((offer.usd for offer in taken), Decimal(0)) + more.usd,
        offers=offers, readable=readable, waiting=len(waiting),
        query=FAILS if groups else WAITS if waiting else WORKS, expiring=(*going, *late),
        minimum_storage=MinimumStorage(young, early), prices_date=prices.date.isoformat(), made_at=now,
    )  # fmt: skip


def _lives(copy: Object, now: datetime) -> bool:
    """Say whether a copy is still there, for some time has passed since the look."""
    return copy.restored_until is None or copy.restored_until > now


def _archived_as(entry: Object) -> str:
    return entry.archived_as or entry.storage_class


def _goes_by(copy: Object, then: datetime) -> bool:
    """Say whether a copy goes before a time; of one whose end is not known nothing is asked."""
    return copy.restored_until is not None and copy.restored_until < then


def lives_until(now: datetime, days: int) -> datetime:
    """Return the end of a copy that is prolonged now: S3 adds the days and rounds up to the next midnight, UTC."""
    ends = (now + timedelta(days=days)).astimezone(UTC)
    return ends.replace(hour=0, minute=0, second=0, microsecond=0) + timedelta(days=TO_MIDNIGHT_DAYS)


def _offers(
    prices: costs.Prices, groups: Mapping[str, Sequence[Object]], chosen: Mapping[str, str], days: int
) -> Iterator[Offer]:
    for name, objects in sorted(groups.items()):
        copies = None if name.endswith("_ACCESS") else days + TO_MIDNIGHT_DAYS
        size = sum(entry.size for entry in objects)
        for tier in costs.tiers(prices, name):
            cost = costs.retrieval(prices, name, tier, objects=len(objects), size=size, days=copies)
            hours = round(cost.minutes[1] / 60, 2)
            yield Offer(name, tier, len(objects), size, hours, cost.usd, tier == chosen[name])


def _tier(prices: costs.Prices, tiers: str | Mapping[str, str], name: str, objects: Sequence[Object]) -> str:
    tier = tiers if isinstance(tiers, str) else tiers.get(name)
    offered = costs.tiers(prices, name)
    if tier is None or tier not in offered:
        raise ArgumentError(
            f"{name} offers {', '.join(offered)}, not {tier!r}, and {counted(len(objects), 'object')} "
            f"{'is' if len(objects) == 1 else 'are'} in it; "
            f"nothing was asked. Name a tier for each class: {{{name!r}: {offered[-1]!r}, …}}"
        )
    return tier


def _check_tiers(prices: costs.Prices, tier: str | Mapping[str, str]) -> None:
    """Refuse names that no class and no tier has, before they are looked up in silence."""
    every = {name: costs.tiers(prices, name) for name in prices.table["retrieval"]}
    known = sorted(set().union(*every.values()))
    for name, asked in tier.items() if isinstance(tier, Mapping) else [(None, tier)]:
        if name is not None and name not in every:
            raise ArgumentError(f"no class {name!r} has tiers; those that have are {', '.join(every)}")
        if asked not in known:
            meant = [name for name in known if name.lower() == asked.lower()]
            hint = f"; did you mean {meant[0]!r}?" if meant else ""
            raise ArgumentError(f"no tier {asked!r}; there are {', '.join(known)}{hint}")


def _once(objects: Iterable[Object]) -> Iterator[Object]:
    """Yield each object once, whichever of S3's names it comes by, and no folder keys."""
    if isinstance(objects, str | bytes):
        raise ArgumentError(f"objects must be the Objects of an inventory, found {objects!r:.80}")
    seen = set()
    for entry in objects:
        if not isinstance(entry, Object):
            raise ArgumentError(f"objects must be the Objects of an inventory, found {entry!r:.80} in it")
        name = (entry.bucket, entry.key, entry.version)
        if name not in seen and not is_folder(entry.uri, entry.size):
            seen.add(name)
            yield entry


def _some(objects: Iterable[Object]) -> Iterator[Object]:
    """Yield all of them; none at all is a mistake, to which "works" would be a wrong answer."""
    entry = None
    for entry in objects:
        yield entry
    if entry is None:
        raise ArgumentError(
            "there is no object to plan for: the address is mistyped, or the inventory, which gives its objects "
            "once, was read before; keep it as list(archive.inventory(…))"
        )


def _slowest(prices: costs.Prices, archived_as: str) -> float:
    """Return the hours that a restore takes at most, typically, whose tier is not known: somebody else's."""
    tiers = costs.tiers(prices, archived_as)
    took = [costs.retrieval(prices, archived_as, tier, objects=0, size=0, days=None) for tier in tiers]
    return round(max(cost.minutes[1] for cost in took) / 60, 2)


def _first_copy(taken: Sequence[Offer], prolonged: Sequence[Object]) -> float | None:
    """Return after how many hours the first copy of a plan is there, prolonged ones at once; None without any."""
    copied = [0.0] if prolonged else []
    copied += [offer.hours for offer in taken if not offer.archived_as.endswith("_ACCESS")]
    return min(copied, default=None)


def _gone_first(first: float | None, days: int, hours: float, margin_hours: float) -> bool:
    """Say whether the first copy is gone before what comes after `hours` was readable for the margin."""
    return first is not None and first + 24 * days < hours + margin_hours


def _refuse_short(first: float | None, days: int, hours: float, margin_hours: float) -> None:
    """Refuse days in which copies that come first, or live on from now, are gone before those that come last.

    Only what this plan asks for counts. Of what is under way the hours are a guess, and after a kill it is mostly
    the same plan's: that guess refuses nothing.
    """
    if first is not None and _gone_first(first, days, hours, margin_hours):
        least = -(-(hours + margin_hours - first) // 24)
        when = f"there after {counted(f'{first:g}', 'hour')}" if first else "prolonged now"
        raise ArgumentError(
            f"copies of {counted(days, 'day')}, {when}, are gone after {first + 24 * days:g}; all are there "
            f"after {hours:g} and shall be readable together for {margin_hours:g} more (margin_hours): "
            f"take days={least:.0f}. Nothing was asked"
        )
