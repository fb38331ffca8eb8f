"""A commit begun once or more often, and its unknown outcome settled by looking."""

import random
import time
from dataclasses import dataclass, field, replace
from typing import Any

from workbench._base import arguments
from workbench._base.errors import ArgumentError
from workbench.tables.commits.errors import (
    CONFLICT,
    CONNECTION,
    UNKNOWN,
    VALIDATION,
    OutcomeUnknown,
    PartlyCommitted,
    WrongTable,
    first_line,
    kind,
)


@dataclass(frozen=True)
class Attempt:
    """How a commit ended well.

    Attributes:
        value: what the commit returned, or what `landed` returned when the answer was lost.
        tries: how often it was begun.
        found: whether it was known only by looking at the table.
        lost_seconds: time from the first try's begin to the last one's: refused tries, and the waits behind them.
    """

    value: Any
    tries: int
    found: bool
    lost_seconds: float = field(default=0.0, compare=False)


def attempt(
    commit,
    *,
    landed=None,
    again=(CONFLICT,),
    conditional=False,
    tries=5,
    first_wait_s=0.1,
    longest_wait_s=60.0,
    sleep=time.sleep,
):
    """Call a function that commits, again where safe with doubling waits; settle an unknown outcome by looking.

    Args:
        commit: function without arguments; each call begins from the table's newest state.
        landed: function without arguments that looks for this commit's own mark in the table: returns what stands
            for the commit, or None when the mark is not there. Without one an unknown outcome stays unknown.
        again: kinds of refusal that are tried again. A statement whose rows depend on what it read may name
            `validation` too, because the whole of it runs again.
        conditional: whether a repeat cannot take effect twice (it is bound to the same base, or idempotent). Only
            then is a commit whose mark is not there tried again: the lost request may still land after the look.
        tries: how often at most.
        first_wait_s: seconds before the second try.
        longest_wait_s: the most that one wait takes, before chance is added.
        sleep: function that waits; for tests.

    Returns:
        Attempt.

    Raises:
        ValueError: an argument is wrong.
        OutcomeUnknown: the commit may be in the table or not.
        Exception: the last refusal when tries are used up; any other error at once.
    """
    import tenacity

    arguments.function("commit", commit, "a function without arguments that commits")
    if landed is not None:
        arguments.function("landed", landed, "a function without arguments that looks for the commit, or None")
    again = check(
        again=again,
        conditional=conditional,
        tries=tries,
        first_wait_s=first_wait_s,
        longest_wait_s=longest_wait_s,
        sleep=sleep,
    )
    begun, first, last = 0, time.monotonic(), 0.0

    def once():
        nonlocal begun, last
        begun, last = begun + 1, time.monotonic()
        try:
            return Attempt(commit(), begun, False)
        except Exception as error:
            if isinstance(error, WrongTable) or kind(error) not in (UNKNOWN, CONNECTION):
                raise
            if landed is None:
                raise OutcomeUnknown(f"a commit's outcome is unknown: {first_line(error)}") from error
            if (value := _look(landed, error, sleep)) is not None:
                return Attempt(value, begun, True)
            if not conditional or begun == tries:
                raise OutcomeUnknown(
                    f"a commit's outcome is unknown: {first_line(error)}; not there now, it may still arrive"
                ) from error
            raise

    def repeatable(error):
        # these say that it must not be, whatever kind of error caused them
        said = isinstance(error, OutcomeUnknown | PartlyCommitted | WrongTable)
        return not said and kind(error) in (*again, UNKNOWN, CONNECTION)

    def wait(state):
        return min(first_wait_s * 2 ** (state.attempt_number - 1), longest_wait_s) * random.uniform(1, 1.25)

    retrying = tenacity.Retrying(
        stop=tenacity.stop_after_attempt(tries),
        retry=tenacity.retry_if_exception(repeatable),
        wait=wait,
        sleep=sleep,
        reraise=True,
    )
    done = retrying(once)
    return replace(done, lost_seconds=last - first if begun > 1 else 0.0)


def check(*, again, conditional, tries, first_wait_s, longest_wait_s, sleep):
    """Refuse options of `attempt` that say nothing it could go by; returns the kinds of refusal as a tuple.

    Raises:
        ValueError: with the option, its value and what was expected.
    """
    again = arguments.texts("again", again, "kinds of refusal")
    if wrong := sorted(set(again) - {CONFLICT, VALIDATION}):
        raise ArgumentError(
            f"only the refusals conflict and validation can be tried again as such, not {wrong[0]}"
        )
    arguments.flag("conditional", conditional)
    arguments.whole("tries", tries, 1, "a thing is begun at least once")
    arguments.number("first_wait_s", first_wait_s)
    arguments.number("longest_wait_s", longest_wait_s)
    arguments.function("sleep", sleep, "a function of seconds")
    return again


def _look(landed, error, sleep):
    """Return what `landed` finds; the look may meet the same broken connection, and is tried again."""
    import tenacity

    looking = tenacity.Retrying(
        stop=tenacity.stop_after_attempt(5),
        wait=tenacity.wait_exponential(multiplier=0.2, max=5),
        retry=tenacity.retry_if_exception(lambda e: kind(e) in (UNKNOWN, CONNECTION)),
        sleep=sleep,
        reraise=True,
    )
    try:
        return looking(landed)
    except Exception as failed:
        why = f"{first_line(error)}; the look at the table failed too: {first_line(failed)}"
        raise OutcomeUnknown(f"a commit's outcome is unknown: {why}") from error
