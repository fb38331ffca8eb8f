"""Records to the tables that they belong to, each once: routes, unique keys, an error store.

Each table has its own positions in the snapshot that brings its rows, and takes only records after them. The error
store is committed last and with every batch, so a run continues from its positions, and a table that was ahead of
it skips the records that it has.
"""

import secrets
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Annotated, Any

from workbench._base import identifiers
from workbench._base.bounds import Ge, Le
from workbench._base.door import checked
from workbench._base.errors import ArgumentError
from workbench._base.typing import Column, DataFrame, Java, Judged, SparkSession, StructType
from workbench.records.parsing import Format
from workbench.streams import batches, chunks, errors, loop, nulls, positions, publish, routes, tables
from workbench.streams.batches import Batch
from workbench.streams.readers import shards, sources
from workbench.streams.readers.sources import RecordSource
from workbench.streams.routes import Target
from workbench.tables import commits, upserts

_DIGITS = 60  # a sequence number of Kinesis has 56


@dataclass(frozen=True)
class Delivered:
    """What a delivery did. Always: records = the tables' records + errors + dropped.

    Attributes:
        tables: table name to counts of its records: `appended`, or `upserted` and `deleted`.
        errors: records that are in the error store.
        run: batches.Ingested with the run's other figures.
    """

    tables: dict[str, dict[str, int]]
    errors: int
    run: batches.Ingested


@checked
def deliver(
    spark: SparkSession,
    *,
    source: Judged[RecordSource],
    parse: Judged[Format],
    tables: dict[str, Target],
    errors: str,
    route: str | None = None,
    max_bad_share: Annotated[float, Ge(0), Le(1)] = 1.0,
    until_caught_up: bool = True,
    max_batches: Annotated[int, Ge(1)] | None = None,
    onto_rows: bool = False,
    poll_seconds: Annotated[float, Ge(0)] = 1.0,
    run_id: str | None = None,
    on_batch: Callable[[Batch], Any] | None = None,
    stop: Callable[[], Any] | None = None,
) -> Delivered:
    """Bring the records of a stream or topic to the tables that they belong to, each exactly once.

    A record becomes a row of the table that `route` names, in the columns that both have; by a Target with a key
    it inserts, updates or deletes the row of its key, in one MERGE a batch, and an older record never undoes a
    newer one. What cannot be parsed or cannot go where it should is in `errors`, whole and with a reason: see
    `replay`.

    Args:
        spark: classic session whose catalog holds the tables.
        source: Topic, or Source.
        parse: as of `ingest`; its fields are those of all tables together.
        tables: table name to Target.
        errors: name of the error store, made when missing, in a namespace that is there.
        route: SQL expression over a record's fields that gives the name of its table, the same each time; None
            with one table.
        max_bad_share: share of a micro-batch, 0 to 1, that may go to `errors`; above it nothing is committed.
        onto_rows: begin also with tables whose rows came from elsewhere.
        until_caught_up: end when everything was read to its present end; else go on until `stop`.
        max_batches: end after so many micro-batches.
        poll_seconds: wait between two looks at a source that has nothing.
        run_id: kept with errors; made up when None.
        on_batch: as of `ingest`.
        stop: function without arguments; the run ends after the batch when it returns True.

    Returns:
        Delivered.

    Raises:
        As `ingest`.
    """
    loop.check_ends(source, parse)
    if identifiers.quoted(errors) in map(identifiers.quoted, tables):
        raise ArgumentError(f"{errors} is a target and the error store; it can be one of them")
    plan = routes.plan(spark, source, parse, route, tables)
    routes.refuse_unmergeable(spark, source, plan)
    run = Delivery(spark, errors, source, parse, plan, max_bad_share, run_id or secrets.token_hex(4))
    run.open(onto_rows)
    done = loop.complete(run, until_caught_up, max_batches, poll_seconds, on_batch or batches.teller(), stop)
    return Delivered({name: dict(run.counted[name]) for name in tables}, done.dead, done)


