"""Files joined by PyArrow alone: what is told of their values is what is in them, however they are cut."""

import math
import struct
import tempfile

import pyarrow as pa
from conftest import PROVE
from hypothesis import given, settings
from hypothesis import strategies as st
from pyarrow import fs
from pyarrow import parquet as pq

from workbench.tables.maintenance import parquet

LIMIT = 4096  # bytes of a value that a footer keeps
LONG = st.tuples(st.sampled_from(["a", "ü", "\U0010ffff"]), st.integers(LIMIT - 2, LIMIT + 2)).map(
    lambda of: (of[0] * of[1]).encode()[: of[1]].decode(errors="ignore")  # about as many bytes
)
VALUES = st.lists(st.one_of(st.none(), st.text(max_size=3), LONG), max_size=4)
FIELDS = [pa.field(name, kind, metadata={parquet._ID: str(n).encode()})
          for n, (name, kind) in enumerate((("s", pa.string()), ("x", pa.binary()), ("d", pa.float64())), 1)]  # fmt: skip
WANTED = pa.schema(FIELDS, {b"iceberg.schema": b"{}"})


def joined(tables, **more):
    """Write tables as files and those as one; returns (Written, its rows, its footer)."""
    with tempfile.TemporaryDirectory() as folder:
        sources = []
        for n, table in enumerate(tables):
            pq.write_table(table, f"{folder}/{n}.parquet")
            sources.append((f"{folder}/{n}.parquet", 1))
        how = parquet.options({}) | more
        files = fs.LocalFileSystem(), lambda location: location
        (written,) = parquet.write(files, {f"{folder}/new.parquet": sources}, WANTED, how, threads=1)
        return written, pq.read_table(written.location), pq.read_metadata(written.location)


def rows(values):
    raw = [None if one is None else one.encode() for one in values]
    numbers = [None if one is None else {0: 0.0, 1: -0.0, 2: 1.5}.get(len(one), float("nan")) for one in values]
    return pa.table([values, raw, numbers], schema=WANTED.remove_metadata())


def told(tables):
    """The lowest and highest bytes of the columns of which no footer holds them, by looking at every value."""
    every = [one.encode() for table in tables for one in table.column("s").to_pylist() if one is not None]
    found = dict.fromkeys((1, 2), (min(every), max(every))) if max(map(len, every), default=0) > LIMIT else {}
    numbers = [one for table in tables for one in table.column("d").to_pylist() if one is not None]
    numbers = sorted((one for one in numbers if one == one), key=lambda one: (one, math.copysign(1, one)))
    return found | ({3: tuple(struct.pack("<d", numbers[n]) for n in (0, -1))} if numbers else {})


@settings(max_examples=60 if PROVE else 20, deadline=None)
@given(parts=st.lists(VALUES, min_size=1, max_size=4), row_group_bytes=st.sampled_from([1, 6_000, 10**9]))
def test_what_is_told_of_long_values_is_what_is_there(parts, row_group_bytes):
    tables = [rows(values) for values in parts]
    written, found, footer = joined(tables, row_group_bytes=row_group_bytes)
    assert found.column("s").to_pylist() == [one for values in parts for one in values]
    assert written.spans == told(tables)
    assert written.nans == {3: sum(one is not None and len(one) > 2 for values in parts for one in values)}
    assert len(written.offsets) == footer.num_row_groups


def test_rows_that_are_too_many_for_a_row_group(monkeypatch):
    """PyArrow then makes several by itself, and a footer was asked for another one's bounds."""
    monkeypatch.setattr(parquet, "_ROW_GROUP_ROWS", 2)
    tables = [rows(["b", "z" * 9_000, "c", "d"]), rows(["a", "e"])]
    written, _, footer = joined(tables, row_group_bytes=1)
    assert (footer.num_row_groups, len(written.offsets), written.spans) == (3, 3, told(tables))


def test_as_many_rows_as_pyarrow_takes_for_a_row_group():
    groups = []
    for more in (0, 1):
        sink = pa.BufferOutputStream()
        table = pa.table({"a": pa.nulls(parquet._ROW_GROUP_ROWS + more, pa.bool_())})
        pq.write_table(table, sink, row_group_size=table.num_rows)
        groups.append(pq.read_metadata(pa.BufferReader(sink.getvalue())).num_row_groups)
    assert groups == [1, 2]
