"""Planted leaks of each place are found there, counted, and named without a value."""

import uuid
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from workbench import anonymity
from workbench.anonymity.values import Sought

PEOPLE = 40
MAILS = [f"person{n:03}@example.org" for n in range(PEOPLE)]
TOKENS = [f"{n:064x}" for n in range(PEOPLE)]


@pytest.fixture
def table(spark, namespace):
    name = f"{namespace}.t"
    yield name
    spark.sql(f"DROP TABLE IF EXISTS {name} PURGE")


def made(spark, table, people=TOKENS, more="", partitioned="", properties=""):
    spark.sql(
        f"CREATE TABLE {table} (person STRING, note STRING, n INT{more}) USING iceberg {partitioned} {properties}"
    )
    rows = [(person, "a visit", n) for n, person in enumerate(people)]
    spark.createDataFrame(rows, "person STRING, note STRING, n INT").writeTo(table).append()


def expire(spark, table):
    spark.sql(
        f"CALL system.expire_snapshots(table => '{table}', older_than => TIMESTAMP '9999-01-01', retain_last => 1)"
    )


def rewrite(spark, table):
    """Write manifests without the entries of files that went, and drop the snapshot that has the former ones."""
    spark.sql(f"CALL system.rewrite_manifests(table => '{table}')")
    expire(spark, table)


def places(spark, table, **options):
    found = anonymity.leaks(spark, table, values={"mail": MAILS}, **options)
    assert "example.org" not in repr(found) and "example.org" not in anonymity.told(found).to_string()
    assert found.unread == () and found.values == PEOPLE
    return {(leak.place, leak.column): (leak.count, leak.rows) for leak in found.leaks}


def test_a_table_without_leaks_is_clean(spark, table):
    made(spark, table)
    found = anonymity.leaks(spark, table, values={"mail": MAILS})
    assert found.clean and found.leaks == () and found.files > 0 and found.snapshots == 1


@pytest.mark.proof("26_check_anonymised looks for the values of a frame")
def test_values_of_a_frame_are_those_of_its_columns(spark, table):
    made(spark, table, [MAILS[3], *TOKENS[1:]])
    people = spark.createDataFrame([(mail, 9_000_000 + n) for n, mail in enumerate(MAILS)], "mail STRING, id INT")
    found = anonymity.leaks(spark, table, values=people)
    assert found.values == 2 * PEOPLE and {leak.kind for leak in found.leaks} == {"mail"}


def test_rows_bounds_and_a_free_text(spark, table):
    made(spark, table, [MAILS[3].upper(), *TOKENS[1:]])
    spark.sql(f"UPDATE {table} SET note = 'call <{MAILS[5]}>, please' WHERE n = 7")
    found = places(spark, table)
    assert found["rows", "person"] == (1, 1)
    assert found["rows", "note"] == (1, 1)
    assert found["bounds", "person"][0] == 1


@pytest.mark.proof(
    "26_check_anonymised requires what is left after an overwrite, an expiry, and a rewrite of manifests"
)
def test_what_was_overwritten_is_in_the_older_snapshot_until_it_expires(spark, table):
    made(spark, table, MAILS)
    before = spark.sql(f"SELECT snapshot_id FROM {table}.snapshots").head()[0]
    spark.sql(f"INSERT OVERWRITE {table} SELECT sha2(concat(person, 'salt'), 256), note, n FROM {table}")
    found = places(spark, table)
    assert set(found) == {(f"older snapshot {before}", "person"), ("bounds", "person")}
    assert found[f"older snapshot {before}", "person"] == (PEOPLE, PEOPLE)
    expire(spark, table)
    assert set(places(spark, table)) == {("bounds", "person")}, "a manifest still says which files went"
    rewrite(spark, table)
    assert places(spark, table) == {}


COPIED = pytest.mark.proof("merge-on-read shows the rows that stay, 26_check_anonymised a table that keeps none")


@pytest.mark.parametrize("mode", ["merge-on-read", pytest.param("copy-on-write", marks=COPIED)])
def test_deleted_rows_stay_in_their_files(spark, table, mode):
    made(
        spark,
        table,
        [*MAILS[:2], *TOKENS[2:]],
        properties=f"TBLPROPERTIES ('write.delete.mode' = '{mode}', 'format-version' = '3')",
    )
    spark.sql(f"DELETE FROM {table} WHERE n < 2")
    expire(spark, table)
    rewrite(spark, table)
    found = places(spark, table)
    if mode == "merge-on-read":
        assert found["deleted rows", "person"] == (2, 2) and ("rows", "person") not in found
    else:
        assert found == {}


