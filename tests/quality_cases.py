"""Rules of every type on values that engines take differently, for a session of Spark and for one of PySail.

`write` leaves Parquet files of tables and a reference; `answers` says what rules give in a session. As a program it asks
PySail, in a process of its own, because its client and a classic session cannot live in one:

    python -m quality_cases FOLDER < what to ask, a list of [table, rules, composite, time zone] as JSON
"""

import json
import math
import os
import struct
import subprocess
import sys
from contextlib import contextmanager
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

NOW = datetime(2024, 3, 10, 12, tzinfo=UTC)
FIRST, LAST = datetime(1, 1, 1), datetime(9999, 12, 31, 23, 59, 59, 999999)
SCHEMA = pa.schema(
    [
        ("id", pa.int64()), ("n", pa.int64()), ("i", pa.int32()), ("h", pa.int16()), ("d", pa.decimal128(12, 2)),
        ("big", pa.decimal128(38, 10)), ("x", pa.float64()), ("f", pa.float32()), ("s", pa.string()), ("b", pa.bool_()),
        ("t", pa.date32()), ("ts", pa.timestamp("us", tz="UTC")), ("tn", pa.timestamp("us")), ("a.b", pa.string()),
        ("bytes", pa.binary()), ("list", pa.list_(pa.float64())), ("d18", pa.decimal128(18, 3)), ("d28", pa.decimal128(28, 9)),
    ]
)  # fmt: skip
(OTHER_NAN,) = struct.unpack("d", b"\x01\0\0\0\0\0\xf8\xff")  # of another sign and other bits
NAN, INF, TOP = math.nan, math.inf, Decimal("9" * 28 + "." + "9" * 10)
COLUMNS = {
    "n": [0, 1, 2, 2, 2**63 - 1, -(2**63), 9007199254740993, 9007199254740992, None, -7],
    "i": [0, 1, -1, 2**31 - 1, -(2**31), 7, 7, None, 3, 4],
    "h": [0, 1, -1, 2**15 - 1, -(2**15), 7, 7, None, 3, 4],
    "d": [Decimal(v) for v in ("0.00", "0.10", "2.50", "2.51", "-10.00", "50.00", "9999999999.99", "-9999999999.99", "1.00")]
    + [None],
    "big": [TOP, TOP.copy_negate(), Decimal(0), Decimal("0.0000000001"), Decimal("1.5"), Decimal("-0.0000000001"), TOP, None, Decimal(7), TOP],
    # their sums have more digits than they themselves, and than a long
    "d18": [Decimal("999999999999999.999")] * 9 + [None],
    "d28": [Decimal("-9999999999999999999.999999999")] * 8 + [None, Decimal("0.000000001")],
    "x": [0.0, -0.0, NAN, INF, -INF, 0.1, 1e300, None, 2.5, OTHER_NAN],
    "f": [0.0, -0.0, NAN, INF, -INF, 0.1, 3e38, None, 2.5, 16777217.0],
    "s": ["", " ", "\t \x0b", "é𝔘", "12", " +12\n", "2147483648", "-2147483648", None, "٣"],
    "b": [True, False, True, None, True, False, True, True, None, True],
    "t": [date(1, 1, 1), date(9999, 12, 31), date(1582, 10, 10), date(1969, 12, 31), date(2024, 3, 9), date(2024, 3, 10), None]
    + [date(2024, 3, day) for day in (8, 9, 11)],
    "ts": [FIRST, LAST, datetime(1969, 12, 31, 23, 59, 59, 999999), datetime(2024, 3, 10, 12), datetime(2024, 3, 10), None]
    + [datetime(2024, 3, 9, *time) for time in ((15,), (12,), (23, 59, 59, 999999), (0,))],
    "a.b": ["a\n", "a", "a\u0085b", "a\rb", "ab", "AB", "ı", "-3.5", "TRUE", None],
}  # fmt: skip
MORE = [
    "a b",
    "0" * 30 + "7",
    "9223372036854775807",
    "9223372036854775808",
    "1e3",
    "n",
    "\x7fyes\x00",
    "e\u0301",
    "\u2003",
    "x-y",
]
REFERENCE = pa.table(
    {
        "k": pa.array([None, 1, 2, 2, 9007199254740992], pa.int64()), "w": ["", "é𝔘", "é𝔘", None, "ab"],
        "x": [-0.0, OTHER_NAN, 2.5, 2.5, None], "d": pa.array([Decimal("2.50"), None, None, None, None], pa.decimal128(12, 2)),
    }
)  # fmt: skip

