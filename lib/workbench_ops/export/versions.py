"""Versions of AWS Glue: what each brings, what it lacks, from glue.toml beside this module."""

import re
import sys
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from workbench._base.door import checked
from workbench._base.errors import ArgumentError

CANNOT_RUN, DIFFERS = "cannot run", "differs"
USED = ("modules", "functions", "attributes", "library")  # fields of a feature: names by which its use is seen


@dataclass(frozen=True)
class Feature:
    """Something that not every version has, or that behaves in another way there.

    Attributes:
        name: in words.
        grade: `cannot run` or `differs`.
        modules: imported when it is used.
        functions: of pyspark.sql.functions.
        attributes: of any object.
        library: functions of this library that use it.
        sql: patterns, compiled, found in texts.
        why: what happens without it.
        instead: what to do.
        source: address.
    """

    name: str
    grade: str
    modules: tuple[str, ...]
    functions: tuple[str, ...]
    attributes: tuple[str, ...]
    library: tuple[str, ...]
    sql: tuple[re.Pattern[str], ...]
    why: str
    instead: str
    source: str


@dataclass(frozen=True)
class Glue:
    """A version of Glue.

    Attributes:
        name: `6.0`.
        spark: version of Spark.
        iceberg: version of Iceberg.
        python: version of Python, `3.13`.
        modules: import names that it has, the standard library's among them.
        removed: names of the standard library that this Python no longer has.
        features: those it lacks, or in which it differs.
    """

    name: str
    spark: str
    iceberg: str
    python: str
    modules: frozenset[str]
    removed: frozenset[str]
    features: tuple[Feature, ...]


@checked
def names() -> tuple[str, ...]:
    """Return the names of the versions, newest first."""
    return tuple(table()["versions"])


def version(name: str) -> Glue:
    """Return a version of Glue.

    Raises:
        ArgumentError: there is none of that name.
    """
    known = table()["versions"]
    if str(name) not in known:
        raise ArgumentError(f"no Glue version {name!r}; there are {', '.join(known)}")
    brought = known[str(name)]
    gone = {module for other in known.values() for module in other["removed"]}
    present = {*table()["modules"]["both"], *brought["modules_too"], *sys.stdlib_module_names, *gone}
    lacking = tuple(_feature(feature, brought) for feature in table()["features"] if _lacks(brought, feature))
    removed = frozenset(brought["removed"])
    return Glue(
        str(name),
        brought["spark"],
        brought["iceberg"],
        brought["python"],
        frozenset(present) - removed,
        removed,
        lacking,
    )


def dpus(worker: str) -> float:
    """Return the DPUs of a worker type.

    Raises:
        ArgumentError: there is no such type.
    """
    known = table()["workers"]
    if worker not in known:
        raise ArgumentError(f"no worker type {worker!r}; there are {', '.join(known)}")
    return known[worker]


@cache
def table() -> dict[str, Any]:
    """Return the content of glue.toml."""
    return tomllib.loads((Path(__file__).with_name("glue.toml")).read_text(encoding="utf-8"))


def _lacks(brought: Mapping[str, Any], feature: Mapping[str, Any]) -> bool:
    least = {engine: feature[engine] for engine in ("spark", "iceberg") if engine in feature}
    return not least or any(_parts(brought[engine]) < _parts(first) for engine, first in least.items())


def _parts(text: str) -> tuple[int, ...]:
    return tuple(int(part) for part in text.split("."))


def _feature(feature: Mapping[str, Any], brought: Mapping[str, Any]) -> Feature:
    least = " and ".join(
        f"{engine.title()} {feature[engine]}" for engine in ("spark", "iceberg") if engine in feature
    )
    why = feature.get("why", "they came with {least}, and this is Spark {spark} with Iceberg {iceberg}")
    used: dict[str, Any] = {key: tuple(feature.get(key, ())) for key in USED}
    return Feature(
        name=feature["name"],
        grade=feature.get("grade", CANNOT_RUN),
        sql=tuple(re.compile(text) for text in feature.get("sql", ())),
        why=why.format(least=least, spark=brought["spark"], iceberg=brought["iceberg"]),
        instead=feature["instead"],
        source=feature["source"],
        **used,
    )
