"""Records to the tables that they belong to, each once: routes, unique keys, an error store.

Each table has positions of its own in the snapshot that brings its rows, and takes only what lies behind them. The
error store comes last and with every batch, so a run goes on where it stands, and a table that was ahead of it
passes over what it has.
"""

import secrets
from collections import Counter
from dataclasses import dataclass, replace

from workbench._base import identifiers
from workbench._base.errors import ArgumentError
from workbench.streams import batches, chunks, errors, loop, positions, publish, routes, tables
from workbench.streams.readers import shards, sources
from workbench.streams.records import nulls
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

    tables: dict
    errors: int
    run: batches.Ingested


def deliver(
    spark,
    *,
    source,
    parse,
    tables,
    errors,
    route=None,
    max_bad_share=1.0,
    until_caught_up=True,
    max_batches=None,
    onto_rows=False,
    poll_seconds=1.0,
    run_id=None,
    on_batch=None,
    stop=None,
):
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
    loop.check(source=source, parse=parse, max_bad_share=max_bad_share, max_batches=max_batches,
               poll_seconds=poll_seconds, stop=stop, on_batch=on_batch)  # fmt: skip
    store = identifiers.quoted(errors)
    if isinstance(tables, dict) and store in map(identifiers.quoted, tables):
        raise ArgumentError(f"{errors} is a target and the error store; it can be one of them")
    plan = routes.plan(spark, source, parse, route, tables)
    routes.refuse_unmergeable(spark, source, plan)
    run = Delivery(spark, errors, source, parse, plan, max_bad_share, run_id or secrets.token_hex(4))
    begin, tell = (lambda: run.begin(onto_rows)), on_batch or batches.teller()
    done = loop.run(run, begin, until_caught_up, max_batches, poll_seconds, tell, stop)
    return Delivered({name: dict(run.counted[name]) for name in tables}, done.dead, done)


