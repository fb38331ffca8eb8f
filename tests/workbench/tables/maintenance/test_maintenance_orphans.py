"""Orphans where tables share a folder, where clocks are told wrongly and where one file has two names."""

from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace

import pytest
from maintenance_cases import LATER, PLAIN, append, folder, made, old, plan, policy, run

from workbench.tables import commits, maintenance
from workbench.tables.doctor import versions
from workbench.tables.maintenance import orphans, sentences


@pytest.fixture
def table(spark, namespace):
    return f"{namespace}.t"


def removed(spark, table, **more):
    found = run(spark, table, "remove_orphans", now=datetime.now(UTC), options={"remove_orphans": True} | more)
    return [one.rpartition("/")[2] for one in found["remove_orphans"].orphans]


def refused(spark, table, why):
    """Why nothing is removed, and that nothing is: a run says it in its result, as of any other action."""
    planned = plan(spark, table, "remove_orphans")
    (done,) = maintenance.run(spark, planned, now=datetime.now(UTC), remove_orphans=True)
    (sentence,) = sentences(done)
    assert (done.files, done.orphans) == (0, ())
    assert sentence.startswith("nothing is removed: ") and why in sentence


def all_old(place, *but):
    for path in place.rglob("*"):
        if path.is_file() and not any(one in path.name for one in but):
            old(path)


@pytest.mark.proof(
    "test_a_busy_table_below_whose_metadata_is_all_young_refuses_the_removal shows it for a folder below"
)
def test_a_table_in_the_same_folder_refuses_the_removal(spark, table):
    """Also where this one's own orphans of metadata come first."""
    made(spark, table, properties=PLAIN + ", 'write.metadata.previous-versions-max' = '1'", appends=2)
    other, place = table + "_other", folder(spark, table)
    spark.sql(f"CREATE TABLE {other} (id BIGINT, v STRING) USING iceberg LOCATION 'file:{place}'")
    append(spark, other, 0)
    for n in range(3):
        append(spark, table, n)
    all_old(place)
    refused(spark, table, "another table's metadata lies below")
    assert maintenance.inventory(spark, other).missing == ()
    spark.sql(f"DROP TABLE {other}")


def test_a_busy_table_below_whose_metadata_is_all_young_refuses_the_removal(spark, table):
    """Each of its commits deletes the metadata file before: what is old of it is data alone."""
    place, other = folder(spark, made(spark, table, appends=1)), table + "_other"
    spark.sql(f"CREATE TABLE {other} (id BIGINT, v STRING) USING iceberg LOCATION 'file:{place}/in'")
    append(spark, other, 0)
    all_old(place, ".metadata.json")
    refused(spark, table, "another table's metadata lies below")
    assert maintenance.inventory(spark, other).missing == ()
    spark.sql(f"DROP TABLE {other}")


@pytest.mark.proof(
    "test_an_error_carries_what_was_done_before_it shows what was done, "
    "test_a_busy_table_below_whose_metadata_is_all_young_refuses_the_removal the refusal"
)
def test_what_was_done_before_a_refused_removal_is_returned(spark, table):
    place, other = folder(spark, made(spark, table, appends=5)), table + "_other"
    spark.sql(f"CREATE TABLE {other} (id BIGINT) USING iceberg LOCATION 'file:{place}/in'")
    all_old(place)
    done = run(
        spark, table, "compact_data", "remove_orphans", now=datetime.now(UTC), options={"remove_orphans": True}
    )
    assert (done["compact_data"].files, done["compact_data"].commits) == (5, 1)
    assert "another table's metadata lies below" in sentences(done["remove_orphans"])[0]
    spark.sql(f"DROP TABLE {other}")


def test_an_error_carries_what_was_done_before_it(spark, table, monkeypatch):
    made(spark, table, appends=5)

    def away(*_, **__):
        raise OSError("the storage does not answer")

    monkeypatch.setattr(orphans, "find", away)
    with pytest.raises(OSError) as told:
        run(spark, table, "compact_data", "remove_orphans")
    assert [one.partition(", bytes_read")[0] for one in told.value.__notes__] == [
        "done before: Done(name='compact_data', files=5, files_after=1"
    ]
    (before,) = maintenance.done_before(told.value)
    assert (before.name, before.files, before.files_after) == ("compact_data", 5, 1)


