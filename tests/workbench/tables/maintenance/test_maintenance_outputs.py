"""What Iceberg's actions and metadata tables say, held against the files: metadata read by hand, sizes on the disk."""

import json
from collections import Counter
from pathlib import Path

import fastavro
import pytest
from maintenance_cases import LATER, append, made, plan, run
from pyarrow import parquet

from workbench.tables import commits, maintenance, snapshots
from workbench.tables.maintenance import deletes, manifests, metadata, sentences

MODES = ", ".join(f"'write.{one}.mode' = 'merge-on-read'" for one in ("delete", "update", "merge"))
KINDS = {
    "v1": ("'format-version' = '1'", ""),
    "v1 partitioned": ("'format-version' = '1'", "v"),
    "v2 deletes": (f"'format-version' = '2', 'write.delete.granularity' = 'partition', {MODES}", ""),
    "v2 deletes partitioned": (f"'format-version' = '2', 'write.delete.granularity' = 'partition', {MODES}", "v"),
    "v2 deletes by file": (
        f"'format-version' = '2', 'write.delete.granularity' = 'file', {MODES}",
        "bucket(2, id)",
    ),
    "v3 vectors": (f"'format-version' = '3', {MODES}", ""),
    "v3 vectors partitioned": (f"'format-version' = '3', {MODES}", "v"),
}
WITNESS = "test_maintenance_run and test_maintenance_plan have the counts of one table, by hand"
DATA, POSITIONS = 0, 1


class State:
    """A table's metadata, read from its files by JSON and fastavro alone."""

    def __init__(self, spark, table):
        spark.sql(f"REFRESH TABLE {table}")
        self.file = commits.load(spark, table).operations().current().metadataFileLocation()
        self.meta = json.loads(on_disk(self.file).read_text(encoding="utf-8"))
        self.known = {one["snapshot-id"]: one for one in self.meta.get("snapshots", [])}
        self.current = self.known.get(self.meta.get("current-snapshot-id"))

    def manifests(self, snapshot=None):
        """Its manifests: location to the row of the manifest list."""
        snapshot = snapshot or self.current
        return {one["manifest_path"]: one for one in avro(snapshot["manifest-list"])}

    def files(self, snapshot=None):
        """Its live files: (location, offset of a deletion vector) to the entry's data_file."""
        found = {}
        for at in self.manifests(snapshot):
            for entry in avro(at):
                file = entry["data_file"]
                if entry["status"] < 2:
                    found[file["file_path"], file.get("content_offset")] = file
        return found

    def every(self):
        """Locations of all files that any snapshot or version of the metadata knows."""
        found = {self.file, *(one["metadata-file"] for one in self.meta.get("metadata-log", []))}
        for snapshot in self.known.values():
            there = self.manifests(snapshot)
            found |= {snapshot["manifest-list"], *there}
            found |= {entry["data_file"]["file_path"] for at in there for entry in avro(at)}
        return {on_disk(one) for one in found}


def on_disk(location):
    return Path("/" + location.removeprefix("file:").lstrip("/"))


def avro(location):
    with on_disk(location).open("rb") as data:
        return list(fastavro.reader(data))


def stored(spark, table):
    """Files below the table's folder, with their bytes, but for checksums."""
    folder = on_disk(commits.load(spark, table).location())
    return {at: at.stat().st_size for at in folder.rglob("*") if at.is_file() and not at.name.startswith(".")}


def sizes(files):
    return sum(on_disk(at).stat().st_size for at in files)


@pytest.fixture
def table(spark, namespace, request):
    properties, partitioned = KINDS[request.param]
    name = made(spark, f"{namespace}.t", properties=properties, partitioned=partitioned, appends=6)
    if "v1" not in request.param:
        for n in (
            1,
            12,
            23,
            34,
        ):  # a statement each: several delete files of a partition, several vectors of a file
            spark.sql(f"DELETE FROM {name} WHERE id IN ({n}, {n + 1}, {n + 20})")
    else:
        spark.sql(f"DELETE FROM {name} WHERE id < 3")
    return name


every_kind = pytest.mark.parametrize("table", KINDS, indirect=True)


