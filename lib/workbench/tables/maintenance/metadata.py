"""A table's metadata as frames: of exactly one state, whatever others commit meanwhile.

A session's catalog gives the same handle of a table to all its threads, and each commit of one refreshes it for
all. So what is looked at is a handle that stands still, and what commits is one that nobody else has.
"""

import json
import re
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from workbench._base import identifiers
from workbench.tables import commits

if TYPE_CHECKING:
    from py4j.java_gateway import JavaObject
    from pyspark.sql import Column, DataFrame, Row, SparkSession

FILES = (".metadata.json", ".metadata.json.gz")  # how a metadata file's name ends
_SCHEME = r"^[A-Za-z][A-Za-z0-9+.-]*:(//[^/]*)?"


def own(spark: "SparkSession", table: str) -> "JavaObject":
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


def still(spark: "SparkSession", loaded: "JavaObject") -> "JavaObject":
    """Return a handle of the state that a table has now: it is never refreshed, and commits nothing."""
    return _of(spark, loaded, loaded.operations().current())


def _of(spark, loaded, state):
    iceberg = spark._jvm.org.apache.iceberg
    return iceberg.BaseTable(iceberg.StaticTableOperations(state, loaded.io()), loaded.name())


def frame(spark: "SparkSession", loaded: "JavaObject", kind: str) -> "DataFrame":
    """Return a metadata table as a DataFrame; lazy, reads metadata only.

    Args:
        spark: classic session.
        loaded: handle of `still` or `without`.
        kind: name of Iceberg's metadata table: ENTRIES, MANIFESTS, ALL_FILES, …
    """
    from pyspark.sql import DataFrame

    iceberg = spark._jvm.org.apache.iceberg
    of = getattr(iceberg.MetadataTableType, kind)
    return DataFrame(iceberg.spark.SparkTableUtil.loadMetadataTable(spark._jsparkSession, loaded, of), spark)


def without(spark: "SparkSession", loaded: "JavaObject", snapshot_ids: Iterable[int]) -> "JavaObject":
    """Return a table as it would be without some snapshots, for `frame`; nothing is written."""
    iceberg = spark._jvm.org.apache.iceberg
    gone = spark._jvm.java.util.HashSet()
    for snapshot_id in snapshot_ids:
        gone.add(spark._jvm.java.lang.Long.valueOf(snapshot_id))
    left = iceberg.TableMetadata.buildFrom(loaded.operations().current()).removeSnapshots(gone).build()
    return _of(spark, loaded, left)


def known(spark: "SparkSession", loaded: "JavaObject") -> "DataFrame":
    """Return a frame of all files of all snapshots, refs and metadata versions of a state, by location (`at`)."""
    found = frame(spark, loaded, "ALL_FILES").selectExpr("file_path AS at")
    for kind, column in (
        ("ALL_MANIFESTS", "path"),
        ("SNAPSHOTS", "manifest_list"),
        ("METADATA_LOG_ENTRIES", "file"),
    ):
        found = found.union(frame(spark, loaded, kind).select(column))
    more = [one.path() for one in [*loaded.statisticsFiles(), *loaded.partitionStatisticsFiles()]]
    return found.union(texts(spark, [*more, loaded.operations().current().metadataFileLocation()]))


def texts(spark: "SparkSession", values: Iterable[str]) -> "DataFrame":
    """Return a frame of texts (`at`); from pandas by Arrow, which starts no Python worker."""
    import pandas as pd

    return spark.createDataFrame(pd.DataFrame({"at": pd.Series(list(values), dtype=object)}), "at STRING")


def listed(io: "JavaObject", folder: str) -> dict[str, int]:
    """Return {location: bytes} of all that lies below a folder, as a table's file IO lists it."""
    found, each = {}, io.listPrefix(folder.rstrip("/") + "/").iterator()
    while each.hasNext():
        one = each.next()
        found[one.location()] = one.size()
    return found


def path(location: "str | Column") -> "str | Column":
    """Return a location, a text or a Column, without scheme and host: one file under two schemes is one file."""
    if isinstance(location, str):
        return re.sub("/+", "/", re.sub(_SCHEME, "", location))
    from pyspark.sql import functions as F

    return F.regexp_replace(F.regexp_replace(location, _SCHEME, ""), "/+", "/")


