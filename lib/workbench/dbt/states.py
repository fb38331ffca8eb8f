"""States of Iceberg tables, each fixed by the metadata file that names its snapshot."""

import hashlib
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from workbench._base.errors import ArgumentError, MissingPackageError
from workbench.dbt import metrics

# types whose equal values have equal hashes in each engine: not floats, whose zeros and NaN differ in bits
HASHED = r"boolean|int|long|string|date|timestamp|timestamptz|decimal\(\d+, \d+\)"


class Unreadable(ArgumentError):
    """Metadata or manifests of a table cannot be read; that concerns its tests alone."""


@dataclass(frozen=True)
class File:
    """A data file of a table.

    Attributes:
        path: its location.
        entry: what manifests say of it, metrics included.
        deletes: whether delete files take rows from it.
    """

    path: str
    entry: Any = field(repr=False)
    deletes: bool


class State:
    """A table as one metadata file describes it; nothing of it changes afterwards.

    Attributes:
        name: (database, schema, name), as the project's tests write it.
        location: of its metadata file.
        storage: properties by which PyIceberg reads its files.
    """

    def __init__(self, name: tuple[str, ...], location: str, storage: Mapping[str, str] | None = None) -> None:
        self.name, self.location, self.storage = name, location, dict(storage or {})

    @cached_property
    def table(self) -> Any:
        """The table as PyIceberg reads it."""
        try:
            from pyiceberg.table import StaticTable
        except ModuleNotFoundError:
            raise MissingPackageError("PyIceberg is not installed; install iceberg-workbench[dbt]") from None
        try:
            return StaticTable.from_metadata(self.location, self.storage)
        except (OSError, ValueError) as error:
            raise Unreadable(f"the metadata of {'.'.join(self.name)} cannot be read: {error}") from None

    @cached_property
    def text(self) -> str:
        """Table, snapshot and schema, field ids included: equal texts have equal rows.

        A compaction changes no row, so the snapshot is the one before those that only replaced files.
        """
        metadata = self.table.metadata
        schema = self.table.schema().model_dump_json() + metadata.properties.get("schema.name-mapping.default", "")
        snapshot = self.table.current_snapshot()
        while snapshot is not None and snapshot.summary and snapshot.summary.operation.value == "replace":
            before = metadata.snapshot_by_id(snapshot.parent_snapshot_id) if snapshot.parent_snapshot_id else None
            if before is None:
                break
            snapshot = before
        at = snapshot.snapshot_id if snapshot is not None else None
        return f"{metadata.table_uuid}@{at}/{hashlib.sha256(schema.encode()).hexdigest()[:16]}"

    @cached_property
    def files(self) -> list[File] | None:
        """The data files, None where PyIceberg cannot plan them, such as at deletes by equality."""
        try:
            tasks = [*self.table.scan().plan_files()]
        except (ValueError, NotImplementedError):
            return None
        except OSError as error:
            raise Unreadable(f"the manifests of {'.'.join(self.name)} cannot be read: {error}") from None
        return [File(task.file.file_path, task.file, bool(task.delete_files)) for task in tasks]

    def fields(self, names: Iterable[str]) -> list[Any]:
        """Return the columns of the table among some names in lower case."""
        sought = set(names)
        return [column for column in self.table.schema().fields if column.name.lower() in sought]

    def hashable(self, names: Iterable[str]) -> bool:
        """Return whether some names, in lower case, are columns whose equal values have equal hashes."""
        sought = set(names)
        kinds = [str(column.field_type) for column in self.fields(sought)]
        return len(kinds) == len(sought) and all(re.fullmatch(HASHED, kind) for kind in kinds)

    def refuted(self, condition: Any, files: Iterable[File]) -> set[str]:
        """Return paths of files that hold no row which fulfils a condition, by metrics alone."""
        from pyiceberg.expressions.visitors import _InclusiveMetricsEvaluator

        refutable = metrics.refutable(condition, self.table.schema())
        if refutable is None:
            return set()
        expression, floats = refutable
        evaluator = _InclusiveMetricsEvaluator(self.table.schema(), expression)
        # without a count of NaN, PyIceberg says that no row is greater than 1; engines say that NaN is
        return {
            file.path
            for file in files
            if all((file.entry.nan_value_counts or {}).get(number) == 0 for number in floats)
            and not evaluator.eval(file.entry)
        }
