"""The secured broker's process: its settings, and the child that starts it and ends it with us.

Four listeners, each of which asks who is there: ADMIN for its owner alone (PLAIN), SCRAM and OAUTH for users,
CONTROLLER for the node itself (PLAIN; open, it would be a back door past all rights). The secrets come by standard
input and stand in a file that its owner alone can read, in no command line.
"""

import base64
import json
import os
from collections.abc import Mapping
from contextlib import AbstractContextManager
from functools import partial
from pathlib import Path
from typing import Any

from workbench._base import children, java
from workbench._base.children import Process
from workbench._base.errors import ProcessError
from workbench_standins import folders, ports, processes
from workbench_standins.kafka import node
from workbench_standins.ports import HOST

ADMIN, NODE = "admin", "node"
LISTENERS = ("admin", "scram", "oauth", "controller")
KEY_ID = "workbench"
REAUTH_MILLIS = "3600000"  # at most: a token that ends earlier must be renewed by then
LOGIN = "org.apache.kafka.common.security"


def running(settings: Mapping[str, Any]) -> AbstractContextManager[dict[str, Any]]:
    """Return the context of a child with these settings; it yields the child's answer: ports by listener, folder.

    Raises:
        ChildProcessError: it did not start.
    """
    return children.serving(__name__, settings, name="secured Kafka broker's process", patience_seconds=30)


def main() -> None:
    """Serve as the child."""
    folders.serve_from(_serve, kind="kafka", mark="server.properties")


def _serve(folder: Path, settings: Mapping[str, Any]) -> None:
    process, chosen = _started(folder, settings)
    try:
        children.say({"ports": chosen, "folder": str(folder)})
        children.until_either_ends(process)
    finally:
        children.end(process, haste=True, patience_seconds=20)


def _started(folder: Path, settings: Mapping[str, Any]) -> tuple[Process, dict[str, int]]:
    for _ in range(node.STARTS):
        chosen = ports.choose(LISTENERS, {})
        _configure(folder, chosen, settings)
        keys = f"-Dorg.apache.kafka.sasl.oauthbearer.allowed.urls={_keys(folder)}"
        classes = os.pathsep.join(map(str, node.classpath()))
        words = [
            str(java.find()),
            *node.OPTIONS,
            keys,
            "-cp",
            classes,
            "kafka.Kafka",
            str(folder / "server.properties"),
        ]
        process = processes.launch(words, folder, "kafka.log")
        ready = partial(_answers, chosen["admin"], settings["admin"])
        if processes.answer([process], ready, patience_seconds=node.PATIENCE_SECONDS):
            return process, chosen
        children.end(process, haste=True, patience_seconds=node.PATIENCE_SECONDS)
        if node.TAKEN not in (folder / "kafka.log").read_text(errors="replace"):
            break
    why = children.last_words(folder / "kafka.log") or "it was not ready in time"
    raise ProcessError(f"the secured Kafka broker did not start: {why}")


def _configure(folder: Path, chosen: Mapping[str, int], settings: Mapping[str, Any]) -> None:
    """Write the settings of the node and the keys of its tokens, and format its storage."""
    node.configure(folder, chosen["admin"], chosen["controller"])  # what an open one has, and its storage
    path = folder / "server.properties"
    lines = path.read_text(encoding="utf-8").splitlines()
    plain = dict(line.partition("=")[::2] for line in lines)
    written = plain | _secured(folder, chosen, settings)
    path.write_text("".join(f"{name}={value}\n" for name, value in written.items()), encoding="utf-8")
    key = base64.urlsafe_b64encode(bytes.fromhex(settings["key"])).rstrip(b"=").decode()
    keys = {"keys": [{"kty": "oct", "kid": KEY_ID, "alg": "HS256", "use": "sig", "k": key}]}
    (folder / "jwks.json").write_text(json.dumps(keys), encoding="utf-8")


def _secured(folder: Path, chosen: Mapping[str, int], settings: Mapping[str, Any]) -> dict[str, str]:
    names = [name.upper() for name in LISTENERS]
    addresses = {name: f"{name.upper()}://{HOST}:{chosen[name]}" for name in LISTENERS}
    plain = f"{LOGIN}.plain.PlainLoginModule required"
    oauth = "listener.name.oauth.oauthbearer"
    handler = f"{LOGIN}.oauthbearer.OAuthBearerValidatorCallbackHandler"
    return {
        "listeners": ",".join(addresses.values()),
        "advertised.listeners": ",".join(address for name, address in addresses.items() if name != "controller"),
        "listener.security.protocol.map": ",".join(f"{name}:SASL_PLAINTEXT" for name in names),
        "inter.broker.listener.name": "ADMIN",
        "sasl.mechanism.inter.broker.protocol": "PLAIN",
        "sasl.mechanism.controller.protocol": "PLAIN",
        "listener.name.admin.sasl.enabled.mechanisms": "PLAIN",
        "listener.name.admin.plain.sasl.jaas.config": _login(plain, ADMIN, settings["admin"]),
        "listener.name.controller.sasl.enabled.mechanisms": "PLAIN",
        "listener.name.controller.plain.sasl.jaas.config": _login(plain, NODE, settings["node"]),
        "listener.name.scram.sasl.enabled.mechanisms": "SCRAM-SHA-512",
        "listener.name.scram.scram-sha-512.sasl.jaas.config": f"{LOGIN}.scram.ScramLoginModule required;",
        "listener.name.oauth.sasl.enabled.mechanisms": "OAUTHBEARER",
        f"{oauth}.sasl.jaas.config": f"{LOGIN}.oauthbearer.OAuthBearerLoginModule required;",
        f"{oauth}.sasl.server.callback.handler.class": handler,
        "listener.name.oauth.sasl.oauthbearer.jwks.endpoint.url": _keys(folder),
        "listener.name.oauth.sasl.oauthbearer.expected.audience": "kafka",
        "listener.name.oauth.sasl.oauthbearer.clock.skew.seconds": "0",
        "listener.name.oauth.connections.max.reauth.ms": REAUTH_MILLIS,
        "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
        "super.users": f"User:{ADMIN};User:{NODE}",
        "allow.everyone.if.no.acl.found": "false",
    }


def _login(module: str, user: str, password: str) -> str:
    return f'{module} username="{user}" password="{password}" user_{user}="{password}";'


def _keys(folder: Path) -> str:
    return (folder / "jwks.json").as_uri()


def client(port: int, password: str) -> dict[str, Any]:
    """Return the settings of librdkafka for the owner of the broker."""
    return {
        "bootstrap.servers": f"{HOST}:{port}",
        "security.protocol": "SASL_PLAINTEXT",
        "sasl.mechanism": "PLAIN",
        "sasl.username": ADMIN,
        "sasl.password": password,
        "log_level": 0,
    }


def _answers(port: int, password: str) -> bool:
    from confluent_kafka import KafkaException
    from confluent_kafka.admin import AdminClient

    if ports.free(port):
        return False
    try:
        AdminClient(client(port, password)).list_topics(timeout=2)
        return True
    except KafkaException:
        return False
