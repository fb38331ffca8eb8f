"""What a notebook leaves behind: facts, measurements, checks and the tables it wrote.

Facts are compared exactly between runs, homes and environments. Measurements (times, rates, attempts, costs)
are kept and never compared. Under the runner everything goes to `results.json` in the folder that
`WORKBENCH_RUN_DIR` names; elsewhere (Lab, nbval, plain papermill) the arguments are checked and nothing is kept.
"""

import json
import math
import numbers
import os
import re
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from decimal import Decimal
from pathlib import Path
from typing import Any

from workbench._base import arguments, files, identifiers, moved
from workbench._base.door import checked
from workbench._base.errors import ArgumentError
from workbench._base.typing import Catalog, SparkSession

NAME = re.compile(r"[a-z][a-z0-9_]*")
STATES = ("_equal", "_agree", "_refused", "_reproduced", "_unchanged_on_failure")


def record(**facts: Any) -> None:
    """Keep facts of this run.

    Args:
        facts: name to an int, a boolean, a text, what has one (a Decimal, a date), or None where there is nothing
            to state (the recall where no fault was planted). A name that states something (`…_equal`, `…_agree`,
            `…_refused`, `…_reproduced`, `…_unchanged_on_failure`) takes a boolean.

    Raises:
        ValueError: names or values are of another kind: the message names all of them, and nothing is kept. A
            float belongs in `measure`, or is made a Decimal.
    """
    _add("results", _all(_fact, facts))


def measure(**values: Any) -> None:
    """Keep measurements of this run: numbers with their unit in the name (`seconds_build`), texts, booleans.

    Raises:
        ValueError: names or values are of another kind: the message names all of them, and nothing is kept.
    """
    _add("measurements", _all(_measurement, values))


@checked
@contextmanager
def timing(name: str) -> Iterator[None]:
    """Measure how long a block takes, as `seconds_<name>`; nothing is measured when it raises.

    Args:
        name: what is done, as in `build`.
    """
    _name(name)
    begin = time.perf_counter()
    yield
    measure(**{f"seconds_{name}": round(time.perf_counter() - begin, 3)})


@checked
def table(spark: SparkSession | Catalog, name: str) -> None:
    """Note a table's current snapshot for the run record.

    Args:
        spark: session whose catalog holds the table; or PyIceberg's Catalog, where there is no session.
        name: `namespace.name`.
    """
    if hasattr(spark, "load_table"):
        snapshot = spark.load_table(identifiers.parts(name)).current_snapshot()
        _add("tables", [{"name": name, "snapshot_id": snapshot.snapshot_id if snapshot else None}])
        return
    refs = spark.sql(f"SELECT snapshot_id FROM {identifiers.quoted(name)}.refs WHERE name = 'main'")
    rows = refs.collect() if os.environ.get("WORKBENCH_RUN_DIR") else []  # else it is only resolved
    _add("tables", [{"name": name, "snapshot_id": rows[0][0] if rows else None}])


@moved.renamed(found="actual")
def check(name: str, actual: Any, expected: Any, passed: bool) -> None:
    """Note the outcome of a check (called by `checks.require`)."""
    _add("checks", [{"name": name, "found": plain(actual), "expected": plain(expected), "passed": passed}])


