"""What a run is to do: the Map's input, its files and limits, and the waves."""

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from datetime import datetime
from decimal import Decimal
from typing import Any

from workbench._base import identifiers
from workbench._base.errors import ArgumentError, WorkbenchError
from workbench._base.typing import DataFrame, SparkSession, StructType
from workbench.maps import files, lines, states, whole
from workbench.maps.definitions import Definition
from workbench.maps.expressions import MOST_BYTES, EvaluationError, Scope, Template
from workbench.maps.fields import KINDS
from workbench.maps.files import File
from workbench.maps.resources import Bound
from workbench.maps.states import About, Machine
from workbench.maps.work import Batches, Reader, Source, Work


class StatesFailed(WorkbenchError, RuntimeError):
    """The states before the Map failed, or did not lead to it; no item was run.

    Attributes:
        error: name of the error.
        cause: of the error.
    """

    def __init__(self, error: str, cause: str) -> None:
        super().__init__(f"the states before the Map failed: {error}: {cause}")
        self.error = error
        self.cause = cause


@dataclass(frozen=True)
class Limits:
    """What a Map's fields say, evaluated.

    Attributes:
        concurrency: children that run at once; 0 for no limit.
        most_items: that are run; None for all.
        tolerated_count: items that may fail; None where the field is not there.
        tolerated_percentage: of a hundred items that may fail, as a decimal's text; None where it is not there.
        batches: Batches; None where each item is a child.
    """

    concurrency: int
    most_items: int | None
    tolerated_count: int | None
    tolerated_percentage: str | None
    batches: Batches | None


@dataclass(frozen=True)
class Plan:
    """What a run is to do.

    Attributes:
        definition: Definition.
        about: the run.
        input: of the Map state.
        variables: that the states before it assigned.
        limits: Limits.
        files: File each, with their rows; after MaxItems no further ones.
        first: index of each file's first item.
        schema: of Parquet files; None for others.
        reader: Reader.
    """

    definition: Definition
    about: About
    input: Any
    variables: Mapping[str, Any]
    limits: Limits
    files: Sequence[File]
    first: Sequence[int]
    schema: StructType | None
    reader: Reader

    @property
    def items(self) -> int:
        """The items that are run."""
        return sum(file.rows for file in self.files)


def about(definition: Definition, run_id: str, started: str, table: str) -> About:
    """Return what the run's executions know of it; `table` stands for the run's table."""
    now = int(datetime.fromisoformat(started).timestamp() * 1000)
    return About(run_id, definition.name, started, now, table)


def entered(
    definition: Definition, known: About, value: Any, bound: Mapping[str, Any]
) -> tuple[Any, dict[str, Any]]:
    """Run the states before the Map; return its input and the variables.

    Raises:
        StatesFailed: one failed, or they ended without the Map.
    """
    machine = Machine(definition.machine, bound, known, until=definition.state)
    outcome, reached, variables = machine.before(value, known.run_id)
    if outcome.error is not None:
        raise StatesFailed(outcome.error, outcome.cause or "")
    if not reached:
        raise StatesFailed("States.Runtime", f"they ended without {definition.state}")
    return outcome.output, variables


def plan(
    spark: SparkSession,
    definition: Definition,
    known: About,
    value: Any,
    variables: Mapping[str, Any],
    buckets: Mapping[str, str],
) -> Plan:
    """Look at the files of a run and evaluate the Map's limits.

    Raises:
        ValueError: a file is missing, or of another format; a field gives a value that it may not have.
    """
    scope = _scope(definition, known, value, variables)
    reader = definition.map["ItemReader"]
    config = reader["ReaderConfig"]
    arguments = _value(reader["Arguments"], scope, "ItemReader.Arguments")
    for name in ("Bucket", "Key"):
        if not isinstance(arguments, dict) or not isinstance(arguments.get(name), str) or not arguments[name]:
            raise ArgumentError(
                f"ItemReader.Arguments gave {arguments!r}; expected a Bucket and a Key, both texts"
            )
    limits = _limits(definition, scope)
    listing = files.listed(
        spark, arguments["Bucket"], arguments["Key"], buckets, manifest="ManifestType" in config
    )
    sources = files.looked_at(spark, listing)
    how = Reader(
        config["InputType"], config.get("CSVHeaders"), lines.DELIMITERS[config.get("CSVDelimiter", "COMMA")]
    )
    schema = None
    if how.kind == "PARQUET":
        sources, schema = files.parquet(spark, sources)
    planned = Plan(definition, known, value, variables, limits, sources, (), schema, how)
    if how.kind != "PARQUET" and sources:
        sources = _counted(spark, planned)
    kept, first, total = [], [], 0
    for file in sources:
        rows = file.rows if limits.most_items is None else min(file.rows, limits.most_items - total)
        kept.append(replace(file, rows=rows))
        first.append(total)
        total += rows
    return replace(planned, files=kept, first=first)


