"""What cloud services cost: dated list prices with their sources, and the sums made of them. Money is Decimal."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Prices:
    """The list prices of one service in one region.

    Attributes:
        service: its name.
        region: where they apply.
        currency: of all amounts.
        date: the day on which they were last seen.
        sources: name to address; every price names one.
        table: the file as it stands.
    """

    service: str
    region: str
    currency: str
    date: date
    sources: Mapping[str, str]
    table: Mapping[str, Any]


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


def prices(service="s3", *, file=None):
    """Read a dated price file.

    Args:
        service: `s3`.
        file: path of a file of your own with the same keys, for another region or contract.

    Raises:
        ValueError: there is no such file, or a price in it lacks a source or is no amount.
    """
    shipped = Path(__file__).parent / "prices"
    path = Path(file) if file else shipped / f"{service}.toml"
    if not path.is_file():
        there = ", ".join(sorted(found.stem for found in shipped.glob("*.toml")))
        raise ValueError(f"there is no price file {path if file else service}; there are {there}")
    try:
        table = tomllib.loads(path.read_text(encoding="utf-8"))
        about = table["about"]
        day = date.fromisoformat(about["date"])
        found = Prices(about["service"], about["region"], about["currency"], day, table["sources"], table)
        _check(table, path)
    except (KeyError, ValueError, TypeError) as error:
        raise ValueError(f"{path} is no price file: {error}") from None
    return found


def storage_usd(listed, storage_class, size, days):
    """Return what it costs to keep bytes in a class of S3 for some days.

    Raises:
        ValueError: the class has no price.
    """
    rate = Decimal(_price(listed, "storage", storage_class)["usd_per_gb_month"])
    about = listed.table["about"]
    return rate * size / about["bytes_per_gb"] * Decimal(str(days)) / about["days_per_month"]


def minimum_days(listed, storage_class):
    """Return for how many days an object of a class is billed at least, also when it is deleted sooner."""
    return _price(listed, "storage", storage_class)["minimum_days"]


def tiers(listed, archived_as):
    """Return the retrieval tiers that a class, or an access tier of Intelligent-Tiering, offers."""
    return tuple(_price(listed, "retrieval", archived_as))


def retrieval(listed, archived_as, tier, *, objects, size, days):
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
    offered = _price(listed, "retrieval", archived_as)
    if tier not in offered:
        raise ValueError(f"{archived_as} offers {', '.join(offered)}, not {tier!r}")
    rate, used = offered[tier], [offered[tier]["source"]]
    for_bytes = Decimal(rate["usd_per_gb"]) * size / listed.table["about"]["bytes_per_gb"]
    for_requests = Decimal(rate["usd_per_1000_requests"]) * objects / 1000
    copies = Decimal(0)
    if days is not None:
        copies = storage_usd(listed, "STANDARD", size, days)
        used.append(_price(listed, "storage", "STANDARD")["source"])
    return Retrieval(
        objects, size, for_bytes, for_requests, copies, for_bytes + for_requests + copies, tuple(rate["minutes"]),
        tuple(sorted({listed.sources[name] for name in used})),
    )  # fmt: skip


def prolonging(listed, *, objects, size, days):
    """Return what it costs to let copies live on: the requests, at the price of a PUT, and the copies."""
    for_requests = Decimal(_price(listed, "requests", "STANDARD")["usd_per_1000_puts"]) * objects / 1000
    copies = storage_usd(listed, "STANDARD", size, days)
    source = listed.sources[_price(listed, "requests", "STANDARD")["source"]]
    return Retrieval(
        objects, size, Decimal(0), for_requests, copies, for_requests + copies, (0, 0), (source,)
    )  # fmt: skip


def _price(listed, kind, name):
    found = listed.table.get(kind, {})
    if name not in found:
        raise ValueError(f"no {kind} price for {name!r} in {listed.region}; there are {', '.join(found)}")
    return found[name]


def _check(table, path):
    """Refuse a price without a known source, and an amount that is none."""
    for kind in ("storage", "requests", "retrieval"):
        for name, entry in table[kind].items():
            for price in entry.values() if kind == "retrieval" else [entry]:
                if price["source"] not in table["sources"]:
                    raise ValueError(f"{kind}.{name} names the source {price['source']!r}, which is not listed")
                for key, value in price.items():
                    amount = isinstance(value, str) and value.replace(".", "", 1).isdigit()
                    if key.startswith("usd_") and not amount:
                        raise ValueError(f"{kind}.{name}.{key} is {value!r}; an amount is text such as '0.023'")
