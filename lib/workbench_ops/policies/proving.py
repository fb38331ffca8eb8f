"""Rights of a policy, proved: a run under it on the account stand-in, and each right left out once.

A right is one action on one resource, and of a listing one prefix. The requests of the run are kept by the account
that judged them; leaving a right out is asked by judging these again, so a run is made once and not once a right.
"""

import copy
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from workbench._base.door import checked
from workbench._base.errors import ArgumentError
from workbench_standins.account import ACCOUNT_ID, enforced
from workbench_standins.account.enforced import Closed, Judgement

FOR_FAILURES = ("s3:AbortMultipartUpload",)  # given with an upload, and asked for where one fails
SESSION_CHARACTERS = 2048  # EMR Serverless executionIamPolicy.policy, Glue ExecutionRoleSessionPolicy


@dataclass(frozen=True)
class Right:
    """One action on one resource.

    Attributes:
        action: such as s3:GetObject.
        resource: ARN with wildcards, or *.
        prefix: of a listing that is allowed by prefixes, the one of this right; else None.
    """

    action: str
    resource: str
    prefix: str | None = None

    def __str__(self) -> str:
        below = f" below {self.prefix!r}" if self.prefix is not None else ""
        return f"{self.action} on {self.resource}{below}"


@dataclass(frozen=True)
class Proof:
    """What a run under a policy showed.

    Attributes:
        requests: how many different requests were judged.
        needed: for each right that some request needs, how many different ones.
        unneeded: rights that no request needs.
        for_failures: rights that no request needs unless an upload fails, and is aborted.
        refused: requests that were refused though the run may have passed: action, resource and how often.
    """

    requests: int
    needed: dict[Right, int]
    unneeded: tuple[Right, ...]
    for_failures: tuple[Right, ...]
    refused: dict[tuple[str, str], int]

    @property
    def holds(self) -> bool:
        """Tell whether the rights were enough and each was needed."""
        return bool(self.requests) and not self.unneeded and not self.refused

    def sentences(self) -> list[str]:
        """Return what was seen, a sentence each; the last one counts."""
        number = len(self.needed) + len(self.unneeded) + len(self.for_failures)
        lines = [f"refused: {action} on {arn}, {times} times" for (action, arn), times in self.refused.items()]
        lines += [f"not needed: {right}" for right in self.unneeded]
        lines += [f"needed only where an upload fails: {right}" for right in self.for_failures]
        lines.append(
            f"{number} rights, {len(self.needed)} of them needed by {self.requests} different requests; "
            f"{sum(self.refused.values())} requests refused"
        )
        return lines


@checked
def rights(document: Mapping[str, Any]) -> list[Right]:
    """Return the rights of a policy as `workbench policies` writes it, in its order.

    Raises:
        ArgumentError: a statement is not an Allow, or has another condition than prefixes of a listing.
    """
    return [right for statement in document["Statement"] for right in _of(statement)]


@checked
def without(document: Mapping[str, Any], right: Right) -> dict[str, Any]:
    """Return a policy without one of its rights; the others stay."""
    statements: list[dict[str, Any]] = []
    for statement in document["Statement"]:
        if right not in _of(statement):
            statements.append(copy.deepcopy(dict(statement)))
            continue
        for kept in _of(statement):
            if kept != right:
                statements.append(_alone(kept))
    return {**document, "Statement": statements}


@checked
def prove(
    document: Mapping[str, Any], judgements: Sequence[Judgement], *, interpreter: Path | None = None
) -> Proof:
    """Leave each right of a policy out once, and look which requests of a run would have been refused.

    Args:
        document: the policy, with the account's number of the judgements.
        judgements: of the account on which a run was made under it.
        interpreter: of ministack's environment; left out, that of the project.

    Raises:
        ModuleNotFoundError: ministack is not installed.
    """
    refused: dict[tuple[str, str], int] = {}
    for judgement in judgements:
        if not judgement.allowed:
            place = judgement.action, judgement.resource
            refused[place] = refused.get(place, 0) + 1
    requests = list({each.request: each for each in judgements if each.allowed}.values())
    asked = rights(document)
    verdicts = enforced.judge([without(document, right) for right in asked], requests, interpreter)
    losses = {right: len(lost) for right, lost in zip(asked, verdicts, strict=True)}
    needed = {right: lost for right, lost in losses.items() if lost}
    idle = [right for right in losses if right not in needed]
    unneeded = tuple(right for right in idle if right.action not in FOR_FAILURES)
    for_failures = tuple(right for right in idle if right.action in FOR_FAILURES)
    return Proof(len(requests), needed, unneeded, for_failures, refused)


