"""Resolve the schema that an Avro record was written with to the one it is read with.

The bytes say what was written, the writer's schema how, and the reader's schema what it means: a number that the
reader calls a time is one, whether or not its writer did.

Source: avro.apache.org, Specification 1.12: Schema Resolution, Complex Types (defaults).
"""

import sys
from dataclasses import dataclass, field
from typing import Any

from workbench._base.errors import ArgumentError
from workbench.records import avro_logical
from workbench.records import avro_values as values
from workbench.records.avro_values import Read
from workbench.records.types import LARGEST_FLOAT, Bad

LARGEST_DOUBLE = sys.float_info.max
PRIMITIVE = ("null", "boolean", "int", "long", "float", "double", "bytes", "string")
PROMOTED = {
    "int": ("long", "float", "double"), "long": ("float", "double"), "float": ("double",),
    "string": ("bytes",), "bytes": ("string",),
}  # fmt: skip


def reader_of(writer: dict, reader: dict) -> Read:
    """Return a function that reads a record which was written with one schema, as another one describes it.

    What does not fit between the two schemas is an error of the records that have it, as in Avro's libraries: a
    branch of a union that never comes stops nothing.

    Args:
        writer: as `fastavro.parse_schema` returns it.
        reader: likewise; its types end somewhere.

    Returns:
        function of bytes and a place in them. Values are those that Arrow takes: days of a date, microseconds of a
        timestamp. It raises Bad, and IndexError or struct.error where the bytes end before the value does.
    """
    return _Schemas(writer["__named_schemas"], reader["__named_schemas"]).read(writer, reader, reader["name"])


def check_defaults(reader: dict) -> None:
    """Refuse a schema with a default that is not a value of its field.

    Raises:
        ValueError: there is one.
    """
    schemas = _Schemas({}, reader["__named_schemas"])

    def check(kind: Any, path: str) -> None:
        kind = schemas.of_reader(kind)
        if isinstance(kind, list):
            for branch in kind:
                check(branch, path)
        elif kind["type"] in ("array", "map"):
            check(kind.get("items", kind.get("values")), path)
        for part in kind.get("fields", ()) if isinstance(kind, dict) else ():
            where = f"{path}.{part['name']}"
            if "default" in part:
                schemas.default(part["type"], part["default"], where)
            check(part["type"], where)

    check(reader, reader["name"])


@dataclass
class _Schemas:
    """The named types of a writer's schema and of a reader's."""

    writers: dict[str, Any]
    readers: dict[str, Any]
    skips: dict[str, list[Read]] = field(default_factory=dict)

    def of_writer(self, kind: Any) -> Any:
        return _type(kind, self.writers)

    def of_reader(self, kind: Any) -> Any:
        return _type(kind, self.readers)

    def read(self, writer: Any, reader: Any, path: str) -> Read:
        """Return the function that reads a value; `path` names it in messages."""
        writer, reader = self.of_writer(writer), self.of_reader(reader)
        if isinstance(writer, list):
            return values.union([self.read(branch, reader, path) for branch in writer])
        if isinstance(reader, list):
            matching = [branch for branch in reader if self.match(writer, self.of_reader(branch))]
            return self.read(writer, matching[0], path) if matching else _mismatch(path, writer, reader)
        if not self.match(writer, reader):
            return _mismatch(path, writer, reader)
        kind = reader["type"]
        if kind in ("record", "error"):
            return self.record(writer, reader, path)
        if kind == "array":
            return values.array(self.read(writer["items"], reader["items"], f"{path}.element"))
        if kind == "map":
            return values.mapped(self.read(writer["values"], reader["values"], f"{path}.element"))
        if kind == "enum":
            symbols, known = writer["symbols"], reader["symbols"]
            return values.enum([x if x in known else reader.get("default") for x in symbols], symbols, path)
        read = values.fixed(writer["size"]) if kind == "fixed" else values.primitive(writer["type"], kind)
        try:
            meaning = avro_logical.meaning(writer, reader)
        except ValueError:
            return _mismatch(path, writer, reader)
        return read if meaning is None else values.converted(read, meaning)

    def match(self, writer: Any, reader: Any) -> bool:
        """Tell whether two types are the same, or one promotes to the other; what is inside is not looked at."""
        if isinstance(writer, list) or isinstance(reader, list):
            return True
        kind, target = writer["type"], reader["type"]
        if kind != target:
            return target in PROMOTED.get(kind, ())
        if kind not in ("record", "error", "enum", "fixed"):
            return True
        names = {_unqualified(reader["name"]), *map(_unqualified, reader.get("aliases", ()))}
        return _unqualified(writer["name"]) in names and writer.get("size") == reader.get("size")

    def record(self, writer: dict, reader: dict, path: str) -> Read:
        by_name = {part["name"]: part for part in reader["fields"]}
        by_alias = {alias: part for part in reader["fields"] for alias in part.get("aliases", ())}
        steps: list[tuple[str | None, Read]] = []
        missing = dict(by_name)
        for part in writer["fields"]:
            target = by_name.get(part["name"], by_alias.get(part["name"]))
            if target is None or target["name"] not in missing:
                steps.append((None, self.skip(part["type"])))
                continue
            del missing[target["name"]]
            steps.append((target["name"], self.read(part["type"], target["type"], f"{path}.{target['name']}")))
        defaults = {}
        for name, part in missing.items():
            where = f"{path}.{name}"
            if "default" not in part:
                return _unresolved(f"{where} is not in the writer's schema, and has no default")
            try:
                defaults[name] = self.default(part["type"], part["default"], where)
            except ValueError as error:
                return _unresolved(str(error))

        def read(data: bytes, place: int) -> tuple[dict, int]:
            record = dict(defaults)
            for name, of_field in steps:
                value, place = of_field(data, place)
                if name is not None:
                    record[name] = value
            return record, place

        return read

    def skip(self, writer: Any) -> Read:
        """Return the function that reads what no field of the reader takes; a type may hold itself."""
        writer = self.of_writer(writer)
        if isinstance(writer, list):
            return values.union([self.skip(branch) for branch in writer])
        kind = writer["type"]
        if kind == "array":
            return values.array(self.skip(writer["items"]))
        if kind == "map":
            return values.mapped(self.skip(writer["values"]))
        if kind == "enum":
            return values.enum(writer["symbols"], writer["symbols"], writer["name"])
        if kind == "fixed":
            return values.fixed(writer["size"])
        if kind not in ("record", "error"):
            return values.primitive(kind, kind)
        name = writer["name"]
        if name not in self.skips:
            self.skips[name] = []  # the fields' readers, which may come back here
            self.skips[name] += [self.skip(part["type"]) for part in writer["fields"]]
        steps = self.skips[name]

        def read(data: bytes, place: int) -> tuple[None, int]:
            for step in steps:
                _, place = step(data, place)
            return None, place

        return read

    def default(self, reader: Any, value: Any, path: str) -> Any:
        """Return a default, which is JSON, as a value of its type.

        Raises:
            ValueError: it is not such a value.
        """
        reader = self.of_reader(reader)
        if isinstance(reader, list):  # since 1.12 a default is of the first branch that it goes with
            for branch in reader:
                try:
                    return self.default(branch, value, path)
                except ValueError:
                    continue
            raise _no_default(path, value, reader)
        kind = reader["type"]
        if kind in ("record", "error") and isinstance(value, dict):
            record = {}
            for part in reader["fields"]:
                name, where = part["name"], f"{path}.{part['name']}"
                if name not in value and "default" not in part:
                    raise ArgumentError(f"the default of {path} has no value for {where}")
                record[name] = self.default(part["type"], value.get(name, part.get("default")), where)
            return record
        if kind == "array" and isinstance(value, list):
            return [self.default(reader["items"], item, f"{path}.element") for item in value]
        if kind == "map" and isinstance(value, dict):
            return [(key, self.default(reader["values"], item, f"{path}.element")) for key, item in value.items()]
        raw = _plain_default(reader, value, path)
        meaning = avro_logical.meaning(reader, reader)
        try:
            return raw if meaning is None else meaning(raw)
        except Bad as bad:
            raise ArgumentError(f"the default of {path} is {value!r}: {bad}") from None


