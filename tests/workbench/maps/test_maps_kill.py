"""kill -9 and other processes in the middle of a run: every item once, in the end, and the zombie is told."""

import json
import signal
import subprocess
import sys

import pytest
from machines import flow, jsonl, passing

from workbench import maps
from workbench.maps import publish
from workbench.tables import commits, publication

FILES, EACH = 3, 5
CONFIG = {"InputType": "JSONL", "ManifestType": "ATHENA_DATA"}
# the child stops itself and its JVM at a named point of the second wave; the group is killed whole
CHILD = """
import os, signal, sys
from workbench import maps, session
from workbench.maps import publish
from workbench.tables import commits, publication

file, table, lake, point = sys.argv[1:]
spark = session.start("local")
waves = 0

def die(*arguments, **options):
    os.killpg(os.getpgid(0), signal.SIGKILL)

stage, note, attempt, append = publication.stage, publish.note, commits.attempt, publication.append

def counted(*arguments, **options):
    global waves
    waves += 1
    if waves == 2 and point == "before the branch":
        die()
    if waves == 2 and point == "before the rows":
        commits.attempt = die
    if waves == 2 and point == "rows on the branch":
        publish.note = die
    if waves == 2 and point == "in the commit":
        publication.append = lambda s, t, decide, **o: append(s, t, lambda at: die() if decide(at) else None, **o)
    if waves == 2 and point == "after the commit":
        publish.note = lambda *a, **o: die(note(*a, **o))
    return stage(*arguments, **options)

publication.stage = counted
if point == "before the end":
    publish.note = lambda *a, **o: die() if a[3].state == "succeeded" else note(*a, **o)
if point == "after the begin":
    publish.note = lambda *a, **o: die(note(*a, **o))
maps.run(spark, maps.read(file), table, run_id="r", buckets={"lake": lake}, wave_rows=1)
print("not killed", flush=True)
"""
POINTS = ["after the begin", "before the branch", "before the rows", "rows on the branch", "in the commit", "after the commit", "before the end"]  # fmt: skip
DOUBLED = pytest.mark.proof("the case of a lost item shows that a wave's items are counted")
DONE = {"after the begin": 0, "after the commit": 2 * EACH, "before the end": FILES * EACH}


@pytest.fixture
def definition(tmp_path):
    for part in range(FILES):
        jsonl(tmp_path, [{"n": n} for n in range(EACH * part, EACH * part + EACH)], f"p{part}.jsonl")
    (tmp_path / "m.csv").write_text("".join(f"s3://lake/p{part}.jsonl\n" for part in range(FILES)))
    return flow(passing("{% [$states.input.n, $uuid()] %}"), tmp_path, config=CONFIG, key="m.csv")


def run(spark, definition, table, folder, **options):
    return maps.run(spark, definition, table, run_id="r", buckets={"lake": str(folder)}, wave_rows=1, **options)


def every_item_once(spark, table):
    rows = spark.table(table).orderBy("_index").select("_index", "_output").collect()
    assert [(row[0], json.loads(row[1])[0]) for row in rows] == [(n, n) for n in range(FILES * EACH)]
    refs = [row.name for row in spark.sql(f"SELECT name FROM {table}.refs").collect()]
    assert refs == ["main"]
    return rows


class Stopped(BaseException):
    """What nothing catches."""


def test_stopped_with_rows_on_its_branch_and_run_again(spark, namespace, definition, tmp_path, monkeypatch):
    """Where a careless writer doubles: rows are written, and no commit has them on main."""
    table, stage, waves = f"{namespace}.t", publication.stage, []

    def stops(*_, **__):
        raise Stopped

    with monkeypatch.context() as patched, pytest.raises(Stopped):

        def counted(*arguments, **options):
            waves.append(arguments)
            if len(waves) == 2:
                patched.setattr(publish, "note", stops)
            return stage(*arguments, **options)

        patched.setattr(publication, "stage", counted)
        run(spark, definition, table, tmp_path)
    spark.catalog.refreshTable(table)
    assert spark.table(table).count() == EACH
    lost = staged(spark, table)
    done = run(spark, definition, table, tmp_path)
    assert (done.state, done.items_done, done.waves) == ("succeeded", FILES * EACH, FILES)
    # what the stopped wave drew by chance is drawn again
    assert lost and lost == every_item_once(spark, table)[EACH : 2 * EACH]


