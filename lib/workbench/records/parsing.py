"""JSON records against a declared schema, strictly: what Spark's from_json loses without a word is a reason here.

A chunk of records is parsed at once. Each record is read by Python's own JSON scanner, which is written in C;
then a column is checked as a whole by the types in it, and only a column with something wrong in it value by
value.
"""

import json
from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, NoReturn, Protocol

from workbench._base import releases
from workbench._base.errors import ArgumentError
from workbench._base.typing import StructType
from workbench.records import aggregates, schemas, types

UNKNOWN_FIELDS = ("ignore", "dead")
MESSAGE_LENGTH = 200
EXPONENT_DIGITS = 3


@dataclass(frozen=True)
class Json:
    """How records become rows.

    Numbers are JSON numbers, integers without a fraction or exponent; dates are `2026-01-31`, timestamps
    `2026-01-31T10:00:00.123456Z` (no zone is UTC, a space does for the T); decimals are not rounded. A field
    that is not there is null, and an error where the schema says NOT NULL.

    Attributes:
        schema: Spark DDL, as in `id BIGINT NOT NULL, price DECIMAL(10, 2), tags ARRAY<STRING>`.
        unknown: what becomes of a record with a field that is not in the schema: `ignore` drops the field and
            counts the record, `dead` makes it a dead letter. A field that is in the schema in another case is
            always one.
        version: the schema's own, kept with each dead letter.
    """

    schema: str
    unknown: str = "ignore"
    version: str = "1"

    def __post_init__(self) -> None:
        if self.unknown not in UNKNOWN_FIELDS:
            raise ArgumentError(f"unknown must be one of {', '.join(UNKNOWN_FIELDS)}, found {self.unknown!r}")

    def fields(self) -> StructType:
        """Return the schema as a StructType; needs a session.

        Raises:
            ValueError: the DDL is wrong, has a name twice, or a type that JSON cannot give.
        """
        try:
            columns = releases.struct(self.schema)
        except Exception as error:
            why = str(error).strip().splitlines()[0]
            raise ArgumentError(f"{self.schema!r} is not a schema: {why}") from error
        schemas.checked(columns.jsonValue())
        schemas.refuse_twice(columns.names, repr(self.schema))
        return columns

    def parser(self) -> "Parser":
        """Return the Parser, which goes to Spark's workers."""
        return Parser(self.fields().jsonValue(), self.unknown == "dead")


@dataclass(frozen=True)
class Parsed:
    """What became of a chunk of records.

    Attributes:
        rows: Arrow batch of the good ones, columns as in the schema.
        good: their places in the chunk.
        dead: (place, reason, message) of the others.
        unknown: records that had fields which were ignored.
    """

    rows: Any
    good: list[int]
    dead: list[tuple[int, str, str]]
    unknown: int


Parse = Callable[[list[bytes]], Parsed]


class Format(Protocol):
    """How records become rows: Json, Avro, Protobuf, or an object like them."""

    def fields(self) -> StructType: ...  # noqa: D102
    def parser(self) -> Parse: ...  # noqa: D102


def batch(rows: list[list], places: list[int], dead: list[tuple], arrow: Any, unknown: Collection[int]) -> Parsed:
    """Gather rows of values that Arrow takes; a row with a value that its type does not hold is a dead letter.

    Args:
        rows: a list of values each, in the order of the columns.
        places: where each row's record is in its chunk.
        dead: (place, reason, message) of the other records.
        arrow: Arrow schema of the columns.
        unknown: places of the rows with fields that were ignored.
    """
    import pyarrow as pa

    def arrays(those: list[list]) -> list:
        columns = list(zip(*those, strict=True)) or [()] * len(arrow)
        return [pa.array(values, field.type) for values, field in zip(columns, arrow, strict=True)]

    refused = (pa.ArrowException, OverflowError, ValueError, TypeError)
    dead = list(dead)
    try:
        columns = arrays(rows)
    except refused:
        good = []
        for place, row in zip(places, rows, strict=True):
            try:
                arrays([row])
            except refused as error:
                dead.append((place, "out_of_range", str(error)[:MESSAGE_LENGTH]))
            else:
                good.append((place, row))
        places, columns = [place for place, _ in good], arrays([row for _, row in good])
    gathered = pa.RecordBatch.from_arrays(columns, schema=arrow)
    return Parsed(gathered, places, sorted(dead), len(set(unknown).intersection(places)))


