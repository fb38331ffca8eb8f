"""A Kafka broker on this machine that asks who is there: users by SCRAM, tokens by OAUTHBEARER, rights by ACLs.

    with secured.serve(users=("writer", "reader")) as closed:
        closed.owner().create_topic("sales")
        closed.grant("writer", "write", topic="sales")
        closed.grant("reader", "read", topic="sales")
        producer = confluent_kafka.Producer(closed.broker("writer").client())
        consumer = confluent_kafka.Consumer(closed.by_token("reader", seconds=60) | {"group.id": "any"})

Nothing is granted that was not said, and the controller is closed, too. It listens on 127.0.0.1, **which another
user of the machine can reach**: without a password or a token it answers nothing but which versions it speaks.
What goes over the wire is not encrypted.
"""

import base64
import hashlib
import hmac
import json
import os
import secrets
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any

from workbench._base.bounds import Ge
from workbench._base.door import checked
from workbench._base.errors import ArgumentError
from workbench_standins import by_hand, folders
from workbench_standins.kafka import PATIENCE_SECONDS, Broker, require, secured_node
from workbench_standins.ports import HOST

OPERATIONS = ("read", "write", "create", "delete", "alter", "describe", "idempotent_write")
_print = partial(print, flush=True)
ITERATIONS = 4096  # the least that Kafka takes; the passwords are random


@dataclass(frozen=True)
class Secured:
    """A running broker with users.

    Attributes:
        addresses: of its listeners: admin, scram, oauth, controller.
        folder: where it keeps its data, a Path.
        passwords: user to password; they are in the variables of this process, too, by which `broker` names them.
    """

    addresses: dict[str, str]
    folder: Path
    passwords: dict[str, str] = field(repr=False)
    key: bytes = field(repr=False)

    def owner(self) -> Broker:
        """Return the broker as its owner has it, who may do everything."""
        return self._as(secured_node.ADMIN, "admin", "PLAIN")

    @checked
    def broker(self, user: str) -> Broker:
        """Return the broker as a user has it, by SCRAM; its password is a reference, `env:NAME`.

        Raises:
            ArgumentError: there is no such user.
        """
        self._require(user)
        return self._as(user, "scram", "SCRAM-SHA-512")

    @checked
    def token(self, user: str, *, seconds: Annotated[float, Ge(-3600)]) -> str:
        """Return a token of a user, which is valid for so many seconds from now; of less than 0 it has expired.

        Raises:
            ArgumentError: there is no such user.
        """
        self._require(user)
        now = time.time()
        claims = {"sub": user, "aud": "kafka", "scope": "kafka", "iat": now - 7200, "exp": now + seconds}
        message = f"{_part({'alg': 'HS256', 'kid': secured_node.KEY_ID})}.{_part(claims)}"
        return f"{message}.{_base64(hmac.digest(self.key, message.encode(), hashlib.sha256))}"

    @checked
    def by_token(self, user: str, *, seconds: Annotated[float, Ge(-3600)]) -> dict[str, Any]:
        """Return the settings of a client that comes by tokens, each of which it renews before it expires."""

        def renewed(_: str) -> tuple[str, float]:
            return self.token(user, seconds=seconds), time.time() + max(seconds, 1)

        return {
            "bootstrap.servers": self.addresses["oauth"],
            "security.protocol": "SASL_PLAINTEXT",
            "sasl.mechanism": "OAUTHBEARER",
            "oauth_cb": renewed,
            "log_level": 0,
        }

    @checked
    def grant(self, user: str, operation: str, *, topic: str | None = None, group: str | None = None) -> None:
        """Let a user do something with a topic, a consumer group, or, without either, the cluster.

        Args:
            user: of the broker.
            operation: read, write, create, delete, alter, describe or idempotent_write.
            topic: its name.
            group: name of a consumer group.

        Raises:
            ArgumentError: there is no such user or operation, or both a topic and a group are given.
        """
        binding = self._binding(user, operation, topic, group)
        admin = self.owner()._admin()  # kept by name: its futures end with it
        admin.create_acls([binding])[binding].result(PATIENCE_SECONDS)
        self._wait(admin, binding, there=True)

    @checked
    def revoke(self, user: str, operation: str, *, topic: str | None = None, group: str | None = None) -> None:
        """Take a right away that was granted; as `grant`."""
        binding = self._binding(user, operation, topic, group)
        admin = self.owner()._admin()  # kept by name: its futures end with it
        asked = _filter(binding)
        admin.delete_acls([asked])[asked].result(PATIENCE_SECONDS)
        self._wait(admin, binding, there=False)

    def _wait(self, admin: Any, binding: Any, *, there: bool) -> None:
        """Wait until the broker has read from the controller's log what the controller has answered."""
        until = time.monotonic() + PATIENCE_SECONDS
        while bool(admin.describe_acls(_filter(binding)).result(PATIENCE_SECONDS)) != there:
            if time.monotonic() > until:
                raise TimeoutError(f"the broker does not know yet what was {'granted' if there else 'revoked'}")
            time.sleep(0.05)

    def _binding(self, user: str, operation: str, topic: str | None, group: str | None) -> Any:
        self._require(user)
        if operation not in OPERATIONS:
            raise ArgumentError(f"operation must be one of {', '.join(OPERATIONS)}, found {operation!r}")
        if topic is not None and group is not None:
            raise ArgumentError("give topic or group, and not both: a right is on one of them")
        words = _words()
        kinds = words.ResourceType
        kind = kinds.TOPIC if topic else kinds.GROUP if group else kinds.BROKER
        name = topic or group or "kafka-cluster"
        meant, literal = words.AclOperation[operation.upper()], words.ResourcePatternType.LITERAL
        allowed = words.AclPermissionType.ALLOW
        return words.AclBinding(kind, name, literal, f"User:{user}", "*", meant, allowed)

    def _require(self, user: str) -> None:
        if user not in self.passwords:
            raise ArgumentError(f"there is no user {user!r}; there are {', '.join(self.passwords)}")

    def _as(self, user: str, listener: str, mechanism: str) -> Broker:
        config = {
            "security.protocol": "SASL_PLAINTEXT",
            "sasl.mechanism": mechanism,
            "sasl.username": user,
            "sasl.password": f"env:{_variable(user, self.addresses['admin'])}",
        }
        return Broker(self.addresses[listener], self.folder, config)


