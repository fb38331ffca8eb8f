"""Results kept in a worklist, a row a cell and versions, so that a run that was stopped goes on where it was."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, replace
from pathlib import Path

from workbench import results
from workbench._base import arguments, worklist
from workbench._base.errors import ArgumentError
from workbench_proofs.conflicts.cells import COLUMNS, Cell
from workbench_proofs.conflicts.runs import Result

_FILE, _VERSIONS = "the path of a file of results", "what conflicts.versions returns, of spark and iceberg"
_KEY = ("cell", "spark", "iceberg")
_RESULTS = worklist.Form(
    name="file of results", user="run", table="results", key=_KEY, outlives_power=False,
    columns=dict.fromkeys((*_KEY, "result"), "TEXT NOT NULL"),
)  # fmt: skip
TURN_SECONDS = 60


def read(path: Path | str) -> list[Result]:
    """Read the results of a file, or of the lines that a version before this one left beside it.

    Args:
        path: SQLite file; neither it nor lines need be there.

    Returns:
        In the order in which they were written first; a later one of the same cell and versions replaces the
        earlier one.

    Raises:
        ValueError: it is no path, or another file; or a line that is not the last holds no result.
        OSError: it cannot be read.
    """
    path = _path(path)
    if not path.is_file() and not _lines(path).is_file():
        return []
    with _opened(path) as cells:
        return [Result(**json.loads(row["result"])) for row in cells.rows()]


def append(path: Path | str, *results: Result) -> None:
    """Keep results behind those that are there, all or none.

    Raises:
        ValueError: it is no path or another file, one is no Result, or another run keeps its results there.
        OSError: they cannot be written.
    """
    with keeping(path) as keep:
        keep(*results)


@contextmanager
def keeping(path: Path | str) -> Iterator[Callable[..., None]]:
    """Give the function that keeps results, for a run that others must not run beside; errors as of `append`."""
    path = _path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    with _opened(path) as cells:
        yield lambda *results: cells.put([_row(result) for result in results])


def missing(cells, path, *, versions):
    """Return the cells that have no result of these versions in a file: list of Cell, in their order.

    Raises:
        ValueError: these are no cells, or what `conflicts.versions` returns; or as of `read`.
    """
    cells = arguments.each("cells", cells, Cell, "cells, as conflicts.cells gives them")
    if sorted(arguments.entries("versions", versions, _VERSIONS)) != ["iceberg", "spark"]:
        raise ArgumentError(f"versions is {versions!r}, expected {_VERSIONS}")
    there = {cell_of(one).key for one in read(path) if versions == {"spark": one.spark, "iceberg": one.iceberg}}
    return [cell for cell in cells if cell.key not in there]


def cell_of(result):
    """Return the Cell of a Result, or of a dict of its fields.

    Raises:
        ValueError: it is neither.
    """
    if not isinstance(result, Result) and not (isinstance(result, dict) and set(COLUMNS) <= set(result)):
        raise ArgumentError(f"result is {result!r}, expected what conflicts.run gives, or a dict of its fields")
    fields = result if isinstance(result, dict) else asdict(result)
    return Cell(*(fields[name] for name in COLUMNS))


def _path(path):
    return Path(arguments.place("path", path, _FILE))


def _opened(path):
    return worklist.opened(path, _RESULTS, seconds=TURN_SECONDS, earlier=lambda: _earlier(_lines(path)))


def _lines(path):
    """Return the file that the version before this one kept in the place of a file of results."""
    return path.with_suffix(".jsonl")


def _earlier(lines):
    """Return the rows of such lines; what a kill left of the last one is passed over."""
    texts = lines.read_text(encoding="utf-8").split("\n")[:-1] if lines.is_file() else []
    for number, line in enumerate(texts, 1):
        try:
            yield _row(Result(**json.loads(line)))
        except (TypeError, ValueError) as error:
            raise ArgumentError(f"{lines}: line {number} holds no result: {error}") from error


def _row(result):
    arguments.kind("result", result, Result, "what conflicts.run gives")
    cell, fields = "/".join(cell_of(result).key), json.dumps(asdict(result))
    return {"cell": cell, "spark": result.spark, "iceberg": result.iceberg, "result": fields}


def measured(start=None, *, name="conflicts"):
    """Return the committed matrix: (what it is about, list of Result).

    It is the nearest docs/evidence/conflicts.json upwards from a folder, else that of the library's repository.

    Args:
        start: folder; None for the working folder.
        name: of the evidence; that of another environment than s3 is conflicts_NAME.

    Raises:
        ValueError: there is none, it is no matrix, or an argument is wrong.
    """
    found = results.evidence(name, start)
    try:
        return found, [Result(**dict(zip(found["columns"], row, strict=True))) for row in found["cells"]]
    except (KeyError, TypeError, ValueError) as error:
        raise ArgumentError(f"docs/evidence/{name}.json holds no matrix: {error}") from error


def against(measured, results, *, environment):
    """Hold results against a matrix, where it is one of the same environment.

    Another environment's is not asked: its catalog may refuse with other errors, or in other words. Of other
    versions it is: what becomes of two writers is to be the same, whatever versions are noted beside it.

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
    there = {cell_of(one): one for one in matrix} if about["environment"] == environment else {}
    known = [one for one in results if cell_of(one) in there]
    told = {cell: replace(one, spark="", iceberg="") for cell, one in there.items()}
    return len(known), [one for one in known if told[cell_of(one)] != replace(one, spark="", iceberg="")]
