"""Read what can be read and name what cannot: directories by three modes, tables whole or not at all."""

import re
import tempfile
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from workbench._base.errors import ArgumentError
from workbench._base.typing import Column, DataFrame, SparkSession, StructType
from workbench.archive import directories, listing, objects, tables
from workbench.archive.objects import FAIL, READ, READ_ALL, SKIP, Archived, Object


class ObjectsSkipped(UserWarning):
    """Objects of a directory were left out of what was read."""


@dataclass(frozen=True)
class Reading:
    """The rows of a directory, and what was left out.

    Attributes:
        rows: DataFrame; lazy.
        read: the Objects it reads.
        skipped: the Objects it leaves out, by the mode or because Spark hides them; a warning named them too, but
            for empty ones that Spark hides, as `_SUCCESS`.
    """

    rows: DataFrame
    read: tuple[Object, ...]
    skipped: tuple[Object, ...]


def of_table(
    spark: SparkSession,
    s3: Any,
    table: str,
    *,
    where: str | Column | None = None,
    snapshot_id: int | None = None,
    mode: objects.Mode = READ_ALL,
) -> DataFrame:
    """Return the rows of a table when every file they need can be read."""
    if mode != READ_ALL:
        raise ArgumentError(
            f"{mode} would leave rows of {table} out without a trace: manifests name every file of a table. "
            f"A table is read by {READ_ALL} or not at all; choose its rows by `where` or `snapshot_id`"
        )
    entries = tables.files(spark, s3, table, where=where, snapshot_id=snapshot_id)
    _refuse(table, [entry for entry in entries if not entry.readable], len(entries))
    return tables.rows(spark, table, where=where, snapshot_id=snapshot_id)


def of_directory(
    spark: SparkSession,
    s3: Any,
    prefix: str,
    *,
    mode: objects.Mode = READ_ALL,
    copy_to: str | Path | None = None,
    format: str | None = None,
    schema: str | StructType | None = None,
    options: Mapping[str, Any] | None = None,
) -> Reading:
    """Read the objects of a directory that a mode leaves; see `archive.read`."""
    listed = list(listing.under(s3, prefix))
    if not listed:
        raise ArgumentError(f"there is no object {prefix}, nor one below it")
    entries = [entry for entry in listed if not objects.is_folder(entry.uri, entry.size)]
    passed, partitioned = _passed_over(prefix, entries), any(directories.columns(entry.key) for entry in entries)
    decided: dict[objects.Decision, list[Object]] = {READ: [], SKIP: [], FAIL: []}
    for entry in entries:
        decided[SKIP if entry in passed else objects.decide(mode, entry)].append(entry)
    readable = decided[READ] + decided[FAIL]
    kind = directories.format_of(prefix, [entry.key for entry in readable], format) if readable else ""
    _refuse(prefix, decided[FAIL], len(entries))
    _refuse_other_columns(prefix, decided[READ])
    _warn(mode, prefix, [entry for entry in decided[SKIP] if entry not in passed], len(entries))
    where = " or lie beside partition folders" if partitioned else ""
    who = f"Spark, which hides names that begin with _ or .{where},"
    _warn(who, prefix, [entry for entry in passed if entry.size], len(entries))
    rows = _rows(spark, s3, prefix, decided[READ], copy_to, kind, schema, options or {})
    return Reading(rows, tuple(decided[READ]), tuple(decided[SKIP]))


def _passed_over(prefix: str, entries: Sequence[Object]) -> set[Object]:
    """Return the objects that Spark's reader of a directory passes over without a word, in any mode."""
    start = objects.split(prefix)[1]
    hidden = {entry for entry in entries if directories.hidden(start, entry.key)}
    seen = [entry for entry in entries if entry not in hidden]
    if any(directories.columns(entry.key) for entry in seen):
        hidden |= {entry for entry in seen if not directories.columns(entry.key)}
    return hidden