@pytest.mark.proof(WITNESS)
@every_kind
def test_metadata_tables_and_summaries_are_what_the_files_say(spark, table):
    state, still = State(spark, table), metadata.still(spark, commits.load(spark, table))
    there = state.files()
    for (at, _), file in there.items():
        assert file["file_size_in_bytes"] == on_disk(at).stat().st_size
        if at.endswith(".parquet"):
            assert file["record_count"] == parquet.read_metadata(on_disk(at)).num_rows
    content = {key: file.get("content") or DATA for key, file in there.items()}
    rows = {
        kind: sum(there[key]["record_count"] for key in there if content[key] == kind)
        for kind in (DATA, POSITIONS)
    }
    assert spark.table(table).count() == rows[DATA] - rows[POSITIONS]

    live = metadata.entries(spark, still).collect()
    found = {
        (r.file_path, r.asDict().get("content_offset")): (r.content, r.record_count, r.file_size_in_bytes)
        for r in live
    }
    assert found == {key: (content[key], f["record_count"], f["file_size_in_bytes"]) for key, f in there.items()}
    partitions = {r.file_path: r.partition and {k: str(v) for k, v in r.partition.asDict().items()} for r in live}
    assert partitions == {
        at: {k: str(v) for k, v in f["partition"].items()} or None for (at, _), f in there.items()
    }
    listed = {r.path: r.length for r in metadata.frame(spark, still, "MANIFESTS").collect()}
    assert listed == {at: on_disk(at).stat().st_size for at in state.manifests()}
    known = {on_disk(row.at) for row in metadata.known(spark, still).collect()}
    assert known == state.every()

    summary, counts = state.current["summary"], Counter(content.values())
    assert {name: int(summary[f"total-{name}"]) for name in ("data-files", "delete-files", "records", "position-deletes")} == {
        "data-files": counts[DATA], "delete-files": counts[POSITIONS], "records": rows[DATA], "position-deletes": rows[POSITIONS],
    }  # fmt: skip
    assert int(summary["total-files-size"]) == sum(size_of(file) for file in there.values())

    line, at = [], state.current
    while at is not None:
        line.insert(0, at)
        at = state.known.get(at.get("parent-snapshot-id"))
    told = [tuple(row) for row in snapshots.history(spark, table).collect()]
    before, expected = {}, []
    for n, snapshot in enumerate(line, 1):
        now = {key: f["record_count"] for key, f in state.files(snapshot).items() if not f.get("content")}
        added, gone = (sum(a[k] for k in a.keys() - b.keys()) for a, b in ((now, before), (before, now)))
        expected.append((n, snapshot["summary"]["operation"], added, gone, len(now)))
        before = now
    assert told == expected
    assert [snapshots.at(spark, table, n + 1) for n in range(len(line))] == [one["snapshot-id"] for one in line]
    assert list(metadata.lineage(spark, still)) == [one["snapshot-id"] for one in line]
    assert snapshots.current(spark, table) == state.meta["refs"]["main"]["snapshot-id"] == line[-1]["snapshot-id"]


def size_of(file):
    """Bytes that a file counts in summaries: of a deletion vector its own, not those of the file it lies in."""
    return file.get("content_size_in_bytes") or file["file_size_in_bytes"]


@pytest.mark.proof(WITNESS)
@pytest.mark.parametrize("fast", [True, False])
@every_kind
def test_what_compaction_says_it_did(spark, table, fast):
    more = {"min_input_files": 2, "min_deletes_per_file": 1, "fast": fast}
    before, size = State(spark, table), stored(spark, table)
    planned = plan(spark, table, "compact_data", **more)
    (action,) = planned.actions
    (done,) = maintenance.run(spark, planned, now=LATER)
    after = State(spark, table)
    old, new = ({key for key, f in one.files().items() if not f.get("content")} for one in (before, after))
    gone = old - new
    assert (done.files, done.files_after) == (len(gone), len(new - old))
    assert done.bytes_read == sum(size[on_disk(at)] for at, _ in gone)
    assert done.commits == len(after.known) - len(before.known)
    assert (action.files, action.bytes_read) == (done.files, done.bytes_read)
    assert sum(after.files()[key]["file_size_in_bytes"] for key in new - old) == sizes(at for at, _ in new - old)


@pytest.mark.proof(WITNESS)
@pytest.mark.parametrize("table", [one for one in KINDS if "v1" not in one], indirect=True)
def test_what_the_rewrite_of_deletes_says_it_did(spark, table, request):
    spark.sql(f"CALL system.rewrite_data_files(table => '{table}', options => map('rewrite-all', 'true'))")
    for n in (45, 46, 47):
        spark.sql(f"DELETE FROM {table} WHERE id IN ({n}, {n - 10})")
    before, size = State(spark, table), stored(spark, table)
    still = metadata.still(spark, commits.load(spark, table))
    found = deletes.worthwhile(spark, still, maintenance.Policy(min_input_files=2))
    done = run(spark, table, "rewrite_deletes", min_input_files=2).get("rewrite_deletes")
    after = State(spark, table)
    one, other = ({key for key, f in state.files().items() if f.get("content")} for state in (before, after))
    gone, new = one - other, other - one
    said = (done.files, done.files_after, done.commits) if done else (0, 0, 0)
    assert said == (len(gone), len(new), len(after.known) - len(before.known))
    foreseen = (found.small + found.dangling, found.after, found.bytes) if found else (0, 0, 0)
    assert foreseen == (len(gone), len(new), sum(size[on_disk(at)] for at, _ in gone))
    assert bool(gone) == ("vectors" not in request.node.callspec.id)


