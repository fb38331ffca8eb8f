"""CustomSql: a statement over the views `primary` and the references, which exist while rules are bound."""

import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from workbench._base import identifiers
from workbench._base.errors import ArgumentError
from workbench._base.typing import DataFrame, SparkSession
from workbench.quality import operands
from workbench.quality.comparisons import judged
from workbench.quality.frames import Bound, Facts, Frame, Judged, first_line, named, unmet
from workbench.quality.references import partnered
from workbench.quality.rules import Rule

PRIMARY = "primary"
_VIEWS = threading.RLock()  # a session has one view of a name, whichever thread made it


@contextmanager
def views(spark: SparkSession, frames: Mapping[str, DataFrame]) -> Iterator[None]:
    """Make temporary views for the block; afterwards the user's own of the same names are there again.

    One thread of the process at a time is inside the block.

    Args:
        spark: the session of the frames.
        frames: name to DataFrame; a name that SQL cannot say gets no view.

    Raises:
        ValueError: a frame is of another session.
    """
    catalog = spark._jsparkSession.sessionState().catalog()
    names = [name for name in frames if _sayable(name)]
    for name in names:
        if not frames[name].sparkSession._jsparkSession.equals(spark._jsparkSession):
            raise ArgumentError(
                f"the reference {name} is of another session than the frame; CustomSql cannot see it"
            )
    with _VIEWS:
        before = {name: catalog.getRawTempView(name) for name in names}
        try:
            for name in names:
                frames[name].createOrReplaceTempView(identifiers.column(name))
            yield
        finally:
            for name, view in before.items():
                catalog.dropTempView(name)
                if view.isDefined():
                    catalog.createTempView(name, view.get(), True)


def _sayable(name: str) -> bool:
    """Say whether SQL can name a view so: one part, between backticks where it needs them."""
    try:
        return len(identifiers.parts(identifiers.column(name), least=1)) == 1
    except ValueError:
        return False


def custom_sql(frame: Frame, rule: Rule) -> Bound:
    """Bind CustomSql: with a condition its one number, without the rows that it returns."""
    result = _result(frame, operands.statement(rule.parameters[0]))
    return _number(frame, rule, result) if rule.condition else _returned(frame, rule, result)


def _result(frame: Frame, statement: str) -> DataFrame:
    from pyspark.errors import PySparkException

    text = statement.strip().rstrip(";")
    try:
        # as a subquery it can only be a query: commands would run as soon as Spark reads them
        return frame.df.sparkSession.sql(f"SELECT * FROM (\n{text}\n)")
    except PySparkException as error:
        raise ArgumentError(f"its statement is not a query that Spark takes: {first_line(error)}") from error


def _number(frame: Frame, rule: Rule, result: DataFrame) -> Bound:
    from pyspark.sql import types as T

    fields = result.schema.fields
    if len(fields) != 1 or not isinstance(fields[0].dataType, T.NumericType):
        returned = ", ".join(f"{field.name} {field.dataType.simpleString()}" for field in fields)
        raise ArgumentError(f"with a condition its statement must return one number; it returns {returned}")
    key = ("number", rule.parameters[0])

    def judge(facts: Facts) -> Judged:
        if len(facts[key]) > 1:
            raise ArgumentError(
                f"{rule.text}: its statement returned more than one row; with a condition it must be one"
            )
        value = facts[key][0][0] if facts[key] else None
        if value is None:
            return Judged(False, unmet(None))
        return judged(rule.required, "Dataset.*.CustomSQL", value)

    return Bound({key: lambda: result.limit(2).collect()}, judge)


def _returned(frame: Frame, rule: Rule, result: DataFrame) -> Bound:
    from pyspark.errors import PySparkException
    from pyspark.sql import functions as F

    fields = [(frame.field(field.name), field) for field in result.schema.fields]
    for own, field in fields:
        if own.dataType != field.dataType:
            types = f"{field.dataType.simpleString()}, not {own.dataType.simpleString()}"
            raise ArgumentError(f'its statement returns "{field.name}" as {types}; rows are found by their values')
    if len({own.name for own, _ in fields}) != len(fields):
        raise ArgumentError("its statement returns a column twice")
    key = ("returned", rule.parameters[0])
    helper = frame.helper(key)
    keys = [frame.helper((*key, i)) for i in range(len(fields))]
    try:
        known = result.toDF(*keys).distinct().withColumn(helper, F.lit(True))
    except PySparkException as error:
        raise ArgumentError(f"rows cannot be found by what its statement returns: {first_line(error)}") from error

    def attach(df: DataFrame) -> DataFrame:
        same = [named(own.name).eqNullSafe(named(k)) for (own, _), k in zip(fields, keys, strict=True)]
        return df.join(known, same, "left").drop(*keys)

    metric, whole = "Dataset.*.CustomSQL.Compliance", rule.threshold is None
    return partnered(frame, key, attach, rule.threshold, metric, joins=True, whole=whole)
