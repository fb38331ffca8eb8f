"""Random histories, then every action in a random order beside a writer: whoever reads the table reads the same.

WORKBENCH_SOAK=1 draws 200 of them.
"""

import os
import random
import threading
import time
from datetime import UTC, datetime

import pytest
from maintenance_cases import ALL, MERGE_ON_READ, PLAIN, folder, ids, made, plan, stored

from workbench.tables import commits, maintenance

SEEDS = 200 if os.environ.get("WORKBENCH_SOAK") else 5
KINDS = [PLAIN, MERGE_ON_READ, MERGE_ON_READ.replace("'2'", "'3'")]
THEIRS = 1_000_000  # ids of the writer beside begin here


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
    """What readers see: of main all but the writer's rows, and each ref's and mark's rows."""
    spark.sql(f"REFRESH TABLE {table}")
    frame = (
        "SELECT count(*) AS n, sum(CAST(xxhash64(*) AS DECIMAL(38))) AS sum FROM {table} {at} WHERE id < {theirs}"
    )
    asked = [frame.format(table=table, at="", theirs=THEIRS)]
    asked += [
        frame.format(
            table=table, at=f"VERSION AS OF {place if isinstance(place, int) else repr(place)}", theirs=THEIRS
        )
        for place in places
    ]
    return [tuple(row) for row in spark.sql(" UNION ALL ".join(f"({one})" for one in asked)).collect()]


@pytest.mark.parametrize("seed", range(SEEDS))
def test_every_action_beside_a_writer(spark, namespace, seed):
    chance, table = random.Random(seed), f"{namespace}.t"
    made(spark, table, properties=KINDS[seed % 3], partitioned=chance.choice(["", "bucket(2, id)"]))
    refs = [name for n in range(chance.randint(3, 6)) if (name := commit_something(spark, table, chance, n))]
    mark = chance.choice(ids(spark, table))
    orphan = folder(spark, table) / "data" / "orphan.parquet"
    orphan.write_text("x")
    os.utime(orphan, (time.time() - 5 * 86400,) * 2)
    before = seen(spark, table, [*refs, mark])
    written, failed, stop = [], [], threading.Event()

    def write():
        try:
            while not stop.is_set():
                id = THEIRS + len(written)
                commits.retrying(
                    spark, table, lambda id=id: spark.sql(f"INSERT INTO {table} VALUES ({id}, 'w')"), tries=20
                )
                written.append(id)
                stop.wait(0.2)
        except Exception as error:
            failed.append(error)

    writer = threading.Thread(target=write)
    writer.start()
    done = {}
    try:
        while len(written) < 3 and not failed:  # two of them are small files of one partition
            time.sleep(0.05)
        for action in chance.sample(ALL[:5], 5):
            planned = plan(
                spark, table, action, marks=[mark], now=datetime.now(UTC), snapshots_older_than_days=0,
                min_input_files=2, min_manifests=2, min_delete_ratio=0.01,
            )  # fmt: skip
            for one in maintenance.run(spark, planned, remove_orphans=True):
                done[one.name] = one
            assert seen(spark, table, [*refs, mark]) == before, action
    finally:
        stop.set()
        writer.join()
    assert failed == [] and not orphan.exists() and done["compact_data"].files > 0
    spark.sql(f"REFRESH TABLE {table}")
    rows = spark.sql(f"SELECT id FROM {table} WHERE id >= {THEIRS} ORDER BY id").collect()
    assert [row.id for row in rows] == written  # every acknowledged row, once
    live = [row.file_path for row in spark.sql(f"SELECT file_path FROM {table}.data_files").collect()]
    assert len(live) == len(set(live))
    known = {
        row.file_path.rpartition("/")[2] for row in spark.sql(f"SELECT file_path FROM {table}.all_files").collect()
    }
    assert known - stored(spark, table) == set()
