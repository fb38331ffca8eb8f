"""What the panel is answered: environments, and what `tables.browse` says of them, as values of JSON."""

import importlib
import json
import os
from collections.abc import Callable, Mapping
from dataclasses import asdict, is_dataclass
from typing import Any

from workbench import session
from workbench._base import settings
from workbench._base.errors import ArgumentError
from workbench.tables import browse
from workbench_ops.lab import inserting

MOST = 1000  # snapshots or files that a page of the panel lists
EXACT = 2**53  # from here on a number of JavaScript is not the one that was meant

Asked = Mapping[str, str]


def prepare() -> None:
    """Import what the first look needs, which takes seconds."""
    importlib.import_module("pyiceberg.catalog.sql")


def environments(asked: Asked) -> Any:
    """Return the name and description of each environment; of one that cannot be read, why."""
    listed = []
    for name in settings.environments():
        try:
            listed.append({"name": name, "description": settings.environment(name).description, "error": None})
        except ValueError as error:
            listed.append({"name": name, "description": "", "error": str(error)})
    return listed


def tree(asked: Asked) -> Any:
    """Return the namespaces of an environment with their tables."""
    return browse.tree(_catalog(asked))


def head(asked: Asked) -> Any:
    """Return what a table is now."""
    return browse.head(_catalog(asked), _text(asked, "table"))


def schemas(asked: Asked) -> Any:
    """Return the schemas that a table has had."""
    return browse.schemas(_catalog(asked), _text(asked, "table"))


def snapshots(asked: Asked) -> Any:
    """Return the newest snapshots of a table, the newest first, and how many there are."""
    listed = browse.snapshots(_catalog(asked), _text(asked, "table"))
    return {"count": len(listed), "snapshots": listed[::-1][:MOST]}


def files(asked: Asked) -> Any:
    """Return the first files of a version, and how many there are."""
    listed = browse.files(_catalog(asked), _text(asked, "table"), at=_version(asked, "at"))
    return {"count": len(listed), "bytes": sum(file.bytes for file in listed), "files": listed[:MOST]}


def preview(asked: Asked) -> Any:
    """Return a few rows of a version, each value as a text."""
    shown = browse.preview(_catalog(asked), _text(asked, "table"), at=_version(asked, "at"))
    rows = [[None if value is None else str(value)[:500] for value in row] for row in shown.rows]
    return {"snapshot_id": shown.snapshot_id, "columns": shown.columns, "rows": rows, "complete": shown.complete}


def difference(asked: Asked) -> Any:
    """Return what differs between two versions, files counted and columns named."""
    versions = _version(asked, "before"), _version(asked, "after")
    changed = browse.difference(_catalog(asked), _text(asked, "table"), *versions)
    plain = asdict(changed)
    lists = [name for name in plain if isinstance(plain[name], tuple) and name.endswith(("_files", "_deletes"))]
    counted = {name: len(plain.pop(name)) for name in lists}
    return plain | counted


def cell(asked: Asked) -> Any:
    """Return the cells that begin a session for a version, a ref, a view or two versions."""
    environment = _text(asked, "environment")
    return {"setup": inserting.setup(environment), "source": _source(asked, environment, _catalog(asked))}


def _source(asked: Asked, environment: str, catalog: Mapping[str, str]) -> str:
    if "view" in asked:
        return inserting.query_view(catalog, environment, _text(asked, "view"))
    table = _text(asked, "table")
    if "ref" in asked:
        return inserting.query_ref(catalog, environment, table, _text(asked, "ref"))
    if "before" in asked:
        versions = _version(asked, "before"), _version(asked, "after")
        return inserting.comparison(catalog, environment, table, *versions)
    return inserting.query(catalog, environment, table, _version(asked, "at"))


ANSWERS: dict[str, Callable[[Asked], Any]] = {
    answer.__name__: answer
    for answer in (environments, tree, head, schemas, snapshots, files, preview, difference, cell)
}


def answer(name: str, asked: Asked) -> str:
    """Return what the panel asked for, as JSON.

    Raises:
        ValueError: what it asked for is not there, or cannot be looked at.
    """
    if name not in ANSWERS:
        raise ArgumentError(f"the panel asked for {name!r}; there are {', '.join(ANSWERS)}")
    return json.dumps(_plain(ANSWERS[name](asked)), ensure_ascii=False, allow_nan=False, default=str)


def _plain(value: Any) -> Any:
    """Return a value as JSON has it; integers that a browser would round are texts."""
    if is_dataclass(value) and not isinstance(value, type):
        value = asdict(value)
    if isinstance(value, Mapping):
        return {str(key): _plain(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) >= EXACT:
        return str(value)
    return str(value) if isinstance(value, float) else value  # NaN is not in JSON


def _text(asked: Asked, name: str) -> str:
    if not asked.get(name):
        raise ArgumentError(f"the panel did not say which {name}")
    return asked[name]


def _version(asked: Asked, name: str) -> int | str | None:
    """Return a version as the panel writes it: digits are a snapshot's id."""
    text = asked.get(name) or None
    return int(text) if text is not None and text.isascii() and text.isdigit() else text


def _catalog(asked: Asked) -> dict[str, str]:
    name = _text(asked, "environment")
    env = settings.environment(name)
    if env.stand_in is not None and not any(
        variable.startswith(f"WORKBENCH_{'ARCHIVE' if env.stand_in == 'archive' else 'S3'}")
        for variable in os.environ
    ):
        raise ArgumentError(
            f"the storage of environment {name} is a stand-in that lives in the kernel which starts it, so the "
            "panel cannot look into it; take another environment, or look from a notebook with tables.browse"
        )
    return session.catalog_properties(name)
