"""Two worlds that a reader must not be able to tell apart: tables that differ in what the reader may not see.

A third table, the twin of the first, has the same rows: what differs between twins (file names, snapshot ids)
tells nothing of the rows.
"""

from collections.abc import Mapping
from typing import Any, Literal

from workbench._base.door import checked
from workbench.access import reading
from workbench.access.policies import Policy
from workbench.access.typing import ArrowTable

READER = "reader"
Kind = Literal["cells", "rows", "patterns", "cell_patterns"]
_COLUMNS = ("id", "name", "state", "amount", "address")
_VISIBLE = [(1, "Ann", "UK", 10), (2, "Bo", "UK", 20), (5, None, "UK", None)]
# state is visible to a reader of cells, so that it is the same in both
_CELLS = [(3, "Zed", "FR", 900), (4, None, "NO", None)], [(3, "7", "FR", 901), (4, "Al", "NO", -5)]
_HIDDEN: Mapping[str, tuple[list[tuple[Any, ...]], list[tuple[Any, ...]]]] = {
    "cells": _CELLS,
    "cell_patterns": _CELLS,
    "rows": ([(3, "Zed", "FR", 900)], [(0, "7", "NO", 901), (4, "Al", "DE", -5), (6, "Zed", "DE", None)]),
    "patterns": ([(3, "Zed", "FR", 900)], []),
}


@checked
def rows(kind: Kind) -> tuple[ArrowTable, ArrowTable]:
    """Return the rows of both worlds; the twin has those of the first.

    Args:
        kind: `cells`, where a reader may see `name` and `amount` of rows with state UK, never `address`, and all
            of `id` and `state`; `rows`, where a reader may see rows with state UK only, without `address`;
            `patterns`, the same, and names by a LIKE too, which Spark asks last; the second world hides no row;
            `cell_patterns`, as `cells` by a LIKE, so that Spark could ask the reader's condition of a cell first.

    Returns:
        Two pyarrow.Table of id and amount (long), name, state and address (string).
    """
    import pyarrow as pa

    longs, schema = ("id", "amount"), []
    for name in _COLUMNS:
        schema.append((name, pa.int64() if name in longs else pa.string()))
    tables = []
    for address, sign, hidden in zip(("North", "South"), (1, -1), _HIDDEN[kind], strict=True):
        together = sorted([*_VISIBLE, *hidden])
        records = [dict(zip(_COLUMNS, (*row, f"{address} {9 + sign * row[0]}"), strict=True)) for row in together]
        tables.append(pa.Table.from_pylist(records, pa.schema(schema)))
    return tables[0], tables[1]


@checked
def policy(kind: Kind, tables: Mapping[str, Mapping[str, int]]) -> Policy:
    """Return the policy by which the reader of the worlds reads them.

    Args:
        kind: as of `rows`.
        tables: name of a table to {column: field id}.

    Returns:
        Policy with the principal `reader`.
    """
    grants, filters = [], {}
    for number, table in enumerate(tables):
        where = "state LIKE 'U_'" if kind == "cell_patterns" else "state = 'UK'"
        filters[f"uk{number}"] = {"table": table, "where": where}
        grant = {"to": READER, "by": "owner", "table": table}
        grants.append(grant | {"all_but": ["address"], "filter": f"uk{number}"})
        if kind in ("cells", "cell_patterns"):
            grants.append(grant | {"columns": ["id", "state"]})
        if kind == "patterns":
            filters[f"like{number}"] = {"table": table, "where": "state LIKE 'U_'"}
            grants.append(grant | {"columns": ["name", "state"], "filter": f"like{number}"})
    columns = {
        table: {"columns": {name: {"id": ids[name], "tags": {}} for name in _COLUMNS}}
        for table, ids in tables.items()
    }
    values = {"principals": {READER: {}}, "administrators": ["owner"], "tables": columns}
    return reading.judged(values | {"filters": filters, "grants": grants}, "the policy of the worlds")
