"""A table's metadata as frames: of exactly one state, whatever others commit meanwhile.

A session's catalog gives the same handle of a table to all its threads, and each commit of one refreshes it for
all. So what is looked at is a handle that stands still, and what commits is one that nobody else has.
"""

import json
import re
from collections.abc import Iterable
from typing import Any, overload

from workbench._base import identifiers
from workbench._base.typing import Column, DataFrame, Java, Row, SparkSession, StructType
from workbench.tables import commits

Lineage = dict[int, dict[str, Any]]  # snapshot id to snapshot, oldest first
FILES = (".metadata.json", ".metadata.json.gz")  # how a metadata file's name ends
_SCHEME = r"^[A-Za-z][A-Za-z0-9+.-]*:(//[^/]*)?"


def own(spark: SparkSession, table: str) -> Java:
    """Return Iceberg's handle of a table at its newest state, that no other thread of the session is given.

    Raises:
        TableNotFound: no such table.
    """
    quoted = identifiers.quoted(table)
    commits.load(spark, table)  # says what is wrong with the name
    spark.sql(f"REFRESH TABLE {quoted}")
    loaded = commits.load(spark, table)
    spark.sql(f"REFRESH TABLE {quoted}")  # the next who loads it is given another
    return loaded


def still(spark: SparkSession, loaded: Java) -> Java:
    """Return a handle of the state that a table has now: it is never refreshed, and commits nothing."""
    return _of(spark, loaded, loaded.operations().current())


def jvm(spark: SparkSession) -> Java:
    """Return the JVM of a classic session."""
    return spark._jvm


def actions(spark: SparkSession) -> Java:
    """Return Iceberg's actions on Spark."""
    return jvm(spark).org.apache.iceberg.spark.actions.SparkActions.get(spark._jsparkSession)


def _of(spark: SparkSession, loaded: Java, state: Java) -> Java:
    iceberg = jvm(spark).org.apache.iceberg
    return iceberg.BaseTable(iceberg.StaticTableOperations(state, loaded.io()), loaded.name())


def frame(spark: SparkSession, loaded: Java, kind: str) -> DataFrame:
    """Return a metadata table as a DataFrame; lazy, reads metadata only.

    Args:
        spark: classic session.
        loaded: handle of `still` or `without`.
        kind: name of Iceberg's metadata table: ENTRIES, MANIFESTS, ALL_FILES, …
    """
    from pyspark.sql import DataFrame

    iceberg = jvm(spark).org.apache.iceberg
    of = getattr(iceberg.MetadataTableType, kind)
    return DataFrame(iceberg.spark.SparkTableUtil.loadMetadataTable(spark._jsparkSession, loaded, of), spark)


def without(spark: SparkSession, loaded: Java, snapshot_ids: Iterable[int]) -> Java:
    """Return a table as it would be without some snapshots, for `frame`; nothing is written."""
    iceberg = jvm(spark).org.apache.iceberg
    gone = jvm(spark).java.util.HashSet()
    for snapshot_id in snapshot_ids:
        gone.add(jvm(spark).java.lang.Long.valueOf(snapshot_id))
    state = iceberg.TableMetadata.buildFrom(loaded.operations().current()).removeSnapshots(gone).build()
    return _of(spark, loaded, state)


def known(spark: SparkSession, loaded: Java) -> DataFrame:
    """Return a frame of all files of all snapshots, refs and metadata versions of a state, by location (`at`)."""
    locations = frame(spark, loaded, "ALL_FILES").selectExpr("file_path AS at")
    for kind, column in (
        ("ALL_MANIFESTS", "path"),
        ("SNAPSHOTS", "manifest_list"),
        ("METADATA_LOG_ENTRIES", "file"),
    ):
        locations = locations.union(frame(spark, loaded, kind).select(column))
    others = [file.path() for file in [*loaded.statisticsFiles(), *loaded.partitionStatisticsFiles()]]
    return locations.union(texts(spark, [*others, loaded.operations().current().metadataFileLocation()]))


def texts(spark: SparkSession, values: Iterable[str]) -> DataFrame:
    """Return a frame of texts (`at`); from pandas by Arrow, which starts no Python worker."""
    import pandas as pd

    return spark.createDataFrame(pd.DataFrame({"at": pd.Series(list(values), dtype=object)}), "at STRING")


def listed(io: Java, folder: str) -> dict[str, int]:
    """Return {location: bytes} of all that lies below a folder, as a table's file IO lists it."""
    sizes, files = {}, io.listPrefix(folder.rstrip("/") + "/").iterator()
    while files.hasNext():
        file = files.next()
        sizes[file.location()] = file.size()
    return sizes


@overload
def path(location: str) -> str: ...
@overload
def path(location: Column) -> Column: ...
def path(location: str | Column) -> str | Column:
    """Return a location, a text or a Column, without scheme and host: one file under two schemes is one file."""
    if isinstance(location, str):
        return re.sub("/+", "/", re.sub(_SCHEME, "", location))
    from pyspark.sql import functions as F

    return F.regexp_replace(F.regexp_replace(location, _SCHEME, ""), "/+", "/")


def number(location: str) -> int | None:
    """Return the number that a metadata file's name begins with (`00003-…`, `v3.…`); None without."""
    match = re.match(r"v?(\d+)[-.]", location.rpartition("/")[2])
    return int(match[1]) if match else None


