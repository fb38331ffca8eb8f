"""A run and its reports as JSON, and back: what is left of a log that is no longer there.

    path.write_text(json.dumps(documents.document(run, reports)))
    run, reports = documents.read(json.loads(path.read_text()))

Lists of one kind, as tasks, are a table: the names of the columns once, and a row each.
"""

import functools
import typing
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from datetime import UTC, datetime
from typing import Any

from workbench._base.door import checked
from workbench._base.errors import ArgumentError
from workbench.metrics.reports import NONE, Reports
from workbench.metrics.runs import Run

VERSION = 1


@checked
def document(run: Run, reports: Reports = NONE) -> dict[str, Any]:
    """Return a run and its reports as JSON has them.

    Args:
        run: of `events.read`.
        reports: of `reports.read`.

    Returns:
        dict of texts, numbers, lists and dicts; moments are ISO texts in UTC.
    """
    return {"version": VERSION, "run": _plain(run), "reports": _plain(reports)}


@checked
def read(content: Mapping[str, Any]) -> tuple[Run, Reports]:
    """Return the run and the reports that `document` wrote.

    Args:
        content: as JSON has it.

    Returns:
        Run and Reports, equal to those that were written.

    Raises:
        ValueError: it is of another version, or a field is missing or of another kind.
    """
    if content.get("version") != VERSION:
        raise ArgumentError(f"it has version {content.get('version')}; this library reads version {VERSION}")
    try:
        return _built(Run, content["run"]), _built(Reports, content["reports"])
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise ArgumentError(f"it is not a run as it was written: {type(error).__name__} {error}") from None


def columns(kind: type) -> dict[str, type]:
    """Return the fields of a kind of rows, as `Stage` or `Commit`, whose values are single: name to type."""
    hints = {name: _without_none(hint) for name, hint in _hints(kind).items()}
    return {name: hint for name, hint in hints.items() if hint in (str, int, float, datetime)}


def _without_none(hint: Any) -> Any:
    arguments = typing.get_args(hint)
    return arguments[0] if type(None) in arguments else hint


def _plain(value: Any) -> Any:
    if is_dataclass(value):
        return {field.name: _plain(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, tuple):
        if value and is_dataclass(value[0]):
            names = [field.name for field in fields(value[0])]
            return {
                "columns": names,
                "rows": [[_plain(getattr(item, name)) for name in names] for item in value],
            }
        return [_plain(item) for item in value]
    return value


@functools.cache
def _hints(kind: type) -> dict[str, Any]:
    return typing.get_type_hints(kind)


def _built(kind: Any, value: Any) -> Any:
    """Return a value of a kind, which is an annotation of a field."""
    if is_dataclass(kind) and isinstance(kind, type):
        hints = _hints(kind)
        return kind(**{field.name: _built(hints[field.name], value[field.name]) for field in fields(kind)})
    arguments = typing.get_args(kind)
    if type(None) in arguments:
        return None if value is None else _built(_without_none(kind), value)
    if typing.get_origin(kind) is tuple:
        items = value if isinstance(value, list) else [
            dict(zip(value["columns"], row, strict=True)) for row in value["rows"]
        ]  # fmt: skip
        return tuple(_built(arguments[0], item) for item in items)
    if kind is datetime:
        return datetime.fromisoformat(value).astimezone(UTC)
    if typing.get_origin(kind) is Mapping:
        return dict(value)
    if kind is float and type(value) is int:
        return float(value)
    if type(value) is not kind:
        raise ArgumentError(f"expected {kind.__name__}, found {value!r}"[:200])
    return value
