"""Where jobs run: the files of `params/targets`, typed, and the choice of one for a queue and a token."""

import hashlib
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, TypeAdapter, ValidationError, field_validator

from workbench._base import secrets, settings, yaml_files
from workbench._base.errors import ArgumentError
from workbench._base.strict import Strict, nearest
from workbench_ops.submit import aws
from workbench_ops.submit.errors import TargetUnavailable
from workbench_ops.submit.process import Processes
from workbench_ops.submit.services import Service
from workbench_ops.submit.standalone import Drivers

AMOUNT = r"^\d+(\.\d+)?$"
TEXTS = ("conf",)  # whose values are texts to Spark


class Base(Strict):
    """What each target has."""

    name: str
    description: str = ""
    queues: tuple[str, ...] = Field(default=("default",), min_length=1)
    weight: float = Field(default=1.0, gt=0, allow_inf_nan=False)

    def service(self) -> Service:
        """Return the service that the target stands for."""
        raise NotImplementedError


class Process(Base):
    """Processes of this machine."""

    type: Literal["process"]
    folder: str = Field(default=".workbench/submissions", min_length=1)

    def service(self) -> Service:
        """Return the service that the target stands for."""
        return Processes(settings.home() / self.folder)


class Standalone(Base):
    """A standalone Spark cluster whose master has the REST interface."""

    type: Literal["standalone"]
    rest: str
    master: str
    page: str | None = None
    secret: str | None = None
    version: str = Field(default="4.1.4", pattern=r"^\d+\.\d+\.\d+")
    memory: str = Field(default="1g", pattern=r"^\d+[mg]$")
    python: str | None = None
    conf: dict[str, str] = Field(default_factory=dict)

    @field_validator("secret")
    @classmethod
    def _is_a_reference(cls, value: str | None) -> str | None:
        if value is not None and not secrets.REFERENCE.fullmatch(value):
            raise ArgumentError("a secret is a reference: env:NAME or ssm:/path")
        return value

    def service(self) -> Service:
        """Return the service that the target stands for."""
        secret = None if self.secret is None else str(secrets.resolve(self.secret))
        rest, master = secrets.resolve(self.rest), secrets.resolve(self.master)
        page = secrets.resolve(self.page) if self.page else None
        size = {"version": self.version, "memory": self.memory}
        return Drivers(rest, master, page, secret, **size, python=self.python, conf=self.conf)


class Aws(Base):
    """What targets in an AWS account have; keys come from where AWS's tools find them."""

    region: str = Field(min_length=1)
    endpoint: str | None = None
    logs: str | None = Field(default=None, pattern=r"^s3://[^/]+(/.*)?$")

    def client(self, service: str) -> Any:
        """Return a boto3 client of a service."""
        import boto3

        return boto3.client(service, region_name=self.region, endpoint_url=self.endpoint)

    def kept(self) -> tuple[Any, str, str] | None:
        """Return where logs are: client, bucket and prefix."""
        if self.logs is None:
            return None
        bucket, _, prefix = self.logs.removeprefix("s3://").partition("/")
        return self.client("s3"), bucket, prefix.strip("/") or "logs"


class EmrServerless(Aws):
    """An application of EMR Serverless."""

    type: Literal["emr-serverless"]
    application: str = Field(min_length=1)
    role: str = Field(pattern=r"^arn:")
    streaming: bool = False
    usd_per_vcpu_hour: str | None = Field(default=None, pattern=AMOUNT)
    usd_per_gb_hour: str | None = Field(default=None, pattern=AMOUNT)

    def service(self) -> Service:
        """Return the service that the target stands for."""
        cpu, memory = self.usd_per_vcpu_hour, self.usd_per_gb_hour
        return aws.EmrServerless(
            self.client("emr-serverless"),
            self.application,
            self.role,
            streaming=self.streaming,
            logs=self.kept(),
            prices=(cpu, memory) if cpu and memory else None,
        )


class EmrContainers(Aws):
    """A virtual cluster of EMR on EKS."""

    type: Literal["emr-containers"]
    cluster: str = Field(min_length=1)
    role: str = Field(pattern=r"^arn:")
    release: str = Field(pattern=r"^emr-")

    def service(self) -> Service:
        """Return the service that the target stands for."""
        client = self.client("emr-containers")
        return aws.EmrContainers(client, self.cluster, self.role, release=self.release, logs=self.kept())


