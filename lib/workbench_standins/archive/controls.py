"""Requests to the store besides S3: its clock, what goes wrong, counts of requests. JSON in, JSON out."""

import math
from collections.abc import Callable, Mapping
from datetime import timedelta
from typing import Annotated, Any

from workbench._base.bounds import Ge, Lt
from workbench._base.door import checked
from workbench._base.errors import ArgumentError
from workbench_standins.archive import patches
from workbench_standins.archive.retrieval import ACCESS_TIERS
from workbench_standins.archive.store import State

LATEST = 8000  # the year in which the clock ends
Seconds = Annotated[float, Ge(0), Lt(math.inf)]
Count = Annotated[int, Ge(0)]


def answer(state: State, name: str, arguments: Mapping[str, Any]) -> Any:
    """Answer a control by its name.

    Raises:
        ValueError: there is no such control, or its arguments are invalid.
    """
    from moto.s3.exceptions import S3ClientError

    if name not in _CONTROLS:
        raise ArgumentError(f"the archive store has no control {name!r}; it has {', '.join(sorted(_CONTROLS))}")
    try:
        return _CONTROLS[name](state, **arguments)
    except TypeError as error:
        raise ArgumentError(f"{name}: {error}") from None
    except S3ClientError as error:
        raise ArgumentError(f"{name}: {error.message}") from None


def _now(state: State) -> str:
    return state.now().isoformat()


@checked
def _advance(state: State, seconds: Seconds) -> str:
    if (state.now() + timedelta(seconds=seconds)).year >= LATEST:
        raise ArgumentError(f"the clock ends in the year {LATEST}")
    return state.advance(seconds, patches.backend()).isoformat()


@checked
def _set(
    state: State,
    latency_s: Seconds | None = None,
    expedited: bool | None = None,
    restore_status: bool | None = None,
) -> None:
    with state.lock:
        state.latency_s = state.latency_s if latency_s is None else float(latency_s)
        state.expedited = state.expedited if expedited is None else expedited
        state.restore_status = state.restore_status if restore_status is None else restore_status


def _requests(state: State) -> dict[str, int]:
    with state.lock:
        return dict(sorted(state.requests.items()))


def _restores(state: State) -> list[dict[str, Any]]:
    with state.lock:
        return list(state.restores)


@checked
def _stuck(state: State, bucket: str, key: str) -> None:
    _object(bucket, key).stuck = True


@checked
def _access_tier(state: State, bucket: str, key: str, tier: str) -> None:
    stored = _object(bucket, key)
    if stored.storage_class != "INTELLIGENT_TIERING" or tier not in ACCESS_TIERS:
        raise ArgumentError(
            f"{key} is of class {stored.storage_class} and the tier {tier!r}; only objects of INTELLIGENT_TIERING "
            f"are in {' or '.join(ACCESS_TIERS)}"
        )
    with state.lock:
        stored.access_tier, stored.retrieval = tier, None


@checked
def _storage_class(state: State, bucket: str, key: str, storage_class: str) -> None:
    stored = _object(bucket, key)
    with state.lock:
        stored.set_storage_class(storage_class)
        stored.retrieval = None


@checked
def _plant(
    state: State, bucket: str, prefix: str, count: Count, size: Count, storage_class: str, restored: Count
) -> None:
    with state.lock:
        patches.plant(
            state, bucket, prefix=prefix, count=count, size=size, storage_class=storage_class, restored=restored
        )


def _object(bucket: str, key: str) -> Any:
    from moto.s3.exceptions import S3ClientError

    try:
        stored = patches.backend().get_object(bucket, key)
    except S3ClientError as error:
        raise ArgumentError(f"{bucket}: {error.message}") from None
    if stored is None:
        raise ArgumentError(f"there is no object {key} in {bucket}")
    return stored


_CONTROLS: dict[str, Callable[..., Any]] = {
    "now": _now, "advance": _advance, "set": _set, "requests": _requests, "restores": _restores,
    "stuck": _stuck, "access_tier": _access_tier, "storage_class": _storage_class, "plant": _plant,
}  # fmt: skip