def test_branches_tags_and_dropped_columns(spark, table):
    made(spark, table, more=", mail STRING")
    spark.sql(f"ALTER TABLE {table} CREATE BRANCH trial")
    spark.sql(f"INSERT INTO {table}.branch_trial VALUES ('x', '', 1, '{MAILS[0]}')")
    spark.sql(f"INSERT INTO {table} VALUES ('y', '', 1, '{MAILS[1]}'), ('z', '', 1, '{MAILS[2]}')")
    spark.sql(f"ALTER TABLE {table} CREATE TAG monday")
    spark.sql(f"ALTER TABLE {table} DROP COLUMN mail")
    found = places(spark, table)
    assert found["branch trial", "mail"] == (1, 1)
    assert found["tag monday", "mail"] == (2, 2)
    assert found["rows", "mail"] == (2, 2), "a dropped column is in the files, and comes back with the schema"
    assert found["bounds", "mail"][0] == 2 + 1


def test_partitions_properties_and_summaries(spark, table):
    made(
        spark,
        table,
        [MAILS[0], *TOKENS[1:]],
        partitioned="PARTITIONED BY (person)",
        properties=f"TBLPROPERTIES ('contact' = '{MAILS[1]}')",
    )
    found = places(spark, table)
    assert found["partition", None] == (1, None)
    assert found["properties", None] == (1, None)
    spark.sql(f"ALTER TABLE {table} UNSET TBLPROPERTIES ('contact')")
    found = places(spark, table)
    assert found["older metadata", None][0] == 1 and ("properties", None) not in found


def test_a_sketch_keeps_hashes(spark, table):
    made(spark, table, MAILS, properties="TBLPROPERTIES ('write.metadata.metrics.default' = 'none')")
    spark.sql(f"CALL system.compute_table_stats(table => '{table}', columns => array('person'))")
    found = places(spark, table)
    assert found["statistics", "person"] == (PEOPLE, None)
    assert ("bounds", "person") not in found


def test_nested_columns_and_other_tables(spark, namespace, table):
    made(spark, table)
    other = f"{namespace}.failures"
    spark.sql(f"CREATE TABLE {other} (a ARRAY<STRUCT<b: STRING>>, m MAP<STRING, STRING>, id BIGINT) USING iceberg")
    spark.sql(
        f"INSERT INTO {other} VALUES (array(named_struct('b', '{MAILS[0]}')), map('k', 'mail {MAILS[1]}'), 8800012345)"
    )
    try:
        found = anonymity.leaks(spark, table, values={"mail": MAILS, "id": [8800012345]}, tables=[other])
        assert {(leak.table, leak.place, leak.column, leak.kind) for leak in found.leaks if leak.place == "rows"} == {
            (other, "rows", "a.element.b", "mail"), (other, "rows", "m.value", "mail"), (other, "rows", "id", "id"),
        }  # fmt: skip
    finally:
        spark.sql(f"DROP TABLE {other} PURGE")


def test_orphans_are_looked_through(spark, table):
    """As a writer leaves them that was killed before its commit."""
    made(spark, table, MAILS)
    raw = spark.sql(f"SELECT file_path FROM {table}.files").head().file_path.removeprefix("file:")
    manifest = spark.sql(f"SELECT path FROM {table}.manifests").head().path.removeprefix("file:")
    kept = {path: Path(path).read_bytes() for path in (raw, manifest)}
    raw_rows = len(pq.read_table(raw))
    spark.sql(f"INSERT OVERWRITE {table} SELECT 'x', note, n FROM {table}")
    expire(spark, table)
    rewrite(spark, table)
    assert places(spark, table) == {}
    for path, content in kept.items():
        Path(path).write_bytes(content)
    found = places(spark, table)
    assert found["orphan file", "person"] == (raw_rows, raw_rows)
    assert found["orphan file", None][0] >= 2, "the bounds in the manifest"


@pytest.mark.parametrize(
    ("values", "sentence"),
    [
        ({"mail": []}, "values has none to look for"),
        ({"id": ["a1"]}, "1 values of id have fewer than 5 characters"),
        ({"mail": "a@b.org"}, "values of mail must be a list, found one text"),
        ({"age": [1.5]}, "age holds float values, which identify nobody"),
        ({"mail": [["a@b.org"]]}, "mail holds list values, which identify nobody"),
        (7, "values must be lists by kind or a DataFrame, found int"),
    ],
)
def test_what_cannot_be_looked_for_is_refused(spark, table, values, sentence):
    with pytest.raises(ValueError, match=sentence):
        anonymity.leaks(spark, "nowhere.t", values=values)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("anna meier", {"Anna Meier"}), ("Dr. Anna  Meier-Schulz", set()), ("meet Anna Meier.", {"Anna Meier"}),
        ("anna, meier", {"Anna Meier"}), ("x=+49 151 2345;", {"+49 151 2345"}), ("id12345x", set()), ("id 12345", {"12345"}),
        ("Anna|Meier", {"Anna Meier"}), ("", set()), ("ANNA MEIER ANNA MEIER", {"Anna Meier"}),
    ],
)  # fmt: skip
def test_words_of_texts(text, found):
    sought = Sought({"name": ["Anna Meier"], "phone": ["+49 151 2345"], "id": [12345]}, least=5)
    assert {sought.given[number] for number in sought.in_texts([text, "Anna"])} == found


