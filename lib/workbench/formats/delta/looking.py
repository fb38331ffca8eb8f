"""What a Delta table has that Iceberg has not, and what its files say of it."""

from collections.abc import Collection, Iterator, Mapping

from workbench.formats import columns, footers, inspection, partitions
from workbench.formats.delta import log, schemas
from workbench.formats.delta.log import State
from workbench.formats.footers import Footer
from workbench.formats.inspection import Inspection, Schema
from workbench.formats.storage import Folder

# features that change how a table is read; of the others a reader need not know
_READ = {
    "columnMapping", "deletionVectors", "timestampNtz", "typeWidening", "typeWidening-preview", "v2Checkpoint",
    "vacuumProtocolCheck",
}  # fmt: skip
_READER_VERSION = 3
_LEFT_BEHIND = {
    "generatedColumns": "generated columns: the values are there, new rows get none",
    "identityColumns": "identity columns: the values are there, new rows get none",
    "allowColumnDefaults": "defaults of columns",
    "checkConstraints": "CHECK constraints",
    "changeDataFeed": "the change data feed: Iceberg has create_changelog_view",
    "appendOnly": "the rule that rows are only added",
}
_SETTINGS = {"changeDataFeed": "delta.enableChangeDataFeed", "appendOnly": "delta.appendOnly"}


def inspected(folder: Folder, version: int | None = None, known: Collection[str] | None = None) -> Inspection:
    """Read log and footers of a Delta table.

    Args:
        folder: of the table.
        version: None for the newest.
        known: locations of files whose footers were read at an earlier version; None at a first one, when a table
            without files is an obstacle too.

    Raises:
        ValueError: it cannot be read.
    """
    state = log.read(folder, version)
    schema = schemas.of(state)
    seen = known or ()
    sizes = {name: file.size for name, file in state.files.items() if folder.location_of(name) not in seen}
    by_file = footers.read(folder, sizes, schema.fields["fields"], schema.names, cleaner="VACUUM")
    empty = inspection.empty(state) if known is None else ()
    obstacles = (
        *_protocol(state), *empty, *columns.names(schema.fields["fields"]), *schema.obstacles,
        *_rows(state, by_file), *footers.problems(by_file),
    )  # fmt: skip
    return Inspection(state, schema, by_file, obstacles, tuple(_notes(state, schema, by_file)))


def _protocol(state: State) -> Iterator[str]:
    """Yield what the protocol demands of a reader that this one does not know."""
    version = state.protocol["minReaderVersion"]
    if version > _READER_VERSION:
        yield f"the source asks for reader version {version} of Delta's protocol; known is up to {_READER_VERSION}"
    for feature in sorted(set(state.protocol.get("readerFeatures") or ()) - _READ):
        yield (
            f"the source has the table feature {feature}, which this move does not know: "
            f"ALTER TABLE … DROP FEATURE '{feature}' at the source, where Delta can drop it"
        )


def _rows(state: State, by_file: Mapping[str, Footer]) -> Iterator[str]:
    for name, footer in by_file.items():
        rows, vector = state.files[name].rows, state.files[name].vector
        if rows is not None and rows != footer.rows and not footer.problems:
            yield f"the file {name} has {footer.rows} rows, the log says {rows}: RESTORE the source to before that"
        if vector and vector.rows > footer.rows and not footer.problems:
            yield f"the deletion vector of {name} names {vector.rows} rows of {footer.rows}: the log is damaged"


def _notes(state: State, schema: Schema, by_file: Mapping[str, Footer]) -> Iterator[str]:
    """Yield what is different after a move."""
    if any(file.vector for file in state.files.values()):
        yield "rows are deleted by deletion vectors: the table gets Iceberg's format 3, which readers must know"
    yield from inspection.int96(by_file)
    moments = {
        schema.physical[field["name"]]
        for field in schema.fields["fields"]
        if field["type"] == "timestamptz" and field["name"] in state.metadata["partitionColumns"]
    }
    values = (file.partition.get(name) for file in state.files.values() for name in moments)
    if any(map(partitions.without_zone, values)):
        yield "values of timestamp partitions have no zone and are taken for UTC, the writer's may be another one"
    for feature, words in _LEFT_BEHIND.items():
        setting = _SETTINGS.get(feature)
        if feature in state.features and (not setting or state.configuration.get(setting) == "true"):
            yield f"the table does not get {words}"
