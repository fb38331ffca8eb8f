"""A second look, at the server's own plan: it may read the tables that were replaced, and nothing else.

The rewriting names every table itself. If it ever left one to the client, the plan would show it: so the plan is
asked for, and compared with the tables that governed subqueries read.
"""

import re
from collections.abc import Collection, Iterator
from typing import Any

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


# relations that the server computes while it reads a plan: what they read is not in it
EAGER = {
    "show_string", "html_string", "summary", "describe", "crosstab", "cov", "corr", "approx_quantile",
    "freq_items", "transpose",
}  # fmt: skip


def to_be_seen(root: Any) -> list[tuple[Any, bool]]:
    """Return the relations of which the server is to show its plan, in the order in which it may be asked.

    Args:
        root: relation of the rewritten plan.

    Returns:
        List of (relation, whether its plan shows all tables): that of `df.show()` is the frame itself, and what
        the server would compute inside a plan is asked for before the plan.
    """
    while (kind := root.WhichOneof("rel_type")) in EAGER:
        root = getattr(root, kind).input
    inside = [*_eager_inside(root)]
    return [seen for relation in inside for seen in to_be_seen(relation)] + [(root, not inside)]


def _eager_inside(message: Any) -> Iterator[Any]:
    """Yield the inputs of the outermost relations in a message that the server computes while it reads it."""
    for field, value in message.ListFields():
        if field.message_type is None or field.message_type.GetOptions().map_entry:
            continue  # the one map with messages holds arguments of SQL, which are no relations
        for item in value if field.is_repeated else [value]:
            if field.name in EAGER and message.DESCRIPTOR.name == "Relation":
                yield item.input
            else:
                yield from _eager_inside(item)


def require_governed(plan: str, texts: Collection[str], catalog: str, *, whole: bool = True) -> None:
    """Require that a plan reads no table but those that governed subqueries read.

    Args:
        plan: what the server explains of the rewritten plan, all sections of it.
        texts: of the governed subqueries.
        catalog: that of tables that are named without one.
        whole: whether the plan must show a table where there are governed subqueries.

    Raises:
        Refused: it reads something else, or it cannot be seen what it reads.
    """
    known = {parts for text in texts for parts in read_by(text, catalog)}
    if _OTHERS.search(plan):
        raise Refused("the server would read something that is not a shared table")
    names = {parts_of(relation or scan) for relation, scan in _TABLE.findall(plan)}
    if strange := names - known:
        raise Refused(f"the server would read {len(strange)} tables that are not shared")
    if whole and known and not names:  # a newer Spark may write its plans otherwise
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
