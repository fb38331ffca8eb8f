"""Whole files, one a task of Spark: where the order of a file's records counts, no task may begin within it.

How Spark splits files is a setting of the session, and several runs may go on in one session at once. They share
the setting: the first makes it, the last gives back what was there. Where something else changes it meanwhile the
run ends, by what `begun` looks at in each row.
"""

import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

from workbench._base.errors import WorkbenchError
from workbench._base.sessions import configured
from workbench._base.typing import Column, SparkSession
from workbench.maps.files import MOST_BYTES
from workbench.maps.work import CHUNK

_ITEMS = {"spark.sql.execution.arrow.maxRecordsPerBatch": CHUNK}  # few, for an item may have 256 KiB
_FILES = {"spark.sql.files.maxPartitionBytes": MOST_BYTES, "spark.sql.files.openCostInBytes": MOST_BYTES}
_SPLIT = "is a part of a file that a task reads alone"
_LOCK = threading.Lock()
_USERS: dict[tuple[str, tuple[str, ...]], tuple[int, ExitStack]] = {}


class FilesSplit(WorkbenchError, RuntimeError):
    """Spark split a file of a run, because something else in its session changed how files are split."""


@contextmanager
def files(spark: SparkSession) -> Iterator[None]:
    """Let each task of a session read one whole file, in batches of few items, for a block.

    Raises:
        FilesSplit: a query of the block found a part of a file.
    """
    with _shared(spark, _ITEMS), _shared(spark, _FILES):
        try:
            yield
        except Exception as error:
            if (place := str(error).find(f" {_SPLIT}")) < 0:
                raise
            file = str(error)[:place].rpartition(" ")[2]
            raise FilesSplit(
                f"{file} was read in pieces: something else in this session set spark.sql.files.maxPartitionBytes "
                "or openCostInBytes meanwhile. Nothing of this wave was published; call run again"
            ) from error


@contextmanager
def few_items(spark: SparkSession) -> Iterator[None]:
    """Let the workers of a session get few items at once, for a block."""
    with _shared(spark, _ITEMS):
        yield


def begun(path: Column) -> Column:
    """Return the path of a row's file; its query fails where the task does not read the file from its begin."""
    from pyspark.sql import functions as F

    wrong = F.raise_error(F.concat(path, F.lit(f" {_SPLIT}")))
    return F.when(F.col("_metadata.file_block_start") == 0, path).otherwise(wrong.cast("string"))


@contextmanager
def _shared(spark: SparkSession, conf: dict[str, int]) -> Iterator[None]:
    """Make settings for a block; where others are within such a block, the last gives back what was there."""
    key = (spark._jsparkSession.sessionUUID(), tuple(conf))
    with _LOCK:
        users, settings = _USERS.get(key, (0, ExitStack()))
        if not users:
            settings.enter_context(configured(spark, conf))
        _USERS[key] = users + 1, settings
    try:
        yield
    finally:
        with _LOCK:
            users, settings = _USERS.pop(key)
            if users > 1:
                _USERS[key] = users - 1, settings
            else:
                settings.close()
