"""The session is silent, in UTC, shares its catalog with PyIceberg, and loses nothing to a second process."""

import json
import os
import socket
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

import pyarrow as pa
import pytest
from conftest import PROVE

from workbench import session
from workbench._base import hardware, jars, java, settings
from workbench.session import classes, launch


def python(code, *arguments, **options):
    return subprocess.run(
        [sys.executable, "-c", code, *map(str, arguments)], capture_output=True, text=True, timeout=300, **options
    )


def test_utc_fixed_parallelism_and_no_ui(spark):
    conf = spark.conf
    assert conf.get("spark.sql.session.timeZone") == "UTC"
    assert (spark.sparkContext.master, conf.get("spark.sql.shuffle.partitions")) == ("local[2]", "2")
    assert spark.sparkContext.uiWebUrl is None
    assert conf.get("spark.driver.host") == "127.0.0.1"
    assert spark.sql("SELECT current_timezone(), CAST(TIMESTAMP'2026-07-01 12:00:00' AS STRING)").collect() == [
        ("UTC", "2026-07-01 12:00:00")
    ]


def test_the_running_session_is_returned_and_another_environment_refused(spark):
    assert session.start("local") is spark
    with pytest.raises(ValueError, match="this process runs a session of environment local; restart the kernel"):
        session.start("lake")


@pytest.mark.proof(
    "test_own_session.py calls session.start in the session of docs/library.md, which it did not start"
)
def test_a_session_that_the_home_brought_is_returned():
    code = (
        "from pyspark.sql import SparkSession\nfrom workbench import session\n"
        "own = SparkSession.builder.master('local[1]').config('spark.ui.enabled', 'false').getOrCreate()\n"
        "assert session.start('local') is own\nprint(own.conf.get('spark.sql.session.timeZone'), own.sparkContext.master)"
    )
    said = python(code, env=os.environ | {"JAVA_HOME": str(java.launcher())})
    assert said.stdout.split() == ["UTC", "local[1]"], said.stderr


OWN = """
description: d
catalog: {type: embedded, properties: {s3.secret-access-key: env:WORKBENCH_SECRET_TEST}}
spark: {conf: {spark.hadoop.fs.s3a.secret.key: env:WORKBENCH_SECRET_TEST}}
"""
STATEMENTS = """
import json, sys

import psutil
from pyspark.sql import functions as F

from workbench import session

spark = session.start(sys.argv[1])


def line(process):
    try:
        return " ".join(process.cmdline())
    except psutil.Error:
        return ""


lines = [line(process) for process in psutil.Process().children(recursive=True)]
assert any("java" in text for text in lines)
found = {"secret in a command line": any("hush" in text for text in lines), "errors": []}
found["secrets"] = [
    spark.conf.get("spark.sql.catalog.lake.s3.secret-access-key"),
    spark.sparkContext._jsc.hadoopConfiguration().get("fs.s3a.secret.key"),
]


@F.udf("int")
def boom(x):
    raise ValueError("boom")


for bad in ("SELECT * FROM nowhere.t", "SELECT 1/0", "SELECT raise_error('x')", None):
    try:
        (spark.sql(bad) if bad else spark.range(3).select(boom("id"))).collect()
    except Exception as error:
        found["errors"].append(type(error).__name__)
print(json.dumps(found))
"""


@pytest.fixture(scope="module")
def apart(tmp_path_factory):
    """A process that starts a session whose settings refer to a secret, and then fails; and its working folder."""
    folder, file = tmp_path_factory.mktemp("working"), tmp_path_factory.mktemp("environments") / "own.yml"
    file.write_text(OWN)
    said = python(STATEMENTS, file, cwd=folder, env=os.environ | {"WORKBENCH_SECRET_TEST": "hush-hush-4711"})
    assert said.returncode == 0, said.stderr[-2000:]
    return said, folder


def test_silent_on_stderr_even_when_statements_fail(apart):
    said, folder = apart
    assert said.stderr == ""
    assert json.loads(said.stdout)["errors"] == [
        "AnalysisException",
        "ArithmeticException",
        "SparkRuntimeException",
        "PythonException",
    ]
    assert list(folder.iterdir()) == []  # no spark-warehouse, no derby.log, no metastore


def test_secret_settings_do_not_reach_the_command_line(apart):
    found = json.loads(apart[0].stdout)
    assert found["secret in a command line"] is False
    assert found["secrets"] == ["hush-hush-4711"] * 2


def test_parameter_markers_work_in_spite_of_icebergs_parser(spark):
    assert spark.sql("SELECT id FROM range(5) WHERE id = :n", args={"n": 3}).collect() == [(3,)]
    assert spark.sql("SELECT ? AS text", args=["it's"]).collect() == [("it's",)]


