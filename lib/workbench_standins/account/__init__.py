"""An AWS account on this machine: ministack, with Glue, S3, STS, SQS, Lambda and its event source mappings.

It listens on 127.0.0.1 only, keeps everything in memory and takes any keys. It runs in an environment of its own,
from its own lock file, because it pins botocore exactly: `make .workbench/ministack/.packages`. Functions of
Lambda are processes of that environment's Python.

    with account.serve() as stand_in:
        stand_in.client("s3").create_bucket(Bucket="lake")
        os.environ |= stand_in.variables()

Where it differs from AWS: its Glue REST endpoint answers with the newest metadata file in a table's folder, and
not with the pointer, so that after a failed commit it shows what never was; Glue's own interface has the pointer.
Memory limits, cold starts and throttling are not there.
"""

import os
import shutil
import signal
import tempfile
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from workbench._base import settings
from workbench._base.children import Process
from workbench._base.door import checked
from workbench._base.errors import MissingPackageError, ProcessError
from workbench_standins import ports, processes

REGION = "us-east-1"
KEYS = {"aws_access_key_id": "test", "aws_secret_access_key": "test"}  # whose access key is no account's number
ACCOUNT_ID = "000000000000"
STARTS, TAKEN = 5, "is already in use"
PATIENCE_SECONDS = 120


@dataclass(frozen=True)
class Account:
    """A running account.

    Attributes:
        endpoint: address of all its services.
        folder: where it keeps what it needs, a Path; gone with it.
    """

    endpoint: str
    folder: Path

    def client(self, service: str) -> Any:
        """Return a boto3 client of a service."""
        import boto3

        return boto3.client(service, endpoint_url=self.endpoint, region_name=REGION, **KEYS)

    def variables(self) -> dict[str, str]:
        """Return the variables with which AWS's tools, Spark and PyIceberg reach it, and nobody else."""
        return {
            "AWS_ENDPOINT_URL": self.endpoint,
            # Arrow, by which PyIceberg reads, has no variable of its own
            "PYICEBERG_CATALOG__LAKE__S3__ENDPOINT": self.endpoint,
            "AWS_ACCESS_KEY_ID": KEYS["aws_access_key_id"],
            "AWS_SECRET_ACCESS_KEY": KEYS["aws_secret_access_key"],
            "AWS_REGION": REGION,
            "AWS_DEFAULT_REGION": REGION,
            "AWS_EC2_METADATA_DISABLED": "true",
            "AWS_CONFIG_FILE": str(self.folder / "no-config"),
            "AWS_SHARED_CREDENTIALS_FILE": str(self.folder / "no-credentials"),
        }

    def properties(self, warehouse: str) -> dict[str, str]:
        """Return the properties of its Glue catalog, as PyIceberg has them.

        Args:
            warehouse: place for the tables, s3://bucket/folder; the bucket must be there.
        """
        return {
            "type": "glue",
            "warehouse": warehouse,
            "glue.endpoint": self.endpoint,
            "s3.endpoint": self.endpoint,
            "client.region": REGION,
            "client.access-key-id": KEYS["aws_access_key_id"],
            "client.secret-access-key": KEYS["aws_secret_access_key"],
        }


def python() -> Path:
    """Return the interpreter of the stand-in's own environment, whether it is there or not."""
    return settings.home() / ".workbench" / "ministack" / "venv" / "bin" / "python"


@checked
def require(interpreter: Path | None = None) -> None:
    """Require that ministack is installed.

    Args:
        interpreter: of its environment; left out, that of the project.

    Raises:
        ModuleNotFoundError: its environment is not there.
    """
    if not (interpreter or python()).is_file():
        raise MissingPackageError("ministack is not installed: make .workbench/ministack/.packages")


@checked
@contextmanager
def serve(interpreter: Path | None = None) -> Iterator[Account]:
    """Serve an empty account as long as the context is open; it ends with this process too, however that ends.

    Functions of Lambda end with the context. Where this process is killed they do not: those that run then stay.

    Args:
        interpreter: of its environment; left out, that of the project.

    Raises:
        ModuleNotFoundError: its environment is not there.
        ChildProcessError: it did not start; the message has its last words.
    """
    require(interpreter)
    folder = Path(tempfile.mkdtemp(prefix="workbench-account-"))
    try:
        process, account = _started(interpreter or python(), folder)
        try:
            yield account
        finally:
            _end(process)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _started(interpreter: Path, folder: Path) -> tuple[Process, Account]:
    log = folder / "log"
    for _ in range(STARTS):
        account = Account(f"http://{ports.HOST}:{ports.choose(('aws',), {'aws': 0})['aws']}", folder)
        process = _process(interpreter, account)
        if processes.answer([process], partial(_answers, account.endpoint), patience_seconds=PATIENCE_SECONDS):
            return process, account
        _end(process)
        if TAKEN not in log.read_text():
            break
    raise ProcessError(f"ministack did not start: {log.read_text()[-800:]}")


def _process(interpreter: Path, account: Account) -> Process:
    own = {
        "GATEWAY_PORT": account.endpoint.rpartition(":")[2],
        "BIND_HOST": ports.HOST,
        "MINISTACK_HOST": ports.HOST,
        "LOG_LEVEL": "ERROR",
        "TMPDIR": str(account.folder),
    }
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("AWS_", "PYTHON"))}
    words = [str(interpreter), "-m", "ministack"]
    return processes.launch(words, account.folder, "log", env=clean | own, start_new_session=True)


def _end(process: Process) -> None:
    """End the account with the functions that it started, which are in its process group."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def _answers(endpoint: str) -> bool:
    with suppress(OSError), urllib.request.urlopen(f"{endpoint}/_ministack/health", timeout=5) as health:
        health.read()
        return True
    return False
