"""Rows once an id: whoever dies, whoever else writes, however often it comes."""

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pyarrow as pa
import pyarrow.compute
import pyarrow.parquet
import pytest
from light_cases import own_lake
from light_child import writers
from pyiceberg.exceptions import CommitFailedException
from pyiceberg.partitioning import PartitionField, PartitionSpec
from pyiceberg.table.sorting import NullOrder, SortDirection, SortField, SortOrder
from pyiceberg.transforms import BucketTransform, DayTransform, IdentityTransform, TruncateTransform

from workbench import light
from workbench.light import appending

SCHEMA = pa.schema([("id", pa.int64()), ("name", pa.string())])
LATER = datetime.now(UTC) + timedelta(hours=1)


@pytest.fixture
def lake(tmp_path):
    return own_lake(tmp_path)


@pytest.fixture
def table(lake):
    return light.catalogs.load(lake).create_table("n.t", SCHEMA)


def rows(*ids):
    return [{"id": number, "name": f"n{number}"} for number in ids]


def ids_in(lake):
    return [row["id"] for row in light.query(lake, "SELECT id FROM n.t ORDER BY id").to_pylist()]


def test_the_rows_of_an_id_are_there_once(lake, table):
    first = light.append(lake, "n.t", rows(1, 2), ids="a")
    assert (first.rows, first.repeated, first.tries) == (2, (), 1) and first.snapshot_id
    assert light.append(lake, "own.n.t", rows(1, 2), ids="a") == light.Append(0, ("a",), None, 1)
    again = light.append(lake, "n.t", rows(2, 3, 4, 5), ids=["a", "b", "c", "b"])
    assert (again.rows, again.repeated) == (3, ("a",))
    assert ids_in(lake) == [1, 2, 3, 4, 5]
    table.refresh()
    assert table.current_snapshot().summary[appending.KEY] == '["b", "c"]'


def test_a_snapshot_without_a_summary(lake):
    """Version 1 of the format lets a writer leave it out: no ids are known of it, and DuckDB does not read it."""
    table = light.catalogs.load(lake).create_table("n.t", SCHEMA, properties={"format-version": "1"})
    table.append(pa.Table.from_pylist(rows(1), SCHEMA))
    path = Path(table.metadata_location.removeprefix("file://"))
    metadata = json.loads(path.read_text())
    del metadata["snapshots"][0]["summary"]
    path.write_text(json.dumps(metadata))
    with pytest.raises(light.IdsExpired, match="'a' may have been written by one of them"):
        light.append(lake, "n.t", rows(2), ids="a")
    assert light.append(lake, "n.t", rows(2), ids="a", since=LATER).rows == 1
    assert light.append(lake, "n.t", rows(2), ids="a").repeated == ("a",)
    assert sorted(table.refresh().scan().to_arrow()["id"].to_pylist()) == [1, 2]
    with pytest.raises(ValueError, match="n.t has a snapshot without a summary"):
        ids_in(lake)


def test_without_ids_rows_are_new(lake, table):
    assert [light.append(lake, "n.t", pa.Table.from_pylist(rows(1), SCHEMA)).rows for _ in range(2)] == [1, 1]
    assert ids_in(lake) == [1, 1]


def test_what_was_rolled_back_is_written_again(lake, table):
    light.append(lake, "n.t", rows(1), ids="a")
    light.append(lake, "n.t", rows(2), ids="b")
    table.refresh()
    table.manage_snapshots().rollback_to_snapshot(table.snapshots()[0].snapshot_id).commit()
    assert [light.append(lake, "n.t", rows(n), ids=id).rows for n, id in ((1, "a"), (2, "b"))] == [0, 1]
    assert ids_in(lake) == [1, 2]


