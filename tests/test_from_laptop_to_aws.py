"""The page *From your laptop to AWS*, line by line as it stands there, against the stand-in for an account.

Only its first line is another one, which says whose account it is. `make prove PART=aws` has what it needs and runs it.
"""

import os
import re
import subprocess

import pytest
from conftest import ROOT

PAGE = (ROOT / "docs" / "aws.md").read_text(encoding="utf-8")
SAYS = {  # of a command's words: what it must have said
    "doctor": "Glue catalog, whose databases may be listed",
    "run": "passed",
    "policies": '"Action"',
    "check": "differs",
    "try": "passed",
    "glue": "exports/glue-6.0",
}


def commands():
    """Return the lines of the section's block, but for what stands behind #."""
    (block,) = re.findall("```\\n(.*?)```", PAGE, re.DOTALL)
    return [line.partition("  #")[0].strip() for line in block.splitlines()]


def test_the_section_begins_with_whose_account_it_is_and_the_rest_are_commands_of_ours():
    first, *rest = commands()
    assert first.startswith("export AWS_PROFILE=me WORKBENCH_WAREHOUSE=s3://my-bucket/warehouse WORKBENCH_REGION=")
    assert len(rest) == 9 and all(line.startswith(".venv/bin/workbench ") for line in rest)


@pytest.mark.proof(
    "test_account.py, test_policy_command.py, test_runner.py and tests/workbench_ops/export call the same commands without an account"
)
def test_every_line_does_what_it_says(account, monkeypatch):
    assert "AWS_PROFILE" not in os.environ
    for line in commands()[1:]:
        done = subprocess.run(
            ["bash", "-c", line], cwd=ROOT, capture_output=True, text=True, timeout=900, check=False
        )
        said = done.stdout + done.stderr
        assert done.returncode == 0, f"{line}: {said[-3000:]}"
        assert all(text in said for word, text in SAYS.items() if word in line.split()), f"{line}: {said[-3000:]}"
