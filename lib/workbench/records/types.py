"""Types of the declared schema: how a JSON value becomes one, and what is wrong with those that do not."""

import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, date, datetime
from decimal import Context, Decimal
from typing import Any

from workbench._base.errors import WorkbenchError
from workbench.records import schemas

INTEGERS = {"byte": 8, "short": 16, "integer": 32, "long": 64}
DATE = re.compile(r"\d{4}-\d\d-\d\d", re.ASCII)
HOUR_MINUTE = (
    r"(?:[01]\d|2[0-3]):[0-5]\d"  # of a day and of an offset, as in RFC 3339; Python is not asked for them
)
TIMESTAMP = re.compile(
    rf"(\d{{4}}-\d\d-\d\d)[T ]({HOUR_MINUTE}:[0-5]\d(?:\.\d{{1,6}})?)(Z|[+-]{HOUR_MINUTE})?", re.ASCII
)
LARGEST_FLOAT = (2 - 2**-23) * 2.0**127
Convert = Callable[[Any], Any]  # of a JSON value to Arrow's; raises Bad


class Bad(WorkbenchError, Exception):
    """A value is not what the schema says.

    Attributes:
        reason: code, as the dead letters have it.
    """

    def __init__(self, reason: str, message: str) -> None:
        super().__init__(message)
        self.reason = reason


@dataclass(frozen=True)
class Column:
    """A field of the schema.

    Attributes:
        name: its name.
        nullable: whether it may be null or missing.
        convert: function of a JSON value that returns Arrow's value or raises Bad.
        whole: function of a list of values that returns the Arrow array, or raises ValueError, TypeError or
            OverflowError when any is wrong.
        array: function that makes an Arrow array of converted values.
    """

    name: str
    nullable: bool
    convert: Convert
    whole: Callable[[list[Any]], Any]
    array: Callable[[list[Any]], Any]


def column(field: dict[str, Any]) -> Column:
    """Return the Column of a field in Spark's JSON form."""
    import pyarrow as pa

    kind, arrow = field["type"], schemas.arrow_type(field["type"])
    convert = converter(kind)

    def array(values: list[Any]) -> Any:
        return pa.array(values, arrow)

    return Column(field["name"], field["nullable"], convert, _whole(kind, convert, arrow), array)


def _whole(kind: Any, convert: Convert, arrow: Any) -> Callable[[list[Any]], Any]:
    """Return the function that takes a column at once where the types in it say that nothing can be wrong."""
    import pyarrow as pa

    nothing = type(None)
    plain: dict[str, set[type]] = {"string": {str}, "boolean": {bool}, "double": {float}}
    plain |= {name: {int} for name in INTEGERS}
    allowed = plain.get(kind, set()) | {nothing} if isinstance(kind, str) else {nothing}

    def by_type(values: list[Any]) -> Any:
        if not allowed.issuperset(map(type, values)):
            raise ValueError
        array = pa.array(values, arrow)
        if kind == "double" and not all(map(math.isfinite, filter(None, values))):
            raise ValueError
        return array

    def each(values: list[Any]) -> Any:
        try:
            return pa.array([None if value is None else convert(value) for value in values], arrow)
        except Bad as bad:
            raise ValueError from bad

    def remembered(values: list[Any]) -> Any:
        """Convert each different value once: days and times come again and again."""
        try:
            known = {value: None if value is None else convert(value) for value in set(values)}
        except Bad as bad:
            raise ValueError from bad
        return pa.array([known[value] for value in values], arrow)

    if len(allowed) > 1:
        return by_type
    text = isinstance(kind, str) and kind.startswith(("date", "timestamp"))
    return remembered if text else each


def converter(kind: Any) -> Convert:
    """Return the function that converts a JSON value to a type in Spark's JSON form."""
    if isinstance(kind, dict):
        return {"struct": _struct, "array": _array, "map": _map}[kind["type"]](kind)
    if kind in INTEGERS:
        return _integer(INTEGERS[kind])
    if digits := schemas.DECIMAL.fullmatch(kind):
        return _decimal(*map(int, digits.groups()))
    converters: dict[str, Convert] = {
        "string": _string, "boolean": _boolean, "float": _float, "double": _double,
        "date": _date, "timestamp": _timestamp, "timestamp_ntz": _timestamp_ntz,
    }  # fmt: skip
    return converters[kind]


def kind(value: object) -> str:
    """Return what JSON calls a value."""
    names: dict[type, str] = {dict: "object", list: "array", str: "text", bool: "boolean", type(None): "null"}
    return names.get(type(value), "number")


def _expect(value: Any, kinds: tuple[type, ...], name: str) -> Any:
    if type(value) not in kinds:
        raise Bad("wrong_type", f"a {kind(value)} where {name} is expected")
    return value


