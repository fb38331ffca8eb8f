"""The data: made once a scale factor by DuckDB's dsdgen, kept as Parquet in the user's cache."""

import hashlib
import importlib.metadata
import importlib.util
import json
import os
import shutil
import tempfile
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any

from workbench import session
from workbench._base import files
from workbench._base.door import checked
from workbench._base.errors import ArgumentError

TABLES = (
    "call_center", "catalog_page", "catalog_returns", "catalog_sales", "customer", "customer_address",
    "customer_demographics", "date_dim", "household_demographics", "income_band", "inventory", "item", "promotion",
    "reason", "ship_mode", "store", "store_returns", "store_sales", "time_dim", "warehouse", "web_page",
    "web_returns", "web_sales", "web_site",
)  # fmt: skip
# Generators and query texts disagree on two names. What the texts say counts; q30 fails on the other spelling.
# Integers are INT, as TPC-DS declares them; DuckDB says BIGINT, for which Spark leaves a quotient fewer decimals.
SPELLINGS = {"c_last_review_date_sk": "c_last_review_date", "s_tax_precentage": "s_tax_percentage"}
MANIFEST = "data.json"
# Counted up when the same generator's rows are written in another way.
FORM = 1


@dataclass(frozen=True)
class Table:
    """One generated table: rows, bytes of its Parquet file, and a digest of its rows in any order."""

    rows: int
    bytes: int
    digest: str


@dataclass(frozen=True)
class Data:
    """The 24 tables at one scale factor.

    Attributes:
        scale: the scale factor as text: 0.01, 1.
        folder: holds <table>.parquet.
        digest: of all columns and rows; the same digest is the same data.
        versions: of the generator's packages.
        tables: name to Table.
    """

    scale: str
    folder: Path
    digest: str
    versions: Mapping[str, str]
    tables: Mapping[str, Table]

    def path(self, table: str) -> Path:
        """Return the Parquet file of a table."""
        return self.folder / f"{table}.parquet"


@checked
def generate(scale: str | float | Decimal, *, cache: str | Path | None = None) -> Data:
    """Return the data of a scale factor, generated when it is not there.

    A folder that lacks a file, or holds one of another size, is generated anew. Processes that ask at once wait
    for the one that generates; one that is killed leaves nothing that is taken for data.

    Args:
        scale: scale factor, 0.01 to 10; 1 is about a gigabyte of text and 0.4 of Parquet.
        cache: folder; the user's own by default.

    Returns:
        Data.

    Raises:
        ValueError: the scale factor is out of range, or DuckDB or its extension is not installed.
    """
    from filelock import FileLock

    factor, versions = _scale(scale), _versions()
    cache = Path(cache) if cache else files.cache() / "tpcds"
    folder = cache / f"sf{factor}-duckdb{versions['duckdb']}-form{FORM}"
    if data := _read(folder):
        return data
    cache.mkdir(parents=True, exist_ok=True)
    with FileLock(cache / f"{folder.name}.lock"):
        if data := _read(folder):
            return data
        part = cache / f"{folder.name}.part"  # of one that was killed: nobody else writes here now
        for old in (part, folder):
            shutil.rmtree(old, ignore_errors=True)
        part.mkdir()
        _write(part, factor, versions)
        part.rename(folder)
    if data := _read(folder):
        return data
    raise RuntimeError(f"{folder} was generated incompletely")


def connect(data: Data, *, threads: int = 2) -> Any:
    """Return a DuckDB connection in which the 24 tables are views of the Parquet files. Close it when done.

    It takes a quarter of the memory at most, and the disk for more: the engine that it judges runs beside it.
    """
    memory = session.machine_memory_bytes() // 4
    return over({table: [str(data.path(table))] for table in data.tables}, threads=threads, memory_bytes=memory)


def over(files: Mapping[str, Iterable[str]], *, threads: int = 2, memory_bytes: int | None = None) -> Any:
    """Return a DuckDB connection in which tables are views of Parquet files.

    Args:
        files: name to list of paths.
        threads: of DuckDB.
        memory_bytes: the most that it takes; DuckDB's own default is four fifths of the machine's.
    """
    # its default is a folder in the working one
    config = {"temp_directory": f"{tempfile.gettempdir()}/workbench-duckdb-{os.getpid()}"}
    if memory_bytes:
        config["memory_limit"] = f"{memory_bytes >> 20}MiB"
    connection = _duckdb(":memory:", threads, **config)
    for table, paths in files.items():
        connection.execute(f"CREATE VIEW {table} AS SELECT * FROM {_parquet(*paths)}")
    return connection


