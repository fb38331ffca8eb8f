"""What the panel is answered, and the cells that a click writes; on a real lake, without a server."""

import json
import socket
import subprocess
import sys
import tarfile
import threading
import time
import zipfile
from datetime import datetime
from pathlib import Path

import labs
import pytest
from conftest import ENVIRONMENT, own_namespace
from pyiceberg.types import (
    DoubleType,
    IntegerType,
    ListType,
    LongType,
    MapType,
    NestedField,
    StringType,
    StructType,
)  # fmt: skip
from test_pins import built

from workbench import session
from workbench._base import moments
from workbench._base.errors import ArgumentError
from workbench.tables import browse
from workbench_ops.lab import inserting, kernel, looking, serving

TABLE = "sales.orders"


@pytest.fixture(scope="module")
def lake(tmp_path_factory):
    """The name of an environment and the properties of its catalog, with the table of `labs.fill`."""
    folder = tmp_path_factory.mktemp("home")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("WORKBENCH_HOME", str(labs.folder_of(folder)))
        yield session.catalog_properties("own")


def asked(name, **given):
    return json.loads(looking.answer(name, {"environment": "own", "table": TABLE} | given))


def test_ids_reach_the_browser_as_they_are(lake):
    listed = asked("snapshots")
    ids = [each["snapshot_id"] for each in listed["snapshots"]]
    assert listed["count"] == 3 and all(isinstance(id, str) and int(id) >= looking.EXACT for id in ids)
    rows = asked("preview", at=ids[0])["rows"]
    assert sorted(row[0] for row in rows) == sorted(["1", "2", "10", "30", str(2**60)])
    assert looking._plain({"n": [looking.EXACT - 1, looking.EXACT, True]}) == {"n": [2**53 - 1, str(2**53), True]}


def test_environments_that_cannot_be_read_say_why(lake, tmp_path, monkeypatch):
    labs.home(tmp_path)
    (tmp_path / "params" / "environments" / "broken.yml").write_text("catalog: {type: magic}\n")
    monkeypatch.setenv("WORKBENCH_HOME", str(tmp_path))
    listed = {each["name"]: each for each in asked("environments")}
    assert listed["own"]["error"] is None and "<script>" in listed["own"]["description"]
    assert "magic" in listed["broken"]["error"]


@pytest.mark.parametrize(
    ("name", "given", "said"),
    [
        ("head", {"table": "sales.gone"}, "table sales.gone is not in the catalog; there are"),
        ("head", {"table": ""}, "the panel did not say which table"),
        ("tree", {"environment": "nowhere"}, "no environment 'nowhere'"),
        ("tree", {"environment": "down"}, "cannot be looked at: ConnectionError"),
        ("tree", {"environment": "s3"}, "is a stand-in that lives in the kernel which starts it"),
        ("cell", {"ref": "nobranch"}, "sales.orders has no branch or tag 'nobranch'"),
        (
            "cell",
            {"view": "sales.orders"},
            "view sales.orders is not in the catalog; its namespace has the views none",
        ),
        ("cell", {"at": "7"}, "sales.orders has no snapshot 7"),
        ("cell", {"at": "nobranch"}, "sales.orders has no branch or tag 'nobranch'"),
        ("cell", {"table": "sales.`<script>window`"}, "has no snapshot yet"),
        ("steal", {}, "the panel asked for 'steal'; there are environments, tree"),
    ],
)
def test_what_is_not_there_is_a_sentence(lake, monkeypatch, name, given, said):
    monkeypatch.delenv("WORKBENCH_S3_SCRATCH", raising=False)
    with pytest.raises(ArgumentError) as caught:
        asked(name, **given)
    assert said in str(caught.value)


def test_a_cell_queries_one_snapshot_by_its_id(lake):
    first = asked("snapshots")["snapshots"][-1]
    cell = asked("cell", at="first")
    assert cell["setup"] == "from workbench import session, sql\n\nspark = session.start('own')\nsql.cells(spark)"
    assert cell["source"].splitlines() == [
        "%%sql --limit 20",
        f"-- sales.orders of environment own: snapshot 1 of {written(first)} UTC",
        "SELECT *",
        f"FROM sales.orders VERSION AS OF {first['snapshot_id']}",
    ]


def written(snapshot):
    return moments.written(datetime.fromisoformat(snapshot["committed"]))


