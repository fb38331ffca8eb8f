"""Rows merged by key: what is left is what one after another would leave."""

import pyarrow as pa
import pyarrow.parquet
import pytest
from conftest import PROVE
from light_cases import own_lake, rest
from light_child import writers
from pyiceberg.catalog import load_catalog
from pyiceberg.transforms import IdentityTransform

from workbench import light

SCHEMA = pa.schema([("k", pa.int64()), ("part", pa.string()), ("v", pa.string())])
EACH = 15 if PROVE else 1  # merges of each of four processes; each snapshot is read whole afterwards


@pytest.fixture(params=["sql", "rest"])
def catalog(request, tmp_path):
    """Properties of a catalog with a table n.t of three rows, and the engine that merges there."""
    if request.param == "rest":
        properties, engine = request.getfixturevalue("rest"), "duckdb"
    else:
        properties, engine = (
            {
                "name": "own",
                "type": "sql",
                "uri": f"sqlite:///{tmp_path}/c.db?timeout=60",
                "warehouse": f"file://{tmp_path}",
            },
            "pyiceberg",
        )
    loaded = light.catalogs.load(properties)
    loaded.create_namespace_if_not_exists("n")
    if loaded.table_exists("n.t"):
        loaded.drop_table("n.t")
    loaded.create_table("n.t", SCHEMA).append(pa.Table.from_pylist(rows("a", 1, 2, 3), SCHEMA))
    return properties, engine


def rows(value, *keys):
    return [{"k": key, "part": "p", "v": f"{value}{key}"} for key in keys]


def values(properties):
    return light.query(properties, "SELECT k, v FROM n.t ORDER BY k, v").to_pylist()


def test_a_key_is_replaced_or_added(catalog):
    properties, engine = catalog
    merge = light.merge(properties, "n.t", rows("b", 2, 4), key=["k"])
    assert (merge.engine, merge.rows, merge.tries) == (engine, 2, 1)
    expected = [{"k": key, "v": value} for key, value in ((1, "a1"), (2, "b2"), (3, "a3"), (4, "b4"))]
    assert values(properties) == expected
    light.merge(properties, "n.t", rows("b", 2, 4), key=["k", "part"])
    assert values(properties) == expected
    assert light.merge(properties, "n.t", pa.Table.from_pylist([], SCHEMA), key=["k"]).rows == 0


@pytest.mark.parametrize(
    "catalog",
    [pytest.param("sql", marks=pytest.mark.proof("the same test on a REST catalog has the same race")), "rest"],
    indirect=True,
)
def test_merges_at_once_leave_what_one_after_another_would(catalog, writers):
    """Each adds a key of its own and replaces one that all share: a snapshot has one key more, and its value."""
    properties, _ = catalog
    calls = [
        [{"rows": [*rows("x", key), {"k": 0, "part": "s", "v": f"x{key}"}], "key": ["k"]}
         for key in range(1000 * (process + 1), 1000 * (process + 1) + EACH)]
        for process in range(4)
    ]  # fmt: skip
    assert [code for _, code in writers(properties, "n.t", *calls)] == [0] * 4
    table = light.catalogs.load(properties).load_table("n.t")
    seen, states = set(), []
    for snapshot in sorted(table.snapshots(), key=lambda snapshot: snapshot.sequence_number):
        state = {row["k"]: row["v"] for row in table.scan(snapshot_id=snapshot.snapshot_id).to_arrow().to_pylist()}
        new = {key for key in state if key >= 1000} - seen
        seen |= new
        if new and 0 in state:  # an upsert of PyIceberg is two snapshots of one commit
            states.append((len(new), state[0] in {f"x{key}" for key in new}))
    assert len(seen) == 4 * EACH and len(values(properties)) == 4 * EACH + 4
    assert states == [(1, True)] * (4 * EACH)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"key": []}, "key is empty, expected columns of n.t: k, part, v"),
        ({"key": ["nope"]}, "key is nope, expected columns of n.t"),
        ({"key": "k"}, "key must be a list of texts, found 'k'"),
        ({"rows": rows("b", 1, 1)}, r"the key \(1,\) is there twice"),
        ({"rows": [{"k": None, "part": "p", "v": "x"}]}, "the column k of the key is null in 1 rows"),
        ({"rows": pa.table({"k": [1]})}, "the rows have no column part"),
        (
            {"rows": [{"k": 1, "v": "x"}]},
            "the rows have no column part, so a row that is there would lose its value",
        ),
        ({"rows": [*rows("b", 1), {"k": 2, "part": "p"}]}, "the rows have no column v"),
        ({"table": "n.u"}, "table n.u is not in the catalog"),
    ],
)
def test_what_is_refused(catalog, arguments, sentence):
    given = {"table": "n.t", "rows": rows("b", 1), "key": ["k"]} | arguments
    with pytest.raises(ValueError, match=sentence):
        light.merge(catalog[0], given["table"], given["rows"], key=given["key"])
    assert len(values(catalog[0])) == 3


