"""Opaque tokens that carry their meaning under the server's seal: shard iterators, pages of ListShards."""

import base64
import hashlib
import struct

from workbench._base.errors import ArgumentError

ITERATOR, PAGE = 1, 2
_BODY = struct.Struct(">BQQQQ")  # kind, issued in milliseconds, incarnation, index of the shard, position
_SEAL = 16


def seal(kind: int, key: bytes, *, millis: int, incarnation: int, shard: int, position: int = 0) -> str:
    """Return a token as text.

    Args:
        kind: ITERATOR or PAGE.
        key: secret bytes of the server, so that a foreign token is refused.
        millis: time of issue.
        incarnation: of the stream.
        shard: index of the shard.
        position: in the shard.
    """
    body = _BODY.pack(kind, millis, incarnation, shard, position)
    return base64.b64encode(body + _stamp(body, key)).decode()


def unseal(kind: int, key: bytes, token: str) -> tuple[int, int, int, int]:
    """Return (time of issue in milliseconds, incarnation, index of the shard, position).

    Raises:
        ValueError: it is not a token of this kind and this server.
    """
    try:
        sealed = base64.b64decode(token, validate=True)
    except ValueError:  # binascii.Error is one
        raise ArgumentError("not a token") from None
    body = sealed[: _BODY.size]
    if len(sealed) != _BODY.size + _SEAL or sealed[_BODY.size :] != _stamp(body, key):
        raise ArgumentError("not a token")
    of_kind, millis, incarnation, shard, position = _BODY.unpack(body)
    if of_kind != kind:
        raise ArgumentError("a token of another kind")
    return millis, incarnation, shard, position


def _stamp(body: bytes, key: bytes) -> bytes:
    return hashlib.blake2b(body, key=key, digest_size=_SEAL).digest()
