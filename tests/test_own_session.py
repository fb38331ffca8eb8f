"""The session that docs/library.md gives as an example, with nothing of ours in it: each capability works there."""

import json
import os
import re
import subprocess
import sys

from conftest import PROVE, ROOT

from workbench._base import jars, java
from workbench.session import launch

USE = """
import json
from datetime import UTC, datetime

from workbench import history, quality, session, wap; from workbench_proofs import tpcds
from workbench.tables import changes

spark.sql("CREATE NAMESPACE shop")
spark.sql("CREATE TABLE shop.orders (id BIGINT, `paid €` DECIMAL(9, 2)) USING iceberg")
new = spark.createDataFrame([(1, 5), (2, -1)], "id BIGINT, `paid €` INT").selectExpr("id", "CAST(`paid €` AS DECIMAL(9, 2)) AS `paid €`")
rules = 'Rules = [ IsComplete "id", ColumnValues "paid €" >= 0 ]'
gate = wap.run(
    spark, "shop.orders", write=lambda stage: new.writeTo(stage.table).append(),
    audit=lambda df: quality.evaluate(spark, df, rules).verdict(), quarantine="shop.bad",
)
spark.sql("INSERT INTO shop.orders VALUES (1, 5)")
spark.sql("UPDATE shop.orders SET `paid €` = 6 WHERE id = 1")
found = changes.between(spark, "shop.orders", key="id", back_end="snapshot diff")
history.build(spark, "shop.orders", "shop.orders_history", key="id")
verdicts = []
if PROVE:  # no capability of the library: nbval runs the notebook 90
    data = tpcds.generate(0.01)
    tpcds.load(spark, data, "derived", layout="flat", tables=["date_dim", "store_sales", "item"])
    verdicts = [one.verdict.kind for one in tpcds.run(
        tpcds.engine("spark41"), spark, data, namespace="derived", queries=["q42"])]
started = session.start("local")
print(json.dumps({
    "session": [started is spark, spark.conf.get("spark.sql.session.timeZone")],
    "published": gate.published,
    "quarantined": [row.id for row in spark.table("shop.bad").collect()],
    "changes": sorted([row.change_ordinal, row.change_type, str(row["paid €"])] for row in found.collect()),
    "versions": sorted([row.version, str(row["paid €"]), row.is_current] for row in spark.table("shop.orders_history").collect()),
    "rows": spark.table("shop.orders").count(),
    "verdicts": verdicts,
}))
"""  # fmt: skip


def test_each_capability_in_the_session_of_the_readme(tmp_path):
    block = re.search(
        r"```python\n(from pyspark.sql import SparkSession\n.*?)```",
        (ROOT / "docs" / "library.md").read_text(),
        re.S,
    )[1]
    # the jar that `make setup` fetched, given as a user's own jar is
    jar, packages = (
        jars.path("iceberg"),
        re.compile(r'"spark.jars.packages", "org.apache.iceberg:(.*?):(.*?)"'),
    )
    assert jar.name.removesuffix(".jar").endswith("-".join(packages.search(block).groups()))
    block = packages.sub(f'"spark.jars", "{jar}"', block).replace("/data/ice", str(tmp_path / "ice"))
    (script := tmp_path / "own.py").write_text(f"{block}\nPROVE = {PROVE}\n{USE}")
    environment = {"JAVA_HOME": str(java.launcher()), "SPARK_LOCAL_IP": "127.0.0.1"} | dict(os.environ)
    if not PROVE:  # as a machine may have them: fewer tasks for a handful of rows, and a JVM for a short life
        (tmp_path / "spark-defaults.conf").write_text("spark.sql.shuffle.partitions 2\nspark.ui.enabled false\n")
        environment |= {"SPARK_CONF_DIR": str(tmp_path), "JAVA_TOOL_OPTIONS": " ".join(launch.SHORT_LIFE)}
    said = subprocess.run(
        [sys.executable, script], capture_output=True, text=True, cwd=tmp_path, env=environment, check=False
    )
    assert said.returncode == 0, said.stderr[-4000:]
    assert json.loads(said.stdout.splitlines()[-1]) == {
        "session": [True, "UTC"],
        "published": False,
        "quarantined": [2],
        "changes": [[0, "insert", "5.00"], [1, "update_after", "6.00"], [1, "update_before", "5.00"]],
        "versions": [[1, "5.00", False], [2, "6.00", True]],
        "rows": 1,
        "verdicts": ["equal"] if PROVE else [],
    }
