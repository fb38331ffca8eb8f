"""Environments: where a run happens, read from `params/environments/*.yml`, typed.

An environment names the catalog, the Spark settings and the jars. Unknown keys are refused with the nearest
valid one. A secret stands in it as a reference only, resolved when a session starts.
"""

import json
import os
from collections.abc import Collection
from contextlib import suppress
from importlib import resources
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import Field, ValidationError, model_validator

from workbench._base import secrets, yaml_files
from workbench._base.errors import ArgumentError
from workbench._base.strict import Strict, nearest

TEXTS = ("spark.conf", "catalog.properties", "kafka.config")  # whose values are texts to those who read them
RUN_ENVIRONMENT = "WORKBENCH_RUN_ENVIRONMENT"  # what a run has read for the processes below it
# what a person reads in every address of a bucket or a cluster: no secret, though a variable may hold it
SHOWN = {"warehouse", "master", "client.region", "rest.signing-region"}


class Embedded(Strict):
    """SQLite catalog and local files in one folder, shared by Spark and PyIceberg."""

    type: Literal["embedded"]
    name: str = Field(default="lake", pattern=r"^[a-z][a-z0-9_]*$")
    folder: str = "scratch"
    properties: dict[str, str] = Field(default_factory=dict)


class Remote(Strict):
    """A catalog that is already there: REST, Glue, Hive, or a database by JDBC."""

    type: Literal["rest", "glue", "hive", "jdbc"]
    name: str = Field(default="lake", pattern=r"^[a-z][a-z0-9_]*$")
    uri: str | None = None
    warehouse: str | None = None
    properties: dict[str, str] = Field(default_factory=dict)


class Spark(Strict):
    """Spark's size and further settings; `auto` is read off the machine."""

    master: str = "local[2]"
    shuffle_partitions: int = Field(default=2, ge=1)
    driver_memory: str = Field(default="auto", pattern=r"^(auto|\d+[mg])$")
    lifetime: Literal["short", "long"] = "short"
    conf: dict[str, str | int | float | bool] = Field(default_factory=dict)


class Kafka(Strict):
    """A Kafka cluster that is already there: addresses, and settings of librdkafka by which it is reached."""

    bootstrap: str = Field(min_length=1)
    config: dict[str, str] = Field(default_factory=dict)


class Environment(Strict):
    """One file of `params/environments`."""

    name: str
    description: str
    catalog: Annotated[Embedded | Remote, Field(discriminator="type")]
    spark: Spark = Field(default_factory=Spark)
    jars: tuple[str, ...] = ("iceberg", "sqlite", "local-files")
    stand_in: Literal["archive", "s3", "rest"] | None = None
    folder: str = "scratch"
    kafka: Literal["stand_in"] | Kafka | None = None

    @model_validator(mode="after")
    def _stand_in_and_catalog_agree(self) -> Self:
        cat, throw_away = self.catalog, getattr(self.catalog, "folder", None) == "scratch"
        if self.stand_in == "archive" and not throw_away:
            raise ArgumentError(
                "the stand-in archive keeps its objects in memory, so its catalog is embedded, "
                "with the folder scratch"
            )
        if self.stand_in == "s3" and not throw_away:
            raise ArgumentError("the stand-in s3 keeps an embedded catalog in its own folder; leave out `catalog`")
        if self.stand_in == "rest" and (cat.type != "rest" or cat.uri or cat.warehouse):
            raise ArgumentError("the stand-in rest is a catalog of type rest with its own uri and warehouse")
        if Path(self.folder).is_absolute() or ".." in Path(self.folder).parts:
            raise ArgumentError("folder is a path below home, or scratch")
        if self.folder != "scratch" and self.stand_in not in ("s3", "rest"):
            raise ArgumentError("folder is only for the stand-ins s3 and rest; leave it out")
        if cat.type in ("rest", "hive", "jdbc") and not cat.uri and self.stand_in != "rest":
            raise ArgumentError(f"a catalog of type {cat.type} needs a uri")
        return self

    @model_validator(mode="after")
    def _secrets_are_references(self) -> Self:
        for where, block in (
            ("catalog.properties", self.catalog.properties),
            ("spark.conf", self.spark.conf),
            ("catalog", {key: getattr(self.catalog, key, None) or "" for key in ("uri", "warehouse")}),
            ("spark", {"master": self.spark.master}),
            ("kafka.config", getattr(self.kafka, "config", {})),
        ):
            for key, value in block.items():
                if secret := secrets.kind(key, str(value)):
                    instead = "write a reference instead: env:NAME or ssm:/path"
                    raise ArgumentError(f"{where}.{key} holds {secret}; {instead}")
        return self