@pytest.mark.proof(
    "test_stopped_with_rows_on_its_branch_and_run_again stops in one of these places, without a kill"
)
def test_killed_and_run_again(spark, namespace, definition, tmp_path):
    for number, point in enumerate(POINTS):
        table = f"{namespace}.t{number}"
        child = subprocess.run(
            [sys.executable, "-c", CHILD, str(tmp_path / "flow.asl.json"), table, str(tmp_path), point],
            capture_output=True, text=True, start_new_session=True, timeout=300, check=False,
        )  # fmt: skip
        assert (child.returncode, child.stdout) == (-signal.SIGKILL, ""), (point, child.stderr[-2000:])
        spark.catalog.refreshTable(table)
        assert spark.table(table).count() == DONE.get(point, EACH), point
        lost = staged(spark, table) if point == "rows on the branch" else []
        done = run(spark, definition, table, tmp_path)
        assert (done.state, done.items_done, done.waves) == ("succeeded", FILES * EACH, FILES)
        rows = every_item_once(spark, table)
        if lost:  # what the killed wave drew by chance is drawn again
            assert lost == rows[EACH : 2 * EACH]


def staged(spark, table):
    """The rows that a killed process left on its branch."""
    (branch,) = spark.sql(f"SELECT name FROM {table}.refs WHERE type = 'BRANCH' AND name <> 'main'").first()
    rows = spark.sql(f"SELECT _index, _output FROM {table} VERSION AS OF '{branch}' ORDER BY _index").collect()
    return [row for row in rows if row["_index"] >= EACH]


def test_the_wave_of_another_process_is_told_of(spark, namespace, definition, tmp_path):
    table = f"{namespace}.t"

    def overtaken(at, waves_left):
        if at.waves == 2:  # as if this process had been stopped, and another one had gone on
            assert run(spark, definition, table, tmp_path).state == "succeeded"

    with pytest.raises(maps.AnotherWriter, match="let one process run it"):
        run(spark, definition, table, tmp_path, on_wave=overtaken)
    every_item_once(spark, table)


def test_a_run_beside_other_commits_and_after_expiry_and_compaction(spark, namespace, definition, tmp_path):
    table, other = f"{namespace}.t", None

    class Stopped(Exception):
        pass

    def beside(at, waves_left):
        nonlocal other
        if at.waves == 1:
            other = maps.run(spark, definition, table, run_id="other", buckets={"lake": str(tmp_path)})
        if at.waves == 2:
            raise Stopped

    with pytest.raises(Stopped):
        run(spark, definition, table, tmp_path, on_wave=beside)
    spark.sql(f"CALL system.rewrite_data_files(table => '{table}', options => map('rewrite-all', 'true'))")
    spark.sql(
        f"CALL system.expire_snapshots(table => '{table}', older_than => TIMESTAMP '2100-01-01', retain_last => 1)"
    )
    commits.forget(spark, table)
    assert maps.describe(spark, table, run_id="r").items_done == 2 * EACH
    assert run(spark, definition, table, tmp_path).waves == FILES
    assert other.items_done == FILES * EACH
    counts = spark.sql(
        f"SELECT _run, count(*), count(DISTINCT _index) FROM {table} GROUP BY 1 ORDER BY 1"
    ).collect()
    assert [tuple(row) for row in counts] == [("other", 15, 15), ("r", 15, 15)]


def test_a_rollback_is_noticed(spark, namespace, definition, tmp_path):
    table = f"{namespace}.t"

    def back(at, waves_left):
        if at.waves == 2:
            snapshots = spark.sql(f"SELECT snapshot_id FROM {table}.history ORDER BY made_current_at").collect()
            spark.sql(f"CALL system.rollback_to_snapshot('{table}', {snapshots[0][0]})")

    with pytest.raises(maps.AnotherWriter, match="rolled back"):
        run(spark, definition, table, tmp_path, on_wave=back)


@pytest.mark.parametrize("fault", ["an item lost", pytest.param("a wave doubled", marks=DOUBLED)])
def test_a_planted_fault_is_seen(spark, namespace, definition, tmp_path, monkeypatch, fault):
    """The count of a wave's items against those of its files is what notices."""
    from workbench.maps import plans

    frame = plans.frame

    def wrong(*arguments):
        rows = frame(*arguments)
        return rows.where("_index <> 6") if fault == "an item lost" else rows.union(rows)

    monkeypatch.setattr(plans, "frame", wrong)
    with pytest.raises(
        maps.ItemsChanged, match="wave 2 of run r gave 4" if fault == "an item lost" else "gave 10"
    ):
        run(spark, definition, f"{namespace}.t", tmp_path)
