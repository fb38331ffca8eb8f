"""Fresh copies of the small table, one a race: a table registered on the metadata of one that was made before.

In a REST catalog each is made by statements: such a catalog may delete the files of a table that is dropped, and
those of the others with them, and one of a table bucket gives a registered table back without its columns.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from workbench._base import identifiers
from workbench._base.typing import SparkSession
from workbench.tables import commits
from workbench_proofs.conflicts.cells import DEFAULT_ISOLATION
from workbench_proofs.conflicts.operations import base

_OURS = "cell_"


@dataclass
class Copies:
    """The copies in a namespace; `of` makes one, `drop` removes it.

    Attributes:
        spark: session that makes them.
        namespace: where they are.
        apart: whether no copy shares files with another.
        bases: (mode, isolation) to metadata file.
        locations: folders whose files are removed at the end.
        count: how many there were.
    """

    spark: SparkSession
    namespace: str
    apart: bool = False
    bases: dict[tuple[str, str], str] = field(default_factory=dict)
    locations: list[str] = field(default_factory=list)
    count: int = 0

    def of(self, mode: str, isolation: str | None = None, *, own_files: bool = False) -> str:
        """Return the name of a fresh copy, as SQL has it.

        Args:
            mode: of the cell.
            isolation: of the cell; None for Iceberg's default.
            own_files: make it by statements, so that it shares no file with others: for what deletes files.
        """
        isolation = isolation or DEFAULT_ISOLATION
        if own_files or self.apart:
            return self._create(mode, isolation)
        if (mode, isolation) not in self.bases:
            loaded = commits.load(self.spark, self._create(mode, isolation))
            self.bases[mode, isolation] = loaded.operations().current().metadataFileLocation()
        name = self._next()
        table, file = map(identifiers.literal, (name, self.bases[mode, isolation]))
        self.spark.sql(f"CALL system.register_table(table => {table}, metadata_file => {file})")
        return name

    def drop(self, name: str) -> None:
        """Remove a copy from the catalog; the files go with the namespace's."""
        self.spark.sql(f"DROP TABLE {name}")

    def _create(self, mode: str, isolation: str) -> str:
        name = self._next()
        for statement in base(name, mode, isolation):
            self.spark.sql(statement)
        self.locations.append(commits.load(self.spark, name).location())
        return name

    def _next(self) -> str:
        self.count += 1
        return identifiers.within(self.namespace, f"{_OURS}{self.count}")


@contextmanager
def copies(spark: SparkSession, namespace: str) -> Iterator[Copies]:
    """Give Copies in a namespace as long as the context is open; their tables, and an earlier run's, are removed.

    Only tables whose names begin with `cell_` are touched.

    Raises:
        ValueError: the namespace's name is invalid.
    """
    quoted = identifiers.joined(identifiers.parts(namespace, least=1))
    spark.sql(f"CREATE NAMESPACE IF NOT EXISTS {quoted}")
    _clear(spark, namespace, [])
    catalog = f"spark.sql.catalog.{spark.conf.get('spark.sql.defaultCatalog')}"
    fresh = Copies(spark, namespace, apart=spark.conf.get(f"{catalog}.type", None) == "rest")
    try:
        yield fresh
    finally:
        _clear(spark, namespace, fresh.locations)


def _clear(spark: SparkSession, namespace: str, locations: list[str]) -> None:
    """Drop our tables without their files, which copies share; then delete the folders, where the storage can."""
    from py4j.java_gateway import is_instance_of

    io, quoted = None, identifiers.joined(identifiers.parts(namespace, least=1))
    for row in spark.sql(f"SHOW TABLES IN {quoted}").collect():
        if row.tableName.startswith(_OURS):
            name = identifiers.within(namespace, row.tableName)
            if io is None and locations:
                io = commits.load(spark, name).io()
            spark.sql(f"DROP TABLE {name}")
    gateway = spark.sparkContext._gateway
    if io is not None and is_instance_of(gateway, io, "org.apache.iceberg.io.SupportsPrefixOperations"):
        for location in locations:
            io.deletePrefix(location)