def home() -> Path:
    """Return the folder that holds `params/`, `runs/` and `.workbench/`.

    `$WORKBENCH_HOME`, else the nearest folder upwards from here with `params/environments`, else the checkout
    this package was installed from, else the working folder.
    """
    if named := os.environ.get("WORKBENCH_HOME"):
        return Path(named).resolve()
    here = Path.cwd()
    for folder in (here, *here.parents, Path(__file__).resolve().parents[3]):
        if (folder / "params" / "environments").is_dir():
            return folder
    return here


def places() -> list[Path]:
    """Return the folders in which environments are looked up, first come first served."""
    folders = []
    if named := os.environ.get("WORKBENCH_PARAMS"):
        folders.append(Path(named) / "environments")
    if named := os.environ.get("WORKBENCH_HOME"):
        folders.append(Path(named) / "params" / "environments")
    here = Path.cwd()
    folders += [folder / "params" / "environments" for folder in (here, *here.parents)]
    builtin = Path(str(resources.files("workbench"))) / "environments"
    folders.append(builtin if builtin.is_dir() else Path(__file__).resolve().parents[3] / "params/environments")
    return list(dict.fromkeys(folder for folder in folders if folder.is_dir()))  # in a clone the last is here, too


def environments() -> dict[str, Path]:
    """Return the file of each environment: name to path, sorted by name."""
    files: dict[str, Path] = {}
    for folder in reversed(places()):
        files |= {path.stem: path for path in folder.glob("*.yml")}
    return dict(sorted(files.items()))


def environment(name: str | Path) -> Environment:
    """Read an environment.

    Within a run, its own environment is the one that the run began with, even if the file has changed since.

    Args:
        name: a name (`local`), or the path of a .yml file.

    Returns:
        Environment.

    Raises:
        ValueError: there is no such environment, or its file is wrong; the message says which key.
    """
    path = environment_file(name)
    return _of_the_run(path) or parse(yaml_files.read(path, texts=TEXTS), path)


def environment_file(name: str | Path) -> Path:
    """Return the file of an environment.

    Args:
        name: a name (`local`), or the path of a .yml file.

    Raises:
        ValueError: there is no such environment; the message lists those there are.
    """
    known = environments()
    if str(name).endswith((".yml", ".yaml")):
        if not Path(name).is_file():
            raise ArgumentError(f"no environment file {name}; the named ones are {', '.join(known)}")
        return Path(name)
    if name in known:
        return known[name]
    looked = ", ".join(str(folder) for folder in places())
    listed = f"there are {', '.join(known)} (looked in {looked})"
    raise ArgumentError(f"no environment {name!r}{_near(str(name), known)}; {listed}")


def for_children(name: str | Path, env: Environment) -> dict[str, str]:
    """Return the variable by which the processes of a run have its environment without reading the file again.

    Args:
        name: by which the environment was found.
        env: what `environment` returned for it. It holds references and no secrets.
    """
    file = str(environment_file(name).resolve())
    return {RUN_ENVIRONMENT: json.dumps({"file": file, "environment": env.model_dump(mode="json")})}


