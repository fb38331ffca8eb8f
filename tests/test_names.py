"""A namespace, a table, a column and a branch that Spark takes between backticks only, through what the house can do."""

from datetime import UTC, datetime, timedelta

import pytest
from conftest import ENVIRONMENT, own_namespace
from pyspark.sql import functions as F
from typer.testing import CliRunner

from workbench import checks, history, quality, results, session, show, wap
from workbench._base import identifiers
from workbench.data import sick
from workbench.streams import dead_letters
from workbench.tables import changes, commits, doctor, reads, snapshots, upserts
from workbench_ops.cli import app
from workbench_proofs import conflicts

TABLE, SQL = "my-db.my-tâble", "`my-db`.`my-tâble`"
COLUMN, BRANCH = "col-ümn 1", "fix-1"
LATER = datetime.now(UTC) + timedelta(days=30)


@pytest.fixture(scope="module")
def space(spark):
    with own_namespace(spark, "`my-db`") as name:
        yield name


@pytest.fixture
def table(spark, space):
    """Two commits of two rows, partitioned by the column."""
    columns = f"id BIGINT, `{COLUMN}` STRING, `at-time` TIMESTAMP, v INT"
    spark.sql(f"CREATE TABLE {SQL} ({columns}) USING iceberg PARTITIONED BY (`{COLUMN}`)")
    for n in (0, 2):
        spark.range(n, n + 2, 1, 1).selectExpr(
            "id", "concat('k', id % 2) AS k", "timestamp_seconds(id) AS t", "0 AS v"
        ).toDF(*spark.table(SQL).columns).writeTo(SQL).append()
    yield TABLE
    spark.sql(f"DROP TABLE {SQL} PURGE")


def rows(spark, name=SQL):
    return sorted((row.id, row.v) for row in spark.table(name).collect())


def passes(df):
    return checks.Verdict(passed=True, figures={}, rules="all", reasons=(), quarantined=None)


def test_it_is_looked_at(spark, table, capsys):
    assert [(row.n, row.added_rows) for row in snapshots.history(spark, table).collect()] == [(1, 2), (2, 2)]
    assert snapshots.current(spark, f"{spark.catalog.currentCatalog()}.{table}") == snapshots.at(spark, table, 2)
    opened = reads.counted(spark, f"SELECT v FROM {SQL} WHERE `{COLUMN}` = 'k1'")
    assert (opened.data_files, len(opened.answer)) == (2, 2) and opened.bytes > 0
    results.table(spark, table)
    loaded = session.catalog(ENVIRONMENT).load_table(identifiers.parts(table))
    assert loaded.scan().to_arrow().num_rows == 4
    show.rows(spark.table(SQL).select("id", COLUMN), by=f"-{COLUMN}", limit=1)
    assert capsys.readouterr().out.splitlines()[0] == "id  col-ümn 1"


def test_what_is_not_there_is_said_by_names_that_can_be_run(spark, table):
    with pytest.raises(snapshots.TableNotFound, match=f"^no table my-db.other; `my-db` has {SQL}$"):
        snapshots.current(spark, "my-db.other")
    with pytest.raises(snapshots.TableNotFound, match="^no table no-db.other; there is no namespace `no-db`$"):
        commits.load(spark, "no-db.other")
    with pytest.raises(ValueError, match="no-db.dead cannot be made: there is no namespace `no-db`"):
        dead_letters.make(spark, "no-db.dead")
    with pytest.raises(ValueError, match=f"is a part of the table {SQL}; name that one"):
        commits.load(spark, f"{table}.snapshots")


def test_the_gate_and_a_branch_of_ones_own(spark, table):
    def write(stage):
        spark.sql(f"INSERT INTO {stage.table} VALUES (9, 'k`9', NULL, 9)")

    done = wap.run(spark, table, write=write, audit=passes, id="night-1")
    assert done.published and rows(spark)[-1] == (9, 9)
    with wap.staging(spark, table, branch=BRANCH, enable=True) as stage:
        spark.sql(f"INSERT INTO {SQL} VALUES (10, 'k', NULL, 10)")
    assert stage.table == f"{SQL}.`branch_{BRANCH}`"
    assert (rows(spark)[-1], rows(spark, stage.table)[-1]) == ((9, 9), (10, 10))
    wap.attest(spark, stage, audit=passes)
    wap.publish(spark, table, BRANCH)
    assert rows(spark)[-1] == (10, 10) and wap.evidence(spark, table).count() == 2


