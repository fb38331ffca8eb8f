"""Days of a source replaced in the table, whole, where their rows are other ones than they were."""

import uuid
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta
from typing import Annotated, Any

from workbench._base import identifiers
from workbench._base.bounds import Ge, Le, MinLen
from workbench._base.door import checked
from workbench._base.typing import DataFrame, Java, SparkSession
from workbench.pulls import answers, comparing, judging, letters, positions, publish
from workbench.pulls.answers import Answer
from workbench.pulls.comparing import Difference
from workbench.pulls.errors import AnswerRefused, PullRefused
from workbench.pulls.judging import Audit
from workbench.pulls.positions import AnotherWriter, Position
from workbench.pulls.results import Day, Pull
from workbench.tables import commits, publication

Text = Annotated[str, MinLen(1)]
OnStep = Callable[[str], object]
_WHOLE = comparing.WHOLE.isoformat()


@dataclass(frozen=True)
class _Target:
    """What is pulled to where: the table, the columns that matter, and where it was when the run began."""

    spark: SparkSession
    table: str
    day: str | None
    key: Sequence[str]
    before: Position | None
    known: Mapping[str, str]
    compared_at: int | None
    schema_id: int
    last_over: date
    source: str

    def settled(self, last: date, settled_days: int) -> date:
        """Return the last day that is settled by a pull of days up to one."""
        return min(last, self.last_over) - timedelta(settled_days)

    def check(self, loaded: Java) -> None:
        """Raise AnotherWriter where the position is another one than at the beginning."""
        if positions.find(self.spark, loaded, self.table, self.source)[0] == self.before:
            return
        main, began = commits.head(loaded), self.compared_at
        if began is not None and (main is None or not commits.descends(self.spark, loaded, main, began)):
            raise AnotherWriter(
                f"{self.table} was rolled back, or made again, while {self.source} was pulled. Nothing of this "
                "run was committed; run it again"
            )
        raise publish.another(self.table, f"the position of {self.source} moved")


@checked
def run(
    spark: SparkSession,
    table: str,
    *,
    source: Text,
    ask: Callable[[date, date], Any],
    day: Text,
    key: Sequence[str],
    first: date,
    until: date,
    settled_days: Annotated[int, Ge(0), Le(1000)],
    dead_letters: str | None = None,
    audit: Audit | None = None,
    on_step: OnStep = lambda step: None,
) -> Pull:
    """Ask a source for the days that may have changed, and replace those that did, in one commit.

    A day is asked for until a pull came `settled_days` after it; then it is settled. Where no day has other rows,
    nothing is committed. Of two runs at once one is refused. A run that was killed leaves the table as it was, or
    pulled; the next one goes on from there.

    Args:
        spark: classic session.
        table: `namespace.name`, partitioned by the day. Rows of days from `first` on are the source's alone.
        source: name of the source, kept in the table.
        ask: function of the first and the last day asked for that returns an Answer, or its rows.
        day: column of type date.
        key: columns that tell the rows of a day apart; none where a day has one row.
        first: first day of all; an earlier one than before asks for the days between, too.
        until: last day that is asked for. Days that have not been yet are asked for again until they are settled.
        settled_days: how many days after a day its figures may change; `lateness` says whether that suffices.
        dead_letters: table of cells that could not become rows; made where it is missing. Without it such a cell
            is refused.
        audit: function of the rows of the changed days that returns a Verdict; they are published where it passed.
        on_step: called before `ask`, `dead stage`, `dead write`, `dead publish`, `stage`, `write`, `publish`, and
            with `published`; for tests.

    Returns:
        Pull.

    Raises:
        ValueError: an argument, the table or the answer is wrong.
        AnotherWriter: another run pulls into the table, or another source was pulled into it.
        PullRefused: the audit did not pass.
        Exception: what `ask` raised; nothing was committed.
    """
    judging.refuse_days(first, until)
    judging.refuse_function(ask, 2)
    judging.refuse_names(key, day, dead_letters)
    target = _target(spark, table, source, day, key)
    before = target.before
    since, begin = _asked(target, first, until, settled_days)
    if since > until:
        return Pull(table, source, None, until, settled=judging.day_of(before.settled if before else ""))
    on_step("ask")
    answer = answers.of(ask(since, until))
    through = until if answer.through is None else answer.through
    judging.refuse_through(answer, since, until)
    with ExitStack() as open_frames:
        rows = answers.frame(open_frames, spark, table, answer)
        seen = comparing.digests(rows, key, day)
        judging.refuse_outside(seen, since, through)
        dead = _dead(target, answer, dead_letters, on_step)
        days = [since + timedelta(n) for n in range((through - since).days + 1)]
        changed = _changed(target, rows, comparing.differing(target.known, seen, days), seen)
        position = _next(target, begin, through, settled_days, seen, days)
        window = _window(before, since, through, changed, seen)
        snapshot_id = _commit(target, rows, seen, changed, position, answer, window, audit, on_step)
    at = position if snapshot_id is not None else before
    return _result(target, since, until, answer, changed, seen, dead, snapshot_id, at)


