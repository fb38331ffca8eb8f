"""A user's own write, tried again where that is safe, and found again by its mark where nobody knows."""

import time
from dataclasses import replace

from workbench._base import arguments, identifiers
from workbench.tables.commits import marks, places
from workbench.tables.commits.attempts import Attempt, attempt, check
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


def retrying(
    spark,
    table,
    write,
    *,
    id=None,
    conditional=False,
    again=(CONFLICT, VALIDATION),
    tries=5,
    first_wait_s=0.1,
    longest_wait_s=60.0,
    sleep=time.sleep,
):
    """Call a function that commits once to a table, again when it was refused, and settle an unknown outcome.

    The session's idea of the table is refreshed before each try, and the whole function runs again. So what the
    function writes has to come from what it reads *within*: a frame made outside is read anew too, but rows that
    were collected or cached outside are those of the first try, and would undo what others committed since.

    Each snapshot that the function commits has a mark in its summary (`workbench.commit-id`). When an answer is
    lost, the mark is looked for: there, the write has succeeded; not there, it may still arrive, so that it is
    tried again only if it is `conditional`.

    Iceberg tells which table each of the commits went to. Where all went to others than the one that is named, the
    mark would be looked for in vain, and the write done again under its name: that is raised. A write that commits
    nothing ends well; no snapshot bears its name, so a later call of that name runs it again.

    Args:
        spark: classic session whose catalog holds the table.
        table: `namespace.name`, the table that `write` commits to, by whichever of its branches.
        write: function without arguments; it commits once, through Spark, in the thread that calls it.
        id: name of this write, unique in the table. It is then done once, also by a process that is started again
            after a kill, as long as the snapshot is in the table and a branch or tag leads to it. It is no lock:
            two processes that begin at once both write. A random one finds lost answers only.
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
        ValueError: an argument is wrong, or the table none of Iceberg's; nothing was done.
        TableNotFound: no such table.
        Exception: the last refusal when tries are used up; any other error of `write` at once, unless an earlier
            try had no answer.
    """
    arguments.function("write", write, "a function without arguments that commits to the table")
    options = {"again": again, "conditional": conditional, "tries": tries}
    options |= {"first_wait_s": first_wait_s, "longest_wait_s": longest_wait_s, "sleep": sleep}
    options["again"] = check(**options)
    mark, quoted = marks.named(id), identifiers.quoted(table)
    lost = arrived = False
    load(spark, table)  # refreshing what is no table of Iceberg's says nothing
    # rolled back, or of a branch that is gone: a name may be written again then, and these are no proof of it
    before = marks.every(spark, table, mark) if id is not None else frozenset()

    def landed():
        return marks.find(spark, table, mark, anywhere=True, but=before)

    def commit():
        with places.committed(spark) as made:
            try:
                spark.sql(f"REFRESH TABLE {quoted}")
                value = marks.stamped(spark, mark, write)
            except Exception as error:
                return ended(error, made())
        places.refuse_others(spark, table, made())
        return value

    def ended(error, made):
        nonlocal lost, arrived
        left = kind(error)
        unsaid = lost and left == OTHER  # what became of that earlier try
        there = _told(landed, unsaid) if left in (CONFLICT, VALIDATION) or unsaid else None
        if not lost and there in {snapshot for _, snapshot in made}:
            raise PartlyCommitted(
                f"a write to {table} committed snapshot {there} and was refused after that; "
                "it may commit only once"
            ) from error
        if there is not None:
            arrived = True  # an earlier try's, whose answer was lost, or another process's by this name
            return there
        if unsaid:
            raise OutcomeUnknown(
                f"an earlier try of a write to {table} had no answer and may still arrive; "
                f"the next one failed: {first_line(error)}"
            ) from error
        if left != OTHER:  # what it committed elsewhere would be committed again
            places.refuse_others(spark, table, made, error)
        lost = lost or left in (UNKNOWN, CONNECTION)
        raise error

    if before and (there := marks.find(spark, table, mark)) is not None:
        return Attempt(there, 0, True)
    done = attempt(commit, landed=landed, **options)
    return replace(done, found=True) if arrived else done


def _told(landed, unsaid):
    """Ask for the mark; None where an earlier try had no answer and the table, gone since, cannot be asked."""
    try:
        return landed()
    except Exception:
        if not unsaid:
            raise
        return None
