"""Avro records against their schema: the schema gives the columns, and what it does not describe is a reason.

Source of the type mapping: avro.apache.org, Specification 1.12.
"""

import json
import struct
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from workbench._base.errors import ArgumentError
from workbench._base.typing import StructType
from workbench.records import aggregates, avro_logical, avro_resolution, framing, schemas
from workbench.records.avro_values import Read
from workbench.records.parsing import MESSAGE_LENGTH, Parsed, batch
from workbench.records.types import Bad

PLAIN = {
    "boolean": "boolean", "int": "integer", "long": "long", "float": "float", "double": "double",
    "bytes": "binary", "string": "string", "enum": "string", "fixed": "binary",
}  # fmt: skip
LOGICAL = {
    "date": "date", "timestamp-millis": "timestamp", "timestamp-micros": "timestamp",
    "local-timestamp-millis": "timestamp_ntz", "local-timestamp-micros": "timestamp_ntz", "uuid": "string",
}  # fmt: skip
DIGITS = 38  # of a decimal


@dataclass(frozen=True)
class Avro:
    """How Avro records, one value each, become rows: a record's fields are the columns.

    A union with null is a column that may be null; other unions are refused, as is what Spark has no type for
    (`time-millis`, `duration`). Decimals, dates and timestamps are those of the logical types of `schema`: it says
    what a value means, whether or not the schema that it was written with says so too.

    Attributes:
        schema: the Avro schema of a record, JSON text: what the rows have.
        writers: schemas by which records were written, schema id to JSON text: each record begins with the id of
            its writer's schema and is resolved to `schema`, as Avro says. Whole numbers are ids of Confluent's
            framing, UUIDs as text of AWS Glue's, whose values may be compressed. Empty for records that were
            written with `schema` itself and begin with nothing.
        version: the schema's own, kept with each dead letter.
        framing: `single_object` where records are in Avro's own single-object encoding: C3 01 and the fingerprint
            of the writer's schema, which is `schema` or one of `writers`, there by its fingerprint
            (`streams.framing.fingerprint`). It goes beside the ids of registries.
    """

    schema: str
    writers: dict[int | str, str] = field(default_factory=dict)
    version: str = "1"
    framing: str | None = None

    def __post_init__(self) -> None:
        if self.framing not in (None, framing.SINGLE_OBJECT):
            raise ArgumentError(
                f"framing must be {framing.SINGLE_OBJECT} or None, found {self.framing!r}; those of registries go "
                "by the ids of writers"
            )

    def fields(self) -> StructType:
        """Return the columns as a StructType.

        Raises:
            ValueError: the schema is invalid, is not of a record, or has a type that Spark has not; an id is
                invalid.
        """
        from pyspark.sql.types import StructType

        reader = _parsed(self.schema)
        columns = StructType.fromJson(_struct(reader, ()))
        schemas.refuse_twice(columns.names, f"the Avro record {reader['name']}")
        for number, text in self.writers.items():
            kind = framing.of_id(number)
            _parsed(text)
            if kind == framing.SINGLE_OBJECT and (own := framing.fingerprint(text)) != number:
                raise ArgumentError(f"{number} is not the fingerprint of its writer's schema, which is {own}")
        if self.writers:
            avro_resolution.check_defaults(reader)
        return columns

    def parser(self) -> "Parser":
        """Return the Parser, which goes to Spark's workers."""
        fields, writers = self.fields().jsonValue(), dict(self.writers)
        if self.framing:
            writers |= {framing.fingerprint(self.schema): self.schema}
        return Parser(fields, self.schema, writers)


@dataclass
class Parser:
    """Parses chunks of records; what it needs for it is made in the worker, on first use.

    Attributes:
        struct: the columns, Spark's JSON form.
        schema: the reader's schema, JSON text.
        writers: schema id to JSON text.
    """

    struct: dict[str, Any]
    schema: str
    writers: dict[int | str, str]
    _tools: tuple[Any, ...] | None = field(default=None, repr=False)

    def __getstate__(self) -> dict[str, Any]:
        return {"struct": self.struct, "schema": self.schema, "writers": self.writers, "_tools": None}

    def __call__(self, data: list[bytes]) -> Parsed:
        """Parse a list of bytes."""
        if self._tools is None:
            reader = _parsed(self.schema)
            writers: dict[int | str | None, dict[str, Any]] = {None: reader}
            if self.writers:
                writers = {number: _parsed(text) for number, text in self.writers.items()}
            reads = {
                number: (avro_resolution.reader_of(writer, reader), writer) for number, writer in writers.items()
            }
            own = tuple(dict.fromkeys(map(framing.of_id, self.writers)))
            self._tools = reads, own, schemas.arrow_schema(self.struct)
        read, framings, arrow = self._tools
        rows, good, dead = [], [], []
        for place, raw in enumerate(data):
            try:
                record = _value(raw, read, framings)
            except Exception as error:
                reason, message = aggregates.reason(raw) or _reason(error)
                dead.append((place, reason, message[:MESSAGE_LENGTH]))
            else:
                rows.append([record[name] for name in arrow.names])
                good.append(place)
        return batch(rows, good, dead, arrow, ())


