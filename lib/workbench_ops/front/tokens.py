"""Tokens by which the front knows who asks: JSON Web Tokens of 15 minutes, signed by a key that only we can read.

RFC 7515 and RFC 7519 with HS256 alone: what a token says of its own algorithm chooses none.
"""

import json
import os
import re
import secrets
import stat
import time
from pathlib import Path
from typing import Annotated

from workbench._base import signing
from workbench._base.bounds import Ge, Le
from workbench._base.door import checked
from workbench._base.errors import ArgumentError
from workbench_ops.front.refusals import Refused

LIFETIME_SECONDS = 900
SKEW_SECONDS = 5  # by which clocks may differ
KEY_BYTES = 32
AUDIENCE = "workbench-front"
PRINCIPAL = re.compile(r"[\w.@:/+=,-]{1,255}")


@checked
def make_key(path: str | Path) -> None:
    """Write a new key into a file that does not exist yet, of mode 600.

    Raises:
        ValueError: the file is there already, or cannot be written.
    """
    write_secret(path, secrets.token_bytes(KEY_BYTES))


def write_secret(path: str | Path, content: bytes) -> None:
    """Write a file that does not exist yet and that nobody else could read at any moment.

    Raises:
        ValueError: the file is there already, or cannot be written.
    """
    try:
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except OSError as error:
        raise ArgumentError(f"the key file {path} cannot be made: {error.strerror}") from None
    with os.fdopen(handle, "wb") as file:
        file.write(content)


@checked
def read_key(path: str | Path) -> bytes:
    """Return the key in a file.

    Raises:
        ValueError: there is no such file, others can read or write it, or it is too short for a key.
    """
    try:
        with Path(path).open("rb") as file:
            state = os.fstat(file.fileno())
            key = file.read()
    except OSError as error:
        raise ArgumentError(f"the key file {path} cannot be read: {error.strerror}") from None
    if stat.S_IMODE(state.st_mode) & 0o077 or state.st_uid != os.geteuid():
        mode = f"{stat.S_IMODE(state.st_mode):o}"
        raise ArgumentError(f"the key file {path} must be yours and of mode 600, found mode {mode}: chmod 600 it")
    if len(key) < KEY_BYTES:
        raise ArgumentError(f"the key file {path} must hold at least {KEY_BYTES} bytes, found {len(key)}")
    return key


@checked
def issue(
    key: bytes,
    principal: str,
    *,
    seconds: Annotated[int, Ge(1), Le(LIFETIME_SECONDS)] = LIFETIME_SECONDS,
) -> str:
    """Issue a token for a principal.

    Args:
        key: of `read_key`.
        principal: who may use it, as the policy names it.
        seconds: how long it is valid, at most 15 minutes.

    Returns:
        The token, which is not for printing.

    Raises:
        ValueError: an argument is invalid.
    """
    if len(key) < KEY_BYTES:
        raise ArgumentError(f"key must have at least {KEY_BYTES} bytes, found {len(key)}")
    if not PRINCIPAL.fullmatch(principal):
        raise ArgumentError(f"principal must be a name without spaces and quotes, found {principal[:80]!r}")
    now = int(time.time())
    claims = {"sub": principal, "aud": AUDIENCE, "iat": now, "exp": now + int(seconds)}
    return signing.token(key, claims)


def principal_of(key: bytes, token: str) -> str:
    """Return the principal of a token.

    Raises:
        Refused: it is forged, of another key or purpose, has expired, or would live longer than 15 minutes.
    """
    signed, _, signature = token.rpartition(".")
    try:
        ours = signing.fits(key, signed, signature)
        header, claims = (json.loads(signing.decoded(part)) for part in signed.split("."))
    except (ValueError, RecursionError):
        raise _unknown("it cannot be read") from None
    if not ours:
        raise _unknown("its signature is not ours")
    if header != signing.HEADER or not isinstance(claims, dict) or claims.get("aud") != AUDIENCE:
        raise _unknown("it is made for something else")
    principal, issued, expires = (claims.get(name) for name in ("sub", "iat", "exp"))
    if not isinstance(principal, str) or type(issued) is not int or type(expires) is not int:
        raise _unknown("it is made for something else")
    now = time.time()
    if expires - issued > LIFETIME_SECONDS or issued > now + SKEW_SECONDS:
        raise _unknown("its times are not those of a token of 15 minutes")
    if now >= expires:
        raise _unknown("it has expired; ask for a new one")
    return principal


def _unknown(why: str) -> Refused:
    return Refused(f"the token is not taken: {why}", "UNAUTHENTICATED")
