"""The environment aws-glue against a stand-in for AWS: two writers at once lose no row, PyIceberg reads the same."""

import json
import os
import subprocess
import sys

import aws_stand_in
import pytest
from conftest import workbench

WRITER = """
import sys
from workbench import session
spark = session.start("aws-glue")
print("ready", flush=True)
sys.stdin.readline()  # both begin when both are there
for n in range(10):
    spark.sql(f"INSERT INTO race.t VALUES ({sys.argv[1]}, {n})")
print("done")
"""
TABLE = """
from workbench import session
spark = session.start("aws-glue")
spark.sql("CREATE NAMESPACE race")
spark.sql("CREATE TABLE race.t (writer INT, n INT) TBLPROPERTIES ('commit.retry.num-retries' = '20')")
"""
READER = """
import json
from workbench import session
table = session.catalog("aws-glue").load_table("race.t")
print(json.dumps([[(row["writer"], row["n"]) for row in table.scan().to_arrow().to_pylist()], len(table.snapshots())]))
"""
HYPHENS = """
import os
import boto3
from workbench._base import identifiers; from workbench import session
from workbench.tables import commits, maintenance, snapshots
boto3.client("glue").create_database(DatabaseInput={"Name": "my-db"})
spark = session.start("aws-glue")
spark.sql("CREATE NAMESPACE plain")
print(sorted(row[0] for row in spark.sql("SHOW NAMESPACES").collect()))
spark.sql("CREATE TABLE `my-db`.`my-table` (id INT)")
spark.sql("INSERT INTO `my-db`.`my-table` VALUES (1)")
print(snapshots.history(spark, "my-db.my-table").count(), maintenance.sentences(maintenance.plan(spark, "my-db.my-table")))
print(session.catalog("aws-glue").load_table(identifiers.parts("my-db.my-table")).scan().to_arrow().num_rows)
own = {key: value for key, value in spark.sparkContext.getConf().getAll() if key.startswith("spark.sql.catalog.lake")}
for key, value in own.items():
    spark.conf.set(key.replace(".lake", ".strict"), value)
spark.conf.set("spark.sql.catalog.strict.glue.skip-name-validation", "false")
try:
    commits.load(spark, "strict.my-db.my-table")
except snapshots.TableNotFound as error:
    print(error)
"""


def python(code, *arguments):
    command = [sys.executable, "-c", code, *map(str, arguments)]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=os.environ)


# the stand-in is an environment of its own, which `make prove PART=aws` makes first
@pytest.mark.proof("test_two_processes_on_one_lake_lose_no_row has two such writers on the catalog of a lake")
def test_two_racing_writers_lose_no_row(account):
    assert python(TABLE).wait(300) == 0
    writers = [python(WRITER, n) for n in range(2)]
    assert [writer.stdout.readline() for writer in writers] == ["ready\n"] * 2
    for writer in writers:
        writer.stdin.write("go\n")
        writer.stdin.flush()
    assert [writer.communicate(timeout=300)[0] for writer in writers] == ["done\n"] * 2
    rows, snapshots = json.loads(python(READER).communicate(timeout=300)[0])
    assert sorted(rows) == [[writer, n] for writer in range(2) for n in range(10)]
    assert snapshots == 20


@pytest.mark.proof(
    "test_account.py has the doctor look at an account of moto, which is right, and at one that is not"
)
def test_the_doctor_finds_the_account_right(account):
    said = workbench("doctor", "--environment", "aws-glue")
    assert (said.returncode, "wrong" in said.stdout) == (0, False)
    assert f"ok     bucket {aws_stand_in.BUCKET} in {aws_stand_in.REGION}, which may be listed" in said.stdout


@pytest.mark.proof("test_names.py has such names in a lake; what is Glue's own is which of them Iceberg asks for")
def test_databases_with_a_hyphen(account):
    process = python(HYPHENS)
    assert process.communicate(timeout=300)[0].splitlines() == [
        "['`my-db`', 'plain']",
        "1 ()",
        "1",
        "no table strict.my-db.my-table; strict is Glue's catalog, and Iceberg asks it for names of small letters, digits "
        "and _ only, which my-db is not: set spark.sql.catalog.strict.glue.skip-name-validation to true",
    ]
