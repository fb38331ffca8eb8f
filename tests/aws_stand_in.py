"""An AWS account on this machine, for `make prove PART='home-*'` and what tries the environment aws-glue: Glue, S3 and STS.

It is ministack in an environment of its own (`make .workbench/ministack/.packages`), since it pins botocore exactly.
The environment file is used as it is: addresses and keys come by the standard variables of the AWS tools.
"""

import os
import shutil
import subprocess
import tempfile
import time
import urllib.request
from contextlib import contextmanager
from pathlib import Path

from workbench._base import children
from workbench_standins import ports

ROOT = Path(__file__).resolve().parents[1]
PYTHON = ROOT / ".workbench" / "ministack" / "venv" / "bin" / "python"
BUCKET, REGION = "wb-account", "us-east-1"
STARTS, TAKEN = 5, "is already in use"
PATIENCE_SECONDS = 120


def require():
    """Refuse where it is not installed.

    Raises:
        ModuleNotFoundError: its environment is not there.
    """
    if not PYTHON.is_file():
        raise ModuleNotFoundError("ministack is not installed: make .workbench/ministack/.packages")


@contextmanager
def account():
    """Serve an empty account with one bucket as long as the context is open.

    Yields:
        dict: the variables with which AWS's tools, Spark and PyIceberg reach it, and those of aws-glue.yml.
    """
    require()
    folder = Path(tempfile.mkdtemp(prefix="workbench-aws-"))
    try:
        for _ in range(STARTS):
            endpoint = f"http://{ports.HOST}:{ports.choose(('aws',), {'aws': 0})['aws']}"
            process = _started(endpoint, folder)
            if _ready(process, endpoint):
                break
            children.end(process, haste=True, patience_seconds=10)
            if TAKEN not in (said := (folder / "log").read_text()):
                raise ChildProcessError(f"ministack did not start: {said[-800:]}")
        else:
            raise ChildProcessError(f"ministack did not start: {said[-800:]}")
        try:
            variables = _variables(endpoint, folder)
            _client(endpoint).create_bucket(Bucket=BUCKET)
            yield variables
        finally:
            children.end(process, haste=True, patience_seconds=10)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _started(endpoint, folder):
    port = endpoint.rpartition(":")[2]
    own = {"GATEWAY_PORT": port, "BIND_HOST": ports.HOST, "LOG_LEVEL": "ERROR", "TMPDIR": str(folder)}
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("AWS_", "PYTHON"))}
    with (folder / "log").open("wb") as log:
        return subprocess.Popen(
            [str(PYTHON), "-m", "ministack"],
            env=clean | own, cwd=folder, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
            preexec_fn=children.end_with_parent,
        )  # fmt: skip


def _ready(process, endpoint):
    """Wait until it answers; False when it ended, as where somebody took its port meanwhile, or took too long."""
    until = time.monotonic() + PATIENCE_SECONDS
    while time.monotonic() < until and process.poll() is None:
        try:
            urllib.request.urlopen(f"{endpoint}/_ministack/health", timeout=5).read()
            return process.poll() is None
        except OSError:
            time.sleep(0.1)
    return False


def _variables(endpoint, folder):
    return {
        "AWS_ENDPOINT_URL": endpoint,
        "PYICEBERG_CATALOG__LAKE__S3__ENDPOINT": endpoint,  # Arrow, by which PyIceberg reads, has no variable
        "AWS_ACCESS_KEY_ID": "test",
        "AWS_SECRET_ACCESS_KEY": "test",
        "AWS_REGION": REGION,
        "AWS_DEFAULT_REGION": REGION,
        "AWS_EC2_METADATA_DISABLED": "true",
        "AWS_CONFIG_FILE": str(folder / "no-config"),
        "AWS_SHARED_CREDENTIALS_FILE": str(folder / "no-credentials"),
        "WORKBENCH_WAREHOUSE": f"s3://{BUCKET}/warehouse",
        "WORKBENCH_REGION": REGION,
    }


def _client(endpoint):
    import boto3

    given = {"aws_access_key_id": "test", "aws_secret_access_key": "test"}
    return boto3.client("s3", endpoint_url=endpoint, region_name=REGION, **given)