class Delivery(loop.Run):
    """One run's state: as of an ingest into the error store, and the positions of each table."""

    def __init__(self, spark, store, source, parse, plan, max_bad_share, run_id):
        super().__init__(spark, store, source, parse, max_bad_share, None, plan.lineage, run_id)
        self.plan, self.places, self.has = plan, {}, {}
        self.counted = {name: Counter() for name in plan.targets}

    def begin(self, onto_rows):
        """Find out where each table stands, or commit where it begins."""
        self._refuse_offsets_anew()
        errors.make(self.spark, self.table)
        super().begin(None, True)
        self.letters = self.place
        for name in self.plan.targets:
            place = self.places[name] = replace(self.place, table=name)
            loaded = commits.load(self.spark, name)
            found, _ = positions.resume(self.spark, loaded, name, self.source, self.stream, onto_rows=onto_rows)
            self.has[name] = self.at if found is None else found.shards
            self._refuse_rolled_back(name, loaded)
            if found is None:
                summary = positions.properties(self.stream, self.at, "begin")
                publish.note(self.spark, place, None, summary, mark=True)

    def _refuse_offsets_anew(self):
        """Refuse rows that are ordered by offsets of a deleted topic: new records would be taken for older."""
        names = [name for name, target in self.plan.targets.items() if _by_offset(target)]
        stream = self.source.describe() if names else None
        for name in names:
            loaded = commits.load(self.spark, name)
            found, lost = positions.resume(self.spark, loaded, name, self.source, stream, onto_rows=True)
            quoted = identifiers.quoted(name)
            if found or not lost or self.spark.sql(f"SELECT 1 FROM {quoted} WHERE offset >= 0 LIMIT 1").isEmpty():
                continue
            raise ArgumentError(
                f"rows of {name} are ordered by the offsets of a topic {self.source.stream} that was deleted. "
                "Those of the new one begin again below them, and its records would be taken for older. To let "
                f"them win say first: UPDATE {identifiers.shown(name)} SET offset = -1"
            )

    def _refuse_back(self, read):
        """Refuse a partition that is shorter than it was: tables would pass over what has the offsets again."""
        ends = {shard: end or shards.OLDEST for shard, end in read.ends.items()}
        if back := sorted(shard for shard, end in ends.items() if shards.further(self.at.get(shard, ""), end)):
            raise shards.RecordsLost(
                f"partition {back[0]} of {self.source.stream} ends before offset {self.at[back[0]]}, up to which "
                "it was delivered: records are gone, and others have their offsets or will. A delivery tells by "
                "offsets what a table has, so it cannot go on here, whatever fail_on_data_loss says; it can with "
                "a topic made anew"
            )

    def _refuse_rolled_back(self, name, loaded):
        """Refuse a table that lost what it was given: nothing behind the error store's positions is read again."""
        back = [one for one, at in self.at.items() if shards.further(at, self.has[name].get(one, shards.OLDEST))]
        if back and positions.rolled_back(self.spark, loaded, self.stream):
            raise positions.PositionsLost(
                f"main of {name} was rolled back behind what was delivered to it, and its records would not come "
                f"again, for {self.table} says that they are read. Roll {self.table} back too: what the other "
                "tables have is passed over. To go on without them remove the table's tag "
                f"{', '.join(positions.tagged(loaded, self.stream))}"
            )

    def end(self):
        """Drop the run's branches."""
        for place in (self.place, *self.places.values()):
            publish.drop(self.spark, place)

    def _still_there(self):
        super()._still_there()
        self.places = {name: replace(place, stream=self.stream) for name, place in self.places.items()}

    def _frame(self, tasks):
        lineage, stones = (*self._lineage(), chunks.RAW), bool(self.plan.tombstones)
        lineage += (nulls.COLUMN,) if stones else ()
        return chunks.frame(self.spark, self.source, tasks, self.parser, lineage, errors.WHOLE, tombstones=stones)

    def _row_schema(self):
        from pyspark.sql.types import StructType

        # where tombstones become rows, the plan's fields may be null
        lineage = super()._row_schema().fields[len(self.plan.fields) :]
        found = StructType([*self.plan.fields.fields, *lineage]).add(chunks.RAW, "binary")
        return found.add(nulls.COLUMN, "boolean") if self.plan.tombstones else found

    def _commit(self, frame, read, after):
        """Commit each table's rows with its positions, then the errors with those of the run."""
        from pyspark.sql import functions as F

        self._refuse_back(read)
        # columns of a table may have changed since the last batch
        self.plan = routes.plan(self.spark, self.source, self.parse, self.plan.route, self.plan.targets)
        batch, found = secrets.token_hex(8), routes.routed(chunks.rows(frame, self._row_schema()), self.plan)
        found = found.where(_upto(after)).withColumn(_NEW, self._new())
        told = found.groupBy(routes.ROUTE, routes.REASON, routes.OPERATION, _NEW).agg(
            F.count("*").alias("records")
        )
        told = told.collect() if read.good else []
        tables.same(read.good, sum(row.records for row in told))
        lost = sum(row.records for row in told if row[routes.REASON])
        read = replace(read, good=read.good - lost, dead=read.dead + lost)
        self._refuse_bad(read)
        for name in self.plan.targets:
            here = [row for row in told if row[routes.ROUTE] == name and not row[routes.REASON]]
            if new := sum(row.records for row in here if row[_NEW]):
                self._into(name, found, new, after, batch)
            for row in here:
                self.counted[name][_DONE[row[routes.OPERATION]]] += row.records
        figures = {"records": read.records, "errors": read.dead} | (
            {"lost": "; ".join(read.gaps)} if read.gaps else {}
        )
        rows = errors.rows(
            chunks.dead(frame), found, self.source, self.stream,
            run_id=self.run_id, version=getattr(self.parse, "version", ""),
        )  # fmt: skip
        summary = positions.properties(self.stream, after, batch, figures)
        snapshot = errors.write(self.spark, self.place, rows, read.dead, self.at, summary)
        self.total = replace(self.total, snapshot_id=snapshot, lost=self.total.lost + read.gaps)
        self.noted, self.unwatched = sources.now_millis(), ()
        return read, read.good

    def _new(self):
        """Return the Column that says of a record that its table does not have it."""
        from pyspark.sql import functions as F

        new = F.lit(True)
        for name, at in self.has.items():
            new = F.when(F.col(routes.ROUTE) == name, _behind(at)).otherwise(new)
        return new

    def _into(self, name, found, count, after, batch):
        """Commit the rows that a table does not have yet, with its positions; it may be ahead of this batch."""
        place, has, target = self.places[name], self.has[name], self.plan.targets[name]
        rows = routes.of_table(found.where(_NEW), self.plan, name)
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


def _by_offset(target):
    """Say whether the order of a target's rows hangs on offsets: no time, which goes on, decides before them."""
    before = target.sequence[: target.sequence.index("offset")] if "offset" in target.sequence else None
    return before is not None and "approximate_arrival_timestamp" not in before


_NEW = "_new"
_DONE = {None: "appended", "upsert": "upserted", "delete": "deleted"}


def _behind(at):
    """Return the condition that a record lies behind the positions of a table: it does not have it."""
    from pyspark.sql import functions as F

    wanted = F.lit(True)
    for shard, position in at.items():
        here = F.col("shard_id") == shard
        if position == shards.END:
            wanted = wanted & ~here
        elif position.isdigit():
            wanted = wanted & (~here | (_number(F.col("sequence_number")) > position.rjust(_DIGITS, "0")))
    return wanted


def _upto(at):
    """Return the condition that a record is one of those that the batch's positions were taken from."""
    from pyspark.sql import functions as F

    wanted = F.lit(True)
    for shard, position in at.items():
        if position.isdigit():
            here = _number(F.col("sequence_number")) <= position.rjust(_DIGITS, "0")
            wanted = wanted & ((F.col("shard_id") != shard) | here)
    return wanted


def _number(column):
    from pyspark.sql import functions as F

    return F.lpad(column, _DIGITS, "0")
