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

_BEFORE = r"^(?:[\s+:|-]|\*\([0-9]+\) |\*)*'?"
# How Spark 4.1 writes nodes that read: a table of a catalog, and all that are none. Texts of the client's stand in
# a plan too, and may look like a node; that adds a line and hides none, so that at worst its own query is refused
_TABLE = re.compile(_BEFORE + r"(?:RelationV2\[[^\n]*\] ([^\n]+)|BatchScan ([^\n\[]+)\[)", re.MULTILINE)
_OTHERS = re.compile(
    _BEFORE + r"(?:Relation \[|LogicalRelation|HiveTableRelation|LogicalRDD|ExternalRDD|Streaming|MicroBatch|"
    r"InMemory|FileScan|Scan (?!OneRowRelation)|TextSocket|View |MapPartitions|FlatMapGroups|PythonUDTF|"
    r"ArrowEvalPython|BatchEvalPython|LoadData|Command|Execute)",
    re.MULTILINE,
)


def require_governed(plan: str, texts: Collection[str], catalog: str) -> None:
    """Require that a plan reads no table but those that governed subqueries read.

    Args:
        plan: what the server explains of the rewritten plan, all sections of it.
        texts: of the governed subqueries.
        catalog: that of tables that are named without one.

    Raises:
        Refused: it reads something else, or it cannot be seen what it reads.
    """
    known = {parts for text in texts for parts in read_by(text, catalog)}
    if _OTHERS.search(plan):
        raise Refused("the server would read something that is not a shared table")
    names = {parts_of(relation or scan) for relation, scan in _TABLE.findall(plan)}
    if strange := names - known:
        raise Refused(f"the server would read {len(strange)} tables that are not shared")
    if known and not names:  # a newer Spark may write its plans otherwise
        raise Refused("the server's plan does not show which tables it reads")


def read_by(text: str, catalog: str) -> set[tuple[str, ...]]:
    """Return the parts of the names of the tables that a governed subquery reads, catalogs first.

    Raises:
        Refused: the text cannot be read.
    """
    return {parts if parts[0] == catalog else (catalog, *parts) for parts in tables_of(text)}


def parts_of(name: str) -> tuple[str, ...]:
    """Return the parts of a name in a plan; () where it is not one."""
    try:
        return identifiers.parts(name.strip())
    except ArgumentError:
        return ()
