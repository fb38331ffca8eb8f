"""What grows with commits: tables of the same rows a commit, after 1, 4 and 16 times as many commits.

The commits are Iceberg's own appends of a file each, made through its Java interface: what they leave in metadata is
what a stream's appends leave, without a Spark job for each.
"""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from urllib.parse import urlsplit

from bench.sizing import TIMES, Capability
from bench.sizing_data import compacted, twin
from workbench.tables import commits, doctor, maintenance, snapshots

COMMITS, ROWS = 24, 100  # second values of notebook 42: commits to the table, rows of each
LATER = datetime(2200, 1, 1, tzinfo=UTC)
EXPIRY = maintenance.Policy(actions=("expire_snapshots",), snapshots_older_than_days=0, keep_snapshots=1)


def files(spark):
    """Return Iceberg's data files to append, a hundred rows each: those of one table made for it."""
    name, many = "bench.drops", COMMITS * max(TIMES)
    if not spark.catalog.tableExists(name):
        spark.range(0, many * ROWS, 1, many).selectExpr("id", "id % 1000 AS amount").writeTo(name).create()
    tasks = commits.load(spark, name).newScan().includeColumnStats().planFiles()
    tasks = spark._jvm.org.apache.iceberg.relocated.com.google.common.collect.Lists.newArrayList(tasks)
    return [tasks.get(n).file() for n in range(tasks.size())]


def made(spark, name, times):
    """Make a table by appends, a file each."""
    if spark.catalog.tableExists(name):
        return name
    every = files(spark)[: COMMITS * times]
    spark.sql(f"CREATE TABLE {name} (id BIGINT, amount BIGINT) USING iceberg")
    loaded = commits.load(spark, name)
    for one in every:
        loaded.newAppend().appendFile(one).commit()
    spark.sql(f"REFRESH TABLE {name}")
    return name


def appended(spark, table):
    spark.range(-ROWS, 0, 1, 1).selectExpr("id", "0L AS amount").writeTo(table).append()


def rows_of(times, more=0):
    return COMMITS * ROWS * times + more


def counted(spark, n, table, *_):
    """Return how many rows there are, by reading them."""
    return spark.sql(f"SELECT count(amount + id) FROM {table}").first()[0]


def folder(loaded):
    """Return the folder of a table's metadata: the lake is on this machine."""
    return Path(urlsplit(loaded.location()).path) / "metadata"


def metadata(spark, n, table, *_):
    """Return what a table's metadata holds: figures without noise."""
    loaded = commits.load(spark, table)
    now = loaded.operations().current().metadataFileLocation()
    manifests = loaded.currentSnapshot().allManifests(loaded.io())
    return {
        "snapshots": spark.table(f"{table}.snapshots").count(),
        "data_files": spark.table(f"{table}.files").count(),
        "manifests": manifests.size(),
        "manifest_bytes": sum(manifests.get(k).length() for k in range(manifests.size())),
        "metadata_json_bytes": loaded.io().newInputFile(now).getLength(),
    }


def planned_query(spark, table):
    """Plan a query for one row; it does not run."""
    return snapshots.files_read(spark.table(table).where("id = 5"))


def looked(spark, table):
    return snapshots.history(spark, table).collect()


def expire(spark, planned):
    return maintenance.run(spark, planned, now=LATER)


def make(spark, times):
    made(spark, f"bench.commits_{times}", times)


def at(spark, times, number):
    """Return the table, loaded anew by who asks next."""
    table = f"bench.commits_{times}"
    spark.sql(f"REFRESH TABLE {table}")
    return table


def make_expired(spark, times):
    """Make a table of its own and expire all but its last snapshot."""
    name = made(spark, f"bench.expired_{times}", times)
    expire(spark, maintenance.plan(spark, name, policy=EXPIRY, now=LATER))


def make_compacted(spark, times):
    """Make a twin of the table with one data file."""
    make(spark, times)
    name = f"bench.commits_{times}_twin_0"
    if not spark.catalog.tableExists(name):
        compacted(spark, twin(spark, f"bench.commits_{times}", 0))


