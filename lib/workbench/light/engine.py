"""DuckDB with its Iceberg extension, loaded from packages by path and never fetched from a network."""

import itertools
import os
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import lru_cache
from urllib.parse import urlsplit

from workbench._base import aws, duck
from workbench.light import keys
from workbench.light.typing import Connection

EXTENSIONS = ("avro", "iceberg")
SETTINGS = {
    # Spark's order of nulls and its time zone here; the same question then has the same answer
    "default_null_order": "nulls_first_on_asc_last_on_desc",
    "TimeZone": "UTC",
    # a table that is dropped and made again may have files of the names it had; cached bytes would be the old ones
    "enable_external_file_cache": "false",
}
INSTANCES = 8  # that stay, one for each storage and its keys: loading the extensions takes 0.3 seconds of CPU
_numbers = itertools.count()
_turn = threading.Lock()


@contextmanager
def connection(storage: Mapping[str, str] | None, *, alone: bool = False) -> Iterator[Connection]:
    """Open a connection whose names are its own: what it creates is gone after the block.

    Args:
        storage: properties by which files in S3 are read, as PyIceberg has them; None for files of this machine.
        alone: in a DuckDB of its own, because it attaches databases, whose names all connections of one share.

    Yields:
        duckdb.DuckDBPyConnection.

    Raises:
        ValueError: DuckDB or an extension is not installed, or of another version.
    """
    settings = (
        None
        if storage is None
        else frozenset((key, value) for key, value in storage.items() if key.startswith(("s3.", "client.")))
    )
    if alone:
        with _opened(settings) as database:
            yield database
        return
    with _turn:
        cursor = _instance(settings, os.getpid()).cursor()
    own = f"query_{next(_numbers)}"
    try:
        cursor.execute(f"ATTACH ':memory:' AS {own}; USE {own}")
        yield cursor
    finally:
        cursor.execute(f"USE memory; DETACH {own}")
        cursor.close()


@lru_cache(INSTANCES)
def _instance(storage: frozenset[tuple[str, str]] | None, _process: int) -> Connection:
    """Return the DuckDB of a storage, opened once a process: a fork cannot use what its parent opened."""
    return _opened(storage)


def _opened(storage: frozenset[tuple[str, str]] | None) -> Connection:
    """Return a new DuckDB with the extensions, and with the keys of a storage where it has any."""
    import duckdb

    opened = duckdb.connect(":memory:", config=duck.OFFLINE)
    for name, value in SETTINGS.items():
        opened.execute(f"SET GLOBAL {name} = {duck.literal(value)}")  # else a cursor has the machine's time zone
    # it would be printed into notebooks; where it cannot be drawn there (no ipywidgets), it cannot be set either
    with suppress(duckdb.InvalidInputException):
        opened.execute("SET enable_progress_bar = false")
    for name in EXTENSIONS if storage is None else (*EXTENSIONS, "httpfs"):
        opened.execute(f"LOAD {duck.literal(duck.extension(name, extra='light'))}")
    if storage is not None:
        opened.execute(_secret(dict(storage)))
    return opened


def _secret(properties: Mapping[str, str]) -> str:
    """Return the statement that gives DuckDB the keys of a storage; it keeps them in memory only."""
    values = {"TYPE": "s3", "REGION": properties.get("s3.region") or properties.get("client.region")}
    if pair := keys.aws(properties, ("s3", "client")):
        values |= {"KEY_ID": pair.access_key, "SECRET": pair.secret_key, "SESSION_TOKEN": pair.token}
    if endpoint := properties.get("s3.endpoint") or aws.s3_endpoint():
        address = urlsplit(endpoint)
        values |= {
            "ENDPOINT": address.netloc,
            "USE_SSL": str(address.scheme == "https").lower(),
            "URL_STYLE": "path",
        }
    return (
        f"CREATE SECRET s3 ({', '.join(f'{key} {duck.literal(value)}' for key, value in values.items() if value)})"
    )
