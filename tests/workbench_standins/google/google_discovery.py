"""Google's discovery documents: what of an answer is not as the service's own description has it.

A document describes each message by its fields; no field is required. A field that it has not, another type, a
number beyond its format and a word that is not in its list are faults, each told with its place.
"""

import hashlib
import json
import lzma
import math
import re
from functools import cache
from pathlib import Path

FOLDER = Path(__file__).with_name("discovery")
SHA256 = {
    "sheets.v4": "f7f55d1940e25fd99f7a143b67d95ebfd1236bd0e9043f0be36b8c2fb5bebd08",
    "analyticsdata.v1beta": "3e61cf8f3934314481e578664620279963a41b9b4837e2d7ac71fde30dcc0626",
}
TYPES = {"string": str, "boolean": bool, "array": list, "object": dict, "integer": int, "number": int | float}
RANGES = {"int32": 2**31, "int64": 2**63}


@cache
def document(name):
    """Return a document, which is the one that was put there."""
    text = lzma.decompress((FOLDER / f"{name}.json.xz").read_bytes())
    assert hashlib.sha256(text).hexdigest() == SHA256[name], name
    return json.loads(text)


def method(name, *path):
    """Return a method of a service, by the names of its resources and its own."""
    found = document(name)
    for resource in path[:-1]:
        found = found["resources"][resource]
    return found["methods"][path[-1]]


def faults(name, schema, value):
    """Return what is wrong with a message, a sentence each; none where it is one of the schema.

    Args:
        name: of the document.
        schema: name of the message.
        value: as JSON has it.
    """
    return [*_faults(document(name)["schemas"], {"$ref": schema}, value, schema)]


def mask_faults(name, schema, mask):
    """Return the fields of a field mask, `a(b,c(d))`, that the message has not."""
    schemas, wrong, above = document(name)["schemas"], [], []
    at = {"$ref": schema}
    tokens = re.findall(r"\w+|[(),]", mask)
    for token, following in zip(tokens, [*tokens[1:], ","], strict=True):
        if token == ")":
            at = above.pop()
        if not token.isidentifier():
            continue
        field = _resolved(schemas, at).get("properties", {}).get(token)
        if field is None:
            wrong.append(f"{_resolved(schemas, at).get('id')} has no {token}")
        if following == "(":
            above.append(at)
            at = field or {}
    return wrong


def _resolved(schemas, schema):
    while "$ref" in schema or schema.get("type") == "array":
        schema = schemas[schema["$ref"]] if "$ref" in schema else schema["items"]
    return schema


def _faults(schemas, schema, value, place):
    if "$ref" in schema:
        schema = schemas[schema["$ref"]]
    kind = schema["type"]
    if kind == "any":
        return
    if not isinstance(value, TYPES[kind]) or (isinstance(value, bool) and kind != "boolean"):
        yield f"{place} must be {kind}, found {value!r}"
        return
    if kind == "array":
        for number, item in enumerate(value):
            yield from _faults(schemas, schema["items"], item, f"{place}[{number}]")
        return
    if kind == "object":
        known, other = schema.get("properties", {}), schema.get("additionalProperties")
        for field, content in value.items():
            if field not in known and other is None:
                yield f"{place} has no field {field}"
            else:
                yield from _faults(schemas, known.get(field, other), content, f"{place}.{field}")
        return
    if "enum" in schema and value not in schema["enum"]:
        yield f"{place} must be one of {', '.join(schema['enum'])}, found {value!r}"
    if reason := _beyond(schema.get("format"), value):
        yield f"{place} {reason}, found {value!r}"


def _beyond(form, value):
    """Return why a value is not of its format; a number of 64 bits is a text in JSON."""
    if form in RANGES:
        if isinstance(value, str) and not re.fullmatch(r"-?\d+", value):
            return f"must be a text of an {form}"
        if not -RANGES[form] <= int(value) < RANGES[form]:
            return f"must be an {form}"
    if form in ("double", "float") and not math.isfinite(value):
        return "must be a finite number"
    return ""
