"""`workbench formats`: what it prints, and its exit codes."""

import re
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "workbench" / "formats"))
from golden_tables import append, namespace, unpacked  # noqa: F401
from hudi_tables import Written, at, rows
from typer.testing import CliRunner

from workbench._base.errors import ArgumentError
from workbench_ops.cli import app


@pytest.fixture
def command(spark, monkeypatch):
    """The command in this process, on the session that the tests share."""
    from workbench import session

    monkeypatch.setattr(session, "start", lambda environment: spark)

    def call(*arguments):
        done = CliRunner().invoke(app, ["formats", *map(str, arguments)])
        return done.exit_code, done.output, done.exception

    return call


def test_a_look(tmp_path, command):
    path = unpacked("vectors", tmp_path)
    code, output, _ = command("look", path)
    assert (code, output) == (
        0,
        f"delta table in file://{path}, version 6\n"
        "5 files, 8,725 bytes, 386 rows, 228 deleted\n"
        "features: appendOnly, deletionVectors, invariants\n"
        "partitioned by: nothing\n"
        "note: rows are deleted by deletion vectors: the table gets Iceberg's format 3, which readers must know\n",
    )
    code, output, _ = command("look", unpacked("empty", tmp_path))
    assert code == 1 and output.splitlines()[-1].startswith("obstacle: the source is empty at version 0")


def test_a_table_moved_followed_compared_and_taken_over(tmp_path, namespace, command):  # noqa: F811
    path, table = unpacked("vectors", tmp_path), f"{namespace}.moved"
    code, output, _ = command("move", path, table, "--version", 4)
    assert (code, output.splitlines()) == (
        0,
        [
            f"{table} is version 4 of file://{path}: 3 files, 400 rows",
            "3 deletion vectors copied, no data file was written",
            "note: rows are deleted by deletion vectors: the table gets Iceberg's format 3, which readers must know",
            "equal to the source at version 4: 400 rows, read by deltalake",
            f"the source is at version 6 by now: workbench formats follow {table}",
        ],
    )
    assert command("follow", table)[:2] == (
        0,
        f"{table} went from version 4 to 6: 2 files added, 0 removed, 3 kept whose deleted rows changed\n",
    )
    assert command("follow", table)[:2] == (0, f"{table} is at version 6: nothing to do\n")
    assert command("verify", table, "--reader", "duckdb")[:2] == (
        0,
        "equal to the source at version 6: 386 rows, read by duckdb\n",
    )
    code, output, _ = command("take-over", table, "--files", "copied")
    assert code == 0 and re.search(r"follows nothing any more; 5 files, 8,725 bytes copied\n$", output)
    code, _, error = command("follow", table)
    assert code == 1 and "it was taken over from" in str(error)


def test_a_table_that_differs(tmp_path, namespace, command, spark):  # noqa: F811
    path, table = unpacked("plain", tmp_path), f"{namespace}.moved"
    assert command("move", path, table, "--no-verify")[0] == 0
    spark.sql(f"DELETE FROM {table} WHERE id = 7")
    code, output, _ = command("verify", table)
    assert code == 1 and output.startswith(
        "NOT equal to the source at version 4: 139 rows, the source has 140 by deltalake: 1 row missing\n"
        f"somebody else wrote to {table} since it followed: its newest snapshot is of the kind "
    )


def test_a_table_that_was_made_and_could_not_be_compared(tmp_path, namespace, command):  # noqa: F811
    path, table = unpacked("widened", tmp_path), f"{namespace}.moved"  # deltalake does not read it
    code, output, _ = command("move", path, table)
    assert code == 1 and f"{table} is version" in output
    assert (
        f"workbench: {table} was made and follows its source, and could not be compared with it: deltalake"
        in output
    )
    assert "Take reader='duckdb'" in output
    code, output, _ = command("verify", table, "--reader", "duckdb")
    assert code == 0 and "20 rows, read by duckdb" in output


def test_one_file_and_no_deletion_vectors(tmp_path, namespace, command):  # noqa: F811
    written, table = Written(tmp_path / "t"), f"{namespace}.moved"
    written.commit(at(1), written.file("one", at(1), rows(0, 1)))
    code, output, _ = command("move", written.path, table)
    first, second, *_, last = output.splitlines()
    assert code == 0 and first.endswith("/t: 1 file, 1 row") and second == "no data file was written"
    assert last.endswith(": 1 row, read by hudi")
    assert "\n1 file, " in command("look", written.path)[1]


def test_what_needs_no_spark_is_refused_before_a_session_begins(tmp_path, monkeypatch):
    from workbench import session

    monkeypatch.setattr(session, "start", lambda environment: pytest.fail("a session was begun"))

    def refusal(*arguments):
        error = CliRunner().invoke(app, ["formats", *map(str, arguments)]).exception
        assert isinstance(error, ArgumentError)
        return str(error)

    path = unpacked("vectors", tmp_path)
    said = refusal("move", tmp_path / "nowhere", "orders", "--environment", "mistyped")
    for part in (
        f"there is no folder {tmp_path}/nowhere; 'orders' is not a table name",
        "no environment 'mistyped'",
    ):
        assert part in said
    assert said.count("there is no folder") == 1  # the reader could not be judged for the same reason
    said = refusal("move", path, "n.orders", "--version", 7, "--reader", "hudi")
    assert said.endswith(
        "has no version 7; it has 0 to 6; hudi reads no delta tables; reader may be deltalake or duckdb"
    )
    said = refusal("move", unpacked("empty", tmp_path), "n.orders")
    assert "cannot be moved: the source is empty at version 0" in said
    for call in (["follow"], ["verify"], ["take-over", "--files", "copied"]):
        said = refusal(*call, "orders", "--environment", "mistyped")
        assert said.startswith("'orders' is not a table name") and "; no environment 'mistyped'" in said


def test_a_wrong_choice_is_refused(command):
    assert command("take-over", "n.t", "--files", "moved")[0] == 2
    assert command("verify", "n.t", "--reader", "spark")[0] == 2
