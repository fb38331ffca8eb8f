"""A policy as Trino's file of access control rules.

Three things that Trino cannot say: a column that is added later is visible until the rules are exported again; a
hidden cell is NULL without a list of hidden names; SHOW STATS, EXPLAIN and the count of processed rows tell of
hidden rows. Source: Trino's documentation, "File-based access control".
"""

import re
from collections.abc import Mapping
from typing import Any

from workbench._base import identifiers
from workbench._base.door import checked
from workbench._base.errors import ArgumentError
from workbench._base.typing import Judged
from workbench.access import conditions, deciding, statements
from workbench.access.conditions import ALWAYS, NEVER
from workbench.access.deciding import Decision
from workbench.access.policies import Policy
from workbench.access.typing import IcebergTable


@checked
def trino(policy: Policy, tables: Judged[Mapping[str, IcebergTable]], *, catalog: str) -> dict[str, Any]:
    """Return the rules by which Trino shows what the policy shows, and nothing else.

    Args:
        policy: as `read` returns it; its principals are Trino's users.
        tables: name to PyIceberg's Table, of all tables in the policy: their columns as of now.
        catalog: Trino's name of the catalog that has them.

    Returns:
        What stands in the JSON file of `security.config-file`. Names are matched exactly, so that no rule reaches
        a table's metadata (`"orders$files"`).

    Raises:
        ArgumentError: a table is missing, a name has capital letters, which Trino makes small, or a filter does
            not fit its table.
    """
    known = {policy.key(name): table for name, table in tables.items()}
    rules = []
    for parts, declared in policy.tables.items():
        if parts not in known:
            raise ArgumentError(f"tables lacks {declared.name}, which is in the policy")
        if len(parts) != 2:
            raise ArgumentError(f"{declared.name} has {len(parts)} parts; Trino has a schema and a table")
        table = known[parts]
        deciding.refuse_another_uuid(declared.name, declared.uuid, str(table.metadata.table_uuid))
        for name in (*parts, *(field.name for field in table.schema().fields)):
            if name != name.lower():
                raise ArgumentError(f"{name} of {declared.name} has capital letters, which Trino makes small")
        for principal in policy.principals:
            decision = deciding.decide(policy, principal, identifiers.spelled(parts), table.schema())
            if decision.row != NEVER:
                place = {"catalog": _exactly(catalog), "schema": _exactly(parts[0]), "table": _exactly(parts[1])}
                rules.append({"user": _exactly(principal)} | place | _shown(decision))
    everybody = "|".join(map(_exactly, policy.principals))
    readers = (
        [{"user": everybody, "catalog": _exactly(catalog), "allow": "read-only"}] if policy.principals else []
    )
    nothing: list[Any] = []
    return {
        "catalogs": [*readers, {"catalog": ".*", "allow": "none"}],
        "queries": [{"allow": ["execute"]}],
        "schemas": [{"owner": False}],
        "tables": [*rules, {"privileges": nothing}],
        "functions": nothing, "procedures": nothing, "impersonation": nothing, "system_information": nothing,
        "authorization": nothing,
    }  # fmt: skip


def _exactly(text: str) -> str:
    """Return a regular expression of Java that matches a text alone."""
    return re.escape(text)


def _shown(decision: Decision) -> dict[str, Any]:
    columns: list[dict[str, Any]] = []
    for column in decision.columns:
        if column.condition == NEVER:
            columns.append({"name": column.name, "allow": False})
        elif column.condition != ALWAYS:
            columns.append({"name": column.name, "mask": statements.cell(column, "trino")})
    rule: dict[str, Any] = {"privileges": ["SELECT"], "columns": columns}
    if decision.row != ALWAYS:
        rule["filter"] = conditions.rendered(decision.row, "trino")
    return rule
