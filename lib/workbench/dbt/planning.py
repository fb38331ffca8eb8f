"""What a test reads, and which cheap evidence could prove that no row fails it.

What is not understood is no error: such a test is left to dbt's own statement, always.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from workbench._base.door import checked
from workbench._base.errors import MissingPackageError
from workbench.dbt.conditions import Unique, rows_of, unique_of
from workbench.dbt.manifests import Test

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
        fails: condition of a row that fails, as sqlglot's tree, of the kinds `rows` and `keys`.
        unique: keys and conditions, as sqlglot's trees, of the kind `unique`.
    """

    test: Test
    kind: Literal["rows", "keys", "unique", "own"]
    tables: tuple[tuple[str, ...], ...] = ()
    steady: bool = False
    columns: tuple[str, ...] = ()
    fails: Any = None
    unique: Unique | None = None


@checked
def plan(tests: Sequence[Test], *, dialect: Literal["duckdb", "spark"] = "duckdb") -> list[Planned]:
    """Say of each test what it reads and what could prove it, without reading anything.

    Args:
        tests: the tests, as `dbt.tests` lists them.
        dialect: of their SQL.

    Returns:
        One entry a test, in the same order.

    Raises:
        MissingPackageError: sqlglot is not installed.
    """
    return [_planned(test, dialect) for test in tests]


def _planned(test: Test, dialect: str) -> Planned:
    try:
        import sqlglot
        from sqlglot import exp
    except ModuleNotFoundError:
        raise MissingPackageError("sqlglot is not installed; install iceberg-workbench[dbt]") from None
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
    tree = sqlglot.parse_one(test.sql, read=dialect)
    columns = tuple(sorted({column.name.lower() for column in tree.find_all(exp.Column)}))
    if (rows := rows_of(tree)) is not None and rows.fails:
        kind: Literal["rows", "keys"] = "keys" if rows.keyed else "rows"
        return Planned(test, kind, tables, steady, columns, fails=exp.and_(*rows.fails))
    unique = unique_of(tree)
    return Planned(test, "unique" if unique else "own", tables, steady, columns, unique=unique)


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
