"""DQDL in plain Python, one row after another, without Spark: what rules ought to say of a small frame.

Written from the documentation, not from the library: it shares no code with it.
"""

import math
import re
from collections import Counter
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from fractions import Fraction

NOW = datetime(2024, 3, 10, 12, tzinfo=UTC)
MEETS = "Value: {} does not meet the constraint requirement!"
CASTS = {  # what Spark casts each text of the vocabulary to
    "": set(),
    " ": set(),
    "\t ": set(),
    "a": set(),
    "ab": set(),
    "a b": set(),
    "x'y": set(),
    'q"r': set(),
    "back\\slash": set(),
    "é𝔘": set(),
    "12": {"integer", "long", "double", "float", "date", "timestamp"} - {"date", "timestamp"},
    "-3.5": {"double", "float"},
    "3000000000": {"long", "double", "float"},
    "true": {"boolean"},
    "2024-03-09": {"date", "timestamp"},
}


@dataclass(frozen=True)
class Spec:
    """One rule as the test drew it; `operands` are Python values, `text` is the DQDL."""

    text: str
    type: str
    columns: tuple = ()
    operator: str = ""
    operands: tuple = ()
    where: object = None
    threshold: tuple = ()
    parts: tuple = ()


@dataclass
class Said:
    """What the oracle says: of the rule, and of each row (True, False, None for not asked, "none" for no row level)."""

    passed: bool
    reason: str | None = None
    metrics: dict = field(default_factory=dict)
    rows: list | None = None
    joins: bool = True
    whole: bool = True
    figures: list = field(default_factory=list)  # of the rules within: (rule, metric, value)


def shown(value):
    if value is None:
        return "NULL"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return value
    if isinstance(value, datetime):
        return value.strftime("%Y-%m-%d %H:%M:%S")
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    if isinstance(value, int | Decimal) and Fraction(repr(float(value))) != Fraction(value):
        return f"{value:f}" if isinstance(value, Decimal) else str(value)
    return str(float(value))


def compares(operator, value, operands):
    """A comparison of values that are all there and comparable."""
    if isinstance(value, float) and math.isnan(value):
        return False
    if operator == "between":
        return operands[0] < value < operands[1]
    if operator == "not between":
        return not operands[0] < value < operands[1]
    if operator in ("=", "in"):
        return any(value == one for one in operands)
    if operator in ("!=", "not in"):
        return all(value != one for one in operands)
    return {">": value > operands[0], ">=": value >= operands[0], "<": value < operands[0]}.get(
        operator, value <= operands[0]
    )


def meets(operator, operands, value):
    """A condition on a figure."""
    if isinstance(value, float):
        return compares(operator, value, [float(one) for one in operands])
    return compares(operator, Fraction(value), [Fraction(one) for one in operands])


def accepts(spec, value):
    """Does one value, or NULL, satisfy a ColumnValues rule?"""
    given = [one for one in spec.operands if one is not None]
    if value is None:
        listed = len(given) < len(spec.operands)
        if spec.operator in ("!=", "not in"):
            return not listed
        return listed and spec.operator in ("=", "in")
    if not given:
        return spec.operator in ("!=", "not in")
    if spec.operator in ("matches", "not matches"):
        return bool(re.fullmatch(given[0], value, re.ASCII)) == (spec.operator == "matches")
    if isinstance(value, str):
        hit = any(
            (value != "" and not value.strip(" \t\n\r\f\v")) if one == "WHITESPACES_ONLY" else value == one
            for one in given
        )
        return hit == (spec.operator in ("=", "in"))
    if isinstance(value, bool):
        return compares(spec.operator, str(value).lower(), given)
    if isinstance(value, datetime):
        given = [_moment(one) for one in given]
    elif isinstance(value, date):
        given = [_moment(one).date() for one in given]
    elif isinstance(value, float):
        given = [float(one) for one in given]
    else:
        value, given = Fraction(value), [Fraction(one) for one in given]
    return compares(spec.operator, value, given)


