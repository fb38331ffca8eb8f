"""`workbench lab` as a user starts it: what its server answers, and how it ends."""

import json
import os
import signal
import socket
import threading
import time
import urllib.request

import labs
import psutil
import pytest

from workbench_ops.lab import server


@pytest.fixture(scope="module")
def lab(tmp_path_factory):
    folder = labs.folder_of(tmp_path_factory.mktemp("lab"))
    with labs.running(folder) as running:
        yield running


def test_the_server_answers_a_sentence_or_what_there_is(lab):
    status, listed = lab.ask("workbench/tree?environment=own")
    assert (status, [each["name"] for each in listed]) == (200, ["sales"])
    assert lab.ask("workbench/head?environment=own&table=sales.gone")[0] == 400
    assert "cannot be looked at" in lab.ask("workbench/tree?environment=down")[1]["sentence"]
    assert lab.ask("workbench/tree?environment=own", token=None)[0] == 403
    assert lab.ask("workbench/tree?environment=own", token="wrong")[0] == 403
    for file in ("remoteEntry", "panel", "pages", "table", "progress", "colours"):
        request = urllib.request.Request(f"{lab.address}lab/extensions/iceberg-workbench/static/{file}.js")
        with urllib.request.urlopen(request, timeout=30) as answer:
            assert answer.headers["Content-Type"].startswith(("text/javascript", "application/javascript"))


def test_a_table_dropped_meanwhile_is_a_sentence(lab):
    from pyiceberg.catalog import load_catalog

    from workbench import session

    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("WORKBENCH_HOME", str(lab.folder))
        catalog = load_catalog(**session.catalog_properties("own"))
    import pyarrow as pa

    catalog.create_table("sales.brief", pa.schema([("id", pa.int64())]))
    assert lab.ask("workbench/head?environment=own&table=sales.brief")[0] == 200
    catalog.drop_table("sales.brief")
    status, answer = lab.ask("workbench/head?environment=own&table=sales.brief")
    assert (status, answer["sentence"].startswith("table sales.brief is not in the catalog")) == (400, True)


@pytest.mark.proof("test_the_server_answers_a_sentence_or_what_there_is has a catalog that refuses at once")
def test_a_catalog_that_never_answers_holds_nobody_up(lab):
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        address = f"http://127.0.0.1:{silent.getsockname()[1]}/"
        file = lab.folder / "params" / "environments" / "silent.yml"
        file.write_text(labs.DOWN.replace("http://127.0.0.1:9/", address))
        answers = []
        asking = threading.Thread(target=lambda: answers.append(lab.ask("workbench/tree?environment=silent")))
        asking.start()
        time.sleep(1)
        assert lab.ask("workbench/tree?environment=own")[0] == 200
        asking.join()
    said = f"environment silent did not answer within {server.SECONDS} seconds; try again later"
    assert answers == [(504, {"sentence": said})]


def living(processes):
    """Those that have not ended; one that nobody has waited for yet has."""
    return [each for each in processes if each.is_running() and each.status() != psutil.STATUS_ZOMBIE]


@pytest.mark.proof("test_the_server_answers_a_sentence_or_what_there_is ends its server by a signal")
@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGKILL])
def test_kernels_end_with_the_server(tmp_path, how):
    folder = labs.folder_of(tmp_path)
    with labs.running(folder) as lab:
        request = urllib.request.Request(f"{lab.address}api/kernels", method="POST", data=b'{"name": "python3"}')
        request.add_header("Authorization", f"token {labs.TOKEN}")
        with urllib.request.urlopen(request, timeout=60) as answer:
            assert json.load(answer)["name"] == "python3"
        kernels = psutil.Process(lab.process.pid).children(recursive=True)
        assert any("workbench_ops.lab.kernel" in " ".join(each.cmdline()) for each in living(kernels))
        os.kill(lab.process.pid, how)
        lab.process.wait(timeout=30)
        end = time.monotonic() + 30
        while living(kernels):
            assert time.monotonic() < end, living(kernels)
            time.sleep(0.2)
