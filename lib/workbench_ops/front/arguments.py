"""Arguments of a client's SQL, written into it as literals.

Iceberg's parser before Spark's 4.1 drops them on their way (apache/iceberg#16626), so that the server would not
know what `:name` and `?` stand for.
"""

import datetime
import decimal
import re
from typing import Any

from workbench._base import identifiers
from workbench_ops.front.refusals import Refused

SUFFIXES = {"byte": "Y", "short": "S", "integer": "", "long": "L"}
MOST_DIGITS = 38  # of Spark's decimals
EPOCH = datetime.date(1970, 1, 1)
_DECIMAL = re.compile(r"-?[0-9]+(\.[0-9]+)?([eE][-+]?[0-9]+)?")


def of(message: Any) -> tuple[dict[str, str], list[str]]:
    """Return the arguments in a relation of SQL as literals: by name, and in their order.

    Raises:
        Refused: one is no literal, or of a type that is not written into a text.
    """
    named = {name: _literal(value) for name, value in message.args.items()}
    named |= {name: _literal(_plain(value)) for name, value in message.named_arguments.items()}
    return named, [
        *map(_literal, message.pos_args),
        *(_literal(_plain(value)) for value in message.pos_arguments),
    ]


def _plain(expression: Any) -> Any:
    if expression.WhichOneof("expr_type") != "literal":
        raise Refused("arguments of SQL are values: numbers, texts, dates")
    return expression.literal


def _literal(value: Any) -> str:
    kind = value.WhichOneof("literal_type")
    given: Any = getattr(value, kind) if kind else None
    if kind in SUFFIXES:
        return f"({given}{SUFFIXES[kind]})"
    if kind == "string":
        return identifiers.literal(given)
    if kind == "boolean":
        return str(given).upper()
    if kind in ("float", "double"):
        return f"CAST('{given!r}' AS {kind.upper()})"
    if kind == "decimal" and _DECIMAL.fullmatch(given.value):
        return _decimal(given)
    if kind == "date":
        try:
            return f"DATE '{EPOCH + datetime.timedelta(days=given)}'"
        except OverflowError:
            raise Refused("an argument of SQL is a date that is not of the years 1 to 9999") from None
    if kind == "timestamp":
        return f"timestamp_micros({given}L)"
    if kind == "null":
        return "NULL"
    raise Refused(f"an argument of SQL of the kind {kind} is not written into a text: use a frame")


def _decimal(given: Any) -> str:
    """Return a decimal of a type that holds all its digits, as the server takes it."""
    exact = decimal.Decimal(given.value).as_tuple()
    exponent = int(exact.exponent)
    scale = max(-exponent, given.scale)
    precision = max(len(exact.digits) + max(exponent, 0), scale, given.precision)
    if precision > MOST_DIGITS:
        raise Refused(f"an argument of SQL has more than {MOST_DIGITS} digits")
    return f"CAST('{given.value}' AS DECIMAL({precision}, {scale}))"
