"""The gate: only what was audited gets on main, with its evidence, whoever else commits and whenever it is killed."""

import hashlib
import os
import subprocess
import sys
from contextlib import ExitStack

import pytest
import wap_processes as processes
from conftest import ENVIRONMENT, PROVE, own_namespace
from wap_processes import ancestry, refs, rows

from workbench import wap
from workbench.checks import Verdict
from workbench.tables import commits
from workbench.wap import attestation, branches
from workbench.wap import quarantine as quarantines

RULES = 'Rules = [ ColumnValues "id" < 1000 ]'


@pytest.fixture
def table(spark, namespace):
    """Two rows on main."""
    name = f"{namespace}.t"
    spark.sql(
        f"CREATE TABLE {name} (id BIGINT, n BIGINT) USING iceberg TBLPROPERTIES ('write.wap.enabled' = 'true')"
    )
    spark.sql(f"INSERT INTO {name} VALUES (1, 10), (2, 20)")
    yield name
    assert spark.conf.get("spark.wap.branch", None) is None
    assert not branches._open


def insert(spark, *values):
    """A write that inserts rows."""
    text = ", ".join(map(str, values))
    return lambda stage: spark.sql(f"INSERT INTO {stage.table} VALUES {text}")


def audit(df):
    """The rule: ids are below 1000."""
    from pyspark.sql import functions as F

    bad = df.where("id >= 1000").withColumn("failed_rules", F.array(F.lit("id < 1000")))
    count, failed = df.count(), bad.count()
    reasons = (f"{failed} ids of 1000 and more",) if failed else ()
    return Verdict(not failed, RULES, {"rows": count, "failed": failed}, reasons, bad)


def but_first(*actions):
    """An audit before whose n-th call the n-th action happens, as if somebody else did it."""
    left = list(actions)

    def audited(df):
        if left:
            left.pop(0)()
        return audit(df)

    return audited


def head(spark, table, ref="main"):
    return commits.head(commits.load(spark, table), ref)


def main_files(spark, table):
    """Main's row in refs, and the bytes of everything that its snapshot is made of, by checksum."""
    loaded = commits.load(spark, table)
    main = [tuple(row) for row in spark.table(f"{table}.refs").where("name = 'main'").collect()]
    if not main:
        return main, {}
    snapshot = loaded.snapshot(head(spark, table))
    paths = [snapshot.manifestListLocation(), *(m.path() for m in snapshot.allManifests(loaded.io()))]
    paths += [row[0] for row in spark.sql(f"SELECT file_path FROM {table}.files").collect()]
    return main, {path: hashlib.sha256(content(loaded, path)).hexdigest() for path in paths}


def content(loaded, path):
    """The bytes of one of a table's files, wherever they are."""
    stream = loaded.io().newInputFile(path).newStream()
    try:
        return bytes(stream.readAllBytes())
    finally:
        stream.close()


# what the gate does


NOT_FIRST = pytest.mark.proof("a first load on format 2 is published so, and the other tests load what has rows")


@pytest.mark.parametrize(("version", "first_load"), [(2, True), pytest.param(3, False, marks=NOT_FIRST)])
def test_a_passed_audit_publishes_with_its_evidence(spark, namespace, version, first_load):
    table, steps, seen = f"{namespace}.t", [], []
    spark.sql(
        f"CREATE TABLE {table} (id BIGINT, n BIGINT) USING iceberg PARTITIONED BY (bucket(2, n)) "
        f"TBLPROPERTIES ('format-version' = '{version}')"
    )
    if not first_load:
        spark.sql(f"INSERT INTO {table} VALUES (1, 10)")
    base = head(spark, table)

    def write(stage):
        seen.append(stage)
        spark.createDataFrame([(2, 20), (3, 30)], "id BIGINT, n BIGINT").writeTo(stage.table).append()

    done = wap.run(
        spark, table, write=write, audit=audit, id="2026-01-31", on_step=lambda name, stage: steps.append(name)
    )
    there = [] if first_load else [(1, 10)]
    assert rows(spark, table) == [*there, (2, 20), (3, 30)]
    assert steps == ["branched", "written", "audited", "attested", "published", "dropped"]
    assert (done.published, done.attempts, done.run_id, done.rows_quarantined, done.swept) == (
        True,
        1,
        "2026-01-31",
        0,
        (),
    )
    assert done.verdict.figures == {"rows": 2 if first_load else 3, "failed": 0}
    assert seen[0].base_snapshot_id == base and seen[0].table == f"{table}.branch_{done.branch}"
    assert ancestry(spark, table)[-2:] == [done.staged_snapshot_id, done.published_snapshot_id]
    assert (
        len(ancestry(spark, table)) == 3
    )  # before it main's own load, or the empty one that a first branch needs
    assert refs(spark, table) == ["main"]
    [told] = wap.evidence(spark, table).drop("attested_at").collect()
    assert told.asDict() == {
        "evidence_snapshot_id": done.published_snapshot_id,
        "audited_snapshot_id": done.staged_snapshot_id,
        "run_id": "2026-01-31",
        "branch": done.branch,
        "verdict": "passed",
        "rules_sha256": hashlib.sha256(RULES.encode()).hexdigest(),
        "figures": {"rows": "2" if first_load else "3", "failed": "0"},
    }


def test_evidence_changes_no_file_and_names_its_parent(spark, table):
    done = wap.run(spark, table, write=insert(spark, (3, 30)), audit=audit)
    loaded = commits.load(spark, table)
    snapshot = loaded.snapshot(done.published_snapshot_id)
    summary = dict(snapshot.summary())
    assert snapshot.parentId() == done.staged_snapshot_id
    assert not branches.changes_files(loaded, snapshot)
    assert branches.changes_files(loaded, loaded.snapshot(done.staged_snapshot_id))
    assert {key: value for key, value in summary.items() if key.startswith("wap.")} == {
        "wap.audited-snapshot-id": str(done.staged_snapshot_id),
        "wap.base-snapshot-id": str(ancestry(spark, table)[0]),
        "wap.branch": done.branch,
        "wap.figures": '{"failed": "0", "rows": "3"}',
        "wap.rules-sha256": hashlib.sha256(RULES.encode()).hexdigest(),
        "wap.run-id": done.branch,
        "wap.verdict": "passed",
    }


