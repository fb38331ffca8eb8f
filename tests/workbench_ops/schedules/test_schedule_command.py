"""`workbench schedule`: check, run, cron and airflow as a person and a scheduler call them."""

import errno
import json
import re
import sys
from types import SimpleNamespace

import pytest
from conftest import PROVE, ROOT, workbench, write_notebook

from workbench.engines import profiles
from workbench_ops import cli
from workbench_ops.run import record as records
from workbench_ops.run import runner

GOOD = 'good: {notebook: 01_good, params: params/more.yml, cron: "15 2 * * *", time_zone: Europe/Berlin}\n'


@pytest.fixture
def scheduled(project):
    """A project with a good and a bad notebook; returns what writes its schedules."""
    write_notebook(project / "notebooks" / "01_good.ipynb", "print(N)", parameters="N: int = 1  # how many")
    write_notebook(project / "notebooks" / "02_bad.ipynb", "1 / 0")
    (project / "params").mkdir()
    (project / "params" / "more.yml").write_text("N: 2\n")

    def write(text):
        (project / "params" / "schedules.yml").write_text(text)
        return project

    return write


@pytest.fixture
def inside(monkeypatch, capsys):
    """Call the command in this process, which has loaded everything: many refusals in a second."""

    def call(folder, *arguments):
        monkeypatch.chdir(folder)
        monkeypatch.setattr(sys, "argv", ["workbench", *arguments])
        with pytest.raises(SystemExit) as ended:
            cli.main()
        return ended.value.code, capsys.readouterr()

    return call


def test_check_prints_the_next_times(scheduled):
    project = scheduled(GOOD + "then: {notebook: 02_bad, environment: null, after: good}\n")
    said = workbench("schedule", "check", "--now", "2026-03-28T00:00", cwd=project / "notebooks")
    assert (said.returncode, said.stderr) == (0, "")
    assert [re.split(r"  +", line) for line in said.stdout.splitlines()] == [
        ["ENTRY", "RUNS", "ENVIRONMENT", "NEXT TIMES"],
        ["good", "01_good", "2026-03-28 02:15, 2026-03-29 03:00, 2026-03-30 02:15 (Europe/Berlin)"],
        ["then", "02_bad", "after good"],
    ]


def test_check_names_what_the_scheduler_must_have(scheduled):
    project = scheduled('own: {notebook: 03_env, environment: prod, cron: "1 2 * * *"}\n')
    write_notebook(project / "notebooks" / "03_env.ipynb", "1", parameters='ENVIRONMENT: str = "local"  # where')
    (project / "params" / "environments").mkdir()
    (project / "params" / "environments" / "prod.yml").write_text(
        "description: d\njars: []\n"
        "catalog: {type: rest, uri: 'env:CATALOG_URI', properties: {token: 'env:CATALOG_TOKEN', header.y: 'ssm:/a/b', x: y}}\n"
    )
    said = workbench("schedule", "check", cwd=project)
    assert said.returncode == 0, said.stderr
    assert said.stdout.splitlines()[-1] == (
        "own: the scheduler's own environment must have CATALOG_TOKEN, CATALOG_URI"
    )


@pytest.mark.parametrize("command", ["check", "cron", "airflow"])
@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ('a: {notebook: 01_goood, cron: "1 2 * * *"}', "a: no notebook 01_goood (did you mean 01_good?)"),
        ('a: {notebook: 01_good, params: params/no.yml, cron: "1 2 * * *"}', "a: there is no params file params/no.yml"),
        ('a: {notebook: 02_bad, params: params/more.yml, cron: "1 2 * * *"}', "a: N is not a parameter"),
        ('a: {notebook: 01_good, environment: lake, cron: "1 2 * * *"}', "a: ENVIRONMENT is not a parameter"),
        (GOOD + 'b: {notebook: notebooks/01_good.ipynb, params: ./params/more.yml, cron: "1 3 * * *"}',
         "b: it is the same job as good: notebook, params file and environment"),
        ('a: {notebook: 01_good, cron: "1 2 * * *", on_failure: ./tell.sh}',
         "a: on_failure: no program ./tell.sh in the project's folder"),
        ('a: {notebook: 01_good, cron: "1 2 * * *", on_failure: ./notebooks/01_good.ipynb}',
         "a: on_failure: ./notebooks/01_good.ipynb may not be executed: chmod"),
        ('a: {notebook: 01_good, cron: "1 2 * * *", on_failure: tell-me}',
         "a: on_failure: no program tell-me in /usr/bin:/bin, which is cron's PATH"),
        ('a: {notebook: 01_good, cron: "1 2 * *"}', "a: a cron expression has five fields"),
    ],
    ids=["notebook", "no params", "params", "environment", "same job", "no script", "no right", "no program", "cron"],
)  # fmt: skip
def test_refused_before_anything_is_written(inside, scheduled, command, text, sentence):
    project = scheduled(text)
    written = [] if command == "check" else ["--output", str(project / "out")]
    code, said = inside(project, "schedule", command, *written)
    assert (code, said.out) == (2, "") and sentence in said.err
    assert not (project / "out").exists()


