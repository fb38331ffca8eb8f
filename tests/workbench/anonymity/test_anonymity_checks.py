"""Planted faults of each check are found with their count, and none is invented."""

import base64
import datetime
import hashlib
from collections import Counter

import pytest
from conftest import own_namespace

from workbench import anonymity

PEOPLE, VISITS = 60, 3
SCHEMA = "visit BIGINT, person STRING, day DATE, age INT, area STRING, disease STRING, note STRING"


def rows_of(people=PEOPLE):
    """Return the raw visits: 60 people of 6 classes of ten, 3 visits each."""
    rows = []
    for n in range(people):
        for v in range(VISITS):
            day = datetime.date(2026, 1 + v, 1 + n % 20)
            disease = ("flu", "cold", "gout")[n % 3]
            rows.append([n * VISITS + v, f"P{n:06}", day, 20 + 10 * (n % 3), f"area {n % 2}", disease, "a note"])
    return rows


def anonymous(rows):
    """Return the visits as they should be: tokens for people, days on the first of the month."""
    return [[visit, f"{hash_of(person)}", day.replace(day=1), *rest] for visit, person, day, *rest in rows]


def hash_of(person, salt="salt"):
    return hashlib.sha256((salt + person).encode()).hexdigest()


@pytest.fixture(scope="module")
def tables(spark):
    """The raw table, one of tokens and one of areas; `visits` is each test's own."""
    with own_namespace(spark, "anonymity_checks"):
        names = {name: f"anonymity_checks.{name}" for name in ("raw", "visits", "child", "areas")}
        write(spark, names["raw"], rows_of())
        tokens = sorted({row[1] for row in anonymous(rows_of())})
        write(spark, names["child"], [[token] for token in tokens], "person STRING")
        areas = [["area 0", 50_000], ["area 1", 30_000], ["small", 10]]
        write(spark, names["areas"], areas, "area STRING, people INT")
        yield names


def write(spark, table, rows, schema=SCHEMA):
    spark.createDataFrame([tuple(row) for row in rows], schema).coalesce(1).writeTo(table).using(
        "iceberg"
    ).createOrReplace()


def run(spark, tables, change=lambda rows: rows, **more):
    write(spark, tables["visits"], change(anonymous(rows_of())))
    options = {
        "source": tables["raw"], "key": ["visit"], "identifiers": ["person"], "person": "person", "token": "person",
        "children": {tables["child"]: "person"}, "unchanged": ["visit", "age", "disease"], "month": "day", "shares": ["disease"],
        "quasi": ["age", "area"], "most": {"age": 90}, "first_of_month": ["day"], "areas": {"area": tables["areas"]},
    }  # fmt: skip
    return anonymity.checks(spark, tables["visits"], **(options | more))


def found(report):
    counts = Counter()
    for finding in report.findings:
        counts[finding.check, finding.column] += finding.count
    return dict(counts)


def edited(**changes):
    """Return a function that changes the first rows: {column: values}."""
    names = [part.split()[0] for part in SCHEMA.split(", ")]

    def change(rows):
        for name, values in changes.items():
            for row, value in zip(rows, values, strict=False):
                row[names.index(name)] = value
        return rows

    return change


def test_what_is_anonymous_passes(spark, tables):
    report = run(spark, tables)
    assert report.passed and report.findings == () and report.k == 10 and report.l is None
    assert report.not_checked == ("l (needs quasi and sensitive)",)
    assert len(report.checked) == 14


