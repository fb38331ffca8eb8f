"""The policy file: who may read which columns, rows and cells, said once.

    principals: {analyst: {}, user1: {arn: "arn:aws:iam::111122223333:user/one"}}
    administrators: [owner]
    tags: {Domain: [sales, marketing], Sensitivity: ["true", "false"]}
    namespaces: {sales: {Domain: sales, Sensitivity: "false"}}
    tables:
      sales.customer:
        uuid: 5b1f…                                            # written by `bind`, as ids are
        columns:
          c_customer_sk: {id: 1, tags: {}}                     # has the tags of the namespace
          c_last_name: {id: 2, tags: {Sensitivity: "true"}}
    filters:
      uk: {table: people.users, where: "state = 'united kingdom'"}
    grants:
      - {to: analyst, by: owner, tags: {Domain: [sales], Sensitivity: ["false"]}}
      - {to: user1, by: owner, table: people.users, columns: [uid, state]}
      - {to: user1, by: owner, table: people.users, all_but: [address], filter: uk}

Of a tag expression all keys must fit, of a key one of the values; a column has the tag of the nearest of itself,
its table and its namespace; grants add up. A column is what has its field id, whatever its name is by now.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import BeforeValidator, Field, StrictInt, StrictStr

from workbench._base import identifiers
from workbench._base.strict import Strict
from workbench.access.conditions import Condition

Name: TypeAlias = Annotated[StrictStr, Field(min_length=1, max_length=255)]
Parts: TypeAlias = tuple[str, ...]


def _empty(value: Any) -> Any:
    return {} if value is None else value


class Principal(Strict):
    """A reader; `arn` is who it is on AWS, which only the export needs."""

    arn: StrictStr | None = None


class Column(Strict):
    """A column of a table: its field id, the ids of the fields inside it, and its own tags (None: not tagged)."""

    id: Annotated[StrictInt, Field(ge=1)] | None = None
    fields: tuple[StrictInt, ...] = ()
    tags: dict[Name, Name] | None = None


class TableSection(Strict):
    """A table as the file has it."""

    uuid: StrictStr | None = None
    tags: dict[Name, Name] = Field(default_factory=dict)
    columns: dict[Name, Annotated[Column, BeforeValidator(_empty)]] = Field(default_factory=dict)


class FilterSection(Strict):
    """A filter as the file has it."""

    table: Name
    where: Name | Annotated[StrictStr, Field(max_length=100_000)]


class Grant(Strict):
    """What a principal may read: columns that tags fit, or columns of one table, perhaps where a filter holds."""

    to: Name
    by: Name
    tags: dict[Name, tuple[Name, ...]] | None = None
    table: Name | None = None
    columns: tuple[Name, ...] | None = None
    all_but: tuple[Name, ...] | None = None
    filter: Name | None = None
    grantable: bool = False


class PolicyFile(Strict):
    """The keys of a policy file."""

    version: Literal[1] = 1
    catalog: Name | None = None
    principals: dict[Name, Annotated[Principal, BeforeValidator(_empty)]]
    administrators: tuple[Name, ...]
    tags: dict[Name, tuple[Name, ...]] = Field(default_factory=dict)
    namespaces: dict[Name, dict[Name, Name]] = Field(default_factory=dict)
    tables: dict[Name, TableSection] = Field(default_factory=dict)
    filters: dict[Name, FilterSection] = Field(default_factory=dict)
    grants: tuple[Grant, ...] = ()


@dataclass(frozen=True)
class Filter:
    """A filter: the parts of its table's name, and its condition on columns as the policy names them."""

    table: Parts
    condition: Condition


@dataclass(frozen=True)
class TablePolicy:
    """What the policy knows of a table.

    Attributes:
        name: as people write it.
        uuid: of the Iceberg table; None where it is not bound yet.
        columns: the policy's name of a column to what it says of it.
        tags: the policy's name of a column to the tags that it has, inherited ones among them.
    """

    name: str
    uuid: str | None
    columns: Mapping[str, Column]
    tags: Mapping[str, Mapping[str, str]]


@dataclass(frozen=True)
class Policy:
    """A policy that was read and judged: every name in it is known, every grant was made by somebody who may.

    Attributes:
        origin: the file.
        catalog: a name that may stand before a table's; None where none may.
        principals: readers by their names.
        administrators: who may grant everything.
        tags: key to values.
        tables: parts of a table's name to what is known of it.
        filters: by their names.
        grants: in their order.
    """

    origin: str
    catalog: str | None
    principals: Mapping[str, Principal]
    administrators: tuple[str, ...]
    tags: Mapping[str, tuple[str, ...]]
    tables: Mapping[Parts, TablePolicy] = field(repr=False)
    filters: Mapping[str, Filter] = field(repr=False)
    grants: tuple[Grant, ...] = field(repr=False)

    def key(self, table: str) -> Parts:
        """Return the parts of a table's name, without the policy's catalog before it."""
        return key(table, self.catalog)


def key(table: str, catalog: str | None) -> Parts:
    """Return the parts of a table's name, without a catalog's name before it.

    Raises:
        ArgumentError: it is not a table's name.
    """
    parts = identifiers.parts(table)
    return parts[1:] if len(parts) > 2 and parts[0] == catalog else parts


def named(parts: Parts, catalog: str | None) -> str:
    """Return the name of a table as people write it, of which `key` makes the same parts again.

    A namespace that is named as the catalog would be taken for it: then the catalog stands in front.
    """
    taken = len(parts) > 2 and parts[0] == catalog
    return identifiers.spelled((parts[0], *parts) if taken else parts)


def covers(grant: Grant, label: str, tags: Mapping[str, str]) -> bool:
    """Say whether a grant covers a column of a table that it may be of.

    Args:
        grant: by tags, or of the column's table.
        label: the policy's name of the column.
        tags: that the column has, inherited ones among them.
    """
    if grant.tags is not None:
        return all(tags.get(key) in values for key, values in grant.tags.items())
    return (grant.columns is None or label in grant.columns) and label not in (grant.all_but or ())


def extension(policy: Policy, grant: Grant) -> Iterator[tuple[Parts, str]]:
    """Yield the columns that a grant covers: parts of the table's name, the policy's name of the column."""
    tables = policy.tables if grant.tags is not None else [policy.key(str(grant.table))]
    for parts in tables:
        for label, tags in policy.tables[parts].tags.items():
            if covers(grant, label, tags):
                yield parts, label


def granted(policy: Policy, principal: str) -> set[Parts]:
    """Return the tables of which some grant shows a principal something, by the parts of their names."""
    mine = (grant for grant in policy.grants if grant.to == principal)
    return {parts for grant in mine for parts, _ in extension(policy, grant)}
