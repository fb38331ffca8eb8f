"""Four tables of TPC-H, made once a scale factor by tpchgen-cli and kept in the user's cache. No TPC result.

    data = tpch.generate(0.01)
    tpch.load(spark, data, "shop")                   # nation, customer, orders and lineitem in Iceberg
    with tpch.connect(data, schema="shop") as duck:  # the same tables by another engine, from the generated files
        duck.sql("SELECT count(*) FROM shop.lineitem")

Keys, prices and discounts are those of DuckDB's dbgen; texts such as comments are other ones.
"""

import functools
import importlib.metadata
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from workbench._base import duck, files, identifiers
from workbench._base.bounds import Ge, Le
from workbench._base.door import checked
from workbench._base.errors import MissingPackageError, ProcessError
from workbench._base.typing import SparkSession

TABLES = ("nation", "customer", "orders", "lineitem")
PACKAGE = "tpchgen-cli"


@dataclass(frozen=True)
class Data:
    """Tables of a scale factor.

    Attributes:
        scale: the scale factor.
        folder: holds <table>.parquet.
    """

    scale: float
    folder: Path

    def path(self, table: str) -> Path:
        """Return the Parquet file of a table."""
        return self.folder / f"{table}.parquet"


@checked
def generate(scale: Annotated[float, Ge(0.001), Le(10)], *, cache: str | Path | None = None) -> Data:
    """Return the tables of a scale factor, generated where they are not there.

    Processes that ask at once wait for the one that generates; one that is killed leaves nothing that is taken for
    data.

    Args:
        scale: scale factor, 0.001 to 10; at 1 the Parquet files have 0.4 gigabytes.
        cache: folder; the user's own by default.

    Raises:
        ValueError: the scale factor is out of range.
        ModuleNotFoundError: tpchgen-cli is not installed.
        ChildProcessError: it failed.
    """
    from filelock import FileLock

    program, version = _program()
    cache = Path(cache) if cache else files.cache() / "tpch"
    folder = cache / f"sf{scale:g}-{PACKAGE}{version}"
    cache.mkdir(parents=True, exist_ok=True)
    with FileLock(cache / f"{folder.name}.lock"):
        if not folder.is_dir():
            part = cache / f"{folder.name}.part"  # of one that was killed: nobody else writes here now
            shutil.rmtree(part, ignore_errors=True)
            _run(program, scale, part)
            part.rename(folder)
    return Data(scale, folder)


@checked
def load(spark: SparkSession, data: Data, namespace: str) -> None:
    """Write the tables to Iceberg; tables of their names are replaced."""
    for table in TABLES:
        name = identifiers.quoted(f"{namespace}.{table}")
        spark.sql(f"DROP TABLE IF EXISTS {name} PURGE")
        spark.read.parquet(f"file://{data.path(table)}").writeTo(name).using("iceberg").create()


@checked
@contextmanager
def connect(data: Data, *, schema: str) -> Iterator[Any]:
    """Open DuckDB with the tables as views of the generated files, in a schema; it is closed with the context.

    Yields:
        Connection of DuckDB.
    """
    import duckdb

    with duckdb.connect(config=dict(duck.OFFLINE)) as connection:
        connection.execute(f"CREATE SCHEMA {duck.quoted(schema)}")
        for table in TABLES:
            file = duck.literal(str(data.path(table)))
            connection.execute(f"CREATE VIEW {duck.quoted(schema)}.{table} AS FROM read_parquet({file})")
        yield connection


def _run(program: str, scale: float, folder: Path) -> None:
    command = [program, "parquet", "--scale-factor", f"{scale:g}", "--tables", ",".join(TABLES)]
    done = subprocess.run(
        [*command, "--output-dir", str(folder), "--quiet"], capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise ProcessError(f"{PACKAGE} ended with {done.returncode}: {done.stderr.strip()[-300:]}")


@functools.cache
def _program() -> tuple[str, str]:
    """Return the path of the program in its package, and the version."""
    try:
        package = importlib.metadata.distribution(PACKAGE)
    except importlib.metadata.PackageNotFoundError:
        raise MissingPackageError(
            f"{PACKAGE} is not installed: pip install 'iceberg-workbench[tpch]'", name=PACKAGE
        ) from None
    names = (PACKAGE, f"{PACKAGE}.exe")
    programs = [Path(str(file.locate())).resolve() for file in package.files or () if file.name in names]
    return str(programs[0]), package.version
