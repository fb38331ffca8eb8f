"""Fields of a Protobuf message that its type does not have, and values that the library cannot read.

Source: protobuf.dev, Language Guide (Unknown Fields; Enum Behavior), Encoding.
"""

from collections.abc import Callable
from typing import Any

from workbench.streams.records.types import Bad

VARINT, LENGTH = 0, 2  # wire types


def strangers(kind: Any) -> Callable:
    """Return a function that finds a field which a message, or one in it, has and its type has not.

    It returns (number, full name of the type), or None. The library also keeps values of known fields that it
    cannot read among the unknown ones: their columns would be null or 0, so they raise Bad.
    """
    from google.protobuf.unknown_fields import UnknownFieldSet

    inner = [(one.name, _parts(one), strangers(_of(one))) for one in kind.fields if _of(one) is not None]
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
    return one.message_type.fields_by_name["value"].message_type if is_map(one) else one.message_type


def _parts(one):
    """Return a function of a message and a field's name that gives the messages in it."""
    if is_map(one):
        return lambda message, name: [value for _, value in entries(message, name)]
    if one.is_repeated:
        return getattr
    return lambda message, name: (getattr(message, name),) if message.HasField(name) else ()


def _lost(one, value):
    """Return the Bad of a value that the library put aside although the message has its field."""
    enum = one.message_type.fields_by_name["value"].enum_type if is_map(one) else one.enum_type
    where = f"field {one.name!r} of {one.containing_type.full_name}"
    if is_map(one) and value.wire_type == LENGTH:
        if enum is not None and enum.is_closed:
            return Bad("unknown_enum", f"field {one.name!r}: {enum.name} has no value for one of its entries")
        return Bad("unknown_field", f"{where}: an entry has a field beside its key and value, and is lost with it")
    if enum is not None and value.wire_type == VARINT:
        return Bad("unknown_enum", f"field {one.name!r}: {enum.name} has no value {value.data}")
    return Bad("wrong_type", f"{where} is there with wire type {value.wire_type}, which its type does not have")


def entries(message: Any, name: str) -> Any:
    """Return the entries of a map; a key that is no text can be seen, but the library finds nothing by it."""
    found = getattr(message, name)
    if any(isinstance(key, bytes) for key in found):
        raise not_utf8(name, "a key")
    return found.items()


def not_utf8(name: str, what: str) -> Bad:
    """Return the Bad of a text that is none: proto2 takes any bytes, and gives such as they are."""
    return Bad("not_utf8", f"field {name!r}: {what} is not UTF-8")


def is_map(one: Any) -> bool:
    """Say whether a field is a map, which is a list of entries."""
    return one.message_type is not None and one.message_type.GetOptions().map_entry
