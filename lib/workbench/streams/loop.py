"""An exactly-once run: read, dead letters, rows with their positions, again."""

import secrets
import time
from dataclasses import replace

from workbench._base.errors import ArgumentError, WorkbenchError
from workbench.streams import batches, chunks, dead_letters, positions, publish, tables
from workbench.streams.batches import Ingested
from workbench.streams.readers import shards, sources
from workbench.tables import commits

TRIES = 3  # of a batch whose rows were not those that its positions were taken from


class TooManyBad(WorkbenchError, RuntimeError):
    """More of a micro-batch could not be parsed than was allowed; nothing of it was committed."""


def check(*, source, parse, max_bad_share, max_batches, poll_seconds, stop, on_batch):
    """Refuse arguments of a run that do not go.

    Raises:
        ValueError: which, and what was expected.
    """
    check_ends(source, parse)
    if (
        isinstance(max_bad_share, bool)
        or not isinstance(max_bad_share, int | float)
        or not 0 <= max_bad_share <= 1
    ):
        raise ArgumentError(f"max_bad_share is a number from 0 to 1, not {max_bad_share!r}")
    if max_batches is not None and (
        isinstance(max_batches, bool) or not isinstance(max_batches, int) or max_batches < 1
    ):
        raise ArgumentError(f"max_batches is a whole number from 1, not {max_batches!r}")
    if isinstance(poll_seconds, bool) or not isinstance(poll_seconds, int | float) or not poll_seconds >= 0:
        raise ArgumentError(f"poll_seconds is a number from 0, not {poll_seconds!r}")
    for name, given in (("stop", stop), ("on_batch", on_batch)):
        if given is not None and not callable(given):
            raise ArgumentError(f"{name} is a function, not {given!r}")


def check_ends(source, parse):
    """Refuse what records cannot be read from, or not be parsed by; as `check`."""
    wanted = ("stream", "lineage", "describe", "read")
    if isinstance(source, type) or not all(hasattr(source, one) for one in wanted):
        raise ArgumentError(f"source is a Topic or a Source, not {source!r}")
    if isinstance(parse, type) or not all(hasattr(parse, one) for one in ("fields", "parser")):
        raise ArgumentError(
            f"parse is Json, Avro, Protobuf or an object with fields() and parser() like them, not {parse!r}"
        )


def run(one, begin, until_caught_up, max_batches, poll_seconds, tell, stop):
    """Begin a Run, let it work to its end, and drop its branches whatever happens; returns Ingested."""
    begin()
    begun = time.monotonic()
    try:
        done = one.loop(until_caught_up, max_batches, poll_seconds, tell, stop or (lambda: False))
    except BaseException as error:
        try:
            one.end()
        except Exception as failed:  # what went wrong first is what the caller has to know
            error.add_note(f"the run's branch could not be dropped; the next publication drops it: {failed}")
        raise
    one.end()
    return replace(done, seconds=round(time.monotonic() - begun, 3))


