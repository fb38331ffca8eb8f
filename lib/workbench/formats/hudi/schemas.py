"""The schema of a Hudi table as Iceberg's: the Avro schema of its newest write, and before it Hudi's own columns.

Files have no field ids. They are given in the order in which Iceberg would, and a name mapping leads from the
names in the files to them.
"""

import hashlib
import json
from collections.abc import Collection, Iterable, Iterator
from contextlib import AbstractContextManager
from typing import Any

from workbench._base.errors import ArgumentError
from workbench.formats import columns, storage
from workbench.formats.hudi import timeline as timelines
from workbench.formats.hudi.timeline import HOODIE, Timeline
from workbench.formats.inspection import Json, Schema
from workbench.formats.storage import of_kind

META = (
    "_hoodie_commit_time", "_hoodie_commit_seqno", "_hoodie_record_key", "_hoodie_partition_path",
    "_hoodie_file_name", "_hoodie_operation",
)  # fmt: skip
_PLAIN = {
    "boolean": "boolean", "int": "int", "long": "long", "float": "float", "double": "double", "string": "string",
    "bytes": "binary", "enum": "string",
}  # fmt: skip
_LOGICAL = {
    "date": "date", "timestamp-micros": "timestamptz", "local-timestamp-micros": "timestamp", "uuid": "string",
}  # fmt: skip
# Hudi takes the table's word for it where a file says microseconds (SchemaRepair)
_MILLIS = {"timestamp-millis": "timestamptz", "local-timestamp-millis": "timestamp"}
_NESTED, _NAMED = ("record", "array", "map"), ("enum", "fixed")
_EVOLUTION = ".schema"  # folder of the schemas of evolution by id
# operations whose schema Hudi does not take for the table's (WriteOperationType.canUpdateSchema): a clustering
# that was planned before a column came completes after it
_KEEP_SCHEMA = {"CLUSTER", "COMPACT", "INDEX", "LOG_COMPACT"}


def avro(timeline: Timeline) -> Json:
    """Return the Avro schema of the table's rows, without Hudi's own columns.

    As in Hudi (getLastCommitMetadataWithValidSchema) it is that of the completed write that was requested last.

    Raises:
        ValueError: the timeline has none, or it is not a schema of rows.
    """
    writes = (commit for commit in timeline.commits if commit.operation not in _KEEP_SCHEMA)
    by_request = sorted(writes, key=lambda commit: timelines.number(commit.instant.time), reverse=True)
    texts = (commit.extra.get("schema") for commit in by_request)
    text = next(filter(None, texts), None) or timeline.properties.get("hoodie.table.create.schema")
    if not text:
        raise ArgumentError(
            f"{timeline.folder.location} says nowhere which columns it has: no write of its timeline has a schema"
        )
    with _whole(timeline):
        schema = of_kind(json.loads(text), dict)
        own = [field for field in schema["fields"] if of_kind(field["name"], str) not in META]
        return schema | {"fields": own}


def of(timeline: Timeline, schema: Json, meta: Collection[str]) -> Schema:
    """Return a table's schema; what Iceberg cannot have is an obstacle, and typed as a string.

    Args:
        timeline: of the table.
        schema: in Avro.
        meta: names of those of Hudi's own columns that the files have.
    """
    own: list[Json] = [{"name": name, "type": ["null", "string"]} for name in META if name in meta]
    builder = _Builder()
    with _whole(timeline):
        fields, names = builder.row(schema | {"fields": [*own, *schema["fields"]]})
        obstacles = [*builder.obstacles, *_evolved(timeline)]
    content = json.dumps([fields, names], sort_keys=True)
    return Schema(
        {"type": "struct", "schema-id": 0, "fields": fields},
        builder.last,
        names,
        {field["name"]: field["name"] for field in fields},
        False,
        tuple(dict.fromkeys(obstacles)),
        hashlib.sha256(content.encode()).hexdigest(),
    )


