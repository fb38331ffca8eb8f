"""A build: the changes of the source since the last one, turned into versions, written in one commit."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from decimal import Context
from functools import partial
from typing import Any

from workbench._base import identifiers
from workbench._base.errors import ArgumentError
from workbench._base.typing import Column, DataFrame, Java, SparkSession, StructType
from workbench.history import doubles, positions, publish, targets, versions
from workbench.history.positions import Position
from workbench.history.targets import COLUMNS
from workbench.tables import changes, commits
from workbench.tables.changes import compare, ranges
from workbench.tables.changes.ranges import Range

# commits whose changes are planned as one query; more are read in several
COMMITS_A_QUERY = 64
# values of a partition column that are listed to prune files; of more than these only the bounds are used
LISTED_VALUES = 64
Twice = Callable[[list[str] | None], doubles.KeyTwice]  # makes the error of a key that is there twice


class NullKey(ArgumentError):
    """A row has a null in its key, which names nothing."""


@dataclass(frozen=True)
class Built:
    """What a build did.

    Attributes:
        commits: how many commits of the source it took in, compactions not counted; 0 when there was nothing new.
        snapshot_id: the source's snapshot that the target now stands at; None for a source without any.
    """

    commits: int
    snapshot_id: int | None


def run(
    spark: SparkSession,
    source: str,
    table: Java,
    schema: StructType,
    target: str,
    key: tuple[str, ...],
    back_end: changes.BackEnd,
    truncated: bool,
    together: tuple[int, ...],
) -> Built:
    """Build, as of `history.build`, whose arguments are checked."""
    goal = targets.load(spark, target)
    before, at, base = None, None, None
    if goal is not None:
        if goal.uuid() == table.uuid():
            raise ArgumentError(f"{source} cannot be its own history")
        before, at = positions.read(spark, target, goal)
        base = goal.currentSnapshot().snapshotId() if goal.currentSnapshot() is not None else None
    if before is not None:
        positions.same(spark, before, source, table, key)
    start = before.snapshot if before else None
    span = ranges.resolve(spark, source, start, None, truncated=truncated, together=together)
    mine = positions.owned(positions.REF, targets.full_name(spark, target))
    if not span.steps:
        if before is not None:  # a build that was killed behind its commit left this to do
            if at is not None:
                positions.keep(spark, target, at, alone=True, known=True)
            positions.keep(spark, source, before.snapshot, prefix=mine, alone=True, known=True)
        return Built(0, before.snapshot if before else None)
    if goal is not None:
        targets.fit(spark, target, goal, schema, table, before)
    if at is not None:
        positions.keep(spark, target, at, known=True)
    after, times = advanced(spark, span, source, table, key, before)
    positions.keep(spark, source, after.snapshot, prefix=mine, known=True)
    twice = partial(doubles.error, spark, source, span, schema, key)
    with _named(source, key, twice), _reading() as releases:
        rows = events(spark, source, key, span, times, before, back_end, truncated, together, releases)
        lives = versions.lives(rows, key)
        if goal is None:
            publish.create(spark, target, selected(versions.new(lives, key), schema), table, after)
            positions.keep(spark, target, commits.tip(commits.load(spark, target)))
        else:
            write = onto(spark, target, goal, lives.localCheckpoint(), schema, key, before is None, twice)
            publish.commit(spark, target, base, write, after)
    positions.keep(spark, source, after.snapshot, prefix=mine, alone=True, known=True)
    return Built(after.commits - (before.commits if before else 0), after.snapshot)


def advanced(
    spark: SparkSession, span: Range, source: str, table: Java, key: tuple[str, ...], before: Position | None
) -> tuple[Position, list[int]]:
    """Return the position after a range, and the times of its commits, which never fall: a clock may step back."""
    millis, times = before.millis if before else 0, []
    for step in span.steps:
        if step.ordinal is not None:
            millis = max(millis, step.millis)
            times.append(millis)
    commits = (before.commits if before else 0) + len(times)
    last, uuid = span.steps[-1].snapshot_id, table.uuid().toString()
    return positions.Position(source, uuid, last, commits, millis, key, positions.fields(spark, table)), times


def events(
    spark: SparkSession,
    source: str,
    key: tuple[str, ...],
    span: Range,
    times: Sequence[int],
    before: Position | None,
    back_end: changes.BackEnd,
    truncated: bool,
    together: tuple[int, ...],
    releases: list[Callable[[], None]],
) -> DataFrame:
    """Return the changes of a range, as of `versions.events`; add what releases their files to `releases`."""
    start, ordinal, frames, done = before.snapshot if before else None, before.commits if before else 0, [], 0
    several = len(span.steps) > COMMITS_A_QUERY
    for first in range(0, len(span.steps), COMMITS_A_QUERY):
        steps = span.steps[first : first + COMMITS_A_QUERY]
        count = sum(step.ordinal is not None for step in steps)
        if count:
            changed, release = changes.tracked(
                spark, source, key=key, start=start, end=steps[-1].snapshot_id, back_end=back_end,
                truncated=truncated and start is None, together=together,
            )  # fmt: skip
            releases.append(release)
            now = versions.events(changed, key, ordinal + done, times[done : done + count])
            frames.append(now.localCheckpoint() if several else now)
            done += count
        start = steps[-1].snapshot_id
    if not frames:
        empty = spark.createDataFrame([], spark.table(identifiers.quoted(source)).schema)
        return empty.selectExpr("*", "'' AS change_type", "0 AS _ordinal", "current_timestamp() AS _time")
    return compare.union(frames)


def selected(rows: DataFrame, schema: StructType) -> DataFrame:
    """Return a frame's columns of the target."""
    return rows.select(*[identifiers.column(name) for name in [*schema.names, *COLUMNS]])


