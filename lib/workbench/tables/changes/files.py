"""Which data files a range touched, and frames that read exactly those.

Iceberg's own compaction reads a set of file tasks through its *staged scan*; this module hands it other sets: the
files that a commit added, those that it removed, and those in which it deleted rows. No SQL reads these: a
snapshot's scan always reads the whole state, and the changelog scan refuses delete files.
"""

import itertools
import json
import uuid
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field

from workbench._base.typing import DataFrame, Java, SparkSession, jvm


@dataclass(frozen=True)
class Piece:
    """The rows of a data file that are alive under a given set of its deletes.

    Attributes:
        path: the data file.
        deletes: what identifies the deletes that apply to it.
        task: Iceberg's Java FileScanTask.
    """

    path: str
    deletes: tuple[str, ...]
    task: Java = field(repr=False, compare=False)


def live_rows(pieces: Iterable[Piece]) -> int | None:
    """Return how many rows of pieces are alive, or None where only reading can tell (no deletion vectors)."""
    count = 0
    for piece in pieces:
        count += piece.task.file().recordCount()
        for n in range(piece.task.deletes().size()):
            delete = piece.task.deletes().get(n)
            if delete.format().name() != "PUFFIN":
                return None
            count -= delete.recordCount()
    return count


@dataclass(frozen=True)
class Touched:
    """What a range did to data files; a step is its place in the range.

    Attributes:
        added: step to pieces in files that it added.
        removed: step to pieces in files that it removed, as they were before.
        deleted: for each file that stayed while rows in it were deleted: [(step, piece), …], first the state it
            came with (step -1), then each change.
        gone: paths of all files that are not there in the end, those that compaction took included.
    """

    added: dict[int, list[Piece]]
    removed: dict[int, list[Piece]]
    deleted: list[list[tuple[int, Piece]]]
    gone: set[str]


def touched(states: Sequence[Mapping[str, Piece]], changing: Set[int]) -> Touched:
    """Compare the files of successive states.

    Args:
        states: list of {path: Piece}, the state before and that after each step.
        changing: the steps that can change rows; what others (compaction) add and remove is not reported.
    """
    added: dict[int, list[Piece]] = {}
    removed: dict[int, list[Piece]] = {}
    open_lives: dict[str, list[tuple[int, Piece]]] = {}
    deleted, gone = [], set()
    for path, piece in states[0].items():
        open_lives[path] = [(-1, piece)]
    for step, (before, after) in enumerate(itertools.pairwise(states)):
        for path in before.keys() - after.keys():
            if step in changing:
                removed.setdefault(step, []).append(before[path])
            deleted.append(open_lives.pop(path))
            gone.add(path)
        for path, piece in after.items():
            if path not in before:
                open_lives[path] = [(-1, piece)]
                if step in changing:
                    added.setdefault(step, []).append(piece)
            elif piece.deletes != before[path].deletes:
                open_lives[path].append((step, piece))
    deleted += open_lives.values()
    return Touched(added, removed, [life for life in deleted if len(life) > 1], gone)


def state(table: Java, snapshot: Java) -> dict[str, Piece]:
    """Return {path: Piece} of a snapshot; of None, nothing. Opens its manifests, not its data."""
    if snapshot is None:
        return {}
    tasks = table.newScan().useSnapshot(snapshot.snapshotId()).planFiles()
    pieces, rows = {}, tasks.iterator()
    some = not snapshot.deleteManifests(table.io()).isEmpty()
    while rows.hasNext():
        task = rows.next()
        path = task.file().location()
        deletes = [task.deletes().get(n) for n in range(task.deletes().size())] if some else []
        pieces[path] = Piece(path, tuple(sorted(f"{d.location()}@{d.contentOffset()}" for d in deletes)), task)
    tasks.close()
    return pieces


class Reader:
    """Read sets of pieces; what was handed to Iceberg stays there until `release`.

    A frame keeps no hold on its task set, and Spark asks for it at each run: so whoever makes frames decides when
    they are no longer needed. Without `release` the lists of files stay in the driver until the session ends.
    """

    def __init__(self, spark: SparkSession, table: Java) -> None:
        self._spark, self._table, self._plain = spark, table, None
        self._staged: list[tuple[str, Java]] = []

    def rows(self, pieces: Iterable[Piece], *, lineage: bool = False) -> DataFrame:
        """Return a frame of the live rows of pieces: the table's columns as they are named now.

        Args:
            pieces: what to read.
            lineage: also `_row_id` and `_last_updated_sequence_number` (format 3).
        """
        return self._read(self._table if lineage else self._without_lineage(), pieces)

    def release(self) -> None:
        """Forget all sets; frames that read them can no longer run."""
        java = jvm(self._spark).org.apache.iceberg.spark
        for name, table in self._staged:
            self._tables().remove(name)
            java.ScanTaskSetManager.get().removeTasks(table, name)
        self._staged.clear()

    def _read(self, table: Java, pieces: Iterable[Piece]) -> DataFrame:
        java, name = jvm(self._spark), f"changes-{uuid.uuid4().hex}"
        tasks = java.java.util.ArrayList()
        for piece in pieces:
            tasks.add(piece.task)
        self._tables().add(name, table)
        java.org.apache.iceberg.spark.ScanTaskSetManager.get().stageTasks(table, name, tasks)
        self._staged.append((name, table))
        # Iceberg 1.10 takes the set that this option names, 1.11 that of the table's name
        return self._spark.read.format("iceberg").option("scan-task-set-id", name).load(name)

    def _tables(self) -> Java:
        """Return Iceberg's cache of tables by name.

        Its class has two methods `get`, and py4j looks at the one that the JVM happens to name first: it finds the
        static one in some sessions only.
        """
        gateway: Java = self._spark.sparkContext._gateway
        lang = jvm(self._spark).java.lang
        loader = self._table.getClass().getClassLoader()
        get = loader.loadClass("org.apache.iceberg.spark.SparkTableCache").getMethod(
            "get", gateway.new_array(lang.Class, 0)
        )
        return get.invoke(None, gateway.new_array(lang.Object, 0))

    def _without_lineage(self) -> Java:
        """Return the table as one of format 2: of format 3 the staged scan hides `_file`, `_pos`, `_deleted`."""
        if self._plain is None:
            java = jvm(self._spark).org.apache.iceberg
            if java.TableUtil.formatVersion(self._table) < 3:
                self._plain = self._table
                return self._plain
            metadata = self._table.operations().current()
            document = json.loads(java.TableMetadataParser.toJson(metadata))
            for name in ("refs", "snapshots", "snapshot-log", "metadata-log", "statistics", "next-row-id"):
                document.pop(name, None)
            document |= {"format-version": 2, "current-snapshot-id": -1, "partition-statistics": []}
            plain = java.TableMetadataParser.fromJson(metadata.metadataFileLocation(), json.dumps(document))
            self._plain = java.BaseTable(java.StaticTableOperations(plain, self._table.io()), self._table.name())
        return self._plain