def _counted(spark: SparkSession, planned: Plan) -> list[File]:
    """Return the files of lines with their items counted, by the same reader that will read them."""
    counter = _work(planned, {}, {}, 0, 1, None, output=False)
    frame = lines_of(spark, planned.files)
    with whole.files(spark), files.readable():
        rows = frame.mapInArrow(counter.counted, "_file string, rows bigint, unclosed bigint").collect()
    names = {files.path_of(file.uri): file.name for file in planned.files}
    for row in rows:
        if row["unclosed"] is not None:
            raise ArgumentError(
                f"{names[row['_file']]} cannot be read as CSV: the quote that line {row['unclosed']} opens is "
                "never closed. Write a quote within a field twice"
            )
    counts = {row["_file"]: row["rows"] for row in rows}
    if unread := [file.name for file in planned.files if file.bytes and files.path_of(file.uri) not in counts]:
        raise ArgumentError(f"{unread[0]} was not read: it was changed meanwhile, or Spark passes it over")
    return [replace(file, rows=counts.get(files.path_of(file.uri), 0)) for file in planned.files]


def waves(planned: Plan, done: int, wave_rows: int) -> list[range]:
    """Return the waves that are left: places of whole files that follow each other, of wave_rows items or more.

    Args:
        planned: Plan.
        done: files that are done.
        wave_rows: items after which a wave ends with its file.
    """
    ranges, begin, rows = [], done, 0
    for place in range(done, len(planned.files)):
        rows += planned.files[place].rows
        if rows >= wave_rows or (place + 1 == len(planned.files) and rows):
            ranges.append(range(begin, place + 1))
            begin, rows = place + 1, 0
    return ranges


def frame(
    spark: SparkSession, planned: Plan, places: Sequence[int], work: Work, schema: str, partitions: int | None
) -> DataFrame:
    """Return the rows of a wave, to be written within `settings`.

    Args:
        spark: session.
        planned: Plan.
        places: of the files.
        work: of the workers.
        schema: of the rows, as DDL.
        partitions: tasks at most; None for as many as there are.
    """
    chosen = [planned.files[place] for place in places]
    source = items_of(spark, planned, chosen) if planned.schema is not None else lines_of(spark, chosen)
    if partitions is not None:
        source = source.coalesce(partitions)
    return source.mapInArrow(work, schema)


def items_of(spark: SparkSession, planned: Plan, chosen: Sequence[File]) -> DataFrame:
    """Return the items of Parquet files: _file, _row, and item with the columns of the files."""
    from pyspark.sql import functions as F

    assert planned.schema is not None
    source = spark.read.schema(planned.schema).parquet(*(files.literal(file.location) for file in chosen))
    columns = [F.col(identifiers.column(field.name)) for field in planned.schema]
    path, row = F.col("_metadata.file_path"), F.col("_metadata.row_index")
    if planned.limits.batches is not None:
        path = whole.begun(path)
    return source.select(path.alias("_file"), row.alias("_row"), F.struct(*columns).alias("item"))


def lines_of(spark: SparkSession, chosen: Sequence[File]) -> DataFrame:
    """Return the lines of text files: _file, line; in order within a file, where files are read whole."""
    from pyspark.sql import functions as F

    source = spark.read.option("lineSep", "\n").text([files.literal(file.location) for file in chosen])
    path = whole.begun(F.col("_metadata.file_path"))
    return source.select(path.alias("_file"), F.col("value").cast("binary").alias("line"))


