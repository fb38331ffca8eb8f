"""Cells of the matrix: which pair of operations is raced, in which order and on which kind of table."""

from dataclasses import dataclass, fields, replace
from itertools import product

from workbench._base import arguments, strict
from workbench._base.errors import ArgumentError
from workbench_proofs.conflicts.operations import (
    FIRST,
    ISOLATIONS,
    MODES,
    OPERATIONS,
    PARTITIONS,
    SECOND,
    VARIANTS,
)

DEFAULT_ISOLATION = "serializable"  # Iceberg's, for tables that say nothing
_KNOWN = OPERATIONS | VARIANTS


@dataclass(frozen=True)
class Cell:
    """An ordered pair: `first` lands first, `second` was started before that and has to deal with it.

    Attributes:
        first: name of the operation whose commit lands first.
        second: name of the operation that meets it.
        isolation: serializable or snapshot; None where neither operation is one that it is about.
        partition: same or other; None where one of them changes no rows.
        mode: copy-on-write, merge-on-read (both of format 2) or v3 (merge-on-read by deletion vectors).
    """

    first: str
    second: str
    isolation: str | None = None
    partition: str | None = None
    mode: str = "copy-on-write"

    def __post_init__(self):
        for name in (self.first, self.second):
            _known("operation", name, _KNOWN)
        _known("mode", self.mode, MODES)
        one, other = _KNOWN[self.first], _KNOWN[self.second]
        for what, value, needed, known in (
            ("isolation", self.isolation, one.guarded or other.guarded, ISOLATIONS),
            ("partition", self.partition, one.rows and other.rows, PARTITIONS),
        ):
            if needed:
                _known(what, value, known)
            elif value is not None:
                raise ArgumentError(f"{what} says nothing of {self.first} and {self.second}; leave it out")

    @property
    def key(self):
        """The cell as a tuple of texts, `-` for what does not apply: sorts, and names it in files."""
        return tuple(part or "-" for part in (self.first, self.second, self.isolation, self.partition, self.mode))

    def statements(self, table):
        """Return the SQL of the first and of the second operation on a table."""
        # a pair's statements stay what they are when it is turned round, so that serial orders are shared
        numbers = (FIRST, SECOND) if _place(self.first) <= _place(self.second) else (SECOND, FIRST)
        parts = [number - FIRST if self.partition == "other" else 0 for number in numbers]
        return tuple(
            _KNOWN[name].statement(table, part=part, n=n)
            for name, part, n in zip((self.first, self.second), parts, numbers, strict=True)
        )


COLUMNS = tuple(field.name for field in fields(Cell))


def cells(operations=None, *, isolation=ISOLATIONS, modes=tuple(MODES), partitions=PARTITIONS):
    """Return the cells of every ordered pair of operations, also with itself; none that says what another says.

    Isolation varies only where DELETE, UPDATE or MERGE takes part, the partition only where both change rows.

    Args:
        operations: names, of OPERATIONS or VARIANTS; None for the eleven of OPERATIONS.
        isolation: levels, of serializable and snapshot.
        modes: of copy-on-write, merge-on-read and v3.
        partitions: of same and other.

    Returns:
        list of Cell, in the order of the arguments, mode by mode.

    Raises:
        ValueError: a name is not known, is there twice, or a list is empty.
    """
    operations = _listed("operations", tuple(OPERATIONS) if operations is None else operations)
    isolation, modes = _listed("isolation", isolation), _listed("modes", modes)
    partitions = _listed("partitions", partitions)
    found = []
    for mode, first, second in product(modes, operations, operations):
        one, other = _KNOWN[first], _KNOWN[second]
        levels = isolation if one.guarded or other.guarded else (None,)
        places = partitions if one.rows and other.rows else (None,)
        found += [Cell(first, second, level, place, mode) for level, place in product(levels, places)]
    return found


def variants(*, isolation=ISOLATIONS, modes=tuple(MODES)):
    """Return the cells of the statements in VARIANTS: with each other, what changes rows, and compaction.

    All are of one partition, but for pairs of `update_from_itself`, which reads what it does not write, too.

    Args:
        isolation: levels, of serializable and snapshot.
        modes: of copy-on-write, merge-on-read and v3.

    Returns:
        list of Cell, none of which is among `cells()`.
    """
    rows, wanted = [name for name, one in OPERATIONS.items() if one.rows], {"isolation": isolation, "modes": modes}
    every = cells([*rows, "rewrite_data_files", *VARIANTS], **wanted, partitions=["same"])
    across = cells(["update_from_itself"], **wanted, partitions=["other"])
    return [one for one in every if {one.first, one.second} & set(VARIANTS)] + across


_TELLING = (
    ("append", "append", None, "same"),
    ("merge_insert_only", "merge_insert_only", "serializable", "same"),
    ("append", "update", "serializable", "same"),
    ("append", "update", "snapshot", "same"),
    ("merge", "merge", "serializable", "other"),
    ("update", "rewrite_data_files", "serializable"),
    ("expire_snapshots", "append"),
    ("add_column", "add_column"),
)


def telling(modes=("copy-on-write",)):
    """Return the eight cells that tell most, in each of the modes: list of Cell.

    Raises:
        ValueError: a mode is not known, is there twice, or there is none.
    """
    return [replace(Cell(*one), mode=mode) for mode in _listed("modes", modes) for one in _TELLING]


def asked(operations="", *, isolation=DEFAULT_ISOLATION, modes="copy-on-write", repeat=1):
    """Return the cells that texts ask for, such as the parameters of a notebook.

    Args:
        operations: names, separated by commas: every ordered pair of them. Empty for the telling cells, which have
            isolation levels and partitions of their own.
        isolation: serializable, snapshot, or both, with which there are also the cells of two partitions.
        modes: names, separated by commas.
        repeat: how often each cell stands in the list, 1 or more.

    Returns:
        list of Cell, as of `cells` or `telling`.

    Raises:
        ValueError: something is no text, or a name is not known or is there twice, also where it decides nothing.
    """
    for name, value in (("operations", operations), ("isolation", isolation), ("modes", modes)):
        arguments.kind(name, value, str, "a text" if name == "isolation" else "a text: names, separated by commas")
    arguments.whole("repeat", repeat, 1, "what no cell has done cannot be read")
    _known("isolation", isolation, (*ISOLATIONS, "both"))
    modes = _listed("modes", _split(modes))
    if not operations.strip():
        return telling(modes) * repeat
    both = isolation == "both"
    levels, places = (ISOLATIONS, PARTITIONS) if both else ((isolation,), ("same",))
    return cells(_split(operations), isolation=levels, modes=modes, partitions=places) * repeat


def _split(names):
    return [name.strip() for name in names.split(",")]


def _place(name):
    return list(_KNOWN).index(name)


_LISTS = {  # argument: (what one is, what they are, those there are)
    "operations": ("operation", "operations", _KNOWN),
    "isolation": ("isolation", "isolation levels", ISOLATIONS),
    "modes": ("mode", "modes", MODES),
    "partitions": ("partition", "partitions", PARTITIONS),
}


def _listed(argument, names):
    what, several, known = _LISTS[argument]
    names = arguments.texts(argument, names, several)
    for name in names:
        _known(what, name, known)
    if not names or len(set(names)) < len(names):
        raise ArgumentError(f"{what}: names that differ, one at least; got {', '.join(names) or 'none'}")
    return names


def _known(what, name, known):
    if not isinstance(name, str) or name not in known:
        near = strict.nearest(str(name), known)
        hint = f" (did you mean {near}?)" if near else ""
        raise ArgumentError(f"{name!r} is no {what}{hint}; there are {', '.join(known)}")
