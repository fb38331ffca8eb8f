"""Look for values in all that a table keeps: rows, old files, branches, bounds, paths, properties, statistics.

A table that was made anonymous by overwriting keeps the former rows in its older snapshots, whose files stay until
they expire; deleted rows stay in their files, and bounds of files that went in manifests, until these are written
anew.
"""

import gzip
import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import Annotated, Any
from urllib.parse import unquote

from workbench._base import identifiers
from workbench._base.bounds import Ge
from workbench._base.door import checked
from workbench._base.errors import ArgumentError
from workbench._base.typing import DataFrame, Judged, SparkSession
from workbench.anonymity import bounds, statistics
from workbench.anonymity.results import Leak, Leaks
from workbench.anonymity.values import Sought, decoded, leaves
from workbench.tables import commits
from workbench.tables.maintenance import inventory, metadata, storage

_ADDED, _DELETED = 1, 2  # statuses of entries in manifests
_DATA = 0  # content of a data file; else of one of deletes
_OF_FILE = {  # columns of a manifest's entry, and what they are called here
    "content": "content", "file_path": "file", "file_format": "form",
    "lower_bounds": "lower", "upper_bounds": "upper",
}  # fmt: skip
_BATCH = 65_536  # rows that are looked through at once
Values = Mapping[str, Iterable[object]]


@checked
def leaks(
    spark: SparkSession,
    table: str,
    *,
    values: Judged[DataFrame | Values],
    tables: tuple[str, ...] | list[str] = (),
    least: Annotated[int, Ge(1)] = 5,
) -> Leaks:
    """Look for values that identify people in all that a table keeps, and say where they are, never which.

    These are looked through: the data and delete files of all snapshots, branches and tags, deleted rows included;
    bounds and partitions in manifests; file paths; properties, snapshot summaries and older metadata files;
    statistics; files below the table's location that no snapshot knows. Files are read on the driver, one after
    another.

    Args:
        spark: classic session whose catalog holds the table.
        table: its name.
        values: what is looked for, by kind: {"mail": […], "person_id": […]}, or a DataFrame whose columns are the
            kinds, such as `spark.table("raw.people").select("mail", "person_id")`. They are held in memory.
        tables: more tables that are looked through, such as those in which tests keep their failing rows.
        least: characters that a value must have, because shorter ones are everywhere by chance.

    Returns:
        Leaks. Letters' case and blanks around values do not count; values are found as whole texts and as words of
        texts, not inside of words.

    Raises:
        TableNotFound: no such table.
        ValueError: there is nothing to look for, a value is too short, or a table's files cannot be reached here.
    """
    commits.classic(spark)
    sought = Sought(_by_kind(values), least=least)
    tally, unread, files, snapshots = _Tally(), [], 0, 0
    for name in (table, *tables):
        audit = _Audit(spark, name, sought, tally)
        audit.run()
        unread += audit.unread
        files += audit.files
        snapshots += audit.snapshots
    return Leaks(tally.leaks(sought), tuple(unread), files, snapshots, len(sought.texts))


def _by_kind(values: Any) -> Values:
    if isinstance(values, Mapping):
        if wrong := next((kind for kind, given in values.items() if isinstance(given, str | bytes)), None):
            raise ArgumentError(f"values of {wrong} must be a list, found one text")
        return values
    if not hasattr(values, "toPandas"):
        raise ArgumentError(f"values must be lists by kind or a DataFrame, found {type(values).__name__}")
    rows = values.distinct().collect()
    return {name: [row[number] for row in rows] for number, name in enumerate(values.columns)}


class _Tally:
    """Which values were found where, added up over files."""

    def __init__(self) -> None:
        self.values: dict[tuple[str, str, str | None], set[int]] = defaultdict(set)
        self.rows: dict[tuple[str, str, str | None], int | None] = {}
        self.files: dict[tuple[str, str, str | None], str] = {}
        self.rows_of_kind: dict[tuple[tuple[str, str, str | None], int], int] = defaultdict(int)

    def add(self, table: str, place: str, column: str | None, values: Iterable[int], file: str) -> None:
        """Add values that were found outside of rows."""
        key = (table, place, column)
        if numbers := set(values):
            self.values[key] |= numbers
            self.files.setdefault(key, file.rstrip("/").rpartition("/")[2])
            self.rows.setdefault(key, None)

    def add_rows(
        self, table: str, place: str, column: str, rows: Any, values: Any, file: str, sought: Sought
    ) -> None:
        """Add values that were found in rows: their numbers, and the number of the value in each."""
        import numpy as np

        key = (table, place, column)
        self.add(table, place, column, values.tolist(), file)
        if len(rows):
            self.rows[key] = 0
            for number in range(len(sought.kinds)):
                self.rows_of_kind[key, number] += len(np.unique(rows[sought.kind_of[values] == number]))

    def leaks(self, sought: Sought) -> tuple[Leak, ...]:
        """Return a leak for each place, column and kind, in their order."""
        every = []
        for (table, place, column), values in self.values.items():
            key = (table, place, column)
            for number, kind in enumerate(sought.kinds):
                count = sum(sought.kind_of[value] == number for value in values)
                if count:
                    rows = None if self.rows[key] is None else self.rows_of_kind[key, number]
                    every.append(Leak(table, place, column, kind, int(count), rows, self.files[key]))
        return tuple(sorted(every, key=lambda leak: (leak.table, leak.place, leak.column or "", leak.kind)))


