"""The commits of a publication: bound to what was looked at, nothing of anybody else's changed, nothing left behind."""

from pathlib import Path
from urllib.parse import urlsplit

import pytest

from workbench.tables import commits, publication
from workbench.tables.commits import Refs

DAY = 86_400_000


@pytest.fixture
def table(spark, namespace):
    """One row on main, a tag and a branch of somebody else's with ages of their own, and ages of main's."""
    name = f"{namespace}.t"
    spark.sql(f"CREATE TABLE {name} (id BIGINT)")
    spark.sql(f"INSERT INTO {name} VALUES (1)")
    spark.sql(f"ALTER TABLE {name} CREATE TAG theirs RETAIN 7 DAYS")
    spark.sql(f"ALTER TABLE {name} CREATE BRANCH others RETAIN 8 DAYS WITH SNAPSHOT RETENTION 2 SNAPSHOTS 9 DAYS")
    head = commits.load(spark, name).manageSnapshots()
    head.setMinSnapshotsToKeep("main", 5).setMaxSnapshotAgeMs("main", 10 * DAY).commit()
    return name


def refs(spark, table):
    """All refs: name to (kind, snapshot, ages)."""
    loaded = commits.load(spark, table)
    return {
        name: (
            ref.type().name(), ref.snapshotId(), ref.maxRefAgeMs(), ref.maxSnapshotAgeMs(),
            ref.minSnapshotsToKeep(),
        )
        for name, ref in loaded.refs().items()
    }  # fmt: skip


def files(spark, table):
    """The files below a table's folder, but for its metadata.json's and checksums."""
    folder = Path(urlsplit(commits.load(spark, table).location()).path)
    kept = [path.relative_to(folder) for path in folder.rglob("*") if path.is_file()]
    return {str(path) for path in kept if path.suffix not in (".json", ".crc") and path.name[0] != "."}


def ids(spark, table):
    return sorted(row.id for row in spark.table(table).collect())


def test_a_publication_changes_no_ref_but_its_own(spark, table):
    before = refs(spark, table)
    entries = [row.snapshot_id for row in spark.table(f"{table}.history").collect()]
    staged = publication.stage(spark, table, "b", branch_age_ms=DAY, snapshot_age_ms=2 * DAY)
    main = before["main"][1]
    assert staged == publication.Staged(main, main)
    assert refs(spark, table) == before | {"b": ("BRANCH", main, DAY, 2 * DAY, None)}
    spark.sql(f"INSERT INTO {table}.branch_b VALUES (2)")
    to = commits.head(commits.load(spark, table), "b")
    commits.fast_forward(
        spark, table, to=to, expected=main, branch="b", refs=lambda loaded: Refs(tags={"ours": to}, removed=("b",))
    )
    ours = {"main": ("BRANCH", to, *before["main"][2:]), "ours": ("TAG", to, commits.FOR_EVER, None, None)}
    assert refs(spark, table) == before | ours
    assert ids(spark, table) == [1, 2]
    log = [row.snapshot_id for row in spark.table(f"{table}.history").collect()]
    assert log == [*entries, to]


def test_a_branch_that_is_elsewhere_is_moved_and_one_that_is_there_is_left(spark, table):
    publication.stage(spark, table, "b")
    spark.sql(f"INSERT INTO {table}.branch_b VALUES (2)")
    staged = publication.stage(spark, table, "b")
    assert staged.root_snapshot_id == staged.base_snapshot_id == commits.head(commits.load(spark, table), "b")
    version = commits.load(spark, table).operations().current().metadataFileLocation()
    assert publication.stage(spark, table, "b") == staged
    assert commits.load(spark, table).operations().current().metadataFileLocation() == version
    publication.drop(spark, table, "b")
    publication.drop(spark, table, "b")
    assert "b" not in refs(spark, table)


def test_a_table_without_a_snapshot(spark, namespace):
    name = f"{namespace}.empty"
    spark.sql(f"CREATE TABLE {name} (id BIGINT)")
    staged = publication.stage(spark, name, "b", branch_age_ms=DAY)
    assert staged.base_snapshot_id is None
    assert refs(spark, name) == {"b": ("BRANCH", staged.root_snapshot_id, DAY, None, None)}
    spark.sql(f"INSERT INTO {name}.branch_b VALUES (2)")
    to = commits.head(commits.load(spark, name), "b")
    commits.fast_forward(spark, name, to=to, expected=None, branch="b", known=True)
    assert ids(spark, name) == [2] and list(refs(spark, name)) == ["main"]


