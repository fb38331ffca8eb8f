"""Types of PySpark and pandas for annotations: real ones for a type checker, `Any` at run time."""

from typing import TYPE_CHECKING, Any

__all__ = [
    "Column", "DataFrame", "DataType", "Java", "PandasFrame", "Row", "SparkSession", "StructField", "StructType",
    "jvm",
]  # fmt: skip

if TYPE_CHECKING:
    from pandas import DataFrame as PandasFrame
    from pyspark.sql import Column, DataFrame, Row, SparkSession
    from pyspark.sql.types import DataType, StructField, StructType
else:
    Column = DataFrame = DataType = PandasFrame = Row = SparkSession = StructField = StructType = Any

Java = Any  # an object of the JVM, through Py4J


def jvm(spark: SparkSession) -> Java:
    """Return the JVM of a classic session; PySpark's own type for it is also None, which a session's never is."""
    return spark._jvm
