"""The server's JVM: its settings, how it is launched, and how it is known that it is ready."""

import os
import secrets as randomness
import shlex
import uuid
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

from workbench._base import children, java, secrets
from workbench._base.children import Process
from workbench._base.errors import ArgumentError, ProcessError
from workbench_standins import ports, processes, properties
from workbench_standins.ports import HOST

STARTS = 5
PATIENCE_SECONDS = 180
LOG = "server.log"
TAKEN = ("Address already in use", "BindException")
SUBMIT = "org.apache.spark.deploy.SparkSubmit"
MAIN = "org.apache.spark.sql.connect.service.SparkConnectServer"
OPTIONS = ["-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-XX:ReservedCodeCacheSize=240m", "-XX:-UsePerfData"]
LOGGING = """\
rootLogger.level = error
rootLogger.appenderRef.console.ref = console
appender.console.type = Console
appender.console.name = console
appender.console.target = SYSTEM_ERR
appender.console.layout.type = PatternLayout
appender.console.layout.pattern = %d{HH:mm:ss} %p %c{1}: %m%n%ex{short}
"""
LAUNCHER = ("spark.driver.extraClassPath", "spark.driver.extraJavaOptions", "spark.driver.memory")


def start(folder: Path, conf: Mapping[str, str], given: int) -> tuple[Process, int]:
    """Start a server and wait until it answers; another port is tried when one was taken meanwhile.

    Args:
        folder: taken.
        conf: Spark's settings, key to text.
        given: port; 0 for any.

    Returns:
        (process, port).

    Raises:
        ValueError: the given port cannot be had, or a reference cannot be resolved.
        ChildProcessError: it ended, or was not ready in time.
    """
    if given and not ports.free(given):
        raise ArgumentError(f"port {given} of {HOST} cannot be had")
    resolved = {key: str(secrets.resolve(value)) for key, value in conf.items()}
    token = randomness.token_urlsafe(32)
    properties.private(folder / "token", token)
    for _ in range(STARTS):
        port = ports.choose(("server",), {"server": given})["server"]
        configure(folder, resolved, port, token)
        process = _launch(folder, resolved)
        if processes.answer([process], partial(_answers, port, token), patience_seconds=PATIENCE_SECONDS):
            return process, port
        children.end(process, haste=True, patience_seconds=PATIENCE_SECONDS)
        why = children.last_words(folder / LOG)
        if given or not any(word in (folder / LOG).read_text(errors="replace") for word in TAKEN):
            break
    raise ProcessError(f"the Spark Connect server did not start: {why or 'it was not ready in time'}")


def configure(folder: Path, conf: Mapping[str, str], port: int, token: str) -> None:
    """Write the settings of a server into a file that only this user can read: they may hold keys."""
    ours = {
        "spark.connect.grpc.binding.address": HOST,
        "spark.connect.grpc.binding.port": str(port),
        "spark.connect.authenticate.token": token,
    }
    properties.private(folder / "server.properties", properties.text({**conf, **ours}))
    properties.private(folder / "log4j2.properties", LOGGING)


def _launch(folder: Path, conf: Mapping[str, str]) -> Process:
    """Start the JVM; no secret is in its command line or its variables."""
    home = java.spark_home()
    path = os.pathsep.join(filter(None, [conf.get(LAUNCHER[0]), f"{home}/jars/*"]))
    log = f"-Dlog4j2.configurationFile=file:{folder / 'log4j2.properties'}"
    options = [*OPTIONS, f"-Xmx{conf.get(LAUNCHER[2], '1g')}", *_opened(), *shlex.split(conf.get(LAUNCHER[1], ""))]
    words = [str(java.find()), *options, log, "-cp", path, SUBMIT]
    words += ["--properties-file", str(folder / "server.properties"), "--class", MAIN, "spark-internal"]
    return processes.launch(words, folder, LOG, env=_variables(home))


def _variables(home: Path) -> dict[str, str]:
    """Return the variables of the JVM: ours without those that would change what it is told."""
    hidden = ("SPARK_", "PYSPARK_", "JDK_JAVA_OPTIONS", "JAVA_TOOL_OPTIONS")
    kept = {key: value for key, value in os.environ.items() if not key.startswith(hidden)}
    [core] = home.glob("jars/spark-core_*.jar")  # a pip package does not say for which Scala it was built
    ours = {"SPARK_HOME": str(home), "SPARK_LOCAL_IP": HOST, "JAVA_HOME": str(java.launcher()), "TZ": "UTC"}
    return kept | ours | {"SPARK_SCALA_VERSION": core.name.split("_")[1].split("-")[0]}


def _opened() -> list[str]:
    """Return the packages of Java that Spark's own launcher opens, as options."""
    names = (
        "java.lang", "java.lang.invoke", "java.lang.reflect", "java.io", "java.net", "java.nio", "java.util",
        "java.util.concurrent", "java.util.concurrent.atomic", "sun.nio.ch", "sun.nio.cs", "sun.security.action",
        "sun.util.calendar",
    )  # fmt: skip
    return [f"--add-opens=java.base/{name}=ALL-UNNAMED" for name in names] + [
        "-Djdk.reflect.useDirectMethodHandle=false",
        "-Dio.netty.tryReflectionSetAccessible=true",
    ]


def _answers(port: int, token: str) -> bool:
    """Return whether our server answers at a port: it takes our token."""
    if ports.free(port):
        return False
    import grpc
    from pyspark.sql.connect.proto import base_pb2, base_pb2_grpc

    messages: Any = base_pb2
    stubs: Any = base_pb2_grpc
    session_id = str(uuid.uuid4())  # a server knows for a while which were released, and takes none of them again
    version = messages.AnalyzePlanRequest.SparkVersion()
    request = messages.AnalyzePlanRequest(session_id=session_id, spark_version=version)
    request.user_context.user_id = "workbench"
    with grpc.insecure_channel(f"{HOST}:{port}") as channel:
        stub = stubs.SparkConnectServiceStub(channel)
        metadata = (("authorization", f"Bearer {token}"),)
        try:
            stub.AnalyzePlan(request, metadata=metadata, timeout=20)
            released = messages.ReleaseSessionRequest(session_id=session_id, user_context=request.user_context)
            stub.ReleaseSession(released, metadata=metadata, timeout=20)
        except grpc.RpcError:
            return False
    return True
