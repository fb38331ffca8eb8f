"""A damaged pointer: what is there is said, the last good one is offered, and nothing happens by itself."""

import gzip
from pathlib import Path

import pytest
from digests import digest

from workbench.tables import commits
from workbench.tables.doctor import pointers, versions
from workbench.tables.maintenance import metadata
from workbench.tables.snapshots import TableNotFound


@pytest.fixture
def table(spark, namespace):
    """Three commits of 10, 20 and 30 rows."""
    name = f"{namespace}.t"
    spark.sql(f"CREATE TABLE {name} (id BIGINT) USING iceberg")
    for n in (1, 2, 3):
        spark.range(10 * n).coalesce(1).writeTo(name).append()
    return name


def path(location):
    return Path(location.removeprefix("file:").replace("//", "/"))


def files(spark, table):
    folder = path(pointers.look(spark, table).location).parents[1]
    return {str(one) for one in folder.rglob("*") if one.is_file() and not one.name.startswith(".")}


def damage(spark, table, how):
    """Damage what the catalog points to; returns its path and what it was."""
    spark.sql(f"REFRESH TABLE {table}")
    loaded = commits.load(spark, table)
    place = path(loaded.operations().current().metadataFileLocation())
    text = place.read_bytes()
    if how == "gone":
        place.unlink()
    elif how == "truncated":
        place.write_bytes(text[: text.rindex(b'"snapshot-log"')])
    elif how == "cut early":
        place.write_bytes(text[:100])
    elif how == "not JSON":
        place.write_bytes(b"\x00" * 500)
    elif how == "no table":
        place.write_bytes(b'{"hello": 1}')
    elif how == "empty":
        place.write_bytes(b"")
    elif how == "manifest cut":
        manifest = path(loaded.currentSnapshot().allManifests(loaded.io())[0].path())
        manifest.write_bytes(manifest.read_bytes()[:100])
        manifest.with_name(f".{manifest.name}.crc").unlink()
    elif how == "manifest list cut":
        listed = path(loaded.currentSnapshot().manifestListLocation())
        listed.write_bytes(listed.read_bytes()[:100])
        listed.with_name(f".{listed.name}.crc").unlink()
    elif how == "manifest list gone":
        path(loaded.currentSnapshot().manifestListLocation()).unlink()
    elif how == "manifest gone":
        path(loaded.currentSnapshot().allManifests(loaded.io())[0].path()).unlink()
    place.with_name(f".{place.name}.crc").unlink(missing_ok=True)
    return place, text


def test_a_fine_pointer_is_left_alone(spark, table):
    found = pointers.look(spark, table)
    assert (found.damage, found.offered, found.lost, found.rows_lost) == (None, None, (), 0)
    told = pointers.told(found)
    ids = [one.snapshot for one in found.versions]
    assert ids[-1] is None and [*told["snapshot"].dropna()] == ids[:-1]  # to the last digit, beside a null too
    assert [*told["rows"].dropna()] == [60, 30, 10] and list(told["committed"]) == [True] * 4
    with pytest.raises(ValueError, match="is not damaged, so it stays"):
        pointers.restore(spark, table, to=found.versions[1].location)


GONE = pytest.mark.proof("test_a_damaged_pointer_is_said shows it by the command, and mends it")
UNREADABLE = pytest.mark.proof("the same test shows it for a metadata file that is cut off")
ITS_FILES = pytest.mark.proof("the same test shows it for a manifest list that is cut off")


@pytest.mark.parametrize(
    ("how", "said", "rows_lost"),
    [
        pytest.param("gone", "the file is gone", None, marks=GONE),
        ("truncated", "it cannot be read", 30),
        pytest.param("cut early", "it cannot be read", None, marks=UNREADABLE),
        pytest.param("not JSON", "it cannot be read", None, marks=UNREADABLE),
        pytest.param("no table", "it cannot be read", None, marks=UNREADABLE),
        pytest.param("manifest list gone", "its manifest list snap-", 30, marks=ITS_FILES),
        pytest.param("manifest gone", "its manifest ", 30, marks=ITS_FILES),
        pytest.param("empty", "it cannot be read", None, marks=UNREADABLE),
        pytest.param("manifest cut", "its manifest ", 30, marks=ITS_FILES),
        ("manifest list cut", "its manifest list cannot be read", 30),
    ],
)
def test_each_damage_is_said_and_mended_when_told(spark, table, how, said, rows_lost):
    last = commits.head(commits.load(spark, table))
    damage(spark, table, how)
    found = pointers.look(spark, table)
    assert found.damage.startswith(said)
    assert (found.offered.rows, found.offered.version) == (30, 2)
    assert found.rows_lost == rows_lost and [one for one, _ in found.lost] == [last]
    before = files(spark, table)
    assert pointers.look(spark, table) == found
    mended = pointers.restore(spark, table, to=found.offered.location)
    assert mended.damage is None and mended.location == found.offered.location
    assert digest(spark, table)[0] == 30 and files(spark, table) == before
    spark.range(5).coalesce(1).writeTo(table).append()
    assert digest(spark, table)[0] == 35


