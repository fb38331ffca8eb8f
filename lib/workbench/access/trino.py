"""Trino as a route of `leaks`: its own questions, what a client learns of each, what is known to leak."""

import re
from collections.abc import Callable, Mapping
from contextlib import closing
from typing import Any

from workbench._base import identifiers
from workbench._base.errors import ArgumentError
from workbench.access.leaking import Route
from workbench.access.probes import Probe

_SHOWN = (  # what is the same for twins, of each of a table's metadata tables
    ("files", "record_count, value_counts, null_value_counts, lower_bounds, upper_bounds"),
    ("entries", "status, readable_metrics"),
    ("all_entries", "status, readable_metrics"),
    ("snapshots", "operation, summary['total-records'], summary['total-files-size']"),
    ("history", "count(*)"),
    ("manifests", "added_rows_count, partition_summaries"),
    ("all_manifests", "added_data_files_count, partition_summaries"),
    ("partitions", "record_count, file_count, total_size, data"),
    ("metadata_log_entries", "latest_schema_id"),
    ("properties", "key, value"),
    ("refs", "name, type"),
    ("data", "max(amount)"),
)
_COLUMNS = "information_schema.columns WHERE table_schema = '{schema}' AND table_name = '{name}'"
_CHANGES = "schema_name => '{schema}', table_name => '{name}', start_snapshot_id => 1, end_snapshot_id => 2"
_OTHERS = {
    "Trino: the file of a row": 'SELECT id, substr("$path", 1, 4) FROM {table} ORDER BY id',
    "Trino: the files of all rows": 'SELECT count(DISTINCT "$path") FROM {table}',
    "Trino: the partition of a row": 'SELECT id, "$partition" FROM {table} ORDER BY id',
    "Trino: the time of a file": 'SELECT count("$file_modified_time") FROM {table}',
    "Trino: statistics": "SHOW STATS FOR {table}",
    "Trino: statistics of a condition": "SHOW STATS FOR (SELECT * FROM {table} WHERE amount > 899)",
    "Trino: statistics of a hidden column": "SHOW STATS FOR (SELECT address FROM {table})",
    "Trino: plan": "EXPLAIN SELECT id, name FROM {table} WHERE name = 'Zed' AND amount > 899",
    "Trino: plan of all": "EXPLAIN SELECT count(*) FROM {table}",
    "Trino: plan of what is read": "EXPLAIN (TYPE IO, FORMAT JSON) SELECT * FROM {table} WHERE amount > 899",
    "Trino: plan in stages": "EXPLAIN (TYPE DISTRIBUTED) SELECT max(amount) FROM {table} WHERE id > 2",
    "Trino: plan with what it read": "EXPLAIN ANALYZE SELECT id FROM {table} WHERE amount > 15",
    "Trino: plan with all that it read": "EXPLAIN ANALYZE VERBOSE SELECT max(name) FROM {table}",
    "Trino: statement of the table": "SHOW CREATE TABLE {table}",
    "Trino: columns": "SHOW COLUMNS FROM {table}",
    "Trino: columns of the catalog": f"SELECT column_name, data_type FROM {_COLUMNS} ORDER BY 1",
    "Trino: an earlier version": "SELECT max(amount) FROM {table} FOR TIMESTAMP AS OF "
    "current_timestamp - INTERVAL '1' SECOND",
    "Trino: a branch": "SELECT max(amount) FROM {table} FOR VERSION AS OF 'main'",
    "Trino: changes": f"SELECT count(*) FROM TABLE({{catalog}}.system.table_changes({_CHANGES}))",
    "Trino: queries of all": "SELECT query FROM system.runtime.queries WHERE query LIKE '%{name}%'",
    "Trino: comments of tables": "SELECT * FROM system.metadata.table_comments WHERE table_name = '{name}'",
    "Trino: statistics turned on": "SET SESSION {catalog}.statistics_enabled = true",
    "Trino: a table by itself": "TABLE {table}",
    "Trino: a whole row": "SELECT ROW(t.id, t.name, t.state, t.amount) FROM {table} t ORDER BY t.id",
    "Trino: a row as JSON": "SELECT CAST(ROW(id, name, amount) AS JSON) FROM {table} ORDER BY id",
    "Trino: about how many differ": "SELECT approx_distinct(name), approx_distinct(amount) FROM {table}",
    "Trino: a digest of all": "SELECT checksum(name), checksum(amount) FROM {table}",
    "Trino: a digest of a hidden column": "SELECT checksum(address) FROM {table}",
    "Trino: greatest by a hidden column": "SELECT max_by(id, address) FROM {table}",
    "Trino: an error that is tried": "SELECT id, try(1 / (amount - 900)) FROM {table} ORDER BY id",
    "Trino: an error of a hidden text": "SELECT id FROM {table} WHERE CASE WHEN name IN ('Ann', 'Bo') "
    "THEN FALSE ELSE json_parse(name) IS NOT NULL END",
    "Trino: an error behind a condition": "SELECT id FROM {table} WHERE state = 'UK' AND 1 / (id - 3) < 9",
    "Trino: an error of a row of NULLs": "SELECT count(*) FROM {table} WHERE 1 / coalesce(id - id + 1, 0) > 5",
    "Trino: an error in a join": "SELECT count(*) FROM {table} a JOIN {table} b ON 1 / coalesce(a.id, 0) > b.id",
    "Trino: an error in a list": "SELECT 1 / coalesce(id, 0) AS n FROM {table} ORDER BY n",
    "Trino: an error before a condition": "SELECT id FROM {table} WHERE 1 / coalesce(id, 0) > -1 AND state = 'UK'",
    "Trino: an error in an order": "SELECT id FROM {table} ORDER BY 1 / coalesce(id, 0), id",
    "Trino: an error in groups": "SELECT count(*) FROM {table} GROUP BY 1 / coalesce(id, 0) ORDER BY 1",
    "Trino: an error in a greatest": "SELECT max(1 / coalesce(id, 0)) FROM {table}",
    "Trino: an error in a filter of a sum": "SELECT sum(id) FILTER (WHERE 1 / coalesce(id, 0) > 0) FROM {table}",
    "Trino: an error in a window": "SELECT sum(1 / coalesce(id, 0)) OVER (ORDER BY id) FROM {table}",
    "Trino: an error in a subquery": "SELECT 1 WHERE 1 IN (SELECT 1 / coalesce(id, 0) FROM {table})",
    "Trino: an error in a case": "SELECT id FROM {table} WHERE CASE WHEN id IS NULL THEN 1 / 0 > 1 ELSE TRUE END",
    "Trino: a lateral query": "SELECT n FROM {table} t CROSS JOIN LATERAL (SELECT t.amount + 1 AS n) ORDER BY n",
    "Trino: a pattern of rows": "SELECT m FROM {table} MATCH_RECOGNIZE (ORDER BY id MEASURES last(B.amount) AS m "
    "PATTERN (A B) DEFINE B AS B.amount > A.amount)",
}  # fmt: skip
PROBES = (
    *(Probe(f"Trino: ${name}", f'SELECT {shown} FROM {{schema}}."{{name}}${name}"') for name, shown in _SHOWN),
    *(Probe(name, statement) for name, statement in _OTHERS.items()),
)
READ = "what a query read"  # the probe's name of the route `counted`
COUNTED = (
    Probe(READ, "SELECT count(*) FROM {table}"),
    Probe(f"{READ} of names", "SELECT count(name) FROM {table}"),
)
_FIGURES = ("processedRows", "processedBytes", "physicalInputBytes")
_UNSTEADY = (  # of texts: what differs from run to run, and between twins
    (re.compile(r"@\d{10,}"), "@SNAPSHOT"),
    (re.compile(r"\b\d{8}_\d{6}_\d{5}_\w{5}\b"), "QUERY"),
    (re.compile(r"\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b"), "UUID"),
    (re.compile(r"-[0-9a-f]{32}\b"), "-UUID"),
    (re.compile(r"\d+(\.\d+)?(ns|us|ms|s|m|h|d)\b"), "TIME"),
)
_ROWS_READ = re.compile(r"\b(\d+) rows? \((\d+(?:\.\d+)?[kMGT]?B)\)")


