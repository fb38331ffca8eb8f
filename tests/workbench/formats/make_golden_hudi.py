"""Make the Hudi tables of the tests by Apache Hudi itself, on the engine `spark35`, which is not this project's own:

    workbench engines install spark35
    .workbench/engines/spark35/bin/python tests/workbench/formats/make_golden_hudi.py [NAME …]

All are in one archive, `golden/hudi_tables.tar.xz`, a folder each, as their timelines are alike and take little room
together: tables as Hudi left them. What they must hold is in `golden/hudi_rows.json`, as Hudi's own reader read it:
rows, sum of ids. Made again they hold the same rows.
"""

import json
import shutil
import sys
import tarfile
import tempfile
from pathlib import Path

from make_golden import GOLDEN, pack

ARCHIVE, ROWS = GOLDEN / "hudi_tables.tar.xz", GOLDEN / "hudi_rows.json"
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
AVRO = json.dumps({
    "type": "record", "name": "row", "fields": [
        {"name": "id", "type": "long"}, {"name": "turn", "type": "int"}, {"name": "name", "type": "string"},
        {"name": "area", "type": ["null", "string"], "default": None},
    ],
})  # fmt: skip
CLIENT = {
    "hoodie.datasource.compaction.async.enable": "false", "hoodie.datasource.write.table.type": "COPY_ON_WRITE",
    "hoodie.datasource.write.insert.drop.duplicates": "false", "hoodie.combine.before.insert": "false",
    "hoodie.datasource.write.payload.class": "org.apache.hudi.common.model.DefaultHoodieRecordPayload",
}  # fmt: skip
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

    def client(self, options):
        """Return Hudi's own client for operations that are no writes."""
        jvm = self.spark.sparkContext._jvm
        settings = jvm.java.util.HashMap()
        for key, value in (SETTINGS | CLIENT | options).items():
            settings.put(key, value)
        return jvm.org.apache.hudi.DataSourceUtils.createHoodieClient(
            self.spark.sparkContext._jsc, AVRO, self.at, self.name, settings
        )

    def instants(self):
        """Return the times of commits that completed, in order."""
        names = [
            path.name for path in (Path(self.at) / ".hoodie").rglob("*commit") if "metadata" not in path.parts
        ]
        return sorted(name.partition(".")[0].partition("_")[0] for name in names)

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


TYPES = (
    "id, 1 turn, cast(id % 7 AS SMALLINT) small, cast(id * 3 AS INT) number, cast(id * 1.25 AS DECIMAL(12,2)) price, "
    "cast(id * 1000003.5 AS DECIMAL(30,5)) large, id / 3 ratio, cast(id / 7 AS FLOAT) part, "
    "date_add(DATE'2026-01-01', cast(id % 40 AS INT)) day, timestamp_micros(1767225600000000 + id * 1000003) moment, "
    "id % 2 = 0 flag, "
    "if(id % 11 = 0, NULL, concat('name ', id)) name, cast(concat('b', id) AS BINARY) bytes, "
    "if(id = 4, NULL, named_struct('city', concat('c', id), 'at', named_struct('x', id / 4D))) place, "
    "if(id = 6, NULL, array('a', NULL, concat('w', id))) words, array(1L, id) numbers, "
    "if(id = 7, NULL, map('k', cast(id AS INT), 'n', NULL)) stock, "
    "array(named_struct('k', 'a', 'v', map('m', array(1, cast(id AS INT))))) deep"
)


def types(table):
    """All types and nested ones, as Hudi writes them by way of Avro: lists in the old form, which takes no NULL."""
    kinds = TYPES.replace("array('a', NULL, ", "array('a', ")
    table.write(f"SELECT {kinds} FROM range(0, 30, 1, 1)", "insert")
    table.write(f"SELECT {kinds} FROM range(20, 24, 1, 1)")


def types_new(table):
    """The same with lists in the form of today, which takes NULL."""
    form = "parquet.avro.write-old-list-structure"
    configuration = table.spark.sparkContext._jsc.hadoopConfiguration()
    configuration.set(form, "false")
    table.write(f"SELECT {TYPES} FROM range(0, 30, 1, 1)", "insert")
    configuration.unset(form)


