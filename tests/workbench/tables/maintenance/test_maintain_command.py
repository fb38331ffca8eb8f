"""`workbench maintain` in the session that is there: sentences, exit codes, and one table after another."""

import re
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from conftest import ENVIRONMENT
from digests import digest
from maintenance_cases import (
    MERGE_ON_READ,
    PLAIN,
    append,
    data_files,
    folder,
    ids,
    made,
    old,
    raise_conflict,
)
from typer.testing import CliRunner

from workbench.tables import commits, maintenance
from workbench.tables.doctor import versions
from workbench.tables.maintenance import expiry, manifests
from workbench_ops.cli import app

OFTEN = "keep_snapshots: 1\nsnapshots_older_than_days: 0\nmin_manifests: 4\n"
COMPACTION = "actions: [compact_data]\n"


def call(*arguments):
    """Return (exit code, what is printed on both streams); what is no refusal comes through."""
    said = CliRunner().invoke(app, ["maintain", *map(str, arguments)])
    if said.exception and not isinstance(said.exception, SystemExit):
        raise said.exception
    return said.exit_code, said.output


@pytest.fixture
def policy(tmp_path):
    def written(text=OFTEN):
        path = tmp_path / "policy.yml"
        path.write_text(text)
        return ("--environment", ENVIRONMENT, "--policy", path)

    return written


def without_bytes(text):
    return re.sub(r"[\d,]+ bytes", "N bytes", text)


def test_a_plan_is_said_and_changes_nothing(spark, namespace, policy):
    table = made(spark, f"{namespace}.t", appends=6)
    before = ids(spark, table), data_files(spark, table), digest(spark, table)
    code, text = call(table, *policy(), "--plan", "--remove-orphans")
    assert (code, without_bytes(text).replace(str(folder(spark, table)), "/t")) == (
        0,
        f"{table}: compact_data, rewrite_manifests, expire_snapshots, remove_orphans\n"
        "plan   compact_data: 6 data files of 1 partition become about 1\n"
        "       6 files before, 1 after; about N bytes read, N bytes written\n"
        "       who reads changes from here on has to skip the snapshots of operation replace\n"
        "plan   rewrite_manifests: 6 manifests become about 1, ordered by partition\n"
        "       6 files before, 1 after; about N bytes read, N bytes written\n"
        "plan   expire_snapshots: 5 snapshots go, and 0 data or delete files that only they needed\n"
        "       0 files before, 0 after; about no bytes\n"
        "       5 snapshots can no longer be read, compared or gone back to\n"
        "plan   remove_orphans: files below file:///t that no snapshot knows and that are older than 3 days are "
        "found, and removed when told so\n",
    )
    options = (table, *policy(f"{OFTEN}actions: [expire_snapshots]\n"), "--plan", "--mark")
    code, text = call(*options, before[0][2])
    assert code == 0 and "expire_snapshots: 2 snapshots go" in text and "3 older snapshots stay" in text
    code, text = call(*options, 17)
    assert code == 2 and text.startswith("workbench: 17 is neither a snapshot of ")
    assert (ids(spark, table), data_files(spark, table), digest(spark, table)) == before


def test_it_is_done_and_then_there_is_nothing_to_do(spark, namespace, policy):
    table = made(spark, f"{namespace}.t", appends=6)
    before = digest(spark, table)
    code, text = call(table, *policy())
    assert (code, without_bytes(text)) == (
        0,
        f"{table}: compact_data, rewrite_manifests, expire_snapshots, remove_orphans\n"
        "done   compact_data: 6 files before, 1 after, N bytes read, 1 commit, 1 try\n"
        "done   rewrite_manifests: 7 files before, 1 after, 1 commit, 1 try\n"
        "done   expire_snapshots: 0 files deleted, 1 commit, 1 try\n"
        "note   expire_snapshots: 5 snapshots went, 5 manifests and manifest lists with them\n"
        "done   remove_orphans: 0 orphans found, 0 deleted\n",
    )
    assert (digest(spark, table), data_files(spark, table)) == (before, 1)
    assert call(table, *policy(COMPACTION)) == (0, f"{table}: nothing to do\n")


