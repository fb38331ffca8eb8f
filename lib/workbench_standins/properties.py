"""Files of java.util.Properties, and files that only this user can read."""

import os
from collections.abc import Mapping
from pathlib import Path


def text(values: Mapping[str, str]) -> str:
    """Return the text of a properties file, a line a key, as Java reads it back."""
    return "".join(f"{_escaped(key)}={_escaped(value)}\n" for key, value in values.items())


def private(path: Path, content: str) -> None:
    """Write a file that nobody else could read at any moment."""
    path.unlink(missing_ok=True)
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as file:
        file.write(content)


def _escaped(value: str) -> str:
    escaped = value.replace("\\", "\\\\").replace("\n", "\\n").replace("\r", "\\r").replace("\t", "\\t")
    for sign in "=:#! ":
        escaped = escaped.replace(sign, f"\\{sign}")
    return "".join(sign if ord(sign) < 127 else _unicode(sign) for sign in escaped)


def _unicode(sign: str) -> str:
    """Return a character as the escapes of its UTF-16 units."""
    units = sign.encode("utf-16-be").hex()
    return "".join(f"\\u{units[at : at + 4]}" for at in range(0, len(units), 4))
