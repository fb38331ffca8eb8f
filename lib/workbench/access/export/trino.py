"""A policy as Trino's file of access control rules, for Trino 476.

Three things that Trino cannot say: a column that is added later is visible until the rules are exported again; a
hidden cell is NULL without a list of hidden names; what a query read is told to whoever sent it (`TOLD`). Source:
Trino's documentation, "File-based access control"; what leaks was tried (`workbench.access.trino`).
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

# columns that Iceberg's connector adds to a table: a partition's values, and paths, whose folders have them
BESIDE = ("$path", "$partition", "$file_modified_time")
# what rules cannot close: for whoever puts them into force
TOLD = (
    "a column that is added later is visible in Trino until this is exported again",
    "set iceberg.table-statistics-enabled=false for the catalog: else SHOW STATS and EXPLAIN tell what is hidden",
    "set hide-inaccessible-columns=true in config.properties: else a SELECT * of who sees some columns is refused",
    "who may send statements is told how many rows and bytes they read, hidden ones among them: by EXPLAIN "
    "ANALYZE, and by the client's own figures; no rule of Trino's closes that",
)


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
    if not policy.principals:
        return _file([], [], rules)
    everybody = {"user": "|".join(map(_exactly, policy.principals))}
    readers = [everybody | {"catalog": _exactly(catalog), "allow": "read-only"}]
    return _file(readers, [everybody | {"allow": ["execute"]}], rules)


def _file(readers: list[Any], askers: list[Any], rules: list[Any]) -> dict[str, Any]:
    """Return a whole file of rules: all else is denied by a section each, as Trino allows what none names."""
    none_may: list[Any] = [{"allow": False}]
    nothing: list[Any] = []
    return {
        "catalogs": [*readers, {"catalog": ".*", "allow": "none"}],
        "queries": askers,
        "schemas": [{"owner": False}],
        "tables": [*rules, {"privileges": nothing}],
        "functions": nothing, "procedures": nothing, "impersonation": nothing, "system_information": nothing,
        "authorization": nothing,
        # statistics and the reading of files can be turned on and off by them
        "system_session_properties": none_may, "catalog_session_properties": none_may,
    }  # fmt: skip


CLOSED = _file([], [], [])  # nobody is shown anything


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
    if columns or decision.row != ALWAYS:
        columns += [{"name": name, "allow": False} for name in BESIDE]
    # who sees all rows has a filter, too: Trino runs no ALTER TABLE … EXECUTE on a table with one, and no other
    # rule keeps a reader from writing by that (optimize, rollback_to_snapshot)
    return {"privileges": ["SELECT"], "columns": columns, "filter": conditions.rendered(decision.row, "trino")}
