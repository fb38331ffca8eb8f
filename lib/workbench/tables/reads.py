"""What a query opens and reads: counted from its plan and from what the table knows of its files, not guessed."""

import re
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from workbench._base import nested
from workbench._base.door import checked
from workbench._base.errors import ArgumentError
from workbench._base.typing import DataFrame, Java, Row, SparkSession, jvm

_COMMANDS = [f"org.apache.spark.sql.catalyst.plans.logical.{name}" for name in ("Command", "Call")]


@dataclass(frozen=True)
class Read:
    """What one query opened and read.

    Attributes:
        data_files: data files that its scans open, each once; 0 where Iceberg answers from metadata alone.
        delete_files: delete files that it opens with them.
        bytes: of those data files: the columns that it needs, and what is not a column, as the footer. The table's
            metadata, which planning reads, is not among them.
        delete_bytes: of the delete files, which are read whole.
        seconds: from the text to the last row.
        answer: its rows.
    """

    data_files: int
    delete_files: int
    bytes: int
    delete_bytes: int
    seconds: float
    answer: list[Row]


@checked
def counted(spark: SparkSession, query: str) -> Read:
    """Run a query and count what it opened and read.

    Args:
        spark: classic session.
        query: SQL text over Iceberg tables.

    Returns:
        Read. Its bytes are an upper bound where a reader skips row groups inside of a file.

    Raises:
        ValueError: the query reads something other than Iceberg tables.
    """
    begin = time.perf_counter()
    df = spark.sql(query)
    answer = df.collect()
    seconds = time.perf_counter() - begin
    data, deletes, size = opened(spark, df)
    return Read(len(data), len(deletes), size, sum(deletes.values()), seconds, answer)


@checked
def analysed(spark: SparkSession, query: str) -> Java:
    """Return Spark's analysed plan of a query, as its Java object; nothing runs.

    `spark.sql` would run a command at once: a look at the text of a DELETE would delete.

    Args:
        spark: classic session.
        query: SQL text.

    Raises:
        ValueError: it cannot be analysed, or is a command (a write, `CALL`, `SET`, …).
    """
    from py4j.java_gateway import is_instance_of

    state = spark._jsparkSession.sessionState()
    skip = jvm(spark).org.apache.spark.sql.execution.CommandExecutionMode.SKIP()
    steps = (state.sqlParser().parsePlan, lambda parsed: state.executePlan(parsed, skip).analyzed())
    plan = query
    for step in steps:
        try:
            plan = step(plan)
        except Exception as error:
            raise ArgumentError(f"cannot be analysed: {str(error).strip().splitlines()[0]}") from error
        for node in nodes(plan):  # before the analysis too, which runs a CALL
            if any(is_instance_of(spark.sparkContext._gateway, node, command) for command in _COMMANDS):
                raise ArgumentError(f"is a command and not a query: {node.nodeName()}")
    return plan


def nodes(plan: Java) -> Iterator[Java]:
    """Yield the nodes of a plan's Java object, the topmost first."""
    yield plan
    children = plan.children()
    for n in range(children.size()):
        yield from nodes(children.apply(n))


@checked
def opened(spark: SparkSession, df: DataFrame) -> tuple[set[str], dict[str, int], int]:
    """Return what Spark's plan of a query opens; the query does not run.

    Args:
        spark: classic session.
        df: DataFrame over Iceberg tables.

    Returns:
        (set of data files' locations, {delete file: bytes}, bytes of the data files' columns that it needs).

    Raises:
        ValueError: the query reads something other than Iceberg tables.
    """
    data, deletes, size = set(), {}, 0
    for scan in _scans(df):
        here = set()
        for task in tasks(scan):
            here.add(task.file().location())
            attached = task.deletes()  # a loop over it would end by an exception, which costs Py4J a hundred calls
            for delete in (attached.get(n) for n in range(attached.size())):
                deletes[delete.location()] = delete.fileSizeInBytes()
        data |= here
        size += _bytes(spark, scan, here) if here else 0
    return data, deletes, size


@checked
def files(df: DataFrame) -> set[str]:
    """Return the locations of the data files that Spark's plan of a query reads; the query does not run.

    Raises:
        ValueError: it reads something other than Iceberg tables.
    """
    return {task.file().location() for scan in _scans(df) for task in tasks(scan)}


@checked
def digest(df: DataFrame) -> tuple[Any, ...]:
    """Return what tells one answer from another; the query runs.

    Args:
        df: DataFrame, also one whose columns have the same name.

    Returns:
        (count of the rows, sum of their hashes; None without rows): duplicates count, order does not, floats that
        are columns to ten digits.
    """
    from pyspark.sql import functions as F

    named = df.toDF(*[f"c{n}" for n in range(len(df.columns))])
    columns = [
        F.format_string("%.9e", F.col(name).cast("double")) if kind in ("float", "double")
        else F.to_json(F.struct(name), nested.AS_JSON) if re.search(r"map<|variant", kind) else F.col(name)
        for name, kind in named.dtypes
    ]  # fmt: skip
    nulls = [
        F.isnull(name) for name in named.columns
    ]  # over which Spark's hash passes: (null, 5) is not (5, null)
    row = named.agg(F.count("*"), F.sum(F.xxhash64(*columns, *nulls).cast("decimal(38,0)"))).collect()[0]
    return tuple(row)


def _scans(df: DataFrame) -> Iterator[Java]:
    """Yield the scans of a frame's plan that open files."""
    leaves = df._jdf.queryExecution().sparkPlan().collectLeaves()
    for leaf in (leaves.apply(i) for i in range(leaves.size())):
        kind = leaf.getClass().getSimpleName()
        if kind == "LocalTableScanExec":  # answered from metadata
            continue
        if kind != "BatchScanExec" or "org.apache.iceberg" not in leaf.scan().getClass().getName():
            raise ArgumentError(
                f"files are counted of Iceberg tables only; this query has a {kind.removesuffix('Exec')}"
            )
        yield leaf


def tasks(scan: Java) -> Iterator[Java]:
    """Yield Iceberg's tasks of a scan as it was planned."""
    parts = scan.inputPartitions()
    for part in (parts.apply(i) for i in range(parts.size())):
        each = part.taskGroup().tasks().iterator()
        while each.hasNext():
            yield each.next()


def _bytes(spark: SparkSession, scan: Java, opened: set[str]) -> int:
    """Return the bytes of files that a scan needs, by the sizes of columns that its table keeps of each file."""
    output, schema = scan.output(), scan.table().table().schema()
    fields = [schema.findField(output.apply(n).name()) for n in range(output.size())]
    needed = {field.fieldId() for field in fields if field is not None}
    known = _all_data_files(spark, scan.table().table())
    rows = known.selectExpr("file_path", "file_size_in_bytes AS size", "column_sizes").collect()
    sizes = {
        row.file_path: row.size - sum(size for field, size in row.column_sizes.items() if field not in needed)
        for row in rows
    }
    return sum(sizes[location] for location in opened)


def _all_data_files(spark: SparkSession, loaded: Java) -> DataFrame:
    """Return the data files of all snapshots, for a query may have asked for an older one.

    By the table's handle: Iceberg joins the parts of a name by dots, and does not quote what has to be.
    """
    from pyspark.sql import DataFrame

    iceberg = jvm(spark).org.apache.iceberg
    kind = iceberg.MetadataTableType.ALL_DATA_FILES
    return DataFrame(iceberg.spark.SparkTableUtil.loadMetadataTable(spark._jsparkSession, loaded, kind), spark)
