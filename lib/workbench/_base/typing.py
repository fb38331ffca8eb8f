"""Types of PySpark, pandas and PyIceberg for annotations: real ones for a type checker, `Any` at run time."""

from typing import TYPE_CHECKING, Annotated, Any, TypeVar

__all__ = [
    "Catalog", "Column", "DataFrame", "DataStreamWriter", "DataType", "Java", "Judged", "PandasFrame", "Row",
    "SparkSession", "StreamingQuery", "StructField", "StructType", "jvm",
]  # fmt: skip

if TYPE_CHECKING:
    from pandas import DataFrame as PandasFrame
    from pyiceberg.catalog import Catalog
    from pyspark.sql import Column, DataFrame, Row, SparkSession
    from pyspark.sql.streaming.query import StreamingQuery
    from pyspark.sql.streaming.readwriter import DataStreamWriter
    from pyspark.sql.types import DataType, StructField, StructType

    T = TypeVar("T")
    Judged = Annotated[T, "by the function itself"]
else:
    Catalog = Column = DataFrame = DataStreamWriter = DataType = PandasFrame = Row = SparkSession = Any
    StreamingQuery = StructField = StructType = Any

    class Judged:
        """A type for checkers alone: the function judges the value itself, by a sentence of its own."""

        def __class_getitem__(cls, kind: Any) -> Any:
            return Any


Java = Any  # an object of the JVM, through Py4J


def jvm(spark: SparkSession) -> Java:
    """Return the JVM of a classic session; PySpark's own type for it is also None, which a session's never is."""
    return spark._jvm
