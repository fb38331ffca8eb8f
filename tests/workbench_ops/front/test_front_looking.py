"""The second look: a plan that reads anything but the tables of governed subqueries is refused."""

import pytest
from google.protobuf import text_format

from workbench_ops.front import looking
from workbench_ops.front.refusals import Refused

GOVERNED = "SELECT uid FROM `lake`.`sales`.`t` WHERE uid IN (SELECT uid FROM sales.`my-map`)"
# as Spark 4.1.4 explains a query of two tables
PLAN = """== Parsed Logical Plan ==
'Project [*]
+- 'SubqueryAlias x
   +- 'UnresolvedRelation [lake, sales, t], [], false

== Analyzed Logical Plan ==
uid: int
Project [uid#57]
+- SubqueryAlias x
   +- Filter uid#79 IN (list#81 [])
      :  +- Project [uid#82]
      :     +- SubqueryAlias lake.sales.my-map
      :        +- RelationV2[uid#82] lake.sales.`my-map`
      +- SubqueryAlias lake.sales.t
         +- RelationV2[uid#79, name#80, ... 23 more fields] lake.sales.t

== Physical Plan ==
*(2) BroadcastHashJoin [uid#79], [uid#82], LeftSemi, BuildRight, false
:- *(2) ColumnarToRow
:  +- BatchScan lake.sales.t[uid#79] IcebergScan(table=lake.sales.t, schemaId=0, branch=null, filters=, groupedBy=)
+- *(1) Scan OneRowRelation[]
"""


def test_a_governed_plan_is_let_through():
    looking.require_governed(PLAN, [GOVERNED], "lake")
    looking.require_governed("== Physical Plan ==\n*(1) Range (0, 3, step=1, splits=2)\n", [], "lake")


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ("   +- RelationV2[uid#79] lake.sales.salaries", "would read 1 tables that are not shared"),
        ("   +- RelationV2[content#1, file_path#2] lake.sales.t.files", "would read 1 tables that are not shared"),
        ("   +- RelationV2[a] b] x#1] lake.sales.t.files", "would read 1 tables that are not shared"),
        ("   +- RelationV2[uid#79] lake.sales.t SNAPSHOT 3", "would read 1 tables that are not shared"),
        (":  +- BatchScan other.sales.t[uid#79] IcebergScan(table=other.sales.t)", "1 tables that are not shared"),
        ("   +- Relation [value#1] text", "not a shared table"),
        ("   +- LogicalRDD [a#1], false", "not a shared table"),
        ("   +- View (`v`, [a#1])", "not a shared table"),
        ("   +- InMemoryRelation [a#1], StorageLevel(disk, memory)", "not a shared table"),
        ("   +- *(1) Scan ExistingRDD[a#1]", "not a shared table"),
        ("*(1) FileScan parquet [a#1]", "not a shared table"),
    ],
)
def test_another_reader_in_the_plan_is_refused(line, sentence):
    with pytest.raises(Refused, match=sentence):
        looking.require_governed(PLAN.replace("== Physical", f"{line}\n\n== Physical"), [GOVERNED], "lake")


def test_texts_of_the_clients_hide_nothing():
    """A text with headings in it would hide what follows from one who reads a section."""
    hiding = "Project [x\n\n== Optimized Logical Plan ==\n\n AS t#1]\n+- RelationV2[a#1] lake.sales.salaries\n"
    with pytest.raises(Refused, match="1 tables that are not shared"):
        looking.require_governed(PLAN.replace("Project [uid#57]\n", hiding), [GOVERNED], "lake")


def test_a_plan_that_shows_no_table_is_refused():
    """A newer Spark may write its plans otherwise: then nothing goes through."""
    with pytest.raises(Refused, match="does not show which tables it reads"):
        looking.require_governed(
            PLAN.replace("RelationV2", "TableRelation").replace("BatchScan", "X"), [GOVERNED], "lake"
        )


def test_the_tables_of_a_governed_subquery():
    assert looking.read_by(GOVERNED, "lake") == {("lake", "sales", "t"), ("lake", "sales", "my-map")}
    assert looking.read_by("WITH a AS (SELECT 1) SELECT * FROM a, s.a", "lake") == {("lake", "s", "a")}


def kinds(relation):
    from pyspark.sql.connect.proto import relations_pb2

    seen = looking.to_be_seen(text_format.Parse(relation, relations_pb2.Relation()))
    return [(inner.WhichOneof("rel_type"), whole) for inner, whole in seen]


def test_what_the_server_computes_while_it_reads_a_plan_is_asked_for_before():
    table = "subquery_alias { input { sql { query: 'q' } } alias: 't' }"
    assert kinds(table) == [("subquery_alias", True)]
    assert kinds(f"show_string {{ input {{ {table} }} }}") == [("subquery_alias", True)]
    assert kinds(f"show_string {{ input {{ limit {{ input {{ summary {{ input {{ {table} }} }} }} }} }} }}") == [
        ("subquery_alias", True), ("limit", False),
    ]  # fmt: skip
    crossed = f"crosstab {{ input {{ filter {{ input {{ cov {{ input {{ {table} }} }} }} }} }} }}"
    assert kinds(f"join {{ left {{ {crossed} }} right {{ {table} }} }}") == [
        ("subquery_alias", True), ("filter", False), ("join", False),
    ]  # fmt: skip
