"""In a kernel of `workbench lab`: where PySpark starts a JVM, the keeper is asked for the spare first."""

import importlib.abc
import importlib.machinery
import os
import socket
import subprocess
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from types import ModuleType
from typing import IO, Any

import psutil

from workbench._base.typing import Java
from workbench_ops.lab.spare import VARIABLE, wire
from workbench_ops.lab.spare import recipe as recipes
from workbench_ops.lab.spare.recipe import Recipe

MODULE = "pyspark.java_gateway"
SECONDS = 5.0  # for the keeper's answer
GATEWAY = ("PYSPARK_GATEWAY_PORT", "PYSPARK_GATEWAY_SECRET")
Launch = Callable[..., Java]


class Jvm:
    """What PySpark keeps of a JVM: its number, the pipe that it lives by, and its end."""

    def __init__(self, pid: int, stdin: IO[bytes]) -> None:
        self.pid, self.stdin = pid, stdin

    def wait(self, timeout: float | None = None) -> None:
        """Wait for its end.

        Raises:
            subprocess.TimeoutExpired: it is still there.
        """
        with suppress(psutil.NoSuchProcess):
            try:
                psutil.Process(self.pid).wait(timeout)
            except psutil.TimeoutExpired as error:
                raise subprocess.TimeoutExpired("the JVM", timeout or 0) from error


class Finder(importlib.abc.MetaPathFinder):
    """Changes PySpark's module that starts JVMs when it is imported: a kernel without Spark imports nothing."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        """Return the module's own spec, with a loader that puts the spare before its function."""
        if fullname != MODULE:
            return None
        spec = importlib.machinery.PathFinder.find_spec(fullname, path, target)
        if spec is not None and spec.loader is not None:
            spec.loader.exec_module = _then_changed(spec.loader.exec_module)  # type: ignore[method-assign, assignment]
        return spec


def _then_changed(execute: Callable[[ModuleType], None]) -> Callable[[ModuleType], None]:
    def exec_module(module: ModuleType) -> None:
        execute(module)
        module.launch_gateway = asking_first(module.launch_gateway)  # type: ignore[attr-defined]

    return exec_module


def install() -> None:
    """Have this kernel ask for the spare, where `workbench lab` keeps one and no run of a notebook started it."""
    if os.environ.get(VARIABLE) and MODULE not in sys.modules and "WORKBENCH_RUN_DIR" not in os.environ:
        sys.meta_path.insert(0, Finder())


def asking_first(launch: Launch) -> Launch:
    """Return PySpark's `launch_gateway` with the spare before it; without a fitting one it does what it did."""

    def launch_gateway(conf: Any = None, popen_kwargs: Any = None) -> Java:
        settings = dict(conf.getAll()) if conf else {}
        elsewhere = not settings.get("spark.master", "local").startswith("local")
        if elsewhere or popen_kwargs or GATEWAY[0] in os.environ:
            return launch(conf, popen_kwargs)
        if (jvm := taken(recipes.of(settings))) is not None:
            with suppress(Exception):  # it died since: whatever Py4J says of that
                return _attached(launch, *jvm)
            jvm[1].stdin.close()
        return launch(conf, popen_kwargs)

    return launch_gateway


def taken(recipe: Recipe) -> tuple[dict[str, Any], Jvm] | None:
    """Take the spare of a recipe: where it listens, and what it lives by; None where there is none such."""
    with suppress(OSError, ValueError):
        answer, descriptors = _asked({"recipe": recipe})
        if descriptors:
            return answer, Jvm(answer["pid"], os.fdopen(descriptors[0], "wb"))
    return None


def ready() -> bool:
    """Return whether a spare is there for the next kernel that asks for its like."""
    with suppress(OSError, ValueError):
        return bool(_asked({})[0]["ready"])
    return False


def _asked(question: dict[str, Any]) -> tuple[dict[str, Any], list[int]]:
    with socket.socket(socket.AF_UNIX) as connection:
        connection.settimeout(SECONDS)
        connection.connect(os.environ.get(VARIABLE, ""))
        wire.send(connection, question)
        return wire.receive(connection)


def _attached(launch: Launch, told: dict[str, Any], jvm: Jvm) -> Java:
    """Return the gateway to a spare, as PySpark makes it to a JVM that is there already."""
    os.environ.update(zip(GATEWAY, (str(told["port"]), told["secret"]), strict=True))
    try:
        gateway = launch()
    finally:
        for name in GATEWAY:  # a process that the kernel starts would take our JVM for its own
            del os.environ[name]
    gateway.proc = jvm
    _tell_here(gateway.jvm)
    return gateway


def _tell_here(java: Java) -> None:
    """Let what the JVM and its Python workers print arrive in this kernel, as that of a JVM of its own does."""
    for descriptor, to in ((1, java.System.setOut), (2, java.System.setErr)):
        place = Path(f"/proc/{os.getpid()}/fd/{descriptor}")
        if place.exists():
            to(java.java.io.PrintStream(java.java.io.FileOutputStream(str(place), True), True))  # at its end
