"""Types of PySpark and pandas for annotations: real ones for a type checker, `Any` at run time."""

from typing import TYPE_CHECKING, Any

__all__ = [
    "Column", "DataFrame", "DataType", "Java", "PandasFrame", "Row", "SparkSession", "StructField", "StructType",
]  # fmt: skip

if TYPE_CHECKING:
    from pandas import DataFrame as PandasFrame
    from pyspark.sql import Column, DataFrame, Row, SparkSession
    from pyspark.sql.types import DataType, StructField, StructType
else:
    Column = DataFrame = DataType = PandasFrame = Row = SparkSession = StructField = StructType = Any

Java = Any  # an object of the JVM, through Py4J
