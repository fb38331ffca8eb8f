"""What a server keeps in its folder: the keys, a lock, the data; readable to the owner alone."""

import json
import os
import secrets
import shlex
import shutil
import tempfile
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout

KEYS = "s3.json"  # as SeaweedFS reads it
ACTIONS = ["Admin", "Read", "List", "Tagging", "Write"]
LOCK_SECONDS = 5  # a server that was just killed lets go in a moment


@contextmanager
def taken(named, within):
    """Take a folder for one server: the named one, made when missing, or a throw-away one.

    Args:
        named: path, or None for a throw-away folder.
        within: folder that holds the throw-away one and removes it with itself; None removes it here.

    Yields:
        Path.

    Raises:
        ValueError: it is in use by another server, or cannot be written.
    """
    if named is None:
        made = Path(tempfile.mkdtemp(prefix="s3-", dir=within))
        try:
            yield made
        finally:
            if within is None:
                shutil.rmtree(made, ignore_errors=True)
        return
    folder = Path(named)
    lock = FileLock(folder / "lock")
    try:
        _make(folder)
        lock.acquire(timeout=LOCK_SECONDS)
    except Timeout:
        raise ValueError(f"the folder {folder} is in use by another server; end it, or name another") from None
    except OSError as error:
        raise ValueError(f"the folder {folder} cannot be written: {error.strerror}") from None
    with lock:
        yield folder


def keys(folder):
    """Return the folder's (access key, secret key), drawn and kept when it has none.

    Raises:
        ValueError: its file of keys is not one of ours.
    """
    path = folder / KEYS
    if not path.is_file():
        pair = secrets.token_hex(10).upper(), secrets.token_urlsafe(30)
        identity = {"name": "admin", "credentials": [dict(zip(("accessKey", "secretKey"), pair, strict=True))]}
        _write(path, json.dumps({"identities": [identity | {"actions": ACTIONS}]}))
    try:
        found = json.loads(path.read_text())["identities"][0]["credentials"][0]
        return found["accessKey"], found["secretKey"]
    except (OSError, ValueError, LookupError, TypeError):
        raise ValueError(f"{path} holds no keys; a server writes it anew when it is removed") from None


def tell(folder, endpoint, catalog_endpoint):
    """Write what a shell takes over with `. FOLDER/env`: addresses and keys of the running server."""
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


def _make(folder):
    if not folder.is_dir():
        folder.mkdir(parents=True, mode=0o700)
    if any(folder.iterdir()) and not (folder / "lock").exists() and not (folder / KEYS).exists():
        raise ValueError(f"the folder {folder} holds other things; name an empty one, or one of a server")
    if not os.access(folder, os.W_OK | os.X_OK):
        raise PermissionError(13, "Permission denied")


def _write(path, text):
    """Write a file that only its owner can read, in one step."""
    new = path.with_suffix(".new")
    new.unlink(missing_ok=True)
    new.touch(mode=0o600, exist_ok=False)
    new.write_text(text)
    new.replace(path)
