"""Small tables to be kept healthy, and what must not change when they are."""

import os
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from workbench.tables import maintenance, snapshots

LATER = datetime.now(UTC) + timedelta(days=30)  # at which every snapshot of a test is old
PLAIN = "'format-version' = '2'"
MERGE_ON_READ = (
    PLAIN + ", " + ", ".join(f"'write.{one}.mode' = 'merge-on-read'" for one in ("delete", "update", "merge"))
)
ALL = maintenance.ACTIONS
LONG = pytest.mark.skipif(not os.environ.get("WORKBENCH_SOAK"), reason="WORKBENCH_SOAK is not set")


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


def digest(spark, table, at=""):
    """Count and checksum of the whole rows: duplicates count, order does not."""
    spark.sql(f"REFRESH TABLE {table}")
    return tuple(
        spark.sql(f"SELECT count(*), sum(CAST(xxhash64(*) AS DECIMAL(38))) FROM {table} {at}").collect()[0]
    )


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
    return {one.name: one for one in maintenance.run(spark, planned, now=now, **(options or {}))}
