"""A moved table compared with its source, which is read by a reader that shares no code with the move."""

import importlib.util
import json
from collections.abc import Mapping
from typing import Any, Literal

from workbench._base import duck, identifiers
from workbench._base.door import checked
from workbench._base.errors import ArgumentError, MissingPackageError
from workbench._base.typing import Java, SparkSession, jvm
from workbench.formats import comparing, positions, sources, storage
from workbench.formats.comparing import Json, Sums
from workbench.formats.delta import log
from workbench.formats.hudi import reading as hudi
from workbench.formats.results import Kind, Verification
from workbench.tables import commits

Reader = Literal["deltalake", "duckdb", "hudi"]
_READERS: Mapping[Kind, tuple[Reader, ...]] = {"delta": ("deltalake", "duckdb"), "hudi": ("hudi",)}


@checked
def verify(spark: SparkSession, table: str, *, reader: Reader | None = None) -> Verification:
    """Compare the rows of a moved table with those of its source, at the version that the table follows.

    Both sides are read whole: the table by Spark, a Delta table by delta-rs or DuckDB and a Hudi table by hudi-rs,
    none of which reads logs, timelines or deletion vectors by code of the move. Rows that are several times there
    count as often. 0.0 and -0.0 are the same, and so are all NaNs.

    Args:
        spark: classic session; its workers have DuckDB.
        table: a table that `move` made.
        reader: of the source; None for deltalake or hudi, as the source is.

    Returns:
        Verification.

    Raises:
        TableNotFound: no such table.
        ValueError: it was not moved, or the reader cannot read such a source, or not at that version.
        MissingPackageError: the reader is not installed.
    """
    loaded = commits.load(spark, table)
    position = positions.of(spark, table, loaded)
    text = jvm(spark).org.apache.iceberg.SchemaParser.toJson(loaded.schema())
    fields = json.loads(text)["fields"]
    kind = sources.of(storage.opened(position.source)).kind
    reader = reader or _READERS[kind][0]
    if reader not in _READERS[kind]:
        raise ArgumentError(f"{reader} reads no {kind} tables; reader may be {' or '.join(_READERS[kind])}")
    source = _source(reader, position.source, position.version, fields)
    ours = comparing.of_frame(_at(spark, table, loaded), fields)
    differing = tuple(name for name, total in ours.columns.items() if source.columns[name] != total)
    equal = (ours.rows, ours.whole) == (source.rows, source.whole)
    return Verification(equal, position.version, reader, ours.rows, source.rows, differing)


def _at(spark: SparkSession, table: str, loaded: Java) -> Any:
    """Return a frame of exactly the snapshot that was looked at."""
    snapshot_id = loaded.currentSnapshot().snapshotId()
    return spark.sql(f"SELECT * FROM {identifiers.quoted(table)} VERSION AS OF {snapshot_id}")


def _source(reader: Reader, location: str, version: int, fields: list[Json]) -> Sums:
    read = {"deltalake": _by_deltalake, "duckdb": _by_duckdb, "hudi": hudi.summed}[reader]
    other = {"deltalake": "Take reader='duckdb', or where", "duckdb": "Take reader='deltalake', or where"}.get(
        reader, "Where"
    )
    try:
        return read(location, version, fields)
    except MissingPackageError:
        raise
    except Exception as error:
        why = str(error).strip().splitlines()[0][:300]
        raise ArgumentError(
            f"{reader} cannot read {location} at version {version}: {why}. {other} "
            "files of that version are gone follow to a newer one"
        ) from error


def _by_deltalake(location: str, version: int, fields: list[Json]) -> Sums:
    try:
        from deltalake import DeltaTable, QueryBuilder
    except ModuleNotFoundError as error:
        raise MissingPackageError(
            "deltalake is not installed: pip install 'iceberg-workbench[formats]'"
        ) from error
    import pyarrow as pa

    source = DeltaTable(_plain(location), version=version)
    batches = QueryBuilder().register("t", source).execute("SELECT * FROM t")
    connection = comparing.connected()
    connection.register("rows", pa.RecordBatchReader.from_stream(batches))
    return comparing.summed(fields, "rows", connection)


def _by_duckdb(location: str, version: int, fields: list[Json]) -> Sums:
    state = log.read(storage.opened(location), version)
    if state.mapping != "none" and state.metadata["partitionColumns"]:
        raise ArgumentError("DuckDB 1.5 reads NULL for partition columns whose names are mapped")
    connection = comparing.connected()
    connection.execute(f"LOAD {duck.literal(_extension())}")
    rows = f"delta_scan({duck.literal(_plain(location))}, version => {version})"
    return comparing.summed(fields, rows, connection)


def _extension() -> str:
    if importlib.util.find_spec("duckdb_extension_delta") is None:
        raise MissingPackageError(
            "duckdb-extension-delta is not installed: pip install 'iceberg-workbench[formats]'"
        )
    return duck.extension("delta", extra="formats")


def _plain(location: str) -> str:
    """Return a location as both readers take it: a path of this machine as a path."""
    return location.removeprefix("file://")
