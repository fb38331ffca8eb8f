"""A client's request, made anew from the fields that the front lets through, with its tables replaced.

Nothing is forwarded as it came: each message is a new one, into which the allowed fields are copied. What the
descriptors do not know, a newer client's field, is refused too.
"""

import logging
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from workbench._base import identifiers
from workbench._base.errors import ArgumentError, WorkbenchError
from workbench_ops.front import arguments, messages, own_rows, statements, types
from workbench_ops.front.functions import FUNCTIONS, HINTS, TABLE_FUNCTIONS
from workbench_ops.front.functions import SIMPLE as SIMPLE_FUNCTIONS
from workbench_ops.front.refusals import Refused

Governed = Callable[[str, str], str]  # principal, table's name as Spark SQL has it; text of the governed subquery

PACKAGE = "spark.connect."
# Iceberg takes a last part that begins so for a state of the table before it, and these for its metadata
SELECTORS = ("branch_", "tag_", "snapshot_id_", "at_timestamp_")
METADATA = {
    "all_data_files", "all_delete_files", "all_entries", "all_files", "all_manifests", "changes", "data_files",
    "delete_files", "entries", "files", "history", "manifests", "metadata_log_entries", "partitions",
    "position_deletes", "refs", "snapshots",
}  # fmt: skip
SIMPLE = {
    "literal", "unresolved_attribute", "unresolved_function", "unresolved_star", "alias", "sort_order",
    "subquery_expression",
}  # fmt: skip
# what else a frame may be of makes values of another type, with which a comparison may fail on a hidden row
SIMPLE_RELATIONS = {
    "read", "project", "filter", "join", "set_op", "sort", "limit", "aggregate", "sql", "local_relation", "offset",
    "deduplicate", "range", "subquery_alias", "repartition", "to_df", "with_columns_renamed", "show_string",
    "html_string", "drop", "tail", "with_columns", "hint", "repartition_by_expression", "with_relations",
    "drop_na",
}  # fmt: skip
_TYPE = re.compile(r"[A-Za-z0-9_<>(),:` .-]*")


