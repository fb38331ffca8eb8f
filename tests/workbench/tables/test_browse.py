"""Looking at tables without Spark: tables made by PyIceberg, and what is said of them."""

import json
import subprocess
import sys
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import pyarrow as pa
import pytest
from pyiceberg.catalog import load_catalog
from pyiceberg.partitioning import PartitionField, PartitionSpec
from pyiceberg.schema import Schema
from pyiceberg.transforms import BucketTransform, DayTransform, IdentityTransform
from pyiceberg.types import DateType, LongType, NestedField, StringType

from workbench._base.errors import ArgumentError
from workbench.tables import browse
from workbench.tables.browse import manifests

ROWS = pa.schema([("id", pa.int64()), ("name", pa.string())])


def lake_in(folder):
    uri = f"sqlite:///{folder}/catalog.db"
    return {"name": "own", "type": "sql", "uri": uri, "warehouse": f"file://{folder}"}


def opened(lake):
    return load_catalog(lake["name"], **{key: value for key, value in lake.items() if key != "name"})


@pytest.fixture
def lake(tmp_path):
    properties = lake_in(tmp_path)
    opened(properties).create_namespace("n")
    return properties


@pytest.fixture
def orders(lake):
    """A table of three commits, a tag on the first and a renamed and a new column before the last."""
    table = opened(lake).create_table("n.orders", ROWS)
    table.append(pa.table({"id": [1, 2], "name": ["a", None]}))
    table.manage_snapshots().create_tag(table.current_snapshot().snapshot_id, "first").commit()
    table.append(pa.table({"id": [3], "name": ["c"]}))
    with table.update_schema() as update:
        update.rename_column("name", "title")
        update.add_column("day", DateType(), doc="<script>alert(1)</script>")
    table.delete("id = 1")
    return table


def said(call, *arguments, **named):
    with pytest.raises(ArgumentError) as caught:
        call(*arguments, **named)
    return str(caught.value)


def test_what_a_catalog_holds(lake, orders):
    catalog = opened(lake)
    catalog.create_namespace("n.deep")
    catalog.create_namespace("m")
    catalog.create_table("n.deep.my-table", ROWS)
    listed = [
        browse.Namespace("m", ()),
        browse.Namespace("n", ("n.orders",)),
        browse.Namespace("n.deep", ("n.deep.`my-table`",)),
    ]
    assert list(browse.tree(lake)) == list(browse.tree(catalog)) == listed
    assert list(browse.tree(lake, namespace="n")) == listed[1:]
    assert said(browse.tree, lake, namespace="q") == "namespace q is not in the catalog; there are m, n"


def test_a_table_without_a_snapshot(lake):
    opened(lake).create_table("n.empty", ROWS)
    head = browse.head(lake, "n.empty")
    assert (head.current, head.snapshots, head.refs, head.partitioned_by) == (None, 0, (), ())
    assert browse.snapshots(lake, "n.empty") == browse.files(lake, "n.empty") == ()
    assert browse.preview(lake, "n.empty") == browse.Preview(None, ("id", "name"), (), True)
    assert "it has no snapshots" in said(browse.files, lake, "n.empty", at=1)


def test_the_head_of_a_table(lake, orders):
    head = browse.head(lake, "own.n.orders")
    assert (head.table, head.format_version, head.snapshots) == ("n.orders", 2, 3)
    assert head.columns == (
        browse.Column(1, "id", "long", False, None),
        browse.Column(2, "title", "string", False, None),
        browse.Column(3, "day", "date", False, "<script>alert(1)</script>"),
    )
    assert [(ref.name, ref.kind) for ref in head.refs] == [("first", "tag"), ("main", "branch")]
    now = head.current
    assert (now.n, now.operation, now.rows, now.data_files, now.delete_files) == (3, "overwrite", 2, 2, 0)
    assert datetime.now(UTC) - now.committed < timedelta(minutes=10)


def test_terms_are_those_of_spark_and_secrets_stay_hidden(lake):
    schema = Schema(
        NestedField(1, "id", LongType(), required=True),
        NestedField(2, "day", DateType()),
        NestedField(3, "a b", StringType()),
    )
    spec = PartitionSpec(
        PartitionField(2, 1000, DayTransform(), "day_day"),
        PartitionField(1, 1001, BucketTransform(8), "id_bucket"),
        PartitionField(3, 1002, IdentityTransform(), "a b"),
    )
    properties = {"owner": "me", "my.password": "hunter22"}
    table = opened(lake).create_table("n.parts", schema, partition_spec=spec, properties=properties)
    head = browse.head(lake, "n.parts")
    assert head.partitioned_by == ("days(day)", "bucket(8, id)", "`a b`")
    assert head.properties == {"my.password": "[secret]", "owner": "me"}
    rows = pa.table(
        {"id": [7], "day": [date(2026, 1, 31)], "a b": ["x"]},
        schema=pa.schema([pa.field("id", pa.int64(), False), ("day", pa.date32()), ("a b", pa.string())]),
    )
    table.append(rows)
    [file] = browse.files(lake, "n.parts")
    assert (file.partition["day_day"], file.partition["a b"]) == (date(2026, 1, 31), "x")


