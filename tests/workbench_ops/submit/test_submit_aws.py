"""Targets in an AWS account, on moto's server: requests, states, and the token that it does not look at.

What moto lacks is not shown here: it honours no clientToken, runs no job, bills nothing and writes no logs.
"""

import gzip
import json

import pytest

from workbench_ops.submit import Folder, TargetUnavailable, cancel, cost, fencing, job, logs, start, state, targets
from workbench_ops.submit import aws as services
from workbench_ops.submit import claims as documents
from workbench_ops.submit.services import token_of

pytestmark = pytest.mark.proof("test_submit and test_submit_kills have the same order on processes")
ROLE = "arn:aws:iam::123456789012:role/jobs"
SCRIPT = "s3://code/load.py"


@pytest.fixture(scope="module")
def endpoint():
    from moto.server import ThreadedMotoServer

    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("AWS_ACCESS_KEY_ID", "test")
        patch.setenv("AWS_SECRET_ACCESS_KEY", "test")
        yield f"http://{host}:{port}"
    server.stop()


@pytest.fixture
def claims(tmp_path):
    return Folder(tmp_path)


def common(endpoint):
    return {"name": "aws", "region": "us-east-1", "endpoint": endpoint}


@pytest.fixture
def serverless(endpoint):
    target = targets.EmrServerless(
        type="emr-serverless", application="-", role=ROLE, logs="s3://kept/logs", **common(endpoint)
    )
    client = target.client("emr-serverless")
    made = client.create_application(releaseLabel="emr-7.12.0", type="SPARK", clientToken="x" * 20)
    return target.model_copy(update={"application": made["applicationId"]}), client


def test_emr_serverless(serverless, claims):
    target, client = serverless
    described = job(SCRIPT, "2026-01-31", conf={"spark.executor.cores": "2"}, variables={"DAY": "31"})
    run = start(described, {"aws": target}, token="load", claims=claims)
    assert start(described, {"aws": target}, token="load", claims=claims).run_id == run.run_id
    sent = client.get_job_run(applicationId=target.application, jobRunId=run.run_id)["jobRun"]
    driver = sent["jobDriver"]["sparkSubmit"]
    assert (driver["entryPoint"], driver["entryPointArguments"]) == (SCRIPT, ["2026-01-31"])
    words = driver["sparkSubmitParameters"].split(" ")
    assert words[:4] == ["--conf", "spark.executor.cores=2", "--conf", "spark.emr-serverless.driverEnv.DAY=31"]
    name, _, given = words[5].partition("=")
    assert name == "spark.emr-serverless.driverEnv.WORKBENCH_SUBMISSION"
    assert json.loads(fencing._unpacked(given))["token"] == "load"
    assert state(run) in ("queued", "running", "passed")  # moto's run passes when it is looked at
    assert cost(run) is None
    other = start(described, {"aws": target}, token="other", claims=claims)
    target.service().cancel(other.run_id)
    assert state(other) in ("cancelled", "passed")


def test_a_log_that_the_service_has_written(serverless, claims):
    target, _ = serverless
    run = start(job(SCRIPT), {"aws": target}, token="load", claims=claims)
    s3 = target.client("s3")
    s3.create_bucket(Bucket="kept")
    assert logs(run) == ""
    key = f"logs/applications/{target.application}/jobs/{run.run_id}/SPARK_DRIVER/stdout.gz"
    s3.put_object(Bucket="kept", Key=key, Body=gzip.compress(b"hello\n"))
    assert logs(run) == "hello\n"


def test_what_is_billed_costs_the_prices_of_the_file(serverless):
    _, client = serverless

    class Billed(services.EmrServerless):
        def _run(self, run_id):
            return {"billedResourceUtilization": {"vCPUHour": 1.5, "memoryGBHour": 6.0}}

    assert Billed(client, "a", ROLE, prices=("0.05", "0.005")).cost_usd("r") == "0.1050"
    assert Billed(client, "a", ROLE).cost_usd("r") is None


