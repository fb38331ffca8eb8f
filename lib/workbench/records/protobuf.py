"""Protobuf records against their message type: its fields are the columns.

Source of the type mapping and of presence: protobuf.dev, Language Guide (proto 3), Field Presence. Of fields that
a type does not have, and of values that the library cannot read: Unknown Fields, Enum Behavior, Encoding.
"""

import dataclasses
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from workbench._base.door import checked
from workbench._base.errors import ArgumentError
from workbench._base.typing import StructType
from workbench.records import aggregates, framing, schemas
from workbench.records.parsing import MESSAGE_LENGTH, UNKNOWN_FIELDS, Parsed, batch
from workbench.records.types import Bad

WRAPPED = {  # google.protobuf's messages around one value, which may be absent
    f"google.protobuf.{name}Value"
    for name in ("Bool", "Int32", "Int64", "UInt32", "UInt64", "Float", "Double", "String", "Bytes")
}
TIMESTAMP = "google.protobuf.Timestamp"
VARINT, LENGTH = 0, 2  # wire types
NOT_READ = ("google.protobuf.Any", "google.protobuf.Struct", "google.protobuf.Value", "google.protobuf.ListValue")


@dataclass(frozen=True)
class Protobuf:
    """How Protobuf records, one message each, become rows.

    A field without presence (a plain one of proto3) is never null: what was not sent is 0 or empty, and a record
    of no byte is a message of which nothing was sent. Enums become their names, google.protobuf.Timestamp and the
    wrappers (Int32Value …) the value they hold, uint64 a DECIMAL(20, 0). Any message parses bytes of another as
    fields that it does not know: see `unknown`.

    Attributes:
        descriptors: bytes of a FileDescriptorSet with the message and all that it needs: `protoc
            --include_imports --descriptor_set_out`, or `streams.protobuf.described(MessageClass)`.
        message: full name, as `package.Message`.
        unknown: what becomes of a record with a field that is not in the message, or in a message within it:
            `ignore` drops the field and counts the record, `dead` makes it a dead letter. A field that is in the
            message, and whose value is not of its type, is always one.
        version: the schema's own, kept with each dead letter.
        framing: what stands before each message: `confluent` or `glue`, which the serializer of a schema registry
            writes, and which says which message of its file it is; None for nothing. The schema's id is not used.
    """

    descriptors: bytes = dataclasses.field(repr=False)
    message: str
    unknown: str = "ignore"
    version: str = "1"
    framing: str | None = None

    def __post_init__(self) -> None:
        if self.unknown not in UNKNOWN_FIELDS:
            raise ArgumentError(f"unknown must be one of {', '.join(UNKNOWN_FIELDS)}, found {self.unknown!r}")
        if self.framing not in (None, *framing.FRAMINGS):
            names = ", ".join(framing.FRAMINGS)
            raise ArgumentError(f"framing must be one of {names}, or None, found {self.framing!r}")

    def fields(self) -> StructType:
        """Return the columns as a StructType.

        Raises:
            ValueError: the bytes are not descriptors; the message is not among them, holds itself, or has a name
                twice.
        """
        from pyspark.sql.types import StructType

        columns = StructType.fromJson(_struct(_message(self.descriptors, self.message).DESCRIPTOR, ()))
        schemas.refuse_twice(columns.names, f"the message {self.message}")
        return columns

    def parser(self) -> "Parser":
        """Return the Parser, which goes to Spark's workers."""
        return Parser(
            self.fields().jsonValue(), self.descriptors, self.message, self.unknown == "dead", self.framing
        )


@checked
def described(message_class: Any) -> bytes:
    """Return the FileDescriptorSet, in bytes, of a generated message class."""
    from google.protobuf import descriptor_pb2

    files: dict[str, Any] = {}
    described = descriptor_pb2.FileDescriptorSet()

    def add(file: Any) -> None:
        if file.name not in files:
            files[file.name] = descriptor_pb2.FileDescriptorProto()
            for dependency in file.dependencies:
                add(dependency)
            file.CopyToProto(files[file.name])
            described.file.append(files[file.name])

    add(message_class.DESCRIPTOR.file)
    return described.SerializeToString()


