"""Small tables to be kept healthy, and what must not change when they are."""

import os
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

from workbench.tables import commits, maintenance, snapshots
from workbench.tables.maintenance import arrow

LATER = datetime.now(UTC) + timedelta(days=30)  # at which every snapshot of a test is old
PLAIN = "'format-version' = '2'"
MERGE_ON_READ = (
    PLAIN + ", " + ", ".join(f"'write.{one}.mode' = 'merge-on-read'" for one in ("delete", "update", "merge"))
)
# Spark's own default leaves a delete file for each data file, which nothing makes fewer
BY_PARTITION = MERGE_ON_READ + ", 'write.delete.granularity' = 'partition'"
ALL = maintenance.ACTIONS


def made(spark, table, *, properties=PLAIN, partitioned="", appends=0, columns="id BIGINT, v STRING"):
    """Make a table and append rows 10 at a time, a file each in a table without partitions."""
    by = f"PARTITIONED BY ({partitioned})" if partitioned else ""
    spark.sql(f"CREATE TABLE {table} ({columns}) USING iceberg {by} TBLPROPERTIES ({properties})")
    for n in range(appends):
        append(spark, table, n)
    return table


def append(spark, table, n):
    rows = spark.range(10 * n, 10 * n + 10).selectExpr("id", "concat('v', id % 3) AS v").coalesce(1)
    rows.writeTo(table).append()


def ids(spark, table):
    """Ids of main's snapshots, oldest first."""
    return [snapshots.at(spark, table, n + 1) for n in range(snapshots.history(spark, table).count())]


def data_files(spark, table):
    spark.sql(f"REFRESH TABLE {table}")
    return spark.sql(f"SELECT file_path FROM {table}.data_files").count()


def folder(spark, table):
    """The table's folder, on the local environment."""
    location = spark.sql(f"SELECT file FROM {table}.metadata_log_entries").collect()[0][0]
    return Path(location.removeprefix("file:").replace("//", "/")).parents[1]


def stored(spark, table):
    """Names of the data and delete files that lie in the storage."""
    return {
        path.name for path in (folder(spark, table) / "data").rglob("*") if path.suffix in (".parquet", ".puffin")
    }


def policy(*actions, **more):
    return maintenance.Policy(actions=actions or ALL, **({"keep_snapshots": 1, "min_manifests": 4} | more))


def plan(spark, table, *actions, marks=(), now=LATER, **more):
    return maintenance.plan(spark, table, policy=policy(*actions, **more), marks=marks, now=now)


def run(spark, table, *actions, marks=(), now=LATER, options=None, **more):
    planned = plan(spark, table, *actions, marks=marks, now=now, **more)
    options = {"no_commit_under_way": now is LATER} | (options or {})  # its writers are at rest
    return {one.name: one for one in maintenance.run(spark, planned, now=now, **options)}


def old(path, days=5):
    """Make a file look old."""
    at = time.time() - days * 86400
    os.utime(path, (at, at))
    return path


def raise_conflict(spark, table):
    """Raise a real ValidationException: of a rewrite whose file is gone."""
    loaded = commits.load(spark, table)
    spec = spark._jvm.org.apache.iceberg.DataFiles.builder(loaded.spec())
    gone = spec.withPath("file:/nowhere.parquet").withFileSizeInBytes(1).withRecordCount(1).build()
    loaded.newRewrite().deleteFile(gone).addFile(gone).commit()


def error_behind_the_commit(monkeypatch, error):
    """Let the fast way's commit take, and an error come in place of its answer."""
    whole = arrow._commit

    def commit(*arguments):
        whole(*arguments)
        raise error

    monkeypatch.setattr(arrow, "_commit", commit)