def _string(value: Any) -> str:
    try:
        _expect(value, (str,), "a text").encode()
    except UnicodeEncodeError:
        raise Bad("not_utf8", "half of a surrogate pair") from None
    return value


def _boolean(value: Any) -> bool:
    return _expect(value, (bool,), "a boolean")


def _integer(bits: int) -> Convert:
    low, high = -(2 ** (bits - 1)), 2 ** (bits - 1) - 1

    def convert(value: Any) -> int:
        if not low <= _expect(value, (int,), "a whole number") <= high:
            raise Bad("out_of_range", f"{value} does not fit into {bits} bits")
        return value

    return convert


def _double(value: Any) -> float:
    try:
        number = float(_expect(value, (int, float, Decimal), "a number"))
    except OverflowError:
        number = math.inf
    if not math.isfinite(number):
        raise Bad("out_of_range", "the number does not fit into a double")
    if type(value) is int and int(number) != value:
        raise Bad("too_precise", f"{value} is not a double: the next one is {int(number)}")
    return number


def _float(value: Any) -> float:
    number = _double(value)
    if abs(number) > LARGEST_FLOAT:
        raise Bad("out_of_range", f"{number} does not fit into a float")
    return number


def _decimal(precision: int, scale: int) -> Convert:
    def convert(value: Any) -> Decimal:
        if type(value) is float:  # the parser makes one only where the exponent is too long for a decimal
            raise Bad("out_of_range", "the number's exponent has more than three digits")
        number = Decimal(_expect(value, (int, Decimal), "a number"))
        number = number.normalize(Context(prec=max(1, len(number.as_tuple().digits))))
        _, digits, exponent = number.as_tuple()
        assert isinstance(exponent, int)  # JSON has no infinity
        if -exponent > scale:
            raise Bad("too_precise", f"{value} has more than {scale} digits behind the point")
        if number and len(digits) + exponent > precision - scale:
            raise Bad("out_of_range", f"{value} has more than {precision - scale} digits before the point")
        return number

    return convert


def _date(value: Any) -> date:
    if not DATE.fullmatch(_expect(value, (str,), "a date as text")):
        raise Bad("bad_date", f"{value[:40]!r} is not a date like 2026-01-31")
    try:
        return date.fromisoformat(value)
    except ValueError:
        raise Bad("bad_date", f"there is no day {value}") from None


def _timestamp(value: Any) -> datetime:
    if not TIMESTAMP.fullmatch(_expect(value, (str,), "a timestamp as text")):
        raise Bad("bad_timestamp", f"{value[:40]!r} is not a timestamp like 2026-01-31T10:00:00.123456Z")
    try:
        moment = datetime.fromisoformat(value)
        return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
    except (ValueError, OverflowError):
        raise Bad("bad_timestamp", f"there is no time {value}") from None


def _timestamp_ntz(value: Any) -> datetime:
    if (
        TIMESTAMP.fullmatch(value if isinstance(value, str) else "")
        and value[-6:-5] not in "+-"
        and value[-1] != "Z"
    ):
        return _timestamp(value).replace(tzinfo=None)
    _expect(value, (str,), "a timestamp as text")
    raise Bad("bad_timestamp", f"{value[:40]!r} is not a timestamp without zone, like 2026-01-31T10:00:00")


def _struct(kind: dict[str, Any]) -> Convert:
    fields = [(field["name"], field["nullable"], converter(field["type"])) for field in kind["fields"]]
    names = {name for name, _, _ in fields}

    def convert(value: Any) -> dict[str, Any]:
        _expect(value, (dict,), "an object")
        if others := [key for key in value if key not in names]:
            raise Bad("unknown_field", f"field {others[0]!r} is not in the schema of the object")
        struct = {}
        for name, nullable, inner in fields:
            item = value.get(name)
            if item is None and not nullable:
                raise Bad("null_in_required" if name in value else "missing_field", f"field {name!r} has no value")
            struct[name] = None if item is None else inner(item)
        return struct

    return convert


def _array(kind: dict[str, Any]) -> Convert:
    inner, nullable = converter(kind["elementType"]), kind["containsNull"]

    def convert(value: Any) -> list[Any]:
        return [_element(item, nullable, inner) for item in _expect(value, (list,), "an array")]

    return convert


def _map(kind: dict[str, Any]) -> Convert:
    inner, nullable = converter(kind["valueType"]), kind["valueContainsNull"]

    def convert(value: Any) -> list[tuple[str, Any]]:
        items = _expect(value, (dict,), "an object").items()
        return [(_string(key), _element(item, nullable, inner)) for key, item in items]

    return convert


def _element(value: Any, nullable: bool, inner: Convert) -> Any:
    if value is None:
        if not nullable:
            raise Bad("null_in_required", "null inside, where the schema allows none")
        return None
    return inner(value)
