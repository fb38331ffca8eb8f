"""Statistics: how many distinct values each column has, for planners that read them."""

from workbench._base.typing import Java, SparkSession
from workbench.tables import commits
from workbench.tables.maintenance import metadata

_PARTS_OF_NAMES = (".", "`")


def columns(loaded: Java) -> tuple[list[str], list[str]]:
    """Return (names of the columns whose distinct values can be counted, names of those that Iceberg cannot find).

    Iceberg counts columns of plain types, and gives their names to Spark as they are, which reads a dot or a
    backtick in one as SQL: the whole action fails.
    """
    plain = [column.name() for column in loaded.schema().columns() if column.type().isPrimitiveType()]
    odd = [name for name in plain if any(part in name for part in _PARTS_OF_NAMES)]
    return [name for name in plain if name not in odd], odd


def compute(spark: SparkSession, table: str, *, tries: int) -> commits.Attempt:
    """Count the distinct values of a table's columns; returns commits.Attempt, whose value is how many commits."""

    def commit() -> int:
        loaded = metadata.own(spark, table)
        counted, _ = columns(loaded)
        if not counted:
            return 0
        context: Java = spark.sparkContext
        names = context._gateway.new_array(metadata.jvm(spark).java.lang.String, len(counted))
        for n, name in enumerate(counted):
            names[n] = name
        metadata.actions(spark).computeTableStats(loaded).columns(names).execute()
        return 1

    return commits.attempt(commit, landed=lambda: None, conditional=True, tries=tries)
