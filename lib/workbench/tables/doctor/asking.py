"""Find the columns by which the owner's queries filter a table."""

from collections.abc import Iterable, Iterator, Mapping

from workbench._base import arguments
from workbench._base.door import checked
from workbench._base.errors import ArgumentError
from workbench._base.typing import Java, SparkSession
from workbench.tables import commits, reads


@checked
def asked(spark: SparkSession, table: str, queries: Iterable[str]) -> tuple[str, ...]:
    """Return the columns of a table by which queries filter it, those that most queries name first.

    Spark analyses the queries; none runs. Conditions of joins and of subqueries are not counted: they prune no
    file of the table when the query is planned.

    Args:
        spark: classic session whose catalog holds the table.
        table: `namespace.name`.
        queries: SQL texts.

    Returns:
        tuple of column names.

    Raises:
        TableNotFound: no such table.
        ValueError: an argument is wrong, a query cannot be analysed or is a command, or none reads the table.
    """
    texts: tuple[str, ...] = arguments.texts("queries", queries, "queries")
    named = _name(spark, table)
    counts: dict[str, int] = {}
    read = False
    for number, query in enumerate(texts, 1):
        nodes = list(reads.nodes(analysed(spark, number, query)))
        own: dict[str, str] = {}
        for node in nodes:
            if node.getClass().getSimpleName() == "DataSourceV2Relation" and _same(node, named):
                own |= {attribute.exprId().toString(): attribute.name() for attribute in _each(node.output())}
        for node in reversed(nodes):  # from the tables up
            own |= _renamed(node, own)
        read = read or bool(own)
        filters = [node for node in nodes if node.nodeName() == "Filter"]
        names = {own[column.exprId().toString()] for node in filters for column in _each(node.references().toSeq())
                 if column.exprId().toString() in own}  # fmt: skip
        for name in sorted(names):
            counts[name] = counts.get(name, 0) + 1
    if not read:
        commits.load(spark, table)  # says so where there is none
        raise ArgumentError(f"none of {len(texts)} queries reads {table}")
    return tuple(sorted(counts, key=lambda name: (-counts[name], name)))


def analysed(spark: SparkSession, number: int, query: str) -> Java:
    """Return the analysed plan of one of the queries, of `reads.analysed`; an error says which one it is.

    Raises:
        ValueError: it cannot be analysed, or is a command.
    """
    try:
        return reads.analysed(spark, query)
    except ValueError as error:
        raise ArgumentError(f"query {number} {error}") from error


def _renamed(node: Java, own: Mapping[str, str]) -> dict[str, str]:
    """Return the columns of `own` to which a plan's node gives another name, as views do to all."""
    if node.nodeName() != "Project":
        return {}
    aliases = (column for column in _each(node.projectList()) if column.getClass().getSimpleName() == "Alias")
    plain = (
        column for column in aliases if column.child().getClass().getSimpleName() in ("AttributeReference", "Cast")
    )
    of = ((column, [ref.exprId().toString() for ref in _each(column.references().toSeq())]) for column in plain)
    return {column.exprId().toString(): own[refs[0]] for column, refs in of if refs and refs[0] in own}


def _name(spark: SparkSession, table: str) -> tuple[str, ...]:
    identified = commits.identified(spark, table)
    return _parts(identified.catalog(), identified.identifier())


def _same(node: Java, named: tuple[str, ...]) -> bool:
    catalog, identifier = node.catalog(), node.identifier()
    return catalog.isDefined() and identifier.isDefined() and _parts(catalog.get(), identifier.get()) == named


def _parts(catalog: Java, identifier: Java) -> tuple[str, ...]:
    """Return the parts of a table's name as Spark compares them; joined, two names could be one text."""
    return tuple(part.lower() for part in (catalog.name(), *identifier.namespace(), identifier.name()))


def _each(sequence: Java) -> Iterator[Java]:
    return (sequence.apply(n) for n in range(sequence.size()))
