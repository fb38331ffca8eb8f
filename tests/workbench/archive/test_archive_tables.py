"""Iceberg tables in the archive: the cases of table_cases.py, in a process whose session is the environment's."""

import ast
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import PROVE

from workbench import archive
from workbench._base import scratch

CASES = Path(__file__).parent / "table_cases.py"


def cases():
    """The names of the cases that are run here: a proof has them all."""
    for node in ast.parse(CASES.read_text()).body:
        marks = map(ast.unparse, getattr(node, "decorator_list", []))
        left_out = not PROVE and any(mark.startswith("pytest.mark.proof(") for mark in marks)
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_") and not left_out:
            yield node.name


def test_the_cases_of_tables():
    # a lake of its own: the session of this process, if there is one, has no use for tables of a store that is gone
    env = {name: value for name, value in os.environ.items() if name != scratch.VARIABLE}
    said = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:xdist", str(CASES)],
        env=env, capture_output=True, text=True, timeout=600, check=False,
    )  # fmt: skip
    assert said.returncode == 0, said.stdout[-6000:] + said.stderr[-2000:]
    passed = int(re.search(r"(\d+) passed", said.stdout)[1])
    assert passed >= len(list(cases())) > 0 and "skipped" not in said.stdout


def test_a_table_that_is_not_on_s3_is_refused(spark, namespace):
    spark.sql(f"CREATE TABLE {namespace}.here (id BIGINT) USING iceberg")
    with pytest.raises(ValueError, match="is not on S3: it has file:"):
        archive.inventory(f"{namespace}.here", spark=spark, s3=None)
