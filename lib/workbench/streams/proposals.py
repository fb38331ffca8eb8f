"""A schema for a new stream or topic of JSON records, proposed from a sample; a person decides."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, Any, NoReturn

from workbench._base import identifiers
from workbench._base.bounds import Ge
from workbench._base.door import checked
from workbench._base.errors import ArgumentError
from workbench._base.typing import Judged
from workbench.records import aggregates, types
from workbench.streams.readers import reading, shards
from workbench.streams.readers.sources import RecordSource

_LARGEST = 2**63 - 1
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


@dataclass(frozen=True)
class Proposal:
    """What a sample says.

    Attributes:
        schema: Spark DDL for `Json`.
        records: how many were looked at.
        not_objects: how many of them are not a JSON object; those without a value are among them.
        mixed: fields whose values are of kinds that no one type holds; they are STRING in the schema, and their
            records would be dead letters: field to the kinds.
    """

    schema: str
    records: int
    not_objects: int
    mixed: dict[str, list[str]]


@checked
def propose(source: Judged[RecordSource], *, records: Annotated[int, Ge(1)] = 1_000) -> Proposal:
    """Propose a schema from the first records that a source gives.

    Whole numbers become BIGINT, those that neither it nor a double holds DECIMAL(38, 0), others DOUBLE; texts that
    are all dates or times of the calendar DATE or TIMESTAMP; a field that each record of the sample has, and
    never null, is NOT NULL. What a sample does not show it cannot say: exact decimals, and fields that are seldom
    null, are for somebody who knows the data.

    Args:
        source: Source or Topic; nothing is kept of the reading.
        records: how many to look at, at most.

    Returns:
        Proposal.

    Raises:
        StreamNotFound: there is no such stream or topic.
        ValueError: there is no record, none is a JSON object, or a field has a name that no schema can have.
    """
    objects: list[dict[str, Any]] = []
    seen = packed = 0
    for raw in _sample(source, records):
        seen += 1
        if raw is None:
            continue
        try:
            value = json.loads(raw, parse_constant=_refused)  # NaN and the like are not JSON
        except ValueError:
            packed += aggregates.reason(raw) is not None
            continue
        objects += [value] if isinstance(value, dict) else []
    if not objects:
        raise ArgumentError(
            f"{source.stream} gave {seen} records and none is a JSON object; there is nothing to propose"
            + (f". {packed} of them are aggregates of the Kinesis Producer Library" if packed else "")
        )
    mixed: dict[str, list[str]] = {}
    return Proposal(", ".join(_fields(objects, "", mixed)), seen, seen - len(objects), mixed)


def _sample(source: RecordSource, records: int) -> Iterator[bytes | None]:
    stream = source.describe()
    at, missing = source.begin(stream), records
    for task in shards.plan(stream, at, records):
        for answer in source.read(task, reading.Progress(task.position or None)):
            yield from answer.data[:missing]
            missing -= min(missing, len(answer))
            if not missing:
                return


def _fields(objects: list[dict[str, Any]], path: str, mixed: dict[str, list[str]]) -> list[str]:
    """Return the columns of objects as DDL, in the order in which they came."""
    columns = []
    for name in dict.fromkeys(name for record in objects for name in record):
        values = [record[name] for record in objects if record.get(name) is not None]
        kind = _kind(values, f"{path}{name}", mixed)
        quoted = name if _NAME.fullmatch(name) else identifiers.in_sql(name)
        glue = ": " if path else " "
        columns.append(f"{quoted}{glue}{kind}{' NOT NULL' if len(values) == len(objects) else ''}")
    return columns


def _kind(values: list[Any], path: str, mixed: dict[str, list[str]]) -> str:
    """Return the type that holds all values, as DDL."""
    kinds = {types.kind(value) for value in values}
    if len(kinds) > 1:
        mixed[path] = sorted(kinds)
    if len(kinds) != 1:
        return "STRING"
    kind = kinds.pop()
    if kind == "object":
        inner = _fields(values, f"{path}.", mixed) if any(values) else []
        return f"STRUCT<{', '.join(inner)}>" if inner else "STRING"
    if kind == "array":
        items = [item for array in values for item in array if item is not None]
        return f"ARRAY<{_kind(items, f'{path}[]', mixed)}>"
    if kind == "number":
        whole = all(type(value) is int for value in values)
        if whole and all(abs(value) <= _LARGEST for value in values):
            return "BIGINT"
        exact = whole and not _fit("double", values) and _fit("decimal(38,0)", values)
        return "DECIMAL(38, 0)" if exact else "DOUBLE"
    if kind == "boolean":
        return "BOOLEAN"
    return next((name for name in ("DATE", "TIMESTAMP") if _fit(name.lower(), values)), "STRING")


def _fit(kind: str, values: list[Any]) -> bool:
    """Tell whether each value becomes one of a type, in Spark's JSON form."""
    convert = types.converter(kind)
    try:
        return all(convert(value) is not None for value in values)
    except types.Bad:
        return False


def _refused(text: str) -> NoReturn:
    raise ArgumentError(f"{text} is not a JSON number")
