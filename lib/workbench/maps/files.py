"""The files whose records are the items: named by a manifest or alone, looked at before anything runs."""

import hashlib
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from workbench._base.errors import ArgumentError, WorkbenchError
from workbench._base.typing import Java, SparkSession, StructType, jvm

MOST_BYTES = 2**40  # of a file, as `whole` lets a task of Spark read it
MOST_MANIFEST_BYTES = 64 * 2**20
URI = re.compile(r"s3://([^/]+)/(.+)")
_UNREAD = re.compile(r"\[FAILED_READ_FILE\S*\] Encountered error while reading file (\S+?)\.? ")
_UNSTATED = {"date", "binary", "float", "timestamp", "timestamp_ntz", "variant"}
_UNSTATED_WORDS = ("decimal", "interval", "char", "varchar", "time(")


class ItemsChanged(WorkbenchError, RuntimeError):
    """A wave's files are not as they were when they were looked at, or gave other items."""


@dataclass(frozen=True)
class File:
    """A file of items.

    Attributes:
        name: as the manifest has it, s3://bucket/key: an item's source.
        location: where it is, as Hadoop's Path has it.
        uri: the same with its special characters encoded, as Spark names it.
        bytes: its size.
        modified: when it was written, milliseconds since 1970.
        rows: items in it.
    """

    name: str
    location: str
    uri: str
    bytes: int
    modified: int
    rows: int = 0


def path_of(location: str) -> str:
    """Return a location as a text that two spellings of it share: Spark's own says file:/// and %20."""
    return re.sub(r"^([a-z0-9]+):/+", r"\1:/", unquote(location))


def literal(location: str) -> str:
    """Return a location for Spark's readers, which take it for a pattern."""
    return re.sub(r"([{}\[\]*?\\])", r"\\\1", location)


def place(bucket: str, key: str, buckets: Mapping[str, str], spark: SparkSession) -> str:
    """Return where an object is: in the folder that stands for its bucket, or in S3."""
    if bucket in buckets:
        return f"{buckets[bucket].rstrip('/')}/{key}"
    own = _hadoop(spark).get("fs.s3.impl")
    return f"{'s3' if own else 's3a'}://{bucket}/{key}"


def listed(
    spark: SparkSession, bucket: str, key: str, buckets: Mapping[str, str], *, manifest: bool
) -> list[tuple[str, str]]:
    """Return name and location of each file: of the object itself, or of those that it lists, a line each.

    Raises:
        ValueError: the manifest is missing, empty, or names a file twice, or one that is not an object of S3.
    """
    location = place(bucket, key, buckets, spark)
    name = f"s3://{bucket}/{key}"
    if not manifest:
        return [(name, location)]
    lines = [line.strip().strip('"') for line in _text(spark, name, location).splitlines()]
    names = [line for line in lines if line]
    wrong = [line for line in names if not URI.fullmatch(line)]
    if wrong:
        raise ArgumentError(f"the manifest {name} has {wrong[0][:200]!r}; expected s3://bucket/key, one a line")
    if twice := sorted(name for name, count in Counter(names).items() if count > 1):
        raise ArgumentError(f"the manifest {name} names {len(twice)} files twice, {twice[0]} among them")
    objects = [match for line in names if (match := URI.fullmatch(line))]
    return [(match[0], place(match[1], match[2], buckets, spark)) for match in objects]


