"""What a source answers, and how it becomes rows of the table: by name, and with every value as it was."""

from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from datetime import date, datetime
from functools import reduce
from operator import and_
from typing import Any

from workbench._base import identifiers, releases, sessions
from workbench._base.typing import Column, DataFrame, SparkSession, StructType
from workbench.pulls import times
from workbench.pulls.errors import AnswerRefused
from workbench.tables import commits

EXACT = "decimal(38,18)"
# what a text must look like; Spark takes more than is said: an hour for today's, a year for its first day
NUMBER = r"^\s*[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]{1,4})?\s*$"
UUID = r"^[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}$"
UNBOUNDED = r"(?i)^\s*([+-]?inf(inity)?|nan)\s*$"
_DAY, _CLOCK = r"[0-9]{4}-[0-9]{2}-[0-9]{2}", r"[ T][0-9]{2}:[0-9]{2}(:[0-9]{2}(\.[0-9]{1,6})?)?"
MOMENTS = {
    "date": rf"^\s*{_DAY}\s*$",
    "timestamp": rf"^\s*{_DAY}({_CLOCK}( ?(Z|UTC|[+-][0-9]{{2}}:?[0-9]{{2}}))?)?\s*$",
    "timestamp_ntz": rf"^\s*{_DAY}({_CLOCK})?\s*$",
}
WHOLE = {"tinyint": 1, "smallint": 2, "int": 3, "bigint": 4}
INTEGER, DIGITS = r"^-?[0-9]+$", r"^-?[0-9]+(\.[0-9]+)?$"
# else Spark takes Arrow rows into the plan, and computes what is done with them one by one and once more each time
# a time of Arrow's without a zone is one without a zone in Spark, too
AS_PARTITIONS = {
    "spark.sql.execution.arrow.localRelationThreshold": "0", "spark.sql.timestampType": "TIMESTAMP_NTZ",
}  # fmt: skip
_FEW = 3  # values that a message shows


@dataclass(frozen=True)
class DeadCell:
    """A value of a source that cannot become a value of the table.

    Attributes:
        address: where it is in the source, `Sheet1!C7` for example.
        reason: why it is refused.
        raw: the value as the source has it.
    """

    address: str
    reason: str
    raw: str


@dataclass(frozen=True)
class Answer:
    """What a source says about the days it was asked for, or about all it has.

    Attributes:
        rows: an Arrow table, a DataFrame of Spark, or a list of dicts that have the same keys.
        dead: cells that could not become rows.
        flags: what the source says about the figures, name to text; kept in the summary of the commit.
        requests: how many requests it took.
        through: last day that is answered completely; None where all are.
        stopped: why days are missing, a sentence; "" where none are.
        local_zone: time zone of times that have none in the rows, as those of a sheet; "" for the session's.
    """

    rows: Any
    dead: Sequence[DeadCell] = ()
    flags: Mapping[str, str] = field(default_factory=dict)
    requests: int = 1
    through: date | None = None
    stopped: str = ""
    local_zone: str = ""


def of(answered: Any) -> Answer:
    """Return an answer as it is, and rows as an answer that has nothing else."""
    return answered if isinstance(answered, Answer) else Answer(answered)


