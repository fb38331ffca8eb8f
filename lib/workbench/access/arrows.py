"""What a principal sees of a table, as an Arrow table: read by PyIceberg, evaluated here.

No condition is handed to PyIceberg: its NOT IN keeps NULL, which would show what is hidden.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from workbench._base.door import checked
from workbench._base.errors import ArgumentError
from workbench._base.typing import Judged
from workbench.access.conditions import ALWAYS, Condition, Predicate
from workbench.access.deciding import HIDDEN, Decision, refuse_other_columns, refuse_other_table
from workbench.access.statements import columns_of
from workbench.access.typing import Array, ArrowTable, IcebergTable


@checked
def arrow(
    table: Judged[IcebergTable], decision: Judged[Decision], *, snapshot_id: int | None = None
) -> ArrowTable:
    """Return what a principal sees of a table.

    Args:
        table: PyIceberg's Table, the one that was decided on.
        decision: as `decide` returns it, for the schema that is read.
        snapshot_id: version that is read; left out, the current one.

    Returns:
        pyarrow.Table, one row a visible row, in the order of the files: the columns that the principal sees in
        some row, hidden cells null, and `_hidden`, a list of the names of a row's hidden cells. All files of the
        table are read, batch by batch: only visible rows are kept in memory.

    Raises:
        NothingVisible: the principal sees nothing of it.
        ArgumentError: it is another table than was decided on, or its columns are others by now; a column is named
            `_hidden`; no such snapshot.
    """
    import pyarrow as pa

    refuse_other_table(decision, str(table.metadata.table_uuid))
    columns_of(decision)
    if snapshot_id is not None and table.snapshot_by_id(snapshot_id) is None:
        raise ArgumentError(f"{decision.table} has no snapshot {snapshot_id}")
    scan = table.scan(snapshot_id=snapshot_id)
    refuse_other_columns(decision, scan.projection())
    batches = scan.select(*decision.needed).to_arrow_batch_reader()
    pieces = [governed(pa.Table.from_batches([batch]), decision) for batch in batches]
    return pa.concat_tables(pieces) if pieces else governed(batches.schema.empty_table(), decision)


def governed(rows: ArrowTable, decision: Decision) -> ArrowTable:
    """Return what a principal sees of rows.

    Args:
        rows: with at least the columns that the decision needs, under their names in it.
        decision: whose columns and conditions.
    """
    import numpy as np
    import pyarrow as pa
    import pyarrow.compute as pc

    if decision.row != ALWAYS:
        rows = rows.filter(holds(decision.row, rows))  # where it is TRUE: null is dropped
    columns, hidden, numbers = {}, {}, pa.array(np.arange(rows.num_rows))
    for column in columns_of(decision):
        cells = rows.column(column.name)
        if column.condition != ALWAYS:
            visible = pc.fill_null(holds(column.condition, rows), False)
            cells = cells.take(pc.if_else(visible, numbers, None))  # `if_else` itself does not know all types
            hidden[column.name] = ~visible.to_numpy(zero_copy_only=False)
        columns[column.name] = cells
    listed = _lists(hidden, rows.num_rows)
    fields = [pa.field(name, cells.type) for name, cells in columns.items()]
    return pa.Table.from_arrays(
        [*columns.values(), listed], schema=pa.schema([*fields, pa.field(HIDDEN, listed.type)])
    )


def _lists(hidden: Mapping[str, Any], count: int) -> Array:
    """Return for each row the names whose cells are hidden in it."""
    import numpy as np
    import pyarrow as pa

    cells = np.column_stack([*hidden.values()]) if hidden else np.zeros((count, 0), bool)
    offsets = np.concatenate([[0], np.cumsum(cells.sum(axis=1))])
    names = pa.array([*hidden], pa.string()).take(pa.array(np.nonzero(cells)[1]))
    return pa.ListArray.from_arrays(pa.array(offsets, pa.int32()), names)


def holds(condition: Condition, rows: ArrowTable) -> Array:
    """Return for each row whether a condition is true, false or unknown (null)."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if isinstance(condition, Predicate):
        return _compared(condition, rows.column(condition.column).combine_chunks())
    parts = [holds(part, rows) for part in condition.parts]
    if condition.operator == "NOT":
        return pc.invert(parts[0])
    result = pa.array([condition.operator == "AND"] * rows.num_rows, pa.bool_())
    for part in parts:
        result = (pc.and_kleene if condition.operator == "AND" else pc.or_kleene)(result, part)
    return result


def _compared(predicate: Predicate, cells: Array) -> Array:
    import pyarrow as pa
    import pyarrow.compute as pc

    if predicate.operator == "IS NULL":
        return cells.is_null()
    kinds = {"text": pa.large_string(), "integer": pa.int64(), "double": pa.float64(), "boolean": pa.bool_()}
    kind = kinds.get(str(predicate.kind)) or pa.decimal128(*map(int, re.findall("[0-9]+", str(predicate.kind))))
    cells = cells.cast(kind)
    if predicate.kind == "double":
        cells = pc.if_else(pc.is_nan(cells), pa.scalar(None, kind), cells)
    if predicate.operator == "LIKE":
        return pc.match_substring_regex(cells, _regex(str(predicate.values[0])))
    values = [pa.scalar(value, kind) for value in predicate.values]
    if predicate.operator == "BETWEEN":
        return pc.and_kleene(pc.greater_equal(cells, values[0]), pc.less_equal(cells, values[1]))
    if predicate.operator == "IN":
        among = pa.array(predicate.values, kind)
        if predicate.kind == "double":  # 0 is not -0 to is_in
            cells, among = pc.add(cells, 0.0), pc.add(among, 0.0)
        among = pc.is_in(cells, value_set=among)
        return pc.if_else(cells.is_valid(), among, pa.scalar(None, pa.bool_()))
    return _operators()[predicate.operator](cells, values[0])


def _operators() -> dict[str, Any]:
    import pyarrow.compute as pc

    return {"=": pc.equal, "<>": pc.not_equal, "<": pc.less, "<=": pc.less_equal, ">": pc.greater,
            ">=": pc.greater_equal}  # fmt: skip


def _regex(pattern: str) -> str:
    """Return the pattern of a LIKE as a regular expression of RE2."""
    return "(?s)\\A" + "".join(_signs(pattern)) + "\\z"


def _signs(pattern: str) -> Iterator[str]:
    for sign in pattern:
        yield {"%": ".*", "_": "."}.get(sign) or re.escape(sign)
