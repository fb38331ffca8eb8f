"""A tab of a Google Sheet as an answer: by its header, each cell in the type asked for, or dead by address."""

from collections.abc import Callable, Mapping, Sequence
from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import Annotated, Any, Literal
from urllib.parse import quote

from workbench._base.bounds import Ge, MinLen
from workbench._base.door import checked
from workbench._base.errors import ArgumentError
from workbench.pulls import asking
from workbench.pulls.answers import Answer, DeadCell
from workbench.pulls.errors import AnswerRefused

ENDPOINT = "https://sheets.googleapis.com"
SCOPE = "https://www.googleapis.com/auth/spreadsheets.readonly"
FIELDS = (
    "properties(locale,timeZone),sheets(properties(title),merges,"
    "data(rowData(values(effectiveValue,effectiveFormat(numberFormat(type))))))"
)
EPOCH = datetime(1899, 12, 30)
DATES = ("DATE", "DATE_TIME")
Kind = Literal["text", "integer", "decimal", "date", "timestamp", "boolean"]
Text = Annotated[str, MinLen(1)]


class _Dead(Exception):
    """A cell cannot be of the type that is asked for."""


@checked
def tab(
    session: Any,
    book: Text,
    title: Text,
    columns: Mapping[str, Kind],
    *,
    required: Sequence[str] = (),
    endpoint: Text = ENDPOINT,
    tries: Annotated[int, Ge(1)] = asking.TRIES,
) -> Callable[[], Answer]:
    """Return a function that reads a tab, in one request: values, types and merged cells of one moment.

    The first row is the header; it must name exactly the columns, each once and in no merged cell, in any order.
    A row with a dead cell does not become a row. Rows without any value are passed over.

    Args:
        session: google.auth.transport.requests.AuthorizedSession with the scope SCOPE.
        book: id of the spreadsheet.
        title: of the tab.
        columns: header to type: text, integer, decimal, date, timestamp, boolean. A text is kept as it was typed:
            '07' stays '07'; a number in a column of texts is dead, for its text is a matter of its format. A
            number is a date only where the cell is formatted as one.
        required: columns of which no cell may be empty.
        endpoint: of the service.
        tries: how often a request is tried that is refused for a while (429, 500, 503) or has no answer.

    Returns:
        Function without arguments that returns an Answer, for `pulls.whole`.

    Raises:
        ValueError: an argument is wrong. The function raises AnswerRefused for a header or a tab that is not as
            described, and for a service that refuses.
    """
    if not columns:
        raise ArgumentError("columns must name at least one column")
    if other := [name for name in required if name not in columns]:
        raise ArgumentError(f"required names {other[0]}, which is not among the columns: {', '.join(columns)}")
    at = f"{endpoint}/v4/spreadsheets/{quote(book, safe='')}"

    def ask() -> Answer:
        content, count = asking.get(session, at, {"fields": FIELDS}, what=f"the book {book}", tries=tries)
        return _answer(content, book, title, columns, required, count)

    return ask


def _answer(
    content: Mapping[str, Any],
    book: str,
    title: str,
    columns: Mapping[str, Kind],
    required: Sequence[str],
    count: int,
) -> Answer:
    sheets = {sheet["properties"]["title"]: sheet for sheet in content.get("sheets", ())}
    if title not in sheets:
        raise AnswerRefused(f"the book {book} has no tab {title}; it has {', '.join(sheets) or 'none'}")
    sheet = sheets[title]
    data = sheet.get("data") or [{}]
    rows = [row.get("values") or [] for row in data[0].get("rowData") or []]
    merges = sheet.get("merges") or []
    places = _header(title, rows[0] if rows else [], merges, columns)
    merged = _merged(merges)
    good: list[dict[str, Any]] = []
    dead: list[DeadCell] = []
    for number, cells in enumerate(rows[1:], 1):
        values, bad = _row(title, number, cells, places, columns, required, merged)
        dead += bad
        if values is not None and not bad:
            good.append(values)
    properties = content.get("properties", {})
    flags = {name: str(properties[name]) for name in ("locale", "timeZone") if name in properties}
    return Answer(
        _table(good, columns), dead=dead, flags=flags, requests=count, local_zone=flags.get("timeZone", "")
    )


def _header(
    title: str,
    cells: Sequence[Mapping[str, Any]],
    merges: Sequence[Mapping[str, Any]],
    columns: Mapping[str, Kind],
) -> dict[str, int]:
    """Return where each column stands.

    Raises:
        AnswerRefused: the header is not as described.
    """
    if any(merge.get("startRowIndex", 0) == 0 for merge in merges):
        raise AnswerRefused(f"the header of {title} has merged cells: give each column a cell of its own")
    names = [_shown(cell.get("effectiveValue") or {}) for cell in cells]
    places: dict[str, int] = {}
    for place, name in enumerate(names):
        if not name:
            continue
        if name in places:
            raise AnswerRefused(
                f"the header of {title} has {name} twice, in {address(title, 0, places[name])} and "
                f"{address(title, 0, place)}"
            )
        places[name] = place
    listed = ", ".join(places) or "nothing"
    if missing := [name for name in columns if name not in places]:
        raise AnswerRefused(f"the header of {title} lacks {missing[0]}; it has {listed}")
    if other := [name for name in places if name not in columns]:
        raise AnswerRefused(
            f"the header of {title} has {other[0]} in {address(title, 0, places[other[0]])}, which is not one of "
            f"the columns: {', '.join(columns)}"
        )
    return places


