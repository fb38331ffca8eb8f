"""How joins run: each condition of a join by storage lost in turn, with the reason; answers against plain Spark."""

import random
from contextlib import ExitStack

import pytest
from conftest import PROVE, own_namespace

from workbench._base.sessions import configured
from workbench.tables import joins

ROWS = [(n, n % 5, f"r{n % 3}", n * 10) for n in range(24)]
COLUMNS = "id BIGINT, customer BIGINT, region STRING, amount BIGINT"
BUCKETING, PUSH_VALUES, GROUPING, ALL_KEYS, BROADCAST = joins.BY_STORAGE
SUBSET = "spark.sql.sources.v2.bucketing.allowJoinKeysSubsetOfPartitionKeys.enabled"
COMPATIBLE = "spark.sql.sources.v2.bucketing.allowCompatibleTransforms.enabled"
ONE_SIDE = "spark.sql.sources.v2.bucketing.shuffle.enabled"
STORED = ("partitioned by storage", ())
TABLES = {  # name: partitioning
    "orders": "bucket(4, id)",
    "items": "bucket(4, id)",
    "wider": "bucket(6, id)",
    "regional": "region, bucket(4, id)",
    "bucketed": "bucket(4, id), region",
    "truncated": "truncate(10, id)",
    "by_region": "region",
    "flat": "",
}


def create(spark, table, partitioning="", id_type="BIGINT", rows=ROWS):
    by = f"PARTITIONED BY ({partitioning})" if partitioning else ""
    columns = COLUMNS.replace("id BIGINT", f"id {id_type}", 1)
    cast = ", ".join("CAST({0} AS {1}) AS {0}".format(*column.split()) for column in columns.split(", "))
    values = (
        f"AS SELECT /*+ COALESCE(1) */ {cast} FROM VALUES {literals(rows)} AS rows (id, customer, region, amount)"
    )
    spark.sql(f"CREATE TABLE {table} {'' if rows else f'({columns})'} USING iceberg {by} {values if rows else ''}")


def literals(rows):
    return ", ".join(str(row).replace("None", "NULL") for row in rows)


@pytest.fixture(scope="module")
def shared(spark):
    """Tables of the same rows that only differ in how they are partitioned, for tests that only read them."""
    with own_namespace(spark, "t_joins") as space:
        for name, partitioning in TABLES.items():
            create(spark, f"{space}.{name}", partitioning)
        create(spark, f"{space}.short", "bucket(4, id)", "INT")
        create(spark, f"{space}.partial", "bucket(4, id)", rows=ROWS[:2])
        create(spark, f"{space}.nothing", "bucket(4, id)", rows=[])
        spark.sql(f"INSERT INTO {space}.flat VALUES {literals(ROWS)}")  # a second file
        for name in ("evolved", "rewritten"):
            create(spark, f"{space}.{name}", rows=ROWS[:12])
            spark.sql(f"ALTER TABLE {space}.{name} ADD PARTITION FIELD bucket(4, id)")
            spark.sql(f"INSERT INTO {space}.{name} VALUES {literals(ROWS[12:])}")
        spark.sql(
            f"CALL lake.system.rewrite_data_files(table => '{space}.rewritten', options => map('rewrite-all', 'true'))"
        )
        yield space


def ways(spark, space, query, **settings):
    """Return (way, reasons) of each join, without the catalog and the namespace."""
    with configured(spark, {**joins.BY_STORAGE, **settings}):
        seen = joins.look(spark, query.format_map(Tables(space)))
    return [
        (join.way, tuple(reason.replace(f"lake.{space}.", "") for reason in join.reasons)) for join in seen.joins
    ]


class Tables(dict):
    """Tables of a namespace by their bare names."""

    def __init__(self, space):
        self.space = space

    def __missing__(self, name):
        return f"{self.space}.{name}"


def query(left, right, on="id", columns="a.amount"):
    return f"SELECT {columns} FROM {{{left}}} a JOIN {{{right}}} b USING ({on})"