class Delivery(loop.Run):
    """One run's state: as of an ingest into the error store, and the positions of each table."""

    def __init__(
        self,
        spark: SparkSession,
        store: str,
        source: sources.RecordSource,
        parse: Format,
        plan: routes.Plan,
        max_bad_share: float,
        run_id: str,
    ) -> None:
        super().__init__(spark, store, source, parse, max_bad_share, None, plan.lineage, run_id)
        self.plan = plan
        self.places: dict[str, publish.Place] = {}
        self.has: dict[str, dict[str, str]] = {}
        self.counted: dict[str, Counter[str]] = {name: Counter() for name in plan.targets}

    def open(self, onto_rows: bool) -> None:
        """Find out where each table stands, or commit where it begins."""
        self._refuse_offsets_anew()
        errors.make(self.spark, self.table)
        self.begin(None, True)
        self.letters = self.place
        for name in self.plan.targets:
            place = self.places[name] = replace(self.place, table=name)
            loaded = commits.load(self.spark, name)
            position, _ = positions.resume(self.spark, loaded, name, self.source, self.stream, onto_rows=onto_rows)
            self.has[name] = self.at if position is None else position.shards
            self._refuse_rolled_back(name, loaded)
            if position is None:
                summary = positions.properties(self.stream, self.at, "begin")
                publish.note(self.spark, place, None, summary, mark=True)

    def _refuse_offsets_anew(self) -> None:
        """Refuse rows that are ordered by offsets of a deleted topic: new records would be taken for older."""
        names = [name for name, target in self.plan.targets.items() if _by_offset(target)]
        if not names:
            return
        stream = self.source.describe()
        for name in names:
            loaded = commits.load(self.spark, name)
            position, lost = positions.resume(self.spark, loaded, name, self.source, stream, onto_rows=True)
            by_offset = f"SELECT 1 FROM {identifiers.quoted(name)} WHERE offset >= 0 LIMIT 1"
            if position or not lost or self.spark.sql(by_offset).isEmpty():
                continue
            raise ArgumentError(
                f"rows of {name} are ordered by the offsets of a topic {self.source.stream} that was deleted. "
                "Those of the new one begin again below them, and its records would be taken for older. To let "
                f"them win say first: UPDATE {identifiers.shown(name)} SET offset = -1"
            )

    def _refuse_back(self, read: chunks.Read) -> None:
        """Refuse a partition that is shorter than it was: tables would pass over what has the offsets again."""
        ends = {shard: end or shards.OLDEST for shard, end in read.ends.items()}
        if back := sorted(shard for shard, end in ends.items() if shards.further(self.at.get(shard, ""), end)):
            raise shards.RecordsLost(
                f"partition {back[0]} of {self.source.stream} ends before offset {self.at[back[0]]}, up to which "
                "it was delivered: records are gone, and others have their offsets or will. A delivery tells by "
                "offsets what a table has, so it cannot go on here, whatever fail_on_data_loss says; it can with "
                "a topic made anew"
            )

    def _refuse_rolled_back(self, name: str, loaded: Java) -> None:
        """Refuse a table that lost what it was given: nothing behind the error store's positions is read again."""
        has = self.has[name]
        back = [shard for shard, at in self.at.items() if shards.further(at, has.get(shard, shards.OLDEST))]
        if back and positions.rolled_back(self.spark, loaded, self.stream):
            raise positions.PositionsLost(
                f"main of {name} was rolled back behind what was delivered to it, and its records would not come "
                f"again, for {self.table} says that they are read. Roll {self.table} back too: what the other "
                "tables have is passed over. To go on without them remove the table's tag "
                f"{', '.join(positions.tagged(loaded, self.stream))}"
            )

    def end(self) -> None:
        """Drop the run's branches."""
        for place in (self.place, *self.places.values()):
            publish.drop(self.spark, place)

    def _still_there(self) -> None:
        super()._still_there()
        self.places = {name: replace(place, stream=self.stream) for name, place in self.places.items()}

    def _frame(self, tasks: list[shards.Task]) -> DataFrame:
        lineage, stones = (*self._lineage(), chunks.RAW), bool(self.plan.tombstones)
        lineage += (nulls.COLUMN,) if stones else ()
        return chunks.frame(self.spark, self.source, tasks, self.parser, lineage, errors.WHOLE, tombstones=stones)

    def _row_schema(self) -> StructType:
        from pyspark.sql.types import StructType

        # where tombstones become rows, the plan's fields may be null
        lineage = super()._row_schema().fields[len(self.plan.fields) :]
        schema = StructType([*self.plan.fields.fields, *lineage]).add(chunks.RAW, "binary")
        return schema.add(nulls.COLUMN, "boolean") if self.plan.tombstones else schema

    def _commit(self, frame: DataFrame, read: chunks.Read, after: dict[str, str]) -> tuple[chunks.Read, int]:
        """Commit each table's rows with its positions, then the errors with those of the run."""
        from pyspark.sql import functions as F

        self._refuse_back(read)
        # columns of a table may have changed since the last batch
        self.plan = routes.plan(self.spark, self.source, self.parse, self.plan.route, self.plan.targets)
        batch, records = secrets.token_hex(8), routes.routed(chunks.rows(frame, self._row_schema()), self.plan)
        records = records.where(_upto(after)).withColumn(_NEW, self._new())
        groups = records.groupBy(routes.ROUTE, routes.REASON, routes.OPERATION, _NEW)
        counts = groups.agg(F.count("*").alias("records")).collect() if read.good else []
        tables.same(read.good, sum(row.records for row in counts))
        lost = sum(row.records for row in counts if row[routes.REASON])
        read = replace(read, good=read.good - lost, dead=read.dead + lost)
        self._refuse_bad(read)
        for name in self.plan.targets:
            here = [row for row in counts if row[routes.ROUTE] == name and not row[routes.REASON]]
            if new := sum(row.records for row in here if row[_NEW]):
                self._into(name, records, new, after, batch)
            for row in here:
                self.counted[name][_DONE[row[routes.OPERATION]]] += row.records
        figures: dict[str, int | str] = {"records": read.records, "errors": read.dead}
        if read.gaps:
            figures["lost"] = "; ".join(read.gaps)
        rows = errors.rows(
            chunks.dead(frame), records, self.source, self.stream,
            run_id=self.run_id, version=getattr(self.parse, "version", ""),
        )  # fmt: skip
        summary = positions.properties(self.stream, after, batch, figures)
        snapshot = errors.write(self.spark, self.place, rows, read.dead, self.at, summary)
        self.total = replace(self.total, snapshot_id=snapshot, lost=self.total.lost + read.gaps)
        self.noted, self.unwatched = sources.now_millis(), ()
        return read, read.good

    def _new(self) -> Column:
        """Return the Column that says of a record that its table does not have it."""
        from pyspark.sql import functions as F

        new = F.lit(True)
        for name, at in self.has.items():
            new = F.when(F.col(routes.ROUTE) == name, _behind(at)).otherwise(new)
        return new

    def _into(self, name: str, records: DataFrame, count: int, after: dict[str, str], batch: str) -> None:
        """Commit the rows that a table does not have yet, with its positions; it may be ahead of this batch."""
        place, has, target = self.places[name], self.has[name], self.plan.targets[name]
        rows = routes.of_table(records.where(_NEW), self.plan, name)
        ends = shards.forward(has, after)
        summary = positions.properties(self.stream, ends, batch)
        while True:
            base = publish.stage(self.spark, place, has)
            if target.key:
                how = {"branch": place.branch, "properties": summary} | target.roles()
                with upserts.staged(self.spark, name, rows, **how) as merge:
                    staged, _ = publish.commit(self.spark, place, base, summary, merge)
            else:
                staged, added = publish.append(self.spark, place, rows, base, summary)
                tables.same(count, added)
            try:
                if target.key:
                    publish.publish(self.spark, place, staged, base, has)
                else:
                    publish.publish_or_carry(self.spark, place, staged, base, has, summary)
            except commits.MainMoved:  # what moved it may have brought the same keys
                continue
            self.has[name] = ends
            return


