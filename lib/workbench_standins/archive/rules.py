"""Lifecycle rules: what becomes of an object with time. Pure functions over the rules as a bucket holds them.

An object's days count from its creation and end at the next midnight, UTC. Of several transitions that are due
the coldest class wins, an expiration wins over all, and nothing goes back up. Objects below 128 KB are not moved
unless the rule itself has a filter on size.
"""

from datetime import UTC, datetime

from workbench_standins.archive.retrieval import midnight_after

COLDER = (
    "STANDARD", "REDUCED_REDUNDANCY", "STANDARD_IA", "INTELLIGENT_TIERING", "ONEZONE_IA", "GLACIER_IR",
    "GLACIER", "DEEP_ARCHIVE",
)  # fmt: skip
SMALLEST_MOVED_BYTES = 128 * 1024
EXPIRED = "expired"


def becomes(rules, *, key, size, created, storage_class, tags, now):
    """Return the class an object has by now, or EXPIRED.

    Args:
        rules: the bucket's rules, mappings as in the request (Status, Filter, Transition, Expiration …).
        key: the object's key.
        size: its bytes.
        created: when it was put, UTC.
        storage_class: the class it has.
        tags: its tags, name to value.
        now: the time, UTC.
    """
    found = storage_class
    for rule in rules:
        if rule.get("Status") != "Enabled" or not _matches(rule, key, size, tags):
            continue
        if _due(rule.get("Expiration") or {}, created, now):
            return EXPIRED
        if size < SMALLEST_MOVED_BYTES and not _names_a_size(rule):
            continue
        for move in _many(rule.get("Transition")):
            colder = COLDER.index(move["StorageClass"]) > COLDER.index(found)
            if colder and _due(move, created, now):
                found = move["StorageClass"]
    return found


def _due(what, created, now):
    if what.get("Days"):
        return now >= midnight_after(created, int(what["Days"]))
    if what.get("Date"):
        day = datetime.fromisoformat(str(what["Date"]).replace("Z", "+00:00"))
        return now >= (day if day.tzinfo else day.replace(tzinfo=UTC))
    return False


def _matches(rule, key, size, tags):
    found = _conditions(rule)
    if not key.startswith(found.get("Prefix") or rule.get("Prefix") or ""):
        return False
    if size <= int(found.get("ObjectSizeGreaterThan") or -1):
        return False
    if found.get("ObjectSizeLessThan") and size >= int(found["ObjectSizeLessThan"]):
        return False
    return all(tags.get(tag["Key"]) == (tag.get("Value") or "") for tag in _many(found.get("Tag")))


def _names_a_size(rule):
    return any(name.startswith("ObjectSize") for name in _conditions(rule))


def _conditions(rule):
    named = rule.get("Filter") or {}
    return named.get("And") or named


def _many(found):
    return found if isinstance(found, list) else [found] if found else []
