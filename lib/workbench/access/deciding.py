"""Decide what a principal sees of a table, once, for every engine."""

import dataclasses
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from workbench._base.door import checked
from workbench._base.errors import ArgumentError, WorkbenchError
from workbench._base.typing import Judged
from workbench.access import conditions
from workbench.access.conditions import ALWAYS, NEVER, Condition
from workbench.access.policies import Policy, TablePolicy, covers
from workbench.access.typing import IcebergSchema

HIDDEN = "_hidden"  # the column that lists the names of a row's hidden cells


class NothingVisible(WorkbenchError):
    """A principal may see nothing of a table; the same is said of a table that does not exist."""


@dataclass(frozen=True)
class DecidedColumn:
    """What a principal sees of a column.

    Attributes:
        field_id: of the column.
        name: in the schema that was decided on.
        type: Iceberg's, as a text.
        condition: where its cells are visible.
        nested: ids of the fields inside it, which are visible where it is.
        reason: for the owner of the policy: why it is hidden, or under which name the policy has it.
    """

    field_id: int
    name: str
    type: str
    condition: Condition
    nested: tuple[int, ...] = ()
    reason: str = ""


@dataclass(frozen=True)
class Decision:
    """What a principal sees of a table.

    Attributes:
        principal: the reader.
        table: its name, without the policy's catalog where it is clear without.
        row: where a row is visible: where one of its cells is.
        columns: all columns of the schema, hidden ones among them, in its order.
        uuid: of the Iceberg table that the policy is bound to; None where it is not.
        catalog: the policy's, in which the table is; None where it names none.
    """

    principal: str
    table: str
    row: Condition
    columns: tuple[DecidedColumn, ...] = dataclasses.field(repr=False)
    uuid: str | None = None
    catalog: str | None = None

    @property
    def conditions(self) -> dict[int, Condition]:
        """Where each field is visible, by field id; fields inside a column are among them."""
        return {
            field_id: column.condition for column in self.columns for field_id in (column.field_id, *column.nested)
        }

    @property
    def visible(self) -> tuple[DecidedColumn, ...]:
        """The columns that are not hidden in every row.

        Raises:
            NothingVisible: there are none.
        """
        columns = tuple(column for column in self.columns if column.condition != NEVER)
        if not columns:
            raise NothingVisible(f"there is no table {self.table} that {self.principal} may read")
        return columns

    @property
    def needed(self) -> tuple[str, ...]:
        """The names of the columns that must be read: visible ones, and those that conditions compare."""
        read = {
            predicate.field_id for column in self.columns for predicate in conditions.predicates(column.condition)
        }
        return tuple(c.name for c in self.columns if c.condition != NEVER or c.field_id in read)


@checked
def decide(policy: Policy, principal: str, table: str, schema: Judged[IcebergSchema]) -> Decision:
    """Decide what a principal sees of a table: under which condition each field, and each row, is visible.

    A cell is visible if some grant has its column and the grant's filter is TRUE for the row. A column is visible
    to nobody while its field id, or one inside it, is not bound in the policy: a new column, and one that was
    dropped and added again. A table that is not in the policy has no visible column.

    Args:
        policy: as `read` returns it.
        principal: the reader.
        table: `namespace.name`, or with the policy's catalog in front.
        schema: PyIceberg's Schema that the rows are read by: the current one, or the one of a snapshot.

    Returns:
        Decision.

    Raises:
        ArgumentError: the principal is not in the policy; a filter does not fit the table; two columns differ by
            case only.
    """
    if principal not in policy.principals:
        raise ArgumentError(f"{principal!r} is not a principal of the policy")
    _refuse_alike(schema, table)
    parts = policy.key(table)
    if parts not in policy.tables:
        return Decision(
            principal, table, NEVER, tuple(_column(f, NEVER, "not in the policy") for f in schema.fields)
        )
    declared = policy.tables[parts]
    by_label = _granted(policy, principal, parts, {field.field_id: field for field in schema.fields})
    labels = {column.id: label for label, column in declared.columns.items()}
    columns = tuple(_decided(field, labels.get(field.field_id), declared, by_label) for field in schema.fields)
    row = conditions.either(column.condition for column in columns)
    return Decision(principal, declared.name, row, columns, declared.uuid, policy.catalog)


def _refuse_alike(schema: IcebergSchema, table: str) -> None:
    names: dict[str, str] = {}
    for name in (field.name for field in schema.fields):
        if (other := names.setdefault(name.casefold(), name)) != name:
            raise ArgumentError(
                f"{table} has columns {other} and {name}, which Spark and DuckDB cannot tell apart"
            )