def _moment(operand):
    if isinstance(operand, timedelta):
        return NOW + operand
    day = date.fromisoformat(operand)
    return datetime(day.year, day.month, day.day, tzinfo=UTC)


def percent(part, whole):
    return f"{math.floor(Fraction(part * 10000, whole)) / 100:.2f} % of rows passed the threshold"


def judge(spec, rows, reference, composite):
    """Say what a rule makes of the rows.

    Args:
        spec: the rule.
        rows: list of dicts.
        reference: list of dicts, the reference "r".
        composite: "COLUMN" or "ROW".
    """
    if spec.parts:
        return _composite(spec, [judge(part, rows, reference, composite) for part in spec.parts], composite)
    inside = [row for row in rows if spec.where is None or spec.where(row) is True]
    asked = [spec.where is None or spec.where(row) is True for row in rows]
    said = RULES[spec.type](spec, rows, inside, reference)
    if spec.type not in ("RowCount", "ColumnCount", "RowCountMatch", "ColumnExists") and not inside:
        none = "There were no rows to evaluate" if spec.where is None else "No rows matched the filter"
        said = Said(False, none, {}, said.rows, said.joins, said.whole)
    if said.rows is not None:
        said.rows = [one if there else None for one, there in zip(said.rows, asked, strict=True)]
    said.figures = [(spec.text, name, value) for name, value in said.metrics.items()]
    return said


def _composite(spec, parts, composite):
    passed = (all if spec.operator == "and" else any)(part.passed for part in parts)
    reasons = [part.reason for part in parts if part.reason]
    figures = [one for part in parts for one in part.figures]
    metrics = {}
    for text, name, value in figures:
        alike = all(repr(other) == repr(value) for _, another, other in figures if another == name)
        metrics[name if alike else f"{name} [{text}]"] = value
    rows = None
    if all(part.rows is not None and part.joins for part in parts):
        stop = spec.operator == "or"
        rows = [
            stop if stop in said else None if None in said else not stop
            for said in zip(*(part.rows for part in parts), strict=True)
        ]
    whole = rows is not None and all(part.whole for part in parts)
    if composite == "ROW" and whole:
        yes, no = rows.count(True), rows.count(False)
        reason = "There were no rows to evaluate" if not yes + no else percent(yes, yes + no) if no else None
        return Said(reason is None, reason, metrics, rows, figures=figures)
    return Said(passed, None if passed else "\n".join(reasons), metrics, rows, rows is not None, whole, figures)


def _figure(spec, metric, value, rows=None, joins=True, whole=True):
    passed = meets(spec.operator, spec.operands, value)
    seen = float(value) if isinstance(value, Fraction) else value
    return Said(passed, None if passed else MEETS.format(shown(seen)), {metric: float(value)}, rows, joins, whole)


def _row_count(spec, rows, inside, reference):
    return _figure(spec, "Dataset.*.RowCount", len(inside))


def _completeness(spec, rows, inside, reference):
    column = spec.columns[0]
    there = [row[column] is not None for row in rows]
    share = sum(row[column] is not None for row in inside) / max(len(inside), 1)
    if spec.operator:
        return _figure(spec, f"Column.{column}.Completeness", share, there, joins=False, whole=False)
    return _all(share, f"Column.{column}.Completeness", there)


def _all(share, metric, rows, whole=True):
    return Said(share == 1, None if share == 1 else MEETS.format(shown(share)), {metric: share}, rows, whole=whole)


