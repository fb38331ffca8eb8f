"""What nobody expects of a source or a target: odd names, odd schemas, users' own refs, others at the same time."""

import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime

import pytest
from commit_times import line

from workbench import history
from workbench._base import identifiers
from workbench.history import publish
from workbench.tables import changes, commits


def table(spark, name, columns="id BIGINT, name STRING, price INT", version=3, more=""):
    spark.sql(
        f"CREATE TABLE {name} ({columns}) USING iceberg {more} TBLPROPERTIES ('format-version' = '{version}')"
    )
    return name


@pytest.fixture
def source(spark, namespace):
    name = table(spark, f"{namespace}.source")
    spark.sql(f"INSERT INTO {name} VALUES (1L, 'heater', 250), (2L, 'lamp', 10)")
    return name


@pytest.fixture
def target(namespace):
    return f"{namespace}.target"


def refs(spark, name):
    return sorted(row.name for row in spark.sql(f"SELECT name FROM {name}.refs").collect())


def now(spark, source, target):
    """The source's rows and the target's open versions, which have to be the same."""
    there = sorted(tuple(row) for row in spark.table(source).collect())
    names = spark.table(source).columns
    return there, sorted(
        tuple(row) for row in history.current(spark, target).select(*[f"`{name}`" for name in names]).collect()
    )


@pytest.mark.proof(
    "test_threads_of_one_session_keep_their_own_marks shows it for the entries that positions are written as"
)
def test_two_builds_in_threads_of_one_session_keep_their_own_positions(spark, namespace, source, monkeypatch):
    targets = [f"{namespace}.one", f"{namespace}.other"]
    for target in targets:
        history.build(spark, source, target, key="id")
    spark.sql(f"UPDATE {source} SET price = 300 WHERE id = 1")
    begun, both, merge = threading.Event(), threading.Event(), publish.merge

    def in_order(*arguments):
        write = merge(*arguments)

        def writing(name):
            if "one" in identifiers.parts(name):
                begun.set()
                assert both.wait(300)
            else:
                both.set()
            write(name)

        return writing

    monkeypatch.setattr(publish, "merge", in_order)
    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(history.build, spark, source, targets[0], key="id")
        assert begun.wait(300)
        spark.sql(f"UPDATE {source} SET price = 20 WHERE id = 2")  # in the range of the second build only
        second = pool.submit(history.build, spark, source, targets[1], key="id")
        assert (first.result().commits, second.result().commits) == (1, 2)
    monkeypatch.undo()
    assert history.build(spark, source, targets[0], key="id").commits == 1
    for target in targets:
        there, found = now(spark, source, target)
        assert found == there == [(1, "heater", 300), (2, "lamp", 20)]


def test_the_slower_of_two_first_builds_says_that_main_moved(spark, source, target, monkeypatch):
    create = publish.create

    def late(*arguments):
        monkeypatch.setattr(publish, "create", create)
        history.build(spark, source, target, key="id")
        create(*arguments)

    monkeypatch.setattr(publish, "create", late)
    with pytest.raises(history.MainMoved, match="somebody else was faster; run it again"):
        history.build(spark, source, target, key="id")
    assert history.build(spark, source, target, key="id").commits == 0


@pytest.mark.proof("test_the_slower_of_two_first_builds_says_that_main_moved shows it for first builds")
def test_a_build_whose_branch_a_faster_one_dropped_says_that_main_moved(spark, source, target, monkeypatch):
    history.build(spark, source, target, key="id")
    spark.sql(f"UPDATE {source} SET price = 300 WHERE id = 1")
    merge = publish.merge

    def late(*arguments):
        monkeypatch.setattr(publish, "merge", merge)
        write = merge(*arguments)

        def after_another(name):
            history.build(spark, source, target, key="id")
            write(name)

        return after_another

    monkeypatch.setattr(publish, "merge", late)
    with pytest.raises(history.MainMoved):
        history.build(spark, source, target, key="id")
    assert history.build(spark, source, target, key="id").commits == 0
    there, found = now(spark, source, target)
    assert found == there
    assert [name for name in refs(spark, target) if name != "main"] == [
        f"history_{commits.head(commits.load(spark, target))}"
    ]


