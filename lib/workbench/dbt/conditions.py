"""Tests that say of each row, or of each key, whether it fails: what holds for all parts of a table holds for it.

Such a statement reads one table, through subqueries and `with` that only filter, name and group. It gives no rows
exactly when it gives none for any part of the table. What is not understood is None: no test is guessed.
"""

from dataclasses import dataclass, field
from typing import Any

# nodes of conditions that raise at no row and depend on nothing but the row
SAFE = {
    "Alias", "And", "Between", "Boolean", "Case", "Coalesce", "Column", "DataType", "EQ", "GT", "GTE", "ILike",
    "Identifier", "If", "In", "Is", "LT", "LTE", "Length", "Like", "Literal", "Lower", "NEQ", "Neg", "Not", "Null",
    "Or", "Paren", "RegexpLike", "Star", "Trim", "TryCast", "Tuple", "Upper",
}  # fmt: skip
_READS = {"with", "expressions", "from", "where", "group", "distinct"}  # clauses that are understood


@dataclass
class Rows:
    """What a statement makes of the rows of its table.

    Attributes:
        names: what each column of the result is, in columns of the table; None where it is a count.
        whole: whether the other columns of the table are among them, by their own names.
        fails: conditions that a row of the result fulfils, in columns of the table.
        keyed: whether rows that are alike are one.
    """

    names: dict[str, Any] = field(default_factory=dict)
    whole: bool = False
    fails: list[Any] = field(default_factory=list)
    keyed: bool = False


@dataclass(frozen=True)
class Unique:
    """A statement that gives the keys which stand in several rows.

    Attributes:
        keys: columns of the table.
        where: conditions on the rows that count.
    """

    keys: tuple[Any, ...]
    where: tuple[Any, ...]

    @property
    def names(self) -> list[str]:
        """Names of the keys, in lower case."""
        return [key.name.lower() for key in self.keys]

    def counted(self, table: str, *, hashed_by: str, dialect: str) -> str:
        """Return a statement that says whether the keys of a table have as many hashes as there are rows."""
        keys = ", ".join(key.sql(dialect) for key in self.keys)
        where = " AND ".join(f"({condition.sql(dialect)})" for condition in self.where) or "true"
        return f"SELECT count(*) = count(DISTINCT {hashed_by}({keys})) FROM {table} WHERE {where}"


def rows_of(tree: Any) -> Rows | None:
    """Return what a statement makes of the rows of its one table, None where it is another statement."""
    return _rows(tree, {})


def unique_of(tree: Any) -> Unique | None:
    """Return the keys of a statement that lists those which stand in several rows, None of another one."""
    from sqlglot import exp

    named: dict[str, Any] = {}
    while isinstance(tree, exp.Select) and _clauses(tree) <= {"with", "expressions", "from"} and _plain_star(tree):
        scope = _named(tree, named)
        source = tree.args["from_"].this if tree.args.get("from_") else None
        if scope is None or not isinstance(source, exp.Table | exp.Subquery):
            return None
        if isinstance(source, exp.Subquery):
            tree, named = source.this, scope
        else:
            tree, named = scope.get(source.name.lower(), (None, {})) if not source.db else (None, {})
    if not isinstance(tree, exp.Select) or "having" not in _clauses(tree) or "group" not in _clauses(tree):
        return None
    if tree.args["having"].this.sql().upper() != "COUNT(*) > 1":
        return None
    keys, grouped = tree.args["group"].expressions, tree.copy()
    grouped.set("having", None)
    rows, source = _rows(grouped, named), tree.args["from_"].this
    if rows is None or not keys or not all(type(key) is exp.Column for key in keys):
        return None
    return Unique(tuple(keys), tuple(rows.fails)) if isinstance(source, exp.Table) and source.db else None


def _clauses(tree: Any) -> set[str]:
    return {name.rstrip("_") for name, value in tree.args.items() if value} - {"kind"}


def _plain_star(tree: Any) -> bool:
    from sqlglot import exp

    columns = tree.expressions
    return len(columns) == 1 and type(columns[0]) is exp.Star and not any(columns[0].args.values())