def looked_at(spark: SparkSession, listing: Iterable[tuple[str, str]]) -> list[File]:
    """Return the files of a listing, their rows not yet counted.

    Raises:
        ValueError: some are missing, empty of a name, too large, or such as Spark passes over; two are one file.
    """
    files: list[File] = []
    missing: list[str] = []
    by_file: dict[str, str] = {}
    for name, location in listing:
        if location.rpartition("/")[2].startswith(("_", ".")):
            raise ArgumentError(f"{name} begins with _ or ., and Spark passes over such files")
        status = _status(spark, location)
        if status is None:
            missing.append(f"{name}, looked for at {location}")
        else:
            where = status.getPath()
            uri = where.toUri().toString()
            if status.getLen() > MOST_BYTES:
                raise ArgumentError(f"{name} has {status.getLen():,} bytes; at most {MOST_BYTES:,} are taken")
            if (other := by_file.setdefault(_identity(where), name)) != name:
                raise ArgumentError(f"{other} and {name} are one file, {where.toString()}; name it once")
            files.append(File(name, where.toString(), uri, status.getLen(), status.getModificationTime()))
    if missing:
        more = f", and {len(missing) - 1} more" if len(missing) > 1 else ""
        raise ArgumentError(f"there is no file {missing[0]}{more}")
    return files


def _identity(where: Java) -> str:
    """Return what two names of one file share: on a local disk its number there, by which links are found too."""
    uri = where.toUri()
    if uri.getScheme() == "file":
        with suppress(OSError):
            status = Path(uri.getPath()).stat()
            return f"{status.st_dev} {status.st_ino}"
    return path_of(uri.toString())


@contextmanager
def readable() -> Iterator[None]:
    """Say by a sentence that Spark cannot read a file of a query of the block.

    Raises:
        ValueError: a file's name says that it is compressed, and it is not, or the like.
    """
    try:
        yield
    except Exception as error:
        if (match := _UNREAD.search(str(error))) is None:
            raise
        why = str(error).strip().splitlines()
        cause = next((line.strip() for line in why if line.lstrip().startswith("Caused by:")), why[0])
        raise ArgumentError(
            f"{match[1]} cannot be read: {cause[:300]}. A name that ends in .gz, .bz2, .zst or the like is that "
            "of a compressed file"
        ) from error


def refuse_changed(spark: SparkSession, chosen: Iterable[File]) -> None:
    """Refuse files that were written anew since they were looked at.

    Raises:
        ItemsChanged: one has another size or time, or is gone.
    """
    for file in chosen:
        status = _status(spark, file.location)
        now = None if status is None else (status.getLen(), status.getModificationTime())
        if now != (file.bytes, file.modified):
            what = "is gone" if now is None else "was written anew"
            raise ItemsChanged(
                f"{file.name} {what} while it was read. Nothing of this wave was published; begin another run"
            )


def parquet(spark: SparkSession, files: list[File]) -> tuple[list[File], StructType | None]:
    """Return the files with their rows, by their footers, and the columns that they all have; None for no file.

    Raises:
        ValueError: one is not Parquet, has other columns than the first, or a column whose form in JSON AWS does
            not state.
    """
    counted, first = [], None
    for file in files:
        rows, message, names = _footer(spark, file)
        if first is None:
            first = message
            _refuse_names(names, file.name)
        elif message != first:
            lines, others = set(first.splitlines()), set(message.splitlines())
            differing = sorted(line.strip(" ;") for line in lines ^ others)
            raise ArgumentError(
                f"{file.name} has other columns than {files[0].name}: {differing[0]}. Step Functions would give "
                "the items of each other fields; let all have the same"
            )
        counted.append(replace(file, rows=rows))
    if not files:
        return [], None
    schema = spark.read.parquet(literal(files[0].location)).schema
    _refuse_unstated(schema, files[0].name)
    return counted, schema


def rows_of(spark: SparkSession, location: str) -> int:
    """Return how many rows a Parquet file has, by its footer."""
    return _footer(spark, File(location, location, location, 0, 0))[0]


def digest(files: Iterable[File]) -> str:
    """Return a digest of names, sizes and times: another one where a source has changed."""
    lines = "".join(f"{file.name} {file.bytes} {file.modified} {file.rows}\n" for file in files)
    return hashlib.sha256(lines.encode()).hexdigest()


