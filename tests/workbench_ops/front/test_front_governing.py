"""Governed subqueries by a policy of `workbench.access`, and when a client's conditions are kept from hidden rows."""

import dataclasses
from types import SimpleNamespace

import pyarrow as pa
import pyspark.sql.connect.functions as F
import pytest
from pyiceberg.catalog.sql import SqlCatalog
from pyspark.sql.connect import plan as P
from pyspark.sql.types import StringType, StructField, StructType

from workbench._base.errors import ArgumentError, WorkbenchError
from workbench.access import worlds
from workbench.access.reading import judged
from workbench_ops import front
from workbench_ops.front import plans, statements
from workbench_ops.front.refusals import Refused


@pytest.fixture
def catalog(tmp_path):
    catalog = SqlCatalog("lake", uri=f"sqlite:///{tmp_path}/catalog.db", warehouse=f"file://{tmp_path}")
    catalog.create_namespace("w")
    catalog.create_table("w.t", worlds.rows("rows")[0].schema)
    return catalog


def policy_of(catalog):
    ids = {field.name: field.field_id for field in catalog.load_table("w.t").schema().fields}
    return worlds.policy("rows", {"w.t": ids})


def test_a_policy_governs(catalog):
    policy = policy_of(catalog)
    governed = front.by_policy(lambda: policy, catalog, name="lake")
    text = governed("reader", "lake.w.t")
    assert "FROM `lake`.`w`.`t` WHERE (`state` = 'UK')" in text and "address" not in text
    for principal, table in (("reader", "lake.w.other"), ("stranger", "lake.w.t"), ("reader", "other.w.t")):
        with pytest.raises(ArgumentError, match="that .* may read|in another catalog"):
            governed(principal, table)


def test_a_table_that_is_not_shared_is_not_loaded(catalog, monkeypatch):
    """How long a refusal takes would tell that there is such a table."""
    policy, loaded = policy_of(catalog), []
    policy.principals["other"] = policy.principals["reader"]
    governed = front.by_policy(lambda: policy, catalog, name="lake")
    monkeypatch.setattr(type(catalog), "load_table", lambda self, name: loaded.append(name))
    with pytest.raises(ArgumentError, match="there is no table lake.w.t that other may read"):
        governed("other", "lake.w.t")
    assert not loaded


def test_a_namespace_that_is_named_as_the_catalog_is_another_one(catalog):
    """`lake.lake.w.t` is not `lake.w.t`, though the policy may write the one as `lake.w.t`."""
    policy = dataclasses.replace(policy_of(catalog), catalog="lake")
    catalog.create_namespace(("lake", "w"))
    catalog.create_table(("lake", "w", "t"), worlds.rows("rows")[0].schema)
    governed = front.by_policy(lambda: policy, catalog, name="lake")
    assert "FROM `lake`.`w`.`t` WHERE" in governed("reader", "lake.w.t")
    with pytest.raises(ArgumentError, match=r"there is no table lake\.lake\.w\.t that reader may read"):
        governed("reader", "lake.lake.w.t")
    values = {
        "catalog": "lake", "principals": {"reader": {}}, "administrators": ["owner"],
        "tables": {name: {"columns": {"id": {"id": 1, "tags": {}}}} for name in ("w.t", "lake.lake.w.t")},
        "grants": [{"to": "reader", "by": "owner", "table": name} for name in ("w.t", "lake.lake.w.t")],
    }  # fmt: skip
    policy = judged(values, "test")
    assert [policy.key(declared.name) for declared in policy.tables.values()] == [("w", "t"), ("lake", "w", "t")]
    assert "FROM `lake`.`lake`.`w`.`t`" in governed("reader", "lake.lake.w.t")
    assert "FROM `lake`.`w`.`t`" in governed("reader", "lake.w.t")