def number(location: str) -> int | None:
    """Return the number that a metadata file's name begins with (`00003-…`, `v3.…`); None without."""
    found = re.match(r"v?(\d+)[-.]", location.rpartition("/")[2])
    return int(found[1]) if found else None


def entries(spark: "SparkSession", loaded: "JavaObject", *columns: "str | Column") -> "DataFrame":
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
    kinds = {field.name: field.dataType for field in live.schema["data_file"].dataType}
    fields = [F.col("data_file").getField(name).alias(name) for name in kinds if name != "partition"]
    live = live.withColumn("partition", F.col("data_file.partition") if "partition" in kinds else F.lit(None))
    live = live.select(live.sequence_number.alias("seq"), *fields, *columns, "partition")
    if "partition" not in kinds:
        return live
    by_core, told = uuid_field(loaded) is not None, T.StructType()
    texts = (T.DateType, T.TimestampType, T.TimestampNTZType, *((T.BinaryType,) if by_core else ()))
    for field in kinds["partition"]:
        told.add(field.name, T.StringType() if isinstance(field.dataType, texts) else field.dataType)
    if not by_core:
        return live.withColumn("partition", F.col("partition").cast(told))
    columns_by_core = T.StructType().add("_path", "string").add("_at", "long").add("partition", told)
    known = spark.createDataFrame(_partitions_by_core(spark, loaded, told), columns_by_core)
    offset = F.col("content_offset") if "content_offset" in kinds else F.lit(None)
    same = (F.col("file_path") == F.col("_path")) & offset.eqNullSafe(F.col("_at"))
    return live.drop("partition").join(known, same).drop("_path", "_at")


def gc_disabled(loaded: "JavaObject") -> bool:
    """Say whether a table forbids that its files are deleted, for they may belong to others."""
    return (loaded.properties().get("gc.enabled") or "true").lower() == "false"


def uuid_field(loaded: "JavaObject") -> str | None:
    """Return the name of a partition field that holds a UUID, of any of a table's specs; None without.

    Iceberg's metadata tables on Spark end in an error when they show such a value (apache/iceberg#13703), and with
    them its actions that look at partitions.
    """
    fields = [field for spec in dict(loaded.specs()).values() for field in spec.partitionType().fields()]
    return next((field.name() for field in fields if field.type().toString() == "uuid"), None)


def _partitions_by_core(spark, loaded, told):
    """Return [(location, offset of a deletion vector or None, values of `told`)] of the live files.

    Read by Iceberg's core, with a call to Java for each value of each file: for tables only whose partitions Spark
    cannot read.
    """
    iceberg, io, specs = spark._jvm.org.apache.iceberg, loaded.io(), loaded.specs()
    anything = spark._jvm.java.lang.Class.forName("java.lang.Object")
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
                    if value is not None and told[field.name()].dataType.typeName() == "string":
                        value = field.transform().toHumanString(typed.type(), value)
                    values[field.name()] = value
                row = tuple(values.get(name) for name in told.names)
                rows.append((file.location(), file.contentOffset() if deletes else None, row))
        finally:
            reader.close()
    return rows


def partition_of(row: "Row | None") -> str:
    """Return a partition as JSON text with its fields in a stable order; `{}` for none."""
    values = {} if row is None else row.asDict()
    return json.dumps({name: _plain(values[name]) for name in sorted(values)}, ensure_ascii=False)


def _plain(value):
    """Return what JSON can hold."""
    return value if value is None or isinstance(value, bool | int | str) else f"{type(value).__name__} {value}"


def refs(loaded: "JavaObject") -> "dict[str, JavaObject]":
    """Return {name: Java ref} of a loaded table, sorted by name."""
    there = loaded.refs()
    return {name: there[name] for name in sorted(there)}


def lineage(spark: "SparkSession", loaded: "JavaObject") -> dict[int, dict[str, Any]]:
    """Return {snapshot id: snapshot as a dict}, oldest sequence number first."""
    known = sorted(
        commits.snapshots_of(spark, loaded), key=lambda one: (one.get("sequence-number", 0), one["timestamp-ms"])
    )
    return {one["snapshot-id"]: one for one in known}


def ancestors(known: dict[int, dict[str, Any]], snapshot_id: int | None) -> list[int]:
    """Return a snapshot and its ancestors as far as they are known, newest first."""
    line = []
    while snapshot_id in known:
        line.append(snapshot_id)
        snapshot_id = known[snapshot_id].get("parent-snapshot-id")
    return line
