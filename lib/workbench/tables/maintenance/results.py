"""Hold what maintenance plans and did in fields that a program decides by; `wording` makes sentences of them."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Literal

from workbench._base import moved
from workbench.tables.maintenance.groups import Group
from workbench.tables.maintenance.policy import Policy

Mark = int | str  # a snapshot id, or the name of a branch or tag
Kind = Literal["fact", "limited", "undone", "asked"]


class Reason(StrEnum):
    """The reason of a remark. Behind each are the values that such a Remark has."""

    SNAPSHOTS_HELD = "snapshots_held"  # count, name of the oldest mark that holds some
    COLUMN_NOT_COUNTED = "column_not_counted"  # name
    NO_COLUMN_COUNTED = "no_column_counted"
    THROUGH_SPARK = "through_spark"  # obstacle

    ACTION_NOT_BEGUN = "action_not_begun"  # limit
    PARTITIONS_LEFT = "partitions_left"  # limit, count
    PARTITION_IN_PART = "partition_in_part"  # limit, name of the partition
    PARTITION_TOO_LARGE = "partition_too_large"  # limit, name of the partition
    FILES_LEFT = "files_left"  # limit, count
    ORPHANS_LEFT = "orphans_left"  # limit, count

    FILES_CHANGED = "files_changed"  # count, tries
    REWRITE_REFUSED = "rewrite_refused"  # error
    DELETES_NOT_REWRITTEN = "deletes_not_rewritten"  # obstacle
    EXPIRY_NOT_PLANNED = "expiry_not_planned"  # obstacle
    NOTHING_EXPIRED = "nothing_expired"  # obstacle, or error
    ORPHANS_NOT_PLANNED = "orphans_not_planned"  # obstacle
    NOTHING_REMOVED = "nothing_removed"  # obstacle

    REMOVAL_NOT_AGREED = "removal_not_agreed"  # count


_LIMITED = (
    Reason.ACTION_NOT_BEGUN, Reason.PARTITIONS_LEFT, Reason.PARTITION_IN_PART, Reason.PARTITION_TOO_LARGE,
    Reason.FILES_LEFT, Reason.ORPHANS_LEFT,
)  # fmt: skip
_FACTS = (Reason.SNAPSHOTS_HELD, Reason.COLUMN_NOT_COUNTED, Reason.NO_COLUMN_COUNTED, Reason.THROUGH_SPARK)


class Hindrance(StrEnum):
    """A hindrance to an action, or to its fast way. Behind each are the values that such an Obstacle has."""

    # of the fast way
    FAST_OFF = "fast_off"
    FAST_REFUSED = "fast_refused"  # number of tries, error
    FORMAT_VERSION = "format_version"  # number
    DELETE_FILES = "delete_files"
    SORT_ORDER = "sort_order"
    OLDER_PARTITIONING = "older_partitioning"
    DROPPED_PARTITION_FIELD = "dropped_partition_field"
    PARTITION_TYPE = "partition_type"  # name of the type
    LARGE_GROUP = "large_group"  # number of bytes that it may have
    FILE_FORMAT = "file_format"
    SORTED_FILES = "sorted_files"
    OTHER_COLUMNS = "other_columns"
    COLUMN_TYPE = "column_type"  # name of the column, kind
    WRITE_FORMAT = "write_format"  # name of the format
    PROPERTY = "property"  # name of the property
    CODEC = "codec"  # name of the codec
    CODEC_LEVEL = "codec_level"  # name of the codec, number
    FILE_IO = "file_io"  # name of Iceberg's class, kind of location
    STORAGE_SETTING = "storage_setting"  # name of the setting
    FILES_ELSEWHERE = "files_elsewhere"  # kind of location

    # of delete files
    UUID_PARTITION = "uuid_partition"  # name of the partition field

    # of expiry, and of the removal of orphans
    GC_DISABLED = "gc_disabled"
    SOURCE_OWNS = "source_owns"  # location of the source
    MARK_EXPIRES = "mark_expires"  # name of the mark
    BRANCH_SNAPSHOT_AGE = "branch_snapshot_age"  # name of the branch, number of snapshots

    # of the removal of orphans
    LISTING_REFUSED = "listing_refused"  # name of the table, error
    UNREADABLE_METADATA = "unreadable_metadata"  # location of the table, folder
    METADATA_OF_ANOTHER = "metadata_of_another"  # location of the table, folder
    UNKNOWN_COMMIT = "unknown_commit"  # location of the metadata file


@dataclass(frozen=True)
class Obstacle:
    """An obstacle with the values that it is about; `Hindrance` says which.

    Attributes:
        hindrance: what it is.
        name: of a field, column, type, property, setting, codec, branch or table.
        kind: of a column or a location: its type, its scheme.
        number: of a version, a level, bytes, tries or snapshots.
        location: of a table or a file.
        folder: in which something lies.
        error: first line of an error of Iceberg's.
    """

    hindrance: Hindrance
    name: str | None = None
    kind: str | None = None
    number: int | None = None
    location: str | None = None
    folder: str | None = None
    error: str | None = None


@dataclass(frozen=True)
class Remark:
    """A remark on what was left or is to be known, with the values that it is about; `Reason` says which.

    Attributes:
        reason: what it is.
        limit: of the policy or the run: `max_bytes`, `max_minutes` or `max_commits`.
        count: of files, partitions, snapshots or orphans.
        name: of a column or a mark, or the values of a partition as JSON text, `{}` without partitions.
        tries: how often something was begun.
        obstacle: what is in the way.
        error: first line of the error of who refused.
    """

    reason: Reason
    limit: str | None = None
    count: int | None = None
    name: str | None = None
    tries: int | None = None
    obstacle: Obstacle | None = None
    error: str | None = None

    @property
    def kind(self) -> Kind:
        """What it asks of people.

        `fact`: nothing was left that a person has to see. `limited`: the owner's own limit left something to the
        next run. `asked`: the caller's word is needed. `undone`, and so for a reason that is in no list: something
        was left that somebody has to see to.
        """
        if self.reason in _FACTS:
            return "fact"
        if self.reason in _LIMITED:
            return "limited"
        return "asked" if self.reason == Reason.REMOVAL_NOT_AGREED else "undone"

    @property
    def too_small(self) -> bool:
        """Whether the limit leaves no room for what is next, so that a run that did nothing else never will."""
        return self.reason == Reason.PARTITION_TOO_LARGE


@dataclass(frozen=True)
class Action:
    """One thing that would be done.

    Attributes:
        name: of `policy.ACTIONS`.
        files: files touched: rewritten, or deleted; None where only looking at the storage could show.
        files_after: how many there will be in their place.
        bytes_read: to do it.
        bytes_written: about; compression decides.
        bytes_freed: of files that are deleted with it. A rewrite frees nothing until its old snapshots expire.
        groups: of compaction, one a partition.
        evolved: of compaction: files of an older partitioning, which take the present one.
        dangling: of delete files: those among `files` that apply to nothing and go.
        by_partition: of manifests: whether they are ordered by partition.
        snapshots: ids, of expiry.
        drops: of expiry: names of branches and tags whose maximum age is over, and which go.
        location: of orphans: below which they are looked for.
        older_than_days: of orphans.
    """

    name: str
    files: int | None = 0
    files_after: int = 0
    bytes_read: int = 0
    bytes_written: int = 0
    bytes_freed: int = 0
    groups: tuple[Group, ...] = ()
    evolved: int = 0
    dangling: int = 0
    by_partition: bool = False
    snapshots: tuple[int, ...] = ()
    drops: tuple[str, ...] = ()
    location: str | None = None
    older_than_days: float | None = None

    @property
    def what(self) -> str:
        """What would be done, as a sentence; a field of version 0.1."""
        from workbench.tables.maintenance import wording

        moved.field("what of Action", "maintenance.told(planned)")
        return wording.action(self)

    @property
    def breaks(self) -> tuple[str, ...]:
        """Who would notice, a sentence each; a field of version 0.1."""
        from workbench.tables.maintenance import wording

        moved.field("breaks of Action", "maintenance.told(planned)")
        return wording.breaks(self)


@dataclass(frozen=True)
class Planned:
    """The plan of what `run` will do.

    Attributes:
        table: its name.
        uuid: the table's own id, which one made anew under the name does not have.
        snapshot: main's when it was planned; None of an empty table.
        now: when.
        policy: Policy.
        marks: snapshot ids and names of refs that readers need.
        actions: in the order in which they run; only those for which there is something to do.
        remarks: what is not done, and why.
    """

    table: str
    uuid: str
    snapshot: int | None
    now: datetime
    policy: Policy
    marks: tuple[Mark, ...]
    actions: tuple[Action, ...]
    remarks: tuple[Remark, ...]

    @property
    def notes(self) -> tuple[str, ...]:
        """Sentences on what is not done; a field of version 0.1."""
        from workbench.tables.maintenance import wording

        moved.field("notes of Planned", "remarks, or maintenance.sentences(planned)")
        return wording.sentences(self)


@dataclass(frozen=True)
class Done:
    """The result of one action.

    Attributes:
        name: the action's.
        files: files replaced or deleted.
        files_after: files in their place.
        bytes_read: of data files that were rewritten.
        commits: how many.
        tries: how often something was begun; more than commits says that others were in the way.
        remarks: what was left and why.
        orphans: locations found, of orphan removal.
        fast: how many of the replaced files went the fast way.
        snapshots: ids of those that went, of expiry.
        metadata_files: manifests and manifest lists that were deleted, of expiry.
    """

    name: str
    files: int = 0
    files_after: int = 0
    bytes_read: int = 0
    commits: int = 0
    tries: int = 0
    remarks: tuple[Remark, ...] = ()
    orphans: tuple[str, ...] = ()
    fast: int = 0
    snapshots: tuple[int, ...] = ()
    metadata_files: int = 0

    @property
    def said(self) -> tuple[str, ...]:
        """Sentences on what was left and why; a field of version 0.1."""
        from workbench.tables.maintenance import wording

        moved.field("said of Done", "remarks, or maintenance.sentences(done)")
        return wording.sentences(self)
