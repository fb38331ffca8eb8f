"""The ledger: one row a run in the Iceberg table `workbench.runs` of the embedded lake, written by PyIceberg.

The run.json files are the truth: `sync` adds the rows that are missing. Rows are small and come one at a time, so
the table rewrites itself into one file now and then and drops what nothing refers to any more. What watched runs
did is in tables beside it (`measured`).
"""

import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from filelock import BaseFileLock, FileLock

from workbench._base import lake, settings
from workbench._base.errors import ArgumentError
from workbench_ops.run import record as records

if TYPE_CHECKING:
    import pyarrow as pa
    from pyiceberg.catalog import Catalog
    from pyiceberg.table import Table

TABLE = ("workbench", "runs")
TEXTS = ("run_id", "notebook", "status", "reason", "environment", "params_file", "notebook_sha256")
BLOCKS = ("parameters", "results", "measurements", "versions")  # as JSON
FILES_BEFORE_REWRITE = 40


def load() -> None:
    """Import what `sync` needs, which takes a second or two, while a notebook is still busy."""
    with suppress(ModuleNotFoundError):  # sync raises it
        import pyiceberg.catalog.sql
        import pyiceberg.io.pyarrow  # noqa: F401


def sync() -> int:
    """Add the finished runs that the ledger lacks; safe when many runners do it at once.

    Returns:
        How many rows were added.
    """
    finished = [record for record in records.every() if record.status != "running"]
    with turn():
        runs = table(TABLE, _schema())
        known = set(runs.scan(selected_fields=("run_id",)).to_arrow()["run_id"].to_pylist())
        missing = [_row(record) for record in finished if record.run_id not in known]
        if missing:
            append(runs, missing, _schema())
        if any(record.metrics for record in finished):
            from workbench_ops.run import measured  # here: it imports this module

            measured.add(finished)
    return len(missing)


def append(table: "Table", rows: Sequence[Mapping[str, Any]], schema: "pa.Schema") -> None:
    """Add rows to a table of the ledger in one commit, and keep it small; `turn` is held."""
    import pyarrow as pa

    table.append(pa.Table.from_pylist(list(rows), schema=schema))
    _keep_small(table)


def rows(
    *, notebook: str | None = None, status: str | None = None, since: str | None = None, run_id: str | None = None
) -> list[dict[str, Any]]:
    """Read the ledger.

    Args:
        notebook: only runs of this notebook.
        status: only runs that ended so.
        since: only runs started at or after this ISO date or time (UTC).
        run_id: only this run.

    Returns:
        One dict a run, newest first, with the columns of the table.

    Raises:
        ArgumentError: `since` is not an ISO date or time.
    """
    from pyiceberg.expressions import AlwaysTrue, And, BooleanExpression, EqualTo, GreaterThanOrEqual, Reference
    from pyiceberg.expressions.literals import literal

    condition: BooleanExpression = AlwaysTrue()
    for column, value in (("notebook", notebook), ("status", status), ("run_id", run_id)):
        if value is not None:
            condition = And(condition, EqualTo(term=Reference(column), value=literal(value)))
    if since is not None:
        begin = literal(_time(since).isoformat())
        condition = And(condition, GreaterThanOrEqual(term=Reference("started_at"), value=begin))
    with turn():  # a rewrite removes files, which nobody may be reading
        rows = table(TABLE, _schema()).scan(row_filter=condition).to_arrow().to_pylist()
    return sorted(rows, key=lambda row: (row["started_at"], row["run_id"]), reverse=True)


def _schema() -> "pa.Schema":
    import pyarrow as pa

    fields = [pa.field(name, pa.string()) for name in TEXTS]
    fields += [
        pa.field("started_at", pa.timestamp("us", tz="UTC")),
        pa.field("finished_at", pa.timestamp("us", tz="UTC")),
    ]
    fields += [pa.field("seconds", pa.float64()), pa.field("failing_cell", pa.int32())]
    fields += [pa.field(name, pa.string()) for name in BLOCKS]
    return pa.schema(fields)


def _row(record: records.Record) -> dict[str, Any]:
    cell = record.failing_cell
    row = {name: getattr(record, name) for name in (*TEXTS, "seconds")}
    row |= {"started_at": record.started, "finished_at": record.finished_at and _time(record.finished_at)}
    row |= {"failing_cell": cell and cell.number}
    return row | {name: json.dumps(getattr(record, name), sort_keys=True) for name in BLOCKS}


def _time(text: str) -> datetime:
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise ArgumentError(f"{text!r} is not an ISO date or time, such as 2026-01-31") from None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def turn() -> BaseFileLock:
    """Return the lock of the ledger: its tables are written by one process at a time."""
    folder = settings.home() / ".workbench"
    folder.mkdir(parents=True, exist_ok=True)
    return FileLock(folder / "ledger.lock", timeout=60)


def table(name: tuple[str, str], schema: "pa.Schema") -> "Table":
    """Return a table of the ledger, made where it is missing; columns that are new are added to it."""
    if (there := existing(name)) is not None:
        if {field.name for field in there.schema().fields} < set(schema.names):
            with there.update_schema() as update:
                update.union_by_name(schema)
        return there
    catalog = _catalog()
    catalog.create_namespace_if_not_exists(name[0])
    properties = {
        "write.metadata.delete-after-commit.enabled": "true",
        "write.metadata.previous-versions-max": "5",
    }
    return catalog.create_table_if_not_exists(name, schema=schema, properties=properties)


def existing(name: tuple[str, str]) -> "Table | None":
    """Return a table of the ledger, or None where it was never written."""
    from pyiceberg.exceptions import NoSuchTableError

    try:
        return _catalog().load_table(name)
    except NoSuchTableError:
        return None


def _catalog() -> "Catalog":
    from pyiceberg.catalog import load_catalog

    folder = settings.home() / ".workbench" / "lake"
    lake.make(folder)
    return load_catalog("lake", **lake.pyiceberg_properties(folder))


def _keep_small(table: "Table") -> None:
    """Rewrite the table into one file when it has many small ones, then drop what is no longer referred to."""
    if table.inspect.files().num_rows < FILES_BEFORE_REWRITE:
        return
    table.overwrite(table.scan().to_arrow())
    table.refresh()
    current = table.current_snapshot()
    old = [snapshot.snapshot_id for snapshot in table.snapshots() if snapshot != current]
    table.maintenance.expire_snapshots().by_ids(old).commit()
    table.refresh()
    _remove_unreferenced(table)


def _remove_unreferenced(table: "Table") -> None:
    """Delete files that neither the current metadata nor its snapshots name (PyIceberg's expiry leaves them)."""
    live = {table.metadata_location, *(entry.metadata_file for entry in table.metadata.metadata_log)}
    for snapshot in table.snapshots():
        live.add(snapshot.manifest_list)
        for manifest in snapshot.manifests(table.io):
            live.add(manifest.manifest_path)
            live |= {entry.data_file.file_path for entry in manifest.fetch_manifest_entry(table.io)}
    names = {Path(location.removeprefix("file://")).name for location in live}
    for path in Path(table.location().removeprefix("file://")).rglob("*"):
        if path.is_file() and path.name not in names and path.name != "version-hint.text":
            path.unlink()