@pytest.mark.parametrize(
    ("fault", "code", "repeated"),
    [("killed before", -9, []), ("killed behind", -9, ["a"]), ("answer lost", 0, ["a"])],
)
def test_a_writer_that_dies_or_is_not_told(lake, table, writers, fault, code, repeated):
    """It is called again, as a queue does."""
    ((answers, code_of_writer),) = writers(lake, "n.t", [{"rows": rows(1, 2), "ids": "a"}], fault=fault)
    assert (code_of_writer, answers) == (code, [[2, []]] if fault == "answer lost" else [])
    assert light.append(lake, "n.t", rows(1, 2), ids="a").repeated == tuple(repeated)
    assert ids_in(lake) == [1, 2]


@pytest.mark.proof("test_four_at_once_make_the_table_and_write_a_message_once has the same race")
def test_the_same_messages_to_four_at_once(lake, table, writers):
    calls = [{"rows": rows(2 * n, 2 * n + 1), "ids": f"m{n}"} for n in range(4)]
    ended = writers(lake, "n.t", *(calls[n:] + calls[:n] for n in range(4)))
    assert [code for _, code in ended] == [0, 0, 0, 0]
    assert sum(written for answers, _ in ended for written, _ in answers) == 8
    assert ids_in(lake) == list(range(8))


def test_a_racer_that_took_some_of_the_ids_between_look_and_commit(lake, table, monkeypatch):
    """The files are written anew without its rows, and the first ones are deleted."""
    original_begin, written = light.writing.begin, []

    def begin(loaded, files, summary):
        written.append([file.file_path.removeprefix("file://") for file in files])
        if len(written) == 1:
            light.append(lake, "n.t", rows(1), ids="a")
        return original_begin(loaded, files, summary)

    monkeypatch.setattr(light.writing, "begin", begin)
    result = light.append(lake, "n.t", rows(1, 2), ids=["a", "b"])
    assert (result.rows, result.repeated, result.tries) == (1, ("a",), 2)
    assert ids_in(lake) == [1, 2]
    assert not any(map(exists, written[0])) and all(map(exists, written[-1]))


def test_a_rollback_and_a_racer_that_leave_as_many_new_rows(lake, table, monkeypatch):
    """The rows of a are gone and those of b are there: the files of b are not those to commit."""
    table.append(pa.Table.from_pylist(rows(9), SCHEMA))
    light.append(lake, "n.t", rows(1), ids="a")
    original_begin, begun = light.writing.begin, []

    def begin(loaded, files, summary):
        begun.append(summary)
        if len(begun) == 1:
            table.refresh()
            table.manage_snapshots().rollback_to_snapshot(table.snapshots()[0].snapshot_id).commit()
            light.append(lake, "n.t", rows(2), ids="b")
        return original_begin(loaded, files, summary)

    monkeypatch.setattr(light.writing, "begin", begin)
    result = light.append(lake, "n.t", rows(1, 2), ids=["a", "b"])
    assert (result.rows, result.repeated, result.tries) == (1, ("b",), 2)
    assert ids_in(lake) == [1, 2, 9]


def exists(path):
    return Path(path).is_file()


def test_a_refused_commit_is_repeated_with_the_same_files(lake, table, monkeypatch):
    original_begin, written = light.writing.begin, []

    def begin(loaded, files, summary):
        written.append([file.file_path for file in files])
        if len(written) == 1:
            table.append(pa.Table.from_pylist(rows(9), SCHEMA))
        return original_begin(loaded, files, summary)

    monkeypatch.setattr(light.writing, "begin", begin)
    assert light.append(lake, "n.t", rows(1), ids="a").tries == 2
    assert written[0] == written[1] and ids_in(lake) == [1, 9]


def test_a_commit_that_others_always_come_before(lake, table, monkeypatch):
    original_begin, written = light.writing.begin, []

    def begin(loaded, files, summary):
        written.append(files[0].file_path.removeprefix("file://"))
        table.refresh()
        table.append(pa.Table.from_pylist(rows(9), SCHEMA))
        return original_begin(loaded, files, summary)

    monkeypatch.setattr(light.writing, "begin", begin)
    with pytest.raises(CommitFailedException):
        light.append(lake, "n.t", rows(1), ids="a", tries=2)
    assert len(written) == 2 and not exists(written[0]) and ids_in(lake) == [9, 9]


