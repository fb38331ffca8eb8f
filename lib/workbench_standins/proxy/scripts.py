"""Scripts as files: YAML, read by the safe loader and checked key by key.

seed: 7
clients: [a, b]
rules:
  - {do: hold, client: a, what: metadata_put, until: {client: b, what: metadata_put}}
  - {do: fail, status: 503, method: GET, path: /lake/**.parquet, share: 0.05}
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from pydantic import Field, ValidationError

from workbench._base import secrets, strict, yaml_files
from workbench._base.door import checked
from workbench._base.errors import ArgumentError
from workbench_standins.proxy.rules import ANY, NAMED, Match, Rule

Clients = Sequence[str] | Mapping[str, str | None]  # names, or name to access key


@dataclass(frozen=True)
class Script:
    """Rules, and the clients that they name.

    Attributes:
        rules: in the order in which they are tried; the first that hits a request has it. A list becomes a tuple.
        seed: for the shares.
        clients: name to access key, or to None for a client that is known by its port alone. A list of names
            becomes a dict.
    """

    rules: tuple[Rule, ...] = ()
    seed: int = 0
    clients: dict[str, str | None] = field(default_factory=dict)

    def __post_init__(self) -> None:
        object.__setattr__(self, "clients", keys_of(self.clients))
        object.__setattr__(self, "rules", tuple(self.rules))
        if wrong := [rule for rule in self.rules if not isinstance(rule, Rule)]:
            raise ArgumentError(f"rules must be several Rules, found {wrong[0]!r} in it")
        if isinstance(self.seed, bool) or not isinstance(self.seed, int):
            raise ArgumentError(f"seed must be an integer, found {self.seed!r}")
        _check_clients(self.clients)
        for rule in self.rules:
            _check_rule(rule, self.clients)


def keys_of(clients: Clients) -> dict[str, str | None]:
    """Return clients as name to access key, None where there is none.

    Raises:
        ValueError: it is a text.
    """
    if isinstance(clients, str):
        raise ArgumentError(f"clients must be several names or a dict of names to access keys, found {clients!r}")
    return dict(clients) if isinstance(clients, Mapping) else dict.fromkeys(clients)


def check_client(name: str | None, clients: Collection[str]) -> None:
    """Require that a client's name is known to the proxy.

    Raises:
        ValueError: there is no such client.
    """
    if name is not None and name not in clients:
        near = strict.nearest(name, clients)
        hint = f" (did you mean {near}?)" if near else ""
        raise ArgumentError(f"no client {name!r}{hint}; there are {', '.join(clients) or 'none'}")


def _check_rule(rule: Rule, clients: Collection[str]) -> None:
    for match in (rule.what, rule.until):
        check_client(match.client if match else None, clients)


def _check_clients(clients: Mapping[Any, Any]) -> None:
    for name, key in clients.items():
        if not isinstance(name, str) or not name.isidentifier():
            raise ArgumentError(f"a client's name must be a word without spaces, found {name!r}")
        if key is not None and not (isinstance(key, str) and key):
            raise ArgumentError(f"the access key of client {name} must be a text or None, found {key!r}")
    keys = [key for key in clients.values() if key is not None]
    if twice := {key for key in keys if keys.count(key) > 1}:
        names = ", ".join(name for name, key in clients.items() if key in twice)
        raise ArgumentError(f"the clients {names} have the same access key: give each its own")


class _Match(strict.Strict):
    client: str | None = None
    what: Literal["metadata_put", "commit", "any"] | None = None
    method: str | None = None
    path: str | tuple[str, ...] | None = None

    def match(self) -> Match:
        """Return the Match that is meant."""
        if self.what and (self.method is not None or self.path is not None):
            raise ArgumentError(f"give what, or method and path, and not both: what is {self.what}")
        if self.what:
            return NAMED[self.what].of(self.client)
        return Match(self.client, self.method, ANY.path if self.path is None else self.path)


class _Rule(_Match):
    do: str
    until: _Match | None = None
    seconds: float = Field(0.0, strict=True)  # a number in quotes is a text, which Rule refuses, too
    status: int | None = Field(None, strict=True)
    skip: int = Field(0, strict=True)
    most: int | None = Field(None, strict=True)
    share: float = Field(1.0, strict=True)

    def rule(self) -> Rule:
        """Return the Rule that is meant."""
        until = self.until.match() if self.until else None
        return Rule(self.do, self.match(), until, self.seconds, self.status, self.skip, self.most, self.share)


class _File(strict.Strict):
    rules: tuple[_Rule, ...]
    seed: int = Field(0, strict=True)
    clients: dict[str, str | None] | tuple[str, ...] = ()


@checked
def read_script(path: str | Path) -> Script:
    """Read a script from a YAML file.

    Args:
        path: of the file: `rules`, and optionally `seed` and `clients` (a list of names, or name: access key).

    Raises:
        ValueError: it cannot be read or is not a script; the message says which key of which rule.
    """
    content = yaml_files.read(path)
    if not isinstance(content, dict):
        raise ArgumentError(
            f"{path}: the script must have rules and may have seed and clients, found {type(content).__name__}"
        )
    if wrong := [key for key in content if not isinstance(key, str)]:
        raise ArgumentError(f"{path}: {wrong[0]!r} is not a key; there are {', '.join(_File.model_fields)}")
    try:
        file = _File(**content)
    except ValidationError as error:
        raise ArgumentError(f"{path}: " + "; ".join(_problem(problem) for problem in error.errors())) from None
    clients = keys_of(file.clients)
    try:
        for name, key in clients.items():
            if key and (kind := secrets.kind("client", key)):
                raise ArgumentError(f"clients.{name} holds {kind}; only keys of a stand-in belong in a file")
        rules = [_rule(place, rule, clients) for place, rule in enumerate(file.rules, 1)]
        return Script(tuple(rules), file.seed, clients)
    except ValueError as error:
        raise ArgumentError(f"{path}: {error}") from None


def _rule(place: int, block: _Rule, clients: Collection[str]) -> Rule:
    """Return a Rule of the file; its errors say at which place it is, from 1."""
    try:
        rule = block.rule()
        _check_rule(rule, clients)
        return rule
    except ValueError as error:
        raise ArgumentError(f"rule {place}: {error}") from None


def _problem(error: Any) -> str:
    """Return an error of pydantic as a sentence that says where it is."""
    where = [part for part in error["loc"] if part not in ("str", "tuple[str, ...]")]
    model: type[strict.Strict] = _File
    place = "the script"
    if where[:1] == ["rules"] and len(where) > 1:
        model, place, where = _Rule, f"rule {where[1] + 1}", where[2:]
    if where[:1] == ["until"] and len(where) > 1:
        model, place, where = _Match, f"{place}, until", where[1:]
    if not where:
        return f"{place}: {error['msg']}, found {error.get('input')!r}"
    key = ".".join(map(str, where))
    if error["type"] == "extra_forbidden":
        near = strict.nearest(key, model.model_fields)
        hint = f" (did you mean {near}?)" if near else ""
        return f"{place}: {key} is not a key{hint}; there are {', '.join(model.model_fields)}"
    if error["type"] == "missing":
        return f"{place} needs {key}"
    return f"{place}: {key}: {error['msg']}, found {error.get('input')!r}"
