"""Bounds of columns in manifests, as texts; those of columns that were dropped, too."""

import struct
from collections.abc import Iterator, Mapping

from workbench._base.typing import Java
from workbench.anonymity.values import decoded

_NUMBERS = {"INTEGER": "<i", "LONG": "<q"}


def columns(loaded: Java) -> dict[int, tuple[str, str]]:
    """Return the plain columns of all schemas that a table had: {field id: (dotted name, Iceberg's type)}."""
    known = {}
    for schema in loaded.schemas().values():
        for number in schema.idToName():
            field = schema.findField(number)
            if field.type().isPrimitiveType():
                known[int(number)] = (str(schema.findColumnName(number)), str(field.type().typeId().toString()))
    return known


def texts(
    names: Mapping[int, tuple[str, str]], *bounds: Mapping[int, bytearray] | None
) -> Iterator[tuple[str, str]]:
    """Yield (column, bound as a text) of a file's lower and upper bounds."""
    for side in bounds:
        for number, value in (side or {}).items():
            name, kind = names.get(number, (f"field {number}", "STRING"))
            text = _text(bytes(value), kind)
            if text:
                yield name, text


def _text(value: bytes, kind: str) -> str | None:
    if kind in _NUMBERS and len(value) == struct.calcsize(_NUMBERS[kind]):
        return str(struct.unpack(_NUMBERS[kind], value)[0])
    if kind in ("STRING", "BINARY", "FIXED", "UUID"):
        return decoded(value)
    if kind == "DECIMAL":
        return str(int.from_bytes(value, "big", signed=True))
    return None  # moments and floats name nobody
