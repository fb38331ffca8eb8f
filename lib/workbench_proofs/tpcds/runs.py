"""A run of queries on one engine: each answer gets its verdict, and there is no time without one.

Results are "TPC-DS derived": none here is a TPC result, because the rules of that benchmark are not kept.
"""

import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Literal

from pydantic import InstanceOf

from workbench._base.door import checked
from workbench._base.errors import ArgumentError, WorkbenchError
from workbench.engines.profiles import Engine
from workbench_proofs.tpcds import asking, dialect, kept, layouts, oracle, processes, texts
from workbench_proofs.tpcds.answers import Answer
from workbench_proofs.tpcds.data import Data
from workbench_proofs.tpcds.verdicts import DIFFERENT, KINDS, UNVERIFIED, Judgement, Oracle

DERIVED = "TPC-DS derived"
UNHEARD = "the oracle gave no answer"


class AnswersDiffer(WorkbenchError, RuntimeError):
    """An engine gave an answer that the oracle does not share; the message names the queries."""


@dataclass(frozen=True)
class Result:
    """One query on one engine.

    Attributes:
        engine: its name.
        query: its name.
        verdict: on the answer. Without one there is no result.
        seconds: from the text to the last row.
        check_seconds: what the verdict took besides.
        bytes_read, rows_read, peak_bytes: see asking.Ran.
        layout: of the tables; None where it is not known.
        round: from 1; None outside of a measurement.
        phase: `cold`, the first time in its process, or `warm`; None outside of a measurement.
    """

    engine: str
    query: str
    verdict: Judgement
    seconds: float
    check_seconds: float
    bytes_read: int | None = None
    rows_read: int | None = None
    peak_bytes: int | None = None
    layout: str | None = None
    round: int | None = None
    phase: str | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.verdict, Judgement):
            raise ArgumentError(f"the time of {self.query} has no verdict beside it")


@checked
def run(
    engine: InstanceOf[Engine],
    session: Any,
    data: Data,
    *,
    namespace: str | None = None,
    queries: Sequence[str] | None = None,
    place: str | Path | Literal[False] | None = None,
    others: Mapping[str, Judgement] | None = None,
    ask: oracle.Witness | None = None,
) -> Iterator[Result]:
    """Run queries and judge each answer.

    Args:
        engine: engines.Engine.
        session: what it runs in; see asking.run.
        data: tpcds.data.Data, which the oracle reads.
        namespace: of the Iceberg tables in a SparkSession. They must be loaded from this data.
        queries: names; all 103 by default.
        place: folder of kept verdicts; the user's cache by default. False judges every answer anew.
        others: query to the Judgement on another engine's answer, for an engine of the oracle's own code.
        ask: of oracle.witness, where one oracle is to serve several runs; one is opened for this run by default.

    Yields:
        Result, one a query, in their order, as soon as it is there. No answer is a wrong one.

    Raises:
        ValueError: the tables are not those of the data, or the engine is the oracle's own and runs in a session.
        ChildProcessError, TimeoutError: a process is gone, or gave no answer in time; the message names the query.
    """
    folder = None if place is False else place or kept.folder()
    queries = tuple(texts.names() if queries is None else queries)
    layout = _layout(engine, session, data, namespace, queries)
    with nullcontext(ask) if ask else oracle.witness(data) as witness:
        heard = partial(_heard, witness)
        for query in queries:
            start = time.perf_counter()
            try:
                ran = asking.run(engine, query, session, namespace=namespace)
            except processes.NoAnswer as error:
                none = Judgement(DIFFERENT, f"no answer: {error}")
                yield Result(engine.name, query, none, time.perf_counter() - start, 0.0, layout=layout)
                continue
            except (ChildProcessError, TimeoutError) as error:
                raise type(error)(f"{query}: {error}") from None
            start = time.perf_counter()
            try:
                verdict = _judge(engine, query, ran.answer, heard, data, session, namespace, folder, others)
            except processes.NoAnswer as error:  # without LIMIT an answer may be too much for it
                verdict = Judgement(DIFFERENT, f"no answer without LIMIT: {error}")
            except (ChildProcessError, TimeoutError) as error:
                raise type(error)(f"{query} without LIMIT: {error}") from None
            except _Unheard as error:
                verdict = Judgement(UNVERIFIED, f"{UNHEARD}: {error}")
            check_seconds = time.perf_counter() - start
            yield Result(
                engine.name, query, verdict, ran.seconds, check_seconds,
                ran.bytes_read, ran.rows_read, ran.peak_bytes, layout,
            )  # fmt: skip