def by_cursor(connect: Callable[[], Any], *, catalog: str) -> Route:
    """Return the route of somebody who sends statements by Trino's client, and reads the rows.

    Of a plan with figures of its run the rows and bytes count, as times differ by chance.

    Args:
        connect: returns a connection of the client's, as the reader, with the catalog of the tables.
        catalog: its name in Trino.
    """

    def route(probe: Probe, table: str) -> Any:
        with closing(connect()) as connection:
            cursor = connection.cursor()
            rows = _asked(cursor, probe, table, catalog)
            if probe.statement.startswith("EXPLAIN ANALYZE"):
                return [_ROWS_READ.findall(str(cell)) for row in rows for cell in row]
            names = [column[0] for column in cursor.description or ()]
            return {"names": names, "rows": [[_steady(cell) for cell in row] for row in rows]}

    return route


def counted(connect: Callable[[], Any], *, catalog: str) -> Route:
    """Return the route of somebody who looks at what Trino's client is told of a query beside its rows.

    Args:
        connect: as of `by_cursor`.
        catalog: as of `by_cursor`.
    """

    def route(probe: Probe, table: str) -> Any:
        with closing(connect()) as connection:
            cursor = connection.cursor()
            _asked(cursor, probe, table, catalog)
            return {name: cursor.stats.get(name) for name in _FIGURES}

    return route


