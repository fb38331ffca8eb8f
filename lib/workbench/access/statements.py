"""What a principal sees of a table, as a SELECT of Spark, DuckDB or Trino."""

from collections.abc import Collection
from typing import Literal

from workbench._base import duck, identifiers
from workbench._base.door import checked
from workbench._base.errors import ArgumentError
from workbench._base.typing import Judged
from workbench.access import conditions
from workbench.access.conditions import ALWAYS, Condition, Dialect
from workbench.access.deciding import HIDDEN, DecidedColumn, Decision
from workbench.access.policies import key


@checked
def sql(
    decision: Judged[Decision], dialect: Literal["spark", "duckdb", "trino"], *, source: str | None = None
) -> str:
    """Return a SELECT of what a principal sees of a table.

    Its columns are those that the principal sees in some row, and `_hidden`, a list of the names of a row's hidden
    cells, which are NULL. A hidden row is not among the rows. A column that may be hidden is NULL in hidden rows
    too, so that a condition which an engine tries before the filter of rows learns nothing. Spark, where an error
    would tell that there is a hidden row, tries none before it (`apart`): a reader's conditions skip no files.

    Whoever uses it sees to it that the source is the table that was decided on, at the schema that was decided on:
    a statement names columns, and cannot know their field ids. `frame` and `arrow` look.

    Args:
        decision: as `decide` returns it.
        dialect: whose SQL.
        source: what is read instead of the table by its name, in the dialect's SQL and pasted as it is. The name
            has the policy's catalog in front, where it has one.

    Returns:
        One SELECT without a final semicolon, to be used as a statement, a view or a subquery under an alias.

    Raises:
        NothingVisible: the principal sees nothing of it.
        ArgumentError: a visible column is named `_hidden`, or Spark cannot have a name in a statement.
    """
    text = governed(decision, dialect, source=source)
    return apart(text) if dialect == "spark" and decision.row != ALWAYS else text


def governed(
    decision: Decision, dialect: Dialect, *, source: str | None = None, bare: Collection[str] = ()
) -> str:
    """Return the SELECT of `sql` without what keeps a reader's conditions behind those of the policy.

    Args:
        decision: as of `sql`.
        dialect: as of `sql`.
        source: as of `sql`.
        bare: columns whose values in hidden rows are left to the filter of rows, where all visible rows show them,
            so that an engine skips files by a reader's conditions. Only for one who sees to it that none of these
            that can fail on such a value is tried before that filter: the others tell nothing in whatever order.
    """
    columns = [
        f"{name if column.name in bare and column.condition == decision.row else cell(column, dialect)} AS {name}"
        for column in columns_of(decision)
        for name in [conditions.named(column.name, dialect)]
    ]
    columns.append(f"{hidden(decision, dialect)} AS {conditions.named(HIDDEN, dialect)}")
    where = "" if decision.row == ALWAYS else f" WHERE {visible_row(decision, dialect)}"
    return f"SELECT {', '.join(columns)} FROM {source or _quoted(decision, dialect)}{where}"


APART = "monotonically_increasing_id() >= 0"


def apart(text: str) -> str:
    """Return a query of Spark whose rows are chosen before anything else is computed of them.

    Spark asks conditions that it can translate for Iceberg first, whosever they are (PushDownUtils.pushFilters).
    One of a reader's that fails on a row of NULLs, as 1 / coalesce(x, 0) does, would then tell that there are
    hidden rows. Spark moves none behind a condition that is not a function of the row; nor can it prune files by
    them. That condition must be one that it does not see through: rand() >= 0 and uuid() IS NOT NULL it drops.
    """
    return f"SELECT * FROM ({text}\n) AS governed WHERE {APART}"


def columns_of(decision: Decision) -> tuple[DecidedColumn, ...]:
    """Return the visible columns.

    Raises:
        NothingVisible: there are none.
        ArgumentError: one is named as the list of hidden cells is.
    """
    columns = decision.visible
    if taken := [column.name for column in decision.columns if column.name.casefold() == HIDDEN]:
        raise ArgumentError(
            f"{decision.table} has a column {taken[0]}, the name of the list of hidden cells; rename that column"
        )
    return columns


def visible_row(decision: Decision, dialect: Dialect) -> str:
    """Return where a row is visible, as a condition.

    Spark hands conditions to Iceberg, which prunes files by them, and does not try again those that partitions
    decide. But to Iceberg null is less than any number and not equal to any, so that a row with null would be
    shown. Spark itself evaluates the second half. A LIKE is not handed on: over a partition that is null, Iceberg
    1.12 ends with a NullPointerException in ResidualEvaluator.startsWith.
    """
    condition = conditions.rendered(decision.row, dialect)
    if dialect != "spark":
        return condition
    alone = any(predicate.operator == "LIKE" for predicate in conditions.predicates(decision.row))
    return f"coalesce({condition}, FALSE)" if alone else f"({condition}) AND coalesce({condition}, FALSE)"


def is_handed_on(condition: Condition) -> bool:
    """Return whether Spark hands all of a condition to Iceberg, and so asks it in the order in which it stands.

    What it does not, a LIKE and what is of floats (`nanvl`), it asks behind all conditions that it does, whosever.
    """
    return not any(
        predicate.operator == "LIKE" or predicate.kind == "double"
        for predicate in conditions.predicates(condition)
    )


def cell(column: DecidedColumn, dialect: Dialect) -> str:
    """Return a column's visible cells as an expression: NULL where one is hidden."""
    name = conditions.named(column.name, dialect)
    if column.condition == ALWAYS:
        return name
    return f"CASE WHEN {conditions.rendered(column.condition, dialect)} THEN {name} END"


def hidden(decision: Decision, dialect: Dialect) -> str:
    """Return the names of a row's hidden cells as an expression: a list of texts, in the order of the columns."""
    names = [
        f"CASE WHEN {conditions.rendered(column.condition, dialect)} THEN NULL "
        f"ELSE {_text(column.name, dialect)} END"
        for column in decision.visible
        if column.condition != ALWAYS
    ]
    listed = ", ".join(names)
    if dialect == "spark":
        return f"array_compact(array({listed}))" if names else "CAST(array() AS ARRAY<STRING>)"
    if dialect == "trino":
        return f"filter(CAST(ARRAY[{listed}] AS ARRAY(VARCHAR)), name -> name IS NOT NULL)"
    return f"list_filter(CAST([{listed}] AS VARCHAR[]), name -> name IS NOT NULL)"


def _text(text: str, dialect: Dialect) -> str:
    return identifiers.literal(text) if dialect == "spark" else duck.literal(text)


def _quoted(decision: Decision, dialect: Dialect) -> str:
    parts = (*([decision.catalog] if decision.catalog else []), *key(decision.table, decision.catalog))
    return identifiers.joined(parts) if dialect == "spark" else ".".join(map(duck.quoted, parts))