@checked
@contextmanager
def under(
    document: Mapping[str, Any], *, account: str, region: str, warehouse: str, interpreter: Path | None = None
) -> Iterator[Closed]:
    """Let processes that are started inside the block reach an empty account that enforces a policy, and no other.

    Args:
        document: the policy.
        account: number of the account that it has, or the word that stands for an unknown one.
        region: that it has.
        warehouse: `s3://bucket/prefix`; the bucket is there.
        interpreter: of ministack's environment; left out, that of the project.

    Yields:
        Closed, which keeps its judgements.

    Raises:
        ModuleNotFoundError: ministack is not installed.
        ChildProcessError: it did not start.
    """
    with enforced.serve(interpreter) as closed:
        closed.root("s3").create_bucket(Bucket=urlsplit(warehouse).netloc)
        regions = {"AWS_REGION": region, "AWS_DEFAULT_REGION": region}
        variables = closed.allow(on_stand_in(document, account)) | regions
        with _alone_in(variables):
            yield closed


@checked
def on_stand_in(document: Mapping[str, Any], account: str) -> dict[str, Any]:
    """Return a policy with the stand-in's number where it has that of an account.

    Args:
        document: of the policy.
        account: number that it has, or the word that stands for an unknown one.
    """
    text = json.dumps(document).replace(f":{account}:", f":{ACCOUNT_ID}:")
    replaced: dict[str, Any] = json.loads(text)
    return replaced


@checked
def session_policy(document: Mapping[str, Any]) -> str:
    """Return a policy as the text of a session: one line without ids, for a run that gets less than its role.

    It is what StartJobRun takes: `executionIamPolicy` of EMR Serverless, `ExecutionRoleSessionPolicy` of Glue.

    Raises:
        ArgumentError: it is longer than both take.
    """
    statements = [{name: value for name, value in each.items() if name != "Sid"} for each in document["Statement"]]
    text = json.dumps({**document, "Statement": statements}, separators=(",", ":"))
    if len(text) > SESSION_CHARACTERS:
        raise ArgumentError(
            f"the policy has {len(text)} characters, and a session's may have {SESSION_CHARACTERS}; "
            "give the role these rights, or a managed policy to the session"
        )
    return text


def _of(statement: Mapping[str, Any]) -> Iterator[Right]:
    prefixes = _prefixes(statement)
    for action in _list(statement["Action"]):
        for resource in _list(statement["Resource"]):
            yield from (Right(action, resource, prefix) for prefix in prefixes)


def _prefixes(statement: Mapping[str, Any]) -> list[str] | list[None]:
    """Return the prefixes of a listing, or [None] of a statement without a condition."""
    condition = statement.get("Condition")
    if statement.get("Effect") != "Allow" or "Action" not in statement or "Resource" not in statement:
        raise ArgumentError(f"{statement.get('Sid', 'a statement')} is not an Allow of actions on resources")
    if condition is None:
        return [None]
    if list(condition) != ["StringLike"] or list(condition["StringLike"]) != ["s3:prefix"]:
        raise ArgumentError(f"{statement.get('Sid', 'a statement')} has another condition than prefixes of s3")
    return _list(condition["StringLike"]["s3:prefix"])


def _list(value: str | list[str]) -> list[str]:
    return [value] if isinstance(value, str) else value


def _alone(right: Right) -> dict[str, Any]:
    statement: dict[str, Any] = {"Effect": "Allow", "Action": [right.action], "Resource": [right.resource]}
    if right.prefix is not None:
        statement["Condition"] = {"StringLike": {"s3:prefix": [right.prefix]}}
    return statement


@contextmanager
def _alone_in(variables: Mapping[str, str]) -> Iterator[None]:
    """Set variables, take those of any other account away, and restore them all."""
    before = {name: value for name, value in os.environ.items() if name.startswith("AWS_") or name in variables}
    for name in before:
        del os.environ[name]
    os.environ.update(variables)
    try:
        yield
    finally:
        for name in variables:
            os.environ.pop(name, None)
        os.environ.update(before)
