"""HBase on this machine: the real one, on loopback only, that ends with whoever started it."""

import json
import threading
import tomllib
from pathlib import Path

import parents
import psutil
import pytest
from waiting import until

from workbench.metrics import collectors
from workbench_proofs import collectors as loads
from workbench_standins import hbase
from workbench_standins.hbase import node

PROOF = "test_missing_jars_and_javas_are_named and test_its_settings_name_loopback_alone show how it is started"
ROWS = hbase.SOURCES / "Rows.java"


@pytest.fixture(scope="module")
def fetched():
    return node.fetch()


def of_folder(folder):
    """The JVMs whose settings are in a folder."""
    found = []
    for process in psutil.process_iter():
        try:
            if str(folder) in " ".join(process.cmdline()) and node.MAIN in process.cmdline():
                found.append(process)
        except psutil.Error:
            continue
    return found


def asked(server, folder, *, rows=200, seconds=2):
    """A load of reads and writes of a server."""
    return collectors.drive(
        ROWS, [str(rows), "100", "50"], "Serial", rate=100, seconds=seconds, class_path=server.client_path(),
        folder=folder, heap_bytes=256 << 20, java_options=hbase.CLIENT_OPTIONS,
    )  # fmt: skip


@pytest.mark.proof(PROOF)
@pytest.mark.usefixtures("fetched")
def test_it_serves_on_loopback_only_and_ends_with_the_context(tmp_path):
    with hbase.serve(within=tmp_path) as server:
        process = psutil.Process(server.process_id)
        listening = {
            connection.laddr.ip
            for connection in process.net_connections("tcp")
            if connection.status == psutil.CONN_LISTEN
        }
        assert listening <= {"127.0.0.1", "::ffff:127.0.0.1"} and listening
        trial = asked(server, tmp_path / "client")
    assert (trial.load.requests, dict(trial.load.errors)) == (200, {}) and trial.answer.endswith(" lost 0")
    assert not of_folder(tmp_path)
    usage = hbase.usage(server.folder)
    assert usage.exit_code is None and usage.cpu_seconds > 0.1 and usage.peak_memory_bytes > 100 << 20


@pytest.mark.proof(PROOF)
@pytest.mark.usefixtures("fetched")
def test_data_stay_in_a_folder_and_one_server_has_it(tmp_path):
    with hbase.serve(tmp_path / "mine") as server:
        assert asked(server, tmp_path / "first").answer.endswith(" lost 0")
        with pytest.raises(ValueError, match="mine is in use by another server"), hbase.serve(tmp_path / "mine"):
            pass
    with (  # the table is there: it cannot be made again
        hbase.serve(tmp_path / "mine") as server,
        pytest.raises(ChildProcessError, match=r"the load did not begin: .*TableExistsException"),
    ):
        asked(server, tmp_path / "second")


@pytest.mark.proof(PROOF)
@pytest.mark.usefixtures("fetched")
def test_it_ends_when_its_parent_is_killed(tmp_path):
    code = (
        "import sys, time\nfrom workbench_standins import hbase\n"
        "with hbase.serve(sys.argv[1]) as server:\n    print(server.zookeeper, flush=True)\n    time.sleep(600)"
    )
    with parents.serving(code, tmp_path / "mine") as (_, said):
        assert said.startswith("127.0.0.1:") and len(of_folder(tmp_path)) == 1
    until(lambda: not of_folder(tmp_path))


@pytest.mark.proof(PROOF)
@pytest.mark.usefixtures("fetched")
def test_a_heap_that_is_too_small_to_start_is_a_sentence(tmp_path):
    with (
        pytest.raises(ChildProcessError, match="HBase did not start: .*"),
        hbase.serve(within=tmp_path, options=["-Xmx8m", "-XX:+UseSerialGC"]),
    ):
        pass
    assert not of_folder(tmp_path)


@pytest.mark.proof("test_a_collector_that_dies_is_a_row shows it with a store in memory")
@pytest.mark.usefixtures("fetched")
def test_hbase_under_a_collector_and_one_that_is_killed(tmp_path):
    """All that it acknowledged is there; one that dies during its load is a row."""
    settings = {"heap_bytes": 512 << 20, "rate": 200, "seconds": 4, "warm_up_seconds": 1, "rows": 1000}
    lives = loads.hbase("G1", folder=tmp_path / "lives", **settings)
    assert lives.death is None and lives.answer.endswith(" lost 0") and lives.load.requests == 800
    # the log counts from the first request to its own last line, a stop of a calm server some time before the end
    assert lives.collection.collector == "G1" and 1 < lives.collection.seconds < 60
    again = loads.hbase("Parallel", folder=tmp_path / "again", **settings)
    assert again.answer == lives.answer  # reads and writes answer the same under each
    killer = threading.Thread(target=kill_when_it_serves, args=[tmp_path / "dies"])
    killer.start()
    dies = loads.hbase("G1", folder=tmp_path / "dies", variant="killed", **settings)
    killer.join()
    assert (dies.death, dies.exit_code, dies.answer) == ("killed by signal 9", -9, None)
    assert sum(dies.load.errors.values()) > 0
    table = collectors.medians([lives, again, dies])
    assert list(table.died) == [0, 0, 1] and table.requests[2] < 800
    with pytest.raises(ValueError, match="lives must be empty: expected one of its own for each trial"):
        loads.hbase("G1", folder=tmp_path / "lives", **settings)


