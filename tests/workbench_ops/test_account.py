"""An AWS account is looked at without changing it, and what is missing is said in one sentence each."""

import json
import urllib.request

import boto3
import pytest
from conftest import workbench
from moto.server import ThreadedMotoServer

from workbench._base import settings
from workbench_ops import account

ARN = "arn:aws:s3tables:us-east-1:123456789012:bucket/tables"


@pytest.fixture(scope="module")
def server():
    running = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    running.start()
    host, port = running.get_host_and_port()
    yield f"http://{host}:{port}"
    running.stop()


@pytest.fixture
def aws(server, monkeypatch, tmp_path):
    """An empty account on this machine; credentials come from variables, as they would."""
    ask(server, "reset")
    for name in ("AWS_PROFILE", "AWS_SESSION_TOKEN", "AWS_DEFAULT_REGION", "AWS_REGION"):
        monkeypatch.delenv(name, raising=False)
    given = {
        "AWS_ENDPOINT_URL": server, "AWS_ACCESS_KEY_ID": "key", "AWS_SECRET_ACCESS_KEY": "hush-hush",
        "AWS_CONFIG_FILE": tmp_path / "config", "AWS_SHARED_CREDENTIALS_FILE": tmp_path / "credentials",
        "AWS_EC2_METADATA_DISABLED": "true", "NO_PROXY": "127.0.0.1",
        "WORKBENCH_WAREHOUSE": "s3://mine/warehouse", "WORKBENCH_REGION": "eu-central-1",
        "WORKBENCH_S3TABLES": f"{server}/iceberg",
    }  # fmt: skip
    for name, value in given.items():
        monkeypatch.setenv(name, str(value))
    return boto3.Session(region_name="eu-central-1")


def ask(server, what, body=b""):
    plain = {"Content-Type": "text/plain"}
    urllib.request.urlopen(urllib.request.Request(f"{server}/moto-api/{what}", body, plain, method="POST"))


@pytest.fixture
def bucket(aws):
    client = aws.client("s3")
    client.create_bucket(Bucket="mine", CreateBucketConfiguration={"LocationConstraint": "eu-central-1"})
    return client


def look(name="aws-glue"):
    return account.findings(settings.environment(name))


def wrong(name="aws-glue"):
    """What stands in the way: the last finding, after which nothing is asked."""
    return look(name)[-1][1:]


def test_which_environments_are_in_an_account():
    concerned = {name for name in settings.environments() if account.concerns(settings.environment(name))}
    assert concerned == {"aws-glue", "aws-s3tables", "emr", "glue-rest"}


def test_an_account_that_is_right_and_what_a_run_makes_there(bucket, aws):
    found = look()
    assert [one[1] for one in found] == [""] * len(found)
    assert [one[0] for one in found] == [
        "warehouse s3://mine/warehouse",
        "credentials by env",
        "account 123456789012 as arn:aws:sts::123456789012:user/moto",
        "bucket mine in eu-central-1, which may be listed",
        "Glue catalog, whose databases may be listed",
        "a run makes a namespace of its own for each notebook, tables in it and files below s3://mine/warehouse; "
        "nothing is made now",
        "nothing costs by the hour while Spark runs on this machine; S3 keeps a GB for 0.023 USD a month "
        "(list price of us-east-1, 2026-06-05) and bills requests",
    ]
    assert look("emr")[-1][0].startswith(
        "the cluster costs by the hour until it is ended, whether Spark runs or not;"
    )
    assert "Contents" not in bucket.list_objects_v2(Bucket="mine")
    assert aws.client("glue").get_databases()["DatabaseList"] == []


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("WORKBENCH_REGION", None,
         "catalog.client.region is env:WORKBENCH_REGION, which is not set"),
        ("WORKBENCH_WAREHOUSE", "/srv/lake", "the warehouse '/srv/lake' is not a place in S3"),
        ("WORKBENCH_WAREHOUSE", "s3://other/w", "there is no bucket other"),
        ("AWS_ACCESS_KEY_ID", None, "there are no AWS credentials"),
        ("WORKBENCH_REGION", "us-west-2", "the bucket mine is in eu-central-1, the environment says us-west-2"),
        ("AWS_ENDPOINT_URL", "http://127.0.0.1:1", "sts:GetCallerIdentity could not be asked: "),
        ("AWS_ENDPOINT_URL", "http://me:hush-hush@127.0.0.1:1", "sts:GetCallerIdentity could not be asked: "),
        ("AWS_ENDPOINT_URL", "127.0.0.1:1", "sts:GetCallerIdentity could not be asked: Invalid endpoint"),
        ("WORKBENCH_REGION", "eu\nwest", "sts:GetCallerIdentity could not be asked: Provided region_name"),
        ("WORKBENCH_WAREHOUSE", "s3://My Bucket/w", "s3:ListBucket on My Bucket could not be asked: "),
        ("WORKBENCH_WAREHOUSE", "s3://[mine/w", "the warehouse 's3://[mine/w' is not a place in S3"),
        ("AWS_PROFILE", "nobody", "the AWS credentials could not be read: The config profile (nobody)"),
        ("AWS_SECRET_ACCESS_KEY", None, "the AWS credentials could not be read: Partial credentials"),
    ],
)  # fmt: skip
def test_what_stands_in_the_way_is_said(bucket, monkeypatch, name, value, said):
    monkeypatch.delenv(name) if value is None else monkeypatch.setenv(name, value)
    sentence, remedy = wrong()
    assert sentence.startswith(said) and remedy
    assert "hush" not in sentence + remedy and "\n" not in sentence


