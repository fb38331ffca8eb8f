"""Trino shows by its rules what plain Python says: random filters over tricky rows, as conditions and in force."""

import math

import pyarrow as pa
import pytest
from access_cases import truth
from hypothesis import given, settings
from test_access_filters import ARROW, COLUMNS, ROWS, TEXT
from trino_lakes import lacking, written

from workbench import access
from workbench.access import conditions, filters
from workbench.access.reading import judged

pytest_plugins = ["living_trino"]
WHY = lacking()
SHOWN = "test_every_engine_answers_as_plain_python shows it by Arrow and DuckDB, as which Trino answers"
pytestmark = [pytest.mark.proof(SHOWN), pytest.mark.skipif(WHY is not None, reason=str(WHY))]
NAME = "trino_tricky.rows"
READERS = 40
ALWAYS = {"key", "t", "b"}  # what readers of cells see of every row
NUMBERED = [{"key": place} | row for place, row in enumerate(ROWS)]


def drawn(count):
    """Random filters, each once."""
    texts = []

    @given(TEXT)
    @settings(max_examples=count)
    def draw(text):
        texts.append(text)

    draw()
    return list(dict.fromkeys(texts))


@pytest.fixture(scope="module")
def tricky(lake):
    """Tricky rows as a table, which the owner sees whole and a hundred readers by a filter each."""
    schema = pa.schema([("key", pa.int64()), *ARROW])
    table = written(lake.catalog, NAME, pa.Table.from_pylist(NUMBERED, schema))
    names = [field.name for field in table.schema().fields]
    columns = {field.name: {"id": field.field_id, "tags": {}} for field in table.schema().fields}
    texts = [text for text in drawn(4 * READERS) if len(text) < 2000][: 2 * READERS]
    readers = {f"reader{number}": text for number, text in enumerate(texts)}
    grants = [{"to": "owner", "by": "owner", "table": NAME}]
    for number, reader in enumerate(readers):
        grants.append({"to": reader, "by": "owner", "table": NAME, "filter": f"f{number}"})
        if number % 2:
            grants.append({"to": reader, "by": "owner", "table": NAME, "columns": sorted(ALWAYS)})
    policy = judged(
        {
            "principals": {"owner": {}} | {reader: {} for reader in readers}, "administrators": ["owner"],
            "tables": {NAME: {"columns": columns}},
            "filters": {f"f{number}": {"table": NAME, "where": text} for number, text in enumerate(readers.values())},
            "grants": grants,
        },
        "test",
    )  # fmt: skip
    lake.put(access.export.trino(policy, {NAME: table}, catalog="lake"))
    yield lake, readers, names
    lake.put(lake.rules)


def plain(row):
    """A row whose NaN equals itself, and whose zeros have their sign."""
    return [("NaN" if math.isnan(value) else repr(value)) if isinstance(value, float) else value for value in row]


def single(value):
    """A number as a column of floats holds it."""
    return pa.scalar(value, pa.float32()).as_py() if value is not None else None


def shown(row, names):
    """A row of Trino's client, whose REAL is the shortest text of it, as a double: 0.1 for 0.10000000149011612."""
    return plain([single(value) if name == "f" else value for name, value in zip(names, row, strict=True)])


HELD = [row | {"f": single(row["f"])} for row in NUMBERED]


def test_conditions_are_those_of_plain_python(tricky):
    lake, _, _ = tricky
    texts = drawn(600)
    for begin in range(0, len(texts), 40):
        several = [conditions.bound(filters.parse(text), COLUMNS) for text in texts[begin : begin + 40]]
        asked = ", ".join(conditions.rendered(condition, "trino") for condition in several)
        answers = lake.ask(f"SELECT {asked} FROM {NAME} ORDER BY key", user="owner")
        assert len(answers) == len(HELD)
        for text, condition, answer in zip(texts[begin:], several, zip(*answers, strict=True), strict=False):
            assert list(answer) == [truth(condition, row) for row in HELD], text


def test_rules_show_each_reader_what_plain_python_shows(tricky):
    lake, readers, names = tricky
    visible = hidden = 0
    for number, (reader, text) in enumerate(readers.items()):
        condition = conditions.bound(filters.parse(text), COLUMNS)
        expected = []
        for row in HELD:
            whole = truth(condition, row) is True
            visible, hidden = visible + whole, hidden + (not whole)
            if whole or number % 2:
                expected.append(plain([row[name] if whole or name in ALWAYS else None for name in names]))
        answer = lake.ask(f"SELECT * FROM {NAME} ORDER BY key", user=reader)
        assert [shown(row, names) for row in answer] == expected, text
    assert len(readers) > READERS and min(visible, hidden) > len(HELD)


def test_a_planted_fault_is_seen(tricky, monkeypatch):
    """NaN as a number: Trino says that it is not greater than 1, and `<>` and NOT show it."""
    lake, _, _ = tricky
    condition = conditions.bound(filters.parse("d <> 1"), COLUMNS)
    expected = [truth(condition, row) for row in HELD]

    def answered():
        asked = conditions.rendered(condition, "trino")
        return [row[0] for row in lake.ask(f"SELECT {asked} FROM {NAME} ORDER BY key", user="owner")]

    assert answered() == expected
    monkeypatch.setattr(conditions, "_operand", lambda p, dialect: conditions.named(p.column, dialect))
    assert answered() != expected
