"""Avro records against their schema: the schema gives the columns, and what it does not describe is a reason.

Source of the type mapping and of the framing: avro.apache.org, Specification 1.12; Confluent's wire format.
"""

import io
import json
from dataclasses import dataclass, field

from workbench.streams import schemas
from workbench.streams.parsing import MESSAGE_LENGTH, Parsed

PLAIN = {
    "boolean": "boolean", "int": "integer", "long": "long", "float": "float", "double": "double",
    "bytes": "binary", "string": "string", "enum": "string", "fixed": "binary",
}  # fmt: skip
LOGICAL = {
    "date": "date", "timestamp-millis": "timestamp", "timestamp-micros": "timestamp",
    "local-timestamp-millis": "timestamp_ntz", "local-timestamp-micros": "timestamp_ntz", "uuid": "string",
}  # fmt: skip
HEADER = 5  # a zero, and four bytes of a schema's id


@dataclass(frozen=True)
class Avro:
    """How Avro records, one value each, become rows: a record's fields are the columns.

    A union with null is a column that may be null; other unions are refused, as is what Spark has no type for
    (`time-millis`, `duration`). Decimals, dates and timestamps are those of the logical types.

    Attributes:
        schema: the Avro schema of a record, JSON text: what the rows have.
        writers: schemas by which records were written, schema id to JSON text: each record begins with a zero and
            the id of its writer's schema (Confluent's framing) and is resolved to `schema`, as Avro says; empty
            for records that were written with `schema` itself and begin with nothing.
        version: the schema's own, kept with each dead letter.
    """

    schema: str
    writers: dict[int, str] = field(default_factory=dict)
    version: str = "1"

    def fields(self):
        """Return the columns as a StructType.

        Raises:
            ValueError: the schema is none, is not of a record, or has a type that Spark has not.
        """
        from pyspark.sql.types import StructType

        for one in self.writers.values():
            _parsed(one)
        return StructType.fromJson(_struct(_parsed(self.schema), ()))

    def parser(self):
        """Return the Parser, which goes to Spark's workers."""
        return Parser(self.fields().jsonValue(), self.schema, dict(self.writers))


@dataclass
class Parser:
    """Parses chunks of records; what it needs for it is made in the worker, on first use.

    Attributes:
        struct: the columns, Spark's JSON form.
        schema: the reader's schema, JSON text.
        writers: schema id to JSON text.
    """

    struct: dict
    schema: str
    writers: dict
    _made: tuple | None = field(default=None, repr=False)

    def __getstate__(self):
        return {"struct": self.struct, "schema": self.schema, "writers": self.writers, "_made": None}

    def __call__(self, data):
        """Parse a list of bytes; returns Parsed."""
        import pyarrow as pa

        if self._made is None:
            writers = {number: _parsed(text) for number, text in self.writers.items()}
            texts = [self.schema, *self.writers.values()]
            plain = _plain if any("uuid" in one for one in texts) else (lambda value: value)
            self._made = _parsed(self.schema), writers, schemas.arrow_schema(self.struct), plain
        reader, writers, arrow, plain = self._made
        objects, good, dead = [], [], []
        for place, raw in enumerate(data):
            try:
                objects.append(plain(_value(raw, reader, writers)))
                good.append(place)
            except Exception as error:  # fastavro raises whatever its decoding ran into
                reason, message = error.args if isinstance(error, _Bad) else ("not_avro", f"{error!r}")
                dead.append((place, reason, message[:MESSAGE_LENGTH]))
        try:
            columns = [pa.array([one[name] for one in objects], arrow.field(name).type) for name in arrow.names]
        except (pa.ArrowInvalid, OverflowError, ValueError, TypeError):
            return self._one_by_one(objects, good, dead, arrow)
        return Parsed(pa.RecordBatch.from_arrays(columns, schema=arrow), good, dead, 0)

    def _one_by_one(self, objects, good, dead, arrow):
        """Find the records with a value that its own type does not hold, as a decimal with too many digits."""
        import pyarrow as pa

        kept, places = [], []
        for place, one in zip(good, objects, strict=True):
            try:
                kept.append(pa.RecordBatch.from_pylist([one], schema=arrow))
                places.append(place)
            except (pa.ArrowInvalid, OverflowError, ValueError, TypeError) as error:
                dead.append((place, "out_of_range", str(error)[:MESSAGE_LENGTH]))
        rows = pa.Table.from_batches(kept, schema=arrow).combine_chunks().to_batches()
        empty = pa.RecordBatch.from_pylist([], schema=arrow)
        return Parsed(rows[0] if rows else empty, places, sorted(dead), 0)


