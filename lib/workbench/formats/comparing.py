"""Rows as sums of hashes: two sets of rows with the same sums are the same rows, each as often, in whatever order.

DuckDB hashes them, on both sides by the same expressions: in Spark's workers the rows that Spark read, and here
what another reader reads of the source. Two hashes of 64 bits a row: others have the same by chance only.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from workbench._base import duck
from workbench._base.errors import ArgumentError, MissingPackageError
from workbench._base.typing import DataFrame

Json = dict[str, Any]
_TYPES = {
    "string": "VARCHAR", "long": "BIGINT", "int": "INTEGER", "float": "FLOAT", "double": "DOUBLE",
    "boolean": "BOOLEAN", "binary": "BLOB", "date": "DATE", "timestamp": "TIMESTAMP", "timestamptz": "TIMESTAMPTZ",
    "uuid": "UUID",
}  # fmt: skip


@dataclass(frozen=True)
class Sums:
    """What stands for a set of rows.

    Attributes:
        rows: how many.
        whole: two sums of hashes over all columns.
        columns: {name: sum of the hashes of its values}.
    """

    rows: int
    whole: tuple[int, int]
    columns: Mapping[str, int]


def sql_type(kind: Any) -> str:
    """Return the type of DuckDB that holds the values of a type of Iceberg's JSON."""
    if isinstance(kind, str):
        return _TYPES.get(kind) or kind.upper().replace(", ", ",")
    if kind["type"] == "struct":
        parts = [f"{duck.quoted(field['name'])} {sql_type(field['type'])}" for field in kind["fields"]]
        return f"STRUCT({', '.join(parts)})"
    if kind["type"] == "list":
        return f"{sql_type(kind['element'])}[]"
    return f"MAP({sql_type(kind['key'])}, {sql_type(kind['value'])})"


def connected() -> Any:
    """Return a DuckDB that fetches nothing and is in UTC.

    Raises:
        MissingPackageError: DuckDB is not installed.
    """
    try:
        import duckdb
    except ModuleNotFoundError as error:
        raise MissingPackageError(
            "duckdb is not installed: pip install 'iceberg-workbench[formats]', where Spark's workers run too"
        ) from error
    connection = duckdb.connect(":memory:", config=duck.OFFLINE)
    connection.execute("SET TimeZone = 'UTC'")
    return connection


def question(fields: Sequence[Json], rows: str) -> str:
    """Return the query that sums the hashes of a relation: rows, both sums, then a sum a column."""
    columns = [f"CAST({duck.quoted(field['name'])} AS {sql_type(field['type'])})" for field in fields]
    sums = [f"sum(hash('c', {column})::HUGEINT)::VARCHAR" for column in columns]  # 0 alone has the hash 0
    listed = ", ".join(columns)
    whole = [f"sum(hash({salt}, {listed})::HUGEINT)::VARCHAR" for salt in ("'a'", "'b'")]
    return f"SELECT count(*)::VARCHAR, {', '.join([*whole, *sums])} FROM {rows}"


def summed(fields: Sequence[Json], rows: str, connection: Any) -> Sums:
    """Return the sums of a relation of a connection.

    Raises:
        ValueError: it has other columns than the fields.
    """
    names, read = {field["name"] for field in fields}, set(connection.sql(f"FROM {rows}").columns)
    if more := sorted(read - names):
        raise ArgumentError(
            f"the source as it is read has the column {more[0]}, and the table has not: where its schema changed, "
            "move it to another table"
        )
    if less := sorted(names - read):
        raise ArgumentError(f"the table has the column {less[0]}, and the source as it is read has not")
    return _added(fields, [connection.execute(question(fields, rows)).fetchone()])


def of_frame(df: DataFrame, fields: Sequence[Json]) -> Sums:
    """Return the sums of a frame, hashed in Spark's workers; the query runs."""
    text = question(fields, "rows")

    def sums(batches: Iterable[Any]) -> Iterable[Any]:
        import pyarrow as pa

        from workbench.formats import comparing

        connection = comparing.connected()
        for batch in batches:
            connection.register("rows", pa.Table.from_batches([batch]))
            values = [value or "0" for value in connection.execute(text).fetchone()]
            yield pa.RecordBatch.from_pydict({"sums": [values]})

    rows = df.mapInArrow(sums, "sums ARRAY<STRING>").collect()
    return _added(fields, [row.sums for row in rows])


def _added(fields: Sequence[Json], parts: Sequence[Sequence[str | None]]) -> Sums:
    width = 3 + len(fields)
    totals = [sum(int(part[place] or 0) for part in parts) for place in range(width)]
    names = [field["name"] for field in fields]
    return Sums(totals[0], (totals[1], totals[2]), dict(zip(names, totals[3:], strict=True)))
