"""Tokens: who has the key issues them, and each that is not of it, of now and of this purpose is refused."""

import base64
import hashlib
import hmac
import json
import os
import stat
import time

import pytest

from workbench._base import signing
from workbench._base.errors import ArgumentError
from workbench_ops.front import tokens
from workbench_ops.front.refusals import Refused

KEY = bytes(range(32))


def forged(key=KEY, header=signing.HEADER, sign=True, **changes):
    """A token with other claims than `issue` gives."""
    now = int(time.time())
    claims = {"sub": "reader", "aud": tokens.AUDIENCE, "iat": now, "exp": now + 900} | changes

    def part(data):
        return base64.urlsafe_b64encode(data).rstrip(b"=").decode()

    signed = ".".join(part(json.dumps(value).encode()) for value in (header, claims))
    return f"{signed}.{part(hmac.new(key, signed.encode(), hashlib.sha256).digest()) if sign else ''}"


def test_a_token_is_of_its_principal():
    assert tokens.principal_of(KEY, tokens.issue(KEY, "reader@example.org")) == "reader@example.org"
    assert tokens.principal_of(KEY, forged()) == "reader"


@pytest.mark.parametrize(  # functions: a time of now is that of the test, which may run long after it was collected
    ("token", "sentence"),
    [
        (lambda: forged(key=b"x" * 32), "its signature is not ours"),
        (lambda: forged(sign=False), "its signature is not ours"),
        (lambda: forged(header={"alg": "none", "typ": "JWT"}), "made for something else"),
        (lambda: forged(aud="another"), "made for something else"),
        (lambda: forged(sub=None), "made for something else"),
        (lambda: forged(exp=True), "made for something else"),
        (lambda: forged(exp=time.time() + 10), "made for something else"),
        (lambda: forged(iat=0, exp=int(time.time()) + 10), "not those of a token of 15 minutes"),
        (
            lambda: forged(iat=int(time.time()) + 600, exp=int(time.time()) + 900),
            "not those of a token of 15 minutes",
        ),
        (lambda: forged(iat=int(time.time()) - 900, exp=int(time.time()) - 1), "it has expired"),
        (lambda: forged()[:-1], "its signature is not ours|cannot be read"),
        (lambda: forged() + "=", "cannot be read"),
        (lambda: forged().replace(".", "..", 1), "cannot be read"),
        (lambda: forged().upper(), "cannot be read|signature"),
        (lambda: "", "cannot be read"),
        (lambda: "..", "cannot be read"),
        (lambda: "é.é.é", "cannot be read"),
        (lambda: "x" * 100_000, "cannot be read"),
    ],
)
def test_other_tokens_are_refused(token, sentence):
    with pytest.raises(Refused, match=sentence) as error:
        tokens.principal_of(KEY, token())
    assert error.value.code == "UNAUTHENTICATED"


def test_a_token_expires(monkeypatch):
    token = tokens.issue(KEY, "reader", seconds=60)
    now = time.time()
    monkeypatch.setattr(tokens.time, "time", lambda: now + 59)
    assert tokens.principal_of(KEY, token) == "reader"
    monkeypatch.setattr(tokens.time, "time", lambda: now + 61)
    with pytest.raises(Refused, match="it has expired; ask for a new one"):
        tokens.principal_of(KEY, token)


def test_the_last_bits_of_a_signature_count():
    """Base64 leaves four bits over at the end of 32 bytes; a decoder that drops them would take other texts."""
    token = tokens.issue(KEY, "reader")
    last = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
    taken = []
    for letter in last:
        try:
            tokens.principal_of(KEY, token[:-1] + letter)
            taken.append(letter)
        except Refused:
            pass
    assert taken == [token[-1]]


@pytest.mark.parametrize(
    ("principal", "options", "sentence"),
    [
        ("a b", {}, "principal must be a name"),
        ("", {}, "principal must be a name"),
        ("a" * 256, {}, "principal must be a name"),
        ("reader", {"seconds": 901}, "seconds must be an integer of at least 1 and of at most 900"),
        ("reader", {"seconds": 0}, "seconds must be"),
        ("reader", {"seconds": True}, "seconds must be"),
    ],
)
def test_what_no_token_is_issued_for(principal, options, sentence):
    with pytest.raises(ArgumentError, match=sentence):
        tokens.issue(KEY, principal, **options)


def test_the_key_is_ours_alone(tmp_path):
    path = tmp_path / "key"
    before = os.umask(0)
    try:
        tokens.make_key(path)
    finally:
        os.umask(before)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert len(tokens.read_key(path)) == 32
    with pytest.raises(ArgumentError, match="cannot be made: File exists"):
        tokens.make_key(path)
    path.chmod(0o640)
    with pytest.raises(ArgumentError, match="of mode 600, found mode 640"):
        tokens.read_key(path)
    path.chmod(0o600)
    path.write_bytes(b"short")
    with pytest.raises(ArgumentError, match="at least 32 bytes, found 5"):
        tokens.read_key(path)
    with pytest.raises(ArgumentError, match="cannot be read: No such file"):
        tokens.read_key(tmp_path / "other")
