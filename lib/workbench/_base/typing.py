"""Types of PySpark for annotations: real ones for a type checker, `Any` at run time, where nothing imports it."""

from typing import TYPE_CHECKING, Any

__all__ = ["Column", "DataFrame", "DataType", "Java", "Row", "SparkSession", "StructField", "StructType"]

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, Row, SparkSession
    from pyspark.sql.types import DataType, StructField, StructType
else:
    Column = DataFrame = DataType = Row = SparkSession = StructField = StructType = Any

Java = Any  # an object of the JVM, through Py4J
