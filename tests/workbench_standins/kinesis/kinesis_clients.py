"""A client of a running server, as every test here needs one."""

import functools

import boto3
from botocore.config import Config


@functools.cache
def client(endpoint, *, attempts=1, region="us-east-1", **options):
    """A boto3 client of an endpoint, the same for the same arguments; it tries once unless told otherwise."""
    return new_client(endpoint, attempts=attempts, region=region, **options)


def new_client(endpoint, *, attempts=1, region="us-east-1", **options):
    return boto3.client(
        "kinesis",
        endpoint_url=endpoint,
        region_name=region,
        aws_access_key_id="anybody",
        aws_secret_access_key="anything",
        config=Config(retries={"total_max_attempts": attempts, "mode": "standard"}, **options),
    )
