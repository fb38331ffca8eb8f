"""Make the Hudi tables of the tests by Apache Hudi itself, on the engine `spark35`, which is not this project's own:

    workbench engines install spark35
    .workbench/engines/spark35/bin/python tests/workbench/formats/make_golden_hudi.py [NAME …]

Each is an archive in `golden`: a table as Hudi left it, with its timeline. The rows that it must have lie in
`golden/hudi_rows.json`, as Hudi's own reader read them: rows, sum of ids. Made again they hold the same rows.
"""

import json
import shutil
import sys
import tempfile
from pathlib import Path

from make_golden import GOLDEN, pack

ROWS = GOLDEN / "hudi_rows.json"
SETTINGS = {
    "hoodie.datasource.write.recordkey.field": "id",
    "hoodie.datasource.write.precombine.field": "turn",
    "hoodie.datasource.write.hive_style_partitioning": "false",
    "hoodie.metadata.enable": "false",  # its HFiles are the most of a small table
    "hoodie.clean.automatic": "false",
    "hoodie.archive.automatic": "false",
    "hoodie.embed.timeline.server": "false",
    "hoodie.bulkinsert.shuffle.parallelism": "1",
    "hoodie.insert.shuffle.parallelism": "1",
    "hoodie.upsert.shuffle.parallelism": "1",
    "hoodie.delete.shuffle.parallelism": "1",
    "hoodie.bloom.index.use.metadata": "false",
    "hoodie.index.bloom.num_entries": "100",
    "hoodie.parquet.compression.codec": "zstd",
}
VERSION_6 = {"hoodie.write.table.version": "6", "hoodie.write.auto.upgrade": "false"}


class Table:
    """A Hudi table that is written by one operation after another."""

    def __init__(self, spark, folder, name):
        self.spark, self.at, self.name = spark, str(folder), name

    def write(self, query, operation="upsert", **settings):
        """Write the rows of a query; settings with `_` for `.`, or by `options`."""
        options = SETTINGS | {"hoodie.table.name": self.name, "hoodie.datasource.write.operation": operation}
        options |= settings.pop("options", {})
        self.spark.sql(query).write.format("hudi").options(**options).mode("append").save(self.at)

    def rows(self):
        """Return what Hudi's own reader reads: rows and the sum of ids."""
        count, total = self.spark.read.format("hudi").load(self.at).selectExpr("count(*)", "sum(id)").first()
        return [count, total or 0]


def people(first, last, turn, extra=""):
    return (
        f"SELECT id, {turn} turn, concat('name ', id, ' at ', {turn}) name, "
        f"if(id % 3 = 0, NULL, concat('area ', id % 3)) area{extra} FROM range({first}, {last}, 1, 1)"
    )


def plain(table, options=None):
    """Return nothing; not partitioned: three commits, an update, a delete."""
    options = options or {}
    table.write(people(0, 60, 1), "insert", options=options)
    table.write(people(40, 80, 2), options=options)
    table.write(people(10, 20, 3), "delete", options=options)


def version6(table):
    plain(table, VERSION_6)


PARTITIONED = {
    "hoodie.datasource.write.partitionpath.field": "area",
    "hoodie.datasource.write.hive_style_partitioning": "true",
    "hoodie.datasource.write.partitionpath.urlencode": "true",
}


def partitions(table, options=None):
    """NULL and odd values in a partition column."""
    options = PARTITIONED | (options or {})
    words = "array('a b', 'x/y', 'k=v', '100%', 'é+ü', NULL, 'c:d', '%2F', '#?', 'plain')"
    table.write(
        f"SELECT id, 1 turn, concat('n', id) name, {words}[cast(id AS INT) % 10] area FROM range(0, 30, 1, 1)",
        "insert", options=options,
    )  # fmt: skip
    table.write(
        f"SELECT id, 2 turn, concat('m', id) name, {words}[cast(id AS INT) % 10] area FROM range(5, 9, 1, 1)",
        options=options,
    )


def partitions6(table):
    partitions(table, VERSION_6)


TABLES = (plain, version6, partitions, partitions6)  # fmt: skip


def main(names):
    from workbench import session

    spark = session.start("hudi")
    spark.sparkContext.setLogLevel("ERROR")
    known = json.loads(ROWS.read_text()) if ROWS.exists() else {}
    for make in TABLES:
        name = make.__name__
        if names and name not in names:
            continue
        folder = Path(tempfile.mkdtemp()) / name
        table = Table(spark, folder, name)
        make(table)
        known[name] = table.rows()
        pack(folder, GOLDEN / f"hudi_{name}.tar.xz")
        shutil.rmtree(folder.parent)
        print(name, known[name], (GOLDEN / f"hudi_{name}.tar.xz").stat().st_size, flush=True)
        ROWS.write_text(json.dumps(known, indent=1, sort_keys=True) + "\n")


if __name__ == "__main__":
    main(sys.argv[1:])
