"""The same code on the Spark of this environment and on the engine `spark35`, with the same answers."""

import json
import os
import re
import subprocess
import sys

import pytest
from conftest import ROOT, workbench, write_notebook

from workbench._base import jars, java, scratch
from workbench.engines import profiles as engines
from workbench_ops.run import record as records
from workbench_ops.run import runner
from workbench_ops.run.preparing import Job

CODE = """
import json
from pyspark.sql import functions as F, types
from workbench._base import releases; from workbench import session, streams
from workbench.tables import commits

spark = session.start()
found = {"versions": [spark.version[:3], spark._jvm.org.apache.iceberg.IcebergBuild.version()]}
spark.sql("CREATE NAMESPACE n")
spark.sql("CREATE TABLE n.t (id BIGINT, name STRING) TBLPROPERTIES ('format-version' = '3')")
spark.sql("INSERT INTO n.t VALUES (1, 'a'), (2, 'b'), (3, 'c')")


def rows():
    return [f"{row.id} {row.name}" for row in spark.table("n.t").orderBy("id").collect()]


new = spark.createDataFrame([(2, "it's"), (3, None), (4, "d"), (5, "e")], "a BIGINT, b STRING")
text = F.to_json(F.struct("b"), {"ignoreNullFields": "false"})
merging = releases.merge_into(new, "`n`.`t`", F.col("id") == F.col("a")).whenMatched(F.col("a") < 4)
merging = merging.update({"`name`": text}).whenNotMatched(F.col("a") == 4).insert({"id": F.col("a"), "name": F.lit("new")})
found["nothing yet"] = rows()
commits.retrying(spark, "n.t", merging.merge, conditional=True)
found["merged"] = rows()
star = spark.createDataFrame([(1, "one"), (6, "six")], "id BIGINT, name STRING").alias("star")
releases.merge_into(star, "n.t", F.expr("n.t.id <=> star.id")).whenMatched().updateAll().whenNotMatched().insertAll().merge()
gone = spark.createDataFrame([(2,), (3,)], "k BIGINT")
releases.merge_into(gone, "n.t", F.col("id") == F.col("k")).whenMatched().delete().merge()
found["star and deleted"] = rows()

found["struct"] = releases.struct("a INT NOT NULL, b DECIMAL(10, 2)").jsonValue()["fields"]
texts = spark.createDataFrame([("1",), ("x",), (None,)], "v STRING")
for kind in ("int", types.IntegerType()):
    cast = releases.try_cast(F.col("v"), kind).alias("v")
    found[f"cast by {type(kind).__name__}"] = [row[0] for row in texts.select(cast).collect()]
other = spark.newSession()
releases.activate(other)
found["active"] = bool(spark._jvm.org.apache.spark.sql.SparkSession.getActiveSession().get().equals(other._jsparkSession))
releases.activate(spark)
spark.conf.set("spark.sql.mine", "5")
found["set"] = releases.settings(spark)["spark.sql.mine"]
found["bound"] = [tuple(row) for row in spark.sql("SELECT name FROM n.t WHERE id = :id", args={"id": 6}).collect()]
other.sql("INSERT INTO n.t VALUES (7, 'seven')")
spark.sql("REFRESH TABLE n.t")
found["another session wrote"] = rows()[-1]
spark.sql("DELETE FROM n.t WHERE id = 7")  # on a connection that still saw an older catalog SQLite would refuse it
try:
    spark.sql("SELECT CAST('x' AS INT)").collect()
except Exception as error:
    found["ansi"] = "CAST_INVALID_INPUT" in str(error)
try:
    spark.createDataFrame([("x",)], "v STRING").selectExpr("CAST(v AS INT)").collect()
except Exception as error:
    found["task"] = type(releases.raised(error)).__name__
try:
    streams.kinesis.register(spark)
    found["kinesis"] = "known"
except ValueError as error:
    found["kinesis"] = str(error)
print(json.dumps(found))
"""
SAME = {
    "nothing yet": ["1 a", "2 b", "3 c"],
    "merged": ["1 a", '2 {"b":"it\'s"}', '3 {"b":null}', "4 new"],
    "star and deleted": ["1 one", "4 new", "6 six"],
    "struct": [
        {"name": "a", "type": "integer", "nullable": False, "metadata": {}},
        {"name": "b", "type": "decimal(10,2)", "nullable": True, "metadata": {}},
    ],
    "cast by str": [1, None, None],
    "cast by IntegerType": [1, None, None],
    "task": "NumberFormatException",
    "active": True,
    "set": "5",
    "bound": [["six"]],
    "another session wrote": "7 seven",
    "ansi": True,
}


