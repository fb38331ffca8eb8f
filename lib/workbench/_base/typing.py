"""Types of PySpark, pandas and PyIceberg for annotations: real ones for a type checker.

At run time they are `Any`, and PySpark is not imported. A session and a frame are told by what they can do, so
that `checked` refuses what is neither by a sentence.
"""

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
    Catalog = Column = DataStreamWriter = DataType = PandasFrame = Row = Any
    StreamingQuery = StructField = StructType = Any

    class _Told(type):
        """A type whose values are those that have some attributes, classic ones and those of Spark Connect."""

        def __instancecheck__(cls, value: Any) -> bool:
            return all(hasattr(type(value), name) for name in cls.attributes)

    class SparkSession(metaclass=_Told):
        attributes, words = ("sql", "conf"), "a SparkSession"

    class DataFrame(metaclass=_Told):
        attributes, words = ("schema", "select", "columns"), "a DataFrame of Spark"

    class Judged:
        """A type for checkers alone: the function judges the value itself, by a sentence of its own."""

        def __class_getitem__(cls, kind: Any) -> Any:
            return Any


Java = Any  # an object of the JVM, through Py4J


def jvm(spark: SparkSession) -> Java:
    """Return the JVM of a classic session; PySpark's own type for it is also None, which a session's never is."""
    return spark._jvm
