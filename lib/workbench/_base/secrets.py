"""What a secret is, where it comes from, and how it is kept out of everything that people read.

A secret never stands in a file: a value is written as a reference, `env:NAME` or `ssm:/path`, and resolved when it
is needed.
"""

import os
import re
from collections.abc import Collection
from typing import Any

from workbench._base.errors import ArgumentError

REFERENCE = re.compile(r"(env|ssm):\S+")
# a Kafka log-in by IAM: it says where a token is signed, and is none itself
MSK = re.compile(r"msk:([a-z]{2,5}(?:-[a-z]+)+-\d+)")
NAME = re.compile(
    r"(^|[^a-z])(passwords?|passwd|pwd|secrets?|tokens?|credentials?|authorization|private[-_. ]?key"
    r"|api[-_. ]?key"
    r"|secret[-_. ]?access[-_. ]?key|access[-_. ]?key([-_. ]?id)?)($|[^a-z])",
    re.IGNORECASE,
)
VALUES = {
    "an AWS access key id": re.compile(r"(?<![A-Z0-9])(AKIA|ASIA)[A-Z0-9]{16}(?![A-Z0-9])"),
    "a PEM private key or certificate": re.compile(
        r"-----BEGIN [A-Z0-9 ]+-----(?:.*?-----END [A-Z0-9 ]+-----|.*)", re.DOTALL
    ),
    "a URL with a password": re.compile(r"(?<=://)[^/\s:@]*:[^/\s@]+(?=@)"),
    "an address with a password": re.compile(r"(?<=[?&;])(?:password|passwd|pwd|secret|token)=[^&;\s\"']+", re.I),
}


def resolve(value: Any) -> Any:
    """Return what a reference stands for; any other value as it is.

    Args:
        value: `env:NAME` (a variable of the process), `ssm:/path` (AWS Systems Manager, decrypted), or text.

    Raises:
        ValueError: the variable is not set, or the parameter cannot be read.
    """
    kind, _, rest = str(value).partition(":")
    if not REFERENCE.fullmatch(str(value)):
        return value
    if kind == "env":
        if rest not in os.environ:
            raise ArgumentError(f"{value} stands for the environment variable {rest}, which is not set")
        return os.environ[rest]
    import boto3
    from botocore.exceptions import BotoCoreError, ClientError

    try:
        return boto3.client("ssm").get_parameter(Name=rest, WithDecryption=True)["Parameter"]["Value"]
    except (BotoCoreError, ClientError) as error:
        raise ArgumentError(f"{value} cannot be read from AWS Systems Manager: {error}") from None


def kind(name: str, value: object) -> str | None:
    """Return in words what kind of secret a named value is; None for any other: a reference, msk:REGION, ""."""
    if not isinstance(value, str) or not value or REFERENCE.fullmatch(value) or MSK.fullmatch(value):
        return None
    for what, pattern in VALUES.items():
        if pattern.search(value):
            return what
    spaced = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name)
    return f"a value under the name {name}" if NAME.search(spaced) else None


def hide(name: str, value: Any) -> Any:
    """Return a parameter's value as a record keeps it: a secret as `[secret]`, also inside lists and mappings."""
    if isinstance(value, dict):
        return {key: hide(str(key), item) for key, item in value.items()}
    if isinstance(value, list):
        return [hide(name, item) for item in value]
    return "[secret]" if kind(name, value) else value


def redact(content: Any, secrets: Collection[str] = ()) -> Any:
    """Blank out what looks like a secret, and the given values, in anything that people will read.

    Args:
        content: a text, or dicts and lists of texts; other values stay.
        secrets: values known to be secret (resolved references).
    """
    if isinstance(content, dict):
        return type(content)({redact(key, secrets): redact(value, secrets) for key, value in content.items()})
    if isinstance(content, list):
        return [redact(value, secrets) for value in content]
    return _redacted(content, secrets) if isinstance(content, str) else content


def _redacted(text: str, secrets: Collection[str]) -> str:
    for secret in sorted({secret for secret in secrets if secret and len(secret) >= 6}, key=len, reverse=True):
        text = text.replace(secret, "[secret]")
    for pattern in VALUES.values():
        text = pattern.sub("[secret]", text)
    return text