def test_snapshots_and_schemas(lake, orders):
    listed = browse.snapshots(lake, "n.orders")
    assert [
        (each.n, each.operation, each.added_rows, each.removed_rows, each.rows, each.refs) for each in listed
    ] == [
        (1, "append", 2, 0, 2, ("first",)),
        (2, "append", 1, 0, 3, ()),
        (3, "overwrite", 1, 2, 2, ("main",)),
    ]
    assert [each.parent_id for each in listed] == [None, listed[0].snapshot_id, listed[1].snapshot_id]
    assert all(each.on_main for each in listed)
    assert [(schema.id, schema.current, [column.name for column in schema.columns])
            for schema in browse.schemas(lake, "n.orders")] == [
        (0, False, ["id", "name"]), (1, True, ["id", "title", "day"]),
    ]  # fmt: skip


def test_what_was_rolled_back_is_listed_and_not_on_main(lake, orders):
    first = browse.snapshots(lake, "n.orders")[0].snapshot_id
    orders.manage_snapshots().rollback_to_snapshot(first).commit()
    assert [each.on_main for each in browse.snapshots(lake, "n.orders")] == [True, False, False]
    assert browse.head(lake, "n.orders").current.snapshot_id == first
    assert sum(file.rows for file in browse.files(lake, "n.orders")) == 2


def test_each_way_to_name_a_version(lake, orders):
    first, second, _ = browse.snapshots(lake, "n.orders")
    files = browse.files(lake, "n.orders", at=first.snapshot_id)
    assert [(file.content, file.format, file.rows, file.snapshot_id, file.sequence_number) for file in files] == [
        ("data", "PARQUET", 2, first.snapshot_id, 1)
    ]
    for at in ("first", first.committed, first.committed.isoformat(), first.committed.replace(tzinfo=None)):
        assert browse.files(lake, "n.orders", at=at) == files
    assert browse.files(lake, "n.orders", at="main") == browse.files(lake, "n.orders")
    assert len(browse.files(lake, "n.orders", at=second.snapshot_id)) == 2
    orders.maintenance.expire_snapshots().by_id(second.snapshot_id).commit()
    assert "was expired; it has 2, from" in said(browse.files, lake, "n.orders", at=second.committed)
    assert said(browse.files, lake, "n.orders", at=second.snapshot_id).startswith(
        f"n.orders has no snapshot {second.snapshot_id}: it never had, or it was expired; it has 2, from "
    )


def test_a_preview_has_the_schema_of_its_version(lake, orders):
    shown = browse.preview(lake, "n.orders", at="first")
    assert (shown.columns, shown.rows, shown.complete) == (("id", "name"), ((1, "a"), (2, None)), True)
    shown = browse.preview(lake, "n.orders")
    assert (shown.columns, sorted(shown.rows)) == (("id", "title", "day"), [(2, None, None), (3, "c", None)])


@pytest.mark.parametrize(("limit", "rows", "complete"), [(1, 1, False), (2, 2, True), (3, 2, True)])
def test_a_preview_is_cut_at_its_limit(lake, orders, limit, rows, complete):
    shown = browse.preview(lake, "n.orders", limit=limit)
    assert (len(shown.rows), shown.complete) == (rows, complete)


def test_a_preview_opens_no_more_manifests_than_it_needs(lake, orders):
    """The first commit's manifest is moved away: its rows cannot be read, and a preview of one row does not."""
    before = browse.files(lake, "n.orders", at="first")
    Path(before[0].path.removeprefix("file://")).unlink()
    table = opened(lake).load_table("n.orders")
    table.append(pa.table({"id": [9], "title": ["new"], "day": pa.array([None], pa.date32())}))
    assert browse.preview(lake, "n.orders", limit=1).rows == ((9, "new", None),)
    assert said(browse.preview, lake, "n.orders", at="first").startswith("snapshot ")


