"""Read a policy file: its keys, the tables that its names mean, the tags that columns inherit, its filters."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from workbench._base import arguments, identifiers, yaml_files
from workbench._base.door import checked
from workbench._base.errors import ArgumentError
from workbench._base.strict import Strict, nearest
from workbench.access import filters, judging
from workbench.access.conditions import predicates
from workbench.access.judging import known_column, known_table, known_tags
from workbench.access.policies import (
    Column,
    Filter,
    FilterSection,
    Grant,
    Parts,
    Policy,
    PolicyFile,
    Principal,
    TablePolicy,
    TableSection,
    key,
    named,
)  # fmt: skip


@checked
def read(path: str | Path) -> Policy:
    """Read a policy file and judge it.

    Args:
        path: the YAML file.

    Returns:
        Policy.

    Raises:
        ArgumentError: it cannot be read, has an unknown key, tag, column, filter or principal, grants to
            everybody, has a grant of somebody who may not grant it, or a filter that would
            tell what a hidden column holds.
    """
    place = arguments.place("path", path, "the path of a policy file")
    return judged(yaml_files.read(place), str(path))


def judged(values: Any, origin: str) -> Policy:
    """Return the policy of the values of a file; errors as of `read`."""
    if not isinstance(values, dict):
        raise ArgumentError(f"{origin}: expected keys and values, found {type(values).__name__}")
    try:
        file = PolicyFile.model_validate(values)
    except ValidationError as error:
        raise ArgumentError(f"{origin}: " + "; ".join(map(_problem, error.errors()[:5]))) from None
    try:
        policy = _linked(file, origin)
        judging.judge(policy)
    except ArgumentError as error:
        raise ArgumentError(f"{origin}: {error}") from None
    return policy


def _problem(error: Any) -> str:
    where = [str(part) for part in error["loc"]]
    if error["type"] == "extra_forbidden":
        models: dict[str, type[Strict]] = {"grants": Grant, "filters": FilterSection, "principals": Principal}
        model: Any = models.get(where[0], PolicyFile) if len(where) > 1 else PolicyFile
        if where[0] == "tables":
            model = Column if len(where) > 4 else TableSection
        near = nearest(where[-1], list(model.model_fields))
        meant = f" (did you mean {near}?)" if near else ""
        return f"{'.'.join(where)} is not a setting{meant}; there are {', '.join(model.model_fields)}"
    if error["type"] == "string_type" and isinstance(error["input"], bool):
        text = str(error["input"]).lower()
        return f'{".".join(where)} is the boolean {text}; a text stands in quotes: "{text}"'
    given = f", found {error['input']!r}" if isinstance(error.get("input"), str | int | float) else ""
    return f"{'.'.join(where) or 'policy'}: {error['msg']}{given}"


def _linked(file: PolicyFile, origin: str) -> Policy:
    """Return the policy of a file: names split into parts, tags inherited, filters parsed."""
    values = {tag: tuple(dict.fromkeys(values)) for tag, values in file.tags.items()}
    namespaces = {identifiers.parts(name, least=1): tags for name, tags in file.namespaces.items()}
    if len(namespaces) < len(file.namespaces):
        raise ArgumentError("a namespace is given twice, once between backticks")
    for name, tags in file.namespaces.items():
        known_tags(tags, values, f"the namespace {name}")
    tables: dict[Parts, TablePolicy] = {}
    for name, table in file.tables.items():
        parts = key(name, file.catalog)
        if parts in tables:
            raise ArgumentError(f"the table {name} is given twice")
        known_tags(table.tags, values, f"the table {name}")
        inherited: dict[str, str] = {}
        for length in range(1, len(parts)):
            inherited |= namespaces.get(parts[:length], {})
        for label, column in table.columns.items():
            known_tags(column.tags or {}, values, f"the column {label} of {name}")
        _ids_differ(name, table)
        tables[parts] = TablePolicy(
            named(parts, file.catalog), table.uuid, table.columns,
            {label: inherited | table.tags | (column.tags or {}) for label, column in table.columns.items()},
        )  # fmt: skip
    linked = {
        name: _filter(name, declared, key(declared.table, file.catalog), tables)
        for name, declared in file.filters.items()
    }
    return Policy(origin, file.catalog, file.principals, file.administrators, values, tables, linked, file.grants)


def _ids_differ(name: str, table: TableSection) -> None:
    """Refuse two columns that are bound to one field, and fields of a column that is not bound."""
    owners: dict[int, str] = {}
    for label, column in table.columns.items():
        if column.id is None and column.fields:
            raise ArgumentError(f"the column {label} of {name} has fields and no id")
        for field_id in (column.id, *column.fields) if column.id is not None else ():
            if field_id in owners:
                raise ArgumentError(f"{owners[field_id]} and {label} of {name} both have the field id {field_id}")
            owners[field_id] = label


def _filter(name: str, declared: FilterSection, parts: Parts, tables: Mapping[Parts, TablePolicy]) -> Filter:
    table = known_table(parts, tables, f"the filter {name}")
    try:
        condition = filters.parse(declared.where)
    except ArgumentError as error:
        raise ArgumentError(f"the filter {name}: {error}") from None
    for predicate in predicates(condition):
        known_column(predicate.column, table, f"the filter {name}")
    return Filter(parts, condition)
