"""Arguments that say nothing are refused by a sentence before anything is done; of what bounds a run see limits."""

import re
from dataclasses import replace
from decimal import Decimal

import pytest
from conftest import PROVE
from maintenance_cases import ALL, LATER, data_files, ids, made, plan, policy

from workbench import costs
from workbench.tables import maintenance
from workbench.tables.maintenance import running, sentences
from workbench.tables.snapshots import TableNotFound

PLANNED = maintenance.Planned("a.b", "", None, LATER, policy(), (), (), ())
INVENTORY = maintenance.Inventory({"s3://b/t/data/1.parquet": 5, "s3://b/t/metadata/1.avro": 7}, (), ())
RATE = "mb_per_second must be a number or Decimal above 0 and below inf, found"
CHECKPOINT = "expected the folder of a stream's checkpoint"
FEW = ("compact_data", "expire_snapshots")  # of a plan in the check: what is not expired, and something else


def usd(planned=PLANNED, listed=None, dpus=2, mb_per_second=20):
    return maintenance.usd(planned, listed or costs.prices("compute"), dpus=dpus, mb_per_second=mb_per_second)


@pytest.mark.parametrize(
    ("call", "why"),
    [
        (lambda: maintenance.only("a.b", "compact_data"), "planned must be Planned, found 'a.b'"),
        (lambda: maintenance.only(PLANNED, 3), "names must be a text, found 3 in it"),
        (lambda: maintenance.told(None), "planned must be Planned, found None"),
        (lambda: usd(planned="a.b"), "planned must be Planned, found 'a.b'"),
        (lambda: usd(listed={"glue": 1}), "listed must be Prices, found {'glue': 1}"),
        (lambda: usd(dpus=None), "dpus must be a number or Decimal, found None"),
        (lambda: usd(dpus=True), "dpus must be a number or Decimal, found True"),
        (lambda: usd(mb_per_second="20"), f"{RATE} '20'"),
        (lambda: usd(mb_per_second=0), f"{RATE} 0"),
        (lambda: usd(mb_per_second=float("nan")), f"{RATE} nan"),
        (lambda: usd(mb_per_second=float("inf")), f"{RATE} inf"),
        (lambda: maintenance.read_policy(3), "path must be a text or a path, found 3"),
        (lambda: maintenance.read_policy({"fast": True}), "path must be a text or a path, found {'fast': True}"),
        (lambda: maintenance.read_policy(""), "path is '', expected the path of a YAML file"),
        (lambda: maintenance.plan(None, "a.b", policy={}), "policy must be Policy or None, found {}"),
        (lambda: maintenance.stream_marks(None, "a.b", None, available_now=True),
         "checkpoint must be a text or a path, found None"),
        (lambda: maintenance.stream_marks(None, "a.b", "", available_now=True), f"checkpoint is '', {CHECKPOINT}"),
        (lambda: maintenance.stream_marks(None, "a.b", "/c", available_now="no"),
         "available_now must be True or False, found 'no'"),
        (lambda: maintenance.stream_checkpoint(None, "a.b", stream="a/../b", disk="/c"),
         "stream must be a name of letters, digits, _ and -, found 'a/../b'"),
        (lambda: maintenance.stream_checkpoint(None, "a.b", stream=None, disk="/c"),
         "stream must be a text, found None"),
        (lambda: maintenance.stream_checkpoint(None, "a.b", stream="s", disk=""),
         "disk is '', expected a folder on the driver's disk"),
        (lambda: INVENTORY.bytes([".avro"]), "endings holds ['.avro'], which is list: endings are texts"),
        (lambda: INVENTORY.bytes_of("s3://b/t/data/1.parquet"),
         "locations must be a list of locations: write locations=['s3://b/t/data/1.parquet']"),
        (lambda: INVENTORY.bytes_of(None), "locations is None, expected a list of locations"),
        (lambda: INVENTORY.bytes_of(["s3://b/t/data/2.parquet"]),
         "s3://b/t/data/2.parquet is not one of the 2 stored files"),
    ],
)  # fmt: skip
def test_a_wrong_argument_is_said(call, why):
    with pytest.raises(ValueError) as told:
        call()
    assert str(told.value) == why


def test_numbers_and_collections_may_be_of_any_kind():
    assert usd(dpus=Decimal(2), mb_per_second=Decimal(20)) == usd() == 0
    assert INVENTORY.bytes(".avro", ".txt") == 7 and INVENTORY.bytes() == 12
    assert INVENTORY.bytes_of(at for at in ["file:/t/data/1.parquet", "/t/metadata/1.avro"]) == 12


