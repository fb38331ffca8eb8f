"""The store that a process and those it starts have in common: started once, found by a variable, gone with it."""

import atexit
import os
from contextlib import ExitStack

VARIABLE = "WORKBENCH_ARCHIVE"  # the endpoint, for child processes
_kept = {}


def of(env):
    """Return the running store of an environment that names this stand-in, its bucket made; else None."""
    if env.stand_in != "archive":
        return None
    return store(env.catalog.properties.get("warehouse", "").removeprefix("s3://").partition("/")[0])


def properties_of(env):
    """Return the catalog properties with which an environment's store is reached; none where it names none."""
    return found.properties() if (found := of(env)) else {}


def store(bucket=None):
    """Return this process's store: that of the process that started it, else one of its own.

    Args:
        bucket: made when it is missing.
    """
    from workbench.local import archive

    if "store" not in _kept:
        if endpoint := os.environ.get(VARIABLE):
            _kept["store"] = archive.Store(endpoint)
        else:
            living = ExitStack()
            _kept["store"] = living.enter_context(archive.serve())
            os.environ[VARIABLE] = _kept["store"].endpoint
            atexit.register(living.close)
    if bucket and bucket not in _kept.setdefault("buckets", set()):
        _kept["store"].client().create_bucket(Bucket=bucket)
        _kept["buckets"].add(bucket)
    return _kept["store"]
