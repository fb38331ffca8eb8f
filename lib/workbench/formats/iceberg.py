"""Iceberg's side of a move: a new table under given field ids, data files that exist, deletion vectors in Puffin.

Creating a table gives its fields new ids. Here the creation is a transaction whose metadata is replaced by one
with the ids of the files, so that the catalog gets table and rows in one step: no table, or the right one.
"""

import json
import re
import uuid
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from workbench._base import releases
from workbench._base.errors import ArgumentError, WorkbenchError
from workbench._base.typing import Java, SparkSession, jvm
from workbench.formats import footers, partitions, storage
from workbench.formats.delta import vectors
from workbench.formats.inspection import File, Inspection, Schema, State
from workbench.tables import commits
from workbench.tables.maintenance import owners

SOURCE = owners.SOURCE
VERSION, SCHEMA = "workbench.formats.version", "workbench.formats.schema"
KIND = "workbench.formats.kind"
FROM, TAKEN = "workbench.formats.taken-over-from", "workbench.formats.taken-over-by"
GC, NAMES, FORMAT = "gc.enabled", "schema.name-mapping.default", "format-version"
_FIRST_PARTITION_ID = 1000
_CATALOG = "org.apache.iceberg.spark.source.HasIcebergCatalog"
_CUT = re.compile("[#?]")


@dataclass(frozen=True)
class Blob:
    """A deletion vector in a Puffin file.

    Attributes:
        location: of the Puffin file.
        file_bytes: of it.
        offset: of the vector in it.
        size: bytes of the vector.
        rows: deleted rows.
    """

    location: str
    file_bytes: int
    offset: int
    size: int
    rows: int


@dataclass(frozen=True)
class Spec:
    """A partitioning, read once: Py4J takes milliseconds whenever Python comes to the end of a list of Java's.

    Attributes:
        handle: Iceberg's own.
        number: its id.
        fields: {name of a partition field: its id}.
    """

    handle: Java
    number: int
    fields: Mapping[str, int]


def spec_of(spark: SparkSession, loaded: Java) -> Spec:
    """Return the partitioning of a table, or of that of a transaction."""
    handle = loaded.spec()
    described = json.loads(jvm(spark).org.apache.iceberg.PartitionSpecParser.toJson(handle))
    return Spec(handle, described["spec-id"], {field["name"]: field["field-id"] for field in described["fields"]})


class Classes:
    """Iceberg's classes and their functions, looked up once: each part of a name is a question to the JVM."""

    def __init__(self, spark: SparkSession) -> None:
        self.java = jvm(spark).java
        iceberg = self.iceberg = jvm(spark).org.apache.iceberg
        self.described, self.from_json = iceberg.ContentFileParser.toJson, iceberg.ContentFileParser.fromJson
        self.tree = iceberg.util.JsonUtil.mapper().readTree
        self.footer_metrics, self.builder = iceberg.parquet.ParquetUtil.footerMetrics, iceberg.DataFiles.builder
        parquet = iceberg.shaded.org.apache.parquet
        options = parquet.ParquetReadOptions.builder(parquet.conf.PlainParquetConfiguration()).build()
        converter = parquet.format.converter.ParquetMetadataConverter
        self.read_footer, self.all_row_groups = converter(options).readParquetMetadata, converter.NO_FILTER
        self.stream, self.no_fields = self.java.io.ByteArrayInputStream, self.java.util.stream.Stream.empty
        self.metadata = iceberg.TableMetadata
        self.puffin, self.blob = iceberg.puffin.Puffin, iceberg.puffin.Blob
        self.none = iceberg.puffin.PuffinCompressionCodec.NONE
        self.position = iceberg.MetadataColumns.ROW_POSITION.fieldId()
        self.wrap = jvm(spark).java.nio.ByteBuffer.wrap
        self.unpartitioned = iceberg.PartitionSpec.unpartitioned()


