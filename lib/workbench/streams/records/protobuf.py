"""Protobuf records against their message type: its fields are the columns.

Source of the type mapping and of presence: protobuf.dev, Language Guide (proto 3), Field Presence. Of fields that
a type does not have, and of values that the library cannot read: Unknown Fields, Enum Behavior, Encoding.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from workbench._base.errors import ArgumentError
from workbench.streams import aggregates
from workbench.streams.records import framing, schemas
from workbench.streams.records.parsing import MESSAGE_LENGTH, UNKNOWN_FIELDS, Parsed, batch
from workbench.streams.records.types import Bad

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
            message, and whose value is none of its type, is always one.
        version: the schema's own, kept with each dead letter.
        framing: what stands before each message: `confluent` or `glue`, which the serializer of a schema registry
            writes, and which says which message of its file it is; None for nothing. The schema's id is not used.
    """

    descriptors: bytes = field(repr=False)
    message: str
    unknown: str = "ignore"
    version: str = "1"
    framing: str | None = None

    def __post_init__(self):
        if self.unknown not in UNKNOWN_FIELDS:
            raise ArgumentError(f"unknown is {self.unknown!r}, expected one of {', '.join(UNKNOWN_FIELDS)}")
        if self.framing not in (None, *framing.FRAMINGS):
            names = ", ".join(framing.FRAMINGS)
            raise ArgumentError(f"framing is {self.framing!r}, expected one of {names}, or None")

    def fields(self):
        """Return the columns as a StructType.

        Raises:
            ValueError: the bytes are no descriptors, the message is not among them, holds itself, or
                has a name twice.
        """
        from pyspark.sql.types import StructType

        found = StructType.fromJson(_struct(_message(self.descriptors, self.message).DESCRIPTOR, ()))
        schemas.refuse_twice(found.names, f"the message {self.message}")
        return found

    def parser(self):
        """Return the Parser, which goes to Spark's workers."""
        return Parser(
            self.fields().jsonValue(), self.descriptors, self.message, self.unknown == "dead", self.framing
        )


def described(message_class):
    """Return the FileDescriptorSet, in bytes, of a generated message class."""
    from google.protobuf import descriptor_pb2

    found, files = descriptor_pb2.FileDescriptorSet(), {}

    def add(file):
        if file.name not in files:
            files[file.name] = descriptor_pb2.FileDescriptorProto()
            for one in file.dependencies:
                add(one)
            file.CopyToProto(files[file.name])
            found.file.append(files[file.name])

    add(message_class.DESCRIPTOR.file)
    return found.SerializeToString()


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

    struct: dict
    descriptors: bytes
    message: str
    strict: bool
    framing: str | None = None
    _made: tuple | None = field(default=None, repr=False)

    def __getstate__(self):
        return self.__dict__ | {"_made": None}

    def __call__(self, data: list[bytes]) -> Parsed:
        """Parse a list of bytes."""
        if self._made is None:
            self._made = self._make()
        made, own, getters, stranger_in, arrow = self._made
        rows, good, dead, unknown = [], [], [], []
        for place, raw in enumerate(data):
            try:
                found = _value(made, self._unframed(raw, own) if self.framing else raw)
                stranger = stranger_in(found)
                row = [get(found) for get in getters]
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

    def _make(self):
        made = _message(self.descriptors, self.message)
        kind = made.DESCRIPTOR
        own = framing.place_of(self.framing, kind) if self.framing else None
        getters = [_getter(one) for one in kind.fields]
        return made, own, getters, _strangers(kind), schemas.arrow_schema(self.struct)

    def _unframed(self, raw, own):
        """Return the bytes of a framed message; raise Bad where it is another one of the file."""
        _, body = framing.opened(raw, (self.framing,))
        named, data = framing.message_of(self.framing, body)
        if named != own:
            raise Bad("other_message", f"the record is message {named} of its file, and {self.message} is {own}")
        return data


def _reason(error):
    """Return (reason, message) of a record that could not be read; whatever was met, it is this record's."""
    return (error.reason, str(error)) if isinstance(error, Bad) else ("not_protobuf", f"{error!r}")