PLANTED = {
    "a mail": (edited(note=["write to x.y@mail.example.org"]), {("patterns", "note"): 1}),
    "a phone": (edited(note=["call +49 151 23456789 soon"]), {("patterns", "note"): 1}),
    "a card": (edited(note=["paid by 4111 1111 1111 1111"]), {("patterns", "note"): 1}),
    "an account": (edited(note=["to DE89 3704 0044 0532 0130 00"]), {("patterns", "note"): 1}),
    "no card": (edited(note=["4111 1111 1111 1112", "DE88370400440532013000", "12:30 on 2026-01-01"]), {}),
    "a raw id in a text": (edited(note=["as p000007 said"]), {("raw values", "note"): 1}),
    "tokens that are ids": (edited(person=["P000000"] * VISITS), {
        ("raw values", "person"): 3, ("tokens", "person"): 3, ("children", "person"): 1}),
    "unsalted digests": (edited(person=[hash_of("P000000", "")] * VISITS), {
        ("digests", "person"): 3, ("children", "person"): 1}),
    "an upper digest": (edited(note=[hash_of("p000001", "").upper()]), {("digests", "note"): 1}),
    "one person, two tokens": (edited(person=["0" * 64]), {("one token a person", "person"): 1}),
    "two people, one token": (
        lambda rows: [[v, rows[0][1] if p == rows[3][1] else p, *rest] for v, p, *rest in rows],
        {("one token a person", "person"): 1, ("children", "person"): 1}),
    "lost rows": (lambda rows: rows[2:], {
        ("rows by key", "visit"): 2, ("rows by month", "day"): 2, ("unchanged", "visit, age, disease"): 2, ("shares", "disease"): 3}),
    "a shifted value": (edited(disease=["gout"]), {("unchanged", "visit, age, disease"): 1, ("shares", "disease"): 2}),
    "a class of one": (edited(area=["small"] * VISITS), {("k", "age, area"): 1, ("areas", "area"): 3}),
    "an age": (edited(age=[104] * VISITS), {
        ("top-coded", "age"): 3, ("k", "age, area"): 1, ("unchanged", "visit, age, disease"): 3}),
    "a day": (edited(day=[datetime.date(2026, 1, 2)]), {("dates", "day"): 1}),
    "another month": (edited(day=[datetime.date(2026, 5, 1)]), {("rows by month", "day"): 2}),
}  # fmt: skip


def test_many_planted_faults_at_once(spark, tables):
    def change(rows):
        edited(
            note=[
                "x.y@mail.example.org",
                "+49 151 23456789",
                "4111 1111 1111 1111",
                "DE89 3704 0044 0532 0130 00",
                "4111 1111 1111 1112 or DE88370400440532013000",
                "as p000007 said",
                hash_of("p000001", "").upper(),
            ]
        )(rows)
        edited(day=[datetime.date(2026, 1, 2)], age=[104] * VISITS, disease=["gout"])(rows)
        rows[3][1], rows[-1][1] = "0" * 64, rows[-4][1]
        return rows[:-2] + rows[-1:]

    assert found(run(spark, tables, change)) == {
        ("patterns", "note"): 4, ("raw values", "note"): 1, ("digests", "note"): 1, ("one token a person", "person"): 2 + 1,
        ("rows by key", "visit"): 1, ("rows by month", "day"): 1, ("k", "age, area"): 1,
        ("unchanged", "visit, age, disease"): 4 + 3, ("shares", "disease"): 3, ("top-coded", "age"): 3, ("dates", "day"): 1,
    }  # fmt: skip


@pytest.mark.proof("test_many_planted_faults_at_once finds one of each check, and counts it")
@pytest.mark.parametrize("name", PLANTED)
def test_a_planted_fault_is_found(spark, tables, name):
    change, expected = PLANTED[name]
    report = run(spark, tables, change)
    assert found(report) == expected
    for finding in report.findings:
        assert "example.org" not in finding.sentence and "P0000" not in finding.sentence
        assert finding.sentence.startswith(f"{finding.count:,} ")


def test_children_without_parents(spark, tables):
    children = anonymous(rows_of(2))
    write(spark, tables["visits"], children)
    report = anonymity.checks(spark, tables["visits"], token="person", children={tables["child"]: "person"})
    assert found(report) == {("children", "person"): PEOPLE - 2}


def test_diversity_counts_values_and_people(spark, tables):
    def one_disease(rows):
        return [[v, p, d, age, area, "flu" if (age, area) == (20, "area 0") else disease, note]
                for v, p, d, age, area, disease, note in rows]  # fmt: skip

    more = {"unchanged": [], "shares": [], "sensitive": "disease"}
    report = run(spark, tables, one_disease, quasi=["area"], l=3, **more)
    assert report.k == 30 and report.l == 3 and report.passed
    report = run(spark, tables, one_disease, l=2, **more)
    assert report.l == 1 and found(report)["l", "disease"] == 60  # each class has one age, and so one disease


