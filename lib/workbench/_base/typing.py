"""Types of PySpark for annotations: real ones for a type checker, `Any` at run time, where nothing imports it."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyspark.sql import Column as Column
    from pyspark.sql import DataFrame as DataFrame
    from pyspark.sql import Row as Row
    from pyspark.sql import SparkSession as SparkSession
    from pyspark.sql.types import StructType as StructType
else:
    Column = DataFrame = Row = SparkSession = StructType = Any

Java = Any  # an object of the JVM, through Py4J
