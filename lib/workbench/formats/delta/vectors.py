"""The deletion vectors of Delta: found, checked, and returned as Iceberg's Puffin files hold them.

Both formats have the same bytes: a length, a magic number, a 64-bit Roaring bitmap in its portable form, a CRC-32.
Delta's protocol says so in *Deletion Vector Format*, Iceberg's Puffin specification in *deletion-vector-v1*. A
vector that stands in the log itself has neither length nor CRC: they are put around it.
"""

import struct
import uuid
import zlib

from workbench._base.errors import ArgumentError
from workbench.formats import storage
from workbench.formats.inspection import File, Vector
from workbench.formats.storage import Folder

_MAGIC = 1681511377
_ALPHABET = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-:+=^!/*?&<>()[]{}@%$#"
_DIGITS = {character: number for number, character in enumerate(_ALPHABET)}
_NO_RUNS, _RUNS = 12346, 12347  # cookies of Roaring bitmaps
_ID = 20  # characters of an id in base 85


def read(folder: Folder, file: File) -> bytes:
    """Return the vector of a file as a blob of Iceberg's.

    Raises:
        ValueError: it is not there or damaged, or counts other rows than the log says.
    """
    what = f"the deletion vector of {folder.location}/{file.name}"
    with storage.whole(what):
        return _read(folder, file, what)


def _read(folder: Folder, file: File, what: str) -> bytes:
    vector = file.vector
    assert vector is not None
    if vector.storage == "i":
        bitmap = base85(vector.place)[: vector.size]
        blob = struct.pack(">i", len(bitmap)) + bitmap + struct.pack(">I", zlib.crc32(bitmap))
    else:
        name = _name(vector)
        try:
            blob = folder.part(name, vector.offset, vector.size + 8)
        except FileNotFoundError as error:
            raise ArgumentError(
                f"{what} is gone: {name} is not there. VACUUM or a clean-up removed it; restore the file"
            ) from error
    _check(what, blob, vector)
    return blob


def base85(text: str) -> bytes:
    """Return the bytes of a text in Z85."""
    values = bytearray()
    for place in range(0, len(text), 5):
        number = 0
        for character in text[place : place + 5]:
            number = number * 85 + _DIGITS[character]
        values += struct.pack(">I", number)
    return bytes(values)


def _name(vector: Vector) -> str:
    if vector.storage == "p":
        return vector.place
    prefix, number = vector.place[:-_ID], vector.place[-_ID:]
    name = f"deletion_vector_{uuid.UUID(bytes=base85(number))}.bin"
    return f"{prefix}/{name}" if prefix else name


def _check(what: str, blob: bytes, vector: Vector) -> None:
    """Refuse a blob that is not what the log says.

    Raises:
        ValueError: length, magic number, CRC or the number of rows is another one.
    """
    length = struct.unpack(">i", blob[:4])[0] if len(blob) >= 4 else -1
    bitmap = blob[4:-4]
    if length != vector.size or len(bitmap) != vector.size:
        raise ArgumentError(f"{what} is damaged: it has {len(bitmap)} bytes, the log says {vector.size}")
    if struct.unpack(">I", blob[-4:])[0] != zlib.crc32(bitmap):
        raise ArgumentError(f"{what} is damaged: its CRC-32 is another one")
    if (magic := struct.unpack("<i", bitmap[:4])[0]) != _MAGIC:
        raise ArgumentError(f"{what} has the magic number {magic}, expected {_MAGIC}")
    if (rows := cardinality(bitmap[4:])) != vector.rows:
        raise ArgumentError(f"{what} names {rows} rows, the log says {vector.rows}")


def cardinality(bitmap: bytes) -> int:
    """Return how many positions a 64-bit Roaring bitmap has, counted from the headers of its containers."""
    (count,), at, rows = struct.unpack_from("<q", bitmap), 8, 0
    for _ in range(count):
        at += 4  # the upper half of the positions
        (cookie,) = struct.unpack_from("<I", bitmap, at)
        runs = cookie & 0xFFFF == _RUNS
        containers = (cookie >> 16) + 1 if runs else struct.unpack_from("<I", bitmap, at + 4)[0]
        flags = bitmap[at + 4 : at + 4 + (containers + 7) // 8] if runs else b""
        at += 4 + len(flags) if runs else 8
        sizes = [struct.unpack_from("<HH", bitmap, at + 4 * place)[1] + 1 for place in range(containers)]
        at += 4 * containers
        if not runs or containers >= 4:
            at += 4 * containers  # where each begins
        for place, size in enumerate(sizes):
            if runs and flags[place // 8] >> place % 8 & 1:
                (pieces,) = struct.unpack_from("<H", bitmap, at)
                at += 2 + 4 * pieces
            else:
                at += 2 * size if size <= 4096 else 8192
            rows += size
    return rows
