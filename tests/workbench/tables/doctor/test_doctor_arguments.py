"""Arguments that say nothing are refused by a sentence before anything is done."""

from dataclasses import replace

import pytest
from doctor_cases import LATER, POLICY, diagnose

from workbench.data import sick
from workbench.tables import commits, doctor, maintenance
from workbench.tables.doctor import looking, pointers, trials
from workbench.tables.snapshots import TableNotFound

FOUND = doctor.Diagnosis("a.b", "", None, LATER, POLICY, ())
PLANNED = maintenance.Planned("a.b", "", None, LATER, POLICY, (), (), ())
QUERIES = ["SELECT 1 FROM a.b"]
NO_DIAGNOSIS = "expected what doctor.diagnose returns"
NO_POLICY = "policy must be Policy or None, found"
FILE = "the location of a metadata file, such as s3://…/metadata/00003-….metadata.json"


@pytest.mark.parametrize(
    ("call", "why"),
    [
        (lambda: doctor.diagnose(None, "a.b", thresholds={}), "thresholds must be Thresholds or None, found {}"),
        (lambda: doctor.diagnose(None, "a.b", policy={}), f"{NO_POLICY} {{}}"),
        (lambda: doctor.diagnose(None, "a.b", policy="a.yml"), f"{NO_POLICY} 'a.yml'"),
        (lambda: doctor.diagnose(None, "a.b", columns="depot"), "columns must be a list of columns: write columns=['depot']"),
        (lambda: doctor.diagnose(None, "a.b", columns=None), "columns must be several texts, found None"),
        (lambda: doctor.diagnose(None, "a.b", columns=["a", 3]), "columns holds 3, which is int: columns are texts"),
        (lambda: doctor.told(PLANNED), f"findings is Planned, {NO_DIAGNOSIS}, or some of its findings"),
        (lambda: doctor.told(["small_files"]), f"findings is str, {NO_DIAGNOSIS}, or some of its findings"),
        (lambda: doctor.told(None), f"findings is NoneType, {NO_DIAGNOSIS}, or some of its findings"),
        (lambda: doctor.cure(None, FOUND.findings), "diagnosis must be Diagnosis, found ()"),
        (lambda: doctor.cure(None, PLANNED), f"diagnosis must be Diagnosis, found {repr(PLANNED)[:120]}… (Planned)"),
        (lambda: doctor.cure(None, FOUND, agreed=True), "agreed must be several texts, found True"),
        (lambda: doctor.cure(None, FOUND, agreed="small_files"), "agreed must be a list of causes: write agreed=['small_files']"),
        (lambda: doctor.asked(None, "a.b", QUERIES[0]), f"queries must be a list of queries: write queries={QUERIES}"),
        (lambda: doctor.asked(None, "a.b", [3]), "queries holds 3, which is int: queries are texts"),
        (lambda: doctor.trial(None, "a.b", QUERIES[0]), f"queries must be a list of queries: write queries={QUERIES}"),
        (lambda: doctor.trial(None, "a.b", None), "queries must be several texts, found None"),
        (lambda: doctor.trial(None, "a.b", []), "queries must be at least one, found none"),
        (lambda: doctor.trial(None, "a.b", QUERIES, columns="depot"), "columns must be a list of columns: write columns=['depot']"),
        (lambda: doctor.trial(None, "a.b", QUERIES, agreed="unsorted_files"),
         "agreed must be a list of causes: write agreed=['unsorted_files']"),
        (lambda: doctor.trial(None, "a.b", QUERIES, agreed=["unsorted"]),
         f"'unsorted' is not a cause; those that can be agreed to: {doctor.OWNERS}"),
        (lambda: doctor.trial(None, "a.b", QUERIES, agreed=["small_files"]),
         f"small_files cannot be agreed to: it needs no agreement, or no single statement cures it; those that can: {doctor.OWNERS}"),
        (lambda: doctor.trial(None, "a.b", QUERIES, policy={}), f"{NO_POLICY} {{}}"),
        (lambda: doctor.trial(None, "a.b", QUERIES, repeats=0), "repeats must be an integer of at least 1, found 0"),
        (lambda: doctor.trial(None, "a.b", QUERIES, repeats="3"),
         "repeats must be an integer of at least 1, found '3'"),
        (lambda: pointers.told(None), "pointer must be Pointer, found None"),
        (lambda: pointers.restore(None, "a.b", to=None), "to must be a text, found None"),
    ],
)  # fmt: skip
def test_a_wrong_argument_is_said(call, why):
    with pytest.raises(ValueError) as told:
        call()
    assert str(told.value) == why


@pytest.mark.parametrize(
    ("location", "what"),
    [(3, "a text or None"), ("", FILE), ("nonsense", FILE), ("/1.metadata.json", FILE)],
)
def test_only_the_folder_of_a_metadata_file_is_listed(location, what):
    """A text that is no location had all files of the machine listed."""
    with pytest.raises(ValueError) as error:
        pointers.look(None, "a.b", location=location)
    assert str(error.value) == f"location must be {what}, found {location!r}"