def test_what_differs_between_two_versions(lake, orders):
    first, second, third = (each.snapshot_id for each in browse.snapshots(lake, "n.orders"))
    found = browse.difference(lake, "n.orders", "first", second)
    assert (found.before, found.after, found.added_rows, found.removed_rows) == (first, second, 1, 0)
    assert found.changed_columns == found.added_columns == found.removed_columns == ()
    back = browse.difference(lake, "n.orders", second, "first")
    assert (back.removed_files, back.added_files) == (found.added_files, ())
    found = browse.difference(lake, "n.orders", second)
    assert (found.after, found.added_rows, found.removed_rows) == (third, 1, 2)
    assert [column.name for column in found.added_columns] == ["day"]
    assert [(old.name, new.name) for old, new in found.changed_columns] == [("name", "title")]
    none = browse.difference(lake, "n.orders", third, third)
    assert (none.added_files, none.removed_files, none.added_columns) == ((), (), ())


def test_a_kept_manifest_is_not_read_again_and_not_of_another_table(lake, orders, tmp_path):
    """Manifests of the same names in two storages are told apart by the storage's address."""
    files = browse.files(lake, "n.orders")
    for path in Path(orders.location().removeprefix("file://")).glob("metadata/*-m[0-9]*.avro"):
        path.write_bytes(b"x" * path.stat().st_size)
    assert browse.files(lake, "n.orders") == files
    assert "is not an Avro file, or is damaged" in said(browse.files, lake | {"s3.endpoint": "b"}, "n.orders")


def test_of_kept_manifests_the_longest_unused_goes_first():
    kept = manifests._Kept(3)
    file = manifests.File("a", "data", "PARQUET", 1, 1, {}, 0, 1, 1)
    kept.put(("a",), (file, file))
    kept.put(("b",), (file,))
    assert kept.get(("a",)) == (file, file)
    kept.put(("c",), (file,))
    assert (kept.get(("b",)), kept.get(("c",)), kept.files) == (None, (file,), 3)


def test_a_table_that_is_dropped_while_it_is_looked_at(lake, orders):
    path = Path(orders.metadata_location.removeprefix("file://"))
    path.unlink()
    sentence = said(browse.head, lake, "n.orders")
    assert sentence.startswith("table n.orders cannot be looked at: FileNotFoundError: ")
    opened(lake).drop_table("n.orders")
    assert said(browse.head, lake, "n.orders") == (
        "table n.orders is not in the catalog; the catalog lists no table there"
    )


@pytest.mark.parametrize(
    ("lake", "sentence"),
    [
        (
            {"name": "r", "type": "rest", "uri": "http://127.0.0.1:9"},
            "the catalog r cannot be looked at: Connection",
        ),
        (
            {"name": "x", "type": "sql", "uri": "sqlite:////nowhere/at/all.db"},
            "the catalog x cannot be looked at: there is no file /nowhere/at/all.db",
        ),
        (17, "catalog is int, expected PyIceberg's Catalog or a dict of its properties"),
    ],
)
def test_a_catalog_that_does_not_answer_is_a_sentence(lake, sentence):
    assert said(browse.tree, lake).startswith(sentence)
    assert said(browse.head, lake, "n.orders").startswith(sentence)


def test_a_mistyped_file_of_a_catalog_is_not_made(tmp_path):
    """PyIceberg would make it, and the lake would look empty."""
    mistyped = tmp_path / "catalgo.db"
    sentence = f"the catalog x cannot be looked at: there is no file {mistyped}"
    assert said(browse.tree, {"name": "x", "type": "sql", "uri": f"sqlite:///{mistyped}?timeout=30"}) == sentence
    assert not mistyped.exists()
    for uri in ("sqlite:///:memory:", "sqlite://", f"sqlite:///file:{mistyped}?uri=true&mode=memory"):
        assert browse.tree({"name": "x", "type": "sql", "uri": uri}) == (), uri
    spaced = tmp_path / "a b.db"
    spaced.touch()
    assert browse.tree({"name": "x", "type": "sql", "uri": f"sqlite:///{tmp_path}/a%20b.db"}) == ()


def test_names_that_are_none(lake, orders):
    for name in ("'; DROP TABLE n.orders", "n", "", "n.orders; --"):
        assert "is not a table name" in said(browse.head, lake, name)
    assert said(browse.head, lake, "n.other") == "table n.other is not in the catalog; there are n.orders"
    assert said(browse.files, lake, "n.orders", at="gone") == (
        "n.orders has no branch, tag or time 'gone': it never had, or it was removed; there are first, main. The id of a "
        "snapshot is an int"
    )
    assert "at must be a snapshot's id" in said(browse.files, lake, "n.orders", at=True)


def test_no_jvm_is_started_and_no_spark_imported(lake, orders):
    code = (
        "import json, sys\nfrom workbench.tables import browse\nlake = json.loads(sys.argv[1])\n"
        "browse.tree(lake); browse.head(lake, 'n.orders'); browse.preview(lake, 'n.orders')\n"
        "assert not {'pyspark', 'py4j'} & set(sys.modules)\n"
    )
    subprocess.run([sys.executable, "-c", code, json.dumps(lake)], check=True)
