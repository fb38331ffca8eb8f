"""A signer's log as Spark's SDK writes it, with a token in it, and calls that are made by hand."""

import hashlib
import json
import warnings

from workbench_ops.policies import Call

TOKEN = "IQoJb3JpZ2luX2VjEBcaCXVzLWVhc3QtMSJHMEUCIQD"
SIGNATURE = "5d672d79c15b13162d9279b0855cfba6789a8edb4c82c400e06b5924a6f2b5d7"
HOST = "s3.eu-central-1.amazonaws.com"


def digest(content):
    return hashlib.sha256(json.dumps(content, separators=(",", ":")).encode()).hexdigest()


def signed(method, path, *, query="", host=HOST, service="s3", headers=(), content="UNSIGNED-PAYLOAD"):
    """What the signer logs of one request, in its order."""
    told = sorted([f"host:{host}", "x-amz-date:20261124T034309Z", f"x-amz-security-token:{TOKEN}", *headers])
    names = ";".join(line.partition(":")[0] for line in told)
    request = "\n".join([method, path, query, *told, "", names, content])
    scope = f"20261124/eu-central-1/{service}/aws4_request"
    key = hashlib.sha256(request.encode()).hexdigest()
    messages = [
        f"AWS4 Canonical Request: {request}",
        f"AWS4 Canonical Request Hash: {key}",
        f"AWS4 String to sign: AWS4-HMAC-SHA256\n20261124T034309Z\n{scope}\n{key}",
        f"Signature: {SIGNATURE}",
    ]
    return "".join(f"{message}\n----8<----\n" for message in messages)


def glue(operation, content):
    header = (f"x-amz-target:AWSGlue.{operation}",)
    return signed("POST", "/", host="glue.eu-central-1.amazonaws.com", service="glue", headers=header,
                  content=digest(content))  # fmt: skip


def objections(document):
    """What parliament finds wrong with a policy, by AWS's list of actions, resources and conditions."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it imports pkg_resources
        import parliament
    return [str(one) for one in parliament.analyze_policy_string(json.dumps(document)).findings]


def s3(operation, *names, by="spark"):
    return Call(by, "s3", operation, HOST, "eu-central-1", tuple(names))