def test_a_snapshot_of_its_own_with_files_that_are_written(spark, table):
    publication.stage(spark, table, "b")
    spark.sql(f"INSERT INTO {table}.branch_b VALUES (2)")
    spark.sql(f"INSERT INTO {table} VALUES (3)")  # main has moved, and takes the file as it is

    def carry(loaded):
        written = loaded.snapshot(commits.head(loaded, "b"))
        return publication.Append(
            {"a": "b"},
            list(written.addedDataFiles(loaded.io())),
            properties={"p": "q"},
            refs=lambda snapshot: Refs(tags={f"at_{snapshot}": snapshot}, removed=("b",)),
        )

    snapshot = publication.append(spark, table, carry, landed=lambda: None)
    loaded = commits.load(spark, table)
    assert commits.head(loaded) == snapshot == refs(spark, table)[f"at_{snapshot}"][1]
    assert loaded.snapshot(snapshot).summary()["a"] == "b" and loaded.properties()["p"] == "q"
    assert ids(spark, table) == [1, 2, 3] and "b" not in refs(spark, table)


def test_what_was_decided_on_another_state_is_refused_and_leaves_no_file(spark, table):
    """The second look decides otherwise; of the first nothing is left, on disk neither."""
    publication.stage(spark, table, "b")
    spark.sql(f"INSERT INTO {table}.branch_b VALUES (2)")
    looks = []

    def decide(loaded):
        looks.append(commits.head(loaded))
        if len(looks) == 1:
            spark.sql(f"INSERT INTO {table} VALUES (3)")
            looks.append(files(spark, table))
            written = loaded.snapshot(commits.head(loaded, "b"))
            return publication.Append({"try": "1"}, list(written.addedDataFiles(loaded.io())))
        raise ValueError("main moved")

    with pytest.raises(ValueError, match="main moved"):
        publication.append(spark, table, decide, landed=lambda: None)
    assert looks[0] != looks[2] and ids(spark, table) == [1, 3]
    assert files(spark, table) == looks[1]
    assert not [snapshot for snapshot in commits.load(spark, table).snapshots() if "try" in snapshot.summary()]


@pytest.mark.parametrize("known", [False, True])
def test_a_look_that_is_old_never_decides(spark, table, known):
    """What the session remembers is behind another one's commit: the change is refused, and decided once more."""
    other = spark.newSession()
    for name, value in spark.conf.getAll.items():
        if name.startswith(("spark.sql.catalog.", "spark.sql.defaultCatalog")):
            other.conf.set(name, value)
    commits.load(spark, table)
    commits.load(other, table)
    other.sql(f"INSERT INTO {table} VALUES (2)")
    main = commits.head(commits.load(other, table))
    seen = []

    def decide(loaded):
        seen.append(commits.head(loaded))
        return Refs(tags={"late": seen[-1]})

    commits.change(spark, table, decide, landed=lambda: None, known=known)
    assert refs(spark, table)["late"][1] == main == seen[-1]
    commits.load(spark, table)
    other.sql(f"INSERT INTO {table} VALUES (3)")
    to = commits.head(commits.load(other, table))
    with pytest.raises(commits.MainMoved) as moved:
        commits.fast_forward(spark, table, to=7, expected=main, branch="others", known=known)
    assert moved.value.found == to


def test_a_tag_proves_nothing_after_a_rollback(spark, table):
    """The newest position is that of main's own line, also where maintenance has cut it."""
    for number in (2, 3):
        commits.with_properties(
            spark, {"at": str(number)}, lambda number=number: spark.sql(f"INSERT INTO {table} VALUES ({number})")
        )
        spark.sql(f"ALTER TABLE {table} CREATE TAG at_{number}")
    loaded = commits.load(spark, table)
    second, third = (publication.positions.tags(loaded, "at_")[f"at_{number}"] for number in (2, 3))

    def parse(snapshot):
        return snapshot.summary().get("at")

    def newest():
        loaded = commits.load(spark, table)
        tagged = [at for name, at in publication.positions.tags(loaded, "at_").items() if name == "at_3"]
        position, snapshot = publication.positions.newest(spark, loaded, parse, tagged=tagged)
        return position, snapshot.snapshotId()

    assert newest() == ("3", third)
    for several in ([second, third], [third, second]):  # a user's own tags have any order
        assert publication.positions.newest(spark, loaded, parse, tagged=several)[0] == "3"
    spark.sql(f"CALL system.rollback_to_snapshot('{table}', {second})")
    assert newest() == ("2", second)
    spark.sql(f"ALTER TABLE {table} DROP TAG at_2")
    for number in (4, 5):
        spark.sql(f"INSERT INTO {table} VALUES ({number})")
    spark.sql(f"CALL system.expire_snapshots(table => '{table}', snapshot_ids => ARRAY({second}))")
    assert commits.load(spark, table).snapshot(second) is None
    assert newest() == ("2", second)  # by a metadata file from before
