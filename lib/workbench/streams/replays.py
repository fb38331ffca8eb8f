"""Errors of a delivery brought to their tables after all, each once, when schema or route were mended.

What goes where is written into the error store first, in one commit, under the replay's name; each table's commit
has that name too. So a replay that was killed is finished by its name, with what it had planned, and two at once
take different records.
"""

import hashlib
import secrets
from dataclasses import dataclass

from workbench._base import identifiers, releases
from workbench._base.errors import ArgumentError
from workbench.streams import aggregates, dead_letters, loop, publish, routes
from workbench.streams import errors as store
from workbench.streams.readers import sources
from workbench.streams.records import nulls
from workbench.tables import commits, publication, upserts


def _key(source):
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
    tables: dict
    left: dict
    cut: int


@dataclass
class Parsing:
    """Parses errors anew: a function for mapInArrow over their bytes and what is passed on.

    Attributes:
        parser: function of a list of bytes that returns parsing.Parsed.
        tombstones: whether a record without a value becomes a row, of nulls.
    """

    parser: object
    tombstones: bool

    def __call__(self, batches):
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


def replay(spark, errors, *, source, parse, tables, route=None, where=None, id=None):
    """Parse errors again, and bring those that go now to their tables.

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
        ValueError: an argument does not go; a replay before this one was not finished; the store has no errors of
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
        left, cut = {}, 0
    else:
        store.take_apart(spark, errors, source)
        left, cut = _planned(spark, errors, source, parse, plan, where, name)
    told = {}
    for table in plan.targets:
        mine = _named(spark, errors, name).where(F.col("replay_table") == table)
        rows = routes.of_table(routes.routed(_parsed(mine, source, parse, plan), plan), plan, table)
        if count := mine.count():
            _refuse_others(rows.count(), count, table, name)
            _write(spark, table, rows, plan.targets[table], _mark(mine, name))
            told[table] = count
    _finished(spark, errors, name)
    return Replayed(name, told, left, cut)


def _refuse_no_source(spark, errors, source):
    """Refuse a source that the store never had errors of, while it has those of others: a mistyped name."""
    there = {row.stream for row in _now(spark, errors).select("stream").distinct().collect()}
    if there and source.stream not in there:
        raise ArgumentError(
            f"{errors} has no errors of {source.stream}; it has those of {', '.join(sorted(there))}"
        )


def _begun(spark, errors):
    """Return the names of replays that were planned and not finished."""
    found = _now(spark, errors).where("replay IS NOT NULL AND replayed IS NULL").select("replay").distinct()
    return {row.replay for row in found.collect()}


def _planned(spark, errors, source, parse, plan, where, name):
    """Write into the error store which error goes where; returns (reasons of the others, how many are cut)."""
    from pyspark.errors import AnalysisException, ParseException
    from pyspark.sql import functions as F

    try:
        of_source = F.col("stream") == source.stream
        tried = _now(spark, errors).where("replay IS NULL").where(of_source).where(where or "true")
    except (AnalysisException, ParseException) as error:
        said = str(error).strip().splitlines()[0]
        raise ArgumentError(f"where {where!r} is no condition on the columns of {errors}: {said}") from None
    whole = F.length("raw").eqNullSafe(F.col("raw_bytes"))  # of a tombstone there is neither
    cut = tried.where(~whole).count()
    found = routes.routed(_parsed(tried.where(whole), source, parse, plan), plan).persist()
    try:
        count, reason = tried.where(whole).count(), F.col(routes.REASON)
        told = {row[0]: row[1] for row in found.groupBy(reason).count().collect()}
        unparsed = count - sum(told.values())
        good = told.pop(None, 0)
        stones = 0 if plan.tombstones else tried.where("raw IS NULL AND raw_bytes IS NULL").count()
        others = {nulls.TOMBSTONE: stones, "not_parsed": unparsed - stones}
        left = told | {reason: count for reason, count in others.items() if count}
        if good:
            _claim(spark, errors, found.where(reason.isNull()), _key(source), name)
    finally:
        found.unpersist()
    return left, cut


def _claim(spark, errors, found, key, name):
    """Give errors the name of a replay and their table, unless another replay was quicker."""
    from pyspark.sql import functions as F

    own = {column: f"_k{n}" for n, column in enumerate(key)}
    rows = found.select(
        *[F.col(column).alias(renamed) for column, renamed in own.items()],
        F.col(routes.ROUTE).alias("_table"), F.lit(name).alias("_replay"),
    )  # fmt: skip
    same = F.col("replay").isNull() & dead_letters.same_record(F.col, lambda column: F.col(own[column]), key)
    values = {"replay": F.col("_replay"), "replay_table": F.col("_table")}
    merging = releases.merge_into(rows, identifiers.quoted(errors), same).whenMatched().update(values)
    commits.retrying(spark, errors, merging.merge, conditional=True)


def _finished(spark, errors, name):
    """Say of a replay's errors that they are where they belong."""
    from pyspark.sql import functions as F

    one = spark.range(1).select(F.lit(name).alias("_name"))
    here = (F.col("replay") == F.col("_name")) & F.col("replayed").isNull()
    merging = releases.merge_into(one, identifiers.quoted(errors), here)
    merging = merging.whenMatched().update({"replayed": F.lit(True)})
    commits.retrying(spark, errors, merging.merge, conditional=True)


