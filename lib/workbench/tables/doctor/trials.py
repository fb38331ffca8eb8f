"""Try on the owner's own queries what a cure would bring, on a twin that shares the files and changes none."""

import re
import statistics
import tempfile
import time
import uuid
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Annotated

from pydantic import InstanceOf

from workbench._base import arguments, identifiers
from workbench._base.bounds import Ge
from workbench._base.door import checked
from workbench._base.errors import ArgumentError
from workbench._base.typing import Java, SparkSession
from workbench.tables import commits, reads
from workbench.tables.doctor import asking, cures, diagnosing
from workbench.tables.maintenance import Policy, limits, metadata

_REWRITES = ("compact_data", "rewrite_deletes", "rewrite_manifests")
_QUIET = {
    # of the twin: its files are the original's, so that nothing may be deleted for it
    "gc.enabled": "false",
    "write.metadata.delete-after-commit.enabled": "false",
    "write.object-storage.enabled": "false",
}
_TEXT = re.compile(r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"|--[^\n]*|/\*.*?\*/|`(?:[^`]|``)*`", re.DOTALL)


@dataclass(frozen=True)
class Tried:
    """One query on the table as it is and on its cured twin.

    Attributes:
        query: its text.
        equal: whether the answers are equal, floats to ten digits.
        files_before, files_after: data files that it opens.
        bytes_before, bytes_after: of the columns that it needs of them.
        ratio: seconds before by seconds after, the medians of runs in turn.
    """

    query: str
    equal: bool
    files_before: int
    files_after: int
    bytes_before: int
    bytes_after: int
    ratio: float


@checked
def trial(
    spark: SparkSession,
    table: str,
    queries: Iterable[str],
    *,
    policy: InstanceOf[Policy] | None = None,
    agreed: Iterable[str] = (),
    columns: Iterable[str] = (),
    repeats: Annotated[int, Ge(1)] = 3,
    now: datetime | None = None,
    scratch: str | Path | None = None,
) -> tuple[Tried, ...]:
    """Run queries in turn on a table and on a twin of it that was cured. The table is not touched.

    The twin is registered from the table's present metadata file in a catalog of its own, an SQLite file that
    only this session knows. What its cure writes goes to a scratch folder beside the table's, and is deleted at
    the end. Its files are read as the table's are; the rewrite itself costs what the cure would.

    Args:
        spark: classic session whose catalog holds the table; it needs the jar of SQLite.
        table: `namespace.name`.
        queries: SQL texts that read the table by this name.
        policy: as of `diagnose`.
        agreed: as of `cure`: causes whose statements run on the twin too.
        columns: as of `diagnose`.
        repeats: how often each query runs on each.
        now: as of `diagnose`.
        scratch: the folder that is written to is made anew beside this location; beside the table's by default.

    Returns:
        tuple of Tried, one for each query.

    Raises:
        TableNotFound: no such table.
        ValueError: an argument is wrong, or a query does not read the table, cannot be analysed, is a command, or
            reads tables of other kinds.
    """
    texts: tuple[str, ...] = arguments.texts("queries", queries, "queries")
    causes: tuple[str, ...] = arguments.texts("agreed", agreed, "causes")
    names: tuple[str, ...] = arguments.texts("columns", columns, "columns")
    policy, now = policy or Policy(), limits.moment(now)
    cures.check_owners(causes)
    if not texts:
        raise ArgumentError("queries must be at least one, found none")
    loaded = metadata.still(spark, commits.load(spark, table))
    for number, query in enumerate(texts, 1):
        if _renamed(spark, table, query, "x.y.z") is None:
            raise ArgumentError(f"query {number} does not name {table}")
    for number, query in enumerate(texts, 1):
        asking.analysed(spark, number, query)
    diagnosing.check_columns(table, loaded, names)
    base = loaded.location() if scratch is None else _reached(loaded.io(), scratch)
    with _twin(spark, loaded, base.rstrip("/") + f"_trial_{uuid.uuid4().hex}") as twin:
        diagnosis = diagnosing.diagnose(spark, twin, policy=policy, now=now, columns=names)
        rewrites = [
            replace(finding, actions=tuple(action for action in finding.actions if action in _REWRITES))
            for finding in diagnosis.findings
            if finding.cause != "dangling_refs"
            and (set(finding.actions) & set(_REWRITES) or finding.cause in causes)
        ]
        cures.cure(
            spark, replace(diagnosis, findings=tuple(rewrites)),
            agreed=[finding.cause for finding in rewrites if finding.cause in causes], properties=False,
        )  # fmt: skip
        return tuple(_tried(spark, table, twin, query, repeats) for query in texts)


