"""What bounds a run: commits and minutes, of all actions together, by argument or by the table's policy."""

from datetime import datetime
from types import SimpleNamespace

import numpy
import pytest
from digests import digest
from maintenance_cases import (
    ALL,
    BY_PARTITION,
    LATER,
    append,
    data_files,
    folder,
    ids,
    made,
    old,
    plan,
    policy,
    raise_conflict,
)

from workbench.tables import commits, maintenance
from workbench.tables.maintenance import compaction, deletes, limits, orphans, running, sentences, wording

PLANNED = maintenance.Planned("a.b", "", None, LATER, policy(), (), (), ())
MINUTES = "max_minutes must be a number of at least 0 or None, found"
MARKS = "marks must be a list of ids of snapshots or names of branches and tags"
BY_POLICY = pytest.mark.proof(
    "test_an_argument_goes_before_the_policy_and_nothing_is_not_no_limit shows both ways"
)
NOTHING = pytest.mark.proof("test_which_limit_is_reached shows that a limit of nothing is one")


@pytest.mark.parametrize(
    ("wrong", "why"),
    [
        ({"max_minutes": "x"}, f"{MINUTES} 'x'"),
        ({"max_minutes": True}, f"{MINUTES} True"),
        ({"max_minutes": -0.5}, f"{MINUTES} -0.5"),
        ({"max_minutes": float("nan")}, f"{MINUTES} nan"),
        ({"max_bytes": 1.5}, "max_bytes must be an integer of at least 0 or None, found 1.5"),
        ({"max_commits": "2"}, "max_commits must be an integer of at least 0 and of at most 2147483647 or None, found '2'"),
        ({"max_commits": 2**31}, "max_commits must be an integer of at least 0 and of at most 2147483647 or None, "
         "found 2147483648"),
        ({"tries": None}, "tries must be an integer of at least 1, found None"),
        ({"remove_orphans": "false"}, "remove_orphans must be True or False, found 'false'"),
        ({"no_commit_under_way": 1}, "no_commit_under_way must be True or False, found 1"),
        ({"marks": "reader"}, f"{MARKS}, such as ['reader'], found 'reader'"),
        ({"marks": None}, f"{MARKS}, such as [None], found None"),
        ({"marks": [[1]]}, f"{MARKS}, found [1] in it"),
        ({"now": "2026-01-01"}, "now must be a datetime or None, found '2026-01-01'"),
        ({"now": datetime(2026, 1, 1)}, "now must have a time zone, such as datetime.now(UTC), "
         "found datetime.datetime(2026, 1, 1, 0, 0)"),
    ],
)  # fmt: skip
def test_a_wrong_argument_is_said_before_the_session_is_asked_for_anything(wrong, why):
    given = {"planned": PLANNED} | wrong
    with pytest.raises(ValueError) as told:
        maintenance.run(None, **given)
    assert str(told.value) == why


def test_only_a_plan_is_run():
    with pytest.raises(ValueError, match=r"^planned must be Planned, found \(Planned\("):
        maintenance.run(None, (PLANNED,))


def test_so_it_is_when_it_is_planned():
    for wrong, why in (({"marks": None}, "marks must be a list of"), ({"now": "today"}, "now must be a datetime")):
        with pytest.raises(ValueError, match=why):
            maintenance.plan(None, "a.b", **wrong)


def test_a_limit_may_be_any_kind_of_number_and_marks_any_collection():
    with pytest.raises(ValueError, match="needs a classic Spark session"):  # what comes after the arguments
        maintenance.run(None, PLANNED, max_bytes=numpy.int64(0), max_minutes=numpy.float32(1), max_commits=1)
    assert limits.several(one for one in (numpy.int64(5), "reader")) == (5, "reader")


@pytest.fixture
def table(spark, namespace):
    return f"{namespace}.t"


def bounded(spark, planned, how, **limit):
    """Run a plan under a limit that the caller or the policy gives."""
    if how == "policy":
        more = planned.policy.model_copy(update={"limits": maintenance.Limits(**limit)})
        planned, limit = maintenance.Planned(**vars(planned) | {"policy": more}), {}
    return maintenance.run(spark, planned, now=LATER, **limit)


