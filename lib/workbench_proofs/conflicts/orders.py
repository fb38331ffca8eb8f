"""What two statements give when they run one after the other, in either order: the only right answers."""

from dataclasses import dataclass

from workbench.tables import commits
from workbench_proofs.conflicts.outcomes import reason

DIFFER, ALIKE = "differ", "indistinguishable"
_MODE = "copy-on-write"
_ANY = "any.table"  # stands for the copy where statements are told apart


@dataclass(frozen=True)
class Serial:
    """Rows of the two serial orders, sorted; None where the later statement of the order was refused.

    Attributes:
        first_alone: rows after the first statement alone.
        first_second: rows when the second followed it.
        second_first: rows when it was the other way round.
    """

    first_alone: tuple
    first_second: tuple | None
    second_first: tuple | None

    @property
    def orders(self):
        """Whether rows tell which order it was: differ, indistinguishable, or the only one that is possible."""
        if self.first_second is None or self.second_first is None:
            there = {"first_second": self.first_second, "second_first": self.second_first}
            return "only " + next((name for name, rows in there.items() if rows is not None), "neither")
        return ALIKE if self.first_second == self.second_first else DIFFER

    def equal_to(self, rows):
        """Return which order gives these rows: first_second, second_first, both or neither."""
        one, other = rows == self.first_second, rows == self.second_first
        return "both" if one and other else "first_second" if one else "second_first" if other else "neither"


class Orders:
    """Serial orders by real runs, each done once.

    What two statements give one after the other depends neither on the isolation level nor on how files are
    written, so they run on one kind of table, and the answer holds for all.
    """

    def __init__(self, spark, copies):
        self.spark, self.copies, self._known, self._early = spark, copies, {}, {}

    def of(self, cell):
        """Return the Serial of a cell's statements, run now where they were not before."""
        forwards = self._run(cell, (0, 1))
        backwards = self._run(cell, (1, 0))
        return Serial(forwards[0], forwards[1], backwards[1])

    def _run(self, cell, order):
        """Return (rows after the first of an order, rows after both or None when the later was refused)."""
        key = _ordered(cell.statements(_ANY), order)
        if key not in self._known:
            name = self.copies.of(_MODE, own_files=needs_own_files(cell))
            first, second = _ordered(cell.statements(name), order)
            self.spark.sql(first)
            if key[0] not in self._early:
                self._early[key[0]] = rows_of(self.spark, name)
            self._known[key] = self._early[key[0]], self._late(name, second)
            self.copies.drop(name)
        return self._known[key]

    def _late(self, name, statement):
        """Return the rows after the later statement; None when it is refused, as one that has lost its reason."""
        try:
            self.spark.sql(statement)
        except Exception as error:
            if not _refused(error):
                raise
            return None
        return rows_of(self.spark, name)


def _ordered(statements, order):
    return tuple(statements[place] for place in order)


def _refused(error):
    """Say whether Iceberg's reason is what was committed before; a fast-forward says so in words of its own."""
    if commits.kind(error) in (commits.CONFLICT, commits.VALIDATION):
        return True
    name, said = reason(error)
    return (
        name == "IllegalArgumentException"
        and said.startswith("Cannot fast-forward: ")
        and "not an ancestor" in said
    )


def needs_own_files(cell):
    """Say whether a cell's statements delete files, which copies of one table would share."""
    return "expire_snapshots" in (cell.first, cell.second)


def rows_of(spark, table):
    """Return the rows of a copy: a sorted tuple of (id, part, v).

    They are read by Iceberg's own reader at the newest metadata: no job, and no cache of the session in between.
    """
    wanted = spark._jvm.java.util.List.of("id", "part", "v")
    read = (
        spark._jvm.org.apache.iceberg.data.IcebergGenerics.read(commits.load(spark, table)).select(wanted).build()
    )
    try:
        return tuple(sorted(tuple(row.get(place) for place in range(3)) for row in _each(read.iterator())))
    finally:
        read.close()


def _each(iterator):
    while iterator.hasNext():
        yield iterator.next()
