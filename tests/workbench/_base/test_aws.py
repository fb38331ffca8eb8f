"""What AWS's own tools read from variables, as botocore reads them."""

import boto3
import pytest

from workbench._base import aws

ALL, OWN, IGNORED = "AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_S3", "AWS_IGNORE_CONFIGURED_ENDPOINT_URLS"


@pytest.mark.parametrize(
    "variables",
    [
        {},
        {ALL: "http://all:1"},
        {OWN: "http://own:2"},
        {ALL: "http://all:1", OWN: "http://own:2"},
        {ALL: "http://all:1", OWN: ""},
        {ALL: "http://all:1", OWN: "http://own:2", IGNORED: "true"},
        {ALL: "http://all:1", IGNORED: "TRUE"},
        {OWN: "http://own:2", IGNORED: "false"},
    ],
)
def test_the_address_of_s3_is_botocores(monkeypatch, variables):
    for name in (ALL, OWN, IGNORED):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    client = boto3.Session().client(
        "s3", region_name="eu-central-1", aws_access_key_id="a", aws_secret_access_key="b"
    )
    assert (aws.s3_endpoint() or "https://s3.eu-central-1.amazonaws.com") == client.meta.endpoint_url
