"""A real standalone cluster: executors elsewhere compute and write, share no disk, and nobody without the secret."""

import json
import os
import subprocess
import sys

import psutil
import pytest
from conftest import PROVE

from workbench import session
from workbench._base import settings
from workbench.session import configuration
from workbench_standins import cluster

WORKERS = 2 if PROVE else 1  # executors are a JVM each, and seconds
WORK = """
import json, os, sys
from workbench import session
from workbench.data import nyc
spark = session.start("cluster")

def where(rows):
    import workbench
    for row in rows:
        yield row.id, workbench.__file__

def heap(_):
    import psutil
    one, found = psutil.Process(), []
    while not found:
        one = one.parent()
        found = [word for word in one.cmdline() if word.startswith("-Xmx")]
    return found

spark.sql("CREATE NAMESPACE n")
spark.sql("CREATE TABLE n.t (id BIGINT, part INT) PARTITIONED BY (part)")
spark.range(1000).selectExpr("id", "CAST(id % 4 AS INT) AS part").repartition(4).writeTo("n.t").append()
spark.sql("DELETE FROM n.t WHERE id = 7")
found = spark.table("n.t").rdd.mapPartitions(where).collect()
workers = int(sys.argv[1])
at_once = spark.sparkContext.parallelize(range(workers), workers).barrier()  # tasks, of which an executor has one
heaps = spark.sparkContext.parallelize(range(2), 2).mapPartitions(heap).collect()
processes = at_once.mapPartitions(lambda rows: [os.getpid()]).collect()
paths = [row.file_path for row in spark.sql("SELECT file_path FROM n.t.files").collect()]
print(json.dumps({
    "heaps": sorted(set(heaps)), "rows": sorted(one[0] for one in found), "processes": processes, "own": os.getpid(),
    "library": sorted({one[1].rpartition("/workbench.zip/")[2] for one in found}),
    "executors": len(spark.sparkContext._jsc.sc().statusTracker().getExecutorInfos()) - 1,
    "stores": sorted({path.partition("://")[0] for path in paths}), "master": spark.sparkContext.master,
    "airports": nyc.airports(spark).count(), "files of the driver": nyc.airports(spark).inputFiles(),
}))
"""


# Masters and workers; the JVM of a session that an earlier test left in this process is …deploy.SparkSubmit
DEPLOYED = "org.apache.spark.deploy.master.", "org.apache.spark.deploy.worker."


def deployed(said):
    """Whether a command line is that of a master or a worker."""
    return any(name in said for name in DEPLOYED)


def line(process):
    """The command line of a process; empty when it has ended meanwhile."""
    try:
        return " ".join(process.cmdline())
    except psutil.Error:
        return ""


def python(code, variables, *arguments):
    """Run code in a process of its own with variables beside ours."""
    command, env = [sys.executable, "-c", code, *map(str, arguments)], os.environ | variables
    return subprocess.run(command, env=env, capture_output=True, text=True, timeout=600)


@pytest.fixture(scope="module")
def running():
    with cluster.serve(memory="900m", workers=WORKERS) as found:
        yield found


def test_executors_elsewhere_write_and_read_a_table(running):
    said = python(WORK, running.variables(), WORKERS)
    assert said.stderr == ""
    told = json.loads(said.stdout)
    assert told["rows"] == [n for n in range(1000) if n != 7]
    assert told["heaps"] == ["-Xmx900M"]  # Spark's own is 1g, whatever a worker has
    assert told["executors"] == len(set(told["processes"])) == WORKERS and told["own"] not in told["processes"]
    assert told["library"] == ["workbench/__init__.py"]  # as it was sent to them, not as it is installed here
    assert (told["stores"], told["master"]) == (["s3"], running.master)
    assert (told["airports"], told["files of the driver"]) == (1_458, [])


BESIDE = """
import subprocess, sys
from workbench import session
spark = session.start("cluster")
mine = spark.range(8).repartition(2).count()
code = "from workbench import session; print(session.start('cluster').range(8).repartition(2).count())"
beside = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=200)
print(mine, beside.stdout.strip(), spark.range(9).count())
"""


def test_a_session_gets_half_of_what_there_is(running):
    workers = [
        said for one in psutil.Process().children(recursive=True) if "deploy.worker." in (said := line(one))
    ]
    assert len(workers) == WORKERS and all("--cores 2 --memory 1800m" in said for said in workers)
    assert f"spark.deploy.defaultCores {WORKERS}\n" in (running.folder / "master.conf").read_text()


def test_master_and_workers_ask_everybody_for_the_secret(running):
    names = ["master", *(f"worker-{n}" for n in range(WORKERS))]
    for conf in ((running.folder / f"{name}.conf").read_text() for name in names):
        assert "spark.authenticate true\n" in conf and "spark.master.rest.enabled false\n" in conf


