"""Types of PyIceberg and Arrow for annotations: real ones for a type checker, `Any` at run time."""

from typing import TYPE_CHECKING, Any

__all__ = ["Array", "ArrowTable", "IcebergSchema", "IcebergTable"]

if TYPE_CHECKING:
    from pyarrow import Array
    from pyarrow import Table as ArrowTable
    from pyiceberg.schema import Schema as IcebergSchema
    from pyiceberg.table import Table as IcebergTable
else:
    Array = ArrowTable = IcebergSchema = IcebergTable = Any
