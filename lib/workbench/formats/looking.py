"""What a folder holds: a Delta or Hudi table, and what keeps it from being moved."""

import os
from pathlib import Path

from workbench._base.door import checked
from workbench.formats import sources, storage
from workbench.formats.results import Look


@checked
def look(path: str | Path) -> Look:
    """Describe the table in a folder; log and Parquet footers are read, nothing is written and no Spark started.

    Args:
        path: of this machine, or a URI `s3://bucket/key`.

    Returns:
        Look. With no obstacles `move` can move it.

    Raises:
        ValueError: there is no such folder, no table of a known format in it, or it cannot be read.
    """
    folder = storage.opened(os.fspath(path))
    inspection = sources.of(folder).inspected(folder)
    state = inspection.state
    deleted = sum(file.vector.rows for file in state.files.values() if file.vector)
    return Look(
        state.kind,
        folder.location,
        state.version,
        state.features,
        state.partitions,
        len(state.files),
        sum(file.size for file in state.files.values()),
        sum(footer.rows for footer in inspection.footers.values()) - deleted,
        deleted,
        inspection.obstacles,
        inspection.notes,
    )
