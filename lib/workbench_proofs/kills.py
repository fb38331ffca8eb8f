"""Stopping an ingest from outside in a chosen window of its work, with the evidence of where it was.

Nothing in the ingest takes part: what it is doing is seen in the catalog, in the table's folder, in the stream's
server. The process is stopped (SIGSTOP), looked at again, and killed (SIGKILL) only if it still is in the
window; a kill without that evidence does not count.
"""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlparse

from workbench._base import identifiers
from workbench._base.errors import ArgumentError
from workbench.streams import positions

WINDOWS = {
    "reading": "records of a batch are being read, and neither table knows of it",
    "dead_lettered": "the batch's dead letters are committed, and of its rows not even a file is written",
    "writing": "files of rows are written, and no snapshot has them",
    "staged": "rows and positions are a snapshot on the run's branch, and main is not",
    "published": "main has rows and positions, and the next batch has not begun",
}
APPENDED = "appended"  # of the plain variant: the table has the rows, Spark's checkpoint does not say so


@dataclass(frozen=True)
class Seen:
    """What can be seen from outside.

    Attributes:
        pointer: metadata file that the catalog names for the table.
        batch: id of the newest batch on main; None without one.
        staged: id of a batch that is a snapshot on a branch of an ingest and not on main; else None.
        dead: id of the dead-letter table's newest batch; None without one.
        known: ids of all batches in the table's snapshots.
        snapshots: how many there are on main or elsewhere.
        files: data files in the table's folder.
        reads: calls of GetRecords that the stream's server has had.
        planned: number of the last micro-batch in Spark's checkpoint (plain variant only).
        finished: of the last one that Spark's checkpoint says is done.
    """

    pointer: str
    batch: str | None
    staged: str | None
    dead: str | None
    known: frozenset[str] = field(repr=False)
    snapshots: int
    files: int
    reads: int | None
    planned: int = -1
    finished: int = -1


@dataclass(frozen=True)
class Killed:
    """A kill that counts.

    Attributes:
        window: name in WINDOWS, or APPENDED.
        before: what was seen when the window was found.
        stopped: the same while the process stood still, right before the kill.
        seconds: from the start of the watch.
    """

    window: str
    before: Seen
    stopped: Seen
    seconds: float


@dataclass(frozen=True)
class Watch:
    """Where to look.

    Attributes:
        catalog: PyIceberg catalog.
        table: `namespace.name`; its files are on this machine or where PyArrow can list them, as S3.
        dead_letters: likewise, or None.
        reads: function without arguments that returns how many GetRecords calls there were; needed for `reading`.
        checkpoint: Spark's checkpoint folder, of the plain variant.
    """

    catalog: Any
    table: str
    dead_letters: str | None = None
    reads: Callable[[], int] | None = None
    checkpoint: str | None = None

    def look(self) -> Seen:
        """Return the Seen of this moment."""
        # each before what it leads to: a batch that has finished has its rows in the table, and a file that was
        # there may be committed by then; not the reverse
        finished = self._last("commits")
        reads = self.reads() if self.reads else None
        files = self._files()
        meta, pointer = self._metadata(self.table)
        batches = {snapshot.snapshot_id: _property(snapshot, positions.BATCH) for snapshot in meta.snapshots}
        heads = {name: ref.snapshot_id for name, ref in meta.refs.items() if ref.snapshot_ref_type == "branch"}
        main = heads.pop("main", None)
        staged = [batches[head] for name, head in heads.items() if name.startswith("streams_") and head != main]
        planned = self._last("offsets")
        return Seen(
            pointer=pointer,
            batch=batches.get(main),
            staged=next((batch for batch in staged if batch and batch != batches.get(main)), None),
            dead=self._dead(),
            known=frozenset(filter(None, batches.values())),
            snapshots=len(batches),
            files=files,
            reads=reads,
            planned=planned,
            finished=finished,
        )

    def _metadata(self, table: str) -> tuple[Any, str]:
        """Return a table's metadata as PyIceberg has it, and the location of its file."""
        loaded = self.catalog.load_table(identifiers.parts(table))
        return loaded.metadata, loaded.metadata_location

    def _dead(self) -> str | None:
        if self.dead_letters is None:
            return None
        name = identifiers.parts(self.dead_letters)
        if not self.catalog.table_exists(name):
            return None
        snapshot = self.catalog.load_table(name).current_snapshot()
        return None if snapshot is None else _property(snapshot, positions.BATCH)

    def _files(self) -> int:
        return sum(name.endswith((".parquet", ".orc", ".avro")) for name in self._listing())

    @cached_property
    def _listing(self) -> Callable[[], list[str]]:  # once: in S3 it is a connection
        return _lister(self.catalog.load_table(identifiers.parts(self.table)))

    def _last(self, kind: str) -> int:
        if self.checkpoint is None:
            return -1
        folder = Path(self.checkpoint) / kind
        return max((int(file.name) for file in folder.glob("*") if file.name.isdigit()), default=-1)