def read(folder: str | Path) -> dict[str, Any]:
    """Read what a notebook left in a run's folder.

    Returns:
        dict with results, measurements (name to value), checks and tables (lists); empty ones when there is
        nothing, or when the file was cut off by a kill.
    """
    empty: dict[str, Any] = {"results": {}, "measurements": {}, "checks": [], "tables": []}
    try:
        content = json.loads((Path(folder) / "results.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return empty
    return empty | content if _well_formed(content, empty) else empty


def evidence(name: str, start: str | Path | None = None) -> dict[str, Any]:
    """Return what a benchmark measured once: a file that is committed with a project.

    It is the nearest docs/evidence/<name>.json upwards from a folder, else that of the library's repository.

    Args:
        name: of the benchmark.
        start: folder; None for the working folder.

    Returns:
        dict; `date`, `machine` and `versions` say when and where.

    Raises:
        ValueError: there is no such file, it holds something else, or an argument is wrong.
    """
    if not isinstance(name, str) or not NAME.fullmatch(name):
        raise ArgumentError(f"name is {name!r}, expected that of a benchmark, such as conflicts")
    begin = Path.cwd() if start is None else Path(arguments.place("start", start, "a folder, or None"))
    if not begin.is_dir():
        raise ArgumentError(f"start is {begin}, and there is no such folder")
    starts = [begin.resolve(), Path(__file__).resolve()]
    folders = [folder for place in starts for folder in (place, *place.parents)]
    places = [folder / "docs" / "evidence" / f"{name}.json" for folder in folders]
    path = next((place for place in places if place.is_file()), None)
    if path is None:
        raise ArgumentError(f"no docs/evidence/{name}.json upwards from {starts[0]}, nor beside the library")
    try:
        measurements = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise ArgumentError(f"{path} is not JSON: {error}") from error
    if not isinstance(measurements, dict):
        raise ArgumentError(f"{path} holds a {type(measurements).__name__}, expected measurements by name")
    return measurements


def _well_formed(content: Any, empty: dict[str, Any]) -> bool:
    """Tell whether a file holds what this module writes: a notebook may have written over it."""
    if not isinstance(content, dict) or set(content) - set(empty):
        return False
    if not all(isinstance(value, type(empty[block])) for block, value in content.items()):
        return False
    rows = [*content.get("checks", []), *content.get("tables", [])]
    return all(isinstance(row, dict) and isinstance(row.get("name"), str) for row in rows) and all(
        isinstance(check.get("passed"), bool) for check in content.get("checks", [])
    )


def _add(block: str, values: Any) -> None:
    if not (folder := os.environ.get("WORKBENCH_RUN_DIR")):
        return
    kept = read(folder)
    if isinstance(values, dict):
        kept[block].update(values)
    else:
        names = {value["name"] for value in values}
        kept[block] = [old for old in kept[block] if old["name"] not in names] + values
    with files.replacing(Path(folder) / "results.json") as new:
        new.write_text(json.dumps(kept, indent=1), encoding="utf-8")


def _all(kind: Callable[[str, Any], Any], values: dict[str, Any]) -> dict[str, Any]:
    """Return values as they are kept; the error names all that are wrong at once."""
    kept, wrong = {}, []
    for name, value in values.items():
        try:
            kept[name] = kind(name, value)
        except ValueError as error:
            wrong.append(str(error))
    if wrong:
        raise ArgumentError("; ".join(wrong))
    return kept


def _fact(name: str, value: Any) -> Any:
    _name(name)
    value = plain(value)
    if name.endswith(STATES) and not isinstance(value, bool):
        raise ArgumentError(f"{name} states something, so it takes a boolean; found {value!r}")
    if isinstance(value, float):
        raise ArgumentError(f"{name} is a float ({value!r}); record a Decimal or a count, or use results.measure")
    if not isinstance(value, int | str | bool | None):
        raise ArgumentError(
            f"{name} is a {type(value).__name__}; a fact is an int, a Decimal, a boolean or a text"
        )
    return value


def _measurement(name: str, value: Any) -> Any:
    _name(name)
    value = plain(value)
    if value is not None and not isinstance(value, int | float | str | bool):
        raise ArgumentError(f"{name} is a {type(value).__name__}; a measurement is a number, a text or a boolean")
    if isinstance(value, float) and not math.isfinite(value):
        raise ArgumentError(f"{name} is {value}; a measurement is finite")
    return value


def _name(name: str) -> None:
    if not NAME.fullmatch(name):
        raise ArgumentError(f"{name!r} is not a name for a result; expected lower case, digits and underscores")


def plain(value: Any) -> Any:
    """Turn numpy's and Spark's numbers into Python's, a Decimal into its text; leave the rest."""
    if hasattr(value, "item") and getattr(value, "shape", None) == ():
        value = value.item()
    if isinstance(value, Decimal):
        return str(value)
    if isinstance(value, numbers.Integral) and not isinstance(value, bool):
        return int(value)
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    return value if isinstance(value, str | int | float | bool | None) else str(value)