def _by_offset(target: Target) -> bool:
    """Say whether offsets decide the order of a target's rows, with no time, which never restarts, before them."""
    before = target.sequence[: target.sequence.index("offset")] if "offset" in target.sequence else None
    return before is not None and "approximate_arrival_timestamp" not in before


_NEW = "_new"
_DONE = {None: "appended", "upsert": "upserted", "delete": "deleted"}


def _behind(at: Mapping[str, str]) -> Column:
    """Return the condition that a record lies behind the positions of a table: it does not have it."""
    from pyspark.sql import functions as F

    missing = F.lit(True)
    for shard, position in at.items():
        here = F.col("shard_id") == shard
        if position == shards.END:
            missing = missing & ~here
        elif position.isdigit():
            missing = missing & (~here | (_number(F.col("sequence_number")) > position.rjust(_DIGITS, "0")))
    return missing


def _upto(at: Mapping[str, str]) -> Column:
    """Return the condition that a record is one of those that the batch's positions were taken from."""
    from pyspark.sql import functions as F

    within = F.lit(True)
    for shard, position in at.items():
        if position.isdigit():
            here = _number(F.col("sequence_number")) <= position.rjust(_DIGITS, "0")
            within = within & ((F.col("shard_id") != shard) | here)
    return within


def _number(column: Column) -> Column:
    from pyspark.sql import functions as F

    return F.lpad(column, _DIGITS, "0")
