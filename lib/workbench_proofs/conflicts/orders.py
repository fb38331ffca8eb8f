"""What two statements give when they run one after the other, in either order: the only right answers."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from workbench._base.typing import Java, SparkSession, jvm
from workbench.tables import commits
from workbench_proofs.conflicts.cells import Cell
from workbench_proofs.conflicts.copies import Copies
from workbench_proofs.conflicts.outcomes import reason

DIFFER, ALIKE = "differ", "indistinguishable"
_MODE = "copy-on-write"
_ANY = "any.table"  # stands for the copy where statements are told apart
Rows = tuple[tuple[Any, ...], ...]  # (id, part, v), sorted


@dataclass(frozen=True)
class Serial:
    """Rows of the two serial orders, sorted; None where the later statement of the order was refused.

    Attributes:
        first_alone: rows after the first statement alone.
        first_second: rows when the second followed it.
        second_first: rows when it was the other way round.
    """

    first_alone: Rows
    first_second: Rows | None
    second_first: Rows | None

    @property
    def orders(self) -> str:
        """Whether rows tell which order it was: differ, indistinguishable, or the only one that is possible."""
        if self.first_second is None or self.second_first is None:
            orders = {"first_second": self.first_second, "second_first": self.second_first}
            return "only " + next((name for name, rows in orders.items() if rows is not None), "neither")
        return ALIKE if self.first_second == self.second_first else DIFFER

    def equal_to(self, rows: Rows) -> str:
        """Return which order gives these rows: first_second, second_first, both or neither."""
        if rows == self.first_second:
            return "both" if rows == self.second_first else "first_second"
        return "second_first" if rows == self.second_first else "neither"


class Orders:
    """Serial orders by real runs, each done once.

    What two statements give one after the other depends neither on the isolation level nor on how files are
    written, so they run on one kind of table, and the answer holds for all.
    """

    def __init__(self, spark: SparkSession, copies: Copies) -> None:
        self.spark, self.copies = spark, copies
        self._known: dict[tuple[str, ...], tuple[Rows, Rows | None]] = {}
        self._early: dict[str, Rows] = {}

    def of(self, cell: Cell) -> Serial:
        """Return the Serial of a cell's statements, run now where they were not before."""
        first_alone, first_second = self._run(cell, 1)
        _, second_first = self._run(cell, -1)
        return Serial(first_alone, first_second, second_first)

    def _run(self, cell: Cell, step: int) -> tuple[Rows, Rows | None]:
        """Run the statements forwards (1) or backwards (-1): rows after the earlier one, rows after both.

        The latter are None when the later statement was refused.
        """
        key = cell.statements(_ANY)[::step]
        if key not in self._known:
            name = self.copies.of(_MODE, own_files=needs_own_files(cell))
            first, second = cell.statements(name)[::step]
            self.spark.sql(first)
            if key[0] not in self._early:
                self._early[key[0]] = rows_of(self.spark, name)
            self._known[key] = self._early[key[0]], self._late(name, second)
            self.copies.drop(name)
        return self._known[key]

    def _late(self, name: str, statement: str) -> Rows | None:
        """Return the rows after the later statement; None when it is refused, as one that has lost its reason."""
        try:
            self.spark.sql(statement)
        except Exception as error:
            if not _refused(error):
                raise
            return None
        return rows_of(self.spark, name)


def _refused(error: Exception) -> bool:
    """Say whether Iceberg's reason is what was committed before; a fast-forward says so in words of its own."""
    if commits.kind(error) in (commits.CONFLICT, commits.VALIDATION):
        return True
    name, message = reason(error)
    return (
        name == "IllegalArgumentException"
        and message.startswith("Cannot fast-forward: ")
        and "not an ancestor" in message
    )


def needs_own_files(cell: Cell) -> bool:
    """Say whether a cell's statements delete files, which copies of one table would share."""
    return "expire_snapshots" in (cell.first, cell.second)


def rows_of(spark: SparkSession, table: str) -> Rows:
    """Return the rows of a copy: a sorted tuple of (id, part, v).

    They are read by Iceberg's own reader at the newest metadata: no job, and no cache of the session in between.
    """
    columns = jvm(spark).java.util.List.of("id", "part", "v")
    generics = jvm(spark).org.apache.iceberg.data.IcebergGenerics
    records = generics.read(commits.load(spark, table)).select(columns).build()
    try:
        return tuple(sorted(tuple(row.get(place) for place in range(3)) for row in _each(records.iterator())))
    finally:
        records.close()


def _each(iterator: Java) -> Iterator[Java]:
    while iterator.hasNext():
        yield iterator.next()