def _work(
    planned: Plan,
    sources: Mapping[str, Source],
    bound: Bound,
    redrive: int,
    threads: int,
    parser: Any,
    *,
    output: bool,
) -> Work:
    return Work(
        machine=planned.definition.child, state=planned.definition.state, bound=bound,
         about=planned.about, redrive=redrive, sources=sources,
        reader=planned.reader, selector=planned.definition.map.get("ItemSelector"), states_input=planned.input,
        variables=planned.variables, batches=planned.limits.batches, threads=threads, output=output, parser=parser,
    )  # fmt: skip


def work(
    planned: Plan,
    places: Sequence[int],
    bound: Bound,
    *,
    redrive: int,
    threads: int,
    parser: Any,
    output: bool,
    chosen: Mapping[str, frozenset[int]] | None = None,
) -> Work:
    """Return the work of a wave.

    Args:
        planned: Plan.
        places: of the wave's files.
        bound: name of a Task state to what it calls.
        redrive: its number.
        threads: children at once in a task.
        parser: of delivered records; None for none.
        output: whether outputs are kept.
        chosen: name of a file to the indexes that are run; None for all.
    """
    sources = {}
    for place in places:
        file = planned.files[place]
        own = None if chosen is None else chosen.get(file.name, frozenset())
        sources[files.path_of(file.uri)] = Source(file.name, planned.first[place], file.rows, own)
    return _work(planned, sources, bound, redrive, threads, parser, output=output)


def exceeded(failed: int, items: int, count: int | None, percentage: str | None) -> bool:
    """Say whether more items failed than are tolerated; where neither limit is given none may."""
    if count is None and percentage is None:
        return failed > 0
    over_count = count is not None and failed > count
    over_share = percentage is not None and failed * 100 > Decimal(percentage) * items
    return over_count or over_share


def _limits(definition: Definition, scope: Scope) -> Limits:
    flow, config = definition.map, definition.map["ItemReader"]["ReaderConfig"]
    batcher = flow.get("ItemBatcher")
    percentage = _field(flow, "ToleratedFailurePercentage", scope)
    batches = None
    if batcher is not None:
        most_items = _field(batcher, "MaxItemsPerBatch", scope)
        most_bytes = _field(batcher, "MaxInputBytesPerBatch", scope)
        given = _value(batcher["BatchInput"], scope, "ItemBatcher.BatchInput") if "BatchInput" in batcher else None
        batches = Batches(most_items or 100_000_000, most_bytes or MOST_BYTES, given)
    return Limits(
        _field(flow, "MaxConcurrency", scope) or 0, _field(config, "MaxItems", scope),
        _field(flow, "ToleratedFailureCount", scope), None if percentage is None else str(percentage), batches,
    )  # fmt: skip


def _field(fields: Mapping[str, Any], name: str, scope: Scope) -> Any:
    """Return the value of a field that may be an expression; None where it is not there."""
    if name not in fields:
        return None
    value = _value(fields[name], scope, name)
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if wrong := KINDS[name].wrong(value):
        raise ArgumentError(f"{name} {wrong}")
    return value


def _value(value: Any, scope: Scope, name: str) -> Any:
    try:
        return Template(value, (name,)).evaluate(scope)
    except EvaluationError as error:
        raise ArgumentError(str(error)) from None


def _scope(definition: Definition, known: About, value: Any, variables: Mapping[str, Any]) -> Scope:
    context = states.context(known, known.run_id, value, definition.state)
    bindings = {**variables, "states": {"input": value, "context": context}}
    return Scope(bindings, known.key(None, definition.state), known.now, wide=True)


def reading(spark: SparkSession, planned: Plan) -> AbstractContextManager[None]:
    """Return the context in which a wave is written: whole files a task, where order within a file counts."""
    if planned.schema is not None and planned.limits.batches is None:
        return whole.few_items(spark)
    return whole.files(spark)