def test_spark_and_pyiceberg_read_what_the_other_wrote(spark, namespace):
    catalog = session.catalog("local")
    spark.sql(f"CREATE TABLE {namespace}.by_spark AS SELECT id, CAST(id AS STRING) AS name FROM range(3)")
    table = catalog.load_table(f"{namespace}.by_spark")
    assert sorted(table.scan().to_arrow().to_pylist(), key=lambda r: r["id"])[2] == {"id": 2, "name": "2"}
    table.append(pa.table({"id": [7], "name": ["seven"]}))
    spark.sql(f"REFRESH TABLE {namespace}.by_spark")
    assert spark.table(f"{namespace}.by_spark").where("id = 7").collect() == [(7, "seven")]
    made = catalog.create_table(f"{namespace}.by_pyiceberg", schema=pa.schema([("id", pa.int64())]))
    made.append(pa.table({"id": [1, 2]}))
    assert spark.sql(f"SELECT sum(id) FROM {namespace}.by_pyiceberg").collect() == [(3,)]


WRITER = """
import sys, time
from workbench import session
spark = session.start("lake")
if sys.argv[1] == "0":  # of two that create the same at one moment Iceberg's JDBC catalog lets one fail
    spark.sql("CREATE NAMESPACE IF NOT EXISTS r")
    spark.sql("CREATE TABLE IF NOT EXISTS r.t (writer INT, n INT)")
while not spark.catalog.tableExists("r.t"):
    time.sleep(0.1)
done = 0
for n in range(int(sys.argv[2])):
    spark.sql(f"INSERT INTO r.t VALUES ({sys.argv[1]}, {n})")
    done += 1
print(done)
"""


ROUNDS = 8 if PROVE else 4


@pytest.fixture
def spaced(tmp_path, monkeypatch):
    """A home and a folder of a run, both with a space in their names."""
    home = tmp_path / "my lake"
    home.mkdir()
    (home / "a run").mkdir()
    monkeypatch.setenv("WORKBENCH_HOME", str(home))
    monkeypatch.setenv("WORKBENCH_RUN_DIR", str(home / "a run"))
    monkeypatch.delenv("WORKBENCH_SCRATCH", raising=False)


