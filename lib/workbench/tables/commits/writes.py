"""A user's own write, tried again where that is safe, and found again by its mark where nobody knows."""

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from workbench._base import identifiers
from workbench._base.door import checked
from workbench._base.typing import SparkSession
from workbench.tables.commits import marks, places
from workbench.tables.commits.attempts import REPEATABLE, Attempt, Refusal, Seconds, Tries, attempt
from workbench.tables.commits.errors import (
    CONFLICT,
    CONNECTION,
    OTHER,
    UNKNOWN,
    VALIDATION,
    OutcomeUnknown,
    PartlyCommitted,
    first_line,
    kind,
)
from workbench.tables.commits.loading import load


@checked
def retrying(
    spark: SparkSession,
    table: str,
    write: Callable[[], Any],
    *,
    id: str | None = None,
    conditional: bool = False,
    again: Sequence[Refusal] = REPEATABLE,
    tries: Tries = 5,
    first_wait_s: Seconds = 0.1,
    longest_wait_s: Seconds = 60.0,
    sleep: Callable[[float], None] = time.sleep,
) -> Attempt:
    """Call a function that commits once to a table, again when it is refused, and settle an unknown outcome.

    The session's idea of the table is refreshed before each try, and the whole function runs again. So what the
    function writes has to come from what it reads *within*: a frame made outside is read anew too, but rows that
    were collected or cached outside are those of the first try, and would undo what others committed since.

    Each snapshot that the function commits has a mark in its summary (`workbench.commit-id`). When an answer is
    lost, the mark is looked for. Where it is found, the write has succeeded; where not, it may still arrive, and
    is tried again only if it is `conditional`.

    Iceberg says which table each of the commits went to. Where all went to other tables than the named one, the
    mark would be looked for in vain, and the write done again under its name: that is raised. A write that
    commits nothing ends well; no snapshot has its name, so a later call of that name runs it again.

    Args:
        spark: classic session whose catalog holds the table.
        table: `namespace.name`, the table that `write` commits to, by whichever of its branches.
        write: function without arguments; it commits once, through Spark, in the thread that calls it.
        id: name of this write, unique in the table. It is then done once, also by a process that is started again
            after a kill, as long as the snapshot is in the table and a branch or tag leads to it. It is not a
            lock: two processes that begin at once both write. None takes a random one, by which only a lost
            answer is found.
        conditional: whether a second one cannot take effect twice: because it is bound to the state of the table
            that it read, or because it is idempotent. An append is neither.
        again: kinds of refusal that are tried again. Without `validation` a write that was refused because
            others changed the data it is about is raised at once.
        tries: how often at most.
        first_wait_s: seconds before the second try; they double, with up to a quarter more by chance.
        longest_wait_s: the most that one wait takes, before chance is added.
        sleep: function that waits; for tests.

    Returns:
        Attempt. Its value is what `write` returned, or the snapshot id where the write was found (`found`); tries
        is 0 when `id` was there before.

    Raises:
        OutcomeUnknown: the write may be in the table or not.
        PartlyCommitted: it committed something before it was refused.
        WrongTable: it committed to another table, and to this one nothing; what it committed stays.
        ValueError: an argument is wrong, or it is not an Iceberg table; nothing was done.
        TableNotFound: no such table.
        Exception: the last refusal when tries are used up; any other error of `write` at once, unless an earlier
            try had no answer.
    """
    mark, quoted = marks.named(id), identifiers.quoted(table)
    lost = arrived = False
    load(spark, table)  # says what is wrong with the name; a REFRESH takes any table or view
    # rolled back, or of a branch that is gone: such a name may be written again, and these prove nothing
    before = marks.every(spark, table, mark) if id is not None else frozenset()

    def landed() -> int | None:
        return marks.find(spark, table, mark, anywhere=True, but=before)

    def commit() -> Any:
        with places.committed(spark) as committed:
            try:
                spark.sql(f"REFRESH TABLE {quoted}")
                value = marks.stamped(spark, mark, write)
            except Exception as error:
                return ended(error, committed())
        places.refuse_others(spark, table, committed())
        return value

    def ended(error: Exception, committed: Sequence[tuple[str, int]]) -> int:
        nonlocal lost, arrived
        outcome = kind(error)
        unsaid = lost and outcome == OTHER  # what became of that earlier try
        snapshot_id = _looked_for(landed, unsaid) if outcome in (CONFLICT, VALIDATION) or unsaid else None
        if not lost and snapshot_id in {snapshot for _, snapshot in committed}:
            raise PartlyCommitted(
                f"a write to {table} committed snapshot {snapshot_id} and was refused after that; "
                "it may commit only once"
            ) from error
        if snapshot_id is not None:
            arrived = True  # an earlier try's, whose answer was lost, or another process's by this name
            return snapshot_id
        if unsaid:
            raise OutcomeUnknown(
                f"an earlier try of a write to {table} had no answer and may still arrive; "
                f"the next one failed: {first_line(error)}"
            ) from error
        if outcome != OTHER:  # what it committed elsewhere would be committed again
            places.refuse_others(spark, table, committed, error)
        lost = lost or outcome in (UNKNOWN, CONNECTION)
        raise error

    if before and (snapshot_id := marks.find(spark, table, mark)) is not None:
        return Attempt(snapshot_id, 0, True)
    done = attempt(
        commit, landed=landed, again=again, conditional=conditional, tries=tries,
        first_wait_s=first_wait_s, longest_wait_s=longest_wait_s, sleep=sleep,
    )  # fmt: skip
    return replace(done, found=True) if arrived else done


def _looked_for(landed: Callable[[], int | None], unsaid: bool) -> int | None:
    """Ask for the mark; None where an earlier try had no answer and the table, gone since, cannot be asked."""
    try:
        return landed()
    except Exception:
        if not unsaid:
            raise
        return None
