"""Planted and healthy jobs by their names, run alike: prepared, run, and asked for their answer."""

from pathlib import Path
from typing import Any

from workbench._base.typing import SparkSession
from workbench_proofs.incidents import healthy, planted


def prepare(spark: SparkSession, name: str, table: str, seed: int) -> None:
    """Prepare a job: drop its table, and make what is there before it.

    Args:
        spark: session.
        name: of `planted.PLANTS` or `healthy.JOBS`.
        table: of the job's own.
        seed: of its sizes.
    """
    plant = planted.PLANTS.get(name)
    if plant is None or plant.prepare is None:
        spark.sql(f"DROP TABLE IF EXISTS {table}")
    else:
        plant.prepare(spark, table, seed)


def run(spark: SparkSession, name: str, table: str, folder: Path, seed: int) -> tuple[Any, Exception | None]:
    """Run a prepared job; return its answer, or the error that its caller has in place of one.

    Args:
        spark: session.
        name: as of `prepare`.
        table: as of `prepare`.
        folder: for files, which a healthy job may make.
        seed: as of `prepare`.
    """
    plant = planted.PLANTS.get(name)
    try:
        if plant is not None:
            return plant.run(spark, table, seed), None
        return healthy.run(spark, name, table, folder, seed), None
    except Exception as error:  # a planted incident may be that the job fails
        return None, error


def ask(spark: SparkSession, name: str, table: str, seed: int, answer: Any) -> Any:
    """Return the answer of a job that was run: its own, or where it has none what its table says.

    Args:
        spark: session.
        name: as of `prepare`.
        table: as of `prepare`.
        seed: as of `prepare`.
        answer: of `run`.
    """
    plant = planted.PLANTS.get(name)
    return plant.ask(spark, table, seed) if plant is not None and plant.ask else answer
