"""A Delta table becomes an Iceberg table: the same rows, by every reader, and no data file written or changed."""

import json
from pathlib import Path

import pytest
from golden_tables import MOVABLE, REFUSED, digest_of, in_the_proof, namespace, unpacked
from interruptions import Stopped, race, stop_at
from py4j import protocol as proto

from workbench import formats
from workbench._base.errors import ArgumentError
from workbench.formats import columns, iceberg, sources, storage
from workbench.tables import commits, snapshots

CHECKED = ("mapped", "partitions", "nested", "widened", "upgraded")
OTHERS = {  # and what shows their promise in the check
    "vectors": "mapped, which has deletion vectors too,",
    "checkpoint_v2": "test_a_log_that_begins_with_a_checkpoint",
}


def files_below(spark, table):
    """Return the names' endings of what lies in a table's own folder."""
    folder = Path(commits.load(spark, table).location().removeprefix("file:").replace("//", "/"))
    return {path.suffix for path in folder.rglob("*") if path.is_file() and not path.name.startswith(".")}


@pytest.mark.parametrize(
    "name",
    [
        *CHECKED,
        *(param for name, witness in OTHERS.items() for param in in_the_proof(witness, [name])),
        *in_the_proof("the others", set(MOVABLE) - {*CHECKED, *OTHERS}),
    ],
)
def test_rows_are_the_source_s_in_one_commit_without_a_data_file(name, spark, namespace, tmp_path):
    source, table = unpacked(name, tmp_path), f"{namespace}.moved"
    before = digest_of(source)
    look = formats.look(source)
    move = formats.move(spark, source, table)
    assert (move.files, move.rows, move.version) == (look.files, look.rows, look.version)
    verified = formats.verify(spark, table, reader="duckdb" if name == "widened" else "deltalake")
    assert verified.equal and verified.rows == verified.source_rows == look.rows
    loaded = commits.load(spark, table)
    assert [snapshot["snapshot-id"] for snapshot in commits.snapshots_of(spark, loaded)] == [move.snapshot_id]
    summary, properties = loaded.currentSnapshot().summary(), loaded.properties()
    assert (summary[iceberg.SOURCE], summary[iceberg.VERSION]) == (look.location, str(look.version))
    assert (properties["gc.enabled"], properties[iceberg.SOURCE]) == ("false", look.location)
    assert (
        loaded.operations().current().formatVersion() == (3 if move.deletion_vectors else 2) or "vectors" in name
    )
    assert ".parquet" not in files_below(spark, table)
    assert digest_of(source) == before


def described(spark, table, source, monkeypatch):
    """Return ({file: its figures by the move}, {file: those that Iceberg reads}, commands of Py4J a file)."""
    loaded, classes = commits.load(spark, table), iceberg.Classes(spark)
    folder = storage.opened(str(source))
    inspection = sources.of(folder).inspected(folder)
    state, spec = inspection.state, iceberg.spec_of(spark, loaded)
    client, commands = spark.sparkContext._gateway._gateway_client, []
    send = client.send_command

    def counted(command, *given, **named):
        if not command.startswith(proto.MEMORY_COMMAND_NAME):  # of Python's collector, whenever it likes
            commands.append(command)
        return send(command, *given, **named)

    monkeypatch.setattr(client, "send_command", counted)
    handles = iceberg.data_files(classes, loaded, spec, inspection, state.files.values())
    monkeypatch.undo()
    config = classes.iceberg.MetricsConfig.forTable(loaded)
    mapping = classes.iceberg.mapping.NameMappingParser.fromJson(json.dumps(inspection.schema.names))
    read, ours = {}, {}
    for name, file in state.files.items():
        at = loaded.io().newInputFile(folder.location_of(name))
        metrics = classes.iceberg.parquet.ParquetUtil.fileMetrics(at, config, mapping)
        plain = classes.builder(classes.unpartitioned).withPath(at.location()).withFormat("parquet")
        handle = plain.withFileSizeInBytes(file.size).withMetrics(metrics).build()
        read[name] = figures(classes.described(handle, classes.unpartitioned))
        ours[name] = figures(classes.described(handles[name], spec.handle))
    return ours, read, len(commands) / len(handles)


def figures(text):
    """Return what a file's JSON says, but for where it lies."""
    places = ("spec-id", "partition", "file-path")
    return {key: value for key, value in json.loads(text).items() if key not in places}


@pytest.mark.parametrize(
    "name",
    ["nested", "partitions", *in_the_proof("nested and partitions", set(MOVABLE) - {"nested", "partitions"})],
)
def test_metrics_are_those_that_iceberg_itself_reads(name, spark, namespace, tmp_path, monkeypatch):
    source, table = unpacked(name, tmp_path), f"{namespace}.moved"
    formats.move(spark, source, table)
    ours, read, commands = described(spark, table, source, monkeypatch)
    assert ours == read and all("lower-bounds" in file for file in ours.values())
    assert commands <= 40  # of Py4J for a file; what Python iterates of Java's costs dozens


