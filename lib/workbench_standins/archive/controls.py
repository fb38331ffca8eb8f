"""What the store can be asked besides S3: its clock, what goes wrong, what it was asked. JSON in, JSON out."""

import math
from datetime import timedelta

from workbench._base.errors import ArgumentError
from workbench_standins.archive import patches
from workbench_standins.archive.retrieval import ACCESS_TIERS

LATEST = 8000  # the year in which the clock ends


def answer(state, name, arguments):
    """Answer a control by its name.

    Raises:
        ValueError: there is no such control, or its arguments do not go.
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


def _now(state):
    return state.now().isoformat()


def _advance(state, seconds):
    if not isinstance(seconds, int | float) or not 0 <= seconds < math.inf:
        raise ArgumentError(f"the clock goes forward by a number of seconds, not {seconds!r}")
    if (state.now() + timedelta(seconds=seconds)).year >= LATEST:
        raise ArgumentError(f"the clock ends in the year {LATEST}")
    return state.advance(seconds, patches.backend()).isoformat()


def _set(state, latency_s=None, expedited=None, restore_status=None):
    if latency_s is not None and not (isinstance(latency_s, int | float) and 0 <= latency_s < math.inf):
        raise ArgumentError(f"latency_s is a number of seconds from 0, not {latency_s!r}")
    with state.lock:
        state.latency_s = state.latency_s if latency_s is None else float(latency_s)
        state.expedited = state.expedited if expedited is None else bool(expedited)
        state.restore_status = state.restore_status if restore_status is None else bool(restore_status)


def _requests(state):
    with state.lock:
        return dict(sorted(state.requests.items()))


def _restores(state):
    with state.lock:
        return list(state.restores)


def _stuck(state, bucket, key):
    _object(bucket, key).stuck = True


def _access_tier(state, bucket, key, tier):
    found = _object(bucket, key)
    if found.storage_class != "INTELLIGENT_TIERING" or tier not in ACCESS_TIERS:
        raise ArgumentError(
            f"{key} is of class {found.storage_class} and the tier {tier!r}; only objects of INTELLIGENT_TIERING "
            f"are in {' or '.join(ACCESS_TIERS)}"
        )
    with state.lock:
        found.access_tier, found.retrieval = tier, None


def _storage_class(state, bucket, key, storage_class):
    found = _object(bucket, key)
    with state.lock:
        found.set_storage_class(storage_class)
        found.retrieval = None


def _plant(state, bucket, prefix, count, size=16, storage_class="GLACIER", restored=0):
    if any(isinstance(n, bool) or not isinstance(n, int) or n < 0 for n in (count, size, restored)):
        raise ArgumentError(
            f"count, size and restored are whole numbers from 0, not {count!r}, {size!r}, {restored!r}"
        )
    with state.lock:
        patches.plant(
            state, bucket, prefix=prefix, count=count, size=size, storage_class=storage_class, restored=restored
        )


def _object(bucket, key):
    from moto.s3.exceptions import S3ClientError

    try:
        found = patches.backend().get_object(bucket, key)
    except S3ClientError as error:
        raise ArgumentError(f"{bucket}: {error.message}") from None
    if found is None:
        raise ArgumentError(f"there is no object {key} in {bucket}")
    return found


_CONTROLS = {
    "now": _now, "advance": _advance, "set": _set, "requests": _requests, "restores": _restores,
    "stuck": _stuck, "access_tier": _access_tier, "storage_class": _storage_class, "plant": _plant,
}  # fmt: skip
