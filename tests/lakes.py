"""A lake in a folder of a test's own: its environment file, and PyIceberg's catalog of it."""

from pyiceberg.catalog import load_catalog


def environment(folder, warehouse=None, more=""):
    """Write own.yml, an environment whose catalog is a file in the folder; return its path.

    Args:
        folder: where the catalog and the file are.
        warehouse: folder of the tables; left out, the same.
        more: lines of YAML behind it.
    """
    path = folder / "own.yml"
    path.write_text(
        f"description: a lake of one's own\ncatalog:\n  type: jdbc\n  name: own\n"
        f"  uri: jdbc:sqlite:file:{folder}/catalog.db\n  warehouse: file://{warehouse or folder}\n{more}"
    )
    return path


def catalog(folder):
    """Return the catalog of an environment whose tables are in the same folder."""
    return load_catalog("own", type="sql", uri=f"sqlite:///{folder}/catalog.db", warehouse=f"file://{folder}")
