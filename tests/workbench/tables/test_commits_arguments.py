"""Arguments of commits that say nothing are refused by a sentence before anything is done."""

import pytest
from conftest import own_namespace

from workbench.tables import commits, snapshots
from workbench.tables.commits import marks

SECONDS = "must be a number of at least 0 and below inf"
TRIES = "tries must be an integer of at least 1"
REFUSALS = "again must be a list of 'conflict' or 'validation'"
PROPERTIES = "properties must be a dict of texts of at least 1 character to texts"


@pytest.fixture(scope="module")
def shared(spark):
    """A namespace of a table with a row, a view of it and a plain table beside, for calls that change none of them."""
    plain = "spark_catalog.default.plain"
    with own_namespace(spark, "t_commits_arguments") as name:
        spark.sql(f"CREATE TABLE {name}.t (id BIGINT) USING iceberg")
        spark.sql(f"INSERT INTO {name}.t VALUES (1)")
        spark.sql(f"CREATE VIEW {name}.v AS SELECT * FROM {name}.t")
        spark.sql(f"CREATE TABLE {plain} (id BIGINT) USING parquet")
        yield name
        spark.sql(f"DROP VIEW {name}.v")
        spark.sql(f"DROP TABLE {plain}")


def refused(call, why):
    with pytest.raises(ValueError) as told:
        call()
    assert str(told.value) == why


@pytest.mark.parametrize("call", ["retrying", "attempt"])
@pytest.mark.parametrize(
    ("options", "why"),
    [
        ({"again": "conflict"}, f"{REFUSALS}, found 'conflict'"),
        ({"again": None}, f"{REFUSALS}, found None"),
        ({"again": [3]}, f"{REFUSALS}, found 3 in it"),
        ({"conditional": "false"}, "conditional must be True or False, found 'false'"),
        ({"conditional": None}, "conditional must be True or False, found None"),
        ({"tries": True}, f"{TRIES}, found True"),
        ({"tries": None}, f"{TRIES}, found None"),
        ({"tries": 1.5}, f"{TRIES}, found 1.5"),
        ({"tries": -1}, f"{TRIES}, found -1"),
        ({"first_wait_s": "0.1"}, f"first_wait_s {SECONDS}, found '0.1'"),
        ({"first_wait_s": -0.1}, f"first_wait_s {SECONDS}, found -0.1"),
        ({"first_wait_s": float("inf")}, f"first_wait_s {SECONDS}, found inf"),
        ({"longest_wait_s": None}, f"longest_wait_s {SECONDS}, found None"),
        ({"longest_wait_s": float("nan")}, f"longest_wait_s {SECONDS}, found nan"),
        ({"sleep": 3}, "sleep must be a function, found 3"),
    ],
)
def test_a_wrong_option_is_said_before_the_first_try(call, options, why):
    begun = []
    calls = {
        "retrying": lambda: commits.retrying(None, "a.b", lambda: begun.append(1), **options),
        "attempt": lambda: commits.attempt(lambda: begun.append(1), **options),
    }
    refused(calls[call], why)
    assert begun == []


