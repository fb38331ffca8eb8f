"""Scripts as files: YAML, read by the safe loader and checked key by key.

seed: 7
clients: [a, b]
rules:
  - {do: hold, client: a, what: metadata_put, until: {client: b, what: metadata_put}}
  - {do: fail, status: 503, method: GET, path: /lake/**.parquet, share: 0.05}
"""

from dataclasses import dataclass, field
from typing import Literal

from pydantic import Field, ValidationError

from workbench._base import secrets, strict, yaml_files
from workbench._base.errors import ArgumentError
from workbench_standins.proxy.rules import ANY, NAMED, Match, Rule


@dataclass(frozen=True)
class Script:
    """What shall happen.

    Attributes:
        rules: tuple of Rule, in the order in which they are tried; the first that hits a request has it.
        seed: whole number for the shares.
        clients: name to access key, or to None for a client that is told by its port alone.
    """

    rules: tuple[Rule, ...] = ()
    seed: int = 0
    clients: dict[str, str | None] = field(default_factory=dict)

    def __post_init__(self):
        if isinstance(self.clients, str):
            raise ArgumentError(f"clients is a list of names, or name to access key; got {self.clients!r}")
        object.__setattr__(self, "rules", tuple(self.rules))
        if wrong := [rule for rule in self.rules if not isinstance(rule, Rule)]:
            raise ArgumentError(f"a script is a list of Rule; got {wrong[0]!r}")
        if isinstance(self.seed, bool) or not isinstance(self.seed, int):
            raise ArgumentError(f"seed must be a whole number; got {self.seed!r}")
        given = self.clients if isinstance(self.clients, dict) else dict.fromkeys(self.clients)
        object.__setattr__(self, "clients", given)
        _check_clients(given)
        for rule in self.rules:
            for match in (rule.what, rule.until):
                check_client(match.client if match else None, given)


def check_client(name, clients):
    """Refuse a client's name that the proxy was not told.

    Raises:
        ValueError: there is no such client.
    """
    if name is not None and name not in clients:
        near = strict.nearest(name, clients)
        hint = f" (did you mean {near}?)" if near else ""
        raise ArgumentError(f"no client {name!r}{hint}; there are {', '.join(clients) or 'none'}")


def _check_clients(clients):
    for name, key in clients.items():
        if not isinstance(name, str) or not name.isidentifier():
            raise ArgumentError(f"a client's name is a word without spaces; got {name!r}")
        if key is not None and not (isinstance(key, str) and key):
            raise ArgumentError(f"client {name} needs its access key as text, or none; got {key!r}")
    keys = [key for key in clients.values() if key is not None]
    if twice := {key for key in keys if keys.count(key) > 1}:
        names = ", ".join(name for name, key in clients.items() if key in twice)
        raise ArgumentError(f"the clients {names} have the same access key, so it tells them not apart")


class _Match(strict.Strict):
    client: str | None = None
    what: Literal["metadata_put", "commit", "any"] | None = None
    method: str | None = None
    path: str | tuple[str, ...] | None = None

    def match(self):
        """Return the Match that is meant."""
        if self.what and (self.method is not None or self.path is not None):
            raise ArgumentError(
                f"what stands in the place of method and path; there are {self.what} and one of these"
            )
        if self.what:
            return NAMED[self.what].of(self.client)
        return Match(self.client, self.method, ANY.path if self.path is None else self.path)


class _Rule(_Match):
    do: str
    until: _Match | None = None
    seconds: float = Field(0.0, strict=True)  # a number in quotes is a text, which Rule takes for none either
    status: int | None = Field(None, strict=True)
    skip: int = Field(0, strict=True)
    most: int | None = Field(None, strict=True)
    share: float = Field(1.0, strict=True)

    def rule(self):
        """Return the Rule that is meant."""
        rest = {name: getattr(self, name) for name in ("seconds", "status", "skip", "most", "share")}
        return Rule(self.do, self.match(), self.until and self.until.match(), **rest)


class _File(strict.Strict):
    rules: tuple[_Rule, ...]
    seed: int = Field(0, strict=True)
    clients: dict[str, str | None] | tuple[str, ...] = ()


def read_script(path):
    """Read a script from a YAML file.

    Args:
        path: the file: `rules`, and if wanted `seed` and `clients` (a list of names, or name: access key).

    Returns:
        Script.

    Raises:
        ValueError: it cannot be read or is no script; the message says which key of which rule.
    """
    found = yaml_files.read(path)
    if not isinstance(found, dict):
        raise ArgumentError(
            f"{path}: expected rules and, if wanted, seed and clients; found {type(found).__name__}"
        )
    if wrong := [key for key in found if not isinstance(key, str)]:
        raise ArgumentError(f"{path}: {wrong[0]!r} is no key; there are {', '.join(_File.model_fields)}")
    try:
        read = _File(**found)
    except ValidationError as error:
        raise ArgumentError(f"{path}: " + "; ".join(_problem(one) for one in error.errors())) from None
    clients = dict(read.clients) if isinstance(read.clients, dict) else dict.fromkeys(read.clients)
    rules = []
    try:
        for name, key in clients.items():
            if key and (kind := secrets.kind("client", key)):
                raise ArgumentError(f"clients.{name} holds {kind}; only keys of a stand-in belong in a file")
        for place, one in enumerate(read.rules, 1):
            rules.append(_placed(place, one, clients))
        return Script(tuple(rules), read.seed, clients)
    except ValueError as error:
        raise ArgumentError(f"{path}: {error}") from None


def _placed(place, one, clients):
    """Return a Rule of the file; its errors say which one it is, counted from 1."""
    try:
        rule = one.rule()
        for match in (rule.what, rule.until):
            check_client(match.client if match else None, clients)
        return rule
    except ValueError as error:
        raise ArgumentError(f"rule {place}: {error}") from None


def _problem(error):
    """Return what pydantic found, as a sentence that says where."""
    where = [part for part in error["loc"] if part not in ("str", "tuple[str, ...]")]
    model, place = _File, "the script"
    if not where:
        return f"{place}: {error['msg']}, found {error.get('input')!r}"
    if where[0] == "rules" and len(where) > 1:
        model, place, where = _Rule, f"rule {where[1] + 1}", where[2:]
    if not where:
        return f"{place}: {error['msg']}, found {error.get('input')!r}"
    if where[0] == "until" and len(where) > 1:
        model, place, where = _Match, f"{place}, until", where[1:]
    key = ".".join(str(part) for part in where)
    if error["type"] == "extra_forbidden":
        near = strict.nearest(key, model.model_fields)
        hint = f" (did you mean {near}?)" if near else ""
        return f"{place}: {key} is no key{hint}; there are {', '.join(model.model_fields)}"
    if error["type"] == "missing":
        return f"{place} needs {key}"
    return f"{place}: {key}: {error['msg']}, found {error.get('input')!r}"