NOON = datetime(1980, 5, 6, 12, 3, 4)
UUID = uuid.UUID(int=2**127 + 12345)


@pytest.mark.parametrize(
    ("value", "column"),
    [
        ("İBRAHİM ÇELİK", ["İBRAHİM ÇELİK"]), ("Γιώργος Παππάς", ["ΓΙΏΡΓΟΣ ΠΑΠΠΆΣ"]), ("山田\u3000太郎子", ["山田\u3000太郎子"]),
        ("Anna\u00a0Meier", ["Anna\u00a0Meier"]), ("anna@x.org", ["メール：anna@x.org、"]), ("anna@x.org", ["„anna@x.org“"]),
        ("anna@x.org", [r'{"note": "mail:\nanna@x.org"}']), ("nancy@x.org", [r"path\nancy@x.org"]), (b"anna@x.org", ["anna@x.org"]),
        (NOON, pa.array([NOON], pa.timestamp("us"))), (NOON.replace(tzinfo=UTC), pa.array([NOON], pa.timestamp("ms", "UTC"))),
        (NOON.date(), pa.array([NOON.date()])), (4915112345678, [4915112345678.0, None, float("nan"), 1.5]),
        (-1234567, [-1234567, 1234567]), (12345678, pa.array([Decimal("12345678.00")])), (Decimal("1234567.50"), [Decimal("1234567.5")]),
        (UUID, pa.array([UUID.bytes], pa.uuid())), (UUID, pa.array([UUID.bytes], pa.binary(16))),
    ],
)  # fmt: skip
def test_a_value_is_found_in_each_script_and_type(value, column):
    hits = Sought({"of": [value]}, least=5).in_column(column if isinstance(column, pa.Array) else pa.array(column))
    assert hits.rows.tolist() == [0]


def test_words_of_two_texts_are_no_value():
    sought = Sought({"name": ["Anna Meier"]}, least=5)
    assert sought.in_texts(["call Anna", "Meier called"]) == set()


@pytest.mark.parametrize(
    ("bound", "known"),
    [("person003@examp", True), ("person003@examq", True), ("person003@exampz", False), ("person", True), ("pers", False),
     ("person003@example.org", True), ("zzzzzzzz", False)],
)  # fmt: skip
def test_bounds_are_beginnings(bound, known):
    assert (Sought({"mail": MAILS}, least=5).in_bound(bound) is not None) == known


@pytest.mark.parametrize(
    ("value", "bound"),
    [
        ("+49 151 2345678", "+49 151 2345678"), ("+49 151 234567890", "+49 151 23456789"), ("Meier, Anna Maria", "Meier, Anna Mari"),
        ("Meier, Anna Maria", "Meier, Anna Marj"), ("anna@x.org", "call anna@x.org"), ("anna.meier@example.org", " anna.meier@exam"),
    ],
)  # fmt: skip
def test_bounds_are_those_of_texts_as_they_came(value, bound):
    assert Sought({"of": [value]}, least=5).in_bound(bound) == 0


def test_bounds_of_dates_and_moments(spark, table):
    spark.sql(f"CREATE TABLE {table} (born DATE, seen TIMESTAMP, at TIMESTAMP_NTZ) USING iceberg")
    row = "DATE '1980-05-06', TIMESTAMP '1980-05-06 12:03:04.5', TIMESTAMP_NTZ '1980-05-06 12:03:04.5'"
    spark.sql(f"INSERT INTO {table} VALUES ({row})")
    moment = NOON.replace(microsecond=500_000)
    report = anonymity.leaks(spark, table, values={"moment": [moment], "born": [NOON.date()]})
    columns = {(leak.place, leak.column) for leak in report.leaks}
    assert columns == {(place, column) for place in ("rows", "bounds") for column in ("born", "seen", "at")}


def test_bounds_of_a_column_that_was_widened(spark, table):
    spark.sql(f"CREATE TABLE {table} (n INT) USING iceberg")
    spark.sql(f"INSERT INTO {table} VALUES (8800012)")
    spark.sql(f"ALTER TABLE {table} ALTER COLUMN n TYPE BIGINT")
    leaks = anonymity.leaks(spark, table, values={"number": [8800012]}).leaks
    assert {leak.place for leak in leaks} == {"rows", "bounds"}
