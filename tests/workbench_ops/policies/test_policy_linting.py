"""Faults of policies that people wrote, found with their statements; and none in one that is right."""

import json
import re

import pytest
from typer.testing import CliRunner

from workbench._base.errors import ArgumentError
from workbench_ops.cli import app
from workbench_ops.policies.linting import lint

RIGHT = {
    "Version": "2012-10-17",
    "Statement": [
        {"Sid": "Read", "Effect": "Allow", "Action": ["s3:GetObject"], "Resource": "arn:aws:s3:::lake/in/*"},
        {"Sid": "See", "Effect": "Allow", "Action": "s3:ListAllMyBuckets", "Resource": "*"},
        {"Sid": "Topic", "Effect": "Allow", "Action": "kafka-cluster:ReadData",
         "Resource": "arn:aws:kafka:us-east-1:111122223333:topic/${Cluster}/*/sales"},
    ],
}  # fmt: skip


def found(**statement):
    faults = lint(json.dumps({"Statement": [{"Sid": "S", "Effect": "Allow", "Resource": "*"} | statement]}))
    return [(fault.kind, fault.sentence) for fault in faults]


def test_one_that_is_right():
    assert lint(json.dumps(RIGHT)) == []


# what stands in the published policies (docs/submit.md names them): each with its kind and its sentence
@pytest.mark.parametrize(
    ("statement", "kind", "sentence"),
    [
        ({"Effect": "Deny", "Action": "s3:ListAllMyBuckets", "Resource": ["arn:aws:s3:::lake", "arn:aws:s3:::lake/*"]},
         "nowhere", "s3:ListAllMyBuckets denies nothing on arn:aws:s3:::lake, arn:aws:s3:::lake/*: it knows * alone"),
        ({"Action": "elasticmapreduce:RunJobFlow", "Resource": "arn:aws:elasticmapreduce:*:*:cluster/*"},
         "nowhere", "elasticmapreduce:RunJobFlow allows nothing on arn:aws:elasticmapreduce:*:*:cluster/*: it knows * alone"),
        ({"Action": "redshift:ListTagsForResource"}, "unknown", "redshift:ListTagsForResource is not an action of AWS"),
        ({"Action": "redshift:PurchaseReservedNodeOffering"},
         "spends", "redshift:PurchaseReservedNodeOffering buys what is billed for years"),
        ({"Action": "kafka-cluster:*Topic*", "Resource": "arn:aws:kafka:us-east-1:1:topic/c/*"},
         "wildcard", "kafka-cluster:*Topic* is "),
        ({"Action": "s3:DeleteObject"}, "wide", "s3:DeleteObject writes and is allowed on *, though"),
        ({"Action": "${Right}"}, "variable", "${Right} is a variable that stands for a right"),
        ({"Effect": "allow", "Action": "s3:GetObject"}, "effect", "Effect must be Allow or Deny, found 'allow'"),
        ({"NotAction": "s3:DeleteObject"}, "shape", "NotAction allows all that it does not name"),
        ({"Principal": "*", "Action": "s3:GetObject"}, "everybody", "Principal * without a Condition is everybody"),
        ({"Principal": {"Service": "airflow.amazonaws.com"}, "Action": "sts:AssumeRole"},
         "deputy", "airflow.amazonaws.com may act for anybody's account; expected a Condition on aws:SourceArn"),
    ],
)  # fmt: skip
def test_each_fault_is_found(statement, kind, sentence):
    faults = [text for of_kind, text in found(**statement) if of_kind == kind]
    assert len(faults) == 1 and faults[0].startswith(sentence), found(**statement)


def test_what_a_wildcard_stands_for_is_counted():
    sentence = next(text for kind, text in found(Action="sqs:Get*") if kind == "wildcard")
    assert sentence == "sqs:Get* is 2 actions, 0 of them write; name those that are needed"


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("{", "the policy is not JSON: Expecting property name enclosed in double quotes: line 1"),
        ("[]", "the policy has no list of statements under Statement"),
        ('{"Statement": "all"}', "the policy has no list of statements under Statement"),
    ],
)
def test_what_is_no_policy(text, sentence):
    with pytest.raises(ArgumentError, match=re.escape(sentence)):
        lint(text)


def test_the_command_has_a_line_a_fault_and_an_exit_code(tmp_path):
    path = tmp_path / "policy.json"
    path.write_text(json.dumps(RIGHT))
    done = CliRunner().invoke(app, ["policies", "lint", str(path)])
    assert (done.exit_code, done.stdout) == (0, "")
    wrong = {"Statement": [{"Effect": "Allow", "Action": "redshift:ListTagsForResource", "Resource": "*"}]}
    path.write_text(json.dumps(wrong))
    done = CliRunner().invoke(app, ["policies", "lint", str(path)])
    assert done.exit_code == 1
    assert done.stdout == "statement 1: redshift:ListTagsForResource is not an action of AWS: it allows nothing\n"
    with pytest.raises(ArgumentError, match=r"nowhere\.json cannot be read: No such file"):
        CliRunner().invoke(app, ["policies", "lint", str(tmp_path / "nowhere.json")], catch_exceptions=False)
