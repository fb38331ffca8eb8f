"""What a Hudi table has that Iceberg has not, and what its files say of it."""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace

from workbench.formats import columns, footers, inspection
from workbench.formats.footers import Footer
from workbench.formats.hudi import schemas, slices
from workbench.formats.hudi import timeline as timelines
from workbench.formats.hudi.timeline import Timeline
from workbench.formats.inspection import File, Inspection, Json, State
from workbench.formats.storage import Folder

_DROPPED = "hoodie.datasource.write.drop.partition.columns"
_LEFT_BEHIND = {
    "hoodie.table.recordkey.fields": "the rule that a record key is there once: MERGE INTO keeps it",
    "hoodie.table.cdc.enabled": "the change log: Iceberg has create_changelog_view",
}
_PARTITION_TYPES = ("int", "long", "boolean", "string", "date", "timestamp", "timestamptz")


def inspected(folder: Folder, version: int | None = None, known: Collection[str] | None = None) -> Inspection:
    """Read timeline, folder and footers of a Hudi table.

    Args:
        folder: of the table.
        version: None for the newest.
        known: locations of files whose footers were read at an earlier version; None at a first one, when a table
            without files is an obstacle too.

    Raises:
        ValueError: it cannot be read.
        MissingPackageError: fastavro is not installed, and the timeline is written in Avro.
    """
    timeline = timelines.read(folder, version)
    live = slices.of(timeline)
    avro = schemas.avro(timeline)
    parquet = {name: file for name, file in live.files.items() if name.endswith(".parquet")}
    sizes = {name: file.size for name, file in parquet.items() if folder.location_of(name) not in (known or ())}
    meta = _meta(timeline)
    schema = schemas.of(timeline, avro, meta)
    fields, partition_columns = schema.fields["fields"], _partition_columns(timeline)
    by_file = footers.read(folder, sizes, fields, schema.names, partition_columns, cleaner="the cleaner")
    kinds = {field["name"]: field["type"] for field in fields}
    # a file without rows is not named: it has no value for a partition, and nothing to read
    empty = {name for name, footer in by_file.items() if not footer.rows and not footer.problems}
    full = {name: file for name, file in live.files.items() if name not in empty}
    files = {name: _valued(file, by_file.get(name), partition_columns, kinds) for name, file in full.items()}
    varying = frozenset(name for file in files.values() for name in file.varying)
    constant = tuple(name for name in partition_columns if name in kinds and name not in varying)
    state = State(
        kind="hudi",
        folder=folder,
        version=timeline.version,
        files=files,
        partitions=constant,
        features=_features(timeline),
        vectors=False,
    )
    without = inspection.empty(state) if known is None else ()
    obstacles = (
        *_settings(timeline), *live.obstacles, *without, *columns.names(fields), *schema.obstacles,
        *_defaults(avro, by_file), *footers.problems(by_file),
    )  # fmt: skip
    return Inspection(
        state, schema, by_file, obstacles, tuple(_notes(timeline, partition_columns, constant, meta, by_file))
    )


def _meta(timeline: Timeline) -> tuple[str, ...]:
    """Return which of Hudi's own columns a table has; without hoodie.populate.meta.fields they hold ''."""
    operation = timeline.properties.get("hoodie.allow.operation.metadata.field", "false").lower() == "true"
    return schemas.META if operation else schemas.META[:-1]


def _partition_columns(timeline: Timeline) -> tuple[str, ...]:
    """Return the columns by which folders are named; with a custom key generator each has its kind behind it."""
    fields = timeline.properties.get("hoodie.table.partition.fields", "")
    return tuple(name.partition(":")[0].strip() for name in fields.split(",") if name.strip())


def _valued(
    file: File, footer: Footer | None, partition_columns: Collection[str], kinds: Mapping[str, object]
) -> File:
    """Return a file with its values of the partition columns, as they stand in it and not in its folder's name."""
    if footer is None:
        return file
    values = {
        name: footer.values[name]
        for name in partition_columns
        if _usable(kinds.get(name)) and name in footer.values
    }
    return replace(file, partition=values, varying=frozenset(partition_columns) - values.keys())


def _usable(kind: object) -> bool:
    return isinstance(kind, str) and (kind in _PARTITION_TYPES or kind.startswith("decimal"))


def _features(timeline: Timeline) -> tuple[str, ...]:
    properties = timeline.properties
    kind = properties.get("hoodie.table.type", "COPY_ON_WRITE").lower().replace("_", "-")
    return (kind, f"table version {timeline.table_version}")


def _settings(timeline: Timeline) -> Iterator[str]:
    """Yield what a table's settings say that cannot be moved."""
    properties = timeline.properties
    if properties.get(_DROPPED, "false").lower() == "true":
        yield (
            f"the partition columns are not in the files ({_DROPPED}), and names of folders alone do not say "
            "their values: write the table anew without it"
        )
    if (form := properties.get("hoodie.table.base.file.format", "PARQUET").upper()) != "PARQUET":
        yield f"the source's files are {form}, expected PARQUET: rewrite them at the source"


def _defaults(avro: Json, by_file: Mapping[str, Footer]) -> Iterator[str]:
    """Yield which columns have a default that some files lack: Iceberg reads NULL there."""
    for field in avro["fields"]:
        if field.get("default") is not None:
            lacking = [
                name for name, footer in by_file.items() if footer.columns and field["name"] not in footer.columns
            ]
            if lacking:
                yield (
                    f"the column {field['name']} has the default {field['default']!r} and is not in "
                    f"{len(lacking)} files, {lacking[0]} first, where Iceberg would read NULL: rewrite them"
                )


def _notes(
    timeline: Timeline,
    partition_columns: Collection[str],
    constant: Collection[str],
    meta: Collection[str],
    by_file: Mapping[str, Footer],
) -> Iterator[str]:
    """Yield what is different after a move."""
    if meta:
        yield "Hudi's own columns (_hoodie_commit_time, …) stay columns: they lie in the files"
    if lost := [name for name in partition_columns if name not in constant]:
        yield (
            f"the table is not partitioned by {', '.join(lost)}: a file has several values of it, or its "
            "statistics do not say"
        )
    yield from inspection.int96(by_file)
    for setting, words in _LEFT_BEHIND.items():
        if timeline.properties.get(setting, "false").lower() not in ("", "false"):
            yield f"the table does not get {words}"