@pytest.mark.proof(
    "test_nothing_but_compaction_moves_the_position_and_makes_no_version keeps a tag that is named like its own"
)
def test_the_users_own_refs_stay(spark, source, target):
    history.build(spark, source, target, key="id")
    spark.sql(f"ALTER TABLE {target} CREATE TAG history_20261231")
    spark.sql(f"ALTER TABLE {target} CREATE BRANCH history_correction")
    spark.sql(f"UPDATE {source} SET price = 300 WHERE id = 1")
    history.build(spark, source, target, key="id")
    mine = f"history_{commits.head(commits.load(spark, target))}"
    assert refs(spark, target) == sorted(["history_20261231", "history_correction", "main", mine])


@pytest.mark.proof(
    "test_nothing_but_compaction_moves_the_position_and_makes_no_version expires snapshots of such a source, "
    "and finds its tag"
)
def test_the_kept_position_outlives_a_greatest_age_of_refs(spark, source, target):
    spark.sql(f"ALTER TABLE {source} SET TBLPROPERTIES ('history.expire.max-ref-age-ms' = '1')")
    history.build(spark, source, target, key="id")
    for price in (1, 2, 3):
        spark.sql(f"UPDATE {source} SET price = {price} WHERE id = 1")
    later = "TIMESTAMP '2100-01-01 00:00:00'"
    spark.sql(f"CALL system.expire_snapshots(table => '{source}', older_than => {later}, retain_last => 3)")
    assert len(refs(spark, source)) == 2
    assert history.build(spark, source, target, key="id").commits == 3


@pytest.mark.proof("test_a_column_renamed_dropped_or_made_anew_stops has a nested field, too")
def test_a_nested_field_dropped_and_added_again_stops(spark, namespace, target):
    source = table(spark, f"{namespace}.nested", "id BIGINT, s STRUCT<a: INT, b: INT>")
    spark.sql(f"INSERT INTO {source} VALUES (1L, named_struct('a', 1, 'b', 2))")
    history.build(spark, source, target, key="id")
    spark.sql(f"ALTER TABLE {source} DROP COLUMN s.b")
    spark.sql(f"ALTER TABLE {source} ADD COLUMN s.b INT")
    spark.sql(f"UPDATE {source} SET id = 1")
    with pytest.raises(ValueError, match=r"column s\.b was dropped from"):
        history.build(spark, source, target, key="id")


@pytest.mark.proof("test_history_in_steps adds a plain one between two builds")
def test_added_columns_with_quoted_fields_and_with_a_default(spark, namespace, source, target):
    history.build(spark, source, target, key="id")
    spark.sql(f"ALTER TABLE {source} ADD COLUMNS (s STRUCT<`a-b`: INT, `c d`: STRING>, `dot.ted` INT)")
    java = spark._jvm.org.apache.iceberg
    five = java.expressions.Expressions.lit(5)
    kind = java.types.Types.IntegerType.get()
    commits.load(spark, source).updateSchema().addColumn("pieces", kind, five).commit()
    spark.catalog.refreshTable(source)
    spark.sql(f"UPDATE {source} SET s = named_struct('a-b', 7, 'c d', 'x') WHERE id = 1")
    assert history.build(spark, source, target, key="id").commits == 1
    there, found = now(spark, source, target)
    assert found == there == [(1, "heater", 250, (7, "x"), None, 5), (2, "lamp", 10, None, None, 5)]


def test_a_default_that_the_target_cannot_have_stops(spark, namespace, source, target):
    java = spark._jvm.org.apache.iceberg
    history.build(spark, source, target, key="id")
    own = f"{target}_own"
    columns = spark.table(target).schema
    spark.createDataFrame([], columns).writeTo(own).using("iceberg").tableProperty("format-version", "2").create()
    assert history.build(spark, source, own, key="id").commits == 1
    five, kind = java.expressions.Expressions.lit(5), java.types.Types.IntegerType.get()
    commits.load(spark, source).updateSchema().addColumn("pieces", kind, five).commit()
    spark.catalog.refreshTable(source)
    spark.sql(f"UPDATE {source} SET price = 1 WHERE id = 1")
    with pytest.raises(ValueError, match="has a default, which .* of format 2 cannot have: upgrade it to 3"):
        history.build(spark, source, own, key="id")


@pytest.mark.parametrize("name", ["Change_Type", "VALID_FROM"])
def test_a_column_named_like_ours_in_another_case_is_refused(spark, namespace, target, name):
    source = table(spark, f"{namespace}.cased", f"id BIGINT, {name} STRING")
    spark.sql(f"INSERT INTO {source} VALUES (1L, 'x')")
    with pytest.raises(ValueError, match=f"has a column {name}"):
        history.build(spark, source, target, key="id")


