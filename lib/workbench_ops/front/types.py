"""Types that a client writes as texts: Spark makes an object of whatever class a type of one's own names."""

import json
import re
from collections.abc import Sequence
from typing import Any

from workbench_ops.front.refusals import Refused

JSON_TYPES = {"array": {"elementType", "containsNull"}, "map": {"keyType", "valueType", "valueContainsNull"}}
JSON_FIELD = {"name", "type", "nullable", "metadata"}
# functions that take a type as a text, in DDL or in JSON, and the place of that argument
TYPED = {"from_json": 1, "from_csv": 1, "variant_get": 2, "try_variant_get": 2}
SCHEMAS = {"schema_of_json", "schema_of_csv", "schema_of_variant", "schema_of_variant_agg"}
PLAIN = "a type is written plainly, as a text without a backslash, or given by schema_of_json and the like"


def require_schema(text: str) -> None:
    """Require that JSON is a schema of plain types.

    Raises:
        Refused: it is none, or names a type of the client's own.
    """
    try:
        _require_json_type(json.loads(text))
    except (ValueError, RecursionError) as error:
        if isinstance(error, Refused):
            raise
        raise Refused("a schema in JSON is written as JSON of Spark's types") from None


def require_argument(function: str, arguments: Sequence[Any]) -> None:
    """Require that a function of a frame is given a plain type, where it takes one.

    Args:
        function: its name.
        arguments: messages of its arguments.

    Raises:
        Refused: the type is not a text or one that a function gives, or is of the client's own.
    """
    place = TYPED.get(function.lower())
    if place is None or len(arguments) <= place:
        return
    given = arguments[place]
    kind = given.WhichOneof("expr_type")
    if kind == "literal" and given.literal.WhichOneof("literal_type") == "string":
        _require_text(given.literal.string)
    elif kind not in ("unresolved_function", "call_function") or getattr(given, kind).function_name not in SCHEMAS:
        raise Refused(PLAIN)


def require_written(node: Any, texts: Sequence[str]) -> None:
    """Require that a function in SQL is given a plain type, where it takes one.

    Args:
        node: of the tree.
        texts: what stands between quotes in the SQL, with the quotes.

    Raises:
        Refused: as `require_argument`.
    """
    place = TYPED.get(str(node.this).lower()) if node.key == "anonymous" else None
    if place is None or len(node.expressions) <= place:
        return
    given = node.expressions[place]
    if given.key == "literal" and given.is_string:
        text = texts[int(given.this.strip().removeprefix("s"))]
        if "\\" in text:  # which may stand for a sign of JSON
            raise Refused(PLAIN)
        _require_text(text[1:-1])
    elif given.key != "anonymous" or str(given.this).lower() not in SCHEMAS:
        raise Refused(PLAIN)


def _require_text(text: str) -> None:
    """Require a type in DDL, which knows none of the client's own, or one in JSON that is plain."""
    if re.search(r'[{\["]', text):
        require_schema(text)


def _require_json_type(kind: Any) -> None:
    if isinstance(kind, str) and re.fullmatch(r"[a-z_]+(\([0-9, -]+\))?( [a-z ]+)?", kind) and kind != "udt":
        return
    name = kind.get("type") if isinstance(kind, dict) else None
    if name == "struct" and set(kind) == {"type", "fields"} and isinstance(kind["fields"], list):
        for item in kind["fields"]:
            if not isinstance(item, dict) or not set(item) <= JSON_FIELD or item.get("metadata"):
                raise Refused("metadata of a field are not let through: Spark takes some of them for orders")
            _require_json_type(item.get("type"))
    elif name in JSON_TYPES and set(kind) == {"type", *JSON_TYPES[name]}:
        for key in JSON_TYPES[name]:
            if key.endswith("Type"):
                _require_json_type(kind[key])
    else:
        raise Refused("types of one's own are not let through")
