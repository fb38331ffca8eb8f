"""The life of a retrieval: requested, under way, a copy that can be read, expired. Pure values and functions.

Rules are those of the API's description of RestoreObject and of the user guide's pages on restoring archived
objects; how long a tier takes is the upper end of the time it is said to take typically.
"""

from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from workbench._base.errors import WorkbenchError

MOST_DAYS = 36_500  # S3 names no limit; later years have no date
ARCHIVED = ("GLACIER", "DEEP_ARCHIVE")
ACCESS_TIERS = {"ARCHIVE_ACCESS": "GLACIER", "DEEP_ARCHIVE_ACCESS": "DEEP_ARCHIVE"}  # as fast as these classes
TIERS = ("Bulk", "Standard", "Expedited")  # slowest first
TAKES = {
    ("GLACIER", "Expedited"): timedelta(minutes=5),
    ("GLACIER", "Standard"): timedelta(hours=5),
    ("GLACIER", "Bulk"): timedelta(hours=12),
    ("DEEP_ARCHIVE", "Standard"): timedelta(hours=12),
    ("DEEP_ARCHIVE", "Bulk"): timedelta(hours=48),
}


class Refused(WorkbenchError, Exception):
    """A request that S3 refuses: its status and code."""

    def __init__(self, status: int, code: str, message: str) -> None:
        super().__init__(message)
        self.status, self.code, self.message = status, code, message


@dataclass(frozen=True)
class Retrieval:
    """A retrieval that was requested for an object.

    Attributes:
        tier: Bulk, Standard or Expedited.
        days: how long the copy lives; None for an access tier of Intelligent-Tiering, which has no copy.
        ready: when the object can be read.
        expires: when the copy is gone; None while it is under way, and where there is no copy.
    """

    tier: str
    days: int | None
    ready: datetime
    expires: datetime | None = None

    def ongoing(self, now: datetime) -> bool:
        """Return whether it is under way."""
        return now < self.ready

    def gone(self, now: datetime) -> bool:
        """Return whether its copy has expired."""
        expires = self.expiry()
        return expires is not None and now >= expires

    def header(self, now: datetime) -> str | None:
        """Return the value of x-amz-restore; None when the copy is gone."""
        if self.gone(now):
            return None
        if self.ongoing(now):
            return 'ongoing-request="true"'
        if (expires := self.expiry()) is None:
            return 'ongoing-request="false"'
        return f'ongoing-request="false", expiry-date="{expires:%a, %d %b %Y %H:%M:%S} GMT"'

    def expiry(self) -> datetime | None:
        """Return when the copy expires; None where there is no copy."""
        return None if self.days is None else self.expires or midnight_after(self.ready, self.days)


def midnight_after(moment: datetime, days: int) -> datetime:
    """Return the end of a period of days: S3 adds them and rounds to the next midnight, UTC."""
    ends = moment + timedelta(days=days)
    return ends.replace(hour=0, minute=0, second=0, microsecond=0) + timedelta(days=1)


def ask(
    current: Retrieval | None,
    *,
    storage_class: str,
    access_tier: str | None,
    tier: str | None,
    days: int | None,
    now: datetime,
    expedited: bool = True,
) -> tuple[Retrieval, int]:
    """Answer a RestoreObject request.

    Args:
        current: the object's Retrieval, or None.
        storage_class: the object's.
        access_tier: ARCHIVE_ACCESS, DEEP_ARCHIVE_ACCESS or None, for Intelligent-Tiering.
        tier: as asked, or None.
        days: as asked, or None.
        now: time of the request, UTC.
        expedited: whether there is capacity for expedited retrievals.

    Returns:
        (Retrieval, 202 when it was begun or made faster, 200 when a copy was prolonged).

    Raises:
        Refused: S3 refuses it.
    """
    current = None if current is None or current.gone(now) else current
    as_class = ACCESS_TIERS.get(access_tier or "") if storage_class == "INTELLIGENT_TIERING" else storage_class
    restored = current if current is not None and not current.ongoing(now) else None
    if as_class not in ARCHIVED or (access_tier and restored):
        raise Refused(403, "InvalidObjectState", "Restore is not allowed for the object's current storage class")
    tier = tier or "Standard"
    _check(as_class, tier, days, access_tier)
    if restored and days is not None:  # `_check` refuses a copy without days
        return replace(restored, days=days, expires=midnight_after(now, days)), 200
    if tier == "Expedited" and not expedited:
        why = "Glacier expedited retrievals are currently not available, please try again later"
        raise Refused(503, "GlacierExpeditedRetrievalNotAvailable", why)
    ready = now + TAKES[as_class, tier]
    if current is None:
        return Retrieval(tier, days, ready), 202
    if TIERS.index(tier) > TIERS.index(current.tier) and days == current.days:
        return Retrieval(tier, days, min(ready, current.ready)), 202
    raise Refused(409, "RestoreAlreadyInProgress", "Object restore is already in progress")


def _check(as_class: str, tier: str, days: int | None, access_tier: str | None) -> None:
    if tier not in TIERS or (days is None and not access_tier):
        why = "The XML you provided was not well-formed or did not validate against our published schema"
        raise Refused(400, "MalformedXML", why)
    if days is not None and access_tier:
        why = "INTELLIGENT_TIERING objects are not subject to restore expiry. Do not specify Days"
        raise Refused(400, "InvalidArgument", why)
    if days is not None and days > MOST_DAYS:
        raise Refused(400, "InvalidArgument", f"Restoration days should be at most {MOST_DAYS}")
    if days is not None and days < 1:
        raise Refused(400, "InvalidArgument", "Restoration days should be at least 1")
    if (as_class, tier) not in TAKES:
        raise Refused(400, "InvalidArgument", "Retrieval option is not supported by this storage class")
