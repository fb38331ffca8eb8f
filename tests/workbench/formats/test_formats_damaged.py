"""Whatever is broken in a table's metadata, the answer is a look or one sentence, and never another error."""

import contextlib
import json
import random

import golden_tables
import hudi_tables
import pytest
from conftest import PROVE
from hudi_tables import FIELDS, Written, at, rows

from workbench import formats
from workbench._base.errors import ArgumentError
from workbench.formats import storage

TRIES = 2000 if PROVE else 12
VALUES = (
    None, 1, -1, 1.5, 10**30, "x", "", "²", True, [], {}, [1], {"a": 1}, ["a"], [[]], {"a": [{}]}, [{}], "a/b\0c", "\ud800",
    "record", "file:", "2026",
)  # fmt: skip
TEXT = "a text of JSON"
DELTA, HUDI = (
    ("checkpoint_v2", "mapped", "partitions", "vectors", "widened"),
    ("archived6", "plain", "renamed", "replaced"),
)


def answered(path):
    """Look at a table; fail on any error that is not a sentence of the house."""
    try:
        return isinstance(formats.look(path), formats.Look)
    except ArgumentError as error:
        assert "\n" not in str(error)
        return True


def unpacked(name, folder):
    return (golden_tables if name in DELTA else hudi_tables).unpacked(name, folder)


def metadata(path):
    """Return the files beside the data that a look reads."""
    folders = [path / "_delta_log", path / ".hoodie"]
    files = [file for folder in folders for file in sorted(folder.rglob("*")) if file.is_file()]
    return [
        file for file in files if file.stat().st_size and ".crc" not in file.name and "metadata" not in file.parts
    ]


@pytest.mark.parametrize("name", [*DELTA, *HUDI])
def test_bytes_that_are_others_or_not_there(name, tmp_path):
    path, draw = unpacked(name, tmp_path), random.Random(name)
    files = metadata(path)
    for _ in range(TRIES):
        file = draw.choice(files)
        content = file.read_bytes()
        broken = bytearray(content)
        if draw.random() < 0.3:
            del broken[draw.randrange(len(broken)) :]
        else:
            for _ in range(draw.choice((1, 1, 3, 20))):
                broken[draw.randrange(len(broken))] = draw.randrange(256)
        file.write_bytes(broken)
        assert answered(path), (file.name, bytes(broken))
        file.write_bytes(content)


@pytest.mark.parametrize("name", ["types_new", "partitions"])
def test_footers_whose_bytes_are_others(name, tmp_path):
    path, draw = unpacked(name, tmp_path), random.Random(name)
    files = sorted(path.rglob("*.parquet"))
    for _ in range(TRIES):
        file = draw.choice([file for file in files if "_delta_log" not in file.parts])
        content = file.read_bytes()
        broken = bytearray(content)
        size = int.from_bytes(content[-8:-4], "little")
        for _ in range(draw.choice((1, 1, 2, 5))):
            broken[-9 - draw.randrange(size)] = draw.randrange(256)
        file.write_bytes(broken)
        assert answered(path), (file.name, bytes(broken))
        file.write_bytes(content)


def places(value, place=()):
    """Yield the path of each part of a JSON value."""
    yield place
    parts = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, part in parts:
        yield from places(part, (*place, key))


def changed(body, place, draw):
    """Return a copy with another value at a place, or without it."""
    if not place:
        return draw.choice(VALUES)
    copy = json.loads(json.dumps(body))
    parent = copy
    for key in place[:-1]:
        parent = parent[key]
    if draw.random() < 0.2:
        del parent[place[-1]]
    else:
        parent[place[-1]] = draw.choice(VALUES)
    return copy


def opened(value):
    """Return JSON whose texts that are JSON themselves, as a schema's is, are opened: {TEXT: what it says}."""
    if isinstance(value, dict):
        return {key: opened(part) for key, part in value.items()}
    if isinstance(value, list):
        return [opened(part) for part in value]
    return {TEXT: json.loads(value)} if isinstance(value, str) and value[:1] == "{" else value


def closed(value):
    """Return the same with such texts as texts again."""
    if isinstance(value, dict):
        return json.dumps(value[TEXT]) if TEXT in value else {key: closed(part) for key, part in value.items()}
    return [closed(part) for part in value] if isinstance(value, list) else value


@pytest.mark.parametrize("name", ["mapped", "partitions", "replaced6", "vectors", "widened", "written"])
def test_json_of_another_shape(name, tmp_path):
    path, draw = written(tmp_path) if name == "written" else unpacked(name, tmp_path), random.Random(name)
    files = [
        file for file in metadata(path) if file.suffix in (".json", ".commit", ".replacecommit", ".schemacommit")
    ]
    for _ in range(2 * TRIES):
        file = draw.choice(files)
        content = file.read_text()
        lines = content.splitlines() if file.suffix == ".json" else [content]
        number = draw.randrange(len(lines))
        body = opened(json.loads(lines[number]))
        place = draw.choice([*places(body)])
        lines[number] = json.dumps(closed(changed(body, place, draw)))
        file.write_text("\n".join(lines))
        assert answered(path), (file.name, place, lines[number])
        file.write_text(content)


def written(folder):
    """Return a table of version 6 with nested types and schemas by id."""
    record = {"type": "record", "name": "e", "fields": [{"name": "k", "type": "string"}]}
    decimal = {"type": "bytes", "logicalType": "decimal", "precision": 5, "scale": 2}
    more = [
        {"name": "d", "type": ["null", decimal], "default": None}, {"name": "l", "type": {"type": "array", "items": record}},
        {"name": "m", "type": {"type": "map", "values": "e"}},
    ]  # fmt: skip
    table = Written(folder / "t", 6, fields=[*FIELDS, *more])
    kinds = {
        "type": "array",
        "element_id": 5,
        "element": {"type": "record", "fields": [{"id": 6, "name": "k", "type": "string"}]},
    }
    by_id = {"version_id": 1, "fields": [
        {"id": 0, "name": "id", "type": "long"}, {"id": 1, "name": "l", "type": kinds},
        {"id": 2, "name": "m", "type": {"type": "map", "key_id": 7, "key": "string", "value_id": 8, "value": "int"}},
    ]}  # fmt: skip
    schema = json.dumps({"type": "record", "name": "row", "namespace": "n", "fields": table.fields})
    extra = {"schema": schema, "latest_schema": json.dumps(by_id)}
    table.commit(at(1), table.file("one", at(1), rows(0, 3)), extraMetadata=extra)
    table.commit(at(2), table.file("two", at(2), rows(0, 3)), replaced=[("a", "one-0")], extraMetadata=extra)
    (table.path / ".hoodie/.schema").mkdir()
    (table.path / f".hoodie/.schema/{at(1)}.schemacommit").write_text(json.dumps({"schemas": [by_id]}))
    return table.path


def test_another_error_would_be_seen(tmp_path, monkeypatch):
    monkeypatch.setattr(storage, "whole", lambda what: contextlib.nullcontext())
    path = unpacked("vectors", tmp_path)
    golden_tables.append(path, 7, {"add": {"path": "x"}})
    with pytest.raises(KeyError):
        answered(path)
