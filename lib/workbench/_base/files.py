"""Files that appear whole or not at all, their checksums, and the cache that all clones share."""

import hashlib
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


def cache() -> Path:
    """Return the per-user cache folder that all clones share (XDG)."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "iceberg-workbench"


def sha256(path: str | Path) -> str:
    """Return the SHA-256 of a file in hex."""
    with Path(path).open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Yield a temporary path beside `path`, which replaces it in one step when the block ends well."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    os.close(handle)
    new = Path(name)
    new.chmod(0o644)  # mkstemp makes it private; what a run leaves is for its readers
    try:
        yield new
        new.replace(path)
    finally:
        new.unlink(missing_ok=True)