def test_a_three_part_name_and_several_commits(spark, table):
    def write(stage):
        spark.sql(f"INSERT INTO {stage.table} VALUES (3, 30)")
        spark.sql(f"DELETE FROM {stage.table} WHERE id = 1")

    catalog = spark.catalog.currentCatalog()
    done = wap.run(spark, f"{catalog}.{table}", write=write, audit=audit, quarantine=f"{catalog}.{table}_refused")
    assert (done.published, rows(spark, table)) == (True, [(2, 20), (3, 30)])
    assert wap.evidence(spark, f"{catalog}.{table}").count() == 1
    assert wap.sweep(spark, f"{catalog}.{table}", older_than_hours=0) == ()


@pytest.mark.proof(
    "20_write_audit_publish requires that a failed audit leaves the snapshot and the files of main, and "
    "counts its quarantine"
)
def test_a_failed_audit_leaves_main_as_it_was(spark, table):
    spark.sql(
        f"ALTER TABLE {table} CREATE OR REPLACE BRANCH main RETAIN 30 DAYS WITH SNAPSHOT RETENTION 5 SNAPSHOTS"
    )
    before = main_files(spark, table)
    assert len(before[1]) >= 3 and before[0][0][3:] == (2592000000, 5, None)
    done = wap.run(
        spark,
        table,
        write=insert(spark, (3, 30), (1000, 0), (1001, 0)),
        audit=audit,
        quarantine=f"{table}_refused",
    )
    assert main_files(spark, table) == before
    assert refs(spark, table) == ["main"]
    assert (done.published, done.published_snapshot_id, done.rows_quarantined) == (False, None, 2)
    assert done.verdict.reasons == ("2 ids of 1000 and more",)
    assert wap.evidence(spark, table).collect() == []
    assert sorted(map(tuple, spark.table(f"{table}_refused").collect())) == [
        (id, 0, ["id < 1000"], done.branch, done.branch, done.staged_snapshot_id) for id in (1000, 1001)
    ]


def test_a_failed_first_load_leaves_no_main(spark, namespace):
    table = f"{namespace}.t"
    spark.sql(f"CREATE TABLE {table} (id BIGINT, n BIGINT) USING iceberg")
    done = wap.run(spark, table, write=insert(spark, (1000, 0)), audit=audit)
    assert (done.published, done.rows_quarantined, refs(spark, table), rows(spark, table)) == (False, 0, [], [])
    assert wap.evidence(spark, table).collect() == []


def test_quarantined_rows_of_repeated_runs_are_told_apart(spark, table):
    def run():
        return wap.run(
            spark, table, write=insert(spark, (1000, 0)), audit=audit, id="day", quarantine=f"{table}_refused"
        )

    first = run()
    spark.sql(f"ALTER TABLE {table} ADD COLUMN note STRING")
    second = wap.run(
        spark, table, write=insert(spark, (1001, 1, "x")), audit=audit, id="day", quarantine=f"{table}_refused"
    )
    found = spark.table(f"{table}_refused").select("wap_snapshot_id", "wap_run_id", "id", "note").collect()
    assert sorted(map(tuple, found), key=lambda row: row[2]) == [
        (first.staged_snapshot_id, "day", 1000, None),
        (second.staged_snapshot_id, "day", 1001, "x"),
    ]
    for run_id, rest in (("other", {1000, 1001}), ("day", {1001})):
        quarantines.forget(spark, f"{table}_refused", first.staged_snapshot_id, run_id)
        assert {row.id for row in spark.table(f"{table}_refused").collect()} == rest


def test_a_quarantine_that_cannot_take_rows_is_refused_first(spark, table):
    def never(stage):
        raise AssertionError("the write was called")

    ours = "wap_run_id STRING, wap_branch STRING, wap_snapshot_id BIGINT"
    columns = {
        "other": "id BIGINT",
        "strict": f"id BIGINT, {ours}",
        "numbers": "wap_run_id STRING, wap_branch STRING, wap_snapshot_id STRING",
        "texts": f"ID STRING, n DATE, {ours}",
    }
    properties = {"texts": "TBLPROPERTIES ('write.spark.accept-any-schema' = 'true')"}
    for quarantine, expected in [
        (table, "is the table to be published to"),
        (f"{table}_other", "lacks wap_branch, wap_run_id, wap_snapshot_id; drop it"),
        (f"{table}_strict", "needs the table property write.spark.accept-any-schema = true"),
        (f"{table}_numbers", "needs wap_run_id string, wap_branch string, wap_snapshot_id bigint, as the gate"),
        (
            f"{table}_texts",
            f"cannot take rows of {table}: its ID is string, and long in {table}; its n is date, and",
        ),
        ("nowhere.q", "nowhere.q cannot be made: there is no namespace nowhere"),
    ]:
        if (kind := quarantine.rpartition("_")[2]) in columns:
            spark.sql(f"CREATE TABLE {quarantine} ({columns[kind]}) USING iceberg {properties.get(kind, '')}")
        with pytest.raises(ValueError, match=expected):
            wap.run(spark, table, write=never, audit=audit, quarantine=quarantine)

    loads = {"write": insert(spark, (3, 30)), "quarantine": f"{table}_short"}
    spark.sql(f"CREATE TABLE {table}_short (n INT, z INT NOT NULL, {ours}) USING iceberg {properties['texts']}")
    for row, expected in [
        ("1 AS WAP_BRANCH", "column WAP_BRANCH of their own"),  # Spark takes it for wap_branch
        (
            "'x' AS N",
            "cannot take the quarantined rows: its n is int, and string in the rows; its z is NOT NULL, and",
        ),
    ]:
        clashing = Verdict(False, RULES, quarantined=spark.sql(f"SELECT {row}"))
        with pytest.raises(ValueError, match=expected):
            wap.run(spark, table, **loads, audit=lambda df, clashing=clashing: clashing)
    assert refs(spark, table) == ["main"]


# main moves


@pytest.mark.proof("20_write_audit_publish has main moved in its audit, and counts the calls of its write")
def test_main_moves_and_the_write_is_called_again(spark, table):
    moves = but_first(lambda: spark.sql(f"INSERT INTO {table} VALUES (7, 70)"))
    done = wap.run(spark, table, write=insert(spark, (3, 30)), audit=moves)
    assert (done.attempts, rows(spark, table)) == (2, [(1, 10), (2, 20), (3, 30), (7, 70)])
    assert done.verdict.figures["rows"] == 4  # the last audit saw what is published
    assert len(ancestry(spark, table)) == 4 and refs(spark, table) == ["main"]