class Run:
    """One run's state between its micro-batches: the positions, and which shards were seen empty."""

    def __init__(self, spark, table, source, parse, max_bad_share, record_key, lineage, run_id):
        self.spark, self.table, self.source, self.parse = spark, table, source, parse
        self.parser = parse.parser()
        self.max_bad_share, self.record_key, self.lineage, self.run_id = max_bad_share, record_key, lineage, run_id
        self.total, self.seen, self.unwatched = Ingested(), {}, ()

    def begin(self, letters, onto_rows):
        """Find out where to go on, or commit where it begins."""
        self.stream = self.source.describe()
        branch = f"{positions.ref(self.stream)}{secrets.token_hex(4)}"
        self.place = publish.Place(self.table, self.stream, branch)
        self.letters = publish.Place(letters, self.stream, branch) if letters else None
        loaded = commits.load(self.spark, self.table)
        found, lost = positions.resume(
            self.spark, loaded, self.table, self.source, self.stream, onto_rows=onto_rows
        )
        if letters:
            dead_letters.make(self.spark, letters)
        if found is None:
            first = self.source.begin(self.stream)
            summary = positions.properties(
                self.stream, first, "begin", {"lost": "; ".join(lost)} if lost else None
            )
            snapshot = publish.note(self.spark, self.place, None, summary, mark=True)
            found = positions.Found(first, snapshot, sources.now_millis())
            self.total = replace(self.total, lost=lost, snapshot_id=snapshot)
        else:
            self.total = replace(self.total, resumed=True, snapshot_id=found.snapshot_id)
            since = sources.now_millis() - found.millis
            self.unwatched = shards.unwatched(self.source, self.stream, found.shards, since)
        self.at, self.noted = found.shards, found.millis
        self.dead_at = dead_letters.begin(self.spark, self.letters) if letters else {}

    def end(self):
        """Drop the run's branches; what a killed run leaves is dropped by the next one that publishes."""
        for place in filter(None, (self.place, self.letters)):
            publish.drop(self.spark, place)

    def loop(self, until_caught_up, max_batches, poll_seconds, tell, stop):
        """Run micro-batches; returns Ingested."""
        while True:
            batch = self.batch()
            if batch.records:
                self.total = self._added(batch)
                tell(batch)
            self.total = replace(self.total, caught_up=batch.caught_up)
            if (until_caught_up and batch.caught_up) or self.total.batches == max_batches or stop():
                return self.total
            if batch.caught_up:
                time.sleep(poll_seconds)

    def batch(self):
        """Read and commit one micro-batch; returns its batches.Batch."""
        begun, looked = time.monotonic(), _now()
        self._still_there()
        at, gone = shards.present(self.source, self.stream, self.at)
        seen = frozenset(s for s, when in self.seen.items() if _since(when) < self.stream.retention_hours * 1800)
        tasks = shards.plan(self.stream, at, self.source.max_records_per_batch, seen=seen)
        for attempt in range(TRIES):
            frame = self._frame(tasks).persist()
            try:
                read = chunks.read(frame, tasks)
                read = replace(read, gaps=self.unwatched + gone + read.gaps)
                self._refuse_bad(read)
                after = shards.advance(self.stream, at, read.ends)
                if after == self.at and not read.gaps and not self._to_be_noted(read):
                    return self._told(read, after, 0, begun, looked)
                self._same(self.source.describe())  # one that was made since may have what was read
                read, written = self._commit(frame, read, after)
            except tables.OtherRows:  # a worker was lost and what it had read was read again, differently
                if attempt == TRIES - 1:
                    raise
                continue
            finally:
                frame.unpersist()
            return self._told(read, after, written, begun, looked)

    def _frame(self, tasks):
        lacking = tables.lacking(self.spark, self.table, self.lineage, bool(self.letters))
        return chunks.frame(self.spark, self.source, tasks, self.parser, self._lineage(), **lacking)

    def _commit(self, frame, read, after):
        """Commit dead letters, then rows and positions; returns (what was read, how many rows were added)."""
        batch = secrets.token_hex(8)
        if read.dead:
            self.dead_at, _ = dead_letters.write(
                self.spark, self.letters, chunks.dead(frame), read.dead, self.dead_at, self.at, read.ends,
                batch=batch, run_id=self.run_id, version=getattr(self.parse, "version", ""),
            )  # fmt: skip
        figures = {"records": read.records, "dead": read.dead} | (
            {"lost": "; ".join(read.gaps)} if read.gaps else {}
        )
        summary = positions.properties(self.stream, after, batch, figures)
        if not read.good:
            snapshot, added = publish.note(self.spark, self.place, self.at, summary), 0
        else:
            snapshot, added = self._publish(frame, read, summary)
        self.total = replace(self.total, snapshot_id=snapshot, lost=self.total.lost + read.gaps)
        self.noted, self.unwatched = sources.now_millis(), ()
        return read, added

    def _to_be_noted(self, read):
        """Say whether positions that did not move are committed again, so that a later run knows of this look."""
        old = sources.now_millis() - self.noted > self.stream.retention_hours * 3_600_000 / 4
        return old and not any(read.behind.values())

    def _publish(self, frame, read, summary):
        while True:
            base = publish.stage(self.spark, self.place, self.at)
            rows = chunks.rows(frame, self._row_schema())
            # the table's columns may have changed since the last batch, and so may the session
            schema = tables.checked(self.spark, self.table, self.parse, self.source, self.lineage, self.record_key)
            with publish.still_there(self.spark, self.place):
                rows, counted = tables.counted(
                    self.spark,
                    rows,
                    self.table,
                    schema,
                    self.record_key,
                    self.place.branch,
                    self.source,
                    self.lineage,
                )
            staged, added = publish.append(self.spark, self.place, rows, base, summary)
            tables.same(read.good, added if counted is None else counted())
            if not self.record_key:
                return publish.publish_or_carry(self.spark, self.place, staged, base, self.at, summary), added
            try:
                publish.publish(self.spark, self.place, staged, base, self.at)
            except commits.MainMoved:  # what moved it may have brought the same keys
                continue
            return staged, added

    def _told(self, read, after, written, begun, looked):
        """Take a batch's positions over and return its figures."""
        now = time.monotonic()
        for shard, behind in read.behind.items():
            fresh = shard in read.unbroken or shard in self.seen or not self.at.get(shard, "").isdigit()
            self.seen = {one: when for one, when in self.seen.items() if one != shard}
            if fresh and not behind:
                self.seen[shard] = looked
        # a shard that has just ended makes way for its children, which nobody has looked at yet
        waiting = {task.shard for task in shards.plan(self.stream, after, 10**9)} - set(read.behind)
        # one whose last record was taken by the very limit is not behind, and not at its end either
        waiting |= {one for one in read.behind if one not in self.stream.opened and after.get(one) != shards.END}
        caught_up = not waiting and not any(read.behind.values())
        self.at = after
        return batches.Batch(
            number=self.total.batches + 1,
            records=read.records,
            good=written,
            dead=read.dead,
            duplicates=read.good - written,
            dropped=read.dropped,
            unknown=read.unknown,
            bytes=read.bytes,
            seconds=round(now - begun, 3),
            lag_seconds=max(0.0, round(time.time() - read.arrived, 3)) if read.arrived else 0.0,
            behind_seconds=max(read.behind.values(), default=0) / 1000,
            caught_up=caught_up,
            snapshot_id=self.total.snapshot_id,
        )

    def _added(self, batch):
        names = ("records", "good", "dead", "duplicates", "dropped", "unknown", "bytes")
        sums = {name: getattr(self.total, name) + getattr(batch, name) for name in names}
        return replace(self.total, batches=self.total.batches + 1, **sums)

    def _same(self, stream):
        if positions.name(stream) != positions.name(self.stream):
            raise shards.RecordsLost(
                f"stream {self.source.stream} was deleted and made again while it was read; what was read of the "
                "old one is in the table, the rest of it is gone"
            )
        return stream

    def _still_there(self):
        stream = self.stream = self._same(self.source.describe())
        self.place = replace(self.place, stream=stream)
        self.letters = replace(self.letters, stream=stream) if self.letters else None

    def _refuse_bad(self, read):
        if read.dead and self.letters is None:
            raise TooManyBad(
                f"{read.dead} of {read.records} records are not what the schema says, and no dead_letters table "
                "was named; nothing of this batch was committed"
            )
        if read.dead > self.max_bad_share * read.records:
            raise TooManyBad(
                f"{read.dead} of {read.records} records are not what the schema says, more than max_bad_share = "
                f"{self.max_bad_share}; nothing of this batch was committed"
            )

    def _lineage(self):
        order = self.source.order if self.record_key else ()
        return tuple(dict.fromkeys((*self.lineage, *order)))

    def _row_schema(self):
        from pyspark.sql.types import StructType

        return StructType([*self.parse.fields(), *sources.lineage_schema(self.source, self._lineage())])


def _now():
    """Return two clocks: one cannot be set, the other goes on while a machine sleeps."""
    return time.monotonic(), time.time()


def _since(when):
    return max(now - then for now, then in zip(_now(), when, strict=True))
