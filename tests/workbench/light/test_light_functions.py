"""A handler of Lambda: each message once, a bad one alone; and the zip of it."""

import json
import os
import subprocess
import sys
import zipfile
from datetime import UTC, datetime, timedelta

import pyarrow as pa
import pytest
from light_cases import own_lake
from light_child import writers

from workbench import light
from workbench.light import functions

SCHEMA = pa.schema([("id", pa.int64()), ("name", pa.string())])
NOW = datetime.now(UTC)


@pytest.fixture
def lake(tmp_path):
    return own_lake(tmp_path)


def message(name, body, *, sent=NOW, **attributes):
    """A message as the event of SQS has it."""
    text = body if isinstance(body, str) else json.dumps(body)
    attributes = {key: {"stringValue": value} for key, value in attributes.items()}
    stamp = {"SentTimestamp": str(int(sent.timestamp() * 1000))}
    return {"messageId": name, "body": text, "attributes": stamp, "messageAttributes": attributes}


def batch(*messages):
    return {"Records": list(messages)}


def row(number):
    return {"id": number, "name": f"n{number}"}


def failed(answer):
    return [failure["itemIdentifier"] for failure in answer["batchItemFailures"]]


def ids_in(lake):
    return [row["id"] for row in light.query(lake, "SELECT id FROM n.t ORDER BY id").to_pylist()]


def test_a_batch_is_one_commit_and_a_bad_message_fails_alone(lake, capsys):
    handle = functions.handler(json.loads, catalog=lake, table="n.t", schema=SCHEMA)
    event = batch(
        message("m1", [row(1), row(2)]), message("m2", "no json"), message("m3", row(3)), message("m4", {"nope": 1}),
        message("m5", {"id": "x"}), message("m6", 5), message("m7", []),
    )  # fmt: skip
    assert failed(handle(event, None)) == ["m2", "m4", "m5", "m6"]
    assert ids_in(lake) == [1, 2, 3]
    assert len(light.catalogs.load(lake).load_table("n.t").snapshots()) == 1
    assert "message m4 is left to the dead letters: ArgumentError: nope is not a column" in capsys.readouterr().out
    assert failed(handle(batch(message("m3", row(3)), message("m8", row(8))), None)) == []
    assert failed(handle(batch(message("m8", row(8))), None)) == []
    assert ids_in(lake) == [1, 2, 3, 8]


def test_what_a_sender_sends_twice_has_its_own_id(lake):
    handle = functions.handler(
        json.loads, catalog=lake, table="n.t", schema=SCHEMA,
        identify=lambda record: record["messageAttributes"]["id"]["stringValue"],
    )  # fmt: skip
    handle(batch(message("m1", row(1), id="a"), message("m2", row(1), id="a"), message("m3", row(2), id="b")))
    handle(batch(message("m4", row(2), id="b")))
    assert failed(handle(batch(message("m5", row(3)), message("m6", row(4), id="")))) == ["m5", "m6"]
    assert ids_in(lake) == [1, 2]


WITNESS = pytest.mark.proof("test_a_writer_that_dies_or_is_not_told has the same fault without the handler")


@pytest.mark.parametrize(
    ("fault", "code"),
    [
        pytest.param("killed before", -9, marks=WITNESS),
        ("killed behind", -9),
        pytest.param("answer lost", 0, marks=WITNESS),
    ],
)
def test_a_function_that_dies_is_called_again(lake, writers, fault, code):
    event = batch(message("m1", row(1)), message("m2", row(2)))
    assert writers(lake, "n.t", [event], fault=fault)[0][1] == code
    assert writers(lake, "n.t", [event]) == [([{"batchItemFailures": []}], 0)]
    assert ids_in(lake) == [1, 2]


def test_four_at_once_make_the_table_and_write_a_message_once(lake, writers):
    """First invocations race for the table, and the same messages come to all of them."""
    events = [batch(message(f"m{n}", row(n))) for n in range(3)]
    assert writers(lake, "n.t", *[events] * 4) == [([{"batchItemFailures": []}] * 3, 0)] * 4
    assert ids_in(lake) == [0, 1, 2]


def test_a_message_older_than_the_snapshots_fails_alone(lake):
    handle = functions.handler(json.loads, catalog=lake, table="n.t", schema=SCHEMA)
    for number in (1, 2):
        handle(batch(message(f"m{number}", row(number))))
    table = light.catalogs.load(lake).load_table("n.t")
    table.maintenance.expire_snapshots().by_id(table.snapshots()[0].snapshot_id).commit()
    later = datetime.now(UTC) + timedelta(hours=1)
    event = batch(message("m1", row(1)), message("m2", row(2)), message("m3", row(3), sent=later))
    assert failed(handle(event)) == ["m1"]
    assert ids_in(lake) == [1, 2, 3]


def test_properties_may_be_variables_of_the_function(lake, monkeypatch):
    monkeypatch.setenv("CATALOG_URI", lake["uri"])
    handle = functions.handler(json.loads, catalog=lake | {"uri": "env:CATALOG_URI"}, table="n.t", schema=SCHEMA)
    assert failed(handle(batch(message("m1", row(1))))) == [] and ids_in(lake) == [1]
    monkeypatch.delenv("CATALOG_URI")
    handle = functions.handler(json.loads, catalog=lake | {"uri": "env:CATALOG_URI"}, table="n.t")
    with pytest.raises(ValueError, match="env:CATALOG_URI stands for the variable CATALOG_URI of the function"):
        handle(batch(message("m1", row(1))))


