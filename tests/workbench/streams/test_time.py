"""What time takes away: records that were trimmed while nobody looked, and runs that slept."""

import time
from types import SimpleNamespace

import pytest
from stream_server import Stream, server, stream
from test_ingest import ids, ingest, run_of, table

from workbench import streams
from workbench.streams import kinesis as kinesis_source
from workbench.streams import publish
from workbench.streams.readers import sources
from workbench.tables import commits, snapshots
from workbench_standins import kinesis

HOUR = 3_600


def later(monkeypatch, hours):
    """Let this machine's calendar, not its running time, be so many hours later."""
    now, millis = time.time, sources.now_millis
    monkeypatch.setattr(time, "time", lambda: now() + hours * HOUR)
    monkeypatch.setattr(sources, "now_millis", lambda: millis() + round(hours * HOUR * 1000))


OLDEST = pytest.mark.proof("a shard that is read from its latest record shows it")


@pytest.mark.parametrize("start", [pytest.param("trim_horizon", marks=OLDEST), "latest"])
def test_a_shard_nobody_looked_at_for_longer_than_its_records_are_kept(spark, stream, table, monkeypatch, start):
    assert ingest(spark, table, stream, start=start).records == 0
    before = snapshots.history(spark, table).count()
    with monkeypatch.context() as moved:
        later(moved, 23)
        assert ingest(spark, table, stream).lost == ()
        later(moved, 2)
        stream.send(range(10))
        with pytest.raises(streams.RecordsLost, match="nothing of shard .* nobody looked at it for 25 hours"):
            ingest(spark, table, stream)
        assert ids(spark, table) == []
        done = ingest(spark, table, stream, fail_on_data_loss=False)
        assert (done.good, len(done.lost), done.caught_up) == (10, 2, True)
        summaries = [dict(one["summary"]) for one in commits.snapshots_of(spark, commits.load(spark, table))]
        assert "; ".join(done.lost) in [one.get("streams.lost") for one in summaries]
    # a look at nothing was noted because the last one was hours ago, and is not noted again at once
    assert snapshots.history(spark, table).count() == before + 1 + done.batches
    assert ingest(spark, table, stream).batches == 0
    assert snapshots.history(spark, table).count() == before + 1 + done.batches


def test_the_source_alone_stops_at_a_shard_nobody_looked_at_for_too_long(stream, monkeypatch, tmp_path):
    source = kinesis_source.Streaming(stream.source(), str(tmp_path))
    assert source.latestOffset() == {"batch": 0}
    with monkeypatch.context() as moved:
        later(moved, 23)
        assert source.latestOffset() == {"batch": 0}  # and this look is noted
        later(moved, 2)
        stream.send([1], key=lambda n: "a")  # one shard gets a position, the other one does not
        assert source.latestOffset() == {"batch": 1}
        found = 0
        for task in batch(source, 0, 1):
            found += sum(rows.num_rows for rows in source.read(task))
        assert found == 1
        later(moved, 23)
        stream.send([2], key=lambda n: "a")
        assert source.latestOffset() == {"batch": 2}  # all were looked at in the first batch
        later(moved, 2)
        with pytest.raises(streams.RecordsLost, match="nothing of shard .* nobody looked at it for 25 hours"):
            source.latestOffset()
        loose = kinesis_source.Streaming(stream.source(fail_on_data_loss=False), str(tmp_path))
        assert loose.latestOffset() == {"batch": 2}


def batch(source, start, end):
    """The tasks of a micro-batch as Spark hands them to a worker."""
    source.partition = lambda value: SimpleNamespace(value=value)
    return source.partitions({"batch": start}, {"batch": end})


def test_children_of_shards_that_were_read_to_their_end(spark, stream, table, monkeypatch):
    stream.send(range(10))
    stream.split(stream.shards()[0])
    ingest(spark, table, stream)
    later(monkeypatch, 30)
    with pytest.raises(streams.RecordsLost, match="nothing of shard shardId-000000000002"):
        ingest(spark, table, stream)


PUBLISHING = pytest.mark.proof("a run that slept between two batches shows it")


@pytest.mark.parametrize("where", ["between two batches", pytest.param("before a publication", marks=PUBLISHING)])
def test_a_run_that_slept_does_not_know_that_nothing_came(spark, table, monkeypatch, where):
    with kinesis.serve(limits=kinesis.UNLIMITED, start=1_800_000_000.0) as server:
        stream = Stream(server, "slept", shards=1)
        stream.send([0])
        run = run_of(spark, table, stream)
        real = publish.publish

        def sleep():
            server.clock.advance(HOUR)
            stream.send([1])
            server.clock.advance(24 * HOUR)
            stream.send([2])
            later(monkeypatch, 25)

        def slept(*arguments):
            monkeypatch.setattr(publish, "publish", real)
            sleep()
            return real(*arguments)

        if where == "before a publication":
            monkeypatch.setattr(publish, "publish", slept)
            run.batch()
        else:
            run.batch()
            assert run.batch().caught_up
            sleep()
        with pytest.raises(streams.RecordsLost, match="may have been trimmed unread"):
            run.batch()
        run.end()
        assert ids(spark, table) == [0]


AHEAD = pytest.mark.proof(
    "a clock that is three minutes behind shows it, and test_latest_is_a_time_that_stays one ahead"
)


@pytest.mark.parametrize("hours", [-0.05, pytest.param(0.05, marks=AHEAD)])
def test_latest_on_a_machine_whose_clock_is_wrong(spark, stream, table, monkeypatch, hours):
    """Three minutes are less than what a signature is refused for."""
    later(monkeypatch, hours)
    ingest(spark, table, stream, start="latest")
    stream.send(range(10))
    assert ingest(spark, table, stream).good == 10
