"""Read Avro's binary values, and only those.

A Read is a function of bytes and a place in them that returns the value there and the place behind it. It raises
IndexError or struct.error where the bytes end before the value does, and Bad for bytes that no writer makes: an
index of a union below 0, a number of more than 64 bits, a boolean of 2, of which libraries make some value.

Source: avro.apache.org, Specification 1.12, Binary encoding.
"""

import struct
from collections.abc import Callable
from typing import Any

from workbench.records import varints
from workbench.records.types import Bad

Read = Callable[[bytes, int], tuple[Any, int]]
MOST_WITHOUT_A_BYTE = 10_000  # items of an array that may have no byte each, as nulls


def _null(data: bytes, place: int) -> tuple[None, int]:
    return None, place


def _boolean(data: bytes, place: int) -> tuple[bool, int]:
    value = data[place]
    if value > 1:
        raise Bad("not_avro", f"a boolean is the byte 0 or 1, found {value}")
    return value == 1, place + 1


def _long(data: bytes, place: int) -> tuple[int, int]:
    if (value := data[place]) <= 0x7F:  # most numbers have one byte, and are read without another call
        return (value >> 1) ^ -(value & 1), place + 1
    try:
        value, place = varints.unsigned(data, place)
    except OverflowError as error:
        raise Bad("not_avro", str(error)) from None
    if value >> 64:
        raise Bad("not_avro", "a number has more than 64 bits")
    return varints.signed(value), place


def _int(data: bytes, place: int) -> tuple[int, int]:
    value, place = _long(data, place)
    if not -(2**31) <= value < 2**31:
        raise Bad("out_of_range", f"{value} does not fit into 32 bits")
    return value, place


def _float(data: bytes, place: int) -> tuple[float, int]:
    return struct.unpack_from("<f", data, place)[0], place + 4


def _double(data: bytes, place: int) -> tuple[float, int]:
    return struct.unpack_from("<d", data, place)[0], place + 8


def _bytes(data: bytes, place: int) -> tuple[bytes, int]:
    size, place = _long(data, place)
    return _cut(data, place, size)


def _cut(data: bytes, place: int, size: int) -> tuple[bytes, int]:
    if size < 0:
        raise Bad("not_avro", f"a length of {size} bytes")
    end = place + size
    if end > len(data):
        raise IndexError
    return data[place:end], end


def _string(data: bytes, place: int) -> tuple[str, int]:
    value, place = _bytes(data, place)
    try:
        return value.decode(), place
    except UnicodeDecodeError as error:
        raise Bad("not_utf8", f"a text is not UTF-8: {error.reason}") from None


def primitive(writer: str, reader: str) -> Read:
    """Return what reads a primitive type, promoted where the two differ."""
    if {writer, reader} == {"bytes", "string"}:
        return _string if reader == "string" else _bytes
    read: Read = {
        "null": _null, "boolean": _boolean, "int": _int, "long": _long, "float": _float, "double": _double,
        "bytes": _bytes, "string": _string,
    }[writer]  # fmt: skip
    return converted(read, float) if writer in ("int", "long") and reader in ("float", "double") else read


def converted(read: Read, convert: Callable) -> Read:
    """Return what reads a value and converts it."""

    def converted(data: bytes, place: int) -> tuple[Any, int]:
        value, place = read(data, place)
        return convert(value), place

    return converted


def fixed(size: int) -> Read:
    """Return what reads a fixed, of so many bytes."""
    return lambda data, place: _cut(data, place, size)


def enum(values: list, symbols: list, path: str) -> Read:
    """Return what reads an enum; `values` are what the reader has for the writer's symbols, None for nothing."""

    def read(data: bytes, place: int) -> tuple[str, int]:
        index, place = _long(data, place)
        if not 0 <= index < len(values):
            raise Bad("not_avro", f"{path} has the symbols 0 to {len(values) - 1}, found {index}")
        if values[index] is None:
            raise Bad("unknown_enum", f"{path}: the reader's enum has no symbol {symbols[index]}, and no default")
        return values[index], place

    return read


def union(branches: list[Read]) -> Read:
    """Return what reads a union: the index of a branch, and its value."""

    def read(data: bytes, place: int) -> tuple[Any, int]:
        index, place = _long(data, place)
        if not 0 <= index < len(branches):
            raise Bad("not_avro", f"a union has the branches 0 to {len(branches) - 1}, found {index}")
        return branches[index](data, place)

    return read


def array(item: Read) -> Read:
    """Return what reads an array: blocks of values."""

    def read(data: bytes, place: int) -> tuple[list, int]:
        items: list[Any] = []
        while True:
            count, place = _block(data, place)
            if not count:
                return items, place
            if len(items) + count > max(len(data), MOST_WITHOUT_A_BYTE):
                raise Bad("not_avro", f"an array of {len(items) + count} values in a record of {len(data)} bytes")
            for _ in range(count):
                value, place = item(data, place)
                items.append(value)

    return read


def mapped(value_of: Read) -> Read:
    """Return what reads a map, as a list of keys and values; of a key twice the last value stays."""

    def read(data: bytes, place: int) -> tuple[list, int]:
        entries: dict[str, Any] = {}
        while True:
            count, place = _block(data, place)
            if not count:
                return list(entries.items()), place
            for _ in range(count):
                key, place = _string(data, place)
                entries[key], place = value_of(data, place)

    return read


def _block(data: bytes, place: int) -> tuple[int, int]:
    """Return how many items follow, and the place of the first; how many bytes they have is for who skips them."""
    count, place = _long(data, place)
    if count >= 0:
        return count, place
    _, place = _long(data, place)
    return -count, place
