"""kill -9 in a window of the work, found from outside; then a run to the end: nothing lost, nothing doubled.

The plain variant, foreachBatch and append, is killed likewise and doubles: this test can fail.
"""

import importlib
import json
import os
import signal
import subprocess
import sys
from collections import Counter
from dataclasses import replace

import inside
import pytest
from stream_server import Stream, server, stream

from workbench import session, streams
from workbench_proofs import kills

RECORDS, WAIT_SECONDS = 4_000, 420
SCHEMA = "id BIGINT NOT NULL, text STRING"


@pytest.fixture
def table(spark, namespace):
    name = f"{namespace}.events"
    spark.sql(f"CREATE TABLE {name} (id BIGINT NOT NULL, text STRING) USING iceberg")
    return name


@pytest.fixture
def sent(stream):
    """Records of which every tenth is bad."""
    stream.send(range(RECORDS), record=lambda n: b"bad" if n % 10 == 0 else {"id": n, "text": "x" * 50})
    return [n for n in range(RECORDS) if n % 10]


@pytest.fixture
def child(stream, table):
    """A function that starts an ingest; none outlives its test."""
    started = []

    def start(*more, **options):
        started.append(begun(stream, table, *more, **options))
        return started[-1]

    yield start
    for process in started:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def begun(stream, table, *more, **options):
    return kills.start(
        table, "--stream", stream.name, "--region", "us-east-1", "--endpoint", stream.server.endpoint,
        "--schema", SCHEMA, "--environment", "local", "--max-records-per-batch", 200, *more, **options,
    )  # fmt: skip


def found(spark, table):
    """Ids of every row as PyIceberg reads them: another reader than the one that wrote."""
    return session.catalog("local").load_table(table).scan(selected_fields=("id",)).to_arrow()["id"].to_pylist()


def watch(stream, table, **more):
    reads = lambda: stream.server.calls().get("GetRecords", 0)  # noqa: E731
    return kills.Watch(session.catalog("local"), table, reads=reads, **more)


@pytest.mark.proof(
    "11_survive_kills kills in two windows and stops its zombie in a third; what a kill leaves in the others do "
    "test_each_record_is_once_a_row_or_a_dead_letter and "
    "test_stopped_between_staging_and_publication_it_goes_on_and_no_branch_is_left"
)
@pytest.mark.parametrize("window", list(kills.WINDOWS))
def test_killed_in_a_window_and_run_again(spark, stream, table, sent, child, window):
    letters = f"{table}_dead"
    process = child("--dead-letters", letters)
    killed = kills.strike(
        process, watch(stream, table, dead_letters=letters), window, timeout_seconds=WAIT_SECONDS
    )
    assert killed is not None and process.returncode == -9, "the window was not found"
    assert killed.window == window and killed.stopped.pointer == killed.before.pointer
    before = found(spark, table)
    assert 0 < len(before) < len(sent)
    source = stream.source(max_records_per_batch=1_000)
    done = streams.ingest(spark, table, source=source, parse=streams.Json(SCHEMA), dead_letters=letters)
    assert done.resumed and done.good == len(sent) - len(before)
    assert sorted(found(spark, table)) == sent
    rows = session.catalog("local").load_table(letters).scan().to_arrow().to_pylist()
    assert len(rows) == RECORDS // 10 == len({(row["shard_id"], row["sequence_number"]) for row in rows})
    refs = session.catalog("local").load_table(table).metadata.refs
    assert [one for one, ref in refs.items() if ref.snapshot_ref_type == "branch"] == ["main"]


@pytest.fixture
def handlers():
    """Put the handlers of signals back that the command sets."""
    numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    before = [signal.getsignal(number) for number in numbers]
    yield
    for number, handler in zip(numbers, before, strict=True):
        signal.signal(number, handler)


def test_an_interrupt_ends_it_behind_its_batch(spark, stream, table, handlers, monkeypatch, capsys):
    stream.send(range(60))
    module = importlib.import_module("workbench_ops.cli.commands.ingest")
    monkeypatch.setattr(module, "on_stderr", lambda line: os.kill(os.getpid(), signal.SIGINT))
    done = inside.command(monkeypatch, capsys)(
        "ingest", table, "--stream", stream.name, "--region", "us-east-1", "--endpoint", stream.server.endpoint,
        "--schema", SCHEMA, "--environment", "local", "--max-records-per-batch", 20, "--forever", cwd=".",
    )  # fmt: skip
    rows = found(spark, table)
    assert done.returncode == 0 and done.stderr.endswith("ends after this batch; once more ends it now\n")
    assert json.loads(done.stdout)["good"] == len(rows) == len(set(rows)) and 0 < len(rows) < 60