def onto(
    spark: SparkSession,
    target: str,
    goal: Java,
    lives: DataFrame,
    schema: StructType,
    key: tuple[str, ...],
    empty: bool,
    twice: Twice,
) -> Callable[[str], None]:
    """Return the function of a table name that writes the versions of `lives` behind those of the target.

    Raises:
        KeyTwice: a key that lives was inserted.
        ValueError: the target has no open version of a key that changed.
    """
    from pyspark.sql import functions as F

    if empty:
        return _appender(selected(versions.new(lives, key), schema))
    keys = [identifiers.column(name) for name in key]
    starts = lives.where("_first AND change_type = 'insert'")
    (count, bounds), (began, started) = _bounds(lives, goal, schema, key)
    known = [_returning(spark, target, starts, began, started, schema, key, twice)] if began else []
    if not count:
        return _appender(selected(versions.new(lives, key, known[0] if known else None), schema))
    ended = _ended(spark, target, versions.ends(lives), count, bounds, key)
    number = F.col("_version") - (F.col("_time") <= F.col("_from")).cast("int")
    base = compare.union([ended.select(*keys, number.alias("_base")), *known])
    nothing = [F.lit(None).cast(kind).alias(name) for name, kind in COLUMNS.items()]
    parts = [
        selected(versions.new(lives, key, base), schema).withColumn("_ends", F.lit(False)),
        selected(versions.closed(ended), schema).withColumn("_ends", F.lit(False)),
        ended.select(*[_or_null(schema, name, key) for name in schema.names], *nothing, F.lit(True)),
    ]
    return publish.merge(compare.union(parts), [*schema.names, *COLUMNS], key, bounds)


def _appender(rows: DataFrame) -> Callable[[str], None]:
    def write(table: str) -> None:
        rows.writeTo(table).append()

    return write


def _ended(
    spark: SparkSession, target: str, ends: DataFrame, count: int, bounds: Column | None, key: tuple[str, ...]
) -> DataFrame:
    """Return the rows of `versions.ends` with `_from`, `_version` and `_born` of the target's open versions."""
    from pyspark.sql import functions as F

    keys = [identifiers.column(name) for name in key]
    known = spark.table(identifiers.quoted(target)).where(F.col("is_current"))
    known = known.where(bounds) if bounds is not None else known
    names = {"valid_from": "_from", "version": "_version", "change_ordinal": "_born"}
    known = known.select(*keys, *[F.col(name).alias(alias) for name, alias in names.items()])
    known = compare.only(known, ends.select(*keys), count, key)
    ended = ends.join(known, list(key), "left").localCheckpoint()
    matched, rows = ended.agg(F.count("_version"), F.count("*")).collect()[0]
    if not matched == rows == count:
        raise ArgumentError(
            f"{target} has {matched} open versions for {count} changed keys, expected one each: "
            "it was changed by somebody else, "
            "or the source had a key twice; build it anew"
        )
    return ended


def _or_null(schema: StructType, name: str, key: tuple[str, ...]) -> Column:
    from pyspark.sql import functions as F

    return F.col(identifiers.column(name)) if name in key else F.lit(None).cast(schema[name].dataType).alias(name)


def _returning(
    spark: SparkSession,
    target: str,
    starts: DataFrame,
    count: int,
    bounds: Column | None,
    schema: StructType,
    key: tuple[str, ...],
    twice: Twice,
) -> DataFrame:
    """Return the keys that begin with an insert and had versions before, with the last one's number as `_base`."""
    from pyspark.sql import functions as F

    keys = [identifiers.column(name) for name in key]
    rows = spark.table(identifiers.quoted(target))
    rows = compare.only(rows.where(bounds) if bounds is not None else rows, starts.select(*keys), count, key)
    earlier = rows.groupBy(*keys).agg(F.max("version").alias("_base"), F.bool_or("is_current").alias("_lives"))
    earlier = earlier.localCheckpoint()
    if living := earlier.where("_lives").select(*compare.shown(schema, key)).limit(1).collect():
        raise twice(list(living[0]))
    return earlier.select(*keys, "_base")


