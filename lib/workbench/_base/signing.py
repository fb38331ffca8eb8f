"""Texts that only the holder of a key could have made: base64url of RFC 7515, signed by HMAC-SHA256."""

import base64
import hashlib
import hmac
import json
from collections.abc import Mapping
from typing import Any

HEADER = {"alg": "HS256", "typ": "JWT"}


def encoded(data: bytes) -> str:
    """Return bytes as base64url without padding."""
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def decoded(text: str) -> bytes:
    """Return the bytes of base64url without padding.

    Raises:
        ValueError: it is not that, letter by letter: Python's own decoder skips what does not belong.
    """
    data = base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
    if encoded(data) != text:
        raise ValueError("not base64url")
    return data


def signed(key: bytes, text: str) -> str:
    """Return a text with its signature behind a dot."""
    return f"{text}.{encoded(_signature(key, text))}"


def token(key: bytes, claims: Mapping[str, Any]) -> str:
    """Return a JSON Web Token of RFC 7519 with these claims; it is not for printing."""
    return signed(key, ".".join(encoded(json.dumps(part).encode()) for part in (HEADER, claims)))


def fits(key: bytes, text: str, signature: str) -> bool:
    """Say whether a signature is the one of a text, in a time that tells nothing of it.

    Raises:
        ValueError: the signature is not base64url.
    """
    return hmac.compare_digest(decoded(signature), _signature(key, text))


def _signature(key: bytes, text: str) -> bytes:
    return hmac.digest(key, text.encode(), hashlib.sha256)
