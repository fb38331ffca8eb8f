"""Errors of a delivery brought to their tables after all, each once, when schema or route were mended.

What goes where is written into the error store first, in one commit, under the replay's name; each table's commit
has that name too. So a replay that was killed is finished by its name, with what it had planned, and two at once
take different records.
"""

import hashlib
import secrets
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from workbench._base import identifiers, releases
from workbench._base.door import checked
from workbench._base.errors import ArgumentError
from workbench._base.typing import DataFrame, Java, Judged, SparkSession
from workbench.records import aggregates
from workbench.records.parsing import Format, Parse
from workbench.streams import dead_letters, loop, nulls, publish, routes
from workbench.streams import errors as store
from workbench.streams.readers import sources
from workbench.streams.readers.sources import RecordSource
from workbench.streams.routes import Target
from workbench.tables import commits, publication, upserts


def _key(source: sources.RecordSource) -> list[str]:
    """Return the columns that name an error of a source: of a topic without the place in an aggregate."""
    return [name for name in dead_letters.KEY if name != aggregates.COLUMN or name in source.lineage]


@dataclass(frozen=True)
class Replayed:
    """What a replay did.

    Attributes:
        id: its name.
        tables: table name to how many records went there.
        left: records that were tried and still cannot go, reason to count.
        cut: records that are not whole in the error store, and were not tried.
    """

    id: str
    tables: dict[str, int]
    left: dict[str, int]
    cut: int


@dataclass
class Parsing:
    """Parses errors anew: a function for mapInArrow over their bytes and what is passed on.

    Attributes:
        parser: function of a list of bytes that returns parsing.Parsed.
        tombstones: whether a record without a value becomes a row, of nulls.
    """

    parser: Parse
    tombstones: bool

    def __call__(self, batches: Iterable[Any]) -> Iterator[Any]:
        """Yield a row an error that can be parsed: its key, the record's columns."""
        import pyarrow as pa

        for batch in batches:
            raw = batch.column("raw").to_pylist()
            parsed = nulls.parsed(self.parser, raw, {} if self.tombstones else nulls.stones(raw))
            if not parsed.good:
                continue
            kept = batch.drop_columns(["raw"]).take(pa.array(parsed.good, pa.int64()))
            stones = pa.array([raw[n] is None for n in parsed.good], pa.bool_())
            yield pa.RecordBatch.from_arrays(
                [*kept.columns, stones, *parsed.rows.columns],
                names=[*kept.schema.names, nulls.COLUMN, *parsed.rows.schema.names],
            )


@checked
def replay(
    spark: SparkSession,
    errors: str,
    *,
    source: Judged[RecordSource],
    parse: Judged[Format],
    tables: dict[str, Target],
    route: str | None = None,
    where: str | None = None,
    id: str | None = None,
) -> Replayed:
    """Parse errors again, and bring to their tables those that can be delivered now.

    Args:
        spark: classic session whose catalog holds the tables.
        errors: the error store.
        source: the Topic or Source whose errors these are; others of the store stay. It is not read.
        parse: as of `deliver`.
        tables: as of `deliver`.
        route: as of `deliver`.
        where: SQL condition on the error store's columns; None takes all that were not replayed.
        id: name of this replay; given again after a kill, it is finished. Made up when None.

    Returns:
        Replayed.

    Raises:
        ValueError: an argument is invalid; a replay before this one was not finished; the store has no errors of
            the source, but of others.
        TableNotFound: there is no such error store.
        OutcomeUnknown: a catalog did not answer; the same id finishes it.
    """
    from pyspark.sql import functions as F

    loop.check_ends(source, parse)
    plan = routes.plan(spark, source, parse, route, tables)
    routes.refuse_unmergeable(spark, source, plan)
    commits.load(spark, errors)  # one that is not there is a mistyped name
    store.make(spark, errors)
    _refuse_no_source(spark, errors, source)
    name = commits.marks.named(id or secrets.token_hex(4))
    begun = _begun(spark, errors)
    if others := sorted(begun - {name}):
        raise ArgumentError(
            f"the replay {others[0]} of {errors} was not finished: run it again with id={others[0]!r}"
        )
    if name in begun:
        remaining: dict[str, int] = {}
        cut = 0
    else:
        store.take_apart(spark, errors, source)
        remaining, cut = _planned(spark, errors, source, parse, plan, where, name)
    replayed = {}
    for table in plan.targets:
        mine = _named(spark, errors, name).where(F.col("replay_table") == table)
        rows = routes.of_table(routes.routed(_parsed(mine, source, parse, plan), plan), plan, table)
        if count := mine.count():
            _refuse_others(rows.count(), count, table, name)
            _write(spark, table, rows, plan.targets[table], _mark(mine, name))
            replayed[table] = count
    _finished(spark, errors, name)
    return Replayed(name, replayed, remaining, cut)