CASES = {  # what: (query, settings, way, reasons)
    "the same buckets": (query("orders", "items"), {}, *STORED),
    "more keys than partition fields": (query("orders", "items", "id, region"), {}, *STORED),
    "a partition that one side lacks": (query("orders", "partial"), {}, *STORED),
    "a partition column that is not read": (query("regional", "orders"), {}, *STORED),
    "files of an older partitioning, rewritten": (query("orders", "rewritten"), {}, *STORED),
    "a field that the join lacks, allowed": (
        query("regional", "regional", columns="a.region, b.region"), {SUBSET: "true"}, *STORED,
    ),
    "bucketing off": (query("orders", "items"), {BUCKETING: "false"}, "shuffled", (f"{BUCKETING} is not true",)),
    "grouping off": (query("orders", "items"), {GROUPING: "false"}, "shuffled", (f"{GROUPING} is not true",)),
    "all keys wanted": (
        query("orders", "items", "id, region"), {ALL_KEYS: "true"}, "shuffled",
        tuple(f"the join also compares region, by which {name} is not partitioned, and {ALL_KEYS} is true" for name in ("orders", "items")),
    ),
    "a partition that one side lacks, values not pushed": (
        query("orders", "partial"), {PUSH_VALUES: "false"}, "shuffled",
        (f"a partition is missing on one side, and {PUSH_VALUES} is not true",),
    ),
    "small tables": (
        query("orders", "items"), {BROADCAST: "10485760"}, "broadcast",
        (f"one side is small enough to be broadcast: {BROADCAST} is 10485760",),
    ),
    "a hint": (
        query("orders", "items", columns="/*+ BROADCAST(b) */ a.id"), {}, "broadcast",
        ("a hint or NOT IN asks for the broadcast of one side",),
    ),
    "other buckets": (
        query("orders", "wider"), {}, "shuffled",
        ("the buckets differ: orders is partitioned by bucket(4, id), wider by bucket(6, id)",),
    ),
    "other types": (
        "SELECT a.amount FROM {orders} a JOIN {short} b ON a.id = b.id", {}, "shuffled",
        ("the types differ: id of short is int and is compared as bigint",),
    ),
    "truncated values": (
        query("truncated", "truncated"), {}, "shuffled",
        ("truncated is partitioned by truncate(10, id), and Spark joins by columns, buckets and times only",),
    ),
    "a subset of the partition columns": (
        query("regional", "regional", columns="a.region, b.region"), {}, "shuffled",
        ("regional is partitioned by region, bucket(4, id), and the join does not compare region",),
    ),
    "files of an older partitioning": (
        query("orders", "evolved"), {}, "shuffled",
        ("evolved has files of an older partitioning, which has no field of the present one",),
    ),
    "fields in another order": (
        query("regional", "bucketed", "region, id"), {}, "shuffled",
        ("the order of the partition fields differs: regional is partitioned by region, bucket(4, id), bucketed by bucket(4, id), region",),
    ),
    "other columns": (
        query("by_region", "orders", "region, id"), {}, "shuffled",
        ("the partition columns differ: by_region is partitioned by region, orders by bucket(4, id)",),
    ),
    "a column that the table is not partitioned by": (
        query("by_region", "by_region"), {}, "shuffled",
        ("by_region is partitioned by region, and the join compares id",),
    ),
    "a table without partitions": (query("orders", "flat"), {}, "shuffled", ("flat is not partitioned",)),
    "a table without rows": (query("orders", "nothing"), {}, "shuffled", ("the query reads no file of nothing",)),
    "an expression": (
        "SELECT a.amount FROM {orders} a JOIN {items} b ON a.id = b.id + 1", {}, "shuffled",
        ("the join compares (id + 1), and items is partitioned by bucket(4, id)",),
    ),
    "no table": (
        "SELECT a.amount FROM {orders} a JOIN range(9) b ON a.id = b.id", {}, "shuffled",
        ("Range is not an Iceberg table",),
    ),
    "rows that were moved before": (
        "SELECT a.amount FROM {orders} a JOIN (SELECT /*+ REPARTITION(3) */ id FROM {items}) b ON a.id = b.id", {},
        "shuffled", ("the partitioning of items is lost on the way to the join, in Exchange",),
    ),
    "a union": (
        "SELECT a.amount FROM {orders} a JOIN (SELECT id FROM {items} UNION ALL SELECT id FROM {wider}) b ON a.id = b.id",
        {}, "shuffled", ("items, wider come from Union, which is not partitioned by storage",),
    ),
    "nothing by equality": (
        "SELECT a.amount FROM {orders} a JOIN {items} b ON a.id < b.id", {}, "nested loop",
        ("the join compares nothing by equality",),
    ),
    "one side shuffled to the other": (
        query("orders", "flat"), {ONE_SIDE: "true"}, "one side shuffled", ("flat is not partitioned",),
    ),
    "a file each": (
        query("short", "short", columns="a.id").replace("{short}", "(SELECT /*+ COALESCE(1) */ id FROM {items})"), {},
        "in one partition", ("each side is one partition, so that there is nothing to shuffle",),
    ),
}  # fmt: skip


