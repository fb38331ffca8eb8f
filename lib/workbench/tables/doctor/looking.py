"""Look once at a table's live files, partition by partition: what the causes are judged by."""

import collections
import json
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from workbench._base import identifiers
from workbench._base.typing import Java, SparkSession
from workbench.tables import commits
from workbench.tables.doctor.thresholds import Thresholds
from workbench.tables.maintenance import Policy, groups, metadata

Field = dict[str, str]  # of a partitioning: name, column, quoted, type, transform
FEW = 100  # data files that are summed up without a Spark job
PLAIN = frozenset(
    {"boolean", "int", "long", "string"}
)  # types of partition fields that a manifest has as Spark has


@dataclass(frozen=True)
class Partition:
    """Live data files of one partition, or of all partitions of an older spec together with it.

    Attributes:
        values: field to value as the metadata table has it, dates and moments as texts, for Python's end with the
            year 9999; empty without partitions.
        spec_id: of the spec they were written with.
        files, bytes, largest: how many, together, the largest one.
        small, small_bytes: those below 75 % of the policy's target.
    """

    values: tuple[tuple[str, Any], ...]
    spec_id: int
    files: int
    bytes: int
    largest: int
    small: int
    small_bytes: int

    @property
    def name(self) -> str:
        """How people call it."""
        return ", ".join(f"{name}={value}" for name, value in self.values) or "the table's files"


@dataclass(frozen=True)
class Look:
    """One state of a table, and what it is judged by.

    Attributes:
        loaded: handle that stands still.
        partitions: tuple of Partition.
        policy, thresholds, now: as given to `diagnose`.
        columns: that the owner's queries ask by.
    """

    spark: SparkSession
    table: str
    loaded: Java
    partitions: tuple[Partition, ...]
    policy: Policy
    thresholds: Thresholds
    now: datetime
    columns: tuple[str, ...]

    @property
    def files(self) -> int:
        """Live data files."""
        return sum(partition.files for partition in self.partitions)

    @property
    def bytes(self) -> int:
        """Bytes of the live data files."""
        return sum(partition.bytes for partition in self.partitions)

    def fields(self) -> list[Field]:
        """Return the fields of the table's present partitioning as dicts: name, column, type, transform."""
        schema, spec = self.loaded.schema(), self.loaded.spec()
        return [
            {
                "name": field.name(),
                "column": schema.findColumnName(field.sourceId()),
                "quoted": quoted(schema, schema.findColumnName(field.sourceId())),
                "type": schema.findType(field.sourceId()).toString(),
                "transform": field.transform().toString(),
            }
            for field in spec.fields()
            if field.transform().toString() != "void" and schema.findColumnName(field.sourceId())
        ]

    def procedures(self) -> str:
        """Return the catalog's schema of procedures, quoted for a statement."""
        return procedures(self.spark, self.table)

    def name(self) -> str:
        """Return the table's name for a statement that its owner is shown."""
        return identifiers.shown(self.table)

    def argument(self) -> str:
        """Return the table's name as the argument of a procedure."""
        return argument(self.table)

    def of_this_spec(self) -> list[Partition]:
        """Return the partitions of the present partitioning."""
        return [partition for partition in self.partitions if partition.spec_id == self.loaded.spec().specId()]


def quoted(schema: Java, name: str) -> str:
    """Return a column's name for a statement; dots divide nested names, or are a part of one."""
    whole = schema.asStruct().field(name) is not None
    return ".".join(identifiers.column(part) for part in ([name] if whole else name.split(".")))


def run_as_written(*statements: str) -> tuple[str, ...]:
    """Return statements so that Spark runs them as they are: without its variables where a name holds `${`."""
    if not any("${" in statement for statement in statements):
        return statements
    setting = "spark.sql.variable.substitute"
    return f"SET {setting} = false", *statements, f"RESET {setting}"


def procedures(spark: SparkSession, table: str) -> str:
    """Return the schema of procedures of a table's catalog, quoted for a statement."""
    return f"{identifiers.column(commits.identified(spark, table).catalog().name())}.system"


def argument(table: str) -> str:
    """Return a table's name as the argument of a procedure, which reads the text as a statement reads a name."""
    return identifiers.literal(identifiers.shown(table))


