"""Where a reader stands: the mark that expiry has to respect."""

import json

from workbench import arguments
from workbench.tables import commits
from workbench.tables.maintenance import limits, metadata

_EMPTY = -1  # Iceberg's offset of a table without a snapshot


def stream_marks(spark, table, checkpoint, *, available_now):
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
    checkpoint = arguments.place("checkpoint", checkpoint, "the folder of a stream's checkpoint")
    limits.check(available_now=available_now)
    commits.load(spark, table)  # says what is wrong with session and name
    begun, place = _begun(spark, checkpoint), _place(spark, checkpoint)
    needed = {one["snapshot_id"] for one in [*(place or begun), *(begun if available_now else ())]} - {_EMPTY}
    known = metadata.lineage(spark, commits.load(spark, table))
    if gone := sorted(needed - known.keys()):
        raise ValueError(f"{checkpoint} goes on from snapshot {gone[0]}, which {table} does not have")
    return tuple(one for one in known if one in needed)


def _begun(spark, checkpoint):
    """Return the first offsets of a stream's Iceberg sources, which Iceberg itself keeps."""
    sources = [one for one in _names(spark, f"{checkpoint}/sources") if one.isdigit()]
    found = _offsets([_text(spark, f"{checkpoint}/sources/{one}/offsets/0") for one in sources])
    if not found:
        raise ValueError(f"{checkpoint} is no checkpoint of a stream that reads an Iceberg table")
    return found


def _place(spark, checkpoint):
    """Return the offsets of the last batch that was finished; none without."""
    done = [int(name) for name in _names(spark, f"{checkpoint}/commits") if name.isdigit()]
    return _offsets([_text(spark, f"{checkpoint}/offsets/{max(done)}")]) if done else []


def _offsets(texts):
    lines = [json.loads(line) for text in texts for line in text.splitlines() if line.startswith("{")]
    return [one for one in lines if "snapshot_id" in one]


def _names(spark, folder):
    system, path = _opened(spark, folder)
    return [one.getPath().getName() for one in system.listStatus(path)] if system.exists(path) else []


def _text(spark, location):
    system, path = _opened(spark, location)
    stream = system.open(path)
    try:
        return spark._jvm.org.apache.commons.io.IOUtils.toString(stream, "UTF-8")
    finally:
        stream.close()


def _opened(spark, location):
    try:
        path = spark._jvm.org.apache.hadoop.fs.Path(location)
        return path.getFileSystem(spark._jsparkSession.sessionState().newHadoopConf()), path
    except Exception as error:
        raise ValueError(f"{location} cannot be reached: {commits.errors.first_line(error)}") from error