def _refuse_no_source(spark: SparkSession, errors: str, source: sources.RecordSource) -> None:
    """Refuse a source that the store never had errors of, while it has those of others: a mistyped name."""
    streams = {row.stream for row in _now(spark, errors).select("stream").distinct().collect()}
    if streams and source.stream not in streams:
        raise ArgumentError(
            f"{errors} has no errors of {source.stream}; it has those of {', '.join(sorted(streams))}"
        )


def _begun(spark: SparkSession, errors: str) -> set[str]:
    """Return the names of replays that were planned and not finished."""
    begun = _now(spark, errors).where("replay IS NOT NULL AND replayed IS NULL").select("replay").distinct()
    return {row.replay for row in begun.collect()}


def _planned(
    spark: SparkSession,
    errors: str,
    source: sources.RecordSource,
    parse: Format,
    plan: routes.Plan,
    where: str | None,
    name: str,
) -> tuple[dict[str, int], int]:
    """Write into the error store which error goes where; return (reasons of the others, how many are cut)."""
    from pyspark.errors import AnalysisException, ParseException
    from pyspark.sql import functions as F

    try:
        of_source = F.col("stream") == source.stream
        tried = _now(spark, errors).where("replay IS NULL").where(of_source).where(where or "true")
    except (AnalysisException, ParseException) as error:
        why = str(error).strip().splitlines()[0]
        raise ArgumentError(f"where {where!r} is not a condition on the columns of {errors}: {why}") from None
    whole = F.length("raw").eqNullSafe(F.col("raw_bytes"))  # of a tombstone there is neither
    cut = tried.where(~whole).count()
    routed = routes.routed(_parsed(tried.where(whole), source, parse, plan), plan).persist()
    try:
        count, reason = tried.where(whole).count(), F.col(routes.REASON)
        counts = {row[0]: row[1] for row in routed.groupBy(reason).count().collect()}
        unparsed = count - sum(counts.values())
        good = counts.pop(None, 0)
        stones = 0 if plan.tombstones else tried.where("raw IS NULL AND raw_bytes IS NULL").count()
        others = {nulls.TOMBSTONE: stones, "not_parsed": unparsed - stones}
        remaining = counts | {what: number for what, number in others.items() if number}
        if good:
            _claim(spark, errors, routed.where(reason.isNull()), _key(source), name)
    finally:
        routed.unpersist()
    return remaining, cut


def _claim(spark: SparkSession, errors: str, records: DataFrame, key: list[str], name: str) -> None:
    """Give errors the name of a replay and their table, unless another replay was quicker."""
    from pyspark.sql import functions as F

    own = {column: f"_k{n}" for n, column in enumerate(key)}
    rows = records.select(
        *[F.col(column).alias(renamed) for column, renamed in own.items()],
        F.col(routes.ROUTE).alias("_table"), F.lit(name).alias("_replay"),
    )  # fmt: skip
    same = F.col("replay").isNull() & dead_letters.same_record(F.col, lambda column: F.col(own[column]), key)
    values = {"replay": F.col("_replay"), "replay_table": F.col("_table")}
    merging = releases.merge_into(rows, identifiers.quoted(errors), same).whenMatched().update(values)
    commits.retrying(spark, errors, merging.merge, conditional=True)


def _finished(spark: SparkSession, errors: str, name: str) -> None:
    """Mark a replay's errors as delivered."""
    from pyspark.sql import functions as F

    row = spark.range(1).select(F.lit(name).alias("_name"))
    here = (F.col("replay") == F.col("_name")) & F.col("replayed").isNull()
    merging = releases.merge_into(row, identifiers.quoted(errors), here)
    merging = merging.whenMatched().update({"replayed": F.lit(True)})
    commits.retrying(spark, errors, merging.merge, conditional=True)