def entries(spark: SparkSession, loaded: Java, *columns: str | Column) -> DataFrame:
    """Return the live entries of a table's current snapshot: its data and delete files.

    Args:
        spark: classic session.
        loaded: handle of `still` or `without`.
        columns: more columns of Iceberg's metadata table ENTRIES, such as readable_metrics.

    Returns:
        DataFrame with a row a file: seq (long), the fields of `data_file`, and `columns`. `partition` is what
        Python can hold, null where the table has none: dates, moments and UUIDs are texts, for a clock in the
        wrong unit gives years of five digits.
    """
    from pyspark.sql import functions as F
    from pyspark.sql import types as T

    live = frame(spark, loaded, "ENTRIES").where("status < 2")
    data_file: Any = live.schema["data_file"].dataType
    kinds = {field.name: field.dataType for field in data_file}
    fields = [F.col("data_file").getField(name).alias(name) for name in kinds if name != "partition"]
    live = live.withColumn("partition", F.col("data_file.partition") if "partition" in kinds else F.lit(None))
    live = live.select(live.sequence_number.alias("seq"), *fields, *columns, "partition")
    if "partition" not in kinds:
        return live
    by_core, partition_type = uuid_field(loaded) is not None, T.StructType()
    as_texts = (T.DateType, T.TimestampType, T.TimestampNTZType, *((T.BinaryType,) if by_core else ()))
    for field in kinds["partition"]:
        partition_type.add(field.name, T.StringType() if isinstance(field.dataType, as_texts) else field.dataType)
    if not by_core:
        return live.withColumn("partition", F.col("partition").cast(partition_type))
    columns_by_core = T.StructType().add("_path", "string").add("_at", "long").add("partition", partition_type)
    known = spark.createDataFrame(_partitions_by_core(spark, loaded, partition_type), columns_by_core)
    offset = F.col("content_offset") if "content_offset" in kinds else F.lit(None)
    same = (F.col("file_path") == F.col("_path")) & offset.eqNullSafe(F.col("_at"))
    return live.drop("partition").join(known, same).drop("_path", "_at")


def gc_disabled(loaded: Java) -> bool:
    """Say whether a table forbids that its files are deleted, for they may belong to others."""
    return (loaded.properties().get("gc.enabled") or "true").lower() == "false"


def uuid_field(loaded: Java) -> str | None:
    """Return the name of a partition field that holds a UUID, of any of a table's specs; None without.

    Iceberg's metadata tables on Spark end in an error when they show such a value (apache/iceberg#13703), and with
    them its actions that look at partitions.
    """
    fields = [field for spec in dict(loaded.specs()).values() for field in spec.partitionType().fields()]
    return next((field.name() for field in fields if field.type().toString() == "uuid"), None)


def _partitions_by_core(
    spark: SparkSession, loaded: Java, partition_type: StructType
) -> list[tuple[str, int | None, tuple[Any, ...]]]:
    """Return [(location, offset of a deletion vector or None, values of `partition_type`)] of the live files.

    Read by Iceberg's core, with a call to Java for each value of each file: for tables only whose partitions Spark
    cannot read.
    """
    iceberg, io, specs = jvm(spark).org.apache.iceberg, loaded.io(), loaded.specs()
    anything = jvm(spark).java.lang.Class.forName("java.lang.Object")
    snapshot, rows = loaded.currentSnapshot(), []
    for manifest in snapshot.allManifests(io) if snapshot is not None else ():
        deletes = manifest.content().toString() == "DELETES"
        read = iceberg.ManifestFiles.readDeleteManifest if deletes else iceberg.ManifestFiles.read
        spec = specs[manifest.partitionSpecId()]
        fields = list(zip(spec.fields(), spec.partitionType().fields(), strict=True))
        reader = read(manifest, io, specs)
        try:
            files = reader.iterator()
            while files.hasNext():
                file, values = files.next(), {}
                for place, (field, typed) in enumerate(fields):
                    value = file.partition().get(place, anything)
                    if value is not None and partition_type[field.name()].dataType.typeName() == "string":
                        value = field.transform().toHumanString(typed.type(), value)
                    values[field.name()] = value
                row = tuple(values.get(name) for name in partition_type.names)
                rows.append((file.location(), file.contentOffset() if deletes else None, row))
        finally:
            reader.close()
    return rows


def partition_of(row: Row | None) -> str:
    """Return a partition as JSON text with its fields in a stable order; `{}` for none."""
    values = {} if row is None else row.asDict()
    return json.dumps({name: _plain(values[name]) for name in sorted(values)}, ensure_ascii=False)


def _plain(value: Any) -> bool | int | str | None:
    """Return what JSON can hold."""
    return value if value is None or isinstance(value, bool | int | str) else f"{type(value).__name__} {value}"


def refs(loaded: Java) -> dict[str, Java]:
    """Return {name: Java ref} of a loaded table, sorted by name."""
    by_name = loaded.refs()
    return {name: by_name[name] for name in sorted(by_name)}


def lineage(spark: SparkSession, loaded: Java) -> Lineage:
    """Return {snapshot id: snapshot as a dict}, oldest sequence number first."""
    known = sorted(
        commits.snapshots_of(spark, loaded),
        key=lambda snapshot: (snapshot.get("sequence-number", 0), snapshot["timestamp-ms"]),
    )
    return {snapshot["snapshot-id"]: snapshot for snapshot in known}


def ancestors(known: Lineage, snapshot_id: int | None) -> list[int]:
    """Return a snapshot and its ancestors as far as they are known, newest first."""
    line = []
    while snapshot_id in known:
        line.append(snapshot_id)
        snapshot_id = known[snapshot_id].get("parent-snapshot-id")
    return line