def test_a_merge_with_a_moved_main_ends_as_one_after_the_other(spark, table):
    def merge(stage):
        spark.sql(
            f"MERGE INTO {stage.table} t USING (SELECT explode(array(1L, 3L)) AS id) s ON t.id = s.id "
            "WHEN MATCHED THEN UPDATE SET n = t.n * 2 WHEN NOT MATCHED THEN INSERT (id, n) VALUES (s.id, 30)"
        )

    moves = but_first(
        lambda: spark.sql(f"UPDATE {table} SET n = n + 1"), lambda: spark.sql(f"INSERT INTO {table} VALUES (3, 1)")
    )
    done = wap.run(spark, table, write=merge, audit=moves)
    assert (done.attempts, rows(spark, table)) == (3, [(1, 22), (2, 21), (3, 2)])


BOUNDED = pytest.mark.proof("test_main_moves_too_often shows that attempts are bounded")


@pytest.mark.parametrize(("refusals", "attempts"), [(1, 2), pytest.param(3, None, marks=BOUNDED)])
def test_a_commit_to_the_branch_that_is_refused(spark, namespace, refusals, attempts):
    """As by a REST server when a commit to another branch took the sequence number: all of it is done again."""
    from py4j.protocol import Py4JJavaError

    table, calls = f"{namespace}.t", []
    spark.sql(f"CREATE TABLE {table} (id BIGINT) USING iceberg")

    def write(stage):
        calls.append(stage.branch)
        spark.sql(f"INSERT INTO {stage.table} VALUES (1)")
        if len(calls) <= refusals:
            arguments = spark._sc._gateway.new_array(spark._jvm.java.lang.Object, 0)
            refused = spark._jvm.org.apache.iceberg.exceptions.CommitFailedException("planted", arguments)
            raise Py4JJavaError("An error occurred", refused)

    run = lambda: wap.run(spark, table, write=write, audit=audit, rebases=2)  # noqa: E731
    if attempts is None:
        with pytest.raises(Py4JJavaError):
            run()
        assert spark.table(table).count() == 0
    else:
        assert run().attempts == attempts and rows(spark, table) == [(1,)]
    assert len(calls) == len(set(calls)) == (attempts or 3) and refs(spark, table) in ([], ["main"])


@pytest.mark.proof(
    "20_write_audit_publish shows it for an append, "
    "test_a_merge_with_a_moved_main_ends_as_one_after_the_other for a MERGE"
)
def test_an_overwrite_with_a_moved_main(spark, namespace):
    table = f"{namespace}.t"
    # not by the first column: the REST stand-in refuses that
    spark.sql(f"CREATE TABLE {table} (n BIGINT, id BIGINT) USING iceberg PARTITIONED BY (id)")
    spark.sql(f"INSERT INTO {table} (id, n) VALUES (1, 10), (2, 20)")

    def overwrite(stage):
        spark.createDataFrame([(11, 1)], "n BIGINT, id BIGINT").writeTo(stage.table).overwritePartitions()

    done = wap.run(
        spark,
        table,
        write=overwrite,
        audit=but_first(lambda: spark.sql(f"INSERT INTO {table} (id, n) VALUES (1, 99), (3, 30)")),
    )
    assert (done.attempts, rows(spark, table)) == (2, [(11, 1), (20, 2), (30, 3)])


def test_main_moves_too_often(spark, table):
    moves = [lambda i=i: spark.sql(f"INSERT INTO {table} VALUES ({i}, 0)") for i in (7, 8, 9)]
    with pytest.raises(
        wap.MainMoved, match="during attempt 2, the last of 2; nothing of this run is on main"
    ) as told:
        wap.run(spark, table, write=insert(spark, (3, 30)), audit=but_first(*moves), rebases=1)
    assert rows(spark, table) == [(1, 10), (2, 20), (7, 0), (8, 0)]
    assert [told.value.expected, told.value.found] == ancestry(spark, table)[1:]
    assert refs(spark, table) == ["main"]


@pytest.mark.proof("test_a_rolled_back_main_is_not_moved_forward_again shows it for the commit that publishes")
def test_main_rolled_back_counts_as_moved(spark, table):
    first = head(spark, table)
    spark.sql(f"INSERT INTO {table} VALUES (666, 0)")  # a mistake that somebody takes back during the audit

    def roll_back():
        spark.sql(f"CALL system.rollback_to_snapshot('{table}', {first})")

    done = wap.run(spark, table, write=insert(spark, (3, 30)), audit=but_first(roll_back))
    assert (done.attempts, rows(spark, table)) == (2, [(1, 10), (2, 20), (3, 30)])


@pytest.mark.proof("test_a_change_that_is_none_of_main_is_tried_again shows it for the commit that publishes")
def test_another_change_of_the_table_moves_nothing(spark, table):
    def expire():
        spark.sql(f"ALTER TABLE {table} SET TBLPROPERTIES ('a' = 'b')")
        spark.sql(f"INSERT INTO {table}.branch_theirs VALUES (8, 80)")
        spark.sql(
            f"CALL system.expire_snapshots(table => '{table}', older_than => current_timestamp(), retain_last => 1)"
        )

    steps = []

    def on_step(name, stage):
        steps.append(name)
        if name == "attested":  # now the audited snapshot is neither a head nor young enough
            expire()

    spark.sql(f"ALTER TABLE {table} CREATE BRANCH theirs")
    done = wap.run(spark, table, write=insert(spark, (3, 30)), audit=but_first(expire), on_step=on_step)
    assert (done.attempts, rows(spark, table)) == (1, [(1, 10), (2, 20), (3, 30)])
    assert refs(spark, table) == ["main", "theirs"] and "attested" in steps


