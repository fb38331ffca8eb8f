"""`workbench policies` refuses what it cannot record, names what it does not know, and prints no half of a policy."""

import json
from types import SimpleNamespace

import pytest
from conftest import workbench, write_notebook
from moto.server import ThreadedMotoServer
from policy_cases import objections
from typer.testing import CliRunner

from workbench._base import settings
from workbench_ops import cli, policies
from workbench_ops.cli.commands.policies import _written
from workbench_ops.policies import rehearsing
from workbench_ops.run import runner
from workbench_ops.saying import say

CALLS = """
import boto3
boto3.client("dynamodb").list_tables()
boto3.client("s3").list_objects_v2(Bucket="lake", Prefix="in/day=1/", MaxKeys=1)
"""


@pytest.fixture
def aws(monkeypatch, tmp_path):
    running = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    running.start()
    host, port = running.get_host_and_port()
    import boto3

    boto3.client("s3", endpoint_url=f"http://{host}:{port}", region_name="us-east-1").create_bucket(Bucket="lake")
    given = {
        "AWS_ENDPOINT_URL": f"http://{host}:{port}",
        "AWS_DEFAULT_REGION": "us-east-1",
        "NO_PROXY": "127.0.0.1",
    }
    for name, value in given.items():
        monkeypatch.setenv(name, value)
    yield
    running.stop()


def test_a_call_that_is_not_known_is_named_and_ends_with_1(aws, project):
    write_notebook(project / "notebooks" / "01_calls.ipynb", CALLS)
    said = workbench("policies", "01_calls", "--runs", "1", cwd=project)
    assert said.returncode == 1
    assert "workbench: the policy lacks dynamodb:ListTables, called by Python\n" in said.stderr
    document = json.loads(said.stdout)
    assert document["Statement"] == [
        {
            "Sid": "Storage1",
            "Effect": "Allow",
            "Action": ["s3:ListBucket"],
            "Resource": ["arn:aws:s3:::lake"],
            "Condition": {"StringLike": {"s3:prefix": ["in/day=1/*"]}},
        }
    ]
    assert (objections(document), policies.faults(document)) == ([], [])


@pytest.mark.parametrize(
    ("status", "sentence"),
    [("failed", "its calls are not all of them: there is no policy"), ("passed", "nothing was called in AWS")],
)
def test_one_run_is_enough_to_see_that_there_is_no_policy(project, monkeypatch, status, sentence):
    """A run that is made up, in this process."""
    write_notebook(project / "notebooks" / "01_mine.ipynb", "x = 1")
    ran, ended = [], SimpleNamespace(status=status, exit_code=1)
    monkeypatch.setattr(runner, "run", lambda job: ran.append(job) or ended)
    monkeypatch.setattr(rehearsing, "_candidates", lambda ended: set())
    monkeypatch.chdir(project)
    said = CliRunner().invoke(cli.app, ["policies", "01_mine", "--output", "p.json"])
    assert (said.exit_code, len(ran), (project / "p.json").exists()) == (1, 1, False)
    assert sentence in said.output


MADE_UP = pytest.mark.proof(
    "test_one_run_is_enough_to_see_that_there_is_no_policy hears the same sentence of a run that is made up"
)


@MADE_UP
def test_a_run_that_fails_has_no_policy(aws, project):
    write_notebook(project / "notebooks" / "01_calls.ipynb", f"{CALLS}\n1 / 0")
    said = workbench("policies", "01_calls", "--output", "p.json", cwd=project)
    assert (said.returncode, said.stdout, (project / "p.json").exists()) == (1, "", False)
    assert "its calls are not all of them: there is no policy" in said.stderr
    assert len(list((project / "runs" / "01_calls").iterdir())) == 1


@MADE_UP
def test_what_calls_nothing_is_not_run_again(project):
    write_notebook(project / "notebooks" / "01_mine.ipynb", "x = 1")
    said = workbench("policies", "01_mine", cwd=project)
    assert said.returncode == 1 and "nothing was called in AWS" in said.stderr
    assert len(list((project / "runs" / "01_mine").iterdir())) == 1


def test_what_cannot_be_recorded_is_refused_before_it_runs(project):
    write_notebook(project / "notebooks" / "01_far.ipynb", "1 / 0", parameters='ENVIRONMENT: str = "far"  # where')
    (project / "params" / "environments").mkdir(parents=True)
    (project / "params" / "environments" / "far.yml").write_text(
        "description: Spark elsewhere\ncatalog: {type: glue, warehouse: s3://lake/w}\n"
        "spark: {master: 'spark://10.0.0.1:7077', shuffle_partitions: 2}\njars: []\n"
    )
    said = workbench("policies", "01_far", cwd=project)
    sentence = "workbench: far has Spark on other machines, whose calls to AWS are not seen from here\n"
    assert (said.returncode, said.stdout, said.stderr) == (2, "", sentence)
    assert not (project / "runs").exists()


@pytest.mark.parametrize("output", ["gone/policy.json", "notebooks"])
def test_a_place_that_cannot_be_written_is_refused_before_it_runs(project, output):
    write_notebook(project / "notebooks" / "01_mine.ipynb", "x = 1")
    said = workbench("policies", "01_mine", "--output", output, cwd=project)
    sentence = f"workbench: {output} cannot be written: its folder does not exist, or it is a folder\n"
    assert (said.returncode, said.stdout, said.stderr) == (2, "", sentence)
    assert not (project / "runs").exists()


@pytest.fixture
def policy_of(monkeypatch):
    """The policy of calls of a run in which no word is a name."""
    monkeypatch.setattr(rehearsing, "_candidates", lambda ended: set())

    def policy(seen, env):
        return rehearsing.policy_of(rehearsing.Recording(None, frozenset(seen)), env, say=say)[0]

    return policy


def test_nothing_called_is_nothing_to_allow(policy_of, capsys):
    stand_in = policies.Call("python", "kinesis", "PutRecords", "127.0.0.1:4567")
    assert _written(policy_of({stand_in}, None), None) == 1
    said = capsys.readouterr()
    assert said.out == "" and "calls that did not go to AWS: 127.0.0.1:4567" in said.err
    assert "nothing was called in AWS" in said.err


@pytest.mark.parametrize("name", ["local", "s3"])
def test_calls_to_aws_beside_a_catalog_that_is_none_of_its(name, policy_of, monkeypatch, capsys):
    monkeypatch.setattr("botocore.client.BaseClient._make_api_call", lambda *_: {"Account": "111122223333"})
    call = policies.Call("python", "kinesis", "ListStreams", "kinesis.eu-central-1.amazonaws.com", "eu-central-1")
    assert _written(policy_of({call}, settings.environment(name)), None) == 0
    assert json.loads(capsys.readouterr().out)["Statement"][0]["Action"] == ["kinesis:ListStreams"]


def test_the_help_claims_no_enforcement_without_a_proof():
    said = " ".join(workbench("policies", "--help", env={"COLUMNS": "200"}).stdout.replace("│", " ").split())
    assert "Without --prove it is not enforced here, and AWS has not judged it" in said
