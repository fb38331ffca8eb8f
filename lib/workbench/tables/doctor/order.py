"""Bounds of files that overlap, so that a reader who asks by a column finds every file in question."""

import bisect
from collections.abc import Mapping, Sequence
from typing import Any

from workbench._base import identifiers
from workbench._base.typing import Column, Java
from workbench.tables.doctor import looking
from workbench.tables.doctor.findings import MIDDLE, Finding, size
from workbench.tables.doctor.looking import Look, Partition
from workbench.tables.maintenance import groups, metadata
from workbench.tables.maintenance.wording import count

Span = tuple[Any, Any]  # the lowest and the highest value of a column in a file
Bounds = dict[tuple[tuple[str, Any], ...], list[dict[str, Span]]]  # partition values to the spans of each file
_ASKED = 1000  # files of a partition that are asked for


def unsorted_files(look: Look) -> Finding | None:
    """Files of a partition that all may hold any value of the columns which the table is sorted or asked by.

    Only judged where somebody said which columns count: a declared sort order, or the owner's queries. And only in
    partitions of more than two target sizes, because a smaller one is a single file when it is sorted.
    """
    columns = look.columns or sorted_by(look.loaded)
    large = [
        partition
        for partition in look.of_this_spec()
        if partition.files >= look.thresholds.overlap_files and partition.bytes > 2 * look.policy.target_file_bytes
    ]
    if not columns or not large:
        return None
    bounds = _bounds(look, columns)
    judged_parts = [(partition, _shares(bounds.get(partition.values, []), columns)) for partition in large]
    hit = [
        (partition, shares)
        for partition, shares in judged_parts
        if shares and min(shares.values()) >= look.thresholds.overlap
    ]
    if not hit:
        return None
    files, (_, judged) = sum(partition.files for partition, _ in hit), max(hit, key=lambda pair: pair[0].files)
    promises = {
        name: _promise(look, [partition for partition, shares in hit if name in shares], bounds, name)
        for name in judged
    }
    best = min(promises, key=lambda name: promises[name][0] / promises[name][1])
    opened, total, after = promises[best]
    why = "the sort order" if not look.columns else "the queries"
    return Finding(
        "unsorted_files",
        MIDDLE,
        f"{count(files, 'data file')} of {count(len(hit), 'partition')} overlap by every column of {why} "
        f"({', '.join(columns)}): who asks for one value of {best} opens {opened} of {total}, "
        f"sorted it would be about {after}",
        f"sort them by {best}: it rewrites {size(look.bytes)}; what it brings is estimated from the bytes and "
        "bounds of now, and who asks for a value that very many rows have opens more",
        statements=(_statement(look, best),),
    )


def _promise(look: Look, partitions: Sequence[Partition], bounds: Bounds, column: str) -> tuple[int, int, int]:
    """Return (files opened for one value of a column, files there are, files opened were they sorted).

    All partitions together: a value may be in each of them, as an id is, or in one alone, as a moment is in its
    day.
    """
    by_part = [[file[column] for file in bounds[partition.values]] for partition in partitions]
    spans = [span for part in by_part for span in part]
    whole = [(min(low for low, _ in part), max(high for _, high in part)) for part in by_part]
    files = [_sorted(look, partition, *span) for partition, span in zip(partitions, whole, strict=True)]
    after = depth(whole) * sum(files) / len(files)
    return max(1, round(depth(spans))), len(spans), max(1, round(after))


