"""Values of partition columns: texts in Delta's log, typed values in Iceberg's JSON.

The texts are those of the Delta protocol, *Partition Value Serialization*. A timestamp without a zone was written
in the zone of the writer's session, which no log names: it is taken for UTC, as Delta's kernel does.
"""

import re
from typing import Any

from workbench._base.errors import ArgumentError

_MOMENT = re.compile(r"(-?\d{4,})-(\d\d)-(\d\d)[ T](\d\d):(\d\d):(\d\d)(?:\.(\d{1,6}))?(Z|[+-]00:?00)?")
_DAY = re.compile(r"-?\d{4,}-\d\d-\d\d")


def value(kind: str, text: str | None) -> Any:
    """Return a value as Iceberg's JSON has it.

    Args:
        kind: Iceberg's type.
        text: of the log; None for NULL.

    Raises:
        ValueError: it is not a value of the type.
    """
    if text is None:
        return None
    try:
        if kind in ("int", "long"):
            return int(text)
        if kind in ("float", "double"):
            return float(text)
        if kind == "boolean":
            return {"true": True, "false": False}[text.lower()]
        if kind.startswith("decimal"):
            return _decimal(kind, text)
        if kind == "date":
            return _DAY.fullmatch(text)[0]  # type: ignore[index]
        if kind in ("timestamp", "timestamptz"):
            return _moment(kind, text)
        if kind == "binary":
            return text.encode("latin-1").hex().upper()
    except (ValueError, KeyError, TypeError, ArithmeticError) as error:
        raise ArgumentError(f"the partition value {text!r} is not of type {kind}: the log is damaged") from error
    return text


def without_zone(text: str | None) -> bool:
    """Say whether a text is a moment that does not say its zone."""
    return bool(text and (match := _MOMENT.fullmatch(text)) and not match[8])


def _decimal(kind: str, text: str) -> str:
    from decimal import Context, Decimal

    scale = int(kind.rpartition(",")[2].strip(" )"))
    return format(Decimal(text).quantize(Decimal(1).scaleb(-scale), context=Context(prec=60)), "f")


def _moment(kind: str, text: str) -> str:
    year, month, day, hour, minute, second, fraction, _ = _MOMENT.fullmatch(text).groups()  # type: ignore[union-attr]
    moment = f"{year}-{month}-{day}T{hour}:{minute}:{second}.{(fraction or '').ljust(6, '0')}"
    return f"{moment}+00:00" if kind == "timestamptz" else moment