def frame(open_frames: ExitStack, spark: SparkSession, table: str, answer: Answer) -> DataFrame:
    """Return rows as a frame of the table's columns and types, the same ones each time that it is read.

    Args:
        open_frames: unpersists, at its end, what was cached.
        spark: session.
        table: its name.
        answer: of the source.

    Raises:
        AnswerRefused: a column is missing or not the table's, or a value would change.
    """
    from pyspark.sql import functions as F

    schema, rows = spark.table(identifiers.quoted(table)).schema, answer.rows
    raw = _raw(spark, table, rows, schema)
    _refuse_columns(table, raw.columns, schema.names)
    kinds = {column.name: column.dataType.simpleString() for column in raw.schema}
    exact, checks, uuids = [], {}, _uuids(spark, table)
    for column in schema:
        kind, target = kinds[column.name], column.dataType.simpleString()
        value, intact = _converted(table, column.name, kind, target)
        if column.name in uuids:  # what is read back is in lower case
            value, intact = F.lower(value), value.isNull() | value.rlike(UUID)
        if target == "timestamp" and kind in ("string", "timestamp_ntz"):
            intact = times.one_moment(spark, table, column.name, kind, intact, answer.local_zone)
        if not column.nullable:
            intact = value.isNotNull() if intact is None else intact & value.isNotNull()
        exact.append(value.alias(column.name))
        if intact is not None:
            checks[column.name] = intact
    if not checks and raw is not rows:  # Arrow rows stay the same, and are read as fast as cached ones
        return raw.select(*exact)
    if checks:
        whole = _free("_intact", schema.names)
        exact.append(reduce(and_, checks.values()).alias(whole))
    cached = raw.select(*exact).cache()
    open_frames.callback(cached.unpersist)
    if not checks:
        return cached
    if cached.where(~F.col(whole)).limit(1).count():
        types = {column.name: column.dataType.simpleString() for column in schema} | dict.fromkeys(uuids, "uuid")
        _refuse_changed(table, raw, checks, kinds, types)
        raise AnswerRefused(
            f"the rows of the answer for {table} changed while they were read: give rows that stay the same"
        )
    return cached.drop(whole)


def _uuids(spark: SparkSession, table: str) -> set[str]:
    """Return the columns that are UUIDs, which Spark has as texts."""
    columns = commits.columns_of(commits.load(spark, table, fresh=False))
    return {name for name, (_, kind) in columns.items() if kind == "uuid"}


def _free(name: str, names: Sequence[str]) -> str:
    """Return a name that no column has."""
    taken = {known.lower() for known in names}
    while name.lower() in taken:
        name += "_"
    return name


def _raw(spark: SparkSession, table: str, rows: Any, schema: StructType) -> DataFrame:
    import pyarrow as pa

    if hasattr(rows, "writeTo"):
        return rows
    if isinstance(rows, list | tuple):
        if not rows:
            return spark.createDataFrame([], schema)
        rows = _arrow(table, rows)
    if not isinstance(rows, pa.Table):
        raise AnswerRefused(
            f"the answer for {table} is {type(rows).__name__}, expected an Arrow table, a DataFrame of Spark or a "
            "list of dicts"
        )
    twice = sorted({name for name in rows.column_names if rows.column_names.count(name) > 1})
    if twice:
        raise AnswerRefused(f"the answer for {table} has the column {twice[0]} twice")
    if empty := [column.name for column in rows.schema if pa.types.is_null(column.type)]:
        texts = [
            pa.field(column.name, pa.string() if column.name in empty else column.type) for column in rows.schema
        ]
        rows = rows.cast(pa.schema(texts))
    rows = times.without_nanoseconds(table, rows)
    try:
        return _frame_of(spark, rows, schema)
    except (ValueError, TypeError) as error:  # what Spark has no type for
        kinds = ", ".join(f"{column.name} {column.type}" for column in rows.schema)
        raise AnswerRefused(f"the answer for {table} cannot be rows of Spark: {error}; it has {kinds}") from error


def _frame_of(spark: SparkSession, rows: Any, schema: StructType) -> DataFrame:
    if int(spark.version.split(".")[0]) >= 4:
        with sessions.configured(spark, AS_PARTITIONS):
            return spark.createDataFrame(_typed(rows, schema))
    from pyspark.sql.pandas.types import from_arrow_schema

    kinds = from_arrow_schema(rows.schema, prefer_timestamp_ntz=True)
    return spark.createDataFrame([tuple(row.values()) for row in rows.to_pylist()], kinds)


