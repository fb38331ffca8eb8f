"""Profiles of engines are typed, and none runs under a wrong name; times are told beside verdicts only."""

import pytest

from workbench.tpcds import engines, runs, verdicts


@pytest.fixture
def profile(tmp_path, monkeypatch):
    """Write a profile into a params folder of the test's own."""
    (tmp_path / "environments").mkdir()
    (tmp_path / "engines").mkdir()
    monkeypatch.setenv("WORKBENCH_PARAMS", str(tmp_path))

    def write(text):
        (tmp_path / "engines" / "mine.yml").write_text(text)
        return tmp_path / "engines" / "mine.yml"

    return write


GOOD = "description: one\nfamily: spark\nreads: iceberg\npackages: {pyspark: 3.5.3}\n"


def test_the_profiles_that_are_there():
    found = {name: engines.engine(name) for name in engines.names()}
    assert {name: (one.family, one.reads, one.decimals, one.packages) for name, one in found.items()} == {
        "baseline": ("spark", "iceberg", "rounded", {"pyspark": "3.5.3"}),
        "duckdb": ("duckdb", "parquet", "rounded", {"duckdb": "1.5.5"}),
        "sail": ("sail", "parquet", "cut", {"pysail": "0.7.2"}),
        "spark41": ("spark", "iceberg", "rounded", {"pyspark": "4.1.4"}),
    }
    assert found["baseline"].conf == {}  # defaults is what it is called


def test_a_profile_of_ones_own_is_found_first(profile):
    profile(GOOD)
    assert engines.engine("mine").name == "mine"
    assert list(engines.names()) == ["baseline", "duckdb", "mine", "sail", "spark41"]


@pytest.mark.parametrize(
    ("old", "new", "sentence"),
    [
        (
            "family: spark",
            "familie: spark",
            "familie is not a setting (did you mean family?); it has name, description",
        ),
        ("family: spark", "family: flink", "family: Input should be 'spark', 'sail' or 'duckdb'"),
        ("reads: iceberg\n", "", "reads: Field required"),
        ("{pyspark: 3.5.3}", "{}", "packages: Dictionary should have at least 1 item"),
        ("{pyspark: 3.5.3}", "{pyspark: 3.5}", "packages.pyspark: Input should be a valid string"),
        (GOOD, "[1, 2]", "expected keys and values, found list"),
        ("description: one", "description: one\ndescription: two", "line 2: description stands twice"),
    ],
)
def test_a_wrong_profile_is_refused_with_its_key(profile, old, new, sentence):
    file = profile(GOOD.replace(old, new))
    with pytest.raises(ValueError) as caught:
        engines.engine("mine")
    assert sentence in str(caught.value) and str(file) in str(caught.value)


def test_an_engine_that_is_not_there_is_refused():
    with pytest.raises(
        ValueError, match=r"no engine 'spark42' \(did you mean spark41\?\); there are baseline, duckdb"
    ):
        engines.engine("spark42")


def test_no_engine_runs_under_the_name_of_another():
    with pytest.raises(
        ValueError, match=r"engine baseline is pyspark 3\.5\.3, here is 4\.1\.4: it needs a process"
    ):
        engines.run(engines.engine("baseline"), "q1", None)


def result(query, kind, seconds=1.0):
    return runs.Result("spark41", query, verdicts.Verdict(kind, "so it is"), seconds, 0.1)


def test_times_stand_beside_verdicts_and_are_added_up_only_where_verified():
    found = [result("q1", "equal"), result("q2", "vacuous", 64), result("q3", "tie at the limit", 0.5)]
    assert list(runs.lines(found)) == [
        "TPC-DS derived, spark41: 3 queries",
        "q1        1.000 s  equal: so it is",
        "q2       64.000 s  vacuous: so it is",
        "q3        0.500 s  tie at the limit: so it is",
        "verified 2 of 3 in 1.500 s: 1 equal, 0 same value in another scale, 0 only order, 1 tie at the limit, "
        "1 vacuous, 0 unverified, 0 different",
    ]
    runs.require(found)


def test_a_different_answer_fails_the_run():
    with pytest.raises(
        runs.AnswersDiffer, match=r"1 answers of spark41 are wrong \(TPC-DS derived\): q7: so it is"
    ):
        runs.require([result("q1", "equal"), result("q7", "different")])


def test_a_time_without_a_verdict_is_not_told():
    with pytest.raises(ValueError, match="the time of q1 has no verdict beside it and is not told"):
        runs.Result("spark41", "q1", None, 1.0, 0.1)