def _mark(mine, name):
    """Return the name of a table's commit: the replay's, and which records it brings, for names are used again."""
    from pyspark.sql import functions as F

    which = F.sum(F.xxhash64(*dead_letters.KEY).cast("decimal(38)"))
    found = mine.agg(F.count("*"), which).first()
    return f"{hashlib.sha256(f'{name} {tuple(found)}'.encode()).hexdigest()[:16]} replay {name}"[:200]


def _write(spark, table, rows, target, id):
    """Commit a table's rows under a name; done before, nothing is done."""
    if target.key:
        try:
            upserts.merge(spark, table, rows, id=id, **target.roles())
        except commits.PartlyCommitted:
            # a merge is one commit: another process at this replay made it, and ours was refused for it
            if commits.marks.find(spark, table, id) is None:
                raise
    elif commits.marks.find(spark, table, id) is None:
        _append(spark, table, rows, id)


def _append(spark, table, rows, id):
    """Append rows by a commit that takes only where none of that name is, for another process may be at it too.

    They are written to a branch, and main takes their files as they are. Branches of the same name go with that
    commit, those too that were left by one that was killed.
    """
    prefix = f"replay_{hashlib.sha256(id.encode()).hexdigest()[:8]}_"
    branch = prefix + secrets.token_hex(4)

    def landed():
        return commits.marks.find(spark, table, id)

    def decide(loaded):
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


def _refuse_others(found, count, table, name):
    if found != count:
        raise ArgumentError(
            f"the replay {name} has planned {count} records for {table}, and {found} of them go there by this "
            "schema and route: finish it with those it was begun with"
        )


def _parsed(rows, source, parse, plan):
    """Return errors as records with their lineage; those that cannot be parsed are not there; lazy."""
    from pyspark.sql import functions as F
    from pyspark.sql.types import BooleanType, StructField, StructType

    passed_on = list(dict.fromkeys([*_key(source), *sources.LINEAGE]))
    kept = rows.select("raw", *passed_on)
    stone = StructField(nulls.COLUMN, BooleanType())
    schema = StructType([*[kept.schema[name] for name in passed_on], stone, *plan.fields.fields])
    found = kept.mapInArrow(Parsing(parse.parser(), bool(plan.tombstones)), schema)
    if "offset" in source.lineage:
        return found.withColumn("offset", F.col("sequence_number").cast("bigint"))
    return found.withColumn(aggregates.COLUMN, dead_letters.known(aggregates.COLUMN, F.col(aggregates.COLUMN)))


def _named(spark, errors, name):
    from pyspark.sql import functions as F

    return _now(spark, errors).where((F.col("replay") == name) & F.col("replayed").isNull())


def _now(spark, errors):
    """Return the error store as it is now, whatever this session remembers of it."""
    quoted = identifiers.quoted(errors)
    spark.sql(f"REFRESH TABLE {quoted}")
    return spark.table(quoted)
