"""Cells of the matrix: which pair of operations is raced, in which order and on which kind of table."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass, fields, replace
from itertools import product
from typing import Annotated

from workbench._base import arguments, strict
from workbench._base.bounds import Ge
from workbench._base.door import checked
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

    def __post_init__(self) -> None:
        for name in (self.first, self.second):
            _known("operation", name, _KNOWN)
        _known("mode", self.mode, MODES)
        first, second = _KNOWN[self.first], _KNOWN[self.second]
        for kind, value, needed, known in (
            ("isolation", self.isolation, first.guarded or second.guarded, ISOLATIONS),
            ("partition", self.partition, first.rows and second.rows, PARTITIONS),
        ):
            if needed:
                _known(kind, value, known)
            elif value is not None:
                raise ArgumentError(f"{kind} does not apply to {self.first} and {self.second}; leave it out")

    @property
    def key(self) -> tuple[str, ...]:
        """The cell as a tuple of texts, `-` for what does not apply: sorts, and names it in files."""
        return tuple(part or "-" for part in (self.first, self.second, self.isolation, self.partition, self.mode))

    def statements(self, table: str) -> tuple[str, str]:
        """Return the SQL of the first and of the second operation on a table."""
        # a pair's statements stay what they are when it is turned round, so that serial orders are shared
        forwards = _place(self.first) <= _place(self.second)
        return self._statement(self.first, table, forwards), self._statement(self.second, table, not forwards)

    def _statement(self, name: str, table: str, is_first: bool) -> str:
        apart = self.partition == "other" and not is_first
        return _KNOWN[name].statement(table, part=1 if apart else 0, n=FIRST if is_first else SECOND)


COLUMNS = tuple(field.name for field in fields(Cell))


@checked
def cells(
    operations: Iterable[str] | None = None,
    *,
    isolation: Iterable[str] = ISOLATIONS,
    modes: Iterable[str] = tuple(MODES),
    partitions: Iterable[str] = PARTITIONS,
) -> list[Cell]:
    """Return the cells of every ordered pair of operations, also with itself; no two of them say the same.

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
    names = _listed("operations", OPERATIONS if operations is None else operations)
    isolation, modes = _listed("isolation", isolation), _listed("modes", modes)
    partitions = _listed("partitions", partitions)
    pairs: list[Cell] = []
    for mode, first, second in product(modes, names, names):
        levels: tuple[str | None, ...] = (None,)
        places: tuple[str | None, ...] = (None,)
        if _KNOWN[first].guarded or _KNOWN[second].guarded:
            levels = isolation
        if _KNOWN[first].rows and _KNOWN[second].rows:
            places = partitions
        pairs += [Cell(first, second, level, place, mode) for level, place in product(levels, places)]
    return pairs


@checked
def variants(*, isolation: Iterable[str] = ISOLATIONS, modes: Iterable[str] = tuple(MODES)) -> list[Cell]:
    """Return the cells of the statements in VARIANTS: with each other, what changes rows, and compaction.

    All are of one partition, but for pairs of `update_from_itself`, which reads what it does not write, too.

    Args:
        isolation: levels, of serializable and snapshot.
        modes: of copy-on-write, merge-on-read and v3.

    Returns:
        list of Cell, none of which is among `cells()`.
    """
    isolation, modes = _listed("isolation", isolation), _listed("modes", modes)
    rows = [name for name, operation in OPERATIONS.items() if operation.rows]
    names = [*rows, "rewrite_data_files", *VARIANTS]
    every = cells(names, isolation=isolation, modes=modes, partitions=["same"])
    across = cells(["update_from_itself"], isolation=isolation, modes=modes, partitions=["other"])
    return [cell for cell in every if {cell.first, cell.second} & set(VARIANTS)] + across


@checked
def telling(modes: Iterable[str] = ("copy-on-write",)) -> list[Cell]:
    """Return the eight cells that tell most, in each of the modes: list of Cell.

    Raises:
        ValueError: a mode is not known, is there twice, or there is none.
    """
    pairs = (
        Cell("append", "append", None, "same"),
        Cell("merge_insert_only", "merge_insert_only", "serializable", "same"),
        Cell("append", "update", "serializable", "same"),
        Cell("append", "update", "snapshot", "same"),
        Cell("merge", "merge", "serializable", "other"),
        Cell("update", "rewrite_data_files", "serializable"),
        Cell("expire_snapshots", "append"),
        Cell("add_column", "add_column"),
    )
    return [replace(cell, mode=mode) for mode in _listed("modes", modes) for cell in pairs]


@checked
def asked(
    operations: str = "",
    *,
    isolation: str = DEFAULT_ISOLATION,
    modes: str = "copy-on-write",
    repeat: Annotated[int, Ge(1)] = 1,
) -> list[Cell]:
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
        ValueError: a name is not known or is there twice, also where it decides nothing; or an argument is wrong.
    """
    _known("isolation", isolation, (*ISOLATIONS, "both"))
    names = _listed("modes", _split(modes))
    if not operations.strip():
        return telling(names) * repeat
    both = isolation == "both"
    levels, places = (ISOLATIONS, PARTITIONS) if both else ((isolation,), ("same",))
    return cells(_split(operations), isolation=levels, modes=names, partitions=places) * repeat


def _split(names: str) -> list[str]:
    return [name.strip() for name in names.split(",")]


def _place(name: str) -> int:
    return list(_KNOWN).index(name)


_LISTS: dict[str, tuple[str, str, Collection[str]]] = {  # argument: (singular, plural, the names that are known)
    "operations": ("operation", "operations", _KNOWN),
    "isolation": ("isolation", "isolation levels", ISOLATIONS),
    "modes": ("mode", "modes", MODES),
    "partitions": ("partition", "partitions", PARTITIONS),
}


def _listed(argument: str, values: Iterable[str]) -> tuple[str, ...]:
    singular, plural, known = _LISTS[argument]
    names: tuple[str, ...] = arguments.texts(argument, values, plural)
    for name in names:
        _known(singular, name, known)
    if not names or len(set(names)) < len(names):
        raise ArgumentError(
            f"{singular} must be one name or several different ones, found {', '.join(names) or 'none'}"
        )
    return names


def _known(kind: str, name: str | None, known: Collection[str]) -> None:
    if not isinstance(name, str) or name not in known:
        near = strict.nearest(str(name), known)
        hint = f" (did you mean {near}?)" if near else ""
        raise ArgumentError(f"{name!r} is not a known {kind}{hint}; there are {', '.join(known)}")