def test_a_program_that_only_the_user_has_is_none_for_cron(inside, scheduled, monkeypatch):
    project = scheduled('a: {notebook: 01_good, cron: "1 2 * * *", on_failure: tell-me}\n')
    (project / "bin").mkdir()
    (project / "bin" / "tell-me").write_text("#!/bin/sh\n")
    (project / "bin" / "tell-me").chmod(0o755)
    monkeypatch.setenv("PATH", f"{project / 'bin'}:/usr/bin:/bin")
    code, said = inside(project, "schedule", "check")
    assert code == 2 and "a: on_failure: no program tell-me in /usr/bin:/bin" in said.err
    scheduled('a: {notebook: 01_good, cron: "1 2 * * *", on_failure: bin/tell-me}\n')
    assert inside(project, "schedule", "check")[0] == 0


def test_environment_that_is_none(inside, scheduled):
    project = scheduled('a: {notebook: 03_env, environment: nowhere, cron: "1 2 * * *"}')
    write_notebook(project / "notebooks" / "03_env.ipynb", "1", parameters='ENVIRONMENT: str = "local"  # where')
    code, said = inside(project, "schedule", "check")
    assert code == 2 and "a: no environment 'nowhere'" in said.err


def test_cron_and_airflow_write_files_whole_and_the_same_twice(inside, scheduled):
    project = scheduled(GOOD)
    for command in ("cron", "airflow"):
        code, printed = inside(project, "schedule", command)
        assert code == 0 and str(project) in printed.out
        assert inside(project / "params", "schedule", command, "--output", "../new/out")[0] == 0
        assert (project / "new" / "out").read_text() == printed.out
    assert "WORKBENCH_HOME=" in inside(project, "schedule", "cron")[1].out
    berlin = inside(project, "schedule", "cron", "--cron-zone", "Europe/Berlin")[1].out
    assert re.search(r"^15 2 \* \* \* cd ", berlin, re.MULTILINE) and "--due" not in berlin
    assert "rotate 8" in inside(project, "schedule", "cron", "--logrotate")[1].out
    assert sorted(path.name for path in project.iterdir()) == ["new", "notebooks", "params"]


def test_a_chain_run_as_cron_does(scheduled):
    """Called from another folder: tried twice, told once, exit code kept, what follows a failure not started."""
    tries = 2 if PROVE else 1  # in the check test_a_full_disk_is_told_and_tried_again tries twice
    project = scheduled(
        f'bad: {{notebook: 02_bad, cron: "15 2 * * *", retries: {tries - 1}, retry_wait_seconds: 0, on_failure: ./tell.sh}}\n'
        "then: {notebook: 01_good, after: bad}\n"
    )
    (project / "tell.sh").write_text('#!/bin/sh\necho "$@" >>told\n')
    (project / "tell.sh").chmod(0o755)
    said = workbench("schedule", "run", "bad", cwd=project / "notebooks")
    assert said.returncode == 1, said.stderr
    ended = sorted(project.glob("runs/*/*/run.json"))
    assert [json.loads(path.read_text())["exit_code"] for path in ended] == [1] * tries
    assert (project / "told").read_text() == f"{ended[-1]}\n"
    assert ("bad ended with 1, try 2 of 2 follows" in said.stderr) is (tries == 2)
    assert "then is not started: bad did not pass" in said.stderr
    passed = workbench("schedule", "run", "then", cwd=project)
    assert passed.returncode == 0
    assert passed.stdout.splitlines()[-1] == str(next(project.glob("runs/01_good/*/report.html")))