def test_a_cell_queries_a_tag_by_its_name(lake):
    first = asked("snapshots")["snapshots"][-1]
    assert asked("cell", ref="first")["source"].splitlines() == [
        "%%sql --limit 20",
        "-- sales.orders of environment own: tag first as it is when the cell runs",
        f"-- when this was written, it was snapshot 1 of {written(first)} UTC",
        "SELECT *",
        "FROM sales.orders VERSION AS OF 'first'",
    ]


def test_the_cell_of_a_branch_follows_it(spark):
    """Whatever its name is: with a quote, or of digits, which a version would take for an id."""
    with own_namespace(spark, "followed") as namespace:
        table, lake = f"{namespace}.trips", session.catalog_properties(ENVIRONMENT)
        spark.sql(f"CREATE TABLE {table} (id INT) USING iceberg")
        spark.sql(f"INSERT INTO {table} VALUES (1)")
        for branch in ("audit", "it's \\ one", "2024", "-7"):
            spark.sql(f"ALTER TABLE {table} CREATE BRANCH `{branch}`")
            source = inserting.query_ref(lake, ENVIRONMENT, table, branch)
            spark.sql(f"INSERT INTO {table}.`branch_{branch}` VALUES (2)")
            rows = spark.sql(source.split("\n", 1)[1]).collect()
            assert sorted(row.id for row in rows) == [1, 2], branch
        spark.sql(f"ALTER TABLE {table} CREATE TAG `2025`")
        source = inserting.query_ref(lake, ENVIRONMENT, table, "2025")
        assert ": snapshot 1 of" in source
        assert [row.id for row in spark.sql(source.split("\n", 1)[1]).collect()] == [1]


def test_a_view_has_a_cell_that_spark_runs(spark):
    with own_namespace(spark, "viewed") as namespace:
        lake, view = session.catalog_properties(ENVIRONMENT), f"{namespace}.`few-ones`"
        spark.sql(f"CREATE TABLE {namespace}.seen (id INT) USING iceberg")
        spark.sql(f"INSERT INTO {namespace}.seen VALUES (1), (5)")
        spark.sql(f"CREATE VIEW {view} AS SELECT id FROM {namespace}.seen WHERE id < 3")
        try:
            source = inserting.query_view(lake, "own", view)
            assert source == (
                f"%%sql --limit 20\n-- {view} of environment own: a view, computed from its tables as they are "
                f"when the cell runs\nSELECT *\nFROM {view}"
            )
            assert [row.id for row in spark.sql(source.split("\n", 1)[1]).collect()] == [1]
            with pytest.raises(ArgumentError, match=f"view {namespace}.seen is not in the catalog; .*few-ones"):
                inserting.query_view(lake, "own", f"{namespace}.seen")
        finally:
            spark.sql(f"DROP VIEW {view}")


def test_two_snapshots_are_compared_by_the_columns_that_both_have(lake):
    source = asked("cell", before="first")["source"]
    assert "-- not compared: price" in source and "`price`" not in source
    assert source.count("EXCEPT ALL") == 2
    with pytest.raises(ArgumentError, match="both versions of sales.orders are snapshot 3: choose two"):
        inserting.comparison(lake, "own", TABLE, None)


def compared(spark, namespace, *changes):
    """The rows of the cell that compares a table with a struct and a list of structs before and after changes of it."""
    table, lake = f"{namespace}.places", session.catalog_properties(ENVIRONMENT)
    spark.sql(
        f"CREATE TABLE {table} (id INT, place STRUCT<lat: INT, town: STRUCT<name: STRING, zip: INT>>, "
        "stops ARRAY<STRUCT<n: INT, at: STRING>>) USING iceberg"
    )
    rows = "SELECT 1, named_struct('lat', 5, 'town', named_struct('name', 'a', 'zip', 9)), array(named_struct('n', 1, 'at', 'x'))"
    try:
        spark.sql(f"INSERT INTO {table} {rows}")
        for change in changes:
            spark.sql(f"ALTER TABLE {table} {change}")
        spark.sql(f"INSERT INTO {table} (id) VALUES (2)")
        first, second = (each.snapshot_id for each in browse.snapshots(lake, table))
        source = inserting.comparison(lake, ENVIRONMENT, table, first, second)
        _, statement = source.split("\n", 1)
        notes = [line for line in statement.splitlines() if "not compared" in line]
        return notes, [tuple(row)[:2] for row in spark.sql(statement).collect()]
    finally:
        spark.sql(f"DROP TABLE {table} PURGE")


