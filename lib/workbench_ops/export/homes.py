"""Rules on the environment: a Glue session is Glue's own, so an environment of this machine has no part in it."""

import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from workbench._base import java, secrets, settings
from workbench_ops.export import cells as code
from workbench_ops.export.findings import Finding
from workbench_ops.export.versions import CANNOT_RUN, DIFFERS, Glue

ASKED = ("start", "catalog", "broker", "s3_client", "stand_in")
Problem = tuple[str, str, str]
LOOPBACK = ("127.0.0.1", "localhost", "::1", "0.0.0.0")


def environments(
    cells: list[code.Cell],
    names: Mapping[str, str],
    values: Mapping[str, Any],
    *,
    glue: Glue,
    shipped: Path,
    environment: settings.Environment | None = None,
) -> Iterator[Finding]:
    """Yield a finding for each call of workbench.session that an environment does not allow in Glue.

    Args:
        cells: what `cells.read` returned.
        names: name to dotted name, as `cells.imported` returned them.
        values: the run's parameters.
        glue: a Glue version.
        shipped: folder of the environments that the wheel takes along.
        environment: the run's own, where it was read already.
    """
    read = {values["ENVIRONMENT"]: environment} if environment else {}
    for cell, call, name in code.calls(cells, names):
        asked = name.removeprefix("workbench.session.")
        if asked == name or asked not in ASKED:
            continue
        given = [*call.args, *(word.value for word in call.keywords if word.arg == "environment")]
        named = code.value(given[0], values) if given else "local"
        for grade, why, instead in _problems(asked, named, glue, shipped, read):
            yield Finding(cell.number, call.lineno, "environment", grade, f"session.{asked}", why, instead)


def writable(name: str, reference: str) -> bool:
    """Say whether the value of a reference may be written down: that of a variable which is not a secret.

    It is a secret by the name of either, by its value here (an address with a password in it), or as a header.
    """
    variable = reference.partition(":")[2]
    secret = secrets.kind(name, "x") or secrets.kind(variable, "x") or name.startswith("header.")
    return reference.startswith("env:") and not secret and not secrets.kind(name, os.environ.get(variable))


def local_only(env: settings.Environment) -> bool:
    """Say whether an environment's tables are on this machine: an embedded catalog, or a stand-in."""
    return env.catalog.type == "embedded" or env.stand_in is not None


def _problems(
    asked: str, name: Any, glue: Glue, shipped: Path, read: dict[str, settings.Environment]
) -> Iterator[Problem]:
    lines = list(java.pairs())
    if asked == "start" and not glue.spark.startswith(tuple(f"{line}." for line in lines)):
        known = " and ".join(lines)
        yield CANNOT_RUN, f"it refuses Spark {glue.spark}, the library is for {known}", "take Glue 6.0"
    if not isinstance(name, str):
        return
    try:
        env = read[name] = read.get(name) or settings.environment(name)
    except ValueError as error:
        yield CANNOT_RUN, str(error).partition(" (looked in")[0], "name one that exists by --environment"
        return
    if asked == "broker":
        yield from _broker(env)
    elif local_only(env):
        yield from _local(asked, env)
    else:
        yield from _remote(asked, env, name, shipped)


def _broker(env: settings.Environment) -> Iterator[Problem]:
    if env.kafka is None:
        yield CANNOT_RUN, f"the environment {env.name} names no Kafka", "name an environment with your brokers"
    elif env.kafka == "stand_in":
        why = f"the broker of {env.name} would be a process on the driver's loopback"
        yield CANNOT_RUN, why, "name an environment with your brokers"


def _local(asked: str, env: settings.Environment) -> Iterator[Problem]:
    aws = "name an environment of your account, such as aws-glue, by --environment"
    if asked == "start":
        why = f"the session is Glue's, so tables go to the catalog of the magics and stay there, not to {env.name}"
        yield DIFFERS, why, aws
    elif asked == "catalog":
        why = f"it opens the catalog of {env.name} on the driver's disk, and the session's tables are not in it"
        yield CANNOT_RUN, why, aws
    elif env.stand_in:
        yield CANNOT_RUN, f"{env.name} needs a server on this machine (stand-in {env.stand_in})", aws


def _remote(asked: str, env: settings.Environment, name: str, shipped: Path) -> Iterator[Problem]:
    catalog = env.catalog
    if asked != "start" or catalog.type == "embedded":
        return  # it is said once
    in_wheel, own = shipped / f"{name}.yml", settings.environments().get(name)
    if own is None or not in_wheel.is_file():
        why = f"the environment {name} is not in the wheel"
        yield CANNOT_RUN, why, f"put its file into {shipped.parent.name}/{shipped.name} and export again"
    elif own.read_bytes() != in_wheel.read_bytes():
        why = f"the environment {name} of the wheel is another one"
        yield CANNOT_RUN, why, f"put its file into {shipped.parent.name}/{shipped.name} and export again"
    host = urlsplit(catalog.uri or "").hostname or ""
    if host in LOOPBACK or re.match(r"127\.", host):
        yield (
            CANNOT_RUN,
            f"the catalog of {env.name} is at {host}, this machine",
            "name an address that AWS reaches",
        )
    for key, reference in settings.catalog_references(env).items():
        if not writable(key, reference):
            why = f"the session cannot resolve {reference} ({key} of {env.name}), as it runs already"
            yield CANNOT_RUN, why, "let the role of the session have the rights instead"
