"""Which table a record goes to, and what it does there: routes by an expression, unique keys, what cannot go."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from workbench._base import identifiers
from workbench._base.errors import ArgumentError
from workbench._base.typing import Column, DataFrame, SparkSession, StructType
from workbench.records.parsing import Format
from workbench.streams import chunks, nulls, tables
from workbench.streams.readers import sources
from workbench.tables import commits, upserts

ROUTE, REASON, MESSAGE, OPERATION = "_route", "_reason", "_message", "_operation"
TOMBSTONES = ("error", "delete")


@dataclass(frozen=True)
class Target:
    """How records enter a table: appended, or by a unique key.

    With a key the table has one row a key: an insert or update writes it, a delete marks it in the column
    `deleted`, and an older record never undoes a newer one, in whatever order and batch they come.

    Attributes:
        key: column or columns that name a row; empty to append every record.
        sequence: column or columns that say which of two records of a key is newer; `("offset",)`, a lineage
            column, takes the order of the topic: right as long as all records of a key are in one partition.
        operation: field of the record that says what it does; it need not be a column. None: all of them upsert.
        operations: what `operation` may hold, each `upsert` or `delete`.
        deleted: boolean column that marks deleted rows; needed with `operation`, and with `delete`.
        lineage: columns of the table that take the record's own, as of `ingest`.
        tombstones: what a record without a value does: `error`, it goes to the error store, or `delete`, it
            deletes the row of its key. That takes `key=("partition_key",)` and a sequence of lineage columns, for
            such a record has nothing else; of several tables one can have it, for nothing names its table.
    """

    key: tuple[str, ...] = ()
    sequence: tuple[str, ...] = ()
    operation: str | None = None
    operations: dict[str, str] = field(default_factory=lambda: dict(upserts.OPERATIONS))
    deleted: str | None = None
    lineage: tuple[str, ...] = ()
    tombstones: str = "error"

    def __post_init__(self) -> None:
        for name in ("key", "sequence", "lineage"):
            value = getattr(self, name)
            if isinstance(value, str) or not all(isinstance(column, str) for column in value):
                raise ArgumentError(f"{name} of a target must be a tuple of names, found {value!r}")
        if bool(self.key) != bool(self.sequence):
            raise ArgumentError(
                "key and sequence of a target go together: one names a row, the other says what is newer"
            )
        if self.operation and not self.key:
            raise ArgumentError(
                "a target with an operation needs a key: what is appended is neither updated nor deleted"
            )
        self._check_tombstones()
        deletes = self.operation is not None or self.tombstones == "delete"
        if self.key and deletes != (self.deleted is not None):
            raise ArgumentError("operation and deleted go together: without a marked row a delete could not last")
        kinds = self.operations.values() if isinstance(self.operations, dict) else ()
        if not kinds or any(kind not in upserts.KINDS for kind in kinds):
            raise ArgumentError(
                f"operations of a target must be a dict, word to 'upsert' or 'delete', found {self.operations!r}"
            )

    def _check_tombstones(self) -> None:
        if self.tombstones not in TOMBSTONES:
            raise ArgumentError(f"tombstones must be one of {', '.join(TOMBSTONES)}, found {self.tombstones!r}")
        if self.tombstones == "error":
            return
        if tuple(self.key) != (nulls.KEY,) or not {*self.key, *self.sequence} <= set(self.lineage):
            raise ArgumentError(
                f"a tombstone has a record's key and place alone: to delete by it, key is ({nulls.KEY!r},) and "
                f"sequence of the lineage, as ('offset',); they are {self.key}, {self.sequence} and {self.lineage}"
            )
        if self.deleted is None:
            raise ArgumentError(
                "tombstones that delete need `deleted`: without a marked row a delete could not last"
            )

    def roles(self) -> dict[str, Any]:
        """Return what a merge has to know of the columns, as arguments of `upserts.merge`."""
        names = ("key", "sequence", "operation", "operations", "deleted")
        roles = {name: getattr(self, name) for name in names}
        if self.tombstones == "delete":  # they have no field that says so
            roles |= {"operation": OPERATION, "operations": {kind: kind for kind in upserts.KINDS}}
        return roles


@dataclass(frozen=True)
class Plan:
    """A delivery whose tables, route and records fit each other, which was looked at before anything is read.

    Attributes:
        route: SQL expression over a record's fields that names its table; None for the only one.
        targets: table name to Target.
        columns: table name to its StructType.
        fields: the record's fields, StructType; where tombstones become rows each may be null.
        lineage: names of the source's own columns that are needed, in order.
    """

    route: str | None
    targets: dict[str, Target]
    columns: dict[str, StructType]
    fields: StructType
    lineage: tuple[str, ...]

    @property
    def tombstones(self) -> str | None:
        """The table whose rows are deleted by tombstones; None where those are errors."""
        return next(iter(_deleting(self.targets)), None)


def _deleting(targets: Mapping[str, Target]) -> list[str]:
    """Return the names of the tables whose rows are deleted by tombstones."""
    return [name for name, target in targets.items() if target.tombstones == "delete"]


def plan(
    spark: SparkSession, source: sources.RecordSource, parse: Format, route: str | None, targets: dict[str, Target]
) -> Plan:
    """Return the Plan of a delivery.

    Raises:
        ValueError: the expression is invalid, or a table has other columns than its records bring.
        TableNotFound: there is no such table.
    """
    if not targets:
        raise ArgumentError("tables must have a Target at least, found none")
    if route is None and len(targets) > 1:
        raise ArgumentError(
            f"with {len(targets)} tables a route is needed: an expression that names a record's table"
        )
    if len(several := _deleting(targets)) > 1:
        raise ArgumentError(
            f"tombstones delete in {' and in '.join(several)}; nothing says of which one a key is: one can do so"
        )
    named: dict[str, str] = {}
    for table in targets:
        if (other := named.setdefault(identifiers.quoted(table), table)) != table:
            raise ArgumentError(f"{other} and {table} are one table; name it once")
        commits.load(spark, table)
    tables.refuse_wap(spark)
    fields = parse.fields()
    _check_route(spark, route, fields)
    columns = {}
    for table, target in targets.items():
        columns[table] = spark.table(identifiers.quoted(table)).schema
        _check_target(table, target, columns[table], fields, source)
    if several:
        from pyspark.sql.types import StructField, StructType

        fields = StructType(
            [StructField(column.name, column.dataType, True, column.metadata) for column in fields]
        )
    _check_names(fields, source)
    used = [name for target in targets.values() for name in target.lineage]
    return Plan(route, dict(targets), columns, fields, tuple(dict.fromkeys([*used, *source.lineage])))


def _check_route(spark: SparkSession, route: str | None, fields: StructType) -> None:
    from pyspark.errors import AnalysisException, ParseException

    if route is None:
        return
    if not route.strip():
        raise ArgumentError(f"route must be a SQL expression over a record's fields, found {route!r}")
    try:
        routed = spark.createDataFrame([], fields).selectExpr(f"{route} AS {ROUTE}")
    except (AnalysisException, ParseException) as error:
        why = str(error).strip().splitlines()[0]
        raise ArgumentError(
            f"the route {route!r} is not an expression over {', '.join(fields.names)}: {why}"
        ) from None
    if (kind := routed.schema[0].dataType.simpleString()) != "string":
        raise ArgumentError(f"the route {route!r} gives a {kind}; it has to name a table, as text")
    if not routed._jdf.queryExecution().analyzed().expressions().head().deterministic():
        raise ArgumentError(
            f"the route {route!r} gives another table each time; a record that is read again would double"
        )


def _check_names(fields: StructType, source: sources.RecordSource) -> None:
    """Refuse fields with the name of something that stands beside them on the way: Spark could not tell them."""
    ours = {*source.lineage, ROUTE, REASON, MESSAGE, OPERATION, nulls.COLUMN, chunks.RAW}
    if clash := [name for name in fields.names if name.lower() in ours]:
        raise ArgumentError(
            f"{clash[0]} is a field of the records, and a delivery keeps something of its own by that name "
            f"({', '.join(sorted(ours))}): leave it out of the schema, or let a parser of yours rename it"
        )


def _check_target(
    table: str, target: Target, columns: StructType, fields: StructType, source: sources.RecordSource
) -> None:
    have, record = {column.name: column for column in columns}, {field.name: field for field in fields}
    if unknown := sorted(set(target.lineage) - set(source.lineage)):
        raise ArgumentError(f"lineage of {table} has {unknown[0]}; a record has {', '.join(source.lineage)}")
    if clash := sorted(set(target.lineage) & set(record)):
        raise ArgumentError(
            f"{clash[0]} is a field of the records and a lineage column of {table}; it can be one of them"
        )
    given = {name: field.dataType.simpleString() for name, field in record.items()}
    given |= {name: source.lineage[name].lower() for name in target.lineage}
    for name in (*target.lineage, *target.key, *target.sequence, *([target.deleted] if target.deleted else [])):
        if name not in have:
            raise ArgumentError(f"{table} has no column {name}; it has {', '.join(have)}")
    for name in (*target.key, *target.sequence):
        if name not in given:
            raise ArgumentError(
                f"{name} names or orders the rows of {table}, and the records bring {', '.join(given)}"
            )
    if target.operation and given.get(target.operation) != "string":
        raise ArgumentError(f"the operation {target.operation!r} of {table} is not a text field of the records")
    if not set(have) & set(record):
        raise ArgumentError(f"{table} has none of the records' fields: {', '.join(record)}")
    if target.tombstones == "delete":
        brought = (*target.lineage, target.deleted)
        if missing := [name for name, column in have.items() if not column.nullable and name not in brought]:
            raise ArgumentError(f"column {missing[0]} of {table} is required, and a tombstone does not bring it")
    for name, column in have.items():
        if name in given and name != target.deleted and column.dataType.simpleString() != given[name]:
            raise ArgumentError(
                f"column {name} of {table} is {column.dataType.simpleString()}, the records' is {given[name]}"
            )
        if name in record and (inner := tables.required_inside(column.dataType, record[name].dataType, name)):
            raise ArgumentError(f"{inner} of {table} is required; the schema has to say so")
        if name not in given and name != target.deleted and not column.nullable:
            raise ArgumentError(f"column {name} of {table} is required, and the records do not bring it")


def refuse_unmergeable(spark: SparkSession, source: sources.RecordSource, plan: Plan) -> None:
    """Refuse targets with a key whose rows no merge would take, before anything is read; as `plan`."""
    from pyspark.sql.types import StructType

    schema = StructType([*plan.fields, *sources.lineage_schema(source, plan.lineage)]).add(nulls.COLUMN, "boolean")
    nothing = routed(spark.createDataFrame([], schema), plan)
    for table, target in plan.targets.items():
        if target.key:
            try:
                upserts.shapes.of(spark, table, of_table(nothing, plan, table), **target.roles())
            except ValueError as error:
                raise ArgumentError(f"{table} cannot be merged into: {error}") from None


def routed(rows: DataFrame, plan: Plan) -> DataFrame:
    """Return the rows with their table, and with a reason and a message where they cannot go there; lazy.

    Args:
        rows: DataFrame of the record's fields and lineage, and nulls.COLUMN where the plan has tombstones.
        plan: Plan.
    """
    from pyspark.sql import functions as F

    only = next(iter(plan.targets))
    where = F.lit(only) if plan.route is None else F.expr(plan.route)
    stone = F.lit(False)
    if plan.tombstones:
        stone = F.col(nulls.COLUMN)
        where = F.when(stone, F.lit(plan.tombstones)).otherwise(where)
    records = rows.withColumn(ROUTE, where)
    table, operation = F.col(ROUTE), F.lit(None).cast("string")
    unknown = ~F.coalesce(table.isin(list(plan.targets)), F.lit(False))
    named = F.concat(F.lit("the route names "), table, F.lit(", which is none of the tables"))
    wrong = [(table.isNull(), "no_route", F.lit("the route names no table")), (unknown, "unknown_table", named)]
    for name, target in plan.targets.items():
        here = table == name
        wrong += [(here & bad, what, F.lit(text)) for what, text, bad in _wrong(name, target, plan, stone)]
        if target.key:
            does = F.lit("upsert")
            if target.operation:
                kinds = F.create_map(*[F.lit(text) for pair in target.operations.items() for text in pair])
                does = kinds[F.col(identifiers.column(target.operation))]
            if target.tombstones == "delete":
                does = F.when(stone, F.lit("delete")).otherwise(does)
            operation = F.when(here, does).otherwise(operation)
    reason: Any = F
    message: Any = F
    for bad, what, text in wrong:  # one CASE each, first come first served: nested, they double with each reason
        reason, message = reason.when(bad, F.lit(what)), message.when(bad, text)
    return records.withColumns({REASON: reason, MESSAGE: message, OPERATION: operation})


def _wrong(name: str, target: Target, plan: Plan, stone: Column) -> Iterator[tuple[str, str, Column]]:
    """Yield (reason, message, Column that says so) of what keeps a row from its table."""
    from pyspark.sql import functions as F

    def null(column: str) -> Column:
        return F.col(identifiers.column(column)).isNull()

    for column in target.key:
        yield "null_in_key", f"field {column!r} is null, and names a row of {name}", null(column)
        if column == nulls.KEY and column in target.lineage:
            text = f"the record's key is not UTF-8: keys that differ would name one row of {name}"
            yield "key_not_utf8", text, F.col(column).contains("\ufffd")
    for column in target.sequence:
        yield "null_in_sequence", f"field {column!r} is null, and orders the rows of {name}", null(column)
    if target.operation:
        known = F.col(identifiers.column(target.operation)).isin(list(target.operations))
        text = f"field {target.operation!r} is none of {', '.join(target.operations)}"
        yield "unknown_operation", text, ~F.coalesce(known, F.lit(False)) & ~stone
    for required in [column.name for column in plan.columns[name] if not column.nullable]:
        if required in plan.fields.names:
            yield "null_in_required", f"field {required!r} is null, and required in {name}", null(required)
        elif required in nulls.MAY_LACK and required in target.lineage:
            text = f"{nulls.MAY_LACK[required]}, and column {required!r} is required in {name}"
            yield "null_in_required", text, null(required)


def of_table(records: DataFrame, plan: Plan, table: str) -> DataFrame:
    """Return the rows of a table, in its columns, and its operation where it has one; lazy."""
    from pyspark.sql import functions as F

    target = plan.targets[table]
    written = [column for column in plan.columns[table] if column.name != target.deleted]
    columns = tables.in_columns_of(written, {*plan.fields.names, *target.lineage})
    if target.tombstones == "delete":
        columns.append(F.col(OPERATION))
    elif target.operation and target.operation not in plan.columns[table].names:
        columns.append(F.col(identifiers.column(target.operation)))
    return records.where((F.col(ROUTE) == table) & F.col(REASON).isNull()).select(*columns)
