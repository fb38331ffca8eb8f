"""What a folder holds: a Delta, Hudi or Iceberg table, and what keeps it from being moved."""

import os
from pathlib import Path

from workbench._base.door import checked
from workbench._base.errors import ArgumentError
from workbench.formats import storage
from workbench.formats.delta import log
from workbench.formats.delta import looking as delta
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
    if log.is_delta(folder):
        return delta.look(folder)
    raise ArgumentError(
        f"{path} holds no table of a known format: expected a folder with {log.LOG}; "
        f"it has {', '.join(sorted(folder.sizes(''))[:3]) or 'no files'}"
    )