def _statistic(spec, rows, inside, reference):
    column = spec.columns[0]
    values = [row[column] for row in inside if row[column] is not None]
    if not values:
        return Said(False, f"Column {column} has no values to evaluate")
    floats = isinstance(values[0], float)
    total = sum(values) if floats else sum(map(Fraction, values))
    if spec.type == "StandardDeviation":
        mean = sum(map(float, values)) / len(values)
        value = math.sqrt(sum((float(one) - mean) ** 2 for one in values) / len(values))
    else:
        value = total / len(values) if spec.type == "Mean" else total
    if spec.type == "Sum" and not floats:
        exact = int(value) if value.denominator == 1 else Decimal(value.numerator) / value.denominator
        passed = meets(spec.operator, spec.operands, value)
        return Said(passed, None if passed else MEETS.format(shown(exact)), {f"Column.{column}.Sum": float(value)})
    return _figure(spec, f"Column.{column}.{spec.type}", value)


def _values(spec, rows, inside, reference):
    column = spec.columns[0]
    if spec.type == "ColumnLength":
        names, get = ("MaximumLength", "MinimumLength"), lambda row: len(row[column] or "")
    else:
        names, get = ("Maximum", "Minimum"), lambda row: row[column]
    said = [accepts(spec, get(row)) for row in rows]
    found = [get(row) for row in inside]
    kept = [value for value in found if value is not None]
    numeric = [isinstance(value, int | float | Decimal) and not isinstance(value, bool) for value in kept]
    metrics = {}
    if kept and all(numeric):
        top, bottom = max(kept, key=_order), min(kept, key=_order)
        metrics = {f"Column.{column}.{names[0]}": float(top), f"Column.{column}.{names[1]}": float(bottom)}
    good = sum(accepts(spec, value) for value in found)
    share = good / max(len(found), 1)
    if (column in ("s", "b") and spec.type == "ColumnValues") or spec.threshold:
        metrics[f"Column.{column}.{spec.type}.Compliance"] = share
    if spec.threshold:
        passed = meets(*spec.threshold, share)
        return Said(passed, None if passed else MEETS.format(shown(share)), metrics, said, whole=False)
    bad = [value for value in found if not accepts(spec, value)]
    named = (
        share if isinstance(next(iter(kept), None), str | bool) and None not in bad else _named(spec, bad, kept)
    )
    reason = MEETS.format(shown(named)) if bad else None
    return Said(not bad, reason, metrics, said)


def _order(value):
    return (1, 0.0) if isinstance(value, float) and math.isnan(value) else (0, value)


def _named(spec, bad, kept):
    """The value a reason names: NULL; of a range the maximum, then the minimum; else the greatest that is wrong."""
    if not bad or None in bad:
        return None
    ranged = spec.operator in ("between", ">", ">=", "<", "<=", "=")
    if ranged and spec.operands and None not in spec.operands:
        top, bottom = max(kept, key=_order), min(kept, key=_order)
        return top if not accepts(spec, top) else bottom
    return max(bad, key=_order)


def _data_type(spec, rows, inside, reference):
    column, expected = spec.columns[0], spec.operands[0].lower()
    fits = [row[column] is not None and expected in CASTS[row[column]] for row in rows]
    share = sum(row[column] is not None and expected in CASTS[row[column]] for row in inside) / max(len(inside), 1)
    metric = f"Column.{column}.ColumnDataType.Compliance"
    if spec.threshold:
        passed = meets(*spec.threshold, share)
        return Said(passed, None if passed else MEETS.format(shown(share)), {metric: share}, fits, whole=False)
    return _all(share, metric, fits)


def _freshness(spec, rows, inside, reference):
    column = spec.columns[0]

    def fresh(row):
        value = row[column]
        if value is None:
            return False
        if not isinstance(value, datetime):
            value = datetime(value.year, value.month, value.day, tzinfo=UTC)
        return compares(spec.operator, NOW - value, spec.operands)

    count = sum(fresh(row) for row in inside)
    passed = bool(inside) and count == len(inside)
    reason = None if passed or not inside else percent(count, len(inside))
    metrics = {f"Column.{column}.DataFreshness.Compliance": count / max(len(inside), 1)}
    return Said(passed, reason, metrics, [fresh(row) for row in rows])


