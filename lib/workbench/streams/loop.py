"""An exactly-once run: read, dead letters, rows with their positions, again."""

import secrets
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from workbench._base.errors import ArgumentError, WorkbenchError
from workbench._base.typing import DataFrame, SparkSession, StructType
from workbench.records.parsing import Format
from workbench.streams import batches, chunks, dead_letters, positions, publish, tables
from workbench.streams.batches import Ingested
from workbench.streams.keys import RecordKey
from workbench.streams.readers import shards, sources
from workbench.tables import commits

TRIES = 3  # of a batch whose rows were not those that its positions were taken from


class TooManyBad(WorkbenchError, RuntimeError):
    """More of a micro-batch could not be parsed than was allowed; nothing of it was committed."""


Clocks = tuple[float, float]  # as `_now` returns them


def check_ends(source: object, parse: object) -> None:
    """Refuse what records cannot be read from, or not be parsed by.

    Raises:
        ValueError: which of the two, and what was expected.
    """
    needed = ("stream", "lineage", "describe", "read")
    if isinstance(source, type) or not all(hasattr(source, name) for name in needed):
        raise ArgumentError(f"source must be a Topic or a Source, found {source!r}")
    if isinstance(parse, type) or not all(hasattr(parse, name) for name in ("fields", "parser")):
        raise ArgumentError(
            "parse must be Json, Avro, Protobuf or an object with fields() and parser() like them, "
            f"found {parse!r}"
        )


def complete(
    run: "Run",
    until_caught_up: bool,
    max_batches: int | None,
    poll_seconds: float,
    tell: Callable[[batches.Batch], object],
    stop: Callable[[], Any] | None,
) -> Ingested:
    """Let a Run that has begun work to its end, and drop its branches whatever happens; return what it did."""
    begun = time.monotonic()
    try:
        done = run.loop(until_caught_up, max_batches, poll_seconds, tell, stop or (lambda: False))
    except BaseException as error:
        try:
            run.end()
        except Exception as failed:  # what went wrong first is what the caller has to know
            error.add_note(f"the run's branch could not be dropped; the next publication drops it: {failed}")
        raise
    run.end()
    return replace(done, seconds=round(time.monotonic() - begun, 3))