def tables(queries: Iterable[str]) -> tuple[str, ...]:
    """Return the names of the tables that queries read, sorted."""
    return tuple(sorted({table for query in queries for table in dialect.tables(texts.text(query))}))


@checked
def counts(results: Iterable[Result]) -> dict[str, int]:
    """Count verdicts by kind, in the order of KINDS, zeros included."""
    count = Counter(result.verdict.kind for result in results)
    return {kind: count[kind] for kind in KINDS}


@checked
def lines(results: Iterable[Result]) -> Iterator[str]:
    """Yield results for people to read, a line each under a heading, and the totals of what was verified."""
    results = list(results)
    names = ", ".join(sorted({result.engine for result in results}))
    yield f"{DERIVED}, {names}: {len(results)} queries"
    for result in results:
        yield f"{result.query:5} {result.seconds:9.3f} s  {result.verdict.kind}: {result.verdict.sentence}"
    seconds = [result.seconds for result in results if result.verdict.verified]
    kinds = ", ".join(f"{count} {kind}" for kind, count in counts(results).items())
    yield f"verified {len(seconds)} of {len(results)} in {sum(seconds):.3f} s: {kinds}"


@checked
def require(results: Iterable[Result]) -> None:
    """Refuse a run in which an answer is wrong.

    Raises:
        AnswersDiffer: a verdict is "different".
    """
    wrong = [result for result in results if result.verdict.kind == DIFFERENT]
    if wrong:
        listed = "; ".join(f"{result.query}: {result.verdict.sentence}" for result in wrong)
        raise AnswersDiffer(f"{len(wrong)} answers of {wrong[0].engine} are wrong ({DERIVED}): {listed}")


def _layout(engine: Engine, session: Any, data: Data, namespace: str | None, queries: Iterable[str]) -> str | None:
    """Return the layout of the tables, having seen that they hold the data; a DuckDB session has none."""
    if isinstance(session, processes.Process):
        if session.data != data.digest:
            raise ArgumentError(
                f"the process of {session.engine.name} does not read the data of scale {data.scale}"
            )
        return session.layout
    if engine.family == "duckdb":
        return None
    if namespace is None:
        raise ArgumentError("namespace is missing: expected the one in which tpcds.load made the tables")
    return layouts.require(session, namespace, data, tables(queries))


class _Unheard(WorkbenchError, Exception):
    """The oracle's memory or disk ran out: nobody's answer is wrong. Its other errors are ours, and raised."""


def _heard(ask: oracle.Witness, query: str, limited: bool = True) -> Oracle:
    import duckdb

    try:
        return ask(query, limited=limited)
    except (duckdb.OutOfMemoryException, duckdb.IOException) as error:
        raise _Unheard(str(error).splitlines()[0][:300]) from None


def _judge(
    engine: Engine,
    query: str,
    answer: Answer,
    ask: oracle.Witness,
    data: Data,
    session: Any,
    namespace: str | None,
    folder: str | Path | None,
    others: Mapping[str, Judgement] | None,
) -> Judgement:
    def unlimited() -> Answer:
        return asking.run(engine, query, session, namespace=namespace, limited=False).answer

    about: dict[str, Any] = {"data": data.digest, "unlimited": unlimited, "place": folder}
    alone = others is None and not isinstance(session, processes.Process)
    if engine.family == oracle.FAMILY and not alone:
        return oracle.vouched(query, answer, ask, other=(others or {}).get(query), **about)
    return oracle.judge(query, answer, ask, family=engine.family, shortens=engine.decimals, **about)
