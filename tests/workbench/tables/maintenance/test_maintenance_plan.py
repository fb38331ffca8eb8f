"""A plan says what would be done, and changes nothing."""

from datetime import UTC, datetime

import pytest
from maintenance_cases import ALL, LATER, MERGE_ON_READ, PLAIN, ids, made, plan, run

from workbench.tables import commits, maintenance
from workbench.tables.maintenance import groups, sentences, wording
from workbench.tables.snapshots import TableNotFound


@pytest.fixture
def table(spark, namespace):
    return f"{namespace}.t"


def of(planned):
    return {one.name: (one.files, one.files_after) for one in planned.actions}


@pytest.mark.proof("test_a_plan_is_said_and_changes_nothing shows the same plan on the command line")
def test_a_table_of_small_files(spark, table):
    made(spark, table, appends=6)
    before = ids(spark, table)
    planned = plan(spark, table, *ALL)
    assert of(planned) == {
        "compact_data": (6, 1),
        "rewrite_manifests": (6, 1),
        "expire_snapshots": (0, 0),
        "remove_orphans": (None, 0),
        "compute_statistics": (6, 6),
    }
    assert [wording.action(one) for one in planned.actions[:3]] == [
        "6 data files of 1 partition become about 1",
        "6 manifests become about 1, ordered by partition",
        "5 snapshots go, and 0 data or delete files that only they needed",
    ]
    assert planned.actions[2].snapshots == tuple(before[:5])
    assert planned.actions[0].bytes_read > 0
    assert planned == plan(spark, table, *ALL) and ids(spark, table) == before


def test_a_healthy_table_needs_nothing(spark, table):
    made(spark, table, appends=1)
    planned = plan(spark, table, *ALL[:4])
    assert (planned.actions, sentences(planned)) == ((), ())
    assert maintenance.run(spark, planned) == ()


def test_an_empty_table_needs_nothing(spark, table):
    made(spark, table)
    assert of(plan(spark, table, *ALL)) == {"remove_orphans": (None, 0)}


def test_partitions_with_too_few_files_are_left(spark, table):
    made(spark, table, partitioned="v")
    for n in range(5):
        spark.sql(f"INSERT INTO {table} VALUES ({n}, '{'few' if n < 2 else 'many'}')")
    (action,) = plan(spark, table, "compact_data", min_input_files=3).actions
    assert [(one.partition, one.files, one.files_after) for one in action.groups] == [('{"v": "many"}', 3, 1)]


def test_files_with_many_deleted_rows_are_rewritten_alone(spark, table):
    made(spark, table, properties=MERGE_ON_READ, appends=2)
    spark.sql(f"DELETE FROM {table} WHERE id < 4")
    (action,) = plan(spark, table, "compact_data", target_file_bytes=1).actions  # no file is small
    assert (action.files, action.groups[0].with_deletes) == (1, 1)
    assert wording.action(action).endswith("; 1 of them lose their deleted rows")
    assert plan(spark, table, "compact_data", target_file_bytes=1, min_delete_ratio=0.5).actions == ()


def test_small_delete_files_are_written_together(spark, table):
    made(spark, table, properties=MERGE_ON_READ, appends=5)
    for n in range(5):
        spark.sql(f"DELETE FROM {table} WHERE id = {10 * n}")
    assert spark.sql(f"SELECT * FROM {table}.delete_files").count() == 5
    assert plan(spark, table, "rewrite_deletes").actions == ()  # one for each data file stays: nothing is won
    spark.sql(f"ALTER TABLE {table} SET TBLPROPERTIES ('write.delete.granularity' = 'partition')")
    (action,) = plan(spark, table, "rewrite_deletes").actions
    assert (action.files, action.files_after, wording.action(action)) == (
        5,
        1,
        "5 small delete files become about 1",
    )


@pytest.mark.proof("test_deletes_that_apply_to_nothing_go shows it for deletes by equality")
def test_deletes_of_files_that_were_compacted_away_go(spark, table):
    made(spark, table, properties=MERGE_ON_READ, appends=5)
    spark.sql(f"DELETE FROM {table} WHERE id % 10 = 0")
    assert plan(spark, table, "rewrite_deletes").actions == ()
    run(spark, table, "compact_data")
    (action,) = plan(spark, table, "rewrite_deletes").actions
    assert (action.files, action.files_after, wording.action(action)) == (
        5,
        0,
        "5 small delete files become about 0",
    )
    assert run(spark, table, "rewrite_deletes")["rewrite_deletes"].files_after == 0
    spark.sql(f"REFRESH TABLE {table}")
    assert spark.sql(f"SELECT * FROM {table}.delete_files").count() == 0 and spark.table(table).count() == 45


def test_what_is_no_policy_and_no_list_is_refused(spark, table):
    made(spark, table)
    with pytest.raises(ValueError, match="policy must be Policy or None, found 'orders.yml'"):
        maintenance.plan(spark, table, policy="orders.yml")
    with pytest.raises(ValueError, match=r"marks must be a list of .*, such as \['main'\], found 'main'"):
        plan(spark, table, marks="main")