def test_tables_that_are_not_merged_into(catalog):
    loaded = light.catalogs.load(catalog[0])
    with loaded.load_table("n.t").update_sort_order() as update:
        update.asc("k", IdentityTransform())
    with pytest.raises(
        ValueError, match="n.t has a sort order, which a merge by DuckDB or PyIceberg does not keep"
    ):
        light.merge(loaded, "n.t", rows("b", 1), key=["k"])
    if loaded.table_exists("n.f"):
        loaded.drop_table("n.f")
    loaded.create_table("n.f", pa.schema([("k", pa.float64()), ("v", pa.string())]))
    with pytest.raises(ValueError, match="the column k of the key is a floating-point number"):
        light.merge(loaded, "n.f", [{"k": 1.0, "v": "x"}], key=["k"])


def test_rows_that_pyiceberg_would_change_on_its_way_are_not_touched(tmp_path):
    """It writes files anew, and a null list of structs as an empty one."""
    lists = pa.list_(pa.struct([("a", pa.int64())]))
    schema = pa.schema([("k", pa.int64()), ("l", lists)])
    properties = own_lake(tmp_path)
    loaded = light.catalogs.load(properties)
    table = loaded.create_table("n.t", schema)
    light.append(properties, "n.t", [{"k": 1, "l": []}])
    assert light.merge(properties, "n.t", [{"k": 1, "l": [{"a": 1}]}], key=["k"]).rows == 1
    written = pa.Table.from_pylist([{"k": 2, "l": None}], schema)
    path = tmp_path / "by-another.parquet"
    pa.parquet.write_table(written, path)
    table.refresh()
    table.add_files([f"file://{path}"])
    with pytest.raises(ValueError, match="pyiceberg does not read n.t as Spark does, so it cannot merge into it"):
        light.merge(properties, "n.t", [{"k": 1, "l": []}], key=["k"])


NESTED = {
    "s": {"x": 1}, "ls": [{"x": 1, "y": 2}, {"x": 1}], "ms": {"a": {"y": 2}}, "ss": {"in": {"y": 1}}, "k": 1,
}  # fmt: skip
FULL = {
    "s": {"x": 1, "y": 2},
    "ls": [{"x": 1, "y": 2}],
    "ms": {"a": {"x": 1, "y": 2}},
    "ss": {"in": {"x": 1, "y": 1}},
}


@pytest.mark.parametrize(
    ("column", "path"), [("s", "s.y"), ("ls", "ls.element.y"), ("ms", "ms.value.x"), ("ss", "ss.in.x")]
)
def test_fields_that_are_left_out_are_refused_as_columns_are(tmp_path, column, path):
    """They would be null in a row that is there, whether rows are dicts or Arrow's."""
    pair = pa.struct([("x", pa.int64()), ("y", pa.int64())])
    kinds = {"s": pair, "ls": pa.list_(pair), "ms": pa.map_(pa.string(), pair), "ss": pa.struct([("in", pair)])}
    properties = own_lake(tmp_path)
    schema = pa.schema([("k", pa.int64()), *kinds.items()])
    light.catalogs.load(properties).create_table("n.t", schema)
    full = [{"k": 1, **FULL}]
    light.append(properties, "n.t", full)
    few = [{"k": 1, **FULL, column: NESTED[column]}]
    short = pa.struct([field for field in pair if field.name in ("x" if path.endswith("y") else "y")])
    types = {
        "s": short,
        "ls": pa.list_(short),
        "ms": pa.map_(pa.string(), short),
        "ss": pa.struct([("in", short)]),
    }
    place = schema.get_field_index(column)
    value = pa.Table.from_pylist(few, schema.set(place, pa.field(column, types[column])))
    for given in (few, value):
        with pytest.raises(ValueError, match=f"the rows have no column {path}, so a row that is there would lose"):
            light.merge(properties, "n.t", given, key=["k"])
    answer = light.query(properties, "SELECT * FROM n.t").to_pylist()
    assert answer == [{"k": 1, **FULL, "ms": [("a", {"x": 1, "y": 2})]}]
    assert light.merge(properties, "n.t", full, key=["k"]).rows in (0, 1)


@pytest.mark.parametrize("kept", [["a", "b"], ["b", "c"]])
def test_a_key_that_the_table_holds_twice_is_named(tmp_path, kept):
    """In two files, where PyIceberg does not see it; where one of both has the new value it would lose a row."""
    properties = own_lake(tmp_path)
    light.catalogs.load(properties).create_table("n.t", pa.schema([("k", pa.int64()), ("v", pa.string())]))
    for value in kept:
        light.append(properties, "n.t", [{"k": 1, "v": value}])
    with pytest.raises(ValueError, match=r"n.t holds the key \(1,\) of k twice, and PyIceberg would not replace"):
        light.merge(properties, "n.t", [{"k": 1, "v": "b"}, {"k": 2, "v": "b"}], key=["k"])
    assert light.query(properties, "SELECT v FROM n.t ORDER BY v").to_pylist() == [{"v": value} for value in kept]
