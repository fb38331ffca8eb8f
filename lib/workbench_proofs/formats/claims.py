"""Sentences about the formats, of a published walkthrough and of their own words, tried."""

import json
import shutil
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from workbench._base.door import checked
from workbench._base.typing import SparkSession
from workbench.tables import commits
from workbench_proofs.formats import racing
from workbench_proofs.formats.tables import Table, mark_state, short


@dataclass(frozen=True)
class Claim:
    """A sentence about a format, tried.

    Attributes:
        format: of `FORMATS`.
        sentence: what is claimed.
        holds: whether it was so.
        error: class name of the error by which a statement was refused; empty without.
    """

    format: str
    sentence: str
    holds: bool
    error: str


@checked
def claims(spark: SparkSession, table: Table, *, folder: str | Path) -> list[Claim]:
    """Try what a published walkthrough, or the format's own words, say; tables for it are made in a folder.

    Args:
        spark: session whose catalog has the table.
        table: of `tables`; the Iceberg table gets a branch, which becomes main.
        folder: on this machine; for Delta and Hudi.

    Returns:
        The sentences in order. Source: "Use open table format libraries on AWS Glue 5.0 for Apache Spark", AWS Big
        Data Blog; of Hudi also its own documentation of queries and of clustering.
    """
    tried = {"iceberg": _claims_of_iceberg, "delta": _claims_of_delta, "hudi": _claims_of_hudi}[table.format]
    outcomes = tried(spark, table, Path(folder).absolute())
    return [
        Claim(table.format, sentence, outcome is True, outcome if isinstance(outcome, str) else "")
        for sentence, outcome in outcomes
    ]


@checked
def error_name(error: Exception) -> str:
    """Return the class name of an error without its package: of Java's exception, where one is behind it."""
    name = (*commits.causes(error), type(error).__name__)[0]
    return name.rpartition(".")[2]


def _claims_of_iceberg(spark: SparkSession, table: Table, _: Path) -> Iterable[tuple[str, bool | str]]:
    retained = f"ALTER TABLE {table.name} CREATE OR REPLACE BRANCH {{}} RETAIN 7 DAYS WITH SNAPSHOT RETENTION {{}}"
    for branch, retention in (("printed", "7 DAYS 10 SNAPSHOTS"), ("turned", "10 SNAPSHOTS 7 DAYS")):
        yield f"a branch WITH SNAPSHOT RETENTION {retention}", _runs(spark, retained.format(branch, retention))
    tag = mark_state(spark, table)
    as_of = f"SELECT count(*) FROM {table.name} VERSION AS OF '{tag}'"
    yield "VERSION AS OF a tag, beside the other format's extension", _runs(spark, as_of)
    spark.sql(f"INSERT INTO {table.name}.branch_turned VALUES (-1, 'branch', 0)")
    row = "SELECT count(*) FROM {} WHERE id = -1"
    yield "a row of a branch is not in main", _value(spark, row.format(table.name)) == 0
    spark.sql(f"CALL system.fast_forward('{table.name}', 'main', 'turned')")
    yield "fast_forward brings it to main", _value(spark, row.format(table.name)) == 1


def _claims_of_delta(spark: SparkSession, _: Table, folder: Path) -> Iterable[tuple[str, bool | str]]:
    def write(name: str, **properties: str) -> bool | str:
        listed = ", ".join(f"'delta.{key.replace('_', '.')}' = '{value}'" for key, value in properties.items())
        at = f"spark_catalog.delta.`{folder / name}`"
        shutil.rmtree(folder / name, ignore_errors=True)
        return _runs(
            spark,
            f"CREATE TABLE {at} (id BIGINT) USING delta TBLPROPERTIES ({listed})",
            f"INSERT INTO {at} SELECT /*+ REPARTITION(8) */ id FROM range(2400)",
        )

    uniform = {
        "columnMapping_mode": "name",
        "enableIcebergCompatV2": "true",
        "universalFormat_enabledFormats": "iceberg",
    }
    yield "UniForm beside deletion vectors", write("both", enableDeletionVectors="true", **uniform)
    of_a_path = "UniForm without its jar, of a path"
    yield f"{of_a_path}: the write succeeds", write("uniform", enableDeletionVectors="false", **uniform)
    yield f"{of_a_path}: Iceberg's metadata is there", (folder / "uniform" / "metadata").exists()
    counts = []
    for optimised in ("false", "true"):
        write(f"optimised_{optimised}", autoOptimize_optimizeWrite=optimised)
        counts.append(len(list((folder / f"optimised_{optimised}").glob("*.parquet"))))
    yield "optimised writes: one file for those of 8 tasks", counts == [8, 1]


