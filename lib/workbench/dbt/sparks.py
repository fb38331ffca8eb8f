"""Spark as the engine of a dbt project: one snapshot of each table, whoever commits meanwhile."""

from collections.abc import Callable, Sequence
from typing import Any

from workbench._base.door import checked
from workbench._base.errors import ArgumentError
from workbench._base.typing import SparkSession
from workbench.dbt.planning import Planned
from workbench.dbt.states import File, State


class Moved(ArgumentError):
    """A table has another state than the one that the run began with."""


class Spark:
    """The caller's session for one run.

    Attributes:
        dialect: of the SQL.
        errors: what a statement raises that cannot be answered.
        raw: whether a part of a table is read with the rows that delete files take from it.
    """

    dialect = "spark"
    raw = False

    def __init__(self, spark: SparkSession) -> None:
        from py4j.protocol import Py4JJavaError
        from pyspark.errors import PySparkException

        self.spark = spark
        self.errors: tuple[type[Exception], ...] = (PySparkException, Py4JJavaError, ArgumentError)
        zone, ansi = (spark.conf.get(f"spark.sql.{name}") for name in ("session.timeZone", "ansi.enabled"))
        self.name = f"spark {spark.version} {zone} ansi {ansi}"

    def close(self) -> None:
        """Leave the session as it is: it is the caller's."""

    def rows(self, planned: Planned, states: Sequence[State]) -> list[tuple]:
        """Return the answer of dbt's own statement; tables stand in it with the snapshot of the run."""
        snapshots = {tuple(part.lower() for part in state.name): _snapshot(state) for state in states}

        def at(table: Any, text: str) -> str:
            return f"{text} VERSION AS OF {snapshots[tuple(part.name.lower() for part in table.parts)]}"

        if planned.tables and all(snapshots.values()):
            try:
                return self._collected(_replaced(planned.test.statement, at))
            except self.errors:
                pass  # such as a table's name before a column, which a snapshot in it forbids: as it stands, then
        self._refuse_moved(states)
        rows = self._collected(planned.test.statement)
        self._refuse_moved(states)
        return rows

    def binds(self, planned: Planned, state: State) -> bool:
        """Return whether dbt's own statement has an answer as far as the columns of the table decide it."""
        try:
            self.spark.sql(planned.test.statement)  # analysed, not run
        except self.errors:
            return False
        return True

    def failing(self, planned: Planned, state: State, files: Sequence[File]) -> int | None:
        """Return how many rows of some files fail, without deleted ones; None where that cannot be said."""
        if _snapshot(state) is None:
            return None
        listed = ", ".join("'" + file.path.replace("\\", "\\\\").replace("'", "\\'") + "'" for file in files)

        def part(table: Any, text: str) -> str:
            name = "" if table.args.get("alias") else f" AS {quoted([table.name])}"
            return f"(SELECT * FROM {text} VERSION AS OF {_snapshot(state)} WHERE _file IN ({listed})){name}"

        try:
            return int(self._collected(_replaced(planned.test.statement, part))[0][0])
        except self.errors:
            return None

    def distinct(self, planned: Planned, state: State) -> bool:
        """Return whether the hashes of the keys are as many as the rows, so that no key stands in two."""
        unique = planned.unique
        if unique is None or _snapshot(state) is None or not state.hashable(unique.names):
            return False
        table = f"{quoted(state.name)} VERSION AS OF {_snapshot(state)}"
        try:
            rows = self._collected(unique.counted(table, hashed_by="xxhash64", dialect=self.dialect))
        except self.errors:
            return False
        return bool(rows[0][0])

    def _collected(self, statement: str) -> list[tuple]:
        return [tuple(row) for row in self.spark.sql(statement).collect()]

    def _refuse_moved(self, states: Sequence[State]) -> None:
        for state in states:
            if pointer(self.spark, state.name) != state.location:
                raise Moved(f"{'.'.join(state.name)} was changed by a commit during the run; run the tests again")


@checked
def pointer(spark: SparkSession, name: Sequence[str]) -> str:
    """Return the location of a table's current metadata file, as its catalog says now.

    Args:
        spark: session whose catalog has the table.
        name: the parts of the table's name.

    Raises:
        AnalysisException: there is no such Iceberg table.
    """
    spark.sql(f"REFRESH TABLE {quoted(name)}")
    files = spark.sql(f"SELECT file FROM {quoted(name)}.metadata_log_entries").collect()
    return str(files[-1][0])


def quoted(name: Sequence[str]) -> str:
    """Return a name of parts between the quotes of Spark's SQL."""
    return ".".join("`" + part.replace("`", "``") + "`" for part in name)


def _snapshot(state: State) -> int | None:
    """Return the snapshot by which Spark reads a state: none of a table whose schema is younger than its rows."""
    snapshot = state.table.current_snapshot()
    current = state.table.metadata.current_schema_id
    return snapshot.snapshot_id if snapshot is not None and snapshot.schema_id == current else None


def _replaced(statement: str, by: Callable[[Any, str], str]) -> str:
    """Return a statement with other texts where its tables stand, and nothing else changed."""
    import sqlglot
    from sqlglot import exp

    tables = [table for table in sqlglot.parse_one(statement, read="spark").find_all(exp.Table) if table.db]
    places = [(table.parts[0].meta["start"], table.parts[-1].meta["end"] + 1, table) for table in tables]
    for begin, end, table in sorted(places, key=lambda place: place[0], reverse=True):
        statement = statement[:begin] + by(table, statement[begin:end]) + statement[end:]
    return statement
