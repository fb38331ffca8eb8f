"""Keys and partitions over the whole range of their types: histories hold what the source holds."""

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
