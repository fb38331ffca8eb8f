"""Two writers of one row, the second of which commits while the first one works."""

import threading
import time
from collections.abc import Callable
from pathlib import Path

from workbench._base.door import checked
from workbench._base.typing import SparkSession
from workbench_proofs.formats.tables import Table

_LONGEST_WAIT_SECONDS = 120


@checked
def race(spark: SparkSession, table: Table, first: str, second: str, *, folder: str | Path) -> list[Exception]:
    """Run a statement that reads, waits until another one has committed, and then wants to commit as well.

    Args:
        spark: session of both writers.
        table: that both change.
        first: statement with {table}, and `wait_for_other_writer(id)` around the column that it reads. Each of its
            tasks waits, so the second statement needs a core of Spark's that the first one leaves free.
        second: statement with {table}.
        folder: on this machine, for the two files by which the writers wait for each other.

    Returns:
        The errors of the first statement: one, or none. One that waited for longer than two minutes is among them.

    Raises:
        TimeoutError: the first statement has not read within two minutes.
    """
    Path(folder).mkdir(parents=True, exist_ok=True)
    begun, go = (str(Path(folder) / f"{table.format}-{word}") for word in ("begun", "go"))
    for flag in (begun, go):
        Path(flag).unlink(missing_ok=True)
    spark.udf.register("wait_for_other_writer", _waiting(begun, go), "bigint")
    errors: list[Exception] = []

    def write() -> None:
        try:
            spark.sql(first.format(table=table.name))
        except Exception as error:  # whatever the format raises
            errors.append(error)

    writer = threading.Thread(target=write)
    writer.start()
    try:
        until = time.monotonic() + _LONGEST_WAIT_SECONDS
        while writer.is_alive() and not Path(begun).exists():
            if time.monotonic() > until:
                raise TimeoutError(
                    f"the first statement has not read {table.name} within {_LONGEST_WAIT_SECONDS} s"
                )
            time.sleep(0.02)
        spark.sql(second.format(table=table.name))
    finally:
        Path(go).touch()
        writer.join()
    return errors


def _waiting(begun: str, go: str) -> Callable[[int], int]:
    def wait_for_other_writer(number: int) -> int:
        Path(begun).touch()
        until = time.monotonic() + _LONGEST_WAIT_SECONDS
        while not Path(go).exists():
            if time.monotonic() > until:
                raise TimeoutError(
                    f"the second statement has not committed within {_LONGEST_WAIT_SECONDS} s: has it a core?"
                )
            time.sleep(0.02)
        return number

    return wait_for_other_writer
