"""Where a cause begins, and that a healthy table has none."""

from datetime import UTC, datetime, timedelta

import pytest
from conftest import PROVE
from doctor_cases import LATER, diagnose, the

from workbench.tables import commits, doctor, maintenance
from workbench.tables.doctor import order
from workbench.tables.snapshots import TableNotFound


@pytest.fixture
def table(spark, namespace):
    name = f"{namespace}.t"
    spark.sql(f"CREATE TABLE {name} (id BIGINT, at TIMESTAMP, day DATE, v STRING) USING iceberg")
    return name


def fill(spark, table, rows, *, files=1, at="TIMESTAMP'2026-01-01' + make_interval(0,0,0,0,id)"):
    made = spark.range(rows).selectExpr(
        "id", f"{at} AS at", f"CAST({at} AS DATE) AS day", "concat('v', id % 3) AS v"
    )
    made.repartitionByRange(files, "id").writeTo(table).append()


def commit_nothing(spark, table, times):
    """Snapshots without files, at little cost."""
    loaded = commits.load(spark, table)
    for _ in range(times):
        loaded.newFastAppend().commit()


def test_an_empty_table_is_healthy(spark, table):
    assert diagnose(spark, table).causes == ()


@pytest.mark.proof("test_four_small_files_are_healthy_and_five_are_not shows it for four files")
def test_a_table_of_one_file_is_healthy(spark, table):
    fill(spark, table, 10)
    assert diagnose(spark, table).causes == ()


def test_four_small_files_are_healthy_and_five_are_not(spark, table):
    fill(spark, table, 40, files=4)
    assert diagnose(spark, table).causes == ()
    fill(spark, table, 10)
    assert diagnose(spark, table).causes == ("small_files",)


def test_small_files_that_are_few_among_many_are_no_cause(spark, table):
    fill(spark, table, 60, files=60)
    assert diagnose(spark, table, min_input_files=5, target_file_bytes=1).causes == ()  # none is small
    half = doctor.Thresholds(gone_share=1.0)
    assert diagnose(spark, table, thresholds=half).causes == ()


@pytest.mark.proof(
    "the notebook 41_doctor_a_sick_table finds nothing in its healthy table, which has a partition a month"
)
def test_a_partition_a_month_is_healthy(spark, table):
    spark.sql(f"ALTER TABLE {table} ADD PARTITION FIELD months(day)")
    fill(spark, table, 24 * 365, at="TIMESTAMP'2026-01-01' + make_interval(0,0,0,0,id)")
    assert diagnose(spark, table).causes == ()


@pytest.mark.proof(
    "test_how_many_partitions_another_transform_makes reckons each kind of field, "
    "test_of_two_fields_one_makes_what_the_other_leaves_over and the notebook 41_doctor_a_sick_table "
    "show tables"
)
@pytest.mark.parametrize(
    ("field", "cause", "target", "statement"),
    [
        ("at", "wrong_partition_transform", 2048, "REPLACE PARTITION FIELD `at` WITH month(`at`)"),
        ("at", "wrong_partition_transform", 2**29, "DROP PARTITION FIELD `at`"),
        ("id", "wrong_partition_transform", 2**16, "REPLACE PARTITION FIELD `id` WITH truncate("),
        ("days(at)", "too_many_partitions", 2**29, "DROP PARTITION FIELD `at_day`"),
        ("day", "too_many_partitions", 2**29, "DROP PARTITION FIELD `day`"),
        ("bucket(120, id)", "too_many_partitions", 2**15, "REPLACE PARTITION FIELD `id_bucket_120` WITH bucket("),
    ],
)
def test_too_many_partitions_and_which_field_is_why(spark, table, field, cause, target, statement):
    spark.sql(f"ALTER TABLE {table} ADD PARTITION FIELD {field}")
    spark.sql(f"ALTER TABLE {table} SET TBLPROPERTIES ('write.distribution-mode' = 'none')")
    if field == "at" and target == 2048:
        fill(spark, table, 120, at="TIMESTAMP'2026-01-01' + make_interval(0,0,0,id)")
    else:
        fill(spark, table, 720 if field.startswith("bucket") else 120, at="TIMESTAMP'2026-01-01' + make_interval(0,0,0,id)")  # fmt: skip
    found = diagnose(spark, table, target_file_bytes=target)
    assert found.causes == (cause,)
    assert found.findings[0].statements[0].startswith(f"ALTER TABLE {table} {statement}")
    assert diagnose(spark, table, thresholds=doctor.Thresholds(partitions=121)).causes == ()
    assert diagnose(spark, table, thresholds=doctor.Thresholds(partition_bytes=100)).causes == ()


def test_a_partition_that_outgrew_the_others(spark, table):
    spark.sql(f"ALTER TABLE {table} ADD PARTITION FIELD v")
    for n in range(5):
        rows = 20_000 if n == 3 else 10
        spark.range(rows).selectExpr("id", "NULL", "NULL", f"'v{n}'").toDF("id", "at", "day", "v").coalesce(
            1
        ).writeTo(table).append()
    found = diagnose(spark, table, target_file_bytes=8192)
    assert "partition v=v3 holds " in the(found, "skewed_partitions").what
    assert "skewed_partitions" not in diagnose(spark, table, target_file_bytes=2**20).causes  # small all of them


