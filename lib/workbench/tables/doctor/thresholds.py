"""Set from where on something is a cause: each figure with its source or its reason."""

from dataclasses import dataclass, fields

from workbench._base import arguments

MIB = 1024 * 1024
_LEAST = {"partitions": 1, "skew_members": 2, "overlap_files": 1}  # no median of none, no mean of no others


@dataclass(frozen=True)
class Thresholds:
    """The figures from which on something is a cause. Sizes of files and partitions are the policy's.

    Attributes:
        gone_share: of a table's data files that compaction would do away with. Below, nobody would notice. IBM's
            Table Optimizer asks for the same 10 % of small files before it compacts.
        high_files: how many that are for the severity to be high: the trigger of AWS Glue's compaction.
        partitions: so few are never too many; the same figure as a count of files to open.
        partition_bytes: a partition with less costs more to open than to read: what Iceberg reckons for
            opening a file (`read.split.open-file-cost`, 4 MiB).
        skew_factor: times the median: Spark's `spark.sql.adaptive.skewJoin.skewedPartitionFactor`. What is
            skewed is also larger than the policy's target, as there it is larger than a threshold.
        skew_members: of fewer partitions or files no median is taken.
        oversize: times the target: from where on Iceberg's own rewrite splits a file (its default for
            `max-file-size-bytes`).
        snapshots: that may go by the policy: in the field each commit had become ten times slower after 200.
        held_share: of the table's live bytes, held by what nobody reads, from where on it is worth a sentence.
        metadata_bytes: of the metadata file, which each commit writes whole: Iceberg's target for a manifest.
        overlap: of a partition's files that may hold any one value. From one half on, bounds spare less
            than they leave.
        overlap_files: fewer files are looked at quickly anyhow: Iceberg's `min-input-files`.
    """

    gone_share: float = 0.1
    high_files: int = 100
    partitions: int = 100
    partition_bytes: int = 4 * MIB
    skew_factor: float = 5.0
    skew_members: int = 5
    oversize: float = 1.8
    snapshots: int = 100
    held_share: float = 0.1
    metadata_bytes: int = 8 * MIB
    overlap: float = 0.5
    overlap_files: int = 5

    def __post_init__(self) -> None:
        """Refuse what nothing can be compared with.

        Raises:
            ValueError: a value is not a number, or is lower than has a meaning.
        """
        for name in (threshold.name for threshold in fields(self)):
            arguments.number(name, getattr(self, name), _LEAST.get(name, 0), endless=True)
