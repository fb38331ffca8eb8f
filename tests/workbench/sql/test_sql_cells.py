"""SQL cells: values as session variables, one statement shown, the magic in a shell of IPython."""

import signal
import threading
import weakref
from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal

import pytest
from py4j.protocol import Py4JNetworkError
from waiting import until

from workbench import show, sql
from workbench._base.errors import ArgumentError
from workbench.sql import magic, running, values


@pytest.fixture
def shown(monkeypatch):
    """What was displayed, as (plain, html)."""
    displayed = []
    monkeypatch.setattr(show, "emit", lambda data: displayed.append((data["text/plain"], data["text/html"])))
    return displayed


@pytest.fixture(autouse=True)
def no_values_of_others(monkeypatch):
    monkeypatch.setattr(values, "_names", weakref.WeakKeyDictionary())
    monkeypatch.delenv(running.FRONT_END, raising=False)


VALUES = {
    "TEXT": "it's \"quoted\" '; DROP TABLE t; -- \\n ${env:HOME}",
    "NUMBER": -(2**63),
    "FLOAT": 0.1,
    "EXACT": Decimal("-12.340"),
    "LARGE": Decimal("1E+3"),
    "SMALL": Decimal("0.001"),
    "YES": True,
    "A_DAY": date(2026, 1, 31),
    "NAIVE": datetime(2026, 1, 31, 10, 0, 0, 5),
    "BYTES": b"a\x00b",
    "MISSING": None,
}


def test_each_type_of_value_arrives_as_it_is(spark):
    sql.declare(spark, VALUES)
    [row] = spark.sql(f"SELECT {', '.join(f'session.{name}' for name in VALUES)}").collect()
    assert [bytes(value) if isinstance(value, bytearray) else value for value in row] == list(VALUES.values())
    sql.declare(spark, {"MOMENT": datetime(2026, 1, 31, 10, tzinfo=UTC)})
    [row] = spark.sql(
        "SELECT session.MOMENT = TIMESTAMP'2026-01-31 10:00:00Z' AS equal, typeof(session.MOMENT) AS kind"
    ).collect()
    assert tuple(row) == (True, "timestamp")
    sql.declare(spark, {"TEXT": 7})
    assert spark.sql("SELECT session.TEXT + 1 AS n").collect()[0].n == 8


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"a b": 1}, "'a b' is not the name of a value; expected letters, digits and _"),
        ({"x'; DROP": 1}, '"x\'; DROP" is not the name of a value; expected letters, digits and _'),
        ({"DAY": 1, "day": 2}, "DAY and day are one name for Spark, which takes no account of case"),
        ({"N": 2**63}, f"N is {2**63}, which is beyond 64 bits; give a Decimal"),
        ({"N": Decimal("NaN")}, "N is NaN, and a Decimal of Spark is a number"),
        ({"N": Decimal(10**38)}, "N has 39 digits, a Decimal of Spark at most 38"),
        ({"N": [1]}, "N must be a text, a number, True or False, a date, a datetime, bytes or None, found list"),
        ({"N": "a\x00"}, "N holds the sign of code 0, which is not a text"),
    ],
)
def test_what_is_no_value_is_refused_before_any_is_declared(spark, given, sentence):
    with pytest.raises(ArgumentError) as caught:
        sql.declare(spark, {"FIRST": 1} | given)
    assert str(caught.value) == sentence
    assert values.names(spark) == frozenset()


def test_a_name_that_could_be_a_column_is_refused(spark, namespace, shown):
    """Spark itself takes the column: ten rows for three."""
    spark.sql(f"CREATE TABLE {namespace}.t (DAY INT) USING iceberg")
    spark.sql(f"INSERT INTO {namespace}.t SELECT CAST(id AS INT) FROM range(10)")
    sql.declare(spark, {"DAY": 7, "NAME": f"{namespace}.t"})
    assert spark.sql(f"SELECT * FROM {namespace}.t WHERE DAY >= DAY").count() == 10
    with pytest.raises(
        ArgumentError, match=r"^DAY stands without session\. before it, where a column .*session\.DAY"
    ):
        sql.run(spark, f"SELECT * FROM {namespace}.t WHERE `DAY` >= DAY ORDER BY 1")
    frame = sql.run(spark, "SELECT * FROM IDENTIFIER(session.NAME) WHERE `DAY` >= session.DAY ORDER BY 1")
    assert frame.count() == 3
    assert shown[0][0] == "DAY\n---\n  7\n  8\n  9"