def one_partition_at_a_time(monkeypatch):
    monkeypatch.setattr(running, "_BATCH_GROUPS", 1)


@pytest.mark.proof(
    "test_what_is_left_is_never_less_than_nothing shows how the commits of actions are reckoned together, "
    "test_limits_hold_and_the_next_run_goes_on an action that is bounded"
)
@pytest.mark.parametrize("how", ["argument", "policy"])
def test_commits_of_all_actions_are_counted(spark, table, monkeypatch, how):
    table += how[:3]
    made(spark, table, partitioned="v", appends=5)  # three partitions of five files, five manifests
    one_partition_at_a_time(monkeypatch)
    planned, before = plan(spark, table, *ALL[:4]), digest(spark, table)
    done = bounded(spark, planned, how, max_commits=2)
    full = ("not begun: max_commits is reached",)
    assert [(one.name, one.commits, sentences(one)) for one in done] == [
        ("compact_data", 2, ("max_commits is reached: 1 partitions are left",)),
        ("rewrite_manifests", 0, full), ("expire_snapshots", 0, full),
    ]  # fmt: skip
    assert (len(ids(spark, table)), data_files(spark, table)) == (5 + 2, 5 + 1 + 1)
    done = bounded(spark, planned, how, max_commits=2)  # the partition that was left, and the manifests
    assert [one.commits for one in done] == [1, 1, 0] and sentences(done[2]) == full
    done = bounded(spark, planned, how, max_commits=2)
    assert done[2].commits == 1 and len(ids(spark, table)) == 5 + 3 + 1 - 4
    assert (digest(spark, table), data_files(spark, table)) == (before, 3)


@pytest.mark.proof("test_limits_hold_and_the_next_run_goes_on shows it for a limit of one commit")
def test_a_rewrite_by_spark_commits_no_more_often_than_it_may(spark, table):
    made(spark, table, partitioned="v", appends=5)
    planned, before = plan(spark, table, "compact_data", fast=False), digest(spark, table)
    (done,) = maintenance.run(spark, planned, max_commits=2)
    assert (done.files, done.commits, len(ids(spark, table)), digest(spark, table)) == (15, 2, 5 + 2, before)


@pytest.mark.proof("test_what_is_left_is_never_less_than_nothing shows how the commits that are left are reckoned")
def test_a_rewrite_that_is_begun_again_has_only_the_commits_that_are_left(spark, table, monkeypatch):
    """Of the first try half is committed, and the rest refused by another commit."""
    made(spark, table, partitioned="v", appends=5)
    whole, seen = compaction._once, []

    def once(spark, table, groups, options, mark, drops):
        seen.append(options["partial-progress.max-commits"])
        first = len(seen) == 1
        done = whole(spark, table, groups[:1] if first else groups, options, mark, drops)
        return (*done[:3], 10) if first else done

    monkeypatch.setattr(compaction, "_once", once)
    (done,) = maintenance.run(spark, plan(spark, table, "compact_data", fast=False), max_commits=2)
    assert (seen, done.files, done.commits, len(ids(spark, table))) == ([2, 1], 15, 2, 5 + 2)
    for n in range(5, 10):
        append(spark, table, n)
    seen.clear()
    (done,) = maintenance.run(spark, plan(spark, table, "compact_data", fast=False), max_commits=1)
    assert (seen, done.commits, len(ids(spark, table))) == ([1], 1, 7 + 5 + 1)
    assert sentences(done)[0] == "max_commits is reached: 10 files were left as they are"


