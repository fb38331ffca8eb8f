"""A commit tried once or more often, and its unknown outcome settled by looking at the table."""

import math
import random
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Annotated, Any, Literal

from workbench._base.bounds import Ge, Lt
from workbench._base.door import checked
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

Refusal = Literal["conflict", "validation"]  # the refusals that can be tried again as such
REPEATABLE: Sequence[Refusal] = (CONFLICT, VALIDATION)
_FINAL = (OutcomeUnknown, PartlyCommitted, WrongTable)  # not to be tried again, whatever kind of error caused them
Tries = Annotated[int, Ge(1)]
Seconds = Annotated[float, Ge(0), Lt(math.inf)]


@dataclass(frozen=True)
class Attempt:
    """How a commit ended well.

    Attributes:
        value: what the commit returned, or what `landed` returned when the answer was lost.
        tries: how often it was tried.
        found: whether it was known only by looking at the table.
        lost_seconds: from the begin of the first try to that of the last: refused tries, and the waits after them.
    """

    value: Any
    tries: int
    found: bool
    lost_seconds: float = field(default=0.0, compare=False)


@checked
def attempt(
    commit: Callable[[], Any],
    *,
    landed: Callable[[], Any] | None = None,
    again: Sequence[Refusal] = (CONFLICT,),
    conditional: bool = False,
    tries: Tries = 5,
    first_wait_s: Seconds = 0.1,
    longest_wait_s: Seconds = 60.0,
    sleep: Callable[[float], None] = time.sleep,
) -> Attempt:
    """Call a function that commits, again where that is safe; settle an unknown outcome by looking at the table.

    The table is looked at, too, when a later try is refused for good: that may be due to an earlier one.

    Args:
        commit: function without arguments; each call begins from the table's newest state.
        landed: function without arguments that looks for this commit's own mark in the table: returns what stands
            for the commit, or None where the mark is not there. Without the function an unknown outcome stays so.
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

    begun, first, last = 0, time.monotonic(), 0.0

    def once() -> Attempt:
        nonlocal begun, last
        begun, last = begun + 1, time.monotonic()
        try:
            return Attempt(commit(), begun, False)
        except Exception as error:
            unknown = kind(error) in (UNKNOWN, CONNECTION)
            # a refusal of a later try may be due to an earlier one, which arrived though its answer did not
            later = begun > 1 and landed is not None and (begun == tries or kind(error) not in again)
            if isinstance(error, WrongTable) or not (unknown or (later and not isinstance(error, _FINAL))):
                raise
            if landed is None:
                raise OutcomeUnknown(f"a commit's outcome is unknown: {first_line(error)}") from error
            if (value := _look(landed, error, sleep)) is not None:
                return Attempt(value, begun, True)
            if not unknown:
                raise
            if not conditional or begun == tries:
                raise OutcomeUnknown(
                    f"a commit's outcome is unknown: {first_line(error)}; not there now, it may still arrive"
                ) from error
            raise

    def repeatable(error: BaseException) -> bool:
        return not isinstance(error, _FINAL) and kind(error) in (*again, UNKNOWN, CONNECTION)

    def wait(state: tenacity.RetryCallState) -> float:
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


def _look(landed: Callable[[], Any], error: Exception, sleep: Callable[[float], None]) -> Any:
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
