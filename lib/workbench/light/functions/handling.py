"""The handler of a Lambda that an SQS queue calls: rows of a batch in one commit, messages that fail alone."""

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Annotated, Any

from workbench._base.bounds import Ge
from workbench._base.door import checked
from workbench._base.errors import ArgumentError
from workbench.light import appending, catalogs, slices, writing
from workbench.light.typing import ArrowSchema, ArrowTable, Catalog, IcebergCatalog, IcebergTable

Record = Mapping[str, Any]  # a message as the event of SQS has it


@dataclass(frozen=True)
class _Message:
    """A message that could be read: its name in the event, the id of its rows, their earliest moment, the rows."""

    receipt: str
    id: str
    since: datetime | None
    rows: ArrowTable


@checked
def handler(
    parse: Callable[[str], Any],
    *,
    catalog: Catalog,
    table: str,
    identify: Callable[[Record], str] | None = None,
    since: Callable[[Record], datetime] | None = None,
    id_column: str | None = None,
    schema: ArrowSchema | None = None,
    tries: Annotated[int, Ge(1)] = writing.TRIES,
) -> Callable[[Mapping[str, Any], Any], dict[str, Any]]:
    """Return a handler that appends the rows of each message once, however often it is delivered.

    A batch is one commit. A message that cannot be read, or whose rows do not fit the table, fails alone: it is
    named in `batchItemFailures`, comes again, and goes to the queue's dead letters by its redrive policy. The
    event source mapping must have ReportBatchItemFailures. Nothing is opened before the first batch comes.

    Args:
        parse: makes rows of a message's body: a list of dicts, one dict, or a pyarrow.Table.
        catalog: as of `query`; values of its properties may be `env:NAME`, a variable of the function.
        table: `namespace.name`.
        identify: names what a message brings. Left out, it is SQS's messageId, which a message has that is
            delivered again, but not one that its sender sends again: such a one needs the sender's own id.
        since: the moment from which on a message's id can have been written; needed with `identify` where the
            table's older snapshots are expired. Left out, it is when SQS got the message.
        id_column: as of `append`.
        schema: pyarrow.Schema of which the table is made where it is missing.
        tries: as of `append`.

    Returns:
        Function of event and context, as Lambda calls it.

    Raises:
        ValueError: an argument is wrong.
    """
    opened: dict[str, IcebergCatalog] = {}

    def handle(event: Mapping[str, Any], _context: Any = None) -> dict[str, Any]:
        if not isinstance(event, Mapping) or not isinstance(event.get("Records"), list):
            raise ArgumentError("the event is not a batch of SQS: it has no list Records")
        _check(event["Records"])
        if "catalog" not in opened:
            opened["catalog"] = _opened(catalog, table, schema)
        loaded = writing.load(opened["catalog"], table)
        messages: list[_Message] = []
        failed: list[str] = []
        for record in event["Records"]:
            message = _read(loaded, record, parse, identify, since)
            failed.append(record["messageId"]) if message is None else messages.append(message)
        failed += _written(opened["catalog"], table, messages, {"id_column": id_column, "tries": tries})
        return {"batchItemFailures": [{"itemIdentifier": receipt} for receipt in failed]}

    return handle


def _check(records: Sequence[object]) -> None:
    """Refuse a batch that is of another source: its records could not be named as failed, and would be lost."""
    for place, record in enumerate(records):
        if not isinstance(record, Mapping) or not {"messageId", "body"} <= record.keys():
            names = ", ".join(map(str, record)) if isinstance(record, Mapping) else repr(record)
            raise ArgumentError(f"record {place} is not one of SQS: it has no messageId and body; it has {names}")


def _opened(catalog: Catalog, table: str, schema: ArrowSchema | None) -> IcebergCatalog:
    """Open the catalog, and make the table where it is missing; of two that do so at once both find it."""
    if isinstance(catalog, Mapping):
        catalog = {key: _value(str(value)) for key, value in catalog.items()}
    loaded = catalogs.load(catalog)
    if schema is not None:
        loaded.create_namespace_if_not_exists(table.rpartition(".")[0])
        loaded.create_table_if_not_exists(table, schema)
    return loaded


def _value(text: str) -> str:
    name = text.removeprefix("env:")
    if name == text:
        return text
    if name not in os.environ:
        raise ArgumentError(f"{text} stands for the variable {name} of the function, which is not set")
    return os.environ[name]


def _read(
    loaded: IcebergTable,
    record: Record,
    parse: Callable[[str], Any],
    identify: Callable[[Record], str] | None,
    since: Callable[[Record], datetime] | None,
) -> _Message | None:
    """Return a message with its rows, or None for one that cannot be read."""
    try:
        rows = parse(record["body"])
        rows = slices.fit(loaded, [rows] if isinstance(rows, dict) else rows)
        id = identify(record) if identify else record["messageId"]
        moment: datetime | None
        if since:
            moment = since(record)
        else:  # a sender's own id may be older than the message
            sent = record.get("attributes", {}).get("SentTimestamp")
            moment = None if identify or sent is None else datetime.fromtimestamp(int(sent) / 1000, UTC)
        return _Message(record["messageId"], appending.checked_id(id), moment, rows)
    except Exception as error:
        print(f"message {record['messageId']} is left to the dead letters: {type(error).__name__}: {error}")
        return None


def _written(
    catalog: IcebergCatalog, table: str, messages: Sequence[_Message], options: Mapping[str, Any]
) -> list[str]:
    """Append the rows of messages; returns the names of those that could not be written."""
    import pyarrow as pa

    first = {message.id: message for message in reversed(messages)}  # of two of the same id one brings the rows
    messages = [message for message in messages if first[message.id] is message]
    if not messages:
        return []
    moments = [message.since for message in messages]
    oldest = min((moment for moment in moments if moment is not None), default=None)
    try:
        rows = pa.concat_tables([message.rows for message in messages], promote_options="permissive")
        ids = [message.id for message in messages for _ in range(len(message.rows))]
        appending.append(catalog, table, rows, ids=ids, since=None if None in moments else oldest, **options)
    except appending.IdsExpired as error:
        if len(messages) > 1:
            return [receipt for message in messages for receipt in _written(catalog, table, [message], options)]
        print(f"message {messages[0].receipt} is left to the dead letters: {error}")
        return [messages[0].receipt]
    return []
