"""Updates merged into a table by key, in any order: an older value never overwrites a newer one.

    upserts.merge(spark, "shop.stock", updates, key="product_id", sequence="changed_at")
    stream.writeStream.foreachBatch(upserts.each_batch("shop.stock", key="product_id", sequence="changed_at"))

For each key the table ends with the greatest update that it was ever given, in whatever order, batches and
repetition the updates came. The greatest update has the highest sequence; among equal sequences a delete wins, and
then the greatest text of the row as JSON, so that two updates with the same sequence give the same result
everywhere.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from workbench._base import identifiers
from workbench._base.door import checked
from workbench._base.errors import ArgumentError
from workbench._base.typing import DataFrame, SparkSession
from workbench.tables import commits
from workbench.tables.commits.attempts import Attempt, Tries
from workbench.tables.upserts import newest, shapes
from workbench.tables.upserts.shapes import KINDS, OPERATIONS, Effect, Name

__all__ = ["KINDS", "OPERATIONS", "each_batch", "merge", "staged"]

_QUERY = "sql.streaming.queryId"  # Spark sets it in the thread that runs a stream's batches


@checked
def merge(
    spark: SparkSession,
    table: str,
    updates: DataFrame,
    *,
    key: str | Iterable[Any],
    sequence: str | Iterable[Any],
    operation: Name | None = None,
    operations: Mapping[str, Effect] = OPERATIONS,
    deleted: Name | None = None,
    id: str | None = None,
    tries: Tries = 10,
) -> Attempt:
    """Merge updates into a table, in one commit; repeated, it changes no row.

    The updates are read once and kept until the commit. No view is made. A delete leaves the row in the table,
    marked as such and with its sequence: without it an older update that comes later would bring the row back.
    Readers say `WHERE deleted IS NOT TRUE`, and old ones are removed by a DELETE once nothing older can come.

    Args:
        spark: classic session whose catalog holds the table; of a stream's batch `df.sparkSession`.
        table: `namespace.name`. Its MERGEs are serializable, which is Iceberg's default: with `snapshot` two of
            them at once would both insert a new key.
        updates: DataFrame with all the table's columns but `deleted`, and `operation`.
        key: column or columns that name a row; never null.
        sequence: column or columns that say which of two updates is newer: exact numbers, dates or timestamps,
            never null in an update. A row of the table without one is older than any update.
        operation: column that says what each update does; None when all of them upsert. It is not written,
            unless the table has a column of that name.
        operations: what `operation` may hold, each `upsert` or `delete`.
        deleted: boolean column of the table that marks deleted rows; needed with `operation`.
        id: name of this batch, unique in the table; nothing is done where the table's history has it.
        tries: how often the merge is begun at most; it runs again when others changed the table meanwhile.

    Returns:
        commits.Attempt; tries is 0 when `id` was there before.

    Raises:
        ValueError: a wrong argument; wrong columns or types; a null key or sequence or an unknown operation among
            the updates; MERGEs that are not serializable. Nothing was committed.
        OutcomeUnknown, TableNotFound: as of `commits.retrying`.
    """
    commits.marks.named(id)  # before the updates are run
    shape = shapes.of(
        spark, table, updates,
        key=key, sequence=sequence, operation=operation, operations=operations, deleted=deleted,
    )  # fmt: skip
    with newest.kept(updates, shape) as rows:
        return commits.retrying(
            spark,
            table,
            lambda: newest.write(rows(), shape),
            id=id,
            conditional=True,  # the same updates, merged again, are not greater than the stored ones
            tries=tries,
        )


@checked
@contextmanager
def staged(
    spark: SparkSession,
    table: str,
    updates: DataFrame,
    *,
    branch: Name,
    properties: Mapping[Name, str],
    key: str | Iterable[Any],
    sequence: str | Iterable[Any],
    operation: Name | None = None,
    operations: Mapping[str, Effect] = OPERATIONS,
    deleted: Name | None = None,
) -> Iterator[Callable[[], None]]:
    """Give a function that merges updates into a branch of a table, in one commit with the caller's summary.

    Args:
        spark: classic session whose catalog holds the table.
        table: as of `merge`.
        updates: as of `merge`; run once, and kept as long as the context is open.
        branch: its name; it is there.
        properties: entries of the snapshot's summary, text to text.
        key: as of `merge`.
        sequence: as of `merge`.
        operation: as of `merge`.
        operations: as of `merge`.
        deleted: as of `merge`.

    Raises:
        ValueError: as of `merge`.
    """
    shape = shapes.of(
        spark, table, updates,
        key=key, sequence=sequence, operation=operation, operations=operations, deleted=deleted,
    )  # fmt: skip
    onto = replace(shape, table=identifiers.on_branch(table, branch))
    with newest.kept(updates, shape) as rows:
        yield lambda: commits.with_properties(spark, properties, lambda: newest.write(rows(), onto))


@checked
def each_batch(
    table: str,
    *,
    key: str | Iterable[Any],
    sequence: str | Iterable[Any],
    operation: Name | None = None,
    operations: Mapping[str, Effect] = OPERATIONS,
    deleted: Name | None = None,
    tries: Tries = 10,
    on_batch: Callable[[int, Attempt], object] | None = None,
) -> Callable[[DataFrame, int], None]:
    """Return a function for `foreachBatch` that merges each batch once.

    The commit's name is the query's id, which stays as long as its checkpoint, and the batch's number. A batch
    that was committed before the query died is found by it and skipped. Where its snapshot was expired meanwhile
    it is merged again, which changes no row.

    Args:
        table: as of `merge`.
        key: as of `merge`.
        sequence: as of `merge`.
        operation: as of `merge`.
        operations: as of `merge`.
        deleted: as of `merge`.
        tries: as of `merge`.
        on_batch: function of the batch's number and its commits.Attempt; tries is 0 for one that was skipped.

    Returns:
        Function of a DataFrame and a batch number.

    Raises:
        ValueError: an argument is wrong; before the query starts, so that it does not end in its first batch.
    """
    identifiers.quoted(table)
    roles = shapes.roles(key=key, sequence=sequence, operation=operation, operations=operations, deleted=deleted)

    def run(df: DataFrame, number: int) -> None:
        spark = df.sparkSession
        if (query := spark.sparkContext.getLocalProperty(_QUERY)) is None:
            raise ArgumentError("each_batch is called by a streaming query's foreachBatch; for a frame use merge")
        done = merge(spark, table, df, id=f"{query}/{number}", tries=tries, **roles)
        if on_batch is not None:
            on_batch(number, done)

    return run
