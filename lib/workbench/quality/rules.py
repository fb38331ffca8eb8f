"""The rules, conditions and operands of a DQDL ruleset, as values. No Spark, no parser."""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction
from typing import Any, Literal

from workbench._base.errors import ArgumentError


class Keyword(Enum):
    """A keyword of DQDL that stands for many texts; NULL is None and EMPTY the empty text."""

    WHITESPACES_ONLY = "WHITESPACES_ONLY"


@dataclass(frozen=True)
class Now:
    """The moment of the evaluation, moved by a duration.

    Attributes:
        microseconds: what is added to it.
    """

    microseconds: int = 0


Kind = Literal["number", "string", "date", "duration"]  # of a condition
Operand = Fraction | str | Keyword | Now | int | None


@dataclass(frozen=True)
class Condition:
    """A condition on a value.

    Attributes:
        kind: "number", "string", "date" or "duration".
        operator: as in DQDL: between, not between, >, >=, <, <=, =, !=, in, not in, matches, not matches.
        operands: Fraction, text, Keyword, Now, or microseconds of a duration; None is NULL.
    """

    kind: Kind
    operator: str
    operands: tuple[Operand, ...]

    @property
    def accepts_null(self) -> bool:
        """Whether a NULL satisfies it: a listed one does, and != and not in pass every NULL that is not listed."""
        listed = None in self.operands
        return not listed if self.operator in ("!=", "not in") else listed and self.operator in ("=", "in")

    @property
    def values(self) -> tuple[Any, ...]:
        """The operands without NULL."""
        return tuple(operand for operand in self.operands if operand is not None)


@dataclass(frozen=True)
class Rule:
    """One rule.

    Attributes:
        text: as written, without labels; blanks and comments between its words made one blank.
        type: the rule type, such as ColumnValues.
        parameters: column names, an alias or a statement.
        condition: what its value must satisfy; None for the types that take none.
        where: Spark SQL filter of the rows it is about; None for all.
        threshold: condition on the share of rows that must satisfy `condition`; None for all of them.
        labels: (key, value) of each of its labels, those of the ruleset included; they change no verdict.
    """

    text: str
    type: str
    parameters: tuple[str, ...]
    condition: Condition | None = None
    where: str | None = None
    threshold: Condition | None = None
    labels: tuple[tuple[str, str], ...] = ()

    @property
    def required(self) -> Condition:
        """The condition of a rule whose type needs one; ValueError without."""
        if self.condition is None:
            raise ArgumentError(f"{self.type} needs a condition")
        return self.condition


@dataclass(frozen=True)
class Composite:
    """Rules joined by `and` or `or`.

    Attributes:
        text: as written.
        operator: "and" or "or".
        parts: rules or composites, in the order written; they have no labels of their own.
        labels: as those of a Rule.
    """

    text: str
    operator: Literal["and", "or"]
    parts: tuple["Rule | Composite", ...]
    labels: tuple[tuple[str, str], ...] = ()


def leaves(rule: Rule | Composite) -> Iterator[Rule]:
    """Yield the rules of which a composite is made, in order; of a rule, the rule."""
    if isinstance(rule, Composite):
        for part in rule.parts:
            yield from leaves(part)
    else:
        yield rule


@dataclass(frozen=True)
class Signature:
    """The form that the language allows a rule type.

    Attributes:
        parameters: the fewest and the most (None: any number).
        conditions: the kinds of condition it takes; empty for none.
        optional: whether the condition may be left out.
        where: whether it takes a filter.
        threshold: whether it takes `with threshold`.
    """

    parameters: tuple[int, int | None]
    conditions: tuple[Kind, ...] = ()
    optional: bool = False
    where: bool = False
    threshold: bool = False


_NUMBER: tuple[Kind, ...] = ("number",)

# parameters, conditions, where and threshold as in rules/rules-config.json of software.amazon.glue:dqdl:1.0.0
SIGNATURES = {
    "ColumnCount": Signature((0, 0), _NUMBER),
    "ColumnDataType": Signature((1, 1), ("string",), where=True, threshold=True),
    "ColumnExists": Signature((1, 1)),
    "ColumnLength": Signature((1, 1), _NUMBER, where=True),
    "ColumnValues": Signature((1, 1), ("number", "string", "date"), where=True, threshold=True),
    "Completeness": Signature((1, 1), _NUMBER, where=True),
    "CustomSql": Signature((1, 1), _NUMBER, optional=True, threshold=True),
    "DataFreshness": Signature((1, 1), ("duration",), where=True),
    "DistinctValuesCount": Signature((1, 1), _NUMBER, where=True),
    "Entropy": Signature((1, 1), _NUMBER, where=True),
    "IsComplete": Signature((1, 1), where=True),
    "IsPrimaryKey": Signature((1, None), where=True),
    "IsUnique": Signature((1, None), where=True),
    "Mean": Signature((1, 1), _NUMBER, where=True),
    "ReferentialIntegrity": Signature((2, 2), _NUMBER),
    "RowCount": Signature((0, 0), _NUMBER, where=True),
    "RowCountMatch": Signature((1, 1), _NUMBER),
    "StandardDeviation": Signature((1, 1), _NUMBER, where=True),
    "Sum": Signature((1, 1), _NUMBER, where=True),
    "Uniqueness": Signature((1, None), _NUMBER, where=True),
}