class Glue(Aws):
    """A job that is defined in AWS Glue."""

    type: Literal["glue"]
    job: str = Field(min_length=1)

    def service(self) -> Service:
        """Return the service that the target stands for."""
        return aws.Glue(self.client("glue"), self.job, self.client("logs"))


Target = Annotated[Process | Standalone | EmrServerless | EmrContainers | Glue, Field(discriminator="type")]
_ADAPTER: TypeAdapter[Target] = TypeAdapter(Target)


def read(path: str | Path) -> Target:
    """Read a target's file.

    Raises:
        ArgumentError: it cannot be read, or a setting is wrong; the message says which.
    """
    values = yaml_files.read(path, texts=TEXTS)
    if not isinstance(values, dict):
        raise ArgumentError(f"{path}: expected keys and values, found {type(values).__name__}")
    try:
        return _ADAPTER.validate_python({"name": Path(path).stem} | values)
    except ValidationError as error:
        raise ArgumentError(f"{path}: " + "; ".join(map(_problem, error.errors()))) from None


def folder() -> Path:
    """Return the folder of this project's targets."""
    return settings.home() / "params" / "targets"


def all_in(place: str | Path | None = None) -> dict[str, Target]:
    """Read all targets of a folder: name to target, sorted by name.

    Args:
        place: the folder; left out, `params/targets` of the project.

    Raises:
        ArgumentError: there is none, or one is wrong.
    """
    place = Path(place) if place else folder()
    targets = {path.stem: read(path) for path in sorted(place.glob("*.yml"))}
    if not targets:
        raise ArgumentError(f"{place} has no targets; a target is a file NAME.yml with type, queues and weight")
    return targets


def route(targets: Mapping[str, Target], token: str, queue: str | None = None) -> Target:
    """Choose the target of a token: of those that serve the queue and answer, by a weighted hash of the token.

    The same token gets the same target as long as that one answers, and of many tokens each target gets its share
    by weight; where a target goes, only its tokens go elsewhere (rendezvous hashing).

    Args:
        targets: name to target.
        token: the caller's token.
        queue: the queue; left out, all targets serve.

    Raises:
        ArgumentError: no target serves the queue; the message lists the queues.
        TargetUnavailable: none of those that serve it answers.
    """
    serving = [target for target in targets.values() if queue is None or queue in target.queues]
    if not serving:
        queues = sorted({name for target in targets.values() for name in target.queues})
        close = nearest(queue, queues)
        hint = f" (did you mean {close}?)" if close else ""
        raise ArgumentError(f"no target serves the queue {queue!r}{hint}; there are {', '.join(queues) or 'none'}")
    reasons = []
    for target in sorted(serving, key=lambda target: _rank(target, token)):
        try:
            target.service().healthy()
        except TargetUnavailable as error:
            reasons.append(f"{target.name}: {error}")
        else:
            return target
    of_queue = f" of the queue {queue}" if queue else ""
    raise TargetUnavailable(f"no target{of_queue} answers; {'; '.join(reasons)}")


def _rank(target: Target, token: str) -> float:
    """Return the place of a target for a token, the smallest first."""
    digest = hashlib.sha256(f"{target.name}\0{token}".encode()).digest()
    uniform = (int.from_bytes(digest[:7], "big") + 0.5) / 2**56
    return -math.log(uniform) / target.weight


def _problem(error: Any) -> str:
    """Return what is wrong with a setting: its name, what was expected, what is there."""
    if error["type"] in ("union_tag_invalid", "union_tag_not_found"):
        types = error["ctx"].get("expected_tags", "process, standalone, emr-serverless, emr-containers or glue")
        seen = f"{error['ctx']['tag']!r}" if "tag" in error["ctx"] else "none"
        return f"type: expected {types}, found {seen}"
    where = ".".join(str(part) for part in error["loc"][1:])  # the first is the target's type
    value = error.get("input")
    seen = f", found {value!r}" if isinstance(value, str | int | float) else ""
    return f"{where}: {error['msg'].removeprefix('Value error, ')}{seen}"
