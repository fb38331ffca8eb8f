"""Who may log in to the page, and as which principal of the policy: a file that its owner alone can read.

    users:
      ann: {principal: analyst, password: "scrypt$131072$8$1$…$…"}

Nobody registers: who writes the file decides. A password is never in it, only what scrypt makes of it.
"""

import base64
import binascii
import hashlib
import hmac
import secrets
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path

import yaml

from workbench._base import files, locks, yaml_files
from workbench._base.door import checked
from workbench._base.errors import ArgumentError

N, R, P, BYTES = 2**15, 8, 3, 32  # one of OWASP's settings for scrypt: 32 MB a try
SHORTEST, LONGEST = 12, 1024  # characters of a password
MODE = 0o600


@dataclass(frozen=True)
class User:
    """Somebody who may log in."""

    name: str
    principal: str
    password: str


@checked
def read(path: Path) -> dict[str, User]:
    """Read the file of users, by their names.

    Raises:
        ArgumentError: it cannot be read, others than its owner may read it, or an entry is not one of a user.
    """
    values = yaml_files.read(path)
    if mode := path.stat().st_mode & 0o077:
        raise ArgumentError(f"{path} can be read or written by others (mode {mode:03o}): chmod 600 {path}")
    entries = values.get("users") if isinstance(values, dict) else None
    if not isinstance(entries, dict) or set(values) != {"users"}:
        raise ArgumentError(f"{path}: expected the key users, and below it a name for each user")
    return {str(name): _user(path, name, entry) for name, entry in entries.items()}


@checked
def add(path: Path, name: str, *, principal: str, password: str) -> None:
    """Write a user to the file, made if it does not exist; one of that name is replaced.

    Args:
        path: of the file.
        name: that is typed to log in.
        principal: of the policy.
        password: as it will be typed; 12 characters at least.

    Raises:
        ArgumentError: the name is empty or has signs that cannot be seen; the password is too short or too long.
    """
    if not name.strip() or name != name.strip() or not name.isprintable():
        raise ArgumentError(f"{name!r} is not a user's name: it must be printable, without spaces around it")
    if not SHORTEST <= len(password) <= LONGEST:
        raise ArgumentError(f"a password must have {SHORTEST} to {LONGEST} characters, found {len(password)}")
    with _alone(path):
        users = read(path) if path.exists() else {}
        users[name] = User(name, principal, hashed(password))
        _write(path, users)


@checked
def remove(path: Path, name: str) -> None:
    """Take a user out of the file; sessions of that user end with the next request.

    Raises:
        ArgumentError: there is no such user.
    """
    with _alone(path):
        users = read(path)
        if name not in users:
            known = ", ".join(sorted(users)) or "nobody"
            raise ArgumentError(f"{name!r} is not a user in {path}; users are {known}")
        del users[name]
        _write(path, users)


def hashed(password: str) -> str:
    """Return what is kept of a password: scrypt's settings, a salt and its hash."""
    salt = secrets.token_bytes(16)
    words = (base64.b64encode(part).decode() for part in (salt, _scrypt(password, salt, N, R, P)))
    return "$".join(["scrypt", str(N), str(R), str(P), *words])


def fits(password: str, kept: str) -> bool:
    """Say whether a password is the one of which something was kept."""
    n, r, p, salt, expected = _parts(kept)
    return hmac.compare_digest(_scrypt(password[: LONGEST + 1], salt, n, r, p), expected)


def _scrypt(password: str, salt: bytes, n: int, r: int, p: int) -> bytes:
    return hashlib.scrypt(
        password.encode("utf-8", "surrogatepass"), salt=salt, n=n, r=r, p=p, maxmem=256 * n * r, dklen=BYTES
    )


def _parts(kept: str) -> tuple[int, int, int, bytes, bytes]:
    kind, n, r, p, salt, digest = kept.split("$")
    if kind != "scrypt":
        raise ValueError(kind)
    numbers = int(n), int(r), int(p)
    if not (2**14 <= numbers[0] <= 2**20 and 1 <= numbers[1] <= 32 and 1 <= numbers[2] <= 16):
        raise ValueError(kept)
    return *numbers, base64.b64decode(salt, validate=True), base64.b64decode(digest, validate=True)


def _user(path: Path, name: object, entry: object) -> User:
    if not isinstance(entry, dict) or set(entry) != {"principal", "password"}:
        raise ArgumentError(f"{path}: {name} must have the keys principal and password")
    principal, password = entry["principal"], entry["password"]
    if not isinstance(name, str) or not isinstance(principal, str) or not isinstance(password, str):
        raise ArgumentError(f"{path}: the name, the principal and the password of {name} must be texts")
    try:
        _parts(password)
    except (ValueError, binascii.Error):
        raise ArgumentError(
            f"{path}: the password of {name} is not one that `workbench access user add` has written"
        ) from None
    return User(name, principal, password)


def _alone(path: Path) -> AbstractContextManager[None]:
    return locks.held(path.with_name(f".{path.name}.lock"), f"somebody else writes {path}; try again", seconds=10)


def _write(path: Path, users: dict[str, User]) -> None:
    entries = {user.name: {"principal": user.principal, "password": user.password} for user in users.values()}
    text = yaml.safe_dump({"users": entries}, allow_unicode=True, sort_keys=True)
    with files.replacing(path) as part:
        part.chmod(MODE)
        part.write_text(text, encoding="utf-8")
