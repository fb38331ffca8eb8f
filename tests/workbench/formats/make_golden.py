"""Make the Delta tables of the tests by Delta Lake itself: `python tests/workbench/formats/make_golden.py [NAME …]`.

Each is an archive in `golden`: a table as Delta's own engine left it, with its whole log. They are made once and
committed, so that tests need no Delta; made again they hold the same rows in files of other names.
"""

import shutil
import sys
import tarfile
import tempfile
from pathlib import Path

GOLDEN = Path(__file__).parent / "golden"
VECTORS = "'delta.enableDeletionVectors' = 'true'"
MAPPED = "'delta.columnMapping.mode' = 'name'"
# the least of a log: no checksums and no checkpoint but where a table is about one
SETTINGS = {
    "spark.databricks.delta.properties.defaults.checkpointInterval": "1000",
    "spark.databricks.delta.writeChecksumFile.enabled": "false",
    "spark.databricks.delta.retentionDurationCheck.enabled": "false",
    "spark.sql.shuffle.partitions": "1",
    "spark.sql.parquet.outputTimestampType": "TIMESTAMP_MICROS",
}
TYPES = (
    "id BIGINT, small SMALLINT, tiny TINYINT, number INT, price DECIMAL(12,2), large DECIMAL(30,5), ratio DOUBLE, "
    "part FLOAT, day DATE, moment TIMESTAMP, flag BOOLEAN, name STRING, bytes BINARY"
)
ROWS = (
    "SELECT id, cast(id % 7 AS SMALLINT) small, cast(id % 5 AS TINYINT) tiny, cast(id * 3 AS INT) number, "
    "cast(id * 1.25 AS DECIMAL(12,2)) price, cast(id * 1000003.5 AS DECIMAL(30,5)) large, id / 3 ratio, "
    "cast(id / 7 AS FLOAT) part, date_add(DATE'2026-01-01', cast(id % 40 AS INT)) day, "
    "timestamp_micros(1767225600000000 + id * 1000003) moment, id % 2 = 0 flag, "
    "if(id % 11 = 0, NULL, concat('name ', id)) name, cast(concat('b', id) AS BINARY) bytes FROM range({0}, {1}, 1, 1)"
)


def plain(run, at):
    run(f"CREATE TABLE {at} ({TYPES}) USING delta")
    for first in (0, 50, 100):
        run(f"INSERT INTO {at} {ROWS.format(first, first + 50)}")
    run(f"DELETE FROM {at} WHERE id % 10 = 3 AND id < 100")


def int96(run, at):
    run("SET spark.sql.parquet.outputTimestampType = INT96")
    run(f"CREATE TABLE {at} (id BIGINT, moment TIMESTAMP) USING delta")
    run(f"INSERT INTO {at} SELECT id, timestamp_micros(1767225600000000 + id * 1000003) FROM range(0, 20, 1, 1)")
    run("SET spark.sql.parquet.outputTimestampType = TIMESTAMP_MICROS")


def ntz(run, at):
    run(f"CREATE TABLE {at} (id BIGINT, moment TIMESTAMP_NTZ) USING delta")
    run(
        f"INSERT INTO {at} SELECT id, cast(timestamp_micros(1767225600000000 + id) AS TIMESTAMP_NTZ) FROM range(0, 20, 1, 1)"
    )


def vectors(run, at):
    run(f"CREATE TABLE {at} (id BIGINT, name STRING) USING delta TBLPROPERTIES ({VECTORS})")
    for first in (0, 200, 400):
        run(f"INSERT INTO {at} SELECT id, concat('n', id) FROM range({first}, {first + 200}, 1, 1)")
    run(f"DELETE FROM {at} WHERE id % 3 = 0")
    run(f"UPDATE {at} SET name = 'changed' WHERE id BETWEEN 190 AND 210")
    run(f"DELETE FROM {at} WHERE id BETWEEN 500 AND 520")


def partitions(run, at):
    columns = "id BIGINT, word STRING, day DATE, number INT, price DECIMAL(9,2), flag BOOLEAN"
    run(f"CREATE TABLE {at} ({columns}) USING delta PARTITIONED BY (word, day, number, price, flag)")
    words = "array('a b', 'x/y', 'k=v', '100%', 'é+ü', NULL, '', 'c:d', '%2F', '#?')"
    run(
        f"INSERT INTO {at} SELECT id, {words}[cast(id AS INT) % 10], "
        "if(id % 10 = 3, NULL, date_add(DATE'1969-12-30', cast(id % 10 AS INT))), "
        "if(id % 10 = 4, NULL, cast(-(id % 10) AS INT)), if(id % 10 = 5, NULL, cast(id % 10 / 4 AS DECIMAL(9,2))), "
        "if(id % 10 = 6, NULL, id % 10 > 5) FROM range(0, 20, 1, 1)"
    )
    run(f"DELETE FROM {at} WHERE id = 12")