@pytest.mark.proof(
    "test_orphans_are_named_until_their_removal_is_told shows the answer; how often the storage is "
    "listed is a matter of speed"
)
@pytest.mark.parametrize(("few", "listings"), [(100, 1), (0, 2)])
def test_the_storage_is_listed_once_and_again_only_for_many(spark, table, monkeypatch, few, listings):
    """The ages of a few are asked one by one; the answer is the same."""
    place, whole, calls = folder(spark, made(spark, table, appends=1)), orphans._unknown, []
    for name in ("a b.parquet", "old.parquet", "old.parquet.more", "young.parquet"):
        (place / "data" / name).write_text("x")
    all_old(place, "young")

    def unknown(*arguments):
        calls.append(1)
        return whole(*arguments)

    monkeypatch.setattr(orphans, "_unknown", unknown)
    monkeypatch.setattr(orphans, "_FEW", few)
    found = orphans.find(spark, table, policy(), now=datetime.now(UTC))
    names = [one.rpartition("/")[2] for one in found if "/data/" in one]
    assert (names, len(calls)) == (["a b.parquet", "old.parquet", "old.parquet.more"], listings)
    assert orphans._created(commits.load(spark, table).io(), f"{found[0]}.gone") is None


@pytest.mark.proof("test_a_commit_that_the_pointer_does_not_know shows which pointers are refused")
def test_a_catalog_from_an_old_copy_refuses_the_removal(spark, table):
    """What was committed since looks like orphans, and is live for whoever finds the right pointer again."""
    places = [_place(spark, made(spark, table))]
    for n in range(4):
        append(spark, table, n)
        places.append(_place(spark, table))
    point(spark, table, places[4], places[1])
    all_old(folder(spark, table))
    refused(spark, table, "was committed, and the metadata file that the catalog names does not know it")
    for n in range(4):  # and goes on from there, to higher numbers
        append(spark, table, n)
    all_old(folder(spark, table))
    refused(spark, table, "the catalog came back from an old copy, or another one has the table too")
    point(spark, table, _place(spark, table), places[4])
    assert maintenance.inventory(spark, table).missing == () and spark.table(table).count() == 40


def state(name, *log):
    """A table's handle as far as `_newest` looks at it."""
    files = [SimpleNamespace(file=lambda one=one: f"file:/t/metadata/{one}.metadata.json") for one in log]
    now = SimpleNamespace(
        metadataFileLocation=lambda: f"file:/t/metadata/{name}.metadata.json", previousFiles=lambda: files
    )
    return SimpleNamespace(operations=lambda: SimpleNamespace(current=lambda: now))


@pytest.mark.parametrize(
    ("known", "unknown", "refused"),
    [
        (["5-a", "4-a"], {"6-a": ["5-a", "4-a"]}, None),  # a commit under way, or one that never was
        (["5-a", "4-a"], {"6-a": ["5-a"], "7-a": ["6-a", "5-a"]}, "6-a"),
        (["7-b", "6-b", "5-a"], {"6-a": ["5-a"], "7-a": ["6-a", "5-a"]}, "6-a"),  # others have gone on since
        (["5-b"], {"5-a": ["4-a"], "6-a": ["5-a"]}, "5-a"),
        (["5-a", "4-a"], {"3-a": ["2-a"], "2-a": ["1-a"]}, None),  # from before the log
        (["5-a", "4-a"], {"6-a": ["5-a"], "6-b": ["5-a"]}, None),  # two that never were
        (["v5", "v4"], {"v6": ["v5"], "v7": ["v6"]}, "v6"),
        (["a"], {"6-a": ["a"]}, None),  # names without numbers
        (["a"], {"6-a": ["5-a"], "7-a": ["6-a"]}, "6-a"),
        (["a"], {"b": ["a"], "c": ["b", "a"]}, "b"),  # which of them are older nothing tells
        (["0-b"], {"0-a": [], "1-a": ["0-a"]}, "0-a"),  # 0 is a number
    ],
)
def test_a_commit_that_the_pointer_does_not_know(known, unknown, refused):
    place = "/t/metadata/{}.metadata.json".format
    logs = {f"file:{place(one)}": [f"file://{place(each)}" for each in log] for one, log in unknown.items()}
    try:
        orphans._newest(state(*known), logs)
    except orphans.Ambiguous as error:
        assert str(error).startswith(f"file:{place(refused)} was committed")
    else:
        assert refused is None