class _Bad(Exception):
    """A record is no value of the schema: (reason, message)."""


def _value(raw, reader, writers):
    import fastavro

    writer, given, start = reader, None, 0
    if writers:
        if len(raw) < HEADER or raw[0] != 0:
            raise _Bad("not_framed", "the record does not begin with a zero and the id of a schema")
        number = int.from_bytes(raw[1:HEADER], "big")
        if number not in writers:
            raise _Bad("unknown_schema", f"no schema {number} was given; there are {', '.join(map(str, writers))}")
        writer, given, start = writers[number], reader, HEADER
    if len(raw) == start and writer.get("fields"):
        raise _Bad("empty", "the record is empty")
    stream = io.BytesIO(raw)
    stream.seek(start)
    try:
        found = fastavro.schemaless_reader(stream, writer, given)
    except UnicodeDecodeError as error:
        raise _Bad("not_utf8", f"a text is not UTF-8: {error.reason}") from None
    except EOFError:
        raise _Bad("not_avro", "the record ends before its value does") from None
    if left := len(raw) - stream.tell():
        raise _Bad("more_than_one", f"{left} bytes follow the value")
    return found


def _plain(value):
    """Return a value with UUIDs as text; Arrow takes everything else as it is."""
    import uuid

    if isinstance(value, dict):
        return {key: _plain(one) for key, one in value.items()}
    if isinstance(value, list):
        return [_plain(one) for one in value]
    return str(value) if isinstance(value, uuid.UUID) else value


def _parsed(text):
    import fastavro

    try:
        found = fastavro.parse_schema(json.loads(text), expand=True)
    except (ValueError, TypeError, KeyError, fastavro.schema.SchemaParseException) as error:
        raise ValueError(f"the text is no Avro schema: {error}") from None
    except fastavro.schema.UnknownType as error:
        raise ValueError(f"the text is no Avro schema: there is no type {error}") from None
    if not isinstance(found, dict) or found.get("type") != "record":
        raise ValueError("the Avro schema is not that of a record, whose fields would be the columns")
    return found


def _struct(record, above):
    """Return a record in Spark's JSON form of a struct."""
    name = record["name"]
    if not record["fields"]:
        raise ValueError(f"the Avro record {name} has no fields")
    fields = []
    for one in record["fields"]:
        kind, nullable = _type(one["type"], one["name"], (*above, name))
        fields.append({"name": one["name"], "type": kind, "nullable": nullable, "metadata": {}})
    return {"type": "struct", "fields": fields}


def _type(kind, path, above):
    """Return (type in Spark's JSON form, whether it may be null)."""
    if isinstance(kind, list):
        others = [one for one in kind if one != "null"]
        if len(others) != 1 or len(others) == len(kind):
            raise ValueError(f"{path} is a union of {len(others)} types; a column has one, with null or without")
        return _type(others[0], path, above)[0], True
    made = kind if isinstance(kind, dict) else {"type": kind}
    logical, name = made.get("logicalType"), made["type"]
    if logical == "decimal":
        return f"decimal({made['precision']},{made.get('scale', 0)})", False
    if logical in LOGICAL:
        return LOGICAL[logical], False
    if logical:
        raise ValueError(f"{path} is of the logical type {logical}, which Spark has not")
    if name == "record":
        return _struct(made, above), False
    if name in ("array", "map"):
        inner, nullable = _type(made["items" if name == "array" else "values"], f"{path}.element", above)
        if name == "array":
            return {"type": "array", "elementType": inner, "containsNull": nullable}, False
        return {"type": "map", "keyType": "string", "valueType": inner, "valueContainsNull": nullable}, False
    if name in above:
        raise ValueError(f"the Avro record {name} holds itself, and a table's columns end somewhere")
    if name not in PLAIN:
        raise ValueError(f"{path} is of the type {name}, which a column cannot have")
    return PLAIN[name], False
