"""Files that writers by Arrow wrote, whose footers hold types that Parquet does not know."""

import io

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from deltalake import DeltaTable, write_deltalake
from golden_tables import namespace

from workbench import formats
from workbench.formats import footers, stored
from workbench.formats.footers import Footer, Problem

VIEW = pa.string_view()
KINDS = {
    "string_view": pa.array(["a", None], VIEW),
    "binary_view": pa.array([b"a", None], pa.binary_view()),
    "large_string": pa.array(["a", None], pa.large_string()),
    "large_binary": pa.array([b"a", None], pa.large_binary()),
    "dictionary": pa.array(["a", None]).dictionary_encode(),
    "large_list": pa.array([["a"], None], pa.large_list(VIEW)),
    "list_view": pa.array([["a"], None], pa.list_view(pa.large_string())),
    "large_list_view": pa.array([["a"], None], pa.large_list_view(pa.string())),
    "fixed_size_list": pa.array([["a"], ["b"]], pa.list_(VIEW, 1)),
    "map": pa.array([[("a", "x")], None], pa.map_(VIEW, pa.large_string())),
    "struct": pa.array([{"x": {"y": "a"}}, None], pa.struct([("x", pa.struct([("y", VIEW)]))])),
    "duration": pa.array([1, None], pa.duration("us")),
}


@pytest.mark.parametrize("name", KINDS)
def test_a_type_that_arrow_restores_is_the_one_in_the_file(name):
    """The second route: a file without Arrow's schema."""
    restored, plain = (_written(KINDS[name], store) for store in (True, False))
    assert restored != plain and stored.schema(restored) == plain


def test_field_ids_stay_in_types_that_are_made_anew():
    def field(name, kind, number):
        return pa.field(name, kind, metadata={"PARQUET:field_id": str(number)})

    key, value = field("key", pa.string(), 2).with_nullable(False), field("value", pa.large_string(), 3)
    schema = pa.schema(
        [field("m", pa.map_(key, value), 1), field("l", pa.large_list(field("element", VIEW, 5)), 4)]
    )
    plain = stored.schema(schema)
    assert [one.metadata for one in footers._children(plain.field("m").type)] == [key.metadata, value.metadata]
    assert plain.field("m").metadata == schema.field("m").metadata
    assert plain.field("l").type.value_field == field("element", pa.string(), 5)
    assert plain.field("l").type.value_field.metadata == {b"PARQUET:field_id": b"5"}


def test_runs_and_extensions_are_what_they_are_stored_as():
    """PyArrow writes no runs today; it may tomorrow."""
    assert stored.kind(pa.run_end_encoded(pa.int32(), VIEW)) == pa.string()
    assert stored.kind(pa.json_(VIEW)) == pa.string()
    assert stored.kind(pa.decimal128(9, 2)) == pa.decimal128(9, 2)


def _written(column, store):
    buffer = io.BytesIO()
    pq.write_table(pa.table({"column": column}), buffer, store_schema=store)
    return pq.ParquetFile(buffer).schema_arrow


def test_columns_with_one_cause_are_one_sentence():
    cause = "is date32[day] in a file, and Iceberg cannot read that as int: rewrite the files at the source"
    list_cause = "has a list in Parquet's old form"
    by_file = {
        "b": Footer(1, frozenset(), {}, False, (Problem(cause, "x"), Problem(cause, "y.z"))),
        "a": Footer(1, frozenset(), {}, False, (Problem(cause, "x"), Problem(list_cause, "l"))),
        "c": Footer(1, frozenset(), {}, False, (Problem("a file is encrypted"), Problem(list_cause, "k"))),
    }
    assert footers.problems(by_file) == (
        "the columns x, y.z are date32[day] in a file, and Iceberg cannot read that as int: rewrite the files at "
        "the source; so in 2 files, a, b",
        "the columns l, k have a list in Parquet's old form; so in 2 files, a, c",
        "a file is encrypted; so in 1 file, c",
    )


def test_a_table_that_deltalake_deleted_updated_and_merged(spark, namespace, tmp_path):
    source, table = str(tmp_path / "orders"), f"{namespace}.orders"
    rows = pa.table({
        "id": pa.array(range(6), pa.int64()), "name": [f"n{n}" for n in range(6)], "raw": [b"%d" % n for n in range(6)],
        "words": [["a", None]] * 6, "area": ["north", "south"] * 3,
        "place": pa.array([{"town": "t"}] * 6, pa.struct([("town", pa.string())])),
    })  # fmt: skip
    write_deltalake(source, rows, partition_by=["area"])
    delta = DeltaTable(source)
    delta.delete("id = 0")
    files = [pq.ParquetFile(path).schema_arrow for path in (tmp_path / "orders").rglob("*.parquet")]
    assert any(schema.field("name").type == VIEW for schema in files)  # else this test shows nothing
    assert formats.look(source).obstacles == ()
    formats.move(spark, source, table)
    assert formats.verify(spark, table).equal
    delta.update(predicate="id = 1", new_values={"name": "other"})
    assert formats.follow(spark, table).added_files == 1 and formats.verify(spark, table).equal
    merging = delta.merge(rows.slice(4), "t.id = s.id", "s", "t")
    merging.when_matched_update({"name": "'merged'"}).execute()
    assert formats.follow(spark, table).added_files and formats.verify(spark, table).equal
    found = {row.id: row.name for row in spark.table(table).collect()}
    assert found == {1: "other", 2: "n2", 3: "n3", 4: "merged", 5: "merged"}
    assert formats.verify(spark, table, reader="duckdb").equal
