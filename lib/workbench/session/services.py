"""The stand-ins that an environment names: started once, shared with the processes that we start, ended with us.

A process hands it on to those it starts by environment variables: of the archive store its address, of an S3
server its addresses and keys, of a Kafka broker its address. Whoever started it ends it.
"""

import atexit
import hashlib
import json
import os
from contextlib import AbstractContextManager, ExitStack
from pathlib import Path
from typing import Any

from workbench._base import scratch, settings
from workbench._base.errors import ArgumentError

ARCHIVE = "WORKBENCH_ARCHIVE"  # its endpoint
S3 = "WORKBENCH_S3"  # with the folder's name behind it: addresses; and its keys, which settings refer to
KAFKA = "WORKBENCH_KAFKA"  # its address
HIDDEN = {"s3.access-key-id": "KEY", "s3.secret-access-key": "SECRET", "credential": "CREDENTIAL"}
_kept: dict[str, Any] = {}  # variable to the stand-in it tells of; "buckets" to those made in the archive


def of(env: settings.Environment) -> Any:
    """Return the running stand-in of an environment, started when it is not there; None where it names none.

    Returns:
        workbench_standins.archive.Store or workbench_standins.s3.Server.

    Raises:
        ValueError, ModuleNotFoundError, ChildProcessError: it cannot be started; the message says why.
    """
    if env.stand_in == "archive":
        return _archive(env.catalog.properties.get("warehouse", "").removeprefix("s3://").partition("/")[0])
    return _s3(env.folder) if env.stand_in in ("s3", "rest") else None


def broker(env: settings.Environment) -> Any:
    """Return the Kafka broker of an environment: the cluster it names, or the stand-in, started when not there.

    Returns:
        workbench_standins.kafka.Broker.

    Raises:
        ValueError: the environment names neither, or the stand-in cannot be started; the message says why.
        ModuleNotFoundError, ChildProcessError: the stand-in cannot be started; the message says why.
    """
    from workbench_standins import kafka

    if env.kafka is None:
        raise ArgumentError(
            f"the environment {env.name!r} names no Kafka: write kafka: stand_in for a broker on this machine, or "
            "kafka: {bootstrap: host:port} for yours"
        )
    if env.kafka != "stand_in":
        return kafka.Broker(env.kafka.bootstrap, None, env.kafka.config)
    if KAFKA not in _kept:
        if bootstrap := os.environ.get(KAFKA):
            _kept[KAFKA] = kafka.Broker(bootstrap, None)
        else:
            os.environ[KAFKA] = _started(KAFKA, kafka.serve(within=scratch.enter())).bootstrap
    return _kept[KAFKA]


def properties_of(env: settings.Environment) -> dict[str, str]:
    """Return the catalog properties with which an environment's stand-in is reached; none where it names none.

    Keys of an S3 server are references to variables of this process, as those of an environment file.
    """
    if (stand_in := of(env)) is None:
        return {}
    if env.stand_in == "archive":
        return stand_in.properties()
    name = _variable(env.folder)
    hidden = {key: f"env:{name}_{kind}" for key, kind in HIDDEN.items()}
    return {key: hidden.get(key, value) for key, value in stand_in.properties(env.stand_in).items()}


def hand_on(folder: str, server: Any) -> None:
    """Let environments of a folder use a running S3 server, in this process and in those it starts.

    Args:
        folder: as in the environment file.
        server: workbench_standins.s3.Server; whoever started it ends it.
    """
    name = _variable(folder)
    _kept[name] = server
    os.environ[name] = json.dumps([server.endpoint, server.catalog_endpoint, str(server.folder)])
    access, secret = server.access_key, server.secret_key
    for kind, value in (("KEY", access), ("SECRET", secret), ("CREDENTIAL", f"{access}:{secret}")):
        os.environ[f"{name}_{kind}"] = value


def require(env: settings.Environment) -> None:
    """Refuse an environment whose stand-in is not installed.

    Raises:
        ModuleNotFoundError: a package is missing.
    """
    if env.stand_in in ("s3", "rest"):
        from workbench_standins import s3

        s3.require()


def lake_folder(env: settings.Environment) -> Path | None:
    """Return the folder for the embedded catalog beside an environment's S3 server, or None where it has none."""
    return Path(of(env).folder) / "lake" if env.stand_in == "s3" else None


def _archive(bucket: str) -> Any:
    from workbench_standins import archive

    if ARCHIVE not in _kept:
        if endpoint := os.environ.get(ARCHIVE):
            _kept[ARCHIVE] = archive.Store(endpoint)
        else:
            store = _started(ARCHIVE, archive.serve())
            os.environ[ARCHIVE] = store.endpoint
    if bucket and bucket not in _kept.setdefault("buckets", set()):
        _kept[ARCHIVE].client().create_bucket(Bucket=bucket)
        _kept["buckets"].add(bucket)
    return _kept[ARCHIVE]


def _s3(folder: str) -> Any:
    from workbench_standins import s3

    name = _variable(folder)
    if name not in _kept:
        if addresses := os.environ.get(name):
            endpoint, catalog_endpoint, served = json.loads(addresses)
            keys = (os.environ[f"{name}_{kind}"] for kind in ("KEY", "SECRET"))
            _kept[name] = s3.Server(endpoint, catalog_endpoint, Path(served), *keys)
        else:
            if folder == "scratch":
                serving = s3.serve(within=scratch.enter())
            else:
                serving = s3.serve(folder=settings.home() / folder)
            hand_on(folder, _started(name, serving))
    return _kept[name]


def _started(name: str, serving: AbstractContextManager[Any]) -> Any:
    """Enter a stand-in's context and leave it when this process ends."""
    living = ExitStack()
    _kept[name] = living.enter_context(serving)
    atexit.register(_end, name, living, os.getpid())
    return _kept[name]


def _end(name: str, living: ExitStack, owner: int) -> None:
    if os.getpid() != owner:  # a fork has the entry, not the stand-in
        return
    living.close()
    _kept.pop(name, None)
    for variable in [known for known in os.environ if known == name or known.startswith(f"{name}_")]:
        del os.environ[variable]


def _variable(folder: str) -> str:
    """Return the name of the variable that tells of a folder's server."""
    if folder == "scratch":
        return f"{S3}_SCRATCH"
    return f"{S3}_{hashlib.sha256(str(settings.home() / folder).encode()).hexdigest()[:12].upper()}"
