"""Tables whose columns or partitioning were changed: what Iceberg cannot do with them is said before it is tried."""

import pytest
from digests import digest
from maintenance_cases import append, made, plan, run


@pytest.fixture
def table(spark, namespace):
    return f"{namespace}.t"


RAISED = pytest.mark.proof("the same test shows it for format 1, in which the field stays without a value")


@pytest.mark.parametrize("version", ["1", pytest.param("2", marks=RAISED)])
def test_manifests_of_a_partitioning_whose_column_was_dropped(spark, table, version):
    """In format 1 a dropped field stays without a value, and Iceberg's own rewrite of its manifests dies."""
    made(spark, table, columns="id BIGINT, w STRING", partitioned="w", properties="'format-version' = '1'")
    for n in range(2):
        spark.sql(f"INSERT INTO {table} VALUES ({n}, 'w{n}')")
    spark.sql(f"ALTER TABLE {table} DROP PARTITION FIELD w")
    spark.sql(f"ALTER TABLE {table} DROP COLUMN w")
    spark.sql(f"ALTER TABLE {table} SET TBLPROPERTIES ('format-version' = '{version}')")
    for n in range(2, 4):
        spark.sql(f"INSERT INTO {table} VALUES ({n})")
    done = run(spark, table, "rewrite_manifests", min_manifests=2)["rewrite_manifests"]
    assert (done.files, done.files_after) == (3, 2)  # one of each partitioning; an append merges older ones
    assert spark.sql(f"SELECT id FROM {table} ORDER BY id").collect() == [(0,), (1,), (2,), (3,)]


def test_a_name_that_two_partition_fields_have_had_is_refused_with_what_mends_it(spark, table):
    """Iceberg can read none of such a table's metadata tables, and its error was Java's."""
    made(spark, table, partitioned="bucket(2, id)", appends=2)
    spark.sql(f"ALTER TABLE {table} DROP PARTITION FIELD id_bucket")
    spark.sql(f"ALTER TABLE {table} ADD PARTITION FIELD bucket(3, id) AS id_bucket")
    append(spark, table, 2)
    with pytest.raises(ValueError, match="had an earlier partition field with the same name as id_bucket"):
        plan(spark, table)
    spark.sql(f"ALTER TABLE {table} REPLACE PARTITION FIELD id_bucket WITH bucket(3, id) AS id_bucket_3")
    before = digest(spark, table)
    run(spark, table, "compact_data", "expire_snapshots", min_input_files=2)
    assert digest(spark, table) == before
