"""The values that stand in a DQDL condition: numbers kept exact, texts unescaped, dates, durations, variables."""

import re
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from workbench._base.errors import ArgumentError
from workbench.quality.rules import Keyword, Kind, Now, Operand

Text = str | Keyword | None  # an operand that is a text; None is NULL
Variables = Mapping[str, Text | tuple[Text, ...]]
MICROSECONDS = {"days": 86_400_000_000, "hours": 3_600_000_000, "minutes": 60_000_000}


def condition(kind: Kind, tree: Any, variables: Variables) -> tuple[str, tuple[Operand, ...]]:
    """Read a condition.

    Args:
        kind: "number", "string", "date" or "duration".
        tree: what the parser made of it.
        variables: name to text or tuple of texts.

    Returns:
        (operator, tuple of operands).

    Raises:
        ValueError: a function call, an unknown variable, NULL where it means nothing, or bounds that are reversed.
    """
    operator = _operator(tree)
    operands: tuple[Operand, ...]
    if kind == "string":
        operands = _strings(operator, tree, variables)
    else:
        read, single, several = {
            "number": (number, "number", "numberArray"),
            "date": (date, "dateExpression", "dateExpressionArray"),
            "duration": (duration, "durationExpression", "durationExpressionArray"),
        }[kind]
        listed = getattr(tree, several)()
        operands = tuple(read(part) for part in getattr(listed or tree, single)())
    if None in operands and operator not in ("=", "!=", "in", "not in"):
        raise ArgumentError(f"{operator} cannot be used with NULL")
    if operator in ("between", "not between") and _reversed(*operands):
        raise ArgumentError(f"{operator} needs its lower bound first")
    return operator, operands


def _reversed(lower: Any, upper: Any) -> bool:
    """Say whether bounds are in the wrong order; of a date and now() only the frame's session can say."""
    if isinstance(lower, Now) and isinstance(upper, Now):
        return lower.microseconds > upper.microseconds
    return type(lower) is type(upper) and lower > upper


def _operator(tree: Any) -> str:
    """Return the operator, which is what stands before the first operand."""
    words: list[str] = []
    for child in tree.getChildren():
        word = child.getText()
        if word.startswith("matches"):
            return " ".join([*words, "matches"])
        if word not in ("not", "between", ">", ">=", "<", "<=", "!", "=", "in"):
            break
        words.append(word)
    return "!=" if words == ["!", "="] else " ".join(words)


def number(tree: Any) -> Fraction | None:
    """Return a number exactly, or None for NULL; arithmetic goes from left to right, as the grammar has it."""
    if tree.functionCall():
        call = tree.functionCall().getText()
        raise ArgumentError(f"dynamic rules are not supported, {call} is one")
    if tree.numberOp():
        left, right = (number(part) for part in tree.number())
        if left is None or right is None:
            raise ArgumentError("NULL cannot be calculated with")
        operator = tree.numberOp().getText()
        if operator == "/" and right == 0:
            raise ArgumentError("it divides by zero")
        return {"+": Fraction.__add__, "-": Fraction.__sub__, "*": Fraction.__mul__, "/": Fraction.__truediv__}[
            operator
        ](left, right)
    if tree.LPAREN():
        return number(tree.number(0))
    return None if tree.NULL() else Fraction(tree.atomicNumber().getText())


def _strings(operator: str, tree: Any, variables: Variables) -> tuple[Text, ...]:
    if operator.endswith("matches"):
        # a regular expression has escapes of its own, so it stays as it is written
        return (tree.matchesRegexCondition().quotedString().getText()[1:-1],)
    if tree.variableDereference():
        return _variable(tree.variableDereference(), variables, several=True)
    listed = tree.stringValuesArray()
    if listed:
        return tuple(value for part in listed.stringValues() for value in string(part, variables))
    return string(tree.stringValues(), variables)


def string(tree: Any, variables: Variables) -> tuple[Text, ...]:
    """Return the texts that one operand stands for: one, or none else than a variable's."""
    if tree.variableDereference():
        return _variable(tree.variableDereference(), variables, several=False)
    if tree.quotedString():
        return (unquoted(tree.quotedString().getText()),)
    return (None if tree.NULL() else "" if tree.EMPTY() else Keyword.WHITESPACES_ONLY,)


def _variable(tree: Any, variables: Variables, *, several: bool) -> tuple[Text, ...]:
    name = tree.IDENTIFIER().getText()
    if name not in variables:
        known = ", ".join(f"${known}" for known in variables) or "none"
        raise ArgumentError(f"there is no variable ${name}; there is {known}")
    value = variables[name]
    listed = isinstance(value, tuple)
    if several != listed:
        raise ArgumentError(
            f"${name} is {'a list' if listed else 'one text'}, expected {'a list' if several else 'one text'} here"
        )
    return value if isinstance(value, tuple) else (value,)


def date(tree: Any) -> str | Now | None:
    """Return a date's or a time's text, a Now, or None for NULL."""
    if tree.durationExpression():
        moved = duration(tree.durationExpression())
        return Now(-moved if tree.dateExpressionOp().getText() == "-" else moved)
    if tree.dateNow():
        return Now()
    return None if tree.NULL() else tree.getText()[1:-1]


def duration(tree: Any) -> int:
    """Return a duration in microseconds."""
    amount = (tree.INT() or tree.DIGIT()).getText()
    return int(amount) * MICROSECONDS[tree.durationUnit().getText()]


def unquoted(text: str) -> str:
    r"""Return the text between the quotes, with \" and \\ for a quote and a backslash."""
    return re.sub(r'\\(["\\])', r"\1", text[1:-1])


def statement(text: str) -> str:
    r"""Return SQL between quotes: \" is a quote, and every other backslash belongs to SQL."""
    return re.sub(r'\\(["\\])', lambda m: '"' if m[1] == '"' else m[0], text[1:-1])