def test_two_processes_on_one_lake_lose_no_row(spaced):
    running = [
        subprocess.Popen(
            [sys.executable, "-c", WRITER, str(i), str(ROUNDS)], stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        for i in range(2)
    ]
    said = [process.communicate(timeout=300) for process in running]
    assert said == [(b"%d\n" % ROUNDS, b"")] * 2
    rows = session.catalog("lake").load_table("r.t").scan().to_arrow().to_pylist()
    assert sorted((r["writer"], r["n"]) for r in rows) == [(w, n) for w in range(2) for n in range(ROUNDS)]


@pytest.mark.proof("test_two_processes_on_one_lake_lose_no_row has its lake in a folder with a space in its name")
def test_a_folder_with_a_space_in_its_name(spaced):
    said = python(WRITER, 0, 8)
    assert (said.stdout, said.stderr) == ("8\n", "")
    assert session.catalog("lake").load_table("r.t").scan().to_arrow().num_rows == 8


def test_memory_is_sized_from_the_machine_and_can_be_named(monkeypatch):
    for machine_gib, heap in ((2, "1024m"), (8, "2048m"), (64, "4096m")):
        monkeypatch.setattr(hardware, "memory_bytes", lambda gib=machine_gib: gib << 30)
        assert session.driver_memory("auto") == heap
    assert session.driver_memory("3g") == "3g"


def test_other_catalogs_become_sparks_settings():
    env = settings.parse(
        {
            "description": "d",
            "catalog": {
                "type": "rest", "name": "mine", "uri": "http://127.0.0.1:8181", "warehouse": "s3://b/w",
                "properties": {"credential": "env:CREDENTIAL"},
            },
            "spark": {"conf": {"spark.sql.ansi.enabled": False}},
            "jars": ["iceberg", "aws"],
        },
        "x.yml",
    )  # fmt: skip
    conf = session.spark_conf(env)
    assert {key: value for key, value in conf.items() if "catalog.mine" in key} == {
        "spark.sql.catalog.mine": "org.apache.iceberg.spark.SparkCatalog",
        "spark.sql.catalog.mine.type": "rest",
        "spark.sql.catalog.mine.uri": "http://127.0.0.1:8181",
        "spark.sql.catalog.mine.warehouse": "s3://b/w",
        "spark.sql.catalog.mine.credential": "env:CREDENTIAL",
    }
    assert conf["spark.sql.ansi.enabled"] == "false"
    assert [Path(p).name.split("-")[0] for p in conf["spark.driver.extraClassPath"].split(":")] == [
        "org.apache.iceberg_iceberg", "org.apache.iceberg_iceberg",
    ]  # fmt: skip


def test_a_cluster_that_brings_spark_keeps_its_class_path(monkeypatch):
    for name in ("HADOOP_CONF_DIR", "YARN_CONF_DIR"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(ValueError, match="emr is on YARN: set HADOOP_CONF_DIR to the folder"):
        session.spark_conf(settings.environment("emr"))
    monkeypatch.setenv("HADOOP_CONF_DIR", "/etc/hadoop/conf")
    conf = session.spark_conf(settings.environment("emr"))
    assert conf["spark.jars"] == "/usr/share/aws/iceberg/lib/iceberg-spark3-runtime.jar"
    assert "spark.driver.extraClassPath" not in conf and "spark.driver.host" not in conf
    assert (conf["spark.master"], conf["spark.sql.catalog.lake.type"]) == ("yarn", "glue")


def test_executors_elsewhere_find_the_driver(monkeypatch):
    monkeypatch.delenv("SPARK_LOCAL_IP", raising=False)
    for loopback, expected in ((True, "127.0.0.1"), (False, None)):
        with launch.environment(loopback=loopback):
            assert os.environ.get("SPARK_LOCAL_IP") == expected
    assert "SPARK_LOCAL_IP" not in os.environ


@pytest.mark.parametrize(
    ("master", "loopback", "python"),
    [
        ("local[2]", True, True),
        ("local[2] by another address", False, True),
        ("spark://127.0.0.1:7077", True, True),
        ("spark://10.0.0.1:7077", False, False),
    ],
)
def test_what_a_session_is_launched_with(monkeypatch, master, loopback, python):
    asked = []

    @contextmanager
    def environment(*, loopback, python):
        asked.append((loopback, python))
        raise InterruptedError
        yield

    master, _, another = master.partition(" by ")
    conf = {"spark.driver.host": "10.0.0.2"} if another else {}
    monkeypatch.setenv("WORKBENCH_SPARK_MASTER", master)
    monkeypatch.setattr(launch, "environment", environment)
    monkeypatch.setattr(launch.session_class(), "getActiveSession", lambda: None)
    monkeypatch.setattr(session, "class_data_options", lambda names: [])
    own = settings.environment("local").model_copy(
        update={"spark": settings.Spark(master="env:WORKBENCH_SPARK_MASTER", conf=conf)}
    )
    monkeypatch.setattr(settings, "environment", lambda name: own)
    with pytest.raises(InterruptedError):
        session.start("local")
    assert asked == [(loopback, python)]


def test_a_master_that_does_not_answer_is_named():
    """Spark knocked for a minute, and then spoke of a stopped context."""
    with socket.create_server(("127.0.0.1", 0)) as there, socket.create_server(("127.0.0.1", 0)) as other:
        here = f"127.0.0.1:{there.getsockname()[1]}"
        gone = f"127.0.0.1:{other.getsockname()[1]}"
        other.close()
        for master in ("local[2]", "yarn", f"spark://{here}", f"spark://{gone},{here}"):
            launch.require_master(master)
        with pytest.raises(ValueError, match=f"nobody answers at spark://{gone}: is the cluster running"):
            launch.require_master(f"spark://{gone}")


def test_a_session_starts_where_the_class_data_archive_takes_too_long(monkeypatch, tmp_path):
    monkeypatch.setattr(classes, "ARCHIVE_SECONDS", 0.5)
    monkeypatch.setattr(jars, "class_data_archive", lambda names: tmp_path / "classes.jsa")
    assert session.class_data_options(("iceberg", "sqlite")) == []
    assert list(tmp_path.iterdir()) == []


def of_ended_children(pid):
    """The page faults of a process's children that have ended: more of them where one was started and waited for."""
    return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[8])


def test_files_are_written_without_a_process_for_each(spark, namespace, tmp_path):
    """Hadoop's own file system starts a process of chmod for each file; the rights of the files are the same."""
    java = spark._jvm
    pid, path = java.java.lang.ProcessHandle.current().pid(), java.org.apache.hadoop.fs.Path
    spark.sql(f"CREATE TABLE {namespace}.t (id BIGINT) USING iceberg")
    before = of_ended_children(pid)
    spark.sql(f"INSERT INTO {namespace}.t VALUES (1)")
    assert of_ended_children(pid) == before
    plain = java.org.apache.hadoop.fs.LocalFileSystem()
    plain.initialize(java.java.net.URI("file:///"), spark._jsc.hadoopConfiguration())
    plain.create(path(f"{tmp_path}/plain/file")).close()
    assert of_ended_children(pid) > before
    written = Path(spark.sql(f"SELECT file_path FROM {namespace}.t.files").first()[0].removeprefix("file:"))
    for one, other in ((written, tmp_path / "plain" / "file"), (written.parent, tmp_path / "plain")):
        assert one.stat().st_mode == other.stat().st_mode