def _whole(timeline: Timeline) -> AbstractContextManager[None]:
    return storage.whole(f"the schema of {timeline.folder.location}")


class _Builder:
    """Turns types, and notes ids and obstacles."""

    def __init__(self) -> None:
        self.last = 0
        self.obstacles: list[str] = []
        self.named: dict[str, Json] = {}
        self.around: list[str] = []  # names of the types that the current one lies in

    def row(self, schema: Json) -> tuple[list[Json], list[Json]]:
        """Return the fields of a schema of rows, and their name mapping."""
        name, space = _full(schema, "")
        self.named[name] = schema
        self.around = [name]
        return self.struct(schema["fields"], "", space)

    def struct(self, fields: list[Json], at: str, space: str) -> tuple[list[Json], list[Json]]:
        """Return fields, and their name mapping; ids of a struct's own fields come before those further in."""
        numbers = [self._next() for _ in fields]
        typed, names = [], []
        for field, number in zip(fields, numbers, strict=True):
            kind, children = self.kind(field["type"], f"{at}{of_kind(field['name'], str)}", space)
            typed.append({"id": number, "name": field["name"], "required": False, "type": kind})
            names.append({"field-id": number, "names": [field["name"]], **_fields(children)})
        return typed, names

    def kind(self, kind: Any, path: str, space: str) -> tuple[Any, list[Json]]:
        """Return a type, and the name mapping within it.

        Args:
            kind: in Avro.
            path: of the column, for messages.
            space: namespace around it, in which a name without one is looked up.
        """
        if isinstance(kind, list):
            kinds = [part for part in kind if part != "null"]
            if len(kinds) == 1:
                return self.kind(kinds[0], path, space)
            return self._unknown(json.dumps(kind), path), []
        if isinstance(kind, str):
            return (self._plain(kind, {}, path), []) if kind in _PLAIN else self._reference(kind, path, space)
        name, logical = kind["type"], kind.get("logicalType")
        if not isinstance(name, str) or name in _NESTED:
            if logical:  # as of a VARIANT, which is a record
                return self._unknown(f"{name if isinstance(name, str) else json.dumps(name)} {logical}", path), []
            return self._nested(kind, path, space) if isinstance(name, str) else self.kind(name, path, space)
        if name in _NAMED:
            self._define(kind, space)
        elif name not in _PLAIN:
            return self._reference(name, path, space)
        return self._plain(name, kind, path), []

    def _nested(self, kind: Json, path: str, space: str) -> tuple[Any, list[Json]]:
        if kind["type"] == "record":
            return self._within(self._define(kind, space), path)
        if kind["type"] == "array":
            number = self._next()
            element, children = self.kind(kind["items"], f"{path}.element", space)
            typed = {"type": "list", "element-id": number, "element": element, "element-required": False}
            return typed, [{"field-id": number, "names": ["element"], **_fields(children)}]
        key_id, value_id = self._next(), self._next()
        value, children = self.kind(kind["values"], f"{path}.value", space)
        typed = {"type": "map", "key-id": key_id, "key": "string", "value-id": value_id, "value": value}
        return typed | {"value-required": False}, [
            {"field-id": key_id, "names": ["key"]},
            {"field-id": value_id, "names": ["value"], **_fields(children)},
        ]

    def _define(self, kind: Json, space: str) -> str:
        name, _ = _full(kind, space)
        if name in self.named:
            raise ValueError(f"two types have the name {name}")
        self.named[name] = kind | {"name": name}
        return name

    def _within(self, name: str, path: str) -> tuple[Any, list[Json]]:
        """Return the type of a record that was defined."""
        self.around.append(name)
        fields, names = self.struct(self.named[name]["fields"], f"{path}.", name.rpartition(".")[0])
        self.around.pop()
        return {"type": "struct", "fields": fields}, names

    def _reference(self, name: str, path: str, space: str) -> tuple[Any, list[Json]]:
        """Return the type that a name means: a full one, or one in the namespace around it."""
        full = name if "." in name or not space else f"{space}.{name}"
        if full in self.around:
            return self._unknown(f"{name} within itself", path), []
        if full not in self.named:
            return self._unknown(name, path), []
        kind = self.named[full]
        return (
            self._within(full, path) if kind["type"] == "record" else (self._plain(kind["type"], kind, path), [])
        )

    def _plain(self, name: str, kind: Json, path: str) -> str:
        logical = kind.get("logicalType")
        if logical == "decimal" and name in ("bytes", "fixed"):
            return self._decimal(kind["precision"], kind.get("scale", 0), path)
        if logical in _MILLIS:
            self.obstacles.append(
                f"the column {path} is of the Avro type {name} {logical}: Hudi reads milliseconds, whatever the "
                "files say, and Iceberg's reader for Spark microseconds: write it as microseconds in the source"
            )
            return _MILLIS[logical]
        known = _LOGICAL.get(logical) if logical else _PLAIN.get(name)
        return known or self._unknown(f"{name} {logical}" if logical else name, path)

    def _decimal(self, precision: Any, scale: Any, path: str) -> str:
        if obstacle := columns.decimal(path, precision, scale):
            self.obstacles.append(obstacle)
            return "string"
        return f"decimal({precision}, {scale})"

    def _unknown(self, kind: str, path: str) -> str:
        self.obstacles.append(
            f"the column {path} is of the Avro type {kind}, which this move does not know: write it as another "
            "type in the source"
        )
        return "string"

    def _next(self) -> int:
        self.last += 1
        return self.last