def _refuse_unstated(schema: StructType, name: str) -> None:
    wrong = [
        f"{field.name} {kind}"
        for field in schema
        for kind in _kinds(field.dataType.jsonValue())
        if _unstated(kind)
    ]
    if wrong:
        raise ArgumentError(
            f"{name} has columns whose form in JSON Step Functions does not state: {', '.join(wrong)}. Write them "
            "as text, whole numbers, doubles or booleans"
        )


def _refuse_names(names: list[str], name: str) -> None:
    lower = [each.lower() for each in names]
    if "_metadata" in lower:
        raise ArgumentError(f"{name} has the column _metadata, a name that Spark keeps for itself; rename it")
    if twice := sorted({each for each in lower if lower.count(each) > 1}):
        raise ArgumentError(f"{name} has the column {twice[0]} twice, in two cases; to Spark they are one")


def _unstated(kind: str) -> bool:
    return kind in _UNSTATED or kind.startswith(_UNSTATED_WORDS)


def _kinds(kind: Any) -> Iterable[str]:
    """Yield the simple types within a type in Spark's JSON form."""
    if isinstance(kind, str):
        yield kind
        return
    if kind["type"] == "map" and kind["keyType"] != "string":
        yield "interval"  # a map whose keys are not texts has no form in JSON either
    kinds = [field["type"] for field in kind.get("fields", ())]
    for each in (*kinds, *(kind[name] for name in ("elementType", "valueType") if name in kind)):
        yield from _kinds(each)


def _footer(spark: SparkSession, file: File) -> tuple[int, str, list[str]]:
    """Return a Parquet file's rows, its schema as a text in which every column may be null, and its columns."""
    hadoop = jvm(spark).org.apache.parquet.hadoop
    where, _ = path(spark, file.location)
    try:
        reader = hadoop.ParquetFileReader.open(hadoop.util.HadoopInputFile.fromPath(where, _hadoop(spark)))
    except Exception as error:
        why = str(error).strip().splitlines()[-1][:200]
        raise ArgumentError(f"{file.name} cannot be read as Parquet: {why}") from error
    try:
        schema = reader.getFileMetaData().getSchema()
        message = re.sub(r"\brequired ", "optional ", schema.toString()).partition("{")[2]
        return reader.getRecordCount(), message, [field.getName() for field in schema.getFields()]
    finally:
        reader.close()


def _hadoop(spark: SparkSession) -> Java:
    return spark._jsparkSession.sessionState().newHadoopConf()


def path(spark: SparkSession, location: str) -> tuple[Java, Java]:
    """Return Hadoop's path of a location, and its file system."""
    from py4j.protocol import Py4JJavaError

    where = jvm(spark).org.apache.hadoop.fs.Path(location)
    try:
        return where, where.getFileSystem(_hadoop(spark))
    except Py4JJavaError as error:
        if not any(name in str(error.java_exception) for name in ("ClassNotFoundException", "No FileSystem")):
            raise
        raise ArgumentError(
            f"this session cannot read {location}, it has no jars of that storage; name by buckets the folder "
            "that stands for the bucket, or start the session with an environment that has S3"
        ) from None


def _status(spark: SparkSession, location: str) -> Java:
    from py4j.protocol import Py4JJavaError

    where, system = path(spark, location)
    try:
        status = system.getFileStatus(where)
    except Py4JJavaError as error:
        if "FileNotFoundException" not in str(error.java_exception.getClass().getName()):
            raise
        return None
    return status if status.isFile() else None


def _text(spark: SparkSession, name: str, location: str) -> str:
    status = _status(spark, location)
    if status is None:
        raise ArgumentError(f"there is no manifest {name}; it was looked for at {location}")
    if status.getLen() > MOST_MANIFEST_BYTES:
        raise ArgumentError(f"the manifest {name} has {status.getLen():,} bytes; expected a list of files")
    where, system = path(spark, location)
    stream = system.open(where)
    try:
        text: str = jvm(spark).org.apache.commons.io.IOUtils.toString(stream, "UTF-8")
    finally:
        stream.close()
    return text
