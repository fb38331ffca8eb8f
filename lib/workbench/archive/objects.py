"""What is known of one object in S3, and what a reader of a directory does with it. Values and pure functions."""

import re
import warnings
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

from workbench._base.errors import ArgumentError, WorkbenchError

ACTIVE, ARCHIVED, RESTORING, RESTORED = "active", "archived", "restoring", "restored"
ARCHIVE_CLASSES = ("GLACIER", "DEEP_ARCHIVE")
HIVE_FOLDER = "_$folder$"

READ_ALL = "READ_ALL"
SKIP_ALL_GLACIER = "SKIP_ALL_GLACIER"
READ_RESTORED_GLACIER_OBJECTS = "READ_RESTORED_GLACIER_OBJECTS"
MODES = (READ_ALL, SKIP_ALL_GLACIER, READ_RESTORED_GLACIER_OBJECTS)
READ, SKIP, FAIL = "read", "skip", "fail"


class Archived(WorkbenchError, Exception):
    """Objects that would have to be read are archived; `objects` has them, and the message says what to do."""

    def __init__(self, message, objects):
        super().__init__(message)
        self.objects = tuple(objects)


class MetadataArchived(Archived):
    """Metadata files of a table are archived, so nothing of it can be read or even planned."""


@dataclass(frozen=True, slots=True)
class Object:
    """One object and its state at the time of the look.

    Attributes:
        uri: s3://bucket/key.
        size: bytes.
        storage_class: STANDARD, GLACIER, DEEP_ARCHIVE …
        state: `active` (always readable), `archived`, `restoring` (a restore is under way), `restored` (a copy
            can be read).
        modified: when it was put; UTC.
        etag: of its content.
        version_id: of the bucket's versions; None where it keeps none.
        restored_until: when the copy goes; None where there is none, or where what the store says is no time.
        access_tier: ARCHIVE_ACCESS or DEEP_ARCHIVE_ACCESS for an archived object of Intelligent-Tiering.
        kind: `object`, or for a table's file `data`, `position deletes`, `equality deletes`, `metadata`.
    """

    uri: str
    size: int
    storage_class: str
    state: str
    modified: datetime
    etag: str
    version_id: str | None = None
    restored_until: datetime | None = None
    access_tier: str | None = None
    kind: str = "object"

    @property
    def bucket(self):
        """The bucket's name."""
        return split(self.uri)[0]

    @property
    def key(self):
        """The key in its bucket."""
        return split(self.uri)[1]

    @property
    def version(self):
        """What tells this content from another under the same key: the version's id, else the ETag."""
        return self.version_id or self.etag

    @property
    def readable(self):
        """Whether its bytes can be had now."""
        return self.state in (ACTIVE, RESTORED)

    @property
    def archived_as(self):
        """What decides on tiers and prices: the class, or Intelligent-Tiering's access tier; None if active."""
        return self.access_tier or (self.storage_class if self.storage_class in ARCHIVE_CLASSES else None)


def split(uri):
    """Return (bucket, key) of an S3 address; s3a and s3n are other names of s3.

    Raises:
        ValueError: it is none.
    """
    found = re.fullmatch(r"s3[an]?://([^/]+)/?(.*)", str(uri), re.DOTALL)
    if not found:
        raise ArgumentError(f"{uri!r} is no address in S3; expected s3://bucket/prefix")
    return found[1], found[2]


def counted(number, noun):
    """Return a number, or its text, with its noun: 1 day, 2 days."""
    return f"{number} {noun}{'' if str(number) == '1' else 's'}"


def is_folder(uri, size):
    """Say whether a key only stands for a folder, as consoles and Hadoop make them: empty, without rows."""
    return size == 0 and (uri.endswith("/") or uri.endswith(HIVE_FOLDER))


def decide(mode, found):
    """Return what a reader of a directory does with an object: read, skip or fail.

    The three modes are those of EMR's option `fs.s3a.glacier.read.restored.objects`. Instant Retrieval counts as
    any active class; a restored object is skipped by SKIP_ALL_GLACIER all the same.

    Args:
        mode: one of MODES.
        found: Object.
    """
    if mode not in MODES:
        raise ArgumentError(f"no mode {mode!r}; there are {', '.join(MODES)}")
    if mode == READ_ALL:
        return READ if found.readable else FAIL
    if mode == SKIP_ALL_GLACIER:
        return READ if found.archived_as is None else SKIP
    return READ if found.readable else SKIP


def state_of(storage_class, restore, access_tier=None):
    """Return (state, restored_until) from what S3 says; restored until None is until nobody knows when.

    Args:
        storage_class: as S3 says it.
        restore: the header x-amz-restore, or a listing's RestoreStatus, or None.
        access_tier: the header x-amz-archive-status, or None.
    """
    if storage_class not in ARCHIVE_CLASSES and not access_tier:
        return ACTIVE, None
    if isinstance(restore, dict):
        ongoing, until = restore.get("IsRestoreInProgress"), restore.get("RestoreExpiryDate")
    else:
        fields = dict(re.findall(r'([\w-]+)\s*=\s*"([^"]*)"', restore or ""))
        ongoing, until = fields.get("ongoing-request") == "true", fields.get("expiry-date")
    if ongoing:
        return RESTORING, None
    return (RESTORED, time_of(until)) if until else (ARCHIVED, None)


def time_of(told: str | datetime | None) -> datetime | None:
    """Return a store's word for a time, in UTC where it names no zone; None where it is none.

    Amazon S3 writes RFC 1123 in headers and ISO 8601 in listings, others either in both; HTTP (RFC 9110, 5.6.7)
    has two older forms, of RFC 850 and of asctime.

    Args:
        told: text, or a datetime as boto3 gives it.
    """
    moment = told if isinstance(told, datetime) else None
    for read in (datetime.fromisoformat, parsedate_to_datetime) if moment is None else ():
        try:
            moment = read(str(told).strip())
            break
        except (ValueError, TypeError, OverflowError):
            continue
    if moment is None or (moment.tzinfo is None and re.search("[A-Za-z]$", str(told).strip())):  # a zone not known
        return None
    try:
        return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
    except OverflowError:  # of a zone that leads out of the years there are
        return None


def _told(found, restore):
    """Return an Object; one whose copy goes at no time that can be read is named in a warning."""
    if found.state == RESTORED and found.restored_until is None:
        warnings.warn(
            f"{found.uri} is restored, and until when is not known: the store says {restore}; expected a time as "
            "Fri, 09 Jan 2026 00:00:00 GMT or 2026-01-09T00:00:00Z",
            stacklevel=2,
        )
    return found


def from_head(uri, head, *, kind="object"):
    """Return the Object of a HEAD request's answer."""
    storage_class, tier = head.get("StorageClass", "STANDARD"), head.get("ArchiveStatus")
    state, until = state_of(storage_class, head.get("Restore"), tier)
    version = head.get("VersionId")
    return _told(Object(
        uri, head["ContentLength"], storage_class, state, head["LastModified"], head["ETag"].strip('"'),
        version if version != "null" else None, until, tier, kind,
    ), head.get("Restore"))  # fmt: skip


def from_listing(bucket, row):
    """Return the Object of one row of a listing."""
    storage_class = row.get("StorageClass") or "STANDARD"
    state, until = state_of(storage_class, row.get("RestoreStatus"))
    version = row.get("VersionId")
    return _told(Object(
        f"s3://{bucket}/{row['Key']}", row["Size"], storage_class, state, row["LastModified"],
        row["ETag"].strip('"'), version if version != "null" else None, until,
    ), row.get("RestoreStatus"))  # fmt: skip