@pytest.mark.parametrize(
    ("where", "bare"),
    [("state = 'UK'", {"day", "time", "moment"}), ("state LIKE 'U_'", {"moment"}),
     ("state = 'UK' AND NOT weight > 3", {"moment"})],
)  # fmt: skip
def test_a_date_is_left_to_the_policy_where_the_policy_is_asked_first(catalog, where, bare):
    """Compared with a time, a date behind the year 294,247 fails, and would tell that a hidden row has it."""
    kinds = {
        "state": pa.string(), "weight": pa.float64(), "day": pa.date32(), "time": pa.timestamp("us"),
        "moment": pa.timestamp("us", "UTC"), "word": pa.string(),
    }  # fmt: skip
    made = catalog.create_table("w.moments", pa.schema(list(kinds.items())))
    columns = {field.name: {"id": field.field_id, "tags": {}} for field in made.schema().fields}
    values = {
        "principals": {"reader": {}}, "administrators": ["owner"], "tables": {"w.moments": {"columns": columns}},
        "filters": {"some": {"table": "w.moments", "where": where}},
        "grants": [{"to": "reader", "by": "owner", "table": "w.moments", "filter": "some"}],
    }  # fmt: skip
    text = front.by_policy(lambda: judged(values, "test"), catalog, name="lake")("reader", "lake.w.moments")
    assert {name for name in kinds if f" `{name}` AS `{name}`" in text} == bare


def test_what_changes_in_the_table_changes_the_subquery(catalog):
    policy = policy_of(catalog)
    governed = front.by_policy(lambda: policy, catalog, name="lake")
    before = governed("reader", "lake.w.t")
    with catalog.load_table("w.t").update_schema() as update:
        update.rename_column("name", "called").rename_column("address", "name")
    after = governed("reader", "lake.w.t")
    assert "`called`" not in before and "`called`" in after and "`name`" not in after
    catalog.drop_table("w.t")
    with pytest.raises(Exception):  # noqa: B017, of PyIceberg: the front says of any error the same
        governed("reader", "lake.w.t")


def test_an_error_of_whatever_kind_is_one_sentence():
    for error in (ArgumentError("salary"), WorkbenchError("salary"), ValueError("salary"), RuntimeError("salary")):

        def fails(principal, table, error=error):
            raise error

        with pytest.raises(Refused) as refusal:
            plans.Rewriting("reader", fails, "lake").subquery(("w", "t"))
        assert str(refusal.value) == "lake.w.t is not shared with reader, or does not exist"


@pytest.mark.parametrize(
    ("text", "simple"),
    [
        (
            "select a, sum(b) from s.t where c = 1 and d in ('x', 'y') or e is null group by a having count(*) > 1",
            True,
        ),
        ("select * from s.t where a like 'x%' order by b limit 3", True),
        ("select a from s.t where a >= timestamp '2024-01-03 10:00:00' and b < date \"2024-01-04\"", True),
        ("select a from s.t where a >= cast('2024-01-03' as timestamp_ntz)", True),
        ("select a from s.t where a >= date '2024-02-30'", False),
        ("select a from s.t where a >= date '20240203'", False),
        ("select a from s.t where a >= cast('2024' as int)", False),
        ("select a from s.t where a >= cast(b as date)", False),
        ("select a from s.t where 1 / coalesce(a, 0) > 5", False),
        ("select a from s.t where cast(b as int) = 1", False),
        ("select a from s.t where case when a is null then true end", False),
        ("select a + 1 from s.t", False),
        ("select a[0] from s.t", False),
        ("select element_at(a, 0) from s.t", False),
        ("select interval '1 day' from s.t", False),
    ],
)
def test_conditions_that_cannot_fail_on_nulls(text, simple):
    assert statements.simple(text) is simple


def test_conditions_on_values_of_another_type_are_not_simple():
    """A time that `df.to` has made a text fails where it is compared with a number, on a hidden row too."""
    read = P.Read("sales.people")
    for frame, simple in ((read, True), (P.ToSchema(read, StructType([StructField("t", StringType())])), False)):
        assert plans._simple(P.Filter(frame, F.col("t") == F.lit(5)).plan(SimpleNamespace())) is simple
    sketch = P.Filter(read, F.hll_sketch_estimate(F.lit(b"x")) == F.lit(1)).plan(SimpleNamespace())
    assert not plans._simple(sketch) and not statements.simple("select a from s.t where hll_union(b, c) = b")


def test_rows_are_chosen_before_what_could_fail():
    whole, some = "SELECT a FROM s.t", "SELECT a FROM s.t WHERE b LIKE '_'"
    assert statements.apart(whole) == whole
    assert (
        statements.apart(some) == f"SELECT * FROM ({some}\n) AS governed WHERE monotonically_increasing_id() >= 0"
    )