def moments(run, at):
    run(f"CREATE TABLE {at} (id BIGINT, at TIMESTAMP, local TIMESTAMP_NTZ) USING delta PARTITIONED BY (at, local)")
    run(
        f"INSERT INTO {at} SELECT id, if(id = 3, NULL, timestamp_micros(1767225600000000 + id % 2 * 1500000)), "
        "cast(timestamp_micros(1767225600000000 + id % 2) AS TIMESTAMP_NTZ) FROM range(0, 6, 1, 1)"
    )


def nested(run, at):
    kinds = (
        "id BIGINT, place STRUCT<city: STRING, at: STRUCT<x: DOUBLE, y: DOUBLE>>, words ARRAY<STRING>, "
        "stock MAP<STRING, INT>, deep ARRAY<STRUCT<k: STRING, v: MAP<STRING, ARRAY<INT>>>>"
    )
    run(f"CREATE TABLE {at} ({kinds}) USING delta TBLPROPERTIES ({VECTORS})")
    run(
        f"INSERT INTO {at} SELECT id, if(id = 4, NULL, named_struct('city', concat('c', id), 'at', "
        "named_struct('x', id / 4D, 'y', if(id = 5, NULL, id * 2D)))), if(id = 6, NULL, array('a', NULL, concat('w', id))), "
        "if(id = 7, NULL, map('k', cast(id AS INT), 'n', NULL)), "
        "array(named_struct('k', 'a', 'v', map('m', array(1, cast(id AS INT))))) FROM range(0, 30, 1, 1)"
    )
    run(f"DELETE FROM {at} WHERE id % 9 = 2")


def mapped(run, at, mode="name"):
    run(
        f"CREATE TABLE {at} (id BIGINT, area STRING, place STRUCT<city: STRING, zip: INT>, gone INT, value DOUBLE) "
        f"USING delta PARTITIONED BY (area) TBLPROPERTIES ('delta.columnMapping.mode' = '{mode}', {VECTORS})"
    )
    place = "named_struct('city', concat('c', id), 'zip', cast(id AS INT))"
    insert = f"INSERT INTO {at} SELECT id, if(id % 3 = 0, NULL, concat('area ', id % 3)), {place}"
    run(f"{insert}, cast(id AS INT), id / 2D FROM range(0, 60, 1, 1)")
    run(f"ALTER TABLE {at} RENAME COLUMN value TO amount")
    run(f"ALTER TABLE {at} RENAME COLUMN place.city TO town")
    run(f"ALTER TABLE {at} DROP COLUMN gone")
    run(f"ALTER TABLE {at} ADD COLUMN (gone STRING, value INT)")
    run(f"{insert}, id / 2D, concat('new ', id), cast(id AS INT) FROM range(60, 120, 1, 1)")
    run(f"DELETE FROM {at} WHERE id % 7 = 1")
    run(f"ALTER TABLE {at} RENAME COLUMN area TO region")
    run(f"UPDATE {at} SET amount = -1 WHERE id BETWEEN 50 AND 70")


def mapped_id(run, at):
    mapped(run, at, "id")


def upgraded(run, at):
    run(f"CREATE TABLE {at} (id BIGINT, name STRING) USING delta")
    run(f"INSERT INTO {at} SELECT id, concat('n', id) FROM range(0, 20, 1, 1)")
    run(f"ALTER TABLE {at} SET TBLPROPERTIES ({MAPPED}, {VECTORS})")
    run(f"ALTER TABLE {at} RENAME COLUMN name TO title")
    run(f"ALTER TABLE {at} ADD COLUMN (name INT)")
    run(f"INSERT INTO {at} SELECT id, concat('t', id), cast(id AS INT) FROM range(20, 40, 1, 1)")
    run(f"DELETE FROM {at} WHERE id % 5 = 0")


def mapped_array(run, at):
    run(f"CREATE TABLE {at} (id BIGINT, words ARRAY<STRING>) USING delta TBLPROPERTIES ({MAPPED})")
    run(f"INSERT INTO {at} SELECT id, array('a', concat('w', id)) FROM range(0, 10, 1, 1)")


def compatible(run, at):
    run(
        f"CREATE TABLE {at} (id BIGINT, area STRING, words ARRAY<STRING>, stock MAP<STRING, STRUCT<n: INT>>) USING delta "
        f"PARTITIONED BY (area) TBLPROPERTIES ({MAPPED}, 'delta.enableIcebergCompatV2' = 'true')"
    )
    run(
        f"INSERT INTO {at} SELECT id, if(id = 2, NULL, 'a'), array('a', concat('w', id)), "
        "map('k', named_struct('n', cast(id AS INT))) FROM range(0, 10, 1, 1)"
    )


def widened(run, at):
    run(f"CREATE TABLE {at} (id INT, part FLOAT) USING delta TBLPROPERTIES ('delta.enableTypeWidening' = 'true')")
    run(f"INSERT INTO {at} SELECT cast(id AS INT), cast(id / 4 AS FLOAT) FROM range(0, 10, 1, 1)")
    run(f"ALTER TABLE {at} ALTER COLUMN id TYPE BIGINT")
    run(f"ALTER TABLE {at} ALTER COLUMN part TYPE DOUBLE")
    run(f"INSERT INTO {at} SELECT id + 10000000000, id / 3D FROM range(0, 10, 1, 1)")


