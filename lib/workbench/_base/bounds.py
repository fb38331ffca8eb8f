"""Bounds of arguments for annotations: those of annotated_types, which is imported at the first check only.

    tries: Annotated[int, Ge(1)] = 5

Each is what annotated_types calls grouped metadata: pydantic, which checks by it, asks it for the bound itself.
"""

from collections.abc import Iterator
from typing import Any


class Bound:
    """A bound of annotated_types that has the same name, and its value under the same attribute."""

    __is_annotated_types_grouped_metadata__ = True

    def __init__(self, value: Any) -> None:
        self.value = value
        setattr(self, self.attribute, value)

    attribute: str

    def __iter__(self) -> Iterator[object]:
        """Return the bound itself."""
        import annotated_types

        yield getattr(annotated_types, type(self).__name__)(self.value)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.value!r})"


class Ge(Bound):
    """At least the value."""

    attribute = "ge"


class Gt(Bound):
    """Above the value."""

    attribute = "gt"


class Le(Bound):
    """At most the value."""

    attribute = "le"


class Lt(Bound):
    """Below the value."""

    attribute = "lt"


class MinLen(Bound):
    """At least so many characters or items."""

    attribute = "min_length"