def _key(row, columns):
    # Spark's groups: NaN is one value, and so is zero
    return tuple("NaN" if isinstance(row[c], float) and math.isnan(row[c]) else row[c] for c in columns)


def _unique(spec, rows, inside, reference):
    often = Counter(_key(row, spec.columns) for row in inside)
    alone = [often[_key(row, spec.columns)] == 1 for row in rows]
    share = sum(count for count in often.values() if count == 1) / max(len(inside), 1)
    name = f"Column.{spec.columns[0]}" if len(spec.columns) == 1 else f"Multicolumn.{','.join(spec.columns)}"
    if spec.type == "Uniqueness":
        return _figure(spec, f"{name}.Uniqueness", share, alone, joins=False, whole=False)
    said = _all(share, f"{name}.Uniqueness", alone)
    if spec.type == "IsPrimaryKey":
        shares = {c: sum(row[c] is not None for row in inside) / max(len(inside), 1) for c in spec.columns}
        said.metrics |= {f"Column.{c}.Completeness": value for c, value in shares.items()}
        if said.passed and min(shares.values()) < 1:
            said.passed, said.reason = False, MEETS.format(shown(min(shares.values())))
        said.rows = [
            one and None not in (row[c] for c in spec.columns) for one, row in zip(alone, rows, strict=True)
        ]
    return said


def _distinct(spec, rows, inside, reference):
    column = spec.columns[0]
    often = Counter(_key(row, spec.columns) for row in inside if row[column] is not None)
    total = sum(often.values())
    if spec.type == "DistinctValuesCount":
        return _figure(spec, f"Column.{column}.DistinctValuesCount", len(often))
    if not total:
        return Said(False, f"Column {column} has no values to evaluate")
    entropy = -sum(n / total * math.log(n / total) for n in often.values())
    return _figure(spec, f"Column.{column}.Entropy", abs(entropy))


def _row_count_match(spec, rows, inside, reference):
    if not reference:
        return Said(False, "Reference dataset r has no rows")
    return _figure(spec, "Dataset.r.RowCountMatch", len(rows) / len(reference))


def _referential(spec, rows, inside, reference):
    known = {(one["k"],) if len(spec.columns) == 1 else (one["k"], one["w"]) for one in reference}
    known = {key for key in known if None not in key}
    found = [tuple(row[c] for c in spec.columns) in known for row in rows]
    share = sum(found) / max(len(rows), 1)
    return _figure(spec, "Column.r.ReferentialIntegrity", share, found, joins=False, whole=False)


def _sql(spec, rows, inside, reference):
    """`select n, b from primary where n > 1`: a row passes when its n and b were returned."""
    returned = {(row["n"], row["b"]) for row in rows if row["n"] is not None and row["n"] > 1}
    said = [(row["n"], row["b"]) in returned for row in rows]
    share = sum(said) / max(len(rows), 1)
    metric = "Dataset.*.CustomSQL.Compliance"
    if spec.threshold:
        passed = meets(*spec.threshold, share)
        return Said(passed, None if passed else MEETS.format(shown(share)), {metric: share}, said, whole=False)
    return _all(share, metric, said)


RULES = {
    "RowCount": _row_count,
    "Completeness": _completeness,
    "IsComplete": _completeness,
    "Mean": _statistic,
    "Sum": _statistic,
    "StandardDeviation": _statistic,
    "ColumnValues": _values,
    "ColumnLength": _values,
    "ColumnDataType": _data_type,
    "DataFreshness": _freshness,
    "IsUnique": _unique,
    "Uniqueness": _unique,
    "IsPrimaryKey": _unique,
    "DistinctValuesCount": _distinct,
    "Entropy": _distinct,
    "RowCountMatch": _row_count_match,
    "ReferentialIntegrity": _referential,
    "CustomSql": _sql,
}