@pytest.fixture
def expired(lake, table):
    """The snapshot that wrote id a is gone, its rows are not."""
    for number, id in ((1, "a"), (2, "b")):
        light.append(lake, "n.t", rows(number), ids=id)
    table.refresh()
    table.maintenance.expire_snapshots().by_id(table.snapshots()[0].snapshot_id).commit()
    return lake


def test_an_id_whose_snapshot_may_have_been_expired_is_refused(expired):
    for since in (None, datetime.now(UTC)):
        with pytest.raises(
            light.IdsExpired, match="of n.t before 20.* were expired, and 'a' may have been written"
        ):
            light.append(expired, "n.t", rows(1), ids="a", since=since)
    assert light.append(expired, "n.t", rows(2), ids="b").repeated == ("b",)
    assert ids_in(expired) == [1, 2]


def test_an_id_that_is_younger_is_new(expired):
    assert light.append(expired, "n.t", rows(3), ids="c", since=LATER).rows == 1
    assert light.append(expired, "n.t", rows(4)).rows == 1
    assert ids_in(expired) == [1, 2, 3, 4]


def test_an_id_is_looked_up_in_a_column(expired):
    result = light.append(expired, "n.t", rows(1, 5), ids=["n1", "n5"], id_column="name")
    assert (result.rows, result.repeated, ids_in(expired)) == (1, ("n1",), [1, 2, 5])


def test_files_are_slices_of_sorted_rows(lake):
    nan, day = float("nan"), datetime(2026, 1, 1)
    schema = pa.schema([("id", pa.int64()), ("p", pa.float64()), ("at", pa.timestamp("us")), ("s", pa.string())])
    spec = PartitionSpec(
        PartitionField(2, 1000, IdentityTransform(), "p"), PartitionField(3, 1001, DayTransform(), "day"),
        PartitionField(4, 1002, TruncateTransform(1), "first"),
    )  # fmt: skip
    order = SortOrder(
        SortField(4, IdentityTransform(), SortDirection.DESC, NullOrder.NULLS_FIRST),
        SortField(1, BucketTransform(4), SortDirection.ASC, NullOrder.NULLS_LAST),
        SortField(1, IdentityTransform(), SortDirection.ASC, NullOrder.NULLS_LAST),
    )
    catalog = light.catalogs.load(lake)
    table = catalog.create_table("n.t", pa.schema([(field.name, field.type) for field in schema]))
    with table.update_spec() as update:
        for field in spec.fields:
            update.add_field(schema.names[field.source_id - 1], field.transform, field.name)
    with table.update_sort_order() as update:
        for field in order.fields:
            add = update.desc if field.direction == SortDirection.DESC else update.asc
            add(schema.names[field.source_id - 1], field.transform, field.null_order)
    values = [
        (number, (nan, None, 1.0, -0.5)[number % 4], None if number % 7 == 0 else day + timedelta(hours=9 * (number % 5)),
         None if number % 11 == 0 else f"{'ab'[number % 2]}{number % 3}")
        for number in range(200)
    ]  # fmt: skip
    given = pa.Table.from_pylist([dict(zip(schema.names, row, strict=True)) for row in values], schema)
    assert light.append(lake, "n.t", given, ids="a").rows == 200
    table.refresh()
    files = table.inspect.files().to_pylist()
    partitions = {(repr(row[1]), row[2] and row[2].date(), row[3] and row[3][0]) for row in values}
    assert len(files) == len(partitions) > 20
    assert {file["sort_order_id"] for file in files} == {table.sort_order().order_id}
    assert sum(dict(file["nan_value_counts"]).get(2, 0) for file in files) == 50
    for file in files:
        stored = pa.parquet.read_table(file["file_path"].removeprefix("file://")).to_pylist()
        texts = [row["s"] for row in stored]
        assert texts == sorted(texts, key=lambda text: (text is not None, [-ord(c) for c in text or ""]))
        assert (
            len({(repr(row["p"]), row["at"] and row["at"].date(), row["s"] and row["s"][0]) for row in stored})
            == 1
        )
    stored = light.query(lake, "SELECT * FROM n.t ORDER BY id").to_pylist()
    assert [tuple(map(repr, row.values())) for row in stored] == [tuple(map(repr, row)) for row in values]