@checked
def whole(
    spark: SparkSession,
    table: str,
    *,
    source: Text,
    ask: Callable[[], Any],
    key: Sequence[str],
    most_removed: Annotated[float, Ge(0), Le(1)] = 0.2,
    dead_letters: str | None = None,
    audit: Audit | None = None,
    on_step: OnStep = lambda step: None,
) -> Pull:
    """Ask a source for all that it has, and replace the table's rows where they differ, in one commit.

    What the source has no more is deleted, unless that is more than `most_removed` of the rows.

    Args:
        spark: classic session.
        table: `namespace.name`; all its rows are the source's.
        source: name of the source, kept in the table.
        ask: function without arguments that returns an Answer, or its rows.
        key: columns that tell rows apart.
        most_removed: share of the table's rows that may vanish at once, from 0 to 1.
        dead_letters: as of `run`.
        audit: as of `run`, a function of all rows.
        on_step: as of `run`.

    Returns:
        Pull.

    Raises:
        ValueError: an argument, the table or the answer is wrong.
        AnotherWriter: another run pulls into the table, or another source was pulled into it.
        PullRefused: more rows would vanish than may, or the audit did not pass.
        Exception: what `ask` raised; nothing was committed.
    """
    judging.refuse_function(ask, 0)
    judging.refuse_names(key, None, dead_letters)
    target = _target(spark, table, source, None, key)
    on_step("ask")
    answer = answers.of(ask())
    with ExitStack() as open_frames:
        rows = answers.frame(open_frames, spark, table, answer)
        seen = comparing.digests(rows, key, None)
        changed = _changed(target, rows, comparing.differing(target.known, seen, [comparing.WHOLE]), seen)
        dead = _dead(target, answer, dead_letters, on_step)  # they may say why rows are gone
        judging.refuse_emptied(table, changed.get(comparing.WHOLE), most_removed)
        digest = seen.get(comparing.WHOLE, comparing.EMPTY)
        position = Position(
            source, digests={_WHOLE: digest}, writer=uuid.uuid4().hex, compared_at=target.compared_at,
            schema_id=target.schema_id,
        )  # fmt: skip
        snapshot_id = _commit(target, rows, seen, changed, position, answer, {}, audit, on_step)
    return _result(target, None, None, answer, changed, seen, dead, snapshot_id, None)


def _target(spark: SparkSession, table: str, source: str, day: str | None, key: Sequence[str]) -> _Target:
    publication.refuse_session_branch(spark, "a pull makes main equal to its source")
    loaded = commits.load(spark, table)
    spark.sql(f"REFRESH TABLE {identifiers.quoted(table)}")
    schema = spark.table(identifiers.quoted(table)).schema
    if day is not None:
        judging.refuse_layout(table, loaded, {field.name: field.dataType.simpleString() for field in schema}, day)
    judging.refuse_key(table, schema.names, key)
    before, snapshot = positions.find(spark, loaded, table, source)
    judging.refuse_other_way(table, source, before, by_days=day is not None)
    known = positions.digests(spark, loaded, before, snapshot)
    schema_id = loaded.schema().schemaId()
    last_over = positions.last_over(datetime.now(UTC))  # of the run's beginning, however long it takes
    return _Target(
        spark, table, day, tuple(key), before, known, commits.head(loaded), schema_id, last_over, source
    )


def _asked(target: _Target, first: date, until: date, settled_days: int) -> tuple[date, date]:
    """Return the first day to ask for, and the first of all."""
    before = target.before
    if before is None or first < date.fromisoformat(before.first):
        return first, first
    begin, settled = date.fromisoformat(before.first), judging.day_of(before.settled)
    open_since = begin if settled is None else settled + timedelta(1)
    newest = max(until, date.fromisoformat(before.until))  # a longer window than the last one opens settled days
    return max(begin, min(open_since, target.settled(newest, settled_days) + timedelta(1))), begin


def _next(
    target: _Target, begin: date, through: date, settled_days: int, seen: Mapping[date, str], days: Sequence[date]
) -> Position:
    """Return the position after a pull."""
    before = target.before
    known = {**target.known} | {day.isoformat(): seen.get(day, comparing.EMPTY) for day in days}
    until = max(through, judging.day_of(before.until if before else "") or through)
    settled = target.settled(through, settled_days)
    # an earlier first day has to have joined the days of before: else those between were never asked for
    if before and before.settled and date.fromisoformat(before.first) <= through + timedelta(1):
        settled = max(settled, date.fromisoformat(before.settled))
    digests = {day: digest for day, digest in sorted(known.items()) if date.fromisoformat(day) > settled}
    return Position(
        target.source, begin.isoformat(), until.isoformat(), settled.isoformat() if settled >= begin else "",
        settled_days, digests, uuid.uuid4().hex, target.compared_at, target.schema_id,
    )  # fmt: skip