def _claims_of_hudi(spark: SparkSession, table: Table, folder: Path) -> Iterable[tuple[str, bool | str]]:
    def made(name: str, columns: str, properties: str = "") -> str:
        of, at = f"{table.name}_{name}", folder / name
        shutil.rmtree(at, ignore_errors=True)
        spark.sql(f"DROP TABLE IF EXISTS {of}")
        spark.sql(f"CREATE TABLE {of} ({columns}) USING hudi LOCATION '{at}' {properties}")
        return of

    keyless = made("keyless", "id BIGINT, word STRING")
    for _ in range(2):
        spark.sql(f"INSERT INTO {keyless} SELECT id, 'a' AS word FROM range(100)")
    counts = "count(*), count(DISTINCT _hoodie_record_key), count(DISTINCT id)"
    rows, keys, ids = spark.sql(f"SELECT {counts} FROM {keyless}").first()  # type: ignore[misc]
    yield "generated keys are unique", keys == rows
    yield "with generated keys, a write that is repeated brings no row twice", rows == ids

    like = "TBLPROPERTIES (type = 'mor', primaryKey = 'id', 'hoodie.table.cdc.enabled' = 'true')"
    priced = made("priced", "id BIGINT, euros DECIMAL(9, 2)", like)
    spark.sql(f"INSERT INTO {priced} SELECT id, CAST(id AS DECIMAL(9, 2)) AS euros FROM range(100)")
    spark.sql(f"UPDATE {priced} SET euros = 123.45 WHERE id = 8")
    images = f"SELECT before, after FROM hudi_table_changes('{short(priced)}', 'cdc', 'earliest') WHERE op = 'u'"
    before, after = (json.loads(image) for image in spark.sql(images).first())  # type: ignore[union-attr]
    yield "a change of CDC has the row before and after", (before["id"], after["id"]) == (8, 8)
    yield "and in it the amount of a DECIMAL column", "123.45" in json.dumps(after)
    read = spark.read.format("hudi").option("hoodie.datasource.query.type", "read_optimized")
    seen = read.load(str(folder / "priced")).where("id = 8").first()
    yield "a read-optimized query has the change", str(seen.euros) == "123.45"  # type: ignore[union-attr]

    of_nine = f"SELECT CAST(euros AS STRING) FROM {priced} WHERE id = 9"
    _value(spark, of_nine)  # the session keeps what it knows of the table's files
    spark.sql(f"CALL spark_catalog.run_clustering(table => '{short(priced)}')")
    updated = _runs(spark, f"UPDATE {priced} SET euros = 54.32 WHERE id = 9")
    yield "an UPDATE after a clustering succeeds", updated
    spark.sql(f"REFRESH TABLE {priced}")
    yield "and its change is there", _value(spark, of_nine) == "54.32"

    unlocked = made("unlocked", "id BIGINT, cents BIGINT", "TBLPROPERTIES (type = 'mor', primaryKey = 'id')")
    spark.sql(f"INSERT INTO {unlocked} SELECT id, 1L AS cents FROM range(0, 100, 1, 1)")
    first, second = (
        f"UPDATE {{table}} SET cents = 2 WHERE {key} = 8" for key in ("wait_for_other_writer(id)", "id")
    )
    errors = racing.race(spark, replace(table, name=unlocked), first, second, folder=folder / "race")
    names = [error_name(error) for error in errors]
    conflict = names == ["HoodieWriteConflictException"]
    yield "of two writers without a lock provider one finds the conflict", conflict or ", ".join(names)


def _runs(spark: SparkSession, *statements: str) -> bool | str:
    """Say that statements run, or return the name of the error of the one that does not."""
    try:
        for statement in statements:
            spark.sql(statement)
    except Exception as error:  # of the parser, the catalog or the format
        return error_name(error)
    return True


def _value(spark: SparkSession, query: str) -> Any:
    return spark.sql(query).first()[0]  # type: ignore[index]
