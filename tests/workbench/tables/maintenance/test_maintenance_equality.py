"""Delete files by equality, as other engines write them: what they deleted stays deleted."""

import pytest
from digests import digest
from maintenance_cases import MERGE_ON_READ, append, data_files, made, plan

from workbench._base import releases
from workbench.tables import commits, maintenance
from workbench.tables.maintenance import metadata, wording


@pytest.fixture
def table(spark, namespace):
    return f"{namespace}.t"


def delete_by_equality(spark, table, spec_id, *numbers, partition=None):
    """Commit a delete file by equality of `id`."""
    import pyarrow as pa
    from pyarrow import parquet as pq

    loaded = metadata.own(spark, table)
    schema = pa.schema([pa.field("id", pa.int64(), True, {b"PARQUET:field_id": b"1"})])
    at = f"{metadata.path(loaded.location())}/data/by_equality_{numbers[0]}.parquet"
    pq.write_table(pa.table({"id": pa.array(numbers, pa.int64())}, schema=schema), at)
    ids = spark.sparkContext._gateway.new_array(spark._jvm.int, 1)
    ids[0] = 1
    file = spark._jvm.org.apache.iceberg.FileMetadata.deleteFileBuilder(loaded.specs().get(spec_id))
    file = file.ofEqualityDeletes(ids).withPath(f"file:{at}").withFormat("parquet").withRecordCount(len(numbers))
    file = file.withPartitionPath(partition) if partition else file
    file = file.withFileSizeInBytes(loaded.io().newInputFile(at).getLength())
    loaded.newRowDelta().addDeletes(file.build()).commit()


def test_deletes_that_apply_to_all_partitions_stay(spark, table):
    """Iceberg's own removal takes them for dangling when the table was partitioned later: the rows come back."""
    made(spark, table, properties=MERGE_ON_READ)
    spark.sql(f"ALTER TABLE {table} ADD PARTITION FIELD v")
    for n in range(5):
        append(spark, table, n)
    delete_by_equality(spark, table, 0, 3, 12, 33)
    before, actions = digest(spark, table), ("compact_data", "rewrite_deletes")
    assert before[0] == 50 - 3 and plan(spark, table, "rewrite_deletes").actions == ()
    spark.sql(f"DELETE FROM {table} WHERE id = 20")  # a file of one partition is rewritten for it, others are not
    planned = plan(spark, table, *actions, min_input_files=9, min_delete_ratio=0.1)
    assert [one.groups[0].with_deletes for one in planned.actions] == [1]
    maintenance.run(spark, maintenance.Planned(**vars(planned) | {"actions": (*planned.actions, deletes_too())}))
    assert digest(spark, table)[0] == before[0] - 1
    maintenance.run(spark, plan(spark, table, *actions))
    assert (digest(spark, table)[0], data_files(spark, table)) == (before[0] - 1, 3)


def deletes_too():
    return maintenance.Action("rewrite_deletes")


def test_deletes_that_apply_to_nothing_go(spark, table):
    made(spark, table, properties=MERGE_ON_READ, partitioned="v", appends=1)
    delete_by_equality(spark, table, 0, 3, partition="v=v0")
    options = "'rewrite-all', 'true', 'use-starting-sequence-number', 'false', 'remove-dangling-deletes', 'false'"
    spark.sql(
        f"CALL system.rewrite_data_files(table => '{table}', where => \"v = 'v0'\", options => map({options}))"
    )
    planned = plan(spark, table, "rewrite_deletes")
    assert wording.action(planned.actions[0]) == "1 dangling delete file goes"
    (done,) = maintenance.run(spark, planned)
    assert (done.files, digest(spark, table)[0], spark.table(f"{table}.delete_files").count()) == (1, 9, 0)


@pytest.mark.proof(
    "test_deletes_that_apply_to_nothing_go shows which delete files are planned, in a partitioned table"
)
def test_deletes_of_a_table_without_partitions_are_planned_where_icebergs_action_takes_them(spark, table):
    """Before Iceberg 1.12 it passed over them, and a plan that names them would be done in vain for ever."""
    made(spark, table, properties=MERGE_ON_READ, appends=1)
    delete_by_equality(spark, table, 0, 3)
    options = "'rewrite-all', 'true', 'use-starting-sequence-number', 'false', 'remove-dangling-deletes', 'false'"
    spark.sql(f"CALL system.rewrite_data_files(table => '{table}', options => map({options}))")
    assert spark.table(f"{table}.delete_files").count() == 1
    actions, takes_them = plan(spark, table, "rewrite_deletes").actions, not releases.iceberg_before(spark, "1.12")
    assert [wording.action(one) for one in actions] == ["1 dangling delete file goes"] * takes_them
    gone = spark._jvm.org.apache.iceberg.spark.actions.SparkActions.get(spark._jsparkSession)
    gone = gone.removeDanglingDeleteFiles(metadata.own(spark, table)).execute().removedDeleteFiles()
    assert (digest(spark, table)[0], len(list(gone))) == (9, takes_them)


def test_a_file_without_rows_is_no_division_by_zero(spark, table):
    made(spark, table, properties=MERGE_ON_READ, appends=2)
    spark.sql(f"DELETE FROM {table} WHERE id = 3")
    loaded = commits.load(spark, table)
    file = spark._jvm.org.apache.iceberg.DataFiles.builder(loaded.spec()).withPath("file:/nowhere/empty.parquet")
    loaded.newFastAppend().appendFile(file.withFileSizeInBytes(9).withRecordCount(0).build()).commit()
    (action,) = plan(spark, table, "compact_data", min_input_files=3).actions
    assert (action.files, action.groups[0].with_deletes) == (3, 0)
