"""`workbench maintain` without a session: what is refused before one, exit codes, and which sentences are for a person."""

import importlib
import re

import pytest
from conftest import workbench
from py4j.protocol import Py4JNetworkError
from typer.testing import CliRunner

from workbench import session
from workbench.tables import maintenance
from workbench.tables.maintenance import Done, Hindrance, Obstacle, Reason, Remark, wording
from workbench_ops.cli import app

COMMAND = importlib.import_module("workbench_ops.cli.commands.maintain")


def call(*arguments):
    """Return the exit code; a refusal comes through."""
    said = CliRunner().invoke(app, ["maintain", *map(str, arguments)])
    if said.exception and not isinstance(said.exception, SystemExit):
        raise said.exception
    return said.exit_code


@pytest.fixture
def policy(tmp_path):
    def written(text):
        path = tmp_path / "policy.yml"
        path.write_text(text)
        return ("--policy", path)

    return written


@pytest.mark.parametrize(
    ("arguments", "text", "why"),
    [
        (["a.b"], "keep_snapshot: 1\n", "keep_snapshot is not a setting (did you mean keep_snapshots?)"),
        (["a.b"], "limits: {max_commits: 0}\n", "limits.max_commits: "),
        (["a.b", "c"], "", "'c' is not a table name"),
        (["a.b", "c.d", "a.b"], "", "a.b is named twice"),
        (["a.b", "c.d", "--mark", "5"], "", "--mark belongs to one table; name that one alone"),
        (["a.b"], "orphans_older_than_days: 0.5\n", "orphans_older_than_days is 0.5, and this command takes 1 or more"),
    ],
)  # fmt: skip
def test_what_is_refused_before_a_session(policy, monkeypatch, arguments, text, why):
    monkeypatch.setattr(session, "start", lambda environment: pytest.fail("a session was started"))
    with pytest.raises(ValueError, match=re.escape(why)):
        call(*arguments, *policy(text))


def test_no_orphans_are_meant_where_the_policy_has_none(policy, monkeypatch):
    """Then their age is no reason to refuse."""
    monkeypatch.setattr(session, "start", lambda environment: None)
    monkeypatch.setattr(COMMAND, "_maintained", lambda spark, name, *rest: {"a.b": 0, "c.d": 2, "e.f": 1}[name])
    text = "actions: [compact_data]\norphans_older_than_days: 0.5\n"
    together = (["a.b"], ["a.b", "e.f"], ["a.b", "c.d", "e.f"])
    assert [call(*names, *policy(text)) for names in together] == [0, 1, 2]


@pytest.mark.parametrize(
    ("error", "code", "said"),
    [
        (ConnectionRefusedError("nobody is there"), 2, "workbench: a.b cannot be looked at: nobody is there\n"),
        (Py4JNetworkError("Java is gone"), 2, "workbench: a.b cannot be looked at: Java is gone\n"),
        (TypeError("a defect"), 1, "\nTypeError: a defect\n"),
    ],
    ids=["connection", "java", "defect"],
)
def test_what_is_told_without_a_traceback(policy, monkeypatch, error, code, said):
    def fail(spark, table, **more):
        raise error

    monkeypatch.setattr(session, "start", lambda environment: None)
    monkeypatch.setattr(maintenance, "plan", fail)
    told = CliRunner().invoke(app, ["maintain", "a.b", *map(str, policy(""))])
    assert told.exit_code == code and said in told.output
    assert ("Traceback" in told.output) == (code == 1)


def test_a_refusal_is_one_sentence_and_no_traceback(policy, tmp_path):
    _, path = policy("")
    absent = tmp_path / "not.yml"
    for arguments, why in (
        (("a.b", "--policy", absent), f"workbench: {absent} cannot be read: No such file "),
        (("a.b", "--policy", path, "--environment", "laek"), "workbench: no environment 'laek' (did you mean"),
    ):
        said = workbench("maintain", *arguments, cwd=tmp_path)
        assert (said.returncode, said.stdout) == (2, "") and said.stderr.startswith(why), said.stderr
        assert said.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("remark", "files", "code"),
    [
        (Remark(Reason.PARTITIONS_LEFT, limit="max_minutes", count=3), 0, 0),
        (Remark(Reason.PARTITION_TOO_LARGE, limit="max_bytes", name="{}"), 5, 0),
        (Remark(Reason.PARTITION_TOO_LARGE, limit="max_bytes", name="{}"), 0, 1),
        (Remark(Reason.THROUGH_SPARK, obstacle=Obstacle(Hindrance.DELETE_FILES)), 5, 0),
        (Remark(Reason.FILES_CHANGED, count=4, tries=5), 5, 1),
        (Remark(Reason.REWRITE_REFUSED, error="CommitFailedException: max_commits is reached: x"), 0, 1),
    ],
)  # fmt: skip
def test_which_remarks_are_for_a_person(capsys, remark, files, code):
    assert COMMAND._noted(remark, Done("compact_data", files)) == code
    tag = "left   compact_data: " if code else "note   compact_data: "
    assert capsys.readouterr().out.startswith(tag + wording.sentence(remark))


def test_a_reason_that_nobody_has_ranged_is_for_a_person():
    assert Remark("a reason of tomorrow").kind == "undone"


def test_orphans_that_the_minutes_left(capsys):
    done = Done("remove_orphans", 1, orphans=("a", "b", "c"))
    assert COMMAND._say_done(done, True) == 0
    assert capsys.readouterr().out == (
        "done   remove_orphans: 3 orphans found, 1 deleted\n"
        "note   remove_orphans: max_minutes is reached: 2 orphans left, or known to the table by now\n"
    )
    why = Remark(
        Reason.NOTHING_REMOVED, obstacle=Obstacle(Hindrance.METADATA_OF_ANOTHER, location="a", folder="b")
    )
    refused = Done("remove_orphans", remarks=(why,))
    assert COMMAND._say_done(refused, True) == 1
