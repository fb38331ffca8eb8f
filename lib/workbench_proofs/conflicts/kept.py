"""Results kept in a file, a line of JSON each, so that a run that was stopped goes on where it was."""

import json
from dataclasses import asdict, replace
from pathlib import Path

from workbench import results
from workbench._base import arguments
from workbench_proofs.conflicts.cells import COLUMNS, Cell
from workbench_proofs.conflicts.runs import Result

_FILE, _VERSIONS = "the path of a file of results", "what conflicts.versions returns, of spark and iceberg"


def read(path):
    """Read the results of a file; what a kill left of a last line is passed over.

    Args:
        path: file of lines of JSON; it need not be there.

    Returns:
        list of Result, in the order in which they were written; a later one of the same cell and versions replaces
        the earlier one.

    Raises:
        ValueError: it is no path, or a line that is not the last holds no result.
    """
    found, path = {}, Path(arguments.place("path", path, _FILE))
    lines = path.read_text(encoding="utf-8").split("\n") if path.is_file() else []
    for number, line in enumerate(lines[:-1], 1):
        try:
            one = Result(**json.loads(line))
            found[cell_of(one).key, one.spark, one.iceberg] = one
        except (TypeError, ValueError) as error:
            raise ValueError(f"{path}: line {number} holds no result: {error}") from error
    return list(found.values())


def append(path, result):
    """Write a result behind those that are there, a line of its own.

    Raises:
        ValueError: it is no path, or no Result.
    """
    path = Path(arguments.place("path", path, _FILE))
    arguments.kind("result", result, Result, "what conflicts.run gives")
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a+b") as file:
        if file.tell():
            file.seek(-1, 2)
            if file.read(1) != b"\n":  # what a kill cut off
                whole = path.read_bytes().rpartition(b"\n")
                file.truncate(len(whole[0] + whole[1]))
        file.write(json.dumps(asdict(result)).encode() + b"\n")


def missing(cells, path, *, versions):
    """Return the cells that have no result of these versions in a file: list of Cell, in their order.

    Raises:
        ValueError: these are no cells, or what `conflicts.versions` returns; or as of `read`.
    """
    cells = arguments.each("cells", cells, Cell, "cells, as conflicts.cells gives them")
    if sorted(arguments.entries("versions", versions, _VERSIONS)) != ["iceberg", "spark"]:
        raise ValueError(f"versions is {versions!r}, expected {_VERSIONS}")
    there = {cell_of(one).key for one in read(path) if versions == {"spark": one.spark, "iceberg": one.iceberg}}
    return [cell for cell in cells if cell.key not in there]


def cell_of(result):
    """Return the Cell of a Result, or of a dict of its fields.

    Raises:
        ValueError: it is neither.
    """
    if not isinstance(result, Result) and not (isinstance(result, dict) and set(COLUMNS) <= set(result)):
        raise ValueError(f"result is {result!r}, expected what conflicts.run gives, or a dict of its fields")
    fields = result if isinstance(result, dict) else asdict(result)
    return Cell(*(fields[name] for name in COLUMNS))


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
        raise ValueError(f"docs/evidence/{name}.json holds no matrix: {error}") from error


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
        raise ValueError(f"measured is {type(measured).__name__}, expected what conflicts.measured returns")
    results = arguments.each("results", results, Result, "what conflicts.run gives")
    arguments.text("environment", environment, "the name of an environment")
    about, matrix = measured
    there = {cell_of(one): one for one in matrix} if about["environment"] == environment else {}
    known = [one for one in results if cell_of(one) in there]
    told = {cell: replace(one, spark="", iceberg="") for cell, one in there.items()}
    return len(known), [one for one in known if told[cell_of(one)] != replace(one, spark="", iceberg="")]
