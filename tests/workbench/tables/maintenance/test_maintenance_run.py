"""A run does what was planned: the rows stay, limits hold, and a second run finds nothing to do."""

import re
import threading
from datetime import UTC, datetime

import pytest
from digests import digest
from maintenance_cases import (
    ALL,
    LATER,
    MERGE_ON_READ,
    PLAIN,
    append,
    data_files,
    folder,
    ids,
    made,
    old,
    plan,
    policy,
    raise_conflict,
    run,
    stored,
)

from workbench.tables import commits, maintenance
from workbench.tables.maintenance import compaction, expiry, sentences

NOW_OK = {"no_commit_under_way": True, "remove_orphans": True}


@pytest.fixture
def table(spark, namespace):
    return f"{namespace}.t"


KINDS = {"v2": PLAIN, "deletes": MERGE_ON_READ, "v3": MERGE_ON_READ.replace("'2'", "'3'")}


@pytest.mark.proof(
    "test_every_action_beside_a_writer shows that rows and files stay, "
    "test_it_is_done_and_then_there_is_nothing_to_do the rest"
)
@pytest.mark.parametrize("kind", KINDS)
def test_every_action_leaves_the_rows_and_nothing_for_a_second_run(spark, table, kind):
    table += kind  # a folder of its own: a dropped table leaves metadata, which is another table's then
    made(spark, table, properties=KINDS[kind], partitioned="bucket(2, id)", appends=6)
    append(spark, table, 0)  # every row of it twice
    spark.sql(f"UPDATE {table} SET v = 'u' WHERE id < 4")
    before = digest(spark, table)
    done = run(spark, table, *ALL)
    assert digest(spark, table) == before == (70, before[1])
    assert done["compact_data"].files_after == data_files(spark, table) == 2
    assert stored(spark, table) == {
        row.file_path.rpartition("/")[2] for row in spark.sql(f"SELECT file_path FROM {table}.all_files").collect()
    }
    assert plan(spark, table, *ALL[:3]).actions == ()


@pytest.mark.proof(
    "test_a_run_that_was_killed_and_is_begun_again_is_harmless shows a plan whose work is done: no file "
    "is taken twice"
)
def test_a_plan_that_is_run_twice_does_nothing_the_second_time(spark, table):
    made(spark, table, appends=6)
    planned, before = plan(spark, table, *ALL[:4]), digest(spark, table)
    first = maintenance.run(spark, planned, now=LATER)
    snapshots = ids(spark, table)
    second = maintenance.run(spark, planned, now=LATER)
    assert [(one.name, one.files, one.files_after) for one in first] == [
        ("compact_data", 6, 1), ("rewrite_manifests", first[1].files, 1), ("expire_snapshots", 0, 0),
    ]  # fmt: skip
    assert [one.files for one in second] == [0, second[1].files, 0]
    assert ids(spark, table)[: len(snapshots)] == snapshots and digest(spark, table) == before


def test_limits_hold_and_the_next_run_goes_on(spark, table):
    made(spark, table, partitioned="v", appends=5)  # three partitions of five files
    planned, before = plan(spark, table, "compact_data", fast=False), digest(spark, table)
    assert [one.files for one in planned.actions[0].groups] == [5, 5, 5]
    sizes = [one.bytes for one in planned.actions[0].groups]
    (done,) = maintenance.run(spark, planned, max_bytes=sizes[0] + 1)
    assert (done.files, done.files_after) == (5, 1) and done.bytes_read <= sizes[0] + 1
    assert data_files(spark, table) == 11
    (done,) = maintenance.run(spark, planned, max_commits=1)
    assert done.commits <= 1 and digest(spark, table) == before
    (done,) = maintenance.run(spark, planned, max_minutes=1e-9)
    assert sentences(done) == ("not begun: max_minutes is reached",)
    maintenance.run(spark, planned)
    assert data_files(spark, table) == 3 and digest(spark, table) == before


@pytest.mark.proof("test_limits_hold_and_the_next_run_goes_on shows that a limit of bytes is held, between groups")
def test_a_group_larger_than_the_limit_is_rewritten_in_part(spark, table):
    made(spark, table, appends=8)
    planned, before = plan(spark, table, "compact_data"), digest(spark, table)
    limit = 5 * planned.actions[0].groups[0].largest
    (done,) = maintenance.run(spark, planned, max_bytes=limit)
    assert (done.files, done.files_after) == (5, 1) and 0 < done.bytes_read <= limit
    assert digest(spark, table) == before and data_files(spark, table) == 4
    (done,) = maintenance.run(spark, planned, max_bytes=1)
    assert (done.files, sentences(done)) == (0, ("max_bytes leaves no room for the table's files",))


