"""Which engines answer a question from a table as Spark does, and why the others do not."""

import importlib.metadata
from collections.abc import Iterator
from datetime import datetime

from workbench._base import duck, identifiers
from workbench._base.door import checked
from workbench.light import limits, querying
from workbench.light.typing import Catalog

PACKAGES = {"duckdb": "duckdb", "pyiceberg": "pyiceberg", "polars": "polars", "datafusion": "datafusion"}
# the DataFusion that pyiceberg-core is built with: one of another major version ends the process with it
# (apache/iceberg-rust issue 1647)
DATAFUSION = {"0.10": "53"}


@checked
def able(
    catalog: Catalog, table: str, sql: str | None = None, *, at: int | str | datetime | None = None
) -> dict[str, tuple[str, ...]]:
    """Say which engines answer a statement as Spark does, by what the table's metadata and values are.

    Args:
        catalog: as of `query`.
        table: `namespace.name`.
        sql: one SELECT that reads it, in DuckDB's SQL; left out, the whole table is read.
        at: version, as of `query`.

    Returns:
        Engine to reasons: spark, duckdb, pyiceberg, polars (its native reader), datafusion. An engine without a
        reason answers as Spark does; Spark has none. A reason names what it would answer otherwise, or refuse.

    Raises:
        ValueError: the statement is not one SELECT that reads the table, or there is no such table or version.
    """
    parts = identifiers.parts(table)
    sql = sql or f"SELECT * FROM {'.'.join(map(duck.quoted, parts))}"
    with querying.opened(catalog, sql, at=at) as (connection, statement, tables):
        querying.require(parts, tables)
        reasons: dict[str, tuple[str, ...]] = {"spark": ()}
        for name, rules in limits.RULES.items():
            refusals = [
                f"{read.pointer.table}: {reason}" if len(tables) > 1 else reason
                for read in tables.values()
                for reason in rules(connection, read, statement)
            ]
            reasons[name] = (*_missing(name), *refusals)
    return reasons


def _missing(name: str) -> Iterator[str]:
    """Yield the reason for which an engine cannot be used in this process at all."""
    if (version := _version(PACKAGES[name])) is None:
        yield f"{PACKAGES[name]} is not installed"
    elif name == "datafusion":
        yield from mismatch(version, _version("pyiceberg-core"))


def mismatch(datafusion: str, core: str | None) -> list[str]:
    """Return why a DataFusion and a pyiceberg-core cannot be used together; nothing where they can.

    Args:
        datafusion: its version.
        core: that of pyiceberg-core, or None where it is not installed.
    """
    if core is None:
        return ["pyiceberg-core, by which DataFusion reads Iceberg, is not installed"]
    made_for = DATAFUSION.get(".".join(core.split(".")[:2]))
    if made_for is None:
        return [
            f"it is not known for which DataFusion pyiceberg-core {core} is made, and another one ends the process"
        ]
    if datafusion.split(".")[0] != made_for:
        return [
            f"datafusion is {datafusion}, and pyiceberg-core {core} is made for {made_for}: together they end the "
            "process"
        ]
    return []


def _version(package: str) -> str | None:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return None