def _typed(rows: Any, schema: StructType) -> Any:
    """Return an Arrow table with texts as the table's numbers, where each text is a number's digits.

    Arrow converts a hundred times as fast as Spark. All other texts are left to Spark.
    """
    import pyarrow as pa
    import pyarrow.compute as pc
    from pyspark.sql.pandas.types import to_arrow_type

    for column in schema:
        at = rows.schema.get_field_index(column.name)
        kind = column.dataType.simpleString()
        if at < 0 or not pa.types.is_string(rows.schema.field(at).type):
            continue
        if not (written := INTEGER if kind in WHOLE else DIGITS if kind.startswith("decimal") else ""):
            continue
        if pc.all(pc.match_substring_regex(rows[at], written)).as_py() is False:
            continue
        try:
            rows = rows.set_column(at, column.name, rows[at].cast(to_arrow_type(column.dataType)))
        except pa.ArrowInvalid:  # too large, or more digits than the column has
            continue
    return rows


def _arrow(table: str, rows: Sequence[Any]) -> Any:
    """Return dicts as an Arrow table; one with other keys than the first would lose values without a word."""
    import pyarrow as pa

    first = rows[0]
    for number, row in enumerate(rows, 1):
        if not isinstance(row, Mapping):
            raise AnswerRefused(f"row {number} of the answer for {table} is {row!r}, expected a dict"[:300])
        if row.keys() != first.keys():
            odd = sorted(map(str, row.keys() ^ first.keys()))[0]
            raise AnswerRefused(
                f"row {number} of the answer for {table} and row 1 differ in the key {odd}; each row must have all"
            )
    for name in first:
        if len(kinds := _kinds([row[name] for row in rows])) > 1:
            raise AnswerRefused(f"the answer for {table} has {' and '.join(sorted(kinds))} in the column {name}")
    try:
        return pa.Table.from_pylist(list(rows))
    except (ValueError, TypeError, OverflowError) as error:  # Arrow's own among them
        raise AnswerRefused(f"the answer for {table} cannot be a table: {_odd_column(rows)}{error}") from error


def _odd_column(rows: Sequence[Mapping[str, Any]]) -> str:
    """Return the beginning of a sentence: which column Arrow cannot have, and the types in it."""
    import pyarrow as pa

    for name in rows[0]:
        try:
            pa.array([row[name] for row in rows])
        except (ValueError, TypeError, OverflowError):
            types = sorted({type(row[name]).__name__ for row in rows})
            return f"the column {name} has values of {', '.join(types)}: "
    return ""


def _kinds(values: Sequence[Any]) -> set[str]:
    """Return the kinds of values, of those that Arrow turns into one another."""
    times = [value for value in values if isinstance(value, datetime)]
    kinds = {f"times {'with' if time.tzinfo else 'without'} a zone" for time in times}
    types = [kind for kind in set(map(type, values)) if not issubclass(kind, datetime)]
    words = {date: "dates", str: "texts", bytes: "bytes"}
    return kinds | {word for kind, word in words.items() if any(issubclass(other, kind) for other in types)}


def _refuse_columns(table: str, given: Iterable[str], expected: Sequence[str]) -> None:
    given = list(given)
    if missing := [name for name in expected if name not in given]:
        raise AnswerRefused(
            f"the answer for {table} lacks the column {missing[0]}; it has {', '.join(given) or 'none'}"
        )
    if other := [name for name in given if name not in expected]:
        raise AnswerRefused(
            f"the answer has the column {other[0]}, and {table} has not: it has {', '.join(expected)}"
        )


