"""Bind a table's columns to the policy: write their field ids into the file, once somebody has tagged them."""

import stat
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from workbench._base import arguments, files, yaml_files
from workbench._base.door import checked
from workbench._base.errors import ArgumentError
from workbench._base.typing import Judged
from workbench.access import deciding, judging, reading
from workbench.access.policies import Policy, TablePolicy
from workbench.access.typing import IcebergTable

Edit = tuple[int, str]  # place in the text, what is put there


@dataclass(frozen=True)
class Binding:
    """What was bound, and what is hidden still.

    Attributes:
        bound: the policy's name of each column that was bound now, to its field id.
        untagged: columns of the table that nobody has tagged: they have no `tags` in the file, or are not in it.
        renamed: the policy's name of a column to another name that it has in the table.
        replaced: columns of the policy whose name is another column's by now.
        gone: columns of the policy that the table does not have any more.
        grown: columns with fields inside them that are not bound: take `id` and `fields` out to bind them anew.
    """

    bound: Mapping[str, int]
    untagged: tuple[str, ...]
    renamed: Mapping[str, str]
    replaced: tuple[str, ...]
    gone: tuple[str, ...]
    grown: tuple[str, ...]


@checked
def bind(path: str | Path, table: str, loaded: Judged[IcebergTable]) -> Binding:
    """Write the field ids of tagged columns, and the table's UUID, into a policy file; the rest stays as it is.

    A column is tagged when it has `tags` in the file, `{}` among them: then it has the tags of its table, which
    somebody has decided. One without stays hidden.

    Args:
        path: the policy file, which is replaced in one step.
        table: name of a table in it.
        loaded: PyIceberg's Table.

    Returns:
        Binding.

    Raises:
        ArgumentError: the policy is wrong or has no such table; it is bound to another table of that name; a
            tagged column is not in the table, or is a column that another one in the policy is bound to.
    """
    place = Path(arguments.place("path", path, "the path of a policy file")).resolve()
    policy = reading.read(place)
    declared = judging.known_table(policy.key(table), policy.tables, "the command")
    deciding.refuse_another_uuid(declared.name, declared.uuid, str(loaded.metadata.table_uuid))
    fields = {field.name: field for field in loaded.schema().fields}
    new = _new(declared, fields)
    binding = _described(declared, fields, new)
    if new or (declared.uuid is None and any(column.id for column in declared.columns.values())):
        _write(place, policy, table, str(loaded.metadata.table_uuid), new)
    return binding


def _new(declared: TablePolicy, fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return the policy's name of each column that is to be bound, to its field."""
    owners = {column.id: label for label, column in declared.columns.items() if column.id is not None}
    new = {}
    for label, column in declared.columns.items():
        if column.id is not None or column.tags is None:
            continue
        if label not in fields:
            raise ArgumentError(f"{declared.name} has no column {label}; it has {', '.join(fields)}")
        if (other := owners.get(fields[label].field_id)) is not None:
            raise ArgumentError(f"{label} of {declared.name} is the column that {other} is bound to in the policy")
        new[label] = fields[label]
    return new


def _described(declared: TablePolicy, fields: Mapping[str, Any], new: Mapping[str, Any]) -> Binding:
    by_id = {field.field_id: field for field in fields.values()}
    bound = {label: column for label, column in declared.columns.items() if column.id is not None}
    present = {label: by_id[column.id] for label, column in bound.items() if column.id in by_id}
    tagged = {field.field_id for field in (*present.values(), *new.values())}
    return Binding(
        {label: field.field_id for label, field in new.items()},
        tuple(name for name, field in fields.items() if field.field_id not in tagged),
        {label: field.name for label, field in present.items() if field.name != label},
        tuple(label for label, column in bound.items() if label in fields and fields[label].field_id != column.id),
        tuple(label for label in bound if label not in present),
        tuple(label for label, field in present.items()
              if set(deciding.nested(field)) - set(bound[label].fields)),
    )  # fmt: skip


def _write(path: Path, policy: Policy, table: str, uuid: str, new: Mapping[str, Any]) -> None:
    """Put ids into the text of a policy, look that nothing else changed, and replace the file."""
    text = path.read_bytes().decode("utf-8")
    edited = text
    for place, addition in sorted(_edits(text, policy, table, uuid, new), reverse=True):
        edited = edited[:place] + addition + edited[place:]
    _require_same(policy, reading.judged(yaml_files.read_text(edited, path), str(path)), table, uuid, new)
    mode = stat.S_IMODE(path.stat().st_mode)
    with files.replacing(path) as temporary:
        temporary.write_bytes(edited.encode("utf-8"))
        temporary.chmod(mode)


def _edits(text: str, policy: Policy, table: str, uuid: str, new: Mapping[str, Any]) -> Iterator[Edit]:
    tables = _member(yaml.compose(text, Loader=yaml.SafeLoader), "tables")
    section = next(value for name, value in tables.value if policy.key(name.value) == policy.key(table))
    if policy.tables[policy.key(table)].uuid is None:
        yield _first(section, f"uuid: {uuid}")
    columns = _member(section, "columns")
    for label, field in new.items():
        inside = ", ".join(map(str, deciding.nested(field)))
        ids = [f"id: {field.field_id}", *([f"fields: [{inside}]"] if inside else [])]
        yield _first(_member(columns, label), *ids)


def _member(node: Any, name: str) -> Any:
    return next(value for key, value in node.value if key.value == name)


def _first(node: Any, *members: str) -> Edit:
    """Return the edit that puts members first in a mapping, written as the mapping is."""
    if node.flow_style:
        return node.start_mark.index + 1, ", ".join(members) + (", " if node.value else "")
    return node.start_mark.index, "".join(f"{member}\n{' ' * node.start_mark.column}" for member in members)


def _require_same(before: Policy, after: Policy, table: str, uuid: str, new: Mapping[str, Any]) -> None:
    """Refuse an edited policy that differs by more than the ids.

    Raises:
        ArgumentError: the file is written in a way in which the ids could not be put.
    """
    parts = before.key(table)
    expected = dict(before.tables[parts].columns)
    for label, field in new.items():
        bound = {"id": field.field_id, "fields": tuple(deciding.nested(field))}
        expected[label] = expected[label].model_copy(update=bound)
    others = [policy.tables | {parts: None} for policy in (before, after)]  # type: ignore[operator]
    if after.tables[parts].columns != expected or others[0] != others[1] or after.grants != before.grants:
        raise ArgumentError(f"{before.origin} is written in a way in which ids cannot be put; write them by hand")
    if after.tables[parts].uuid != (before.tables[parts].uuid or uuid):
        raise ArgumentError(f"{before.origin} is written in a way in which ids cannot be put; write them by hand")