def types_by_row(table):
    """The same as Spark's own writer of rows writes them."""
    table.write(f"SELECT {TYPES} FROM range(0, 30, 1, 1)", "bulk_insert")


def local_times(table):
    """Moments without a zone, which hudi-rs does not read."""
    table.write(
        "SELECT id, 1 turn, cast(timestamp_micros(1767225600000000 + id) AS TIMESTAMP_NTZ) local FROM range(0, 9, 1, 1)",
        "insert",
    )


def replaced(table, options=None):
    """File groups that others took the place of: partitions overwritten, one deleted, the small files clustered."""
    by = PARTITIONED | (options or {})
    table.write(people(0, 30, 1), "insert", options=by)
    table.write(people(30, 40, 2) + " WHERE id % 3 = 1", "insert_overwrite", options=by)
    table.write(people(60, 70, 3), "insert", options=by | {"hoodie.parquet.small.file.limit": "0"})
    cluster = {"hoodie.clustering.inline": "true", "hoodie.clustering.inline.max.commits": "1"}
    table.write(people(70, 75, 4), "insert", options=by | cluster | {"hoodie.parquet.small.file.limit": "0"})
    partition = {"hoodie.datasource.write.partitions.to.delete": "area=area 2"}
    table.write(people(0, 1, 5), "delete_partition", options=by | partition)


def replaced6(table):
    replaced(table, VERSION_6)


KEPT = {
    "hoodie.clean.automatic": "true", "hoodie.clean.async.enabled": "false", "hoodie.archive.automatic": "true",
    "hoodie.cleaner.commits.retained": "1", "hoodie.clean.commits.retained": "1", "hoodie.keep.min.commits": "2",
    "hoodie.keep.max.commits": "3", "hoodie.commits.archival.batch": "1",
}  # fmt: skip


def archived(table, options=None):
    """Older commits archived and their files cleaned; one file of theirs is live."""
    by = PARTITIONED | KEPT | (options or {})
    table.write(people(0, 30, 1), "insert", options=by)
    for turn in range(2, 9):
        table.write(people(0, 30, turn) + " WHERE id % 3 = 1", options=by)


def archived6(table):
    archived(table, VERSION_6)


MERGE_ON_READ = {"hoodie.datasource.write.table.type": "MERGE_ON_READ"}


def merge_on_read(table, options=None):
    """With log files that hold rows."""
    options = (
        MERGE_ON_READ
        | {"hoodie.compact.inline": "false", "hoodie.parquet.small.file.limit": "0"}
        | (options or {})
    )
    table.write(people(0, 30, 1), "insert", options=options)
    table.write(people(20, 40, 2), options=options)


def merge_on_read6(table):
    merge_on_read(table, VERSION_6)


def compacted(table, options=None):
    """Merge-on-read, all log files compacted."""
    options = (
        MERGE_ON_READ
        | {"hoodie.compact.inline": "true", "hoodie.compact.inline.max.delta.commits": "2"}
        | (options or {})
    )
    table.write(people(0, 30, 1), "insert", options=options)
    table.write(people(20, 30, 2), options=options)


def compacted6(table):
    compacted(table, VERSION_6)


def virtual_keys(table):
    """Without Hudi's own columns."""
    options = {"hoodie.populate.meta.fields": "false"}
    table.write(people(0, 30, 1), "bulk_insert", options=options)
    table.write(people(30, 40, 2), "bulk_insert", options=options)


def dropped_columns(table):
    """Partition columns that are not in the files."""
    table.write(
        people(0, 30, 1),
        "insert",
        options=PARTITIONED | {"hoodie.datasource.write.drop.partition.columns": "true"},
    )


def by_time(table):
    """Folders that are named by the day of a moment."""
    options = {
        "hoodie.datasource.write.partitionpath.field": "moment",
        "hoodie.datasource.write.keygenerator.class": "org.apache.hudi.keygen.TimestampBasedKeyGenerator",
        "hoodie.keygen.timebased.timestamp.type": "EPOCHMILLISECONDS",
        "hoodie.keygen.timebased.output.dateformat": "yyyy/MM/dd",
    }
    table.write(
        "SELECT id, 1 turn, 1767225600000 + id * 10000000 moment FROM range(0, 20, 1, 1)",
        "insert",
        options=options,
    )