class _Audit:
    """One table, looked through."""

    def __init__(self, spark: SparkSession, table: str, sought: Sought, tally: _Tally) -> None:
        self.spark, self.table, self.sought, self.tally = spark, table, sought, tally
        self.loaded = metadata.still(spark, commits.load(spark, table))
        self.fs, self.path = storage.opened(self.loaded)
        self.unread: list[str] = []
        self.files = 0
        self.snapshots = len(list(self.loaded.snapshots()))
        self.added: dict[str, int | None] = {}  # by file
        self.deletes = False  # whether a file of deletes is there
        self.referenced: set[str] = (
            set()
        )  # files that a snapshot reads; of others a manifest still says that they went

    def run(self) -> None:
        """Look through the table."""
        content = self._manifests()
        live = self._live()
        for file, (kind, form) in content.items():
            if form == "PUFFIN":  # positions of deleted rows, and no value
                continue
            self._rows(file, form, self._places(file, kind, live))
        self._metadata()
        self._orphans()
        for column, numbers, file in statistics.known(self.spark, self.loaded, self.sought):
            self.tally.add(self.table, "statistics", column, numbers, file)

    def _manifests(self) -> dict[str, tuple[int, str]]:
        """Look through the entries of all manifests; returns {file: (content, format)}."""
        names = bounds.columns(self.loaded)
        entries = metadata.frame(self.spark, self.loaded, "ALL_ENTRIES")
        data_file: Any = entries.schema["data_file"].dataType
        has_partition = "partition" in data_file.fieldNames()
        partition = "to_json(data_file.partition)" if has_partition else "CAST(NULL AS STRING)"
        of_file = [f"data_file.{column} AS {name}" for column, name in _OF_FILE.items()]
        columns = entries.selectExpr("status", "snapshot_id", *of_file, f"{partition} AS partition")
        content: dict[str, tuple[int, str]] = {}
        for row in columns.toLocalIterator():
            if row.status < _DELETED:
                self.referenced.add(row.file)
            if row.status == _ADDED or row.file not in self.added:
                self.added[row.file] = row.snapshot_id
            if row.file in content:
                continue
            content[row.file] = (row.content, row.form.upper())
            self.deletes = self.deletes or row.content != _DATA
            for column, bound in bounds.texts(names, row.lower, row.upper):
                number = self.sought.in_bound(bound)
                self.tally.add(self.table, "bounds", column, () if number is None else [number], row.file)
            texts = [unquote(part) for part in row.file.split("/")]
            texts += [str(value) for value in json.loads(row.partition or "{}").values()]
            self.tally.add(self.table, "partition", None, self.sought.in_texts(texts), row.file)
        return content

    def _live(self) -> dict[str, set[str]]:
        """Return the files of each branch and tag."""
        live = {}
        name = identifiers.quoted(self.table)
        for ref, reference in metadata.refs(self.loaded).items():
            rows = self.spark.sql(
                f"SELECT file_path FROM {name}.files VERSION AS OF {reference.snapshotId()}"
            ).collect()
            live[ref] = {row.file_path for row in rows}
        return live

    def _places(self, file: str, kind: int, live: Mapping[str, set[str]]) -> list[str]:
        """Return the places that a file belongs to."""
        if kind != _DATA:
            return ["delete file"]
        refs = metadata.refs(self.loaded)
        places = ["rows" if ref == "main" else f"{'branch' if refs[ref].isBranch() else 'tag'} {ref}"
                  for ref in sorted(live) if file in live[ref]]  # fmt: skip
        return places or [f"older snapshot {self.added[file]}"]

    def _rows(self, file: str, form: str, places: list[str]) -> None:
        """Look through the rows of a data or delete file."""
        import numpy as np

        hits = defaultdict(list)
        try:
            for column, rows, values in _hits(self.fs, self.path(file), form, self.sought):
                hits[column].append((rows, values))
        except FileNotFoundError:
            if file in self.referenced:
                self.unread.append(f"{file.rpartition('/')[2]} is gone, though a snapshot reads it")
            return
        except (OSError, ValueError) as error:
            self.unread.append(f"{file.rpartition('/')[2]} cannot be read: {str(error).splitlines()[0]}")
            return
        self.files += 1
        positions = self._positions(file) if hits and self.deletes and "rows" in places else None
        for column, parts in hits.items():
            rows, values = (np.concatenate(list(part)) for part in zip(*parts, strict=True))
            for place in places:
                visible = np.ones(len(rows), dtype=bool)
                if positions is not None and place == "rows":
                    visible = np.isin(rows, positions)
                for name, mask in ((place, visible), ("deleted rows", ~visible)):
                    self.tally.add_rows(self.table, name, column, rows[mask], values[mask], file, self.sought)

    def _positions(self, file: str) -> Any:
        """Return the positions of a file's rows that a reader of main gets."""
        name = identifiers.quoted(self.table)
        snapshot_id = self.loaded.currentSnapshot().snapshotId()
        read = self.spark.sql(
            f"SELECT _pos FROM {name} VERSION AS OF {snapshot_id} WHERE _file = :file", args={"file": file}
        )
        positions: Any = read.toPandas()
        return positions["_pos"].to_numpy()

    def _metadata(self) -> None:
        """Look through the metadata files, the present one and those before."""
        log = metadata.frame(self.spark, self.loaded, "METADATA_LOG_ENTRIES").select("file").collect()
        now = self.loaded.operations().current().metadataFileLocation()
        for file in dict.fromkeys([now, *(row.file for row in log)]):
            document = self._document(file)
            if document is None:
                continue
            self.files += 1
            summaries = [snapshot.pop("summary", {}) for snapshot in document.get("snapshots", [])]
            old = "" if file == now else "older metadata"
            for place, part in (("snapshot summary", summaries), ("properties", document)):
                self.tally.add(self.table, old or place, None, self.sought.in_texts(_texts(part)), file)

    def _document(self, file: str) -> Any:
        try:
            with self.fs.open_input_file(self.path(file)) as source:
                content = source.read()
        except FileNotFoundError:  # Iceberg deletes older ones, and their names stay
            return None
        return json.loads(gzip.decompress(content) if file.endswith(".gz.metadata.json") else content)

    def _orphans(self) -> None:
        """Look through the files below the table that no snapshot knows."""
        for file in inventory(self.spark, self.table).unknown:
            if file.endswith((".parquet", ".orc")):
                self._rows(file, file.rpartition(".")[2].upper(), ["orphan file"])
                continue
            try:
                texts = list(self._texts_of(file))
            except (OSError, ValueError) as error:
                self.unread.append(f"{file.rpartition('/')[2]} cannot be read: {str(error).splitlines()[0]}")
                continue
            self.files += 1
            known = [number for text in texts if (number := self.sought.in_bound(text)) is not None]
            self.tally.add(self.table, "orphan file", None, {*known, *self.sought.in_texts(texts)}, file)

    def _texts_of(self, file: str) -> Iterator[str]:
        """Yield the texts in a file that is not one of rows; of a manifest those of its records."""
        with self.fs.open_input_file(self.path(file)) as source:
            if not file.endswith(".avro"):
                yield source.read().decode(errors="replace")
                return
            try:
                import fastavro
            except ModuleNotFoundError:
                raise ValueError("fastavro is not installed: pip install fastavro") from None
            for record in fastavro.reader(source):
                yield from _texts(record)