def _reached(io: Java, scratch: str | Path) -> str:
    """Return a location as a text, if a table's file IO can reach it."""
    place: str = arguments.place("scratch", scratch, "a location")
    try:
        io.newInputFile(place).exists()
    except Exception as error:
        raise ArgumentError(f"scratch {place} cannot be reached: {commits.errors.first_line(error)}") from error
    return place


@contextmanager
def _twin(spark: SparkSession, loaded: Java, scratch: str) -> Iterator[str]:
    """Register a table's present metadata under another name; at the end forget it and delete its own files."""
    catalog, folder = f"twin_{uuid.uuid4().hex[:8]}", tempfile.TemporaryDirectory(prefix="workbench-trial-")
    io = loaded.io()
    settings = {
        "": "org.apache.iceberg.spark.SparkCatalog",
        ".type": "jdbc",
        ".uri": f"jdbc:sqlite:file:{Path(folder.name) / 'catalog.db'}",
        ".warehouse": scratch,
        ".jdbc.schema-version": "V1",
        ".jdbc.init-catalog-tables": "true",  # the lake's own catalog says false, and this one is new
        ".cache-enabled": "false",
    }
    settings |= {f".{name}": value for name, value in dict(io.properties()).items() if f".{name}" not in settings}
    settings[".io-impl"] = io.getClass().getName()
    keys = {f"spark.sql.catalog.{catalog}{name}": value for name, value in settings.items()}
    twin = f"{catalog}.trial.twin"
    try:
        for key, value in keys.items():
            spark.conf.set(key, value)
        spark.sql(f"CREATE NAMESPACE {catalog}.trial")
        where = identifiers.literal(loaded.operations().current().metadataFileLocation())
        spark.sql(f"CALL {catalog}.system.register_table(table => 'trial.twin', metadata_file => {where})")
        own = {"write.data.path": f"{scratch}/data", "write.metadata.path": f"{scratch}/metadata"} | _QUIET
        commits.set_profile(spark, twin, properties=own)  # one commit: the next one deletes nothing any more
        yield twin
        spark.sql(f"DROP TABLE {twin}")
    finally:
        _delete(io, scratch)
        for key in keys:
            spark.conf.unset(key)
        folder.cleanup()


def _delete(io: Java, scratch: str) -> None:
    """Delete what lies in the scratch folder, and the folder."""
    if hasattr(io, "deletePrefix"):
        io.deletePrefix(scratch + "/")


def _tried(spark: SparkSession, table: str, twin: str, query: str, repeats: int) -> Tried:
    texts = (query, str(_renamed(spark, table, query, twin)))
    seconds: tuple[list[float], list[float]] = ([], [])
    for _ in range(repeats):
        for text, taken in zip(texts, seconds, strict=True):
            begin = time.perf_counter()
            spark.sql(text).write.format("noop").mode("overwrite").save()
            taken.append(time.perf_counter() - begin)
    before, after = (spark.sql(text) for text in texts)
    files_before, _, bytes_before = reads.opened(spark, before)
    files_after, _, bytes_after = reads.opened(spark, after)
    ratio = statistics.median(seconds[0]) / max(statistics.median(seconds[1]), 1e-9)
    equal = reads.digest(before) == reads.digest(after)
    return Tried(query, equal, len(files_before), len(files_after), bytes_before, bytes_after, ratio)


def _renamed(spark: SparkSession, table: str, query: str, other: str) -> str | None:
    """Return a query with another table's name in place of one's, outside of texts; None where it is not named."""
    identified = commits.identified(spark, table)
    whole = [identified.catalog().name(), *identified.identifier().namespace(), identified.identifier().name()]
    names = {tuple(whole), tuple(whole[1:]), identifiers.parts(table)}
    quoted = {identifiers.column(part) for name in names for part in name}
    patterns = ["\\s*\\.\\s*".join(map(_pattern, name)) for name in names]
    patterns.sort(key=len, reverse=True)
    table_name = re.compile(rf"(?<![\w.`])(?:{'|'.join(patterns)})(?![\w`]|\s*\.\s*\w)")
    pieces: list[str] = []
    place = count = 0
    for text in _TEXT.finditer(query + "\0"):
        if text[0] in quoted or re.fullmatch(r"`\w*`", text[0]):
            continue  # may be the table's name; another may have a quote in it, and begins no text
        piece, many = table_name.subn(other, query[place : text.start()])
        pieces += [piece, text[0]]
        place, count = text.end(), count + many
    piece, many = table_name.subn(other, query[place:])
    return "".join([*pieces, piece]) if count + many else None


def _pattern(part: str) -> str:
    """Return the pattern of one part of a name in a query: with backticks, or without where it needs none."""
    if re.fullmatch(r"\w+", part):
        return f"`?{re.escape(part)}`?"
    return re.escape(identifiers.column(part))