def test_two_runs_at_once(spark, table):
    inner = []

    def run_inner():
        inner.append(wap.run(spark, table, write=insert(spark, (4, 40)), audit=audit, id="second"))

    outer = wap.run(spark, table, write=insert(spark, (3, 30)), audit=but_first(run_inner), id="first")
    assert (inner[0].attempts, outer.attempts) == (
        1,
        2,
    )  # the first to publish wins; the other is told and wins then
    assert rows(spark, table) == [(1, 10), (2, 20), (3, 30), (4, 40)]
    assert [row.run_id for row in wap.evidence(spark, table).collect()] == ["second", "first"]
    assert ancestry(spark, table)[1:] == [
        i for run in (inner[0], outer) for i in (run.staged_snapshot_id, run.published_snapshot_id)
    ]


@pytest.mark.proof(
    "test_a_column_replaced_during_the_audit_is_audited_again ends in a failed audit of its second attempt"
)
def test_a_failed_audit_after_a_rebase(spark, table):
    moves = but_first(lambda: spark.sql(f"INSERT INTO {table} VALUES (5000, 0)"))
    done = wap.run(spark, table, write=insert(spark, (3, 30)), audit=moves, quarantine=f"{table}_refused")
    assert (done.published, done.attempts, done.rows_quarantined) == (False, 2, 1)
    assert rows(spark, table) == [(1, 10), (2, 20), (5000, 0)]


def test_a_column_added_while_the_branch_is_open(spark, table):
    def add_column():
        spark.sql(f"ALTER TABLE {table} ADD COLUMN note STRING")

    done = wap.run(spark, table, write=insert(spark, (3, 30)), audit=but_first(add_column))
    assert (done.attempts, rows(spark, table)) == (1, [(1, 10, None), (2, 20, None), (3, 30, None)])

    def write(stage):  # the schema is the table's: main has the column before anything is published
        spark.sql(f"ALTER TABLE {table} ADD COLUMN more INT")
        spark.sql(f"INSERT INTO {stage.table} VALUES (4, 40, 'x', 5)")

    failed = Verdict(False, RULES)
    assert not wap.run(spark, table, write=write, audit=lambda df: failed).published
    assert spark.table(table).columns == ["id", "n", "note", "more"]
    assert rows(spark, table)[0] == (1, 10, None, None)


# what must not happen

MOMENTS = ("written", "audited", "attested") if PROVE else ("audited",)


def test_rows_committed_to_the_branch_during_the_audit_are_never_published(spark, table):
    seen = []

    def foreign(stage):
        spark.sql(f"INSERT INTO {stage.table} VALUES (5000, 0)")

    for moment in MOMENTS:

        def on_step(name, stage, moment=moment):
            if name == moment:
                foreign(stage)

        stages, before = [], main_files(spark, table)

        def write(stage, stages=stages):
            stages.append(stage)
            spark.sql(f"INSERT INTO {stage.table} VALUES (3, 30)")

        def audited(df, stages=stages, moment=moment):
            if moment == "written":  # then the foreign rows are part of what is audited
                return audit(df)
            verdict = audit(df)
            seen.append(verdict.figures)
            return verdict

        if moment == "written":
            assert not wap.run(spark, table, write=write, audit=audited, on_step=on_step).published
        else:
            with pytest.raises(
                wap.BranchMoved, match=rf"branch {branches.NAME.pattern} of {table} is at snapshot"
            ):
                wap.run(spark, table, write=write, audit=audited, on_step=on_step)
        assert main_files(spark, table) == before
        assert refs(spark, table) == ["main"]
    assert seen == [{"rows": 3, "failed": 0}] * (2 if PROVE else 1)


def test_the_audit_reads_the_staged_snapshot_and_not_the_branch(spark, table):
    stages = []

    def write(stage):
        stages.append(stage)
        spark.sql(f"INSERT INTO {stage.table} VALUES (3, 30)")

    def audited(df):
        spark.sql(f"INSERT INTO {stages[0].table} VALUES (5000, 0)")
        assert sorted(row.id for row in df.collect()) == [1, 2, 3]
        return audit(df)

    with pytest.raises(wap.BranchMoved, match="somebody else committed to it"):
        wap.run(spark, table, write=write, audit=audited)
    assert rows(spark, table) == [(1, 10), (2, 20)]


def test_a_commit_between_the_look_and_the_evidence(spark, table, monkeypatch):
    """The evidence is bound to the branch as it was looked at: it is refused, and the next look tells."""
    real, stages, late = commits.head, [], []

    def head_then_foreign(loaded, branch="main"):
        found = real(loaded, branch)
        if late and branch == stages[0].branch:
            spark.sql(late.pop())
        return found

    def on_step(name, stage):
        stages.append(stage)
        if name == "audited":
            late.append(f"INSERT INTO {stage.table} VALUES (5000, 0)")

    monkeypatch.setattr(commits, "head", head_then_foreign)
    with pytest.raises(wap.BranchMoved, match="is at snapshot .*, but .* was audited"):
        wap.run(spark, table, write=insert(spark, (3, 30)), audit=audit, on_step=on_step)
    assert not late and rows(spark, table) == [(1, 10), (2, 20)]


def test_a_branch_dropped_by_somebody_else(spark, table):
    for moment in MOMENTS:

        def on_step(name, stage, moment=moment):
            if name == moment:
                spark.sql(f"ALTER TABLE {table} DROP BRANCH {stage.branch}")

        with pytest.raises(wap.BranchMoved, match="is gone|at snapshot None"):
            wap.run(spark, table, write=insert(spark, (3, 30)), audit=audit, on_step=on_step)
        assert rows(spark, table) == [(1, 10), (2, 20)]


def test_a_branch_replaced_during_the_write(spark, table):
    spark.sql(f"INSERT INTO {table} VALUES (3, 30)")
    first = ancestry(spark, table)[0]

    def write(stage):
        spark.sql(f"ALTER TABLE {table} REPLACE BRANCH {stage.branch} AS OF VERSION {first}")

    with pytest.raises(wap.BranchMoved, match="no longer descends from snapshot"):
        wap.run(spark, table, write=write, audit=audit)


def test_nothing_staged(spark, table):
    with pytest.raises(wap.NothingStaged, match=rf"committed no snapshot to {table}.branch_\w+; it has to write"):
        wap.run(spark, table, write=lambda stage: None, audit=audit)
    with pytest.raises(wap.NothingStaged, match="committed no changed file"):
        wap.run(spark, table, write=lambda s: spark.table(table).limit(0).writeTo(s.table).append(), audit=audit)
    with pytest.raises(wap.NothingStaged, match="not to the table itself; main moved meanwhile to snapshot"):
        wap.run(spark, table, write=lambda stage: spark.sql(f"INSERT INTO {table} VALUES (3, 30)"), audit=audit)
    assert refs(spark, table) == ["main"]