def test_refused_rows_and_the_same_quarantine_by_another_spelling(spark, table):
    def audit(df):
        bad = df.where(F.col(identifiers.column(COLUMN)) == "bad")
        return checks.Verdict(passed=False, figures={}, rules="all", reasons=("bad",), quarantined=bad)

    for name in ("my-db.quar-äntine", "`my-db`.`quar-äntine`"):
        done = wap.run(spark, table, write=lambda stage: spark.sql(f"INSERT INTO {stage.table} VALUES (9, 'bad', NULL, 9)"),
                       audit=audit, quarantine=name)  # fmt: skip
        assert (done.published, done.rows_quarantined) == (False, 1)
    assert spark.table("`my-db`.`quar-äntine`").count() == 2
    with pytest.raises(ValueError, match="is the table to be published to"):
        wap.run(spark, table, write=print, audit=audit, quarantine=SQL)


def test_updates_by_key(spark, table):
    update = spark.createDataFrame([(1, "k1", datetime(2026, 1, 1), 7)], spark.table(SQL).schema)
    upserts.merge(spark, table, update, key=["id", COLUMN], sequence="at-time", id="load-1")
    assert upserts.merge(spark, table, update, key=["id", COLUMN], sequence="at-time", id="load-1").tries == 0
    assert rows(spark) == [(0, 0), (1, 7), (2, 0), (3, 0)]


def test_updates_onto_a_branch(spark, table):
    update = spark.createDataFrame([(1, "k1", datetime(2026, 1, 1), 7)], spark.table(SQL).schema)
    commits.load(spark, table).manageSnapshots().createBranch("try-2.1").commit()
    roles = {"key": "id", "sequence": "at-time", "operation": None, "operations": {}, "deleted": None}
    with upserts.staged(spark, table, update, branch="try-2.1", properties={"of": "a test"}, **roles) as merge:
        merge()
    assert (rows(spark)[1], rows(spark, identifiers.on_branch(table, "try-2.1"))[1]) == ((1, 0), (1, 7))


def test_a_history_of_it(spark, table):
    assert history.build(spark, table, "my-db.my-hïstory", key=["id", COLUMN]).commits == 2
    assert history.as_of(spark, "my-db.my-hïstory", LATER).count() == 4
    fields = commits.load(spark, "my-db.my-hïstory").spec().fields()
    assert [fields.get(n).name() for n in range(fields.size())] == ["is_current", COLUMN]  # as the source is


@pytest.mark.proof("test_a_history_of_it is built from the table's changes")
def test_its_changes_by_every_back_end(spark, table):
    spark.sql(f"UPDATE {SQL} SET v = 1 WHERE `{COLUMN}` = 'k1' AND id = 1")
    allowed = changes.back_ends(spark, table)
    assert "changelog view" in allowed
    for back_end in allowed:
        found = changes.between(spark, table, key="id", start=snapshots.at(spark, table, 2), back_end=back_end)
        assert sorted(row.change_type for row in found.collect()) == ["update_after", "update_before"], back_end


@pytest.mark.proof("test_a_history_of_it makes one, and those of plain names go on")
def test_a_history_that_goes_on(spark, table):
    for n, target in enumerate(("my-db.long-hïstory", "`my-db`.`long-hïstory`"), 1):
        spark.sql(f"UPDATE {SQL} SET v = {n} WHERE id = 1")
        history.build(spark, table, target, key="id")
    assert history.current(spark, target).where("id = 1").first().version == 3
    assert sorted(ref for ref in commits.load(spark, table).refs() if ref != "main") != []
    assert len(commits.load(spark, table).refs()) == 2  # by both spellings it is one target, with one tag


def test_statements_of_a_diagnosis_run_as_they_are_shown(spark, table):
    spark.sql(f"ALTER TABLE {SQL} CREATE BRANCH `{BRANCH}`")
    spark.table(SQL).withColumn("id", F.col("id") + 10).writeTo(identifiers.on_branch(table, BRANCH)).append()
    loose = doctor.Thresholds(held_share=0)
    found = doctor.diagnose(spark, table, now=LATER, thresholds=loose, columns=[COLUMN])
    (statement,) = next(one.statements for one in found.findings if one.cause == "dangling_refs")
    assert statement == f"ALTER TABLE {SQL} DROP BRANCH `{BRANCH}`"
    spark.sql(statement)
    assert list(commits.load(spark, table).refs()) == ["main"]