def test_files_are_no_larger_than_asked(lake, table):
    with table.transaction() as change:
        change.set_properties({"write.target-file-size-bytes": "20000"})
    light.append(lake, "n.t", rows(*range(10_000)), ids="a")
    table.refresh()
    assert len(table.inspect.files()) > 5 and ids_in(lake) == list(range(10_000))


LISTS = pa.list_(pa.struct([("a", pa.int64())]))


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"catalog": 5}, "catalog is int, expected PyIceberg's Catalog or a dict of its properties"),
        ({"table": "n.u"}, "table n.u is not in the catalog; there are n.t"),
        ({"table": "t"}, "'t' is not a table name"),
        ({"rows": 5}, "rows is int, expected a pyarrow.Table or a list of dicts"),
        ({"rows": [{"nope": 1}]}, "nope is not a column; it has id, name"),
        ({"rows": [{"id": "x"}]}, "row 0 does not fit the columns: id is .x., expected int64"),
        ({"rows": pa.table({"id": ["x"]})}, "the column id is string, expected long"),
        ({"ids": ["a"]}, "ids are 1 for 2 rows; expected one for all of them or one for each"),
        ({"ids": ["a", ""]}, "an id is a text of 1 to 200 printable characters, found ''"),
        ({"ids": "x" * 201}, "an id is a text of 1 to 200"),
        ({"since": "2026-01-01"}, "since must be a datetime or None, found '2026-01-01'"),
        ({"since": datetime(2026, 1, 1)}, "since must be a datetime with its time zone, found"),
        ({"id_column": "nope"}, "id_column is 'nope', which is not a column of n.t; it has id, name"),
        ({"tries": 0}, "tries must be an integer of at least 1, found 0"),
    ],
)
def test_what_is_refused_before_anything_is_written(lake, table, arguments, sentence):
    given = {"catalog": lake, "table": "n.t", "rows": rows(1, 2), "ids": "a"} | arguments
    with pytest.raises(ValueError, match=sentence):
        light.append(**given)
    table.refresh()
    assert table.current_snapshot() is None


@pytest.mark.parametrize(
    ("properties", "sentence"),
    [
        ({"write.format.default": "avro"}, "n.x is written in the format avro"),
        ({"write.format.default": "orc"}, "n.x is written in the format orc"),
    ],
)
def test_tables_that_pyiceberg_does_not_write(lake, properties, sentence):
    light.catalogs.load(lake).create_table("n.x", SCHEMA, properties=properties)
    with pytest.raises(ValueError, match=sentence):
        light.append(lake, "n.x", rows(1), ids="a")


@pytest.mark.parametrize(
    ("kind", "value", "refused"),
    [
        (LISTS, None, True),
        (LISTS, [{"a": None}], False),
        (pa.struct([("l", LISTS)]), {"l": None}, True),
        (pa.list_(LISTS), [None], True),
        (pa.map_(pa.string(), pa.struct([("a", pa.int64())])), None, True),
        (pa.list_(pa.int64()), None, False),
        (pa.list_(pa.struct([("a", pa.int64())]), 1), None, True),
        (pa.list_(pa.struct([("a", pa.int64())]), 1), [{"a": 1}], False),
    ],
)
def test_null_lists_of_structs_are_not_written_as_empty_ones(lake, kind, value, refused):
    schema = pa.schema([("id", pa.int64()), ("l", kind)])
    light.catalogs.load(lake).create_table("n.x", schema)
    given = pa.Table.from_pylist([{"id": 1, "l": value}], schema)
    if refused:
        with pytest.raises(ValueError, match="the column l holds a null list or map of structs"):
            light.append(lake, "n.x", given)
    else:
        light.append(lake, "n.x", given)
        assert light.query(lake, "SELECT * FROM n.x").to_pylist() == [{"id": 1, "l": value}]


