"""The Delta tables that `make_golden.py` made, unpacked for a test, and what second readers read of them."""

import tarfile
from pathlib import Path

import pytest

GOLDEN = Path(__file__).parent / "golden"
NAMES = sorted(path.name.removesuffix(".tar.xz") for path in GOLDEN.glob("*.tar.xz"))
REFUSED = {"empty", "mapped_array", "widened_too_far"}
MOVABLE = [name for name in NAMES if name not in REFUSED]


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