def test_orphans_are_named_until_their_removal_is_told(spark, namespace, policy):
    table = made(spark, f"{namespace}.t", appends=1)
    there = [folder(spark, table) / "data" / f"orphan_{n:02}.parquet" for n in range(12)]
    for path in there:
        path.write_text("x")
        old(path)
    hidden = [folder(spark, table) / "data" / name for name in ("_one.parquet", ".two.parquet")]
    for path in hidden:  # Iceberg's action does not list them
        path.write_text("x")
        old(path)
    options, head = (table, *policy("actions: [remove_orphans]")), f"{table}: remove_orphans\n"
    code, text = call(*options)
    named = [line for line in text.splitlines() if line.endswith(".parquet")]
    assert code == 1 and text.startswith(f"{head}done   remove_orphans: 12 orphans found, 0 deleted\n")
    assert [line.rpartition("/")[2] for line in named] == [path.name for path in there[:10]]
    assert text.endswith(
        "       and 2 more\nleft   remove_orphans: --remove-orphans deletes them; the policy's actions may leave "
        "remove_orphans out\n"
    )
    assert all(path.exists() for path in there)
    assert call(*options, "--remove-orphans") == (
        0,
        f"{head}done   remove_orphans: 12 orphans found, 12 deleted\n",
    )
    assert not any(path.exists() for path in there) and all(path.exists() for path in hidden)
    unknown = {one.rpartition("/")[2] for one in maintenance.inventory(spark, table).unknown}
    assert unknown >= {path.name for path in hidden}


@pytest.mark.proof("test_orphans_are_named_until_their_removal_is_told shows hidden files beside its orphans")
def test_hidden_files_are_no_orphans(spark, namespace, policy):
    """Iceberg's action does not list them."""
    table = made(spark, f"{namespace}.t", appends=1)
    place = folder(spark, table) / "data"
    (place / "_work").mkdir()
    there = [place / name for name in ("_one.parquet", ".two.parquet", "_work/three.parquet", "four.parquet")]
    for path in there:
        path.write_text("x")
        old(path)
    code, text = call(table, *policy("actions: [remove_orphans]"), "--remove-orphans")
    assert (code, text.endswith("1 orphan found, 1 deleted\n")) == (0, True)
    assert [path.exists() for path in there] == [True, True, True, False]
    unknown = {one.rpartition("/")[2] for one in maintenance.inventory(spark, table).unknown}
    assert unknown >= {"_one.parquet", ".two.parquet", "three.parquet"}


@pytest.mark.proof(
    "test_a_plan_is_said_and_changes_nothing shows a mark that holds and one that is refused, "
    "test_who_holds_what all else"
)
def test_a_mark_holds_its_snapshot_and_a_lost_one_is_refused(spark, namespace, policy):
    table = made(spark, f"{namespace}.t", appends=4)
    spark.sql(f"ALTER TABLE {table} CREATE TAG reader AS OF VERSION {ids(spark, table)[1]}")
    options = (table, *policy(f"{OFTEN}actions: [expire_snapshots]\nsolitary_refs: [reader]\n"), "--plan")
    first, _, third, _ = ids(spark, table)  # the tag holds the second itself, and the newest stays
    for marks, gone, stay in (((), 2, 0), ((third,), 1, 1), (("reader",), 1, 1), ((third, first), 0, 2)):
        code, text = call(*options, *(word for mark in marks for word in ("--mark", mark)))
        found = [re.search(what, text) for what in (r"expire_snapshots: (\d)", r"(\d) older snapshots? stay")]
        assert (code, [int(one[1]) if one else 0 for one in found]) == (0, [gone, stay]), text
    code, text = call(*options, "--mark", 17, "--mark", "reader")
    assert code == 2 and text.startswith("workbench: 17 is neither a snapshot of ")
    code, text = call(*options, "--mark", "reeder")
    assert code == 2 and text.startswith("workbench: 'reeder' is neither a snapshot of ")


