"""What is wrong with a machine's set-up, a sentence each, with what to do."""

import importlib.metadata
import shutil
import socket
import sys
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path

from workbench import session
from workbench._base import jars, java, settings
from workbench.session import services as stand_ins
from workbench_ops import account

NEEDED_DISK_GIB = 2
NEEDED_MEMORY_GIB = 3


@dataclass(frozen=True)
class Finding:
    """One thing that was examined: `wrong` and `remedy` are empty if it is right; `jar` names a jar to fetch."""

    what: str
    wrong: str = ""
    remedy: str = ""
    jar: str = ""


def findings(*, environment: str = "local", port: int | None = None) -> list[Finding]:
    """Examine everything that a session needs.

    Args:
        environment: name or path of the environment whose jars are examined.
        port: a port that must be free, or None.

    Returns:
        list of Finding, in the order in which things must be corrected.
    """
    results = [
        python(sys.version_info[:3]),
        java_runtime(),
        *packages(),
        *(jar(name) for name in (*settings.environment(environment).jars, *_of_glue(environment))),
        *stand_in(environment),
    ]
    results += [disk(settings.home()), memory(), *aws(environment)]
    return results + ([free_port(port)] if port is not None else [])


def _of_glue(environment: str) -> Collection[str]:
    """Return the names of the jars that the kernel like Glue's has, where an environment's catalog is Glue's."""
    glue = settings.environment(environment).catalog.type == "glue"
    return java.pair()["glue"].values() if glue else ()


def python(version: tuple[int, ...]) -> Finding:
    """Examine Python: 3.11 or newer."""
    text = ".".join(map(str, version))
    if version < (3, 11):
        return Finding(
            "Python", f"Python {text} is too old, 3.11 is needed", "make setup PYTHON=python3.11 (or newer)"
        )
    return Finding(f"Python {text}")


def java_runtime() -> Finding:
    """Examine Java: 17 or 21, and which one is taken."""
    candidates = java.candidates()
    try:
        path = java.find()
    except ValueError:
        versions = "; ".join(f"{where} has {text or 'no working Java'}" for where, _, text in candidates)
        wrong = f"no Java 17 or 21: {versions}" if candidates else "there is no Java"
        return Finding(
            "Java", wrong, "make setup (it installs a Java 21 by pip), or set JAVA_HOME to a Java 17 or 21"
        )
    where, _, text = next(s for s in candidates if s[1].resolve() == path)
    return Finding(f"Java {text} from {where}")


def packages() -> list[Finding]:
    """Examine PySpark, an Iceberg that fits it, and pandas."""
    try:
        java.spark_home()
        version, pair = importlib.metadata.version("pyspark"), java.pair()
        pyspark = Finding(f"PySpark {version} with Iceberg {pair['iceberg']}")
    except ValueError as error:
        wrong, _, remedy = str(error).partition(": ")
        pyspark = Finding("PySpark", wrong, remedy)
    return [pyspark, pandas()]


def pandas() -> Finding:
    """Examine pandas: before 3, whose missing strings PySpark 4.1 understands."""
    try:
        version = importlib.metadata.version("pandas")
    except importlib.metadata.PackageNotFoundError:
        return Finding("pandas", "pandas is not installed", "pip install 'pandas>=2.3,<3'")
    if int(version.split(".")[0]) >= 3:
        wrong = f"pandas {version} with PySpark 4.1 turns missing strings into the text 'nan'"
        return Finding("pandas", wrong, "pip install 'pandas>=2.3,<3'")
    return Finding(f"pandas {version}")


def jar(name: str) -> Finding:
    """Examine a jar: in the cache, with the right checksum."""
    (coordinate,) = table = jars.named(name)
    if problem := jars.problems(table).get(coordinate):
        return Finding(coordinate, f"the jar {coordinate} is {problem}", "workbench doctor --fix fetches it", name)
    return Finding(coordinate)


def stand_in(environment: str) -> list[Finding]:
    """Examine the packages of the stand-in that an environment names."""
    env = settings.environment(environment)
    try:
        stand_ins.require(env)
    except ModuleNotFoundError as error:
        wrong, _, remedy = str(error).partition(": ")
        return [Finding(f"stand-in {env.stand_in}", wrong, remedy)]
    return [Finding(f"stand-in {env.stand_in}")] if env.stand_in else []


def aws(environment: str) -> list[Finding]:
    """Examine the AWS account that an environment's catalog is in, if it is in one, by reading alone."""
    env = settings.environment(environment)
    return [Finding(*finding) for finding in account.findings(env)] if account.concerns(env) else []


def disk(folder: Path) -> Finding:
    """Examine the disk: room for a lake, the run folders and the class-data archive."""
    free = shutil.disk_usage(folder).free / 2**30
    if free < NEEDED_DISK_GIB:
        wrong = f"{free:.1f} GiB free in the project's folder, {NEEDED_DISK_GIB} GiB are needed"
        return Finding("disk", wrong, "free some, or `workbench runs --prune --older-than-days 30`")
    return Finding(f"{free:.0f} GiB of disk free")


def memory() -> Finding:
    """Examine the memory: enough for the driver, Python and the system."""
    machine = session.machine_memory_bytes() / 2**30
    if machine < NEEDED_MEMORY_GIB:
        wrong = f"{machine:.1f} GiB of memory, {NEEDED_MEMORY_GIB} GiB are needed"
        return Finding(
            "memory",
            wrong,
            "use a larger machine or container, or set spark.driver_memory in the environment",
        )
    return Finding(f"{machine:.0f} GiB of memory")


def free_port(port: int) -> Finding:
    """Examine a port on the loopback address: nobody listens on it."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError as error:
            return Finding(f"port {port}", f"port {port} is taken ({error.strerror})", "make lab PORT=another")
    return Finding(f"port {port} is free")


def main(*, fix: bool = False, environment: str = "local", port: int | None = None) -> int:
    """Print the findings, fetch jars if told to or if the user agrees, and return the exit code.

    Args:
        fix: fetch missing and corrupt jars and build the class-data archive without asking.
        environment: name or path of the environment to examine.
        port: a port that must be free, or None.

    Returns:
        int: 0 if everything is right, otherwise 1.
    """
    results = findings(environment=environment, port=port)
    missing = [finding.jar for finding in results if finding.jar]
    if missing and not fix and sys.stdin.isatty():
        fix = input(f"Fetch {', '.join(missing)}? [y/N] ").strip().lower() == "y"
    if fix and not results[1].wrong and not results[2].wrong:
        jars.fetch(jars.named(*missing))
        results = findings(environment=environment, port=port)
        names = settings.environment(environment).jars
        if names and not any(finding.wrong for finding in results):  # a cluster's own jars are not on this machine
            results.append(archive(names))
    for finding in results:
        print(f"wrong  {finding.wrong}: {finding.remedy}" if finding.wrong else f"ok     {finding.what}")
    return 1 if any(finding.wrong for finding in results) else 0


def archive(names: Sequence[str]) -> Finding:
    """Examine the class-data archive of a jar set, built when missing; without it sessions start slower."""
    if session.class_data_options(names):
        return Finding("class-data archive for a quick start")
    return Finding("no class-data archive: sessions start slower and are the same otherwise")
