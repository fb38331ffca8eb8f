"""Tables that a stream, the gate and a history left by the code of version 0.1 are gone on with (earlier/make_lake.py)."""

import json
import shutil
import tarfile
from types import SimpleNamespace

import filelock
import pytest
from earlier import make_lake

from workbench import history, wap
from workbench.streams import positions, publish
from workbench.tables import commits


@pytest.fixture(scope="module")
def lake(spark):
    """A session with the lake as catalog `earlier`; it can lie in one folder only, which one process has at a time."""
    folder = make_lake.FOLDER
    with filelock.FileLock(f"{folder}.lock"):
        shutil.rmtree(folder, ignore_errors=True)
        with tarfile.open(make_lake.HERE / "lake.tar.gz") as archive:
            archive.extractall(folder, filter="data")
        try:
            yield make_lake.session()
        finally:
            shutil.rmtree(folder)


def rows(lake, table):
    return sorted(tuple(row) for row in lake.table(f"earlier.kept.{table}").collect())


def test_a_stream_goes_on_where_it_stood(lake):
    left = json.loads((make_lake.FOLDER / "left.json").read_text())["stream"]
    stream = SimpleNamespace(**left)
    for table, count in (("streamed", 2), ("letters", 1)):
        name = f"earlier.kept.{table}"
        loaded = commits.load(lake, name)
        at = positions.find(lake, loaded, stream)
        assert set(at.shards) == {"shardId-000000000000"} and at.shards["shardId-000000000000"].isdigit()
        assert positions.tagged(loaded, stream) == {f"{positions.ref(stream)}{at.snapshot_id}": at.snapshot_id}
        assert not positions.rolled_back(lake, loaded, stream)
        place = publish.Place(name, stream, f"{positions.ref(stream)}0a0a0a0a")
        with pytest.raises(positions.AnotherWriter):
            publish.stage(lake, place, {"shardId-000000000000": "1"})
        base = publish.stage(lake, place, at.shards)
        frame = lake.table(name).limit(1)
        summary = positions.properties(stream, at.shards | {"more": "7"}, "a batch")
        staged, added = publish.append(lake, place, frame, base, summary)
        assert publish.publish_or_carry(lake, place, staged, base, at.shards, summary) == staged
        publish.drop(lake, place)
        found = positions.find(lake, commits.load(lake, name), stream)
        assert (added, found.shards) == (1, at.shards | {"more": "7"})
        assert lake.table(name).count() == count + 1
        refs = {row.name for row in lake.table(f"{name}.refs").collect()}
        assert refs == {"main", f"{positions.ref(stream)}{staged}"}


def test_a_history_goes_on_where_it_stood(lake):
    built = history.build(lake, "earlier.kept.source", "earlier.kept.lives", key="id")
    assert built.commits == 1
    history.build(lake, "earlier.kept.source", "earlier.kept.anew", key="id")
    columns = ["id", "room", "valid_from", "valid_to", "is_current", "version", "change_ordinal"]
    lives, anew = (
        sorted(map(str, lake.table(f"earlier.kept.{name}").select(*columns).collect()))
        for name in ("lives", "anew")
    )
    assert lives == anew and len(lives) == 4
    kinds = {row.name.rpartition("_")[0]: row.type for row in lake.table("earlier.kept.lives.refs").collect()}
    assert kinds == {"": "BRANCH", "history": "TAG"}


def test_what_the_gate_published_is_published_and_what_it_attested_can_be(lake):
    evidence = wap.evidence(lake, "earlier.kept.gated").collect()
    assert [(row.run_id, row.verdict, dict(row.figures)) for row in evidence] == [
        ("2026-01-31", "passed", {"rows": "1"})
    ]
    with pytest.raises(wap.AlreadyPublished):
        wap.run(lake, "earlier.kept.gated", write=print, audit=print, id="2026-01-31")
    wap.publish(lake, "earlier.kept.gated", "by_hand")
    assert rows(lake, "gated") == [(1, "a"), (2, "b")]
    assert {row.name for row in lake.table("earlier.kept.gated.refs").collect()} == {"main"}
    assert len(wap.evidence(lake, "earlier.kept.gated").collect()) == 2
