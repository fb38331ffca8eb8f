"""What the tests of `archive` share: objects of every state, made by hand."""

from datetime import UTC, datetime, timedelta

from workbench.archive import Object

NOW = datetime(2026, 1, 5, 10, tzinfo=UTC)
GIB = 2**30


def made(name, storage_class="GLACIER", state="archived", *, size=GIB, age_days=365, until_hours=None, **more):
    return Object(
        f"s3://attic/{name}", size, storage_class, state, NOW - timedelta(days=age_days), "e" + name,
        restored_until=None if until_hours is None else NOW + timedelta(hours=until_hours), **more,
    )  # fmt: skip
