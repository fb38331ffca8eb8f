"""What a pull refuses: arguments, tables and answers with which the table could not equal its source."""

import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import date, datetime
from fractions import Fraction

from workbench._base import identifiers
from workbench._base.errors import ArgumentError
from workbench._base.typing import DataFrame, Java
from workbench.pulls.answers import Answer
from workbench.pulls.comparing import Difference
from workbench.pulls.errors import AnswerRefused, PullRefused
from workbench.pulls.positions import Position
from workbench.verdicts import Verdict

Audit = Callable[[DataFrame], Verdict]


def day_of(text: str) -> date | None:
    """Return the day of an ISO text; None for an empty one."""
    return date.fromisoformat(text) if text else None


def refuse_days(first: date, until: date) -> None:
    """Refuse moments in the place of days, and an end before the beginning."""
    for name, value in (("first", first), ("until", until)):
        if isinstance(value, datetime):
            raise ArgumentError(
                f"{name} must be a date, found {value!r}: which day that is depends on a time zone"
            )
    if until < first:
        raise ArgumentError(f"until is {until}, before first, {first}")


def refuse_function(ask: Callable[..., object], count: int) -> None:
    """Refuse a function that cannot be called with so many arguments."""
    try:
        inspect.signature(ask).bind(*range(count))
    except TypeError as error:
        expected = "the first and the last day" if count else "no argument"
        raise ArgumentError(f"ask must be a function of {expected}: {error}") from None
    except ValueError:  # of some functions in C nothing is known
        return


def refuse_names(key: Sequence[str], day: str | None, dead_letters: str | None) -> None:
    """Refuse names that are wrong whatever columns the table has.

    Raises:
        ValueError: there is no key for a source without days, a column's name is empty or there twice, or it is
            the day; the table of dead letters has a name that no table can have.
    """
    if dead_letters is not None:
        identifiers.parts(dead_letters)
    if not key and day is None:
        raise ArgumentError("key must name at least one column: what tells rows apart")
    for name, what in ((day, "day"), *((name, "key") for name in key)):
        if name == "":
            raise ArgumentError(f"{what} must name a column, found an empty text")
    if len(set(key)) < len(key):
        raise ArgumentError(f"key names a column twice: {', '.join(key)}")
    if day in key:
        raise ArgumentError(f"key names {day}, which is the day: leave it out, rows are told apart within a day")


def refuse_key(table: str, columns: Sequence[str], key: Sequence[str]) -> None:
    """Refuse key columns that the table has not."""
    for name in key:
        if name not in columns:
            raise ArgumentError(f"{table} has no column {name}, which key names; it has {', '.join(columns)}")


def refuse_layout(table: str, loaded: Java, kinds: Mapping[str, str], day: str) -> None:
    """Refuse a table of which the rows of a day cannot be replaced by whole files."""
    if day not in kinds:
        raise ArgumentError(f"{table} has no column {day}, which is to be the day; it has {', '.join(kinds)}")
    if kinds[day] != "date":
        raise ArgumentError(f"{day} of {table} is {kinds[day]}, and the day must be a date")
    number = loaded.schema().findField(day).fieldId()
    specs = loaded.specs()
    for spec in (specs[key] for key in list(specs)):
        fields = spec.fields()
        by = [fields.get(n) for n in range(fields.size())]
        if not any(field.sourceId() == number and str(field.transform()) in ("identity", "day") for field in by):
            raise ArgumentError(
                f"{table} is not, or was once not, partitioned by {day}, and days are replaced by whole files: "
                f"create it with PARTITIONED BY ({day})"
            )


def refuse_other_way(table: str, source: str, before: Position | None, *, by_days: bool) -> None:
    """Refuse a table that was pulled whole to be pulled by days, and the other way round."""
    if before is not None and bool(before.first) != by_days:
        was, function = ("by days", "run") if before.first else ("whole", "whole")
        raise ArgumentError(
            f"{table} is pulled {was} from {source}: go on with pulls.{function}, or make another table"
        )


def refuse_through(answer: Answer, since: date, until: date) -> None:
    """Refuse an answer that says it covers other days than it was asked for, or lacks some without a reason."""
    if answer.through is None:
        return
    if answer.through < until and not answer.stopped:
        raise AnswerRefused(
            f"the answer is complete through {answer.through} of {until} and does not say why: give stopped a "
            "sentence; nothing was committed"
        )
    if not since <= answer.through <= until:
        raise AnswerRefused(
            f"the answer is complete through {answer.through}, and was asked for {since} to {until}"
            f"{': ' + answer.stopped if answer.stopped else ''}; nothing was committed"
        )


def refuse_outside(days: Iterable[date], since: date, through: date) -> None:
    """Refuse rows of days that the answer is not complete for."""
    if outside := sorted(day for day in days if not since <= day <= through):
        raise AnswerRefused(
            f"the answer has rows of {outside[0]}, expected {since} to {through} only; nothing was committed"
        )


def refuse_emptied(table: str, difference: Difference | None, most_removed: float) -> None:
    """Refuse to delete more rows than may vanish at once."""
    if difference is None or not difference.before:
        return
    # 0.29 is a little less than 29 of 100 in binary
    if difference.removed > Fraction(str(most_removed)) * difference.before:
        raise PullRefused(
            f"{difference.removed:,} of the {difference.before:,} rows of {table} would be deleted, more than "
            f"{most_removed * 100:g}%: the source may have been emptied. Raise most_removed if that is meant"
        )


def refuse_unaudited(table: str, rows: DataFrame, audit: Audit | None) -> None:
    """Refuse rows that an audit does not pass."""
    if audit is None:
        return
    verdict = audit(rows)
    if not isinstance(verdict, Verdict):
        raise ArgumentError(f"audit must return a Verdict, found {type(verdict).__name__}")
    if not verdict.passed:
        raise PullRefused(f"the audit of {table} did not pass: {'; '.join(verdict.reasons) or verdict.rules}")
