"""Bounds of columns in manifests, as texts; those of columns that were dropped, too."""

import re
import struct
from collections.abc import Iterator, Mapping
from typing import Any

from workbench._base.typing import Java
from workbench.anonymity.values import decoded

_WHOLE = {4: "<i", 8: "<q"}  # by bytes: those of a file are older than the column's type of today


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
    import numpy as np

    moment = kind.startswith(("DATE", "TIMESTAMP"))
    if (moment or kind in ("INTEGER", "LONG")) and len(value) in _WHOLE:
        number = struct.unpack(_WHOLE[len(value)], value)[0]
        if not moment:
            return str(number)
        unit: Any = "D" if len(value) < max(_WHOLE) else "ns" if kind.endswith("NANO") else "us"
        return re.sub(r"\.0+$", "", str(np.datetime64(number, unit))).replace("T", " ")
    if kind in ("STRING", "BINARY", "FIXED", "UUID"):
        return decoded(value)
    if kind == "DECIMAL":
        return str(int.from_bytes(value, "big", signed=True))
    return None  # floats name nobody by themselves
