"""`workbench formats`: what it prints, and its exit codes."""

import re
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "workbench" / "formats"))
from golden_tables import append, namespace, unpacked  # noqa: F401
from typer.testing import CliRunner

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
            "3 deletion vectors were copied, no data file was written",
            "note: rows are deleted by deletion vectors: the table gets Iceberg's format 3, which readers must know",
            "equal to the source at version 4: 400 rows, read by deltalake",
        ],
    )
    assert command("follow", table)[:2] == (
        0,
        f"{table} went from version 4 to 6: 2 files came, 0 went, of 3 other rows are deleted\n",
    )
    assert command("follow", table)[:2] == (0, f"{table} is at version 6: nothing to do\n")
    assert command("verify", table, "--reader", "duckdb")[:2] == (
        0,
        "equal to the source at version 6: 386 rows, read by duckdb\n",
    )
    code, output, _ = command("take-over", table, "--files", "copied")
    assert code == 0 and re.search(r"follows nothing any more; 5 files, 8,725 bytes were copied\n$", output)
    code, _, error = command("follow", table)
    assert code == 1 and "it was taken over from" in str(error)


def test_a_table_that_differs(tmp_path, namespace, command, spark):  # noqa: F811
    path, table = unpacked("plain", tmp_path), f"{namespace}.moved"
    assert command("move", path, table, "--no-verify")[0] == 0
    spark.sql(f"DELETE FROM {table} WHERE id = 7")
    code, output, _ = command("verify", table)
    assert code == 1 and output.startswith(
        "NOT equal to the source at version 4: 139 rows, the source has 140 by deltalake; the columns id, small,"
    )


def test_a_wrong_choice_is_refused(command):
    assert command("take-over", "n.t", "--files", "moved")[0] == 2
    assert command("verify", "n.t", "--reader", "spark")[0] == 2