def begun(spark: SparkSession, table: str, state: State, schema: Schema, properties: Mapping[str, str]) -> Java:
    """Return a transaction that makes a table: its schema, its partitioning and no rows yet.

    Raises:
        ValueError: Iceberg cannot have the schema, or one of both folders would lie in the other.
    """
    from py4j.java_gateway import is_instance_of

    iceberg = jvm(spark).org.apache.iceberg
    releases.activate(spark)  # a Python thread has a Java thread of its own, in which no session is active
    identity = commits.identified(spark, table)
    if not is_instance_of(spark.sparkContext._gateway, identity.catalog(), _CATALOG):
        raise ArgumentError(f"{table} cannot be made: {identity.catalog().name()} is not a catalog of Iceberg's")
    name = iceberg.spark.Spark3Util.identifierToTableIdentifier(identity.identifier())
    catalog = identity.catalog().icebergCatalog()
    try:
        fields = iceberg.SchemaParser.fromJson(json.dumps(schema.fields))
        spec = iceberg.PartitionSpecParser.fromJson(fields, json.dumps(_spec(state, schema)))
        transaction = (
            catalog.buildTable(name, iceberg.Schema([])).withProperties(dict(properties)).createTransaction()
        )
        operations = transaction.table().operations()
        empty = operations.current()
        builder = iceberg.TableMetadata.buildFrom(empty).setCurrentSchema(fields, schema.last_id)
        ours = builder.setDefaultPartitionSpec(spec).build()
    except Exception as error:
        if commits.kind(error) in (commits.CONFLICT, commits.UNKNOWN, commits.CONNECTION):
            raise
        raise ArgumentError(f"{table} cannot be made: {commits.errors.first_line(error)}") from error
    folders = [f"{storage.path_of(at).rstrip('/')}/" for at in (ours.location(), state.folder.location)]
    if folders[0].startswith(folders[1]) or folders[1].startswith(folders[0]):
        raise ArgumentError(
            f"{table} would lie in {ours.location()}, and its source in {state.folder.location}: one within the "
            "other. Name another namespace or table"
        )
    for name, value in properties.items():
        if re.fullmatch(r"write\..*path", name) and f"{storage.path_of(value).rstrip('/')}/".startswith(
            folders[1]
        ):
            raise ArgumentError(
                f"the property {name} is {value}, in the folder of the source: name another folder"
            )
    operations.commit(empty, ours)
    return transaction


def refuse_unreachable(table: str, loaded: Java, state: State) -> None:
    """Refuse a source whose files the table's FileIO does not reach: of each bucket one is asked for.

    That is one whose name Iceberg's S3URI would cut, where the bucket has such a file.

    Raises:
        ValueError: a file cannot be reached, or has another length there.
    """
    locations = [(state.folder.location_of(name), file.size) for name, file in state.files.items()]
    locations.sort(key=lambda item: bool(_CUT.search(item[0])))
    places = {urlsplit(location)[:2]: (location, size) for location, size in locations}
    for location, size in places.values():
        io = loaded.io()
        try:
            length = io.newInputFile(location).getLength()
        except Exception as error:
            why = commits.errors.first_line(error)
        else:
            if length == size:
                continue
            why = f"the file has {length} bytes there, the source says {size}"
        cure = (
            "Iceberg cuts a key at # and ?: copy the source to another prefix"
            if location.startswith("s3") and _CUT.search(location)
            else "with io-impl org.apache.iceberg.io.ResolvingFileIO, the jar aws and s3.* properties a catalog "
            "reads S3 and this machine"
        )
        raise ArgumentError(
            f"{table} cannot be made: its catalog reads files by {io.getClass().getSimpleName()}, which cannot "
            f"read {location}: {why}; {cure}"
        )


def _spec(state: State, schema: Schema) -> dict[str, Any]:
    ids = {field["name"]: field["id"] for field in schema.fields["fields"]}
    fields = [
        {"name": name, "transform": "identity", "source-id": ids[name], "field-id": _FIRST_PARTITION_ID + place}
        for place, name in enumerate(state.partitions)
    ]
    return {"spec-id": 1 if fields else 0, "fields": fields}


def partition(spec: Spec, state: State, schema: Schema, file: File) -> dict[str, Any]:
    """Return the partition of a file as Iceberg's JSON: {partition field id: value}.

    Raises:
        ValueError: the file has several values of a column by which the table is partitioned.
    """
    if varying := [name for name in spec.fields if name in file.varying]:
        raise ArgumentError(
            f"the table is partitioned by {varying[0]}, and the file {file.name} of its source has several "
            "values of it: move the source to another table, which will not be partitioned"
        )
    kinds = {field["name"]: field["type"] for field in schema.fields["fields"]}
    return {
        str(number): partitions.value(kinds[name], file.partition.get(schema.physical[name]))
        for name, number in spec.fields.items()
    }


def data_files(
    classes: Classes, loaded: Java, spec: Spec, inspection: Inspection, files: Iterable[File]
) -> dict[str, Java]:
    """Return {name: Iceberg's handle of a data file that exists}, with the metrics of its footer.

    Args:
        classes: of the session.
        loaded: the table, or that of a transaction.
        spec: its partitioning.
        inspection: of the source.
        files: of the source, whose footers were read.
    """
    state, schema = inspection.state, inspection.schema
    config = classes.iceberg.MetricsConfig.forTable(loaded)
    mapping = classes.iceberg.mapping.NameMappingParser.fromJson(json.dumps(schema.names))
    by_name, handles = {file.name: file for file in files}, {}
    sizes = {name: file.size for name, file in by_name.items()}
    builder = classes.builder(classes.unpartitioned).withFormat("parquet")
    # ParquetUtil.fileMetrics reads Hadoop's configuration anew for each file, which takes most of its time
    contents = footers.contents(state.folder, sizes, inspection.footers)
    for file, content in zip(by_name.values(), contents, strict=True):
        location = state.folder.location_of(file.name)
        stream = classes.stream(content)
        footer = classes.read_footer(stream, classes.all_row_groups, None, False, len(content))
        metrics = classes.footer_metrics(footer, classes.no_fields(), config, mapping)
        handle = builder.withPath(location).withFileSizeInBytes(file.size).withMetrics(metrics).build()
        if spec.fields or spec.number:
            described = json.loads(classes.described(handle, classes.unpartitioned))
            described |= {"spec-id": spec.number, "partition": partition(spec, state, schema, file)}
            handle = parsed(classes, described, spec.handle)
        handles[file.name] = handle
    return handles