@pytest.mark.proof("test_a_session_gets_half_of_what_there_is shows that room for another session is left")
def test_two_sessions_run_side_by_side(running):
    """The first one had all cores, and the second waited without end: `11_survive_kills` starts runs of its own."""
    said = python(BESIDE, running.variables())
    assert (said.stdout, said.stderr) == ("8 8 9\n", "")


STREAM = """
import subprocess, sys
import boto3
from workbench import session
from workbench_standins import kinesis

with kinesis.serve(limits=kinesis.UNLIMITED) as server:
    spark = session.start("cluster")
    spark.sql("CREATE NAMESPACE n")
    spark.sql("CREATE TABLE n.t (a STRING) USING iceberg")
    client = boto3.client("kinesis", endpoint_url=server.endpoint)
    client.create_stream(StreamName="s", ShardCount=1)
    client.put_record(StreamName="s", Data=b'{"a": "x"}', PartitionKey="1")
    command = [sys.executable, "-m", "workbench_ops.cli", "ingest", "n.t", "--stream", "s", "--endpoint", server.endpoint]
    done = subprocess.run([*command, "--schema", "a STRING", "--environment", "cluster"], stdout=subprocess.DEVNULL)
    print(done.returncode, spark.table("n.t").collect())
"""


@pytest.mark.proof("test_executors_elsewhere_write_and_read_a_table shows executors that work, without a stream")
def test_executors_read_a_stream_as_whoever_starts_it(running):
    """They had neither its region nor its keys, and the stream ended with 2."""
    aws = {"AWS_ACCESS_KEY_ID": "mine", "AWS_SECRET_ACCESS_KEY": "mine", "AWS_DEFAULT_REGION": "us-east-1"}
    said = python(STREAM, running.variables() | aws)
    assert said.stdout == "0 [Row(a='x')]\n", said.stderr


def test_it_listens_on_loopback_only_and_its_secret_is_in_no_command_line(running):
    started = {one: line(one) for one in psutil.Process().children(recursive=True)}
    ours, lines = [one for one, said in started.items() if deployed(said)], started.values()
    listening = [one for each in ours for one in each.net_connections() if one.status == psutil.CONN_LISTEN]
    addresses = {one.laddr.ip.removeprefix("::ffff:") for one in listening}
    assert len(ours) == 1 + WORKERS
    assert addresses == {"127.0.0.1"}
    assert not any(running.secret in line for line in lines)
    assert not any(running.secret in path.read_text(errors="replace") for path in running.folder.glob("*.*"))


@pytest.mark.proof(
    "test_master_and_workers_ask_everybody_for_the_secret reads it in the settings they started with"
)
def test_without_the_secret_nobody_gets_in(running):
    code = "from workbench import session; session.start('cluster').range(1).count(); print('in')"
    mine = running.variables() | {cluster.SECRET: "another"}
    said = python(code, mine)
    assert said.returncode and "in" not in said.stdout.split()
    assert "Cannot call methods on a stopped SparkContext" in said.stderr, said.stderr[-3000:]  # nobody took it


@pytest.mark.proof(
    "test_it_ends_with_a_process_that_is_killed shows it for a store, "
    "test_data_outlive_a_killed_parent_in_a_folder_that_one_broker_has for a JVM, which are started and ended "
    "in the same way"
)
def test_it_is_gone_with_its_context_and_with_its_parent():
    code = (
        "from workbench_standins import cluster\nwith cluster.serve(workers=1) as found:\n"
        "    print(found.folder, flush=True)\n    input()\n"
    )
    with subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as parent:
        folder = parent.stdout.readline().decode().strip()
        ours = psutil.Process(parent.pid).children(recursive=True)
        assert sum(deployed(line(one)) for one in ours) == 2
        parent.kill()
        _, alive = psutil.wait_procs(ours, timeout=120)
    assert alive == [] and not os.path.exists(folder)


def test_a_master_that_nobody_named(monkeypatch):
    monkeypatch.delenv(cluster.MASTER, raising=False)
    with pytest.raises(ValueError, match="env:WORKBENCH_SPARK_MASTER stands for the environment variable"):
        configuration.spark_conf(settings.environment("cluster"))


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"workers": 0}, "workers must be an integer of at least 1 and of at most 16, found 0"),
        ({"applications": 17}, "applications must be an integer of at least 1 and of at most 16, found 17"),
        ({"cores": True}, "cores must be an integer of at least 1 and of at most 64, found True"),
        ({"port": 70000}, "port must be an integer of at least 0 and of at most 65535, found 70000"),
        ({"memory": "100m"}, "memory must be at least 450m for an executor of Spark, found 100m"),
        ({"memory": "1 GB"}, "memory must be a number and m or g, such as 1g, found '1 GB'"),
    ],
)
def test_wrong_arguments_are_refused_before_anything_starts(wrong, said):
    with pytest.raises(ValueError, match=said), cluster.serve(**wrong):
        pass


def test_the_one_process_of_local_is_left_as_it_is():
    conf = session.spark_conf(settings.environment("local"))
    assert not {"spark.jars", "spark.submit.pyFiles"} & set(conf)
