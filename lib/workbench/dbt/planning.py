"""What a test reads, and which cheap evidence could prove that no row fails it.

What is not understood is no error: such a test is left to dbt's own statement, always.
"""

import hashlib
import importlib.util
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib import metadata
from pathlib import Path
from typing import Any, Literal

from workbench._base import files
from workbench._base.door import checked
from workbench._base.errors import MissingPackageError
from workbench.dbt import conditions, manifests
from workbench.dbt.conditions import Unique, rows_of, unique_of
from workbench.dbt.manifests import Test

Kind = Literal["rows", "keys", "unique", "own"]
Dialect = Literal["duckdb", "spark"]

# functions whose value depends on their arguments alone; a test with any other may give another answer tomorrow
STEADY = {
    "Abs", "And", "Case", "Cast", "Coalesce", "Count", "If", "Length", "Lower", "Max", "Min", "Or", "RegexpLike",
    "Trim", "TryCast", "Upper",
}  # fmt: skip


@dataclass(frozen=True)
class Planned:
    """A test and what was understood of it.

    Attributes:
        test: the test.
        kind: `rows` where it says of each row of one table whether it fails, `keys` where of each value, `unique`
            where no two rows may have the same key, else `own`: only its own statement answers.
        tables: (database, schema, name) of what it reads, sorted; empty where the SQL was not understood.
        steady: whether the same tables give the same outcome at any time.
        columns: names in it that may be columns, in lower case, sorted.
        dialect: of its SQL.
    """

    test: Test
    kind: Kind
    tables: tuple[tuple[str, ...], ...] = ()
    steady: bool = False
    columns: tuple[str, ...] = ()
    dialect: Dialect = "duckdb"

    @cached_property
    def fails(self) -> Any:
        """Condition of a row that fails, as sqlglot's tree, of the kinds `rows` and `keys`; else None."""
        from sqlglot import exp

        if self.kind not in ("rows", "keys"):
            return None
        rows = rows_of(_tree(self.test, self.dialect))
        assert rows is not None  # of this kind it is
        return exp.and_(*rows.fails)

    @cached_property
    def unique(self) -> Unique | None:
        """Keys and conditions, as sqlglot's trees, of the kind `unique`; else None."""
        return unique_of(_tree(self.test, self.dialect)) if self.kind == "unique" else None


@checked
def plan(tests: Sequence[Test], *, dialect: Dialect = "duckdb", kept: str | Path | None = None) -> list[Planned]:
    """Say of each test what it reads and what could prove it, without reading anything.

    Args:
        tests: the tests, as `dbt.tests` lists them.
        dialect: of their SQL.
        kept: file of what was understood earlier, made where it is missing; of another version of this library or
            of sqlglot it is made anew. None understands all tests anew.

    Returns:
        One entry a test, in the same order.

    Raises:
        MissingPackageError: sqlglot is not installed.
    """
    if importlib.util.find_spec("sqlglot") is None:
        raise MissingPackageError("sqlglot is not installed; install iceberg-workbench[dbt]")
    if kept is None:
        return [_planned(test, dialect) for test in tests]
    path, planner = Path(kept), _planner(metadata.version("sqlglot"), dialect)
    known = _known(path, planner)
    entries = [_kept(test, known, dialect) or _planned(test, dialect) for test in tests]
    now = {entry.test.digest: [entry.kind, entry.tables, entry.steady, entry.columns] for entry in entries}
    if now.keys() - known.keys():
        with files.replacing(path) as new:
            new.write_text(json.dumps({"planner": planner, "tests": now}), encoding="utf-8")
    return entries


def _planner(version: str, dialect: Dialect) -> str:
    """Return what understands tests: the code, and the version of sqlglot."""
    code = [Path(str(module)).read_bytes() for module in (__file__, conditions.__file__, manifests.__file__)]
    return f"{dialect} {version} {hashlib.sha256(b''.join(code)).hexdigest()}"


def _known(path: Path, planner: str) -> dict[str, Any]:
    """Return what was understood earlier, by the test's digest; nothing where something else understood it."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        return dict(content["tests"]) if content["planner"] == planner else {}
    except (OSError, ValueError, LookupError, TypeError):
        return {}


def _kept(test: Test, known: Mapping[str, Any], dialect: Dialect) -> Planned | None:
    if (entry := known.get(test.digest)) is None:
        return None
    kind, tables, steady, columns = entry
    return Planned(test, kind, tuple(map(tuple, tables)), steady, tuple(columns), dialect)


def _tree(test: Test, dialect: Dialect) -> Any:
    import sqlglot

    return sqlglot.parse_one(test.sql, read=dialect)


def _planned(test: Test, dialect: Dialect) -> Planned:
    import sqlglot
    from sqlglot import exp

    try:
        parsed = sqlglot.parse(test.statement, read=dialect)
    except sqlglot.errors.SqlglotError:
        return Planned(test, "own")
    if len(parsed) != 1 or parsed[0] is None:
        return Planned(test, "own")
    tables, steady = _tables(parsed[0]), _steady(parsed[0], test)
    if tables is None:
        return Planned(test, "own")
    reads_one = len(tables) == 1 and len([t for t in parsed[0].find_all(exp.Table) if t.db]) == 1
    if not reads_one or not steady or not passes_at_zero(test):
        return Planned(test, "own", tables, steady)
    tree = _tree(test, dialect)
    columns = tuple(sorted({column.name.lower() for column in tree.find_all(exp.Column)}))
    if (rows := rows_of(tree)) is not None and rows.fails:
        planned = Planned(test, "keys" if rows.keyed else "rows", tables, steady, columns, dialect)
        planned.__dict__["fails"] = exp.and_(*rows.fails)  # as the property would, of the same tree
        return planned
    unique = unique_of(tree)
    planned = Planned(test, "unique" if unique else "own", tables, steady, columns, dialect)
    planned.__dict__["unique"] = unique
    return planned


def passes_at_zero(test: Test) -> bool:
    """Return whether no failing rows are a pass, which `fail_calc`, `warn_if` and `error_if` can say otherwise."""
    conditions = (test.warn_if, test.error_if)
    plain = all(re.fullmatch(r"(!=|<>) *0|> *\d+", condition.strip()) for condition in conditions)
    return plain and test.fail_calc.strip().lower() == "count(*)"


def _tables(tree: Any) -> tuple[tuple[str, ...], ...] | None:
    """Return the tables of a statement, or None where it reads something else, such as a file."""
    from sqlglot import exp

    named = {cte.alias for cte in tree.find_all(exp.CTE)}
    tables = set()
    for table in tree.find_all(exp.Table):
        if not isinstance(table.this, exp.Identifier):
            return None
        if table.db:
            tables.add(tuple(part.name for part in table.parts))
        elif table.name not in named:
            return None
    return tuple(sorted(tables))


def _steady(tree: Any, test: Test) -> bool:
    """Return whether a statement depends on nothing but its tables: no clock, no chance, no order of rows."""
    from sqlglot import exp

    functions = {type(node).__name__ for node in tree.find_all(exp.Func)}
    limits = len([*tree.find_all(exp.Limit)]) - (test.limit is not None)  # dbt's own never gives none
    others = any(tree.find(kind) for kind in (exp.TableSample, exp.Window, exp.Placeholder, exp.Parameter))
    zoned = any("TZ" in str(kind.this) for kind in tree.find_all(exp.DataType))  # by the session's zone
    return functions <= STEADY and not limits and not others and not zoned