@pytest.mark.parametrize(
    ("size", "target", "expected"),
    [(1, 100, 1), (100, 100, 1), (105, 100, 1), (115, 100, 2), (180, 100, 2), (205, 100, 2), (1000, 100, 10)],
)
def test_how_many_files_bytes_make(size, target, expected):
    assert groups.files_after(size, target) == expected


@pytest.mark.proof("test_who_holds_what shows each case without a session")
def test_marks_branches_and_tags_hold_what_comes_after_them(spark, table):
    made(spark, table, appends=6)
    first, second, third, fourth, _, _ = known = ids(spark, table)

    def going(**more):
        planned = plan(spark, table, "expire_snapshots", **more)
        return [known.index(one) for action in planned.actions for one in action.snapshots], list(
            sentences(planned)
        )

    assert going() == ([0, 1, 2, 3, 4], [])
    assert going(keep_snapshots=3) == ([0, 1, 2], [])
    assert going(snapshots_older_than_days=31) == ([], [])
    held = "3 older snapshots stay, needed from snapshot {} on"
    assert going(marks=[third]) == ([0, 1], [held.format(third)])
    assert going(marks=(one for one in [third])) == ([0, 1], [held.format(third)])
    assert going(marks=[fourth, third]) == ([0, 1], [held.format(third)])
    spark.sql(f"ALTER TABLE {table} CREATE TAG reader AS OF VERSION {second}")
    assert going() == ([0], ["3 older snapshots stay, needed from reader on"])
    assert going(marks=["reader", first])[0] == []
    assert going(solitary_refs=["rea*"]) == ([0, 2, 3, 4], [])
    spark.sql(f"ALTER TABLE {table} DROP TAG reader")
    spark.sql(f"ALTER TABLE {table} CREATE BRANCH side AS OF VERSION {fourth}")
    spark.sql(f"INSERT INTO {table}.branch_side VALUES (1, 'x')")
    assert going() == ([0, 1, 2], ["1 older snapshot stays, needed from side on"])


@pytest.mark.proof(
    "test_a_maximum_age_of_its_own_goes_before_that_of_all shows which refs go and that they are refused as marks"
)
def test_a_ref_that_would_be_dropped_is_said_and_refused_as_a_mark(spark, table):
    made(spark, table, appends=3)
    first = ids(spark, table)[0]
    spark.sql(f"ALTER TABLE {table} CREATE TAG short AS OF VERSION {first} RETAIN 1 DAYS")
    (action,) = plan(spark, table, "expire_snapshots", solitary_refs=["short"]).actions
    assert wording.breaks(action)[1] == "short goes: its maximum age is over"
    planned = plan(spark, table, "expire_snapshots", marks=["short"], solitary_refs=["short"])
    assert planned.actions == ()
    assert "short is a reader's mark, and its maximum age is over" in sentences(planned)[0]


KEPT = pytest.mark.proof("the same test shows it for a branch that keeps two snapshots and is not solitary")


@pytest.mark.parametrize(
    ("retention", "expected"),
    [
        ("2 SNAPSHOTS", [0, 1]),
        pytest.param("9 SNAPSHOTS", [], marks=KEPT),
        pytest.param("100 DAYS", [], marks=KEPT),
        pytest.param("1 SNAPSHOTS 20 DAYS", [0, 1, 2], marks=KEPT),
    ],
)
@pytest.mark.parametrize("solitary", [(), pytest.param(("side",), marks=KEPT)])
def test_what_a_branch_promises_to_keep_is_kept(spark, table, retention, expected, solitary):
    """Iceberg takes no heed of a branch's retention where snapshots are expired by their ids: they went."""
    made(spark, table, appends=4)
    spark.sql(f"ALTER TABLE {table} CREATE BRANCH side WITH SNAPSHOT RETENTION {retention}")
    known = ids(spark, table)
    planned = plan(spark, table, "expire_snapshots", solitary_refs=solitary)
    assert [known.index(id) for one in planned.actions for id in one.snapshots] == expected
    maintenance.run(spark, planned, now=LATER)
    left = [row.snapshot_id for row in spark.sql(f"SELECT snapshot_id FROM {table}.snapshots").collect()]
    assert left == [id for n, id in enumerate(known) if n not in expected]


@pytest.mark.proof(
    "test_a_maximum_age_of_its_own_goes_before_that_of_all shows which refs go by either age, and what is refused"
)
def test_the_maximum_age_of_all_refs_is_said_and_refused_as_that_of_one(spark, table):
    """By the table's property Iceberg drops every old branch and tag with any expiry."""
    made(spark, table, properties=PLAIN + ", 'history.expire.max-ref-age-ms' = '1'", appends=4)
    known = ids(spark, table)
    spark.sql(f"ALTER TABLE {table} CREATE TAG reader AS OF VERSION {known[1]}")
    (action,) = plan(spark, table, "expire_snapshots").actions
    assert wording.breaks(action)[1] == "reader goes: its maximum age is over"
    # by Iceberg's clock, whatever moment the ages are told by
    for now in (LATER, commits_time(spark, table)):
        planned = plan(spark, table, "expire_snapshots", marks=["reader"], now=now, snapshots_older_than_days=0)
        assert planned.actions == ()
        assert "reader is a reader's mark, and its maximum age is over" in sentences(planned)[0]
    maintenance.run(spark, maintenance.Planned(**vars(planned) | {"actions": (action,)}), now=LATER)
    assert (ids(spark, table), [*commits.load(spark, table).refs()]) == (known, ["main", "reader"])


