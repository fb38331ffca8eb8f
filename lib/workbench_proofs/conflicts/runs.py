"""Cells run, each on a fresh table: a race, the two serial orders, and what became of it."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from workbench import show
from workbench._base import arguments, identifiers, releases
from workbench._base.door import checked
from workbench._base.typing import SparkSession
from workbench.tables import commits
from workbench_proofs.conflicts.cells import Cell
from workbench_proofs.conflicts.copies import copies
from workbench_proofs.conflicts.orders import Orders, needs_own_files, rows_of
from workbench_proofs.conflicts.outcomes import outcome
from workbench_proofs.conflicts.racing import Name, race, writers

_LONGEST = 160


@dataclass(frozen=True)
class Result:
    """A row of the matrix.

    Attributes:
        first, second, isolation, partition, mode: the cell.
        outcome: one of outcomes.OUTCOMES.
        error_class: Java exception of a refusal, or None.
        message: first line of what it said, without what differs from run to run; or None.
        rows: how many rows there are at the end.
        equal_to: the serial order that gives these rows; first_alone of a refused second.
        orders: whether rows can tell the orders: differ, indistinguishable, or the only one that is possible.
        spark, iceberg: versions.
    """

    first: str
    second: str
    isolation: str | None
    partition: str | None
    mode: str
    outcome: str
    error_class: str | None
    message: str | None
    rows: int
    equal_to: str
    orders: str
    spark: str
    iceberg: str


@checked
def versions(spark: SparkSession) -> dict[str, str]:
    """Return the versions that a result is about: dict of spark and iceberg.

    Raises:
        ValueError: it is not a classic session.
    """
    commits.classic(spark)
    return {"spark": spark.version, "iceberg": releases.iceberg(spark)}


@checked
def run(
    spark: SparkSession, cells: Iterable[Cell], *, namespace: Name = "conflicts", catalog: Name | None = None
) -> Iterator[Result]:
    """Run cells, one after another.

    Tables are made in the namespace, named `cell_…`, and removed at the end, also when the caller stops early.

    Args:
        spark: classic session; its default catalog keeps tables in an S3 on plain HTTP, or is a REST catalog.
        cells: several Cell, such as `cells` or `telling` gives; a generator is used up before the first one runs.
        namespace: made when missing.
        catalog: name of the catalog; None for the default one.

    Returns:
        Iterator of Result, one a cell, in their order; each cell runs when it is asked for.

    Raises:
        ValueError: an argument is wrong, at once; or the catalog's commits cannot be held, when the first result
            is asked for.
        RuntimeError: a cell's first statement failed, or its second made no commit.
    """
    about = versions(spark)
    cells = arguments.each("cells", cells, Cell, "cells, as conflicts.cells gives them")
    identifiers.parts(namespace, least=1)
    return _run(spark, cells, about, namespace=namespace, catalog=catalog)


def _run(
    spark: SparkSession, cells: Iterable[Cell], about: Mapping[str, str], *, namespace: str, catalog: str | None
) -> Iterator[Result]:
    with writers(spark, catalog=catalog) as two, copies(two.aside, namespace) as tables:
        orders = Orders(two.aside, tables)
        for cell in cells:
            table = tables.of(cell.mode, cell.isolation, own_files=needs_own_files(cell))
            before = _commits(two.aside, table)
            ended = race(two.a, two.b, *cell.statements(table), hold=two.hold)
            if ended.first is not None:
                raise RuntimeError(f"the first statement of {'/'.join(cell.key)} failed") from ended.first
            rows, landed = rows_of(two.aside, table), _commits(two.aside, table) - before
            tables.drop(table)
            serial = orders.of(cell)
            became = outcome(ended, serial, rows, landed=landed)
            message = became.message and show.steady(became.message)[:_LONGEST]
            yield Result(
                cell.first, cell.second, cell.isolation, cell.partition, cell.mode,
                became.name, became.error_class, message, len(rows), became.equal_to, serial.orders, **about,
            )  # fmt: skip


def _commits(spark: SparkSession, table: str) -> int:
    """Return how many metadata files led to the table's newest one: each commit adds one."""
    return len(commits.load(spark, table).operations().current().previousFiles())