ANOTHER_PLACE = pytest.mark.proof(
    "an error of the write and one behind the quarantine come through with these tables"
)


@pytest.mark.parametrize(
    ("place", "error"),
    [
        ("write", KeyboardInterrupt),
        pytest.param("audit", ZeroDivisionError, marks=ANOTHER_PLACE),
        pytest.param("on_step", ZeroDivisionError, marks=ANOTHER_PLACE),
        ("quarantine", KeyboardInterrupt),
    ],
)
def test_what_raises_comes_through_and_the_branch_is_dropped(spark, table, place, error):
    def fail(*_):
        raise error("planted")

    before = main_files(spark, table)
    functions = {"write": insert(spark, (3, 30)), "audit": audit, "on_step": None}
    if place == "quarantine":
        functions["on_step"] = lambda name, stage: fail() if name == "quarantined" else None
        functions["write"] = insert(spark, (1000, 0))
    else:
        functions[place] = fail
    with pytest.raises(error, match="planted"):
        wap.run(spark, table, **functions, quarantine=f"{table}_refused")
    assert refs(spark, table) == ["main"] and main_files(spark, table) == before


def test_an_audit_returns_a_verdict(spark, table):
    with pytest.raises(ValueError, match="has to return a verdicts.Verdict; it returned None"):
        wap.run(spark, table, write=insert(spark, (3, 30)), audit=lambda df: None)
    assert rows(spark, table) == [(1, 10), (2, 20)] and refs(spark, table) == ["main"]


def test_wrong_arguments_are_refused_before_anything(spark, table):
    def never(*_):
        raise AssertionError("the write was called")

    good = {"write": never, "audit": audit}
    for wrong, expected in [
        ({"write": "INSERT"}, "write must be a function, found 'INSERT'"),
        ({"audit": None}, "audit must be a function, found None"),
        ({"on_step": 1}, "on_step must be a function or None, found 1"),
        ({"id": "a b"}, "'a b' is not a run id"),
        ({"id": ""}, "'' is not a run id"),
        ({"id": 7}, "id must be a text or None, found 7"),
        ({"rebases": -1}, "rebases must be an integer of at least 0 and of at most 1000, found -1"),
        ({"rebases": True}, "rebases must be an integer of at least 0 and of at most 1000, found True"),
        ({"retain_days": 0}, "retain_days must be an integer of at least 1 and of at most 36500, found 0"),
        ({"sweep_after_hours": "1"}, "sweep_after_hours must be a number of at least 0 and below inf, found '1'"),
        ({"quarantine": "a b.c"}, "is not a table name"),
    ]:
        with pytest.raises(ValueError, match=expected):
            wap.run(spark, table, **(good | wrong))
    for wrong in (-1, float("nan"), float("inf")):  # of a table that is not there: nothing has looked at it
        with pytest.raises(
            ValueError, match=f"sweep_after_hours must be a number of at least 0 and below inf, found {wrong}"
        ):
            wap.run(spark, f"{table}x", **good, sweep_after_hours=wrong)
    with pytest.raises(ValueError, match=f"no table {table}x; "):
        wap.run(spark, f"{table}x", **good)
    spark.sql(f"ALTER TABLE {table} CREATE BRANCH x")
    for part in ("history", "branch_x", "position_deletes", f"snapshot_id_{head(spark, table)}"):
        for call in (
            lambda name: wap.run(spark, name, **good),
            lambda name: wap.publish(spark, name, "x"),
            lambda name: wap.sweep(spark, name, older_than_hours=0),
        ):
            with pytest.raises(
                ValueError, match=f"^{table}.{part} is a part of the table {table}; name that one$"
            ):
                call(f"{table}.{part}")
    with pytest.raises(
        ValueError, match="branch_y is not an Iceberg table: ValidationException: Cannot use branch"
    ):
        wap.run(spark, f"{table}.branch_y", **good)
    if os.environ.get("WORKBENCH_TEST_ENVIRONMENT") != "rest":  # whose server knows no views
        spark.sql(f"CREATE VIEW {table}_view AS SELECT 1 AS id")
        with pytest.raises(ValueError, match="_view"):
            wap.run(spark, f"{table}_view", **good)
        spark.sql(f"DROP VIEW {table}_view")
    for conf in ("spark.wap.branch", "spark.wap.id"):
        spark.conf.set(conf, "x")
        try:
            with pytest.raises(ValueError, match=f"the session has {conf} = x"):
                wap.run(spark, table, **good)
        finally:
            spark.conf.unset(conf)


# the same id again


def test_an_id_is_published_once(spark, table):
    done = wap.run(spark, table, write=insert(spark, (3, 30)), audit=audit, id="day-1")
    with pytest.raises(
        wap.AlreadyPublished, match=f"run day-1 of {table} is already published, by evidence"
    ) as told:
        wap.run(spark, table, write=insert(spark, (3, 30)), audit=audit, id="day-1")
    assert told.value.snapshot_id == done.published_snapshot_id
    assert wap.run(spark, table, write=insert(spark, (4, 40)), audit=audit, id="day.1").published
    assert rows(spark, table) == [(1, 10), (2, 20), (3, 30), (4, 40)]
    first = ancestry(spark, table)[0]
    spark.sql(f"CALL system.rollback_to_snapshot('{table}', {first})")  # then it is not on main any more
    assert wap.run(spark, table, write=insert(spark, (3, 30)), audit=audit, id="day-1").published


def test_an_id_published_by_somebody_else_during_the_audit(spark, table):
    def other():
        with pytest.raises(wap.AlreadyStaged, match="whose process lives; wait for that run"):
            wap.run(spark, table, write=insert(spark, (3, 31)), audit=audit, id="day")
        wap.run(spark, table, write=insert(spark, (3, 32)), audit=audit, id="day", takeover=True)

    with pytest.raises(wap.BranchMoved):
        wap.run(spark, table, write=insert(spark, (3, 30)), audit=but_first(other), id="day")
    assert rows(spark, table) == [(1, 10), (2, 20), (3, 32)]