def _merged(merges: Sequence[Mapping[str, Any]]) -> dict[tuple[int, int], str]:
    """Return the cells that merged ones hide or spread over, with what is to be reason."""
    hidden: dict[tuple[int, int], str] = {}
    for merge in merges:
        rows = range(merge.get("startRowIndex", 0), merge["endRowIndex"])
        places = range(merge.get("startColumnIndex", 0), merge["endColumnIndex"])
        reason = f"a part of merged cells: {len(rows)} rows, {len(places)} columns"
        hidden |= {(row, place): reason for row in rows for place in places}
    return hidden


def _row(
    title: str,
    number: int,
    cells: Sequence[Mapping[str, Any]],
    places: Mapping[str, int],
    columns: Mapping[str, Kind],
    required: Sequence[str],
    merged: Mapping[tuple[int, int], str],
) -> tuple[dict[str, Any] | None, list[DeadCell]]:
    """Return a row's values and its dead cells; None for one without any value."""
    inside = [cells[place] if place < len(cells) else {} for place in places.values()]
    in_merge = any((number, place) in merged for place in places.values())
    if not in_merge and not any(map(_filled, inside)):
        return _outside(title, number, cells, places)
    values, dead = {}, []
    for (name, place), cell in zip(places.items(), inside, strict=True):
        value = cell.get("effectiveValue") or {}
        try:
            if (number, place) in merged:
                raise _Dead(merged[number, place])
            values[name] = _value(value, columns[name], cell)
            if values[name] is None and name in required:
                raise _Dead(f"{name} is empty")
        except _Dead as reason:
            dead.append(DeadCell(address(title, number, place), str(reason), _shown(value)))
    _, beside = _outside(title, number, cells, places)
    return values, dead + beside


def _outside(
    title: str, number: int, cells: Sequence[Mapping[str, Any]], places: Mapping[str, int]
) -> tuple[None, list[DeadCell]]:
    """Return values that stand under no header: nobody knows what they are."""
    named = set(places.values())
    return None, [
        DeadCell(address(title, number, place), "it has no header", _shown(cell["effectiveValue"]))
        for place, cell in enumerate(cells)
        if place not in named and _filled(cell)
    ]


def _filled(cell: Mapping[str, Any]) -> bool:
    return cell.get("effectiveValue") not in (None, {}, {"stringValue": ""})


def _value(value: Mapping[str, Any], kind: Kind, cell: Mapping[str, Any]) -> Any:
    if not value or value.get("stringValue") == "":
        return None
    if "errorValue" in value:
        raise _Dead("an error of the sheet")
    typed = next(iter(value))
    expected = {"text": "stringValue", "boolean": "boolValue"}.get(kind, "numberValue")
    if typed != expected:
        words = {"stringValue": "a text", "boolValue": "True or False", "numberValue": "a number"}
        raise _Dead(f"{words[typed]}, expected {kind}")
    raw = value[typed]
    if kind in ("text", "boolean"):
        return raw
    formatted = cell.get("effectiveFormat", {}).get("numberFormat", {}).get("type")
    if kind in ("date", "timestamp"):
        return _moment(raw, kind, formatted)
    if formatted in DATES:
        raise _Dead(f"a date, expected {kind}")
    if kind == "integer":
        if raw != int(raw):
            raise _Dead("not a whole number")
        if not -(2**63) <= raw < 2**63:
            raise _Dead("a number too large, expected integer")
        return int(raw)
    return Decimal(repr(raw))


def _moment(raw: float, kind: Kind, formatted: str | None) -> Any:
    if formatted not in DATES:
        raise _Dead(f"a number that is not formatted as a date, expected {kind}")
    try:
        moment = EPOCH + timedelta(milliseconds=round(raw * 86_400_000))
    except OverflowError:
        beyond = "beyond the year 9999" if raw > 0 else "before the year 1"
        raise _Dead(f"a date {beyond}, expected {kind}") from None
    if kind == "timestamp":
        return moment
    if moment.time() != EPOCH.time():
        raise _Dead("a date with a time, expected a date")
    return date(moment.year, moment.month, moment.day)


def _shown(value: Mapping[str, Any]) -> str:
    if "errorValue" in value:
        kind = value["errorValue"].get("type", "ERROR")
        return {"N_A": "#N/A", "DIVIDE_BY_ZERO": "#DIV/0!", "REF": "#REF!"}.get(kind, f"#{kind}!")
    return str(next(iter(value.values()), ""))


@checked
def address(title: str, row: Annotated[int, Ge(0)], column: Annotated[int, Ge(0)]) -> str:
    """Return the address of a cell, `Sheet1!C7`; row and column count from 0."""
    letters, number = "", column + 1
    while number:
        number, digit = divmod(number - 1, 26)
        letters = chr(ord("A") + digit) + letters
    plain = title.replace("_", "").isalnum()
    quoted = title if plain else "'" + title.replace("'", "''") + "'"
    return f"{quoted}!{letters}{row + 1}"


def _table(rows: Sequence[Mapping[str, Any]], columns: Mapping[str, Kind]) -> Any:
    import pyarrow as pa

    kinds = {
        "text": pa.string(), "integer": pa.int64(), "date": pa.date32(), "timestamp": pa.timestamp("us"),
        "boolean": pa.bool_(),
    }  # fmt: skip
    arrays = {}
    for name, kind in columns.items():
        values = [row[name] for row in rows]
        if kind == "decimal":
            arrays[name] = pa.array(
                [None if value is None else format(value, "f") for value in values], pa.string()
            )
        else:
            arrays[name] = pa.array(values, kinds[kind])
    return pa.table(arrays)
