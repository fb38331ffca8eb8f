"""Types of a Parquet file as they lie in it, and not as PyArrow gives them back.

Writers by Arrow keep their own schema in the footer (`ARROW:schema`), and PyArrow restores from it what Parquet
does not know: views, large and fixed-size lists, dictionaries, durations, extensions. Other readers ignore it: a
column of string views is a column of strings.
"""

from typing import Any


def schema(restored: Any) -> Any:
    """Return a schema of PyArrow's with the types that the file has; ids and names stay."""
    import pyarrow as pa

    return pa.schema([field.with_type(kind(field.type)) for field in restored])


def kind(restored: Any) -> Any:
    """Return the type that a file has where PyArrow restored another one."""
    import pyarrow as pa
    from pyarrow import types

    if isinstance(restored, pa.BaseExtensionType):
        return kind(restored.storage_type)
    if types.is_dictionary(restored) or types.is_run_end_encoded(restored):
        return kind(restored.value_type)
    if types.is_map(restored):
        return pa.map_(_field(restored.key_field), _field(restored.item_field))
    if types.is_struct(restored):
        return pa.struct([_field(restored.field(place)) for place in range(restored.num_fields)])
    if _is_list(restored):
        return pa.list_(_field(restored.value_field))
    if types.is_large_string(restored) or types.is_string_view(restored):
        return pa.string()
    if types.is_large_binary(restored) or types.is_binary_view(restored):
        return pa.binary()
    return pa.int64() if types.is_duration(restored) else restored


def _field(field: Any) -> Any:
    return field.with_type(kind(field.type))


def _is_list(restored: Any) -> bool:
    from pyarrow import types

    views = types.is_list_view(restored) or types.is_large_list_view(restored)
    whole = types.is_list(restored) or types.is_large_list(restored) or types.is_fixed_size_list(restored)
    return bool(views or whole)