def _evolved(timeline: Timeline) -> Iterator[str]:
    """Yield which columns were renamed or made anew by evolution by id, of which the files know nothing.

    A type that was changed is seen in the files.
    """
    known: dict[str, int] = {}
    places: dict[int, str] = {}
    for schema in _versions(timeline):
        for path, number in _columns(schema.get("fields") or (), ""):
            if places.setdefault(number, path) != path:
                yield (
                    f"the column {path} was named {places[number]} in older files, and Iceberg would read NULL: "
                    "write the rows into a new table at the source"
                )
            if known.setdefault(path, number) != number:
                yield (
                    f"the column {path} was dropped and made anew, and Iceberg would read the values of the old "
                    "one: write the rows into a new table at the source"
                )


def _versions(timeline: Timeline) -> Iterator[Json]:
    """Yield the schemas with ids that the table had: those of a folder of their own, then those of commits."""
    folder = f"{HOODIE}/{_EVOLUTION}"
    for name in sorted(timeline.folder.sizes(folder)):
        if name.endswith(".schemacommit"):
            yield from _parsed(timeline.folder.read(f"{folder}/{name}"))
    for commit in timeline.commits:
        yield from _parsed(commit.extra.get("latest_schema") or "")


def _parsed(text: str | bytes) -> list[Json]:
    body = json.loads(text) if text.strip() else {}
    return sorted(body.get("schemas", [body]), key=lambda schema: schema.get("version_id", 0))


def _columns(fields: Iterable[Json], at: str) -> Iterator[tuple[str, int]]:
    """Yield (path, id) of fields and of those within them."""
    for field in fields:
        path, kind = f"{at}{field['name']}", field["type"]
        yield path, field["id"]
        if isinstance(kind, dict):
            yield from _columns(kind.get("fields") or (), f"{path}.")
            for part, number in (("element", "element_id"), ("value", "value_id"), ("key", "key_id")):
                if part in kind:
                    yield from _columns([{"name": part, "id": kind[number], "type": kind[part]}], f"{path}.")


def _full(kind: Json, space: str) -> tuple[str, str]:
    """Return the full name of a type that is defined in a namespace, and the namespace of what lies in it."""
    name = kind["name"]
    if "." not in name:
        space = kind.get("namespace", space) or ""
        name = f"{space}.{name}" if space else name
    return name, name.rpartition(".")[0]


def _fields(names: list[Json]) -> Json:
    return {"fields": names} if names else {}
