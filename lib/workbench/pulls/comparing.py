"""Rows of days as digests, and what is added, changed and removed between two sets of rows."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from functools import reduce
from operator import or_
from typing import Any

from workbench._base import identifiers, nested
from workbench._base.typing import Column, DataFrame
from workbench.pulls.errors import AnswerRefused

EMPTY = "0:0:0"
PARTS = ("_first_high", "_first_low", "_second_high", "_second_low")  # halves of the two hashes of a row
_LOW = (1 << 32) - 1
_COMPLEX = ("array", "map", "struct", "variant")
WHOLE = date(1970, 1, 1)  # stands for the day of a source that has none


@dataclass(frozen=True)
class Difference:
    """What the rows of a day are, compared with what they were.

    Attributes:
        added: rows whose key was not there.
        changed: keys whose rows have other values.
        removed: rows that are gone: of a key that is gone, and those of a key that had several.
        digest: of the rows that were there.
        before: how many were there.
    """

    added: int = 0
    changed: int = 0
    removed: int = 0
    digest: str = EMPTY
    before: int = 0


def digests(rows: DataFrame, key: Sequence[str], day: str | None) -> dict[date, str]:
    """Return the digest of each day that has rows; equal ones mean equal rows, in any order.

    Raises:
        AnswerRefused: two rows of a day have one key, or a row has no day or no key.
    """
    from pyspark.sql import functions as F

    names = [*([day] if day else []), *key]
    lacking = " OR ".join(f"{identifiers.in_sql(name)} IS NULL" for name in names)
    by_key = rows.groupBy(_day(day), *_keys(key))
    parts = _parts(rows)
    of_keys = by_key.agg(
        F.count("*").alias("_rows"), F.max(F.expr(lacking)).alias("_lacking"),
        *[F.sum(part).alias(name) for name, part in parts.items()],
    )  # fmt: skip
    of_days = of_keys.groupBy("_day").agg(
        F.sum("_rows"), F.max("_rows"), F.max("_lacking"), *[F.sum(name) for name in parts]
    )
    result = {}
    for at, count, most, without, *sums in of_days.collect():
        if without:
            row = rows.where(F.expr(lacking)).limit(1).collect()[0]
            empty = next(name for name in names if row[name] is None)
            raise AnswerRefused(f"a row of the answer has no {empty}: {_shown(row)}; nothing was committed")
        if most > 1:
            row = of_keys.where("_rows > 1").limit(1).collect()[0]
            values = ", ".join(f"{name} {row[f'_k{n}']!r}" for n, name in enumerate(key))
            where = f"of {at} " if day else ""
            raise AnswerRefused(
                f"{row['_rows']} rows {where}have one key, {values}: key must tell rows apart; nothing was "
                "committed"
            )
        result[at] = _digest(count, sums)
    return result


def sums(rows: DataFrame, day: str | None) -> dict[date, str]:
    """Return the digest of each day that has rows, of keys that are known to tell them apart."""
    from pyspark.sql import functions as F

    of_days = rows.groupBy(_day(day)).agg(F.count("*"), *[F.sum(part) for part in _parts(rows).values()])
    return {at: _digest(count, totals) for at, count, *totals in of_days.collect()}


def compare(old: DataFrame, new: DataFrame, key: Sequence[str], day: str | None) -> dict[date, Difference]:
    """Return what differs between two sets of rows, by day."""
    from pyspark.sql import functions as F

    sides = []
    for number, rows in enumerate((old, new)):
        parts = [part.alias(name) for name, part in _parts(rows).items()]
        sides.append(rows.select(_day(day), *_keys(key), F.lit(number).alias("_new"), *parts))
    both = sides[0].unionByName(sides[1]).groupBy("_day", *[f"_k{n}" for n in range(len(key))])
    was, now = F.col("_new") == 0, F.col("_new") == 1

    def total(side: Column, name: str) -> Column:
        return F.sum(F.when(side, F.col(name)).otherwise(F.lit(0)))

    others = [total(was, name) != total(now, name) for name in PARTS]
    keyed = both.agg(
        F.count_if(was).alias("_was"), F.count_if(now).alias("_now"), reduce(or_, others).alias("_other"),
        *[total(was, name).alias(name) for name in PARTS],
    )  # fmt: skip
    kept = (F.col("_now") > 0) & (F.col("_was") > 0)
    other = F.col("_other") | (F.col("_was") != F.col("_now"))
    days = keyed.groupBy("_day").agg(
        F.count_if(F.col("_was") == 0), F.count_if(kept & other),
        F.sum(F.greatest(F.col("_was") - F.col("_now"), F.lit(0))),
        F.sum("_was"), *[F.sum(name) for name in PARTS],
    )  # fmt: skip
    return {
        at: Difference(added, changed, removed, _digest(before, sums), before)
        for at, added, changed, removed, before, *sums in days.collect()
    }


def added(digest: str) -> Difference:
    """Return what differs where there were no rows, by the digest of those that there are."""
    return Difference(added=int(digest.partition(":")[0]))


def differing(known: Mapping[str, str], seen: Mapping[date, str], days: Collection[date]) -> list[date]:
    """Return the days whose digest is not the known one."""
    return [day for day in sorted(days) if known.get(day.isoformat()) != seen.get(day, EMPTY)]


def _day(day: str | None) -> Column:
    from pyspark.sql import functions as F

    return (F.col(identifiers.column(day)) if day else F.lit(WHOLE)).alias("_day")


def _keys(key: Sequence[str]) -> list[Column]:
    from pyspark.sql import functions as F

    return [F.col(identifiers.column(name)).alias(f"_k{n}") for n, name in enumerate(key)]


def _parts(rows: DataFrame) -> dict[str, Column]:
    """Return the halves of two hashes of a row, by name; sums of them over rows tell sets of rows apart.

    Halves, because a sum of whole hashes needs decimals, which are several times as slow as whole numbers.
    Spark's hash passes over nulls, so that each value goes in with whether it is one. What it cannot hash, maps
    for example, goes in as JSON.
    """
    from pyspark.sql import functions as F

    values: list[Column] = []
    for field in rows.schema:
        column = F.col(identifiers.column(field.name))
        if field.dataType.typeName() in _COMPLEX:
            value = F.to_json(_as_entries(column, field.dataType), nested.AS_JSON)
        else:
            value = column
        values += [column.isNull(), value]
    halves = []
    for hashed in (F.xxhash64(*values), F.xxhash64(F.lit("second"), *values)):
        halves += [F.shiftright(hashed, 32), hashed.bitwiseAND(F.lit(_LOW))]
    return dict(zip(PARTS, halves, strict=True))


def _as_entries(value: Column, kind: Any) -> Column:
    """Return a value whose maps are arrays of entries, where a key has no text of its own in JSON."""
    from pyspark.sql import functions as F

    name = kind.typeName()
    if not _keys_without_text(kind):
        return value
    if name == "array":
        return F.transform(value, lambda element: _as_entries(element, kind.elementType))
    if name == "struct":
        fields = [_as_entries(value[field.name], field.dataType).alias(field.name) for field in kind]
        return F.when(value.isNotNull(), F.struct(*fields))
    return F.transform(
        F.map_entries(value),
        lambda entry: F.struct(
            _as_entries(entry["key"], kind.keyType).alias("key"),
            _as_entries(entry["value"], kind.valueType).alias("value"),
        ),
    )


def _keys_without_text(kind: Any) -> bool:
    """Return whether a type has maps whose keys are bytes or nested: JSON has where they lie in memory."""
    name = kind.typeName()
    if name == "map":
        return kind.keyType.typeName() in ("binary", *_COMPLEX) or _keys_without_text(kind.valueType)
    if name == "array":
        return _keys_without_text(kind.elementType)
    return name == "struct" and any(_keys_without_text(field.dataType) for field in kind)


def _digest(count: int, sums: Sequence[int]) -> str:
    """Return the digest of rows, their number and the sums of their two hashes, by the sums of the halves."""
    first_high, first_low, second_high, second_low = sums
    return f"{count}:{(first_high << 32) + first_low}:{(second_high << 32) + second_low}"


def _shown(row: Any) -> str:
    text = ", ".join(f"{name} {value!r}" for name, value in row.asDict().items())
    return text if len(text) <= 200 else f"{text[:200]}…"
