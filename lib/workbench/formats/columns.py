"""What Iceberg and Spark cannot have as columns, whatever the format of the source."""

from collections.abc import Iterator
from typing import Any

from workbench.formats.inspection import Json

# of Iceberg's MetadataColumns those that a query of a table, or of its changes, can name
RESERVED = frozenset((
    "_file", "_pos", "_deleted", "_spec_id", "_partition", "_row_id", "_last_updated_sequence_number",
    "_change_type", "_change_ordinal", "_commit_snapshot_id",
))  # fmt: skip
_DIGITS = 38  # of a decimal


def names(fields: list[Json], at: str = "") -> Iterator[str]:
    """Yield the obstacles in names: those that Spark cannot tell apart, and those that Iceberg has itself.

    Args:
        fields: of a schema, or of a struct in it, as Iceberg's JSON has them.
        at: path of the struct, with a dot at the end.
    """
    by_lower: dict[str, str] = {}
    for field in fields:
        name, lower = field["name"], field["name"].lower()
        if by_lower.get(lower) == name:
            yield f"the column {at}{name} is there twice: rename one in the source"
        elif lower in by_lower:
            yield (
                f"the columns {at}{by_lower[lower]} and {at}{name} differ in capitals alone, and Spark cannot "
                "tell them apart: rename one in the source"
            )
        by_lower.setdefault(lower, name)
        if not at and lower in RESERVED:
            yield (
                f"the column {name} has a name that Iceberg gives to a column of its own, and its values could "
                "not be read: rename it in the source"
            )
        yield from _within(field["type"], f"{at}{name}.")


def _within(kind: Any, at: str) -> Iterator[str]:
    if isinstance(kind, dict):
        yield from names(kind.get("fields", []), at)
        for part in ("element", "key", "value"):
            yield from _within(kind.get(part), f"{at}{part}.")


def decimal(path: str, precision: Any, scale: Any) -> str | None:
    """Return the obstacle of a column's decimals that Iceberg has not; None of those it has."""
    if type(precision) is type(scale) is int and 1 <= precision <= _DIGITS and 0 <= scale <= precision:
        return None
    return (
        f"the column {path} is of the type decimal({precision}, {scale}), and Iceberg has decimals of 1 to "
        f"{_DIGITS} digits, none to all of them behind the point: write it as another type in the source"
    )