@pytest.mark.proof("test_limits_hold_and_the_next_run_goes_on shows that a limit of commits holds, for data files")
def test_delete_files_take_one_commit_of_the_two_that_they_need(spark, table):
    """Small ones are written together in one commit, those that apply to nothing go in another."""
    made(spark, table, properties=BY_PARTITION, columns="id BIGINT, v STRING", partitioned="v")
    for n, v in enumerate("aaaaab"):  # a delete file a data file
        spark.sql(f"INSERT INTO {table} SELECT /*+ COALESCE(1) */ id, '{v}' FROM range({10 * n}, {10 * n + 10})")
    for n in (5, *range(5)):
        spark.sql(f"DELETE FROM {table} WHERE id = {10 * n}")
    spark.sql(  # b's delete file applies to nothing now
        f"CALL system.rewrite_data_files(table => '{table}', where => \"v = 'b'\", "
        "options => map('rewrite-all', 'true', 'remove-dangling-deletes', 'false'))"
    )
    planned, before = plan(spark, table, "rewrite_deletes"), digest(spark, table)
    assert wording.action(planned.actions[0]) == "5 small delete files become about 1; 1 dangling delete file goes"
    snapshots = len(ids(spark, table))
    left = []
    for _ in range(2):
        (done,) = maintenance.run(spark, planned, max_commits=1)
        left.append(
            (done.commits, len(ids(spark, table)) - snapshots, spark.table(f"{table}.delete_files").count())
        )
    assert left == [(1, 1, 2), (1, 2, 1)] and digest(spark, table) == before


@pytest.mark.proof("test_limits_hold_and_the_next_run_goes_on shows that a limit of commits holds, for data files")
def test_a_compaction_with_one_commit_leaves_the_delete_files_to_the_next_run(spark, table):
    made(spark, table, properties=BY_PARTITION, appends=6)
    for n in range(6):
        spark.sql(f"DELETE FROM {table} WHERE id BETWEEN {10 * n} AND {10 * n + 3}")
    planned, before, snapshots = plan(spark, table, *ALL[:2]), digest(spark, table), len(ids(spark, table))
    assert planned.actions[0].groups[0].with_deletes == 6
    done = maintenance.run(spark, planned, max_commits=1)
    assert ([one.commits for one in done], len(ids(spark, table)) - snapshots) == ([1, 0], 1)
    assert (digest(spark, table), data_files(spark, table)) == (before, 1)


@pytest.mark.proof("test_a_delete_in_the_middle_of_a_rewrite_is_not_undone shows a repeat, of data files")
def test_a_repeat_of_deletes_counts_what_was_committed_before_it(spark, table, monkeypatch):
    made(spark, table, properties=BY_PARTITION, appends=5)
    for n in range(5):
        spark.sql(f"DELETE FROM {table} WHERE id = {10 * n}")
    own, calls = deletes.metadata.own, []

    def refused_once(spark, table):
        calls.append(1)
        if len(calls) == 2:  # between the two commits
            raise_conflict(spark, table)
        return own(spark, table)

    monkeypatch.setattr(deletes.metadata, "own", refused_once)
    (done,) = maintenance.run(spark, plan(spark, table, "rewrite_deletes"))
    assert (done.files, done.files_after, done.commits, done.tries) == (5, 1, 1, 2)


# bytes


@pytest.mark.proof("test_limits_hold_and_the_next_run_goes_on shows that a limit of bytes is held")
def test_files_that_came_since_the_plan_count(spark, table):
    made(spark, table, appends=5)
    planned = plan(spark, table, "compact_data")
    limit = planned.actions[0].bytes_read + 1
    for n in range(5, 10):
        append(spark, table, n)
    (done,) = maintenance.run(spark, planned, max_bytes=limit)
    assert 0 < done.bytes_read <= limit and done.files in (4, 5)


@pytest.mark.proof(
    "test_limits_hold_and_the_next_run_goes_on shows that the limit is held; how often the table is "
    "loaded is a matter of speed"
)
def test_a_limit_of_bytes_loads_the_table_once_more_and_not_once_a_group(spark, table, monkeypatch):
    whole, loads = commits.load, []

    def load(*arguments):
        loads.append(1)
        return whole(*arguments)

    counts = []
    for name, limit in ((table + "_free", None), (table + "_bound", 10**9)):
        made(spark, name, partitioned="v", appends=5)
        planned = plan(spark, name, "compact_data")
        with monkeypatch.context() as patched:
            one_partition_at_a_time(patched)
            patched.setattr(commits, "load", load)
            loads.clear()
            (done,) = maintenance.run(spark, planned, max_bytes=limit)
        assert (done.files, done.commits) == (15, 3)
        counts.append(len(loads))
    assert counts[1] - counts[0] == 1