def _of_the_run(path: Path) -> Environment | None:
    """Return the environment in a file as the run above this process read it; None where it read another."""
    if not (text := os.environ.get(RUN_ENVIRONMENT)):
        return None
    try:
        handed_on = json.loads(text)
        return Environment(**handed_on["environment"]) if handed_on["file"] == str(path.resolve()) else None
    except (ValueError, LookupError, TypeError):  # of another version of this library: the file is still there
        return None


def parse(values: Any, path: str | Path) -> Environment:
    """Turn the values of an environment file into an Environment; errors name the file and the key."""
    if not isinstance(values, dict):
        raise ArgumentError(f"{path}: expected keys and values, found {type(values).__name__}")
    try:
        return Environment.model_validate({"name": Path(path).stem} | values)
    except ValidationError as error:
        raise ArgumentError(f"{path}: " + "; ".join(_problem(e, values) for e in error.errors())) from None


def references(environment: Environment | str | None) -> list[str]:
    """Return the references (`env:NAME`, `ssm:/path`) in an environment, each once, sorted.

    Args:
        environment: it, or its name; None, and the name of one that is gone or wrong, have none.
    """
    return sorted({value for _, value in _references(environment)})


def secret_values(environment: Environment | str | None) -> list[str]:
    """Return the values that an environment's references stand for, as far as they can be resolved.

    Args:
        environment: it, or its name; None, and the name of one that is gone or wrong, have none.
    """
    values = []
    for reference in sorted({value for key, value in _references(environment) if key not in SHOWN}):
        with suppress(ValueError):
            values.append(secrets.resolve(reference))
    return values


def catalog_references(env: Environment) -> dict[str, str]:
    """Return the references in an environment's catalog: setting to reference."""
    values = {key: getattr(env.catalog, key, None) for key in ("uri", "warehouse")} | env.catalog.properties
    return {key: value for key, value in values.items() if value and secrets.REFERENCE.fullmatch(value)}


def _references(env: Environment | str | None) -> list[tuple[str, str]]:
    """Return (setting, reference) of all references in an environment, which is given or named."""
    if not isinstance(env, Environment):
        try:
            env = environment(env) if env else None
        except ValueError:
            env = None
    if env is None:
        return []
    others = [("master", env.spark.master), *env.spark.conf.items(), *getattr(env.kafka, "config", {}).items()]
    texts = [(key, value) for key, value in others if isinstance(value, str)]
    return [*catalog_references(env).items(), *(text for text in texts if secrets.REFERENCE.fullmatch(text[1]))]


def _near(name: str, valid: Collection[str]) -> str:
    close = nearest(name, valid)
    return f" (did you mean {close}?)" if close else ""


def _problem(error: Any, values: dict[str, Any]) -> str:
    where = [str(part) for part in error["loc"] if part not in ("embedded", "rest", "remote")]
    where = [w for w in where if not (w in ("glue", "hive", "jdbc") and where[0] == "catalog" and w != where[-1])]
    key = ".".join(where) or "file"
    if error["type"].startswith("union_tag"):
        kinds = "embedded, rest, glue, hive, jdbc"
        kind = (values.get("catalog") or {}).get("type")
        lost = "; a Hadoop catalog loses rows when two write" if kind == "hadoop" else ""
        return f"catalog.type is one of {kinds}, found {kind!r}{lost}"
    if error["type"] == "extra_forbidden":
        valid = _fields(where[:-1], values)
        return f"{key} is not a setting{_near(where[-1], valid)}; it has {', '.join(valid)}"
    return f"{key}: {error['msg'].removeprefix('Value error, ')}" + (
        f", found {error['input']!r}" if isinstance(error.get("input"), str | int | float) else ""
    )


def _fields(where: list[str], values: dict[str, Any]) -> list[str]:
    if where[:1] == ["catalog"]:
        kind = (values.get("catalog") or {}).get("type")
        return list((Embedded if kind == "embedded" else Remote).model_fields)
    return list((Spark if where[:1] == ["spark"] else Environment).model_fields)
