"""Statistics: how many distinct values each column has, for planners that read them."""

from workbench.tables import commits
from workbench.tables.maintenance import metadata

_PARTS_OF_NAMES = (".", "`")


def columns(loaded):
    """Return (names of the columns whose distinct values can be counted, names of those that Iceberg cannot find).

    Iceberg counts columns of plain types, and gives their names to Spark as they are, which reads a dot or a
    backtick in one as SQL: the whole action fails.
    """
    plain = [one.name() for one in loaded.schema().columns() if one.type().isPrimitiveType()]
    left = [name for name in plain if any(part in name for part in _PARTS_OF_NAMES)]
    return [name for name in plain if name not in left], left


def compute(spark, table, *, tries):
    """Count the distinct values of a table's columns; returns commits.Attempt, whose value is how many commits."""

    def commit():
        loaded = metadata.own(spark, table)
        counted, _ = columns(loaded)
        if not counted:
            return 0
        names = spark.sparkContext._gateway.new_array(spark._jvm.java.lang.String, len(counted))
        for n, name in enumerate(counted):
            names[n] = name
        actions = spark._jvm.org.apache.iceberg.spark.actions.SparkActions.get(spark._jsparkSession)
        actions.computeTableStats(loaded).columns(names).execute()
        return 1

    return commits.attempt(commit, landed=lambda: None, conditional=True, tries=tries)
