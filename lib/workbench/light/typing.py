"""Types of DuckDB, Arrow and PyIceberg for annotations: real ones for a type checker, `Any` at run time."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeAlias

__all__ = [
    "Array", "ArrowSchema", "ArrowTable", "Catalog", "Connection", "DataFile", "DataType", "IcebergCatalog",
    "IcebergTable", "Json", "Rows",
]  # fmt: skip

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection as Connection
    from pyarrow import Array, DataType
    from pyarrow import Schema as ArrowSchema
    from pyarrow import Table as ArrowTable
    from pyiceberg.catalog import Catalog as IcebergCatalog
    from pyiceberg.manifest import DataFile
    from pyiceberg.table import Table as IcebergTable
else:
    Array = ArrowSchema = ArrowTable = Connection = DataFile = DataType = IcebergCatalog = IcebergTable = Any

Catalog: TypeAlias = IcebergCatalog | Mapping[str, Any]  # the user's own, or its properties with `name`
Json: TypeAlias = Any  # a value of JSON: metadata of Iceberg, a statement as DuckDB's parser has it
Rows: TypeAlias = ArrowTable | list[dict[str, Any]]