@dataclass
class Parser:
    """Parses chunks of records; what it needs for it is made in the worker, on first use.

    Attributes:
        struct: the columns, Spark's JSON form.
        descriptors: bytes of a FileDescriptorSet.
        message: full name.
        strict: whether a field that is not in the message is an error.
        framing: one of framing.FRAMINGS, or None.
    """

    struct: dict[str, Any]
    descriptors: bytes
    message: str
    strict: bool
    framing: str | None = None
    _tools: tuple[Any, ...] | None = dataclasses.field(default=None, repr=False)

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"_tools": None}

    def __call__(self, data: list[bytes]) -> Parsed:
        """Parse a list of bytes."""
        if self._tools is None:
            self._tools = self._make()
        message_class, own, getters, stranger_in, arrow = self._tools
        rows, good, dead = [], [], []
        unknown: list[int] = []
        for place, raw in enumerate(data):
            try:
                body = self._unframed(raw, own, self.framing) if self.framing else raw
                record = _value(message_class, body)
                stranger = stranger_in(record)
                row = [get(record) for get in getters]
                if stranger and self.strict:
                    raise Bad("unknown_field", f"field number {stranger[0]} is not in {stranger[1]}")
            except Exception as error:
                reason, message = aggregates.reason(raw) or _reason(error)
                dead.append((place, reason, message[:MESSAGE_LENGTH]))
            else:
                rows.append(row)
                good.append(place)
                unknown += [place] if stranger else []
        return batch(rows, good, dead, arrow, unknown)

    def _make(self) -> tuple[Any, ...]:
        message_class = _message(self.descriptors, self.message)
        kind = message_class.DESCRIPTOR
        own = framing.place_of(self.framing, kind) if self.framing else None
        getters = [_getter(field) for field in kind.fields]
        return message_class, own, getters, _strangers(kind), schemas.arrow_schema(self.struct)

    def _unframed(self, raw: bytes, own: list[int], name: str) -> bytes:
        """Return the bytes of a message in a framing; raise Bad where it is another one of the file."""
        _, body = framing.opened(raw, (name,))
        named, data = framing.message_of(name, body)
        if named != own:
            raise Bad("other_message", f"the record is message {named} of its file, and {self.message} is {own}")
        return data


def _reason(error: Exception) -> tuple[str, str]:
    """Return (reason, message) of a record that could not be read; any error is this record's."""
    return (error.reason, str(error)) if isinstance(error, Bad) else ("not_protobuf", f"{error!r}")


def _value(message_class: Any, raw: bytes) -> Any:
    try:
        record = message_class.FromString(raw)
    except UnicodeDecodeError as error:  # of the library's variant in Python
        raise Bad("not_utf8", f"a text is not UTF-8: {error.reason}") from None
    except Exception as error:  # a DecodeError; any other error of a library is this record's, too
        for name in framing.FRAMINGS:  # no message begins so: there is no field 0
            if raw.startswith(framing.BEGIN[name]) and len(raw) >= framing.HEADER[name]:
                raise Bad("not_protobuf", f"{error}; it begins as with framing={name!r}") from None
        text = "UTF-8" in str(error)  # all that the library says of a text in proto3
        raise Bad("not_utf8" if text else "not_protobuf", str(error) or f"{error!r}") from None
    if not record.IsInitialized():
        raise Bad("missing_field", f"{', '.join(record.FindInitializationErrors())} is required and not there")
    return record


def _getter(field: Any) -> Callable[[Any], Any]:
    """Return a function of a message that gives a field's value as Arrow takes it; it raises Bad."""
    name = field.name
    if _is_map(field):
        converted = _converter(field.message_type.fields_by_name["value"], name)
        return lambda message: [(key, converted(value)) for key, value in _entries(message, name)]
    inner = _converter(field, name)
    if field.is_repeated:
        return lambda message: [inner(value) for value in getattr(message, name)]
    if field.has_presence:
        return lambda message: inner(getattr(message, name)) if message.HasField(name) else None
    return lambda message: inner(getattr(message, name))