@pytest.mark.proof(
    "test_limits_hold_and_the_next_run_goes_on shows that a limit of bytes is held, where partitions can be told"
)
def test_partitions_that_cannot_be_told_to_iceberg_count(spark, table):
    """It then takes files of any partition: as many as surely fit."""
    made(spark, table, columns="id BIGINT, v STRING, d DECIMAL(5,2)", partitioned="d")
    for _ in range(5):
        for d, rows in ((1, 1), (2, 500)):
            query = f"SELECT /*+ COALESCE(1) */ id, uuid(), CAST({d} AS DECIMAL(5,2)) FROM range({rows})"
            spark.sql(f"INSERT INTO {table} {query}")
    before, planned = digest(spark, table), plan(spark, table, "compact_data")
    small, large = planned.actions[0].groups
    assert small.bytes + 1 < large.largest
    for limit in (small.bytes + 1, 3 * large.largest):
        (done,) = maintenance.run(spark, planned, max_bytes=limit)
        assert done.bytes_read <= limit and digest(spark, table) == before
    assert done.files >= 2


# minutes


@pytest.mark.proof(
    "test_which_limit_is_reached shows when the minutes are over, "
    "test_limits_hold_and_the_next_run_goes_on an action that is not begun then"
)
@pytest.mark.parametrize("how", ["argument", "policy"])
def test_after_the_minutes_nothing_new_is_begun(spark, table, monkeypatch, how):
    table += how[:3]
    made(spark, table, partitioned="v", appends=5)
    one_partition_at_a_time(monkeypatch)
    minutes, whole = [0], running._batch

    def batch(*arguments):
        minutes[0] += 1
        return whole(*arguments)

    monkeypatch.setattr(limits, "time", SimpleNamespace(monotonic=lambda: 60 * minutes[0]))
    monkeypatch.setattr(running, "_batch", batch)
    done = bounded(spark, plan(spark, table, *ALL[:4]), how, max_minutes=2)
    full = ("not begun: max_minutes is reached",)
    assert [(one.name, one.files, sentences(one)) for one in done] == [
        ("compact_data", 10, ("max_minutes is reached: 1 partitions are left",)),
        ("rewrite_manifests", 0, full), ("expire_snapshots", 0, full),
    ]  # fmt: skip
    assert (len(ids(spark, table)), data_files(spark, table)) == (5 + 2, 5 + 1 + 1)


@pytest.mark.proof(
    "test_orphans_that_the_minutes_left shows what is said then, "
    "test_which_limit_is_reached when the minutes are over"
)
def test_orphans_are_left_when_the_minutes_are_over(spark, table, monkeypatch):
    made(spark, table, appends=1)
    there = [folder(spark, table) / "data" / f"orphan_{n}.parquet" for n in range(3)]
    for path in there:
        path.write_text("x")
        old(path)

    def monotonic():
        return 0 if all(path.exists() for path in there) else 61

    monkeypatch.setattr(orphans, "_AT_ONCE", 1)
    monkeypatch.setattr(limits, "time", SimpleNamespace(monotonic=monotonic))
    planned = plan(spark, table, "remove_orphans")
    (done,) = maintenance.run(spark, planned, max_minutes=1, remove_orphans=True)
    assert (done.files, len(done.orphans), [path.exists() for path in there]) == (1, 3, [False, True, True])


@NOTHING
@pytest.mark.parametrize("limit", ["max_bytes", "max_minutes", "max_commits"])
def test_a_limit_of_nothing_is_nothing(spark, table, limit):
    """And not no limit."""
    made(spark, table, appends=5)
    (done,) = maintenance.run(spark, plan(spark, table, "compact_data"), **{limit: 0})
    assert (sentences(done), data_files(spark, table)) == ((f"not begun: {limit} is reached",), 5)


@BY_POLICY
def test_an_argument_goes_before_the_policy(spark, table):
    made(spark, table, appends=5)
    planned = maintenance.plan(
        spark, table, policy=policy("compact_data", limits=maintenance.Limits(max_minutes=1e-9))
    )
    (done,) = maintenance.run(spark, planned, max_minutes=5)
    assert (done.files, data_files(spark, table)) == (5, 1)
