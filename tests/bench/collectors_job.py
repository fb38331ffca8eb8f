"""A Spark job as a user writes one, for `bench.collectors`: rows kept in memory, joined and grouped again and again.

It sets neither a collector nor the driver's memory, which are what is tried. The last line it prints is its answer.
"""

import sys

from pyspark import StorageLevel
from pyspark.sql import SparkSession

SETTINGS = {
    "spark.ui.enabled": "false",
    "spark.sql.shuffle.partitions": "8",
    "spark.sql.autoBroadcastJoinThreshold": "-1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.host": "127.0.0.1",
}


def main(rows):
    """Print the answers of some questions to rows that are kept in memory."""
    builder = SparkSession.builder.master("local[2]").appName("job")
    for key, value in SETTINGS.items():
        builder = builder.config(key, value)
    spark = builder.getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    sales = spark.range(rows).selectExpr("id", "id % 9973 AS item", "concat('buyer ', id % 99991) AS buyer")
    sales = sales.persist(StorageLevel.MEMORY_ONLY)
    items = spark.range(9973).selectExpr("id AS item", "concat('group ', id % 97) AS kind")
    answers = []
    for part in range(4):
        found = (
            sales.where(f"id % 4 >= {part}").join(items, "item").groupBy("kind", "buyer").count()
            .selectExpr("count(*) AS groups", "sum(count) AS rows", "max(count) AS most").first()
        )  # fmt: skip
        answers += list(found)
    print("answer", *answers)
    spark.stop()


if __name__ == "__main__":
    main(int(sys.argv[1]))