def _asked(cursor: Any, probe: Probe, table: str, catalog: str) -> list[Any]:
    """Send a probe's statement and return its rows; what is refused says so without ids that differ.

    Raises:
        ArgumentError: the server refuses it.
        ConnectionError: no server answered, or it had too little time or memory to: that proves nothing.
    """
    parts = identifiers.parts(table)
    places = {"{table}": table, "{schema}": parts[0], "{name}": parts[-1], "{catalog}": catalog}
    statement = probe.statement
    for place, name in places.items():
        statement = statement.replace(place, name)
    try:
        cursor.execute(statement)
        return cursor.fetchall()
    except Exception as error:  # the client's, which is imported by whoever connects
        kind = getattr(error, "error_type", None)  # only what the server says has one
        if kind is None or kind == "INSUFFICIENT_RESOURCES":
            raise ConnectionError(f"Trino gave no answer to {probe.name}: {type(error).__name__}") from error
        raise ArgumentError(_steady(str(getattr(error, "message", "")))) from None


def _steady(value: Any) -> Any:
    """Return a text without what differs from run to run."""
    if isinstance(value, str):
        for pattern, word in _UNSTEADY:
            value = pattern.sub(word, value)
    return value


_ROWS = "EXPLAIN ANALYZE counts the rows that were read, hidden ones among them"
_BYTES = "EXPLAIN ANALYZE counts the bytes that were read, those of hidden cells among them"
_FIGURES_OF_ROWS = "the client is told the rows and bytes that were read, hidden rows among them"
_FIGURES_OF_BYTES = "the client is told the bytes that were read, those of hidden cells among them"
_PLANS = ("Trino: plan with what it read", "Trino: plan with all that it read", "plan with what it read")
# what tells the worlds of each kind apart, whatever the rules: probe to the reason; tried with Trino 476
KNOWN: Mapping[str, Mapping[str, str]] = {
    "cells": {_PLANS[1]: _BYTES},
    "rows": dict.fromkeys(_PLANS, _ROWS),
    "patterns": dict.fromkeys(_PLANS, _ROWS),
}
KNOWN_COUNTS: Mapping[str, Mapping[str, str]] = {
    "cells": {f"{READ} of names": _FIGURES_OF_BYTES},
    "rows": dict.fromkeys((READ, f"{READ} of names"), _FIGURES_OF_ROWS),
    "patterns": dict.fromkeys((READ, f"{READ} of names"), _FIGURES_OF_ROWS),
}
