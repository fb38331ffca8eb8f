"""What a test reads, and which cheap evidence could prove that no row fails it.

What is not understood is no error: such a test is left to dbt's own statement, always.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from workbench._base.door import checked
from workbench._base.errors import MissingPackageError
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
        kind: `rows` where it says which rows of one table fail by a condition that metrics can judge, else `own`.
        tables: (database, schema, name) of what it reads, sorted; empty where the SQL was not understood.
        steady: whether the same tables give the same outcome at any time.
        null_column: the column that must not be NULL, of a test of the kind `rows`.
    """

    test: Test
    kind: Literal["rows", "own"]
    tables: tuple[tuple[str, ...], ...] = ()
    steady: bool = False
    null_column: str | None = None


@checked
def plan(tests: Sequence[Test], *, dialect: Literal["duckdb"] = "duckdb") -> list[Planned]:
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
    except ModuleNotFoundError:
        raise MissingPackageError("sqlglot is not installed; install iceberg-workbench[dbt]") from None
    try:
        parsed = sqlglot.parse(test.statement, read=dialect)
    except sqlglot.errors.SqlglotError:
        return Planned(test, "own")
    if len(parsed) != 1 or parsed[0] is None:
        return Planned(test, "own")
    tables = _tables(parsed[0])
    if tables is None:
        return Planned(test, "own")
    column = _null_column(sqlglot.parse_one(test.sql, read=dialect)) if len(tables) == 1 else None
    column = column if test.fail_calc == "count(*)" else None
    return Planned(test, "rows" if column else "own", tables, _steady(parsed[0], test), column)


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


def _null_column(tree: Any) -> str | None:
    """Return the column of a statement that is `select … from table where column is null` and nothing else."""
    from sqlglot import exp

    if not isinstance(tree, exp.Select):
        return None
    clauses = {name.rstrip("_") for name, value in tree.args.items() if value} - {"kind"}
    simple = clauses == {"expressions", "from", "where"} and tree.find(exp.Func, exp.Subquery) is None
    condition = tree.args["where"].this if simple else None
    is_null = isinstance(condition, exp.Is) and isinstance(condition.expression, exp.Null)
    if condition is None or not is_null or not isinstance(condition.this, exp.Column):
        return None
    column = condition.this
    return None if column.table else str(column.name)