@pytest.mark.parametrize("event", [None, {}, {"Records": "x"}, []])
def test_an_event_of_something_else(lake, event):
    with pytest.raises(ValueError, match="the event is not a batch of SQS: it has no list Records"):
        functions.handler(json.loads, catalog=lake, table="n.t")(event)


def test_an_empty_batch_writes_nothing(lake):
    handle = functions.handler(json.loads, catalog=lake, table="n.t", schema=SCHEMA)
    assert handle(batch()) == {"batchItemFailures": []} and ids_in(lake) == []


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"parse": {}}, "parse must be a function, found {}"),
        ({"identify": "id"}, "identify must be a function or None, found 'id'"),
        ({"tries": 0}, "tries must be an integer of at least 1, found 0"),
    ],
)
def test_a_handler_that_cannot_be_made(lake, arguments, sentence):
    with pytest.raises(ValueError, match=sentence):
        functions.handler(**{"parse": json.loads, "catalog": lake, "table": "n.t"} | arguments)


@pytest.fixture
def folder(tmp_path):
    folder = tmp_path / "function"
    (folder / "tests").mkdir(parents=True)
    (folder / "app.py").write_text("from workbench.light import functions\nimport tenacity\n")
    (folder / "tests" / "test_app.py").write_text("")
    return folder


def test_a_zip_has_the_folder_the_library_and_packages_without_ballast(folder, tmp_path):
    package = functions.package(folder, tmp_path / "a.zip", packages=["strictyaml", "tenacity"])
    with zipfile.ZipFile(package.path) as archive:
        names = archive.namelist()
        assert sum(entry.file_size for entry in archive.infolist()) == package.bytes
    tops = {name.split("/")[0].split("-")[0] for name in names}
    assert tops == {
        "app.py",
        "workbench",
        "strictyaml",
        "tenacity",
        "dateutil",
        "python_dateutil",
        "six.py",
        "six",
    }
    assert {
        "workbench/__init__.py",
        "workbench/_base/arguments.py",
        "workbench/light/functions/handling.py",
    } <= set(names)
    assert not [name for name in names if "test" in name or name.endswith((".pyc", ".h"))]
    assert not [
        name
        for name in names
        if name.startswith("workbench/") and name.split("/")[1] not in ("__init__.py", "_base", "light")
    ]
    assert package.runtime == f"python3.{sys.version_info.minor}"
    assert package.packed_bytes == package.path.stat().st_size
    again = functions.package(folder, tmp_path / "b.zip", packages=["tenacity", "strictyaml"])
    assert again.path.read_bytes() == package.path.read_bytes()


def test_the_library_in_a_zip_stands_alone(folder, tmp_path):
    package = functions.package(folder, tmp_path / "a.zip", packages=["tenacity", "annotated-types"])
    code = "import sys; sys.path.insert(0, sys.argv[1]); import app; print(app.functions.handler.__module__)"
    process = subprocess.run(
        [sys.executable, "-I", "-S", "-c", code, package.path], capture_output=True, text=True, check=False
    )
    assert (process.stdout, process.stderr) == ("workbench.light.functions.handling\n", "")


def test_one_over_the_limit_is_refused_before_it_is_written(folder, tmp_path):
    with pytest.raises(
        ValueError, match=r"the function has \d+ MiB unpacked, Lambda takes 100 MiB: pyarrow \d+ MiB, "
    ):
        functions.package(folder, tmp_path / "a.zip", limit_bytes=100 * 2**20)
    assert os.listdir(tmp_path) == ["function"]


@pytest.mark.proof("test_one_over_the_limit_is_refused_before_it_is_written shows what is counted")
def test_pyiceberg_fits_into_lambda(folder, tmp_path):
    package = functions.package(folder, tmp_path / "a.zip")
    assert 200 * 2**20 < package.bytes <= functions.LIMIT_BYTES
    with zipfile.ZipFile(package.path) as archive:
        archive.extractall(tmp_path / "unpacked")
    code = "import sys; sys.path.insert(0, sys.argv[1]); import app, pyiceberg.catalog.glue, pyiceberg_core, pyarrow.parquet; print(pyarrow.__file__)"
    words = [sys.executable, "-I", "-S", "-c", code, str(tmp_path / "unpacked")]
    process = subprocess.run(words, capture_output=True, text=True, check=False)
    assert process.stdout.strip() == str(tmp_path / "unpacked" / "pyarrow" / "__init__.py"), process.stderr


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"folder": "nowhere"}, "nowhere is not a folder with a module"),
        ({"packages": ["no-such"]}, "no-such is not installed"),
    ],
)
def test_a_zip_that_cannot_be_made(folder, tmp_path, arguments, sentence):
    given = {"folder": folder, "packages": ["tenacity"]} | arguments
    with pytest.raises(ValueError, match=sentence):
        functions.package(given["folder"], tmp_path / "a.zip", packages=given["packages"])
