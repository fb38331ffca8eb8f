"""Catalogs that cannot be asked: a sentence, and not the error of a library below."""

import socket
import threading

import pyarrow as pa
import pytest
from light_cases import own_lake
from pyiceberg.catalog.noop import NoopCatalog

from workbench import light
from workbench._base.errors import WorkbenchError


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"", "catalog.db cannot be read as a catalog of PyIceberg: no such table: iceberg_tables"),
        (b"no database " * 100, "catalog.db cannot be read as a catalog of PyIceberg: file is not a database"),
    ],
)
def test_a_file_that_is_not_a_catalog(tmp_path, content, sentence):
    (tmp_path / "catalog.db").write_bytes(content)
    with pytest.raises(ValueError, match=sentence):
        light.query({"name": "own", "type": "sql", "uri": f"sqlite:///{tmp_path}/catalog.db"}, "SELECT 1 FROM n.t")


def test_a_server_without_an_address():
    with pytest.raises(ValueError, match="the catalog has the type rest and no uri"):
        light.query({"name": "own", "type": "rest"}, "SELECT 1 FROM n.t")


CALLS = {
    "query": lambda catalog: light.query(catalog, "SELECT * FROM n.t"),
    "append": lambda catalog: light.append(catalog, "n.t", [{"id": 2}], ids="b", tries=1),
    "merge": lambda catalog: light.merge(catalog, "n.t", [{"id": 1}], key=["id"], tries=1),
}


@pytest.fixture
def lake(tmp_path):
    properties = own_lake(tmp_path)
    light.catalogs.load(properties).create_table("n.t", pa.schema([("id", pa.int64())]))
    light.append(properties, "n.t", [{"id": 1}], ids="a")
    return properties


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_a_database_that_went_away_is_not_made_anew(lake, tmp_path, call):
    opened = light.catalogs.load(lake)
    (tmp_path / "catalog.db").unlink()
    with pytest.raises(ValueError, match="the catalog's database .*catalog.db is not there"):
        call(lake)
    assert not (tmp_path / "catalog.db").exists()
    (tmp_path / "catalog.db").write_bytes(b"no database " * 100)
    opened.engine.dispose()
    with pytest.raises(ValueError, match=r"the catalog does not answer for n\.t: .*file is not a database$"):
        call(opened)


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_a_server_that_went_away(call):
    catalog = NoopCatalog("own")
    catalog.load_table = _refused
    with pytest.raises(ValueError, match=r"the catalog does not answer for n\.t: .*Connection refused"):
        call(catalog)


def _refused(*_):
    import requests

    return requests.get("http://127.0.0.1:9", timeout=5)


@pytest.mark.parametrize(
    ("files", "call", "sentence"),
    [
        ("metadata/*", "append", r"the catalog does not answer for n\.t: .*No such file"),
        (
            "metadata/*.avro",
            "query",
            r"files of n\.t cannot be read, deleted since or .*: IO Error: Cannot open file",
        ),
        ("data/*", "query", r"files of n\.t cannot be read, deleted since or .*: IO Error: Cannot open file"),
        (
            "metadata/*.avro",
            "append",
            r"storage of n\.t does not answer any more, .*again with the same ids: .*No such",
        ),
        ("data/*", "merge", r"storage of n\.t does not answer any more, .*; merge them again: .*No such file"),
    ],
)
def test_files_that_went_away(lake, tmp_path, files, call, sentence):
    for path in (tmp_path / "n" / "t").glob(files):
        path.unlink()
    with pytest.raises(WorkbenchError, match=sentence):
        CALLS[call](lake)


def test_a_catalog_that_goes_away_before_the_commit(lake, monkeypatch):
    monkeypatch.setattr(light.writing.Change, "commit", _refused)
    for ids, again in (
        ("b", "append them again with the same ids"),
        (None, "look for them, for they have no ids"),
    ):
        with pytest.raises(WorkbenchError, match=f"the rows may be there or not; {again}: .*Connection refused"):
            light.append(lake, "n.t", [{"id": 2}], ids=ids, tries=1)
    assert light.query(lake, "SELECT * FROM n.t").to_pylist() == [{"id": 1}]


def test_glue_without_a_region(monkeypatch, tmp_path):
    for name in ("AWS_REGION", "AWS_DEFAULT_REGION", "AWS_PROFILE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "none"))
    with pytest.raises(ValueError, match=r"the catalog does not answer for n\.t: You must specify a region"):
        light.query({"type": "glue"}, "SELECT 1 FROM n.t")


@pytest.mark.parametrize(
    ("answer", "sentence"),
    [
        (b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\n<a>", "answers something other than JSON"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n{", "stopped in the middle of its answer: IncompleteRead"),
        (b"", "stopped in the middle of its answer: Remote end closed connection"),
    ],
)
def test_a_server_that_answers_by_halves(answer, sentence):
    with socket.create_server(("127.0.0.1", 0)) as server:
        thread = threading.Thread(target=_answer_once, args=(server, answer))
        thread.start()
        uri = f"http://127.0.0.1:{server.getsockname()[1]}"
        with pytest.raises(ValueError, match=f"the catalog at 127.0.0.1:[0-9]+ {sentence}"):
            light.query({"type": "rest", "uri": uri}, "SELECT 1 FROM n.t")
        thread.join()


def _answer_once(server, answer):
    connection, _ = server.accept()
    with connection:
        connection.recv(4096)
        connection.sendall(answer)
