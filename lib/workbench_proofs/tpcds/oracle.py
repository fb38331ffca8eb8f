"""The second opinion: DuckDB's answer to the same question about the same files, and the verdict it allows."""

import dataclasses
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from workbench._base.errors import ArgumentError
from workbench_proofs.tpcds import answers, dialect, kept, texts, verdicts
from workbench_proofs.tpcds import data as generated
from workbench_proofs.tpcds.answers import Answer
from workbench_proofs.tpcds.values import ROUNDED
from workbench_proofs.tpcds.verdicts import Judgement, Oracle

FAMILY = "duckdb"


Witness = Callable[..., Oracle]  # (query, limited=True): the Oracle's answer; False drops the outermost LIMIT


@contextmanager
def witness(data: generated.Data, *, threads: int = 2) -> Iterator[Witness]:
    """Open what a judgement asks.

    Nothing is opened before the first question.

    Args:
        data: tpcds.data.Data.
        threads: of DuckDB.
    """
    connections: list[Any] = []

    def ask(query: str, limited: bool = True) -> Oracle:
        if not connections:
            connections.append(generated.connect(data, threads=threads))
        return answer(connections[0], query, limited=limited)

    try:
        yield ask
    finally:
        for connection in connections:
            connection.close()


def answer(connection: Any, query: str, *, limited: bool = True) -> Oracle:
    """Return the Oracle of a query: its answer and, for each row, the sort keys.

    Args:
        connection: of DuckDB, with the 24 tables.
        query: its name.
        limited: False drops the outermost LIMIT.

    Raises:
        ValueError: the query cannot be translated.
    """
    translation = dialect.to_duckdb(texts.text(query))
    sql = translation.sql if limited else translation.unlimited
    with_keys = answers.of(connection.execute(sql).to_arrow_table())
    width = len(with_keys.columns) - translation.hidden
    keys = tuple(tuple(row[position] for position in translation.keys) for row in with_keys.rows)
    plain = Answer(with_keys.columns[:width], tuple(row[:width] for row in with_keys.rows))
    return Oracle(plain, keys, translation.limit if limited else None, translation.keys)


def judge(
    query: str,
    answer: Answer,
    ask: Witness,
    *,
    data: str,
    family: str,
    unlimited: Callable[[], Answer],
    shortens: str = ROUNDED,
    place: str | Path | None = None,
) -> Judgement:
    """Return the verdict on an engine's answer.

    Args:
        query: its name.
        answer: Answer of the engine.
        ask: from `witness`.
        data: digest of the data that both read.
        family: whose code the engine is: an oracle of the same family is no second opinion.
        unlimited: called without arguments for the engine's answer without LIMIT, where a tie must be settled.
        shortens: how the engine drops decimals: rounded or cut.
        place: folder of kept verdicts; None keeps none and looks none up.

    Raises:
        ValueError: the engine is of the oracle's own family.
    """
    if family == FAMILY:
        raise ArgumentError(f"{FAMILY} cannot vouch for itself: its answers are compared with another engine's")
    if query in dialect.UNVERIFIED:
        return Judgement(verdicts.UNVERIFIED, dialect.UNVERIFIED[query])
    return _compared(
        query, answer, ask, [shortens], data=data, unlimited=unlimited, shortens=shortens, place=place
    )


def vouched(
    query: str,
    answer: Answer,
    ask: Witness,
    *,
    other: Judgement | None,
    data: str,
    unlimited: Callable[[], Answer],
    place: str | Path | None = None,
) -> Judgement:
    """Return the verdict on an answer of the oracle's own code, which read other files than the oracle.

    Where it agrees with the oracle, it is worth what the verdict on another engine's answer is worth.

    Args:
        query: its name.
        answer: Answer of the engine.
        ask: from `witness`.
        other: Judgement on the answer of an engine of another family; None when there is none.
        data: digest of the data.
        unlimited: called without arguments for the engine's answer without LIMIT.
        place: folder of kept verdicts, or None.
    """
    if other is None or other.kind in (verdicts.UNVERIFIED, verdicts.DIFFERENT):
        why = "was compared" if other is None else "agrees with the oracle"
        return Judgement(verdicts.UNVERIFIED, f"no answer of another engine {why}")
    own = _compared(query, answer, ask, [ROUNDED, FAMILY], data=data, unlimited=unlimited, place=place)
    worst = max((own, other), key=lambda verdict: verdicts.KINDS.index(verdict.kind))
    return dataclasses.replace(worst, scaled=own.scaled or other.scaled)


def _compared(
    query: str,
    answer: Answer,
    ask: Witness,
    conditions: list[str],
    *,
    data: str,
    unlimited: Callable[[], Answer],
    shortens: str = ROUNDED,
    place: str | Path | None = None,
) -> Judgement:
    """Return the verdict that was kept, or that of a comparison, which is kept then."""
    depends = [texts.text(query), *conditions]
    digest = answers.digest(answer) if place else ""
    if place and (known := kept.find(place, data, query, depends, digest)):
        return known
    verdict = verdicts.compare(
        answer, ask(query), shortens=shortens, unlimited=lambda: (unlimited(), ask(query, limited=False))
    )
    if place and verdict.kind != verdicts.DIFFERENT:
        kept.keep(place, data, query, depends, digest, verdict)
    return verdict
