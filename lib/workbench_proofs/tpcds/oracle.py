"""The second opinion: DuckDB's answer to the same question about the same files, and the verdict it allows."""

import dataclasses
from contextlib import contextmanager

from workbench._base.errors import ArgumentError
from workbench_proofs.tpcds import answers, dialect, kept, texts, verdicts
from workbench_proofs.tpcds import data as generated
from workbench_proofs.tpcds.values import ROUNDED

FAMILY = "duckdb"


@contextmanager
def witness(data, *, threads=2):
    """Open what a judgement asks: a callable `(query, limited=True)` that returns the Oracle's answer.

    Nothing is opened before the first question.

    Args:
        data: tpcds.data.Data.
        threads: of DuckDB.
    """
    opened = []

    def ask(query, limited=True):
        if not opened:
            opened.append(generated.connect(data, threads=threads))
        return answer(opened[0], query, limited=limited)

    try:
        yield ask
    finally:
        for connection in opened:
            connection.close()


def answer(connection, query, *, limited=True):
    """Return the Oracle of a query: its answer and, for each row, the sort keys.

    Args:
        connection: of DuckDB, with the 24 tables.
        query: its name.
        limited: False drops the outermost LIMIT.

    Raises:
        ValueError: the query cannot be translated.
    """
    said = dialect.to_duckdb(texts.text(query))
    found = answers.of(connection.execute(said.sql if limited else said.unlimited).to_arrow_table())
    width = len(found.columns) - said.hidden
    keys = tuple(tuple(row[position] for position in said.keys) for row in found.rows)
    plain = answers.Answer(found.columns[:width], tuple(row[:width] for row in found.rows))
    return verdicts.Oracle(plain, keys, said.limit if limited else None, said.keys)


def judge(query, found, ask, *, data, family, unlimited, shortens=ROUNDED, place=None):
    """Return the verdict on an engine's answer.

    Args:
        query: its name.
        found: Answer of the engine.
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
        return verdicts.Judgement(verdicts.UNVERIFIED, dialect.UNVERIFIED[query])
    return _compared(query, found, ask, [shortens], data=data, unlimited=unlimited, shortens=shortens, place=place)


def vouched(query, found, ask, *, other, data, unlimited, place=None):
    """Return the verdict on an answer of the oracle's own code, which read other files than the oracle.

    It agrees with the oracle, of which another engine's answer was verified: then it is worth what that one is.

    Args:
        query: its name.
        found: Answer of the engine.
        ask: from `witness`.
        other: Judgement on the answer of an engine of another family; None when there is none.
        data: digest of the data.
        unlimited: called without arguments for the engine's answer without LIMIT.
        place: folder of kept verdicts, or None.
    """
    if other is None or other.kind in (verdicts.UNVERIFIED, verdicts.DIFFERENT):
        why = "was compared" if other is None else "agrees with the oracle"
        return verdicts.Judgement(verdicts.UNVERIFIED, f"no answer of another engine {why}")
    own = _compared(query, found, ask, [ROUNDED, FAMILY], data=data, unlimited=unlimited, place=place)
    worst = max((own, other), key=lambda one: verdicts.KINDS.index(one.kind))
    return dataclasses.replace(worst, scaled=own.scaled or other.scaled)


def _compared(query, found, ask, conditions, *, data, unlimited, shortens=ROUNDED, place=None):
    """Return the verdict that was kept, or that of a comparison, which is kept then."""
    depends = [texts.text(query), *conditions]
    digest = answers.digest(found) if place else None
    if place and (known := kept.find(place, data, query, depends, digest)):
        return known
    verdict = verdicts.compare(
        found, ask(query), shortens=shortens, unlimited=lambda: (unlimited(), ask(query, limited=False))
    )
    if place and verdict.kind != verdicts.DIFFERENT:
        kept.keep(place, data, query, depends, digest, verdict)
    return verdict
