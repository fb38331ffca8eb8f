"""What a notebook shows: rows and provoked errors, the same on every machine."""

import html
import math
import re
import sys
from collections.abc import Callable, Sequence
from decimal import Decimal
from typing import Annotated, Any

from workbench._base import identifiers, releases
from workbench._base.bounds import Ge
from workbench._base.door import checked
from workbench._base.errors import ArgumentError
from workbench._base.typing import Column, DataFrame, Java

# What differs from run to run in a message: ids, uuids, addresses of objects, places of files, times of commits.
VARYING = (
    (re.compile(r"(?<=Request ID: )[\w+/=-]+"), "<id>"),  # of an S3 or AWS answer; it may look like a path
    (re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"), "<uuid>"),
    (re.compile(r"(?:(?:file|s3a?|hdfs)://?|(?<![\w.]))/[^\s,;:'\")]+"), "<path>"),
    (re.compile(r"0x[0-9a-f]{6,}"), "<address>"),
    (re.compile(r"\b\d{15,20}\b"), "<id>"),
    (re.compile(r"\b\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d(?:\.\d+)?(?: UTC|Z)?"), "<time>"),
    (re.compile(r"#\d+L?\b"), ""),
)

_NAN = Decimal("NaN")  # shown as it is, where a float that is NaN is shown as null


@checked
def rows(
    df: Any,
    *,
    by: str | Sequence[str] | None = None,
    limit: Annotated[int, Ge(1)] = 20,
    digits: Annotated[int, Ge(0)] = 2,
) -> None:
    """Show the rows of a frame as a table, in a stated order.

    Args:
        df: Spark or pandas DataFrame.
        by: column or list of columns to sort by; a leading `-` sorts downwards. A Spark frame of more than one
            row needs it, because its rows come in any order; a pandas frame is shown as it stands.
        limit: rows shown at most; a last line counts the others.
        digits: decimals shown of a float. NaN is NaN in a Spark frame; pandas has nothing else for a null.

    Raises:
        ValueError: a Spark frame of several rows came without `by`, `by` names no column, or limit is below 1.
    """
    keys = [by] if isinstance(by, str) else list(by or [])
    unknown = [key for key in keys if key.removeprefix("-") not in df.columns]
    if unknown:
        raise ArgumentError(f"by names {', '.join(unknown)}; the columns are {', '.join(map(str, df.columns))}")
    if hasattr(df, "toPandas"):
        shown, total = _collected(df, keys, limit)
    else:
        if keys:
            df = df.sort_values(
                [key.removeprefix("-") for key in keys], ascending=[key[0] != "-" for key in keys], kind="stable"
            )
        shown, total = df.head(limit).to_numpy(dtype=object).tolist(), len(df)
    _table([str(column) for column in df.columns], shown, total, digits)


@checked
def error(action: Callable[[], Any], *, raises: type[BaseException] | str, contains: str = "") -> None:
    """Show an error that is provoked on purpose; fail when it does not come.

    Of a Java exception the first line is shown, of a Python one the whole message.

    Args:
        action: function without arguments that must raise.
        raises: exception class, or the full name of a Java exception that Spark carries
            (`org.apache.iceberg.exceptions.CommitFailedException`).
        contains: text that the message must hold.

    Raises:
        AssertionError: nothing was raised, or the message lacks the text.
        Exception: another error than the named one comes through as it is.
    """
    name = raises if isinstance(raises, str) else raises.__name__
    try:
        action()
    except Exception as error:
        caught = error if isinstance(raises, str) or isinstance(error, raises) else releases.raised(error)
        named = _java_chain(caught)
        if not (name in named if isinstance(raises, str) else isinstance(caught, raises)):
            raise
        lines = [line for line in str(named.get(name) or caught).splitlines() if line.strip()] or [""]
        message = lines[0] if named else "\n".join(lines)  # behind a Java exception comes its stack
        if contains not in str(caught) + " ".join(map(str, named.values())):
            raise AssertionError(f"{name} came, but its message lacks {contains!r}: {message}") from None
        print(f"{name.rpartition('.')[2]}: {steady(message.removeprefix(name + ': '))}")
        return
    raise AssertionError(f"{name} was expected, and nothing was raised")


def steady(text: str) -> str:
    """Return a message without what differs from run to run: ids, uuids, paths, addresses, times."""
    for pattern, name in VARYING:
        text = pattern.sub(name, text)
    return text.strip()


def _collected(df: DataFrame, keys: list[str], limit: int) -> tuple[list[list[Any]], int]:
    if keys:
        order = [_column(key[1:]).desc() if key[0] == "-" else _column(key).asc() for key in keys]
        # ties in the named columns would come in any order: the other columns decide, those that have an order
        rest = [_column(name) for name, kind in df.dtypes if not re.search(r"map<|variant|interval", kind)]
        df = df.orderBy(*order, *rest)
    some = df.limit(limit + 1)
    try:
        collected = some.collect()
    except (ValueError, OverflowError):  # Python has no times beyond 9999, and not the first day of all
        collected = some.select(*map(_time_as_text, some.schema)).collect()
    # a NaN of Spark is not a null, as one of pandas is
    values = [[_NAN if value != value else value for value in row] for row in collected]
    if not keys and len(values) > 1:
        raise ArgumentError("a Spark frame of several rows needs by=…: its rows come in any order")
    return values[:limit], len(values) if len(values) <= limit else df.count()


def _time_as_text(field: Any) -> Column:
    """Return a column, of dates and times the text that Python would show."""
    from pyspark.sql import functions as F

    kind, column = field.dataType.typeName(), _column(field.name)
    if kind == "date":
        return column.cast("string").alias(field.name)
    if kind not in ("timestamp", "timestamp_ntz"):
        return column
    text = F.date_format(column, "yyyy-MM-dd HH:mm:ss.SSSSSS")
    return F.regexp_replace(text, r"\.000000$", "").alias(field.name)


def _column(name: str) -> Column:
    from pyspark.sql import functions as F

    return F.col(identifiers.column(name))


def _java_chain(caught: BaseException) -> dict[str, str | None]:
    """Return the Java exceptions behind a Python one: full class name to message, outermost first."""
    chain: dict[str, str | None] = {}
    java: Java = getattr(caught, "java_exception", None) or getattr(caught, "_origin", None)
    while java is not None and len(chain) < 20:
        chain.setdefault(java.getClass().getName(), java.getMessage())
        java = java.getCause()
    return chain


def emit(data: dict[str, Any], metadata: dict[str, Any] | None = None) -> None:
    """Show an output in the notebook that runs this; in a plain script, print its text.

    Args:
        data: media type to content; `text/plain` is among them.
        metadata: media type to metadata.
    """
    if sys.modules.get("IPython"):
        from IPython import get_ipython
        from IPython.display import display

        if get_ipython() is not None:
            display(data, raw=True, metadata=metadata)
            return
    print(data["text/plain"])


def _table(names: list[str], values: list[list[Any]], total: int, digits: int) -> None:
    cells = [[cell(value, digits) for value in row] for row in values]
    right = [all(_is_number(row[i]) for row in values if row[i] is not None) for i in range(len(names))]
    more = f"… and {total - len(values):,} more rows" if total > len(values) else ""
    plain, rich = _plain(names, cells, right, more), _rich(names, cells, right, more)
    emit({"text/plain": plain, "text/html": rich})


def _plain(names: list[str], cells: list[list[str]], right: list[bool], more: str) -> str:
    widths = [max(map(len, column)) for column in zip(names, *cells, strict=True)]
    lines = []
    for row in (names, *cells):
        parts = [
            text.rjust(width) if to_right else text.ljust(width)
            for text, width, to_right in zip(row, widths, right, strict=True)
        ]
        lines.append("  ".join(parts).rstrip())
    lines.insert(1, "  ".join("-" * width for width in widths))
    return "\n".join([*lines, *([more] if more else [])])


def _rich(names: list[str], cells: list[list[str]], right: list[bool], more: str) -> str:
    def tag(kind: str, values: list[str]) -> str:
        return "".join(
            f'<{kind} style="text-align:{"right" if to_right else "left"}">{html.escape(value)}</{kind}>'
            for to_right, value in zip(right, values, strict=True)
        )

    body = "\n".join(f"<tr>{tag('td', row)}</tr>" for row in cells)
    foot = f"\n<p>{more}</p>" if more else ""
    return f"<table>\n<thead><tr>{tag('th', names)}</tr></thead>\n<tbody>\n{body}\n</tbody>\n</table>{foot}"


def cell(value: Any, digits: int) -> str:
    """Return a value as it is shown: thousands separated, floats rounded, `null` for what is missing."""
    if value is None or (isinstance(value, float) and math.isnan(value)) or str(value) in ("NaT", "<NA>"):
        return "null"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float):
        return f"{value:,.{digits}f}"
    if isinstance(value, int):
        return f"{value:,}" if abs(value) >= 10_000 else str(value)
    return str(value)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float | Decimal) and not isinstance(value, bool)
