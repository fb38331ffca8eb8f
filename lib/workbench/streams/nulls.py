"""Records of Kafka without a value, a key or a time, and where they go: null is not the same as empty.

A record without a value is a tombstone: compaction of a topic keeps it as the sign that its key is deleted. No
parser sees one: what it takes are bytes, and to a caller's own an empty value may well be a record.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, cast

from workbench.records.parsing import Parse, Parsed

if TYPE_CHECKING:
    from workbench.streams.readers.reading import Records

Aside = dict[int, tuple[str, str]]  # place to (reason, message)
KEY = "partition_key"  # the lineage column that takes a record's key
TIME = "approximate_arrival_timestamp"  # the one that takes its time
MAY_LACK = {KEY: "the record has no key", TIME: "the record has no time of the years 1 to 9999"}
TOMBSTONE = "tombstone"  # a dead record's reason
COLUMN = "_tombstone"  # of rows on their way: whether the record is one
KEYLESS = ("null", "dead", "empty")  # what the key of a record without one becomes


def aside(records: "Records", *, keyless: str = "null", timed: bool = False, tombstones: bool = False) -> Aside:
    """Return what cannot become a row, for want of a value or a key or because of what its source says of it.

    Args:
        records: reading.Records.
        keyless: one of KEYLESS; with `dead` a record without a key is a dead letter.
        timed: whether a record without a time is a dead letter.
        tombstones: whether a record without a value becomes a row all the same, of nulls.

    Returns:
        dict, place to (reason, message).
    """
    reasons: Aside = {}
    if timed:
        reasons |= _without(TIME, records.arrived)
    if keyless == "dead":
        reasons |= _without(KEY, records.key)
    return (reasons if tombstones else reasons | stones(records.data)) | records.wrong


def _without(column: str, values: Sequence[object]) -> Aside:
    """Return a reason for each null in a required column, as `aside`."""
    return _each_null(values, "null_in_required", f"{MAY_LACK[column]}, and column {column!r} is required")


def stones(data: Sequence[bytes | None]) -> Aside:
    """Return a reason for each value that is null, as `aside`."""
    return _each_null(data, TOMBSTONE, "the record has no value (null), which says that its key is deleted")


def _each_null(values: Sequence[object], reason: str, message: str) -> Aside:
    return {n: (reason, message) for n, value in enumerate(values) if value is None} if None in values else {}


def parsed(parser: Parse, data: list[bytes | None], aside: Aside) -> Parsed:
    """Parse values, but those that were put aside; a null one that was not becomes a row of nulls.

    Args:
        parser: function of a list of bytes that returns Parsed.
        data: list of bytes or None.
        aside: as `aside` returns it; these are dead.

    Returns:
        Parsed; its rows are None where there are no good ones and the parser was not asked.
    """
    none = [n for n, value in enumerate(data) if value is None and n not in aside]
    if not none and not aside:
        return parser(cast(list[bytes], data))
    present = {n: value for n, value in enumerate(data) if value is not None and n not in aside}
    dead = [(n, reason, message) for n, (reason, message) in aside.items()]
    if not present and not none:
        return Parsed(None, [], sorted(dead), 0)
    result, places = parser([*present.values()]), [*present]
    dead += [(places[n], reason, message) for n, reason, message in result.dead]
    good = [places[n] for n in result.good]
    return Parsed(_with_nulls(result.rows, len(none)), good + none, sorted(dead), result.unknown)


def _with_nulls(rows: Any, count: int) -> Any:
    """Return an Arrow batch with rows of nulls behind its own; no column of it is required."""
    import pyarrow as pa

    if not count:
        return rows
    columns = [pa.concat_arrays([column, pa.nulls(count, column.type)]) for column in rows.columns]
    schema = pa.schema([field.with_nullable(True) for field in rows.schema])
    return pa.RecordBatch.from_arrays(columns, schema=schema)