def _type(kind: Any, named: dict) -> Any:
    """Return a type as a dict, or a union as a list; a name is what it names."""
    while not isinstance(kind, list):
        if isinstance(kind, str):
            kind = {"type": kind} if kind in PRIMITIVE else named[kind]
        elif isinstance(kind["type"], (dict, list)):
            kind = kind["type"]
        else:
            return kind
    return kind


def _unqualified(name: str) -> str:
    return name.rpartition(".")[2]


def _in_words(kind: Any) -> str:
    """Return how a message names a type."""
    if isinstance(kind, list):
        return f"a union of {len(kind)} types"
    if isinstance(kind, str):
        return kind
    base = f"{kind['type']} {kind['name']}" if "name" in kind else str(kind["type"])
    size = f" of {kind['size']} bytes" if "size" in kind else ""
    return f"{base}{size} ({kind['logicalType']})" if "logicalType" in kind else f"{base}{size}"


def _unresolved(message: str) -> Read:
    def read(data: bytes, place: int) -> tuple[Any, int]:
        raise Bad("not_resolved", message)

    return read


def _mismatch(path: str, writer: Any, reader: Any) -> Read:
    return _unresolved(f"{path} was written as {_in_words(writer)}, and cannot be read as {_in_words(reader)}")


def _plain_default(reader: dict, value: Any, path: str) -> Any:
    """Return a default of a primitive type, an enum or a fixed: of bytes a character is a byte."""
    kind, plain = reader["type"], value
    if kind in ("bytes", "fixed") and isinstance(value, str) and all(ord(character) < 256 for character in value):
        plain = value.encode("latin-1")
        good = kind == "bytes" or len(plain) == reader["size"]
    elif kind in ("int", "long"):
        half = 2 ** (31 if kind == "int" else 63)
        good = type(value) is int and -half <= value < half
    elif kind in ("float", "double"):
        good = type(value) in (int, float) and abs(value) <= (LARGEST_FLOAT if kind == "float" else LARGEST_DOUBLE)
        plain = float(value) if good else None
    elif kind == "enum":
        good = value in reader["symbols"]
    else:
        kinds: dict[str, type] = {"null": type(None), "boolean": bool, "string": str}
        good = type(value) is kinds.get(kind)
    if not good:
        raise _no_default(path, value, reader)
    return plain


def _no_default(path: str, value: Any, reader: Any) -> ArgumentError:
    return ArgumentError(
        f"the default of {path} is {str(value)[:60]!r}, which is not a value of {_in_words(reader)}"
    )