def several(table):
    """Several partition columns of several types, not in the style of Hive."""
    options = {
        "hoodie.datasource.write.partitionpath.field": "day,number,flag",
        "hoodie.datasource.write.keygenerator.class": "org.apache.hudi.keygen.ComplexKeyGenerator",
    }
    table.write(
        "SELECT id, 1 turn, date_add(DATE'1969-12-30', cast(id % 3 AS INT)) day, if(id % 4 = 1, NULL, cast(-(id % 2) AS INT)) number, "
        "id % 5 = 0 flag FROM range(0, 20, 1, 1)", "insert", options=options,
    )  # fmt: skip


def evolved(table):
    """A column that came later, one that became wider."""
    table.write("SELECT id, 1 turn, if(id < 0, NULL, cast(id AS INT)) number FROM range(0, 10, 1, 1)", "insert")
    options = {"hoodie.parquet.small.file.limit": "0"}
    table.write(
        "SELECT id, 2 turn, if(id < 0, NULL, id + 10000000000) number, if(id < 0, NULL, concat('n', id)) name FROM range(10, 20, 1, 1)",
        "insert",
        options=options,
    )


def changes(table):
    """With a change log beside the files."""
    options = {"hoodie.table.cdc.enabled": "true"}
    table.write(people(0, 30, 1), "insert", options=options)
    table.write(people(20, 40, 2), options=options)


def restored(table, options=None):
    """Restored to a savepoint: two commits are gone."""
    options = options or {}
    table.write(people(0, 20, 1), "insert", options=options)
    client = table.client(options)
    first = table.instants()[-1]
    client.savepoint(first, "somebody", "kept")
    table.write(people(0, 10, 2), options=options)
    table.write(people(20, 30, 3), options=options)
    client = table.client(options)
    client.restoreToSavepoint(first)


def restored6(table):
    restored(table, VERSION_6)


def indexed(table):
    """With the metadata table, which lists the files for readers."""
    options = {"hoodie.metadata.enable": "true", "hoodie.metadata.index.column.stats.enable": "false"}
    table.write(
        people(0, 20, 1), "insert", options=options | {"hoodie.metadata.index.partition.stats.enable": "false"}
    )


def renamed(table):
    """A column renamed by evolution by id."""
    options = {"hoodie.schema.on.read.enable": "true"}
    table.write(people(0, 10, 1), "insert", options=options)
    table.client(options).renameColumn("name", "title")
    table.write(
        people(10, 20, 2).replace(" name,", " title,"),
        "insert",
        options=options | {"hoodie.parquet.small.file.limit": "0"},
    )


TABLES = (
    plain, version6, partitions, types, types_new, types_by_row, local_times, replaced, replaced6, archived, archived6,
    merge_on_read, merge_on_read6, compacted, compacted6, virtual_keys, dropped_columns, by_time, several, evolved,
    changes, restored, restored6, indexed, renamed,
)  # fmt: skip


def main(names):
    from workbench import session

    spark = session.start("hudi")
    spark.sparkContext.setLogLevel("ERROR")
    known = json.loads(ROWS.read_text()) if ROWS.exists() else {}
    with tempfile.TemporaryDirectory() as folder:
        if names and ARCHIVE.exists():
            with tarfile.open(ARCHIVE) as archive:
                archive.extractall(folder, filter="data")
        for make in TABLES:
            name = make.__name__
            if names and name not in names:
                continue
            shutil.rmtree(Path(folder) / name, ignore_errors=True)
            table = Table(spark, Path(folder) / name, name)
            make(table)
            known[name] = table.rows()
            print(name, known[name], flush=True)
        pack(folder, ARCHIVE)
    ROWS.write_text(json.dumps(known, indent=1, sort_keys=True) + "\n")
    print(ARCHIVE.stat().st_size)


if __name__ == "__main__":
    main(sys.argv[1:])
