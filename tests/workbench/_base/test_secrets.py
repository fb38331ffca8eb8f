"""What a secret is, and that none is left in a text."""

import pytest

from workbench._base import secrets


@pytest.mark.parametrize(
    ("name", "value", "secret"),
    [
        ("PASSWORD", "hush", True),
        ("db_password", "hush", True),
        ("API_KEY", "x1", True),
        ("apiToken", "x1", True),
        ("header.Authorization", "Bearer x1", True),
        ("NOTE", "AKIAABCDEFGHIJKLMNOP", True),
        ("NOTE", "-----BEGIN RSA PRIVATE KEY-----\nabc", True),
        ("URL", "https://me:hush@host/x", True),
        ("URL", "jdbc:postgresql://host/db?user=me&password=hush", True),
        ("URL", "jdbc:sqlserver://host;user=me;Password=hush;", True),
        ("URL", "https://host/x?tokens=3&password=", False),
        ("PASSWORD", "env:DB_PASSWORD", False),
        ("PASSWORD", "", False),
        ("token", "msk:eu-central-1", False),
        ("token", "msk:eu-central-1-x9", True),
        ("TOKENS", 3, False),
        ("MONKEY", "banana", False),
        ("URL", "https://host:8080/x", False),
        ("RUN_DATE", "2026-01-31", False),
    ],
)
def test_what_a_secret_is(name, value, secret):
    assert bool(secrets.kind(name, value)) == secret


def test_redaction_reaches_every_text_and_leaves_the_rest():
    key = "-----BEGIN PRIVATE KEY-----\nabc\n-----END PRIVATE KEY-----"
    found = {"a": ["AKIAABCDEFGHIJKLMNOP here", 3, None], "b": {"c": f"x {key} y"}, "d": "s3cret-value!"}
    assert secrets.redact(found, ["s3cret-value!"]) == {
        "a": ["[secret] here", 3, None],
        "b": {"c": "x [secret] y"},
        "d": "[secret]",
    }
    assert secrets.redact("http://me:hush@host/x") == "http://[secret]@host/x"
    assert secrets.redact("jdbc:x://h/db?user=me&password=hush&ssl=on") == "jdbc:x://h/db?user=me&[secret]&ssl=on"


def test_names_are_redacted_too():
    assert secrets.redact({"s3cret-value!": [{"s3cret-value!": 1}]}, ["s3cret-value!"]) == {
        "[secret]": [{"[secret]": 1}]
    }