@dataclass
class Rewriting:
    """One request of one principal on its way.

    Attributes:
        principal: who asks, by the token.
        governed: gives the governed subquery of a table for a principal, or refuses it by an error of ours.
        catalog: name of the catalog that tables without one are in.
        tables: name of each table that was replaced to the text of its governed subquery.
        apart: whether the client's conditions could fail on a hidden row, were they asked before the policy's.
    """

    principal: str
    governed: Governed
    catalog: str
    tables: dict[str, str] = field(default_factory=dict)
    apart: bool = True

    def request(self, message: Any) -> Any:
        """Return a request anew, of the principal and with governed tables.

        Raises:
            Refused: it holds what is not let through.
        """
        self.apart = not _simple(message)
        new = self.rewritten(message)
        new.user_context.Clear()
        new.user_context.user_id = self.principal
        return new

    def rewritten(self, message: Any) -> Any:
        """Return a message anew: what it may hold is copied, what has a rule goes by it.

        Raises:
            Refused: it holds what is not let through.
        """
        name = message.DESCRIPTOR.full_name.removeprefix(PACKAGE)
        allowed = messages.FIELDS.get(name)
        if allowed is None:
            raise Refused(_reason(name))
        _require_known(message, name)
        if rule := RULES.get(name):
            rule(message)
        if name == "Relation" and message.WhichOneof("rel_type") == "read":
            return self._table(message)
        new = type(message)()
        for descriptor, value in message.ListFields():
            if descriptor.name in messages.IGNORED.get(name, ()):
                continue
            if descriptor.name not in allowed:
                if descriptor.message_type is None and not descriptor.is_repeated and not value:
                    continue  # False, which the client writes out, is what it would be anyhow
                raise Refused(_reason(f"{name}.{descriptor.name}"))
            self._copy(new, descriptor, value)
        if name == "SQL":
            named, ordered = arguments.of(new)
            new = type(message)(query=statements.query(message.query, self.subquery, named, ordered))
        elif name == "Expression.ExpressionString":
            new.expression = statements.expression(message.expression, self.subquery)
        elif name == "LocalRelation" and message.data:
            new.data = own_rows.anew(message.data)
        return new

    def _copy(self, new: Any, descriptor: Any, value: Any) -> None:
        kind = descriptor.message_type
        if descriptor.enum_type is not None:
            for number in value if descriptor.is_repeated else [value]:
                if number not in descriptor.enum_type.values_by_number:
                    raise Refused(f"{descriptor.full_name.removeprefix(PACKAGE)} has a value that is not known")
        if kind is None:
            if descriptor.is_repeated:
                getattr(new, descriptor.name).extend(value)
            else:
                setattr(new, descriptor.name, value)
        elif kind.GetOptions().map_entry:
            target = getattr(new, descriptor.name)
            for key, item in value.items():
                if kind.fields_by_name["value"].message_type is None:
                    target[key] = item
                else:
                    target[key].CopyFrom(self.rewritten(item))
        elif descriptor.is_repeated:
            getattr(new, descriptor.name).extend(self.rewritten(item) for item in value)
        else:
            getattr(new, descriptor.name).CopyFrom(self.rewritten(value))

    def subquery(self, parts: tuple[str, ...]) -> str:
        """Return the text of the governed subquery of a table.

        Args:
            parts: of its name: namespace and name, or catalog, namespace and name.

        Raises:
            Refused: the table is not shared with the principal, does not exist, or its name is of something else.
        """
        table = self.name(parts)
        if table not in self.tables:
            self.tables[table] = self.governed_text(table)
        return statements.apart(self.tables[table]) if self.apart else self.tables[table]

    def name(self, parts: tuple[str, ...]) -> str:
        """Return the full name of a table, as Spark SQL has it.

        Raises:
            Refused: it has too few parts, or selects a branch, an older state or metadata of a table.
        """
        full = parts if parts[0] == self.catalog else (self.catalog, *parts)
        try:
            if len(full) < 3:
                raise Refused(f"{'.'.join(parts)[:200]} is not the name of a table: write namespace.name")
            table = identifiers.shown(identifiers.joined(full))
        except ArgumentError as error:
            raise Refused(str(error)) from None
        if full[-1].lower().startswith(SELECTORS):
            raise Refused(f"{table} may be a branch or an older state of a table: only its state of now is shared")
        if full[-1].lower() in METADATA and len(full) > 3:
            raise Refused(f"{table} may be metadata of a table, which tell of hidden rows: they are not shared")
        return table

    def governed_text(self, table: str) -> str:
        """Return the text of a table's governed subquery now.

        Args:
            table: its full name, as Spark SQL has it.

        Raises:
            Refused: it is not shared with the principal, or does not exist; which of both is not told.
        """
        try:
            text = self.governed(self.principal, table)
        except Exception as error:  # its own sentence may tell of what is hidden, or that the table exists
            if not isinstance(error, ValueError | WorkbenchError):
                logging.getLogger(__name__).error("no governed subquery: %s", type(error).__name__)
            text = ""
        if not text:
            raise Refused(f"{table} is not shared with {self.principal}, or does not exist")
        return text

    def _table(self, message: Any) -> Any:
        """Return the governed subquery in the place of a relation that reads a table, under the table's name."""
        self.rewritten(message.read)  # refuses what else it holds
        try:
            parts = identifiers.parts(message.read.named_table.unparsed_identifier)
        except ArgumentError as error:
            raise Refused(str(error)) from None
        text = self.subquery(parts)
        *qualifier, alias = identifiers.parts(self.name(parts))
        new = type(message)()
        if message.HasField("common"):
            new.common.CopyFrom(self.rewritten(message.common))
        new.subquery_alias.alias = alias
        new.subquery_alias.qualifier.extend(qualifier)
        new.subquery_alias.input.sql.query = text
        return new


def _simple(message: Any) -> bool:
    """Return whether no expression in a message can fail on a row whose cells are all NULL."""
    name = message.DESCRIPTOR.full_name.removeprefix(PACKAGE)
    if name == "Expression" and message.WhichOneof("expr_type") not in SIMPLE:
        return False
    if name == "Relation" and message.WhichOneof("rel_type") not in SIMPLE_RELATIONS:
        return False
    if name == "Expression.UnresolvedFunction" and message.function_name.lower() not in SIMPLE_FUNCTIONS:
        return False
    if name == "SQL" and not statements.simple(message.query):
        return False
    for descriptor, value in message.ListFields():
        if descriptor.message_type is None or descriptor.message_type.GetOptions().map_entry:
            continue  # arguments of SQL are literals, or Spark refuses them
        if not all(_simple(item) for item in (value if descriptor.is_repeated else [value])):
            return False
    return True


