"""The files of a server beside its data: keys, and variables for a shell; readable to the owner alone."""

import json
import secrets
import shlex
from pathlib import Path

from workbench._base.errors import ArgumentError

KEYS = "s3.json"  # as SeaweedFS reads it
ACTIONS = ["Admin", "Read", "List", "Tagging", "Write"]


def keys(folder: Path) -> tuple[str, str]:
    """Return the folder's (access key, secret key), drawn and written when it has none.

    Raises:
        ValueError: its file of keys is damaged.
    """
    path = folder / KEYS
    if not path.is_file():
        pair = secrets.token_hex(10).upper(), secrets.token_urlsafe(30)
        identity = {"name": "admin", "credentials": [dict(zip(("accessKey", "secretKey"), pair, strict=True))]}
        _write(path, json.dumps({"identities": [identity | {"actions": ACTIONS}]}))
    try:
        credentials = json.loads(path.read_text())["identities"][0]["credentials"][0]
        return credentials["accessKey"], credentials["secretKey"]
    except (OSError, ValueError, LookupError, TypeError):
        raise ArgumentError(f"{path} holds no keys; a server writes it anew when it is removed") from None


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
