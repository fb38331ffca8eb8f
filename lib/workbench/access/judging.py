"""Refuse a policy whose parts do not fit: unknown names, grants without the right to grant, filters that tell."""

from collections.abc import Collection, Mapping

from workbench._base import identifiers
from workbench._base.errors import ArgumentError
from workbench._base.strict import nearest
from workbench.access.conditions import predicates
from workbench.access.policies import Grant, Parts, Policy, TablePolicy, extension

EVERYBODY = {"*", "everybody", "everyone", "public", "iamallowedprincipals", "iam_allowed_principals"}


def judge(policy: Policy) -> None:
    """Refuse a policy whose parts do not fit each other."""
    for name in (*policy.principals, *policy.administrators):
        _refuse_everybody(name, "principals")
    if not policy.administrators:
        raise ArgumentError("administrators is empty, so that nobody may grant; name somebody")
    for number, grant in enumerate(policy.grants, 1):
        _judge_grant(policy, grant, f"grant {number}")
    _judge_rights(policy)
    _judge_filters(policy)


def _refuse_everybody(name: str, where: str) -> None:
    if name.lower() in EVERYBODY:
        raise ArgumentError(f"{where} has {name}: a grant to everybody cannot be taken back from one; name each")


def _judge_grant(policy: Policy, grant: Grant, owner: str) -> None:
    _refuse_everybody(grant.to, f"{owner}, to,")
    if grant.to not in policy.principals:
        near = nearest(grant.to, policy.principals)
        meant = f" (did you mean {near}?)" if near else ""
        raise ArgumentError(f"{owner} is to {grant.to}, who is not under principals{meant}")
    if (grant.tags is None) == (grant.table is None):
        has = "neither tags nor a table" if grant.tags is None else "tags and a table"
        raise ArgumentError(f"{owner} has {has}; expected one of them")
    if grant.tags is not None:
        if not grant.tags or not all(grant.tags.values()):
            raise ArgumentError(
                f"{owner} has an empty tag expression, which fits everything; name keys and values"
            )
        for key, values in grant.tags.items():
            for value in values:
                known_tags({key: value}, policy.tags, owner)
        if extra := [name for name in ("columns", "all_but", "filter") if getattr(grant, name) is not None]:
            raise ArgumentError(f"{owner} has tags and {extra[0]}, which belongs to a grant of one table")
        return
    table = known_table(policy.key(str(grant.table)), policy.tables, owner)
    if grant.columns is not None and grant.all_but is not None:
        raise ArgumentError(f"{owner} has columns and all_but; expected one of them at most")
    if grant.columns == ():
        raise ArgumentError(f"{owner} has columns, and none in it")
    for label in (*(grant.columns or ()), *(grant.all_but or ())):
        known_column(label, table, owner)
    if grant.filter is None:
        return
    if grant.filter not in policy.filters:
        raise ArgumentError(f"{owner} has the filter {grant.filter}; {there_are(policy.filters)}")
    if policy.filters[grant.filter].table != policy.key(str(grant.table)):
        raise ArgumentError(f"{owner} has the filter {grant.filter}, which is of another table")


def _judge_rights(policy: Policy) -> None:
    """Refuse a grant by somebody who is no administrator and was not given all of it to grant on.

    What somebody may grant on grows with the grants that are right, so that no circle of two justifies itself.
    """
    rights: dict[str, set[tuple[Parts, str, str | None]]] = {}
    waiting = list(enumerate(policy.grants, 1))
    while waiting:
        refused = []
        for number, grant in waiting:
            covered = {(*column, grant.filter) for column in extension(policy, grant)}
            granted = rights.get(grant.by)
            may = granted is not None and all(
                right in granted or (*right[:2], None) in granted for right in covered
            )
            if grant.by not in policy.administrators and not may:
                refused.append((number, grant))
            elif grant.grantable:
                rights.setdefault(grant.to, set()).update(covered)
        if len(refused) == len(waiting):
            number, grant = refused[0]
            raise ArgumentError(
                f"grant {number} is by {grant.by}, who is no administrator and was not given all of it to grant on"
            )
        waiting = refused


def _judge_filters(policy: Policy) -> None:
    """Refuse a filter that shows cells to somebody who may not see by what: the cells would tell it."""
    shown: dict[tuple[str, Parts, str], set[str | None]] = {}
    for grant in policy.grants:
        for parts, label in extension(policy, grant):
            shown.setdefault((grant.to, parts, label), set()).add(grant.filter)
    for number, grant in enumerate(policy.grants, 1):
        for predicate in predicates(policy.filters[grant.filter].condition) if grant.filter else ():
            parts = policy.filters[str(grant.filter)].table
            if not shown.get((grant.to, parts, predicate.column), set()) & {None, grant.filter}:
                raise ArgumentError(
                    f"grant {number} shows cells to {grant.to} by the filter {grant.filter}, which reads "
                    f"{predicate.column}; {grant.to} may not see that column there, and the cells would tell what "
                    "it holds"
                )


def known_tags(tags: Mapping[str, str], values: Mapping[str, tuple[str, ...]], owner: str) -> None:
    """Refuse tags of somebody that are not declared."""
    for key, value in tags.items():
        if key not in values:
            raise ArgumentError(f"{owner} has the tag {key}, which is not declared; {there_are(values)}")
        if value not in values[key]:
            raise ArgumentError(f"{owner} has {key}: {value}; {key} is one of {', '.join(values[key])}")


def there_are(names: Collection[str]) -> str:
    """Return the end of a message that lists what there is."""
    return f"there are {', '.join(names)}" if names else "there are none"


def known_table(parts: Parts, tables: Mapping[Parts, TablePolicy], owner: str) -> TablePolicy:
    """Return a table of the policy; refuse a name that it does not have."""
    if parts not in tables:
        raise ArgumentError(
            f"{owner} names the table {identifiers.spelled(parts)}, which is not under tables; "
            + there_are([table.name for table in tables.values()])
        )
    return tables[parts]


def known_column(label: str, table: TablePolicy, owner: str) -> None:
    """Refuse a name that is not a column of a table in the policy."""
    if label not in table.columns:
        near = nearest(label, table.columns)
        meant = f" (did you mean {near}?)" if near else ""
        raise ArgumentError(f"{owner} names {label}, which is not a column of {table.name} in the policy{meant}")