def test_one_table_does_not_stop_the_next(spark, namespace, policy, monkeypatch):
    away = {
        "": "org.apache.iceberg.spark.SparkCatalog", ".type": "jdbc", ".uri": "jdbc:sqlite:file:/nowhere/c.db",
        ".warehouse": "/nowhere",
    }  # fmt: skip
    table = made(spark, f"{namespace}.t", appends=5)
    try:
        for name, text in away.items():
            spark.conf.set(f"spark.sql.catalog.away{name}", text)
        code, text = call("away.a.b", f"{namespace}.x", table, *policy(COMPACTION))
    finally:
        for name in away:
            spark.conf.unset(f"spark.sql.catalog.away{name}")
    lines = text.splitlines()
    assert code == 2 and lines[0].startswith("workbench: away.a.b cannot be looked at: ")
    assert "Failed to connect" in lines[0] and lines[1].startswith(f"workbench: no table {namespace}.x; ")
    assert lines[2] == f"{table}: compact_data" and lines[3].startswith("done   compact_data: 5 files before, 1 ")
    assert len(lines) == 4 and data_files(spark, table) == 1


@pytest.mark.proof("test_which_remarks_are_for_a_person shows the exit code of each such remark")
def test_a_limit_is_no_reason_to_wake_anybody_unless_it_leaves_no_room_at_all(spark, namespace, policy):
    table = made(spark, f"{namespace}.t", appends=6)
    code, text = call(table, *policy(f"{OFTEN}limits: {{max_commits: 1}}\n"))
    assert code == 0 and "note   expire_snapshots: not begun: max_commits is reached\n" in text
    assert "done   compact_data: 6 files before, 1 after" in text
    for n in range(6, 12):
        append(spark, table, n)
    code, text = call(table, *policy(f"{COMPACTION}limits: {{max_bytes: 1}}\n"))
    assert code == 1 and text.endswith(
        "left   compact_data: max_bytes leaves no room for the table's files; the next run will have no more, so "
        "the limit has to be raised\n"
    )


def test_what_the_table_refuses_is_left(spark, namespace, policy):
    table = made(spark, f"{namespace}.t", appends=3)
    spark.sql(f"ALTER TABLE {table} SET TBLPROPERTIES ('gc.enabled' = 'false')")
    said = (
        f"{table}: nothing to do\n"
        "left   no snapshot is expired: the table has gc.enabled false, its files may belong to others\n"
        "left   no orphan is looked for: the table has gc.enabled false, its files may belong to others\n"
    )
    assert call(table, *policy()) == (1, said)
    assert call(table, *policy(), "--plan") == (1, said)
    spark.sql(f"ALTER TABLE {table} UNSET TBLPROPERTIES ('gc.enabled')")  # or it could not be dropped


@pytest.mark.proof(
    "test_an_error_carries_what_was_done_before_it shows what the command prints then, "
    "test_which_remarks_are_for_a_person the exit code"
)
def test_what_writers_refuse_is_left_and_an_error_in_the_middle_is_said(spark, namespace, policy, monkeypatch):
    tables = [made(spark, f"{namespace}.{name}", appends=4) for name in "ab"]
    options = (*tables, *policy(f"{OFTEN}actions: [rewrite_manifests, expire_snapshots]\n"))

    def refused(spark, table, *, tries):
        raise_conflict(spark, table)

    def full(spark, table, *rest, **more):
        raise error if table == tables[0] else ValueError("reader is gone")

    monkeypatch.setattr(manifests, "rewrite", refused)
    monkeypatch.setattr(expiry, "expire", full)
    error = OSError("No space left on device")
    code, text = call(*options)
    assert (
        code == 1 and text.count("left   rewrite_manifests: left as they are: ValidationException: Missing ") == 1
    )
    assert f"workbench: {tables[0]} was left in the middle: No space left on device\n" in text
    before = "       done before: rewrite_manifests: 0 files before, 0 after, 0 commits, 0 tries\n"
    assert before in text and "Traceback" not in text
    assert text.endswith(
        "done   expire_snapshots: 0 files deleted, 0 commits, 0 tries\n"
        "left   expire_snapshots: nothing is expired: reader is gone\n"
    )
    assert call(tables[0], *options[2:])[0] == 1
    error = TypeError("a defect")
    code, text = call(*options)
    assert (
        code == 1 and "\nTypeError: a defect\n" in text and text.endswith("nothing is expired: reader is gone\n")
    )


