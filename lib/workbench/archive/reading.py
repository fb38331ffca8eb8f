"""Reading what can be read, and saying what cannot: directories by three modes, tables whole or not at all."""

import re
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from workbench.archive import listing, objects, tables
from workbench.archive.objects import FAIL, READ, READ_ALL, SKIP, Archived, Object


class ObjectsSkipped(UserWarning):
    """Objects of a directory were left out of what was read."""


@dataclass(frozen=True)
class Reading:
    """What was read of a directory.

    Attributes:
        rows: DataFrame; lazy.
        read: the Objects it reads.
        skipped: the Objects it leaves out; a warning named them too.
    """

    rows: Any
    read: tuple[Object, ...]
    skipped: tuple[Object, ...]


def of_table(spark, s3, table, *, where=None, snapshot_id=None, mode=READ_ALL):
    """Return the rows of a table when every file they need can be read."""
    if mode != READ_ALL:
        raise ValueError(
            f"{mode} would leave rows of {table} out without a trace: manifests name every file of a table. "
            f"A table is read by {READ_ALL} or not at all; choose its rows by `where` or `snapshot_id`"
        )
    found = tables.files(spark, s3, table, where=where, snapshot_id=snapshot_id)
    _refuse(table, [one for one in found if not one.readable], len(found))
    return tables.rows(spark, table, where=where, snapshot_id=snapshot_id)


def of_directory(spark, s3, prefix, *, mode=READ_ALL, copy_to=None, format="csv", schema=None, options=None):
    """Read the objects of a directory that a mode leaves; see `archive.read`."""
    objects.decide(mode, None) if mode not in objects.MODES else None
    found = [one for one in listing.under(s3, prefix) if not objects.is_folder(one.uri, one.size)]
    decided = {READ: [], SKIP: [], FAIL: []}
    for one in found:
        decided[objects.decide(mode, one)].append(one)
    _refuse(prefix, decided[FAIL], len(found))
    if decided[SKIP]:
        warnings.warn(
            f"{mode} leaves out {len(decided[SKIP])} of {len(found)} objects under {prefix}: "
            f"{tables.named([f'{one.key} ({one.storage_class}, {one.state})' for one in decided[SKIP]])}",
            ObjectsSkipped,
            stacklevel=3,
        )
    rows = _rows(spark, s3, prefix, decided[READ], copy_to, format, schema, options or {})
    return Reading(rows, tuple(decided[READ]), tuple(decided[SKIP]))


def _rows(spark, s3, prefix, wanted, copy_to, format, schema, options):
    if not wanted:
        if schema is None:
            raise ValueError(
                f"no object under {prefix} is left to read, and without a schema there are no columns"
            )
        return spark.createDataFrame([], schema)
    base, places = prefix, [one.uri for one in wanted]
    if copy_to is not None:
        base, places = str(Path(copy_to).resolve()), _copied(s3, prefix, wanted, Path(copy_to))
    reader = spark.read.format(format).options(**{"basePath": base, **options})
    return (reader.schema(schema) if schema else reader).load([_literal(place) for place in places])


def _literal(place):
    """Return a path in which nothing is a pattern: Spark takes {}[]*? for one."""
    return re.sub(r"([{}\[\]*?\\])", r"\\\1", place)


def _copied(s3, prefix, wanted, folder):
    """Copy objects into a local folder under the names that they have below the prefix; returns the paths."""
    from botocore.exceptions import ClientError

    start, places = len(objects.split(prefix)[1].rsplit("/", 1)[0]), []
    for one in wanted:
        place = (folder / one.key[start:].lstrip("/")).resolve()
        if not place.is_relative_to(folder.resolve()):
            raise ValueError(f"{one.uri} would be copied outside of {folder}")
        place.parent.mkdir(parents=True, exist_ok=True)
        version = {"ExtraArgs": {"VersionId": one.version_id}} if one.version_id else {}
        try:
            s3.download_file(one.bucket, one.key, str(place), **version)
        except ClientError as error:
            if error.response["Error"]["Code"] != "InvalidObjectState":
                raise
            raise Archived(f"{one.uri} was archived again before it was read", [one]) from None
        places.append(f"file://{place}")
    return places


def _refuse(what, wrong, total):
    if not wrong:
        return
    states = [f"{one.uri} ({one.storage_class}, {one.state})" for one in wrong]
    raise Archived(
        f"{len(wrong)} of {total} files of {what} cannot be read: {tables.named(states)}; "
        "plan a restore of them with archive.plan",
        wrong,
    )
