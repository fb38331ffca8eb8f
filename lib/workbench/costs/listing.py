"""Price files: list prices of one service in one region, with the day they were seen and their sources."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any

from workbench._base.door import checked
from workbench._base.errors import ArgumentError

Amount = int | float | str | Decimal  # as `costs` takes one; a float is taken as it is written
# kind of price in a file: whether one entry holds several prices
KINDS = {
    "storage": False, "requests": False, "retrieval": True, "instance": True, "volume": False, "glue": False,
    "athena": False,
}  # fmt: skip
SEEN = ("at its source", "elsewhere", "no")  # the first where a price does not say


@dataclass(frozen=True)
class Prices:
    """The list prices of one service in one region.

    Attributes:
        service: its name.
        region: where they apply.
        currency: of all amounts.
        date: the day on which they were last seen, but for those that have a `date` of their own, or that were
            seen elsewhere than at their source or nowhere, as their `seen` says.
        sources: name to address; every price names one.
        table: the file as it stands.
    """

    service: str
    region: str
    currency: str
    date: date
    sources: Mapping[str, str]
    table: Mapping[str, Any]


@checked
def prices(service: str = "s3", *, file: str | Path | None = None) -> Prices:
    """Read a dated price file.

    Args:
        service: `s3`, or `compute`: EC2, EMR, EBS, Glue and Athena.
        file: path of a file of your own with the same keys, for another region or contract.

    Raises:
        ValueError: there is no such file, or a price in it lacks a source or is not an amount.
    """
    shipped = Path(__file__).parents[1] / "prices"
    path = Path(file) if file else shipped / f"{service}.toml"
    if not path.is_file():
        names = ", ".join(sorted(known.stem for known in shipped.glob("*.toml")))
        raise ArgumentError(f"there is no price file {path if file else service}; there are {names}")
    try:
        table = tomllib.loads(path.read_text(encoding="utf-8"))
        about = table["about"]
        day = date.fromisoformat(about["date"])
        listed = Prices(about["service"], about["region"], about["currency"], day, table["sources"], table)
        _check(table)
    except (KeyError, ValueError, TypeError, AttributeError) as error:
        raise ArgumentError(f"{path} is not a price file: {error}") from None
    return listed


def price(listed: Prices, kind: str, name: str) -> Any:
    """Return one entry of a price file.

    Raises:
        ValueError: it has none of that kind and name.
    """
    entries = listed.table.get(kind, {})
    if name not in entries:
        raise ArgumentError(f"no {kind} price for {name!r} in {listed.region}; there are {', '.join(entries)}")
    return entries[name]


def _check(table: Mapping[str, Any]) -> None:
    """Refuse an unknown kind of price, a price without a known source, and an amount that is not a number."""
    kinds = set(table) - {"about", "sources"}
    if not kinds or kinds - set(KINDS):
        unknown = ", ".join(sorted(kinds - set(KINDS))) or "none"
        raise ArgumentError(f"the kinds of prices in the file must be among {', '.join(KINDS)}, found {unknown}")
    for kind in sorted(kinds):
        for name, entry in table[kind].items():
            for part in entry.values() if KINDS[kind] else [entry]:
                _check_price(f"{kind}.{name}", part, table["sources"])


def _check_price(name: str, entry: Mapping[str, Any], sources: Mapping[str, str]) -> None:
    if entry["source"] not in sources:
        raise ArgumentError(f"{name} names the source {entry['source']!r}, which is not listed")
    if not any(key.startswith("usd_") for key in entry):
        raise ArgumentError(f"{name} has no amount: usd_…")
    if entry.get("seen", SEEN[0]) not in SEEN:
        raise ArgumentError(f"{name} was seen {entry['seen']!r}; there are {', '.join(SEEN)}")
    for key, value in entry.items():
        amount = isinstance(value, str) and value.replace(".", "", 1).isdigit()
        if key.startswith("usd_") and not amount:
            raise ArgumentError(f"{name}.{key} is {value!r}; an amount is text such as '0.023'")
