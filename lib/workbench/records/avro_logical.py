"""Logical types of Avro: which annotate which type, and what a value of one is.

Source: avro.apache.org, Specification 1.12, Logical Types.
"""

import uuid
from collections.abc import Callable
from decimal import Decimal
from typing import Any, NoReturn

from workbench._base.errors import ArgumentError
from workbench.records.types import Bad

BASES = {  # of the specification's logical types
    "decimal": ("bytes", "fixed"), "big-decimal": ("bytes",), "uuid": ("string", "fixed"), "date": ("int",),
    "time-millis": ("int",), "time-micros": ("long",), "duration": ("fixed",),
    **{f"{kind}-{unit}": ("long",) for kind in ("timestamp", "local-timestamp")
       for unit in ("millis", "micros", "nanos")},
}  # fmt: skip
PER_MICROSECOND = {"millis": (1000, 1), "micros": (1, 1), "nanos": (1, 1000)}  # multiplied, divided by
DAY = 86_400_000_000  # microseconds
FIRST_DAY, LAST_DAY = -719_162, 2_932_896  # of the years 1 to 9999, from 1970-01-01


def logical(kind: dict) -> str | None:
    """Return the logical type of a type; None where it has none, or one that Avro says to ignore."""
    name, base = kind.get("logicalType"), kind["type"]
    if not isinstance(name, str) or base not in BASES.get(name, ()):
        return None
    if name == "decimal":
        precision, scale = kind.get("precision"), kind.get("scale", 0)
        if type(precision) is not int or type(scale) is not int:
            return None
        return name if precision > 0 and 0 <= scale <= precision else None
    return None if name == "uuid" and base == "fixed" and kind["size"] != 16 else name


def meaning(writer: dict, reader: dict) -> Callable | None:
    """Return a function that makes a value of the reader's logical type; None where it is what was read.

    Args:
        writer: the type that the value was written as.
        reader: the type that it is read as; days of a date and microseconds of a timestamp are what Arrow takes.

    Raises:
        ValueError: the writer's logical type is another one, which no conversion makes the reader's.
    """
    name, written = logical(reader), logical(writer)
    if name is None:
        return None
    if name == "uuid":
        return _uuid if written in (None, "uuid") else _no_meaning()
    if name == "decimal":
        if written not in (None, "decimal") or writer["type"] == "string":
            return _no_meaning()
        scale = (writer if written else reader).get("scale", 0)
        return _decimal(scale, reader["precision"], reader.get("scale", 0))
    if name == "date":
        return _date if written in (None, "date") else _no_meaning()
    if "timestamp-" not in name:
        return None
    if written == "date":
        return lambda days: _date(days) * DAY
    if written is not None and "timestamp-" not in written:
        return _no_meaning()
    return _moment(*PER_MICROSECOND[(written or name).rpartition("-")[2]])


def _no_meaning() -> NoReturn:
    raise ArgumentError("the logical types differ")


def _uuid(value: Any) -> str:
    try:
        return str(uuid.UUID(bytes=value) if isinstance(value, bytes) else uuid.UUID(value))
    except ValueError:
        raise Bad("wrong_type", f"{value[:40]!r} is not a UUID") from None


def _decimal(scale: int, precision: int, reader_scale: int) -> Callable:
    more = reader_scale - scale

    def convert(value: bytes) -> Decimal:
        if not value:
            raise Bad("not_avro", "a decimal has at least one byte, found none")
        unscaled, rest = int.from_bytes(value, "big", signed=True), 0
        if more >= 0:
            unscaled *= 10**more
        else:
            unscaled, rest = divmod(unscaled, 10**-more)
        if rest:
            raise Bad("too_precise", f"the number has more than {reader_scale} digits behind the point")
        if abs(unscaled) >= 10**precision:
            raise Bad("out_of_range", f"the number has more than {precision} digits")
        return Decimal((unscaled < 0, tuple(map(int, str(abs(unscaled)))), -reader_scale))

    return convert


def _date(value: int) -> int:
    if not FIRST_DAY <= value <= LAST_DAY:
        raise Bad("out_of_range", f"{value} days from 1970-01-01 are not in the years 1 to 9999")
    return value


def _moment(multiplied: int, divided: int) -> Callable:
    def convert(value: int) -> int:
        micros, rest = divmod(value * multiplied, divided)
        if rest:
            raise Bad("too_precise", f"{value} ns are not a whole number of microseconds")
        if not FIRST_DAY * DAY <= micros < (LAST_DAY + 1) * DAY:
            raise Bad("out_of_range", f"{micros} microseconds from 1970-01-01 are not in the years 1 to 9999")
        return micros

    return convert