def test_nothing_is_done_while_the_pointer_is_in_doubt(spark, namespace, policy, monkeypatch):
    table = made(spark, f"{namespace}.t", appends=5)
    places = []
    for n in range(5, 8):
        commits.forget(spark, table)
        places.append(commits.load(spark, table).operations().current().metadataFileLocation())
        append(spark, table, n)
    commits.forget(spark, table)
    newest = commits.load(spark, table).operations().current().metadataFileLocation()
    swap = (spark.conf.get("spark.sql.defaultCatalog"), *table.split("."))
    versions.swap_in_jdbc(spark, *swap, seen=newest, to=places[0], before=None)
    commits.forget(spark, table)
    for more in ((), ("--plan",)):
        code, text = call(table, *policy(COMPACTION), *more)
        last = text.splitlines()[-1]
        assert code == 1 and last.startswith("left   nothing is done, as a commit would go on from where the ")
        assert f"pointer is: the catalog names {places[0]}, and " in last and "done " not in text
    versions.swap_in_jdbc(spark, *swap, seen=places[0], to=newest, before=places[2])
    commits.forget(spark, table)
    assert len(ids(spark, table)) == 8

    def lists_nothing(io, location):
        raise PermissionError("s3:ListBucket is not allowed\nand more")

    monkeypatch.setattr(versions, "newer", lists_nothing)
    code, text = call(table, *policy(COMPACTION))
    noted = "note   whether the pointer is an old one cannot be told: s3:ListBucket is not allowed\n"
    assert code == 0 and noted in text and "done   compact_data: 8 files before, 1 after" in text


@pytest.mark.proof(
    "test_a_run_that_was_killed_and_is_begun_again_is_harmless shows a plan whose work is done: no file "
    "is taken twice"
)
def test_a_plan_that_another_run_has_overtaken_does_nothing_twice(spark, namespace, policy):
    """As where two of them begin at once, and the first is through when the second begins to work."""
    table = made(spark, f"{namespace}.t", appends=6)
    options = {"policy": maintenance.read_policy(policy()[-1])}
    before, both = digest(spark, table), [maintenance.plan(spark, table, **options) for _ in "ab"]
    first, second = ({one.name: one for one in maintenance.run(spark, each)} for each in both)
    assert (first["compact_data"].files, second["compact_data"].files) == (6, 0)
    assert (digest(spark, table), data_files(spark, table)) == (before, 1)
    assert maintenance.inventory(spark, table).missing == ()


@pytest.mark.proof(
    "test_a_tag_between_the_look_and_the_commit_of_expiry_holds shows what comes into an expiry, "
    "test_every_action_beside_a_writer that no row and no file is lost"
)
@pytest.mark.parametrize("properties", [PLAIN, MERGE_ON_READ, "'format-version' = '3'"], ids=["2", "deletes", "3"])
def test_two_at_once_lose_no_row_and_no_file(spark, namespace, policy, properties):
    table = made(spark, f"{namespace}.t", properties=properties, appends=8)
    spark.sql(f"DELETE FROM {table} WHERE id % 7 = 0")
    rules, before = maintenance.read_policy(policy()[-1]), digest(spark, table)
    begun = threading.Barrier(2)

    def one(_):
        planned = maintenance.plan(spark, table, policy=rules)
        begun.wait()
        return maintenance.run(spark, planned)

    with ThreadPoolExecutor(2) as both:
        assert all(done for done in both.map(one, "ab"))
    spark.sql(f"REFRESH TABLE {table}")
    assert (digest(spark, table), maintenance.inventory(spark, table).missing) == (before, ())
