"""Rights that are left out one by one: those that a run needs, one too many, and a refusal that a run swallows."""

import json
import re

import pytest
from conftest import workbench, write_notebook

from workbench._base.errors import ArgumentError
from workbench_ops.policies import proving
from workbench_ops.policies.proving import Right
from workbench_standins.account.enforced import Judgement

GLUE, LAKE = "arn:aws:glue:us-east-1:000000000000:", "arn:aws:s3:::wb-account/w/"
DATABASE = [f"{GLUE}catalog", f"{GLUE}database/sales"]
POLICY = {
    "Version": "2012-10-17",
    "Statement": [
        {"Sid": "Catalog1", "Effect": "Allow", "Action": ["glue:CreateDatabase"], "Resource": DATABASE},
        {"Sid": "Storage1", "Effect": "Allow", "Action": ["s3:DeleteObject", "s3:PutObject"], "Resource": [f"{LAKE}*"]},
        {"Sid": "Storage2", "Effect": "Allow", "Action": ["s3:ListBucket"], "Resource": ["arn:aws:s3:::wb-account"],
         "Condition": {"StringLike": {"s3:prefix": ["w/a/*", "w/b/*"]}}},
    ],
}  # fmt: skip
RIGHTS = [
    Right("glue:CreateDatabase", DATABASE[0]),
    Right("glue:CreateDatabase", DATABASE[1]),
    Right("s3:DeleteObject", f"{LAKE}*"),
    Right("s3:PutObject", f"{LAKE}*"),
    Right("s3:ListBucket", "arn:aws:s3:::wb-account", "w/a/*"),
    Right("s3:ListBucket", "arn:aws:s3:::wb-account", "w/b/*"),
]
# its deletion is one that a run may swallow, as Iceberg does where it cleans up
CALLS = """
import boto3
glue, s3 = boto3.client("glue"), boto3.client("s3")
try:
    glue.create_database(DatabaseInput={"Name": "sales"})
except glue.exceptions.AlreadyExistsException:
    pass
s3.put_object(Bucket="wb-account", Key="w/x", Body=b"x")
try:
    s3.delete_object(Bucket="wb-account", Key="w/x")
except Exception:
    pass
"""
ON_STAND_IN = pytest.mark.proof("test_a_policy_loses_one_right has what is left out; judging takes the stand-in")


def test_rights_are_an_action_on_a_resource_and_a_prefix():
    assert proving.rights(POLICY) == RIGHTS
    assert str(RIGHTS[-1]) == "s3:ListBucket on arn:aws:s3:::wb-account below 'w/b/*'"


@pytest.mark.parametrize("right", RIGHTS, ids=str)
def test_a_policy_loses_one_right(right):
    rest = proving.rights(proving.without(POLICY, right))
    assert right not in rest and sorted(map(str, [*rest, right])) == sorted(map(str, RIGHTS))


@pytest.mark.parametrize(
    ("statement", "sentence"),
    [
        ({"Effect": "Deny"}, "S is not an Allow of actions on resources"),
        ({"Condition": {"Bool": {"aws:SecureTransport": "true"}}}, "S has another condition than prefixes of s3"),
    ],
)
def test_a_policy_of_another_form_is_refused(statement, sentence):
    written = {"Sid": "S", "Effect": "Allow", "Action": "s3:GetObject", "Resource": "*"} | statement
    with pytest.raises(ArgumentError, match=re.escape(sentence)):
        proving.rights({"Statement": [written]})


def test_a_session_s_policy_is_one_line_and_not_too_long():
    text = proving.session_policy(POLICY)
    assert "\n" not in text and "Sid" not in text and proving.rights(json.loads(text)) == RIGHTS
    long = {"Statement": POLICY["Statement"] * 5}
    with pytest.raises(ArgumentError, match=r"the policy has \d+ characters, and a session's may have 2048"):
        proving.session_policy(long)