@pytest.mark.proof(
    "test_a_history_of_it builds one whose key and partitions need quotes, and test_identifiers.py quotes "
    "each name"
)
@pytest.mark.parametrize(
    "name",
    [
        "c`d",
        *(
            pytest.param(name, marks=pytest.mark.proof("the name with a backtick needs the most quoting"))
            for name in ["é", "a.b"]
        ),
    ],
)
def test_keys_and_partitions_with_odd_names(spark, namespace, target, name):
    quoted = "`" + name.replace("`", "``") + "`"
    more = f"PARTITIONED BY ({quoted})" if name == "é" else ""
    source = table(spark, f"{namespace}.odd", f"{quoted} STRING, v INT", 2, more)
    spark.sql(f"INSERT INTO {source} VALUES ('x', 0), ('y', 0)")
    history.build(spark, source, target, key=name)
    spark.sql(f"UPDATE {source} SET v = 1 WHERE {quoted} = 'x'")
    assert history.build(spark, source, target, key=name, back_end="snapshot diff").commits == 1
    assert sorted(tuple(row)[:2] for row in history.current(spark, target).collect()) == [("x", 1), ("y", 0)]


def test_a_column_that_spark_would_name_otherwise_is_refused(spark, namespace, target):
    rows = spark.createDataFrame([], "id BIGINT, `${spark.app.name}` STRING")
    rows.writeTo(f"{namespace}.dollar").using("iceberg").create()
    with pytest.raises(
        ValueError, match=r"the column '\${spark.app.name}' contains \${, where Spark substitutes a"
    ):
        history.build(spark, f"{namespace}.dollar", target, key="id")


@pytest.mark.proof(
    "test_nothing_but_compaction_moves_the_position_and_makes_no_version builds by both spellings, and its "
    "source has one tag"
)
def test_a_target_by_two_spellings_leaves_one_tag_on_the_source(spark, source, target):
    history.build(spark, source, target, key="id")
    spark.sql(f"UPDATE {source} SET price = 300 WHERE id = 1")
    assert history.build(spark, source, f"{spark.catalog.currentCatalog()}.{target}", key="id").commits == 1
    assert len(refs(spark, source)) == 2


def test_partitions_that_a_target_can_have_are_kept(spark, namespace, target, recwarn):
    columns = "id BIGINT, at TIMESTAMP, id_bucket INT, place STRING"
    spark.sql(f"CREATE TABLE {namespace}.parted ({columns}) USING iceberg PARTITIONED BY (place)")
    for name in ("bucket(4, id) AS shard", "days(at)", "hours(at)"):
        spark.sql(f"ALTER TABLE {namespace}.parted ADD PARTITION FIELD {name}")
    spark.sql(f"INSERT INTO {namespace}.parted VALUES (1L, TIMESTAMP '1969-12-31 23:00:00', 7, 'a')")
    history.build(spark, f"{namespace}.parted", target, key="id")
    spec = commits.load(spark, target).spec().fields()
    assert [spec.get(n).name() for n in range(spec.size())] == ["is_current", "place", "at_hour"]
    assert not [one for one in recwarn if "partitioning" in str(one.message)]


@pytest.mark.parametrize(
    ("call", "why"),
    [
        (lambda: history.build(None, "a.b", "a.c", key=3), "key must be a text or a list of texts, found 3"),
        (lambda: history.build(None, "a.b", "a.c", key=["id", 3]), "key must be a text or a list of texts, found ['id', 3]"),
        (lambda: history.build(None, "a.b", "a.c", key="id", truncated="no"), "truncated must be True or False, found 'no'"),
        (lambda: history.build(None, "a.b", "a.c", key="id", together=5), "together must be a list of integers, found 5"),
        (lambda: history.build(None, "a.b", "a.c", key="id", back_end="diff"),
         "back_end must be 'auto', 'row lineage', 'snapshot diff' or 'changelog view', found 'diff'"),
        (lambda: history.as_of(None, "a.b", "2026-01-31"), "when must be a datetime, found '2026-01-31'"),
        (lambda: history.as_of(None, "a.b", None), "when must be a datetime, found None"),
        (lambda: history.current(None, None), "target must be a text, found None"),
        (lambda: changes.between(None, "a.b", key="id", start=True), "start must be an integer, a datetime or None, found True"),
        (lambda: changes.back_ends(None, "a.b", end=1.5), "end must be an integer, a datetime or None, found 1.5"),
    ],
)  # fmt: skip
def test_arguments_of_another_type_are_refused_before_anything(call, why):
    with pytest.raises(ValueError) as error:
        call()
    assert str(error.value) == why