def test_refused_and_told_even_without_a_record(inside, scheduled):
    project = scheduled('gone: {notebook: 09_gone, cron: "15 2 * * *", on_failure: ./tell.sh}\n')
    (project / "tell.sh").write_text('#!/bin/sh\necho "told $#" >>told\n')
    (project / "tell.sh").chmod(0o755)
    code, said = inside(project, "schedule", "run", "gone", "--try", "1")
    assert code == 2 and "no notebook 09_gone" in said.err
    assert (project / "told").read_text() == "told 0\n"


def test_a_full_disk_is_told_and_tried_again(inside, scheduled, monkeypatch):
    """No record can be written: the chain must not end without a word to whoever is called."""
    project = scheduled(
        'full: {notebook: 01_good, cron: "1 2 * * *", retries: 1, retry_wait_seconds: 0, on_failure: ./tell.sh}\n'
    )
    (project / "tell.sh").write_text('#!/bin/sh\necho "told $#" >>told\n')
    (project / "tell.sh").chmod(0o755)

    def full(job):
        raise OSError(errno.ENOSPC, "No space left on device", "runs")

    monkeypatch.setattr(runner, "run", full)
    code, said = inside(project, "schedule", "run", "full")
    assert (code, (project / "told").read_text()) == (1, "told 0\n")
    assert "full could not be run: [Errno 28] No space left on device" in said.err
    assert "full ended with 1, try 2 of 2 follows" in said.err


def test_paths_that_are_relative_are_from_where_it_is_called(inside, scheduled, monkeypatch):
    project = scheduled(GOOD)
    monkeypatch.setenv("WORKBENCH_HOME", project.name)
    monkeypatch.setenv("WORKBENCH_PARAMS", "elsewhere")
    monkeypatch.setenv("AWS_PROFILE", "me")
    code, said = inside(project.parent, "schedule", "cron")
    assert (code, said.err) == (0, "")
    for carried in (
        f"WORKBENCH_HOME={project}",
        f"WORKBENCH_PARAMS={project.parent / 'elsewhere'}",
        "AWS_PROFILE=me",
    ):
        assert f" {carried} " in said.out


def test_a_notebook_that_was_saved_in_another_engine_is_recorded_as_one_of_it(inside, scheduled, monkeypatch):
    project, jobs = scheduled(GOOD), []
    monkeypatch.setattr(profiles, "versions_in", lambda name: {"pyspark": "3.5.6"})
    monkeypatch.setattr(runner, "run", lambda job: jobs.append(job) or SimpleNamespace(exit_code=0))
    monkeypatch.setattr(records, "folder", lambda record: project)
    for kernel in ("spark35", "python3"):
        path = project / "notebooks" / "01_good.ipynb"
        book = json.loads(path.read_text())
        book["metadata"]["kernelspec"] = {"name": kernel, "display_name": kernel, "language": "python"}
        path.write_text(json.dumps(book))
        assert inside(project, "schedule", "run", "good", "--try", "1")[0] == 0
    assert [(job.kernel, job.versions) for job in jobs] == [("spark35", {"pyspark": "3.5.6"}), (None, {})]


def test_a_wake_up_that_is_not_due_does_nothing(inside, scheduled):
    project = scheduled('gone: {notebook: 09_gone, cron: "15 2 * * *", time_zone: Europe/Berlin}\n')
    for moment, code in (("2026-07-01T02:15", 0), ("2026-07-01T00:00", 0), ("2026-07-01T00:15", 2)):
        assert inside(project, "schedule", "run", "gone", "--due", moment)[0] == code
    assert not list(project.glob("runs/*/*"))
    for moment in ("soon", "0001-01-01T00:00+05:00", "9999-12-31T23:59"):
        code, wrong = inside(project, "schedule", "run", "gone", "--due", moment)
        assert code == 2 and f"'{moment}' is not a time like 2026-01-31T02:15" in wrong.err
    assert "no entry 'good'" in inside(project, "schedule", "run", "good")[1].err


def test_the_projects_own_schedules_are_right(inside, monkeypatch):
    monkeypatch.setenv("WORKBENCH_HOME", str(ROOT))
    code, said = inside(ROOT, "schedule", "check", "--now", "2026-01-30T12:00")
    assert (code, said.err) == (0, "")
    assert said.out.splitlines()[1].endswith("2026-01-31 02:15, 2026-02-01 02:15, 2026-02-02 02:15 (UTC)")