@pytest.mark.proof(
    "test_an_id_that_is_published_while_another_run_of_it_begins_is_seen shows the second look of a run"
)
def test_an_id_of_two_that_began_at_the_same_moment_is_published_once(spark, table):
    def the_same_unseen():  # two schedulers: neither saw the other's branch
        name = branches.fresh_name
        try:
            branches.fresh_name = lambda run_id: name("unseen")
            wap.run(spark, table, write=insert(spark, (4, 41)), audit=audit, id="next", takeover=False)
        finally:
            branches.fresh_name = name

    hidden = branches.of_run
    try:
        branches.of_run = lambda loaded, run_id: []
        with pytest.raises(wap.AlreadyPublished):
            wap.run(spark, table, write=insert(spark, (4, 40)), audit=but_first(the_same_unseen), id="next")
    finally:
        branches.of_run = hidden
    assert rows(spark, table) == [(1, 10), (2, 20), (4, 41)]


def abandoned(spark, table, run_id, *, made="20250101000000", host=None, process=None, commit=False):
    """Leave a branch as a dead run of this machine does; returns its name."""
    if process is None:
        gone = subprocess.Popen([sys.executable, "-c", ""])
        gone.wait()
        process = gone.pid
    name = f"wap_{made}_{run_id}_{branches._checksum(run_id, 8)}_{host or branches._host()}p{process}_0a0a0a"
    spark.sql(f"ALTER TABLE {table} CREATE BRANCH {name}")
    if commit:
        spark.sql(f"INSERT INTO {table}.branch_{name} VALUES (999, 0)")
    return name


def test_what_a_dead_run_left_is_dropped_and_its_id_runs_again(spark, table):
    abandoned(spark, table, "day", commit=True)
    assert wap.run(spark, table, write=insert(spark, (3, 30)), audit=audit, id="day").published
    assert rows(spark, table) == [(1, 10), (2, 20), (3, 30)] and refs(spark, table) == ["main"]

    left = abandoned(spark, table, "next", host="abcdef", commit=True)
    with pytest.raises(wap.AlreadyStaged, match=f"already staged on branch {left}, made on another machine"):
        wap.run(spark, table, write=insert(spark, (4, 40)), audit=audit, id="next")
    assert wap.run(spark, table, write=insert(spark, (4, 40)), audit=audit, id="next", takeover=True).published
    assert rows(spark, table)[-1] == (4, 40) and refs(spark, table) == ["main"]


def test_what_was_published_by_hand_is_reported_as_published(spark, table):
    left = abandoned(spark, table, "day", commit=True)
    loaded = commits.load(spark, table)
    stage = wap.Stage(table, left, "day", 1, head(spark, table), head(spark, table))
    top = attestation.commit(spark, stage, commits.head(loaded, left), Verdict(True, RULES))
    spark.sql(f"CALL system.fast_forward('{table}', 'main', '{left}')")
    with pytest.raises(wap.AlreadyPublished) as told:
        wap.run(spark, table, write=insert(spark, (3, 30)), audit=audit, id="day")
    assert told.value.snapshot_id == top == head(spark, table)
    assert refs(spark, table) == ["main"]


def test_sweep_drops_what_dead_runs_left_and_nothing_else(spark, table):
    old = abandoned(spark, table, "old")
    fresh = abandoned(spark, table, "fresh", commit=True)  # its last commit is of now
    far = abandoned(spark, table, "far", host="abcdef")
    living = abandoned(spark, table, "living", process=os.getppid())
    spark.sql(f"ALTER TABLE {table} CREATE BRANCH wap_20250101000000_mine")
    spark.sql(f"ALTER TABLE {table} CREATE BRANCH audit")
    spark.sql(f"INSERT INTO {table} VALUES (3, 30)")
    label = living.replace("living", "label")  # a tag of such a name is nobody's branch
    spark.sql(f"ALTER TABLE {table} CREATE TAG {label}")
    theirs = ["audit", "main", "wap_20250101000000_mine", label]
    assert wap.sweep(spark, table, older_than_hours=1) == ()  # all of them point to a snapshot of now
    dropped = wap.run(spark, table, write=insert(spark, (4, 40)), audit=audit, sweep_after_hours=0).swept
    assert sorted(dropped) == sorted([old, fresh, far])
    assert refs(spark, table) == sorted([*theirs, living])
    for wrong in (-1, True, "1", float("nan"), float("inf")):
        with pytest.raises(ValueError, match="older_than_hours must be a number of at least 0"):
            wap.sweep(spark, table, older_than_hours=wrong)


def test_how_long_a_branch_is_idle(spark, table):
    from datetime import UTC, datetime

    made = abandoned(spark, table, "a", made="20990101000000")
    used = abandoned(spark, table, "b", commit=True)
    loaded = commits.load(spark, table)
    assert branches._last_used(loaded, made) == datetime(2099, 1, 1, tzinfo=UTC)
    committed = spark.table(f"{table}.snapshots").where(f"snapshot_id = {commits.head(loaded, used)}").collect()
    assert f"{branches._last_used(loaded, used):%Y%m%d%H%M%S.%f}" == f"{committed[0].committed_at:%Y%m%d%H%M%S.%f}"


# people who publish themselves


def test_staging_attest_publish(spark, table):
    with wap.staging(spark, table, branch="mine") as stage:
        spark.sql(f"INSERT INTO {table} VALUES (3, 30)")
        assert len(rows(spark, table)) == 3  # within the block the plain name is the branch
    assert rows(spark, table) == [(1, 10), (2, 20)]
    with pytest.raises(wap.NotAudited, match="branch mine of .* is not published: its head has no evidence"):
        wap.publish(spark, table, "mine")
    assert wap.attest(spark, stage, audit=lambda df: Verdict(False, RULES)).evidence_snapshot_id is None
    with pytest.raises(wap.NotAudited):
        wap.publish(spark, table, "mine")
    told = wap.attest(spark, stage, audit=audit)
    assert wap.publish(spark, table, "mine") == told.evidence_snapshot_id == head(spark, table)
    assert rows(spark, table) == [(1, 10), (2, 20), (3, 30)] and refs(spark, table) == ["main"]
    with pytest.raises(wap.AlreadyPublished, match="branch mine of .* is already published") as again:
        wap.publish(spark, table, "mine")
    assert again.value.snapshot_id == told.evidence_snapshot_id
    with pytest.raises(wap.UnknownBranch, match=f"{table} has no branch nowhere to publish; it has none"):
        wap.publish(spark, table, "nowhere")
    spark.sql(f"ALTER TABLE {table} CREATE BRANCH other")
    spark.sql(f"ALTER TABLE {table} CREATE TAG label")
    for name in ("main", "nowhere"):
        with pytest.raises(wap.UnknownBranch, match=f"no branch {name} to publish; it has other"):
            wap.publish(spark, table, name)
    with pytest.raises(ValueError, match="branch must be a text, found None"):
        wap.publish(spark, table, None)
    with pytest.raises(wap.UnknownBranch, match="no branch label to publish; label is a tag; it has other"):
        wap.publish(spark, table, "label")