# an environment of its own, which `make prove PART=releases` makes first
SPARK_35 = pytest.mark.proof(
    "test_on_the_spark_of_this_environment compares the same statements with the same answers on Spark 4.1"
)
IN_S3 = """
import json, tempfile
from workbench import session
from workbench.tables import commits, maintenance

spark, found = session.start("s3"), {}
spark.sql("CREATE NAMESPACE n")
spark.sql("CREATE TABLE n.t AS SELECT id FROM range(3)")


def read_on(checkpoint):
    query = spark.readStream.table("n.t").writeStream.format("noop").option("checkpointLocation", checkpoint).start()
    query.processAllAvailable()
    query.stop()
    return sum(one["numInputRows"] for one in query.recentProgress)


def told(name, function):
    try:
        found[name] = function()
    except Exception as error:
        found[name] = str(error).splitlines()[0]
        return error


disk = tempfile.mkdtemp()
told("place", lambda: maintenance.stream_checkpoint(spark, "n.t", stream="s", disk=disk).replace(disk, "DISK")[:20])
told("on disk", lambda: read_on(disk))
gone = commits.load(spark, "n.t").io().newInputFile("s3://plain/nothing")
for name, look in {"read": lambda: gone.newStream().read(), "length": gone.getLength}.items():
    error = told(name, look)
    found[name] = [commits.missing_file(error), *(name.rpartition(".")[2] for name in commits.causes(error))]
print(json.dumps(found))
"""


def said(python, code=CODE):
    # a lake of its own: with the folder that a session of this process left, each would find what the other made
    env = {name: value for name, value in os.environ.items() if name != scratch.VARIABLE}
    done = subprocess.run([python, "-c", code], capture_output=True, text=True, cwd=ROOT, env=env)
    assert done.returncode == 0, done.stderr[-2000:]
    return json.loads(done.stdout.splitlines()[-1])  # a JVM with log4j of its own says a word before it


HERE = SAME | {"versions": ["4.1", "1.12.0"], "kinesis": "known"}


def test_on_the_spark_of_this_environment(spark, capsys):
    try:
        exec(compile(CODE, "CODE", "exec"), {})
    finally:
        spark.sql("DROP TABLE IF EXISTS n.t PURGE")
        spark.sql("DROP NAMESPACE IF EXISTS n")
        spark.conf.unset("spark.sql.mine")
    assert json.loads(capsys.readouterr().out.splitlines()[-1]) == HERE


@pytest.mark.proof("test_on_the_spark_of_this_environment runs the same statements in the session of the tests")
def test_in_a_process_of_its_own():
    assert said(sys.executable) == HERE


@pytest.fixture
def engine():
    found = engines.engine("spark35")
    if wrong := engines.lacks(found):
        pytest.skip(f"spark35: {wrong}")
    return found


GONE = {"read": [True, "NotFoundException", "NoSuchKeyException"], "length": [True, "NoSuchKeyException"]}


@pytest.mark.proof(
    "environment_cases.py, run on rest, says where a checkpoint lies and what a missing file is called"
)
def test_tables_in_s3_on_iceberg_111():
    """Where a stream's checkpoint may lie, and what a file that is gone is called."""
    assert said(sys.executable, IN_S3) == GONE | {"place": "file://DISK/_checkpo", "on disk": 3}


@SPARK_35
def test_tables_in_s3_on_iceberg_110(engine):
    """There the first offset goes by the table's FileIO."""
    found = said(engines.python(engine), IN_S3)
    place, on_disk = found.pop("place"), found.pop("on disk")
    assert found == GONE and "Invalid S3 URI, cannot determine scheme: file:" in on_disk
    first = "Iceberg 1.10.0 writes a stream's first offset to the storage of n.t, and Spark has no file system for s3://"
    assert place.startswith(first)


@SPARK_35
def test_on_spark_35(engine):
    kinesis = "a data source written in Python, which Kinesis is here, came with Spark 4.0, and this session is Spark 3.5.6"
    assert said(engines.python(engine)) == SAME | {"versions": ["3.5", "1.10.0"], "kinesis": kinesis}
    assert engines.versions(engine)["pyspark"] == "3.5.6" and engines.versions(engine)["iceberg"] == "1.10.0"