CHECKED_READERS = ("mapped",)
READERS = {"partitions", "nested", "vectors", "upgraded", "moments"}


@pytest.mark.parametrize(
    "name", [*CHECKED_READERS, *in_the_proof("mapped, which is partitioned and has vectors,", READERS)]
)
def test_readers_without_spark_agree(name, spark, namespace, tmp_path):
    from pyiceberg.table import StaticTable

    from workbench.light import engine

    formats.move(spark, unpacked(name, tmp_path), f"{namespace}.moved")
    expected = spark.table(f"{namespace}.moved").count()
    loaded = commits.load(spark, f"{namespace}.moved")
    at = loaded.operations().current().metadataFileLocation()
    with engine.connection(None) as duckdb:
        count, ids = duckdb.execute(f"SELECT count(*), sum(id) FROM iceberg_scan('{at}')").fetchone()
    total = spark.table(f"{namespace}.moved").groupBy().sum("id").collect()[0][0]
    assert (count, ids) == (expected, total)
    rows = StaticTable.from_metadata(at).scan().to_arrow()
    assert (rows.num_rows, sum(rows["id"].to_pylist())) == (expected, total)


def test_the_table_takes_writes_and_prunes_by_partition(spark, namespace, tmp_path):
    formats.move(spark, unpacked("mapped", tmp_path), table := f"{namespace}.moved")
    assert snapshots.files_read(spark.table(table).where("region = 'area 1'")) < 12
    assert snapshots.files_read(spark.table(table).where("region IS NULL")) < 12
    spark.sql(f"DELETE FROM {table} WHERE id < 60")
    spark.sql(f"INSERT INTO {table} VALUES (1000, NULL, NULL, 1.0, 'x', 1)")
    kept = spark.table(table).where("id >= 60").count()
    assert spark.table(table).count() == kept and not formats.verify(spark, table).equal


def test_a_version_can_be_named(spark, namespace, tmp_path):
    source = unpacked("vectors", tmp_path)
    assert formats.move(spark, source, f"{namespace}.old", version=2).rows == 400
    assert formats.verify(spark, f"{namespace}.old").equal
    with pytest.raises(ArgumentError, match="has no version 7; it has 0 to 6"):
        formats.move(spark, source, f"{namespace}.other", version=7)


def test_all_that_is_wrong_is_said_at_once(spark, tmp_path):
    source = unpacked("vectors", tmp_path)
    with pytest.raises(ArgumentError) as error:
        formats.move(spark, source, "moved", version=7, properties={"gc.enabled": "true"})
    for part in ("has no version 7; it has 0 to 6", "'moved' is not a table name", "properties has gc.enabled"):
        assert part in str(error.value)


@pytest.mark.parametrize("name", sorted(REFUSED))
def test_what_has_an_obstacle_is_not_moved(name, spark, namespace, tmp_path):
    source = unpacked(name, tmp_path)
    with pytest.raises(ArgumentError, match="cannot be moved: ") as error:
        formats.move(spark, source, f"{namespace}.moved")
    assert formats.look(source).obstacles[0] in str(error.value)
    assert not snapshots.exists(spark, f"{namespace}.moved")


def test_targets_that_cannot_be(spark, namespace, tmp_path):
    source = unpacked("plain", tmp_path)
    formats.move(spark, source, f"{namespace}.moved")
    with pytest.raises(
        ArgumentError, match=r"moved exists and follows this source: formats\.follow brings it up to"
    ):
        formats.move(spark, source, f"{namespace}.moved")
    other = unpacked("vectors", tmp_path)
    with pytest.raises(
        ArgumentError, match=r"moved exists, and was not moved from file://.*: name another table$"
    ):
        formats.move(spark, other, f"{namespace}.moved")
    with pytest.raises(ArgumentError, match="there is no namespace nowhere. CREATE NAMESPACE nowhere makes it$"):
        formats.move(spark, source, "nowhere.moved")
    with pytest.raises(ArgumentError, match="spark_catalog is not a catalog of Iceberg's"):
        formats.move(spark, source, "spark_catalog.default.moved")
    with pytest.raises(ArgumentError, match=r"^properties has gc\.enabled, which the move sets itself"):
        formats.move(spark, source, f"{namespace}.other", properties={"gc.enabled": "true"})
    with pytest.raises(
        ArgumentError, match="would lie in .*: one within the other. Name another namespace or table"
    ):
        location = commits.load(spark, f"{namespace}.moved").location()
        (folder := Path(location.removeprefix("file://")).parent).joinpath("_delta_log").mkdir()
        for file in (source / "_delta_log").glob("*.json"):
            (folder / "_delta_log" / file.name).write_bytes(file.read_bytes())
        for file in source.glob("*.parquet"):
            (folder / file.name).write_bytes(file.read_bytes())
        formats.move(spark, folder, f"{namespace}.other")