def test_a_reference_to_a_parameter_that_is_not_there(aws, monkeypatch):
    monkeypatch.setenv("AWS_REGION", "eu-central-1")
    catalog = {"type": "glue", "warehouse": "ssm:/warehouse"}
    ((_, sentence, remedy),) = account.findings(settings.parse({"description": "x", "catalog": catalog}, "x.yml"))
    assert sentence.startswith("catalog.warehouse: ssm:/warehouse cannot be read") and remedy


def test_a_caller_without_rights(bucket, aws, server, monkeypatch):
    iam = aws.client("iam")
    iam.create_user(UserName="reader")
    key = iam.create_access_key(UserName="reader")["AccessKey"]

    def allow(*actions):
        statement = {"Effect": "Allow", "Action": list(actions), "Resource": "*"}
        iam.put_user_policy(
            UserName="reader",
            PolicyName="p",
            PolicyDocument=json.dumps({"Version": "2012-10-17", "Statement": statement}),
        )

    allow("sts:GetCallerIdentity")
    for name, value in (
        ("AWS_ACCESS_KEY_ID", key["AccessKeyId"]),
        ("AWS_SECRET_ACCESS_KEY", key["SecretAccessKey"]),
    ):
        monkeypatch.setenv(name, value)
    ask(server, "reset-auth", b"0")
    try:
        assert wrong() == ("this caller has no right to s3:ListBucket on mine", "let your administrator allow it")
    finally:
        ask(server, "reset-auth", b"inf")
    allow("sts:GetCallerIdentity", "s3:ListBucket", "s3:HeadBucket")  # the last is no right of AWS, but of moto
    ask(server, "reset-auth", b"0")
    try:
        assert wrong() == ("this caller has no right to glue:GetDatabases", "let your administrator allow it")
        monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "another")
        assert wrong()[0] == "AWS does not accept these credentials (SignatureDoesNotMatch)"
        monkeypatch.setenv("AWS_ACCESS_KEY_ID", "AKIANOSUCHKEY0000000"[:20])
        assert wrong()[0] == "AWS does not accept these credentials (InvalidClientTokenId)"
    finally:
        ask(server, "reset-auth", b"inf")


def test_a_table_bucket(aws, monkeypatch):
    monkeypatch.setenv("WORKBENCH_WAREHOUSE", "s3://mine/warehouse")
    assert wrong("aws-s3tables")[0] == "the warehouse 's3://mine/warehouse' is not a table bucket"
    monkeypatch.setenv("WORKBENCH_WAREHOUSE", ARN.replace("arn:aws:", "arn:aws-us-gov:"))
    assert "is not a table bucket" not in wrong("aws-s3tables")[0]
    monkeypatch.setenv("WORKBENCH_WAREHOUSE", ARN)
    monkeypatch.setenv("WORKBENCH_REGION", "us-east-1")  # the stand-in has table buckets in no other
    assert wrong("aws-s3tables")[0] == f"there is no table bucket {ARN}"
    aws.client("s3tables", region_name="us-east-1").create_table_bucket(name="tables")
    assert [one[1] for one in look("aws-s3tables")] == [""] * 6


def test_the_doctor_says_it(bucket):
    said = workbench("doctor", "--environment", "aws-glue")
    assert "ok     bucket mine in eu-central-1, which may be listed" in said.stdout
    for release in ("1.12.0", "1.11.0"):  # ours, and that of the kernel like Glue's
        assert f"ok     org.apache.iceberg:iceberg-aws-bundle:{release}" in said.stdout
    assert "hush" not in said.stdout + said.stderr


def test_the_doctor_ends_with_what_is_wrong(aws):
    said = workbench("doctor", "--environment", "aws-glue")
    assert said.returncode == 1
    line = "wrong  there is no bucket mine: make it (aws s3 mb s3://mine), or name another"
    assert line in said.stdout.splitlines()
