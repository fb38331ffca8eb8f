"""Files of a table, and what is in those that a statement wrote."""

from collections.abc import Mapping
from pathlib import Path
from urllib.parse import urlparse

from workbench._base.door import checked
from workbench._base.typing import SparkSession
from workbench_proofs.formats.tables import Table

_METADATA = frozenset({"metadata", "_delta_log", ".hoodie"})


@checked
def files(spark: SparkSession, table: Table) -> dict[str, int]:
    """Return the files of a table that are not metadata: path within its folder to bytes."""
    folder = table.folder
    if folder is None:
        entry = spark.sql(f"SELECT file FROM {table.name}.metadata_log_entries").first()
        folder = Path(urlparse(entry.file).path).parents[1]  # type: ignore[union-attr]
    below = {file.relative_to(folder): file for file in folder.rglob("*") if file.is_file()}
    return {
        str(name): file.stat().st_size
        for name, file in below.items()
        if name.parts[0] not in _METADATA and file.suffix != ".crc" and file.name != ".hoodie_partition_metadata"
    }


@checked
def written(before: Mapping[str, int], after: Mapping[str, int]) -> dict[str, list[int]]:
    """Sort what came between two answers of `files`: bytes of each new file with rows, changes or deletes.

    A log file of Hudi has rows as well as deletes, and counts as deletes.
    """
    sizes: dict[str, list[int]] = {"rows": [], "changes": [], "deletes": []}
    for name in after.keys() - before.keys():
        sizes[_content(name)].append(after[name])
    return {kind: sorted(lengths) for kind, lengths in sizes.items()}


def _content(name: str) -> str:
    if name.startswith("_change_data/") or name.endswith(".cdc"):
        return "changes"
    return "rows" if name.endswith(".parquet") else "deletes"
