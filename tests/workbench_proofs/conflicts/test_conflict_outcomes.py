"""The classifier, on chains of real Java exceptions and on rows of every kind."""

import pytest

from workbench.tables import commits
from workbench_proofs.conflicts.orders import Serial
from workbench_proofs.conflicts.outcomes import Outcome, outcome
from workbench_proofs.conflicts.racing import Race

EARLY, ONE, OTHER = ((1, 0, 1),), ((1, 0, 2),), ((1, 0, 3),)
SERIAL = Serial(EARLY, ONE, OTHER)


@pytest.fixture
def table(spark, namespace):
    name = f"{namespace}.t"
    spark.sql(f"CREATE TABLE {name} (id BIGINT) USING iceberg")
    spark.sql(f"INSERT INTO {name} VALUES (1)")
    return name


def refused_swap(spark, table):
    """A schema change that was begun before somebody else's: refused at the swap."""
    late = (
        commits.load(spark, table)
        .updateSchema()
        .addColumn("a", spark._jvm.org.apache.iceberg.types.Types.LongType.get())
    )
    spark.sql(f"INSERT INTO {table} VALUES (2)")
    late.commit()


def refused_validation(spark, table):
    """An overwrite that was planned before somebody else's rows came."""
    loaded, java = commits.load(spark, table), spark._jvm.org.apache.iceberg
    late = loaded.newOverwrite().overwriteByRowFilter(java.expressions.Expressions.alwaysTrue())
    late = late.validateFromSnapshot(commits.head(loaded)).validateNoConflictingData()
    spark.sql(f"INSERT INTO {table} VALUES (2)")
    late.commit()


def unknown_column(spark, table):
    spark.sql(f"DELETE FROM {table} WHERE nowhere = 1")


def not_an_ancestor(spark, table):
    spark.sql(f"ALTER TABLE {table} CREATE BRANCH ahead")
    spark.sql(f"INSERT INTO {table} VALUES (2)")
    spark.sql(f"CALL system.fast_forward('{table}', 'main', 'ahead')")


def python_error(spark, table):
    raise KeyError("nothing of Java")


def caught(spark, table, fails):
    with pytest.raises(Exception) as error:
        fails(spark, table)
    return error.value


@pytest.mark.parametrize(
    ("fails", "name", "error_class", "begins"),
    [
        (refused_swap, "catalog_conflict", "CommitFailedException", "Cannot commit: stale table metadata"),
        (refused_validation, "data_conflict", "ValidationException", "Found conflicting files that can contain"),
        (unknown_column, "other_error", "ExtendedAnalysisException", "[UNRESOLVED_COLUMN"),
        (
            not_an_ancestor,
            "other_error",
            "IllegalArgumentException",
            "Cannot fast-forward: main is not an ancestor",
        ),
        (python_error, "other_error", "KeyError", "'nothing of Java'"),
    ],
)
def test_a_refusal_is_named_by_its_real_chain(spark, table, fails, name, error_class, begins):
    found = outcome(Race(None, caught(spark, table, fails), 1), SERIAL, EARLY, landed=1)
    assert (found.name, found.error_class, found.equal_to) == (name, error_class, "first_alone")
    assert found.message.startswith(begins)


@pytest.mark.parametrize(("rows", "landed", "equal"), [(ONE, 1, "first_second"), (EARLY, 2, "neither")])
def test_a_refusal_that_left_something_is_no_clean_one(spark, table, rows, landed, equal):
    found = outcome(Race(None, caught(spark, table, refused_validation), 1), SERIAL, rows, landed=landed)
    assert (found.name, found.equal_to) == ("other_error", equal)


@pytest.mark.parametrize(
    ("attempts", "rows", "landed", "wanted"),
    [
        (1, ONE, 2, Outcome("both_committed", None, None, "first_second")),
        (2, ONE, 2, Outcome("retried_and_committed", None, None, "first_second")),
        (2, OTHER, 2, Outcome("retried_and_committed", None, None, "second_first")),
        (2, EARLY, 2, Outcome("silent_anomaly", None, None, "neither")),
        (2, ONE + OTHER, 2, Outcome("silent_anomaly", None, None, "neither")),
        (1, ONE, 1, Outcome("silent_anomaly", None, None, "first_second")),  # said yes, and is not there
    ],
)
def test_two_successes_are_right_when_an_order_gives_their_rows(attempts, rows, landed, wanted):
    assert outcome(Race(None, None, attempts), SERIAL, rows, landed=landed) == wanted


@pytest.mark.parametrize(
    ("serial", "orders", "rows", "equal"),
    [
        (SERIAL, "differ", OTHER, "second_first"),
        (Serial(EARLY, ONE, ONE), "indistinguishable", ONE, "both"),
        (Serial(EARLY, None, OTHER), "only second_first", OTHER, "second_first"),
        (Serial(EARLY, ONE, None), "only first_second", EARLY, "neither"),
    ],
)
def test_orders_that_rows_can_tell(serial, orders, rows, equal):
    assert (serial.orders, serial.equal_to(rows)) == (orders, equal)