def _reason(error: Exception) -> tuple[str, str]:
    """Return (reason, message) of a record that could not be read; any error is this record's."""
    if isinstance(error, Bad):
        return error.reason, str(error)
    if isinstance(error, RecursionError):
        return "too_deep", "values are nested too deeply"
    return "not_avro", f"{error!r}"


def _value(
    raw: bytes, read: Mapping[int | str | None, tuple[Read, dict[str, Any]]], framings: tuple[str, ...]
) -> dict[str, Any]:
    """Return a record's fields; `read` has a reader for each id of a writer's schema, or one for None."""
    number: int | str | None = None
    body = raw
    if framings:
        number, body = framing.opened(raw, framings)
        if number not in read:
            raise Bad("unknown_schema", f"no schema {number} was given; there are {', '.join(map(str, read))}")
    value_at, writer = read[number]
    if not body and writer.get("fields"):
        raise Bad("empty", "the record is empty")
    try:
        record, end = value_at(body, 0)
    except (IndexError, struct.error):
        raise Bad("not_avro", "the record ends before its value does") from None
    if rest := len(body) - end:
        raise Bad("more_than_one", f"{rest} bytes follow the value")
    return record


def _parsed(text: str) -> dict[str, Any]:
    import fastavro

    try:
        schema = fastavro.parse_schema(json.loads(text), expand=True)
    except fastavro.schema.UnknownType as error:
        raise ArgumentError(f"the text is not an Avro schema: there is no type {error}") from None
    except Exception as error:  # of fastavro also AssertionError and OverflowError, of nested types RecursionError
        raise ArgumentError(f"the text is not an Avro schema: {error}") from None
    if not isinstance(schema, dict) or schema.get("type") != "record":
        raise ArgumentError("the Avro schema is not that of a record, whose fields would be the columns")
    return schema


def _struct(record: dict[str, Any], above: tuple[str, ...]) -> dict[str, Any]:
    """Return a record in Spark's JSON form of a struct."""
    name = record["name"]
    if not record["fields"]:
        raise ArgumentError(f"the Avro record {name} has no fields")
    fields = []
    for part in record["fields"]:
        if not isinstance(part["name"], str):
            raise ArgumentError(f"the text is not an Avro schema: the name of a field is {part['name']!r}")
        kind, nullable = _type(part["type"], part["name"], (*above, name))
        fields.append({"name": part["name"], "type": kind, "nullable": nullable, "metadata": {}})
    return {"type": "struct", "fields": fields}


def _type(kind: Any, path: str, above: tuple[str, ...]) -> tuple[Any, bool]:
    """Return (type in Spark's JSON form, whether it may be null)."""
    if isinstance(kind, list):
        others = [branch for branch in kind if branch != "null"]
        if len(others) != 1 or len(others) == len(kind):
            raise ArgumentError(
                f"{path} is a union of {len(others)} types; a column has one, with null or without"
            )
        return _type(others[0], path, above)[0], True
    full = kind if isinstance(kind, dict) else {"type": kind}
    name, logical = full["type"], full.get("logicalType")
    if isinstance(logical, str) and logical in avro_logical.BASES:  # of any other Avro says to ignore it
        return _logical(full, logical, path), False
    if name == "record":
        return _struct(full, above), False
    if name in ("array", "map"):
        inner, nullable = _type(full["items" if name == "array" else "values"], f"{path}.element", above)
        if name == "array":
            return {"type": "array", "elementType": inner, "containsNull": nullable}, False
        return {"type": "map", "keyType": "string", "valueType": inner, "valueContainsNull": nullable}, False
    if name in above:
        raise ArgumentError(f"the Avro record {name} holds itself, and a table's columns end somewhere")
    if name not in PLAIN:
        raise ArgumentError(f"{path} is of the type {name}, which a column cannot have")
    return PLAIN[name], False


def _logical(kind: dict[str, Any], name: str, path: str) -> str:
    """Return the type of a logical type in Spark's JSON form."""
    if name not in ("decimal", *LOGICAL):
        raise ArgumentError(f"{path} is of the logical type {name}, which Spark has not")
    if avro_logical.logical(kind) != name:
        size = ", ".join(f"{key} {kind[key]}" for key in ("size", "precision", "scale") if key in kind)
        base = f"{kind['type']} ({size})" if size else kind["type"]
        raise ArgumentError(f"{path} is called {name}, which is not a logical type of {base} in Avro")
    if name != "decimal":
        return LOGICAL[name]
    if kind["precision"] > DIGITS:
        raise ArgumentError(f"{path} is a decimal of {kind['precision']} digits; Spark has {DIGITS} at most")
    return f"decimal({kind['precision']},{kind.get('scale', 0)})"
