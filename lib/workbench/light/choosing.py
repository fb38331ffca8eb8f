"""When Spark pays: what a statement would read, and what it would take by engine, from measured rates."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, NamedTuple

from workbench._base import duck, identifiers
from workbench._base.bounds import Ge
from workbench._base.door import checked
from workbench.light import limits, querying
from workbench.light.metadata import Table
from workbench.light.statements import Statement
from workbench.light.typing import Catalog, Connection, Json


class Rate(NamedTuple):
    """What an engine takes, in CPU seconds: until its first answer, and for each GB that it reads."""

    start_seconds: float
    seconds_per_gb: float


# docs/evidence/light.json, by `make bench-light`: a grouping, which takes more than a count and less than a join.
# Spark's start is that of a session that does not run yet
RATES = {"duckdb": Rate(0.7, 2.9), "spark": Rate(8.58, 52.8)}


@dataclass(frozen=True)
class Choice:
    """The engine that answers a statement soonest, of those that answer it as Spark does.

    Attributes:
        engine: duckdb or spark.
        bytes: of the columns that the statement names, in all files of the version: files that its filters rule
            out are among them, so it reads less where the table is laid out for it.
        seconds: expected, by engine; an order of magnitude, measured on another machine and another table.
        refused: reasons by engine for which it is not among them.
    """

    engine: str
    bytes: int
    seconds: Mapping[str, float]
    refused: Mapping[str, tuple[str, ...]]


@checked
def choose(
    catalog: Catalog,
    table: str,
    sql: str,
    *,
    at: int | str | datetime | None = None,
    cores: Annotated[int, Ge(1)] = 2,
    spark_cores: Annotated[int, Ge(1)] = 2,
    running: bool = False,
) -> Choice:
    """Choose the engine for a statement: DuckDB in this process, or Spark.

    Args:
        catalog: as of `query`.
        table: `namespace.name`, read by the statement.
        sql: as of `query`.
        at: as of `query`.
        cores: that DuckDB has here.
        spark_cores: that Spark has, wherever it runs.
        running: whether a Spark session runs already, so that nobody waits for its start.

    Returns:
        Choice.

    Raises:
        ValueError: as `able`; or a number of cores is not at least 1.
    """
    parts = identifiers.parts(table)
    with querying.opened(catalog, sql, at=at) as (connection, statement, tables):
        querying.require(parts, tables)
        size = sum(_bytes(connection, loaded, statement) for loaded in tables.values())
        reasons = tuple(
            reason for loaded in tables.values() for reason in limits.duckdb(connection, loaded, statement)
        )
    seconds = {"spark": _seconds(RATES["spark"], size, spark_cores, started=running)}
    if not reasons:
        seconds["duckdb"] = _seconds(RATES["duckdb"], size, cores)
    soonest = min(seconds, key=lambda name: seconds[name])
    return Choice(soonest, size, seconds, {"duckdb": reasons} if reasons else {})


def _seconds(rate: Rate, size: int, cores: int, *, started: bool = False) -> float:
    return round((0 if started else rate.start_seconds) + rate.seconds_per_gb * size / 1e9 / cores, 2)


def _bytes(connection: Connection, table: Table, statement: Statement) -> int:
    """Return the bytes of the columns that a statement names, and of all delete files."""
    named = [
        field
        for field in table.schema["fields"]
        if statement.names_all or field["name"].lower() in statement.columns
    ]
    numbers = {number for field in named for number in _leaves(field["id"], field["type"])}
    total = 0
    for path in (*table.manifests, *table.delete_manifests):
        of_deletes = path in table.delete_manifests
        sizes = "SELECT data_file.column_sizes, data_file.file_size_in_bytes FROM read_avro("
        entries = connection.execute(f"{sizes}{duck.literal(path)}) WHERE status <> 2").fetchall()
        for columns, size in entries:
            total += size if of_deletes or not columns else sum(columns.get(number, 0) for number in numbers)
    return total


def _leaves(number: int, kind: Json) -> Iterator[int]:
    """Yield the ids of the columns that a field is stored as."""
    if not isinstance(kind, Mapping):
        yield number
        return
    for part in ("element", "key", "value"):
        if part in kind:
            yield from _leaves(kind[f"{part}-id"], kind[part])
    for field in kind.get("fields", ()):
        yield from _leaves(field["id"], field["type"])
