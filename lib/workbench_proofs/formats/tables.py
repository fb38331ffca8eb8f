"""Tables of orders: made alike in each format, asked alike, and read as they were."""

import shutil
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from workbench._base.door import checked
from workbench._base.errors import ArgumentError, MissingPackageError
from workbench._base.typing import DataFrame, SparkSession
from workbench.tables import changes as changes_of_iceberg
from workbench.tables import snapshots

COLUMNS = "id BIGINT, customer STRING, cents BIGINT"

# What makes the three alike: a delete that rewrites no file of rows, changes that can be read, and two writers of
# one row of whom one is refused, for which Hudi needs a lock and must not clean up behind a writer that works.
_CLAUSES = MappingProxyType({
    "iceberg": """USING iceberg TBLPROPERTIES (
  'format-version' = '3', 'write.merge.mode' = 'merge-on-read',
  'write.delete.mode' = 'merge-on-read', 'write.update.mode' = 'merge-on-read')""",
    "delta": """USING delta TBLPROPERTIES (
  'delta.enableDeletionVectors' = 'true', 'delta.enableChangeDataFeed' = 'true')""",
    "hudi": """USING hudi LOCATION '{folder}' TBLPROPERTIES (
  type = 'mor', primaryKey = 'id', 'hoodie.table.cdc.enabled' = 'true',
  'hoodie.write.concurrency.mode' = 'optimistic_concurrency_control', 'hoodie.clean.failed.writes.policy' = 'LAZY',
  'hoodie.write.lock.provider' = 'org.apache.hudi.client.transaction.lock.InProcessLockProvider')""",
})  # fmt: skip
_COMPACTIONS = MappingProxyType({
    "iceberg": ("CALL system.rewrite_data_files('{name}')",),
    "delta": ("OPTIMIZE {name}",),
    # without the second statement the session goes on to write beside the files that the first one replaced
    "hudi": ("CALL spark_catalog.run_clustering(table => '{short}')", "REFRESH TABLE {name}"),
})  # fmt: skip
_ENVIRONMENTS = MappingProxyType({"delta": "formats", "hudi": "hudi"})
FORMATS = tuple(_CLAUSES)


@dataclass(frozen=True)
class Table:
    """A table of orders.

    Attributes:
        format: of `FORMATS`.
        name: as SQL statements name it.
        folder: where it lies; of an Iceberg table None, as its catalog decides it.
    """

    format: str
    name: str
    folder: Path | None

    @property
    def create(self) -> str:
        """The statement that makes the table."""
        return f"CREATE TABLE {self.name} ({COLUMNS})\n{_CLAUSES[self.format].format(folder=self.folder)}"

    @property
    def compact(self) -> tuple[str, ...]:
        """The statements that make few files of many."""
        return tuple(
            statement.format(name=self.name, short=short(self.name)) for statement in _COMPACTIONS[self.format]
        )


@checked
def tables(formats: Iterable[str], *, namespace: str, folder: str | Path) -> dict[str, Table]:
    """Name the tables of some formats: an Iceberg table of the session's catalog, the others in folders.

    Args:
        formats: of `FORMATS`, each at most once.
        namespace: of the Iceberg table, and the prefix of the Hudi table.
        folder: on this machine; a folder a format is made in it.

    Raises:
        ValueError: a format is unknown or named twice, or the namespace is not an identifier.
    """
    names = list(formats)
    if not names or len(set(names)) < len(names) or not set(names) <= set(FORMATS):
        listed = ", ".join(names) or "none"
        raise ArgumentError(f"the formats are {listed}; expected some of {', '.join(FORMATS)}, each once")
    if not namespace.isidentifier():
        raise ArgumentError(f"the namespace is {namespace!r}; expected letters, digits and _")
    at = {name: Path(folder).absolute() / name for name in names}
    known = {
        "iceberg": f"{namespace}.orders",
        "delta": f"spark_catalog.delta.`{at.get('delta')}`",
        "hudi": f"spark_catalog.default.{namespace}_orders",
    }
    return {name: Table(name, known[name], None if name == "iceberg" else at[name]) for name in names}


@checked
def make(spark: SparkSession, table: Table) -> None:
    """Make a table anew, empty; what it was before is gone.

    Raises:
        ValueError: `spark_catalog` of the session is not the catalog of the table's format.
    """
    if table.folder is not None:
        catalog = spark.conf.get("spark.sql.catalog.spark_catalog", "") or ""
        if f".{table.format}." not in catalog:
            raise ArgumentError(
                f"spark_catalog of this session is {catalog or 'of Spark'}, which makes no {table.format} table; "
                f"the environment {_ENVIRONMENTS[table.format]} has one that does"
            )
        shutil.rmtree(table.folder, ignore_errors=True)
    if table.format == "iceberg":
        spark.sql(f"CREATE NAMESPACE IF NOT EXISTS {table.name.rpartition('.')[0]}")
        spark.sql(f"DROP TABLE IF EXISTS {table.name} PURGE")
    elif table.format == "hudi":
        spark.sql(f"DROP TABLE IF EXISTS {table.name}")
    spark.sql(table.create)