def _parquet(*paths: str | Path) -> str:
    """Return what reads these files and no others, with the columns that are in them and no others.

    DuckDB takes a path for a pattern, and k=7 in one for a column, which hides the one of that name in the file.
    """
    plain = ("".join(f"[{sign}]" if sign in "[*?" else sign for sign in str(path)) for path in paths)
    return f"read_parquet([{', '.join(map(_literal, plain))}], hive_partitioning = false)"


def _literal(text: str | Path) -> str:
    return "'" + str(text).replace("'", "''") + "'"


def _write(part: Path, scale: str, versions: Mapping[str, str]) -> None:
    """Generate into a database file, because a scale factor of 10 does not fit the memory, and copy to Parquet."""
    connection = _duckdb(str(part / "generated.duckdb"), 2)
    connection.execute(f"LOAD {_literal(_extension(versions))}")
    connection.execute(f"CALL dsdgen(sf={scale})")
    tables: dict[str, dict[str, Any]] = {}
    for table in TABLES:
        described = [(row[0], row[1]) for row in connection.execute(f"DESCRIBE {table}").fetchall()]
        columns = [(SPELLINGS.get(name, name), kind.replace("BIGINT", "INTEGER")) for name, kind in described]
        listed = ", ".join(
            f"{name}::{kind} AS {new}" for (name, _), (new, kind) in zip(described, columns, strict=True)
        )
        file = part / f"{table}.parquet"
        copy = f"COPY (SELECT {listed} FROM {table}) TO {_literal(file)} (FORMAT parquet, COMPRESSION zstd)"
        connection.execute(copy)
        # of what was written, not of what was to be; a sum, because it does not look at the order
        digest = f"SELECT count(*), sum(hash(t)::HUGEINT)::VARCHAR FROM {_parquet(file)} t"
        rows, total = connection.execute(digest).fetchone()
        tables[table] = {"rows": rows, "bytes": file.stat().st_size, "digest": _sha(columns, rows, total)}
    connection.close()
    for database in part.glob("generated.duckdb*"):
        database.unlink()
    about = {
        "scale": scale,
        "versions": versions,
        "digest": _sha(sorted((k, v["digest"]) for k, v in tables.items())),
    }
    (part / MANIFEST).write_text(json.dumps(about | {"tables": tables}, indent=1))


def _read(folder: Path) -> Data | None:
    """Return the Data of a folder; None where there is none or not all of it."""
    try:
        about = json.loads((folder / MANIFEST).read_text())
        tables = {name: Table(**entry) for name, entry in about["tables"].items()}
        data = Data(about["scale"], folder, about["digest"], about["versions"], tables)
    except (FileNotFoundError, ValueError, KeyError, TypeError):  # none, or torn
        return None
    whole = all(data.path(t).is_file() and data.path(t).stat().st_size == e.bytes for t, e in tables.items())
    return data if whole and set(tables) == set(TABLES) else None


def _scale(scale: object) -> str:
    try:
        number = Decimal(str(scale))
    except InvalidOperation:
        number = Decimal("nan")
    if not (number.is_finite() and Decimal("0.01") <= number <= 10):
        raise ArgumentError(f"a scale factor is a number from 0.01 to 10, not {scale!r}")
    return format(number.normalize(), "f")


def _versions() -> dict[str, str]:
    try:
        return {name: importlib.metadata.version(name) for name in ("duckdb", "duckdb-extension-tpcds")}
    except importlib.metadata.PackageNotFoundError as error:
        raise ArgumentError(f"{error.name} is not installed: pip install 'iceberg-workbench[tpcds]'") from None


def _extension(versions: Mapping[str, str]) -> str:
    """Return the generator's file in its package: never installed over the network at run time."""
    spec = importlib.util.find_spec("duckdb_extension_tpcds")
    assert spec and spec.origin  # for a type checker: `_versions` saw that it is installed
    package = Path(spec.origin).parent
    file = package / "extensions" / f"v{versions['duckdb']}" / "tpcds.duckdb_extension"
    if not file.is_file():
        known = ", ".join(sorted(folder.name for folder in package.glob("extensions/*")))
        raise ArgumentError(f"duckdb-extension-tpcds is made for DuckDB {known}, not for {versions['duckdb']}")
    return str(file)


def _duckdb(database: str, threads: int, **config: str) -> Any:
    import duckdb

    offline = {"autoinstall_known_extensions": False, "autoload_known_extensions": False}
    connection = duckdb.connect(database, config={"threads": threads, **offline, **config})
    # it would be printed into notebooks; where it cannot be drawn there (no ipywidgets), it cannot be set either
    with suppress(duckdb.InvalidInputException):
        connection.execute("SET enable_progress_bar = false")
    return connection


def _sha(*parts: Any) -> str:
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()