def _named(tree: Any, outer: dict[str, Any]) -> dict[str, Any] | None:
    """Return the queries that a statement may name, each with those that it may name itself."""
    scope = dict(outer)
    if tree.args.get("with_") and tree.args["with_"].args.get("recursive"):
        return None
    for cte in tree.ctes:
        if cte.args["alias"].args.get("columns"):
            return None
        scope[cte.alias.lower()] = (cte.this, dict(scope))
    return scope


def _rows(tree: Any, named: dict[str, Any]) -> Rows | None:
    from sqlglot import exp

    if not isinstance(tree, exp.Select) or not {"from", "expressions"} <= _clauses(tree) <= _READS:
        return None
    if tree.args.get("distinct") and tree.args["distinct"].args.get("on"):
        return None
    scope = _named(tree, named)
    source = _source(tree.args["from_"].this, scope) if scope is not None else None
    if source is None:
        return None
    fails = [_inlined(tree.args["where"].this, source)] if tree.args.get("where") else []
    columns = _projected(tree, source)
    if None in fails or columns is None or not _groups_by_columns(tree, source):
        return None
    return Rows(*columns, source.fails + fails, source.keyed or bool(_clauses(tree) & {"group", "distinct"}))


def _source(source: Any, named: dict[str, Any]) -> Rows | None:
    from sqlglot import exp

    if not isinstance(source, exp.Table | exp.Subquery):
        return None
    if {name for name, value in source.args.items() if value} - {"this", "db", "catalog", "alias"}:
        return None  # a sample, a version, a join
    if source.args.get("alias") and source.args["alias"].args.get("columns"):
        return None
    if isinstance(source, exp.Subquery):
        return _rows(source.this, named)
    if source.db:
        return Rows(whole=True)
    query, scope = named.get(source.name.lower(), (None, {}))
    return _rows(query, scope)


def _groups_by_columns(tree: Any, source: Rows) -> bool:
    """Return whether a statement groups by nothing, or by columns and places of columns alone."""
    from sqlglot import exp

    group = tree.args.get("group")
    if group is None:
        return True
    if not group.expressions or any(value for name, value in group.args.items() if name != "expressions"):
        return False
    return all(isinstance(key, exp.Column | exp.Literal) and _inlined(key, source) for key in group.expressions)


def _projected(tree: Any, source: Rows) -> tuple[dict[str, Any], bool] | None:
    """Return the names of the result's columns, and whether all others of the table are among them."""
    from sqlglot import exp

    names: dict[str, Any] = {}
    whole = False
    for column in tree.expressions:
        if type(column) is exp.Star and not any(column.args.values()):
            names, whole = {**source.names, **names}, source.whole
            continue
        counts = column.this if isinstance(column, exp.Alias) else column
        if type(counts) is exp.Count and isinstance(counts.this, exp.Star) and tree.args.get("group"):
            value = None
        elif counts.find(exp.AggFunc) or (value := _inlined(counts, source)) is None:
            return None
        name = column.alias_or_name.lower()
        if name in names or (whole and isinstance(column, exp.Alias)):
            return None  # two columns of one name, perhaps
        names[name] = value
    return names, whole


def _inlined(tree: Any, source: Rows) -> Any:
    """Return an expression in columns of the table, None where it is not understood."""
    from sqlglot import exp

    if not all(type(node).__name__ in SAFE or _literal_day(node) for node in tree.walk()):
        return None
    unknown = []

    def put(node: Any) -> Any:
        if not isinstance(node, exp.Column) or isinstance(node.this, exp.Star):
            return node
        name = node.name.lower()
        if len(node.parts) > 1:  # a table's name, or a column's whose field it is
            unknown.append(name)
            return node
        value = source.names.get(name)
        if value is not None:
            return exp.Paren(this=value.copy())
        if name in source.names or not source.whole:
            unknown.append(name)
        return exp.Column(this=node.this.copy())

    inlined = tree.copy().transform(put)
    return None if unknown else inlined


def _literal_day(node: Any) -> bool:
    """Return whether an expression is a day as `date '2026-01-31'` writes one: wrong for each row, or for none."""
    from sqlglot import exp

    literal = type(node) is exp.Cast and isinstance(node.this, exp.Literal) and node.this.is_string
    return bool(literal and node.to.is_type("date"))
