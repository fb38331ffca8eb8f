"""The files of a server beside its data: keys, a role, and variables for a shell; readable to the owner alone."""

import base64
import json
import secrets
import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from workbench._base.errors import ArgumentError

KEYS, ROLES = "s3.json", "iam.json"  # as SeaweedFS reads them
ACTIONS = ["Admin", "Read", "List", "Tagging", "Write"]
OWNER = "admin"
ROLE = "arn:aws:iam::000000000000:role/reader"
READ = {"Effect": "Allow", "Action": ["s3:GetObject", "s3:ListBucket"], "Resource": ["arn:aws:s3:::*"]}


def keys(folder: Path) -> tuple[str, str]:
    """Return the folder's (access key, secret key), drawn and written when it has none.

    Raises:
        ValueError: its file of keys is damaged.
    """
    path = folder / KEYS
    if not path.is_file():
        pair = secrets.token_hex(10).upper(), secrets.token_urlsafe(30)
        identity = {"name": OWNER, "credentials": [dict(zip(("accessKey", "secretKey"), pair, strict=True))]}
        _write(path, json.dumps({"identities": [identity | {"actions": ACTIONS}]}))
    try:
        credentials = json.loads(path.read_text())["identities"][0]["credentials"][0]
        return credentials["accessKey"], credentials["secretKey"]
    except (OSError, ValueError, LookupError, TypeError):
        raise ArgumentError(f"{path} holds no keys; a server writes it anew when it is removed") from None


def roles(folder: Path) -> None:
    """Write the role of readers, for `sts:AssumeRole`: it may read all, and a session's own policy narrows it.

    The owner of the folder's keys alone may assume it. A session that could assume it anew, without a
    policy of its own, would read everything. The key that signs sessions is new at each start.
    """
    who = f"arn:aws:iam::000000000000:user/{OWNER}"
    trust = {"Effect": "Allow", "Principal": {"AWS": who}, "Action": ["sts:AssumeRole"]}
    role = {"roleName": "reader", "roleArn": ROLE, "trustPolicy": _policy(trust), "attachedPolicies": ["read"]}
    signing = base64.b64encode(secrets.token_bytes(32)).decode()
    content = {
        "sts": {"tokenDuration": "15m", "maxSessionLength": "1h", "issuer": "workbench", "signingKey": signing},
        "policy": {"defaultEffect": "Deny", "storeType": "memory"},
        "roles": [role],
        "policies": [{"name": "read", "document": _policy(READ)}],
    }
    _write(folder / ROLES, json.dumps(content))


def _policy(statement: Mapping[str, Any]) -> dict[str, Any]:
    return {"Version": "2012-10-17", "Statement": [statement]}


def tell(folder: Path, endpoint: str, catalog_endpoint: str) -> None:
    """Write the variables that a shell reads with `. FOLDER/env`: addresses and keys of the running server."""
    access, secret = keys(folder)
    values = {
        "AWS_ACCESS_KEY_ID": access,
        "AWS_SECRET_ACCESS_KEY": secret,
        "AWS_REGION": "us-east-1",
        "AWS_ENDPOINT_URL_S3": endpoint,
        "S3_CATALOG_URI": catalog_endpoint,
        "S3_CATALOG_CREDENTIAL": f"{access}:{secret}",
    }
    _write(folder / "env", "".join(f"export {name}={shlex.quote(value)}\n" for name, value in values.items()))


def _write(path: Path, text: str) -> None:
    """Write a file that only its owner can read, in one step."""
    new = path.with_suffix(".new")
    new.unlink(missing_ok=True)
    new.touch(mode=0o600, exist_ok=False)
    new.write_text(text)
    new.replace(path)
