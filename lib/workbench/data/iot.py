"""Employees' readings as the IoT stream of the walkthrough on auto compaction sends them, and its four queries.

The walkthrough (aws.amazon.com/blogs/big-data/accelerate-queries-on-apache-iceberg-tables-through-aws-glue-auto-
compaction) writes one stream into two tables and lets a service compact one of them. Here the files are planted:
every micro-batch writes one in each partition that it has rows of.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Annotated

from workbench._base import identifiers
from workbench._base.bounds import Ge, Le
from workbench._base.door import checked
from workbench._base.errors import ArgumentError
from workbench._base.typing import DataFrame, SparkSession

SCHEMA = "employee_id BIGINT, age INT, start_date TIMESTAMP, team STRING, role STRING, address STRING, name STRING"
BUCKETS = 7  # the walkthrough's table has 42, and hundreds of thousands of times as many rows
PARTITIONED = ("hours(start_date)", "team", f"bucket({BUCKETS}, employee_id) AS employee_id_bucket")
# of the walkthrough's table, the format said because a default may change
PROPERTIES = MappingProxyType(
    {
        "format-version": "2",
        "write.delete.mode": "merge-on-read",
        "write.update.mode": "merge-on-read",
        "write.merge.mode": "merge-on-read",
        "write.distribution-mode": "none",
        "write.spark.fanout.enabled": "true",
        "commit.retry.num-retries": "20",
        "commit.retry.min-wait-ms": "250",
        "commit.retry.max-wait-ms": "60000",
    }
)
MIDNIGHT = 1_767_312_000  # 2026-01-02 00:00 UTC: the readings are of the hour before it and the hour after
HOURS, HOUR = 2, 3600
LATE_ONE_IN, TWICE_ONE_IN = 1_000, 500
# Published: query to seconds and GB scanned, without and with compaction; the GB stand there for three of them.
SECONDS = MappingProxyType(
    {"count": (67.59, 3.85), "youngest": (72.02, 50.43), "average": (74.14, 37.77), "newest": (70.34, 37.12)}
)
SECONDS_WITH_DELETES = MappingProxyType(
    {"count": (29.82, 8.71), "youngest": (58.06, 34.13), "average": (59.21, 31.85), "newest": (68.47, 33.17)}
)
GB, GB_WITH_DELETES = (
    ((33.72, 32.96), (17.24, 16.59), (105.74, 110.32)),
    ((33.27, 19.13), (16.75, 9.73), (112.64, 61.18)),
)


@dataclass(frozen=True)
class Readings:
    """Readings and the truth about them.

    Attributes:
        frame: columns of SCHEMA; each of its partitions is one micro-batch of the stream. Lazy.
        rows: how many, those that were sent twice counted twice.
        late: how many came an hour late.
        batches: how many micro-batches.
    """

    frame: DataFrame
    rows: int
    late: int
    batches: int


@checked
def made(
    spark: SparkSession,
    *,
    rows: Annotated[int, Ge(1)] = 100_000,
    files: Annotated[int, Ge(BUCKETS)] = 420,
    seed: Annotated[int, Ge(0), Le(2**63 - 1)] = 1,
) -> Readings:
    """Make the readings of two hours around midnight, in the order of time, cut into micro-batches.

    A reading is a function of its number and the seed. One in 1,000 came an hour late: it is in a micro-batch of
    readings an hour younger. One in 500 was sent twice. The published code says one in 1,000 and one in 500 too,
    its comments say far fewer.

    Args:
        spark: any session; times are written in its time zone.
        rows: readings, without those that come a second time.
        files: data files that they are to make, a multiple of what a micro-batch writes, BUCKETS; late readings
            make some more.
        seed: any integer.

    Returns:
        Readings.

    Raises:
        ValueError: an argument is invalid.
    """
    if files % BUCKETS:
        raise ArgumentError(f"files must be a multiple of {BUCKETS}, what a micro-batch writes, found {files}")
    batches = files // BUCKETS
    # a range in so many slices: each is a task of its own, and so a file in each partition of the table
    numbers = spark.range(0, rows, 1, batches)
    return Readings(
        frame=numbers.selectExpr("id", _copies(seed)).selectExpr(*columns(seed, rows)),
        rows=rows + len(range((seed + 1) % TWICE_ONE_IN, rows, TWICE_ONE_IN)),
        late=len(range(seed % LATE_ONE_IN, rows, LATE_ONE_IN)),
        batches=batches,
    )


def columns(seed: int, rows: int) -> tuple[str, ...]:
    """Return the SQL expressions that make SCHEMA's columns of a frame that has a number, `id`."""
    late = f"if(id % {LATE_ONE_IN} = {seed % LATE_ONE_IN}, {HOUR}, 0)"
    at = f"{MIDNIGHT - HOUR * HOURS // 2} + id * {HOUR * HOURS} DIV {rows} - {late}"

    def drawn(what: str, of: int) -> str:
        return f"pmod(xxhash64(id, {seed}L, '{what}'), {of}L)"

    return (
        f"{drawn('employee', 100_000)} AS employee_id",
        f"CAST({drawn('age', 99)} AS INT) AS age",
        f"timestamp_seconds({at}) AS start_date",
        "'Solutions Architects' AS team",
        "'ARCHITECT' AS role",
        "'Australia' AS address",
        f"concat('Dummy', {drawn('name', 100)}) AS name",
    )


@checked
def queries(table: str, *, after: str = "2026-01-02 00:00:00") -> dict[str, str]:
    """Return the walkthrough's four queries of a table: name to SQL.

    Args:
        table: its name.
        after: the last one asks for readings behind this time; the walkthrough says a day.
    """
    table = identifiers.shown(table)
    newest = "start_date DESC, employee_id, age, name"  # the walkthrough's first column alone leaves ties open
    return {
        "count": f"SELECT count(*) FROM {table}",
        "youngest": f"SELECT team, name, min(age) FROM {table} GROUP BY team, name",
        "average": f"SELECT role, team, avg(age) FROM {table} GROUP BY role, team",
        "newest": (
            f"SELECT * FROM {table} WHERE start_date > TIMESTAMP'{after}' AND age > 40 ORDER BY {newest} LIMIT 100"
        ),
    }


@checked
def create(spark: SparkSession, table: str, *, properties: Mapping[str, str] = PROPERTIES) -> None:
    """Create the walkthrough's table; one that is there is dropped with its files."""
    table = identifiers.quoted(table)
    listed = ", ".join(f"'{name}' = '{value}'" for name, value in properties.items())
    spark.sql(f"DROP TABLE IF EXISTS {table} PURGE")
    spark.sql(f"CREATE TABLE {table} ({SCHEMA}) USING iceberg TBLPROPERTIES ({listed})")
    for field in PARTITIONED:  # not with the table: some REST catalogs refuse its first column there
        spark.sql(f"ALTER TABLE {table} ADD PARTITION FIELD {field}")


def _copies(seed: int) -> str:
    # the next number, so that none is both late and there twice
    again = f"if(id % {TWICE_ONE_IN} = {(seed + 1) % TWICE_ONE_IN}, 2, 1)"
    return f"explode(array_repeat(0, {again})) AS copy"