@pytest.mark.parametrize(
    ("wrong", "why"),
    [
        ({"gone_share": -1}, "gone_share is -1, expected a number from 0 on"),
        ({"gone_share": "x"}, "gone_share is 'x', expected a number from 0 on"),
        ({"skew_factor": float("nan")}, "skew_factor is nan, expected a number from 0 on"),
        ({"partitions": None}, "partitions is None, expected a number from 1 on"),
        ({"snapshots": True}, "snapshots is True, expected a number from 0 on"),
        ({"skew_members": 1}, "skew_members is 1, expected a number from 2 on"),
        ({"overlap_files": 0}, "overlap_files is 0, expected a number from 1 on"),
    ],
)
def test_thresholds_are_numbers_that_have_a_meaning(wrong, why):
    with pytest.raises(ValueError) as told:
        doctor.Thresholds(**wrong)
    assert str(told.value) == why
    with pytest.raises(ValueError, match="expected a number from"):
        replace(doctor.Thresholds(), **wrong)


@pytest.mark.parametrize(
    "call",
    [
        lambda given: doctor.diagnose(given, "a.b"),
        lambda given: doctor.cure(given, FOUND),
        lambda given: doctor.asked(given, "a.b", QUERIES),
        lambda given: doctor.trial(given, "a.b", QUERIES),
        lambda given: pointers.look(given, "a.b"),
        lambda given: pointers.doubt(given, "a.b"),
        lambda given: pointers.restore(given, "a.b", to="/a/1.metadata.json"),
    ],
    ids=["diagnose", "cure", "asked", "trial", "look", "doubt", "restore"],
)
@pytest.mark.parametrize(("given", "there"), [(None, "NoneType"), ("local", "str")])
def test_anything_but_a_classic_session_is_said(call, given, there):
    with pytest.raises(
        ValueError, match=f"this needs a classic Spark session, and spark is {there}; Spark Connect"
    ):
        call(given)


def test_the_lowest_thresholds_find_nothing_in_few_files(spark, namespace):
    """Of no partition a median was taken, and of one file a mean of the others."""
    lowest = doctor.Thresholds(
        **dict.fromkeys(("gone_share", "high_files", "snapshots", "held_share", "skew_factor", "oversize"), 0),
        partitions=1, skew_members=2, overlap_files=1,
    )  # fmt: skip
    name = f"{namespace}.t"
    spark.sql(f"CREATE TABLE {name} (id BIGINT, v STRING) USING iceberg PARTITIONED BY (v)")
    assert "skewed_partitions" not in diagnose(spark, name, thresholds=lowest).causes
    spark.sql(f"INSERT INTO {name} VALUES (1, 'x')")
    assert "skewed_files" not in diagnose(spark, name, thresholds=lowest).causes


def test_what_is_not_in_the_table_is_said_by_its_own_name(spark, namespace, monkeypatch):
    """A trial named its twin, after it was made; a scratch folder out of reach was an error of Java's, twice."""
    made = sick.dripped(spark, namespace, rows=100, drips=5)
    query = f"SELECT * FROM {made.name}"
    monkeypatch.setattr(trials, "_twin", None)  # nothing is made
    with pytest.raises(ValueError, match=f"nothing is not a column of {made.name}; it has "):
        doctor.trial(spark, made.name, [query], columns=["nothing"])
    for scratch, why in (
        (3, "scratch must be a text, a path or None, found 3"),
        ("odd://a/b", "scratch odd://a/b cannot be reached"),
    ):
        with pytest.raises(ValueError, match=why):
            doctor.trial(spark, made.name, [query], scratch=scratch)
    with pytest.raises(TableNotFound, match=f"no table {namespace}.nothing; {namespace} has {made.name}"):
        doctor.asked(spark, f"{namespace}.nothing", [query])
    with pytest.raises(ValueError, match=f"none of 1 queries reads {made.name}"):
        doctor.asked(spark, made.name, (one for one in ["SELECT 1"]))


@pytest.mark.proof(
    "test_what_is_not_in_the_table_is_said_by_its_own_name gives queries once, which are read by the same code"
)
def test_what_is_given_once_is_heeded_throughout(spark, namespace):
    """Of a generator the checks had left nothing: what the owner agreed to was not done, and nobody said so."""
    name = f"{namespace}.t"
    spark.sql(f"CREATE TABLE {name} (id BIGINT) USING iceberg")
    spark.sql(f"INSERT INTO {name} VALUES (1)")
    spark.sql(f"ALTER TABLE {name} CREATE TAG old")
    spark.sql(f"INSERT OVERWRITE {name} VALUES (2)")
    found = diagnose(spark, name, keep_snapshots=1)
    assert "dangling_refs" in found.causes and "old" in commits.load(spark, name).refs()
    doctor.cure(spark, found, agreed=(one for one in ["dangling_refs"]))
    assert "old" not in commits.load(spark, name).refs()


def test_a_folder_of_metadata_that_is_gone_is_said(spark, namespace, tmp_path):
    name = f"{namespace}.t"
    spark.sql(f"CREATE TABLE {name} (id BIGINT) USING iceberg")
    seen = pointers.look(spark, name, location=f"{tmp_path}/gone/00001-a.metadata.json")
    assert (seen.damage, seen.versions, seen.offered) == ("the file is gone", (), None)


def test_statements_that_name_a_dollar_run_without_variables(spark):
    assert looking.run_as_written("a", "b") == ("a", "b")
    before = spark.conf.get("spark.sql.variable.substitute")
    found = [spark.sql(one) for one in looking.run_as_written("SELECT 1 AS `${spark.app.name}`")]
    assert (len(found), found[1].columns) == (3, ["${spark.app.name}"])
    assert spark.conf.get("spark.sql.variable.substitute") == before
