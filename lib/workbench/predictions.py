"""Guesses that a reader writes down before a cell runs, compared with what came out.

A cell with the tag `prediction` holds names and literals, None where nobody guessed:

    FILES_READ = None  # your guess

and a later cell compares: `predictions.compare("files read", FILES_READ, 3)`. A run without guesses says so and
has the same output on every machine. `workbench class` reads the guesses of many copies of a notebook.
"""

from numbers import Real
from typing import Annotated, Any

from workbench._base.bounds import Ge
from workbench._base.door import checked
from workbench._base.errors import ArgumentError

TAG = "prediction"
_right: dict[str, bool | None] = {}  # of this kernel, by the name of the prediction; None where nobody guessed


@checked
def compare(name: str, guess: Any, actual: Any, *, within: Annotated[float, Ge(0)] = 0) -> bool | None:
    """Print whether a guess was right, and keep it for `score`; compared again, the last one counts.

    Args:
        name: of what was guessed, as a reader knows it.
        guess: the literal of the prediction cell; None where nobody guessed.
        actual: what came out.
        within: how far a number may be off to be right, in its own unit.

    Returns:
        Whether it was right; None where nobody guessed.

    Raises:
        ValueError: actual is None, or the guess is of another kind than what came out, as a text for a number.
    """
    if actual is None:
        raise ArgumentError(f"actual of {name!r} is None, so that nothing can be compared with it")
    if guess is None:
        _right[name] = None
        print(f"{name}: no prediction; it is {actual}")
        return None
    if _is_number(guess) != _is_number(actual) or (within and not _is_number(guess)):
        raise ArgumentError(f"the prediction of {name!r} must be like {actual!r}, found {guess!r}")
    _right[name] = right = bool(abs(guess - actual) <= within) if _is_number(guess) else bool(guess == actual)
    verdict = "right" if right else "wrong"
    print(f"{name}: you said {guess}, it is {actual}: {verdict}")
    return right


def _is_number(value: object) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool)


@checked
def score() -> tuple[int, int]:
    """Print how many predictions of this kernel were right.

    Returns:
        (how many were right, how many were made).
    """
    made = [right for right in _right.values() if right is not None]
    right, count = sum(made), len(made)
    print(f"{right} of {count} predictions were right" if count else "no predictions were made")
    return right, count


@checked
def clear() -> None:
    """Forget the predictions of this kernel."""
    _right.clear()
