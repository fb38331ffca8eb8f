"""Lifecycle rules: which class an object has after a time, or whether it has expired. Pure functions over the
rules as a bucket holds them.

An object's days count from its creation and end at the next midnight, UTC. Of several transitions that are due
the coldest class wins, an expiration wins over all, and nothing goes back up. Objects below 128 KB are not moved
unless the rule itself has a filter on size.
"""

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Any

from workbench_standins.archive.retrieval import midnight_after

COLDER = (
    "STANDARD", "REDUCED_REDUNDANCY", "STANDARD_IA", "INTELLIGENT_TIERING", "ONEZONE_IA", "GLACIER_IR",
    "GLACIER", "DEEP_ARCHIVE",
)  # fmt: skip
SMALLEST_MOVED_BYTES = 128 * 1024
EXPIRED = "expired"
Rule = Mapping[str, Any]  # as in the request


def becomes(
    rules: Iterable[Rule],
    *,
    key: str,
    size: int,
    created: datetime,
    storage_class: str,
    tags: Mapping[str, str],
    now: datetime,
) -> str:
    """Return the class that an object has by now, or EXPIRED.

    Args:
        rules: the bucket's rules, mappings as in the request (Status, Filter, Transition, Expiration …).
        key: the object's key.
        size: its bytes.
        created: when it was put, UTC.
        storage_class: the class it has.
        tags: its tags, name to value.
        now: the time, UTC.
    """
    for rule in rules:
        if rule.get("Status") != "Enabled" or not _matches(rule, key, size, tags):
            continue
        if _due(rule.get("Expiration") or {}, created, now):
            return EXPIRED
        if size < SMALLEST_MOVED_BYTES and not _names_a_size(rule):
            continue
        for move in _many(rule.get("Transition")):
            colder = COLDER.index(move["StorageClass"]) > COLDER.index(storage_class)
            if colder and _due(move, created, now):
                storage_class = move["StorageClass"]
    return storage_class


def _due(action: Mapping[str, Any], created: datetime, now: datetime) -> bool:
    if action.get("Days"):
        return now >= midnight_after(created, int(action["Days"]))
    if action.get("Date"):
        day = datetime.fromisoformat(str(action["Date"]).replace("Z", "+00:00"))
        return now >= (day if day.tzinfo else day.replace(tzinfo=UTC))
    return False


def _matches(rule: Rule, key: str, size: int, tags: Mapping[str, str]) -> bool:
    conditions = _conditions(rule)
    if not key.startswith(conditions.get("Prefix") or rule.get("Prefix") or ""):
        return False
    if size <= int(conditions.get("ObjectSizeGreaterThan") or -1):
        return False
    if conditions.get("ObjectSizeLessThan") and size >= int(conditions["ObjectSizeLessThan"]):
        return False
    return all(tags.get(tag["Key"]) == (tag.get("Value") or "") for tag in _many(conditions.get("Tag")))


def _names_a_size(rule: Rule) -> bool:
    return any(name.startswith("ObjectSize") for name in _conditions(rule))


def _conditions(rule: Rule) -> Mapping[str, Any]:
    conditions: Mapping[str, Any] = rule.get("Filter") or {}
    return conditions.get("And") or conditions


def _many(element: Any) -> list[Any]:
    """Return an element of a request as a list: moto gives a single one without a list."""
    return element if isinstance(element, list) else [element] if element else []
