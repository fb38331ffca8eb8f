"""The fast way beside others: what they commit meanwhile stays, an unknown outcome is settled, a killed run is harmless."""

import pytest
from conftest import PROVE
from digests import digest
from maintenance_cases import (
    LATER,
    MERGE_ON_READ,
    append,
    data_files,
    error_behind_the_commit,
    ids,
    made,
    plan,
    policy,
    stored,
)

from workbench.tables import commits, maintenance
from workbench.tables.maintenance import arrow, sentences, wording


@pytest.fixture
def table(spark, namespace):
    return f"{namespace}.t"


def beside(spark, table, write, tries=3):
    """Rewrite while somebody commits between the writing of the new files and their commit, the first time."""
    chosen, calls = plan(spark, table, "compact_data").actions[0].groups, []

    def meanwhile():
        calls.append(1)
        if len(calls) == 1:
            write()

    done, why = arrow.rewrite(spark, table, chosen, policy(), tries=tries, before_commit=meanwhile)
    return done, why, len(calls)


@pytest.mark.proof(
    "test_a_commit_keeps_the_data_sequence_number shows the rows of the append beside those of the rewrite"
)
def test_an_append_meanwhile_is_kept(spark, table):
    made(spark, table, appends=5)
    done, why, calls = beside(spark, table, lambda: append(spark, table, 5))
    assert (done.files, done.files_after, done.tries, why, calls) == (5, 1, 1, None, 1)
    assert (digest(spark, table)[0], data_files(spark, table)) == (60, 2)


def test_rows_that_others_delete_meanwhile_do_not_come_back(spark, table):
    """Copy-on-write replaces a file under the rewrite: it is refused, its files go, and it begins again."""
    made(spark, table, appends=6)
    done, why, calls = beside(spark, table, lambda: spark.sql(f"DELETE FROM {table} WHERE id < 5"))
    assert (done.files, done.files_after, done.tries, why, calls) == (6, 1, 2, None, 2)
    assert (digest(spark, table)[0], data_files(spark, table)) == (55, 1)
    assert len(stored(spark, table)) == 6 + 1 + 1


def test_delete_files_that_come_meanwhile_send_it_to_spark(spark, table):
    """Merge-on-read leaves the files in place and adds deletes: only the validation sees them."""
    made(spark, table, properties=MERGE_ON_READ, appends=6)
    done, why, calls = beside(spark, table, lambda: spark.sql(f"DELETE FROM {table} WHERE id = 3"))
    assert (done, wording.obstacle(why), calls) == (None, "the table has delete files", 1)
    assert (digest(spark, table)[0], data_files(spark, table), len(stored(spark, table))) == (59, 6, 7)


@pytest.mark.proof("test_rows_and_statistics_are_those_of_icebergs_own_rewrite commits the same way")
def test_a_table_whose_first_snapshots_were_expired_goes_the_fast_way(spark, table):
    """The commit is bound to the snapshot that was read; bound to none, Iceberg wants all the table's history."""
    files = 6 if PROVE else 2
    made(spark, table, appends=files)
    before = digest(spark, table)
    maintenance.run(spark, plan(spark, table, "expire_snapshots"), now=LATER)
    assert len(ids(spark, table)) == 1
    (done,) = maintenance.run(spark, plan(spark, table, "compact_data", min_input_files=files))
    assert (done.fast, done.files_after, done.tries, sentences(done)) == (files, 1, 1, ())
    assert digest(spark, table) == before


@pytest.mark.proof(
    "test_a_commit_that_arrives_late_keeps_its_files begins with an unknown outcome, which is settled by looking"
)
def test_an_unknown_outcome_is_settled_by_looking(spark, table, monkeypatch):
    made(spark, table, appends=5)
    before = digest(spark, table)
    error_behind_the_commit(monkeypatch, ConnectionError("the answer did not come"))
    done, why = arrow.rewrite(
        spark, table, plan(spark, table, "compact_data").actions[0].groups, policy(), tries=2
    )
    assert (done.files, done.files_after, done.commits, why) == (5, 1, 1, None)
    assert (digest(spark, table), data_files(spark, table), len(ids(spark, table))) == (before, 1, 6)


@pytest.mark.proof(
    "test_rows_that_others_delete_meanwhile_do_not_come_back shows that the files of a try that failed go"
)
def test_an_error_of_its_own_leaves_no_file(spark, table, monkeypatch):
    made(spark, table, appends=5)
    groups = plan(spark, table, "compact_data").actions[0].groups

    def full():
        raise OSError("no space left")

    with pytest.raises(OSError, match="no space left"):
        arrow.rewrite(spark, table, groups, policy(), tries=3, before_commit=full)
    assert len(stored(spark, table)) == 5 and len(ids(spark, table)) == 5


class Killed(BaseException):
    """What no handler sees, as a process that is gone."""


BEFORE = pytest.mark.proof("the kill behind the commit shows it, where files could be taken twice")


@pytest.mark.parametrize("place", [pytest.param("before the commit", marks=BEFORE), "behind the commit"])
def test_a_run_that_was_killed_and_is_begun_again_is_harmless(spark, table, monkeypatch, place):
    table += place[:6]  # a folder of its own: what is dropped leaves its orphans
    made(spark, table, appends=5)
    before, whole, planned = digest(spark, table), arrow._commit, plan(spark, table, "compact_data")

    def killed(*arguments):
        if place == "behind the commit":
            whole(*arguments)
        raise Killed

    monkeypatch.setattr(arrow, "_commit", killed)
    with pytest.raises(Killed):
        maintenance.run(spark, planned)
    monkeypatch.setattr(arrow, "_commit", whole)
    assert len(stored(spark, table)) == 6
    (done,) = maintenance.run(spark, planned)
    assert done.files == (5 if place == "before the commit" else 0)
    assert (digest(spark, table), data_files(spark, table)) == (before, 1)
    left = maintenance.run(spark, plan(spark, table, "remove_orphans"), now=LATER, no_commit_under_way=True)[
        0
    ].orphans
    assert len([one for one in left if one.endswith("-fast.parquet")]) == (
        1 if place == "before the commit" else 0
    )


def test_a_commit_keeps_the_data_sequence_number(spark, table):
    """So that deletes by equality, which name no file, still apply to the new one."""
    made(spark, table, appends=5)
    seen = commits.load(spark, table).currentSnapshot().sequenceNumber()
    beside(spark, table, lambda: append(spark, table, 5))
    spark.sql(f"REFRESH TABLE {table}")
    rows = spark.sql(
        f"SELECT sequence_number, data_file.record_count AS n FROM {table}.entries WHERE status < 2"
    ).collect()
    assert sorted((row.n, row.sequence_number) for row in rows) == [(10, seen + 1), (50, seen)]