@pytest.mark.proof("test_a_commit_that_the_pointer_does_not_know shows which metadata files are let go")
def test_metadata_from_before_the_log_and_of_commits_that_never_were_is_removed(spark, table):
    made(spark, table, properties=PLAIN + ", 'write.metadata.previous-versions-max' = '2'", appends=6)
    place = folder(spark, table)
    never = place / "metadata" / f"00099-{'0' * 36}.metadata.json"  # a writer died before its swap
    never.write_bytes(Path(_place(spark, table).removeprefix("file:")).read_bytes())
    all_old(place)
    found = removed(spark, table)
    assert never.name in found and len([one for one in found if one.endswith(".metadata.json")]) == 1 + 4
    assert maintenance.inventory(spark, table).missing == () and not never.exists()


def _place(spark, table):
    commits.forget(spark, table)
    return commits.load(spark, table).operations().current().metadataFileLocation()


def point(spark, table, seen, to):
    """Let the catalog name another metadata file."""
    where = (spark.conf.get("spark.sql.defaultCatalog"), *table.split("."))
    versions.swap_in_jdbc(spark, *where, seen=seen, to=to, before=None)
    commits.forget(spark, table)


def test_a_moment_to_come_is_no_way_around_the_guard(spark, table):
    made(spark, table)
    young = folder(spark, table) / "data" / "under_way.parquet"
    young.parent.mkdir()
    young.write_text("x")
    soon = datetime.now(UTC) + timedelta(days=3, seconds=1)
    planned = plan(spark, table, "remove_orphans")
    with pytest.raises(
        ValueError,
        match="now is .*, which is too late: orphans would be younger than the policy says: .* under way",
    ):
        maintenance.run(spark, planned, now=soon, remove_orphans=True)
    (done,) = maintenance.run(spark, planned, remove_orphans=True)
    assert (done.orphans, young.exists()) == ((), True)
    (done,) = maintenance.run(spark, planned, now=soon, remove_orphans=True, no_commit_under_way=True)
    assert (done.files, young.exists()) == (1, False)


def test_one_file_under_two_schemes_refuses_the_removal(spark, table):
    place = folder(spark, made(spark, table, appends=1))
    there, loaded = place / "data" / "x.parquet", commits.load(spark, table)
    there.write_text("x")
    file = spark._jvm.org.apache.iceberg.DataFiles.builder(loaded.spec()).withPath(f"hdfs://host{there}")
    loaded.newFastAppend().appendFile(file.withFileSizeInBytes(1).withRecordCount(1).build()).commit()
    all_old(place)
    refused(spark, table, "cannot be told, nothing is removed: Validation")
    assert there.exists()
    spark.sql(f"DROP TABLE {table}")  # not its files: nobody answers for that host


def test_a_metadata_file_that_goes_while_it_is_read_stops_nothing(spark, table, monkeypatch):
    from workbench.tables.maintenance import orphans

    place, whole = folder(spark, made(spark, table, appends=1)), orphans._still_unknown
    orphan, gone = place / "data" / "orphan.parquet", place / "metadata" / "00000-gone.metadata.json"
    orphan.write_text("x")
    gone.write_text("{")
    all_old(place)

    def then(spark, loaded, locations):
        found = whole(spark, loaded, locations)
        gone.unlink(missing_ok=True)
        return found

    monkeypatch.setattr(orphans, "_still_unknown", then)
    assert "orphan.parquet" in removed(spark, table) and not orphan.exists()


def test_what_the_table_has_come_to_know_since_the_listing_is_no_orphan(spark, table, monkeypatch):
    made(spark, table, appends=2)
    spark.sql(f"ALTER TABLE {table} CREATE BRANCH side")
    spark.sql(f"INSERT INTO {table}.branch_side VALUES (1, 'x')")
    spark.sql(f"DELETE FROM {table} WHERE id < 10")
    everything = sorted(
        f"file:{path}" for path in folder(spark, table).rglob("*") if path.suffix in (".parquet", ".avro")
    )
    monkeypatch.setattr(orphans, "_unknown", lambda *_: everything)
    assert orphans.find(spark, table, policy(), now=LATER, no_commit_under_way=True) == ()
    assert orphans.remove(spark, table, tuple(everything)) == 0
    assert orphans.remove(spark, table, tuple(one.replace("file:", "file://") for one in everything)) == 0