def _bounds(
    lives: DataFrame, goal: Java, schema: StructType, key: tuple[str, ...]
) -> list[tuple[int, Column | None]]:
    """Return, for keys that end a version and for keys that begin one, (how many, a condition that prunes files).

    Keys prune where the target is sorted by them; columns that the target is partitioned by prune because an open
    version has the very values that the source's row had. Of keys that begin, earlier versions had other values.
    """
    from pyspark.sql import functions as F

    fields, names = goal.spec().fields(), {n: name for name, n in positions.columns(goal).items()}
    listed = {names.get(fields.get(n).sourceId(), "") for n in range(fields.size())} & set(schema.names)
    plain = ("byte", "short", "integer", "long", "string", "date", "decimal", "timestamp")
    columns = [n for n in dict.fromkeys([*key, *sorted(listed)]) if schema[n].dataType.typeName() in plain]
    asked = []
    for begins in (False, True):
        mine = F.col("_first") & ((F.col("change_type") == "insert") == F.lit(begins))
        asked.append(F.count_if(mine))
        for name in columns:
            column = _collected(schema[name].dataType.typeName(), F.col(identifiers.column(name)))
            value = F.when(mine, column)
            some = F.slice(F.collect_set(value), 1, LISTED_VALUES + 1) if name in listed else F.array()
            asked += [F.min(value), F.max(value), F.count_if(mine & column.isNull()), some]
    row, width, answers = list(lives.agg(*asked).collect()[0]), 1 + 4 * len(columns), []
    for n, pruning in ((0, columns), (width, key)):
        parts = {name: row[n + 1 + 4 * at : n + 5 + 4 * at] for at, name in enumerate(columns)}
        answers.append((row[n], _pruning({name: parts[name] for name in pruning if name in parts}, schema)))
    return answers


def _pruning(limits: Mapping[str, Sequence[Any]], schema: StructType) -> Column | None:
    """Return a condition by columns' least, greatest and listed values and nulls; None where none prunes."""
    from pyspark.sql import functions as F

    condition = None
    for name, (low, high, nulls, values) in limits.items():
        if nulls or low is None:
            continue
        kind, column = schema[name].dataType.typeName(), F.col(identifiers.column(name))
        least, greatest, *each = [_literal(kind, value) for value in (low, high, *values)]
        if 0 < len(values) <= LISTED_VALUES:
            # Iceberg 1.11.0 fails on an IN of texts where a partition is null, unless a condition before it is
            # false there (apache/iceberg#17014, mended in 1.12.0)
            within = column.isNotNull() & column.isin(*each)
        else:
            within = (column >= least) & (column <= greatest)
        condition = within if condition is None else condition & within
    return condition


def _collected(kind: str, column: Column) -> Column:
    """Return a column as Python can hold all its values: a date or a timestamp as its number."""
    from pyspark.sql import functions as F

    return {"date": F.unix_date, "timestamp": F.unix_micros}.get(kind, lambda same: same)(column)


def _literal(kind: str, value: Any) -> Column:
    """Return the literal of a value that `_collected` gave: PySpark's own fails on years of three digits."""
    from pyspark.sql import functions as F

    make = {"date": F.date_from_unix_date, "timestamp": F.timestamp_micros}.get(kind, lambda same: same)
    if kind == "decimal":  # PySpark collects 1E-38 as 1.0E-38, and takes no literal of 39 digits
        value = value.normalize(Context(prec=38))
    return make(F.lit(value))


@contextmanager
def _reading() -> Iterator[list[Callable[[], None]]]:
    """Collect functions that release what frames read, and call them at the end."""
    releases: list[Callable[[], None]] = []
    try:
        yield releases
    finally:
        for release in releases:
            release()


@contextmanager
def _named(source: str, key: tuple[str, ...], twice: Twice) -> Iterator[None]:
    """Turn the errors that frames raise on purpose into exceptions with a sentence."""
    try:
        yield
    except (ValueError, commits.MainMoved, commits.BranchMoved, commits.OutcomeUnknown):
        raise
    except Exception as error:
        if (values := compare.raised_by(error, versions.TWICE)) is not None:
            raise twice(values) from error
        if "Cannot compute updates because there are multiple rows with the same identifier" in str(error):
            raise twice(None) from error
        if compare.raised_by(error, versions.NULL) is not None:
            raise NullKey(f"{source} has a row with a null in its key ({', '.join(key)})") from error
        raise
