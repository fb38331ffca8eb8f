"""What the panel is answered, and the cells that a click writes; on a real lake, without a server."""

import json
import socket
import subprocess
import sys
import tarfile
import threading
import time
import zipfile
from pathlib import Path

import labs
import pytest
from test_pins import built

from workbench import session
from workbench._base.errors import ArgumentError
from workbench_ops.lab import inserting, kernel, looking, serving

TABLE = "sales.orders"


@pytest.fixture(scope="module")
def lake(tmp_path_factory):
    """The name of an environment and the properties of its catalog, with the table of `labs.fill`."""
    folder = tmp_path_factory.mktemp("home")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("WORKBENCH_HOME", str(labs.folder_of(folder)))
        yield session.catalog_properties("own")


def asked(name, **given):
    return json.loads(looking.answer(name, {"environment": "own", "table": TABLE} | given))


def test_ids_reach_the_browser_as_they_are(lake):
    listed = asked("snapshots")
    ids = [each["snapshot_id"] for each in listed["snapshots"]]
    assert listed["count"] == 3 and all(isinstance(id, str) and int(id) >= looking.EXACT for id in ids)
    rows = asked("preview", at=ids[0])["rows"]
    assert sorted(row[0] for row in rows) == sorted(["1", "2", "10", "30", str(2**60)])
    assert looking._plain({"n": [looking.EXACT - 1, looking.EXACT, True]}) == {"n": [2**53 - 1, str(2**53), True]}


def test_environments_that_cannot_be_read_say_why(lake, tmp_path, monkeypatch):
    labs.home(tmp_path)
    (tmp_path / "params" / "environments" / "broken.yml").write_text("catalog: {type: magic}\n")
    monkeypatch.setenv("WORKBENCH_HOME", str(tmp_path))
    listed = {each["name"]: each for each in asked("environments")}
    assert listed["own"]["error"] is None and "<script>" in listed["own"]["description"]
    assert "magic" in listed["broken"]["error"]


@pytest.mark.parametrize(
    ("name", "given", "said"),
    [
        ("head", {"table": "sales.gone"}, "table sales.gone is not in the catalog; there are"),
        ("head", {"table": ""}, "the panel did not say which table"),
        ("tree", {"environment": "nowhere"}, "no environment 'nowhere'"),
        ("tree", {"environment": "down"}, "cannot be looked at: ConnectionError"),
        ("tree", {"environment": "s3"}, "is a stand-in that lives in the kernel which starts it"),
        ("cell", {"at": "7"}, "sales.orders has no snapshot 7"),
        ("cell", {"at": "nobranch"}, "sales.orders has no branch or tag 'nobranch'"),
        ("cell", {"table": "sales.`<script>window`"}, "has no snapshot yet"),
        ("steal", {}, "the panel asked for 'steal'; there are environments, tree"),
    ],
)
def test_what_is_not_there_is_a_sentence(lake, monkeypatch, name, given, said):
    monkeypatch.delenv("WORKBENCH_S3_SCRATCH", raising=False)
    with pytest.raises(ArgumentError) as caught:
        asked(name, **given)
    assert said in str(caught.value)


def test_a_cell_queries_one_snapshot_by_its_id(lake):
    first = asked("snapshots")["snapshots"][-1]
    cell = asked("cell", at="first")
    assert cell["setup"] == "from workbench import session, sql\n\nspark = session.start('own')\nsql.cells(spark)"
    assert cell["source"].splitlines() == [
        "%%sql --limit 20",
        f"-- sales.orders of environment own: snapshot 1 of {first['committed'][:19]} UTC",
        "SELECT *",
        f"FROM sales.orders VERSION AS OF {first['snapshot_id']}",
    ]


def test_two_snapshots_are_compared_by_the_columns_that_both_have(lake):
    source = asked("cell", before="first")["source"]
    assert "-- not compared: price" in source and "`price`" not in source
    assert source.count("EXCEPT ALL") == 2
    with pytest.raises(ArgumentError, match="both versions of sales.orders are snapshot 3: choose two"):
        inserting.comparison(lake, "own", TABLE, None)


def test_a_comment_cannot_be_left_by_a_name():
    assert inserting._comment("a\n; DROP TABLE b", "x\u2028\\") == "-- a?; DROP TABLE b of environment x??"


def test_without_a_session_nothing_is_told_and_none_is_begun():
    code = "from workbench_ops.lab import kernel; import sys; print(kernel.progress(), 'pyspark' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "{'stages': [], 'count': 0} False"


def test_a_session_is_told_by_its_stages(spark):
    """A job that runs beside this thread: its stages, their tasks, the rows that they read."""
    slow = spark.range(0, 10**8, 1, 20).selectExpr("sum(hash(id))")
    thread = threading.Thread(target=slow.collect)
    thread.start()
    told = []
    while thread.is_alive():
        told += kernel.progress()["stages"]
        time.sleep(0.05)
    thread.join()
    assert {stage["tasks"] for stage in told} >= {20} and kernel.progress() == {"stages": [], "count": 0}
    assert all(0 <= stage["done"] <= stage["tasks"] for stage in told)


def test_the_command_refuses_before_it_begins(tmp_path):
    with pytest.raises(ArgumentError, match="is not a folder"):
        serving.serve(tmp_path / "gone")
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        with pytest.raises(ArgumentError, match=r"port \d+ is taken .*; name another with --port"):
            serving.serve(tmp_path, port=taken.getsockname()[1])


def test_it_listens_on_loopback_alone_and_asks_nobody_outside(tmp_path):
    told = serving.arguments(tmp_path, port=8888, browser=False)
    assert "--ServerApp.ip=127.0.0.1" in told and "--ServerApp.port_retries=0" in told
    assert "--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate" in told


@pytest.mark.proof("test_the_server_answers_a_sentence_or_what_there_is serves the files of the checkout")
@pytest.mark.parametrize("kind", ["wheel", "sdist"])
def test_the_browsers_part_is_shipped(tmp_path, kind):
    opened = zipfile.ZipFile if kind == "wheel" else tarfile.open
    with opened(built(kind, tmp_path)) as archive:
        names = archive.namelist() if kind == "wheel" else archive.getnames()
    here = Path(serving.HERE)
    files = {str(path.relative_to(here)) for path in (here / "labextensions").rglob("*.js*")}
    assert len(files) == 6
    assert files <= {name.partition("workbench_ops/lab/")[2] for name in names}