def test_a_keyword_is_no_value_where_it_is_one(spark, namespace, shown):
    """Values TABLE, SELECT and DAY must not lock the session: a keyword stands where no value could."""
    sql.declare(spark, {"TABLE": f"{namespace}.k", "SELECT": 1, "DAY": 7, "ORDER": 2, "VALUES": 3})
    for statement in (
        f"CREATE TABLE {namespace}.k (DAY INT) USING iceberg",
        f"INSERT INTO TABLE {namespace}.k VALUES (session.DAY)",
        "SELECT session.SELECT + session.`VALUES` AS n",
        "SELECT `DAY` - INTERVAL 1 DAY FROM (SELECT current_date() AS `DAY`) ORDER BY 1",
        "SELECT * FROM IDENTIFIER(session.TABLE) ORDER BY 1",
        "WITH DAY AS (SELECT 1 AS a) SELECT a DAY FROM `DAY` ORDER BY 1",
        f"DESCRIBE TABLE {namespace}.k",
    ):
        sql.run(spark, statement)
    for statement, name in (
        (f"SELECT DAY FROM {namespace}.k", "DAY"),
        (f"SELECT * FROM {namespace}.k WHERE `DAY` = TABLE", "TABLE"),
        (f"SELECT count(*) FROM {namespace}.k GROUP BY DAY", "DAY"),
    ):
        with pytest.raises(ArgumentError, match=rf"^{name} stands without session\."):
            sql.run(spark, statement)


def test_what_is_called_session_does_not_win_over_a_value(spark, namespace, shown):
    """A table, an alias, a common table expression and a column of that name: Spark alone takes theirs."""
    table = f"{namespace}.session"
    spark.sql(f"CREATE TABLE {table} (id INT, day INT) USING iceberg")
    spark.sql(f"INSERT INTO {table} VALUES (1, 1), (2, 2), (3, 3)")
    spark.sql(f"CREATE TABLE {namespace}.visits (session STRUCT<day: INT>, id INT) USING iceberg")
    spark.sql(f"INSERT INTO {namespace}.visits VALUES (named_struct('day', 2), 1), (named_struct('day', 1), 2)")
    sql.declare(spark, {"DAY": 1})
    assert spark.sql(f"SELECT id FROM {table} WHERE day = session.DAY").count() == 3  # Spark's own
    for statement in (
        f"SELECT id FROM {table} WHERE day = session.DAY",
        f"SELECT id FROM {table} WHERE day = SESSION.`day`",
        f"WITH session AS (SELECT * FROM {table}) SELECT id FROM session WHERE day = session.DAY",
        f"SELECT session.id FROM {namespace}.visits session CROSS JOIN {table} t WHERE t.day = session.DAY",
    ):
        with pytest.raises(ArgumentError, match="the statement calls something session, which would win over"):
            sql.run(spark, statement)
    for statement in (
        f"SELECT id FROM {table} WHERE day = system.session.DAY",
        f"SELECT id FROM {namespace}.visits v WHERE v.session.day = system.session.DAY",
        f"SELECT id - 1 FROM {namespace}.visits WHERE session.DAY = 1 AND id = 2",
    ):
        shown.clear()
        sql.run(spark, statement, ordered=False)
        assert shown[0][0].splitlines()[-1].split()[0] in "12", statement
    rows = sql.run(spark, f"SELECT count(*) AS n FROM {namespace}.visits WHERE session.DAY = 1").collect()
    assert rows[0].n == 2  # the value, whatever the column of that name holds


