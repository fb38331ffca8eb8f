"""A process of its own that moves the Delta table in a folder of S3, follows it and takes it over.

    python s3_child.py ENVIRONMENT SOURCE CUT

It prints what it did as JSON. The environment's catalog reads S3; another one, which does not, is added here. CUT has
a key that Iceberg does not take whole.
"""

import json
import sys

from workbench import formats, session
from workbench.tables import snapshots


def refusal(call):
    try:
        call()
    except ValueError as error:
        return str(error)
    return None


def main(environment, source, cut):
    spark = session.start(environment)
    spark.conf.set("spark.sql.catalog.plain", "org.apache.iceberg.spark.SparkCatalog")
    spark.conf.set("spark.sql.catalog.plain.type", "hadoop")
    spark.conf.set("spark.sql.catalog.plain.warehouse", str(session.scratch_folder() / "plain"))
    for name in ("n", "plain.n"):
        spark.sql(f"CREATE NAMESPACE {name}")
    unreachable = refusal(lambda: formats.move(spark, source, "plain.n.orders"))
    made = snapshots.exists(spark, "plain.n.orders")
    refused = refusal(lambda: formats.move(spark, cut, "n.cut"))
    move = formats.move(spark, source, "n.orders", version=4)
    verified = [formats.verify(spark, "n.orders").equal]
    by_duckdb = refusal(lambda: formats.verify(spark, "n.orders", reader="duckdb"))
    follow = formats.follow(spark, "n.orders")
    verified.append(formats.verify(spark, "n.orders").equal)
    formats.take_over(spark, "n.orders", files="copied")
    own = {row.file_path.partition(":")[0] for row in spark.sql("SELECT file_path FROM n.orders.files").collect()}
    print(
        json.dumps({
            "unreachable": unreachable, "cut": refused, "made": made, "by_duckdb": by_duckdb, "versions": [move.version, follow.version],
            "verified": verified, "rows": spark.table("n.orders").count(), "files": sorted(own),
        })
    )  # fmt: skip


if __name__ == "__main__":
    main(*sys.argv[1:])
