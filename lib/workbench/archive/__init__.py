"""Restore archived data in S3: find its state, plan the time and the price of a restore, restore it, read it.

For a directory of files and for Iceberg tables, with the caller's own Spark session and boto3 client:

    objects = list(archive.inventory("sales.orders", spark=spark, s3=s3, where="year = 2021"))
    plan = archive.plan(objects, tier="Bulk", days=5)    # asks nothing: plan.usd, plan.hours, plan.offers
    outcome = archive.restore(plan, s3=s3, state="orders.db")
    rows = archive.read("sales.orders", spark=spark, s3=s3, where="year = 2021")

What S3 does with archived objects, and what is guaranteed here: docs/archive.md. The parts:

    objects      an object and its state, EMR's three modes as pure functions
    listing      states by listings and HEAD requests
    tables       the files that a query of an Iceberg table opens
    planning     what a restore takes and costs
    requests     the state table of a restore
    looks        what a look at an object says of its request, as pure functions
    restoring    asking, waiting
    runs         one run over a plan, noted step by step
    directories  the keys of a directory as Spark reads them, as pure functions
    reading      rows, or the list of what is missing
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Literal, overload

from workbench._base.door import checked
from workbench._base.errors import ArgumentError
from workbench._base.typing import Column, DataFrame, SparkSession, StructType
from workbench.archive import listing, reading, tables
from workbench.archive.objects import (
    MODES,
    READ_ALL,
    READ_RESTORED_GLACIER_OBJECTS,
    SKIP_ALL_GLACIER,
    Archived,
    MetadataArchived,
    Mode,
    Object,
    decide,
    is_folder,
)
from workbench.archive.planning import MinimumStorage, Offer, Plan, Step, plan
from workbench.archive.reading import ObjectsSkipped, Reading
from workbench.archive.restoring import restore
from workbench.archive.runs import Outcome

__all__ = [
    "MODES", "READ_ALL", "READ_RESTORED_GLACIER_OBJECTS", "SKIP_ALL_GLACIER", "Archived", "MetadataArchived",
    "MinimumStorage", "Object", "ObjectsSkipped", "Offer", "Outcome", "Plan", "Reading", "Step", "decide",
    "inventory", "is_folder", "plan", "read", "restore",
]  # fmt: skip


@checked
def inventory(
    source: str,
    *,
    s3: Any,
    spark: SparkSession | None = None,
    where: str | Column | None = None,
    snapshot_id: int | None = None,
    status: listing.Status = "auto",
    workers: listing.Workers = listing.WORKERS,
) -> Iterator[Object]:
    """Return the state of every object of a directory, or of every file that a query of an Iceberg table opens.

    A directory is listed page by page, with the state of restores where the store lists it and HEAD requests in
    parallel where it does not; memory stays that of one page. A table's files are those of Spark's own plan of the
    query, delete files and the metadata that leads to them included; each is looked at by a HEAD request.

    Args:
        source: s3://bucket/path (what lies below path/, and the object path itself; not path_old/), or
            `namespace.name` of a table.
        s3: boto3 client of S3.
        spark: session whose catalog holds the table; a classic one. Only for a table.
        where: condition on the table's rows, SQL text or Column.
        snapshot_id: of the table; its newest by default.
        status: for a prefix: `auto`, `listing` or `head`, how states are found; auto trusts listings of AmazonS3.
        workers: HEAD requests at a time.

    Returns:
        Iterator of Object: of a prefix in the order of keys, folder keys (`is_folder`) too; of a table metadata
        first, then by address. Errors of arguments and of a table come at once.

    Raises:
        MetadataArchived: metadata files of the table are archived; the error has them as `objects`.
        TableNotFound: no such table.
        ValueError: an argument is wrong, or the table is not on S3.
    """
    if _is_prefix(source):
        _refuse("table", f"{source} is a directory", spark=spark, where=where, snapshot_id=snapshot_id)
        return listing.under(s3, source, status=status, workers=workers)
    session = _needed(spark, source)
    return iter(tables.files(session, s3, source, where=where, snapshot_id=snapshot_id, workers=workers))


# Whether it is a directory stands in a text; a checker sees it by arguments that are for one of the two alone
# fmt: off
@overload
def read(
    source: str, *, s3: Any, spark: SparkSession, where: str | Column, snapshot_id: int | None = None
) -> DataFrame: ...
@overload
def read(source: str, *, s3: Any, spark: SparkSession, snapshot_id: int) -> DataFrame: ...
@overload
def read(
    source: str, *, s3: Any, spark: SparkSession,
    mode: Literal["SKIP_ALL_GLACIER", "READ_RESTORED_GLACIER_OBJECTS"],
    copy_to: str | Path | None = None, format: str | None = None, schema: str | StructType | None = None,
    options: Mapping[str, Any] | None = None,
) -> Reading: ...
@overload
def read(
    source: str, *, s3: Any, spark: SparkSession, mode: Mode = READ_ALL, copy_to: str | Path,
    format: str | None = None, schema: str | StructType | None = None, options: Mapping[str, Any] | None = None,
) -> Reading: ...
@overload
def read(
    source: str, *, s3: Any, spark: SparkSession, mode: Mode = READ_ALL, format: str,
    schema: str | StructType | None = None, options: Mapping[str, Any] | None = None,
) -> Reading: ...
@overload
def read(
    source: str, *, s3: Any, spark: SparkSession, mode: Mode = READ_ALL, schema: str | StructType,
    options: Mapping[str, Any] | None = None,
) -> Reading: ...
@overload
def read(
    source: str, *, s3: Any, spark: SparkSession, mode: Literal["READ_ALL"] = READ_ALL,
    options: Mapping[str, Any] | None = None,
) -> Reading | DataFrame: ...
# fmt: on
@checked
def read(
    source: str,
    *,
    s3: Any,
    spark: SparkSession,
    mode: Mode = READ_ALL,
    where: str | Column | None = None,
    snapshot_id: int | None = None,
    copy_to: str | Path | None = None,
    format: str | None = None,
    schema: str | StructType | None = None,
    options: Mapping[str, Any] | None = None,
) -> Reading | DataFrame:
    """Read a directory by one of EMR's three modes, or the rows of a table when all their files can be read.

    Args:
        source: s3://bucket/path (what lies below path/, and the object path itself; not path_old/), or
            `namespace.name` of a table.
        s3: boto3 client of S3.
        spark: the session.
        mode: READ_ALL fails when an object is archived, before anything is read; SKIP_ALL_GLACIER leaves out
            GLACIER and DEEP_ARCHIVE, restored or not; READ_RESTORED_GLACIER_OBJECTS leaves out what is not
            restored. What is left out is in the result and in a warning, as are names that Spark hides in any
            directory, and files beside partition folders. A table knows READ_ALL only.
        where: condition on a table's rows, SQL text or Column.
        snapshot_id: of the table; its newest by default.
        copy_to: local folder in which each call makes one of its own and copies the directory's objects into it,
            for a session on this machine that has no S3 file system; remove it when the rows are read. Without it
            Spark's own reader opens them where they are.
        format: of a directory's files, as Spark names it (csv, json, parquet, orc, avro, text …). It can be left
            out where all keys have the same known ending (.csv, .json, .parquet, .orc, .avro, or before .gz …).
        schema: of a directory's files, DDL text or StructType, partition columns included, also those of folders
            that the address itself names (…/year=2024/).
        options: of Spark's reader.

    Returns:
        Reading (rows, read, skipped) of a directory; DataFrame of a table. Rows are lazy.

    Raises:
        Archived: an object that has to be read is archived; the error has all of them as `objects`.
        MetadataArchived: metadata files of the table are.
        ValueError: an argument is wrong, or the ending of a key that is to be read contradicts the format.
    """
    if _is_prefix(source):
        _refuse("table", f"{source} is a directory", where=where, snapshot_id=snapshot_id)
        _needed(spark, source)
        return reading.of_directory(
            spark, s3, source, mode=mode, copy_to=copy_to, format=format, schema=schema, options=options
        )
    _refuse("directory", f"{source} is a table", copy_to=copy_to, format=format, schema=schema, options=options)
    _needed(spark, source)
    return reading.of_table(spark, s3, source, where=where, snapshot_id=snapshot_id, mode=mode)


def _is_prefix(source: str) -> bool:
    return "://" in source


def _refuse(meant_for: str, but: str, **given: object) -> None:
    if wrong := [name for name, value in given.items() if value is not None]:
        raise ArgumentError(f"{wrong[0]} is an argument for a {meant_for}; {but}")


def _needed(spark: SparkSession | None, source: str) -> SparkSession:
    if spark is None:
        raise ArgumentError(f"{source} is read by Spark: give the session as spark=")
    return spark