def _converter(field: Any, name: str) -> Callable[[Any], Any]:
    """Return a function of a field's value, one of its elements where it is repeated; `name` is of the field."""
    if field.type == field.TYPE_ENUM:
        names = {value.number: value.name for value in field.enum_type.values}

        def name_of(number: int) -> str:
            if number not in names:
                raise Bad("unknown_enum", f"field {name!r}: {field.enum_type.name} has no value {number}")
            return names[number]

        return name_of
    if field.type == field.TYPE_STRING:

        def text(value: Any) -> str:
            if isinstance(value, bytes):
                raise _not_utf8(name, "the text")
            return value

        return text
    if field.type not in (field.TYPE_MESSAGE, field.TYPE_GROUP):
        return lambda value: value
    if field.message_type.full_name in WRAPPED:
        return lambda value: value.value
    if field.message_type.full_name == TIMESTAMP:
        return lambda value: _micros(value, name)
    getters = {inner.name: _getter(inner) for inner in field.message_type.fields}
    return lambda value: {name: get(value) for name, get in getters.items()}


def _micros(value: Any, name: str) -> int:
    if not -62_135_596_800 <= value.seconds <= 253_402_300_799 or not 0 <= value.nanos < 1_000_000_000:
        raise Bad("out_of_range", f"field {name!r}: {value.seconds} s and {value.nanos} ns are not a Timestamp")
    micros, rest = divmod(value.nanos, 1000)
    if rest:
        raise Bad("too_precise", f"field {name!r}: {value.nanos} ns are not a whole number of microseconds")
    return value.seconds * 1_000_000 + micros


def _message(descriptors: bytes, name: str) -> Any:
    """Return the class of a message."""
    from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
    from google.protobuf.message import DecodeError

    pool = descriptor_pool.DescriptorPool()
    try:
        files = descriptor_pb2.FileDescriptorSet.FromString(descriptors).file
        for file in files:
            pool.Add(file)
    except (DecodeError, TypeError) as error:
        raise ArgumentError(f"the bytes are not a FileDescriptorSet with all that it imports: {error}") from None
    try:
        return message_factory.GetMessageClass(pool.FindMessageTypeByName(name))
    except KeyError:
        names = [f"{file.package}.{kind.name}".lstrip(".") for file in files for kind in file.message_type]
        raise ArgumentError(f"no message {name!r} among the descriptors; there are {', '.join(names)}") from None


def _struct(message: Any, above: tuple[str, ...]) -> dict[str, Any]:
    """Return a message type in Spark's JSON form of a struct."""
    if message.full_name in above:
        raise ArgumentError(f"the message {message.full_name} holds itself, and a table's columns end somewhere")
    if message.full_name in NOT_READ or not message.fields:
        raise ArgumentError(f"the message {message.full_name} has no fields that could be columns")
    fields = []
    for field in message.fields:
        kind = _type(field, (*above, message.full_name))
        nullable = field.has_presence and not field.is_required
        fields.append({"name": field.name, "type": kind, "nullable": nullable, "metadata": {}})
    return {"type": "struct", "fields": fields}


def _type(field: Any, above: tuple[str, ...]) -> Any:
    if _is_map(field):
        key, value = (field.message_type.fields_by_name[part] for part in ("key", "value"))
        inner = _single(value, above)
        return {"type": "map", "keyType": _single(key, above), "valueType": inner, "valueContainsNull": False}
    kind = _single(field, above)
    return {"type": "array", "elementType": kind, "containsNull": False} if field.is_repeated else kind


