"""Two answers, one question: what their agreement is worth.

An answer is compared with the oracle's, whose sort keys are known. Rows with equal keys are peers: ORDER BY says
nothing about their order, and LIMIT nothing about which of them remain. Everything else must be the same.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from workbench._base.errors import ArgumentError
from workbench_proofs.tpcds import answers
from workbench_proofs.tpcds.answers import Answer, Row
from workbench_proofs.tpcds.matching import partners
from workbench_proofs.tpcds.values import CUT, IDENTICAL, ROUNDED, Comparison, near

EQUAL, SCALE, ORDER, TIE = "equal", "same value in another scale", "only order", "tie at the limit"
VACUOUS, DIFFERENT, UNVERIFIED = "vacuous", "different", "unverified"
KINDS = (EQUAL, SCALE, ORDER, TIE, VACUOUS, UNVERIFIED, DIFFERENT)


@dataclass(frozen=True)
class Judgement:
    """What a comparison found.

    Attributes:
        kind: one of KINDS.
        sentence: with the first difference.
        scaled: values agree in another scale only, whatever else is so; always for SCALE.
    """

    kind: str
    sentence: str
    scaled: bool = False

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise ArgumentError(f"{self.kind!r} is not a verdict; there are {', '.join(KINDS)}")
        if self.kind == SCALE:
            object.__setattr__(self, "scaled", True)

    @property
    def verified(self) -> bool:
        """Whether another engine gave this answer, and the answer says something."""
        return self.kind in (EQUAL, SCALE, ORDER, TIE)


@dataclass(frozen=True)
class Oracle:
    """The answer of the engine that is compared with.

    Attributes:
        answer: its Answer.
        keys: for each row the values of its sort keys, an empty tuple where there is no ORDER BY.
        limit: rows of the outermost LIMIT, None when there is none.
        positions: of the keys among the answer's columns; negative where a key is not one of them.
    """

    answer: Answer
    keys: tuple[Row, ...]
    limit: int | None = None
    positions: tuple[int, ...] = ()


def compare(
    answer: Answer,
    oracle: Oracle,
    *,
    shortens: str = ROUNDED,
    unlimited: Callable[[], tuple[Answer, Oracle]] | None = None,
) -> Judgement:
    """Compare an answer with the oracle's.

    Args:
        answer: Answer of the engine under test.
        oracle: Oracle.
        shortens: how the engine drops the decimals that it has no room for: `rounded` or `cut`.
        unlimited: called without arguments where LIMIT may have cut between peers; returns (Answer, Oracle) of the
            same query without LIMIT. Without it such an answer is different.

    Returns:
        Judgement. Vacuous only when the answers agree.
    """
    if shortens not in (ROUNDED, CUT):
        raise ArgumentError(f"an engine's decimals are {ROUNDED} or {CUT}, not {shortens!r}")
    if wrong := _shape(answer, oracle.answer):
        return Judgement(DIFFERENT, wrong)
    judgement = _agreement(answer, oracle, shortens)
    full = oracle.limit is not None and len(answer.rows) == oracle.limit
    if judgement.kind == DIFFERENT and full and unlimited:
        judgement = _tie(answer, *unlimited(), shortens, judgement)
    if judgement.kind != DIFFERENT and answers.vacuous(answer):
        empty = "no rows" if not answer.rows else "only NULL and 0"
        return Judgement(VACUOUS, f"both answers hold {empty}: nothing is verified")
    return judgement


def _shape(answer: Answer, oracle: Answer) -> str | None:
    """Return the sentence on columns or row counts that differ; None when they do not."""
    if len(answer.columns) != len(oracle.columns):
        return f"{len(answer.columns)} columns, expected {len(oracle.columns)}"
    for n, (mine, theirs) in enumerate(zip(answer.columns, oracle.columns, strict=True), 1):
        numbers = {mine.kind, theirs.kind} <= set(answers.NUMBERS)
        if mine.kind != theirs.kind and not numbers and answers.VOID not in (mine.kind, theirs.kind):
            return f"column {n} ({theirs.name}) is {mine.kind}, expected {theirs.kind}"
    if len(answer.rows) != len(oracle.rows):
        return f"{len(answer.rows)} rows, expected {len(oracle.rows)}"
    return None


def _agreement(answer: Answer, oracle: Oracle, shortens: str) -> Judgement:
    """Compare row by row, then, where that fails, peers with peers."""
    same = Comparison(answer.columns, oracle.answer.columns, shortens)
    levels = [same.rows(mine, theirs) for mine, theirs in zip(answer.rows, oracle.answer.rows, strict=True)]
    count = f"{len(answer.rows)} rows"
    if all(level == IDENTICAL for level in levels):
        return Judgement(EQUAL, f"{count} in the same order")
    if None not in levels:
        return Judgement(SCALE, _scale(answer, oracle.answer, levels, same))
    lost = _lost(answer, oracle, same)
    if lost is None:
        where = f"{count}; row {levels.index(None) + 1} is the first that changed places with a peer"
        return Judgement(ORDER, where, _scaled(answer, oracle, same))
    return Judgement(DIFFERENT, _difference(answer, oracle.answer, lost, same))


def _tie(answer: Answer, answer_full: Answer, oracle_full: Oracle, shortens: str, first: Judgement) -> Judgement:
    """Compare without LIMIT, and see whether the limited answer is one that ORDER BY and LIMIT allow."""
    without = compare(answer_full, oracle_full, shortens=shortens)
    if without.kind == DIFFERENT:
        return Judgement(DIFFERENT, f"without LIMIT too: {without.sentence}")
    same = Comparison(answer.columns, oracle_full.answer.columns, shortens)
    lost = _lost(answer, oracle_full, same)
    if lost is not None:
        return Judgement(
            DIFFERENT, f"equal without LIMIT, but LIMIT may not keep row {lost + 1}: {first.sentence}"
        )
    rows = len(oracle_full.answer.rows)
    sentence = f"{len(answer.rows)} of {rows} rows, which are equal without LIMIT; {first.sentence}"
    return Judgement(TIE, sentence, _scaled(answer, oracle_full, same))


def _lost(answer: Answer, oracle: Oracle, same: Comparison) -> int | None:
    """Return the first row that has no partner among the peers in its place; None when all have one.

    The answer may be shorter than the oracle's: then it holds some of the last peers.
    """
    for start, end in _peers(oracle, same):
        mine = answer.rows[start:end]
        lost = partners(mine, oracle.answer.rows[start:end], same)
        if lost is not None:
            return start + lost
    return None


def _scaled(answer: Answer, oracle: Oracle, same: Comparison) -> bool:
    """Say whether rows that have partners have them in another scale only."""
    if all((mine.kind, mine.scale) == (theirs.kind, theirs.scale) for mine, theirs in same.columns):
        return False
    alike = Comparison(answer.columns, oracle.answer.columns, same.shortens, alike=True)
    return _lost(answer, oracle, alike) is not None


def _peers(oracle: Oracle, same: Comparison) -> Iterator[tuple[int, int]]:
    """Yield (from, to) of the runs of rows whose sort keys are equal."""
    keys, start = oracle.keys, 0
    for n in range(1, len(keys) + 1):
        if n == len(keys) or not _equal_keys(keys[n - 1], keys[n], oracle.positions, same):
            yield start, n
            start = n


def _equal_keys(first: Row, second: Row, positions: tuple[int, ...], same: Comparison) -> bool:
    """Compare sort keys.

    Where two floats differ only in their noise, the rest of the keys decides nothing; nor does it where two values
    have the same digits in the engine: it sorts by those.
    """
    for n, (a, b) in enumerate(zip(first, second, strict=True)):
        if a == b:
            continue
        if isinstance(a, float) and isinstance(b, float) and near(a, b):
            return True
        column = positions[n] if n < len(positions) else -1
        return column >= 0 and same.shortened(column, a) == same.shortened(column, b)
    return True


def _scale(answer: Answer, oracle: Answer, levels: list[int | None], same: Comparison) -> str:
    row = next(n for n, level in enumerate(levels) if level != IDENTICAL)
    column = _first_column(answer, oracle, row, lambda n, a, b: same.values(n, a, b) == IDENTICAL)
    mine, theirs = answer.rows[row][column], oracle.rows[row][column]
    where = f"row {row + 1}, column {column + 1}"
    return f"{len(answer.rows)} rows; the first in another scale: {where}: {mine}, {theirs}"


def _difference(answer: Answer, oracle: Answer, row: int, same: Comparison) -> str:
    """Name the first value that differs where one does, else the row that stands in a wrong place."""
    mine, theirs = answer.rows[row], oracle.rows[row]
    expected = sum(same.rows(mine, other) is not None for other in oracle.rows)
    if expected:
        if sum(other == mine for other in answer.rows) > expected:
            return f"row {row + 1} {_shown(mine)} comes more often than expected"
        return f"row {row + 1} {_shown(mine)} stands where ORDER BY wants {_shown(theirs)}"
    n = _first_column(answer, oracle, row, lambda n, a, b: same.values(n, a, b) is not None)
    return f"row {row + 1}, column {n + 1} ({oracle.columns[n].name}): found {mine[n]}, expected {theirs[n]}"


def _first_column(answer: Answer, oracle: Answer, row: int, same: Callable[[int, Any, Any], bool]) -> int:
    pairs = enumerate(zip(answer.rows[row], oracle.rows[row], strict=True))
    return next((n for n, (a, b) in pairs if not same(n, a, b)), 0)


def _shown(row: Row) -> str:
    return "(" + ", ".join("NULL" if value is None else str(value) for value in row) + ")"
