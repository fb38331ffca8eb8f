"""Where jobs run: the files of `params/targets`, typed, and the choice of one for a queue and a token."""

import hashlib
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

from pydantic import Field, TypeAdapter, ValidationError

from workbench._base import settings, yaml_files
from workbench._base.errors import ArgumentError
from workbench._base.strict import Strict, nearest
from workbench_ops.submit.errors import TargetUnavailable
from workbench_ops.submit.process import Processes
from workbench_ops.submit.services import Service


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


Target = Process
_ADAPTER: TypeAdapter[Target] = TypeAdapter(Target)


def read(path: str | Path) -> Target:
    """Read a target's file.

    Raises:
        ArgumentError: it cannot be read, or a setting is wrong; the message says which.
    """
    values = yaml_files.read(path)
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
    where = ".".join(str(part) for part in error["loc"]) or "file"
    value = error.get("input")
    seen = f", found {value!r}" if isinstance(value, str | int | float) else ""
    return f"{where}: {error['msg'].removeprefix('Value error, ')}{seen}"