@pytest.mark.proof("test_an_interrupt_ends_it_behind_its_batch interrupts the command in the process of the tests")
def test_an_interrupt_from_a_terminal_ends_it_behind_its_batch(spark, stream, table, sent, child):
    process = child("--forever", "--dead-letters", f"{table}_dead", stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert b"batch 1" in process.stderr.readline()
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does: to all of its processes
    said, errors = process.communicate(timeout=WAIT_SECONDS)
    assert process.returncode == 0 and b"Traceback" not in errors and b"ends after this batch" in errors
    rows = found(spark, table)
    assert json.loads(said)["good"] == len(rows) == len(set(rows)) > 0


def test_a_second_interrupt_ends_it_at_once():
    code = (
        "import time\nfrom workbench_ops.cli.commands.ingest import asked_to_stop\nstop = asked_to_stop()\n"
        "print(stop(), flush=True)\nwhile not stop():\n    time.sleep(0.01)\nprint('asked', flush=True)\ntime.sleep(600)"
    )
    pipes = dict.fromkeys(("stdout", "stderr"), subprocess.PIPE)
    with subprocess.Popen([sys.executable, "-c", code], **pipes) as process:
        assert process.stdout.readline() == b"False\n"
        process.send_signal(signal.SIGTERM)
        assert process.stdout.readline() == b"asked\n"
        process.send_signal(signal.SIGTERM)
        assert process.wait(WAIT_SECONDS) == 128 + signal.SIGTERM


@pytest.mark.proof("notebook 11_survive_kills kills the plain variant behind its append and finds doubled rows")
def test_the_plain_variant_doubles_under_the_same_kill(spark, stream, table, sent, child, tmp_path):
    process = child("--plain", tmp_path)
    killed = kills.strike(
        process, watch(stream, table, checkpoint=f"{tmp_path}/spark"), kills.APPENDED, timeout_seconds=WAIT_SECONDS
    )
    assert killed is not None, "the window was not found"
    assert killed.stopped.planned > killed.stopped.finished
    again = child("--plain", tmp_path)
    assert again.wait(timeout=WAIT_SECONDS) == 0
    times = Counter(found(spark, table))
    assert set(times) == set(sent) and Counter(times.values())[2] > 0


def test_windows_are_told_apart():
    seen = kills.Seen("m1", "b1", None, "b1", frozenset(["b1"]), 2, 4, 10)
    change = lambda **more: kills.window(replace(seen, **more), seen)  # noqa: E731
    assert change() == "published"
    assert change(reads=11) == "reading"
    assert change(reads=12, dead="b2") == "dead_lettered"
    assert change(reads=12, dead="b2", files=5) == "writing"
    assert change(reads=12, dead="b2", files=5, staged="b2") == "staged"
    assert kills.window(replace(seen, staged="b0"), replace(seen, staged="b0")) == "published"  # an earlier run's
    assert change(batch="begin") is None
    assert change(planned=3, finished=3, snapshots=3) is None
    plain = replace(seen, planned=2, finished=2)
    assert kills.window(replace(plain, planned=3, snapshots=3), plain) == kills.APPENDED
    later = replace(
        plain, planned=4, finished=3, snapshots=3
    )  # the snapshot is that of the batch that has finished
    assert kills.window(later, plain) is None


def test_a_batch_that_finishes_during_a_look_is_not_taken_for_one_that_had(spark, stream, table, tmp_path):
    for kind in ("offsets", "commits"):
        (tmp_path / kind).mkdir()
        (tmp_path / kind / "0").touch()

    class Late(kills.Watch):
        def _metadata(self, name):
            found = super()._metadata(name)
            (tmp_path / "commits" / "1").touch()
            return found

    seen = Late(session.catalog("local"), table, checkpoint=str(tmp_path)).look()
    assert seen.finished == 0


def test_a_window_that_cannot_be_seen_is_refused(spark, stream, table):
    with pytest.raises(ValueError, match="no window 'lunch'; there are reading, dead_lettered"):
        kills.strike(None, watch(stream, table), "lunch")
    blind = kills.Watch(session.catalog("local"), table)
    with pytest.raises(ValueError, match="pass `reads` to the watch"):
        kills.strike(None, blind, "reading")


@pytest.mark.proof(
    "test_an_interrupt_ends_it_behind_its_batch shows the command's figures, and "
    "test_a_command_that_does_not_go_is_a_sentence its refusals"
)
def test_the_command_says_what_it_did_and_refuses_in_one_sentence(spark, server, namespace):
    import json
    import subprocess
    import sys

    other = Stream(server, "command", shards=1)
    other.send(range(5))
    spark.sql(f"CREATE TABLE {namespace}.t (id BIGINT) USING iceberg")
    command = [sys.executable, "-m", "workbench_ops.cli", "ingest", f"{namespace}.t", "--stream", "command", "--region",
               "us-east-1", "--endpoint", server.endpoint, "--environment", "local", "--schema"]  # fmt: skip
    refused = subprocess.run(
        [*command, "id NUMBER"], capture_output=True, text=True, timeout=WAIT_SECONDS, check=False
    )
    assert refused.returncode == 2 and refused.stderr.startswith("workbench: 'id NUMBER' is not a schema")
    ran = subprocess.run(
        [*command, "id BIGINT"], capture_output=True, text=True, timeout=WAIT_SECONDS, check=False
    )
    assert ran.returncode == 0, ran.stderr
    assert json.loads(ran.stdout)["good"] == 5 and ran.stderr.startswith("batch 1: 5 rows, ")