TEXTS = [None if number % 5 == 0 else f"s{number % 3}" for number in range(12)]
TWICE = pa.DictionaryArray.from_arrays(pa.array([0, 1, 2, None, 3] * 2 + [0, 1]), pa.array(["a", "a", "b", None]))


@pytest.mark.parametrize(
    "texts",
    [
        pa.array(TEXTS),
        pa.array(TEXTS).dictionary_encode(),
        pa.array(TEXTS, pa.string_view()),
        TWICE,
        pa.chunked_array([pa.array(part).dictionary_encode() for part in (TEXTS[:5], TEXTS[5:])]),
    ],
)
def test_a_slice_of_an_arrow_table_that_holds_its_values_in_another_way(lake, texts):
    table = light.catalogs.load(lake).create_table("n.t", SCHEMA)
    with table.update_spec() as update:
        update.add_field("name", TruncateTransform(1), "first")
    with table.update_sort_order() as update:
        update.asc("name", IdentityTransform())
    given = pa.table({"name": texts, "id": pa.array(range(12), pa.int64())}).slice(3, 8)
    assert light.append(lake, "n.t", given, ids="a").rows == 8
    assert light.query(lake, "SELECT name, id FROM n.t ORDER BY id").to_pylist() == given.to_pylist()
    stored = table.refresh().scan().to_arrow().select(["name", "id"]).sort_by("id")
    assert stored.to_pylist() == given.to_pylist()


def test_what_is_inside_of_a_slice_of_nested_values(lake):
    """The null list of structs lies before the slice, so it is written."""
    kind = pa.struct([("lists", LISTS), ("texts", pa.list_(pa.dictionary(pa.int32(), pa.string())))])
    whole = pa.array(
        [
            {"lists": None, "texts": ["x"]},
            *({"lists": [{"a": n}, None], "texts": ["y", None]} for n in range(3)),
            None,
        ],
        kind,
    )
    plain = pa.schema([("id", pa.int64()), ("s", pa.struct([("lists", LISTS), ("texts", pa.list_(pa.string()))]))])
    light.catalogs.load(lake).create_table("n.x", plain)
    given = pa.table({"id": pa.array(range(5), pa.int64()), "s": whole})
    assert light.append(lake, "n.x", given.slice(1)).rows == 4
    assert light.query(lake, "SELECT * FROM n.x ORDER BY id").to_pylist() == given.slice(1).to_pylist()
    with pytest.raises(ValueError, match="the column s holds a null list or map of structs"):
        light.append(lake, "n.x", given.slice(0, 2))


def test_values_that_arrow_holds_in_runs(lake, table):
    given = pa.table({"id": pa.array([1, 1], pa.int64()), "name": pa.compute.run_end_encode(pa.array(["a", "a"]))})
    with pytest.raises(ValueError, match="do not fit the columns: Column 'name' has an unsupported type: run_end"):
        light.append(lake, "n.t", given)


def test_a_table_of_version_3(lake, table):
    path = Path(table.metadata_location.removeprefix("file://"))
    path.write_text(json.dumps(json.loads(path.read_text()) | {"format-version": 3, "next-row-id": 0}))
    with pytest.raises(
        ValueError, match="n.t has version 3 of Iceberg's table format, which PyIceberg reads and does not"
    ):
        light.append(lake, "n.t", rows(1), ids="a")


def test_too_many_ids(lake, table):
    with pytest.raises(ValueError, match="10001 ids in one append, at most 10000"):
        light.append(lake, "n.t", rows(*range(10_001)), ids=list(map(str, range(10_001))))