def test_the_account_of_a_policy_becomes_the_stand_in_s():
    policy = {
        "Statement": [
            {"Resource": ["arn:aws:glue:eu-central-1:111122223333:catalog", "arn:aws:s3:::a111122223333"]}
        ]
    }
    moved = proving.on_stand_in(policy, "111122223333")["Statement"][0]["Resource"]
    assert moved == ["arn:aws:glue:eu-central-1:000000000000:catalog", "arn:aws:s3:::a111122223333"]


@ON_STAND_IN
def test_each_right_is_left_out_a_right_too_many_and_a_refusal_are_named(account):
    import boto3

    with proving.under(
        POLICY, account="000000000000", region="us-east-1", warehouse="s3://wb-account/w"
    ) as closed:
        own = boto3.Session()  # the module's own keeps the keys that an earlier test had
        glue, s3 = (own.client(name, endpoint_url=closed.account.endpoint) for name in ("glue", "s3"))
        glue.create_database(DatabaseInput={"Name": "sales"})
        s3.put_object(Bucket="wb-account", Key="w/x", Body=b"x")
        s3.put_object(Bucket="wb-account", Key="w/x", Body=b"y")
        s3.delete_objects(Bucket="wb-account", Delete={"Objects": [{"Key": "w/x"}, {"Key": "w/y"}]})
        s3.list_objects_v2(Bucket="wb-account", Prefix="w/a/1")
        with pytest.raises(s3.exceptions.ClientError, match="AccessDenied"):
            s3.get_object(Bucket="wb-account", Key="w/x")
        with pytest.raises(glue.exceptions.ClientError, match="AccessDenied"):
            glue.get_database(Name="sales")
        judgements = closed.judgements()
    proof = proving.prove(POLICY, judgements)
    assert proof.needed == dict(zip(RIGHTS[:5], (1, 1, 2, 1, 1), strict=True))
    assert (proof.requests, proof.unneeded, proof.holds) == (6, (RIGHTS[5],), False)
    assert proof.for_failures == ()
    assert proof.refused == {("s3:GetObject", f"{LAKE}x"): 1, ("glue:GetDatabase", DATABASE[0]): 1}
    assert proof.sentences()[-1] == "6 rights, 5 of them needed by 6 different requests; 2 requests refused"


@ON_STAND_IN
def test_the_command_proves_what_it_recorded(account, project):
    place = project / "params" / "environments"
    place.mkdir(parents=True)
    (place / "lake.yml").write_text(
        "description: Glue\ncatalog: {type: glue, warehouse: s3://wb-account/w}\n"
        "spark: {master: 'local[1]', shuffle_partitions: 1}\njars: []\n"
    )
    write_notebook(
        project / "notebooks" / "01_calls.ipynb", CALLS, parameters='ENVIRONMENT: str = "lake"  # where'
    )
    said = workbench("policies", "01_calls", "--prove", "--session-policy", cwd=project)
    assert said.returncode == 0, said.stderr
    assert said.stdout.count("\n") == 1 and json.loads(said.stdout)["Statement"]
    assert "4 rights, 4 of them needed by 4 different requests; 0 requests refused" in said.stderr


@ON_STAND_IN
def test_a_right_for_uploads_that_fail_is_none_too_many():
    request = (
        '{"account": "000000000000", "action": "s3:PutObject", "context": {}, "region": "r", "resource": "%s"}'
    )
    asked = [Judgement("s3:PutObject", f"{LAKE}x", request % f"{LAKE}x", True)]
    statement = {
        "Effect": "Allow",
        "Action": ["s3:AbortMultipartUpload", "s3:PutObject"],
        "Resource": [f"{LAKE}*"],
    }
    proof = proving.prove({"Statement": [statement]}, asked)
    assert proof.holds and proof.for_failures == (Right("s3:AbortMultipartUpload", f"{LAKE}*"),)
    assert proof.sentences()[0] == f"needed only where an upload fails: s3:AbortMultipartUpload on {LAKE}*"
    unused = proving.prove({"Statement": [statement | {"Action": ["s3:PutObject", "s3:GetObject"]}]}, asked)
    assert not unused.holds and unused.unneeded == (Right("s3:GetObject", f"{LAKE}*"),)