def test_emr_containers(endpoint, claims):
    target = targets.EmrContainers(
        type="emr-containers", cluster="-", role=ROLE, release="emr-7.12.0-latest", **common(endpoint)
    )
    client = target.client("emr-containers")
    provider = {"type": "EKS", "id": "eks", "info": {"eksInfo": {"namespace": "jobs"}}}
    made = client.create_virtual_cluster(name="jobs", containerProvider=provider)
    target = target.model_copy(update={"cluster": made["id"]})
    described = job(SCRIPT, "2026-01-31")
    run = start(described, {"aws": target}, token="load", claims=claims)
    assert start(described, {"aws": target}, token="load", claims=claims).run_id == run.run_id
    sent = client.describe_job_run(virtualClusterId=target.cluster, id=run.run_id)["jobRun"]
    driver = sent["jobDriver"]["sparkSubmitJobDriver"]
    assert (
        driver["entryPoint"] == SCRIPT
        and "spark.kubernetes.driverEnv.WORKBENCH_SUBMISSION=base64:" in (driver["sparkSubmitParameters"])
    )
    assert sent["name"] == token_of("load", 1)
    cancel(run)
    assert state(run) == "cancelled" and cost(run) is None


def test_glue(endpoint, claims):
    target = targets.Glue(type="glue", job="load", **common(endpoint))
    with pytest.raises(
        TargetUnavailable, match="no target answers; aws: AWS does not serve load: Job load not found"
    ):
        start(job(SCRIPT), {"aws": target}, token="early", claims=claims)
    client = target.client("glue")
    client.create_job(Name="load", Role=ROLE, Command={"Name": "glueetl", "ScriptLocation": SCRIPT})
    run = start(job(SCRIPT, "--day", "31"), {"aws": target}, token="load", claims=claims)
    assert start(job(SCRIPT, "--day", "31"), {"aws": target}, token="load", claims=claims).run_id == run.run_id
    assert state(run) in ("queued", "running", "passed")
    for described, sentence in (
        (job(SCRIPT, "31"), "arguments for Glue must be --name value, found 31"),
        (job(SCRIPT, variables={"DAY": "31"}), "Glue sets no variables of a job, found DAY; use arguments"),
    ):
        with pytest.raises(ValueError, match=sentence):
            start(described, {"aws": target}, token=described.digest, claims=claims)


def test_what_a_job_on_glue_is_given_brings_it_through_the_fence(claims, monkeypatch):
    claim = documents.opened(claims, documents.Claim("load", "1"))
    given = fencing.packed(fencing.given(claims, claim, "a"))
    monkeypatch.setattr("sys.argv", ["load.py", "--JOB_RUN_ID", "jr_1", fencing.ARGUMENT, given])
    assert [fencing.fence(), fencing.fence()] == [True, False]
    assert documents.load(claims, "load")[0].fenced_id == "jr_1"


def test_an_account_that_does_not_answer_and_settings_that_emr_would_split(serverless, claims):
    target, _ = serverless
    with pytest.raises(ValueError, match=r"spark\.x must have no spaces and quotes: EMR splits settings at them"):
        start(job(SCRIPT, conf={"spark.x": "a b"}), {"aws": target}, token="split", claims=claims)
    dead = target.model_copy(update={"endpoint": "http://127.0.0.1:9"})
    with pytest.raises(TargetUnavailable, match="no target answers; aws: AWS does not answer for .*: Could not"):
        start(job(SCRIPT), {"aws": dead}, token="dead", claims=claims)


@pytest.mark.parametrize(
    ("code", "kind"), [("ExpiredTokenException", TargetUnavailable), ("ValidationException", ValueError)]
)
def test_a_refusal_of_aws_is_a_sentence(code, kind):
    from botocore.exceptions import ClientError

    error = ClientError({"Error": {"Code": code, "Message": "The token is expired"}}, "StartJobRun")
    with (
        pytest.raises(kind, match=rf"AWS .* the application: The token is expired \({code}\)"),
        services._asking("the application"),
    ):
        raise error
