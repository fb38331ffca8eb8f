"""A table's metadata as frames: of exactly one state, whatever others commit meanwhile.

A session's catalog gives the same handle of a table to all its threads, and each commit of one refreshes it for
all. So what is looked at is a handle that stands still, and what commits is one that nobody else has.
"""

import json
from datetime import date, datetime

from workbench import identifiers
from workbench.tables import commits


def own(spark, table):
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


def still(spark, loaded):
    """Return a handle of the state that a table has now: it is never refreshed, and commits nothing."""
    return _of(spark, loaded, loaded.operations().current())


def _of(spark, loaded, state):
    iceberg = spark._jvm.org.apache.iceberg
    return iceberg.BaseTable(iceberg.StaticTableOperations(state, loaded.io()), loaded.name())


def frame(spark, loaded, kind):
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


def without(spark, loaded, snapshot_ids):
    """Return a table as it would be without some snapshots, for `frame`; nothing is written."""
    iceberg = spark._jvm.org.apache.iceberg
    gone = spark._jvm.java.util.HashSet()
    for snapshot_id in snapshot_ids:
        gone.add(spark._jvm.java.lang.Long.valueOf(snapshot_id))
    left = iceberg.TableMetadata.buildFrom(loaded.operations().current()).removeSnapshots(gone).build()
    return _of(spark, loaded, left)


def entries(spark, loaded):
    """Return the live entries of a table's current snapshot: its data and delete files with `seq`."""
    found = frame(spark, loaded, "ENTRIES").where("status < 2")
    return found.select(found.sequence_number.alias("seq"), "data_file.*")


def partition_of(row):
    """Return a partition as JSON text with its fields in a stable order; `{}` for none."""
    values = {} if row is None else row.asDict()
    return json.dumps({name: _plain(values[name]) for name in sorted(values)}, ensure_ascii=False)


def _plain(value):
    """Return what JSON can hold; dates as Iceberg writes them."""
    if isinstance(value, date) and not isinstance(value, datetime):
        return value.isoformat()
    return value if value is None or isinstance(value, bool | int | str) else f"{type(value).__name__} {value}"


def refs(loaded):
    """Return {name: Java ref} of a loaded table, sorted by name."""
    there = loaded.refs()
    return {name: there[name] for name in sorted(there)}


def lineage(spark, loaded):
    """Return {snapshot id: snapshot as a dict}, oldest sequence number first."""
    known = sorted(
        commits.snapshots_of(spark, loaded), key=lambda one: (one.get("sequence-number", 0), one["timestamp-ms"])
    )
    return {one["snapshot-id"]: one for one in known}


def ancestors(known, snapshot_id):
    """Return a snapshot and its ancestors as far as they are known, newest first."""
    line = []
    while snapshot_id in known:
        line.append(snapshot_id)
        snapshot_id = known[snapshot_id].get("parent-snapshot-id")
    return line