# rule type to rules that both answer
RULES = {
    "RowCount": ["RowCount = 20", "RowCount between 20 and 30"],
    "ColumnCount": ["ColumnCount = 16"],
    "ColumnExists": ['ColumnExists "A.B"', 'ColumnExists "none"'],
    "IsComplete": ['IsComplete "id"', 'IsComplete "a.b"', 'IsComplete "list"'],
    "Completeness": ['Completeness "x" >= 0.9', 'Completeness "s" = 0.95', 'Completeness "bytes" > 0.5'],
    "IsUnique": [f'IsUnique "{column}"' for column in ("id", "x", "f", "n", "s", "big", "t", "ts", "b")] + ['IsUnique "x" "s"'],
    "Uniqueness": ['Uniqueness "x" > 0.5', 'Uniqueness "f" between 0 and 0.01', 'Uniqueness "b" "t" > 0.1'],
    "IsPrimaryKey": ['IsPrimaryKey "id"', 'IsPrimaryKey "x" "id"', 'IsPrimaryKey "a.b"'],
    "DistinctValuesCount": [f'DistinctValuesCount "{column}" > 7' for column in ("x", "f", "s", "big", "ts", "tn", "d")],
    "Entropy": ['Entropy "x" > 1.1234567', 'Entropy "s" < 3.3333333', 'Entropy "b" between 0.1 and 0.7'],
    "ColumnValues": [
        *(f'ColumnValues "{column}" {condition}' for column in ("x", "f", "n", "i", "h", "d", "big") for condition in (
            "= 0", "!= 0", "> 0", ">= 0", "< 0", "<= 0", "between -1 and 3", "not between 0 and 2", "in [0, 1]", "not in [0, 2.5]",
            "= NULL", "!= NULL", "in [0, NULL]", "> -1e-7".replace("1e-7", "0.0000001"), "< 99999999999999999999999999999")),
        'ColumnValues "f" = 0.1', 'ColumnValues "x" = 0.1 with threshold > 0.04', 'ColumnValues "f" in [0.1, 16777217]',
        'ColumnValues "n" = 9007199254740993 with threshold between 0.05 and 0.5',
        'ColumnValues "n" in [9223372036854775807, -9223372036854775808] with threshold >= 0.1',
        'ColumnValues "big" > 9999999999999999999999999999.9999999998 with threshold = 0.3',
        'ColumnValues "big" in [0.0000000001, -0.0000000001] with threshold >= 0.1', 'ColumnValues "big" < 1.50000000001',
        'ColumnValues "d" between 2.505 and 2.515 with threshold > 0',
        'ColumnValues "s" in ["é𝔘", "12", EMPTY, NULL] with threshold > 0.1', 'ColumnValues "s" != EMPTY with threshold > 0.5',
        'ColumnValues "s" = WHITESPACES_ONLY with threshold > 0', 'ColumnValues "s" not in [WHITESPACES_ONLY, "12"] with threshold > 0',
        'ColumnValues "s" = NULL', 'ColumnValues "s" != NULL', 'ColumnValues "a.b" in ["AB", "ab"] with threshold > 0',
        'ColumnValues "b" = "true" with threshold > 0.5', 'ColumnValues "b" in ["false", NULL] with threshold > 0.5',
        *(f'ColumnValues "{column}" {word} "{pattern}" with threshold > 0.1' for column in ("s", "a.b") for word in ("matches", "not matches")
          for pattern in ("[A-Z]{2}[0-9]*", r"\d+", ".", "a.b", r"\s*", r"\S*\w", "a|ab", "(a|b)+?", r"^-?[0-9]+(\.[0-9]+)?$", "é.",
                          "[^a]*", r"[\d\s]*", r"a\n", "", "[-a-c.]{1,3}", r"[^\w]+", "e.", "x-y|a b")),
        *(f'ColumnValues "{column}" {condition}' for column in ("t", "ts", "tn") for condition in (
            '> "2024-03-09"', '<= "2024-03-09" with threshold > 0.3', 'between "0001-01-01" and "9999-12-31"', '= "9999-12-31" with threshold > 0.01',
            'in ["2024-03-09", NULL] with threshold > 0.05', "< now()", ">= (now() - 24 hours) with threshold > 0.2", "not in [now()] with threshold > 0.5",
            '!= "0001-01-01"', "= NULL")),
    ],
    "ColumnLength": ['ColumnLength "s" < 40', 'ColumnLength "s" in [0, 1, 2, 3]', 'ColumnLength "a.b" >= 0', 'ColumnLength "s" = 2'],
    "ColumnDataType": [
        *(f'ColumnDataType "{column}" = "{kind}" with threshold > 0.3' for column in ("s", "a.b") for kind in ("Integer", "long", "Boolean")),
        'ColumnDataType "i" = "long"', 'ColumnDataType "h" = "integer"', 'ColumnDataType "t" = "date"', 'ColumnDataType "f" = "float"',
    ],
    "Mean": ['Mean "n" > 0.1', 'Mean "i" < 0.1', 'Mean "h" > 0.1', 'Mean "d" between 0 and 5', 'Mean "x" > 3', 'Mean "f" < 3'],
    "Sum": [f'Sum "n" = {2 * sum(filter(None, COLUMNS["n"]))}', 'Sum "n" < 36028797018963000', 'Sum "i" > 0', 'Sum "h" > 0', 'Sum "d" = 92.22', 'Sum "d" > 92.22', 'Sum "d18" = 17999999999999999.982', 'Sum "d28" = -159999999999999999999.999999982', 'Mean "d18" < 999999999999999.999', 'Sum "x" > 3', 'Sum "f" != 3'],
    "StandardDeviation": [f'StandardDeviation "{column}" > 1.2345671' for column in ("i", "h", "d", "x", "f", "n", "big")],
    "DataFreshness": [
        f'DataFreshness "{column}" {condition}' for column in ("t", "ts", "tn") for condition in ("<= 24 hours", "> 1 days", "!= 30 minutes", "between 0 hours and 40 days")
    ],
    "ReferentialIntegrity": [
        'ReferentialIntegrity "n" "r.k" > 0.1', 'ReferentialIntegrity "x" "r.x" > 0.1', 'ReferentialIntegrity "s,x" "r.{w,x}" >= 0', 'ReferentialIntegrity "d" "r.d" = 1',
    ],
    "RowCountMatch": ['RowCountMatch "r" = 4'],
    "Composite": [
        '(ColumnValues "x" > 0) and (IsComplete "s")', '((ColumnValues "n" >= 0) or (ColumnLength "s" < 3)) and (IsUnique "id")',
        '(RowCount > 3) or (Completeness "s" > 2)', '(ColumnValues "t" > "2024-01-01") or (ColumnValues "f" != 0)',
    ],
}  # fmt: skip
# rule to what a session without a JVM says of it; Spark answers each
REFUSED = {
    'CustomSql "select count(*) from primary" > 0': "may read its statement otherwise than Spark",
    'RowCount > 0 where "id > 3"': "may read its where otherwise than Spark; filter the frame before",
    'IsUnique "list"': '"list" is array<double>, whose values a session without a JVM, such as PySail\'s, may compare otherwise',
    'DistinctValuesCount "bytes" > 0': '"bytes" is binary, whose values',
    'Sum "big" > 0': '"big" is decimal(38,10), whose sum may need more digits',
    'Mean "big" > 0': '"big" is decimal(38,10), whose sum may need more digits',
    'ColumnDataType "s" = "double"': "may cast string to double otherwise than Spark",
    'ColumnDataType "s" = "date"': "may cast string to date otherwise than Spark",
    'ColumnDataType "n" = "integer"': "may cast bigint to integer otherwise than Spark",
    'ColumnDataType "x" = "float"': "may cast double to float otherwise than Spark",
    'ColumnValues "s" matches "a++"': "may read a++ otherwise than Java: ++ is a quantifier of a quantifier",
    'ColumnValues "s" matches "(?i)a"': "it has a group that begins with (?i",
    r'ColumnValues "s" matches "\bé"': r"it has the escape \b",
    'ColumnValues "s" matches "[a-z&&[^b]]"': "it has a & in a bracket",
    'ColumnValues "s" matches "a$b"': "$ is not expected at character 2",
    r'ColumnValues "s" matches "\p{L}+"': r"it has the escape \p",
    'ReferentialIntegrity "i" "r.k" > 0': '"i" is int, and its column of r bigint',
}  # fmt: skip


