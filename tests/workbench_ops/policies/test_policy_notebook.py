"""A notebook on the stand-in for AWS, recorded: the policy has what it did there, and nobody objects to it."""

import json

import pytest
from conftest import workbench
from policy_cases import TOKEN, objections

from workbench_ops import policies

pytestmark = pytest.mark.proof(
    "policies of recorded runs are made in test_policy_command.py, of a notebook of three lines"
)


@pytest.fixture
def account(account, monkeypatch):
    """With a token of a session, too, which must not come out anywhere."""
    monkeypatch.setenv("AWS_SESSION_TOKEN", TOKEN)


def test_the_policy_of_the_template(account, tmp_path):
    said = workbench("policies", "00_template", "--environment", "aws-glue", "--output", str(tmp_path / "p.json"))
    assert (said.returncode, said.stdout) == (0, ""), said.stderr
    assert TOKEN not in said.stderr + (tmp_path / "p.json").read_text()
    document = json.loads((tmp_path / "p.json").read_text())
    glue = "arn:aws:glue:us-east-1:000000000000:"
    both = [f"{glue}catalog", f"{glue}database/template"]
    tables = ["glue:CreateTable", "glue:DeleteTable", "glue:GetTable", "glue:UpdateTable"]
    assert [(one["Action"], one["Resource"]) for one in document["Statement"]] == [
        (["glue:CreateDatabase", "glue:GetDatabase"], both),
        (tables, [*both, f"{glue}table/template/*"]),
        (["s3:DeleteObject", "s3:GetObject", "s3:PutObject"], ["arn:aws:s3:::wb-account/warehouse/template.db/*"]),
    ]
    assert (objections(document), policies.faults(document)) == ([], [])


def test_arrow_and_python_of_a_notebook_are_in_it(account):
    """20_write_audit_publish reads by PyIceberg beside Spark."""
    said = workbench("policies", "20_write_audit_publish", "--environment", "aws-glue", "--runs", "1")
    assert said.returncode == 0, said.stderr
    document = json.loads(said.stdout)
    assert (
        "Arrow did not name the objects of GetObject, HeadObject; taken to be in wb-account/warehouse/wap_gate.db/*"
        in said.stderr
    )
    assert (objections(document), policies.faults(document)) == ([], [])
