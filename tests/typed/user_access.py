"""Who sees which columns, rows and cells: docs/access.md."""

from typing import assert_type

from pyiceberg.table import Table as IcebergTable
from pyspark.sql import DataFrame, SparkSession

from workbench import access


def shared(spark: SparkSession, table: IcebergTable) -> DataFrame:
    policy = access.read("policy.yml")
    decision = access.decide(policy, "analyst", "sales.customer", table.schema())
    assert_type(decision, access.Decision)
    assert_type(access.sql(decision, "duckdb", source="customer"), str)
    assert_type(access.matrix(policy, "sales.customer", table.schema()), dict[str, dict[str, str]])
    rows = access.arrow(table, decision, snapshot_id=17)
    print(rows.num_rows, access.bind("policy.yml", "sales.customer", table).untagged)
    calls = access.export.lake_formation(policy, {"sales.customer": table}, account="111122223333")
    assert_type(calls[0].operation, str)
    proof = access.leaks({"mine": access.by_statement(spark.sql)}, first="n.a", second="n.b", twin="n.c")
    assert_type(proof.clean, bool)
    access.read(17)  # wrong: arg-type
    access.decide(policy, "analyst", table.schema())  # wrong: call-arg
    access.sql(decision, "mysql")  # wrong: arg-type
    access.arrow(table, decision, 17)  # wrong: call-arg
    access.leaks({}, first="n.a", second="n.b")  # wrong: call-arg
    print(proof.leak)  # wrong: attr-defined
    return access.frame(spark, "sales.customer", decision)