def commits_time(spark, table):
    return datetime.fromtimestamp(commits.load(spark, table).currentSnapshot().timestampMillis() / 1000, UTC)


@pytest.mark.proof("test_a_branch_with_a_rule_of_its_own shows it without a session")
def test_a_branch_whose_own_rule_takes_more_refuses_expiry(spark, table):
    made(spark, table, appends=4)
    second = ids(spark, table)[1]
    rules = commits.load(spark, table).manageSnapshots()
    rules.setMaxSnapshotAgeMs("main", 1000).setMinSnapshotsToKeep("main", 1).commit()
    planned = plan(spark, table, "expire_snapshots", marks=[second])
    assert planned.actions == ()
    assert (
        "branch main has a maximum snapshot age of its own, by which Iceberg would also expire 2"
        in sentences(planned)[0]
    )


def test_what_cannot_be_planned_is_refused(spark, table):
    made(spark, table, appends=1)
    with pytest.raises(
        ValueError, match="5 is neither a snapshot of .* a reader there has lost its place already"
    ):
        plan(spark, table, marks=[5])
    with pytest.raises(ValueError, match="now must have a time zone"):
        plan(spark, table, now=datetime(2026, 1, 1))
    planned = plan(spark, table)
    for wrong, why in (
        ({"now": datetime(2026, 1, 1)}, "now must have a time zone"),
        ({"tries": 0}, "tries must be an integer of at least 1, found 0"),
        ({"max_bytes": -1}, "max_bytes must be an integer of at least 0 or None, found -1"),
        ({"max_minutes": float("nan")}, "max_minutes must be a number of at least 0 or None, found nan"),
        ({"max_commits": -2}, "max_commits must be .*, found -2"),
    ):
        with pytest.raises(ValueError, match=why):
            maintenance.run(spark, planned, **wrong)
    with pytest.raises(TableNotFound):
        plan(spark, f"{table}_not")
    with pytest.raises(ValueError, match="is not a table name"):
        plan(spark, "t; DROP TABLE x")


def test_a_plan_is_told_as_a_table(spark, table):
    made(spark, table, appends=5)
    planned = plan(spark, table, "compact_data", "expire_snapshots", "remove_orphans")
    told = maintenance.told(planned)
    assert told[["action", "files_before", "files_after"]].astype(object).where(told.notna(), None).values.tolist() == [
        ["compact_data", 5, 1], ["expire_snapshots", 0, 0], ["remove_orphans", None, 0],
    ]  # fmt: skip
    assert told.breaks.tolist() == [
        "who reads changes from here on has to skip the snapshots of operation replace",
        "4 snapshots can no longer be read, compared or gone back to",
        "",
    ]
    assert [one.name for one in maintenance.only(planned, "compact_data").actions] == ["compact_data"]
    with pytest.raises(ValueError, match="'rewrite_deletes' is not an action of this plan; it has compact_data, "):
        maintenance.only(planned, "rewrite_deletes")


@pytest.mark.proof("test_a_plan_is_told_as_a_table shows it on its own plan")
def test_only_some_actions_of_a_plan(spark, table):
    made(spark, table, appends=5)
    planned = plan(spark, table, *ALL)
    assert [one.name for one in maintenance.only(planned, "compact_data").actions] == ["compact_data"]
    with pytest.raises(ValueError, match="'rewrite_deletes' is not an action of this plan; it has compact_data, "):
        maintenance.only(planned, "rewrite_deletes")


def test_columns_that_cannot_be_counted_are_said(spark, table):
    """Spark reads a dot or a backtick in a column's name as SQL, and the whole action failed."""
    made(spark, table, columns="id BIGINT, `a.b` STRING, `c``d` STRING, s STRUCT<e: INT>")
    spark.sql(f"INSERT INTO {table} VALUES (1, 'x', 'y', struct(2))")
    planned = plan(spark, table, "compute_statistics")
    why = "column {} is not counted: Iceberg finds none by a name with a dot or backtick"
    assert sentences(planned) == (why.format("a.b"), why.format("c`d"))
    maintenance.run(spark, planned)
    (file,) = commits.load(spark, table).statisticsFiles()
    assert [list(one.fields()) for one in file.blobMetadata()] == [[1]]
    spark.sql(f"ALTER TABLE {table} DROP COLUMN id")
    spark.sql(f"INSERT INTO {table} VALUES ('x', 'y', struct(2))")
    planned = plan(spark, table, "compute_statistics")
    last = "no distinct values are counted: the table has no column of a plain type"
    assert (planned.actions, sentences(planned)[2:]) == ((), (last,))
