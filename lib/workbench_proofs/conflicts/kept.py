"""Results kept in a worklist, one row for each cell and versions, so that a stopped run can continue."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import asdict, replace
from pathlib import Path
from typing import Annotated, Any

from workbench import results
from workbench._base import arguments, worklist
from workbench._base.bounds import MinLen
from workbench._base.door import checked
from workbench._base.errors import ArgumentError
from workbench_proofs.conflicts.cells import COLUMNS, Cell
from workbench_proofs.conflicts.runs import Result

File = Annotated[str, MinLen(1)] | Path
_KEY = ("cell", "spark", "iceberg")
_RESULTS = worklist.Form(
    name="file of results", user="run", table="results", key=_KEY, outlives_power=False,
    columns=dict.fromkeys((*_KEY, "result"), "TEXT NOT NULL"),
)  # fmt: skip
TURN_SECONDS = 60


@checked
def read(path: File) -> list[Result]:
    """Read the results of a file, or of the lines that a version before this one left beside it.

    Args:
        path: SQLite file; neither it nor lines need be there.

    Returns:
        In the order in which they were written first; a later one of the same cell and versions replaces the
        earlier one.

    Raises:
        ValueError: it is not a path, or it is another file; or a line that is not the last is not a result.
        OSError: it cannot be read.
    """
    path = Path(path)
    if not path.is_file() and not _lines(path).is_file():
        return []
    with _opened(path) as cells:
        return [Result(**json.loads(row["result"])) for row in cells.rows()]


@checked
def append(path: File, *results: Result) -> None:
    """Keep results behind those that are there, all or none.

    Raises:
        ValueError: an argument is wrong, it is another file, or another run keeps its results there.
        OSError: they cannot be written.
    """
    with keeping(path) as keep:
        keep(*results)


@checked
@contextmanager
def keeping(path: File) -> Iterator[Callable[..., None]]:
    """Give the function that keeps results, for a run that others must not run beside; errors as of `append`."""
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    with _opened(path) as cells:
        yield lambda *results: cells.put([_row(result) for result in results])


@checked
def missing(cells: Iterable[Cell], path: File, *, versions: Mapping[str, str]) -> list[Cell]:
    """Return the cells that have no result of these versions in a file: list of Cell, in their order.

    Raises:
        ValueError: these are not cells, or not what `conflicts.versions` returns; or as of `read`.
    """
    cells = arguments.each("cells", cells, Cell, "cells, as conflicts.cells gives them")
    if sorted(versions) != ["iceberg", "spark"]:
        raise ArgumentError(
            f"versions is {versions!r}, expected what conflicts.versions returns, of spark and iceberg"
        )
    measured = {
        cell_of(result).key
        for result in read(path)
        if versions == {"spark": result.spark, "iceberg": result.iceberg}
    }
    return [cell for cell in cells if cell.key not in measured]


@checked
def cell_of(result: Result | dict[str, Any]) -> Cell:
    """Return the Cell of a Result, or of a dict of its fields.

    Raises:
        ValueError: it is neither.
    """
    fields = result if isinstance(result, dict) else asdict(result)
    if not set(COLUMNS) <= set(fields):
        raise ArgumentError(f"result is {result!r}, expected what conflicts.run gives, or a dict of its fields")
    return Cell(*(fields[name] for name in COLUMNS))


def _opened(path: Path) -> AbstractContextManager[worklist.Worklist]:
    return worklist.opened(path, _RESULTS, seconds=TURN_SECONDS, earlier=lambda: _earlier(_lines(path)))


def _lines(path: Path) -> Path:
    """Return the file that the version before this one kept in the place of a file of results."""
    return path.with_suffix(".jsonl")


def _earlier(lines: Path) -> Iterator[dict[str, str]]:
    """Yield the rows of such lines; what a kill left of the last one is passed over."""
    texts = lines.read_text(encoding="utf-8").split("\n")[:-1] if lines.is_file() else []
    for number, line in enumerate(texts, 1):
        try:
            yield _row(Result(**json.loads(line)))
        except (TypeError, ValueError) as error:
            raise ArgumentError(f"{lines}: line {number} is not a result: {error}") from error


def _row(result: Result) -> dict[str, str]:
    arguments.kind("result", result, Result, "what conflicts.run gives")
    cell, fields = "/".join(cell_of(result).key), json.dumps(asdict(result))
    return {"cell": cell, "spark": result.spark, "iceberg": result.iceberg, "result": fields}


@checked
def measured(start: str | Path | None = None, *, name: str = "conflicts") -> tuple[dict[str, Any], list[Result]]:
    """Return the committed matrix: (what it is about, list of Result).

    It is the nearest docs/evidence/conflicts.json upwards from a folder, else that of the library's repository.

    Args:
        start: folder; None for the working folder.
        name: of the evidence; that of another environment than s3 is conflicts_NAME.

    Raises:
        ValueError: there is none, it is not a matrix, or an argument is wrong.
    """
    about = results.evidence(name, start)
    try:
        return about, [Result(**dict(zip(about["columns"], row, strict=True))) for row in about["cells"]]
    except (KeyError, TypeError, ValueError) as error:
        raise ArgumentError(f"docs/evidence/{name}.json is not a matrix: {error}") from error


def against(
    measured: tuple[dict[str, Any], list[Result]], results: Iterable[Result], *, environment: str
) -> tuple[int, list[Result]]:
    """Compare results with a matrix, where it is one of the same environment.

    The matrix of another environment does not count: its catalog may refuse with other errors, or in other words.
    That of other versions does: what becomes of two writers must be the same, whatever versions are noted.

    Args:
        measured: what `measured` returned.
        results: list of Result, one a cell.
        environment: name of the environment that they were found on.

    Returns:
        (how many of their cells the matrix has, list of those results that are not as it says).

    Raises:
        ValueError: an argument is something else.
    """
    pair = isinstance(measured, tuple) and len(measured) == 2 and isinstance(measured[0], dict)
    if not pair or "environment" not in measured[0]:
        raise ArgumentError(f"measured is {type(measured).__name__}, expected what conflicts.measured returns")
    results = arguments.each("results", results, Result, "what conflicts.run gives")
    arguments.text("environment", environment, "the name of an environment")
    about, matrix = measured
    expected = {cell_of(result): _unversioned(result) for result in matrix}
    if about["environment"] != environment:
        expected = {}
    known = [result for result in results if cell_of(result) in expected]
    return len(known), [result for result in known if expected[cell_of(result)] != _unversioned(result)]


def _unversioned(result: Result) -> Result:
    return replace(result, spark="", iceberg="")