@checked
def answer(spark: SparkSession, source: str) -> tuple[int, int, int]:
    """Return how many orders a table or query in parentheses has, the sum of their cents, and a sum of hashes.

    Two sources of the same rows, in whatever order, have the same answer.
    """
    sums = "count(*), sum(cents), CAST(sum(CAST(xxhash64(id, customer, cents) AS DECIMAL(38, 0))) AS STRING)"
    rows, cents, hashes = spark.sql(f"SELECT {sums} FROM {source}").first()  # type: ignore[misc]
    return rows, cents or 0, int(hashes or 0)


@checked
def mark_state(spark: SparkSession, table: Table) -> str:
    """Return the name of a table's state: a new tag of Iceberg, a version of Delta, an instant of Hudi."""
    from pyspark.sql import functions as F

    if table.format == "iceberg":
        snapshot = snapshots.current(spark, table.name)
        spark.sql(f"ALTER TABLE {table.name} CREATE OR REPLACE TAG state_{snapshot} AS OF VERSION {snapshot}")
        return f"state_{snapshot}"
    if table.format == "delta":
        newest = spark.sql(f"DESCRIBE HISTORY {table.name}").agg(F.max("version"))
    else:
        commits = spark.sql(f"CALL spark_catalog.show_commits(table => '{short(table.name)}')")
        newest = commits.agg(F.max("commit_time"))
    return str(newest.first()[0])  # type: ignore[index]


@checked
def at(table: Table, when: str) -> str:
    """Return what stands behind FROM to read a table as it was.

    Args:
        table: of `tables`.
        when: what `mark_state` returned.
    """
    if table.format == "iceberg":  # by a suffix, as Hudi's extension takes VERSION AS OF for its own
        return f"{table.name}.tag_{when}"
    return f"{table.name} " + (f"VERSION AS OF {when}" if table.format == "delta" else f"TIMESTAMP AS OF '{when}'")


@checked
def changes(spark: SparkSession, table: Table, since: str) -> DataFrame:
    """Return the changes since a state, by the means of the format; of Iceberg by `workbench.tables.changes`.

    Args:
        spark: session whose catalog has the table.
        table: of `tables`.
        since: what `mark_state` returned.

    Returns:
        DataFrame kind, id, customer, cents: a row an image. The kind is insert, update_preimage,
        update_postimage or delete.
    """
    from pyspark.sql import functions as F

    if table.format == "iceberg":
        start = int(since.removeprefix("state_"))
        rows = changes_of_iceberg.between(spark, table.name, key="id", start=start)
        kind = F.regexp_replace(F.regexp_replace("change_type", "_before$", "_preimage"), "_after$", "_postimage")
        rows = rows.withColumn("kind", kind)
    elif table.format == "delta":
        rows = spark.sql(f"SELECT * FROM table_changes_by_path('{table.folder}', {int(since) + 1})")
        rows = rows.withColumnRenamed("_change_type", "kind")
    else:
        read = f"SELECT * FROM hudi_table_changes('{short(table.name)}', 'cdc', '{since}')"
        images = spark.sql(read).selectExpr(
            "explode(CASE op WHEN 'i' THEN array(named_struct('kind', 'insert', 'row', after)) "
            "WHEN 'd' THEN array(named_struct('kind', 'delete', 'row', before)) "
            "ELSE array(named_struct('kind', 'update_preimage', 'row', before), "
            "named_struct('kind', 'update_postimage', 'row', after)) END) AS image"
        )
        rows = images.selectExpr("image.kind", f"from_json(image.row, '{COLUMNS}') AS row").select("kind", "row.*")
    return rows.select("kind", "id", "customer", "cents")


@checked
def data_files(spark: SparkSession, table: Table) -> int:
    """Return how many files of rows a table has now; of Hudi base files."""
    if table.format == "delta":
        return int(spark.sql(f"DESCRIBE DETAIL {table.name}").first().numFiles)  # type: ignore[union-attr]
    count = {
        "iceberg": f"SELECT count(*) FROM {table.name}.files WHERE content = 0",
        "hudi": f"SELECT count(DISTINCT _hoodie_file_name) FROM {table.name}",
    }[table.format]
    return int(spark.sql(count).first()[0])  # type: ignore[index]


@checked
def rows_by_delta_rs(table: Table) -> int:
    """Count the rows of a Delta table without Spark, by delta-rs.

    Raises:
        MissingPackageError: deltalake is not installed.
    """
    try:
        from deltalake import DeltaTable, QueryBuilder
    except ModuleNotFoundError as error:
        raise MissingPackageError(
            "deltalake is not installed: pip install 'iceberg-workbench[formats]'"
        ) from error
    query = QueryBuilder().register("orders", DeltaTable(str(table.folder)))
    return int(query.execute("SELECT count(*) FROM orders").read_all()[0][0].as_py())


def short(name: str) -> str:
    """Return the name of a table of `spark_catalog` as functions and procedures of Hudi take it."""
    return name.removeprefix("spark_catalog.")