def _reason(name: str) -> str:
    because = messages.REASONS.get(name, "it is not among what the front lets through")
    return f"{name}: {because}"


def _require_known(message: Any, name: str) -> None:
    """Refuse fields that the descriptors do not have: what they mean is not known here."""
    from google.protobuf.unknown_fields import UnknownFieldSet

    if len(UnknownFieldSet(message)):
        raise Refused(f"{name} has a field that this version of the front does not know")


def _require_kind(message: Any) -> None:
    for oneof in ("rel_type", "expr_type", "op_type", "command_type", "analyze", "read_type"):
        if oneof in message.DESCRIPTOR.oneofs_by_name and message.WhichOneof(oneof) is None:
            name = message.DESCRIPTOR.full_name.removeprefix(PACKAGE)
            raise Refused(f"{name} is empty, or of a kind that this version of the front does not know")


def _require_function(message: Any) -> None:
    # the client writes isNull and startsWith, Spark takes either
    if message.function_name.lower() not in FUNCTIONS:
        raise Refused(f"the function {message.function_name[:80]} is not among those that the front lets through")
    types.require_argument(message.function_name, message.arguments)


def _require_table_function(message: Any) -> None:
    if message.function_name.lower() not in TABLE_FUNCTIONS:
        raise Refused(f"the function {message.function_name[:80]} is not among those that the front lets through")


def _require_hint(message: Any) -> None:
    if message.name.lower() not in HINTS:
        raise Refused(f"the hint {message.name[:80]} is not among {', '.join(sorted(HINTS))}")


def _require_type(message: Any) -> None:
    if not _TYPE.fullmatch(message.type_str):
        raise Refused("a type is written with letters, digits and the signs of decimal(10, 2) and array<int>")


def _require_ddl(message: Any) -> None:
    if not _TYPE.fullmatch(message.ddl_string):
        raise Refused("a schema is written with names, types, commas and colons")


def _require_no_metadata(message: Any) -> None:
    if message.metadata.strip() not in ("", "{}"):
        raise Refused("metadata of a field are not let through: Spark takes some of them for orders")


def _require_scalar_subquery(message: Any) -> None:
    types = message.DESCRIPTOR.enum_types_by_name["SubqueryType"].values_by_name
    allowed = {types[f"SUBQUERY_TYPE_{name}"].number for name in ("SCALAR", "EXISTS", "IN")}
    if message.subquery_type not in allowed:
        raise Refused("of subqueries in an expression those for a value, EXISTS and IN are let through")


def _require_no_sql_root(message: Any) -> None:
    # the server would make views of the references, and the text could name them
    if message.root.WhichOneof("rel_type") == "sql":
        raise Refused("frames as arguments of spark.sql are not let through: join them as frames")


def _require_schema(message: Any) -> None:
    if message.schema:
        types.require_schema(message.schema)


def _require_settings(message: Any) -> None:
    """Refuse settings that a client may not read or set."""
    kind = message.WhichOneof("op_type")
    if kind is None:
        _require_kind(message)
    asked = getattr(message, kind)
    keys = (
        [pair.key for pair in asked.pairs] if kind in ("set", "get_with_default") else getattr(asked, "keys", ())
    )
    known = messages.SETTABLE if kind in ("set", "unset") else messages.READABLE
    for key in keys:
        if key not in known:
            verb = "set" if kind in ("set", "unset") else "read"
            raise Refused(f"the setting {key[:120]} cannot be {verb} here: settings are the server's")


RULES: dict[str, Callable[[Any], None]] = {
    "Relation": _require_kind,
    "Expression": _require_kind,
    "Plan": _require_kind,
    "Command": _require_kind,
    "AnalyzePlanRequest": _require_kind,
    "Read": _require_kind,
    "Expression.UnresolvedFunction": _require_function,
    "CallFunction": _require_function,
    "UnresolvedTableValuedFunction": _require_table_function,
    "Hint": _require_hint,
    "Expression.Cast": _require_type,
    "AnalyzePlanRequest.DDLParse": _require_ddl,
    "DataType.StructField": _require_no_metadata,
    "SubqueryExpression": _require_scalar_subquery,
    "WithRelations": _require_no_sql_root,
    "LocalRelation": _require_schema,
    "ConfigRequest.Operation": _require_settings,
}
