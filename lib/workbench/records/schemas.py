"""The declared schema in Spark's JSON form: which types JSON can give, and what they are in Arrow."""

import re
from typing import Any

from workbench._base.errors import ArgumentError

SIMPLE = {
    "string", "boolean", "byte", "short", "integer", "long", "float", "double",
    "date", "timestamp", "timestamp_ntz",
}  # fmt: skip
DECIMAL = re.compile(r"decimal\((\d+),(-?\d+)\)")


def checked(struct: dict[str, Any]) -> None:
    """Refuse a schema without fields, or with a type that JSON cannot give.

    Raises:
        ValueError: it is either.
    """
    if not struct["fields"]:
        raise ArgumentError("the schema has no field; name at least one")
    for field in struct["fields"]:
        _checked(field["type"], field["name"])


def refuse_twice(names: list[str], what: str) -> None:
    """Refuse a name that is there twice, or in two cases: to Spark they are one column.

    Raises:
        ValueError: there is one; `what` says of which schema.
    """
    lower = [name.lower() for name in names]
    if twice := [name for name in names if lower.count(name.lower()) > 1]:
        raise ArgumentError(f"{what} has {' and '.join(twice)}; a name can be there once, in one case")


def _checked(kind: Any, name: str) -> None:
    if isinstance(kind, str):
        if kind not in SIMPLE and not DECIMAL.fullmatch(kind):
            raise ArgumentError(f"{name} is of type {kind}, which a JSON record cannot give")
    elif kind["type"] == "map" and kind["keyType"] != "string":
        raise ArgumentError(f"{name} is a map whose keys are {kind['keyType']}; JSON's are text")
    elif kind["type"] not in ("struct", "array", "map"):
        raise ArgumentError(f"{name} is of type {kind['type']}, which a JSON record cannot give")
    else:
        for inner in _inner(kind):
            _checked(inner, name)


def _inner(kind: dict[str, Any]) -> list[Any]:
    """Return the types inside a type in Spark's JSON form, but those of a map's keys."""
    types = [*(field["type"] for field in kind.get("fields", ())), kind.get("elementType"), kind.get("valueType")]
    return [inner for inner in types if inner is not None]


def has_decimal(kind: Any) -> bool:
    """Tell whether a type in Spark's JSON form is a decimal or has one inside."""
    return kind.startswith("decimal") if isinstance(kind, str) else any(map(has_decimal, _inner(kind)))


def arrow_schema(struct: dict[str, Any]) -> Any:
    """Return the Arrow schema of a struct in Spark's JSON form; every column may be null."""
    import pyarrow as pa

    return pa.schema([(field["name"], arrow_type(field["type"])) for field in struct["fields"]])


def arrow_type(kind: Any) -> Any:
    """Return the Arrow type of a type in Spark's JSON form."""
    import pyarrow as pa

    if isinstance(kind, dict):
        if kind["type"] == "struct":
            return pa.struct([(field["name"], arrow_type(field["type"])) for field in kind["fields"]])
        if kind["type"] == "array":
            return pa.list_(arrow_type(kind["elementType"]))
        return pa.map_(arrow_type(kind["keyType"]), arrow_type(kind["valueType"]))
    if digits := DECIMAL.fullmatch(kind):
        return pa.decimal128(*map(int, digits.groups()))
    return {
        "string": pa.string(), "boolean": pa.bool_(), "byte": pa.int8(), "short": pa.int16(),
        "integer": pa.int32(), "long": pa.int64(), "float": pa.float32(), "double": pa.float64(),
        "date": pa.date32(), "binary": pa.binary(),
        "timestamp": pa.timestamp("us", tz="UTC"), "timestamp_ntz": pa.timestamp("us"),
    }[kind]  # fmt: skip
