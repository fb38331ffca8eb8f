"""What a record of Kafka may lack, its value, its key or its time, and what becomes of it: null is not empty.

A record without a value is a tombstone: compaction of a topic keeps it as the sign that its key is deleted. No
parser sees one: what it takes are bytes, and to a caller's own an empty value may well be a record.
"""

from workbench.streams.records.parsing import Parsed

KEY = "partition_key"  # the lineage column that takes a record's key
TIME = "approximate_arrival_timestamp"  # the one that takes its time
MAY_LACK = {KEY: "the record has no key", TIME: "the record has no time of the years 1 to 9999"}
TOMBSTONE = "tombstone"  # a dead record's reason
COLUMN = "_tombstone"  # of rows on their way: whether the record is one
KEYLESS = ("null", "dead", "empty")  # what the key of a record without one becomes


def aside(records, *, keyless="null", timed=False, tombstones=False):
    """Return what cannot become a row, for want of a value or a key or because of what its source says of it.

    Args:
        records: reading.Records.
        keyless: one of KEYLESS; with `dead` a record without a key is a dead letter.
        timed: whether a record without a time is a dead letter.
        tombstones: whether a record without a value becomes a row all the same, of nulls.

    Returns:
        dict, place to (reason, message).
    """
    found = {}
    if timed:
        found |= _without(TIME, records.arrived)
    if keyless == "dead":
        found |= _without(KEY, records.key)
    return (found if tombstones else found | stones(records.data)) | records.wrong


def _without(column, values):
    """Return what is said of the values of a required column that are null, as `aside`."""
    said = ("null_in_required", f"{MAY_LACK[column]}, and column {column!r} is required")
    return {n: said for n, one in enumerate(values) if one is None} if None in values else {}


def stones(data):
    """Return what is said of the values that are null, as `aside`."""
    if None not in data:
        return {}
    said = (TOMBSTONE, "the record has no value (null), which says that its key is deleted")
    return {n: said for n, one in enumerate(data) if one is None}


def parsed(parser, data, aside):
    """Parse values, but those that were put aside; a null one that was not becomes a row of nulls.

    Args:
        parser: function of a list of bytes that returns Parsed.
        data: list of bytes or None.
        aside: as `aside` returns it; these are dead.

    Returns:
        Parsed; its rows are None where there are no good ones and the parser was not asked.
    """
    none = [n for n, one in enumerate(data) if one is None and n not in aside]
    if not none and not aside:
        return parser(data)
    places = [n for n, one in enumerate(data) if one is not None and n not in aside]
    if not places and not none:
        return Parsed(None, [], sorted((n, *said) for n, said in aside.items()), 0)
    found = parser([data[n] for n in places])
    dead = [(places[n], *said) for n, *said in found.dead] + [(n, *said) for n, said in aside.items()]
    good = [places[n] for n in found.good]
    return Parsed(_with_nulls(found.rows, len(none)), good + none, sorted(dead), found.unknown)


def _with_nulls(rows, count):
    """Return an Arrow batch with rows of nulls behind its own; no column of it is required."""
    import pyarrow as pa

    if not count:
        return rows
    columns = [pa.concat_arrays([one, pa.nulls(count, one.type)]) for one in rows.columns]
    return pa.RecordBatch.from_arrays(columns, schema=pa.schema([one.with_nullable(True) for one in rows.schema]))