def _window(
    before: Position | None,
    since: date,
    through: date,
    changed: Mapping[date, Difference],
    seen: Mapping[date, str],
) -> dict[str, Any]:
    """Return what `lateness` needs of a pull beside its counts: which days were asked for, first and again."""
    window: dict[str, Any] = {"since": since.isoformat(), "until": through.isoformat()}
    window |= {"seen_first": "", "seen": ""}
    if before:
        # what the source said before is what it says now: others had changed the table
        again = {day.isoformat(): seen.get(day, comparing.EMPTY) for day in changed}
        repaired = [day for day, digest in again.items() if before.digests.get(day) == digest]
        window |= {"seen_first": before.first, "seen": before.until, "repaired": repaired}
    return window


def _dead(target: _Target, answer: Answer, table: str | None, on_step: OnStep) -> int:
    """Write dead letters; return how many are new."""
    if not answer.dead:
        return 0
    if table is None:
        cell = answer.dead[0]
        raise AnswerRefused(
            f"{len(answer.dead)} cells of {target.source} cannot become rows of {target.table}, the first at "
            f"{cell.address}: {cell.reason}. Name a table with dead_letters=, or correct the source; nothing was "
            "committed"
        )
    letters.make(target.spark, table)
    return letters.write(target.spark, table, target.source, answer.dead, on_step)


def _changed(
    target: _Target, rows: DataFrame, days: Sequence[date], seen: Mapping[date, str]
) -> dict[date, Difference]:
    """Return the days of which the table has other rows, with what differs."""
    if not days:
        return {}
    old = _of(target, target.spark.table(identifiers.quoted(target.table)), days)
    if old.isEmpty():
        differences = {day: comparing.added(digest) for day, digest in seen.items()}
    else:
        differences = comparing.compare(old, _of(target, rows, days), target.key, target.day)
    by_day = {day: differences.get(day, Difference()) for day in days}
    return {
        day: difference
        for day, difference in by_day.items()
        if difference.digest != seen.get(day, comparing.EMPTY)
    }


def _of(target: _Target, rows: DataFrame, days: Sequence[date]) -> DataFrame:
    condition = _condition(target, days)
    return rows if condition is None else rows.where(condition)


def _condition(target: _Target, days: Sequence[date]) -> Any:
    """Return the condition of rows of these days; None where there are no days."""
    from pyspark.sql import functions as F

    if target.day is None:
        return None
    column, ordered = F.col(identifiers.column(target.day)), sorted(days)
    if (ordered[-1] - ordered[0]).days + 1 == len(ordered):
        return (column >= F.lit(ordered[0])) & (column <= F.lit(ordered[-1]))
    return column.isin(*ordered)


def _commit(
    target: _Target,
    rows: DataFrame,
    seen: Mapping[date, str],
    changed: Mapping[date, Difference],
    position: Position,
    answer: Answer,
    window: Mapping[str, Any],
    audit: Audit | None,
    on_step: OnStep,
) -> int | None:
    """Replace the changed days and note the position; return the snapshot's id, None where none changed."""
    from pyspark.sql import functions as F

    if not changed:
        return None
    new = _of(target, rows, [*changed])
    judging.refuse_unaudited(target.table, new, audit)
    counts = {day.isoformat(): [diff.added, diff.changed, diff.removed] for day, diff in changed.items()}
    summary = positions.summary(position, {**window, "days": counts}, answer.flags, position.writer)
    condition = _condition(target, [*changed])
    expected = {day: seen[day] for day in changed if day in seen}

    def write(branch: str, entries: Mapping[str, str]) -> bool:
        writer = new.writeTo(branch)
        for name, value in entries.items():
            writer = writer.option(f"snapshot-property.{name}", value)
        writer.overwrite(F.lit(True) if condition is None else condition)
        return True

    def verify(branch: str) -> None:
        written = _of(target, target.spark.table(branch), [*changed])
        if comparing.sums(written, target.day) != expected:
            raise PullRefused(
                f"what was written to {target.table} is not what {position.source} answered: the answer's rows "
                "changed while they were written. Nothing was published; give rows that stay the same"
            )

    snapshot_id = publish.fenced(
        target.spark, target.table, positions.ref(position.source), check=target.check, write=write,
        summary=summary, verify=verify, on_step=on_step,
    )  # fmt: skip
    on_step("published")
    return snapshot_id


def _result(
    target: _Target,
    since: date | None,
    until: date | None,
    answer: Answer,
    changed: Mapping[date, Difference],
    seen: Mapping[date, str],
    dead: int,
    snapshot_id: int | None,
    position: Position | None,
) -> Pull:
    commits.forget(target.spark, target.table)
    days = tuple(Day(day, *_counts(difference)) for day, difference in sorted(changed.items()))
    pulled = Pull(
        target.table, target.source, since, until, days=days if target.day else (),
        rows=sum(int(seen[day].partition(":")[0]) for day in changed if day in seen),
        dead=dead, requests=answer.requests, snapshot_id=snapshot_id,
        settled=judging.day_of(position.settled if position else ""), flags=dict(answer.flags),
        stopped=answer.stopped,
    )  # fmt: skip
    totals = [sum(counts) for counts in zip(*map(_counts, changed.values()), strict=True)] or [0, 0, 0]
    return replace(pulled, added=totals[0], changed=totals[1], removed=totals[2])


def _counts(difference: Difference) -> tuple[int, int, int]:
    return difference.added, difference.changed, difference.removed
