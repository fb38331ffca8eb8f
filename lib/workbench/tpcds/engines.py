"""The engines that are compared: one profile each in params/engines/*.yml, typed, unknown keys refused.

Here an engine runs in this process. Two versions of Spark cannot live in one, so a profile whose packages are not
those that are installed is refused, never run under a wrong name.
"""

import importlib.metadata
import time
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Literal

from pydantic import Field, ValidationError

from workbench import settings
from workbench.tpcds import answers, dialect, texts
from workbench.tpcds import data as generated


class Engine(settings.Strict):
    """One profile.

    Attributes:
        name: of its file.
        description: one line.
        family: whose code it is; engines of one family are no second opinion on each other.
        reads: Iceberg tables, or the generated Parquet files.
        decimals: how it drops the decimals that it has no room for.
        packages: Python packages and the versions that make it this engine.
        jars: coordinates by short name.
        conf: Spark settings.
    """

    name: str = Field(pattern=r"^[a-z][a-z0-9_]*$")
    description: str
    family: Literal["spark", "sail", "duckdb"]
    reads: Literal["iceberg", "parquet"]
    decimals: Literal["rounded", "cut"] = "rounded"
    packages: dict[str, str] = Field(min_length=1)
    jars: dict[str, str] = Field(default={})
    conf: dict[str, str | int | float | bool] = Field(default={})


@dataclass(frozen=True)
class Ran:
    """What an engine returned and how long that took, from the text to the last row."""

    answer: answers.Answer
    seconds: float


def names():
    """Return the profiles there are: name to file, sorted."""
    found = {}
    for folder in reversed(settings.places()):
        found |= {path.stem: path for path in (folder.parent / "engines").glob("*.yml")}
    return dict(sorted(found.items()))


def engine(name):
    """Read a profile.

    Raises:
        ValueError: there is none of that name, or its file is wrong; the message says which key.
    """
    known = names()
    if name not in known:
        close = settings.nearest(str(name), known)
        hint = f" (did you mean {close}?)" if close else ""
        raise ValueError(f"no engine {name!r}{hint}; there are {', '.join(known)}")
    values = settings.read_yaml(known[name])
    try:
        return Engine(**({"name": known[name].stem} | values))
    except ValidationError as error:
        raise ValueError(f"{known[name]}: " + "; ".join(_problem(e) for e in error.errors())) from None
    except TypeError:
        raise ValueError(f"{known[name]}: expected keys and values, found {type(values).__name__}") from None


def require(engine):
    """Refuse a profile that is not what is installed here.

    Raises:
        ValueError: a package is missing or of another version.
    """
    for package, wanted in engine.packages.items():
        try:
            there = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            there = "none"
        if there != wanted:
            raise ValueError(
                f"engine {engine.name} is {package} {wanted}, here is {there}: it needs a process of its own"
            )


def run(engine, query, session, *, namespace=None, limited=True):
    """Run one query and fetch its whole answer.

    Args:
        engine: Engine.
        query: its name.
        session: a SparkSession (also a Spark Connect one, which PySail answers), or a DuckDB connection.
        namespace: of the tables, for engines that read Iceberg; others find them as views of the session.
        limited: False drops the outermost LIMIT.

    Returns:
        Ran.

    Raises:
        ValueError: the profile is not what is installed, or a setting cannot be made in a running session.
    """
    require(engine)
    text = texts.text(query)
    if engine.family == "duckdb":
        said = dialect.to_duckdb(text)  # with its sort keys, which cost nothing: they are sorted by anyway
        start = time.perf_counter()
        table = session.execute(said.sql if limited else said.unlimited).to_arrow_table()
        seconds = time.perf_counter() - start
        found = answers.of(table.select(range(table.num_columns - said.hidden)))
        return Ran(found, seconds)
    text = text if limited else dialect.without_limit(text)
    with _configured(session, engine.conf), _using(session, namespace):
        start = time.perf_counter()
        table = session.sql(text).toArrow()
        seconds = time.perf_counter() - start
    return Ran(answers.of(table), seconds)


@contextmanager
def sail(data):
    """Start PySail and return its session, the 24 tables as views of the Parquet files.

    In a process without a classic Spark session only: the two clients do not live in one.

    Args:
        data: tpcds.data.Data.
    """
    from pysail.spark import SparkConnectServer
    from pyspark.sql import SparkSession

    server = SparkConnectServer(ip="127.0.0.1", port=0)
    server.start(background=True)
    try:
        spark = SparkSession.builder.remote(f"sc://127.0.0.1:{server.listening_address[1]}").getOrCreate()
        for table in generated.TABLES:
            spark.read.parquet(str(data.path(table))).createOrReplaceTempView(table)
        yield spark
        spark.stop()
    finally:
        server.stop()


@contextmanager
def _configured(spark, conf):
    """Make the profile's settings for a block; those that a running session cannot change must be there."""
    before = {}
    try:
        for key, value in conf.items():
            value = str(value).lower() if isinstance(value, bool) else str(value)
            there = spark.conf.get(key, None)
            if there == value:
                continue
            if not spark.conf.isModifiable(key):
                raise ValueError(f"{key} is {there}, the engine wants {value}: it needs a process of its own")
            before[key] = there
            spark.conf.set(key, value)
        yield
    finally:
        for key, value in before.items():
            spark.conf.unset(key) if value is None else spark.conf.set(key, value)


@contextmanager
def _using(spark, namespace):
    """Let unqualified table names mean those of a namespace, for a block."""
    if namespace is None:
        yield
        return
    before = spark.sql("SELECT current_catalog(), current_schema()").first()
    spark.catalog.setCurrentDatabase(namespace)
    try:
        yield
    finally:
        spark.catalog.setCurrentCatalog(before[0])
        if before[1]:
            spark.catalog.setCurrentDatabase(before[1])


def _problem(error):
    key = ".".join(str(part) for part in error["loc"])
    if error["type"] == "extra_forbidden":
        close = settings.nearest(key, Engine.model_fields)
        hint = f" (did you mean {close}?)" if close else ""
        return f"{key} is not a setting{hint}; it has {', '.join(Engine.model_fields)}"
    return f"{key}: {error['msg']}"
