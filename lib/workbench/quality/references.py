"""Rules about other frames, which are given under an alias."""

import re
from collections.abc import Callable, Hashable, Sequence

from workbench._base import releases
from workbench._base.errors import ArgumentError
from workbench._base.typing import Column, DataFrame, DataType
from workbench.quality.comparisons import judged
from workbench.quality.frames import Bound, Facts, Frame, Judged, first_line, named, over_rows
from workbench.quality.rules import Condition, Rule
from workbench.quality.syntax import name

Pair = tuple[tuple[Column, DataType], tuple[Column, DataType]]  # a column of the frame, and of the reference


def row_count_match(frame: Frame, rule: Rule) -> Bound:
    """Bind RowCountMatch: the rows of the frame for each row of the reference."""
    alias = name(rule.parameters[0])
    reference = _reference(frame, alias)
    key = ("rows of", alias)

    def judge(facts: Facts) -> Judged:
        if not facts[key]:
            return Judged(False, f"Reference dataset {alias} has no rows")
        return judged(rule.required, f"Dataset.{alias}.RowCountMatch", facts["rows", None] / facts[key])

    return Bound(frame.rows(None) | {key: reference.count}, judge)


def referential_integrity(frame: Frame, rule: Rule) -> Bound:
    """Bind ReferentialIntegrity: the share of the rows whose key, without NULL, is in the reference."""
    from pyspark.sql import functions as F

    own = [part.strip() for part in name(rule.parameters[0]).split(",")]
    alias, theirs = _columns_of(frame, name(rule.parameters[1]))
    if len(own) != len(theirs):
        raise ArgumentError(f"{len(own)} columns are compared with {len(theirs)} of {alias}")
    reference = frame.references[alias]
    pairs = [(frame.column(a), frame.column(b, reference)) for a, b in zip(own, theirs, strict=True)]
    for column_name, ((_, left), (_, right)) in zip(own, pairs, strict=True):
        if not _comparable(left, right) or (left != right and not frame.jvm):
            raise ArgumentError(
                f'"{column_name}" is {left.simpleString()}, and its column of {alias} {right.simpleString()}; '
                "they cannot be compared without loss"
            )
    names = tuple((frame.field(a).name, frame.field(b, reference).name) for a, b in zip(own, theirs, strict=True))
    key = ("found in", alias, names)
    helper = frame.helper(key)
    keys = [frame.helper((*key, i)) for i in range(len(pairs))]
    known = _known(reference, pairs, keys).withColumn(helper, F.lit(True))

    def attach(df: DataFrame) -> DataFrame:
        same = [left == named(k) for ((left, _), _), k in zip(pairs, keys, strict=True)]
        return df.join(known, same, "left").drop(*keys)

    metric = f"Column.{alias}.ReferentialIntegrity"
    return partnered(frame, key, attach, rule.required, metric, joins=False, whole=False)


def _known(reference: DataFrame, pairs: Sequence[Pair], keys: Sequence[str]) -> DataFrame:
    """Return the different keys of the reference as values of the frame's types, without those it cannot hold."""
    from pyspark.errors import PySparkException
    from pyspark.sql import functions as F

    values = []
    for ((_, left), (right, theirs)), key in zip(pairs, keys, strict=True):
        # a value that comes back from the cast is exact; Spark's own common type would round what it cannot hold
        cast = right
        if left != theirs:
            cast = releases.try_cast(right, left)
            cast = F.when(releases.try_cast(cast, theirs) == right, cast)
        values.append(cast.alias(key))
    try:
        return reference.select(*values).dropna().distinct()
    except PySparkException as error:
        raise ArgumentError(f"its keys cannot be compared: {first_line(error)}") from error


def partnered(
    frame: Frame,
    key: Hashable,
    attach: Callable[[DataFrame], DataFrame],
    condition: Condition | None,
    metric: str,
    *,
    joins: bool,
    whole: bool,
) -> Bound:
    """Bind a rule by the share of the rows that have a partner in another frame.

    Args:
        frame: that the rule is about.
        key: of what must be known, and of the column that `attach` adds: true where there is a partner, else NULL.
        attach: function of a frame that adds this column.
        condition: on the share; None for all rows.
        metric: its name.
        joins: as of Bound, like the next one.
        whole: whether all rows must have a partner.
    """
    from pyspark.sql import functions as F

    helper = frame.helper(key)
    needs = frame.rows(None) | {key: lambda: attach(frame.df).agg(F.count(named(helper))).collect()[0][0]}
    judge = over_rows(None, lambda facts: judged(condition, metric, facts[key] / facts["rows", None]))
    row = F.coalesce(named(helper), F.lit(False))
    return Bound(needs, judge, row=row, attach={helper: attach}, joins=joins, whole=whole)


def _reference(frame: Frame, alias: str) -> DataFrame:
    if alias not in frame.references:
        known = ", ".join(frame.references) or "none"
        raise ArgumentError(f'there is no reference "{alias}"; references= has {known}')
    return frame.references[alias]


def _columns_of(frame: Frame, text: str) -> tuple[str, list[str]]:
    """Read `alias.column` or `alias.{column, column}`; an alias may have dots itself."""
    known = [alias for alias in frame.references if text.startswith(f"{alias}.")]
    alias = max(known, key=len) if known else text.partition(".")[0]
    _reference(frame, alias)
    rest = text[len(alias) + 1 :].strip()
    inner = re.fullmatch(r"\{(.*)\}", rest, re.DOTALL)
    columns = [part.strip() for part in inner[1].split(",")] if inner else [rest]
    if not all(columns):
        raise ArgumentError(f'"{text}" names no column; expected "alias.column" or "alias.{{column,column}}"')
    return alias, columns


def _comparable(left: DataType, right: DataType) -> bool:
    """Say whether equality is exact: the same type, or two kinds of whole numbers and decimals."""
    from pyspark.sql import types as T

    exact = (T.IntegralType, T.DecimalType)
    return left == right or (isinstance(left, exact) and isinstance(right, exact))