class Run:
    """One run's state between its micro-batches: the positions, and which shards were seen empty."""

    def __init__(
        self,
        spark: SparkSession,
        table: str,
        source: sources.RecordSource,
        parse: Format,
        max_bad_share: float,
        record_key: RecordKey | None,
        lineage: tuple[str, ...],
        run_id: str,
    ) -> None:
        self.spark, self.table, self.source, self.parse = spark, table, source, parse
        self.parser = parse.parser()
        self.max_bad_share, self.record_key, self.lineage, self.run_id = max_bad_share, record_key, lineage, run_id
        self.total = Ingested()
        self.seen: dict[str, Clocks] = {}
        self.unwatched: tuple[str, ...] = ()
        self.letters: publish.Place | None
        self.at: dict[str, str]

    def begin(self, letters: str | None, onto_rows: bool) -> None:
        """Find out where to go on, or commit where it begins."""
        self.stream = self.source.describe()
        branch = f"{positions.ref(self.stream)}{secrets.token_hex(4)}"
        self.place = publish.Place(self.table, self.stream, branch)
        self.letters = publish.Place(letters, self.stream, branch) if letters else None
        loaded = commits.load(self.spark, self.table)
        position, lost = positions.resume(
            self.spark, loaded, self.table, self.source, self.stream, onto_rows=onto_rows
        )
        if letters:
            dead_letters.make(self.spark, letters)
        if position is None:
            first = self.source.begin(self.stream)
            summary = positions.properties(
                self.stream, first, "begin", {"lost": "; ".join(lost)} if lost else None
            )
            snapshot = publish.note(self.spark, self.place, None, summary, mark=True)
            position = positions.Found(first, snapshot, sources.now_millis())
            self.total = replace(self.total, lost=lost, snapshot_id=snapshot)
        else:
            self.total = replace(self.total, resumed=True, snapshot_id=position.snapshot_id)
            since = sources.now_millis() - position.millis
            self.unwatched = shards.unwatched(self.source, self.stream, position.shards, since)
        self.at, self.noted = position.shards, position.millis
        self.dead_at = dead_letters.begin(self.spark, self.letters) if self.letters else {}

    def end(self) -> None:
        """Drop the run's branches; what a killed run leaves is dropped by the next one that publishes."""
        for place in filter(None, (self.place, self.letters)):
            publish.drop(self.spark, place)

    def loop(
        self,
        until_caught_up: bool,
        max_batches: int | None,
        poll_seconds: float,
        tell: Callable[[batches.Batch], object],
        stop: Callable[[], Any],
    ) -> Ingested:
        """Run micro-batches until there is a reason to end, and return what they did."""
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

    def batch(self) -> batches.Batch:
        """Read and commit a micro-batch, and return its figures."""
        begun, looked = time.monotonic(), _now()
        self._still_there()
        at, gone = shards.present(self.source, self.stream, self.at)
        recent = self.stream.retention_hours * 1800  # seconds: half of what the stream keeps
        seen = frozenset(shard for shard, when in self.seen.items() if _since(when) < recent)
        tasks = shards.plan(self.stream, at, self.source.max_records_per_batch, seen=seen)
        for attempt in range(TRIES):
            frame = self._frame(tasks).persist()
            try:
                read = chunks.read(frame, tasks)
                read = replace(read, gaps=self.unwatched + gone + read.gaps)
                self._refuse_bad(read)
                after = shards.advance(self.stream, at, read.ends)
                if after == self.at and not read.gaps and not self._to_be_noted(read):
                    return self._figures(read, after, 0, begun, looked)
                self._same(self.source.describe())  # one that was made since may have what was read
                read, written = self._commit(frame, read, after)
            except tables.OtherRows:  # a worker was lost and what it had read was read again, differently
                if attempt == TRIES - 1:
                    raise
                continue
            finally:
                frame.unpersist()
            return self._figures(read, after, written, begun, looked)
        raise AssertionError("unreachable: the last attempt returns or raises")

    def _frame(self, tasks: list[shards.Task]) -> DataFrame:
        lacking = tables.lacking(self.spark, self.table, self.lineage, bool(self.letters))
        return chunks.frame(self.spark, self.source, tasks, self.parser, self._lineage(), **lacking)

    def _commit(self, frame: DataFrame, read: chunks.Read, after: dict[str, str]) -> tuple[chunks.Read, int]:
        """Commit dead letters, then rows and positions; return (what was read, how many rows were added)."""
        batch = secrets.token_hex(8)
        if read.dead and self.letters:
            self.dead_at, _ = dead_letters.write(
                self.spark, self.letters, chunks.dead(frame), read.dead, self.dead_at, self.at, read.ends,
                batch=batch, run_id=self.run_id, version=getattr(self.parse, "version", ""),
            )  # fmt: skip
        figures: dict[str, int | str] = {"records": read.records, "dead": read.dead}
        if read.gaps:
            figures["lost"] = "; ".join(read.gaps)
        summary = positions.properties(self.stream, after, batch, figures)
        if not read.good:
            snapshot, added = publish.note(self.spark, self.place, self.at, summary), 0
        else:
            snapshot, added = self._publish(frame, read, summary)
        self.total = replace(self.total, snapshot_id=snapshot, lost=self.total.lost + read.gaps)
        self.noted, self.unwatched = sources.now_millis(), ()
        return read, added

    def _to_be_noted(self, read: chunks.Read) -> bool:
        """Tell whether positions that did not move are committed again, so that a later run knows of this look."""
        old = sources.now_millis() - self.noted > self.stream.retention_hours * 3_600_000 / 4
        return old and not any(read.behind.values())

    def _publish(self, frame: DataFrame, read: chunks.Read, summary: dict[str, str]) -> tuple[int, int]:
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

    def _figures(
        self, read: chunks.Read, after: dict[str, str], written: int, begun: float, looked: Clocks
    ) -> batches.Batch:
        """Take over the positions of a batch, and return its figures."""
        assert self.total.snapshot_id is not None  # `begin` has committed or found one
        now = time.monotonic()
        for shard, behind in read.behind.items():
            fresh = shard in read.unbroken or shard in self.seen or not self.at.get(shard, "").isdigit()
            self.seen.pop(shard, None)
            if fresh and not behind:
                self.seen[shard] = looked
        # a shard that has just ended makes way for its children, which nobody has looked at yet
        waiting = {task.shard for task in shards.plan(self.stream, after, 10**9)} - set(read.behind)
        # one whose last record was taken by the very limit is not behind, and not at its end either
        closed = set(read.behind) - self.stream.opened
        waiting |= {shard for shard in closed if after.get(shard) != shards.END}
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

    def _added(self, batch: batches.Batch) -> Ingested:
        names = ("records", "good", "dead", "duplicates", "dropped", "unknown", "bytes")
        sums = {name: getattr(self.total, name) + getattr(batch, name) for name in names}
        return replace(self.total, batches=self.total.batches + 1, **sums)

    def _same(self, stream: sources.Stream) -> sources.Stream:
        if positions.name(stream) != positions.name(self.stream):
            raise shards.RecordsLost(
                f"stream {self.source.stream} was deleted and made again while it was read; what was read of the "
                "old one is in the table, the rest of it is gone"
            )
        return stream

    def _still_there(self) -> None:
        stream = self.stream = self._same(self.source.describe())
        self.place = replace(self.place, stream=stream)
        self.letters = replace(self.letters, stream=stream) if self.letters else None

    def _refuse_bad(self, read: chunks.Read) -> None:
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

    def _lineage(self) -> tuple[str, ...]:
        order = self.source.order if self.record_key else ()
        return tuple(dict.fromkeys((*self.lineage, *order)))

    def _row_schema(self) -> StructType:
        from pyspark.sql.types import StructType

        return StructType([*self.parse.fields(), *sources.lineage_schema(self.source, self._lineage())])


def _now() -> Clocks:
    """Return the seconds of two clocks: the first cannot be set, the second goes on while a machine sleeps."""
    return time.monotonic(), time.time()


def _since(when: Clocks) -> float:
    return max(now - then for now, then in zip(_now(), when, strict=True))
