"""Hidden values as long random words, and a search for them in whatever was written or answered.

A word is letters and digits alone, so that no escaping changes it; it is looked for as it is, in base 64, and inside
files that are packed.
"""

import base64
import gzip
import io
import secrets
import zipfile
from contextlib import suppress
from pathlib import Path


def words(count):
    """Draw words that nothing else holds."""
    return [f"canary{secrets.token_hex(10)}" for _ in range(count)]


def found(hidden, *held):
    """Return where hidden words are.

    Args:
        hidden: the words.
        held: texts, bytes, and paths of files and folders, whose files are all read.

    Returns:
        List of (word, place), sorted.
    """
    parts = [part for number, value in enumerate(held) for part in _opened(f"text {number}", value)]
    forms = {word: _forms(word) for word in hidden}
    return sorted(
        (word, place)
        for place, content in parts
        for word, spellings in forms.items()
        if any(spelling in content for spelling in spellings)
    )


def _forms(word):
    """The word, and what of it is the same in base 64 wherever it begins."""
    plain = word.encode()
    packed = [base64.b64encode(b"x" * shift + plain)[4 if shift else 0 : -4] for shift in range(3)]
    return [plain, plain.decode().encode("utf-16-le"), *packed]


def _opened(place, value):
    """Yield (place, bytes) of a value, of the files of a folder, and of what is packed in them."""
    if isinstance(value, Path):
        files = [value] if value.is_file() else [path for path in value.rglob("*") if path.is_file()]
        for path in files:
            yield from _opened(str(path), path.read_bytes())
        return
    content = value.encode("utf-8", "surrogatepass") if isinstance(value, str) else bytes(value)
    yield place, content
    if content[:2] == b"\x1f\x8b":
        with suppress(OSError, EOFError):
            yield from _opened(f"{place} (unpacked)", gzip.decompress(content))
    if content[:4] == b"PK\x03\x04":
        with suppress(zipfile.BadZipFile), zipfile.ZipFile(io.BytesIO(content)) as archive:
            for name in archive.namelist():
                yield from _opened(f"{place}!{name}", archive.read(name))
