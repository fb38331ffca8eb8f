"""Conditions that metrics of data files can refute: whether a file can hold a row that fulfils one."""

import re
from typing import Any

_MOST = 200  # values of a list, beyond which PyIceberg gives no answer either


def refutable(condition: Any, schema: Any) -> tuple[Any, set[int]] | None:
    """Return a condition as PyIceberg evaluates it, and ids of the floats in it, for which NaN must be excluded.

    What PyIceberg cannot say becomes *always true*, which only makes files of those that could be left out.

    Args:
        condition: SQL's tree, in columns of the table.
        schema: of the table.

    Returns:
        None where nothing of the condition can be refuted.
    """
    from pyiceberg.expressions import AlwaysTrue

    floats: set[int] = set()
    expression = _Refuting(schema, floats).of(condition, True)
    return None if isinstance(expression, AlwaysTrue) else (expression, floats)


class _Refuting:
    """The translation of one condition: every step gives something that holds at least where SQL says true."""

    def __init__(self, schema: Any, floats: set[int]) -> None:
        self.schema, self.floats = schema, floats

    def of(self, tree: Any, holds: bool) -> Any:
        """Return what must be true of a row for which a condition is true, or false where `holds` is not set."""
        from pyiceberg import expressions as iceberg
        from sqlglot import exp

        if isinstance(tree, exp.Paren):
            return self.of(tree.this, holds)
        if isinstance(tree, exp.Not):
            return self.of(tree.this, not holds)
        if isinstance(tree, exp.And | exp.Or):
            both = isinstance(tree, exp.And) == holds
            left, right = self.of(tree.this, holds), self.of(tree.expression, holds)
            return iceberg.And(left, right) if both else iceberg.Or(left, right)
        if isinstance(tree, exp.Between):
            low = exp.GTE(this=tree.this, expression=tree.args["low"])
            high = exp.LTE(this=tree.this, expression=tree.args["high"])
            plain = {name for name, value in tree.args.items() if value} == {"this", "low", "high"}
            return self.of(exp.And(this=low, expression=high), holds) if plain else iceberg.AlwaysTrue()
        if isinstance(tree, exp.EQ) and isinstance(tree.expression, exp.Boolean):  # `expression = true`
            return self.of(tree.this, holds == tree.expression.this)
        constant = _constant(tree)
        if constant is not None:
            return iceberg.AlwaysTrue() if constant == holds else iceberg.AlwaysFalse()
        return self.leaf(tree, holds)

    def leaf(self, tree: Any, holds: bool) -> Any:
        """Return what must be true of a row where a comparison is true, or false: never of a NULL."""
        from pyiceberg import expressions as iceberg
        from sqlglot import exp

        column = self.column(tree.this)
        if column is None:
            return iceberg.AlwaysTrue()
        if isinstance(tree, exp.Is) and isinstance(tree.expression, exp.Null):
            if column.required:  # PyIceberg believes a required column without looking
                return iceberg.AlwaysTrue()
            null: Any = iceberg.IsNull if holds else iceberg.NotNull  # their signatures are pydantic's
            return null(column.name)
        if isinstance(tree, exp.In) and tree.expressions and not holds:
            return iceberg.AlwaysTrue()
        if isinstance(tree, exp.In) and 0 < len(tree.expressions) < _MOST:
            values = [self.value(literal, column) for literal in tree.expressions]
            among: Any = iceberg.In
            return iceberg.AlwaysTrue() if None in values else among(column.name, set(values))
        pairs = {
            exp.EQ: (iceberg.EqualTo, iceberg.NotEqualTo), exp.NEQ: (iceberg.NotEqualTo, iceberg.EqualTo),
            exp.LT: (iceberg.LessThan, iceberg.GreaterThanOrEqual),
            exp.GTE: (iceberg.GreaterThanOrEqual, iceberg.LessThan),
            exp.GT: (iceberg.GreaterThan, iceberg.LessThanOrEqual),
            exp.LTE: (iceberg.LessThanOrEqual, iceberg.GreaterThan),
        }  # fmt: skip
        comparison: Any = pairs.get(type(tree), (None, None))[not holds]
        value = self.value(tree.expression, column) if comparison is not None else None
        return iceberg.AlwaysTrue() if value is None else comparison(column.name, value)

    def column(self, tree: Any) -> Any:
        """Return the table's column that an expression is and nothing else; floats are noted."""
        from pyiceberg.types import DoubleType, FloatType
        from sqlglot import exp

        while isinstance(tree, exp.Paren):
            tree = tree.this
        if not isinstance(tree, exp.Column):
            return None
        fields = [field for field in self.schema.fields if field.name.lower() == tree.name.lower()]
        if len(fields) != 1 or not fields[0].field_type.is_primitive:
            return None
        if isinstance(fields[0].field_type, FloatType | DoubleType):
            self.floats.add(fields[0].field_id)
        return fields[0]

    def value(self, tree: Any, column: Any) -> Any:
        """Return a literal as a value of the column's type, None where SQL could compare otherwise."""
        from pyiceberg import types
        from sqlglot import exp

        kind, sign = column.field_type, 1
        if isinstance(tree, exp.Neg):
            tree, sign = tree.this, -1
        if isinstance(tree, exp.Literal) and not tree.is_string:
            whole = re.fullmatch(r"\d{1,18}", tree.this)
            if isinstance(kind, types.IntegerType | types.LongType) and whole:
                return sign * int(tree.this)
            if isinstance(kind, types.DoubleType) and re.fullmatch(r"\d{1,15}(\.\d{1,15})?", tree.this):
                return sign * float(tree.this)
            return None
        if isinstance(tree, exp.Cast) and isinstance(kind, types.DateType) and tree.to.is_type("date"):
            tree = tree.this
        if not isinstance(tree, exp.Literal) or not tree.is_string or sign < 0:
            return None
        if isinstance(kind, types.DateType) and re.fullmatch(r"\d{4}-\d\d-\d\d", tree.this):
            return tree.this
        return tree.this if isinstance(kind, types.StringType) else None


def _constant(tree: Any) -> bool | None:
    """Return the truth of `true`, `false`, and of a comparison of two whole numbers, as macros write `1 = 2`."""
    from sqlglot import exp

    if isinstance(tree, exp.Boolean):
        return bool(tree.this)
    if not isinstance(tree, exp.EQ):
        return None
    left, right = tree.this, tree.expression
    numbers = [side.this for side in (left, right) if isinstance(side, exp.Literal) and side.this.isdigit()]
    return None if len(numbers) < 2 or left.is_string or right.is_string else int(numbers[0]) == int(numbers[1])
