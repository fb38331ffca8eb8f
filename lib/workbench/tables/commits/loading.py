"""Iceberg's own table object, and what commits need to know of it."""

import json
from typing import Any

from workbench._base import identifiers, releases
from workbench._base.door import checked
from workbench._base.errors import ArgumentError, WorkbenchError
from workbench._base.typing import Java, SparkSession, jvm
from workbench.tables import snapshots
from workbench.tables.commits.errors import VALIDATION, causes, first_line, kind

_UNREADABLE = "org.apache.iceberg.exceptions.RuntimeIOException"
_GONE = "org.apache.iceberg.exceptions.NoSuchTableException"


@checked
def load(spark: SparkSession, table: str, *, fresh: bool = True) -> Java:
    """Return Iceberg's own table object at the newest metadata, past every cache of the session.

    Args:
        spark: classic session whose catalog holds the table.
        table: `namespace.name` or `catalog.namespace.name`.
        fresh: False takes what the session remembers, where the caller has looked just now; a commit that begins
            from an older state is refused.

    Raises:
        TableNotFound: no such table.
        ValueError: it is not an Iceberg table, or a part of one (`t.history`, `t.branch_x`), its metadata cannot
            be read, or the session is one of Spark Connect.
    """
    from py4j.java_gateway import is_instance_of

    loaded = _opened(spark, table)
    metadata = is_instance_of(spark.sparkContext._gateway, loaded, "org.apache.iceberg.BaseMetadataTable")
    *of, last = identifiers.parts(table)
    selects = last.startswith(("branch_", "tag_", "snapshot_id_", "at_timestamp_"))
    if metadata or (selects and not loaded.name().lower().endswith(f".{last}".lower())):
        raise ArgumentError(f"{table} is a part of the table {identifiers.spelled(tuple(of))}; name that one")
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


def _opened(spark: SparkSession, table: str) -> Java:
    """Return Iceberg's table object, as the session remembers it."""
    quoted = identifiers.quoted(table)
    classic(spark)
    # a Python thread has a Java thread of its own, in which no session is active and no catalog known
    releases.activate(spark)
    spark3 = jvm(spark).org.apache.iceberg.spark.Spark3Util
    try:
        try:
            return spark3.loadIcebergTable(spark._jsparkSession, quoted)
        except Exception as error:
            if _UNREADABLE in causes(error):  # Iceberg has read that file 20 times, in a minute and a half
                raise
            # the session may remember a table that another process has renamed, dropped or made again
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
        raise ArgumentError(f"{table} is not an Iceberg table: {first_line(error)}") from error


@checked
def identified(spark: SparkSession, table: str) -> Java:
    """Return the catalog and the identifier that a table's name means to Spark; no table is loaded.

    Raises:
        ValueError: it is not a table's name, or the session is one of Spark Connect.
    """
    quoted = identifiers.quoted(table)
    classic(spark)
    spark3 = jvm(spark).org.apache.iceberg.spark.Spark3Util
    return spark3.catalogAndIdentifier(spark._jsparkSession, quoted)


@checked
def classic(spark: Any, name: str = "spark") -> None:
    """Refuse anything but a classic Spark session.

    Args:
        spark: what was given as a session.
        name: of the argument, for the message.

    Raises:
        ValueError: it is something else, of Spark Connect say; the message names its class.
    """
    if not hasattr(spark, "_jsparkSession"):
        actual = f"{type(spark).__module__}.{type(spark).__qualname__}".removeprefix("builtins.")
        raise ArgumentError(
            f"this needs a classic Spark session, and {name} is {actual}; "
            "Spark Connect gives no access to Iceberg's Java tables"
        )


@checked
def forget(spark: SparkSession, table: str) -> None:
    """Make the session forget what it remembers of a table."""
    identity = identified(spark, table)
    identity.catalog().invalidateTable(identity.identifier())


@checked
def snapshots_of(spark: SparkSession, loaded: Java) -> list[dict[str, Any]]:
    """Return the snapshots of a loaded table, a dict each, with the names of the table specification."""
    text = jvm(spark).org.apache.iceberg.TableMetadataParser.toJson(loaded.operations().current())
    return [{"summary": {}, **snapshot} for snapshot in json.loads(text).get("snapshots", [])]


@checked
def columns_of(loaded: Java, snapshot_id: int | None = None) -> dict[str, tuple[int, str]]:
    """Return {column name: (field id, type)} of a loaded table now, or as of a snapshot."""
    schema = loaded.schemas().get(loaded.snapshot(snapshot_id).schemaId()) if snapshot_id else loaded.schema()
    return {field.name(): (field.fieldId(), field.type().toString()) for field in schema.columns()}


@checked
def head(loaded: Java, branch: str = "main") -> int | None:
    """Return the snapshot id a branch of a loaded table points to; None when there is no such branch."""
    return ref.snapshotId() if (ref := loaded.refs().get(branch)) is not None else None


def tip(loaded: Java, branch: str = "main") -> int:
    """Return the snapshot id a branch of a loaded table points to.

    Raises:
        WorkbenchError: the table has no such branch; somebody else may have dropped it.
    """
    if (snapshot_id := head(loaded, branch)) is None:
        raise WorkbenchError(f"{loaded.name()} has no branch {branch}; it has {', '.join(sorted(loaded.refs()))}")
    return snapshot_id


@checked
def descends(spark: SparkSession, loaded: Java, snapshot_id: int, ancestor_id: int) -> bool:
    """Say whether a snapshot of a loaded table is, or descends from, the one of `ancestor_id`."""
    return jvm(spark).org.apache.iceberg.util.SnapshotUtil.isAncestorOf(loaded, snapshot_id, ancestor_id)