def _single(field: Any, above: tuple[str, ...]) -> Any:
    if field.type in (field.TYPE_MESSAGE, field.TYPE_GROUP):
        name = field.message_type.full_name
        if name == TIMESTAMP:
            return "timestamp"
        return (
            _single(field.message_type.fields[0], above) if name in WRAPPED else _struct(field.message_type, above)
        )
    return {
        field.CPPTYPE_INT32: "integer", field.CPPTYPE_INT64: "long", field.CPPTYPE_UINT32: "long",
        field.CPPTYPE_UINT64: "decimal(20,0)", field.CPPTYPE_DOUBLE: "double", field.CPPTYPE_FLOAT: "float",
        field.CPPTYPE_BOOL: "boolean", field.CPPTYPE_ENUM: "string",
        field.CPPTYPE_STRING: "binary" if field.type == field.TYPE_BYTES else "string",
    }[field.cpp_type]  # fmt: skip


def _strangers(kind: Any) -> Callable[[Any], tuple[int, str] | None]:
    """Return a function that finds a field which a message, or one in it, has and its type has not.

    It returns (number, full name of the type), or None. The library also keeps values of known fields that it
    cannot read among the unknown ones: their columns would be null or 0, so they raise Bad.
    """
    from google.protobuf.unknown_fields import UnknownFieldSet

    messages = [field for field in kind.fields if _of(field) is not None]
    inner = [(field.name, _parts(field), _strangers(_of(field))) for field in messages]
    known = kind.fields_by_number

    def find(message: Any) -> tuple[int, str] | None:
        stranger = None
        for value in UnknownFieldSet(message):
            if value.field_number in known:
                raise _lost(known[value.field_number], value)
            stranger = stranger or (value.field_number, kind.full_name)
        if stranger is None and kind.is_extendable:
            number = next((field.number for field, _ in message.ListFields() if field.is_extension), None)
            stranger = number and (number, kind.full_name)
        for name, parts, within in inner:
            for part in parts(message, name):
                deeper = within(part)
                stranger = stranger or deeper
        return stranger

    return find


def _of(field: Any) -> Any:
    """Return the message type of a field's values; None where they are plain ones."""
    return field.message_type.fields_by_name["value"].message_type if _is_map(field) else field.message_type


def _parts(field: Any) -> Callable[[Any, str], Iterable[Any]]:
    """Return a function of a message and a field's name that gives the messages in it."""
    if _is_map(field):
        return lambda message, name: [value for _, value in _entries(message, name)]
    if field.is_repeated:
        return getattr
    return lambda message, name: (getattr(message, name),) if message.HasField(name) else ()


def _lost(field: Any, value: Any) -> Bad:
    """Return the Bad of a value that the library put aside although the message has its field."""
    enum = field.message_type.fields_by_name["value"].enum_type if _is_map(field) else field.enum_type
    where = f"field {field.name!r} of {field.containing_type.full_name}"
    if _is_map(field) and value.wire_type == LENGTH:
        if enum is not None and enum.is_closed:
            return Bad("unknown_enum", f"field {field.name!r}: {enum.name} has no value for one of its entries")
        return Bad("unknown_field", f"{where}: an entry has a field beside its key and value, and is lost with it")
    if enum is not None and value.wire_type == VARINT:
        return Bad("unknown_enum", f"field {field.name!r}: {enum.name} has no value {value.data}")
    return Bad("wrong_type", f"{where} is there with wire type {value.wire_type}, which its type does not have")


def _entries(message: Any, name: str) -> Any:
    """Return the entries of a map; a key that is not a text is seen there, but finds nothing."""
    entries = getattr(message, name)
    if any(isinstance(key, bytes) for key in entries):
        raise _not_utf8(name, "a key")
    return entries.items()


def _not_utf8(name: str, what: str) -> Bad:
    """Return the Bad of a text that is not UTF-8: proto2 takes any bytes, and gives them as they are."""
    return Bad("not_utf8", f"field {name!r}: {what} is not UTF-8")


def _is_map(field: Any) -> bool:
    """Tell whether a field is a map, which is a list of entries."""
    return field.message_type is not None and field.message_type.GetOptions().map_entry
