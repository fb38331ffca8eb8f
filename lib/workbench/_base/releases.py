"""What Spark 3.5 says in another way than Spark 4, or cannot, and which Iceberg a session has.

Each function asks for what it needs and not for a version, and takes Spark 4's own way where there is one. Where
releases of Iceberg act unlike each other under the same call, `iceberg_before` says so.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any, cast

from workbench._base.errors import ArgumentError
from workbench._base.typing import Column, DataFrame, DataType, Java, SparkSession, StructType


def need(spark: SparkSession, feature: str, *, since: str) -> None:
    """Refuse what a session's Spark does not have.

    Args:
        spark: session.
        feature: what is lacking, in words; the subject of the message.
        since: release of Spark that has it, `4.0`.

    Raises:
        ValueError: the session's Spark is older; the message names the feature.
    """
    if tuple(map(int, spark.version.split(".")[:2])) < tuple(map(int, since.split("."))):
        raise ArgumentError(f"{feature} came with Spark {since}, and this session is Spark {spark.version}")


def iceberg(spark: SparkSession) -> str:
    """Return the release of Iceberg that a session has, `1.12.0`."""
    jvm: Java = spark._jvm
    return jvm.org.apache.iceberg.IcebergBuild.version()


def iceberg_before(spark: SparkSession, release: str) -> bool:
    """Say whether a session's Iceberg is older than a release, `1.12`; a build without numbers is not."""
    numbers = re.match(r"(\d+)\.(\d+)", iceberg(spark))
    return numbers is not None and tuple(map(int, numbers.groups())) < tuple(map(int, release.split(".")))


def settings(spark: SparkSession) -> dict[str, str]:
    """Return the settings of a session, name to text: `spark.conf.getAll`, which came with PySpark 4."""
    if hasattr(spark.conf, "getAll"):
        return dict(spark.conf.getAll)
    jvm: Java = spark._jvm
    return dict(jvm.scala.collection.JavaConverters.mapAsJavaMap(spark.conf._jconf.getAll()))


def activate(spark: SparkSession) -> None:
    """Make a session the active one of the Java thread that belongs to this Python thread."""
    jvm: Java = spark._jvm
    if hasattr(spark, "_get_j_spark_session_class"):
        type(spark)._get_j_spark_session_class(jvm).setActiveSession(spark._jsparkSession)
    else:
        jvm.org.apache.spark.sql.SparkSession.setActiveSession(spark._jsparkSession)


def transforms() -> Any:
    """Return the module with the partition transforms `years`, `days`, …: one of their own since PySpark 4."""
    from pyspark.sql import functions as F

    return getattr(F, "partitioning", F)


def struct(ddl: str) -> StructType:
    """Return columns given as DDL as a StructType, by a session: `StructType.fromDDL`, new in PySpark 4."""
    from pyspark.sql import types as T

    if hasattr(T.StructType, "fromDDL"):
        return cast(StructType, T.StructType.fromDDL(ddl))
    parsed = _jvm().org.apache.spark.sql.types.StructType.fromDDL(ddl)
    return cast(StructType, T._parse_datatype_json_string(parsed.json()))


def _jvm() -> Java:
    """Return the JVM of the running session."""
    from pyspark import SparkContext

    context: Any = SparkContext._active_spark_context
    return context._jvm


def try_cast(column: Column, kind: DataType | str) -> Column:
    """Return a column cast to a type, null where it cannot be: `Column.try_cast` of PySpark 4."""
    if hasattr(type(column), "try_cast"):  # not of the column itself, which answers to any name with a field of it
        return column.try_cast(kind)
    from pyspark.sql import types as T

    jvm, expression, as_column = _jvm(), _expression(column), cast(Any, type(column))
    expressions = jvm.org.apache.spark.sql.catalyst.expressions
    kind = T._parse_datatype_string(kind) if isinstance(kind, str) else kind
    target = jvm.org.apache.spark.sql.types.DataType.fromJson(kind.json())
    forgiving = expressions.EvalMode.TRY()
    return as_column(
        jvm.org.apache.spark.sql.Column(expressions.Cast(expression, target, jvm.scala.Option.empty(), forgiving))
    )


