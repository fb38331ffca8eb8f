"""What S3 charges for keeping, asking for and getting back objects."""

from dataclasses import dataclass
from decimal import Decimal

from workbench._base.door import checked
from workbench._base.errors import ArgumentError
from workbench.costs.listing import Amount, Prices, price


@dataclass(frozen=True)
class Retrieval:
    """What it costs and takes to get archived objects back.

    Attributes:
        objects: how many requests.
        bytes: how much is retrieved.
        retrieval_usd: for the bytes.
        requests_usd: for the requests.
        copies_usd: for the copies, which are billed beside the archived objects as long as they live.
        usd: all of it.
        minutes: how long the retrieval takes typically, from and to.
        sources: addresses of the prices.
    """

    objects: int
    bytes: int
    retrieval_usd: Decimal
    requests_usd: Decimal
    copies_usd: Decimal
    usd: Decimal
    minutes: tuple[int, int]
    sources: tuple[str, ...]


@checked
def storage_usd(listed: Prices, storage_class: str, size: int | Decimal, days: Amount) -> Decimal:
    """Return what it costs in USD to keep bytes in a class of S3 for some days.

    Raises:
        ValueError: the class has no price.
    """
    rate = Decimal(price(listed, "storage", storage_class)["usd_per_gb_month"])
    about = listed.table["about"]
    return rate * size / about["bytes_per_gb"] * Decimal(str(days)) / about["days_per_month"]


@checked
def minimum_days(listed: Prices, storage_class: str) -> int:
    """Return for how many days an object of a class is billed at least, also when it is deleted sooner."""
    return price(listed, "storage", storage_class)["minimum_days"]


@checked
def tiers(listed: Prices, archived_as: str) -> tuple[str, ...]:
    """Return the retrieval tiers that a class, or an access tier of Intelligent-Tiering, offers."""
    return tuple(price(listed, "retrieval", archived_as))


@checked
def retrieval(
    listed: Prices, archived_as: str, tier: str, *, objects: int, size: int, days: Amount | None
) -> Retrieval:
    """Return what it costs and takes to restore objects.

    Args:
        listed: Prices of S3.
        archived_as: GLACIER, DEEP_ARCHIVE, or ARCHIVE_ACCESS, DEEP_ARCHIVE_ACCESS of Intelligent-Tiering.
        tier: Expedited, Standard or Bulk.
        objects: how many.
        size: their bytes.
        days: how long the copies live; None where there is none.

    Raises:
        ValueError: the class does not offer the tier.
    """
    offered = price(listed, "retrieval", archived_as)
    if tier not in offered:
        raise ArgumentError(f"{archived_as} offers {', '.join(offered)}, not {tier!r}")
    rate, used = offered[tier], [offered[tier]["source"]]
    for_bytes = Decimal(rate["usd_per_gb"]) * size / listed.table["about"]["bytes_per_gb"]
    for_requests = Decimal(rate["usd_per_1000_requests"]) * objects / 1000
    copies = Decimal(0)
    if days is not None:
        copies = storage_usd(listed, "STANDARD", size, days)
        used.append(price(listed, "storage", "STANDARD")["source"])
    return Retrieval(
        objects, size, for_bytes, for_requests, copies, for_bytes + for_requests + copies, tuple(rate["minutes"]),
        tuple(sorted({listed.sources[name] for name in used})),
    )  # fmt: skip


@checked
def prolonging(listed: Prices, *, objects: int, size: int, days: Amount) -> Retrieval:
    """Return what it costs to let copies live on: the requests, at the price of a PUT, and the copies."""
    for_requests = Decimal(price(listed, "requests", "STANDARD")["usd_per_1000_puts"]) * objects / 1000
    copies = storage_usd(listed, "STANDARD", size, days)
    source = listed.sources[price(listed, "requests", "STANDARD")["source"]]
    return Retrieval(
        objects, size, Decimal(0), for_requests, copies, for_requests + copies, (0, 0), (source,)
    )  # fmt: skip
