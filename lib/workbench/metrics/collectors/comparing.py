"""Put the logs of several collectors beside each other, with what a load met meanwhile."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

from workbench._base.door import checked
from workbench._base.errors import ArgumentError
from workbench._base.typing import PandasFrame
from workbench.metrics.collectors.latency import Load
from workbench.metrics.collectors.results import Collection
from workbench.metrics.collectors.running import Trial

_TAKEN = ("seconds", "cpu_seconds", "peak_memory_bytes", "canary_seconds")
_WORDS = ("variant", "collector", "out_of_memory")


@checked
def compare(
    collections: Mapping[str, Collection],
    loads: Mapping[str, Load] | None = None,
    *,
    cpu_seconds: Mapping[str, float] | None = None,
) -> PandasFrame:
    """Compare collectors by what their logs say and what clients had.

    A collector whose JVM died is a row, too, with `out_of_memory`: what it had before does not make it fast.

    Args:
        collections: {name of a variant: its log}.
        loads: {the same name: the load that it served}; the same rate and seconds for each.
        cpu_seconds: {the same name: CPU of its JVM}.

    Returns:
        pandas DataFrame, a row a variant, in the given order: collector; pauses, longest_pause_seconds,
        pause_seconds; stalls, longest_stall_seconds, stall_seconds (summed over threads); longest_stop_seconds of
        any safepoint; running_share (1 less the share of all stops, with the time until the last thread
        stands; an uptime by pauses is higher, and neither knows of stalls); full_collections, out_of_memory,
        peak_heap_bytes; with loads requests, errors, reached, late, response_… and service_… by percentile,
        canary_seconds; cpu_seconds. Missing figures are NaN.

    Raises:
        ValueError: no variant, a load or CPU of another name, or loads of different rates.
    """
    import pandas as pd

    if not collections:
        raise ArgumentError("collections has none: expected one log or more by name")
    for name, given in (("loads", loads), ("cpu_seconds", cpu_seconds)):
        if other := sorted(set(given or ()) - set(collections)):
            raise ArgumentError(
                f"{name} has {other[0]}, of which there is no log; there are {', '.join(collections)}"
            )
    if len({load.rate for load in (loads or {}).values()}) > 1:
        raise ArgumentError("the loads have different rates: their latencies cannot be compared")
    rows = []
    for name, collection in collections.items():
        row: dict[str, Any] = {"variant": name, **_of_log(collection)}
        if loads is not None:
            row |= _of_load(loads.get(name))
        if cpu_seconds is not None:
            row["cpu_seconds"] = cpu_seconds.get(name, math.nan)
        rows.append(row)
    return pd.DataFrame(rows)


@checked
def medians(trials: Sequence[Trial]) -> PandasFrame:
    """Compare trials by the median of their rounds; those that died are rows, too.

    Args:
        trials: of `rounds`, or others; those of one variant are repeats of each other.

    Returns:
        pandas DataFrame, a row a variant, in the order in which they come first: variant, rounds, died (rounds in
        which it died), death (why, the first time; None where it never did), collector, out_of_memory (in any
        round), then as `compare` has them the medians of its figures over all rounds, with seconds, cpu_seconds,
        peak_memory_bytes and canary_seconds (the longest of all rounds). A figure that no round has is NaN.

    Raises:
        ValueError: there is no trial, answers differ, or loads of one rate stand beside loads of another.
    """
    import pandas as pd

    if not trials:
        raise ArgumentError("trials has none: expected one or more")
    answers = {trial.answer: trial.variant for trial in trials if trial.answer is not None}
    if len(answers) > 1:
        words = "; ".join(f"{variant} says {answer}" for answer, variant in list(answers.items())[:3])
        raise ArgumentError(f"the answers differ, so that their figures compare nothing: {words}")
    if len({trial.load.rate for trial in trials if trial.load}) > 1:
        raise ArgumentError("the loads have different rates: their latencies cannot be compared")
    rows = []
    for variant in dict.fromkeys(trial.variant for trial in trials):
        repeats = [trial for trial in trials if trial.variant == variant]
        frame = pd.DataFrame([_of_trial(trial) for trial in repeats])
        deaths = [trial.death for trial in repeats if trial.death is not None]
        row: dict[str, Any] = {"variant": variant, "rounds": len(repeats), "died": len(deaths)}
        row |= {"death": next(iter(deaths), None), "collector": repeats[0].collection.collector}
        row["out_of_memory"] = any(trial.out_of_memory for trial in repeats)
        row |= frame.median().to_dict()
        rows.append(row | {"canary_seconds": frame["canary_seconds"].max()})
    return pd.DataFrame(rows)


def _of_trial(trial: Trial) -> dict[str, float]:
    """Return the figures of a trial."""
    row = _of_log(trial.collection)
    if trial.load:
        row |= _of_load(trial.load)
    row |= {name: getattr(trial, name) for name in _TAKEN}
    return {name: float(value) for name, value in row.items() if name not in _WORDS}


def _of_log(collection: Collection) -> dict[str, Any]:
    return {
        "collector": collection.collector,
        "pauses": len(collection.pauses),
        "longest_pause_seconds": _longest(collection.pauses),
        "pause_seconds": collection.pause_seconds,
        "stalls": len(collection.stalls),
        "longest_stall_seconds": _longest(collection.stalls),
        "stall_seconds": collection.stall_seconds,
        "longest_stop_seconds": _longest(collection.safepoints) if collection.safepoints else math.nan,
        "running_share": 1 - collection.stopped_share,
        "full_collections": collection.full_collections,
        "out_of_memory": collection.out_of_memory,
        "peak_heap_bytes": collection.peak_heap_bytes,
    }


def _of_load(load: Load | None) -> dict[str, Any]:
    if load is None:
        return {"requests": 0, "errors": math.nan}
    row: dict[str, Any] = {
        "requests": load.requests, "errors": sum(load.errors.values()), "reached": load.reached, "late": load.late,
        "canary_seconds": load.canary_seconds,
    }  # fmt: skip
    row |= {f"response_{name}_seconds": value for name, value in load.response_seconds.items()}
    return row | {f"service_{name}_seconds": value for name, value in load.service_seconds.items()}


def _longest(seconds: Sequence[float]) -> float:
    return max(seconds, default=0.0)
