"""Arguments of commits that say nothing are refused by a sentence before anything is done."""

import pytest
from conftest import own_namespace

from workbench.tables import commits, snapshots
from workbench.tables.commits import marks

WRITE = "expected a function without arguments that commits"
PAIRS = "expected entries of a snapshot's summary, text to text"
PROPERTIES = "expected names of table properties, text to text"
ID = "a commit's id is a text of 1 to 200 printable characters, not"


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
        ({"again": "conflict"}, "kinds of refusal are several: say again=['conflict']"),
        ({"again": None}, "again is None, expected several kinds of refusal"),
        ({"again": [3]}, "again holds 3, which is int: kinds of refusal are texts"),
        ({"conditional": "false"}, "conditional is 'false', expected True or False"),
        ({"conditional": None}, "conditional is None, expected True or False"),
        ({"tries": True}, "tries is True, expected a whole number: a thing is begun at least once"),
        ({"tries": None}, "tries is None, expected a whole number: a thing is begun at least once"),
        ({"tries": 1.5}, "tries is 1.5, expected a whole number: a thing is begun at least once"),
        ({"tries": -1}, "tries is -1: a thing is begun at least once"),
        ({"first_wait_s": "0.1"}, "first_wait_s is '0.1', expected a number from 0 on"),
        ({"first_wait_s": -0.1}, "first_wait_s is -0.1, expected a number from 0 on"),
        ({"first_wait_s": float("inf")}, "first_wait_s is inf, expected a number from 0 on"),
        ({"longest_wait_s": None}, "longest_wait_s is None, expected a number from 0 on"),
        ({"longest_wait_s": float("nan")}, "longest_wait_s is nan, expected a number from 0 on"),
        ({"sleep": 3}, "sleep is int, expected a function of seconds"),
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
        (lambda s, t: commits.attempt(None), f"commit is NoneType, {WRITE}"),
        (lambda s, t: commits.attempt(print, landed=True),
         "landed is bool, expected a function without arguments that looks for the commit, or None"),
        (lambda s, t: commits.retrying(s, t, None), f"write is NoneType, {WRITE} to the table"),
        (lambda s, t: commits.retrying(s, t, f"INSERT INTO {t} VALUES (1)"), f"write is str, {WRITE} to the table"),
        (lambda s, t: commits.retrying(s, t, print, id=True), f"{ID} True"),
        (lambda s, t: commits.retrying(s, t, print, id=["a"]), f"{ID} ['a']"),
        (lambda s, t: commits.set_profile(s, t, properties=None), "properties is NoneType, expected a dict: "
         + PROPERTIES[9:]),
        (lambda s, t: commits.set_profile(s, t, properties={"commit.retry.num-retries": 30}),
         f"properties holds 'commit.retry.num-retries': 30, {PROPERTIES}"),
        (lambda s, t: commits.set_profile(s, t, properties={1: "a"}), f"properties holds 1: 'a', {PROPERTIES}"),
        (lambda s, t: commits.set_profile(s, t, properties={"": "a"}), f"properties holds '': 'a', {PROPERTIES}"),
        (lambda s, t: commits.with_properties(s, [("a", "b")], print), "properties is list, expected a dict: "
         + PAIRS[9:]),
        (lambda s, t: commits.with_properties(s, {"a": None}, print), f"properties holds 'a': None, {PAIRS}"),
        (lambda s, t: commits.with_properties(s, {"a": "b"}, None), f"write is NoneType, {WRITE}"),
        (lambda s, t: marks.stamped(s, None, print), f"{ID} None"),
        (lambda s, t: marks.stamped(s, "a", "b"), f"write is str, {WRITE}"),
        (lambda s, t: marks.find(s, t, None), f"{ID} None"),
        (lambda s, t: marks.find(s, t, 3), f"{ID} 3"),
        (lambda s, t: marks.find(s, t, "a", anywhere="no"), "anywhere is 'no', expected True or False"),
        (lambda s, t: marks.find(s, t, "a", but="12"), "but is str, expected several: ids of snapshots"),
        (lambda s, t: marks.find(s, t, "a", but=12), "but is int, expected several: ids of snapshots"),
        (lambda s, t: marks.find(s, t, "a", but=["12"]), "but holds '12', which is str, expected ids of snapshots"),
        (lambda s, t: marks.every(s, t, None), f"{ID} None"),
        (lambda s, t: commits.fast_forward(s, t, to="1", expected=1, branch="b"),
         "to is '1', expected a whole number: the id of a snapshot"),
        (lambda s, t: commits.fast_forward(s, t, to=1, expected=True, branch="b"),
         "expected is True, expected a whole number: the id of a snapshot, or None where main has none"),
        (lambda s, t: commits.fast_forward(s, t, to=1, expected=1, branch=None),
         "branch is None, expected the name of a branch"),
        (lambda s, t: commits.fast_forward(s, t, to=1, expected=1, branch="b", tries=0),
         "tries is 0: a thing is begun at least once"),
        (lambda s, t: commits.fast_forward(s, t, to=1, expected=1, branch="b", columns=["id"]),
         "columns is list, expected what commits.columns_of returns, or None"),
        (lambda s, t: commits.kind("CommitFailedException"), "error is str, expected an exception"),
        (lambda s, t: commits.causes(3), "error is int, expected an exception"),
        (lambda s, t: commits.missing_file("gone"), "error is str, expected an exception"),
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
    with pytest.raises(ValueError, match="None is not a table name"):
        CALLS[call](spark, None)
    with pytest.raises(ValueError, match=f"{table}.history is a part of the table {table}; name that one"):
        CALLS[call](spark, f"{table}.history")
    with pytest.raises(snapshots.TableNotFound, match=rf"no table {shared}\.v; {shared} has {table}$"):
        CALLS[call](spark, f"{shared}.v")
    with pytest.raises(ValueError, match=r"spark_catalog\.default\.plain is no Iceberg table: "):
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
