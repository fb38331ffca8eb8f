"""Reading what can be read, and saying what cannot: directories by three modes, tables whole or not at all."""

import re
import tempfile
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from workbench._base.errors import ArgumentError
from workbench.archive import directories, listing, objects, tables
from workbench.archive.objects import FAIL, READ, READ_ALL, SKIP, Archived, Object


class ObjectsSkipped(UserWarning):
    """Objects of a directory were left out of what was read."""


@dataclass(frozen=True)
class Reading:
    """What was read of a directory.

    Attributes:
        rows: DataFrame; lazy.
        read: the Objects it reads.
        skipped: the Objects it leaves out, by the mode or because Spark hides them; a warning named them too, but
            for empty ones that Spark hides, as `_SUCCESS`.
    """

    rows: Any
    read: tuple[Object, ...]
    skipped: tuple[Object, ...]


def of_table(spark, s3, table, *, where=None, snapshot_id=None, mode=READ_ALL):
    """Return the rows of a table when every file they need can be read."""
    objects.decide(mode, None) if mode not in objects.MODES else None
    if mode != READ_ALL:
        raise ArgumentError(
            f"{mode} would leave rows of {table} out without a trace: manifests name every file of a table. "
            f"A table is read by {READ_ALL} or not at all; choose its rows by `where` or `snapshot_id`"
        )
    found = tables.files(spark, s3, table, where=where, snapshot_id=snapshot_id)
    _refuse(table, [one for one in found if not one.readable], len(found))
    return tables.rows(spark, table, where=where, snapshot_id=snapshot_id)


def of_directory(spark, s3, prefix, *, mode=READ_ALL, copy_to=None, format=None, schema=None, options=None):
    """Read the objects of a directory that a mode leaves; see `archive.read`."""
    objects.decide(mode, None) if mode not in objects.MODES else None
    listed = list(listing.under(s3, prefix))
    if not listed:
        raise ArgumentError(f"there is no object {prefix}, nor one below it")
    found = [one for one in listed if not objects.is_folder(one.uri, one.size)]
    passed, partitioned = _passed_over(prefix, found), any(directories.columns(one.key) for one in found)
    decided = {READ: [], SKIP: [], FAIL: []}
    for one in found:
        decided[SKIP if one in passed else objects.decide(mode, one)].append(one)
    if wanted := decided[READ] + decided[FAIL]:
        format = directories.format_of(prefix, [one.key for one in wanted], format)
    _refuse(prefix, decided[FAIL], len(found))
    _refuse_other_columns(prefix, decided[READ])
    _say(mode, prefix, [one for one in decided[SKIP] if one not in passed], len(found))
    where = " or lie beside partition folders" if partitioned else ""
    _say(
        f"Spark, which hides names that begin with _ or .{where},",
        prefix,
        [one for one in passed if one.size],
        len(found),
    )
    rows = _rows(spark, s3, prefix, decided[READ], copy_to, format, schema, options or {})
    return Reading(rows, tuple(decided[READ]), tuple(decided[SKIP]))


def _passed_over(prefix, found):
    """Return the objects that Spark's reader of a directory passes over without a word, in any mode."""
    start = objects.split(prefix)[1]
    hidden = {one for one in found if directories.hidden(start, one.key)}
    seen = [one for one in found if one not in hidden]
    if any(directories.columns(one.key) for one in seen):
        hidden |= {one for one in seen if not directories.columns(one.key)}
    return hidden


def _refuse_other_columns(prefix, wanted):
    found = {directories.columns(one.key): one.uri for one in wanted}
    if len(found) > 1:
        shown = [f"{', '.join(names)} ({uri})" for names, uri in sorted(found.items())]
        raise ArgumentError(
            f"the objects of {prefix} have different partition columns: {tables.named(shown)}; read each alone"
        )


def _say(who, prefix, left_out, total):
    if left_out:
        warnings.warn(
            f"{who} leaves out {len(left_out)} of {total} objects under {prefix}: "
            f"{tables.named([f'{one.key} ({one.storage_class}, {one.state})' for one in left_out])}",
            ObjectsSkipped,
            stacklevel=4,
        )


def _rows(spark, s3, prefix, wanted, copy_to, format, schema, options):
    if not wanted:
        if schema is None:
            raise ArgumentError(
                f"no object under {prefix} is left to read, and without a schema there are no columns"
            )
        return spark.createDataFrame([], schema)
    if copy_to is not None:
        base, places = _copied(s3, wanted, Path(copy_to).resolve())
    elif wrong := [one.uri for one in wanted if directories.ambiguous(one.key)]:
        raise ArgumentError(f"Spark takes other keys for {tables.named(wrong)}; read them by copies: copy_to=")
    else:
        base, places = directories.base(prefix), [one.uri for one in wanted]
    reader = spark.read.format(format).options(**{"basePath": base, **options})
    try:
        return (reader.schema(schema) if schema else reader).load([_literal(place) for place in places])
    except Exception as error:
        if copy_to is None and "No FileSystem for scheme" in str(error):
            raise ArgumentError(
                f"this session has no file system that opens {prefix}: give copy_to=, a local folder into which "
                "the objects are copied, or a session with one (S3A: hadoop-aws)"
            ) from None
        raise


def _literal(place):
    """Return a path in which nothing is a pattern: Spark takes {}[]*? for one."""
    return re.sub(r"([{}\[\]*?\\])", r"\\\1", place)


def _copied(s3, wanted, folder):
    """Copy objects into a new folder inside a local one; returns it and the paths.

    The names are not the keys': of those two can be one file, a file and a folder, or a name that Spark hides.
    """
    from botocore.exceptions import ClientError

    folder.mkdir(parents=True, exist_ok=True)
    base, places = tempfile.mkdtemp(prefix="read-", dir=folder), []
    for number, one in enumerate(wanted):
        place = Path(base) / directories.copy_name(number, one.key)
        place.parent.mkdir(parents=True, exist_ok=True)
        version = {"ExtraArgs": {"VersionId": one.version_id}} if one.version_id else {}
        try:
            s3.download_file(one.bucket, one.key, str(place), **version)
        except ClientError as error:
            if error.response["Error"]["Code"] in ("404", "NoSuchKey"):
                raise ArgumentError(f"{one.uri} was deleted before it was read") from None
            if error.response["Error"]["Code"] != "InvalidObjectState":
                raise
            raise Archived(f"{one.uri} was archived again before it was read", [one]) from None
        places.append(f"file://{place}")
    return base, places


def _refuse(what, wrong, total):
    if not wrong:
        return
    states = [f"{one.uri} ({one.storage_class}, {one.state})" for one in wrong]
    raise Archived(
        f"{len(wrong)} of {total} files of {what} cannot be read: {tables.named(states)}; "
        "plan a restore of them with archive.plan",
        wrong,
    )
