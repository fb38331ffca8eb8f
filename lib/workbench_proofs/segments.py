"""A sheet that says which market segment a nation is of, and seventeen ways in which people leave it.

The walkthrough on Analytics and Sheets (AWS Big Data Blog, Amazon AppFlow) has such a sheet and prints nothing of
it, so segments are drawn here, with a budget and the day since when, for what goes wrong with money and dates.
Nations and their numbers are TPC-H's.

    rows = segments.rows(seed=1)
    for edit in segments.edits(rows, seed=1):
        server.set_book("book", {segments.TITLE: edit.tab})    # the stand-in of Google
"""

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Annotated, Any

from workbench._base.bounds import Ge, Le
from workbench._base.door import checked

TITLE = "Sheet1"
COLUMNS = {
    "n_nationkey": "integer", "n_name": "text", "n_regionkey": "integer", "n_marketsegment": "text",
    "since": "date", "budget": "decimal",
}  # fmt: skip
SEGMENTS = ("AUTOMOBILE", "BUILDING", "FURNITURE", "HOUSEHOLD", "MACHINERY")
NATIONS = (
    ("ALGERIA", 0), ("ARGENTINA", 1), ("BRAZIL", 1), ("CANADA", 1), ("EGYPT", 4), ("ETHIOPIA", 0), ("FRANCE", 3),
    ("GERMANY", 3), ("INDIA", 2), ("INDONESIA", 2), ("IRAN", 4), ("IRAQ", 4), ("JAPAN", 2), ("JORDAN", 4),
    ("KENYA", 0), ("MOROCCO", 0), ("MOZAMBIQUE", 0), ("PERU", 1), ("CHINA", 2), ("ROMANIA", 3),
    ("SAUDI ARABIA", 4), ("VIETNAM", 2), ("RUSSIA", 3), ("UNITED KINGDOM", 3), ("UNITED STATES", 1),
)  # fmt: skip
HEADER = [*COLUMNS]
Seed = Annotated[int, Ge(0), Le(2**63 - 1)]
Row = dict[str, Any]


@dataclass(frozen=True)
class Edit:
    """What somebody did to the sheet.

    Attributes:
        what: in words.
        tab: the sheet then, as the stand-in of Google takes it.
        refused: what the sentence says that refuses it; "" where it is pulled.
        dead: addresses of cells that cannot become values.
        rows: that it has then, without those that a dead cell is in; of a refused sheet none.
    """

    what: str
    tab: Mapping[str, Any]
    refused: str = ""
    dead: tuple[str, ...] = ()
    rows: tuple[Row, ...] = ()


@checked
def rows(*, seed: Seed) -> list[Row]:
    """Return the 25 rows of the sheet: five nations of each segment, by the number of the nation."""
    draw = random.Random(seed)
    drawn = [*SEGMENTS * 5]
    draw.shuffle(drawn)
    return [
        {
            "n_nationkey": number, "n_name": name, "n_regionkey": region, "n_marketsegment": drawn[number],
            "since": date(2026, 1, 1) + timedelta(draw.randrange(90)), "budget": draw.randint(1_000, 9_999) / 4,
        }
        for number, (name, region) in enumerate(NATIONS)
    ]  # fmt: skip


@checked
def tab(rows: Sequence[Row]) -> dict[str, Any]:
    """Return rows as a tab of the stand-in of Google, under their header."""
    return {"rows": [HEADER, *([_cell(value) for value in row.values()] for row in rows)]}


@checked
def edits(rows: Sequence[Row], *, seed: Seed) -> list[Edit]:
    """Return seventeen sheets, each what is left of the rows after an edit; the last one has all rows again.

    Args:
        rows: of the sheet, 20 or more.
        seed: of which rows are hit.
    """
    hit = random.Random(seed).sample(range(len(rows) - 1), 7)
    sheets = [Edit("nothing", tab(rows), rows=tuple(rows)), *_refused(rows, hit)]
    for what, column, value in (
        ("a formula that lost its cell", "n_marketsegment", {"error": "REF"}),
        ("a date without its format", "since", {"serial": 46053}),
        ("a number typed as a text", "n_nationkey", "07"),
        ("a name that became a number", "n_name", 7),
    ):
        sheets.append(_dead(rows, what, hit.pop(), column, value))
    sheets += [_merged(rows, hit.pop()), _beside(rows, hit.pop())]
    moved = _grid([[row[n] for n in (3, 0, 5, 1, 4, 2)] for row in _cells(rows)])
    sheets.append(Edit("columns moved", moved, rows=tuple(rows)))
    gaps = [part for row in _cells(rows) for part in (row, [], [None] * len(HEADER))]
    sheets.append(Edit("empty rows between the others", _grid(gaps), rows=tuple(rows)))
    return sheets


