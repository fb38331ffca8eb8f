"""The same question for another engine: Spark SQL into DuckDB's by sqlglot, with what the comparison must know.

The translation carries the keys of the outermost ORDER BY as columns behind those of the answer. Which rows may
change places, and which may be cut off by LIMIT instead of others, follows from the keys and from nothing else.
"""

from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal
from typing import TYPE_CHECKING, Any

from workbench._base.errors import ArgumentError

if TYPE_CHECKING:
    from sqlglot import exp

# Queries whose text sqlglot cannot turn into one that DuckDB answers as Spark means it: name to reason. Their
# verdict is "unverified": never equal, counted apart. None is known.
UNVERIFIED: dict[str, str] = {}


def cut_to_whole(node: "exp.Expression") -> "exp.Expression":
    """Cut a computed number that is cast to an integer: Spark cuts, DuckDB rounds, sqlglot says CAST for both.

    q54 divides revenue by 50 and casts. Only what is computed is touched: TRUNC of a text would fail.
    """
    from sqlglot import exp

    if not isinstance(node, exp.Cast) or not node.is_type(*exp.DataType.INTEGER_TYPES):
        return node
    if isinstance(node.this.unnest(), exp.Add | exp.Sub | exp.Mul | exp.Div | exp.Neg):
        node.set("this", exp.Trunc(this=node.this.unnest()))
    return node


# Half up in whole numbers, cents by 10 to the 10th: of a quotient near 10 a double has no sure twelfth decimal
_TWELVE_DECIMALS = """
    CAST(SIGN(n) * SIGN(d) * ((2 * 10000000000 * ABS(CAST(n * 100 AS HUGEINT)) + ABS(d)) // (2 * ABS(d)))
    AS DECIMAL(26, 0)) * 0.000000000001
"""


def rounded_before_the_sum(node: "exp.Expression") -> "exp.Expression":
    """Round quotients of money before they are added up: Spark's have a scale, DuckDB's are floats.

    q66 adds up sales by area. Spark gives a decimal(28,2) by an INT twelve decimals (38 digits, 26 of them before
    the point: org.apache.spark.sql.types.DecimalType.adjustPrecisionScale), and the sum has no more.
    """
    from sqlglot import exp, parse_one

    quotient = node.this.unnest() if isinstance(node, exp.Sum) else None
    if isinstance(quotient, exp.Div) and not isinstance(quotient.expression, exp.Literal):
        parts = {"n": quotient.this.unnest(), "d": quotient.expression.unnest()}
        exact = parse_one(_TWELVE_DECIMALS, read="duckdb")
        for column in list(exact.find_all(exp.Column)):
            column.replace(exp.paren(parts[column.name].copy()))
        node.set("this", exact)
    return node


def rounded_constant(node: "exp.Expression") -> "exp.Expression":
    """Round a quotient of two written decimals to the scale that Spark gives it: 2.0 / 3.0 is 0.666667.

    q21 takes ratios from there on: one of exactly two thirds is in for DuckDB, whose quotient is a float.
    """
    from sqlglot import exp

    parts = (node.this, node.expression) if isinstance(node, exp.Div) else ()
    if parts and all(isinstance(part, exp.Literal) and part.is_number and not part.is_int for part in parts):
        n, d = (Decimal(part.name) for part in parts)
        above, below = (-int(number.as_tuple().exponent) for number in (n, d))
        # org.apache.spark.sql.types.DecimalType: 6, or the decimals above, the digits below and one
        scale = max(6, above + max(len(d.as_tuple().digits), below) + 1)
        return exp.Literal.number(str((n / d).quantize(Decimal(1).scaleb(-scale), ROUND_HALF_UP)))
    return node


# What sqlglot leaves as it was though the engines mean different things by it; each says why.
REPAIRS = (cut_to_whole, rounded_before_the_sum, rounded_constant)


@dataclass(frozen=True)
class Translation:
    """A query in DuckDB's SQL.

    Attributes:
        sql: the answer's columns, then the sort keys that are not among them.
        unlimited: the same without the outermost LIMIT.
        hidden: how many columns stand behind those of the answer.
        keys: where the keys of the ORDER BY are: positions in the answer from 0, or -1 … -hidden from the end.
        limit: rows of the outermost LIMIT; None when there is none.
    """

    sql: str
    unlimited: str
    hidden: int
    keys: tuple[int, ...]
    limit: int | None


def to_duckdb(text: str) -> Translation:
    """Translate a Spark SQL query.

    Raises:
        ValueError: it is not one query, or sqlglot cannot write it.
    """
    tree = parse(text)
    for repair in REPAIRS:
        tree = tree.transform(repair)
    hidden, keys = _sort_keys(tree)
    limit = tree.args.get("limit")
    sql = _sql(tree)
    tree.set("limit", None)
    return Translation(sql, _sql(tree), hidden, keys, int(limit.expression.name) if limit else None)


def without_limit(text: str) -> str:
    """Return a Spark SQL text without its outermost LIMIT, else as it stands."""
    from sqlglot import TokenType
    from sqlglot.dialects.spark import Spark

    if parse(text).args.get("limit") is None:
        return text
    last = [token for token in Spark().tokenize(text) if token.token_type == TokenType.LIMIT][-1]
    return text[: last.start].rstrip()


def tables(text: str) -> tuple[str, ...]:
    """Return the names of the tables that a query reads, sorted, without the names of its own WITH."""
    from sqlglot import exp

    tree = parse(text)
    own = {query.alias.lower() for query in tree.find_all(exp.CTE)}
    return tuple(sorted({table.name.lower() for table in tree.find_all(exp.Table)} - own))


def parse(text: str) -> Any:
    """Return sqlglot's tree of a Spark SQL query."""
    import sqlglot
    from sqlglot.errors import SqlglotError

    try:
        trees = [tree for tree in sqlglot.parse(text, read="spark") if tree is not None]
    except SqlglotError as error:
        raise ArgumentError(f"sqlglot cannot read this as Spark SQL: {error}") from None
    if len(trees) != 1 or not hasattr(trees[0], "selects"):
        raise ArgumentError(f"expected one query, found {len(trees)} statements")
    return trees[0]


def _sql(tree: "exp.Expression") -> str:
    from sqlglot import ErrorLevel
    from sqlglot.errors import SqlglotError

    try:
        return tree.sql(dialect="duckdb", unsupported_level=ErrorLevel.RAISE, comments=False)
    except SqlglotError as error:
        raise ArgumentError(f"sqlglot cannot write this in DuckDB's SQL: {error}") from None


def _sort_keys(tree: Any) -> tuple[int, tuple[int, ...]]:
    """Append the keys that are not a column of the answer to a SELECT's columns; return (how many, positions)."""
    from sqlglot import exp

    order = tree.args.get("order")
    names = [column.alias_or_name for column in tree.selects]
    positions: list[int] = []
    added: list[Any] = []
    for ordered in order.expressions if order else ():
        key = ordered.this
        if isinstance(key, exp.Literal) and key.is_int:
            positions.append(int(key.name) - 1)
        elif isinstance(key, exp.Column) and not key.table and key.name in names:
            positions.append(names.index(key.name))
        elif isinstance(tree, exp.Select):
            added.append(exp.alias_(key.copy(), f"_key_{len(added) + 1}"))
            positions.append(-len(added))
        else:
            raise ArgumentError(f"a union is ordered by its columns, not by {key.sql()}")
    if added:
        tree.set("expressions", [*tree.expressions, *reversed(added)])  # the first is the last: -1
    return len(added), tuple(positions)