def test_a_writer_who_came_meanwhile_is_not_overwritten(spark, table):
    damage(spark, table, "gone")
    found = pointers.look(spark, table)
    catalog, (namespace, name) = spark.conf.get("spark.sql.defaultCatalog"), table.split(".")
    with pytest.raises(ValueError, match="the catalog names another metadata file"):
        versions.swap_in_jdbc(
            spark, catalog, namespace, name, seen="another", to=found.offered.location, before=None
        )
    assert pointers.look(spark, table) == found
    pointers.restore(spark, table, to=found.offered.location)  # so that the table can be dropped


def test_what_was_never_committed_is_not_offered(spark, table):
    """A writer that died before its swap left a metadata file; it is newer than all, and nobody's."""
    place, text = damage(spark, table, "gone")
    for name in ("00002-zombie", "00003-zombie", "00004-zombie"):
        (place.parent / f"{name}.metadata.json").write_bytes(text)
    (place.parent / "00002-zombie.gz.metadata.json").write_bytes(gzip.compress(text))
    found = pointers.look(spark, table)
    zombies = [one for one in found.versions if "zombie" in one.location]
    assert len(zombies) == 4 and not any(one.committed for one in zombies)
    assert all(one.damage is None and one.rows == 60 for one in zombies)
    assert found.offered.version == 2 and found.offered.rows == 30
    with pytest.raises(ValueError, match="is not a good metadata file of"):
        pointers.restore(spark, table, to=zombies[0].location)


def test_of_tables_that_share_a_folder_none_is_guessed(spark, table):
    """No log tells which of the earlier files are this table's, and another's must not be taken."""
    place, text = damage(spark, table, "gone")
    other = f"{table}_other"
    spark.sql(f"CREATE TABLE {other} (id BIGINT) USING iceberg")
    theirs = path(pointers.look(spark, other).location)
    before = {one: one.read_bytes() for one in place.parent.glob("*.metadata.json")}
    (place.parent / f"00001-{theirs.name}").write_bytes(theirs.read_bytes())
    for one, was in before.items():
        one.write_bytes(was if metadata.number(str(one)) == 0 else b"")
        one.with_name(f".{one.name}.crc").unlink(missing_ok=True)
    assert pointers.look(spark, table).offered is None
    place.write_bytes(text)  # so that the table can be dropped


def test_a_pointer_to_another_tables_metadata_is_said_and_taken_back(spark, table):
    """Every reader would read the other table's rows, and every writer write there."""
    other, fine = f"{table}_other", pointers.look(spark, table)
    spark.sql(f"CREATE TABLE {other} (id BIGINT) USING iceberg")
    theirs, before = pointers.look(spark, other).location, files(spark, table)
    catalog, (namespace, name) = spark.conf.get("spark.sql.defaultCatalog"), table.split(".")
    versions.swap_in_jdbc(spark, catalog, namespace, name, seen=fine.location, to=theirs, before=fine.location)
    found = pointers.look(spark, table)
    assert found.damage.startswith("it is of another table, ") and found.offered.location == fine.location
    assert (found.lost, [one.location for one in found.versions]) == ((), [one.location for one in fine.versions])
    mended = pointers.restore(spark, table, to=fine.location)
    assert mended.damage is None and digest(spark, table)[0] == 60
    assert files(spark, table) == before and pointers.look(spark, other).damage is None


def test_only_a_good_file_is_taken(spark, table):
    place, text = damage(spark, table, "truncated")
    with pytest.raises(ValueError, match="is not a good metadata file of"):
        pointers.restore(spark, table, to=pointers.look(spark, table).location)
    found = pointers.look(spark, table)
    damage_of = path(found.offered.location)
    damage_of.write_bytes(b"")
    assert pointers.look(spark, table).offered.rows == 10
    for one in place.parent.glob("*.metadata.json"):
        one.unlink()
        one.with_name(f".{one.name}.crc").unlink(missing_ok=True)
    left = pointers.look(spark, table)
    assert (left.damage, left.offered, left.versions) == ("the file is gone", None, ())
    assert len(left.lost) == 3 and left.rows_lost is None
    place.write_bytes(text)  # so that the table can be dropped


def test_an_address_of_a_database_is_not_said(spark):
    settings = {"type": "jdbc", "uri": "jdbc:nothing://somebody:geheim@host/db"}
    for key, value in settings.items():
        spark.conf.set(f"spark.sql.catalog.nobodys.{key}", value)
    with pytest.raises(
        ValueError, match="database of the catalog nobodys cannot be reached: SQLException"
    ) as caught:
        versions.in_jdbc(spark, "nobodys", "n", "t")
    assert "geheim" not in str(caught.value) and caught.value.__suppress_context__
    for key in settings:
        spark.conf.unset(f"spark.sql.catalog.nobodys.{key}")


def test_a_table_that_is_not_there(spark, namespace):
    with pytest.raises(TableNotFound):
        pointers.look(spark, f"{namespace}.nothing")


@pytest.mark.proof("the doctor names each kind of damage; here Iceberg itself is asked, for a minute and a half")
def test_who_opens_a_damaged_table_is_told_where_to_look(spark, table):
    """Iceberg reads such a file for a minute and a half before it gives up."""
    place, text = damage(spark, table, "cut early")
    commits.forget(spark, table)
    with pytest.raises(ValueError, match=r"t cannot be opened: .*Failed to read file.*pointers.look says which"):
        commits.load(spark, table)
    place.write_bytes(text)
    assert commits.load(spark, table).currentSnapshot() is not None