@pytest.mark.parametrize(
    ("changes", "notes"),
    [
        ((), []),
        (("ADD COLUMN place.more INT",), ["-- not compared: place"]),
        (("DROP COLUMN place.lat",), ["-- not compared: place"]),
        (("RENAME COLUMN place.town.zip TO code",), ["-- not compared: place"]),
        (("ALTER COLUMN place.lat TYPE BIGINT",), ["-- not compared: place"]),
        (("ALTER COLUMN place.lat AFTER town",), ["-- not compared: place"]),
        (("ADD COLUMN stops.element.more INT",), ["-- not compared: stops"]),
        (("DROP COLUMN place.lat", "ADD COLUMN place.lat INT FIRST"), ["-- not compared: place"]),
        (("ALTER COLUMN place.lat COMMENT 'north'", "ALTER COLUMN id TYPE BIGINT"), []),
    ],
)
def test_a_column_whose_nested_fields_differ_is_named_and_not_compared(spark, changes, notes):
    """Spark refuses to compare what has other fields, and a field made again is another one under the old name."""
    with own_namespace(spark, "compared") as namespace:
        assert compared(spark, namespace, *changes) == (notes, [("added", 2)])


def test_nested_fields_differ_by_ids_names_types_and_order():
    def column(*fields, doc=None):
        inner = ListType(7, StructType(*fields))
        return inserting._kind(StructType(NestedField(2, "a", inner, required=False, doc=doc)))

    x, y = NestedField(3, "x", LongType(), required=False), NestedField(4, "y", StringType(), required=False)
    same = NestedField(3, "x", LongType(), required=True, doc="a comment")
    assert column(x, y) == column(same, y) == column(x, y, doc="of map<long>")
    others = [(y, x), (x,), (NestedField(5, "x", LongType()), y), (NestedField(3, "z", LongType()), y)]
    others.append((NestedField(3, "x", IntegerType()), y))
    assert all(column(*other) != column(x, y) for other in others)
    pairs = StructType(NestedField(2, "pairs", MapType(8, StringType(), 9, DoubleType())))
    assert inserting._has_map(pairs) and not inserting._has_map(StructType(x, y))


def test_a_comment_cannot_be_left_by_a_name():
    assert inserting._comment("a\n; DROP TABLE b", "x\u2028\\") == "-- a?; DROP TABLE b of environment x??"


def test_without_a_session_nothing_is_told_and_none_is_begun():
    code = "from workbench_ops.lab import kernel; import sys; print(kernel.progress(), 'pyspark' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "{'stages': [], 'count': 0} False"


def test_a_session_is_told_by_its_stages(spark):
    """A job that runs beside this thread: its stages, their tasks, the rows that they read."""
    slow = spark.range(0, 10**8, 1, 20).selectExpr("sum(hash(id))")
    thread = threading.Thread(target=slow.collect)
    thread.start()
    told = []
    while thread.is_alive():
        told += kernel.progress()["stages"]
        time.sleep(0.05)
    thread.join()
    assert {stage["tasks"] for stage in told} >= {20} and kernel.progress() == {"stages": [], "count": 0}
    assert all(0 <= stage["done"] <= stage["tasks"] for stage in told)


def test_the_command_refuses_before_it_begins(tmp_path):
    with pytest.raises(ArgumentError, match="is not a folder"):
        serving.serve(tmp_path / "gone")
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        with pytest.raises(ArgumentError, match=r"port \d+ is taken .*; name another with --port"):
            serving.serve(tmp_path, port=taken.getsockname()[1])


def test_it_listens_on_loopback_alone_and_asks_nobody_outside(tmp_path):
    told = serving.arguments(tmp_path, port=8888, browser=False)
    assert "--ServerApp.ip=127.0.0.1" in told and "--ServerApp.port_retries=0" in told
    assert "--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate" in told


@pytest.mark.proof("test_the_server_answers_a_sentence_or_what_there_is serves the files of the checkout")
@pytest.mark.parametrize("kind", ["wheel", "sdist"])
def test_the_browsers_part_is_shipped(tmp_path, kind):
    opened = zipfile.ZipFile if kind == "wheel" else tarfile.open
    with opened(built(kind, tmp_path)) as archive:
        names = archive.namelist() if kind == "wheel" else archive.getnames()
    here = Path(serving.HERE)
    files = {str(path.relative_to(here)) for path in (here / "labextensions").rglob("*.js*")}
    assert len(files) == 7
    assert files <= {name.partition("workbench_ops/lab/")[2] for name in names}
