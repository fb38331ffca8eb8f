"""What proves a watch: readings by a formula, rows in footers of files, a watcher that is lost during its job."""

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from workbench import metrics
from workbench._base.door import checked
from workbench._base.errors import ArgumentError
from workbench._base.typing import Catalog, DataFrame, PandasFrame, SparkSession

DAYS = 8
_FACTOR, _SHIFT, _VALUES = 7919, 104729, 1000
_LISTENER = "org.apache.spark.scheduler.EventLoggingListener"


@dataclass(frozen=True)
class Survival:
    """A job whose watcher was lost.

    Attributes:
        failure: what the watch says of it; None where it says nothing.
        answers: of the job: before the loss, and after it.
    """

    failure: str | None
    answers: tuple[Any, Any]


@checked
def readings(spark: SparkSession, day: int, *, rows: int, seed: int) -> DataFrame:
    """Return the readings of one of eight days, in four parts.

    Args:
        spark: session.
        day: from 0 to 7.
        rows: of all days, divisible by 8.
        seed: of the values.

    Returns:
        DataFrame, one row a reading: id (bigint, from 0, those of a day side by side), day (int), value (bigint,
        below 1,000).
    """
    first, end = day * rows // DAYS, (day + 1) * rows // DAYS
    value = f"(id * {_FACTOR} + {seed} * {_SHIFT}) % {_VALUES}"
    return spark.range(first, end, 1, 4).selectExpr("id", f"{day} AS day", f"{value} AS value")


@checked
def formula(*, rows: int, seed: int) -> PandasFrame:
    """Return all readings, made without Spark; columns as of `readings`."""
    import pandas as pd

    ids = pd.Series(range(rows))
    return pd.DataFrame({"id": ids, "day": ids * DAYS // rows, "value": (ids * _FACTOR + seed * _SHIFT) % _VALUES})


@checked
def rows_in_footers(catalog: Catalog, table: str) -> int:
    """Return how many rows the Parquet files of a table have, by their own footers.

    PyIceberg names the files and PyArrow reads the footers; what Iceberg's metadata says of rows is not asked.

    Args:
        catalog: PyIceberg catalog.
        table: `namespace.name`, without delete files.

    Raises:
        ValueError: the table has delete files, so that rows of files are not rows of the table.
    """
    import pyarrow.parquet as pq

    loaded = catalog.load_table(table)
    tasks = list(loaded.scan().plan_files())
    if any(task.delete_files for task in tasks):
        raise ArgumentError(f"{table} has delete files: not each row of a file is a row of the table")
    rows = 0
    for task in tasks:
        with loaded.io.new_input(task.file.file_path).open() as file:
            rows += pq.ParquetFile(file).metadata.num_rows
    return rows


@checked
def survive(
    spark: SparkSession,
    folder: str | Path,
    job: Callable[[], Any],
    lose: Callable[[], Any] | None = None,
) -> Survival:
    """Run a job twice in a watched session and lose the watcher between the two.

    Args:
        spark: classic session, not watched.
        folder: of the watch; it need not be one that can be made.
        job: returns its answer.
        lose: takes the watcher away; None where it is lost from the beginning.

    Returns:
        Survival. What the job raises goes on.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the watch says the same in `failure`
        watching = metrics.watch(spark, folder)
    with watching:
        before = job()
        if lose is not None:
            lose()
        after = job()
    return Survival(watching.failure, (before, after))


@checked
def close_logs(spark: SparkSession) -> int:
    """Close the file of each event log beneath its listener, as a disk that goes away does; return how many.

    Each write of the listener fails from then on.

    Args:
        spark: classic session.
    """
    listeners = list(spark.sparkContext._jsc.sc().listenerBus().listeners())
    logs = [listener for listener in listeners if listener.getClass().getName() == _LISTENER]
    for log in logs:
        log.logWriter().writer().get().close()
    return len(logs)