def to_expire(spark, times, number):
    """Make a table of its own: expiry deletes files. Returns its plan."""
    name = made(spark, f"bench.expire_{times}_{number}", times)
    return maintenance.plan(spark, name, policy=EXPIRY, now=LATER)


def expired(spark, n, planned, done):
    """Return rows and snapshots that are left."""
    return str((counted(spark, n, planned.table), spark.table(f"{planned.table}.snapshots").count()))


def freed(spark, n, planned, done):
    """Return what went, and what lies in the folder of metadata then."""
    lies = folder(commits.load(spark, planned.table))
    versions = [file.stat().st_size for file in lies.glob("*.metadata.json")]
    return {
        "snapshots_expired": len(planned.actions[0].snapshots),
        "manifest_lists_left": len(list(lies.glob("snap-*"))),
        "metadata_json_bytes": metadata(spark, n, planned.table)["metadata_json_bytes"],
        "metadata_json_files_left": len(versions),
        "metadata_json_files_left_bytes": sum(versions),
    }


def in_a_month():
    """Return a time by which every snapshot is old."""
    return datetime.now(UTC) + timedelta(days=30)


def to_do(times):
    """Return what the default policy finds: files to compact, manifests to join, snapshots to expire, orphans."""
    many = COMMITS * times
    joined = 1 + (many - 100) % 99 if many >= 100 else many  # Iceberg joins them whenever there are a hundred
    kept = maintenance.Policy().keep_snapshots
    return [("compact_data", many, 0), ("rewrite_manifests", joined, 0), ("expire_snapshots", 0, many - kept),
            ("remove_orphans", None, 0)]  # fmt: skip


CAUSES = (
    "many_manifests",
    "small_files",
    "metadata_versions",
    "old_snapshots",
)  # the latter two from 100 commits on
ONE = f"{COMMITS} commits"
APPEND = Capability(
    "append of 100 rows",
    ONE,
    make,
    lambda spark, n, number: twin(spark, f"bench.commits_{n}", number),
    appended,
    counted,
    lambda spark, n: rows_of(n, ROWS),
    metadata,
)
LOOK = Capability(
    "planning of a query for one row",
    ONE,
    make,
    at,
    planned_query,
    lambda spark, n, table, found: found,
    lambda spark, n: 1,
    metadata,
    rounds=5,
)
CAPABILITIES = [
    APPEND,
    replace(
        APPEND,
        name="append of 100 rows, after expiry",
        make=make_expired,
        before=lambda spark, n, number: twin(spark, f"bench.expired_{n}", number),
    ),
    LOOK,
    replace(
        LOOK,
        name="planning of a query for one row, after compaction",
        make=make_compacted,
        before=lambda spark, n, _: at(spark, f"{n}_twin_0", _),
    ),
    replace(
        LOOK,
        name="snapshots.history",
        work=looked,
        found=lambda spark, n, table, rows: str((len(rows), sum(row.added_rows for row in rows))),
        expected=lambda spark, n: str((COMMITS * n, rows_of(n))),
    ),
    replace(
        LOOK,
        name="doctor.diagnose",
        work=lambda spark, table: doctor.diagnose(spark, table, now=in_a_month()),
        found=lambda spark, n, table, found: ", ".join(sorted(found.causes)),
        expected=lambda spark, n: ", ".join(sorted(CAUSES[: 2 if COMMITS * n < 100 else 4])),
        rounds=5,
        peak=True,
    ),
    replace(
        LOOK,
        name="maintenance.plan",
        work=lambda spark, table: maintenance.plan(spark, table, now=in_a_month()),
        found=lambda spark, n, table, plan: str(
            [(one.name, one.files, len(one.snapshots)) for one in plan.actions]
        ),
        expected=lambda spark, n: str(to_do(n)),
        rounds=5,
        peak=True,
    ),
    Capability(
        "maintenance.run, expiry of all but one",
        ONE,
        lambda spark, n: files(spark) and None,
        to_expire,
        expire,
        expired,
        lambda spark, n: str((rows_of(n), 1)),
        freed,
    ),
]