def test_alone_a_table_is_checked_by_its_form(spark, tables):
    report = anonymity.checks(spark, tables["raw"])
    assert report.passed and report.checked == ("patterns",) and len(report.not_checked) == 14


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"identifiers": ["person"]}, "identifiers needs source: the table that .* was made of"),
        ({"sensitive": "disease"}, "sensitive needs quasi: the columns that make a class"),
        ({"quasi": ["nope"]}, "has no column nope; it has visit, person"),
        ({"quasi": "age"}, "quasi must be a list of texts, found 'age'"),
        ({"k": 1}, "k must be an integer of at least 2, found 1"),
        ({"source": "nowhere.t"}, "no table nowhere.t; there is no namespace nowhere"),
        ({"areas": {"area": "RAW"}}, "has no column people; it has visit"),
    ],
)
def test_what_cannot_be_checked_is_refused(spark, tables, options, sentence):
    options = {name: {"area": tables["raw"]} if name == "areas" else value for name, value in options.items()}
    with pytest.raises(ValueError, match=sentence):
        anonymity.checks(spark, tables["raw"], **options)


MAIL = "bob.b@y.org"
SHA = hashlib.sha256(MAIL.encode()).digest()


@pytest.fixture(scope="module")
def mails(spark):
    """A raw table of identifiers, and the name of each test's own table."""
    with own_namespace(spark, "anonymity_forms"):
        born = datetime.date(1980, 5, 6)
        write(
            spark,
            "anonymity_forms.raw",
            [[" Bob.B@Y.org", born], [" Zoe@Y.org", born], [MAIL, born]],
            "mail STRING, born DATE",
        )
        yield "anonymity_forms.raw", "anonymity_forms.t"


@pytest.mark.parametrize(
    ("value", "kind", "check"),
    [
        ([f"x\n{MAIL}"], "ARRAY<STRING>", "raw values"), (rf'{{"m":"x\n{MAIL}"}}', "STRING", "raw values"),
        ({MAIL: 1}, "MAP<STRING, INT>", "raw values"), (f"{MAIL}\u00a0", "STRING", "raw values"),
        (datetime.date(1980, 5, 6), "DATE", "raw values"), (datetime.datetime(1980, 5, 6), "TIMESTAMP", "raw values"),
        (["tel\n+49 151 2345678"], "ARRAY<STRING>", "patterns"), (MAIL.encode() + b"\xff", "BINARY", "patterns"),
        ([SHA.hex().upper()], "ARRAY<STRING>", "digests"), (f"user:{SHA.hex()}", "STRING", "digests"), (SHA, "BINARY", "digests"),
        (base64.urlsafe_b64encode(SHA).decode().rstrip("="), "STRING", "digests"),
        (hashlib.md5(b"zoe@y.org").hexdigest(), "STRING", "digests"),
    ],
)  # fmt: skip
def test_an_identifier_is_found_in_each_form(spark, mails, value, kind, check):
    raw, table = mails
    write(spark, table, [[value]], f"v {kind}")
    report = anonymity.checks(spark, table, source=raw, identifiers=["mail", "born"])
    assert found(report)[check, "v"] == 1


@pytest.mark.parametrize("option", [{"most": {"v": 90}}, {"first_of_month": ["v"]}, {"month": "v"}])
def test_a_column_of_another_type_is_refused_without_a_value(spark, mails, option):
    table = mails[1]
    write(spark, table, [[MAIL]], "v STRING")
    with pytest.raises(ValueError, match=r"^v of anonymity_forms\.t must be a column of .*, found string$"):
        anonymity.checks(spark, table, source=table, **option)


def test_a_token_ends_where_its_line_ends(spark, mails):
    write(spark, mails[1], [["ab\n"]], "v STRING")
    assert found(anonymity.checks(spark, mails[1], token="v", token_form="[a-z]{2}")) == {("tokens", "v"): 1}
