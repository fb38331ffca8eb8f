"""An AWS account on this machine that judges each request by IAM policies, and keeps its judgements.

    with enforced.serve() as closed:
        closed.root("s3").create_bucket(Bucket="lake")
        os.environ |= closed.allow(policy)               # from here on: what the policy allows, and nothing else
        ...
        closed.judgements()

It is ministack with its checks on: signatures, actions, resources, conditions. Glue's calls are judged on the
catalog, the database and the table. Glue's lists of databases are judged
on the catalog alone; the resource of elasticmapreduce:RunJobFlow is not judged, nor is iam:PassRole.

It listens on 127.0.0.1, which another user of the machine may reach; without a key of its own nothing is answered,
but the account's root has the published key `test`: there is to be nothing in it that others may not read.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from workbench._base.children import Process
from workbench._base.door import checked
from workbench._base.errors import ProcessError
from workbench_standins import account, ports, processes
from workbench_standins.account import Account

SCRIPT = Path(__file__).with_name("enforcing.py")
USER, POLICY = "job", "proved"
JUDGE_SECONDS = 120


@dataclass(frozen=True)
class Judgement:
    """One judgement of the account; equal ones are of the same request made again.

    Attributes:
        action: such as s3:GetObject.
        resource: ARN, or * of an action that knows none.
        request: what the judge needs to judge it again, as JSON.
        allowed: whether it was allowed.
    """

    action: str
    resource: str
    request: str
    allowed: bool


@dataclass(frozen=True)
class Closed:
    """A running account whose policies are enforced.

    Attributes:
        account: the account, whose own keys are root's.
        log: file of its judgements, a Path.
    """

    account: Account
    log: Path

    def root(self, service: str) -> Any:
        """Return a boto3 client that may do everything."""
        return self.account.client(service)

    def user(self, service: str, variables: Mapping[str, str]) -> Any:
        """Return a boto3 client of the account's user.

        Args:
            service: such as s3.
            variables: of `allow`.
        """
        import boto3

        keys = {
            "aws_access_key_id": variables["AWS_ACCESS_KEY_ID"],
            "aws_secret_access_key": variables["AWS_SECRET_ACCESS_KEY"],
        }
        return boto3.client(service, endpoint_url=self.account.endpoint, region_name=account.REGION, **keys)

    @checked
    def allow(self, document: Mapping[str, Any]) -> dict[str, str]:
        """Give the account's one user a policy, instead of the one it has; return variables with new keys of it.

        Its earlier keys end.

        Args:
            document: of the policy.

        Returns:
            dict, variables with which AWS's tools, Spark and PyIceberg reach the account as that user.
        """
        iam = self.root("iam")
        if USER not in [user["UserName"] for user in iam.list_users()["Users"]]:
            iam.create_user(UserName=USER)
        iam.put_user_policy(UserName=USER, PolicyName=POLICY, PolicyDocument=json.dumps(document))
        for key in iam.list_access_keys(UserName=USER)["AccessKeyMetadata"]:
            iam.delete_access_key(UserName=USER, AccessKeyId=key["AccessKeyId"])
        key = iam.create_access_key(UserName=USER)["AccessKey"]
        keys = {"AWS_ACCESS_KEY_ID": key["AccessKeyId"], "AWS_SECRET_ACCESS_KEY": key["SecretAccessKey"]}
        return self.account.variables() | keys

    def judgements(self) -> list[Judgement]:
        """Return what it has judged of users so far, in its order; root is not judged."""
        lines = self.log.read_text(encoding="utf-8").splitlines() if self.log.is_file() else []
        kept = [json.loads(line) for line in lines]
        return [Judgement(entry["action"], entry["resource"], _request(entry), entry["allowed"]) for entry in kept]


def python() -> Path:
    """Return the interpreter of ministack's environment: of the project, or of the one of this Python."""
    beside = Path(sys.prefix).parent / ".workbench" / "ministack" / "venv" / "bin" / "python"
    return beside if beside.is_file() and not account.python().is_file() else account.python()


def require(interpreter: Path | None = None) -> None:
    """Require that ministack is installed.

    Raises:
        ModuleNotFoundError: its environment is not there.
    """
    account.require(interpreter or python())


@checked
@contextmanager
def serve(interpreter: Path | None = None) -> Iterator[Closed]:
    """Serve an empty account as long as the context is open; on Linux it ends with this process too.

    Args:
        interpreter: of ministack's environment; left out, that of the project.

    Raises:
        ModuleNotFoundError: its environment is not there.
        ChildProcessError: it did not start; the message has its last words.
    """
    require(interpreter)
    folder = Path(tempfile.mkdtemp(prefix="workbench-enforced-"))
    try:
        process, closed = _started(interpreter or python(), folder)
        try:
            yield closed
        finally:
            account._end(process)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@checked
def judge(
    policies: Sequence[Mapping[str, Any]], requests: Sequence[Judgement], interpreter: Path | None = None
) -> list[list[Judgement]]:
    """Judge kept requests again, under each of several policies; nothing is sent anywhere.

    Args:
        policies: documents.
        requests: of `Closed.judgements`.
        interpreter: of ministack's environment; left out, that of the project.

    Returns:
        list, for each policy those of the requests that it does not allow.

    Raises:
        ModuleNotFoundError: ministack's environment is not there.
        ChildProcessError: the judge did not answer; the message has its last words.
    """
    require(interpreter)
    given = {"policies": list(policies), "requests": [json.loads(each.request) for each in requests]}
    words = [str(interpreter or python()), "-P", str(SCRIPT), "judge"]
    done = subprocess.run(
        words, input=json.dumps(given), capture_output=True, text=True, timeout=JUDGE_SECONDS, check=False
    )
    if done.returncode:
        raise ProcessError(f"the judge of policies ended with {done.returncode}: {done.stderr[-800:]}")
    return [[requests[n] for n in positions] for positions in json.loads(done.stdout)]


def _request(kept: Mapping[str, Any]) -> str:
    return json.dumps({name: value for name, value in kept.items() if name != "allowed"}, sort_keys=True)


def _started(interpreter: Path, folder: Path) -> tuple[Process, Closed]:
    output = folder / "log"
    for _ in range(account.STARTS):
        endpoint = f"http://{ports.HOST}:{ports.choose(('aws',), {'aws': 0})['aws']}"
        closed = Closed(Account(endpoint, folder), folder / "judgements")
        process = _process(interpreter, closed)
        ready = partial(account._answers, endpoint)
        if processes.answer([process], ready, patience_seconds=account.PATIENCE_SECONDS):
            return process, closed
        account._end(process)
        if account.TAKEN not in output.read_text():
            break
    raise ProcessError(f"ministack did not start: {output.read_text()[-800:]}")


def _process(interpreter: Path, closed: Closed) -> Process:
    own = {
        "AUTH": "true",
        "GATEWAY_PORT": closed.account.endpoint.rpartition(":")[2],
        "BIND_HOST": ports.HOST,
        "MINISTACK_HOST": ports.HOST,
        "LOG_LEVEL": "ERROR",
        "TMPDIR": str(closed.account.folder),
    }
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("AWS_", "PYTHON"))}
    words = [str(interpreter), "-P", str(SCRIPT), "serve", str(closed.log)]
    return processes.launch(words, closed.account.folder, "log", env=clean | own, start_new_session=True)
