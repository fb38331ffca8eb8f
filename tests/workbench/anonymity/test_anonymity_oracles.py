"""Classes against a count by hand, and the two ways of looking for values against each other and a plain one."""

import random
import re
from collections import defaultdict

import pyarrow as pa
import pytest
from pyspark.sql import functions as F

from workbench import anonymity
from workbench.anonymity import values

NAMES = [
    "Anna Meier",
    "anna meier-schulz",
    "Bo",
    "x@y.example",
    "+49 151 2345",
    "8800012",
    "Ünal Öz",
    "a.b.c",
    "Ann",
]


def texts(seed, count=150):
    """Return random texts of values, parts of values and other words, with odd blanks and marks between."""
    draw = random.Random(seed)
    pieces = [*NAMES, *(part for name in NAMES for part in name.split()), "call", "id8800012", "", "É", "né"]
    between = [" ", ", ", "; ", "\t", " - ", "/", "|", "\n", "  ", ". ", "=", "'"]

    def text():
        words = [draw.choice(pieces) for _ in range(draw.randint(0, 5))]
        joined = "".join(word + draw.choice(between) for word in words)
        return draw.choice([joined, joined.upper(), joined.strip(), None])

    return [text() for _ in range(count)]


def plainly(text, sought):
    """Return the numbers of the values in a text, by comparing each run of its words."""
    words = [
        word
        for part in re.split(values._BETWEEN_WORDS, text.lower())
        if (word := part.strip(values._AROUND_WORDS))
    ]
    runs = {" ".join(words[i : i + n]) for n in sought.words for i in range(len(words) - n + 1)} | {
        text.strip().lower()
    }
    return {number for number, value in enumerate(sought.texts) if value in runs}


@pytest.mark.parametrize("seed", range(3))
def test_arrow_and_spark_find_what_a_plain_search_finds(spark, seed):
    given = texts(seed)
    sought = values.Sought({"name": NAMES}, least=2)
    expected = {
        (row, number) for row, text in enumerate(given) if text is not None for number in plainly(text, sought)
    }
    assert len(expected) > 50
    hits = sought.in_column(pa.array(given, pa.string()))
    assert set(zip(hits.rows.tolist(), hits.values.tolist(), strict=True)) == expected
    frame = spark.createDataFrame(list(enumerate(given)), "row INT, t STRING")
    rows = frame.select("row", F.explode(values.words(F.col("t"), sought.words)).alias("w")).distinct().collect()
    number = {text: n for n, text in enumerate(sought.texts)}
    assert {(row.row, number[row.w]) for row in rows if row.w in number} == expected


@pytest.mark.parametrize("seed", range(4))
def test_k_and_l_are_those_of_a_count_by_hand(spark, namespace, seed):
    draw = random.Random(seed)
    rows = [
        (
            f"{draw.randint(0, 40):02}",
            draw.choice([20, 30, 40, None]),
            draw.choice("ab"),
            draw.choice(["flu", "cold", None]),
        )
        for _ in range(draw.choice([1, 20, 200]))
    ]
    table = f"{namespace}.t"
    spark.createDataFrame(rows, "person STRING, age INT, area STRING, disease STRING").writeTo(table).create()
    people, diseases = defaultdict(set), defaultdict(set)
    for person, age, area, disease in rows:
        people[age, area].add(person)
        diseases[age, area].add(disease)
    k, l = 3, 2  # noqa: E741
    report = anonymity.checks(
        spark, table, quasi=["age", "area"], sensitive="disease", token="person", token_form="..", k=k, l=l
    )
    assert (report.k, report.l) == (min(map(len, people.values())), min(map(len, diseases.values())))
    small = sum(len(members) for members in people.values() if len(members) < k)
    alike = sum(len(people[place]) for place, kinds in diseases.items() if len(kinds) < l)
    assert {finding.check: finding.count for finding in report.findings} == {
        name: count for name, count in (("k", small), ("l", alike)) if count
    }
    spark.sql(f"DROP TABLE {table} PURGE")


def test_an_empty_table_has_no_classes(spark, namespace):
    spark.sql(f"CREATE TABLE {namespace}.e (age INT, note STRING) USING iceberg")
    report = anonymity.checks(spark, f"{namespace}.e", quasi=["age"], sensitive="note")
    assert (report.passed, report.k, report.l) == (True, None, None)
    assert anonymity.leaks(spark, f"{namespace}.e", values={"mail": ["a@b.example"]}).clean
    spark.sql(f"DROP TABLE {namespace}.e PURGE")
