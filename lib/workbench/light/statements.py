"""What a statement reads: its tables, its parameters, the columns that it compares; from DuckDB's own parser."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from workbench._base import duck
from workbench._base.errors import ArgumentError
from workbench.light.typing import Connection, Json

# what a FROM clause may hold beside tables: they read nothing outside the statement
TABLE_FUNCTIONS = {"range", "generate_series", "unnest"}
EXTREMES = {"max", "min"}  # which Spark answers from the bounds of files, and those leave NaN out
POSITION = ""  # of what is ordered by a column's number, which is not a name of a column
STAR = "*"  # any column
ARGUMENTS = {"at", "catalog", "sql"}  # of query, so that no value can have such a name
OTHER_CATALOGS = {"memory", "system", "temp"}  # DuckDB's own names of databases
PLAIN = re.compile(r"[^\W\d]\w*")
OWN_VIEWS = ("duckdb_", "pg_", "pragma_", "sqlite_")
OWN_SCHEMAS = {"information_schema", "main", "pg_catalog"}


@dataclass(frozen=True)
class Statement:
    """A query.

    Attributes:
        sql: its text.
        tables: names of the tables that it reads, each once, as parts: (namespace, …, name).
        parameters: names of its parameters.
        columns: all names and parts of names of columns in it, in lower case; "*" where a star stands.
        compared: those that a comparison, a minimum or a maximum is asked of; "*" where it may be any.
        alone: names of columns that stand alone: a table's is a row of it, unless one of its columns has it.
        aliases: names that it gives to columns.
        sources: names by which it calls tables and subqueries.
        known: names of the columns of its tables, in lower case, where they have been looked up.
    """

    sql: str
    tables: tuple[tuple[str, ...], ...]
    parameters: frozenset[str]
    columns: frozenset[str]
    compared: frozenset[str]
    alone: frozenset[str]
    aliases: frozenset[str]
    sources: frozenset[str]
    known: frozenset[str] = frozenset()

    @property
    def renames(self) -> bool:
        """Say whether it may compare a column by another name than the column's own."""
        return bool(
            self.compared - self.sources - self.known
            or self.compared & self.aliases
            or self.compared & self._whole_rows
        )

    @property
    def names_all(self) -> bool:
        """Say whether it names all columns of a table at once, by a star or as a row."""
        return STAR in self.columns or bool(self._whole_rows)

    @property
    def _whole_rows(self) -> frozenset[str]:
        return (self.alone & self.sources) - self.known


def read(connection: Connection, sql: str) -> Statement:
    """Take a statement apart, without running it.

    Args:
        connection: of DuckDB, whose parser reads the text.
        sql: one SELECT, in DuckDB's SQL; values stand in it as `$name`.

    Raises:
        ValueError: it is not one statement, it writes, or it reads something other than tables of the catalog.
    """
    _one_select(connection, sql)
    # a literal: for the first parameter of a process DuckDB imports pandas, which takes longer than the answer
    ((text,),) = connection.execute(f"SELECT json_serialize_sql({duck.literal(sql)}::VARCHAR)").fetchall()
    tree = json.loads(text)
    if tree["error"]:
        raise ArgumentError(f"the statement cannot be judged before it runs: {tree['error_message']}")
    nodes = list(_nodes(tree))
    _only_tables(nodes)
    return Statement(
        sql,
        _tables(nodes),
        _parameters(connection, sql),
        frozenset(_columns(nodes)),
        frozenset(_compared(nodes)),
        frozenset(_alone(nodes)),
        frozenset(_aliases(nodes)),
        frozenset(_sources(nodes)),
    )


def check_values(statement: Statement, values: Mapping[str, Any]) -> None:
    """Refuse values that are not those of a statement's parameters.

    Raises:
        ValueError: one is missing, or the statement has no parameter of a name.
    """
    names = ", ".join(f"${name}" for name in sorted(statement.parameters)) or "none"
    if unknown := sorted(values.keys() - statement.parameters):
        raise ArgumentError(f"{unknown[0]} is not a parameter of the statement; it has {names}")
    if missing := sorted(statement.parameters - values.keys()):
        raise ArgumentError(f"the parameter ${missing[0]} has no value; the statement has {names}")
    for name, value in values.items():
        _check_text(f"${name}", value)


def _check_text(name: str, value: object) -> None:
    try:
        str(value).encode()
    except UnicodeEncodeError as error:
        raise ArgumentError(f"{name} is no text: {error.reason} at character {error.start}") from None


def _one_select(connection: Connection, sql: str) -> None:
    import duckdb

    if not isinstance(sql, str) or not sql.strip():
        raise ArgumentError(f"sql is {sql!r}, expected the text of one SELECT")
    _check_text("sql", sql)
    try:
        statements = connection.extract_statements(sql)
    except duckdb.ParserException as error:
        raise ArgumentError(f"the statement is not SQL that DuckDB reads: {error}") from None
    kinds = [statement.type.name for statement in statements]
    if "CREATE" in kinds and re.search(r"\bpivot", sql, re.IGNORECASE):  # which DuckDB takes for two statements
        raise ArgumentError(
            "PIVOT has the columns that its rows tell, and query knows them beforehand; name them, as "
            "sum(amount) FILTER (WHERE kind = 'a') AS a"
        )
    if writing := [kind for kind in kinds if kind != "SELECT"]:
        raise ArgumentError(
            f"query reads and never writes; found {writing[0]}, expected one SELECT. Rows are written by append "
            "and merge"
        )
    if len(kinds) != 1:
        raise ArgumentError(f"expected one SELECT, found {len(kinds)} statements")


