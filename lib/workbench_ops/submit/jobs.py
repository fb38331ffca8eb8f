"""What is submitted: a script, its arguments and settings, and a digest that tells one content from another."""

import ast
import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from types import MappingProxyType

from workbench._base import secrets
from workbench._base.door import checked
from workbench._base.errors import ArgumentError

NOTHING: Mapping[str, str] = MappingProxyType({})


@dataclass(frozen=True)
class Job:
    """A job: made by `job`.

    Attributes:
        script: path of a Python file, or its address in a bucket (s3://…), as the target's machines see it.
        arguments: of its command line.
        conf: settings of Spark, for targets that run Spark.
        variables: of its environment; no secrets, they can be read where the service shows a run.
        content: SHA-256 of the script where it is a file here, else None.
    """

    script: str
    arguments: tuple[str, ...] = ()
    conf: Mapping[str, str] = field(default_factory=dict)
    variables: Mapping[str, str] = field(default_factory=dict)
    content: str | None = None

    @property
    def digest(self) -> str:
        """SHA-256 of all that it is."""
        return hashlib.sha256(json.dumps(asdict(self), sort_keys=True).encode()).hexdigest()

    @property
    def asks_fence(self) -> bool | None:
        """Whether the script calls `fence()`; None where it cannot be read from here."""
        if self.content is None:
            return None
        calls = (node.func for node in ast.walk(ast.parse(Path(self.script).read_bytes()))
                 if isinstance(node, ast.Call))  # fmt: skip
        return any(getattr(call, "id", getattr(call, "attr", None)) == "fence" for call in calls)


@checked
def job(
    script: str | Path,
    *arguments: str,
    conf: Mapping[str, str] = NOTHING,
    variables: Mapping[str, str] = NOTHING,
) -> Job:
    """Describe a job; nothing is submitted.

    Args:
        script: path of a Python file, or its address in a bucket, s3://bucket/key.
        arguments: of its command line.
        conf: settings of Spark.
        variables: of the job's environment.

    Raises:
        ArgumentError: the script is not there or is no Python, or a setting holds a secret.
    """
    for where, values in (("conf", conf), ("variables", variables)):
        for name, value in values.items():
            if secret := secrets.kind(name, value):
                raise ArgumentError(f"{where}.{name} holds {secret}; a service shows it to all who may see runs")
    text = str(script)
    if "://" in text:
        return Job(text, arguments, dict(conf), dict(variables))
    path = Path(script).absolute()
    try:
        content = path.read_bytes()
        ast.parse(content)
    except OSError as error:
        raise ArgumentError(f"the script {text} cannot be read: {error.strerror}") from None
    except (SyntaxError, ValueError) as error:
        raise ArgumentError(f"the script {text} is not Python: {error}") from None
    return Job(str(path), arguments, dict(conf), dict(variables), hashlib.sha256(content).hexdigest())