@pytest.mark.parametrize(
    ("call", "why"),
    [
        (lambda s, t: commits.attempt(None), "commit must be a function, found None"),
        (lambda s, t: commits.attempt(print, landed=True), "landed must be a function or None, found True"),
        (lambda s, t: commits.retrying(s, t, None), "write must be a function, found None"),
        (lambda s, t: commits.retrying(s, t, "INSERT INTO t"), "write must be a function, found 'INSERT INTO t'"),
        (lambda s, t: commits.retrying(s, t, print, id=True), "id must be a text or None, found True"),
        (lambda s, t: commits.retrying(s, t, print, id=["a"]), "id must be a text or None, found ['a']"),
        (lambda s, t: commits.set_profile(s, t, properties=None), f"{PROPERTIES}, found None"),
        (lambda s, t: commits.set_profile(s, t, properties={"commit.retry.num-retries": 30}),
         f"{PROPERTIES}, found 30 in it"),
        (lambda s, t: commits.set_profile(s, t, properties={1: "a"}), f"{PROPERTIES}, found 1 in it"),
        (lambda s, t: commits.set_profile(s, t, properties={"": "a"}), f"{PROPERTIES}, found '' in it"),
        (lambda s, t: commits.with_properties(s, [("a", "b")], print), f"{PROPERTIES}, found [('a', 'b')]"),
        (lambda s, t: commits.with_properties(s, {"a": None}, print), f"{PROPERTIES}, found None in it"),
        (lambda s, t: commits.with_properties(s, {"a": "b"}, None), "write must be a function, found None"),
        (lambda s, t: marks.stamped(s, None, print), "mark must be a text, found None"),
        (lambda s, t: marks.stamped(s, "a", "b"), "write must be a function, found 'b'"),
        (lambda s, t: marks.find(s, t, None), "id must be a text, found None"),
        (lambda s, t: marks.find(s, t, 3), "id must be a text, found 3"),
        (lambda s, t: marks.find(s, t, "a", anywhere="no"), "anywhere must be True or False, found 'no'"),
        (lambda s, t: marks.find(s, t, "a", but="12"), "but is str, expected a list: ids of snapshots"),
        (lambda s, t: marks.find(s, t, "a", but=12), "but must be several values, found 12"),
        (lambda s, t: marks.find(s, t, "a", but=["12"]), "but holds '12', which is str, expected ids of snapshots"),
        (lambda s, t: marks.every(s, t, None), "id must be a text, found None"),
        (lambda s, t: commits.fast_forward(s, t, to="1", expected=1, branch="b"),
         "to must be an integer of at least 0, found '1'"),
        (lambda s, t: commits.fast_forward(s, t, to=1, expected=True, branch="b"),
         "expected must be an integer of at least 0 or None, found True"),
        (lambda s, t: commits.fast_forward(s, t, to=1, expected=1, branch=None),
         "branch must be a text of at least 1 character, found None"),
        (lambda s, t: commits.fast_forward(s, t, to=1, expected=1, branch="b", tries=0),
         f"{TRIES}, found 0"),
        (lambda s, t: commits.fast_forward(s, t, to=1, expected=1, branch="b", columns=["id"]),
         "columns must be a dict of texts to tuples or None, found ['id']"),
        (lambda s, t: commits.kind("CommitFailedException"), "error must be BaseException or None, found 'CommitFailedException'"),
        (lambda s, t: commits.causes(3), "error must be BaseException or None, found 3"),
        (lambda s, t: commits.missing_file("gone"), "error must be BaseException or None, found 'gone'"),
    ],
)  # fmt: skip
def test_a_wrong_argument_is_said_and_commits_nothing(spark, shared, call, why):
    table = f"{shared}.t"
    before = commits.load(spark, table).operations().current().metadataFileLocation()
    refused(lambda: call(spark, table), why)
    assert commits.load(spark, table).operations().current().metadataFileLocation() == before


CALLS = {
    "retrying": lambda s, t: commits.retrying(s, t, print),
    "retrying by name": lambda s, t: commits.retrying(s, t, print, id="a"),
    "set_profile": commits.set_profile,
    "find": lambda s, t: marks.find(s, t, "a"),
    "every": lambda s, t: marks.every(s, t, "a"),
    "fast_forward": lambda s, t: commits.fast_forward(s, t, to=1, expected=1, branch="b"),
}


@pytest.mark.parametrize("call", [*CALLS, "with_properties"])
@pytest.mark.parametrize(("given", "there"), [(None, "NoneType"), ("local", "str")])
def test_anything_but_a_classic_session_is_said(call, given, there):
    other = {"with_properties": lambda s, t: commits.with_properties(s, {"a": "b"}, print)}
    with pytest.raises(
        ValueError, match=f"this needs a classic Spark session, and spark is {there}; Spark Connect"
    ):
        (CALLS | other)[call](given, "a.b")


@pytest.mark.parametrize("call", CALLS)
def test_what_is_no_table_of_icebergs_is_said(spark, shared, call, capsys):
    """A write to a view was begun, for what is refreshed may be anything."""
    table = f"{shared}.t"
    with pytest.raises(snapshots.TableNotFound, match=rf"no table {table}x; {shared} has {table}$"):
        CALLS[call](spark, f"{table}x")
    with pytest.raises(ValueError, match="table must be a text, found None"):
        CALLS[call](spark, None)
    with pytest.raises(ValueError, match=f"{table}.history is a part of the table {table}; name that one"):
        CALLS[call](spark, f"{table}.history")
    with pytest.raises(snapshots.TableNotFound, match=rf"no table {shared}\.v; {shared} has {table}$"):
        CALLS[call](spark, f"{shared}.v")
    with pytest.raises(ValueError, match=r"spark_catalog\.default\.plain is not an Iceberg table: "):
        CALLS[call](spark, "spark_catalog.default.plain")
    assert capsys.readouterr().out == ""  # of print, which is the write


def test_what_is_left_out_may_be_a_generator(spark, namespace):
    """It was used up by the first snapshot, and the second was found that it named."""
    table = f"{namespace}.t"
    spark.sql(f"CREATE TABLE {table} (id BIGINT) USING iceberg")
    for n in (1, 2):
        marks.stamped(spark, "a", lambda n=n: spark.sql(f"INSERT INTO {table} VALUES ({n})"))
    both = marks.every(spark, table, "a")
    assert len(both) == 2
    assert marks.find(spark, table, "a", but=(one for one in both)) is None
