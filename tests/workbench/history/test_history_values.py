"""Keys and partitions over the whole range of their types: histories hold what the source holds."""

import re

import pytest

from workbench import history

# SQL literals of each type; the first of a type that takes it is null
EDGES = {
    "DATE": ("NULL", "DATE'0001-01-01'", "DATE'0999-12-31'", "DATE'1582-10-15'", "DATE'1969-12-31'", "DATE'9999-12-31'"),
    "TIMESTAMP": ("NULL", "TIMESTAMP'0001-01-01 00:00:00'", "TIMESTAMP'1969-12-31 23:59:59.999999'",
                  "TIMESTAMP'9999-12-31 23:59:59.999999'"),
    "TIMESTAMP_NTZ": ("NULL", "TIMESTAMP_NTZ'0001-01-01 00:00:00'", "TIMESTAMP_NTZ'9999-12-31 23:59:59.999999'"),
    "STRING": ("NULL", "''", "' '", "'null'", "'a]b'", "'two\nlines'", "'Ä%/=\\''", "repeat('x', 100)"),
    "BINARY": ("NULL", "X''", "X'00'", "X'0A'", "X'FF'"),
    "BOOLEAN": ("NULL", "true", "false"),
    "BIGINT": ("NULL", "-9223372036854775808L", "0L", "9223372036854775807L"),
    "DECIMAL(38,6)": ("NULL", "-99999999999999999999999999999999.999999", "0.000001BD", "99999999999999999999999999999999.999999"),
    "FLOAT": ("NULL", "float('NaN')", "float('Infinity')", "float('-Infinity')", "float('0.0')"),
    "DOUBLE": ("NULL", "double('NaN')", "double('Infinity')", "double('-Infinity')", "1e-320D"),
}  # fmt: skip
NO_KEYS = ("FLOAT", "DOUBLE")  # refused: such values name no row


def followed(spark, source, target, key):
    """Build a history twice with an update of all rows but one between; returns its (version, is_current, v) rows."""
    history.build(spark, source, target, key=key)
    spark.sql(f"UPDATE {source} SET v = 2 WHERE n > 0")
    history.build(spark, source, target, key=key)
    # without the value itself: Python's datetime.fromtimestamp cannot make the first day of year 1
    rows = spark.table(target).select("n", "version", "is_current", "v").collect()
    return sorted(map(tuple, rows))


def right(many):
    """The rows of `followed` for a source of so many rows."""
    changed = [row for n in range(1, many) for row in ((n, 1, False, 1), (n, 2, True, 2))]
    return [(0, 1, True, 1), *changed]


def made(spark, name, kind, values, more=""):
    spark.sql(f"CREATE TABLE {name} (value {kind}, n INT, v INT) USING iceberg {more}")
    rows = ", ".join(f"({value}, {n}, 1)" for n, value in enumerate(values))
    spark.sql(f"INSERT INTO {name} VALUES {rows}")
    return name


def test_the_first_day_is_a_key_and_a_null_a_partition_like_others(spark, namespace):
    """The least and greatest values prune files by literals, and the listed ones by an IN that has to bear nulls."""
    source, days, words = f"{namespace}.source", EDGES["DATE"][1:], EDGES["STRING"]
    spark.sql(
        f"CREATE TABLE {source} (day DATE, word STRING, n INT, v INT) USING iceberg PARTITIONED BY (day, word)"
    )
    rows = [f"({day}, {word}, {n}, 1)" for n, (day, word) in enumerate(zip(days, words, strict=False))]
    spark.sql(f"INSERT INTO {source} VALUES {', '.join(rows)}")
    assert followed(spark, source, f"{namespace}.target", "day") == right(len(days))


@pytest.mark.proof("days and texts, the types that were wrong once, are in the check")
@pytest.mark.parametrize("kind", EDGES)
def test_every_value_is_a_partition(spark, namespace, kind):
    source = made(spark, f"{namespace}.source", kind, EDGES[kind], "PARTITIONED BY (value)")
    assert followed(spark, source, f"{namespace}.target", "n") == right(len(EDGES[kind]))