def _sorted(look: Look, partition: Partition, lowest: Any, highest: Any) -> int:
    """Return how many files of the target size would hold one value of a column, were a partition sorted by it.

    One, unless there are fewer values than files; how many values there may be only some types show.
    """
    files = groups.files_after(partition.bytes, look.policy.target_file_bytes)
    return -(-files // min(highest - lowest + 1, files)) if isinstance(lowest, int) else 1


def sorted_by(loaded: Java) -> tuple[str, ...]:
    """Return the columns of a table's declared sort order."""
    order = loaded.sortOrder()
    if order.isUnsorted():
        return ()
    names = [loaded.schema().findColumnName(field.sourceId()) for field in order.fields()]
    return tuple(dict.fromkeys(name for name in names if name))


def _statement(look: Look, column: str) -> str:
    quoted = identifiers.literal(looking.quoted(look.loaded.schema(), column))
    by = "" if sorted_by(look.loaded) else f"sort_order => {quoted}, "
    # rows in another order take another size: a file above the target is better than one and a small rest
    target = look.policy.target_file_bytes
    return (
        f"CALL {look.procedures()}.rewrite_data_files(table => {look.argument()}, strategy => 'sort', {by}"
        f"options => map('rewrite-all', 'true', 'target-file-size-bytes', '{target}', "
        f"'max-file-size-bytes', '{6 * target}'))"
    )


def _bounds(look: Look, columns: Sequence[str]) -> Bounds:
    """Return {partition values: [{column: (lowest, highest)}]} of the live files that have bounds.

    Dates are days since 1970 and moments microseconds: Python's own end with the year 9999.
    """
    from pyspark.sql import functions as F

    live = metadata.entries(look.spark, look.loaded, "readable_metrics").where("content = 0")
    metrics: Any = live.schema["readable_metrics"].dataType
    # a UUID's bounds are as unreadable to Spark as a partition of one
    uuids = {field.name() for field in look.loaded.schema().columns() if field.type().toString() == "uuid"}
    known = [name for name in columns if name in metrics.names and name not in uuids]

    def bound(name: str, which: str, letter: str) -> Column:
        kind = metrics[name].dataType[which].dataType.typeName()
        return _number(F.col("readable_metrics").getField(name).getField(which), kind).alias(letter)

    lowest = [bound(name, "lower_bound", f"l{n}") for n, name in enumerate(known)]
    highest = [bound(name, "upper_bound", f"u{n}") for n, name in enumerate(known)]
    own = live.where(F.col("spec_id") == look.loaded.spec().specId())
    rows = own.select("partition", *lowest, *highest).collect()
    names = [name for name, _ in look.of_this_spec()[0].values]
    bounds: Bounds = {}
    for row in rows:
        key = tuple((name, row.partition[name]) for name in names)
        file = {name: (row[f"l{n}"], row[f"u{n}"]) for n, name in enumerate(known)}
        bounds.setdefault(key, []).append(file)
    return bounds


def _number(column: Column, kind: str) -> Column:
    """Return a Column of a date or a moment as a number that orders it; of any other type the Column itself."""
    from pyspark.sql import functions as F

    if kind == "date":
        return F.unix_date(column)
    if kind == "timestamp":
        return F.unix_micros(column)
    if kind == "timestamp_ntz":  # cast to a moment, two of them could change places when clocks are put back
        days = F.unix_date(column.cast("date")).cast("bigint")
        minutes = days * 1440 + F.hour(column) * 60 + F.minute(column)
        return minutes * 60_000_000 + (F.date_part(F.lit("SECOND"), column) * 1_000_000).cast("bigint")
    return column


def _shares(files: Sequence[Mapping[str, Span]], columns: Sequence[str]) -> dict[str, float]:
    """Return {column: share of a partition's files that may hold one value of it}, for columns that can be judged.

    A column without bounds in some file, or with one value in all of them, is not judged: no order would help.
    """
    shares = {}
    for column in columns:
        spans = [file[column] for file in files if column in file and None not in file[column]]
        if spans and len(spans) == len(files) and len({value for span in spans for value in span}) > 1:
            shares[column] = depth(spans) / len(spans)
    return shares


def depth(spans: Sequence[Span]) -> float:
    """Return how many files may hold the worst value within a file, the mean over files.

    Files that hold one value alone are not counted among those that may: no order improves them.

    Args:
        spans: (lowest, highest) a file.
    """
    values = sorted({value for span in spans for value in span})
    lowest = sorted(low for low, high in spans if low < high)
    highest = sorted(high for low, high in spans if low < high)
    depths = [bisect.bisect_right(lowest, value) - bisect.bisect_left(highest, value) for value in values]
    some = spans[:: max(1, len(spans) // _ASKED)]
    worst = [
        max(depths[bisect.bisect_left(values, low) : bisect.bisect_right(values, high)]) for low, high in some
    ]
    return sum(worst) / len(worst)