def _mark(mine: DataFrame, name: str) -> str:
    """Return the name of a table's commit: the replay's, and which records it brings, for names are used again."""
    from pyspark.sql import functions as F

    which = F.sum(F.xxhash64(*dead_letters.KEY).cast("decimal(38)"))
    count_and_sum = tuple(mine.agg(F.count("*"), which).collect()[0])
    return f"{hashlib.sha256(f'{name} {count_and_sum}'.encode()).hexdigest()[:16]} replay {name}"[:200]


def _write(spark: SparkSession, table: str, rows: DataFrame, target: Target, id: str) -> None:
    """Commit a table's rows under a name; do nothing where that is done already."""
    if target.key:
        try:
            upserts.merge(spark, table, rows, id=id, **target.roles())
        except commits.PartlyCommitted:
            # a merge is one commit: another process at this replay made it, and ours was refused for it
            if commits.marks.find(spark, table, id) is None:
                raise
    elif commits.marks.find(spark, table, id) is None:
        _append(spark, table, rows, id)


def _append(spark: SparkSession, table: str, rows: DataFrame, id: str) -> None:
    """Append rows by a commit that takes only where none of that name is, for another process may be at it too.

    They are written to a branch, and main takes their files as they are. Branches of the same name go with that
    commit, those too that were left by one that was killed.
    """
    prefix = f"replay_{hashlib.sha256(id.encode()).hexdigest()[:8]}_"
    branch = prefix + secrets.token_hex(4)

    def landed() -> int | None:
        return commits.marks.find(spark, table, id)

    def decide(loaded: Java) -> publication.Append:
        if landed() is not None:
            raise ArgumentError(f"another process has committed {id} to {table}")
        refs = commits.Refs(removed=tuple(publication.positions.branches(loaded, prefix)))
        snapshot = loaded.snapshot(commits.head(loaded, branch))
        files = list(snapshot.addedDataFiles(loaded.io()))
        return publication.Append({commits.marks.KEY: id}, files, refs=lambda _: refs)

    publication.stage(spark, table, branch)
    try:
        rows.writeTo(identifiers.on_branch(table, branch)).append()
        publication.append(spark, table, decide, landed=landed, tries=publish.TRIES)
    except Exception:
        if landed() is None:
            raise
        publication.drop(spark, table, branch)


def _refuse_others(fitting: int, count: int, table: str, name: str) -> None:
    if fitting != count:
        raise ArgumentError(
            f"the replay {name} has planned {count} records for {table}, and {fitting} of them go there by this "
            "schema and route: finish it with those it was begun with"
        )


def _parsed(rows: DataFrame, source: sources.RecordSource, parse: Format, plan: routes.Plan) -> DataFrame:
    """Return errors as records with their lineage; those that cannot be parsed are not there; lazy."""
    from pyspark.sql import functions as F
    from pyspark.sql.types import BooleanType, StructField, StructType

    passed_on = list(dict.fromkeys([*_key(source), *sources.LINEAGE]))
    kept = rows.select("raw", *passed_on)
    stone = StructField(nulls.COLUMN, BooleanType())
    schema = StructType([*[kept.schema[name] for name in passed_on], stone, *plan.fields.fields])
    records = kept.mapInArrow(Parsing(parse.parser(), bool(plan.tombstones)), schema)
    if "offset" in source.lineage:
        return records.withColumn("offset", F.col("sequence_number").cast("bigint"))
    return records.withColumn(aggregates.COLUMN, dead_letters.known(aggregates.COLUMN, F.col(aggregates.COLUMN)))


def _named(spark: SparkSession, errors: str, name: str) -> DataFrame:
    from pyspark.sql import functions as F

    return _now(spark, errors).where((F.col("replay") == name) & F.col("replayed").isNull())


def _now(spark: SparkSession, errors: str) -> DataFrame:
    """Return the error store as it is now, whatever this session remembers of it."""
    quoted = identifiers.quoted(errors)
    spark.sql(f"REFRESH TABLE {quoted}")
    return spark.table(quoted)
