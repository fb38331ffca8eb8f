"""Python's values as variables of a Spark session, which a statement reads as `session.NAME`."""

import math
import weakref
from collections.abc import Mapping
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

from workbench._base import identifiers, releases
from workbench._base.door import checked
from workbench._base.errors import ArgumentError
from workbench._base.typing import SparkSession

_names: "weakref.WeakKeyDictionary[SparkSession, set[str]]" = weakref.WeakKeyDictionary()
MOST_DIGITS = 38


@checked
def declare(spark: SparkSession, values: Mapping[str, Any]) -> None:
    """Declare variables of a session and set them; those that are there get the new type and value.

    All values are looked at before the first is declared.

    Args:
        spark: session.
        values: name to value: a text, a whole number, a float, a Decimal, True or False, a date, a datetime (with
            a time zone a TIMESTAMP, without one a TIMESTAMP_NTZ), bytes; None is a null text.

    Raises:
        ValueError: a name is not one of letters, digits and _, or is there twice but for its case; a value has
            another type; the session's Spark has no variables (they came with 4.0).
    """
    refuse_no_session(spark)
    _check_names(values)
    kinds = {name: _kind(name, value) for name, value in values.items()}
    given = {name: _given(name, value) for name, value in values.items()}
    if not kinds:
        return
    releases.need(spark, "values of SQL cells (session variables)", since="4.0")
    for name, kind in kinds.items():
        spark.sql(f"DECLARE OR REPLACE VARIABLE {identifiers.column(name)} {kind}")
        spark.sql(f"SET VAR session.{identifiers.column(name)} = CAST(:value AS {kind})", {"value": given[name]})
        _names.setdefault(spark, set()).add(name)


def refuse_no_session(spark: object) -> None:
    """Refuse what is not a session, a classic one or one of Spark Connect.

    Raises:
        ValueError: it is something else.
    """
    if not hasattr(type(spark), "sql"):
        raise ArgumentError(f"spark must be a SparkSession, found {spark!r}")


def names(spark: SparkSession) -> frozenset[str]:
    """Return the names of the variables that `declare` made in a session."""
    return frozenset(_names.get(spark, ()))


def _check_names(values: Mapping[str, Any]) -> None:
    folded: dict[str, str] = {}
    for name in values:
        if not identifiers.PART.fullmatch(name):
            raise ArgumentError(f"{name!r} is not the name of a value; expected letters, digits and _")
        if other := folded.get(name.lower()):
            raise ArgumentError(f"{other} and {name} are one name for Spark, which takes no account of case")
        folded[name.lower()] = name


def _kind(name: str, value: object) -> str:
    """Return the type of Spark that holds a value."""
    if isinstance(value, bool):
        return "BOOLEAN"
    if isinstance(value, int):
        if -(2**63) <= value < 2**63:
            return "BIGINT"
        raise ArgumentError(f"{name} is {value}, which is beyond 64 bits; give a Decimal")
    if isinstance(value, datetime):
        return "TIMESTAMP" if value.tzinfo else "TIMESTAMP_NTZ"
    if isinstance(value, Decimal):
        return _decimal(name, value)
    if isinstance(value, str) and "\x00" in value:
        raise ArgumentError(f"{name} holds the sign of code 0, which is not a text")
    kinds: dict[type, str] = {float: "DOUBLE", date: "DATE", bytes: "BINARY", str: "STRING", type(None): "STRING"}
    for kind, of_spark in kinds.items():
        if isinstance(value, kind):
            return of_spark
    raise ArgumentError(
        f"{name} must be a text, a number, True or False, a date, a datetime, bytes or None, found "
        f"{type(value).__name__}"
    )


def _given(name: str, value: Any) -> Any:
    """Return a value as PySpark takes it: dates and times as texts.

    PySpark hands those on by the calendar that was in force: 1 March 1500 arrives as 20 February, and a year below
    1,000 as an error without words.
    """
    if isinstance(value, datetime):
        try:
            moment = value.astimezone(UTC) if value.tzinfo else value
        except OverflowError:
            raise ArgumentError(f"{name} is {value}, which is outside the years 1 to 9999 in UTC") from None
        return moment.isoformat(" ", "microseconds")
    return value.isoformat() if isinstance(value, date) else value


def _decimal(name: str, value: Decimal) -> str:
    exponent = value.as_tuple().exponent
    if not isinstance(exponent, int) or math.isnan(value):
        raise ArgumentError(f"{name} is {value}, and a Decimal of Spark is a number")
    scale = max(0, -exponent)
    digits = max(len(value.as_tuple().digits) + max(0, exponent), scale)
    if digits > MOST_DIGITS:
        raise ArgumentError(f"{name} has {digits} digits, a Decimal of Spark at most {MOST_DIGITS}")
    return f"DECIMAL({max(digits, 1)},{scale})"
