"""The embedded lake: one folder with an SQLite catalog and local files, shared by Spark and PyIceberg."""

import sqlite3
from contextlib import closing
from pathlib import Path
from urllib.parse import quote, unquote

from workbench._base.errors import ArgumentError

# As Iceberg's JDBC catalog makes them in its schema version V1: apache/iceberg, JdbcUtil.java.
TABLES = (
    "CREATE TABLE IF NOT EXISTS iceberg_tables (catalog_name VARCHAR(255) NOT NULL, "
    "table_namespace VARCHAR(255) NOT NULL, table_name VARCHAR(255) NOT NULL, metadata_location VARCHAR(1000), "
    "previous_metadata_location VARCHAR(1000), iceberg_type VARCHAR(5), "
    "PRIMARY KEY (catalog_name, table_namespace, table_name))",
    "CREATE TABLE IF NOT EXISTS iceberg_namespace_properties (catalog_name VARCHAR(255) NOT NULL, "
    "namespace VARCHAR(255) NOT NULL, property_key VARCHAR(255), property_value VARCHAR(1000), "
    "PRIMARY KEY (catalog_name, namespace, property_key))",
)


def make(folder: Path) -> None:
    """Make the folder and its catalog where they are missing.

    Two processes that meet an empty database would both let Iceberg make its tables, and one of them fails with
    *duplicate column name: iceberg_type*. Made here, in one transaction, they are there before either looks.
    """
    if wrong := [sign for sign in "%#?" if sign in str(folder)]:
        raise ArgumentError(
            f"the lake's folder {folder} has a {wrong[0]} in its path, which a database address cannot hold"
        )
    folder.mkdir(parents=True, exist_ok=True)
    with closing(sqlite3.connect(folder / "catalog.db", timeout=30, isolation_level=None)) as database:
        database.execute("PRAGMA journal_mode = WAL")
        database.execute("BEGIN IMMEDIATE")
        for statement in TABLES:
            database.execute(statement)
        database.execute("COMMIT")


def spark_properties(folder: Path) -> dict[str, str]:
    """Return the catalog properties for Spark: what follows `spark.sql.catalog.<name>.`."""
    return {
        "type": "jdbc",
        "uri": f"jdbc:sqlite:file:{quote(str(folder))}/catalog.db?busy_timeout=30000&journal_mode=WAL",
        "warehouse": f"file://{folder}",
        "jdbc.schema-version": "V1",
        # they are there, and Iceberg 1.10 leaves its look for them open: SQLite shows it nothing newer
        "jdbc.init-catalog-tables": "false",
    }


def pyiceberg_properties(folder: Path) -> dict[str, str]:
    """Return the catalog properties for PyIceberg's `load_catalog`."""
    return {
        "type": "sql",
        "uri": pyiceberg_uri(spark_properties(folder)["uri"]),
        "warehouse": f"file://{folder}",
        "init_catalog_tables": "false",  # they are there, and two processes that look at once do not meet
    }


def sqlite_file(uri: str) -> Path:
    """Return the file of a catalog in SQLite, from PyIceberg's address of it, in which %20 is a space."""
    _, divided, place = uri.partition(":///")
    return Path(unquote((place if divided else uri).partition("?")[0]))


def pyiceberg_uri(jdbc: str) -> str:
    """Return PyIceberg's address of a database that Spark reaches by JDBC: SQLite's files have another form there.

    Args:
        jdbc: such as jdbc:sqlite:file:/srv/catalog.db?busy_timeout=30000, or jdbc:postgresql://host/db.
    """
    uri = jdbc.removeprefix("jdbc:")
    if not uri.startswith("sqlite:"):
        return uri
    path = uri.removeprefix("sqlite:").partition("?")[0]  # its settings are those of the JDBC driver
    return f"sqlite:///{unquote(path.removeprefix('file:')) if path.startswith('file:') else path}?timeout=30"
