"""What a move has to know of a source, whatever its format: its files at a version, its schema, its obstacles."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from workbench.formats.footers import Footer
from workbench.formats.results import Kind
from workbench.formats.storage import Folder

Json = dict[str, Any]


@dataclass(frozen=True)
class Vector:
    """Where a deletion vector of Delta lies.

    Attributes:
        storage: `u` in a file that is named by an id, `p` in a file by its URI, `i` in the log itself.
        place: that id, URI or, in base 85, the bytes.
        offset: of it in the file.
        size: bytes of it.
        rows: deleted rows.
    """

    storage: str
    place: str
    offset: int
    size: int
    rows: int


@dataclass(frozen=True)
class File:
    """A live data file.

    Attributes:
        name: from the table's folder on, or a URI; as it lies there.
        size: bytes.
        partition: {physical name of a partition column: its text, None for NULL}.
        vector: of its deleted rows; None without.
        rows: physical rows as the log's statistics have them; None without.
        varying: names of partition columns that have several values in the file.
    """

    name: str
    size: int
    partition: Mapping[str, str | None]
    vector: Vector | None = None
    rows: int | None = None
    varying: frozenset[str] = frozenset()


@dataclass(frozen=True)
class State:
    """A source at a version.

    Attributes:
        kind: delta or hudi.
        folder: of the table.
        version: number that grows with each commit.
        files: {name: File}.
        partitions: names of the partition columns.
        features: what the source's protocol lists, sorted.
        vectors: whether deletion vectors hide rows, or new ones may.
    """

    kind: Kind
    folder: Folder
    version: int
    files: Mapping[str, File]
    partitions: tuple[str, ...]
    features: tuple[str, ...]
    vectors: bool


@dataclass(frozen=True)
class Schema:
    """A schema in Iceberg's terms.

    Attributes:
        fields: JSON of Iceberg's schema.
        last_id: the highest field id.
        names: JSON of the name mapping.
        physical: {name of a top column: its name in files and in partition values}.
        by_id: whether files are read by their own field ids.
        obstacles: sentences.
        digest: of what the source's log says of columns; another one is another schema.
    """

    fields: Json
    last_id: int
    names: list[Json]
    physical: Mapping[str, str]
    by_id: bool
    obstacles: tuple[str, ...]
    digest: str


@dataclass(frozen=True)
class Inspection:
    """All that a move has to know of a source.

    Attributes:
        state: of the version.
        schema: in Iceberg's terms.
        footers: {name of a file: its footer}.
        obstacles: sentences; with one nothing is moved.
        notes: sentences of what is different after it.
    """

    state: State
    schema: Schema
    footers: Mapping[str, Footer] = field(repr=False)
    obstacles: tuple[str, ...]
    notes: tuple[str, ...]


def empty(state: State) -> Iterator[str]:
    """Yield the obstacle of a source without files."""
    if not state.files:
        yield f"the source is empty at version {state.version}: CREATE TABLE makes an empty Iceberg table"


def int96(by_file: Mapping[str, Footer]) -> Iterator[str]:
    """Yield the note on moments in Spark's old form."""
    if any(footer.int96 for footer in by_file.values()):
        yield "moments are stored as INT96: Spark and DuckDB read them, PyIceberg does not"
