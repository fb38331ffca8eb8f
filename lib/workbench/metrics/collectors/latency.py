"""Latency as clients have it: an open loop of requests at a fixed rate, timed from when each was due.

A client that waits for an answer before it asks again asks less while the server stands still, and its percentiles
omit all who would have asked meanwhile ("coordinated omission"; Gil Tene, HdrHistogram). Here each request has its
time: what was due during a pause is timed from then on.
"""

import math
import threading
import time
from array import array
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

from workbench._base.bounds import Ge, Gt
from workbench._base.door import checked
from workbench._base.errors import ArgumentError
from workbench.metrics.collectors.canary import Canary

PERCENTILES = (50.0, 90.0, 99.0, 99.9, 99.99)
_CANARY_SECONDS = 0.001


@dataclass(frozen=True)
class Load:
    """What a load of requests met.

    Attributes:
        requests: that were answered.
        errors: that were not, by the kind of error; their times are in no percentile.
        seconds: from the first request's time to the last answer.
        rate: requests a second that were asked for.
        reached: that were answered, a second.
        service_seconds: from the begin of each call to its end, by percentile (`p99`) and `max`. This is what a
            closed loop measures: for comparison only.
        response_seconds: from when each request was due: what a client has.
        late: requests that began more than a millisecond after their time, because every thread was waiting.
        canary_seconds: the longest that a thread of this process which does nothing overslept: below it, the
            load's own process or its machine may be the reason.
    """

    requests: int
    errors: Mapping[str, int]
    seconds: float
    rate: float
    reached: float
    service_seconds: Mapping[str, float]
    response_seconds: Mapping[str, float]
    late: int
    canary_seconds: float


@checked
def load(
    call: Callable[..., Any],
    *,
    rate: Annotated[float, Gt(0)],
    seconds: Annotated[float, Gt(0)],
    threads: Annotated[int, Ge(1)] = 16,
) -> Load:
    """Send requests at a fixed rate, whether or not earlier ones are answered.

    Args:
        call: sends a request and waits for its answer; called with the request's number, from several threads. It
            must have a time limit of its own.
        rate: requests a second, evenly.
        seconds: for how long requests are due. The load ends when the last one is answered.
        threads: that wait for answers; where all of them wait, requests begin late, and are timed from when they
            were due.

    Returns:
        Load. A percentile that so few requests cannot have is left out: p99.99 takes 10,000.

    Raises:
        ValueError: an argument is of another kind, or no request would be due.
    """
    total = int(rate * seconds)
    if not total:
        raise ArgumentError(f"rate {rate:g} for {seconds:g} s is no request: expected at least one")
    shared = _Shared(call, rate, total)
    workers = [threading.Thread(target=shared.work, daemon=True) for _ in range(min(threads, total))]
    canary, done = Canary(_CANARY_SECONDS), threading.Event()
    watching = threading.Thread(target=canary.watch, args=[done.is_set], daemon=True)
    shared.begin = time.perf_counter() + 0.01
    for thread in (*workers, watching):
        thread.start()
    for thread in workers:
        thread.join()
    done.set()
    watching.join()
    requests = len(shared.service)
    elapsed = max(shared.end - shared.begin, 1e-9)
    return Load(
        requests=requests,
        errors=dict(shared.errors),
        seconds=elapsed,
        rate=rate,
        reached=requests / elapsed,
        service_seconds=percentiles(shared.service),
        response_seconds=percentiles(shared.response),
        late=shared.late,
        canary_seconds=canary.overslept,
    )


class _Shared:
    """What the threads of a load have in common."""

    def __init__(self, call: Callable[..., Any], rate: float, total: int) -> None:
        self.call, self.rate, self.total = call, rate, total
        self.service, self.response = array("d"), array("d")
        self.errors: Counter[str] = Counter()
        self.late = self.next = 0
        self.begin = self.end = 0.0
        self.lock = threading.Lock()

    def work(self) -> None:
        while True:
            with self.lock:
                number, self.next = self.next, self.next + 1
            if number >= self.total:
                return
            due = self.begin + number / self.rate
            wait = due - time.perf_counter()
            if wait > 0:
                time.sleep(wait)
            begin, error = time.perf_counter(), None
            try:
                self.call(number)
            except Exception as raised:
                error = type(raised).__name__
            end = time.perf_counter()
            with self.lock:
                self.end = max(self.end, end)
                self.late += begin - due > 0.001
                if error:
                    self.errors[error] += 1
                else:
                    self.service.append(end - begin)
                    self.response.append(end - due)


def percentiles(seconds: Sequence[float]) -> dict[str, float]:
    """Return the percentiles of latencies, without those that so few cannot have.

    Each is a value that was met, the least one that as many percent do not exceed (nearest rank, as HdrHistogram
    has it, but without its rounding: some thousand values of a load from Python are kept whole).

    Args:
        seconds: latencies.

    Returns:
        {`p50` … or `max`: seconds}.
    """
    if not seconds:
        return {}
    ranked = sorted(seconds)
    ranks = {p: max(1, math.ceil(len(ranked) * p / 100 - 1e-9)) for p in PERCENTILES}
    microseconds = {str(p): ranked[rank - 1] * 1e6 for p, rank in ranks.items()}
    return kept(len(ranked), microseconds | {"max": ranked[-1] * 1e6})


def kept(requests: int, microseconds: Mapping[str, float]) -> dict[str, float]:
    """Return percentiles in seconds, without those that so few requests cannot have.

    Args:
        requests: how many were answered.
        microseconds: {a percentile of PERCENTILES or `max`: microseconds}.

    Returns:
        {`p50` … or `max`: seconds}.
    """
    if not requests:
        return {}
    # at least one value lies above a percentile
    figures = {f"p{p:g}": microseconds[str(p)] / 1e6 for p in PERCENTILES if requests * (100 - p) >= 99.999}
    return figures | {"max": microseconds["max"] / 1e6}