@checked
def states(edits: Sequence[Edit]) -> list[list[Row]]:
    """Return the rows that a table has after each edit: the sheet's, and after a refused one those before."""
    after: list[list[Row]] = []
    for edit in edits:
        after.append(after[-1] if edit.refused else [*edit.rows])
    return after


def _refused(rows: Sequence[Row], hit: list[int]) -> list[Edit]:
    """Return sheets that no rows can be read of."""
    header, *below = _cells(rows)
    place = HEADER.index("n_marketsegment")
    renamed, doubled, hidden = [*header], [*header], [*header]
    renamed[place], doubled[place], hidden[place] = "segment", "n_name", None
    merge = {"startRowIndex": 0, "endRowIndex": 1, "startColumnIndex": place - 1, "endColumnIndex": place + 1}
    cents = [[*row] for row in below]
    cents[hit.pop()][HEADER.index("budget")] = 1234.565
    return [
        Edit("a header renamed", _grid([renamed, *below]), f"lacks n_marketsegment; it has {', '.join(renamed)}"),
        Edit("a header twice", _grid([doubled, *below]), f"has n_name twice, in {TITLE}!B1 and {TITLE}!D1"),
        Edit("cells of the header merged", _grid([hidden, *below], [merge]), "has merged cells"),
        Edit("a column too many", _grid([[*row, "?"] for row in (header, *below)]), f"has ? in {TITLE}!G1"),
        Edit("emptied", _grid([]), "it has nothing"),
        Edit("emptied below its header", _grid([header]), f"{len(rows)} of the {len(rows)} rows"),
        Edit("money with a third decimal", _grid([header, *cents]), "cannot be decimal(12,2)"),
        Edit("a nation twice", _grid([header, *below, below[3]]), "2 rows have one key, n_nationkey 3"),
    ]


def _dead(rows: Sequence[Row], what: str, number: int, column: str, value: Any) -> Edit:
    grid = _cells(rows)
    grid[number + 1][HEADER.index(column)] = value
    return Edit(what, _grid(grid), dead=(_address(number, column),), rows=_without(rows, number))


def _merged(rows: Sequence[Row], number: int) -> Edit:
    """Return a sheet in which the segments of two neighbours are one cell, the upper one's."""
    grid, place = _cells(rows), HEADER.index("n_marketsegment")
    grid[number + 2][place] = None
    merge = {
        "startRowIndex": number + 1, "endRowIndex": number + 3,
        "startColumnIndex": place, "endColumnIndex": place + 1,
    }  # fmt: skip
    dead = tuple(_address(row, "n_marketsegment") for row in (number, number + 1))
    return Edit("two cells merged", _grid(grid, [merge]), dead=dead, rows=_without(rows, number, number + 1))


def _beside(rows: Sequence[Row], number: int) -> Edit:
    grid = _cells(rows)
    grid[number + 1].append("ask Anna")
    return Edit("a note beside a row", _grid(grid), dead=(f"{TITLE}!G{number + 2}",), rows=_without(rows, number))


def _without(rows: Sequence[Row], *numbers: int) -> tuple[Row, ...]:
    return tuple(row for number, row in enumerate(rows) if number not in numbers)


def _address(number: int, column: str) -> str:
    return f"{TITLE}!{chr(ord('A') + HEADER.index(column))}{number + 2}"


def _cells(rows: Sequence[Row]) -> list[list[Any]]:
    return [[*row] for row in tab(rows)["rows"]]


def _grid(cells: Sequence[Sequence[Any]], merges: Sequence[Mapping[str, int]] = ()) -> dict[str, Any]:
    return {"rows": cells, "merges": merges}


def _cell(value: Any) -> Any:
    return {"date": value.isoformat()} if isinstance(value, date) else value
