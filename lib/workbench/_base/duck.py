"""DuckDB that fetches nothing: its settings, its extensions by their packages, and texts in its SQL."""

import importlib.util
from pathlib import Path

from workbench._base.errors import ArgumentError

OFFLINE: dict[str, str | bool | int | float | list[str]] = {
    "autoinstall_known_extensions": False,
    "autoload_known_extensions": False,
    "allow_community_extensions": False,
    "python_enable_replacements": False,  # a name is a table's, never a variable's of the caller
}


def extension(name: str, *, extra: str) -> str:
    """Return the path of an extension in its package.

    Args:
        name: of the extension.
        extra: of the project, which brings its package.

    Raises:
        ValueError: the package is not installed, or is made for another DuckDB.
    """
    import duckdb

    spec = importlib.util.find_spec(f"duckdb_extension_{name}")
    if spec is None or spec.origin is None:
        raise ArgumentError(f"duckdb-extension-{name} is not installed: pip install 'iceberg-workbench[{extra}]'")
    folder = Path(spec.origin).parent / "extensions"
    path = folder / f"v{duckdb.__version__}" / f"{name}.duckdb_extension"
    if not path.is_file():
        versions = ", ".join(sorted(version.name for version in folder.glob("v*"))) or "none"
        raise ArgumentError(
            f"duckdb-extension-{name} is made for DuckDB {versions}, here is v{duckdb.__version__}: install it in "
            "the version of duckdb; no extension is fetched from a network"
        )
    return str(path)


def literal(text: str) -> str:
    """Return a text as a literal of DuckDB's SQL."""
    return "'" + text.replace("'", "''") + "'"


def quoted(name: str) -> str:
    """Return a name between the quotes of DuckDB's SQL."""
    return '"' + name.replace('"', '""') + '"'
