"""A table's live files, summed up from its manifests or by a Spark job: both sums are the same."""

import statistics
from types import SimpleNamespace

import pytest

from workbench.tables import commits, maintenance
from workbench.tables.doctor import looking
from workbench.tables.maintenance import metadata

PARTITIONINGS = (
    "",
    "PARTITIONED BY (flag)",
    "PARTITIONED BY (whole)",
    "PARTITIONED BY (long)",
    "PARTITIONED BY (name)",
    "PARTITIONED BY (truncate(3, name), bucket(4, long))",
    "PARTITIONED BY (years(at), name)",
    "PARTITIONED BY (hours(at), flag, whole)",
)
STATES = ("written", "changed", "merged on read", "partitioned anew", "emptied")
WRITTEN, CHANGED, MERGED_ON_READ, PARTITIONED_ANEW, EMPTIED = STATES
CASES = [
    (PARTITIONINGS[1], 3, WRITTEN),
    *((partitioning, 2, PARTITIONED_ANEW) for partitioning in PARTITIONINGS),
    *((partitioning, 1, CHANGED) for partitioning in PARTITIONINGS),
    *((partitioning, 3, MERGED_ON_READ) for partitioning in PARTITIONINGS[1:5]),
    *((PARTITIONINGS[5], version, state) for version in (1, 2, 3) for state in STATES),
]
PROOF = pytest.mark.proof("two of them: test_few_files_are_summed_up_as_many")
VALUES = """SELECT CAST(IF(id % 5 = 0, NULL, id % 2 = 0) AS BOOLEAN) AS flag, CAST(id % 3 - 1 AS INT) AS whole,
    IF(id % 7 = 0, NULL, id * 3000000000) AS long, element_at(array('', 'ä=/ ', 'null', NULL), CAST(id % 4 + 1 AS INT)) AS name,
    TIMESTAMP'1969-12-31 23:00:00' + make_interval(id % 3, 0, 0, 0, id) AS at, repeat(uuid(), CAST(id AS INT)) AS text
    FROM range(1, 30)"""


def of(spark, table):
    return metadata.still(spark, commits.load(spark, table))


def policy_of(spark, name):
    """One by which about half of a table's files are small."""
    sizes = [row.file_size_in_bytes for row in spark.table(f"{name}.data_files").collect()]
    return maintenance.Policy(target_file_bytes=int(statistics.median(sizes or [1_000]) / 0.75))


def in_order(partitions):
    return sorted(map(repr, partitions))


@pytest.fixture
def table(spark, namespace):
    def make(partitioning, version, state):
        name = f"{namespace}.t"
        how = "merge-on-read" if state == MERGED_ON_READ else "copy-on-write"
        spark.sql(f"DROP TABLE IF EXISTS {name}")
        spark.sql(
            f"CREATE TABLE {name} (flag BOOLEAN, whole INT, long BIGINT, name STRING, at TIMESTAMP, text STRING) "
            f"USING iceberg {partitioning} TBLPROPERTIES ('format-version'='{version}', "
            f"'write.delete.mode'='{how if version > 1 else 'copy-on-write'}')"
        )
        for _ in range(2):
            spark.sql(f"INSERT INTO {name} {VALUES}")
        if state in (CHANGED, MERGED_ON_READ):
            spark.sql(f"DELETE FROM {name} WHERE whole = 0 AND long > 0")
        if state == PARTITIONED_ANEW:
            fields = list(commits.load(spark, name).spec().fields())
            if fields:
                spark.sql(f"ALTER TABLE {name} DROP PARTITION FIELD {fields[0].name()}")
            spark.sql(f"ALTER TABLE {name} ADD PARTITION FIELD bucket(3, text) AS texts")
            spark.sql(f"INSERT INTO {name} {VALUES}")
        if state == EMPTIED:
            spark.sql(f"DELETE FROM {name}")
        return name

    return make


@pytest.mark.parametrize(
    ("partitioning", "version", "state"),
    [case if number < 2 else pytest.param(*case, marks=PROOF) for number, case in enumerate(dict.fromkeys(CASES))],
)
def test_few_files_are_summed_up_as_many(spark, table, partitioning, version, state):
    name = table(partitioning, version, state)
    loaded, policy = of(spark, name), policy_of(spark, name)
    few = looking._few(spark, loaded, policy)
    assert few is not None
    assert in_order(few) == in_order(looking._many(spark, loaded, policy))
    assert (few == []) == (state == EMPTIED)
    if state == WRITTEN:
        assert 0 < sum(partition.small for partition in few) < sum(partition.files for partition in few)


@pytest.mark.parametrize("field", ["at", "days(at)", "truncate(10, price)", "part"])
def test_partitions_of_other_types_are_left_to_spark(spark, namespace, field):
    name = f"{namespace}.t"
    spark.sql(
        f"CREATE TABLE {name} (at TIMESTAMP, price DECIMAL(9, 2), part BINARY) USING iceberg PARTITIONED BY ({field})"
    )
    spark.sql(f"INSERT INTO {name} VALUES (TIMESTAMP'2026-01-01 00:00:00', 1.25, X'00')")
    assert looking._few(spark, of(spark, name), maintenance.Policy()) is None
    # dropped since: the files of the older partitioning still have it
    spark.sql(f"ALTER TABLE {name} DROP PARTITION FIELD {field}")
    assert looking._few(spark, of(spark, name), maintenance.Policy()) is None


def test_many_files_are_left_to_spark(spark, table, monkeypatch):
    loaded = of(spark, table("", 2, WRITTEN))
    files = sum(partition.files for partition in looking._few(spark, loaded, maintenance.Policy()))
    monkeypatch.setattr(looking, "FEW", files)
    assert looking._few(spark, loaded, maintenance.Policy()) is not None
    monkeypatch.setattr(looking, "FEW", files - 1)
    assert looking._few(spark, loaded, maintenance.Policy()) is None


def test_a_table_of_few_files_is_looked_at_without_a_spark_job(spark, table, namespace):
    name = table(PARTITIONINGS[4], 2, WRITTEN)
    spark.sparkContext.setJobGroup(namespace, "look")
    try:
        now = looking.look(
            spark, name, policy=maintenance.Policy(), thresholds=SimpleNamespace(), now=None, columns=()
        )
        jobs = spark.sparkContext.statusTracker().getJobIdsForGroup(namespace)
    finally:
        spark.sparkContext._jsc.clearJobGroup()
    assert list(jobs) == []
    assert now.files > 1