@checked
@contextmanager
def serve(*, users: Sequence[str]) -> Iterator[Secured]:
    """Serve a broker with users and no rights as long as the context is open; it ends with this process too.

    Args:
        users: names: letters, digits, - and _; each gets a random password.

    Raises:
        ValueError: a name is invalid, a jar is missing.
        ModuleNotFoundError: confluent-kafka is not installed.
        ChildProcessError: it did not start; the message has its last words.
    """
    for user in users:
        if not user.replace("-", "").replace("_", "").isalnum() or user in (secured_node.ADMIN, secured_node.NODE):
            raise ArgumentError(
                f"a user must be of letters, digits, - and _, and not admin or node, found {user!r}"
            )
    if len(set(users)) < len(users) or not users:
        raise ArgumentError("users must be names, each once, and at least one")
    require()
    passwords = {user: secrets.token_urlsafe(18) for user in users}
    owner, key = secrets.token_urlsafe(18), secrets.token_bytes(32)
    settings = {"admin": owner, "node": secrets.token_urlsafe(18), "key": key.hex()}
    with secured_node.running(folders.choice(None, None) | settings) as answer:
        addresses = {name: f"{HOST}:{port}" for name, port in answer["ports"].items()}
        served = Secured(addresses, Path(answer["folder"]), passwords, key)
        known = passwords | {secured_node.ADMIN: owner}
        variables = {_variable(user, addresses["admin"]): password for user, password in known.items()}
        os.environ.update(variables)
        try:
            _create(served)
            yield served
        finally:
            for name in variables:
                os.environ.pop(name, None)


@checked
def serve_by_hand(users: Sequence[str], grants: Sequence[str] = (), say: Callable[[str], object] = _print) -> None:
    """Serve a broker with users until SIGINT, SIGTERM or SIGHUP.

    Args:
        users: as of `serve`.
        grants: rights: `user:operation:topic`, or `user:operation:topic:NAME`, `user:operation:group:NAME`.
        say: called with each line that describes the broker; none of them holds a password.

    Raises:
        ValueError: as of `serve`, or a right is invalid.
    """
    rights = [_right(grant, users) for grant in grants]
    with by_hand.interrupted() as ended, serve(users=users) as served:
        for user, operation, kind, name in rights:
            served.grant(user, operation, **{kind: name})
        file = served.folder / "env"
        names = [secured_node.ADMIN, *users]
        passwords = {_variable(name, served.addresses["admin"]): name for name in names}
        file.touch(mode=0o600)
        file.write_text("".join(f"export {name}={os.environ[name]}\n" for name in passwords), encoding="utf-8")
        say(
            f"Kafka on {served.addresses['scram']} by SCRAM-SHA-512, on {served.addresses['oauth']} by OAUTHBEARER"
        )
        say(f"its owner is admin, on {served.addresses['admin']} by PLAIN; {len(rights)} rights are granted")
        for variable, user in passwords.items():
            say(f"user     {user}: env:{variable}")
        say(f"session  . {file}  sets the passwords; only you can read it")
        say("Ctrl-C ends it; nothing stays")
        ended.wait()


def _right(grant: str, users: Sequence[str]) -> tuple[str, str, str, str]:
    """Return a right of a command line: user, operation, kind and name."""
    parts = grant.split(":")
    if len(parts) == 3:
        parts.insert(2, "topic")
    if (
        len(parts) != 4
        or parts[0] not in users
        or parts[1] not in OPERATIONS
        or parts[2] not in ("topic", "group")
    ):
        raise ArgumentError(
            f"a right must be USER:OPERATION:TOPIC or USER:OPERATION:group:NAME, of {', '.join(users)} and of "
            f"{', '.join(OPERATIONS)}, found {grant!r}"
        )
    return parts[0], parts[1], parts[2], parts[3]


def _create(served: Secured) -> None:
    """Create the users, by the owner's own log-in: a password in a command line could be read by others."""
    words = _words()
    info = words.ScramCredentialInfo(words.ScramMechanism.SCRAM_SHA_512, ITERATIONS)
    wanted = [
        words.UserScramCredentialUpsertion(user, info, word.encode()) for user, word in served.passwords.items()
    ]
    admin = served.owner()._admin()
    for done in admin.alter_user_scram_credentials(wanted).values():
        done.result(PATIENCE_SECONDS)


def _filter(binding: Any) -> Any:
    return _words().AclBindingFilter(
        binding.restype, binding.name, binding.resource_pattern_type, binding.principal, binding.host,
        binding.operation, binding.permission_type,
    )  # fmt: skip


def _words() -> Any:
    """Return the module that has the client's words for rights and users."""
    return import_module("confluent_kafka.admin")


def _variable(user: str, address: str) -> str:
    """Return the name of the variable of a user's password; two brokers of a process have different ones."""
    return f"WORKBENCH_KAFKA_{address.rpartition(':')[2]}_{user.replace('-', '_').upper()}"


def _part(content: dict[str, Any]) -> str:
    return _base64(json.dumps(content).encode())


def _base64(content: bytes) -> str:
    return base64.urlsafe_b64encode(content).rstrip(b"=").decode()
