"""A Spark cluster that takes drivers by its master's REST interface, which asks for a signature.

    with submissions.serve() as taking:
        taking.rest, taking.master, taking.page, taking.key

It listens on 127.0.0.1 only, and another user of this machine may reach that: the REST interface is closed by
Spark's JWSFilter and a key, the master and the workers by the cluster's secret. Their pages are open, for reading
alone: who else is on the machine can read there what runs, and its logs.
"""

import base64
import secrets
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

from workbench._base import children, java
from workbench._base.bounds import Ge, Le
from workbench._base.children import Process
from workbench._base.door import checked
from workbench._base.errors import ProcessError
from workbench_standins import ports
from workbench_standins.cluster import node
from workbench_standins.ports import HOST

FILTER = "org.apache.spark.ui.JWSFilter"


@dataclass(frozen=True)
class Taking:
    """A running cluster that takes drivers.

    Attributes:
        master: its address, such as spark://127.0.0.1:7077.
        rest: address of its REST interface.
        page: address of the master's page.
        folder: where logs and drivers' work are, a Path.
        key: of the REST interface's filter, base64url.
    """

    master: str
    rest: str
    page: str
    folder: Path
    key: str = field(repr=False)


@checked
@contextmanager
def serve(
    *,
    workers: Annotated[int, Ge(1), Le(16)] = 1,
    cores: Annotated[int, Ge(1), Le(64)] = 2,
    memory: str = "1g",
    applications: Annotated[int, Ge(1), Le(16)] = 2,
) -> Iterator[Taking]:
    """Serve a cluster that takes drivers, as long as the context is open; on Linux it ends with this process too.

    Args:
        workers: number of workers, 1 to 16.
        cores: of a worker for one driver or application, 1 to 64.
        memory: of a worker for one driver or application, such as 1g.
        applications: drivers and applications that a worker holds at once, 1 to 16.

    Raises:
        ValueError: there is no Java or PySpark that fits.
        ChildProcessError: the master or a worker did not start; the message has its last words.
    """
    java.find(), java.spark_home()
    folder = Path(tempfile.mkdtemp(prefix="workbench-submissions-"))  # which nobody else can read
    settings = {"workers": workers, "cores": cores, "memory": memory, "applications": applications}
    started: list[Process] = []
    try:
        yield _started(folder, settings, started)
    finally:
        for process in reversed(started):
            children.end(process, haste=False, patience_seconds=10)
        shutil.rmtree(folder, ignore_errors=True)


def _started(folder: Path, settings: dict[str, Any], started: list[Process]) -> Taking:
    key = base64.urlsafe_b64encode(secrets.token_bytes(32)).decode()
    secret = secrets.token_hex(16)
    at = ports.choose(("master", "page", "rest"), {})
    conf = {
        "spark.deploy.defaultCores": str(settings["workers"] * settings["cores"]),
        "spark.master.rest.enabled": "true",
        "spark.master.rest.host": HOST,
        "spark.master.rest.port": str(at["rest"]),
        "spark.master.rest.filters": FILTER,
        f"spark.{FILTER}.param.secretKey": key,
    }
    where = ["--host", HOST, "--port", str(at["master"]), "--webui-port", str(at["page"])]
    started.append(node._launch(folder, "master", f"{node.DEPLOY}.master.Master", where, secret, conf))
    if not node._until(started, at["page"], 0):
        raise ProcessError(f"Spark's master did not start: {children.last_words(folder / 'master.log')}")
    address = f"spark://{HOST}:{at['master']}"
    for n in range(settings["workers"]):
        started.append(node._worker(folder, n, address, settings, secret))
    if not node._until(started, at["page"], settings["workers"]):
        logs = map(children.last_words, sorted(folder.glob("worker-*.log")))
        raise ProcessError(f"Spark's workers did not start: {next(filter(None, logs), 'not ready in time')}")
    return Taking(address, f"http://{HOST}:{at['rest']}", f"http://{HOST}:{at['page']}", folder, key)
