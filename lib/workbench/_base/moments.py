"""Times by which people name a version of a table."""

from datetime import UTC, datetime
from typing import Any

from workbench._base.errors import ArgumentError


def moment(at: Any) -> datetime | None:
    """Return the time that is given as one or as an ISO text, in UTC where it has no zone; None for another text.

    Raises:
        ValueError: it is neither a time nor a text.
    """
    if isinstance(at, str):
        try:
            at = datetime.fromisoformat(at)
        except ValueError:
            return None
    if not isinstance(at, datetime):
        raise ArgumentError(f"at must be a snapshot's id, a tag, a branch or a time, found {at!r}")
    return at if at.tzinfo else at.replace(tzinfo=UTC)