def test_staging_never_rebases(spark, table):
    with wap.staging(spark, table, branch="mine") as stage:
        spark.sql(f"INSERT INTO {table} VALUES (3, 30)")
    wap.attest(spark, stage, audit=audit)
    spark.sql(f"INSERT INTO {table} VALUES (7, 70)")
    with pytest.raises(wap.MainMoved) as told:
        wap.publish(spark, table, "mine")
    assert (told.value.expected, told.value.found) == (stage.base_snapshot_id, head(spark, table))
    assert rows(spark, table) == [(1, 10), (2, 20), (7, 70)] and refs(spark, table) == ["main", "mine"]


def test_the_newest_verdict_counts(spark, table):
    def fails(df):
        return Verdict(False, RULES)

    def raises(df):
        raise ZeroDivisionError("planted")

    def fails_while_another_passes(df):
        assert wap.attest(spark, stage, audit=audit).evidence_snapshot_id
        return fails(df)

    wap.run(spark, table, write=insert(spark, (9, 90)), audit=audit)  # main ends in evidence, which stays
    with wap.staging(spark, table, branch="mine") as stage:
        pass
    with pytest.raises(wap.NothingStaged):
        wap.attest(spark, stage, audit=audit)
    spark.sql(f"INSERT INTO {stage.table} VALUES (3, 30)")
    for later in (fails, raises, fails_while_another_passes):
        first = wap.attest(spark, stage, audit=audit)
        assert first.evidence_snapshot_id == head(spark, table, "mine")
        if later is raises:
            with pytest.raises(ZeroDivisionError):
                wap.attest(spark, stage, audit=later)
        else:
            assert wap.attest(spark, stage, audit=later).audited_snapshot_id == first.audited_snapshot_id
        assert head(spark, table, "mine") == first.audited_snapshot_id
        with pytest.raises(wap.NotAudited, match="its head has no evidence"):
            wap.publish(spark, table, "mine")
    assert rows(spark, table) == [(1, 10), (2, 20), (9, 90)]

    # and so does what is committed after the evidence
    wap.attest(spark, stage, audit=audit)
    spark.sql(f"INSERT INTO {table}.branch_mine VALUES (5000, 0)")
    with pytest.raises(wap.NotAudited, match="its head has no evidence"):
        wap.publish(spark, table, "mine")


def forged(spark, table, audited=None, **summary):
    """Commit rows whose summary says that they are evidence."""
    audited = audited or head(spark, table, "mine")
    writer = spark.createDataFrame([(5000, 0)], "id BIGINT, n BIGINT").writeTo(f"{table}.branch_mine")
    entries = {"audited-snapshot-id": str(audited), "verdict": "passed", "rules-sha256": "0", **summary}
    for key, value in entries.items():
        writer = writer.option(f"snapshot-property.wap.{key}", value)
    writer.append()


@pytest.mark.parametrize(
    ("summary", "expected"),
    [
        ({}, "its evidence adds or removes files, which nobody audited"),
        ({"audited": 17}, "its evidence is about snapshot 17, but stands on snapshot"),
        ({"verdict": "failed"}, "names no rules, or no passed audit"),
    ],
)
def test_evidence_is_looked_at(spark, table, summary, expected):
    with wap.staging(spark, table, branch="mine"):
        spark.sql(f"INSERT INTO {table} VALUES (3, 30)")
    forged(spark, table, **summary)
    with pytest.raises(wap.NotAudited, match=expected):
        wap.publish(spark, table, "mine")
    assert rows(spark, table) == [(1, 10), (2, 20)]
    spark.sql(
        f"CALL system.fast_forward('{table}', 'main', 'mine')"
    )  # past the gate: it is no evidence there either
    assert wap.evidence(spark, table).collect() == []


def nothing_in(*stagings):
    """Enter and leave, one within the other."""
    with ExitStack() as stack:
        for staging in stagings:
            stack.enter_context(staging)


def test_staging_always_restores_the_session(spark, table):
    for error in (ZeroDivisionError, KeyboardInterrupt, GeneratorExit):
        with pytest.raises(error), wap.staging(spark, table, branch="mine"):
            assert spark.conf.get("spark.wap.branch") == "mine"
            raise error
        assert spark.conf.get("spark.wap.branch", None) is None
        assert refs(spark, table) == ["main"]
    with pytest.raises(ValueError, match="the session has spark.wap.branch = mine"):
        nothing_in(wap.staging(spark, table, branch="mine"), wap.staging(spark, table, branch="nested"))
    assert spark.conf.get("spark.wap.branch", None) is None and refs(spark, table) == ["main"]
    with wap.staging(spark, table, branch="mine"):
        pass
    with pytest.raises(wap.AlreadyStaged, match=f"{table} has a branch or tag mine already"):
        nothing_in(wap.staging(spark, table, branch="mine"))


def test_staging_refuses_a_table_that_would_ignore_the_branch(spark, namespace):
    table = f"{namespace}.t"
    spark.sql(f"CREATE TABLE {table} (id BIGINT, n BIGINT) USING iceberg")
    with pytest.raises(ValueError, match="Iceberg would ignore the branch and write to main"):
        nothing_in(wap.staging(spark, table, branch="mine"))
    with wap.staging(spark, table, branch="mine", enable=True) as stage:
        spark.sql(f"INSERT INTO {table} VALUES (3, 30)")
    assert rows(spark, table) == []
    wap.attest(spark, stage, audit=audit)
    wap.publish(spark, table, "mine")
    assert rows(spark, table) == [(3, 30)]
    for wrong in ("main", "a\tb", "", branches.fresh_name("x")):
        with pytest.raises(ValueError, match="cannot be the name of a branch"):
            nothing_in(wap.staging(spark, table, branch=wrong))
    with pytest.raises(ValueError, match="retain_days must be an integer of at least 1, found 0"):
        nothing_in(wap.staging(spark, table, branch="mine", retain_days=0))