def _value(made, raw):
    try:
        found = made.FromString(raw)
    except UnicodeDecodeError as error:  # of the library's variant in Python
        raise Bad("not_utf8", f"a text is not UTF-8: {error.reason}") from None
    except Exception as error:  # a DecodeError; whatever else a library meets, it is this record's
        for name in framing.FRAMINGS:  # no message begins so: there is no field 0
            if raw.startswith(framing.BEGIN[name]) and len(raw) >= framing.HEADER[name]:
                raise Bad("not_protobuf", f"{error}; it begins as with framing={name!r}") from None
        text = "UTF-8" in str(error)  # all that the library says of a text in proto3
        raise Bad("not_utf8" if text else "not_protobuf", str(error) or f"{error!r}") from None
    if not found.IsInitialized():
        raise Bad("missing_field", f"{', '.join(found.FindInitializationErrors())} is required and not there")
    return found


def _getter(one):
    """Return a function of a message that gives a field's value as Arrow takes it; it raises Bad."""
    name = one.name
    if _is_map(one):
        value = _converter(one.message_type.fields_by_name["value"], name)
        return lambda message: [(key, value(each)) for key, each in _entries(message, name)]
    inner = _converter(one, name)
    if one.is_repeated:
        return lambda message: [inner(each) for each in getattr(message, name)]
    if one.has_presence:
        return lambda message: inner(getattr(message, name)) if message.HasField(name) else None
    return lambda message: inner(getattr(message, name))


def _converter(one, name):
    """Return a function of a field's value, one of its elements where it is repeated; `name` is of the field."""
    if one.type == one.TYPE_ENUM:
        names = {value.number: value.name for value in one.enum_type.values}

        def name_of(number):
            if number not in names:
                raise Bad("unknown_enum", f"field {name!r}: {one.enum_type.name} has no value {number}")
            return names[number]

        return name_of
    if one.type == one.TYPE_STRING:

        def text(value):
            if isinstance(value, bytes):
                raise _not_utf8(name, "the text")
            return value

        return text
    if one.type not in (one.TYPE_MESSAGE, one.TYPE_GROUP):
        return lambda value: value
    if one.message_type.full_name in WRAPPED:
        return lambda value: value.value
    if one.message_type.full_name == TIMESTAMP:
        return lambda value: _micros(value, name)
    getters = {each.name: _getter(each) for each in one.message_type.fields}
    return lambda value: {name: get(value) for name, get in getters.items()}


def _micros(value, name):
    if not -62_135_596_800 <= value.seconds <= 253_402_300_799 or not 0 <= value.nanos < 1_000_000_000:
        raise Bad("out_of_range", f"field {name!r}: {value.seconds} s and {value.nanos} ns are no Timestamp")
    micros, rest = divmod(value.nanos, 1000)
    if rest:
        raise Bad("too_precise", f"field {name!r}: {value.nanos} ns are no whole number of microseconds")
    return value.seconds * 1_000_000 + micros


def _message(descriptors, name):
    """Return the class of a message."""
    from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
    from google.protobuf.message import DecodeError

    pool = descriptor_pool.DescriptorPool()
    try:
        files = descriptor_pb2.FileDescriptorSet.FromString(descriptors).file
        for one in files:
            pool.Add(one)
    except (DecodeError, TypeError) as error:
        raise ArgumentError(f"the bytes are no FileDescriptorSet with all that it imports: {error}") from None
    try:
        return message_factory.GetMessageClass(pool.FindMessageTypeByName(name))
    except KeyError:
        there = [f"{one.package}.{each.name}".lstrip(".") for one in files for each in one.message_type]
        raise ArgumentError(f"no message {name!r} among the descriptors; there are {', '.join(there)}") from None


def _struct(message, above):
    """Return a message type in Spark's JSON form of a struct."""
    if message.full_name in above:
        raise ArgumentError(f"the message {message.full_name} holds itself, and a table's columns end somewhere")
    if message.full_name in NOT_READ or not message.fields:
        raise ArgumentError(f"the message {message.full_name} has no fields that could be columns")
    fields = []
    for one in message.fields:
        kind = _type(one, (*above, message.full_name))
        nullable = one.has_presence and not one.is_required
        fields.append({"name": one.name, "type": kind, "nullable": nullable, "metadata": {}})
    return {"type": "struct", "fields": fields}


