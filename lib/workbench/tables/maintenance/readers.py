"""Find where a stream stands, which expiry has to respect, and where it may keep its checkpoint."""

import json
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from workbench._base import arguments, releases
from workbench._base.door import checked
from workbench._base.errors import ArgumentError
from workbench._base.typing import Java, SparkSession
from workbench.tables import commits
from workbench.tables.maintenance import metadata

_EMPTY = -1  # Iceberg's offset of a table without a snapshot


@checked
def stream_checkpoint(spark: SparkSession, table: str, *, stream: str, disk: str | Path) -> str:
    """Return where the checkpoint of a Spark stream that reads a table may lie: beside the table, or on a disk.

    Spark writes it by a file system of its own, Iceberg 1.10 the first offset in it by the table's FileIO, which
    for S3 knows no disk: beside the table both can. Where Spark has no file system for the table's storage it is
    on the disk; Iceberg 1.11 leaves all of it to Spark. It is the same folder as long as the table lives, another
    for one that is made anew. Nothing is made here, and nobody deletes what the stream leaves.

    Args:
        spark: classic session.
        table: the one that is read.
        stream: name of the stream; each one that reads the table has a folder of its own.
        disk: folder on the driver's disk.

    Returns:
        string: a location with its scheme.

    Raises:
        TableNotFound: no such table.
        ValueError: an argument is wrong, or there is no place that both can write.
    """
    if not re.fullmatch(r"\w[\w-]*", stream):
        raise ArgumentError(f"stream must be a name of letters, digits, _ and -, found {stream!r}")
    disk = arguments.place("disk", disk, "a folder on the driver's disk")
    loaded = commits.load(spark, table)
    own = f"_checkpoints/{loaded.uuid().toString()}/{stream}"
    above = re.fullmatch(r"(.+[^/:])/+[^/]+/*", loaded.location())  # a table bucket has nothing above its table
    if above and _reached(spark, beside := f"{above[1]}/{own}"):
        return beside
    if releases.iceberg_before(spark, "1.11"):  # it writes a stream's first offset by the FileIO of the table
        raise ArgumentError(
            f"Iceberg {releases.iceberg(spark)} writes a stream's first offset to the storage of {table}, "
            f"and Spark has no file system for {loaded.location()}: it needs one, such as S3A of hadoop-aws, "
            "or Iceberg 1.11"
        )
    return (Path(disk).absolute() / own).as_uri()


@checked
def stream_marks(
    spark: SparkSession, table: str, checkpoint: str | Path, *, available_now: bool
) -> tuple[int, ...]:
    """Return the snapshots of a table that a Spark stream needs to go on, to be passed as marks.

    A batch that was begun and not finished is read again, so its place is the end of the last finished one. A
    stream that has not finished any goes on from where it was to begin. With the trigger `availableNow` Iceberg
    1.11 plans every run from where the stream first began, so that it needs that snapshot for as long as it lives.

    Args:
        spark: classic session.
        table: the one that is read.
        checkpoint: the stream's checkpoint folder, on any storage that Spark reads.
        available_now: whether the stream is started with that trigger.

    Returns:
        tuple of snapshot ids. Empty when the stream was started on the empty table and has read nothing: it needs
        all there is.

    Raises:
        TableNotFound: no such table.
        ValueError: an argument is wrong, there is no such stream, or a snapshot that it needs is gone.
    """
    folder: str = arguments.place("checkpoint", checkpoint, "the folder of a stream's checkpoint")
    commits.load(spark, table)  # says what is wrong with session and name
    begun, place = _begun(spark, folder), _place(spark, folder)
    needed = {offset["snapshot_id"] for offset in [*(place or begun), *(begun if available_now else ())]} - {
        _EMPTY
    }
    known = metadata.lineage(spark, commits.load(spark, table))
    if gone := sorted(needed - known.keys()):
        raise ArgumentError(f"{folder} goes on from snapshot {gone[0]}, which {table} does not have")
    return tuple(offset for offset in known if offset in needed)


def _begun(spark: SparkSession, checkpoint: str) -> list[dict[str, Any]]:
    """Return the first offsets of a stream's Iceberg sources, which Iceberg itself keeps."""
    sources = [name for name in _names(spark, f"{checkpoint}/sources") if name.isdigit()]
    offsets = _offsets([_text(spark, f"{checkpoint}/sources/{name}/offsets/0") for name in sources])
    if not offsets:
        raise ArgumentError(f"{checkpoint} is not the checkpoint of a stream that reads an Iceberg table")
    return offsets


def _place(spark: SparkSession, checkpoint: str) -> list[dict[str, Any]]:
    """Return the offsets of the last batch that was finished; none without."""
    batches = [int(name) for name in _names(spark, f"{checkpoint}/commits") if name.isdigit()]
    return _offsets([_text(spark, f"{checkpoint}/offsets/{max(batches)}")]) if batches else []


def _offsets(texts: Iterable[str]) -> list[dict[str, Any]]:
    lines = [json.loads(line) for text in texts for line in text.splitlines() if line.startswith("{")]
    return [line for line in lines if "snapshot_id" in line]


def _names(spark: SparkSession, folder: str) -> list[str]:
    system, path = _opened(spark, folder)
    return [file.getPath().getName() for file in system.listStatus(path)] if system.exists(path) else []


def _text(spark: SparkSession, location: str) -> str:
    system, path = _opened(spark, location)
    stream = system.open(path)
    try:
        return metadata.jvm(spark).org.apache.commons.io.IOUtils.toString(stream, "UTF-8")
    finally:
        stream.close()


def _reached(spark: SparkSession, location: str) -> bool:
    """Return whether Spark has a file system for a location; nothing is asked of the storage."""
    try:
        return bool(_opened(spark, location))
    except ValueError:
        return False


def _opened(spark: SparkSession, location: str) -> tuple[Java, Java]:
    try:
        path = metadata.jvm(spark).org.apache.hadoop.fs.Path(location)
        session: Java = spark._jsparkSession
        return path.getFileSystem(session.sessionState().newHadoopConf()), path
    except Exception as error:
        raise ArgumentError(f"{location} cannot be reached: {commits.errors.first_line(error)}") from error
