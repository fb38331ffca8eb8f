"""A second look, at the server's own plan: it may read the tables that were replaced, and nothing else.

The rewriting names every table itself. If it ever left one to the client, the plan would show it: so the plan is
asked for, and compared with the tables that governed subqueries read.
"""

import re
from collections.abc import Collection

from workbench._base import identifiers
from workbench._base.errors import ArgumentError
from workbench_ops.front.refusals import Refused
from workbench_ops.front.statements import tables_of

# Spark's nodes that read: a table of a catalog, and all that are none. Texts of the client's stand in a plan too,
# and may look like a node; that adds a line and hides none, so that at worst its own query is refused
_TABLE = re.compile(
    r"^[\s+:|*-]*'?(?:RelationV2|StreamingRelationV2|BatchScan)\s?(?:\[[^\n]*?\])? ?([^\s(\[]+)", re.M
)
_OTHERS = re.compile(
    r"^[\s+:|*-]*'?(Relation \[|LogicalRelation|HiveTableRelation|LogicalRDD|ExternalRDD|Streaming|"
    r"InMemoryRelation|InMemoryTableScan|FileScan|Scan |TextSocket|View |MapPartitions|FlatMapGroups|PythonUDTF|ArrowEvalPython|"
    r"BatchEvalPython|LoadData|Command|Execute)",
    re.M,
)


def require_governed(plan: str, tables: Collection[str], catalog: str) -> None:
    """Require that a plan reads no table but those that governed subqueries read.

    Args:
        plan: what the server explains of the rewritten plan, all sections of it.
        tables: texts of the governed subqueries.
        catalog: that of tables that are named without one.

    Raises:
        Refused: it reads something else.
    """
    known = {name for text in tables for name in read_by(text, catalog)}
    if _OTHERS.search(plan):
        raise Refused("the server would read something that is not a shared table")
    if strange := {name for name in _TABLE.findall(plan) if name not in known}:
        raise Refused(f"the server would read {len(strange)} tables that are not shared")


def read_by(text: str, catalog: str) -> set[str]:
    """Return the names of the tables that a governed subquery reads, as a plan of Spark's has them.

    Raises:
        Refused: the text cannot be read.
    """
    names = set()
    for parts in tables_of(text):
        full = parts if parts[0] == catalog else (catalog, *parts)
        try:
            names.add(identifiers.spelled(full))
        except ArgumentError as error:
            raise Refused(str(error)) from None
    return names