def test_an_interrupted_statement_ends(spark, shown):
    """Its jobs are cancelled, so that the next statement does not wait for them.

    Py4J ends the connections of all threads at an interrupt, without waiting: those of eight made the call that
    cancels fail, each time.
    """
    others, over = 8, threading.Event()
    connected = threading.Barrier(others + 1)

    def connect():
        spark.catalog.currentCatalog()
        connected.wait()
        over.wait()

    threads = [threading.Thread(target=connect, daemon=True) for _ in range(others)]
    for thread in threads:
        thread.start()
    connected.wait()
    slow = (
        "SELECT count(*) FROM range(0, 4000, 1, 400) WHERE java_method('java.lang.Thread', 'sleep', 20L) IS NULL"
    )
    tracker = spark.sparkContext.statusTracker()
    spark_own = signal.signal(signal.SIGINT, signal.default_int_handler)  # as a kernel does for each cell
    timer = threading.Timer(3, signal.pthread_kill, [threading.main_thread().ident, signal.SIGINT])
    timer.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            sql.run(spark, slow)
    finally:
        timer.cancel()
        signal.signal(signal.SIGINT, spark_own)
        over.set()
        for thread in threads:
            thread.join()
    until(lambda: not tracker.getActiveStageIds(), seconds=20)
    sql.run(spark, "SELECT 1 AS n")
    assert shown[-1][0].splitlines()[-1].strip() == "1"


def test_an_interrupt_is_said_where_the_connection_ended_with_it(spark, monkeypatch):
    """PySpark itself calls the JVM while an interrupt leaves it, and an error of that call stands over it."""
    calls = []

    def collect(df):
        try:
            raise KeyboardInterrupt
        finally:
            raise Py4JNetworkError("Answer from Java side is empty")

    def cancel(tag):
        calls.append(tag)
        if len(calls) == 1:
            raise Py4JNetworkError("Answer from Java side is empty")

    monkeypatch.setattr(type(spark.range(1)), "collect", collect)
    monkeypatch.setattr(spark.sparkContext, "cancelJobsWithTag", cancel)
    with pytest.raises(KeyboardInterrupt):
        sql.run(spark, "SELECT 1 AS n")
    assert len(calls) == 2 and len(set(calls)) == 1
    assert calls[0] not in spark.sparkContext.getJobTags()


def test_a_connection_that_is_gone_is_told_at_once(spark, monkeypatch):
    """Nobody interrupted: the JVM is dead, and to ask it again is to let a person wait for nothing."""
    asked = []

    def gone(*names):
        asked.append(names)
        raise Py4JNetworkError("Answer from Java side is empty")

    monkeypatch.setattr(type(spark.range(1)), "collect", gone)
    monkeypatch.setattr(spark.sparkContext, "removeJobTag", gone)
    with pytest.raises(Py4JNetworkError):
        sql.run(spark, "SELECT 1 AS n")
    spark.sparkContext.clearJobTags()
    assert len(asked) == 2  # the rows, and the tag once


def test_numbers_can_be_copied(spark, shown):
    """A text neither rounds nor divides: an id is an id, and a small share is not 0.00."""
    sql.run(
        spark,
        "SELECT 6123456789012345678 AS id, 0.0004D AS share, 0.1D + 0.2D AS sum, 1234567.891D AS large, 1e-300D AS tiny, "
        "CAST(0.1 AS FLOAT) AS f, CAST(0 AS DECIMAL(38,18)) AS d, CAST(NULL AS DOUBLE) AS n, CAST('NaN' AS DOUBLE) AS no",
    )
    values = shown[0][0].splitlines()[2].split()
    assert values == [
        "6123456789012345678",
        "0.0004",
        "0.3",
        "1234567.891",
        "1e-300",
        "0.1",
        f"0.{'0' * 18}",
        "null",
        "NaN",
    ]


