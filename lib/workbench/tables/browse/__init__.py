"""Look at Iceberg tables without Spark: what is there, what changed, which files, a few rows; all as plain values.

It takes the user's own catalog: PyIceberg's, or its properties as a dict with `name`. Metadata come from PyIceberg
and manifests from fastavro; those that were read are kept. Nothing here starts a JVM or writes.

opening    a catalog or a table opened, or a sentence that says why it cannot be
manifests  the files that a snapshot's manifests list
looking    what a catalog holds and what a table is: tree, head, snapshots, schemas
filing     the files of a snapshot, and what differs between two
previews   a few rows of a snapshot
"""

from workbench.tables.browse.filing import Difference, File, difference, files
from workbench.tables.browse.looking import (
    Column,
    Head,
    Namespace,
    Ref,
    Schema,
    Snapshot,
    head,
    schemas,
    snapshots,
    tree,
)  # fmt: skip
from workbench.tables.browse.previews import Preview, preview

__all__ = [
    "Column", "Difference", "File", "Head", "Namespace", "Preview", "Ref", "Schema", "Snapshot", "difference",
    "files", "head", "preview", "schemas", "snapshots", "tree",
]  # fmt: skip
