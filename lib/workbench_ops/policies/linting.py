"""What is wrong with an IAM policy that somebody wrote: each fault with its statement, by AWS's list of actions.

The list comes with parliament: actions, the resources that each knows, and whether it writes. The rules are those
of the IAM user guide ("Policy evaluation logic") and of the service authorization reference.
"""

import json
import re
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple

from workbench._base.door import checked
from workbench._base.errors import ArgumentError, MissingPackageError

WRITES = ("Write", "Permissions management", "Tagging")
SPENDS = re.compile(r"(Purchase|AcceptReserved|CreateSavingsPlan)")
VARIABLE = re.compile(r"\$\{|\{\{|<[A-Za-z]|\$[A-Za-z(]")
OWN_SOURCE = ("aws:sourcearn", "aws:sourceaccount", "aws:sourceorgid", "aws:sourceorgpaths")


@dataclass(frozen=True)
class Fault:
    """A fault of a policy.

    Attributes:
        statement: its Sid, else its number from 1, such as `statement 2`.
        kind: effect, variable, unknown, nowhere, wildcard, wide, spends, everybody, deputy or shape.
        sentence: what is wrong, and what was expected.
    """

    statement: str
    kind: str
    sentence: str


class _Known(NamedTuple):
    """An action: as AWS spells it, its access level, and the ARNs that it knows; none where it knows * alone."""

    name: str
    level: str
    arns: tuple[str, ...]


@checked
def lint(text: str) -> list[Fault]:
    """Find what is wrong with a policy, statement by statement; an empty list is no promise that it is enough.

    Args:
        text: the policy as JSON: of an identity, a resource, an endpoint, or a role's trust.

    Raises:
        ArgumentError: it is not JSON, or no policy; the message names the line.
        ModuleNotFoundError: parliament is not installed.
    """
    try:
        document = json.loads(text)
    except ValueError as error:
        raise ArgumentError(f"the policy is not JSON: {error}") from None
    statements = document.get("Statement") if isinstance(document, dict) else None
    statements = [statements] if isinstance(statements, dict) else statements
    if not isinstance(statements, list) or not all(isinstance(each, dict) for each in statements):
        raise ArgumentError("the policy has no list of statements under Statement")
    _actions()
    faults: list[Fault] = []
    for n, statement in enumerate(statements, 1):
        name = str(statement.get("Sid") or f"statement {n}")
        faults += (Fault(name, kind, sentence) for kind, sentence in _of_statement(statement))
    return faults


