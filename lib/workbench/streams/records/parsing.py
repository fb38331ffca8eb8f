"""JSON records against a declared schema, strictly: what Spark's from_json loses without a word is a reason here.

A chunk of records is parsed at once. Each record is read by Python's own JSON scanner, which is written in C;
then a column is checked as a whole by the types in it, and only a column with something wrong in it value by
value.
"""

import json
from collections.abc import Collection
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from workbench._base import releases
from workbench._base.errors import ArgumentError
from workbench.streams import aggregates
from workbench.streams.records import schemas, types

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
            counts
            the record, `dead` makes it a dead letter. A field that is in the schema in another case is always one.
        version: the schema's own, kept with each dead letter.
    """

    schema: str
    unknown: str = "ignore"
    version: str = "1"

    def __post_init__(self):
        if self.unknown not in UNKNOWN_FIELDS:
            raise ArgumentError(f"unknown is {self.unknown!r}, expected one of {', '.join(UNKNOWN_FIELDS)}")

    def fields(self):
        """Return the schema as a StructType; needs a session.

        Raises:
            ValueError: the DDL is wrong, has a name twice, or a type that JSON cannot give.
        """
        try:
            found = releases.struct(self.schema)
        except Exception as error:
            raise ArgumentError(f"{self.schema!r} is no schema: {str(error).strip().splitlines()[0]}") from error
        schemas.checked(found.jsonValue())
        schemas.refuse_twice(found.names, repr(self.schema))
        return found

    def parser(self):
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

    rows: object
    good: list[int]
    dead: list[tuple[int, str, str]]
    unknown: int


def batch(rows: list[list], places: list[int], dead: list[tuple], arrow: Any, unknown: Collection[int]) -> Parsed:
    """Gather rows of values that Arrow takes; one with a value that its type does not hold becomes a dead letter.

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
    found = pa.RecordBatch.from_arrays(columns, schema=arrow)
    return Parsed(found, places, sorted(dead), len(set(unknown).intersection(places)))


@dataclass
class Parser:
    """Parses chunks of records; what it needs for it is made in the worker, on first use.

    Attributes:
        schema: Spark's JSON form of a struct.
        strict: whether a field that is not in the schema is an error.
    """

    schema: dict
    strict: bool
    _made: tuple | None = field(default=None, repr=False)

    def __getstate__(self):
        return {"schema": self.schema, "strict": self.strict, "_made": None}

    def __call__(self, data):
        """Parse a chunk.

        Args:
            data: list of bytes.

        Returns:
            Parsed.
        """
        import pyarrow as pa

        if self._made is None:
            self._made = self._make()
        decode, columns, arrow = self._made
        dead, objects, places = {}, [], []
        for place, raw in enumerate(data):
            try:
                value = decode(raw.decode("utf-8"))
                if type(value) is not dict:
                    raise types.Bad("not_an_object", f"a JSON {types.kind(value)} where an object is expected")
            except Exception as error:
                dead[place] = aggregates.reason(raw) or _reason(error, raw)
            else:
                objects.append(value)
                places.append(place)
        unknown, wrong = self._fields(objects)
        arrays = [self._column(column, objects, wrong) for column in columns]
        keep = [n for n in range(len(objects)) if n not in wrong]
        rows = pa.RecordBatch.from_arrays(arrays, schema=arrow)
        if wrong:
            rows = rows.take(pa.array(keep, pa.int64()))
        dead |= {places[n]: reason for n, reason in wrong.items()}
        told = [(place, reason, text[:MESSAGE_LENGTH]) for place, (reason, text) in sorted(dead.items())]
        return Parsed(rows, [places[n] for n in keep], told, len(unknown - set(wrong)))

    def _make(self):
        columns = [types.column(one) for one in self.schema["fields"]]
        exact = schemas.has_decimal(self.schema)
        decoder = json.JSONDecoder(
            object_pairs_hook=_unique, parse_float=_exact if exact else float, parse_constant=_constant
        )
        return decoder.decode, columns, schemas.arrow_schema(self.schema)

    def _fields(self, objects):
        """Return (places with unknown fields that are ignored, place to reason where they are wrong)."""
        names = frozenset(one["name"] for one in self.schema["fields"])
        lower, unknown, wrong = {name.lower(): name for name in names}, set(), {}  # as Spark compares them
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

    def _column(self, column, objects, wrong):
        """Return the Arrow array of a column; null where a record is wrong, which is added to `wrong`."""
        name = column.name
        values = [value.get(name) for value in objects]
        if column.nullable or None not in values:
            try:
                return column.whole(values)
            except (ValueError, TypeError, OverflowError):  # pyarrow's and our own: something in it is wrong
                pass
        found = []
        for n, value in enumerate(values):
            try:
                if value is None and not column.nullable:
                    what = "null_in_required" if name in objects[n] else "missing_field"
                    raise types.Bad(what, f"field {name!r} is {'null' if name in objects[n] else 'not there'}")
                found.append(None if value is None else column.convert(value))
            except types.Bad as bad:
                wrong.setdefault(n, (bad.reason, f"field {name!r}: {bad}" if name not in str(bad) else str(bad)))
                found.append(None)
        return column.array(found)


def _unique(pairs):
    found = dict(pairs)
    if len(found) != len(pairs):
        keys = [key for key, _ in pairs]
        raise types.Bad("duplicate_key", f"field {next(k for k in keys if keys.count(k) > 1)!r} is there twice")
    return found


def _exact(text):
    """Return a decimal; a float where the exponent is one that Decimal refuses and pyarrow does not survive."""
    exponent = text.lower().partition("e")[2].lstrip("+-0")
    return Decimal(text) if len(exponent) <= EXPONENT_DIGITS else float(text)


def _constant(text):
    raise types.Bad("not_json", f"{text} is no JSON number")


def _reason(error, raw):
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