def kill_when_it_serves(folder):
    """Kill HBase's JVM when its load writes: how long a load takes to begin depends on the machine.

    1,000 rows of 1,000 bytes come before the load, 100 a second are written by its warm-up of a second, and 400 after.
    """
    logs = "hbase-*/data/WALs/*/*"  # of the region server, one after another
    until(lambda: sum(path.stat().st_size for path in folder.glob(logs)) > 1_250_000, seconds=120)
    of_folder(folder)[0].kill()


FIGURES = {
    "requests": 2, "errors": {}, "due": 2, "late": 0, "seconds": 1.0, "canary_seconds": 0.0, "begin_epoch": 101.0,
    "begin_uptime": 0.0, "answer": "3 lost 0", "service": {}, "response": {},
}  # fmt: skip


def test_what_became_of_hbase_is_told_apart(tmp_path):
    """Of what a server and its load left behind: it died, stood still, lost a write, or the load itself was wrong."""
    place, folder = tmp_path, tmp_path / "hbase"
    for made in (folder, place / "client"):
        made.mkdir()
    (place / "gc.log").write_bytes(GC_LOG.encode())
    load = collectors.Load(2, {}, 1.0, 2.0, 2.0, {}, {}, 0, 0.0)
    log = collectors.read(place / "gc.log")
    client = collectors.Trial("Parallel", log, 0, None, "3 lost 0", 1.0, 1.0, 1, 0.0, load)

    def left(exit_code, client, *, closing="3 lost 0", said=""):
        usage = {"exit_code": exit_code, "cpu_seconds": 1.5, "peak_memory_bytes": 7, "pauses_logged": 0}
        (folder / "usage.json").write_text(json.dumps(usage))
        (folder / "hbase.log").write_text(said)
        (place / "client" / "out.txt").write_text(json.dumps(FIGURES | {"answer": closing}))
        return loads._trial("Z", place, folder, client, started=100.0, seconds=9.0)

    lives = left(None, client)
    assert (lives.death, lives.answer, lives.cpu_seconds, lives.collection.seconds) == (None, "3 lost 0", 1.5, 2.0)
    assert len(lives.collection.pauses) == 1  # the one before the first request is not its load's
    died = left(3, client, said="x\nTerminating due to java.lang.OutOfMemoryError: Java heap space\n")
    assert (died.exit_code, died.answer, died.out_of_memory, died.load) == (3, None, True, load)
    still = left(None, "org.apache.hadoop.hbase.client.RetriesExhaustedException: Failed after attempts=6")
    assert still.death.startswith("did not answer: org.apache.hadoop.hbase") and still.load is None
    assert left(None, client, closing="3 failed: no answer").answer is None
    with pytest.raises(ValueError, match="has not all writes that it acknowledged: lost 2"):
        left(None, client, closing="3 lost 2")
    with pytest.raises(ValueError, match="the load of HBase ended, and HBase did not: Rows.java, Line 1"):
        left(None, "Rows.java, Line 1: no such type")


GC_LOG = """\
[0.010s][info][gc] Using G1
[0.5s][info][gc] GC(0) Pause Young (Normal) (G1 Evacuation Pause) 10M->3M(64M) 2.000ms
[1.5s][info][gc] GC(1) Pause Young (Normal) (G1 Evacuation Pause) 10M->3M(64M) 4.000ms
[3.0s][info][gc] GC(2) Concurrent Mark Cycle
"""


def test_missing_jars_and_javas_are_named(tmp_path, monkeypatch):
    def refused(match, **arguments):
        with pytest.raises(ValueError, match=match), hbase.serve(**arguments):
            pass

    refused("nowhere must be a Java of 17 or later, found nothing that runs", java_program=tmp_path / "nowhere")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    refused(r"aopalliance:aopalliance:1.0 is missing; .* and 138 more: fetch with `workbench local hbase --fetch`")
    refused("options must be", options="-Xmx1g")
    with pytest.raises(ValueError, match="has no usage.json: expected the folder of an HBase that has ended"):
        hbase.usage(tmp_path)


def test_its_settings_name_loopback_alone(tmp_path):
    node.configure(tmp_path, zookeeper=1, master=2, regionserver=3)
    text = (tmp_path / "conf" / "hbase-site.xml").read_text()
    for name in ("zookeeper.property.clientPortAddress", "master.ipc.address", "regionserver.ipc.address"):
        assert f"<name>hbase.{name}</name><value>127.0.0.1</value>" in text
    for name in ("master.info.port", "regionserver.info.port"):
        assert f"<name>hbase.{name}</name><value>-1</value>" in text


def test_every_jar_is_of_one_hbase_and_has_a_checksum():
    table = tomllib.loads((Path(node.__file__).with_name("jars.toml")).read_text())["server"]
    versions = {name.rpartition(":")[2] for name in table if name.startswith("org.apache.hbase:")}
    assert versions == {"2.6.4"} and len(table) == 141
    assert all(len(digest) == 64 for digest in table.values())