def _expression(column: Column) -> Java:
    """Return Java's expression of a column of Spark 3.5."""
    java: Java = getattr(column, "_jc")  # noqa: B009 (a type checker knows the columns of Spark 4)
    return java.expr()


def raised(error: Exception) -> Exception:
    """Return an error as PySpark 4 raises it: what failed in a task is PySpark's own exception there, too.

    Args:
        error: exception; one of Py4J's, as PySpark 3.5 raises it for a failed task, is looked into.
    """
    java: Java = getattr(error, "java_exception", None)
    cause = java.getCause() if type(error).__name__ == "Py4JJavaError" else None
    if cause is None:
        return error
    from pyspark.errors.exceptions import captured

    converted = captured.convert_exception(cause)
    return error if isinstance(converted, captured.UnknownException) else converted


def merge_into(rows: DataFrame, table: str, condition: Column) -> Any:
    """Return what merges rows into a table: `DataFrame.mergeInto`, which came with PySpark 4.

    Args:
        rows: DataFrame.
        table: name as SQL has it.
        condition: Column.

    Returns:
        pyspark.sql.MergeIntoWriter, or on Spark 3.5 a Merging, which is one as far as the library needs it.
    """
    return rows.mergeInto(table, condition) if hasattr(rows, "mergeInto") else Merging(rows, table, condition)


class Merging:
    """A MERGE on Spark 3.5, put together from the parts of which Spark 4's own writer makes it."""

    def __init__(self, rows: DataFrame, table: str, condition: Column) -> None:
        self._rows, self._table, self._condition = rows, table, condition
        self._jvm = _jvm()
        self._plans = self._jvm.org.apache.spark.sql.catalyst.plans.logical
        self._matched: list[Java] = []
        self._others: list[Java] = []

    def whenMatched(self, condition: Column | None = None) -> "_Action":
        """Begin what is done with a row of the table that matches."""
        return _Action(partial(self._add, self._matched, condition), "Update")

    def whenNotMatched(self, condition: Column | None = None) -> "_Action":
        """Begin what is done with a row that matches none."""
        return _Action(partial(self._add, self._others, condition), "Insert")

    def merge(self) -> None:
        """Run it."""
        spark = self._rows.sparkSession
        parts = spark._jsparkSession.sessionState().sqlParser().parseMultipartIdentifier(self._table)
        options = self._jvm.org.apache.spark.sql.util.CaseInsensitiveStringMap.empty()
        target = self._jvm.org.apache.spark.sql.catalyst.analysis.UnresolvedRelation(parts, options, False)
        actions = (self._sequence(part) for part in (self._matched, self._others, []))
        plan = self._plans.MergeIntoTable(
            target, self._rows._jdf.logicalPlan(), _expression(self._condition), *actions
        )
        self._jvm.org.apache.spark.sql.Dataset.ofRows(spark._jsparkSession, plan)

    def _add(
        self, actions: list[Java], condition: Column | None, kind: str, values: Mapping[str, Column] | None
    ) -> "Merging":
        from pyspark.sql import functions as F

        given = [self._jvm.scala.Option.apply(None if condition is None else _expression(condition))]
        if values is not None:
            pairs = ((_expression(F.expr(name)), _expression(value)) for name, value in values.items())
            given.append(self._sequence([self._plans.Assignment(*pair) for pair in pairs]))
        actions.append(getattr(self._plans, f"{kind}Action")(*given))
        return self

    def _sequence(self, items: Iterable[Java]) -> Java:
        return self._jvm.org.apache.spark.api.python.PythonUtils.toSeq(list(items))


class _Action:
    """What follows a `when…` of a Merging; it returns the Merging."""

    def __init__(self, add: Callable[..., Merging], kind: str) -> None:
        self.update = self.insert = partial(add, kind)
        self.updateAll = self.insertAll = partial(add, f"{kind}Star", None)
        self.delete = partial(add, "Delete", None)