def _lister(table: Any) -> Callable[[], list[str]]:
    """Return the function that names the files below a table's data folder; an object is one when it is whole."""
    address = urlparse(table.location())
    if address.scheme in ("", "file"):
        folder = Path(unquote(address.path)) / "data"
        return lambda: [file.name for file in folder.rglob("*")]
    from pyarrow.fs import FileSelector

    store = table.io.fs_by_scheme(address.scheme, address.netloc)
    below = FileSelector(f"{address.netloc}{address.path}/data", allow_not_found=True, recursive=True)
    return lambda: [file.base_name for file in store.get_file_info(below)]


def window(seen: Seen, since: Seen) -> str | None:
    """Return the window an ingest is in; None when it cannot be known.

    Args:
        seen: Seen now.
        since: Seen when main last moved, or when the watch began.
    """
    if seen.planned >= 0:
        # a snapshot more, and no batch has finished since: it is that of the batch that is under way
        fresh = seen.planned > seen.finished == since.finished and seen.snapshots > since.snapshots
        return APPENDED if fresh else None
    if seen.staged and seen.staged != since.staged:  # a run that was killed before may have left one
        return "staged"
    if seen.files > since.files:
        return "writing"
    if seen.dead and seen.dead != since.dead and seen.dead not in seen.known:
        return "dead_lettered"
    if seen.reads is not None and since.reads is not None and seen.reads > since.reads:
        return "reading"
    return "published" if seen.batch not in (None, "begin") else None


def strike(
    process: subprocess.Popen[Any],
    watch: Watch,
    target: str,
    *,
    timeout_seconds: float = 120.0,
    after_batches: int = 1,
    poll_seconds: float = 0.01,
) -> Killed | None:
    """Kill a process and its group in a window of its ingest.

    Args:
        process: subprocess.Popen with a session of its own (`start_new_session=True`).
        watch: Watch.
        target: name of the window in WINDOWS, or APPENDED.
        timeout_seconds: give up after so long; the process goes on then.
        after_batches: batches that it has to publish first; `reading` and later windows of a first batch differ in
            nothing from those of others, but a first batch takes long for other reasons.
        poll_seconds: between two looks.

    Returns:
        Killed; None when the process ended by itself or the time is over.

    Raises:
        ValueError: no such window, or `reading` without `reads`.
    """
    if target not in (*WINDOWS, APPENDED):
        raise ArgumentError(f"no window {target!r}; there are {', '.join((*WINDOWS, APPENDED))}")
    if target == "reading" and watch.reads is None:
        raise ArgumentError(
            "the window `reading` is found by the calls that the stream's server counts; pass `reads` to the watch"
        )
    start, since, published = time.monotonic(), watch.look(), 0
    while process.poll() is None and time.monotonic() - start < timeout_seconds:
        seen = watch.look()
        moved = seen.batch != since.batch and seen.batch != "begin"
        if published + moved >= after_batches and (moved or target != "published"):
            base = since if not moved or target == APPENDED else seen
            if window(seen, base) == target and (killed := _confirmed(process, watch, target, seen, base, start)):
                return killed
        if moved or (watch.checkpoint and seen.finished > since.finished):
            published, since = published + 1, seen
        time.sleep(poll_seconds if published >= after_batches else max(poll_seconds, 0.25))
    return None


def _confirmed(
    process: subprocess.Popen[Any], watch: Watch, target: str, seen: Seen, since: Seen, start: float
) -> Killed | None:
    os.killpg(process.pid, signal.SIGSTOP)
    stopped = watch.look()
    if window(stopped, since) != target or stopped.pointer != seen.pointer:
        os.killpg(process.pid, signal.SIGCONT)
        return None
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    return Killed(target, seen, stopped, round(time.monotonic() - start, 3))


def start(*arguments: object, **options: Any) -> subprocess.Popen[Any]:
    """Start `workbench ingest` with arguments, in a session of its own; returns the Popen.

    With `--plain FOLDER` among them it is the variant that doubles, `python -m workbench_proofs.plain`.

    Args:
        arguments: of the command line.
        options: of subprocess.Popen.
    """
    module = ["workbench_proofs.plain"] if "--plain" in arguments else ["workbench_ops.cli", "ingest"]
    command = [sys.executable, "-m", *module, *map(str, arguments)]
    return subprocess.Popen(command, start_new_session=True, **options)


def _property(snapshot: Any, name: str) -> str | None:
    return snapshot.summary.additional_properties.get(name) if snapshot.summary else None