def test_a_table_made_anew_is_refused(spark, table):
    made(spark, table, appends=5)
    planned = plan(spark, table, "compact_data")
    spark.sql(f"DROP TABLE {table} PURGE")
    made(spark, table, appends=5)
    with pytest.raises(ValueError, match="was planned as table .* and is now .*: plan it anew"):
        maintenance.run(spark, planned)
    assert data_files(spark, table) == 5


# expiry


@pytest.mark.proof("the notebook 42_expire_and_clean shows that the files and bytes foretold go, and no others")
def test_expiry_frees_what_was_planned_and_readers_keep_their_place(spark, table):
    made(spark, table, appends=3)
    spark.sql(f"INSERT OVERWRITE {table} VALUES (1, 'x')")  # three files go, which only older snapshots need
    append(spark, table, 7)
    known, before, there = ids(spark, table), digest(spark, table), stored(spark, table)
    planned = plan(spark, table, "expire_snapshots", keep_snapshots=2)
    (action,) = planned.actions
    (done,) = maintenance.run(spark, planned, now=LATER)
    assert (action.files, action.snapshots, done.files, len(there - stored(spark, table))) == (
        3,
        tuple(known[:3]),
        3,
        3,
    )
    assert action.bytes_freed > 0 and ids(spark, table) == known[3:] and digest(spark, table) == before


@pytest.mark.proof(
    "test_what_expiry_is_asked_beyond_its_plan_it_leaves shows it without Iceberg's own idea of old"
)
def test_what_came_after_the_plan_is_not_expired(spark, table):
    """Nor what Iceberg itself thinks old, by the table's own properties."""
    made(spark, table, properties=PLAIN + ", 'history.expire.max-snapshot-age-ms' = '1'", appends=3)
    planned = plan(spark, table, "expire_snapshots")
    append(spark, table, 3)
    append(spark, table, 4)
    known = ids(spark, table)
    maintenance.run(spark, planned, now=LATER)
    assert ids(spark, table) == known[2:]


@pytest.mark.proof(
    "test_a_tag_between_the_look_and_the_commit_of_expiry_holds shows it for a tag that comes later still"
)
def test_a_reader_that_came_after_the_plan_keeps_its_place(spark, table):
    made(spark, table, appends=4)
    known, planned = ids(spark, table), plan(spark, table, "expire_snapshots")
    spark.sql(f"ALTER TABLE {table} CREATE TAG reader AS OF VERSION {known[1]}")
    maintenance.run(spark, planned, now=LATER)
    assert ids(spark, table) == known[1:]
    with pytest.raises(
        ValueError, match=f"{known[0]} is neither a snapshot of"
    ):  # it went, with its reader's place
        maintenance.run(spark, planned, marks=[known[0]], now=LATER)
    assert ids(spark, table) == known[1:]


def meanwhile(monkeypatch, happens):
    """Let something happen behind each look of an expiry at what may go; it is given the look's number, from 1."""
    whole, looks = expiry.expirable, []

    def expirable(*arguments, **more):
        found = whole(*arguments, **more)
        looks.append(found)
        happens(len(looks))
        return found

    monkeypatch.setattr(expiry, "expirable", expirable)


def test_a_tag_between_the_look_and_the_commit_of_expiry_holds(spark, table, monkeypatch):
    made(spark, table, appends=4)
    known, planned = ids(spark, table), plan(spark, table, "expire_snapshots")
    tag = f"ALTER TABLE {table} CREATE TAG reader AS OF VERSION {known[1]}"
    meanwhile(monkeypatch, lambda look: spark.sql(tag) if look == 1 else None)
    (done,) = maintenance.run(spark, planned, now=LATER)
    assert (done.tries, done.commits) == (2, 1) and ids(spark, table) == known[1:]


@pytest.mark.proof(
    "test_a_tag_between_the_look_and_the_commit_of_expiry_holds shows an expiry that is refused once"
)
def test_an_expiry_that_is_refused_each_time_is_said(spark, table, monkeypatch):
    made(spark, table, appends=4)
    known, planned = ids(spark, table), plan(spark, table, "expire_snapshots")

    def tagged(look):
        spark.sql(f"ALTER TABLE {table} CREATE TAG reader{look} AS OF VERSION {known[2 - look]}")

    meanwhile(monkeypatch, tagged)
    (done,) = maintenance.run(spark, planned, now=LATER, tries=2)
    assert (done.tries, done.commits) == (2, 0) and "Still referenced by refs: [reader2]" in sentences(done)[0]
    assert sentences(done)[0].startswith("nothing is expired: ") and ids(spark, table) == known


