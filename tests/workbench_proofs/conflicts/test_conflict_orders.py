"""Serial orders by real runs: in cells of one partition the rows tell which order it was."""

import pytest
from conftest import PROVE

from workbench_proofs import conflicts
from workbench_proofs.conflicts import orders as serial
from workbench_proofs.conflicts.copies import copies
from workbench_proofs.conflicts.operations import base
from workbench_proofs.conflicts.orders import Orders


@pytest.fixture(scope="module")
def orders(spark):
    dynamic = spark.newSession()
    dynamic.conf.set("spark.sql.sources.partitionOverwriteMode", "dynamic")
    with copies(dynamic, "t_conflict_orders") as made:
        yield Orders(dynamic, made)
    assert spark.sql("SHOW TABLES IN t_conflict_orders").count() == 0
    spark.sql("DROP NAMESPACE t_conflict_orders")


def serials(orders, **which):
    level = {"isolation": ["serializable"], "modes": ["copy-on-write"]}
    return {(cell.first, cell.second): orders.of(cell) for cell in conflicts.cells(**which, **level)}


ROWS = [name for name, one in conflicts.OPERATIONS.items() if one.rows]


def test_rows_tell_the_orders_of_all_pairs_but_two(orders):
    some = ROWS if PROVE else ["append", "delete"]
    found = serials(orders, operations=some, partitions=["same"])
    assert len(ROWS) == 6 and len(found) == len(some) ** 2
    alike = {pair for pair, one in found.items() if one.orders == "indistinguishable"}
    assert alike == {("append", "append"), ("delete", "delete")}
    assert {one.orders for pair, one in found.items() if pair not in alike} == {"differ"}


def test_the_small_table_has_something_for_each_operation(orders):
    table, spark = orders.copies.of("copy-on-write"), orders.spark
    files = spark.sql(
        f"SELECT partition.part, count(*), sum(record_count) FROM {table}.files GROUP BY 1 ORDER BY 1"
    )
    assert [tuple(row) for row in files.collect()] == [(0, 2, 4), (1, 2, 4)]
    refs = {row.name: row.snapshot_id for row in spark.table(f"{table}.refs").collect()}
    parents = {row.snapshot_id: row.parent_id for row in spark.table(f"{table}.snapshots").collect()}
    assert set(refs) == {"main", "ahead"} and parents[refs["ahead"]] == refs["main"]
    assert len(parents) == 3 and parents[parents[refs["main"]]] is None
    orders.copies.drop(table)


@pytest.mark.proof("test_rows_tell_the_orders_of_all_pairs_but_two plays both orders on files of one kind")
@pytest.mark.parametrize(
    "mode", ["merge-on-read", pytest.param("v3", marks=pytest.mark.proof("merge-on-read of format 2 shows it"))]
)
def test_serial_orders_do_not_depend_on_how_files_are_written(orders, monkeypatch, mode):
    cell = conflicts.Cell("merge", "delete", "serializable", "same")
    found = orders.of(cell)
    monkeypatch.setattr(serial, "_MODE", mode)
    assert Orders(orders.spark, orders.copies).of(cell) == found


@pytest.mark.proof("test_rows_tell_the_orders_of_all_pairs_but_two plays both orders and tells them apart")
def test_what_two_statements_give_in_either_order(orders):
    base = [(2, 0, 20), (3, 0, 30), (4, 0, 40), (11, 1, 10), (12, 1, 20), (13, 1, 30), (14, 1, 40)]
    found = serials(orders, operations=["append", "update"], partitions=["same"])["append", "update"]
    assert found.first_alone == tuple(sorted([*base, (1, 0, 1), (1, 0, 10), (5, 0, 1)]))
    assert found.first_second == tuple(sorted([*base, (1, 0, 4), (1, 0, 22), (5, 0, 4)]))
    assert found.second_first == tuple(sorted([*base, (1, 0, 1), (1, 0, 22), (5, 0, 1)]))


def test_only_one_order_is_possible_where_the_other_is_refused(orders):
    found = serials(orders, operations=["append", "fast_forward"], partitions=["same"])
    assert found["append", "fast_forward"].orders == "only second_first"
    assert found["fast_forward", "append"].orders == "only first_second"


def test_only_a_conflict_that_iceberg_names_refuses_an_order(orders):
    table = orders.copies.of("v3")
    spark = orders.spark
    spark.sql(f"INSERT INTO {table} VALUES (1, 0, 1)")
    assert orders._late(table, f"CALL system.fast_forward('{table}', 'main', 'ahead')") is None
    broken = {
        "UNRESOLVED_COLUMN": f"DELETE FROM {table} WHERE nowhere = 1",
        "Ref does not exist: nowhere": f"CALL system.fast_forward('{table}', 'main', 'nowhere')",
        "DIVIDE_BY_ZERO": f"UPDATE {table} SET v = v div (id - id)",
    }
    for said, statement in broken.items():
        with pytest.raises(Exception, match=said):
            orders._late(table, statement)
    orders.copies.drop(table)


def test_what_deletes_files_has_files_of_its_own(orders):
    made = orders.copies
    one, other = (made.of("v3", own_files=True) for _ in range(2))
    assert made.locations[-2:] == sorted(set(made.locations[-2:]), key=made.locations.index)
    shared = [made.of("v3") for _ in range(2)]
    files = [
        orders.spark.table(f"{name}.files").select("file_path").toPandas().file_path
        for name in (one, other, *shared)
    ]
    assert not set(files[0]) & set(files[1]) and set(files[2]) == set(files[3])
    for name in (one, other, *shared):
        made.drop(name)


@pytest.mark.parametrize(("mode", "wrote"), [
    pytest.param("copy-on-write", {"operation": "overwrite", "deleted-data-files": "1", "added-data-files": "1"},
                 marks=pytest.mark.proof("22_race_writers races such tables, and their cells are those of the matrix")),
    ("merge-on-read", {"operation": "overwrite", "added-position-delete-files": "1", "added-data-files": "1"}),
    ("v3", {"operation": "overwrite", "added-dvs": "1", "added-data-files": "1"}),
])  # fmt: skip
def test_the_small_table_writes_as_its_mode_says(spark, namespace, mode, wrote):
    table = f"{namespace}.cell"
    for statement in base(table, mode, "serializable"):
        spark.sql(statement)
    spark.sql(f"UPDATE {table} SET v = 7 WHERE part = 0 AND id = 1")
    newest = f"SELECT operation, summary FROM {table}.snapshots ORDER BY committed_at DESC LIMIT 1"
    (summary,) = spark.sql(newest).collect()
    kinds = ("deleted-data-files", "added-data-files", "added-position-delete-files", "added-dvs")
    there = {"operation": summary.operation} | {
        one: summary.summary[one] for one in kinds if one in summary.summary
    }
    assert there == wrote