@pytest.mark.parametrize("step", ["commit", *in_the_proof("commit", ["vectors", "files"])])
def test_a_move_that_is_stopped_leaves_no_table_and_is_repeated(step, spark, namespace, tmp_path):
    source, table = unpacked("vectors", tmp_path), f"{namespace}.moved"
    with pytest.raises(Stopped):
        formats.move(spark, source, table, on_step=stop_at(step))
    assert not snapshots.exists(spark, table)
    formats.move(spark, source, table)
    assert formats.verify(spark, table).equal


def test_of_two_moves_at_once_one_makes_the_table(spark, namespace, tmp_path):
    source, table = unpacked("vectors", tmp_path), f"{namespace}.moved"
    outcomes = race(*[lambda meet: formats.move(spark, source, table, on_step=meet)] * 2)
    made, refused = sorted(outcomes, key=lambda outcome: isinstance(outcome, Exception))
    assert made.snapshot_id == commits.load(spark, table).currentSnapshot().snapshotId()
    assert isinstance(refused, ArgumentError)
    assert str(refused) == f"{table} exists: somebody else made it meanwhile; this move made none"
    assert len(commits.snapshots_of(spark, commits.load(spark, table))) == 1
    assert formats.verify(spark, table).equal


# planted faults: each is a way to be silently wrong, and verify must see it


def test_a_vector_that_is_dropped_is_seen(spark, namespace, tmp_path, monkeypatch):
    whole = iceberg.copied
    monkeypatch.setattr(iceberg, "copied", lambda *given: dict(list(whole(*given).items())[1:]))
    formats.move(spark, unpacked("vectors", tmp_path), f"{namespace}.moved")
    verified = formats.verify(spark, f"{namespace}.moved")
    assert not verified.equal and verified.rows > verified.source_rows


def test_ids_that_are_swapped_are_seen(spark, namespace, tmp_path):
    formats.move(spark, unpacked("features", tmp_path), f"{namespace}.moved")
    loaded = commits.load(spark, f"{namespace}.moved")
    names = json.loads(loaded.properties()[iceberg.NAMES])
    names[1]["names"] = ["other"]
    spark.sql(f"ALTER TABLE {namespace}.moved SET TBLPROPERTIES ('{iceberg.NAMES}' = '{json.dumps(names)}')")
    verified = formats.verify(spark, f"{namespace}.moved")
    assert not verified.equal and verified.columns == ("name",)


def test_a_file_that_is_there_twice_is_seen(spark, namespace, tmp_path):
    source = unpacked("plain", tmp_path)
    formats.move(spark, source, f"{namespace}.moved")
    spark.sql(f"INSERT INTO {namespace}.moved SELECT * FROM {namespace}.moved WHERE id = 7")
    verified = formats.verify(spark, f"{namespace}.moved")
    assert (verified.equal, verified.rows, verified.source_rows, verified.columns) == (False, 141, 140, ())


def test_verify_says_what_it_cannot_read(spark, namespace, tmp_path):
    formats.move(spark, unpacked("widened", tmp_path), f"{namespace}.widened")
    with pytest.raises(ArgumentError, match="deltalake cannot read .*TypeWidening.*Take reader='duckdb'"):
        formats.verify(spark, f"{namespace}.widened")
    formats.move(spark, unpacked("mapped", tmp_path), f"{namespace}.mapped")
    with pytest.raises(ArgumentError, match="DuckDB 1.5 reads NULL for partition columns whose names are mapped"):
        formats.verify(spark, f"{namespace}.mapped", reader="duckdb")
    spark.sql(f"CREATE TABLE {namespace}.own (id BIGINT) USING iceberg")
    spark.sql(f"INSERT INTO {namespace}.own VALUES (1)")
    with pytest.raises(ArgumentError, match="own follows no source: it was not made by formats.move"):
        formats.verify(spark, f"{namespace}.own")


def test_the_names_that_are_refused_are_those_of_iceberg_s_own_columns(spark):
    own = spark._jvm.org.apache.iceberg.MetadataColumns
    constants = [getattr(own, name) for name in dir(own) if name.isupper() and not name.endswith("_DOC")]
    names = {
        constant if isinstance(constant, str) else constant.name()
        for constant in constants
        if not isinstance(constant, int)
    }
    assert {name for name in names if name.startswith("_")} == columns.RESERVED
