"""GraphQL of the page: what a principal may open, its columns, its rows."""

import logging
import traceback
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import strawberry
from graphql import GraphQLError
from pyiceberg.table import Table as IcebergTable
from strawberry.exceptions import MissingQueryError
from strawberry.extensions import (
    DisableIntrospection,
    MaxAliasesLimiter,
    MaxTokensLimiter,
    QueryDepthLimiter,
)
from strawberry.schema.exceptions import CannotGetOperationTypeError
from strawberry.types import Info

from workbench import access
from workbench._base.errors import WorkbenchError
from workbench_ops.access.page import rows
from workbench_ops.access.page.cursors import Cursor, Cursors
from workbench_ops.access.page.sharing import Closed, Shared
from workbench_ops.access.page.users import User

DEEPEST, MOST_ALIASES, MOST_TOKENS = 6, 5, 500
MOST_SPREADS = 10  # `...`: each fragment that spreads the next one twice doubles the work of measuring the depth
UNREAD = "this question cannot be read; is it one of the page's GraphQL, and is every fragment in it?"
CLOSED = "tables cannot be opened at the moment; ask their owner"
log = logging.getLogger("workbench.access")


@dataclass(frozen=True)
class Asker:
    """Who asks, and what the answer is made from; `csrf` is what forms of the session must bring."""

    user: User
    csrf: str
    shared: Shared
    cursors: Cursors


@dataclass(frozen=True)
class Opened:
    """A table of a question, loaded once, when something of it is first asked for."""

    asker: Asker
    name: str

    @cached_property
    def table(self) -> IcebergTable:
        """The table as it was when it was loaded."""
        return self.asker.shared.load(self.asker.user.principal, self.name)

    def decide(self) -> access.Decision:
        """Decide what the reader sees of it now."""
        return self.asker.shared.decide(self.asker.user.principal, self.name, self.table)


@strawberry.type
class Column:
    """A column that the reader sees in some row."""

    name: str
    type: str
    visible_where: str  # `always`, or the condition that a row must meet


@strawberry.type
class Cell:
    """A cell: its text, null where it is NULL or hidden."""

    column: str
    text: str | None
    hidden: bool


@strawberry.type
class Row:
    """A row of which the reader sees some cell."""

    cells: list[Cell]


@strawberry.type
class Rows:
    """Consecutive rows in a total order."""

    snapshot_id: str | None
    total: int
    rows: list[Row]
    next: str | None  # where to go on; null at the end


@strawberry.input
class OrderBy:
    """A column to order by; hidden cells are ordered as NULL, which comes first."""

    column: str
    descending: bool = False


@strawberry.type
class Table:
    """A table of which the reader sees something."""

    name: str
    opened: strawberry.Private["Opened"]

    @strawberry.field
    def columns(self) -> list[Column]:
        """Return the columns that the reader sees."""
        decision = self.opened.decide()
        return [
            Column(name=each.name, type=each.type, visible_where=access.described(each.condition))
            for each in decision.visible
        ]

    @strawberry.field
    def rows(
        self,
        first: int = 20,
        order_by: list[OrderBy] | None = None,
        complete: bool = False,
        after: str | None = None,
    ) -> Rows:
        """Return rows of the table."""
        order = tuple((key.column, key.descending) for key in order_by or [])
        answer, following = read(
            self.opened.asker, self.name, order=order, first=first, complete=complete, after=after,
            opened=self.opened,
        )  # fmt: skip
        lines = [
            Row(
                cells=[
                    Cell(column=name, text=cell.text, hidden=cell.hidden)
                    for name, cell in zip(answer.part.columns, line, strict=True)
                ]
            )
            for line in answer.part.rows
        ]
        snapshot = None if answer.snapshot_id is None else str(answer.snapshot_id)
        return Rows(snapshot_id=snapshot, total=answer.part.total, rows=lines, next=following)


@strawberry.type
class Query:
    """What can be asked."""

    @strawberry.field
    def tables(self, info: Info) -> list[Table]:
        """Return the tables that the reader may open."""
        asker: Asker = info.context["asker"]
        names = asker.shared.names(asker.user.principal)
        return [Table(name=name, opened=Opened(asker, name)) for name in names]

    @strawberry.field
    def table(self, info: Info, name: str) -> Table:
        """Return a table by its name."""
        opened = Opened(info.context["asker"], name)
        opened.decide()
        return Table(name=name, opened=opened)


