"""Iceberg's own table object, and what commits need to know of it."""

import json

from workbench._base import identifiers, releases
from workbench._base.errors import ArgumentError
from workbench.tables import snapshots
from workbench.tables.commits.errors import VALIDATION, causes, first_line, kind

_UNREADABLE = "org.apache.iceberg.exceptions.RuntimeIOException"
_GONE = "org.apache.iceberg.exceptions.NoSuchTableException"


def load(spark, table, *, fresh=True):
    """Return Iceberg's own table object at the newest metadata, past every cache of the session.

    Args:
        spark: classic session whose catalog holds the table.
        table: `namespace.name` or `catalog.namespace.name`.
        fresh: False takes what the session remembers, where the caller has looked just now; a commit that begins
            from an older state is refused.

    Raises:
        TableNotFound: no such table.
        ValueError: it is no Iceberg table or a part of one (`t.history`, `t.branch_x`), its metadata cannot be
            read, or over Spark Connect.
    """
    from py4j.java_gateway import is_instance_of

    loaded = _opened(spark, table)
    metadata = is_instance_of(spark.sparkContext._gateway, loaded, "org.apache.iceberg.BaseMetadataTable")
    *of, last = identifiers.parts(table)
    selects = last.startswith(("branch_", "tag_", "snapshot_id_", "at_timestamp_"))
    if metadata or (selects and not loaded.name().lower().endswith(f".{last}".lower())):
        raise ArgumentError(f"{table} is a part of the table {identifiers.spelled(of)}; name that one")
    if not fresh:
        return loaded
    try:
        loaded.refresh()
    except Exception as error:
        if not {"java.lang.IllegalStateException", _GONE} & set(causes(error)):
            raise
        forget(spark, table)  # another process has dropped the table, and may have made one of that name
        return _opened(spark, table)
    return loaded


def _opened(spark, table):
    """Return Iceberg's table object, as the session remembers it."""
    quoted = identifiers.quoted(table)
    classic(spark)
    # a Python thread has a Java thread of its own, in which no session is active and no catalog known
    releases.activate(spark)
    spark3 = spark._jvm.org.apache.iceberg.spark.Spark3Util
    try:
        try:
            return spark3.loadIcebergTable(spark._jsparkSession, quoted)
        except Exception as error:
            if _UNREADABLE in causes(error):  # Iceberg has read that file 20 times, in a minute and a half
                raise
            # what the session remembers of a table that another process renamed, dropped or made again is no table
            forget(spark, table)
            return spark3.loadIcebergTable(spark._jsparkSession, quoted)
    except Exception as error:
        if _UNREADABLE in causes(error):  # nor is the file read 20 times more to ask whether there is a table
            raise ArgumentError(
                f"{table} cannot be opened: {first_line(error)}. If that file is damaged, "
                "tables.doctor.pointers.look says which ones are good"
            ) from error
        if kind(error) != VALIDATION and not snapshots.exists(spark, table):  # t.branch_x where t has no x
            snapshots.current(spark, table)  # says which tables there are
        raise ArgumentError(f"{table} is no Iceberg table: {first_line(error)}") from error


def identified(spark, table):
    """Return the catalog and the identifier that a table's name means to Spark; no table is loaded.

    Raises:
        ValueError: it is no table's name, or over Spark Connect.
    """
    quoted = identifiers.quoted(table)
    classic(spark)
    spark3 = spark._jvm.org.apache.iceberg.spark.Spark3Util
    return spark3.catalogAndIdentifier(spark._jsparkSession, quoted)


def classic(spark, name="spark"):
    """Refuse what is no classic Spark session.

    Args:
        spark: what was given.
        name: the argument's.

    Raises:
        ValueError: with what is there.
    """
    if not hasattr(spark, "_jsparkSession"):
        there = f"{type(spark).__module__}.{type(spark).__qualname__}".removeprefix("builtins.")
        raise ArgumentError(
            f"this needs a classic Spark session, and {name} is {there}; "
            "Spark Connect gives no way to Iceberg's tables"
        )


def forget(spark, table):
    """Let the session forget what it remembers of a table."""
    found = identified(spark, table)
    found.catalog().invalidateTable(found.identifier())


def snapshots_of(spark, loaded):
    """Return a loaded table's snapshots, dicts as in the table specification, past what Spark may have cached."""
    text = spark._jvm.org.apache.iceberg.TableMetadataParser.toJson(loaded.operations().current())
    return [{"summary": {}, **one} for one in json.loads(text).get("snapshots", [])]


def columns_of(loaded, snapshot_id=None):
    """Return {column name: (field id, type)} of a loaded table, or as a snapshot is read by its id."""
    schema = loaded.schemas().get(loaded.snapshot(snapshot_id).schemaId()) if snapshot_id else loaded.schema()
    return {field.name(): (field.fieldId(), field.type().toString()) for field in schema.columns()}


def head(loaded, branch="main"):
    """Return the snapshot id a branch of a loaded table points to; None when there is no such branch."""
    return ref.snapshotId() if (ref := loaded.refs().get(branch)) is not None else None


def descends(spark, loaded, snapshot_id, ancestor_id):
    """Say whether a snapshot of a loaded table is another one or descends from it."""
    return spark._jvm.org.apache.iceberg.util.SnapshotUtil.isAncestorOf(loaded, snapshot_id, ancestor_id)
