"""The schema of a Delta table as Iceberg's, under the field ids that its files have.

With column mapping the ids are in the log and in the files: they are taken over. Without it the files have none:
they are given in the order in which Iceberg would, and a name mapping leads from the names in the files to them.
"""

import hashlib
import itertools
import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from workbench.formats import columns, storage
from workbench.formats.delta.log import State
from workbench.formats.inspection import Json, Schema
from workbench.formats.storage import of_kind

_ID, _NAME, _NESTED = (
    "delta.columnMapping.id", "delta.columnMapping.physicalName", "delta.columnMapping.nested.ids",
)  # fmt: skip
_TYPES = {
    "string": "string", "long": "long", "integer": "int", "short": "int", "byte": "int", "float": "float",
    "double": "double", "boolean": "boolean", "binary": "binary", "date": "date", "timestamp": "timestamptz",
    "timestamp_ntz": "timestamp",
}  # fmt: skip
_DECIMAL = re.compile(r"decimal\((\d+),\s*(-?\d+)\)")
# what Iceberg reads of a file that was written before a column was widened
_WIDENINGS = {("integer", "long"), ("float", "double"), *itertools.combinations(("byte", "short", "integer"), 2)}
_WIDENINGS |= {("byte", "long"), ("short", "long")}


def of(state: State) -> Schema:
    """Return the schema of a state; what Iceberg cannot have is an obstacle, and typed as a string.

    Raises:
        ValueError: the log's schema is damaged.
    """
    with storage.whole(f"the schema of {state.folder.location}"):
        return _typed(state)


def _typed(state: State) -> Schema:
    text, partitions = state.metadata["schemaString"], state.metadata["partitionColumns"]
    source = json.loads(text)
    by_id = state.mapping != "none"
    builder = _Builder(by_id)
    fields, names = builder.struct(source["fields"], "")
    last = max([*builder.ids, int(state.configuration.get("delta.columnMapping.maxColumnId", 0))])
    physical = {field["name"]: _physical(field) for field in source["fields"]}
    if unknown := set(partitions) - physical.keys():
        raise ValueError(f"it lacks the partition column {min(unknown)}")
    content = json.dumps([source, partitions, state.mapping], sort_keys=True)
    return Schema(
        {"type": "struct", "schema-id": 0, "fields": fields},
        last,
        names,
        physical,
        by_id,
        tuple(builder.obstacles),
        hashlib.sha256(content.encode()).hexdigest(),
    )


class _Builder:
    """Turns types, and notes ids and obstacles."""

    def __init__(self, by_id: bool) -> None:
        self.by_id = by_id
        self.fresh: Iterator[int] = itertools.count(1)
        self.ids: list[int] = [0]
        self.obstacles: list[str] = []

    def struct(self, fields: list[Json], at: str) -> tuple[list[Json], list[Json]]:
        """Return fields, and their name mapping; ids of a struct's own fields come before those further in."""
        numbers = [self._number(field["metadata"].get(_ID), f"{at}{field['name']}") for field in fields]
        typed, names = [], []
        for field, number in zip(fields, numbers, strict=True):
            path, metadata = f"{at}{of_kind(field['name'], str)}", field["metadata"]
            self._widening(metadata, path)
            nested = {key.partition(".")[2]: value for key, value in (metadata.get(_NESTED) or {}).items()}
            kind, children = self.kind(field["type"], path, nested, "")
            required = not field["nullable"] and not at
            typed.append({"id": number, "name": field["name"], "required": required, "type": kind})
            names.append({"field-id": number, "names": [_physical(field)], **_fields(children)})
        return typed, names

    def kind(self, kind: Any, path: str, nested: Mapping[str, int], at: str) -> tuple[Any, list[Json]]:
        """Return a type, and the name mapping within it.

        Args:
            kind: the source's.
            path: of the column, for messages.
            nested: ids of elements, keys and values of the column: `element`, `value.key`, ….
            at: where in the column this is, in the same words, with a dot at the end.
        """
        if isinstance(kind, str):
            return self._plain(kind, path), []
        if kind["type"] == "struct":
            fields, names = self.struct(kind["fields"], f"{path}.")
            return {"type": "struct", "fields": fields}, names
        if kind["type"] == "array":
            number = self._nested_number(nested, f"{at}element", path)
            element, children = self.kind(kind["elementType"], f"{path}.element", nested, f"{at}element.")
            typed = {"type": "list", "element-id": number, "element": element, "element-required": False}
            return typed, [{"field-id": number, "names": ["element"], **_fields(children)}]
        if kind["type"] == "map":
            key_id = self._nested_number(nested, f"{at}key", path)
            value_id = self._nested_number(nested, f"{at}value", path)
            key, key_names = self.kind(kind["keyType"], f"{path}.key", nested, f"{at}key.")
            value, value_names = self.kind(kind["valueType"], f"{path}.value", nested, f"{at}value.")
            typed = {"type": "map", "key-id": key_id, "key": key, "value-id": value_id, "value": value}
            return typed | {"value-required": False}, [
                {"field-id": key_id, "names": ["key"], **_fields(key_names)},
                {"field-id": value_id, "names": ["value"], **_fields(value_names)},
            ]
        return self._plain(str(kind["type"]), path), []

    def _plain(self, kind: str, path: str) -> str:
        if match := _DECIMAL.fullmatch(kind):
            if obstacle := columns.decimal(path, int(match[1]), int(match[2])):
                self.obstacles.append(obstacle)
                return "string"
            return f"decimal({match[1]}, {match[2]})"
        if kind not in _TYPES:
            self.obstacles.append(
                f"the column {path} is of the type {kind}, which this move does not know: write it as another "
                "type in the source"
            )
        return _TYPES.get(kind, "string")

    def _number(self, stated: int | None, path: str) -> int:
        if self.by_id and stated is None:
            self.obstacles.append(f"the column {path} has no {_ID} though columns are mapped: the log is damaged")
        number = int(stated) if self.by_id and stated is not None else self._next()
        self.ids.append(number)
        return number

    def _next(self) -> int:
        return next(number for number in self.fresh if not self.by_id or number not in self.ids)

    def _nested_number(self, nested: Mapping[str, int], place: str, path: str) -> int:
        if self.by_id and place not in nested:
            self.obstacles.append(
                f"the column {path} is an array or a map under column mapping, and its {place} has no field id, "
                "so that Iceberg would read NULL: REORG TABLE … APPLY (UPGRADE UNIFORM "
                "(ICEBERG_COMPAT_VERSION=2)) at the source writes the ids"
            )
        number = of_kind(nested[place], int) if self.by_id and place in nested else self._next()
        self.ids.append(number)
        return number

    def _widening(self, metadata: Json, path: str) -> None:
        for change in metadata.get("delta.typeChanges") or ():
            before, after = change["fromType"], change["toType"]
            if (before, after) not in _WIDENINGS and not _wider_decimal(before, after):
                self.obstacles.append(
                    f"the column {path} was widened from {before} to {after}, which Iceberg cannot read from the "
                    "older files: REORG TABLE … APPLY (PURGE) or a rewrite at the source writes them anew, then "
                    "ALTER TABLE … DROP FEATURE 'typeWidening'"
                )


def _wider_decimal(before: str, after: str) -> bool:
    old, new = _DECIMAL.fullmatch(before), _DECIMAL.fullmatch(after)
    return bool(old and new and old[2] == new[2] and int(old[1]) <= int(new[1]))


def _physical(field: Json) -> str:
    return str(field["metadata"].get(_NAME, field["name"]))


def _fields(names: list[Json]) -> Json:
    return {"fields": names} if names else {}