@pytest.mark.parametrize(
    ("rows", "last"), [(0, "-"), (1, "1"), (3, "3"), (4, "… and more than 3 rows"), (5, "… and more than 3 rows")]
)
def test_rows_are_cut_at_the_limit(spark, shown, rows, last):
    sql.run(spark, f"SELECT id + 1 AS n FROM range({rows}) ORDER BY n", limit=3)
    assert shown[0][0].splitlines()[-1].strip() == last
    assert len(shown[0][0].splitlines()) == 2 + min(rows, 3) + (rows > 3)


def test_several_rows_need_an_order_where_nobody_looks_on(spark, shown, monkeypatch):
    with pytest.raises(ArgumentError, match="several rows come in any order: write ORDER BY"):
        sql.run(spark, "SELECT * FROM range(2)")
    sql.run(spark, "SELECT * FROM range(1)")
    sql.run(spark, "SELECT * FROM range(2)", ordered=False)
    monkeypatch.setenv(running.FRONT_END, "/a/notebook.ipynb")
    sql.run(spark, "SELECT * FROM range(2)")
    assert len(shown) == 3


def test_a_command_without_rows_shows_nothing(spark, namespace, shown):
    sql.run(spark, f"CREATE TABLE {namespace}.made (id BIGINT) USING iceberg;")
    assert shown == []
    sql.run(spark, f"DESCRIBE {namespace}.made")
    assert shown[0][0].splitlines()[2].split()[:2] == ["id", "bigint"]


def test_markup_in_names_and_values_is_text(spark, shown):
    sql.run(spark, "SELECT '<script>alert(1)</script>' AS `<b>`")
    assert "<script>" not in shown[0][1] and "&lt;script&gt;" in shown[0][1] and "&lt;b&gt;" in shown[0][1]


def test_what_is_too_large_for_a_notebook_is_cut(spark, shown):
    sql.run(spark, "SELECT id, repeat('x', 10000) AS a FROM range(1000) ORDER BY id", limit=1000)
    assert len(shown[0][0]) < 2 * running.MOST
    assert shown[0][0].splitlines()[-1].endswith("rows of the first 1,000 that are too long")
    many = ", ".join(f"{n} AS column_{n}" for n in range(4000))
    sql.run(spark, f"SELECT {many}")
    assert len(shown[1][1]) < 2 * running.MOST and shown[1][0].splitlines()[-1].endswith("more columns")


def test_what_spark_refuses_is_its_sentence_without_a_plan(spark):
    with pytest.raises(sql.StatementError) as caught:
        sql.run(spark, "SELECT nothing_of_that_name FROM range(1)")
    assert "nothing_of_that_name" in str(caught.value) and "'Project" not in str(caught.value)
    assert caught.value.__cause__ is None
    with pytest.raises(sql.StatementError, match="PARSE_SYNTAX_ERROR"):
        sql.run(spark, "SELEC 1")


@pytest.fixture
def shell():
    """A shell of IPython, gone afterwards."""
    from IPython.core.interactiveshell import InteractiveShell

    yield InteractiveShell.instance()
    InteractiveShell.clear_instance()


def test_a_cell_gives_its_name_the_lazy_frame(spark, shell, shown):
    sql.cells(spark, LEAST=7)
    shell.run_cell_magic("sql", "late --limit 2", "SELECT id FROM range(10) WHERE id >= session.LEAST ORDER BY id")
    assert shown[0][0].splitlines()[-2:] == [" 8", "… and more than 2 rows"]
    assert shell.user_ns["late"].count() == 3
    sql.cells(spark, LEAST=9)  # the frame reads the value when it runs, or keeps it: both have one answer here
    shell.run_cell_magic("sql", "", "SELECT session.LEAST AS least")
    assert shown[1][0].splitlines()[-1].strip() == "9"


def test_a_refused_cell_shows_a_sentence_and_no_lines_of_ours(spark, shell, capsys):
    sql.cells(spark)
    for cell, said in (
        ("%%sql\nSELECT nothing", "StatementError: [UNRESOLVED_COLUMN"),
        ("%%sql class\nSELECT 1", "ArgumentError: 'class' behind %%sql is not a name of Python"),
    ):
        assert not shell.run_cell(cell).success
        output = capsys.readouterr().out
        assert said in output and "magic.py" not in output and "Traceback" not in output