@pytest.mark.parametrize("what", list(CASES))
def test_a_join_and_why_it_is_not_partitioned_by_storage(spark, shared, what):
    text, settings, way, reasons = CASES[what]
    assert ways(spark, shared, text, **settings) == [(way, reasons)]


def test_what_is_shuffled_is_counted(spark, shared):
    text = query("orders", "items").format_map(Tables(shared))
    with configured(spark, joins.BY_STORAGE):
        stored = joins.look(spark, text)
    with configured(spark, joins.BY_STORAGE | {BUCKETING: "false"}):
        shuffled = joins.look(spark, text)
        grouped = joins.look(spark, f"SELECT amount, count(*) FROM ({text}) GROUP BY amount")
    assert (stored.exchanges, stored.shuffled_bytes, stored.rows) == (0, 0, 24)
    assert (shuffled.exchanges, shuffled.rows) == (2, 24) and shuffled.shuffled_bytes > 2 * 24
    assert (grouped.exchanges, grouped.rows) == (3, 24) and grouped.shuffled_bytes > shuffled.shuffled_bytes
    (join,) = stored.joins
    assert (join.left, join.right, join.on) == (f"lake.{shared}.orders", f"lake.{shared}.items", "id = id")


@pytest.mark.parametrize("adaptive", ["false", "true"])
def test_joins_of_joins_and_of_subqueries(spark, shared, adaptive):
    three = "SELECT a.amount FROM {orders} a JOIN {wider} b USING (id) JOIN {items} c USING (id)"
    differ = "the buckets differ: orders is partitioned by bucket(4, id), wider by bucket(6, id)"
    assert ways(spark, shared, three, **{"spark.sql.adaptive.enabled": adaptive}) == [
        ("shuffled", (differ,)),
        ("one side shuffled", ("orders, wider come from a join, which is not partitioned by storage",)),
    ]
    within = "SELECT id FROM {wider} WHERE amount > (SELECT max(a.amount) FROM {orders} a JOIN {items} b USING (id)) - 30"
    assert ways(spark, shared, within, **{"spark.sql.adaptive.enabled": adaptive}) == [STORED]


def test_a_merge_is_looked_at_and_does_not_run(spark, shared):
    merge = "MERGE INTO {orders} t USING {%s} s ON t.id = s.id WHEN MATCHED THEN UPDATE SET amount = 0 WHEN NOT MATCHED THEN INSERT *"
    assert ways(spark, shared, merge % "items") == [STORED, STORED]  # which files, and which rows
    differ = "the buckets differ: orders is partitioned by bucket(4, id), wider by bucket(6, id)"
    assert ways(spark, shared, merge % "wider") == [("shuffled", (differ,))] * 2
    assert spark.sql(f"SELECT count(*) FROM {shared}.orders.snapshots").first() == (1,)


@pytest.mark.proof("31_join_without_shuffle requires the rows that a join of three bucket counts loses")
def test_three_bucket_counts_are_found_wrong(spark, namespace):
    for count in (12, 8, 6):
        create(spark, f"{namespace}.t{count}", f"bucket({count}, id)")
    text = "SELECT a.id FROM {t12} a JOIN {t8} b ON a.id = b.id JOIN {t6} c ON a.id = c.id".format_map(
        Tables(namespace)
    )
    wrong = joins.compare(spark, text, settings={**joins.BY_STORAGE, COMPATIBLE: "true"}, repeats=1)
    assert not wrong.equal and wrong.by_storage.rows < wrong.shuffled.rows == 24
    assert (wrong.by_storage.exchanges, wrong.shuffled.exchanges) == (0, 3)