def _refuse_other_columns(prefix: str, entries: Sequence[Object]) -> None:
    addresses = {directories.columns(entry.key): entry.uri for entry in entries}
    if len(addresses) > 1:
        shown = [f"{', '.join(names)} ({uri})" for names, uri in sorted(addresses.items())]
        raise ArgumentError(
            f"the objects of {prefix} have different partition columns: {tables.named(shown)}; read each alone"
        )


def _warn(who: str, prefix: str, left_out: Sequence[Object], total: int) -> None:
    if left_out:
        warnings.warn(
            f"{who} leaves out {len(left_out)} of {total} objects under {prefix}: "
            f"{tables.named([f'{entry.key} ({entry.storage_class}, {entry.state})' for entry in left_out])}",
            ObjectsSkipped,
            stacklevel=5,  # the caller of archive.read, whose arguments are checked in a frame between
        )


def _rows(
    spark: SparkSession,
    s3: Any,
    prefix: str,
    entries: Sequence[Object],
    copy_to: str | Path | None,
    kind: str,
    schema: str | StructType | None,
    options: Mapping[str, Any],
) -> DataFrame:
    if not entries:
        if schema is None:
            raise ArgumentError(
                f"no object under {prefix} is left to read, and without a schema there are no columns"
            )
        return spark.createDataFrame([], schema)
    if copy_to is not None:
        base, places = _copied(s3, entries, Path(copy_to).resolve())
    elif wrong := [entry.uri for entry in entries if directories.ambiguous(entry.key)]:
        raise ArgumentError(f"Spark takes other keys for {tables.named(wrong)}; read them by copies: copy_to=")
    else:
        base, places = directories.base(prefix), [entry.uri for entry in entries]
    reader = spark.read.format(kind).options(**{"basePath": base, **options})
    try:
        return (reader.schema(schema) if schema else reader).load([_literal(place) for place in places])
    except Exception as error:
        if copy_to is None and "No FileSystem for scheme" in str(error):
            raise ArgumentError(
                f"this session has no file system that opens {prefix}: give copy_to=, a local folder into which "
                "the objects are copied, or a session with one (S3A: hadoop-aws)"
            ) from None
        raise


def _literal(place: str) -> str:
    """Return a path in which nothing is a pattern: Spark takes {}[]*? for one."""
    return re.sub(r"([{}\[\]*?\\])", r"\\\1", place)


def _copied(s3: Any, entries: Sequence[Object], folder: Path) -> tuple[str, list[str]]:
    """Copy objects into a new folder inside a local one; returns it and the paths.

    The names are not the keys': of those two can be one file, a file and a folder, or a name that Spark hides.
    """
    from botocore.exceptions import ClientError

    folder.mkdir(parents=True, exist_ok=True)
    base, places = tempfile.mkdtemp(prefix="read-", dir=folder), []
    for number, entry in enumerate(entries):
        place = Path(base) / directories.copy_name(number, entry.key)
        place.parent.mkdir(parents=True, exist_ok=True)
        version = {"ExtraArgs": {"VersionId": entry.version_id}} if entry.version_id else {}
        try:
            s3.download_file(entry.bucket, entry.key, str(place), **version)
        except ClientError as error:
            if error.response["Error"]["Code"] in ("404", "NoSuchKey"):
                raise ArgumentError(f"{entry.uri} was deleted before it was read") from None
            if error.response["Error"]["Code"] != "InvalidObjectState":
                raise
            raise Archived(f"{entry.uri} was archived again before it was read", [entry]) from None
        places.append(f"file://{place}")
    return base, places


def _refuse(what: str, wrong: Sequence[Object], total: int) -> None:
    if not wrong:
        return
    states = [f"{entry.uri} ({entry.storage_class}, {entry.state})" for entry in wrong]
    raise Archived(
        f"{len(wrong)} of {total} files of {what} cannot be read: {tables.named(states)}; "
        "plan a restore of them with archive.plan",
        wrong,
    )
