"""PySail, an engine that shares no code with Spark or PyIceberg, reads a table that Spark wrote and changed."""

import importlib.util
import json
import subprocess
import sys
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from workbench import session
from workbench.data import nyc

TABLE = "sail_test.flights"
QUESTIONS = {
    "flights": "SELECT count(*) FROM {table}",
    "miles": "SELECT sum(distance) FROM {table}",
    "cancelled": "SELECT count(*) FROM {table} WHERE cancelled",
    "destinations": "SELECT count(DISTINCT destination) FROM {table}",
    "longest delay": "SELECT max(dep_delay) FROM {table}",
}

# in a process of its own: its Spark Connect client and a classic session cannot live in one
CHILD = """
import json, sys
from pysail.spark import SparkConnectServer
from pyspark.sql import SparkSession

server = SparkConnectServer(ip="127.0.0.1", port=0)
server.start(background=True)
spark = SparkSession.builder.remote("sc://127.0.0.1:%d" % server.listening_address[1]).getOrCreate()
folder, questions = sys.argv[1], json.loads(sys.argv[2])
spark.read.format("iceberg").load(folder).createOrReplaceTempView("flights")
answers = {name: spark.sql(text.format(table="flights")).collect()[0][0] for name, text in questions.items()}
print(json.dumps(answers))
spark.stop()
server.stop()
"""


@pytest.fixture(scope="module")
def spark():
    missing = [name for name in ("pysail", "grpc") if importlib.util.find_spec(name) is None]
    if missing:
        pytest.skip(f"PySail is not installed (no {missing[0]}): pip install 'iceberg-workbench[sail]'")
    return session.start("local")


@pytest.fixture
def table(spark):
    """January's flights under a renamed and a filled new column, Newark's removed by a file of deletes."""
    spark.sql("CREATE NAMESPACE IF NOT EXISTS sail_test")
    spark.sql(f"DROP TABLE IF EXISTS {TABLE} PURGE")
    spark.sql(
        f"CREATE TABLE {TABLE} ({nyc.FLIGHTS_SCHEMA}) USING iceberg PARTITIONED BY (months(time_hour)) "
        "TBLPROPERTIES ('write.delete.mode' = 'merge-on-read')"
    )
    nyc.flights(spark, months=1).writeTo(TABLE).append()
    spark.sql(f"ALTER TABLE {TABLE} RENAME COLUMN dest TO destination")
    spark.sql(f"ALTER TABLE {TABLE} ADD COLUMN cancelled BOOLEAN")
    spark.sql(f"UPDATE {TABLE} SET cancelled = dep_time IS NULL")
    spark.sql(f"DELETE FROM {TABLE} WHERE origin = 'EWR'")
    yield TABLE
    spark.sql(f"DROP TABLE {TABLE} PURGE")


def test_pysail_answers_five_questions_as_spark_does(spark, table):
    by_spark = {name: spark.sql(text.format(table=table)).first()[0] for name, text in QUESTIONS.items()}
    found = session.catalog("local").load_table(table)
    folder = Path(urlsplit(found.location()).path)
    # PySail takes the newest metadata in the folder; the answers only count when the catalog points to it
    newest = max(folder.glob("metadata/*.metadata.json"), key=lambda path: path.stat().st_mtime_ns)
    assert Path(urlsplit(found.metadata_location).path) == newest

    command = [sys.executable, "-c", CHILD, str(folder), json.dumps(QUESTIONS)]
    run = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
    assert run.returncode == 0, run.stderr
    assert json.loads(run.stdout.splitlines()[-1]) == by_spark
    assert by_spark == {
        "flights": 17_111,
        "miles": 17_664_284,
        "cancelled": 283,
        "destinations": 73,
        "longest delay": 1301,
    }
