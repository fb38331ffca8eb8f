"""Names that a SQL cell can go on with: namespaces, tables, metadata tables, procedures, columns, values."""

import itertools
import re
import time
from collections.abc import Callable, Iterator
from typing import Any

from workbench._base import identifiers
from workbench._base.typing import SparkSession
from workbench.sql import text, values

KEPT_SECONDS = 30  # for which what a catalog said is taken as it was
METADATA_TABLES = (
    "all_data_files", "all_delete_files", "all_entries", "all_files", "all_manifests", "data_files",
    "delete_files", "entries", "files", "history", "manifests", "metadata_log_entries", "partitions",
    "position_deletes", "refs", "snapshots",
)  # fmt: skip
PROCEDURES = (
    "ancestors_of", "cherrypick_snapshot", "compute_partition_stats", "compute_table_stats",
    "create_changelog_view",
    "expire_snapshots", "fast_forward", "publish_changes", "register_table", "remove_orphan_files",
    "rewrite_data_files", "rewrite_manifests", "rewrite_position_delete_files", "rollback_to_snapshot",
    "rollback_to_timestamp", "set_current_snapshot",
)  # fmt: skip
_BEFORE_TABLES = {"FROM", "JOIN", "INTO", "TABLE", "UPDATE", "DESCRIBE", "DESC", "USING", "IN"}
_MAGIC = re.compile(r"\A%%sql[^\n]*\n")
_QUALIFIERS = r"(?:(?:`(?:``|[^`])*`|[\w-]+)\.)*"
_FRAGMENT, _IN_BACKTICKS = re.compile(_QUALIFIERS + r"\w*\Z"), re.compile(_QUALIFIERS + r"`[^`]*\Z")

Names = list[tuple[str, str]]  # of what can stand there: its text and what it is


class Known:
    """What a catalog said, for half a minute, so that a key press asks it once."""

    def __init__(self, spark: SparkSession, clock: Callable[[], float] = time.monotonic) -> None:
        self.spark, self.clock = spark, clock
        self.kept: dict[str, tuple[float, Names]] = {}

    def _asked(self, key: str, ask: Callable[[], Names]) -> Names:
        at, names = self.kept.get(key, (-KEPT_SECONDS, []))
        if self.clock() - at >= KEPT_SECONDS or key not in self.kept:
            try:
                names = ask()
            except Exception:  # a table that is not there, a catalog that does not answer: nothing is offered
                names = []
            self.kept[key] = (self.clock(), names)
        return names

    def namespaces(self) -> Names:
        """Return the namespaces of the current catalog."""
        return self._asked(
            "namespaces",
            lambda: [(row[0], "namespace") for row in self.spark.sql("SHOW NAMESPACES").collect()],
        )

    def tables(self, namespace: tuple[str, ...]) -> Names:
        """Return the tables of a namespace."""
        name = identifiers.joined(namespace)
        return self._asked(
            f"tables {name}",
            lambda: [(row.tableName, "table") for row in self.spark.sql(f"SHOW TABLES IN {name}").collect()],
        )

    def columns(self, table: tuple[str, ...]) -> Names:
        """Return the columns of a table with their types."""
        name = identifiers.joined(table)
        return self._asked(
            f"columns {name}",
            lambda: [(field.name, field.dataType.simpleString()) for field in self.spark.table(name).schema],
        )


def complete(known: Known, cell: str, cursor: int) -> tuple[str, Names]:
    """Return what can stand at a place of a SQL cell.

    Args:
        known: of the session.
        cell: the whole cell, `%%sql` included.
        cursor: place in it.

    Returns:
        (what is typed already of the last part of a name, names that begin so, sorted); nothing outside of a cell.
    """
    if not (magic := _MAGIC.match(cell)) or cursor < magic.end():
        return "", []
    begun_text = cell[magic.end() : cursor]
    match = (_IN_BACKTICKS if begun_text.count("`") % 2 else _FRAGMENT).search(begun_text)
    fragment = match.group() if match else ""
    *before, typed = _split(fragment)
    rest = begun_text.removesuffix(fragment)
    offered = _offered(known, tuple(before), rest, cell[magic.end() :])
    begun = typed.lstrip("`").lower()
    return typed, sorted({(_spelled(name), kind) for name, kind in offered if name.lower().startswith(begun)})


def _split(fragment: str) -> list[str]:
    pieces = re.findall(r"`(?:``|[^`])*`?|[^.`]+|\.", fragment)
    parts = [""]
    for piece in pieces:
        if piece == ".":
            parts.append("")
        else:
            parts[-1] += piece
    return [part.strip("`").replace("``", "`") for part in parts[:-1]] + parts[-1:]


def _spelled(name: str) -> str:
    return name if identifiers.PART.fullmatch(name) or "." in name else identifiers.column(name)


def _offered(known: Known, before: tuple[str, ...], rest: str, statement: str) -> Names:
    if before == ("session",):
        return [(name, "value") for name in values.names(known.spark)]
    words = [part.text.upper() for part in _parts(rest)]
    if words[-1:] == ["CALL"]:
        return [(name, "procedure") for name in PROCEDURES] if before == ("system",) else [("system", "namespace")]
    if words and words[-1] in _BEFORE_TABLES:
        if not before:
            return known.namespaces()
        tables = known.tables(before)
        return tables or [(name, "metadata table") for name in METADATA_TABLES if known.columns(before)]
    if before:
        return [entry for table in _tables(statement) if table[-1] == before[-1] for entry in known.columns(table)]
    return [entry for table in _tables(statement) for entry in known.columns(table)]


def _tables(statement: str) -> Iterator[tuple[str, ...]]:
    """Yield the names of tables that stand behind FROM, JOIN and the like."""
    several = _parts(statement)
    for n, part in enumerate(several):
        if part.text.upper() in _BEFORE_TABLES and (name := tuple(_name(several[n + 1 :]))):
            yield name


def _name(several: list[text.Part]) -> Iterator[str]:
    """Yield the parts of the name that a list of parts begins with."""
    for piece, dot in itertools.zip_longest(several[::2], several[1::2]):
        if piece.kind not in ("word", "quoted"):
            return
        yield piece.text.strip("`").replace("``", "`")
        if dot is None or dot.text != ".":
            return


def _parts(statement: str) -> list[text.Part]:
    try:
        return text.parts(statement)
    except ValueError:  # inside of a comment
        return []


def register(shell: Any, spark: SparkSession) -> None:
    """Complete names in the SQL cells of a shell of IPython; called again, for another session."""
    from IPython.core.completer import SimpleCompletion, context_matcher

    known = Known(spark)

    @context_matcher()
    def sql_names(context: Any) -> dict[str, Any]:
        """Return the names that a SQL cell can go on with."""
        lines = context.full_text.split("\n")
        cursor = sum(len(line) + 1 for line in lines[: context.cursor_line]) + context.cursor_position
        typed, names = complete(known, context.full_text, cursor)
        completions = [SimpleCompletion(name, type=kind) for name, kind in names]
        return {
            "completions": completions,
            "matched_fragment": typed,
            "suppress": context.full_text.startswith("%%sql"),
            "ordered": True,
        }

    others = [each for each in shell.Completer.custom_matchers if getattr(each, "__name__", "") != "sql_names"]
    shell.Completer.custom_matchers[:] = [*others, sql_names]