def copied(spark: SparkSession, loaded: Java, state: State, files: Sequence[File], name: str) -> dict[str, Blob]:
    """Copy deletion vectors of a source into one Puffin file of a table.

    Args:
        spark: classic session.
        loaded: the table, or that of a transaction.
        state: of the source.
        files: with vectors.
        name: of the Puffin file, without its ending.

    Returns:
        {name of a data file: Blob}; empty without files.
    """
    if not files:
        return {}
    location = loaded.locationProvider().newDataLocation(f"{name}.puffin")
    blobs = ((state.folder.location_of(file.name), vectors.read(state.folder, file)) for file in files)
    placed, size = puffin(spark, loaded, location, blobs, [file.vector.rows for file in files if file.vector])
    return {
        file.name: Blob(location, size, at.offset(), at.length(), file.vector.rows)
        for file, at in zip(files, placed, strict=True)
        if file.vector
    }


def puffin(
    spark: SparkSession, loaded: Java, location: str, blobs: Iterable[tuple[str, bytes]], rows: Sequence[int]
) -> tuple[list[Java], int]:
    """Write vectors into a Puffin file: (where each is, bytes of the file).

    Raises:
        ValueError: a vector is damaged, or the file cannot be written.
    """
    try:
        return _puffin(Classes(spark), loaded, location, blobs, rows)
    except WorkbenchError:
        raise
    except Exception as error:
        if commits.kind(error) == commits.CONNECTION:
            raise
        raise ArgumentError(
            f"the deletion vectors cannot be written to {location}: {commits.errors.first_line(error)}"
        ) from error


def _puffin(
    classes: Classes, loaded: Java, location: str, blobs: Iterable[tuple[str, bytes]], rows: Sequence[int]
) -> tuple[list[Java], int]:
    writer = classes.puffin.write(loaded.io().newOutputFile(location)).createdBy("Iceberg Workbench").build()
    try:
        placed = [
            writer.write(
                classes.blob(
                    "deletion-vector-v1", [classes.position], -1, -1, classes.wrap(content), classes.none,
                    {"referenced-data-file": data_file, "cardinality": str(count)},
                )
            )
            for (data_file, content), count in zip(blobs, rows, strict=True)
        ]  # fmt: skip
    finally:
        writer.close()
    return placed, writer.fileSize()


def delete_file(classes: Classes, spec: Spec, values: Mapping[str, Any], data_file: str, blob: Blob) -> Java:
    """Return Iceberg's handle of a deletion vector.

    Args:
        classes: of the session.
        spec: of the data file.
        values: the data file's partition as Iceberg's JSON.
        data_file: its location.
        blob: where the vector is.
    """
    described = {"spec-id": spec.number, "content": "position-deletes", "file-format": "puffin"}
    described |= {"partition": dict(values), **placed(blob, data_file)}
    return parsed(classes, described, spec.handle)


def placed(blob: Blob, data_file: str) -> dict[str, Any]:
    """Return what Iceberg's JSON of a deletion vector says of where it is, and of which data file."""
    return {
        "file-path": blob.location,
        "file-size-in-bytes": blob.file_bytes,
        "record-count": blob.rows,
        "referenced-data-file": data_file,
        "content-offset": blob.offset,
        "content-size-in-bytes": blob.size,
    }


def parsed(classes: Classes, described: Mapping[str, Any], spec: Java) -> Java:
    """Return Iceberg's handle of a file that its JSON describes."""
    return classes.from_json(classes.tree(json.dumps(described)), spec)


def stamped(update: Java, source: str, version: int, mark: str) -> None:
    """Write into the summary of a snapshot what it was made from."""
    for key, value in ((SOURCE, source), (VERSION, str(version)), (commits.marks.KEY, mark)):
        update.set(key, value)


def vector_name(version: int) -> str:
    """Return a new name for a Puffin file."""
    return f"delta-{version:020d}-{uuid.uuid4().hex}"


OnStep = Callable[[str], object]
