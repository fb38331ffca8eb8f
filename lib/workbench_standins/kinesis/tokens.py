"""Opaque tokens, sealed by the server and carrying what they mean: shard iterators, pages of ListShards."""

import base64
import binascii
import hashlib
import struct

from workbench._base.errors import ArgumentError

ITERATOR, PAGE = 1, 2
_BODY = struct.Struct(">BQQQQ")  # kind, issued in milliseconds, incarnation, index of the shard, position
_SEAL = 16


def seal(kind, key, *, millis, incarnation, shard, position=0):
    """Return a token as text.

    Args:
        kind: ITERATOR or PAGE.
        key: secret bytes of the server, so that a foreign token is refused.
        millis: time of issue.
        incarnation: which stream.
        shard: index of the shard.
        position: where in the shard.
    """
    body = _BODY.pack(kind, millis, incarnation, shard, position)
    return base64.b64encode(body + _stamp(body, key)).decode()


def unseal(kind, key, token):
    """Return (time of issue in milliseconds, incarnation, index of the shard, position).

    Raises:
        ValueError: not a token of this kind and this server.
    """
    try:
        found = base64.b64decode(token, validate=True)
    except (binascii.Error, ValueError):
        raise ArgumentError("not a token") from None
    body = found[: _BODY.size]
    if len(found) != _BODY.size + _SEAL or found[_BODY.size :] != _stamp(body, key):
        raise ArgumentError("not a token")
    of_kind, *rest = _BODY.unpack(body)
    if of_kind != kind:
        raise ArgumentError("a token of another kind")
    return tuple(rest)


def _stamp(body, key):
    return hashlib.blake2b(body, key=key, digest_size=_SEAL).digest()