@pytest.mark.proof("test_a_tag_between_the_look_and_the_commit_of_expiry_holds is beside another, too")
def test_another_expiry_that_was_quicker_is_no_error(spark, table, monkeypatch):
    """Iceberg calls snapshots that are gone an array of a negative size; it went, and that is all."""
    made(spark, table, appends=4)
    known, planned = ids(spark, table), plan(spark, table, "expire_snapshots")
    older = "older_than => TIMESTAMP '2200-01-01 00:00:00', retain_last => 1"
    call = f"CALL system.expire_snapshots(table => '{table}', {older})"
    meanwhile(monkeypatch, lambda look: spark.newSession().sql(call).collect() if look == 1 else None)
    (done,) = maintenance.run(spark, planned, now=LATER)
    assert (done.tries, done.commits) == (2, 0) and sentences(done)[0].startswith("0 snapshots went, ")
    assert ids(spark, table) == known[-1:]


@pytest.mark.proof("test_a_run_that_is_given_a_wrong_mark_does_nothing ends with a right one, which holds")
def test_a_mark_given_to_the_run_holds(spark, table):
    made(spark, table, appends=4)
    known = ids(spark, table)
    maintenance.run(spark, plan(spark, table, "expire_snapshots"), marks=[known[2]], now=LATER)
    assert ids(spark, table) == known[2:]


# orphans


@pytest.mark.proof(
    "test_orphans_are_named_until_their_removal_is_told shows it by the command, "
    "test_a_moment_to_come_is_no_way_around_the_guard that young ones stay"
)
def test_orphans_are_found_dry_and_then_removed(spark, table):
    made(spark, table, appends=2)
    data, now = folder(spark, table) / "data", datetime.now(UTC)
    orphan, young = data / "orphan.parquet", data / "young.parquet"
    orphan.write_text("x")
    young.write_text("x")
    old(orphan)
    for live in [*data.glob("0*.parquet"), *(folder(spark, table) / "metadata").iterdir()]:
        old(live)
    before = digest(spark, table)
    (dry,) = maintenance.run(spark, plan(spark, table, "remove_orphans", now=now), now=now)
    assert [one.rpartition("/")[2] for one in dry.orphans] == ["orphan.parquet"]
    assert (dry.files, sentences(dry), orphan.exists()) == (
        0,
        ("1 orphans are found; say remove_orphans=True",),
        True,
    )
    (done,) = maintenance.run(spark, plan(spark, table, "remove_orphans", now=now), now=now, remove_orphans=True)
    assert (done.files, orphan.exists(), young.exists(), digest(spark, table)) == (1, False, True, before)


def test_a_young_cut_off_is_refused_before_anything_is_done(spark, table):
    made(spark, table, appends=5)
    planned = plan(spark, table, "compact_data", "remove_orphans", orphans_older_than_days=0.9)
    with pytest.raises(
        ValueError, match=r"0.9 \(21.6 hours\): files younger than 24 hours may belong to a commit"
    ):
        maintenance.run(spark, planned, remove_orphans=True)
    assert data_files(spark, table) == 5
    maintenance.run(spark, planned, now=datetime.now(UTC), **NOW_OK)
    assert data_files(spark, table) == 1


@pytest.mark.proof(
    "test_a_busy_table_below_whose_metadata_is_all_young_refuses_the_removal shows it where less of the "
    "other table is old"
)
def test_another_table_below_refuses_the_removal(spark, table, namespace):
    made(spark, table, appends=1)
    inside = folder(spark, table) / "inside"
    spark.sql(f"CREATE TABLE {namespace}.inner (id BIGINT) USING iceberg LOCATION 'file:{inside}'")
    spark.sql(f"INSERT INTO {namespace}.inner VALUES (1)")
    for path in inside.rglob("*"):
        old(path)
    done = run(spark, table, "remove_orphans", now=datetime.now(UTC), options={"remove_orphans": True})
    assert "another table's metadata lies below" in sentences(done["remove_orphans"])[0]
    assert digest(spark, f"{namespace}.inner")[0] == 1


