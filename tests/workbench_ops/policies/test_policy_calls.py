"""Calls are read from what three clients tell, and what is secret there is forgotten."""

import json

import pytest
from policy_cases import HOST, SIGNATURE, TOKEN, digest, glue, signed

from workbench_ops.policies import calls


def read(text, endpoints=()):
    log = calls.SignerLog()
    log.feed(text)
    return log, log.calls(endpoints)


def test_a_request_is_read_and_its_token_is_forgotten():
    log, (found,) = read(signed("PUT", "/lake/warehouse/sales.db/a%20b.parquet"))
    names = (("bucket", "lake"), ("key", "warehouse/sales.db/a b.parquet"))
    assert found == calls.Call("spark", "s3", "PutObject", HOST, "eu-central-1", names)
    kept = repr(vars(log)) + repr(found)
    assert TOKEN not in kept and SIGNATURE not in kept


def test_the_log_comes_in_pieces_and_calls_of_many_threads_are_mixed():
    whole, log = signed("GET", "/lake/a/1") + signed("HEAD", "/lake/a/2"), calls.SignerLog()
    first, second = (one.split("----8<----\n") for one in (signed("GET", "/lake/a/3"), signed("GET", "/lake/a/4")))
    whole += "".join(f"{part}----8<----\n" for pair in zip(first[:-1], second[:-1], strict=True) for part in pair)
    for start in range(0, len(whole), 7):
        log.feed(whole[start : start + 7])
    assert sorted((one.operation, one.first("key"), one.service) for one in log.calls()) == [
        ("GetObject", "a/1", "s3"), ("GetObject", "a/3", "s3"), ("GetObject", "a/4", "s3"), ("HeadObject", "a/2", "s3"),
    ]  # fmt: skip


REST = [
    ("GET", "/b/k", "", "GetObject"), ("HEAD", "/b/k", "", "HeadObject"), ("PUT", "/b/k", "", "PutObject"),
    ("DELETE", "/b/k", "", "DeleteObject"), ("POST", "/b", "delete=", "DeleteObjects"),
    ("POST", "/b/k", "uploads=", "CreateMultipartUpload"), ("PUT", "/b/k", "partNumber=1&uploadId=u", "UploadPart"),
    ("POST", "/b/k", "uploadId=u", "CompleteMultipartUpload"), ("DELETE", "/b/k", "uploadId=u", "AbortMultipartUpload"),
    ("POST", "/b/k", "restore=", "RestoreObject"), ("GET", "/b", "list-type=2&prefix=a%2F", "ListObjectsV2"),
    ("GET", "/b", "prefix=a", "ListObjects"), ("HEAD", "/b", "", "HeadBucket"), ("GET", "/", "", "ListBuckets"),
    ("GET", "/b/k", "torrent=", "GET object ?torrent"), ("POST", "/b/k", "", "POST object"),
    ("GET", "/b", "policy=", "GET bucket ?policy"),
]  # fmt: skip


@pytest.mark.parametrize(("method", "path", "query", "operation"), REST, ids=[row[3] for row in REST])
def test_operations_of_s3(method, path, query, operation):
    assert [call.operation for call in read(signed(method, path, query=query))[1]] == [operation]


def test_a_bucket_leads_the_host_or_the_path():
    own = signed("GET", "/k", host="my.lake.s3.eu-central-1.amazonaws.com")
    near = signed("GET", "/k", host="lake.localhost:4566")
    assert {one.first("bucket") for one in read(own + near, {"localhost:4566"})[1]} == {"my.lake", "lake"}


def test_a_copy_a_version_and_a_tag_are_seen():
    copy = signed("PUT", "/lake/to", headers=("x-amz-copy-source:/other/from", "x-amz-tagging:a=b"))
    (found,) = read(copy)[1]
    assert (found.operation, found.first("source"), found.all("extra")) == (
        "CopyObject",
        "other/from",
        ("tagging",),
    )
    (found,) = read(signed("DELETE", "/lake/k", query="versionId=v"))[1]
    assert (found.operation, found.all("extra")) == ("DeleteObject", ("version",))


def test_a_presigned_query_leaves_nothing_secret():
    log, _ = read(signed("GET", "/lake/k", query=f"X-Amz-Security-Token={TOKEN}&X-Amz-Credential=AKIA"))
    assert TOKEN not in repr(vars(log)) and "AKIA" not in repr(vars(log))


def test_databases_are_proved_by_the_digest_of_a_request():
    log = glue("GetDatabase", {"Name": "sales"}) + glue("GetDatabase", {"Name": "Never said"})
    found = read(log)[1]
    assert {one.operation for one in found} == {"GetDatabase"}
    assert calls.databases(found, calls.words('spark.sql("CREATE TABLE sales.orders")')) == (["sales"], 1)
    assert calls.databases(found, ()) == ([], 2)


def test_databases_are_inferred_from_files():
    found = read(glue("GetTable", {"DatabaseName": "x"}) + signed("GET", "/lake/w/sales.db/t/f"))[1]
    assert calls.databases(found) == (["sales"], 0)
    assert calls.databases({one for one in found if one.service == "s3"}) == ([], 0)  # no catalog was asked


def test_arrow_tells_an_operation_and_botocore_is_not_counted_twice():
    told = {"Type": "ApiCallAttempt", "Service": "S3", "Api": "GetObject", "ClientId": "ours", "Region": "r",
            "UserAgent": "aws-sdk-cpp/1.11", "Fqdn": HOST, "AccessKey": "AKIAIOSFODNN7EXAMPLE"}  # fmt: skip
    assert calls.of_arrow(json.dumps(told), "ours") == calls.Call("arrow", "s3", "GetObject", HOST, "r")
    others = {"UserAgent": "Boto3/1 Botocore/1.44"}, {"ClientId": "theirs"}, {"Type": "ApiCall"}
    assert [calls.of_arrow(json.dumps(told | other), "ours") for other in others] == [None] * 3
    assert [calls.of_arrow(text, "ours") for text in ("{", "3")] == [None] * 2


def test_only_calls_to_aws_count():
    here = [
        calls.Call("spark", "s3", "GetObject", host) for host in (HOST, "127.0.0.1:9000", "evil-amazonaws.com")
    ]
    assert [calls.to_aws(one) for one in here] == [True, False, False]
    assert calls.to_aws(here[1], {"127.0.0.1:9000"}) and not calls.to_aws(here[1], {"127.0.0.1:9001"})
    assert calls.to_aws(
        calls.Call("arrow", "s3", "GetObject", "127.0.0.1"), {"127.0.0.1:9000"}
    )  # it tells no port


def test_the_digest_is_that_of_the_sdk():
    """Seen in the log of a GetDatabase of `n` by the SDK that Iceberg 1.11 brings."""
    assert digest({"Name": "n"}) == "4dbf305deae8b3f36de33813d080407548c5f046cb37b6543401e14df32538b3"