def widened_too_far(run, at):
    run(f"CREATE TABLE {at} (id INT) USING delta TBLPROPERTIES ('delta.enableTypeWidening' = 'true')")
    run(f"INSERT INTO {at} SELECT cast(id AS INT) FROM range(0, 10, 1, 1)")
    run(f"ALTER TABLE {at} ALTER COLUMN id TYPE DOUBLE")


def checkpoint(run, at):
    run(
        f"CREATE TABLE {at} (id BIGINT, area STRING) USING delta PARTITIONED BY (area) "
        f"TBLPROPERTIES ('delta.checkpointInterval' = '4', {VECTORS})"
    )
    for first in range(4):
        run(f"INSERT INTO {at} SELECT id, concat('a', id % 2) FROM range({first * 10}, {first * 10 + 10}, 1, 1)")
    run(f"DELETE FROM {at} WHERE id % 4 = 1")
    run(f"DELETE FROM {at} WHERE id = 11")


def checkpoint_parts(run, at):
    run("SET spark.databricks.delta.checkpoint.partSize = 3")
    checkpoint(run, at)
    run("SET spark.databricks.delta.checkpoint.partSize = 1000000")


def checkpoint_v2(run, at):
    run(
        f"CREATE TABLE {at} (id BIGINT, area STRING) USING delta PARTITIONED BY (area) "
        f"TBLPROPERTIES ('delta.checkpointInterval' = '4', 'delta.checkpointPolicy' = 'v2', {VECTORS})"
    )
    for first in range(4):
        run(f"INSERT INTO {at} SELECT id, concat('a', id % 2) FROM range({first * 10}, {first * 10 + 10}, 1, 1)")
    run(f"DELETE FROM {at} WHERE id % 4 = 1")
    run(f"DELETE FROM {at} WHERE id = 11")


def vacuumed(run, at):
    run(f"CREATE TABLE {at} (id BIGINT, name STRING) USING delta TBLPROPERTIES ({VECTORS})")
    run(f"INSERT INTO {at} SELECT id, concat('n', id) FROM range(0, 100, 1, 2)")
    run(f"DELETE FROM {at} WHERE id % 2 = 0")
    run(f"INSERT INTO {at} SELECT id, concat('n', id) FROM range(100, 150, 1, 1)")
    run(f"OPTIMIZE {at}")
    run(f"VACUUM {at} RETAIN 0 HOURS")
    run(f"DELETE FROM {at} WHERE id = 101")


def features(run, at):
    run(
        f"CREATE TABLE {at} (id BIGINT NOT NULL, name STRING DEFAULT 'x') USING delta "
        f"TBLPROPERTIES ({VECTORS}, 'delta.enableChangeDataFeed' = 'true', "
        "'delta.enableRowTracking' = 'true', 'delta.feature.allowColumnDefaults' = 'supported')"
    )
    run(f"ALTER TABLE {at} ADD CONSTRAINT positive CHECK (id >= 0)")
    run(f"INSERT INTO {at} (id, name) SELECT id, concat('n', id) FROM range(0, 30, 1, 1)")
    run(f"DELETE FROM {at} WHERE id % 5 = 0")
    run(f"UPDATE {at} SET name = 'u' WHERE id % 5 = 1")


def clustered(run, at):
    run(f"CREATE TABLE {at} (id BIGINT, area STRING) USING delta CLUSTER BY (area)")
    run(f"INSERT INTO {at} SELECT id, concat('a', id % 3) FROM range(0, 30, 1, 1)")


def empty(run, at):
    run(f"CREATE TABLE {at} (id BIGINT) USING delta")


TABLES = (
    plain, int96, ntz, vectors, partitions, moments, nested, mapped, mapped_id, upgraded, mapped_array, compatible,
    widened, widened_too_far, checkpoint, checkpoint_parts, checkpoint_v2, vacuumed, features, clustered, empty,
)  # fmt: skip


def pack(folder, archive):
    """Write a folder as an archive without owners and times."""

    def bare(entry):
        entry.uid = entry.gid = entry.mtime = 0
        entry.uname = entry.gname = ""
        return None if entry.name.endswith(".crc") else entry

    with tarfile.open(archive, "w:xz") as packed:
        packed.add(folder, ".", filter=bare)


def main(names):
    from workbench import session

    spark = session.start("formats")
    for key, value in SETTINGS.items():
        spark.conf.set(key, value)
    for table in TABLES:
        if names and table.__name__ not in names:
            continue
        folder = Path(tempfile.mkdtemp()) / table.__name__
        spark.sql("USE spark_catalog.default")
        table(spark.sql, f"delta.`{folder}`")
        pack(folder, GOLDEN / f"{table.__name__}.tar.xz")
        shutil.rmtree(folder.parent)
        print(table.__name__, (GOLDEN / f"{table.__name__}.tar.xz").stat().st_size)


if __name__ == "__main__":
    main(sys.argv[1:])
