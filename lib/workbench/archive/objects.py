"""Hold what is known of an object in S3, and decide what a reader of a directory does with it. Pure functions."""

import re
import warnings
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any, Final, Literal

from workbench._base import moved
from workbench._base.door import checked
from workbench._base.errors import ArgumentError, WorkbenchError

ACTIVE, ARCHIVED, RESTORING, RESTORED = "active", "archived", "restoring", "restored"
ARCHIVE_CLASSES = ("GLACIER", "DEEP_ARCHIVE")
HIVE_FOLDER = "_$folder$"

Mode = Literal["READ_ALL", "SKIP_ALL_GLACIER", "READ_RESTORED_GLACIER_OBJECTS"]
READ_ALL: Final = "READ_ALL"
SKIP_ALL_GLACIER: Final = "SKIP_ALL_GLACIER"
READ_RESTORED_GLACIER_OBJECTS: Final = "READ_RESTORED_GLACIER_OBJECTS"
MODES: tuple[Mode, ...] = (READ_ALL, SKIP_ALL_GLACIER, READ_RESTORED_GLACIER_OBJECTS)
Decision = Literal["read", "skip", "fail"]
READ: Final = "read"
SKIP: Final = "skip"
FAIL: Final = "fail"


class Archived(WorkbenchError):
    """Objects that would have to be read are archived; `objects` has them, and the message says what to do."""

    def __init__(self, message: str, objects: Iterable["Object"]) -> None:
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
        restored_until: when the copy goes; None where there is none, or where what the store says is not a time.
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
    def bucket(self) -> str:
        """The bucket's name."""
        return split(self.uri)[0]

    @property
    def key(self) -> str:
        """The key in its bucket."""
        return split(self.uri)[1]

    @property
    def version(self) -> str:
        """What distinguishes this content from another under the same key: the version's id, else the ETag."""
        return self.version_id or self.etag

    @property
    def readable(self) -> bool:
        """Whether its bytes can be had now."""
        return self.state in (ACTIVE, RESTORED)

    @property
    def archived_as(self) -> str | None:
        """What decides on tiers and prices: the class, or Intelligent-Tiering's access tier; None if active."""
        return self.access_tier or (self.storage_class if self.storage_class in ARCHIVE_CLASSES else None)


def split(uri: str) -> tuple[str, str]:
    """Return (bucket, key) of an S3 address; s3a and s3n are other names of s3.

    Raises:
        ValueError: it is not one.
    """
    match = re.fullmatch(r"s3[an]?://([^/]+)/?(.*)", uri, re.DOTALL)
    if not match:
        raise ArgumentError(f"{uri!r} is not an address in S3; expected s3://bucket/prefix")
    return match[1], match[2]


def counted(number: int | float | str, noun: str) -> str:
    """Return a number, or its text, with its noun: 1 day, 2 days."""
    return f"{number} {noun}{'' if str(number) == '1' else 's'}"


@checked
def is_folder(uri: str, size: int) -> bool:
    """Say whether a key only stands for a folder, as consoles and Hadoop make them: empty, without rows."""
    return size == 0 and (uri.endswith("/") or uri.endswith(HIVE_FOLDER))


@moved.renamed(found="entry")
@checked
def decide(mode: Mode, entry: Object) -> Decision:
    """Return what a reader of a directory does with an object: read, skip or fail.

    The three modes are those of EMR's option `fs.s3a.glacier.read.restored.objects`. Instant Retrieval counts as
    any active class; a restored object is skipped by SKIP_ALL_GLACIER all the same.

    Args:
        mode: one of MODES.
        entry: the object.
    """
    if mode == READ_ALL:
        return READ if entry.readable else FAIL
    if mode == SKIP_ALL_GLACIER:
        return READ if entry.archived_as is None else SKIP
    return READ if entry.readable else SKIP


def state_of(storage_class: str, restore: Any, access_tier: str | None = None) -> tuple[str, datetime | None]:
    """Return (state, restored_until) from what S3 says; None is an end that is not known.

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


def time_of(written: str | datetime | None) -> datetime | None:
    """Return the time that a store wrote, in UTC where it names no zone; None where it is not a time.

    Amazon S3 writes RFC 1123 in headers and ISO 8601 in listings, others either in both; HTTP (RFC 9110, 5.6.7)
    has two older forms, of RFC 850 and of asctime.

    Args:
        written: text, or a datetime as boto3 gives it.
    """
    moment = written if isinstance(written, datetime) else None
    readers: tuple[Callable[[str], datetime], ...] = (datetime.fromisoformat, parsedate_to_datetime)
    for read in readers if moment is None else ():
        try:
            moment = read(str(written).strip())
            break
        except (ValueError, TypeError, OverflowError):
            continue
    if moment is None or (
        moment.tzinfo is None and re.search("[A-Za-z]$", str(written).strip())
    ):  # a zone not known
        return None
    try:
        return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
    except OverflowError:  # of a zone that leads out of the years there are
        return None


def _warned(entry: Object, restore: Any) -> Object:
    """Return an Object; a warning names it when the end of its copy cannot be read."""
    if entry.state == RESTORED and entry.restored_until is None:
        warnings.warn(
            f"{entry.uri} is restored, and until when is not known: the store says {restore}; expected a time as "
            "Fri, 09 Jan 2026 00:00:00 GMT or 2026-01-09T00:00:00Z",
            stacklevel=2,
        )
    return entry


def from_head(uri: str, head: Mapping[str, Any], *, kind: str = "object") -> Object:
    """Return the Object of a HEAD request's answer."""
    storage_class, tier = head.get("StorageClass", "STANDARD"), head.get("ArchiveStatus")
    state, until = state_of(storage_class, head.get("Restore"), tier)
    version = head.get("VersionId")
    return _warned(Object(
        uri, head["ContentLength"], storage_class, state, head["LastModified"], head["ETag"].strip('"'),
        version if version != "null" else None, until, tier, kind,
    ), head.get("Restore"))  # fmt: skip


def from_listing(bucket: str, row: Mapping[str, Any]) -> Object:
    """Return the Object of one row of a listing."""
    storage_class = row.get("StorageClass") or "STANDARD"
    state, until = state_of(storage_class, row.get("RestoreStatus"))
    version = row.get("VersionId")
    return _warned(Object(
        f"s3://{bucket}/{row['Key']}", row["Size"], storage_class, state, row["LastModified"],
        row["ETag"].strip('"'), version if version != "null" else None, until,
    ), row.get("RestoreStatus"))  # fmt: skip