def write(folder):
    """Write the tables, each as two files."""
    columns = {name: values + values for name, values in COLUMNS.items()}
    columns["s"], columns["a.b"] = COLUMNS["s"] + MORE, COLUMNS["a.b"] + MORE[::-1]
    columns["id"], columns["bytes"], columns["list"] = (
        [*range(20)],
        [b"\x00", None] * 10,
        [[0.0], [-0.0], None, []] * 5,
    )
    columns["tn"] = columns["ts"]
    values = pa.table(
        {name: pa.array(columns[name], SCHEMA.field(name).type) for name in SCHEMA.names}, schema=SCHEMA
    )
    nulls = pa.table({name: pa.nulls(3, SCHEMA.field(name).type) for name in SCHEMA.names}, schema=SCHEMA)
    few, zero = values.take([0, 1, 4]), values.slice(1, 1)  # without NULL and NaN; with -0.0 alone
    tables = {
        "values": values,
        "nulls": nulls,
        "nothing": values.slice(0, 0),
        "few": few,
        "zero": zero,
        "r": REFERENCE,
    }
    for name, table in tables.items():
        (folder / name).mkdir()
        for part, rows in enumerate((table.slice(0, len(table) // 2), table.slice(len(table) // 2))):
            pq.write_table(rows, folder / name / f"{part}.parquet")


def answers(spark, folder, asked):
    """Return what a session says: for each that is asked the schema, outcomes and marked rows, or the refusal."""
    return [_answer(spark, folder, *each) for each in asked]


def _answer(spark, folder, table, rules, composite, zone):
    from workbench import quality

    spark.conf.set("spark.sql.session.timeZone", zone)
    df, reference = (spark.read.parquet(f"{folder}/{name}") for name in (table, "r"))
    try:
        result = quality.evaluate(
            spark, df, f"Rules = [ {', '.join(rules)} ]", references={"r": reference}, now=NOW, composite=composite
        )
    except ValueError as error:
        return {"refused": str(error)}
    marks = [column for column in result.rowLevelOutcomes.columns if column.startswith("DataQuality")]
    rows = result.rowLevelOutcomes.select("id", *marks).collect()
    return {
        "schema": df.schema.simpleString(),
        "outcomes": [[o.rule, o.passed, o.reason, o.metrics] for o in result.outcomes],
        "table": sorted([r.Rule, r.Outcome, r.FailureReason, r.EvaluatedMetrics] for r in result.ruleOutcomes.collect()),
        "rows": sorted(([row[0], *map(list, row[1:4]), row[4]] for row in rows), key=lambda row: -1 if row[0] is None else row[0]),
        "good": result.good.count(),
        "quarantined": result.quarantined.count(),
    }  # fmt: skip


@contextmanager
def pysail():
    """Start PySail's server in this process; yield a session of it."""
    from pysail.spark import SparkConnectServer
    from pyspark.sql import SparkSession

    server = SparkConnectServer(ip="127.0.0.1", port=0)
    server.start(background=True)
    spark = SparkSession.builder.remote(f"sc://127.0.0.1:{server.listening_address[1]}").getOrCreate()
    try:
        yield spark
    finally:
        spark.stop()
        server.stop()


def in_a_process(arguments, **given):
    """Run Python with arguments in a process of its own, which finds this module (pytest has its folder, a child has not)."""
    path = os.pathsep.join(filter(None, (str(Path(__file__).parent), os.environ.get("PYTHONPATH"))))
    run = subprocess.run(
        [sys.executable, *arguments],
        capture_output=True,
        text=True,
        timeout=900,
        check=False,
        env=os.environ | {"PYTHONPATH": path},
        **given,
    )
    assert run.returncode == 0, run.stderr[-3000:]
    return run.stdout.splitlines()


def answers_of_pysail(folder, asked):
    """Return what PySail says, in a process of its own."""
    return json.loads(in_a_process(["-m", "quality_cases", str(folder)], input=json.dumps(asked))[-1])


if __name__ == "__main__":
    with pysail() as session:
        print(json.dumps(answers(session, sys.argv[1], json.load(sys.stdin))))
