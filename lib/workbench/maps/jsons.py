"""JSON of small values, for millions of them: strict, and not set up anew at each call."""

import json
from collections.abc import Callable
from json import encoder
from typing import Any


def _refused(value: Any) -> Any:
    raise TypeError(f"an object of type {type(value).__name__} has no form in JSON")


def _encoding() -> Callable[[Any], str]:
    """Return a function that makes JSON of a value; the encoder in C is made once, where this Python has one.

    `json.JSONEncoder` makes it anew at each call, which takes longer than to encode an item of a map.
    """
    try:
        # no marks of circles (those are a RecursionError), no indent, no sorting, no NaN
        encode = encoder.c_make_encoder(  # type: ignore[attr-defined]
            None, _refused, encoder.encode_basestring, None, ":", ",", False, False, False
        )
    except TypeError:
        return json.JSONEncoder(allow_nan=False, ensure_ascii=False, separators=(",", ":")).encode
    return lambda value: "".join(encode(value, 0))


def no_constant(text: str) -> Any:
    """Refuse NaN and the infinities, which Python's JSON has and JSON has not."""
    raise ValueError(f"{text} is not a JSON number")


text: Callable[[Any], str] = _encoding()
"""Return a value as JSON. Raises ValueError for NaN, TypeError for what has no form, RecursionError for depth."""

value: Callable[[str], Any] = json.JSONDecoder(parse_constant=no_constant).decode
"""Return what a JSON text holds. Raises ValueError for what is not JSON, NaN too, RecursionError for depth."""