@dataclass
class Parser:
    """Parses chunks of records; what it needs for it is made in the worker, on first use.

    Attributes:
        schema: Spark's JSON form of a struct.
        strict: whether a field that is not in the schema is an error.
    """

    schema: dict[str, Any]
    strict: bool
    _tools: tuple[Any, ...] | None = field(default=None, repr=False)

    def __getstate__(self) -> dict[str, Any]:
        return {"schema": self.schema, "strict": self.strict, "_tools": None}

    def __call__(self, data: list[bytes]) -> Parsed:
        """Parse a list of bytes."""
        import pyarrow as pa

        if self._tools is None:
            self._tools = self._make()
        decode, columns, arrow = self._tools
        reasons: dict[int, tuple[str, str]] = {}
        objects: list[dict[str, Any]] = []
        places: list[int] = []
        for place, raw in enumerate(data):
            try:
                value = decode(raw.decode("utf-8"))
                if type(value) is not dict:
                    raise types.Bad("not_an_object", f"a JSON {types.kind(value)} where an object is expected")
            except Exception as error:
                reasons[place] = aggregates.reason(raw) or _reason(error, raw)
            else:
                objects.append(value)
                places.append(place)
        unknown, wrong = self._fields(objects)
        arrays = [self._column(column, objects, wrong) for column in columns]
        keep = [n for n in range(len(objects)) if n not in wrong]
        rows = pa.RecordBatch.from_arrays(arrays, schema=arrow)
        if wrong:
            rows = rows.take(pa.array(keep, pa.int64()))
        reasons |= {places[n]: reason for n, reason in wrong.items()}
        dead = [(place, reason, text[:MESSAGE_LENGTH]) for place, (reason, text) in sorted(reasons.items())]
        return Parsed(rows, [places[n] for n in keep], dead, len(unknown - set(wrong)))

    def _make(self) -> tuple[Any, ...]:
        columns = [types.column(part) for part in self.schema["fields"]]
        exact = schemas.has_decimal(self.schema)
        decoder = json.JSONDecoder(
            object_pairs_hook=_unique, parse_float=_exact if exact else float, parse_constant=_constant
        )
        return decoder.decode, columns, schemas.arrow_schema(self.schema)

    def _fields(self, objects: list[dict[str, Any]]) -> tuple[set[int], dict[int, tuple[str, str]]]:
        """Return (places with unknown fields that are ignored, place to reason where they are wrong)."""
        names = frozenset(part["name"] for part in self.schema["fields"])
        lower = {name.lower(): name for name in names}  # as Spark compares them
        unknown: set[int] = set()
        wrong: dict[int, tuple[str, str]] = {}
        for n, value in enumerate(objects):
            if names.issuperset(value):
                continue
            others = [key for key in value if key not in names]
            if cased := next((key for key in others if key.lower() in lower), None):
                wrong[n] = ("key_case", f"field {cased!r} is {lower[cased.lower()]!r} in another case")
            elif self.strict:
                wrong[n] = ("unknown_field", f"field {others[0]!r} is not in the schema")
            else:
                unknown.add(n)
        return unknown, wrong

    def _column(
        self, column: types.Column, objects: list[dict[str, Any]], wrong: dict[int, tuple[str, str]]
    ) -> Any:
        """Return the Arrow array of a column; null where a record is wrong, which is added to `wrong`."""
        name = column.name
        values = [value.get(name) for value in objects]
        if column.nullable or None not in values:
            try:
                return column.whole(values)
            except (ValueError, TypeError, OverflowError):  # pyarrow's and our own: something in it is wrong
                pass
        converted = []
        for n, value in enumerate(values):
            try:
                if value is None and not column.nullable:
                    what = "null_in_required" if name in objects[n] else "missing_field"
                    raise types.Bad(what, f"field {name!r} is {'null' if name in objects[n] else 'not there'}")
                converted.append(None if value is None else column.convert(value))
            except types.Bad as bad:
                wrong.setdefault(n, (bad.reason, f"field {name!r}: {bad}" if name not in str(bad) else str(bad)))
                converted.append(None)
        return column.array(converted)


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    fields = dict(pairs)
    if len(fields) != len(pairs):
        keys = [key for key, _ in pairs]
        twice = next(key for key in keys if keys.count(key) > 1)
        raise types.Bad("duplicate_key", f"field {twice!r} is there twice")
    return fields


def _exact(text: str) -> Decimal | float:
    """Return a decimal; a float where the exponent is one that Decimal refuses and pyarrow does not survive."""
    exponent = text.lower().partition("e")[2].lstrip("+-0")
    return Decimal(text) if len(exponent) <= EXPONENT_DIGITS else float(text)


def _constant(text: str) -> NoReturn:
    raise types.Bad("not_json", f"{text} is not a JSON number")


def _reason(error: Exception, raw: bytes) -> tuple[str, str]:
    """Return (reason, message) of a record that could not be read."""
    if isinstance(error, types.Bad):
        return error.reason, str(error)
    if isinstance(error, UnicodeDecodeError):
        return "not_utf8", f"byte {error.start} is not UTF-8"
    if isinstance(error, RecursionError):
        return "too_deep", "objects or arrays are nested too deeply"
    if isinstance(error, json.JSONDecodeError):
        if not raw.strip():
            return "empty", "the record is empty"
        if error.msg == "Extra data":
            return "more_than_one", f"something follows the first value, at character {error.pos}"
        return "not_json", f"{error.msg} at character {error.pos}"
    if isinstance(error, ValueError):  # a number of thousands of digits
        return "out_of_range", str(error)
    raise error