@pytest.mark.proof(WITNESS)
@every_kind
def test_what_the_rewrite_of_manifests_says_it_did(spark, table):
    before, still = State(spark, table), metadata.still(spark, commits.load(spark, table))
    there = {at: one for at, one in before.manifests().items() if not one.get("content")}
    found = manifests.worthwhile(spark, still, maintenance.Policy(min_manifests=2))
    assert (found.files, found.bytes) == (len(there), sizes(there))
    done = run(spark, table, "rewrite_manifests", min_manifests=2)["rewrite_manifests"]
    after = State(spark, table)
    old, new = before.manifests().keys(), after.manifests().keys()
    assert (done.files, done.files_after, done.commits) == (len(old - new), len(new - old), 1)
    assert len(after.known) == len(before.known) + 1
    assert {key: size_of(f) for key, f in before.files().items()} == {
        key: size_of(f) for key, f in after.files().items()
    }


@pytest.mark.proof(WITNESS)
@every_kind
def test_what_expiry_says_it_did(spark, table):
    spark.sql(f"CALL system.rewrite_data_files(table => '{table}', options => map('rewrite-all', 'true'))")
    append(spark, table, 7)
    before, size = State(spark, table), stored(spark, table)
    planned = plan(spark, table, "expire_snapshots")
    (action,) = planned.actions
    (done,) = maintenance.run(spark, planned, now=LATER)
    after, left = State(spark, table), stored(spark, table)
    gone = size.keys() - left.keys()
    content = {at for at in gone if at.parent.name != "metadata"}
    lists = {at for at in gone if at.suffix == ".avro"}
    assert set(action.snapshots) == before.known.keys() - after.known.keys()
    assert (done.files, done.commits) == (len(content), 1)
    assert sentences(done) == (
        f"{len(action.snapshots)} snapshots went, {len(lists)} manifests and manifest lists with them",
    )
    assert (action.files, action.bytes_freed) == (len(content), sum(size[at] for at in content))
    assert left.keys() - size.keys() == {on_disk(after.file)}
    assert after.every() <= left.keys() | {on_disk(one["metadata-file"]) for one in after.meta["metadata-log"]}
    assert {at for at in left if at.parent.name != "metadata"} == {on_disk(at) for at, _ in after.files()}


@pytest.mark.proof(WITNESS)
@every_kind
def test_what_the_removal_of_orphans_says_it_did(spark, table):
    state, folder = State(spark, table), on_disk(commits.load(spark, table).location())
    for name in ("data/lost.parquet", "metadata/lost.avro", "data/v=v1/of a killed write.parquet"):
        (folder / name).parent.mkdir(exist_ok=True, parents=True)
        (folder / name).write_bytes(b"1234")
    size = stored(spark, table)
    there = maintenance.inventory(spark, table)
    assert {on_disk(at): n for at, n in there.stored.items() if not on_disk(at).name.startswith(".")} == size
    assert there.missing == ()
    orphans = {at for at in size if at not in state.every() and at.name != "version-hint.text"}
    assert {on_disk(at) for at in there.unknown if not on_disk(at).name.startswith(".")} == orphans
    assert {at.name for at in orphans} == {"lost.parquet", "lost.avro", "of a killed write.parquet"}
    done = run(spark, table, "remove_orphans", options={"remove_orphans": True})["remove_orphans"]
    assert (done.files, {on_disk(at) for at in done.orphans}) == (len(orphans), orphans)
    assert size.keys() - stored(spark, table).keys() == orphans


@pytest.mark.proof(WITNESS)
@every_kind
def test_what_a_move_of_main_says(spark, table):
    spark.sql(f"ALTER TABLE {table} CREATE BRANCH b")
    spark.sql(f"INSERT INTO {table}.branch_b VALUES (100, 'v1')")
    before = State(spark, table)
    main, to = (before.meta["refs"][name]["snapshot-id"] for name in ("main", "b"))
    moved = commits.fast_forward(spark, table, to=to, expected=main, branch="b")
    after = State(spark, table)
    assert (moved.value, moved.tries) == (to, 1)
    assert after.meta["refs"].keys() == {"main"} and after.meta["refs"]["main"]["snapshot-id"] == to
    assert after.meta["current-snapshot-id"] == to and after.current["parent-snapshot-id"] == main
    assert commits.descends(spark, commits.load(spark, table), to, main)