@pytest.mark.proof(
    "test_statements_of_a_diagnosis_run_as_they_are_shown shows what is quoted; here it runs, on a table that asks "
    "for all"
)
def test_what_the_owner_agrees_to_is_done(spark, table):
    bound = doctor.Thresholds(partitions=2, partition_bytes=2**20)
    found = doctor.diagnose(spark, table, thresholds=bound)
    (statement,) = found.findings[0].statements
    assert statement == f"ALTER TABLE {SQL} DROP PARTITION FIELD `{COLUMN}`"
    done = doctor.cure(spark, found, agreed=found.causes[:1])
    assert done.statements[0] == statement and f"table => '{SQL}'" in done.statements[1]
    assert len(rows(spark)) == 4 and commits.load(spark, table).spec().isUnpartitioned()
    assert doctor.asked(spark, table, [f"SELECT 1 FROM {SQL} WHERE `{COLUMN}` = 'k1'"]) == (COLUMN,)
    assert doctor.pointers.look(spark, table).damage is doctor.pointers.doubt(spark, table) is None


POLICY = """keep_snapshots: 1
snapshots_older_than_days: 0
min_manifests: 2
min_input_files: 2
orphans_older_than_days: 1
actions: [compact_data, rewrite_manifests, expire_snapshots, remove_orphans, compute_statistics]
"""


def test_it_is_maintained_by_the_command(spark, table, tmp_path):
    (path := tmp_path / "policy.yml").write_text(POLICY)
    options = ("--environment", ENVIRONMENT, "--policy", str(path))
    before = rows(spark)
    done = CliRunner().invoke(app, ["maintain", table, *options])
    assert (done.exit_code, done.output.splitlines()[0]) == (
        0,
        f"{table}: compact_data, rewrite_manifests, expire_snapshots, remove_orphans, compute_statistics",
    )
    assert "through Spark" not in done.output and "1 snapshots went" in done.output
    assert rows(spark) == before
    twice = CliRunner().invoke(app, ["maintain", table, SQL, *options])
    assert isinstance(twice.exception, ValueError) and str(twice.exception) == f"{SQL} is named twice"


@pytest.mark.proof("the command of maintenance takes the name in the check, and the diagnosis is made in Python")
def test_it_is_diagnosed_and_cured_by_the_command(spark, table, tmp_path):
    (tmp_path / "policy.yml").write_text("min_input_files: 2\nactions: [compact_data]\n")
    (tmp_path / "q.sql").write_text(f"SELECT count(v) FROM {SQL} WHERE `{COLUMN}` <> '{SQL}';\n")
    options = ["--environment", ENVIRONMENT, "--policy", str(tmp_path / "policy.yml")]
    found = CliRunner().invoke(app, ["doctor", "table", table, *options, "--queries", str(tmp_path / "q.sql")])
    assert found.exit_code == 1 and "small_files" in found.output and "the answer is the same" in found.output
    cured = CliRunner().invoke(app, ["doctor", "table", SQL, *options, "--cure", "--yes"])
    assert (cured.exit_code, cured.output.splitlines()[-1]) == (0, f"{SQL} is healthy")


def test_rules_over_columns_and_references(spark, table):
    rules = f"""Rules = [ IsComplete "{COLUMN}", ColumnValues "{COLUMN}" in ["k0", "k1"],
        ReferentialIntegrity "{COLUMN}" "my-ref.{COLUMN}" = 1.0,
        CustomSql "SELECT count(*) FROM `my-ref` WHERE `{COLUMN}` = 'k1'" = 2 ]"""
    found = quality.evaluate(spark, spark.table(SQL), rules, references={"my-ref": spark.table(SQL)})
    assert [one.passed for one in found.outcomes] == [True] * 4


@pytest.mark.proof("what these tables are made for is shown in the check by the notebooks, in plain namespaces")
def test_namespaces_of_what_makes_tables_itself(spark, space):
    made = sick.forgotten(spark, "my-db", rows=100)
    assert made.name == "`my-db`.forgotten" and spark.table(made.name).count() == 100
    assert conflicts.save(spark, "my-db.mätrix", []) == 0
    with conflicts.copies.copies(spark, "`it's odd`") as copies:
        name = copies.of("copy-on-write")
        for operation in conflicts.operations.OPERATIONS.values():
            if operation.name != "fast_forward":  # only of a main that has not moved
                spark.sql(operation.statement(name)).collect()
        assert spark.table(name).columns[-1] == "extra1"
    spark.sql("DROP NAMESPACE `it's odd`")
