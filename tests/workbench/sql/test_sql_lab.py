"""What a SQL cell shows under `workbench lab`: a typed table beside the text and HTML that it shows anywhere."""

import pytest

from workbench import show, sql
from workbench.sql import running

STATEMENT = """
SELECT id, if(id = 0, NULL, cast(id * 12345.678 AS DECIMAL(12, 3))) AS price, id = 0 AS first,
  if(id = 0, double('NaN'), id * 1.5D) AS share, DATE'2026-01-31' AS day, if(id = 1, '<b>', 'null') AS text
FROM range(3) ORDER BY id
"""


@pytest.fixture
def shown(monkeypatch):
    """What was shown, a dict of media a time."""
    media = []
    monkeypatch.setattr(show, "emit", media.append)
    return media


@pytest.fixture
def under_lab(monkeypatch):
    monkeypatch.setenv(running.LAB, "1")
    monkeypatch.setenv(running.FRONT_END, "a.ipynb")


def test_under_lab_values_keep_their_types_and_digits(spark, shown, under_lab):
    sql.run(spark, STATEMENT, limit=2)
    [media] = shown
    assert media[running.TABLE] == {
        "columns": [
            {"name": "id", "type": "bigint"}, {"name": "price", "type": "decimal(12,3)"},
            {"name": "first", "type": "boolean"}, {"name": "share", "type": "double"},
            {"name": "day", "type": "date"}, {"name": "text", "type": "string"},
        ],
        "rows": [["0", None, "true", "NaN", "2026-01-31", "null"],
                 ["1", "12345.678", "false", "1.5", "2026-01-31", "<b>"]],
        "note": "… and more than 2 rows",
    }  # fmt: skip
    assert "&lt;b&gt;" in media["text/html"]


@pytest.mark.parametrize("variable", [running.LAB, running.FRONT_END])
def test_elsewhere_nothing_is_added(spark, shown, under_lab, monkeypatch, variable):
    monkeypatch.delenv(variable)
    sql.run(spark, STATEMENT, limit=2)
    assert [set(media) for media in shown] == [{"text/plain", "text/html"}]


def test_the_table_is_cut_where_the_text_is(spark, shown, under_lab):
    sql.run(spark, "SELECT id, repeat('x', 499) AS long FROM range(1000) ORDER BY id", limit=1000)
    [media] = shown
    count = len(media[running.TABLE]["rows"])
    assert count == media["text/plain"].count("x" * 499) < 1000 and "too long" in media[running.TABLE]["note"]
