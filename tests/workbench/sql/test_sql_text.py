"""What is read off a statement without Spark."""

import pytest

from workbench._base.errors import ArgumentError
from workbench.sql import text

NAMES = {"DAY", "TABLE_NAME", "limit"}


@pytest.mark.parametrize(
    "statement",
    [
        "SELECT * FROM t WHERE day = DAY",
        "SELECT DAY FROM t",
        "SELECT a, DAY, b FROM t",
        "DELETE FROM t WHERE d < DAY",
        "SELECT '--' , DAY",
        "SELECT r'\\', DAY",
        "SELECT 'it''s', DAY",
        "SELECT 'it\\'s', DAY",
        "SELECT /* a /* b */ c */ DAY",
        "SELECT 1 -- a\n , DAY",
        "SELECT 1 -- a\\\n, hidden\n, DAY",
        "SELECT count(DAY) FROM t",
        "SELECT date_add(DAY, 1)",
        "SELECT CASE WHEN x THEN DAY END FROM t",
    ],
)
def test_a_value_without_session_is_seen(statement):
    assert [part.text for part in text.unqualified(text.parts(statement), NAMES)] == ["DAY"]


@pytest.mark.parametrize(
    "statement",
    [
        "SELECT * FROM t WHERE day = session.DAY",
        "SELECT * FROM t WHERE day = system.session.DAY AND Day = 1",
        "SELECT 'DAY', \"DAY\", r'DAY', `DAY`, t.DAY, DAY.x FROM t",
        "SELECT 1 -- DAY\n",
        "SELECT 1 -- a\\\n, DAY\n",
        "SELECT /* DAY /* DAY */ DAY */ 1",
        "SELECT now() - INTERVAL 1 DAY, INTERVAL '1' DAY, INTERVAL n DAY, INTERVAL (n) DAY FROM t",
        "SELECT INTERVAL '1' YEAR TO DAY",
        "SELECT EXTRACT(DAY FROM ts), DAY(ts), datediff(DAY, a, b), timestampadd(DAY, 1, ts) FROM t",
        "SELECT 1 AS DAY",
        "SET VAR DAY = DATE'2026-01-31'",
        "CALL s.p(DAY => 1)",
    ],
)
def test_what_is_no_value_is_passed_over(statement):
    assert list(text.unqualified(text.parts(statement), NAMES)) == []


def test_one_statement():
    assert text.single("SELECT ';' -- ;\n ; \n-- behind\n;") == "SELECT ';' -- ;"
    assert text.single(" SHOW TABLES ") == "SHOW TABLES"
    for statement, sentence in (
        ("SELECT 1; SELECT 2", "the cell has several statements; write one a cell"),
        (" -- nothing\n", "the cell has no statement; expected one of Spark SQL"),
        (";", "the cell has no statement; expected one of Spark SQL"),
        ("SELECT /* 1", "a comment that begins with /* is not closed"),
    ):
        with pytest.raises(ArgumentError) as caught:
            text.single(statement)
        assert str(caught.value) == sentence


@pytest.mark.parametrize(
    ("statement", "asks", "ordered"),
    [
        ("SELECT * FROM t ORDER BY a", True, True),
        ("SELECT * FROM (SELECT * FROM t ORDER BY a)", True, False),
        ("SELECT row_number() OVER (ORDER BY a) FROM t", True, False),
        ("WITH a AS (SELECT 1 ORDER BY 1) SELECT * FROM a", True, False),
        ("(SELECT 1) UNION (SELECT 2) order  by 1", True, True),
        ("SELECT 'ORDER BY' FROM t -- ORDER BY a", True, False),
        ("WITH a AS (SELECT 1) INSERT INTO t SELECT * FROM a", False, False),
        ("FROM t INSERT INTO u SELECT *", False, False),
        ("SHOW TABLES", False, False),
        ("VALUES (1), (2)", True, False),
    ],
)
def test_what_a_statement_is(statement, asks, ordered):
    parts = text.parts(statement)
    assert (text.asks_for_rows(parts), text.is_ordered(parts)) == (asks, ordered)