def test_equal_answers_and_settings_as_they_were(spark, shared):
    before = {key: spark.conf.get(key, None) for key in joins.BY_STORAGE}
    found = joins.compare(spark, query("orders", "items").format_map(Tables(shared)), repeats=1)
    assert found.equal and found.ratio > 0
    assert (found.by_storage.shuffled_bytes, found.shuffled.exchanges) == (0, 2)
    assert {key: spark.conf.get(key, None) for key in joins.BY_STORAGE} == before


@pytest.mark.parametrize("ask", [joins.look, joins.compare])
def test_what_is_no_query_is_refused_and_does_not_run(spark, shared, ask):
    for text, sentence in {
        f"DELETE FROM {shared}.orders": "query is a command and not a query: DeleteFromTable",
        "SELEC 1": "query cannot be analysed: .*PARSE_SYNTAX_ERROR",
        "SELECT nothing": "query cannot be analysed: .*UNRESOLVED_COLUMN",
    }.items():
        with pytest.raises(ValueError, match=sentence):
            ask(spark, text)
    assert spark.sql(f"SELECT count(*) FROM {shared}.orders").first() == (24,)


def test_a_merge_that_cannot_be_planned_or_compared(spark, shared):
    merge = f"MERGE INTO {shared}.orders t USING {{}} s ON t.id = s.id WHEN MATCHED THEN DELETE"
    with pytest.raises(ValueError, match="query cannot be planned: .*TABLE_OR_VIEW_NOT_FOUND"):
        joins.look(spark, merge.format("nowhere"))
    with pytest.raises(ValueError, match="query is a MERGE, expected a query"):
        joins.compare(spark, merge.format(f"{shared}.items"))


PARTITIONINGS = (
    "", "bucket(4, id)", "bucket(6, id)", "customer", "region, bucket(4, id)", "bucket(4, id), region",
    "bucket(4, customer)", "truncate(10, id)", "bucket(2, region)",
)  # fmt: skip


def test_random_tables_answer_as_plain_spark_and_no_reason_is_unknown(spark, namespace):
    with ExitStack() as views:
        random_joins(spark, namespace, views)


def random_joins(spark, namespace, views):
    seed = random.randrange(10**6) if PROVE else 1
    draw = random.Random(seed)
    for number in range(60 if PROVE else 2):
        about = f"seed {seed}, number {number}"
        names = [f"t{number}_{n}" for n in range(draw.choice((2, 3)))]
        common = draw.choice(PARTITIONINGS)  # else a join by storage is rare
        for name in names:
            rows = [(draw.choice((None, *range(9))), *draw.choice(ROWS)[1:]) for _ in range(draw.randrange(1, 30))]
            partitioning = draw.choice((common, common, draw.choice(PARTITIONINGS)))
            create(spark, f"{namespace}.{name}", partitioning, rows=rows)
            spark.createDataFrame(rows, COLUMNS).createTempView(name)
            views.callback(spark.catalog.dropTempView, name)
        kind = draw.choice(("JOIN", "LEFT JOIN", "FULL JOIN", "LEFT SEMI JOIN", "LEFT ANTI JOIN"))
        on = draw.choice(("id", "id, region", "customer", "region, id", "region"))
        columns = draw.choice(("*", on, "count(*)"))
        text = f"SELECT {columns} FROM {{{names[0]}}} " + " ".join(
            f"{kind} {{{name}}} USING ({on})" for name in names[1:]
        )
        chosen = {key: draw.choice(("true", "false")) for key in (PUSH_VALUES, ALL_KEYS, SUBSET)}
        settings = joins.BY_STORAGE | chosen | {SUBSET: str(chosen[ALL_KEYS] == "false" == chosen[SUBSET]).lower()}
        stored, plain = text.format_map(Tables(namespace)), text.format_map({name: name for name in names})
        with configured(spark, settings):
            seen = joins.look(spark, stored)
            answer = sorted(map(str, spark.sql(stored).collect()))
        assert answer == sorted(map(str, spark.sql(plain).collect())), (about, stored)
        for join in seen.joins:
            assert "Spark shuffles for a reason that is not known here" not in join.reasons, (about, stored, join)
            assert (join.way == "partitioned by storage") == (not join.reasons), (about, stored)
        if columns != "count(*)" and all(join.way == "partitioned by storage" for join in seen.joins):
            assert (seen.exchanges, seen.shuffled_bytes) == (0, 0), (about, stored)