def test_what_is_no_table_is_refused_by_its_name(spark, namespace, source, target):
    spark.sql(f"ALTER TABLE {source} CREATE BRANCH audit")
    spark.sql(f"INSERT INTO {source}.branch_audit VALUES (9L, 'bulb', 1)")
    snapshot = line(spark, source)[0][0]
    for part in ("branch_audit", f"snapshot_id_{snapshot}", "snapshots"):
        with pytest.raises(ValueError, match=f"{part} is a part of the table {source}; name that one"):
            changes.between(spark, f"{source}.{part}", key="id")
    with pytest.raises(ValueError, match="no table"):
        history.build(spark, f"{namespace}.nothing", target, key="id")
    spark.sql(f"CREATE VIEW {target} AS SELECT * FROM {source}")
    with pytest.raises(ValueError, match="is a view"):
        history.build(spark, source, target, key="id")
    spark.sql(f"DROP VIEW {target}")


@pytest.mark.parametrize(
    "rows", [1, pytest.param(0, marks=pytest.mark.proof("a table that was replaced by one with rows shows it"))]
)
def test_a_time_before_the_table_was_replaced_is_reported(spark, namespace, rows):
    source = table(spark, f"{namespace}.replaced", "id BIGINT, price INT")
    spark.sql(f"INSERT INTO {source} VALUES (1L, 1), (2L, 2)")
    before = datetime.now(UTC)
    spark.sql(f"CREATE OR REPLACE TABLE {source} USING iceberg AS SELECT 1L AS id, 5 AS price LIMIT {rows}")
    with pytest.raises(changes.HistoryExpired, match="rolled back, or the table was replaced"):
        changes.between(spark, source, key="id", start=before)


def test_a_time_that_was_rolled_back_is_reported(spark, source):
    first = line(spark, source)[0][0]
    spark.sql(f"UPDATE {source} SET price = 1 WHERE id = 1")
    between = datetime.now(UTC)
    spark.sql(f"CALL system.rollback_to_snapshot('{source}', {first})")
    spark.sql(f"UPDATE {source} SET price = 2 WHERE id = 2")
    with pytest.raises(changes.HistoryExpired, match="which is not an ancestor of main any more"):
        changes.between(spark, source, key="id", start=between)


@pytest.mark.parametrize(
    "net",
    [False, pytest.param(True, marks=pytest.mark.proof("the changes that are not net compare the same values"))],
)
def test_nested_times_are_compared_to_the_microsecond(spark, namespace, net):
    columns = "id BIGINT, s STRUCT<at: TIMESTAMP, n: TIMESTAMP_NTZ>, l ARRAY<TIMESTAMP>, m MAP<STRING, TIMESTAMP>"
    source = table(spark, f"{namespace}.micros", columns, 2)
    one = "TIMESTAMP '2026-01-31 10:00:00.000001'"
    spark.sql(
        f"INSERT INTO {source} SELECT /*+ COALESCE(1) */ id, named_struct('at', {one}, 'n', CAST({one} AS TIMESTAMP_NTZ)), "
        f"array({one}), map('a', {one}) FROM range(5)"
    )
    first, other = line(spark, source)[0][0], one.replace("000001", "000002")
    spark.sql(
        f"UPDATE {source} SET s = CASE id WHEN 0 THEN named_struct('at', {other}, 'n', s.n) "
        f"WHEN 1 THEN named_struct('at', s.at, 'n', CAST({other} AS TIMESTAMP_NTZ)) ELSE s END, "
        f"l = IF(id = 2, array({other}), l), m = IF(id = 3, map('a', {other}), m)"
    )
    found = changes.between(
        spark, source, key="id", start=first, back_end="snapshot diff", net=net, before_images=False
    )
    assert sorted((row.id, row.change_type) for row in found.collect()) == [(n, "update_after") for n in range(4)]


def test_net_changes_of_a_table_with_a_map_are_not_the_views(spark, namespace):
    source = table(spark, f"{namespace}.mapped", "id BIGINT, m MAP<STRING, INT>", 2)
    spark.sql(f"INSERT INTO {source} VALUES (1L, map('a', 1))")
    assert changes.back_ends(spark, source) == ("snapshot diff", "changelog view")
    assert changes.back_ends(spark, source, net=True) == ("snapshot diff",)
    with pytest.raises(ValueError, match="m holds a map, which has no order; snapshot diff can"):
        changes.between(spark, source, key="id", net=True, back_end="changelog view")
