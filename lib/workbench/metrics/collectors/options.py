"""JVM options of a garbage collector and of its log."""

import subprocess
from functools import cache
from pathlib import Path
from typing import Annotated, Literal, get_args

from workbench._base import java as javas
from workbench._base.bounds import Ge
from workbench._base.door import checked
from workbench._base.errors import ArgumentError

Name = Literal["Serial", "Parallel", "G1", "Z", "Shenandoah"]
_FLAGS = {
    "Serial": ["-XX:+UseSerialGC"],
    "Parallel": ["-XX:+UseParallelGC"],
    "G1": ["-XX:+UseG1GC"],
    "Z": ["-XX:+UseZGC"],
    "Shenandoah": ["-XX:+UseShenandoahGC"],
}
_GENERATIONAL = range(21, 24)  # releases that ask for it; 17 has none, from 24 on Z is nothing else


@checked
def options(
    collector: Name,
    log: str | Path,
    *,
    java: Annotated[int, Ge(17)],
    heap_bytes: Annotated[int, Ge(1 << 20)] | None = None,
) -> list[str]:
    """Return the JVM options for a collector whose log `read` takes.

    Args:
        collector: its name; Z is generational where the Java has it.
        log: file, written anew; its folder must be there.
        java: feature release of the JVM, 17 or later.
        heap_bytes: a heap of that size, fixed and touched before the first request, so that no pause is the
            machine's search for memory; left out, as the JVM decides.

    Returns:
        list of options.

    Raises:
        ValueError: there is no such collector, or the log's path has a character that ends an option.
    """
    path = str(Path(log).absolute())
    if any(sign in path for sign in ': "\n,'):
        raise ArgumentError(
            f"{path} has a blank, a colon, a comma or a quote, at which the JVM would end the option"
        )
    flags = list(_FLAGS[collector])
    if collector == "Z" and java in _GENERATIONAL:
        flags.append("-XX:+ZGenerational")
    if heap_bytes is not None:
        size = heap_bytes >> 20
        flags += [f"-Xms{size}m", f"-Xmx{size}m", "-XX:+AlwaysPreTouch"]
    return [*flags, f"-Xlog:gc*=info,safepoint=info:file={path}:uptime,level,tags:filecount=0"]


@checked
def available(java_program: str | Path) -> list[str]:
    """Return the names of the collectors that a JVM has, by asking it; a trimmed one may lack some.

    Args:
        java_program: path of `java`.

    Raises:
        ValueError: it does not run.
    """
    program = str(java_program)
    if not _starts(program):
        raise ArgumentError(f"java_program {program} must be a `java` that runs, and it does not")
    return [name for name in get_args(Name) if _starts(program, *_FLAGS[name])]


def require(collector: Name, java_program: str | Path) -> None:
    """Require that a JVM has a collector.

    Raises:
        ValueError: it does not, or does not run; the message has those that it has.
    """
    if not _starts(str(java_program), *_FLAGS[collector]):
        has = ", ".join(available(java_program))
        release = javas.version(java_program)
        raise ArgumentError(f"{java_program} ({release}) does not have the collector {collector}; it has {has}")


@cache
def _starts(program: str, *flags: str) -> bool:
    try:
        run = subprocess.run([program, *flags, "-version"], capture_output=True, timeout=60, check=False)
    except (OSError, subprocess.SubprocessError):
        return False
    return run.returncode == 0