def read(
    asker: Asker, table: str, *, order: rows.Order, first: int, complete: bool, after: str | None,
    opened: Opened | None = None,
) -> tuple[Any, str | None]:  # fmt: skip
    """Read rows of a table and the place where to go on.

    Args:
        asker: who asks.
        table: its name.
        order: as of `rows.part`; of no account behind a place, which has its own.
        first: number of rows.
        complete: as of `rows.part`; as `order`.
        after: a place that an answer named; None for the first rows.
        opened: the table, where the question has loaded it already.

    Returns:
        (sharing.Answer, the next place or None at the end).

    Raises:
        WorkbenchError: with a sentence for the reader.
    """
    cursor = Cursor(table, None, tuple(order), complete, 0)
    if after is not None:
        cursor = asker.cursors.read(after, asker.user.name)
        if cursor.table != table:
            raise WorkbenchError(f"this place is one of {cursor.table}")
    answer = asker.shared.rows(
        asker.user.principal, table, order=cursor.order, first=first, complete=cursor.complete,
        start=cursor.start, snapshot_id=cursor.snapshot_id, table=opened.table if opened else None,
    )  # fmt: skip
    log.info(
        "%s read %s: snapshot %s, rows %d to %d of %d, columns %s",
        asker.user.name, table, answer.snapshot_id, cursor.start + 1, cursor.start + len(answer.part.rows),
        answer.part.total, ", ".join(answer.part.columns),
    )  # fmt: skip
    start = cursor.start + len(answer.part.rows)
    if not answer.part.rows or start >= answer.part.total:
        return answer, None
    following = Cursor(table, answer.snapshot_id, cursor.order, cursor.complete, start)
    return answer, asker.cursors.text(following, asker.user.name)


def sentence(error: BaseException | None) -> str:
    """Return what a reader is told of an error; the rest is for the owner's log."""
    if isinstance(error, WorkbenchError) and not isinstance(error, Closed | rows.TooLarge):
        return str(error)
    log.error("nothing was answered: %s", owned(error))
    return CLOSED


def owned(error: BaseException | None) -> str:
    """Return what a log may have of an error: our own sentence, of others their class and where they were raised.

    What a library says of an error may quote the cell that it failed at.
    """
    if isinstance(error, WorkbenchError):
        return str(error)
    frames = traceback.extract_tb(error.__traceback__) if error is not None else []
    places = "; ".join(f"{Path(frame.filename).name}:{frame.lineno} {frame.name}" for frame in frames)
    return f"{type(error).__name__} at {places or 'an unknown place'}"


class _Schema(strawberry.Schema):
    """A schema that logs no errors by itself.

    Strawberry logs the words of others with their traceback, and a reader's text as lines of the owner's log.
    """

    def process_errors(self, errors: list[GraphQLError], execution_context: Any = None) -> None:
        """Leave errors to `sentence`, which logs what may be logged of them."""


SCHEMA = _Schema(
    Query,
    extensions=[
        lambda: QueryDepthLimiter(max_depth=DEEPEST),
        lambda: MaxAliasesLimiter(max_alias_count=MOST_ALIASES),
        lambda: MaxTokensLimiter(max_token_count=MOST_TOKENS),
        DisableIntrospection,
    ],
)


def answer(question: str, variables: dict[str, Any] | None, asker: Asker) -> dict[str, Any]:
    """Answer a question in GraphQL.

    Args:
        question: its text.
        variables: of the question.
        asker: who asks.

    Returns:
        `data`, and `errors` where there are some, as JSON has them.
    """
    try:
        result = SCHEMA.execute_sync(question, variable_values=variables, context_value={"asker": asker})
    except (MissingQueryError, CannotGetOperationTypeError):  # it asks nothing, or holds fragments alone
        return {"data": None, "errors": [{"message": UNREAD}]}
    content: dict[str, Any] = {"data": result.data}
    if result.errors:
        content["errors"] = [_told(error).formatted for error in result.errors]
    return content


def _told(error: GraphQLError) -> GraphQLError:
    """Return an error as a reader is told it: of GraphQL itself as it is, of ours what `sentence` says."""
    cause = error.original_error
    if cause is None or isinstance(cause, GraphQLError):  # the latter where a value does not fit its type
        return error
    if error.path is None:  # while the question was judged: nothing has been read yet
        log.warning("a question was not read: %s", owned(cause))
        return GraphQLError(UNREAD, nodes=error.nodes)
    return GraphQLError(sentence(cause), nodes=error.nodes, path=error.path)
