"""A table that is partitioned by a UUID, as PyIceberg, Trino and Flink make them."""

import pytest

from workbench.tables import doctor, maintenance
from workbench.tables.maintenance import sentences, wording

TENANTS = ("00000000-0000-0000-0000-000000000001", "f0000000-0000-0000-0000-00000000000f")
POLICY = maintenance.Policy(min_input_files=2, min_manifests=2, min_deletes_per_file=1)


@pytest.fixture
def tenants(spark, namespace):
    """Four files of the first tenant, one of the second, one of none."""
    java = spark._jvm.org.apache.iceberg
    types, named = java.types.Types, spark.catalog.currentCatalog()
    catalog = spark._jsparkSession.sessionState().catalogManager().catalog(named).icebergCatalog()
    fields = spark.sparkContext._gateway.new_array(types.NestedField, 3)
    fields[0] = types.NestedField.required(1, "id", types.LongType.get())
    fields[1] = types.NestedField.optional(2, "tenant-id", types.UUIDType.get())
    fields[2] = types.NestedField.optional(3, "day", types.DateType.get())
    schema = java.Schema(fields)
    spec = java.PartitionSpec.builderFor(schema).identity("tenant-id").identity("day").build()
    catalog.createTable(java.catalog.TableIdentifier.parse(f"{namespace}.tenants"), schema, spec)
    for n, tenant in enumerate([TENANTS[0]] * 4 + [TENANTS[1], None]):
        value = "NULL" if tenant is None else f"'{tenant}'"
        spark.sql(f"INSERT INTO {namespace}.tenants VALUES ({n}, {value}, DATE'2026-01-01')")
    return f"{namespace}.tenants"


def rows(spark, table):
    return sorted(map(str, spark.table(table).collect()))


def test_it_is_diagnosed_planned_and_maintained(spark, tenants):
    before = rows(spark, tenants)
    found = {finding.cause: finding for finding in doctor.diagnose(spark, tenants, policy=POLICY).findings}
    assert "4 of 6 data files in 1 partition are small" in found["small_files"].what
    planned = maintenance.plan(spark, tenants, policy=POLICY)
    actions = {action.name: action for action in planned.actions}
    assert [(TENANTS[0] in group.partition, group.files) for group in actions["compact_data"].groups] == [
        (True, 4)
    ]
    assert "ordered by partition" not in wording.action(actions["rewrite_manifests"])
    done = {one.name: one for one in maintenance.run(spark, planned)}
    assert (done["compact_data"].files, done["compact_data"].files_after) == (4, 1)
    assert done["rewrite_manifests"].files_after == 1
    assert rows(spark, tenants) == before


@pytest.mark.proof(
    "test_it_is_diagnosed_planned_and_maintained has such a table; what is left is said in one place"
)
def test_its_delete_files_are_left_with_a_sentence(spark, tenants):
    modes = ", ".join(f"'write.{name}.mode' = 'merge-on-read'" for name in ("delete", "update", "merge"))
    spark.sql(f"ALTER TABLE {tenants} SET TBLPROPERTIES ({modes}, 'write.delete.granularity' = 'partition')")
    rows_of_a_file = ", ".join(f"({n}, '{TENANTS[1]}', DATE'2026-01-01')" for n in range(10, 20))
    spark.sql(f"INSERT INTO {tenants} SELECT /*+ COALESCE(1) */ * FROM VALUES {rows_of_a_file}")
    for n in range(10, 13):
        spark.sql(f"DELETE FROM {tenants} WHERE id = {n}")
    planned = maintenance.plan(spark, tenants, policy=POLICY)
    assert "rewrite_deletes" not in [action.name for action in planned.actions]
    assert any("partition field tenant-id holds a UUID" in note for note in sentences(planned)), sentences(planned)
    maintenance.run(spark, planned)
    assert [row.id for row in spark.table(tenants).orderBy("id").collect()] == [*range(6), *range(13, 20)]