def test_without_ipython_values_are_declared(spark, monkeypatch):
    monkeypatch.setattr(magic, "_shell", lambda: None)
    sql.cells(spark, ALONE=3)
    assert spark.sql("SELECT session.ALONE AS n").collect()[0].n == 3


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ("a b", "'a b' behind %%sql is not a name of Python; %%sql [NAME] [--limit N]"),
        ("1a", "'1a' behind %%sql is not a name of Python; %%sql [NAME] [--limit N]"),
        ("--limit", "--limit must be an integer of at least 1, found ''; %%sql [NAME] [--limit N]"),
        ("--limit 0", "--limit must be an integer of at least 1, found '0'; %%sql [NAME] [--limit N]"),
        ("class", "'class' behind %%sql is not a name of Python; %%sql [NAME] [--limit N]"),
        ("SELECT 1", "'SELECT 1' behind %%sql is not a name of Python; %%sql [NAME] [--limit N]"),
    ],
)
def test_a_wrong_line_is_refused(line, sentence):
    with pytest.raises(ArgumentError) as caught:
        magic._read(line)
    assert str(caught.value) == sentence


def test_what_is_no_session_and_no_frame_is_refused():
    with pytest.raises(ArgumentError, match="^spark must be a SparkSession, found None$"):
        sql.cells(None)
    with pytest.raises(ArgumentError, match="^df must be a DataFrame of a classic session, found builtins.str$"):
        sql.plan("SELECT 1")


def test_the_plan_of_a_query(spark, namespace):
    table = f"{namespace}.parts"
    spark.sql(f"CREATE TABLE {table} (id BIGINT, part INT) USING iceberg PARTITIONED BY (part)")
    spark.sql(f"INSERT INTO {table} SELECT id, CAST(id % 5 AS INT) FROM range(50)")
    sql.declare(spark, {"PART": 3})
    frame = spark.sql(
        f"SELECT part, count(*) AS n FROM {table} WHERE part = session.PART AND id > 0 GROUP BY part"
    )
    told = sql.plan(frame)
    assert (told.files_read, told.files) == (1, 5)
    assert told.steps[-1].name == f"Scan lake.{table}" and {step.rows for step in told.steps} == {None}
    frame.collect()
    told = sql.plan(frame)
    assert (told.steps[-1].rows, told.steps[0].rows) == (10, 1)
    assert told == sql.plan(frame) and "#" not in str(told)


def test_days_and_times_of_each_year_arrive_as_they_are(spark):
    """PySpark's own parameters shift what lies before 1582 by days, and fail without a word below the year 1,000."""
    moments = [datetime(1, 1, 1), datetime(999, 12, 31, 23), datetime(1500, 3, 1), datetime(1582, 10, 4), datetime(1582, 10, 15),
               datetime(9999, 12, 31, 23, 59, 59, 999_999)]  # fmt: skip
    east = timezone(timedelta(hours=5, minutes=53, seconds=28))
    for moment in moments:
        aware = moment.replace(tzinfo=UTC if moment.year == 1 else east)
        sql.declare(spark, {"D": moment.date(), "N": moment, "A": aware})
        row = spark.sql(
            "SELECT CAST(session.D AS STRING) AS d, CAST(session.N AS STRING) AS n, unix_micros(session.A) AS a"
        ).first()
        text = moment.isoformat(" ").removesuffix(".000000")
        assert (row.d, row.n) == (moment.date().isoformat(), text)
        assert timedelta(microseconds=row.a) == aware - datetime(1970, 1, 1, tzinfo=UTC)
    with pytest.raises(ValueError, match="FIRST is .* outside the years 1 to 9999 in UTC"):
        sql.declare(spark, {"FIRST": datetime(1, 1, 1, tzinfo=east)})