def _of_statement(statement: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    effect = statement.get("Effect")
    if effect not in ("Allow", "Deny"):
        yield "effect", f"Effect must be Allow or Deny, found {effect!r}"
        return
    yield from _of_principal(statement, effect)
    for name in ("NotAction", "NotResource", "NotPrincipal"):
        if name in statement and effect == "Allow":
            yield "shape", f"{name} allows all that it does not name; name what is allowed"
    resources = _texts(statement.get("Resource"))
    if not resources and "NotResource" not in statement and "Principal" not in statement:
        yield "shape", "it has no Resource"
    for action in _texts(statement.get("Action")):
        yield from _of_action(action, effect, resources)
    if "Action" not in statement and "NotAction" not in statement:
        yield "shape", "it has no Action"


def _of_principal(statement: Mapping[str, Any], effect: str) -> Iterator[tuple[str, str]]:
    principal, condition = statement.get("Principal"), statement.get("Condition") or {}
    if effect != "Allow" or principal is None:
        return
    kinds = principal if isinstance(principal, dict) else {"AWS": principal}
    if "*" in _texts(kinds.get("AWS")) and not condition:
        yield "everybody", "Principal * without a Condition is everybody, in every account"
    keys = {key.lower() for values in condition.values() if isinstance(values, dict) for key in values}
    if "Service" in kinds and not keys & set(OWN_SOURCE):
        services = ", ".join(_texts(kinds["Service"]))
        yield (
            "deputy",
            f"{services} may act for anybody's account; expected a Condition on aws:SourceArn or …Account",
        )


def _of_action(action: str, effect: str, resources: Sequence[str]) -> Iterator[tuple[str, str]]:
    if VARIABLE.search(action):
        yield "variable", f"{action} is a variable that stands for a right: IAM replaces none in an Action"
        return
    known = _matching(action)
    if not known:
        yield "unknown", f"{action} is not an action of AWS: it {_verb(effect)} nothing"
        return
    if "*" in action or "?" in action:
        writes = sum(each.level in WRITES for each in known)
        if effect == "Allow":
            yield (
                "wildcard",
                f"{action} is {len(known)} actions, {writes} of them write; name those that are needed",
            )
    if effect == "Allow" and (spending := [each.name for each in known if SPENDS.search(each.name)]):
        yield "spends", f"{', '.join(spending)} buys what is billed for years"
    useless = [each for each in known if resources and not any(_knows(each, resource) for resource in resources)]
    if useless and len(useless) == len(known):
        alone = "* alone" if not useless[0].arns else ", ".join(sorted(set(useless[0].arns)))
        yield "nowhere", f"{action} {_verb(effect)} nothing on {', '.join(resources)}: it knows {alone}"
    narrow = [each.name for each in known if each.arns and each.level in WRITES]
    if effect == "Allow" and "*" in resources and narrow:
        yield "wide", f"{action} writes and is allowed on *, though it can be given resources"


def _verb(effect: str) -> str:
    return "allows" if effect == "Allow" else "denies"


def _knows(known: _Known, resource: str) -> bool:
    """Tell whether an action has any effect on what a resource of a statement names."""
    return resource == "*" or any(_overlap(resource, _pattern(arn)) for arn in known.arns)


def _pattern(arn: str) -> str:
    return re.sub(r"\$\{[^}]*\}", "*", arn)


def _overlap(left: str, right: str) -> bool:
    """Tell whether two patterns with * and ? match a text in common."""
    left = re.sub(r"\$\{[^}]*\}|\{\{[^}]*\}\}|<[^>]*>", "*", left)

    @cache
    def meet(i: int, j: int) -> bool:
        if i == len(left) and j == len(right):
            return True
        if i < len(left) and left[i] == "*":
            return meet(i + 1, j) or (j < len(right) and meet(i, j + 1))
        if j < len(right) and right[j] == "*":
            return meet(i, j + 1) or (i < len(left) and meet(i + 1, j))
        if i == len(left) or j == len(right):
            return False
        return (left[i] == right[j] or "?" in (left[i], right[j])) and meet(i + 1, j + 1)

    return meet(0, 0)


def _matching(action: str) -> list[_Known]:
    """Return the actions of AWS that an Action names; their letters' case does not count."""
    pattern = re.escape(action.lower()).replace(r"\*", ".*").replace(r"\?", ".")
    if not set("*?") & set(action):
        return [known] if (known := _actions().get(action.lower())) else []
    return [known for name, known in _actions().items() if re.fullmatch(pattern, name)]


@cache
def _actions() -> Mapping[str, _Known]:
    """Return all actions of AWS: name in small letters to what is known."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # it imports pkg_resources
            import parliament
    except ModuleNotFoundError:
        raise MissingPackageError(
            "parliament, which has AWS's actions, is not installed: pip install 'iceberg-workbench[policies]'"
        ) from None
    known = {}
    for service in parliament.iam_definition:
        arns = {resource["resource"]: resource["arn"] for resource in service["resources"]}
        for privilege in service["privileges"]:
            kinds = [kind["resource_type"].rstrip("*") for kind in privilege["resource_types"]]
            name = f"{service['prefix']}:{privilege['privilege']}"
            of_action = tuple(arns[kind] for kind in kinds if kind in arns)
            known[name.lower()] = _Known(name, privilege["access_level"], of_action)
    return known


def _texts(value: Any) -> list[str]:
    return [value] if isinstance(value, str) else [str(each) for each in value or ()]
