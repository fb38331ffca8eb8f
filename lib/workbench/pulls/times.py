"""Times of an answer, of which Spark would make others without a word: between microseconds, or without a zone."""

import re
from typing import Any

from workbench._base import identifiers
from workbench._base.typing import Column, SparkSession
from workbench.pulls.errors import AnswerRefused

_UTC = ("UTC", "GMT", "UCT", "Universal", "Zulu", "Z")
UTC_NAMES = {*_UTC, *(f"Etc/{name}" for name in _UTC), "+00:00"}
OFFSET = re.compile(r"(UTC|GMT|Etc/GMT)?[+-]\d{1,2}(:?\d{2})?")


def without_nanoseconds(table: str, rows: Any) -> Any:
    """Return times by the microsecond, as Spark has them; refuse one that is between two of them."""
    import pyarrow as pa

    for at, column in enumerate(rows.schema):
        if pa.types.is_timestamp(column.type) and column.type.unit == "ns":
            try:
                exact = rows[at].cast(pa.timestamp("us", column.type.tz))
            except pa.ArrowInvalid as error:
                raise AnswerRefused(
                    f"{column.name} of the answer for {table} has nanoseconds, and Spark's times have "
                    f"microseconds: {error}"
                ) from error
            rows = rows.set_column(at, column.name, exact)
    return rows


def one_moment(
    spark: SparkSession, table: str, name: str, kind: str, intact: Column | None, local_zone: str
) -> Column | None:
    """Return whether a value without a zone is one moment, beside whether it is intact.

    An hour of a year is there twice, and another one not at all, in a zone that has summer time.

    Raises:
        AnswerRefused: the values are of another zone than the session.
    """
    from pyspark.sql import functions as F

    zone = str(spark.conf.get("spark.sql.session.timeZone"))
    same = not local_zone or local_zone == zone or {local_zone, zone} <= UTC_NAMES
    if kind == "timestamp_ntz" and not same:
        raise AnswerRefused(
            f"{name} of the answer has times of {local_zone}, and {table} has moments, by the session's zone, "
            f"{zone}: make the column TIMESTAMP_NTZ, or give the session that zone"
        )
    if zone in UTC_NAMES or OFFSET.fullmatch(zone):
        return intact
    quoted = identifiers.in_sql(name)
    moment, local = f"try_cast({quoted} AS timestamp)", f"try_cast({quoted} AS timestamp_ntz)"
    once = F.expr(f"CAST({moment} AS timestamp_ntz) = {local}")
    for minutes in (30, 60, 120):  # by which clocks are set back
        for sign in "+-":
            beside = f"CAST({moment} {sign} INTERVAL {minutes} MINUTES AS timestamp_ntz)"
            once &= F.expr(f"{beside} <> {local}")
    if kind == "string":
        once |= F.col(identifiers.column(name)).rlike(r"(Z|UTC|[ T][0-9:.]+ ?[+-][0-9]{2}:?[0-9]{2})\s*$")
    once = F.expr(f"{quoted} IS NULL") | F.coalesce(once, F.lit(False))
    return once if intact is None else intact & once
