"""A run of queries on one engine: each answer gets its verdict, and a time is only told beside one.

What is told is "TPC-DS derived": no result here is a TPC result, because the rules of that benchmark are not kept.
"""

import time
from collections import Counter
from dataclasses import dataclass

from workbench.tpcds import engines, kept, layouts, oracle, texts
from workbench.tpcds.verdicts import DIFFERENT, KINDS, Verdict

DERIVED = "TPC-DS derived"


class AnswersDiffer(RuntimeError):
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
    """

    engine: str
    query: str
    verdict: Verdict
    seconds: float
    check_seconds: float

    def __post_init__(self):
        if not isinstance(self.verdict, Verdict):
            raise ValueError(f"the time of {self.query} has no verdict beside it and is not told")


def run(engine, session, data, *, namespace=None, queries=None, place=None):
    """Run queries and judge each answer.

    Args:
        engine: engines.Engine.
        session: what it runs in; see engines.run.
        data: tpcds.data.Data, which the oracle reads.
        namespace: of the Iceberg tables. They must be loaded from this data.
        queries: names; all 103 by default.
        place: folder of kept verdicts; the user's cache by default. False judges every answer anew.

    Yields:
        Result, one a query, in their order, as soon as it is there.

    Raises:
        ValueError: the tables are not those of the data, or the engine is the oracle's own.
    """
    place = None if place is False else place or kept.folder()
    queries = tuple(texts.names() if queries is None else queries)
    if engine.reads == "iceberg":
        layouts.require(session, namespace, data, _tables(queries))
    with oracle.witness(data) as ask:
        for query in queries:
            ran = engines.run(engine, query, session, namespace=namespace)
            start = time.perf_counter()
            verdict = _judge(engine, query, ran.answer, ask, data, session, namespace, place)
            yield Result(engine.name, query, verdict, ran.seconds, time.perf_counter() - start)


def counts(results):
    """Count verdicts by kind, in the order of KINDS, zeros included."""
    found = Counter(result.verdict.kind for result in results)
    return {kind: found[kind] for kind in KINDS}


def lines(results):
    """Tell results for people to read, a line each under a heading, and the totals of what was verified."""
    results = list(results)
    names = ", ".join(sorted({result.engine for result in results}))
    yield f"{DERIVED}, {names}: {len(results)} queries"
    for one in results:
        yield f"{one.query:5} {one.seconds:9.3f} s  {one.verdict.kind}: {one.verdict.sentence}"
    verified = [one for one in results if one.verdict.verified]
    told = ", ".join(f"{count} {kind}" for kind, count in counts(results).items())
    yield f"verified {len(verified)} of {len(results)} in {sum(one.seconds for one in verified):.3f} s: {told}"


def require(results):
    """Refuse a run in which an answer is wrong.

    Raises:
        AnswersDiffer: a verdict is "different".
    """
    wrong = [one for one in results if one.verdict.kind == DIFFERENT]
    if wrong:
        told = "; ".join(f"{one.query}: {one.verdict.sentence}" for one in wrong)
        raise AnswersDiffer(f"{len(wrong)} answers of {wrong[0].engine} are wrong ({DERIVED}): {told}")


def _judge(engine, query, found, ask, data, session, namespace, place):
    def unlimited():
        return engines.run(engine, query, session, namespace=namespace, limited=False).answer

    return oracle.judge(
        query, found, ask, data=data.digest, family=engine.family, unlimited=unlimited,
        shortens=engine.decimals, place=place,
    )  # fmt: skip


def _tables(queries):
    from workbench.tpcds import dialect

    return tuple(sorted({table for query in queries for table in dialect.tables(texts.text(query))}))
