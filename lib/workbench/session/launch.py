"""How a session is launched and ended: the JVM's options, what spark-submit reads, the class, the clock."""

import os
import socket
import sys
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from workbench._base import java, scratch, settings
from workbench._base.errors import ArgumentError
from workbench._base.typing import Java, SparkSession

# The JVM lives for seconds, not hours: the first compiler alone, no counters in a shared file. With one compiler
# Java keeps 48 MB for compiled code; a stream of some minutes fills them, and then nothing more is compiled.
SHORT_LIFE = (
    "-XX:TieredStopAtLevel=1",
    "-XX:ReservedCodeCacheSize=240m",  # as with both compilers
    "-XX:+UseSerialGC",
    "-XX:-UsePerfData",
)
LOOPBACK = "127.0.0.1"
started: dict[str, settings.Environment] = {}  # "environment" to that of this process's session


def stop(spark: SparkSession) -> None:
    """Stop a session and wait until its JVM has ended."""
    gateway: Java = spark.sparkContext._gateway
    spark.stop()
    process = getattr(gateway, "proc", None)
    gateway.shutdown()
    if process is not None:
        process.stdin.close()
        process.wait(timeout=120)
    session_class()._instantiatedSession = None
    type(spark.sparkContext)._gateway = type(spark.sparkContext)._jvm = None
    started.clear()


def options(env: settings.Environment) -> list[str]:
    """Return the JVM options of an environment: its log, and what suits a short life."""
    return log_options() + list(SHORT_LIFE if env.spark.lifetime == "short" else ())


def log_options() -> list[str]:
    """Return the JVM options that keep Spark silent: errors go to spark.log in the run's folder.

    Where `workbench policies` records the AWS calls of a run, what the SDK signs goes to the pipe in its folder.
    """
    log = Path(os.environ.get("WORKBENCH_RUN_DIR") or scratch.enter()) / "spark.log"
    configs, places = ["log4j2.properties"], [f"-Dworkbench.log={log}"]
    if recording := os.environ.get("WORKBENCH_AWS_CALLS"):
        configs.append("log4j2-calls.properties")
        places.append(f"-Dworkbench.calls={Path(recording) / 'java'}")
    files = ",".join(f"file:{Path(__file__).with_name(name)}" for name in configs)
    return [f"-Dlog4j2.configurationFile={files}", *places]


def line(options: Iterable[str]) -> str:
    """Return JVM options as one text, as Spark splits it: those with a space in quotes."""
    return " ".join(f'"{option}"' if " " in option else option for option in options)


def hand_over(conf: Mapping[str, str], secret: Mapping[str, str]) -> None:
    """Launch the JVM and give it, from inside, the secret settings that the session needs when it is made.

    Args:
        conf: the session's settings, which a command line may have: key to text.
        secret: key to text.
    """
    from pyspark import SparkConf, SparkContext

    SparkContext._ensure_initialized(conf=SparkConf(loadDefaults=False).setAll([*conf.items()]))
    jvm: Java = SparkContext._jvm
    for key, value in secret.items():  # a property of the JVM is a default of its settings
        jvm.java.lang.System.setProperty(key, value)


@contextmanager
def environment(*, loopback: bool = True, python: bool = True) -> Iterator[None]:
    """Set what spark-submit reads from the process for the time of the launch, and put it back.

    Args:
        loopback: Spark takes no address but this machine's own. Executors on other machines would look for the
            driver on their own, so for them it must be False.
        python: workers run on our Python. Other machines have it elsewhere.
    """
    ours = {"JAVA_HOME": str(java.launcher()), "SPARK_HOME": str(java.spark_home())}
    if loopback:
        ours["SPARK_LOCAL_IP"] = LOOPBACK
    unset = ("PYSPARK_SUBMIT_ARGS", "SPARK_CONF_DIR", "JDK_JAVA_OPTIONS", "JAVA_TOOL_OPTIONS")
    before = {key: os.environ.get(key) for key in (*ours, *unset)}
    os.environ.update(ours)
    for key in unset:  # each of them would print a line, change the class path or both
        os.environ.pop(key, None)
    if python:
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    os.environ.setdefault("PYSPARK_DRIVER_PYTHON", sys.executable)
    try:
        yield
    finally:
        for key, value in before.items():
            os.environ.pop(key, None) if value is None else os.environ.__setitem__(key, value)


def require_master(master: str) -> None:
    """Refuse a standalone master that does not answer: Spark would knock for a minute and say something else.

    Raises:
        ValueError: nobody answers at any of its addresses.
    """
    if not master.startswith("spark://"):
        return
    for address in master.removeprefix("spark://").split(","):
        host, _, port = address.rpartition(":")
        with suppress(OSError, ValueError), socket.create_connection((host.strip("[]"), int(port)), timeout=10):
            return
    raise ArgumentError(f"nobody answers at {master}: is the cluster running, and reachable from here?")


def session_class() -> Any:
    """Return the class SparkSession of the installed PySpark.

    Raises:
        ValueError: PySpark is missing, or no Iceberg of ours fits it.
    """
    java.spark_home()
    from pyspark.sql import SparkSession

    return SparkSession


def utc() -> None:
    """Set the time zone of this process to UTC."""
    os.environ["TZ"] = "UTC"
    time.tzset()