def _converted(table: str, name: str, kind: str, target: str) -> tuple[Column, Column | None]:
    """Return a column in the table's type, and whether each value is intact; None where all are."""
    from pyspark.sql import functions as F

    column = F.col(identifiers.column(name))
    if kind == target:
        return column, None
    quoted = identifiers.in_sql(name)
    value = F.expr(f"try_cast({quoted} AS {target})")
    if kind in WHOLE and target in WHOLE and WHOLE[kind] <= WHOLE[target]:
        return value, None
    if target.startswith("decimal") and (kind in WHOLE or kind.startswith("decimal")):
        # back in the type of the answer: the type that both have in common may have lost digits of either
        same = F.expr(f"try_cast(try_cast({quoted} AS {target}) AS {kind}) = {quoted}")
    elif target.startswith("decimal") and kind in ("string", "double", "float"):
        # the shortest text of a double is what its source meant; its binary value is another number
        text = quoted if kind == "string" else f"CAST({quoted} AS string)"
        value = F.expr(f"try_cast({text} AS {target})")
        same = value.isNotNull() & _digits_fit(F.expr(text), int(target.rstrip(")").rpartition(",")[2]))
    elif target in WHOLE and kind in ("double", "float"):
        same = F.expr(f"CAST(try_cast({quoted} AS {target}) AS {kind}) = {quoted}")
    elif target in WHOLE and (kind == "string" or kind in WHOLE or kind.startswith("decimal")):
        exact = quoted if kind.startswith("decimal") else f"try_cast({quoted} AS {EXACT})"
        same = F.expr(f"{exact} = try_cast({quoted} AS {target})")
    elif kind == "string" and target in ("double", "float"):
        same = value.isNotNull() & _is_double(column, value)
    elif kind == "string" and target in MOMENTS:
        same = value.isNotNull() & column.rlike(MOMENTS[target])
    elif kind in WHOLE and target == "double":
        same = F.expr(f"try_cast(try_cast({quoted} AS double) AS {kind}) = {quoted}")
    elif kind == "string" or (kind, target) == ("float", "double"):
        same = value.isNotNull()
    elif target == "timestamp" and kind == "timestamp_ntz":
        return value, None
    else:
        raise AnswerRefused(
            f"{name} of the answer is {kind}, and {table} has {target}: convert it in the function"
        )
    return value, column.isNull() | F.coalesce(same, F.lit(False))


def _digits_fit(text: Column, scale: int) -> Column:
    """Say whether a text is a number that has no more digits behind the point than a scale."""
    from pyspark.sql import functions as F

    fraction = F.regexp_extract(text, r"\.([0-9]*?)0*([eE].*)?\s*$", 1)
    power = F.regexp_extract(text, r"[eE]([+-]?[0-9]{1,4})\s*$", 1)
    exponent = F.coalesce(releases.try_cast(power, "int"), F.lit(0))
    return text.rlike(NUMBER) & (F.length(fraction) - exponent <= scale)


def _is_double(text: Column, value: Column) -> Column:
    """Say whether a text is a number, and a double holds it: neither beyond all doubles nor another whole one."""
    from pyspark.sql import functions as F

    whole = text.rlike(r"^\s*[+-]?[0-9]+\s*$")
    same = releases.try_cast(value, "decimal(38,0)") == releases.try_cast(text, "decimal(38,0)")
    lost = (value == 0) & F.regexp_extract(text, "^[^eE]*", 0).rlike("[1-9]")
    bounded = F.abs(value) < F.lit(float("inf"))
    number = text.rlike(NUMBER) & bounded & ~lost & (~whole | F.coalesce(same, F.lit(False)))
    return text.rlike(UNBOUNDED) | number


def _refuse_changed(
    table: str, raw: DataFrame, checks: Mapping[str, Column], kinds: Mapping[str, str], types: Mapping[str, str]
) -> None:
    """Refuse values that the table's types cannot hold as they are."""
    from pyspark.sql import functions as F

    names = list(checks)
    counts = raw.agg(*[F.count_if(~checks[name]).alias(f"_{n}") for n, name in enumerate(names)]).collect()[0]
    for number, name in enumerate(names):
        if counts[number]:
            bad = raw.where(~checks[name]).select(identifiers.column(name)).limit(_FEW).collect()
            raise AnswerRefused(
                f"{counts[number]:,} values of {name} ({kinds[name]}) cannot be {types[name]} of "
                f"{table} unchanged, for example {', '.join(repr(row[0]) for row in bad)}; nothing was committed"
            )
