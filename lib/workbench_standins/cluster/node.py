"""Master and workers of a standalone cluster: how they are started, and how one knows that they are there."""

import json
import os
import secrets
import subprocess
import sys
import time
import urllib.request
from contextlib import contextmanager

from workbench._base import children, java
from workbench._base.errors import ArgumentError, ProcessError
from workbench_standins import ports
from workbench_standins.ports import HOST

STARTS = 5
PATIENCE_SECONDS = 120
POLL_SECONDS = 0.1
OPTIONS = ["-Xmx512m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"]
CONF = {
    "spark.authenticate": "true",
    "spark.network.crypto.enabled": "true",
    "spark.master.rest.enabled": "false",  # a second door, on a port of its own
}
SECRET = "_SPARK_AUTH_SECRET"  # Spark's own, which keeps it out of command lines
DEPLOY = "org.apache.spark.deploy"


@contextmanager
def running(folder, settings):
    """Start a master and its workers and wait until all have registered; ends them with the context.

    Args:
        folder: Path, taken; it gets a log of each and the workers' files.
        settings: port (0 for any), workers, applications, and cores and memory of a worker for one of these.

    Yields:
        (the master's Popen, address, secret).

    Raises:
        ValueError: the wanted port cannot be had.
        ChildProcessError: one of them ended, or was not ready in time.
    """
    if settings["port"] and not ports.free(settings["port"]):
        raise ArgumentError(f"port {settings['port']} of {HOST} cannot be had")
    secret, started = secrets.token_hex(16), []
    try:
        for _ in range(STARTS):
            chosen = ports.choose(("master", "page"), {"master": settings["port"]})
            each = settings["workers"] * settings["cores"]
            started = [_master(folder, chosen, secret, each)]
            if _until(started, lambda chosen=chosen: _alive(chosen["page"]) is not None):
                break
            _end(started)
        else:
            raise ProcessError(f"Spark's master did not start: {children.last_words(folder / 'master.log')}")
        address = f"spark://{HOST}:{chosen['master']}"
        started += [_worker(folder, n, address, settings, secret) for n in range(settings["workers"])]
        if not _until(started, lambda: _alive(chosen["page"]) == settings["workers"]):
            logs = sorted(folder.glob("worker-*.log"))
            said = next(
                (words for words in map(children.last_words, logs) if words), "they were not ready in time"
            )
            raise ProcessError(f"Spark's workers did not start: {said}")
        yield started[0], address, secret
    finally:
        _end(started)


def _master(folder, chosen, secret, cores):
    """An application that names no number of cores would get all of them, and the next one would wait for ever."""
    where = ["--host", HOST, "--port", str(chosen["master"]), "--webui-port", str(chosen["page"])]
    conf = {"spark.deploy.defaultCores": cores}
    return _launch(folder, "master", f"{DEPLOY}.master.Master", where, secret, conf)


def _worker(folder, n, address, settings, secret):
    work = folder / f"worker-{n}"
    side_by_side, memory = settings["applications"], settings["memory"]
    memory = f"{int(memory[:-1]) * side_by_side}{memory[-1]}"
    size = ["--cores", str(settings["cores"] * side_by_side), "--memory", memory, "--work-dir", str(work)]
    where = ["--host", HOST, "--webui-port", "0", *size]
    return _launch(folder, f"worker-{n}", f"{DEPLOY}.worker.Worker", [*where, address], secret)


def _launch(folder, name, main, arguments, secret, more=None):
    """Start one of them; what it says goes to a log of its own. The secret is in no command line and no file."""
    home = java.spark_home()
    conf = folder / f"{name}.conf"
    conf.write_text("".join(f"{key} {value}\n" for key, value in (CONF | (more or {})).items()), encoding="utf-8")
    kept = {key: value for key, value in os.environ.items() if not key.startswith(("SPARK_", "PYSPARK_", "AWS_"))}
    ours = {"SPARK_HOME": str(home), "JAVA_HOME": str(java.launcher()), "SPARK_LOCAL_IP": HOST}
    [core] = home.glob("jars/spark-core_*.jar")  # a pip package does not say for which Scala it was built
    ours["SPARK_SCALA_VERSION"] = core.name.split("_")[1].split("-")[0]
    with (folder / f"{name}.log").open("wb") as log:
        return subprocess.Popen(
            [
                str(java.find()), *OPTIONS, *opened(), "-cp", f"{home}/jars/*", main,
                "--properties-file", str(conf), *arguments,
            ],
            env=kept | ours | {SECRET: secret},
            cwd=folder, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
            preexec_fn=children.end_with_parent if sys.platform == "linux" else None,
        )  # fmt: skip


def opened():
    """Return the packages of Java that Spark's own launcher opens, as options."""
    names = (
        "java.lang", "java.lang.invoke", "java.lang.reflect", "java.io", "java.net", "java.nio", "java.util",
        "java.util.concurrent", "java.util.concurrent.atomic", "sun.nio.ch", "sun.nio.cs", "sun.security.action",
        "sun.util.calendar",
    )  # fmt: skip
    return [f"--add-opens=java.base/{name}=ALL-UNNAMED" for name in names]


def _alive(page):
    """How many workers the master says are alive; None while it does not answer."""
    try:
        with urllib.request.urlopen(f"http://{HOST}:{page}/json/", timeout=5) as answer:
            return json.load(answer)["aliveworkers"]
    except (OSError, ValueError, LookupError):
        return None


def _until(processes, ready):
    until = time.monotonic() + PATIENCE_SECONDS
    while time.monotonic() < until and all(one.poll() is None for one in processes):
        if ready():
            return True
        time.sleep(POLL_SECONDS)
    return False


def _end(processes):
    for one in reversed(processes):  # the master last: workers that lose it would look for it
        children.end(one, haste=False, patience_seconds=10)