def _granted(
    policy: Policy, principal: str, parts: tuple[str, ...], fields: Mapping[int, Any]
) -> dict[str, Condition]:
    """Return where the grants of a principal show the columns of a table, by the policy's names of columns."""
    declared = policy.tables[parts]
    shown: dict[str, list[Condition]] = {}
    for grant in policy.grants:
        if grant.to != principal or (grant.tags is None and policy.key(str(grant.table)) != parts):
            continue
        condition = ALWAYS if grant.filter is None else _bound(policy, grant.filter, fields)
        for label, tags in declared.tags.items():
            if covers(grant, label, tags):
                shown.setdefault(label, []).append(condition)
    return {label: conditions.either(iter(several)) for label, several in shown.items()}


def _bound(policy: Policy, name: str, fields: Mapping[int, Any]) -> Condition:
    """Return a filter's condition on the fields of a schema."""
    declared = policy.filters[name]
    table = policy.tables[declared.table]
    columns = {}
    for predicate in conditions.predicates(declared.condition):
        field_id = table.columns[predicate.column].id
        if field_id is None or field_id not in fields:
            lacking = (
                "that is not bound to a field id" if field_id is None else f"(field id {field_id}) that is gone"
            )
            raise ArgumentError(
                f"the filter {name} of {table.name} reads a column {lacking}; nothing is shown by it"
            )
        columns[predicate.column] = fields[field_id]
    try:
        return conditions.bound(declared.condition, columns)
    except ArgumentError as error:
        raise ArgumentError(f"the filter {name} of {table.name}: {error}") from None


def _decided(
    field: Any, label: str | None, declared: TablePolicy, shown: Mapping[str, Condition]
) -> DecidedColumn:
    if label is None:
        other = declared.columns.get(field.name)
        rebound = other is not None and other.id is not None
        return _column(field, NEVER, "another column of that name is bound" if rebound else "not bound")
    if set(nested(field)) - set(declared.columns[label].fields):
        return _column(field, NEVER, "has fields inside it that are not bound")
    condition = shown.get(label, NEVER)
    reason = "no grant" if condition == NEVER else "" if label == field.name else f"bound as {label}"
    return _column(field, condition, reason)


def _column(field: Any, condition: Condition, reason: str) -> DecidedColumn:
    return DecidedColumn(
        field.field_id, field.name, str(field.field_type), condition, tuple(nested(field)), reason
    )


def nested(field: Any) -> Iterable[int]:
    """Return the ids of the fields inside a column, at every depth: of structs, lists and maps."""
    from pyiceberg.schema import Schema

    if field.field_type.is_primitive:
        return []
    return sorted(Schema(field).field_ids - {field.field_id})


@checked
def matrix(policy: Policy, table: str, schema: Judged[IcebergSchema]) -> dict[str, dict[str, str]]:
    """Return who sees which column of a table: a row a principal, a column a column.

    Args:
        policy: as `read` returns it.
        table: as of `decide`.
        schema: as of `decide`.

    Returns:
        principal to {column: `always`, `never`, or the filter}, in the orders of the policy and of the schema.

    Raises:
        ArgumentError: as `decide`.
    """
    decisions = {principal: decide(policy, principal, table, schema) for principal in policy.principals}
    return {
        principal: {column.name: conditions.described(column.condition) for column in decision.columns}
        for principal, decision in decisions.items()
    }


def refuse_other_table(decision: Decision, uuid: str) -> None:
    """Refuse a table that is not the one which was decided on; as `refuse_another_uuid`."""
    refuse_another_uuid(decision.table, decision.uuid, uuid)


def refuse_another_uuid(table: str, bound: str | None, uuid: str) -> None:
    """Refuse a table that is not the one which the policy is bound to: one that was dropped and made again.

    Args:
        table: its name.
        bound: the UUID that the policy has; None where it has none yet.
        uuid: of the table that is read.

    Raises:
        ArgumentError: they differ.
    """
    if bound is not None and bound.lower() != uuid.lower():
        raise ArgumentError(
            f"the policy is bound to another table {table}, which was dropped and made again since; take its uuid "
            "and ids out of the policy, look at its columns and bind it anew"
        )


def refuse_other_columns(decision: Decision, schema: IcebergSchema) -> None:
    """Refuse a table whose columns are not those that were decided on: a name may be another column's by now.

    Args:
        decision: of the table.
        schema: PyIceberg's, of the rows that are read.

    Raises:
        ArgumentError: a column came, went, or has another name or type.
    """
    decided = [(column.field_id, column.name, column.type) for column in decision.columns]
    if decided != [(field.field_id, field.name, str(field.field_type)) for field in schema.fields]:
        raise ArgumentError(f"the columns of {decision.table} are not those that were decided on; decide again")