def _hits(files: Any, path: str, form: str, sought: Sought) -> Iterator[tuple[str, Any, Any]]:
    """Yield (column, numbers of rows, numbers of values) of what a file holds, a part after another."""
    import numpy as np

    start = 0
    for batch in _batches(files, path, form):
        numbers = np.arange(start, start + batch.num_rows, dtype="int64")
        start += batch.num_rows
        for name, column in zip(batch.schema.names, batch.columns, strict=True):
            for leaf, array, rows in leaves(name, column, numbers):
                hits = sought.in_column(array)
                if len(hits.rows):
                    yield leaf, rows[hits.rows], hits.values


def _batches(files: Any, path: str, form: str) -> Iterator[Any]:
    if form == "PARQUET":
        import pyarrow.parquet as pq

        with files.open_input_file(path) as source:
            yield from pq.ParquetFile(source).iter_batches(batch_size=_BATCH)
    elif form == "ORC":
        from pyarrow import orc

        with files.open_input_file(path) as source:
            file = orc.ORCFile(source)
            yield from (file.read_stripe(number) for number in range(file.nstripes))
    else:
        raise ValueError(f"files of {form} are not looked through")


def _texts(value: Any) -> Iterator[str]:
    """Yield all texts and numbers in a document of JSON or a record of Avro, the keys too."""
    if isinstance(value, Mapping):
        for key, part in value.items():
            yield str(key)
            yield from _texts(part)
    elif isinstance(value, list):
        for part in value:
            yield from _texts(part)
    elif isinstance(value, bytes):
        yield decoded(value) or ""
    elif value is not None:
        yield str(value)
