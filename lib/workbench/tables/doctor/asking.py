"""What the owner's queries ask a table by: columns in their filters."""

from workbench._base import arguments
from workbench._base.errors import ArgumentError
from workbench.tables import commits, reads


def asked(spark, table, queries):
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
        ValueError: queries are something else, one cannot be analysed or is a command, or none reads the table.
    """
    queries = arguments.texts("queries", queries, "queries")
    named = _name(spark, table)
    counts, read = {}, False
    for number, query in enumerate(queries, 1):
        nodes = list(reads.nodes(analysed(spark, number, query)))
        own = {}
        for node in nodes:
            if node.getClass().getSimpleName() == "DataSourceV2Relation" and _same(node, named):
                own |= {attribute.exprId().toString(): attribute.name() for attribute in _each(node.output())}
        for node in reversed(nodes):  # from the tables up
            own |= _renamed(node, own)
        read = read or bool(own)
        filters = [node for node in nodes if node.nodeName() == "Filter"]
        names = {own[one.exprId().toString()] for node in filters for one in _each(node.references().toSeq())
                 if one.exprId().toString() in own}  # fmt: skip
        for name in sorted(names):
            counts[name] = counts.get(name, 0) + 1
    if not read:
        commits.load(spark, table)  # says so where there is none
        raise ArgumentError(f"none of {len(queries)} queries reads {table}")
    return tuple(sorted(counts, key=lambda name: (-counts[name], name)))


def analysed(spark, number, query):
    """Return the analysed plan of one of the queries, of `reads.analysed`; an error says which one it is.

    Raises:
        ValueError: it cannot be analysed, or is a command.
    """
    try:
        return reads.analysed(spark, query)
    except ValueError as error:
        raise ArgumentError(f"query {number} {error}") from error


def _renamed(node, own):
    """Return the columns of `own` to which a plan's node gives another name, as views do to all."""
    if node.nodeName() != "Project":
        return {}
    aliases = (one for one in _each(node.projectList()) if one.getClass().getSimpleName() == "Alias")
    plain = (one for one in aliases if one.child().getClass().getSimpleName() in ("AttributeReference", "Cast"))
    of = ((one, [ref.exprId().toString() for ref in _each(one.references().toSeq())]) for one in plain)
    return {one.exprId().toString(): own[refs[0]] for one, refs in of if refs and refs[0] in own}


def _name(spark, table):
    found = commits.identified(spark, table)
    return _parts(found.catalog(), found.identifier())


def _same(node, named):
    catalog, identifier = node.catalog(), node.identifier()
    return catalog.isDefined() and identifier.isDefined() and _parts(catalog.get(), identifier.get()) == named


def _parts(catalog, identifier):
    """Return the parts of a table's name as Spark compares them; joined, two names could be one text."""
    return tuple(part.lower() for part in (catalog.name(), *identifier.namespace(), identifier.name()))


def _each(found):
    return (found.apply(n) for n in range(found.size()))