@pytest.mark.proof("days are in the check")
@pytest.mark.parametrize("kind", [kind for kind in EDGES if kind not in NO_KEYS])
def test_every_value_but_null_is_a_key(spark, namespace, kind):
    values = EDGES[kind][1:]
    source = made(spark, f"{namespace}.source", kind, values)
    assert followed(spark, source, f"{namespace}.target", "value") == right(len(values))


@pytest.mark.parametrize(
    ("kind", "value", "shown"),
    [("STRING", "'two\nlines, a]b, \"c\"'", 'two\nlines, a]b, "c"'), ("BINARY", "X'0AFF'", "X'0AFF'")],
)
def test_a_key_twice_is_named_whatever_it_holds(spark, namespace, kind, value, shown):
    source = made(spark, f"{namespace}.source", kind, [value, value])
    with pytest.raises(history.KeyTwice) as error:
        history.build(spark, source, f"{namespace}.target", key="value")
    assert f"has two rows with value = {shown} after one commit" in str(error.value)


BEGUN = pytest.mark.proof("the history that is not begun shows it, of which the wrong commit is one of the first")


@pytest.mark.parametrize("begun", [False, pytest.param(True, marks=BEGUN)])
def test_a_history_goes_on_when_a_double_key_was_corrected(spark, namespace, begun):
    """By the name of the commit that the message says; a compaction between changes nothing."""
    source, target = made(spark, f"{namespace}.source", "STRING", ["'a'", "'b'"]), f"{namespace}.target"
    if begun:
        history.build(spark, source, target, key="value")
    spark.sql(f"INSERT INTO {source} VALUES ('a', 7, 7), ('c', 2, 1)")
    wrong = snapshot(spark, source)
    spark.sql(f"UPDATE {source} SET v = 2 WHERE value = 'c'")
    still = snapshot(spark, source)
    spark.sql(f"CALL system.rewrite_data_files(table => '{source}', options => map('rewrite-all', 'true'))")
    packed = snapshot(spark, source)
    twice = f"value = a after one commit, snapshot {wrong}; .*Correct it by a commit, then build with together="
    with pytest.raises(history.KeyTwice, match=twice + re.escape(f"[{wrong}, {still}, {packed}]")):
        history.build(spark, source, target, key="value")
    with pytest.raises(ValueError, match=f"snapshot {packed} is to be taken together with the commit after it"):
        history.build(spark, source, target, key="value", together=[wrong, still])
    spark.sql(f"DELETE FROM {source} WHERE n = 7")
    with pytest.raises(
        history.KeyTwice, match=f"commit, snapshot {still}; .*A later commit has corrected it"
    ) as error:
        history.build(spark, source, target, key="value", together=[wrong])
    assert f"together=[{wrong}, {still}, {packed}]" in str(error.value)
    with pytest.raises(history.HistoryExpired, match=f"{source} has no snapshot 5"):
        history.build(spark, source, target, key="value", together=[5])
    with pytest.raises(ValueError, match="it sees each commit apart, and some are to be taken together"):
        history.build(spark, source, target, key="value", together=[wrong, still], back_end="changelog view")
    assert history.build(spark, source, target, key="value", together=[wrong, still]).commits == 2 - begun
    spark.sql(f"UPDATE {source} SET v = 3 WHERE value = 'a'")
    assert history.build(spark, source, target, key="value", together=[wrong, still]).commits == 1
    rows = spark.table(target).select("value", "version", "is_current", "v", "change_ordinal").collect()
    assert sorted(map(tuple, rows)) == [
        ("a", 1, False, 1, 0), ("a", 2, True, 3, 2), ("b", 1, True, 1, 0), ("c", 1, True, 2, 1),
    ]  # fmt: skip


def snapshot(spark, table):
    return spark.sql(f"SELECT snapshot_id FROM {table}.refs WHERE name = 'main'").first()[0]
