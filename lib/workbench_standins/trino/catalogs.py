"""An Iceberg catalog in Trino's words: from the properties that PyIceberg has it by."""

import sqlite3
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from urllib.parse import quote

from workbench._base import lake
from workbench._base.errors import ArgumentError

S3 = {
    "s3.endpoint": "s3.endpoint", "s3.region": "s3.region", "client.region": "s3.region",
    "s3.path-style-access": "s3.path-style-access", "s3.access-key-id": "s3.aws-access-key",
    "s3.secret-access-key": "s3.aws-secret-key",
}  # fmt: skip
SAFE = {
    "connector.name": "iceberg",
    # statistics are of all rows, hidden ones among them: SHOW STATS and EXPLAIN would tell their bounds and counts
    "iceberg.table-statistics-enabled": "false",
}


def translated(properties: Mapping[str, str]) -> dict[str, str]:
    """Return a catalog's properties as Trino's connector takes them.

    Args:
        properties: as PyIceberg's `load_catalog` takes them, and `name`; catalogs in a SQLite file and REST
            catalogs, over files of this machine or S3.

    Returns:
        dict of texts; it may hold secrets.

    Raises:
        ArgumentError: Trino cannot be led to such a catalog from here, or the catalog's file is not there.
    """
    kind = properties.get("type", "")
    known = {"sql": _of_file, "rest": _of_rest}
    if kind not in known:
        raise ArgumentError(
            f"the catalog is of the type {kind or 'none'}; Trino is led to catalogs of the types sql and rest"
        )
    return SAFE | known[kind](properties) | _storage(properties)


def _of_file(properties: Mapping[str, str]) -> dict[str, str]:
    uri = properties.get("uri", "")
    if not uri.startswith("sqlite:///"):
        raise ArgumentError("the catalog is a database other than SQLite, for which this Trino has no driver")
    path = lake.sqlite_file(uri)
    return {
        "iceberg.catalog.type": "jdbc",
        "iceberg.jdbc-catalog.driver-class": "org.sqlite.JDBC",
        "iceberg.jdbc-catalog.connection-url": f"jdbc:sqlite:file:{quote(str(path.resolve()))}?busy_timeout=30000",
        "iceberg.jdbc-catalog.catalog-name": properties.get("name", ""),
        "iceberg.jdbc-catalog.default-warehouse-dir": properties.get("warehouse", ""),
        "iceberg.jdbc-catalog.schema-version": _version(path),
    }


def _version(path: Path) -> str:
    """Return the version of a catalog's tables in SQLite.

    Raises:
        ArgumentError: there is no catalog in the file.
    """
    if path.is_file():
        with closing(sqlite3.connect(f"file:{quote(str(path.resolve()))}?mode=ro", uri=True)) as database:
            columns = [row[1] for row in database.execute("PRAGMA table_info(iceberg_tables)")]
        if columns:
            return "V1" if "iceberg_type" in columns else "V0"
    raise ArgumentError(f"there is no catalog in {path}; Trino makes none: create a table first")


def _of_rest(properties: Mapping[str, str]) -> dict[str, str]:
    values = {
        "iceberg.catalog.type": "rest",
        "iceberg.rest-catalog.uri": properties.get("uri", ""),
        "iceberg.rest-catalog.warehouse": properties.get("warehouse", ""),
    }
    if credential := properties.get("credential"):
        values |= {"iceberg.rest-catalog.security": "OAUTH2", "iceberg.rest-catalog.oauth2.credential": credential}
        if server := properties.get("oauth2-server-uri"):
            values["iceberg.rest-catalog.oauth2.server-uri"] = server
    return values


def _storage(properties: Mapping[str, str]) -> dict[str, str]:
    """Return where the files are: in S3 where there are properties of it, else on this machine."""
    if any(key.startswith("s3.") for key in properties):
        values = {S3[key]: value for key, value in properties.items() if key in S3}
        return {"fs.native-s3.enabled": "true"} | values
    return {"fs.native-local.enabled": "true", "local.location": "/"}
