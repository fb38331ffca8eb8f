"""Types of PySpark for annotations: real ones for a type checker, `Any` at run time, where nothing imports it."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, Row, SparkSession
    from pyspark.sql.types import DataType, StructType
else:
    Column = DataFrame = DataType = Row = SparkSession = StructType = Any

__all__ = ["Column", "DataFrame", "DataType", "Java", "Row", "SparkSession", "StructType", "jvm"]

Java = Any  # an object of the JVM, through Py4J


def jvm(spark: SparkSession) -> Java:
    """Return the JVM of a classic session; PySpark's own type for it is also None, which a session's never is."""
    return spark._jvm
