"""Payments: what the statements make of a table is what Python says."""

import pytest

from workbench.data import payments


def test_a_table_holds_what_python_says_after_each_commit(spark, namespace):
    table = f"{namespace}.t"
    spark.sql(payments.CREATE.format(table=table))
    script, files = payments.made(commits=5, seed=3), []
    assert [(one.appended, len(one.rows)) for one in script] == [
        (100, 100),
        (100, 200),
        (100, 300),
        (0, 300),
        (100, 400),
    ]
    for step in script:
        spark.sql(step.sql.format(table=table))
        assert dict(map(tuple, spark.table(table).collect())) == step.rows
        files.append(spark.table(f"{table}.files").count())
    assert files == [1, 2, 3, 1, 2]
    raised = [id for id, amount in script[3].rows.items() if amount != script[2].rows[id]]
    assert len(raised) == 30 and len({id % 10 for id in raised}) == 1
    assert script == payments.made(commits=5, seed=3) != payments.made(commits=5, seed=4)


def test_no_commits_are_refused():
    with pytest.raises(ValueError, match="commits must be an integer of at least 1, found 0"):
        payments.made(commits=0)