def test_a_notebook_runs_in_another_kernel_and_its_record_says_so(project, monkeypatch):
    """A real kernel, known to Jupyter as that of an engine is."""
    spec = project / "kernels" / "other" / "kernel.json"
    spec.parent.mkdir(parents=True)
    argv = [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"]
    spec.write_text(
        json.dumps({"argv": argv, "display_name": "other", "language": "python", "env": {"IN": "other"}})
    )
    monkeypatch.setenv("JUPYTER_PATH", str(project))
    code = "import os\nfrom workbench import results\nresults.record(kernel=os.environ['IN'])"
    write_notebook(project / "notebooks" / "x.ipynb", code)
    there = {"pyspark": "3.5.6", "iceberg": "1.10.0", "not-asked-for": "1"}
    ended = runner.run(Job("x", kernel="other", versions=there))
    assert (ended.status, ended.results, ended.engine) == ("passed", {"kernel": "other"}, "other")
    assert ended.command == "workbench run notebooks/x.ipynb --engine other"
    assert ended.versions == records.versions() | {"pyspark": "3.5.6", "iceberg": "1.10.0"}
    refused = runner.run(Job("x", kernel="another"))
    assert refused.status == "refused" and refused.reason.startswith(
        "there is no kernel 'another'; installed are "
    )


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("spark35", "engine spark35 cannot run: its environment is not there: workbench engines install spark35"),
        ("baseline", "no notebook runs in engine baseline, which has no kernel; with a kernel there are: spark35"),
        ("spark42", "no notebook runs in engine spark42, which there is not; with a kernel there are: spark35"),
    ],
)
def test_an_engine_without_a_kernel_is_refused_before_anything_starts(project, name, sentence):
    ran = workbench("run", "00_template", "--engine", name, cwd=project)
    assert (ran.returncode, ran.stderr) == (2, f"workbench: {sentence}\n")
    assert not (project / "runs").exists()


def test_a_notebook_that_was_saved_in_the_kernel_of_an_engine_is_one_of_it(project):
    path = write_notebook(project / "notebooks" / "x.ipynb", "1 + 1")
    path.write_text(path.read_text().replace('"python3"', '"spark35"'))
    ran = workbench("run", "x", cwd=project)
    lacks = "its environment is not there: workbench engines install spark35"
    assert (ran.returncode, ran.stderr) == (2, f"workbench: engine spark35 cannot run: {lacks}\n")


def test_a_name_of_a_jar_means_that_of_the_installed_spark(monkeypatch):
    assert [jars.path(name).name for name in ("iceberg", "aws")] == [
        "org.apache.iceberg_iceberg-spark-runtime-4.1_2.13-1.12.0.jar",
        "org.apache.iceberg_iceberg-aws-bundle-1.12.0.jar",
    ]
    monkeypatch.setattr(java, "_pyspark", lambda: "3.5.6")
    assert [jars.path(name).name for name in ("iceberg", "sqlite", "aws")] == [
        "org.apache.iceberg_iceberg-spark-runtime-3.5_2.12-1.10.0.jar",
        "org.xerial_sqlite-jdbc-3.53.1.0.jar",
        "org.apache.iceberg_iceberg-aws-bundle-1.10.0.jar",
    ]


# As Spark 4 says it. What takes a column's or a frame's own way is called by the module, as `releases.try_cast(`.
# A session's `conf.getAll` is a property; the method `getAll()` is SparkConf's, which every Spark has.
NEW = re.compile(
    r"\bconf\.getAll\b(?!\(\))|\.fromDDL\(|(?<!releases)\.try_cast\(|\.mergeInto\(|functions\.partitioning\b"
)


def test_one_place_alone_knows_what_came_with_spark_4():
    sources = sorted((ROOT / "lib").rglob("*.py")) + sorted((ROOT / "notebooks").glob("*.ipynb"))
    assert [path.name for path in sources if NEW.search(path.read_text(encoding="utf-8"))] == ["releases.py"]
    planted = (
        "spark.conf.getAll.values()",
        "StructType.fromDDL(ddl)",
        "column.try_cast(kind)",
        "rows.mergeInto(t, c)",
    )
    assert all(NEW.search(text) for text in planted)
    assert not any(NEW.search(text) for text in ("releases.try_cast(column, kind)", "dict(conf.getAll())"))
