"""A schema for a new stream or topic of JSON records, proposed from a sample; a person decides."""

import json
import re
from dataclasses import dataclass

from workbench._base.errors import ArgumentError
from workbench.streams import aggregates
from workbench.streams.readers import reading, shards
from workbench.streams.records import types

_LARGEST = 2**63 - 1
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


@dataclass(frozen=True)
class Proposal:
    """What a sample says.

    Attributes:
        schema: Spark DDL for `Json`.
        records: how many were looked at.
        not_objects: how many of them are no JSON object; those without a value are among them.
        mixed: fields whose values are of kinds that no one type holds; they are STRING in the schema, and their
            records would be dead letters: field to the kinds.
    """

    schema: str
    records: int
    not_objects: int
    mixed: dict


def propose(source, *, records=1_000):
    """Propose a schema from the first records that a source gives.

    Whole numbers become BIGINT, those that neither it nor a double holds DECIMAL(38, 0), others DOUBLE; texts that
    all are dates or times there are DATE or TIMESTAMP; a field that each record of the sample has, and never null,
    is NOT NULL. What a sample does not show it cannot say: exact
    decimals and fields that are seldom null are for whoever knows the data.

    Args:
        source: Source or Topic; nothing is kept of the reading.
        records: how many to look at, at most.

    Returns:
        Proposal.

    Raises:
        StreamNotFound: there is no such stream or topic.
        ValueError: there is no record, or none is a JSON object.
    """
    if isinstance(records, bool) or not isinstance(records, int) or records < 1:
        raise ArgumentError(f"records is a whole number from 1, not {records!r}")
    objects, seen, packed = [], 0, 0
    for raw in _sample(source, records):
        seen += 1
        if raw is None:
            continue
        try:
            value = json.loads(raw, parse_constant=_refused)  # NaN and the like are none of JSON
        except ValueError:
            packed += aggregates.reason(raw) is not None
            continue
        objects += [value] if isinstance(value, dict) else []
    if not objects:
        raise ArgumentError(
            f"{source.stream} gave {seen} records and none is a JSON object; there is nothing to propose"
            + (f". {packed} of them are aggregates of the Kinesis Producer Library" if packed else "")
        )
    mixed = {}
    return Proposal(", ".join(_fields(objects, "", mixed)), seen, seen - len(objects), mixed)


def _sample(source, records):
    stream = source.describe()
    at, left = source.begin(stream), records
    for task in shards.plan(stream, at, records):
        for found in source.read(task, reading.Progress(task.position or None)):
            yield from found.data[:left]
            left -= min(left, len(found))
            if not left:
                return


def _fields(objects, path, mixed):
    """Return the columns of objects as DDL, in the order in which they came."""
    names = dict.fromkeys(name for one in objects for name in one)
    found = []
    for name in names:
        values = [one[name] for one in objects if one.get(name) is not None]
        kind = _kind(values, f"{path}{name}", mixed)
        quoted = name if _NAME.fullmatch(name) else "`" + name.replace("`", "``") + "`"
        glue = ": " if path else " "
        found.append(f"{quoted}{glue}{kind}{' NOT NULL' if len(values) == len(objects) else ''}")
    return found


def _kind(values, path, mixed):
    """Return the type that holds all values, as DDL."""
    kinds = {types.kind(one) for one in values}
    if len(kinds) > 1:
        mixed[path] = sorted(kinds)
    if len(kinds) != 1:
        return "STRING"
    kind = kinds.pop()
    if kind == "object":
        inner = _fields(values, f"{path}.", mixed) if any(values) else []
        return f"STRUCT<{', '.join(inner)}>" if inner else "STRING"
    if kind == "array":
        return f"ARRAY<{_kind([one for each in values for one in each if one is not None], f'{path}[]', mixed)}>"
    if kind == "number":
        whole = all(type(one) is int for one in values)
        if whole and all(abs(one) <= _LARGEST for one in values):
            return "BIGINT"
        exact = whole and not _fit("double", values) and _fit("decimal(38,0)", values)
        return "DECIMAL(38, 0)" if exact else "DOUBLE"
    if kind == "boolean":
        return "BOOLEAN"
    return next((one for one in ("DATE", "TIMESTAMP") if _fit(one.lower(), values)), "STRING")


def _fit(kind, values):
    """Say whether each value becomes one of a type, in Spark's JSON form."""
    convert = types.converter(kind)
    try:
        return all(convert(one) is not None for one in values)
    except types.Bad:
        return False


def _refused(text):
    raise ArgumentError(f"{text} is no JSON number")
