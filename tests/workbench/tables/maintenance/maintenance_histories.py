"""A random history of a table, then every action of maintenance in a random order beside a writer: what was seen."""

import os
import random
import threading
import time
from datetime import UTC, datetime

from maintenance_cases import ALL, MERGE_ON_READ, PLAIN, folder, ids, made, plan, stored

from workbench.tables import commits, maintenance

KINDS = [kind.replace("'2'", f"'{version}'") for version in (2, 3) for kind in (PLAIN, MERGE_ON_READ)]
THEIRS = 1_000_000  # ids of the writer beside begin here
HARMLESS = {
    "digests_unequal": 0,
    "rows_lost": 0,
    "rows_doubled": 0,
    "live_files_deleted": 0,
    "live_files_twice": 0,
    "orphans_left": 0,
    "writers_failed": 0,
}


def commit_something(spark, table, chance, n):
    """One commit of a random kind; returns the name of the ref it made, if any."""
    a, b = sorted(chance.sample(range(60), 2))
    what = chance.choice(["append", "append", "append", "delete", "merge", "tag", "branch"]) if n else "append"
    rows = f"SELECT /*+ COALESCE(1) */ id, concat('v', id % 3) AS v FROM range({a}, {b})"
    if what == "append":
        spark.sql(f"INSERT INTO {table} {rows}")
    elif what == "delete":
        spark.sql(f"DELETE FROM {table} WHERE id BETWEEN {a} AND {min(b, a + 5)}")
    elif what == "merge":
        spark.sql(
            f"MERGE INTO {table} t USING (SELECT DISTINCT * FROM ({rows})) s ON t.id = s.id AND t.id % 2 = 0 "
            "WHEN MATCHED THEN UPDATE SET v = 'm' WHEN NOT MATCHED THEN INSERT *"
        )
    else:
        spark.sql(f"ALTER TABLE {table} CREATE {what.upper()} {what}_{n}")
        if what == "branch":
            spark.sql(f"INSERT INTO {table}.branch_branch_{n} {rows}")
        return f"{what}_{n}"
    return None


def seen(spark, table, places):
    """What readers see: of main all but the writer's rows, and each ref's and mark's rows; of format 3 the lineage."""
    spark.sql(f"REFRESH TABLE {table}")
    lineage = ", _row_id, _last_updated_sequence_number" if _format(spark, table) > 2 else ""
    sums = f"count(*) AS n, sum(CAST(xxhash64(*{lineage}) AS DECIMAL(38))) AS sum"
    ats = ["", *(f"VERSION AS OF {place if isinstance(place, int) else repr(place)}" for place in places)]
    asked = [f"(SELECT {sums} FROM {table} {at} WHERE id < {THEIRS})" for at in ats]
    return [tuple(row) for row in spark.sql(" UNION ALL ".join(asked)).collect()]


def _format(spark, table):
    return spark._jvm.org.apache.iceberg.TableUtil.formatVersion(commits.load(spark, table))


class Writer(threading.Thread):
    """Commits a row at a time beside what else goes on, until it is stopped."""

    def __init__(self, spark, table):
        super().__init__()
        self.written, self.failed, self._stop_now, self._spark, self._table = (
            [],
            [],
            threading.Event(),
            spark,
            table,
        )

    def run(self):
        try:
            while not self._stop_now.is_set():
                id = THEIRS + len(self.written)
                row = f"INSERT INTO {self._table} VALUES ({id}, 'w')"
                commits.retrying(self._spark, self._table, lambda row=row: self._spark.sql(row), tries=20)
                self.written.append(id)
                self._stop_now.wait(0.2)
        except Exception as error:
            self.failed.append(error)

    def __enter__(self):
        self.start()
        while len(self.written) < 3 and not self.failed:  # two of them are small files of one partition
            time.sleep(0.05)
        return self

    def __exit__(self, *_):
        self._stop_now.set()
        self.join()


def play(spark, table, seed):
    """Make a table by chance and do all of maintenance to it, in an order of chance, beside a writer.

    Returns:
        dict: the figures of `HARMLESS`, and actions, files_compacted, commits_beside, error (of a failed writer).
    """
    chance = random.Random(seed)
    made(spark, table, properties=KINDS[seed % len(KINDS)], partitioned=chance.choice(["", "bucket(2, id)"]))
    refs = [name for n in range(chance.randint(3, 6)) if (name := commit_something(spark, table, chance, n))]
    places = [*refs, chance.choice(ids(spark, table))]
    orphan = folder(spark, table) / "data" / "orphan.parquet"
    orphan.write_text("x")
    os.utime(orphan, (time.time() - 5 * 86400,) * 2)
    before, unequal, compacted = seen(spark, table, places), 0, 0
    with Writer(spark, table) as writer:
        order = chance.sample(ALL[:5], 5)
        for action in order:
            planned = plan(
                spark, table, action, marks=places[-1:], now=datetime.now(UTC), snapshots_older_than_days=0,
                min_input_files=2, min_manifests=2, min_delete_ratio=0.01,
            )  # fmt: skip
            done = maintenance.run(spark, planned, remove_orphans=True)
            compacted += sum(one.files for one in done if one.name == "compact_data")
            unequal += seen(spark, table, places) != before
    return figures(spark, table, writer) | {
        "digests_unequal": unequal,
        "orphans_left": int(orphan.exists()),
        "actions": len(order),
        "files_compacted": compacted,
        "commits_beside": len(writer.written),
        "error": str(writer.failed[0]) if writer.failed else "",
    }


def figures(spark, table, writer):
    """Count what became of a writer's acknowledged rows and of the table's files."""
    spark.sql(f"REFRESH TABLE {table}")
    rows = [row.id for row in spark.sql(f"SELECT id FROM {table} WHERE id >= {THEIRS}").collect()]
    live = [row.file_path for row in spark.sql(f"SELECT file_path FROM {table}.data_files").collect()]
    known = {
        row.file_path.rpartition("/")[2] for row in spark.sql(f"SELECT file_path FROM {table}.all_files").collect()
    }
    return {
        "rows_lost": len(set(writer.written) - set(rows)),
        "rows_doubled": len(rows) - len(set(rows)),
        "live_files_deleted": len(known - stored(spark, table)),
        "live_files_twice": len(live) - len(set(live)),
        "writers_failed": len(writer.failed),
    }