@pytest.mark.proof("test_maintenance_orphans finds what killed writers left of other files")
def test_what_a_killed_writer_left_of_a_metadata_file_is_an_orphan(spark, table):
    """Empty or cut off: it was never committed, and once stopped every removal with an error of Java's."""
    made(spark, table, appends=2)
    place = folder(spark, table) / "metadata"
    whole = min(place.glob("*.metadata.json")).read_text()
    left = [place / "00007-empty.metadata.json", place / "00008-cut.metadata.json"]
    for path, text in zip(left, ("", whole[:200]), strict=True):
        path.write_text(text)
        old(path)
    done = run(spark, table, "remove_orphans", now=datetime.now(UTC), options={"remove_orphans": True})
    done = done["remove_orphans"]
    assert sorted(one.rpartition("/")[2] for one in done.orphans) == [path.name for path in left]
    assert not any(path.exists() for path in left) and digest(spark, table)[0] == 20


def test_metadata_elsewhere_that_nobody_can_read_refuses_the_removal(spark, table):
    made(spark, table, appends=1)
    path = folder(spark, table) / "inside" / "metadata" / "00000-cut.metadata.json"
    path.parent.mkdir(parents=True)
    path.write_text("{")
    old(path)
    done = run(spark, table, "remove_orphans", now=datetime.now(UTC), options={"remove_orphans": True})
    assert re.search(
        "metadata that cannot be read lies below .* in .*inside/metadata", sentences(done["remove_orphans"])[0]
    )
    assert path.exists()


# conflicts


def test_a_delete_in_the_middle_of_a_rewrite_is_not_undone(spark, table, monkeypatch):
    """Others delete rows between the look at the files and the commit of their rewrite."""
    made(spark, table, appends=6)
    whole, calls = compaction._once, []

    def once(*arguments):
        calls.append(1)
        if len(calls) == 1:
            spark.sql(f"DELETE FROM {table} WHERE id < 5")
            raise_conflict(spark, table)
        return whole(*arguments)

    monkeypatch.setattr(compaction, "_once", once)
    (done,) = maintenance.run(spark, plan(spark, table, "compact_data", fast=False))
    assert (len(calls), done.files_after, digest(spark, table)[0], data_files(spark, table)) == (2, 1, 55, 1)


@pytest.mark.proof(
    "test_a_delete_in_the_middle_of_a_rewrite_is_not_undone shows a refusal, "
    "test_which_remarks_are_for_a_person what is said"
)
def test_groups_that_are_refused_every_time_are_skipped_and_said(spark, table, monkeypatch):
    made(spark, table, appends=6)
    monkeypatch.setattr(compaction, "_once", lambda *_: raise_conflict(spark, table))
    monkeypatch.setattr(compaction.time, "sleep", lambda _: None)
    (done,) = maintenance.run(spark, plan(spark, table, "compact_data", fast=False), tries=2)
    assert done.files == 0 and sentences(done)[0].startswith(
        "left as they are: ValidationException: Missing required files"
    )


@pytest.mark.proof("test_every_action_beside_a_writer shows it for a random history")
def test_orphans_and_everything_else_beside_a_writer_lose_nothing(spark, table):
    """A writer appends and deletes while everything runs, orphans by a cut-off of seconds."""
    made(spark, table, properties=MERGE_ON_READ, appends=3)
    expected, failed, stop = [30], [], threading.Event()

    def write():
        try:
            while not stop.is_set():
                n = expected[0] // 10
                commits.retrying(spark, table, lambda n=n: append(spark, table, n), tries=20)
                expected[0] += 10
        except Exception as error:
            failed.append(error)

    writer = threading.Thread(target=write)
    writer.start()
    try:
        for _ in range(2):
            now = datetime.now(UTC)
            run(
                spark, table, *ALL[:5], now=now, snapshots_older_than_days=0, keep_snapshots=2, min_input_files=2,
                orphans_older_than_days=60 / 86400, options=NOW_OK,
            )  # fmt: skip
    finally:
        stop.set()
        writer.join()
    assert failed == [] and digest(spark, table)[0] == expected[0]
    assert expected[0] > 30
    live = {
        row.file_path.rpartition("/")[2] for row in spark.sql(f"SELECT file_path FROM {table}.all_files").collect()
    }
    assert live - stored(spark, table) == set()


def test_what_expiry_is_asked_beyond_its_plan_it_leaves(spark, table):
    made(spark, table, appends=3)
    found, content, lists = expiry.expire(spark, table, policy(), planned=frozenset(), marks=(), now=LATER)
    assert (found.snapshots, content, lists) == ((), 0, 0)