def test_one_file_that_outgrew_the_others(spark, table):
    fill(spark, table, 20_000)
    fill(spark, table, 40, files=4)
    found = diagnose(spark, table, target_file_bytes=8192, min_input_files=9)
    assert found.causes == ("skewed_files",)
    assert diagnose(spark, table, target_file_bytes=2**20, min_input_files=9).causes == ()


@pytest.mark.proof(
    "the notebook 41_doctor_a_sick_table finds files in no order where an order was promised, and in no "
    "other table"
)
def test_order_counts_only_where_somebody_asks_for_it(spark, table):
    fill(spark, table, 40_000, files=6)
    small = {"target_file_bytes": 8192}
    assert diagnose(spark, table, **small).causes == ()
    assert diagnose(spark, table, columns=["id"], **small).causes == ()  # written in its order
    spark.sql(f"DELETE FROM {table}")
    spark.range(40_000).selectExpr("id", "NULL AS at", "NULL AS day", "uuid() AS v").repartition(6, "v").writeTo(
        table
    ).append()
    found = diagnose(spark, table, columns=["id"], **small)
    assert the(found, "unsorted_files").statements[0].startswith("CALL ")
    assert "opens 6 of 6" in the(found, "unsorted_files").what
    one = {"target_file_bytes": 2**29, "min_input_files": 9}
    assert diagnose(spark, table, columns=["id"], **one).causes == ()  # sorted it would be one file
    assert diagnose(spark, table, columns=["day"], **small).causes == ()  # no value to judge by


def test_names_and_places_that_need_quotes(spark, table):
    name, place = f"{table}_odd", f"{spark.conf.get('spark.sql.catalog.lake.warehouse')}/it's here"
    spark.sql(f'CREATE TABLE {name} (id BIGINT, `it\'s` STRING, `a.b` STRING) USING iceberg LOCATION "{place}"')
    rows = spark.range(40_000 if PROVE else 4_000).selectExpr("id", "uuid() AS `it's`", "uuid() AS `a.b`")
    rows.repartition(6).writeTo(name).append()
    for column, quoted in (("it's", "'`it\\'s`'"), ("a.b", "'`a.b`'")):
        (one,) = diagnose(spark, name, columns=[column], target_file_bytes=8192).findings
        assert f"sort_order => {quoted}, " in one.statements[0]
        spark.sql(one.statements[0])
        assert diagnose(spark, name, columns=[column], target_file_bytes=8192).causes == ()
    policy = maintenance.Policy(target_file_bytes=2**20, min_input_files=2)
    (tried,) = doctor.trial(
        spark, name, [f"SELECT count(`it's`) FROM {name} WHERE `a.b` <> ''"], policy=policy, repeats=1
    )
    assert tried.equal and tried.files_after < tried.files_before


@pytest.mark.parametrize(
    ("spans", "depth"),
    [
        ([(1, 2), (3, 4), (5, 6), (7, 8), (9, 9)], 0.8),  # in order
        ([(1, 3), (3, 5), (5, 7), (7, 9), (9, 11)], 2),  # neighbours share a value
        ([(0, 9)] * 5, 5),  # all over
        ([(0, 95), (1, 96), (2, 97), (3, 98), (4, 99)], 5),
        ([("a", "a"), ("a", "b"), ("b", "b"), ("b", "c"), ("c", "c")], 1.6),  # few values, in order
    ],
)
def test_depth_is_how_many_files_may_hold_a_value(spans, depth):
    assert order.depth(spans) == depth


@pytest.mark.proof(
    "test_snapshots_that_hold_much_are_a_cause_though_few shows old snapshots, the notebook "
    "41_doctor_a_sick_table a full log of metadata files"
)
def test_snapshots_and_metadata(spark, table):
    fill(spark, table, 10)
    commit_nothing(spark, table, 110)
    found = diagnose(spark, table)
    assert found.causes == ("old_snapshots", "metadata_versions")
    assert found.findings[0].what.startswith("101 snapshots older than 5 days hold 0 files of 0 bytes")
    assert diagnose(spark, table, now=datetime.now(UTC)).causes == ("metadata_versions",)
    doctor.cure(spark, found)
    assert diagnose(spark, table).causes == ()


def test_snapshots_that_hold_much_are_a_cause_though_few(spark, table):
    fill(spark, table, 1000)
    for _ in range(2):
        spark.sql(f"INSERT OVERWRITE {table} SELECT * FROM {table}")
    assert diagnose(spark, table).causes == ()  # the newest ten stay
    found = diagnose(spark, table, keep_snapshots=1)
    assert found.causes == ("old_snapshots",)
    assert "2 snapshots older than 5 days hold 2 files" in found.findings[0].what


