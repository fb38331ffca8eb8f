"""What a plan or an action remarks on: a sentence to be read, and what it is, by which a program decides."""

from dataclasses import dataclass
from typing import Literal

Kind = Literal["fact", "limited", "undone", "asked"]


@dataclass(frozen=True)
class Remark:
    """A sentence, and what it is.

    Attributes:
        text: the sentence.
        kind: `fact` where nothing was left that a person has to see; `limited` where the owner's own limit
            left something to the next run; `undone` where something was left that somebody has to see to; `asked`
            where the caller's word is needed.
        too_small: the limit leaves no room for what is next, so that a run that did nothing else never will.
    """

    text: str
    kind: Kind
    too_small: bool = False


def fact(text: str) -> Remark:
    """Return a remark on something that leaves nothing to do."""
    return Remark(text, "fact")


def limited(text: str, *, too_small: bool = False) -> Remark:
    """Return a remark on what the owner's own limit leaves to the next run."""
    return Remark(text, "limited", too_small)


def undone(text: str) -> Remark:
    """Return a remark on what was left and is somebody's to see to."""
    return Remark(text, "undone")


def asked(text: str) -> Remark:
    """Return a remark on what waits for the caller's word."""
    return Remark(text, "asked")


def texts(several: tuple[Remark, ...]) -> tuple[str, ...]:
    """Return the sentences alone."""
    return tuple(remark.text for remark in several)