def test_branches_expire_by_themselves(spark, table):
    with wap.staging(spark, table, branch="mine", retain_days=3):
        pass
    [mine] = spark.table(f"{table}.refs").where("name = 'mine'").collect()
    assert (mine.max_reference_age_in_ms, mine.max_snapshot_age_in_ms) == (3 * 86400000, 3 * 86400000)


# other processes

KILLS = [("quarantined", "failed"), ("attested", "passed")]  # all of them: make prove PART=wap-soak
ATTESTED = pytest.mark.proof(
    "a run that is killed behind its quarantine shows the rerun, and "
    "test_what_a_dead_run_left_is_dropped_and_its_id_runs_again one that publishes"
)


@pytest.fixture(scope="module")
def killed(spark):
    """Tables of runs that were killed by signal 9, all at once because each has to start a JVM."""
    with own_namespace(spark, "t_killed") as name:
        children = [(f"{name}.{step}_{kind}", step, kind) for step, kind in (KILLS if PROVE else KILLS[:1])]
        started = [processes.kill(spark, table, step, kind) for table, step, kind in children]
        for process in started:
            processes.killed(process)
        yield {(step, kind): table for table, step, kind in children}


@pytest.mark.parametrize(("step", "kind"), [KILLS[0], pytest.param(*KILLS[1], marks=ATTESTED)])
def test_killed_between_two_steps_and_run_again(spark, killed, step, kind):
    found = processes.after_kill(spark, killed[step, kind], step, kind)
    assert found == processes.after_kill_expected(step, kind)


@pytest.mark.proof(
    "test_two_runs_at_once has one run within another one's audit, and "
    "test_two_processes_on_one_lake_lose_no_row writers in two processes"
)
def test_two_auditors_in_two_processes(spark, namespace, tmp_path):
    rounds = 5
    attempts = processes.two_auditors(spark, f"{namespace}.t", tmp_path, rounds=rounds)
    if ENVIRONMENT == "rest":
        # the server refuses what Spark commits to one branch behind a commit to the other: that is an attempt, too
        assert all(pair >= [1, 2] and pair[1] <= 6 for pair in attempts), attempts
    else:
        assert attempts == [[1, 2]] * rounds
    assert processes.found(spark, f"{namespace}.t") == processes.expected(rounds)


def test_an_id_that_is_published_while_another_run_of_it_begins_is_seen(spark, table, monkeypatch):
    """The whole of one run fits between the first look of another and its branch."""
    make, left = (
        branches.create,
        [lambda: wap.run(spark, table, write=insert(spark, (3, 30)), audit=audit, id="x")],
    )

    def late(*arguments, **options):
        if left:
            left.pop()()
        return make(*arguments, **options)

    monkeypatch.setattr(branches, "create", late)
    with pytest.raises(wap.AlreadyPublished):
        wap.run(spark, table, write=insert(spark, (3, 30)), audit=audit, id="x")
    assert rows(spark, table) == [(1, 10), (2, 20), (3, 30)] and refs(spark, table) == ["main"]


def test_cached_metadata_hides_nothing(spark, table, namespace):
    spark.table(f"{table}.snapshots").cache().count()
    try:
        wap.run(spark, table, write=insert(spark, (3, 30)), audit=audit, id="x")
        with pytest.raises(wap.AlreadyPublished):
            wap.run(spark, table, write=insert(spark, (3, 30)), audit=audit, id="x")
        assert [row.run_id for row in wap.evidence(spark, table).collect()] == ["x"]
    finally:
        spark.catalog.clearCache()
    assert rows(spark, table) == [(1, 10), (2, 20), (3, 30)]


def test_a_column_replaced_during_the_audit_is_audited_again(spark, table):
    def replace():
        spark.sql(f"ALTER TABLE {table} DROP COLUMN n")
        spark.sql(f"ALTER TABLE {table} ADD COLUMN n BIGINT")

    seen = []

    def complete(df):
        seen.append(df.where("n IS NULL").count())
        return Verdict(seen[-1] == 0, "n is complete")

    done = wap.run(
        spark, table, write=insert(spark, (3, 30)), audit=lambda df: (complete(df), seen[1:] or replace())[0]
    )
    assert (done.published, done.attempts, seen) == (False, 2, [0, 2])

    spark.sql(f"DELETE FROM {table}")
    seen, steps = [], []

    def on_step(name, stage):  # replaced as soon as it is written: the audit still sees the old one
        if name == "written" and name not in steps:
            replace()
        steps.append(name)

    done = wap.run(spark, table, write=insert(spark, (3, 30)), audit=complete, on_step=on_step)
    assert (done.published, done.attempts, seen) == (True, 2, [0, 0])
    assert rows(spark, table) == [(3, 30)]


@pytest.mark.proof(
    "test_threads_of_one_session_keep_their_own_marks shows that commits of threads keep their summaries"
)
def test_the_gate_works_from_a_thread(spark, table):
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(1) as pool:
        done = pool.submit(wap.run, spark, table, write=insert(spark, (3, 30)), audit=audit).result()
    assert done.published and rows(spark, table) == [(1, 10), (2, 20), (3, 30)]


@pytest.mark.proof("test_quarantined_rows_of_repeated_runs_are_told_apart forgets one run and no other")
def test_only_the_dead_runs_own_quarantined_rows_are_forgotten(spark, table, namespace):
    refused = f"{namespace}.q"
    done = wap.run(spark, table, write=insert(spark, (2000, 1)), audit=audit, id="a", quarantine=refused)
    quarantines.forget(spark, refused, done.staged_snapshot_id, "b")
    assert spark.table(refused).count() == 1
    quarantines.forget(spark, refused, done.staged_snapshot_id, "a")
    assert spark.table(refused).count() == 0