def _parameters(connection: Connection, sql: str) -> frozenset[str]:
    names = connection.extract_statements(sql)[0].named_parameters
    if numbers := sorted(name for name in names if name.isdigit()):
        raise ArgumentError(f"parameters have names, as $day; found the position {numbers[0]}")
    if reserved := sorted(ARGUMENTS.intersection(names)):
        raise ArgumentError(
            f"the parameter ${reserved[0]} has the name of an argument of query, so it can get no value; call it "
            "otherwise"
        )
    return frozenset(names)


def _nodes(tree: Json) -> Iterator[Json]:
    if isinstance(tree, dict):
        yield tree
    for child in tree.values() if isinstance(tree, dict) else tree if isinstance(tree, list) else ():
        yield from _nodes(child)


def _only_tables(nodes: Iterable[Json]) -> None:
    for node in nodes:
        kind = node.get("type")
        if kind == "TABLE_FUNCTION" and node["function"]["function_name"].lower() not in TABLE_FUNCTIONS:
            raise ArgumentError(
                f"query reads tables of the catalog; found the table function {node['function']['function_name']}"
            )
        if kind in ("SHOW_REF", "PIVOT"):
            raise ArgumentError(
                f"expected a SELECT from tables of the catalog, found {node.get('show_type', kind)}"
            )
        if node.get("at_clause"):
            raise ArgumentError("the statement names a version with AT; name it by at=, for all its tables")


def _tables(nodes: Sequence[Json]) -> tuple[tuple[str, ...], ...]:
    common = {entry["key"].lower() for node in nodes for entry in (node.get("cte_map") or {}).get("map", ())}
    # outside of where WITH reaches, DuckDB takes the name for a file or a view of its own
    for name in sorted(common):
        if not PLAIN.fullmatch(name) or name.startswith(OWN_VIEWS):
            raise ArgumentError(
                f"WITH gives the name {name!r}; expected letters, digits and _, and no name of a view of DuckDB"
            )
    names: dict[tuple[str, ...], None] = {}  # in the order of the statement
    for node in nodes:
        if node.get("type") != "BASE_TABLE":
            continue
        parts = tuple(part for part in (node["catalog_name"], node["schema_name"], node["table_name"]) if part)
        if len(parts) == 1 and parts[0].lower() in common:
            continue
        if len(parts) == 1:
            raise ArgumentError(
                f"{parts[0]!r} is not a table's name; expected namespace.name or catalog.namespace.name"
            )
        if parts[0].lower() in OTHER_CATALOGS or parts[-2].lower() in OWN_SCHEMAS:
            raise ArgumentError(
                f"{'.'.join(parts)} is a name that DuckDB keeps for itself; its tables are Spark's to read"
            )
        names[parts] = None
    spelled: dict[str, str] = {}
    for name in map(".".join, names):
        if (twin := spelled.setdefault(name.lower(), name)) != name:
            raise ArgumentError(
                f"{twin} and {name} are one name for DuckDB, which does not look at case; ask in two statements"
            )
    return tuple(names)


def _columns(nodes: Iterable[Json]) -> Iterator[str]:
    for node in nodes:
        if node.get("class") == "COLUMN_REF":
            yield from (part.lower() for part in node["column_names"])
        elif node.get("class") == "STAR":
            yield STAR


def _alone(nodes: Iterable[Json]) -> Iterator[str]:
    for node in nodes:
        if node.get("class") == "COLUMN_REF" and len(node["column_names"]) == 1:
            yield node["column_names"][0].lower()


def _compared(nodes: Iterable[Json]) -> Iterator[str]:
    for node in nodes:
        extreme = node.get("class") == "FUNCTION" and node["function_name"].lower() in EXTREMES
        if extreme or any(str(node.get(kind)).startswith("COMPARE_") for kind in ("type", "comparison_type")):
            yield from _operands(node)
        if node.get("ref_type") == "NATURAL":
            yield STAR
        yield from (name.lower() for name in node.get("using_columns") or ())
        yield from _first_of_order(node.get("modifiers") or ())


def _operands(node: Json) -> Iterator[str]:
    """Yield the columns that a comparison names: any of them by COLUMNS(…) or a number."""
    parts = list(_nodes(node))
    yield from (name for name in _columns(parts) if name != STAR)
    if any(part.get("class") == "POSITIONAL_REFERENCE" or part.get("columns") is True for part in parts):
        yield STAR


def _first_of_order(modifiers: Sequence[Json]) -> Iterator[str]:
    """Yield the columns of an ORDER BY with a LIMIT: DuckDB compares them with the last row that it keeps."""
    kinds = {modifier["type"] for modifier in modifiers}
    if not kinds & {"LIMIT_MODIFIER", "LIMIT_PERCENT_MODIFIER"}:
        return
    for order in (order for modifier in modifiers for order in modifier.get("orders", ())):
        columns = set(_operands(order["expression"]))
        yield from columns or (POSITION,)


def _aliases(nodes: Iterable[Json]) -> Iterator[str]:
    for node in nodes:
        if "class" in node and node.get("alias"):
            yield node["alias"].lower()
        yield from (name.lower() for name in (*node.get("column_name_alias", ()), *node.get("aliases", ())))
        if node.get("class") == "STAR":
            yield from (entry["key"].lower() for entry in node.get("replace_list", ()))
            yield from (entry["value"].lower() for entry in node.get("rename_list", ()))


def _sources(nodes: Iterable[Json]) -> Iterator[str]:
    for node in nodes:
        if "class" not in node and node.get("alias"):
            yield node["alias"].lower()
        if node.get("type") == "BASE_TABLE":
            parts = (node["catalog_name"], node["schema_name"], node["table_name"])
            yield from (part.lower() for part in parts if part)