def test_a_large_metadata_file(spark, table):
    fill(spark, table, 10)
    found = diagnose(spark, table, thresholds=doctor.Thresholds(metadata_bytes=1000))
    assert found.causes == ("large_metadata",)
    assert found.findings[0].properties == (("write.metadata.compression-codec", "gzip"),)
    doctor.cure(spark, found)
    assert diagnose(spark, table, thresholds=doctor.Thresholds(metadata_bytes=1000)).causes == ()


@pytest.mark.proof(
    "the notebook 41_doctor_a_sick_table finds and drops a branch that nobody dropped after its audit"
)
def test_refs_are_dangling_when_old_without_an_end_and_holding_alone(spark, table):
    fill(spark, table, 1000)
    for name in ("harmless", "dangling", "solitary", "ending"):
        spark.sql(f"ALTER TABLE {table} CREATE BRANCH {name}" + " RETAIN 900 DAYS" * (name == "ending"))
    for name in ("dangling", "solitary", "ending"):
        fill(spark, f"{table}.branch_{name}", 1000)
    found = diagnose(spark, table, solitary_refs=("soli*",))
    assert found.causes == ("dangling_refs",)
    assert found.findings[0].what.startswith("branch dangling alone holds 1 file of ")
    assert found.findings[0].statements == (f"ALTER TABLE {table} DROP BRANCH `dangling`",)
    assert diagnose(spark, table, now=datetime.now(UTC)).causes == ()
    assert diagnose(spark, table, now=LATER + timedelta(days=1), solitary_refs=("*",)).causes == ()
    spark.sql(
        f"ALTER TABLE {table} CREATE TAG sealed AS OF VERSION {commits.head(commits.load(spark, table), 'dangling')}"
    )
    (both,) = diagnose(spark, table, solitary_refs=("soli*",)).findings
    assert both.what.startswith("branch dangling and tag sealed alone hold 1 file of ")
    assert both.statements[1:] == (f"ALTER TABLE {table} DROP TAG `sealed`",)
    spark.sql(both.statements[1])
    commits.load(spark, table).manageSnapshots().renameBranch("dangling", "dang`ling").commit()
    (odd,) = diagnose(spark, table, solitary_refs=("soli*",)).findings[0].statements
    spark.sql(odd)
    assert "dang`ling" not in commits.load(spark, table).refs()


def test_what_cannot_be_looked_at(spark, table):
    with pytest.raises(TableNotFound, match="no table"):
        diagnose(spark, table + "_not")
    with pytest.raises(ValueError, match="nobody is not a column of .*; it has id, at, day, v"):
        diagnose(spark, table, columns=["nobody"])
    with pytest.raises(ValueError, match="now must have a time zone"):
        diagnose(spark, table, now=datetime(2026, 1, 1))


def test_a_command_among_the_queries_is_refused_and_does_not_run(spark, table):
    """Spark runs one as soon as it is told its text."""
    fill(spark, table, 10)
    spark.sql(f"CREATE TEMPORARY VIEW seen AS SELECT * FROM {table}")
    for command in (
        f"DELETE FROM {table} WHERE id < 5", f"INSERT INTO {table} SELECT * FROM {table}", f"DROP TABLE {table}",
        f"WITH x AS (SELECT * FROM {table}) INSERT INTO {table} SELECT * FROM x", f"UPDATE {table} SET v = 'x'",
        f"CREATE TABLE {table}_2 USING iceberg AS SELECT * FROM {table}", f"CALL system.rewrite_manifests('{table}')",
        f"FROM {table} INSERT INTO {table} SELECT * INSERT INTO {table} SELECT *",
    ):  # fmt: skip
        for ask in (doctor.asked, doctor.trial):
            with pytest.raises(ValueError, match="query 2 (is a command and not a query|does not name)"):
                ask(spark, table, [f"SELECT * FROM {table} WHERE id = 1", command])
    assert [one.operation for one in spark.sql(f"SELECT operation FROM {table}.snapshots").collect()] == ["append"]
    assert spark.table(table).count() == 10 and not spark.catalog.tableExists(f"{table}_2")
    assert doctor.asked(spark, table, ["SELECT * FROM seen WHERE day IS NULL"]) == ("day",)
    spark.catalog.dropTempView("seen")


def test_what_the_owners_queries_ask_by(spark, table):
    queries = [
        f"SELECT count(*) FROM {table} WHERE day = DATE'2026-01-01'",
        f"SELECT x.id FROM {table} x JOIN (SELECT 1 AS id) y ON x.id = y.id WHERE x.v = 'a' AND x.day IS NOT NULL",
    ]
    assert doctor.asked(spark, table, queries) == ("day", "v")
    with pytest.raises(ValueError, match=r"query 2 cannot be analysed: \[UNRESOLVED_COLUMN"):
        doctor.asked(spark, table, [queries[0], "SELECT nobody"])
    with pytest.raises(ValueError, match=r"query 1 cannot be analysed: \[PARSE_SYNTAX_ERROR"):
        doctor.asked(spark, table, ["SELEC 1"])
    with pytest.raises(ValueError, match="none of 1 queries reads"):
        doctor.asked(spark, table, ["SELECT 1"])
