"""The Sheets API's spreadsheets.get, with a field mask.

A cell is a number, a text, True, None, or a dict: {"date": "2026-01-31"}, {"serial": 46053} (a date that lost its
format), {"serial": 4e9, "format": "DATE"} (a number that is formatted as a date), {"error": "REF"}.
"""

import re
from collections.abc import Mapping, Sequence
from datetime import date
from typing import Any

from workbench_standins.google.store import Book, Refused

EPOCH = date(1899, 12, 30)
ERRORS = {"REF": "#REF!", "N_A": "#N/A", "DIVIDE_BY_ZERO": "#DIV/0!", "VALUE": "#VALUE!", "NAME": "#NAME?"}


def spreadsheet(
    book: Book, number: str, ranges: Sequence[str], mask: str, *, cells: bool = True
) -> dict[str, Any]:
    """Return a book as the API has it: what the field mask names, of the tabs that ranges name.

    Args:
        book: that is asked for.
        number: its id.
        ranges: titles of tabs; none for all.
        mask: of fields; "" for all.
        cells: whether the rows are in it, where there is no mask.

    Raises:
        Refused: there is no such tab, or the mask is invalid.
    """
    for title in ranges:
        if title.strip("'").replace("''", "'") not in book.tabs:
            raise Refused(400, "INVALID_ARGUMENT", f"Unable to parse range: {title}")
    named = [title.strip("'").replace("''", "'") for title in ranges] or [*book.tabs]
    whole: dict[str, Any] = {
        "spreadsheetId": number,
        "properties": {"title": number, "locale": "en_US", "timeZone": "Europe/Berlin"},
        "sheets": [
            _sheet(place, title, book.tabs[title]) for place, title in enumerate(book.tabs) if title in named
        ],
    }
    if mask:
        return whole if mask == "*" else _masked(whole, _mask(mask))
    if not cells:
        for sheet in whole["sheets"]:
            del sheet["data"]
    return whole


def _sheet(place: int, title: str, tab: Mapping[str, Any]) -> dict[str, Any]:
    rows = tab["rows"]
    return {
        "properties": {
            "sheetId": place, "index": place, "title": title, "sheetType": "GRID",
            "gridProperties": {"rowCount": max(1000, len(rows)), "columnCount": 26},
        },
        "merges": [{"sheetId": place, **merge} for merge in tab.get("merges", ())],
        "data": [{"rowData": [{"values": [cell(value) for value in row]} for row in rows]}],
    }  # fmt: skip


def cell(value: Any) -> dict[str, Any]:
    """Return a cell as the API has it."""
    if value is None:
        return {}
    if isinstance(value, Mapping):
        return _special(value)
    if isinstance(value, bool):
        return _both({"boolValue": value}, str(value).upper())
    if isinstance(value, int | float):
        return _both({"numberValue": value}, f"{value:g}")
    return _both({"stringValue": value}, value)


def _both(value: dict[str, Any], text: str) -> dict[str, Any]:
    return {"userEnteredValue": value, "effectiveValue": value, "formattedValue": text}


def _special(value: Mapping[str, Any]) -> dict[str, Any]:
    if "error" in value:
        shown = ERRORS[value["error"]]
        error = {"errorValue": {"type": value["error"], "message": f"{shown} in the formula"}}
        return {"userEnteredValue": {"formulaValue": "=1"}, "effectiveValue": error, "formattedValue": shown}
    if "serial" in value:
        plain = _both({"numberValue": value["serial"]}, str(value["serial"]))
        return plain | (_formatted(value["format"]) if "format" in value else {})
    serial = (date.fromisoformat(value["date"]) - EPOCH).days
    return _both({"numberValue": serial}, value["date"]) | _formatted("DATE")


def _formatted(kind: str) -> dict[str, Any]:
    return {"effectiveFormat": {"numberFormat": {"type": kind, "pattern": "yyyy-mm-dd"}}}


def _mask(text: str) -> dict[str, Any]:
    """Return a field mask, `a(b,c/d)`, as a tree."""
    invalid = Refused(400, "INVALID_ARGUMENT", f"Invalid field mask: {text}")
    tokens = re.findall(r"[A-Za-z*]+|[(),/]", text)
    if "".join(tokens) != text.replace(" ", ""):
        raise invalid

    def name() -> str:
        if not tokens or tokens[0] in "(),/":
            raise invalid
        return tokens.pop(0)

    def fields() -> dict[str, Any]:
        tree: dict[str, Any] = {}
        while tokens and tokens[0] != ")":
            if tokens[0] == ",":
                tokens.pop(0)
                continue
            place = tree
            while True:
                place = place.setdefault(name(), {})
                if tokens and tokens[0] == "/":
                    tokens.pop(0)
                    continue
                break
            if tokens and tokens[0] == "(":
                tokens.pop(0)
                place |= fields()
                if not tokens:
                    raise invalid
                tokens.pop(0)
        return tree

    tree = fields()
    if tokens:  # a bracket that none opened
        raise invalid
    return tree


def _masked(value: Any, tree: Mapping[str, Any]) -> Any:
    if not tree:
        return value
    if isinstance(value, list):
        return [_masked(item, tree) for item in value]
    return {name: _masked(part, tree[name]) for name, part in value.items() if name in tree}
