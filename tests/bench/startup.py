"""From a fresh process to the first count of an Iceberg table: our session against plain spark.jars and defaults.

The goal is a ratio of 2.5 or more. Both processes count the same table of one embedded lake.
"""

import os
import subprocess
import sys
import tempfile

from bench import evidence

MAKE = """
from workbench import session
spark = session.start("lake")
spark.sql("CREATE NAMESPACE bench")
spark.sql("CREATE TABLE bench.t AS SELECT id FROM range(1000)")
"""
OURS = """
from workbench import session
print(session.start("lake").table("bench.t").count())
"""
PLAIN = """
import os
from pyspark.sql import SparkSession
from workbench._base import jars
lake = os.environ["WORKBENCH_HOME"] + "/.workbench/lake"
jars = ",".join(str(jars.path(name)) for name in ("iceberg", "sqlite"))
spark = (
    SparkSession.builder.config("spark.jars", jars)
    .config("spark.sql.extensions", "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions")
    .config("spark.sql.catalog.lake", "org.apache.iceberg.spark.SparkCatalog")
    .config("spark.sql.catalog.lake.type", "jdbc")
    .config("spark.sql.catalog.lake.uri", f"jdbc:sqlite:file:{lake}/catalog.db?busy_timeout=30000&journal_mode=WAL")
    .config("spark.sql.catalog.lake.warehouse", f"file://{lake}")
    .config("spark.sql.catalog.lake.jdbc.schema-version", "V1")
    .config("spark.sql.defaultCatalog", "lake")
    .getOrCreate()
)
print(spark.table("bench.t").count())
"""


def main(rounds=5):
    """Measure, print, and keep the figures."""
    with tempfile.TemporaryDirectory() as home:
        env = os.environ | {"WORKBENCH_HOME": home}
        subprocess.run([sys.executable, "-c", MAKE], env=env, check=True)

        def measured(code):
            return lambda: evidence.until_line([sys.executable, "-c", code], env=env, cwd=home)

        things = {"spark.jars and defaults": measured(PLAIN), "workbench session": measured(OURS)}
        seconds, answers = evidence.in_turn(things, rounds=rounds)
    medians = {name: evidence.median(values) for name, values in seconds.items()}
    plain, ours = medians.values()
    evidence.write(
        "startup",
        what="fresh process to the first count of an Iceberg table, seconds, measured in turn",
        seconds=seconds,
        median_seconds=medians,
        ratio=round(plain / ours, 2),
        goal_ratio=2.5,
        answers_equal={answer for found in answers.values() for answer in found} == {"1000"},
    )


if __name__ == "__main__":
    main()