def _type(one, above):
    if _is_map(one):
        key, value = (one.message_type.fields_by_name[part] for part in ("key", "value"))
        inner = _single(value, above)
        return {"type": "map", "keyType": _single(key, above), "valueType": inner, "valueContainsNull": False}
    kind = _single(one, above)
    return {"type": "array", "elementType": kind, "containsNull": False} if one.is_repeated else kind


def _single(one, above):
    if one.type in (one.TYPE_MESSAGE, one.TYPE_GROUP):
        name = one.message_type.full_name
        if name == TIMESTAMP:
            return "timestamp"
        return _single(one.message_type.fields[0], above) if name in WRAPPED else _struct(one.message_type, above)
    return {
        one.CPPTYPE_INT32: "integer", one.CPPTYPE_INT64: "long", one.CPPTYPE_UINT32: "long",
        one.CPPTYPE_UINT64: "decimal(20,0)", one.CPPTYPE_DOUBLE: "double", one.CPPTYPE_FLOAT: "float",
        one.CPPTYPE_BOOL: "boolean", one.CPPTYPE_ENUM: "string",
        one.CPPTYPE_STRING: "binary" if one.type == one.TYPE_BYTES else "string",
    }[one.cpp_type]  # fmt: skip


def _strangers(kind: Any) -> Callable:
    """Return a function that finds a field which a message, or one in it, has and its type has not.

    It returns (number, full name of the type), or None. The library also keeps values of known fields that it
    cannot read among the unknown ones: their columns would be null or 0, so they raise Bad.
    """
    from google.protobuf.unknown_fields import UnknownFieldSet

    inner = [(one.name, _parts(one), _strangers(_of(one))) for one in kind.fields if _of(one) is not None]
    known = kind.fields_by_number

    def find(message):
        found = None
        for one in UnknownFieldSet(message):
            if one.field_number in known:
                raise _lost(known[one.field_number], one)
            found = found or (one.field_number, kind.full_name)
        if found is None and kind.is_extendable:
            more = next((one.number for one, _ in message.ListFields() if one.is_extension), None)
            found = more and (more, kind.full_name)
        for name, parts, within in inner:
            for part in parts(message, name):
                deeper = within(part)
                found = found or deeper
        return found

    return find


def _of(one):
    """Return the message type of a field's values; None where they are plain ones."""
    return one.message_type.fields_by_name["value"].message_type if _is_map(one) else one.message_type


def _parts(one):
    """Return a function of a message and a field's name that gives the messages in it."""
    if _is_map(one):
        return lambda message, name: [value for _, value in _entries(message, name)]
    if one.is_repeated:
        return getattr
    return lambda message, name: (getattr(message, name),) if message.HasField(name) else ()


def _lost(one, value):
    """Return the Bad of a value that the library put aside although the message has its field."""
    enum = one.message_type.fields_by_name["value"].enum_type if _is_map(one) else one.enum_type
    where = f"field {one.name!r} of {one.containing_type.full_name}"
    if _is_map(one) and value.wire_type == LENGTH:
        if enum is not None and enum.is_closed:
            return Bad("unknown_enum", f"field {one.name!r}: {enum.name} has no value for one of its entries")
        return Bad("unknown_field", f"{where}: an entry has a field beside its key and value, and is lost with it")
    if enum is not None and value.wire_type == VARINT:
        return Bad("unknown_enum", f"field {one.name!r}: {enum.name} has no value {value.data}")
    return Bad("wrong_type", f"{where} is there with wire type {value.wire_type}, which its type does not have")


def _entries(message: Any, name: str) -> Any:
    """Return the entries of a map; a key that is no text can be seen, but the library finds nothing by it."""
    found = getattr(message, name)
    if any(isinstance(key, bytes) for key in found):
        raise _not_utf8(name, "a key")
    return found.items()


def _not_utf8(name: str, what: str) -> Bad:
    """Return the Bad of a text that is none: proto2 takes any bytes, and gives such as they are."""
    return Bad("not_utf8", f"field {name!r}: {what} is not UTF-8")


def _is_map(one: Any) -> bool:
    """Say whether a field is a map, which is a list of entries."""
    return one.message_type is not None and one.message_type.GetOptions().map_entry
