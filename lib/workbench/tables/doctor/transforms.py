"""Which transform a partition field should have had: proposed from the values there are and from the bytes."""

import math
import re
from datetime import date, timedelta

from workbench._base import identifiers

DROP = "drop"
_TIMES = ("timestamp", "timestamptz", "timestamp_ns", "timestamptz_ns")
_UNITS = (("hour", 3600), ("day", 86400), ("month", 2629746), ("year", 31556952))  # mean seconds
_NUMBERS = ("int", "long")
_MOMENT = re.compile(r"([+-]?\d+)-(\d+)-(\d+)(?: (\d+):(\d+):(\d+(?:\.\d+)?))?")  # as Spark writes them
_CYCLE = 146_097  # days of 400 years, after which the calendar begins anew: Python's has 25 of these
_DAY_0 = date(1970, 1, 1)


def wrong(field, distinct, most):
    """Say why a field's transform is wrong in itself; None where it is only too fine.

    The identity of a moment makes a partition of each moment; that of an id or a key makes one of each. The
    identity of a date does not: it is the day.

    Args:
        field: of `Look.fields`.
        distinct: values it has.
        most: values from which on a column is one of high cardinality.
    """
    if field["transform"] != "identity" or field["type"] == "date":
        return None
    if field["type"] in _TIMES:
        return "one of each moment"
    return "one of each value" if distinct >= most else None


def proposed(field, values, wanted):
    """Return the transform that makes about the wanted number of partitions, or `DROP`.

    Args:
        field: of `Look.fields`.
        values: the field's partition values, as `Partition.values` has them.
        wanted: how many partitions would have the target size.

    Returns:
        `day`, `truncate(180)`, `bucket(16)`, … or `DROP` where one partition is enough.
    """
    there = [value for value in values if value is not None]
    if wanted <= 1 or not there:
        return DROP
    name = field["transform"].partition("[")[0]
    if field["type"] in (*_TIMES, "date"):
        return DROP if name == "bucket" else _unit(there, name, wanted)
    if name == "bucket":
        return f"bucket({_power(wanted)})"
    if field["type"] in _NUMBERS and all(isinstance(value, int) for value in there):
        # whole numbers that follow each other are keys of dates and the like: neighbours stay together
        width = max(1, math.ceil((max(there) - min(there) + 1) / wanted))
        return f"truncate({width})"
    if field["type"] == "string" and (length := _prefix(there, wanted)):
        return f"truncate({length})"
    return f"bucket({_power(wanted)})"


def _power(wanted):
    return 2 ** max(1, int(math.log2(wanted)))


def _prefix(values, wanted):
    """Return the longest prefix of texts that makes no more than the wanted number; None where none makes two."""
    longest = None
    for length in range(1, min(map(len, values))):
        kinds = len({value[:length] for value in values})
        if 1 < kinds <= wanted:
            longest = length
    return longest


def _unit(values, name, wanted):
    """Return the finest unit of time that makes no more than the wanted number of partitions."""
    seconds = [_seconds(value, name) for value in values]
    span = max(seconds) - min(seconds)
    return next((unit for unit, length in _UNITS if span / length + 1 <= wanted), DROP)


def _seconds(value, name):
    """Return a partition value of a time as seconds: hours, months and years are numbers, the others texts."""
    if isinstance(value, int):
        return value * dict(_UNITS).get(name.removesuffix("s"), 1)
    year, month, day, hour, minute, second = _MOMENT.fullmatch(value).groups("0")
    cycles, within = divmod(int(year), 400)
    days = (date(within + 400, int(month), int(day)) - _DAY_0).days + (cycles - 1) * _CYCLE
    return days * 86400 + int(hour) * 3600 + int(minute) * 60 + float(second)


def applied(transform, field, values):
    """Return which partition each present value of a field comes to under another transform.

    Exact for times, and for numbers and texts that are stored whole. Buckets go by a hash that the present
    values may not tell: the values are dealt out evenly.

    Args:
        transform: of `proposed`.
        field: of `Look.fields`.
        values: the field's partition values; None stays by itself.

    Returns:
        dict, value to what stands for its new partition; one for all under `DROP`.
    """
    there = sorted({value for value in values if value is not None}, key=lambda one: (str(type(one)), one))
    if transform == DROP:
        return dict.fromkeys([*there, None])
    name, _, width = transform.removesuffix(")").partition("(")
    if name == "bucket":
        made = {value: n % int(width) for n, value in enumerate(there)}
    elif name == "truncate":
        made = {one: one[: int(width)] if isinstance(one, str) else one // int(width) for one in there}
    else:
        present = field["transform"].removesuffix("s")
        made = {value: _in_unit(value, present, name) for value in there}
    return made | {None: "none"}


def _in_unit(value, present, unit):
    """Return a partition value of a time in a coarser unit."""
    if present == "year":
        return value
    if present == "month":
        return value // 12 if unit == "year" else value
    upto = ("year", "month", "day", "hour").index(unit) + 1
    if not isinstance(value, int):
        return tuple(int(place) for place in _MOMENT.fullmatch(value).groups("0")[:upto])
    days, hour = divmod(value, 24)
    cycles, within = divmod(days, _CYCLE)
    found = _DAY_0 + timedelta(within)
    return (found.year + 400 * cycles, found.month, found.day, hour)[:upto]


def said(transform, field, wanted, others):
    """Return the proposal as a sentence.

    Args:
        transform: of `proposed`.
        field: of `Look.fields`.
        wanted: how many partitions of all fields would have the target size.
        others: how many partitions the other fields make.
    """
    if transform != DROP:
        return f"partition by {_term(transform, field['quoted'])}"
    if wanted <= 1:
        why = "all of it is less than two files of the target size"
    elif others > 1:
        why = f"the other fields make {others:,} already, and {wanted:,} would have the target size"
    else:
        why = f"no unit of it makes so few as {wanted:,}, which would have the target size"
    return f"do not partition by {field['column']}: {why}"


def statement(table, field, transform):
    """Return the statement that changes one field of a table's partitioning.

    Args:
        table: its name as a statement has it.
        field: of `Look.fields`.
        transform: of `proposed`.
    """
    name = identifiers.column(field["name"])
    if transform == DROP:
        return f"ALTER TABLE {table} DROP PARTITION FIELD {name}"
    return f"ALTER TABLE {table} REPLACE PARTITION FIELD {name} WITH {_term(transform, field['quoted'])}"


def divided(table, fields, columns, partition, policy):
    """Return the statement that divides a table's partitions further: a finer time, or buckets of a column.

    Args:
        table: its name as a statement has it.
        fields: of `Look.fields`.
        columns: that queries ask by; a bucket of the first one that is no partition field is taken.
        partition: the one that is too large.
        policy: Policy, for the target size.
    """
    finer = {"year": "month", "month": "day", "day": "hour"}
    for field in fields:
        if field["transform"] in finer and dict(partition.values)[field["name"]] is not None:
            if field["type"] == "date" and field["transform"] == "day":
                continue
            return statement(table, field, finer[field["transform"]])
    parts = _power(max(2, partition.bytes // policy.target_file_bytes))
    free = [name for name in columns if name not in {field["column"] for field in fields}]
    column = identifiers.column(free[0]) if free else "<column that queries ask by>"
    return f"ALTER TABLE {table} ADD PARTITION FIELD bucket({parts}, {column})"


def _term(transform, quoted):
    name, _, width = transform.removesuffix(")").partition("(")
    return f"{name}({width}, {quoted})" if width else f"{name}({quoted})"
