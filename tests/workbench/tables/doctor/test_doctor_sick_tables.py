"""Each planted cause is found, nothing is invented, and the cure keeps every row."""

import pytest
from digests import digest
from doctor_cases import LATER, POLICY, diagnose, the

from workbench.data import sick
from workbench.tables import doctor

ROWS = 20_000


@pytest.mark.proof(
    "the notebook 41_doctor_a_sick_table plants the same causes, and checks that they are found and "
    "cured and that rows stay"
)
@pytest.mark.parametrize("make", [sick.healthy, *sick.ALL], ids=lambda make: make.__name__)
def test_what_was_planted_is_found_and_cured(spark, namespace, make):
    made = make(spark, namespace, rows=ROWS)
    before, found = digest(spark, made.name), diagnose(spark, made.name)
    assert before[0] == made.rows
    assert sorted(found.causes) == list(made.causes)
    if make is sick.forgotten:
        assert found == diagnose(spark, made.name)  # looking changes nothing
    plain = doctor.cure(spark, found)
    owners = [one.cause for one in found.findings if one.by == "owner"]
    assert [one.partition(":")[0] for one in doctor.sentences(plain)] == owners and plain.statements == ()
    rest = diagnose(spark, made.name)
    assert list(rest.causes) == owners
    assert doctor.cure(spark, rest, agreed=owners).undecided == ()
    assert digest(spark, made.name) == before
    assert diagnose(spark, made.name).causes == ()


@pytest.mark.proof(
    "the notebook 41_doctor_a_sick_table prints each finding's sentence, and its stored output is compared"
)
def test_sentences_have_their_figures(spark, namespace):
    made = sick.dripped(spark, namespace, rows=2000, drips=25)
    found = diagnose(spark, made.name)
    small, many = the(found, "small_files"), the(found, "many_manifests")
    assert small.what.startswith("25 of 25 data files are small, ") and small.what.endswith("; about 2 would do")
    assert (small.severity, small.by, small.actions) == ("middle", "maintenance", ("compact_data",))
    assert many.what.startswith("25 manifests of ") and many.actions == ("rewrite_manifests",)
    told = doctor.told(found)
    assert list(told["cause"]) == ["small_files", "many_manifests"]
    assert list(told["would_do"]) == ["compact_data", "rewrite_manifests"]


def test_a_cure_that_nobody_agreed_to_is_refused(spark, namespace):
    made = sick.dripped(spark, namespace, rows=100, drips=5)
    found = diagnose(spark, made.name)
    assert found.causes == ("small_files",)
    assert found == diagnose(spark, made.name)  # looking changes nothing
    with pytest.raises(ValueError, match="unsorted_files was not found in .*; found were: small_files"):
        doctor.cure(spark, found, agreed=["unsorted_files"])
    with pytest.raises(ValueError, match="small_files cannot be agreed to: it needs no agreement"):
        doctor.cure(spark, found, agreed=["small_files"])
    with pytest.raises(ValueError, match=r"write agreed=\['small_files'\]"):
        doctor.cure(spark, found, agreed="small_files")
    sick.dripped(spark, namespace, rows=100, drips=5)
    with pytest.raises(ValueError, match="look anew"):
        doctor.cure(spark, found)
    assert diagnose(spark, made.name).causes == ("small_files",)


@pytest.mark.parametrize(
    ("wrong", "why"),
    [
        ({"max_minute": 5}, "cure has no argument max_minute; it has .*, max_bytes, max_minutes, max_commits"),
        ({"max_minutes": "x"}, "max_minutes must be a number of at least 0 or None, found 'x'"),
        ({"tries": 0}, "tries must be an integer of at least 1, found 0"),
        ({"properties": "no"}, "properties must be True or False, found 'no'"),
        ({"marks": "reader"}, "marks must be a list of ids of snapshots or names of branches and tags"),
        ({"now": "today"}, "now must be a datetime or None, found 'today'"),
        ({"now": LATER.replace(tzinfo=None)}, "now must have a time zone"),
    ],
)
def test_a_wrong_argument_of_a_cure_is_said_before_anything_is_done(wrong, why):
    """It came in the middle, when the owner's statements had run."""
    found = doctor.Diagnosis("a.b", "", None, LATER, POLICY, ())
    with pytest.raises(ValueError, match=why):
        doctor.cure(None, found, **wrong)
