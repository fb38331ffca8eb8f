"""Versions of AWS Glue: what each brings, what it lacks, from glue.toml beside this module."""

import re
import sys
import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from workbench._base.errors import ArgumentError

CANNOT_RUN, DIFFERS = "cannot run", "differs"


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
    modules: tuple
    functions: tuple
    attributes: tuple
    library: tuple
    sql: tuple
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
        modules: import names that are there, the standard library's among them.
        removed: names of the standard library that this Python no longer has.
        features: those it lacks, or in which it differs.
    """

    name: str
    spark: str
    iceberg: str
    python: str
    modules: frozenset
    removed: frozenset
    features: tuple


def names():
    """Return the names of the versions there are, newest first."""
    return tuple(table()["versions"])


def version(name):
    """Return a version of Glue.

    Raises:
        ValueError: there is none of that name.
    """
    known = table()["versions"]
    if str(name) not in known:
        raise ArgumentError(f"no Glue version {name!r}; there are {', '.join(known)}")
    one = known[str(name)]
    gone = {word for each in known.values() for word in each["removed"]}
    here = {*table()["modules"]["both"], *one["modules_too"], *sys.stdlib_module_names, *gone}
    lacking = tuple(_feature(found, one) for found in table()["features"] if _lacks(one, found))
    removed = frozenset(one["removed"])
    return Glue(
        str(name), one["spark"], one["iceberg"], one["python"], frozenset(here) - removed, removed, lacking
    )


def dpus(worker):
    """Return the DPUs of a worker type.

    Raises:
        ValueError: there is no such type.
    """
    known = table()["workers"]
    if worker not in known:
        raise ArgumentError(f"no worker type {worker!r}; there are {', '.join(known)}")
    return known[worker]


@cache
def table():
    """Return glue.toml as it stands."""
    return tomllib.loads((Path(__file__).with_name("glue.toml")).read_text(encoding="utf-8"))


def _lacks(one, feature):
    wanted = {engine: feature[engine] for engine in ("spark", "iceberg") if engine in feature}
    return not wanted or any(_parts(one[engine]) < _parts(least) for engine, least in wanted.items())


def _parts(text):
    return tuple(int(part) for part in text.split("."))


def _feature(found, one):
    least = " and ".join(f"{engine.title()} {found[engine]}" for engine in ("spark", "iceberg") if engine in found)
    why = found.get("why", "they came with {least}, and this is Spark {spark} with Iceberg {iceberg}")
    return Feature(
        found["name"],
        found.get("grade", CANNOT_RUN),
        *(tuple(found.get(key, ())) for key in ("modules", "functions", "attributes", "library")),
        tuple(re.compile(text) for text in found.get("sql", ())),
        why.format(least=least, spark=one["spark"], iceberg=one["iceberg"]),
        found["instead"],
        found["source"],
    )
