"""The Delta tables that `make_golden.py` made, unpacked for a test, and what second readers read of them."""

import json
import struct
import tarfile
from pathlib import Path

import pytest

GOLDEN = Path(__file__).parent / "golden"
NAMES = sorted(
    path.name.removesuffix(".tar.xz") for path in GOLDEN.glob("*.tar.xz") if not path.name.startswith("hudi")
)
# of Z85, by which Delta writes bytes in its log
_ALPHABET = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-:+=^!/*?&<>()[]{}@%$#"
REFUSED = {"empty", "mapped_array", "widened_too_far"}
MOVABLE = [name for name in NAMES if name not in REFUSED]


def in_the_proof(witness, values):
    """Return parameters that `make prove` runs alone, because others show the same promise in the check."""
    return [
        pytest.param(value, marks=pytest.mark.proof(f"{witness} shows it in the check"))
        for value in sorted(values)
    ]


@pytest.fixture
def namespace(spark, request):
    """A namespace of the test's own; its tables are dropped without PURGE, which gc.enabled false forbids."""
    from conftest import own_namespace

    name = "t_" + "".join(c if c.isalnum() else "_" for c in request.node.name.lower())[:90].rstrip("_")
    with own_namespace(spark, name):
        yield name
        for row in spark.sql(f"SHOW TABLES IN {name}").collect():
            spark.sql(f"DROP TABLE {name}.`{row.tableName}`")


def unpacked(name, folder):
    """Unpack a table into a folder of its name, and return that."""
    at = Path(folder) / name
    with tarfile.open(GOLDEN / f"{name}.tar.xz") as archive:
        archive.extractall(at, filter="data")
    return at


def rows_by_deltalake(path, version=None):
    """Return the rows of a Delta table as dicts, read by delta-rs."""
    import pyarrow as pa
    from deltalake import DeltaTable, QueryBuilder

    reader = QueryBuilder().register("t", DeltaTable(path, version=version)).execute("SELECT * FROM t")
    return pa.table(reader.read_all()).to_pylist()


def digest_of(path):
    """Return {name: content} of all files below a folder."""
    return {str(file.relative_to(path)): file.read_bytes() for file in sorted(path.rglob("*")) if file.is_file()}


def append(path, version, *actions):
    """Write a commit into a table's log."""
    (path / "_delta_log" / f"{version:020d}.json").write_text("\n".join(map(json.dumps, actions)))


def encoded(content):
    """Return bytes in Z85, padded."""
    content += bytes(-len(content) % 4)
    text = ""
    for place in range(0, len(content), 4):
        (number,) = struct.unpack(">I", content[place : place + 4])
        digits = ""
        for _ in range(5):
            number, digit = divmod(number, 85)
            digits = _ALPHABET[digit] + digits
        text += digits
    return text


def roaring(positions, runs=False):
    """Return a 64-bit Roaring bitmap in its portable form, made from its specification."""
    upper = {}
    for position in sorted(positions):
        upper.setdefault(position >> 32, {}).setdefault(position >> 16 & 0xFFFF, []).append(position & 0xFFFF)
    content = struct.pack("<q", len(upper))
    for key, containers in upper.items():
        content += struct.pack("<I", key)
        count = len(containers)
        content += (
            struct.pack("<I", 12347 | count - 1 << 16) + bytes([255] * ((count + 7) // 8))
            if runs
            else struct.pack("<II", 12346, count)
        )
        content += b"".join(struct.pack("<HH", low, len(values) - 1) for low, values in containers.items())
        bodies = [body(values, runs) for values in containers.values()]
        if not runs or count >= 4:
            at = len(content) + 4 * count
            for part in bodies:
                content += struct.pack("<I", at)
                at += len(part)
        content += b"".join(bodies)
    return content


def body(values, runs):
    if not runs and len(values) <= 4096:
        return struct.pack(f"<{len(values)}H", *values)
    if not runs:
        bits = bytearray(8192)
        for value in values:
            bits[value >> 3] |= 1 << (value & 7)
        return bytes(bits)
    pieces = []
    for value in values:
        if pieces and value == pieces[-1][0] + pieces[-1][1] + 1:
            pieces[-1][1] += 1
        else:
            pieces.append([value, 0])
    return struct.pack("<H", len(pieces)) + b"".join(struct.pack("<HH", *piece) for piece in pieces)
