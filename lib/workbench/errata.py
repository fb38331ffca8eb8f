"""Errors of a published text that a notebook shows: what the text says and what is found, which must differ."""

from typing import Annotated, Any

from workbench._base.bounds import Ge
from workbench._base.door import checked
from workbench._base.errors import ArgumentError

CALL = "errata.show"  # by which a page lists the errata of the notebooks


@checked
def show(number: Annotated[int, Ge(1)], *, says: Any, found: Any) -> None:
    """Print an erratum of the text that a notebook reproduces; fail when the text is right after all.

    Args:
        number: of the erratum, from 1 in each notebook.
        says: what the text says.
        found: what was found.

    Raises:
        ValueError: says or found is None.
        AssertionError: both are equal: the text was corrected, or never was wrong.
    """
    if says is None or found is None:
        raise ArgumentError(f"erratum {number} needs both what the text says and what was found")
    if says == found:
        raise AssertionError(f"erratum {number} is none: the text says {says}, and so it is")
    print(f"erratum {number}: the text says {says}, found {found}")
