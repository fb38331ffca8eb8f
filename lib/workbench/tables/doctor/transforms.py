"""Propose the transform that a partition field should have had, from its present values and the bytes."""

import math
import re
from collections.abc import Sequence
from datetime import date, timedelta
from typing import Any

from workbench._base import identifiers
from workbench._base.errors import ArgumentError
from workbench.tables.doctor.looking import Field, Partition
from workbench.tables.maintenance import Policy

DROP = "drop"
_TIMES = ("timestamp", "timestamptz", "timestamp_ns", "timestamptz_ns")
_UNITS = (("hour", 3600), ("day", 86400), ("month", 2629746), ("year", 31556952))  # mean seconds
_NUMBERS = ("int", "long")
_MOMENT = re.compile(r"([+-]?\d+)-(\d+)-(\d+)(?: (\d+):(\d+):(\d+(?:\.\d+)?))?")  # as Spark writes them
_CYCLE = 146_097  # days of 400 years, after which the calendar begins anew: Python's has 25 of these
_DAY_0 = date(1970, 1, 1)


def wrong(field: Field, distinct: int, most: int) -> str | None:
    """Return why a field's transform is wrong in itself; None where it is only too fine.

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


def proposed(field: Field, values: Sequence[Any], count: int) -> str:
    """Return the transform that makes about so many partitions, or `DROP`.

    Args:
        field: of `Look.fields`.
        values: the field's partition values, as `Partition.values` has them.
        count: how many partitions would have the target size.

    Returns:
        `day`, `truncate(180)`, `bucket(16)`, … or `DROP` where one partition is enough.
    """
    known = [value for value in values if value is not None]
    if count <= 1 or not known:
        return DROP
    name = field["transform"].partition("[")[0]
    if field["type"] in (*_TIMES, "date"):
        return DROP if name == "bucket" else _unit(known, name, count)
    if name == "bucket":
        return f"bucket({_power(count)})"
    if field["type"] in _NUMBERS and all(isinstance(value, int) for value in known):
        # whole numbers that follow each other are keys of dates and the like: neighbours stay together
        width = max(1, math.ceil((max(known) - min(known) + 1) / count))
        return f"truncate({width})"
    if field["type"] == "string" and (length := _prefix(known, count)):
        return f"truncate({length})"
    return f"bucket({_power(count)})"


def _power(count: int) -> int:
    return 2 ** max(1, int(math.log2(count)))


def _prefix(values: Sequence[Any], count: int) -> int | None:
    """Return the longest prefix of texts that makes no more than so many; None where none makes two."""
    longest = None
    for length in range(1, min(map(len, values))):
        kinds = len({value[:length] for value in values})
        if 1 < kinds <= count:
            longest = length
    return longest


def _unit(values: Sequence[Any], name: str, count: int) -> str:
    """Return the finest unit of time that makes no more than so many partitions."""
    seconds = [_seconds(value, name) for value in values]
    span = max(seconds) - min(seconds)
    return next((unit for unit, length in _UNITS if span / length + 1 <= count), DROP)


def _seconds(value: int | str, name: str) -> float:
    """Return a partition value of a time as seconds: hours, months and years are numbers, the others texts."""
    if isinstance(value, int):
        return value * dict(_UNITS).get(name.removesuffix("s"), 1)
    year, month, day, hour, minute, second = _places(value)
    cycles, within = divmod(int(year), 400)
    days = (date(within + 400, int(month), int(day)) - _DAY_0).days + (cycles - 1) * _CYCLE
    return days * 86400 + int(hour) * 3600 + int(minute) * 60 + float(second)


def _places(text: str) -> tuple[str, ...]:
    """Return year, month, day, hour, minute and second of a moment's text."""
    match = _MOMENT.fullmatch(text)
    if match is None:
        raise ArgumentError(f"{text!r} is not a moment as Spark writes one")
    return match.groups("0")


def applied(transform: str, field: Field, values: Sequence[Any]) -> dict[Any, Any]:
    """Return which partition each present value of a field comes to under another transform.

    Exact for times, and for numbers and texts that are stored whole. Buckets go by a hash that the present
    values may not show: the values are dealt out evenly.

    Args:
        transform: of `proposed`.
        field: of `Look.fields`.
        values: the field's partition values; None stays by itself.

    Returns:
        dict, value to what stands for its new partition; one for all under `DROP`.
    """
    known = sorted({value for value in values if value is not None}, key=lambda value: (str(type(value)), value))
    if transform == DROP:
        return dict.fromkeys([*known, None])
    name, _, width = transform.removesuffix(")").partition("(")
    places: dict[Any, Any]
    if name == "bucket":
        places = {value: n % int(width) for n, value in enumerate(known)}
    elif name == "truncate":
        places = {value: value[: int(width)] if isinstance(value, str) else value // int(width) for value in known}
    else:
        present = field["transform"].removesuffix("s")
        places = {value: _in_unit(value, present, name) for value in known}
    return places | {None: "none"}


def _in_unit(value: Any, present: str, unit: str) -> Any:
    """Return a partition value of a time in a coarser unit."""
    if present == "year":
        return value
    if present == "month":
        return value // 12 if unit == "year" else value
    upto = ("year", "month", "day", "hour").index(unit) + 1
    if not isinstance(value, int):
        return tuple(int(place) for place in _places(value)[:upto])
    days, hour = divmod(value, 24)
    cycles, within = divmod(days, _CYCLE)
    moment = _DAY_0 + timedelta(within)
    return (moment.year + 400 * cycles, moment.month, moment.day, hour)[:upto]


def sentence(transform: str, field: Field, count: int, others: int) -> str:
    """Return the proposal as a sentence.

    Args:
        transform: of `proposed`.
        field: of `Look.fields`.
        count: how many partitions of all fields would have the target size.
        others: how many partitions the other fields make.
    """
    if transform != DROP:
        return f"partition by {_term(transform, field['quoted'])}"
    if count <= 1:
        why = "all of it is less than two files of the target size"
    elif others > 1:
        why = f"the other fields make {others:,} already, and {count:,} would have the target size"
    else:
        why = f"no unit of it makes so few as {count:,}, which would have the target size"
    return f"do not partition by {field['column']}: {why}"


def statement(table: str, field: Field, transform: str) -> str:
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


def divided(
    table: str, fields: Sequence[Field], columns: Sequence[str], partition: Partition, policy: Policy
) -> str:
    """Return the statement that divides a table's partitions further: a finer time, or buckets of a column.

    Args:
        table: its name as a statement has it.
        fields: of `Look.fields`.
        columns: that queries ask by; a bucket of the first one that is not a partition field is taken.
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


def _term(transform: str, quoted: str) -> str:
    name, _, width = transform.removesuffix(")").partition("(")
    return f"{name}({width}, {quoted})" if width else f"{name}({quoted})"
