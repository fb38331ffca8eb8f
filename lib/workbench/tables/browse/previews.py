"""A few rows of a table at a version, of its newest files; only as many manifests as these need are opened."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

from workbench._base.bounds import Ge, Le
from workbench._base.door import checked
from workbench._base.errors import ArgumentError
from workbench._base.typing import Judged
from workbench.tables.browse import opening
from workbench.tables.browse.opening import At, Catalog

if TYPE_CHECKING:
    from pyiceberg.table import FileScanTask, Table
else:
    FileScanTask = Table = Any

MOST = 1000  # rows
LARGEST = 512 * 1024**2  # bytes of a data file that is opened for a look: PyIceberg reads a file whole


@dataclass(frozen=True)
class Preview:
    """A few rows.

    Attributes:
        snapshot_id: of the version; None where the table has none yet.
        columns: names, in the order of the version's schema.
        rows: values as Arrow has them in Python, in the columns' order. Which rows of the table they are is by
            chance: the first of its newest files.
        complete: whether these are all rows of the table.
    """

    snapshot_id: int | None
    columns: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]
    complete: bool


@checked
def preview(
    catalog: Judged[Catalog],
    table: str,
    *,
    at: Judged[At] = None,
    limit: Annotated[int, Ge(1), Le(MOST)] = 20,
) -> Preview:
    """Read a few rows of a table at one of its versions; deleted rows are not among them.

    A list or map of structs that is null is shown empty: PyIceberg reads it so.

    Args:
        catalog: as of `tree`.
        table: `namespace.name`.
        at: as of `files`.
        limit: rows at most.

    Returns:
        Preview.

    Raises:
        ValueError: as `files`; or PyIceberg does not read such a table: deletes by equality, Avro files, a file
            of more than 512 MiB.
    """
    loaded = opening.table_of(catalog, table)
    id, schema = opening.snapshot_id(loaded, at), opening.schema_at(loaded, at)
    names = tuple(field.name for field in schema.fields)
    if id is None:
        return Preview(None, names, (), True)
    from pyiceberg.expressions import AlwaysTrue
    from pyiceberg.io.pyarrow import ArrowScan

    with opening.answered(f"snapshot {id} of {opening.name_of(loaded)}"):
        rows: list[tuple[Any, ...]] = []
        batches = _tasks(loaded, id)
        for tasks in batches:
            for task in tasks:
                _require_readable(task)
                scan = ArrowScan(loaded.metadata, loaded.io, schema, AlwaysTrue(), limit=limit + 1 - len(rows))
                read = scan.to_table([task])
                rows += zip(*(column.to_pylist() for column in read.columns), strict=True)
                if len(rows) > limit:
                    return Preview(id, names, tuple(rows[:limit]), False)
    return Preview(id, names, tuple(rows), True)


def _tasks(table: Table, snapshot_id: int) -> Any:
    """Yield what is to be read of each manifest of data, the newest first, with the deletes that belong to it."""
    from pyiceberg.manifest import ManifestContent
    from pyiceberg.table import ManifestGroupPlanner

    snapshot = next(each for each in table.metadata.snapshots if each.snapshot_id == snapshot_id)
    listed = snapshot.manifests(table.io)
    deletes = [manifest for manifest in listed if manifest.content == ManifestContent.DELETES]
    data = [manifest for manifest in listed if manifest.content == ManifestContent.DATA]
    planner = ManifestGroupPlanner(table.metadata, table.io)
    for manifest in sorted(data, key=lambda each: (-(each.sequence_number or 0), each.manifest_path)):
        try:
            yield planner.plan_files([manifest, *deletes])
        except ValueError as error:
            if "equality deletes" not in str(error):
                raise
            raise ArgumentError(
                f"{opening.name_of(table)} has deletes by equality, which PyIceberg does not read; ask Spark"
            ) from error


def _require_readable(task: FileScanTask) -> None:
    file = task.file
    if file.file_format.value not in ("PARQUET", "ORC"):
        raise ArgumentError(
            f"{file.file_path} is in the format {file.file_format.value}, which PyIceberg does not read"
        )
    if file.file_size_in_bytes > LARGEST:
        raise ArgumentError(
            f"{file.file_path} has {file.file_size_in_bytes:,} bytes, and a preview opens files of at most "
            f"{LARGEST:,}; ask Spark"
        )
