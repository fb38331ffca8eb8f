"""Rows written as files with a manifest, as Athena's UNLOAD leaves them: the input of a Map with ATHENA_DATA."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated

from workbench._base import identifiers
from workbench._base.bounds import MinLen
from workbench._base.door import checked
from workbench._base.errors import ArgumentError
from workbench._base.typing import DataFrame, Java, SparkSession
from workbench.maps import files

CLAIM = "_unloading"  # Spark passes over files whose names begin with _
COPIED = "_partition"


@dataclass(frozen=True)
class Unload:
    """What was unloaded.

    Attributes:
        manifest: s3://bucket/key of the list of files; written last.
        files: s3://bucket/key each, in the order of the list.
        rows: in them.
    """

    manifest: str
    files: tuple[str, ...]
    rows: int


@checked
def unload(
    spark: SparkSession,
    df: DataFrame,
    *,
    to: Annotated[str, MinLen(1)],
    partition: str | None = None,
    buckets: Mapping[str, str] | None = None,
) -> Unload:
    """Write rows as uncompressed Parquet files, and then the list of them: `<to>-manifest.csv`.

    Athena's UNLOAD may write where files are already, and a folder that is listed then has two runs in it. This
    refuses a folder that is not empty, and a manifest is there only when all files are. Two at once cannot write
    into one folder where the file system makes a file only once, as a local one and HDFS do.

    Args:
        spark: classic session.
        df: the rows.
        to: s3://bucket/folder.
        partition: column of which each value has files of its own, in a folder of a copy of the column; the files
            keep the column, too.
        buckets: name of an S3 bucket to the folder or location that stands for it here.

    Returns:
        Unload.

    Raises:
        ValueError: there are files in the folder, or a manifest beside it; `to` is not a folder of a bucket; the
            frame lacks the column.
    """
    name = to.rstrip("/")
    match = files.URI.fullmatch(name)
    if match is None:
        raise ArgumentError(f"to must be s3://bucket/folder, found {to!r}")
    if partition is not None and partition not in df.columns:
        raise ArgumentError(f"the rows have no column {partition}; they have {', '.join(df.columns)}")
    location = files.place(match[1], match[2], buckets or {}, spark)
    manifest = f"{location}-manifest.csv"
    _claim(spark, name, location, manifest)
    frame, writer = df, df.write
    if partition is not None:
        from pyspark.sql import functions as F

        copy = f"{partition}{COPIED}"
        frame = df.withColumn(copy, F.col(identifiers.column(partition)))
        writer = frame.write.partitionBy(copy)
    writer.mode("append").option("compression", "none").parquet(location)
    keys = _data_files(spark, location)
    uris = tuple(f"s3://{match[1]}/{match[2]}/{key}" for key in keys)
    rows = sum(files.rows_of(spark, f"{location}/{key}") for key in keys)
    _write(spark, manifest, "".join(f"{file}\n" for file in uris))
    path, system = files.path(spark, f"{location}/{CLAIM}")
    system.delete(path, False)
    return Unload(f"{name}-manifest.csv", uris, rows)


def _claim(spark: SparkSession, name: str, location: str, manifest: str) -> None:
    """Refuse a folder with files, or with a manifest; else note in it that this call writes there."""
    path, system = files.path(spark, location)
    listed, _ = files.path(spark, manifest)
    if system.exists(listed):
        raise ArgumentError(f"{name} was unloaded before: there is {name}-manifest.csv; name another folder")
    if system.exists(path) and (others := [status.getPath().getName() for status in system.listStatus(path)]):
        by = " by an unload that did not end" if CLAIM in others else ""
        raise ArgumentError(
            f"{name} is not empty: {len(others)} files or folders were left there{by}. Name another folder, or "
            "remove it"
        )
    claim, _ = files.path(spark, f"{location}/{CLAIM}")
    try:
        system.create(claim, False).close()
    except Exception as error:
        if "FileAlreadyExistsException" not in str(error):
            raise
        raise ArgumentError(f"another unload writes into {name}; name another folder") from error


def _data_files(spark: SparkSession, location: str) -> list[str]:
    """Return the keys of the Parquet files below a folder, relative to it, sorted."""
    path, system = files.path(spark, location)
    root = system.makeQualified(path).toString().rstrip("/") + "/"
    statuses, keys = system.listFiles(path, True), []
    while statuses.hasNext():
        text: str = statuses.next().getPath().toString()
        if text.endswith(".parquet") and not text.rpartition("/")[2].startswith(("_", ".")):
            keys.append(text.removeprefix(root))
    return sorted(keys)


def _write(spark: SparkSession, location: str, text: str) -> None:
    path, system = files.path(spark, location)
    stream: Java = system.create(path, False)
    try:
        stream.write(bytearray(text.encode()))
    finally:
        stream.close()