def look(
    spark: SparkSession,
    table: str,
    *,
    policy: Policy,
    thresholds: Thresholds,
    now: datetime,
    columns: Iterable[str],
) -> Look:
    """Return the Look of a table's present state; reads metadata only."""
    loaded = metadata.still(spark, commits.load(spark, table))
    partitions = _partitions(spark, loaded, policy) if loaded.currentSnapshot() is not None else ()
    return Look(spark, table, loaded, partitions, policy, thresholds, now, tuple(columns))


def _partitions(spark: SparkSession, loaded: Java, policy: Policy) -> tuple[Partition, ...]:
    """Return the live partitions; few files are summed up here, as a Spark job costs more than they do."""
    few = _few(spark, loaded, policy)
    partitions = _many(spark, loaded, policy) if few is None else few
    return tuple(
        sorted(partitions, key=lambda partition: (partition.spec_id, json.dumps(partition.values, default=str)))
    )


def _few(spark: SparkSession, loaded: Java, policy: Policy) -> list[Partition] | None:
    """Return the live partitions as the manifests have them; None for many files or partitions of other types.

    A whole number, a text or a boolean is the same in a manifest and in Spark; of other types Spark decides.
    """
    snapshot, specs, io = loaded.currentSnapshot(), loaded.specs(), loaded.io()
    if int(snapshot.summary().get("total-data-files") or FEW + 1) > FEW:
        return None
    types = {field.type().toString() for spec in specs.values() for field in spec.partitionType().fields()}
    if types - PLAIN:
        return None
    sizes = collections.defaultdict(list)  # of files, by the id of the spec and the values of its fields
    anything = metadata.jvm(spark).java.lang.Class.forName("java.lang.Object")
    for manifest in snapshot.dataManifests(io):
        places = range(specs[manifest.partitionSpecId()].partitionType().fields().size())
        reader = metadata.jvm(spark).org.apache.iceberg.ManifestFiles.read(manifest, io, specs)
        try:
            files = reader.iterator()
            while files.hasNext():
                file = files.next()
                values = tuple(file.partition().get(place, anything) for place in places)
                sizes[manifest.partitionSpecId(), values].append(file.fileSizeInBytes())
        finally:
            reader.close()
    small, own, names = groups.small(policy), loaded.spec().specId(), _names(loaded)
    return [
        _partition(names if spec_id == own else [], spec_id, values, of, [size for size in of if size < small])
        for (spec_id, values), of in sizes.items()
    ]


def _partition(
    names: list[str | None], spec_id: int, values: tuple[Any, ...], sizes: list[int], small: list[int]
) -> Partition:
    """Return a partition with the values of all fields of its spec, and with the sizes of its files."""
    named = tuple((name, value) for name, value in zip(names, values, strict=bool(names)) if name is not None)
    return Partition(named, spec_id, len(sizes), sum(sizes), max(sizes), len(small), sum(small))


def _names(loaded: Java) -> list[str | None]:
    """Return the names of the present spec's fields, None for those that are no longer a part of it."""
    fields = loaded.spec().fields()
    return [None if field.transform().toString() == "void" else field.name() for field in fields]


def _many(spark: SparkSession, loaded: Java, policy: Policy) -> list[Partition]:
    """Return the live partitions by a Spark job over Iceberg's metadata table of entries."""
    from pyspark.sql import functions as F

    live = metadata.entries(spark, loaded).where("content = 0")
    size, small = F.col("file_size_in_bytes"), F.col("file_size_in_bytes") < groups.small(policy)
    rows = live.groupBy("spec_id", "partition").agg(
        F.count("*").alias("files"), F.sum(size).alias("bytes"), F.max(size).alias("largest"),
        F.count_if(small).alias("small"), F.coalesce(F.sum(F.when(small, size)), F.lit(0)).alias("small_bytes"),
    )  # fmt: skip
    names, own = [name for name in _names(loaded) if name is not None], loaded.spec().specId()
    return [
        Partition(
            tuple((name, row.partition[name]) for name in names) if row.spec_id == own and names else (),
            row.spec_id, row.files, row.bytes, row.largest, row.small, row.small_bytes,
        )
        for row in rows.collect()
    ]  # fmt: skip
