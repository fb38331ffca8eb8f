"""Commit times of a test's own choosing: only the metadata says when a snapshot was committed."""

import json


def set_times(spark, table, times):
    """Give snapshots other commit times: snapshot id to milliseconds. The rest of the metadata stays as it is."""
    java = spark._jvm.org.apache.iceberg
    handle = java.spark.Spark3Util.loadIcebergTable(spark._jsparkSession, table)
    handle.refresh()
    base = handle.operations().current()
    document = json.loads(java.TableMetadataParser.toJson(base))
    for entry in document["snapshots"] + document["snapshot-log"]:
        entry["timestamp-ms"] = times.get(entry["snapshot-id"], entry["timestamp-ms"])
    handle.operations().commit(base, java.TableMetadataParser.fromJson(json.dumps(document)))
    handle.refresh()


def line(spark, table):
    """Snapshot ids and operations of a table that only ever moved forward, oldest first."""
    rows = spark.sql(f"SELECT snapshot_id, parent_id, operation FROM {table}.snapshots").collect()
    after, found, row = {row.parent_id: row for row in rows}, [], None
    while row := after.get(row.snapshot_id if row else None):
        found.append((row.snapshot_id, row.operation))
    return found
