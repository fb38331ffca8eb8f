"""An exported notebook tried on the Spark of its Glue version: on ours, or on that of an engine that is installed."""

import json
import sys

import pytest
from conftest import ROOT, workbench, write_notebook

from workbench.engines import profiles as engines
from workbench.engines.profiles import with_spark
from workbench_ops.run import preparing

SEEN = """
import os
import workbench
from workbench import results, session

own = "/site/workbench/__init__.py"
place = spark._jvm.org.apache.hadoop.fs.Path("s3://some/warehouse")
system = place.getFileSystem(spark._jsparkSession.sessionState().newHadoopConf())
worker = spark.sparkContext.parallelize([0], 1).map(lambda _: __import__("workbench").__file__)
results.record(
    spark=spark.version, iceberg=spark._jvm.org.apache.iceberg.IcebergBuild.version(),
    same=session.start(ENVIRONMENT) is spark, ansi=spark.conf.get("spark.sql.ansi.enabled"),
    wheel=workbench.__file__.endswith(own), wheel_in_worker=worker.first().endswith(own),
    folder=os.path.basename(os.getcwd()), warehouse=os.environ["WORKBENCH_WAREHOUSE"],
    s3=system.getClass().getSimpleName(),
)
"""
GLUE = {"WORKBENCH_WAREHOUSE": "s3://some/warehouse", "WORKBENCH_REGION": "us-east-1"}
ARGUMENTS = ("export", "try", "ours", "--version", "5.1", "--environment", "aws-glue", "--json")


@pytest.mark.proof(
    "test_a_notebook_sees_what_it_would_see_there runs in the same kernel, on the Spark of Glue 6.0"
)
def test_a_notebook_for_glue_51_runs_on_its_spark(project):
    """The real thing, but for AWS: no table is touched."""
    here = ROOT / ".workbench" / "engines"
    (project / ".workbench").mkdir()
    (project / ".workbench" / "engines").symlink_to(here)
    if wrong := engines.lacks(engines.engine("spark35")):
        pytest.skip(f"spark35: {wrong}")
    # by its own name: by another one it would make an archive of classes anew
    assert with_spark("3.5.6") == (
        here / "spark35" / "bin" / "python",
        engines.versions(engines.engine("spark35")),
    )
    write_notebook(project / "notebooks" / "ours.ipynb", SEEN, parameters='ENVIRONMENT: str = "local"')
    ran = workbench(*ARGUMENTS, cwd=project, env=GLUE)
    assert ran.stdout.startswith("{"), ran.stderr
    record = json.loads(ran.stdout)
    assert (ran.returncode, record["status"], record["failing_cell"]) == (0, "passed", None)
    assert record["results"] == {
        "spark": "3.5.6", "iceberg": "1.10.0", "same": True, "ansi": "true", "wheel": True, "wheel_in_worker": True,
        "folder": "elsewhere", "warehouse": "s3://some/warehouse", "s3": "S3AFileSystem",
    }  # fmt: skip
    assert record["notebook_path"] == "exports/glue-5.1/ours.ipynb"
    assert [record["versions"][name] for name in ("pyspark", "iceberg")] == ["3.5.6", "1.10.0"]
    noted = json.loads((project / "runs" / "ours" / record["run_id"] / "magics.json").read_text())
    assert [one["value"] for one in noted if one["magic"] == "glue_version"] == ["5.1"]


def test_without_the_engine_nothing_is_begun(project):
    write_notebook(project / "notebooks" / "ours.ipynb", SEEN, parameters='ENVIRONMENT: str = "local"')
    ran = workbench(*ARGUMENTS, cwd=project, env=GLUE)
    lacks = "its environment is not there: workbench engines install spark35"
    sentence = f"workbench: Spark 3.5 is the engine spark35 here, and it cannot run: {lacks}\n"
    assert (ran.returncode, ran.stdout, ran.stderr) == (2, "", sentence)
    assert not (project / "exports").exists() and not (project / "runs").exists()


def test_our_own_spark_needs_no_engine_and_another_has_none():
    assert with_spark("4.1.1") == (sys.executable, {})
    with pytest.raises(ValueError, match="no engine here has Spark 3.4, in whose kernel it would run"):
        with_spark("3.4.1")


def test_the_jars_of_an_environment_are_those_of_the_spark_that_runs(project, monkeypatch):
    """Where another Spark runs a notebook, its session asks for its own: ours need not be there."""
    write_notebook(project / "notebooks" / "x.ipynb", "1 + 1", parameters='ENVIRONMENT: str = "local"')
    monkeypatch.setenv("XDG_CACHE_HOME", str(project / "empty"))
    assert preparing.planned(preparing.Job("x")).refusal.startswith(
        "org.apache.iceberg:iceberg-spark-runtime-4.1_2.13:1.12.0 is missing"
    )
    assert preparing.planned(preparing.Job("x", versions={"pyspark": "3.5.6"})).refusal is None