@pytest.mark.parametrize(
    "call",
    [
        lambda given: maintenance.plan(given, "a.b"),
        lambda given: maintenance.run(given, PLANNED),
        lambda given: maintenance.inventory(given, "a.b"),
        lambda given: maintenance.stream_marks(given, "a.b", "/c", available_now=False),
        lambda given: maintenance.stream_checkpoint(given, "a.b", stream="s", disk="/c"),
    ],
    ids=["plan", "run", "inventory", "stream_marks", "stream_checkpoint"],
)
@pytest.mark.parametrize(("given", "there"), [(None, "NoneType"), ("local", "str")])
def test_anything_but_a_classic_session_is_said(call, given, there):
    with pytest.raises(
        ValueError, match=f"this needs a classic Spark session, and spark is {there}; Spark Connect"
    ):
        call(given)


@pytest.fixture
def table(spark, namespace):
    return f"{namespace}.t"


def test_a_run_that_is_given_a_wrong_mark_does_nothing(spark, table, monkeypatch):
    """All but expiry was done, and its result said that nothing is expired."""
    made(spark, table, appends=5)
    planned, first = plan(spark, table, *(() if PROVE else FEW)), ids(spark, table)[0]
    with monkeypatch.context() as patched:
        patched.setattr(running, "_STEPS", {})  # a step that is begun would be an error of its own
        for wrong, why in (
            (12345, "12345 is neither a snapshot of"),
            ("nobody", "'nobody' is neither a snapshot of"),
            (str(first), f"'{first}' is a text, and the id of a snapshot is a number: say marks=[{first}]"),
        ):
            with pytest.raises(ValueError, match=re.escape(why)):
                maintenance.run(spark, planned, marks=["main", wrong])
    assert (len(ids(spark, table)), data_files(spark, table)) == (5, 5)
    done = maintenance.run(spark, planned, marks=[first], no_commit_under_way=True)
    assert (done[0].files_after, data_files(spark, table)) == (1, 1) and first in ids(spark, table)


@pytest.mark.proof(
    "test_marks_that_are_nothing shows that such a mark is refused, "
    "test_a_run_that_is_given_a_wrong_mark_does_nothing a run that is given one"
)
def test_a_mark_of_the_plan_that_is_gone_when_it_runs_lets_nothing_expire(spark, table):
    """Nobody knows what its reader needs; all else is done."""
    made(spark, table, appends=5)
    spark.sql(f"ALTER TABLE {table} CREATE TAG reader")
    spark.sql(f"INSERT INTO {table} VALUES (1, 'x')")
    known, planned = ids(spark, table), plan(spark, table, *(ALL[:4] if PROVE else FEW), marks=["reader"])
    spark.sql(f"ALTER TABLE {table} DROP TAG reader")
    done = {one.name: one for one in maintenance.run(spark, planned, now=LATER)}
    assert done["compact_data"].files == 6 and set(known) < set(ids(spark, table))
    assert sentences(done["expire_snapshots"])[0].startswith(
        "nothing is expired: 'reader' is neither a snapshot of"
    )


@pytest.mark.proof("test_a_run_that_is_given_a_wrong_mark_does_nothing shows the same refusal when a plan is run")
def test_the_id_of_a_snapshot_as_a_text_is_no_mark_of_a_plan(spark, table):
    made(spark, table, appends=1)
    (first,) = ids(spark, table)
    with pytest.raises(ValueError, match=f"'{first}' is a text, .* say marks=.{first}."):
        plan(spark, table, marks=[str(first)])
    spark.sql(f"ALTER TABLE {table} CREATE TAG `{first}`")  # a name may be of digits
    assert plan(spark, table, marks=[str(first)]).marks == (str(first),)


def test_another_catalog_is_said_to_be_none(spark, table):
    made(spark, table, appends=1)
    why = f"no table other.{table}; there is no namespace other.*, for other is not a catalog of this session"
    with pytest.raises(TableNotFound, match=why):
        maintenance.plan(spark, f"other.{table}")
    with pytest.raises(TableNotFound, match=why):
        maintenance.run(spark, replace(plan(spark, table), table=f"other.{table}"), no_commit_under_way=True)


def test_a_checkpoint_on_storage_that_spark_does_not_know_is_said(spark, table):
    made(spark, table, appends=1)
    with pytest.raises(ValueError, match=r"odd://c/sources cannot be reached: .*No FileSystem for scheme \"odd\""):
        maintenance.stream_marks(spark, table, "odd://c", available_now=False)
