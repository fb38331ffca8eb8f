"""Calls become a policy of concrete actions; what is not known is named; parliament and our own lint have no objection."""

import pytest
from policy_cases import objections, s3

from workbench_ops import policies
from workbench_ops.policies import Call, actions

LAKE = "arn:aws:s3:::lake"
KNOWN = {"warehouse": "s3://lake/warehouse", "account": "123456789012", "region": "eu-central-1"}


def made(*found, **known):
    return policies.policy(set(found), **(KNOWN | known))


def glue(operation, *databases):
    return Call("python", "glue", operation, "", "eu-central-1", tuple(("database", name) for name in databases))


def test_a_run_becomes_a_policy():
    found = made(
        glue("GetDatabase", "sales"), glue("GetTable", "sales"),
        s3("GetObject", ("bucket", "lake"), ("key", "warehouse/sales.db/orders/data/1.parquet")),
        s3("PutObject", ("bucket", "lake"), ("key", "warehouse/sales.db/orders/metadata/1.json")),
        s3("DeleteObjects", ("bucket", "lake")),
        s3("ListObjectsV2", ("bucket", "lake"), ("prefix", "warehouse/sales.db/orders/")),
        s3("GetObject", ("bucket", "archive"), ("key", "2024/01/a.parquet")),
    )  # fmt: skip
    glue_arn, areas = "arn:aws:glue:eu-central-1:123456789012:", f"{LAKE}/warehouse/sales.db/*"
    both = [f"{glue_arn}catalog", f"{glue_arn}database/sales"]
    told = [
        ("Catalog1", ["glue:GetDatabase"], both),
        ("Catalog2", ["glue:GetTable"], [*both, f"{glue_arn}table/sales/*"]),
        ("Storage1", ["s3:DeleteObject", "s3:PutObject"], [areas]),
        ("Storage2", ["s3:GetObject"], ["arn:aws:s3:::archive/2024/01/*", areas]),
        ("Storage3", ["s3:ListBucket"], [LAKE]),
    ]
    statements = [{"Sid": sid, "Effect": "Allow", "Action": act, "Resource": place} for sid, act, place in told]
    statements[-1]["Condition"] = {"StringLike": {"s3:prefix": ["warehouse/sales.db/*"]}}
    assert found.document == {"Version": "2012-10-17", "Statement": statements}
    assert found.missing == ()
    assert found.notes == (
        "Spark did not name the objects of DeleteObjects; taken to be in lake/warehouse/sales.db/*",
    )
    assert (objections(found.document), policies.faults(found.document)) == ([], [])


def test_a_call_without_a_mapping_is_named():
    unknown = (
        Call("python", "dynamodb", "PutItem", ""),
        glue("StartJobRun"),
        s3("GET object ?torrent", ("bucket", "b")),
    )
    found = made(*unknown, s3("GetObject", ("bucket", "lake"), ("key", "a/b")))
    assert found.missing == (
        "dynamodb:PutItem, called by Python", "glue:StartJobRun, called by Python",
        "s3:GET object ?torrent, called by Spark",
    )  # fmt: skip
    assert [one["Action"] for one in found.document["Statement"]] == [["s3:GetObject"]]


def test_a_service_is_no_method_of_ours():
    assert made(Call("python", "give", "x", "")).missing == ("give:x, called by Python",)


def test_glue_without_a_known_database_is_named():
    lost = Call("spark", "glue", "GetDatabase", "", "eu-central-1", (), "0" * 64)
    assert made(lost).missing == (
        "glue:GetDatabase, called by Spark",
        "Glue requests for databases whose names stand nowhere in the notebook: 1",
    )


def test_arrow_gets_the_folders_of_the_run_or_the_warehouse():
    read = s3("GetObject", by="arrow")
    assert made(read).document["Statement"][0]["Resource"] == [f"{LAKE}/warehouse/*"]
    other = s3("PutObject", ("bucket", "lake"), ("key", "elsewhere/x/y"))
    (statement,) = (
        one
        for one in made(read, other, glue("GetTable", "sales")).document["Statement"]
        if "s3:GetObject" in one["Action"]
    )
    assert statement["Resource"] == [f"{LAKE}/warehouse/sales.db/*"]
    assert made(read, warehouse=None).missing == ("s3:GetObject, called by Arrow",)


def test_a_bucket_that_is_listed_without_prefix_has_no_condition():
    whole = s3("ListObjectsV2", ("bucket", "lake"))
    part = s3("ListObjectsV2", ("bucket", "lake"), ("prefix", "warehouse/a.db/x"))
    for others in ((whole, part), (s3("HeadBucket", ("bucket", "lake")), part)):
        (statement,) = made(*others).document["Statement"]
        assert statement == {"Sid": "Storage1", "Effect": "Allow", "Action": ["s3:ListBucket"], "Resource": [LAKE]}


def test_a_key_is_taken_letter_by_letter():
    odd = s3("GetObject", ("bucket", "lake"), ("key", "a*b/${x}?"))
    assert made(odd).document["Statement"][0]["Resource"] == [f"{LAKE}/a${{*}}b/*"]


@pytest.mark.parametrize(
    ("call", "resources"),
    [
        (glue("GetDatabase", "*"), ["catalog", "database/${*}"]),
        (Call("python", "kinesis", "GetRecords", "", "eu-central-1", (("stream", "a?"),)), ["stream/a${?}"]),
        (
            Call("python", "ssm", "GetParameter", "", "eu-central-1", (("parameter", "/a/*"),)),
            ["parameter/a/${*}"],
        ),
        (Call("python", "sts", "AssumeRole", "", "", (("arn", "arn:aws:iam::1:role/*"),)), ["role/${*}"]),
        (s3("GetObject", ("bucket", "*"), ("key", "a/b")), ["s3:::${*}/a/*"]),
        (s3("HeadBucket", ("bucket", "*")), ["s3:::${*}"]),
        (s3("ListObjectsV2", ("bucket", "*"), ("prefix", "*")), ["s3:::${*}"]),
        (s3("ListObjectsV2", ("bucket", "*")), ["s3:::${*}"]),
        (
            s3("CopyObject", ("bucket", "lake"), ("key", "a/b"), ("source", "*/x/y")),
            ["s3:::${*}/x/*", "s3:::lake/a/*"],
        ),
    ],
)
def test_a_wildcard_in_a_name_allows_that_name(call, resources):
    found = made(call)
    told = sorted(one for each in found.document["Statement"] for one in each["Resource"])
    assert all(one.endswith(end) for one, end in zip(told, resources, strict=True))
    assert policies.faults(found.document) == []


def test_what_belongs_to_another_account_keeps_its_address():
    stream = "arn:aws:kinesis:us-west-2:9:stream/s"
    parameter = "arn:aws:ssm:us-west-2:9:parameter/p"
    found = made(
        Call("python", "kinesis", "GetRecords", "", "eu-central-1", (("stream", stream),)),
        Call("python", "ssm", "GetParameter", "", "eu-central-1", (("parameter", parameter),)),
    )
    assert [one["Resource"] for one in found.document["Statement"]] == [[stream], [parameter]]
    theirs = Call("python", "glue", "GetDatabase", "", "eu-central-1", (("database", "d"), ("catalog", "9" * 12)))
    assert made(theirs).document["Statement"][0]["Resource"] == [
        f"arn:aws:glue:eu-central-1:999999999999:{one}" for one in ("catalog", "database/d")
    ]
    nested = (("database", "d"), ("catalog", "999999999999:s3tablescatalog/tables"))
    below = Call("python", "glue", "GetDatabase", "", "eu-central-1", nested)
    assert made(below).missing == ("glue:GetDatabase, called by Python",)
    point = "arn:aws:s3:eu-central-1:123456789012:accesspoint/x"
    assert made(s3("GetObject", ("bucket", point), ("key", "a/b"))).missing == ("s3:GetObject, called by Spark",)


def test_the_source_of_a_copy():
    for source in ("/other/a/b", "other/a/b?versionId=1"):
        copy = made(s3("CopyObject", ("bucket", "lake"), ("key", "a/b"), ("source", source)))
        action = "s3:GetObjectVersion" if "versionId" in source else "s3:GetObject"
        assert copy.document["Statement"][0] == {
            "Sid": "Storage1", "Effect": "Allow", "Action": [action], "Resource": ["arn:aws:s3:::other/a/*"],
        }  # fmt: skip


def test_rights_of_their_own():
    key = ("bucket", "lake"), ("key", "a/b")
    tagged = made(s3("PutObject", *key, ("extra", "tagging")), s3("DeleteObject", *key, ("extra", "version")))
    copied = made(s3("CopyObject", *key, ("source", "other/c/d")))
    begun = made(s3("CreateMultipartUpload", *key))
    restored = made(s3("RestoreObject", *key))
    taken = [[one["Action"] for one in found.document["Statement"]] for found in (tagged, copied, begun, restored)]
    assert taken == [
        [["s3:DeleteObjectVersion", "s3:PutObject", "s3:PutObjectTagging"]],
        [["s3:GetObject"], ["s3:PutObject"]],
        [["s3:AbortMultipartUpload", "s3:PutObject"]],
        [["s3:RestoreObject"]],
    ]


def test_streams_parameters_roles_and_what_is_free():
    def python(service, operation, *names):
        return Call("python", service, operation, "", "eu-central-1", names)

    role = "arn:aws:iam::123456789012:role/r"
    found = made(
        python("kinesis", "GetShardIterator", ("stream", "events")), python("kinesis", "GetRecords"),
        python("kinesis", "ListStreams"), python("ssm", "GetParameter", ("parameter", "/a/b")),
        python("sts", "AssumeRole", ("arn", role)), python("sts", "GetCallerIdentity"),
    )  # fmt: skip
    start = "arn:aws:{}:eu-central-1:123456789012:"
    assert [(one["Action"], one["Resource"]) for one in found.document["Statement"]] == [
        (["kinesis:GetRecords", "kinesis:GetShardIterator"], [f"{start.format('kinesis')}stream/events"]),
        (["kinesis:ListStreams"], ["*"]),
        (["ssm:GetParameter"], [f"{start.format('ssm')}parameter/a/b"]),
        (["sts:AssumeRole"], [role]),
    ]
    assert (found.missing, objections(found.document), policies.faults(found.document)) == ((), [], [])


def test_an_unknown_account_is_a_word_to_replace():
    assert made(glue("GetTable", "a"), account=policies.ACCOUNT).notes == (
        "the number of the account is not known: replace ACCOUNT_ID",
    )


def test_another_partition():
    assert "arn:aws-cn:s3:::lake/a/*" in str(
        made(s3("GetObject", ("bucket", "lake"), ("key", "a/b")), region="cn-north-1")
    )


WIDE = {
    "action": {"Action": ["s3:*"]}, "part": {"Action": ["s3:Get*"]}, "all": {"Action": ["*"]}, "none": {"Action": []},
    "resource": {"Resource": ["*"]}, "not": {"NotAction": ["s3:GetObject"]}, "deny": {"Effect": "Deny"},
    "inside": {"Resource": ["arn:aws:s3:::*/a/*"]}, "half": {"Resource": ["arn:aws:s3:::lake/a*"]},
}  # fmt: skip


@pytest.mark.parametrize("change", WIDE.values(), ids=WIDE)
def test_a_wildcard_fails_our_lint(change):
    right = {"Sid": "A", "Effect": "Allow", "Action": ["s3:GetObject"], "Resource": [f"{LAKE}/a/*"]}
    assert policies.faults({"Statement": [right]}) == []
    assert len(policies.faults({"Statement": [right | change]})) == 1


def test_parliament_objects_where_it_should():
    wrong = {
        "Sid": "A",
        "Effect": "Allow",
        "Action": ["s3:GetObject"],
        "Resource": [LAKE],
    }  # a bucket has no content
    unknown = {"Sid": "A", "Effect": "Allow", "Action": ["s3:HeadObject"], "Resource": [f"{LAKE}/*"]}
    assert all(objections({"Version": "2012-10-17", "Statement": [one]}) for one in (wrong, unknown))


def calls_of_the_table():
    key = ("bucket", "lake"), ("key", "a/b")
    yield from (s3(name, *key, ("extra", "tagging"), ("extra", "acl")) for name in actions.S3_OBJECT)
    yield from (s3(name, *key, ("extra", "version")) for name in actions.S3_OBJECT)
    yield from (s3(name, key[0], ("prefix", "a/b")) for name in (*actions.S3_LISTING, *actions.S3_BUCKET))
    yield from (glue(name, "sales") for name in actions.GLUE)
    yield from (
        Call("python", "kinesis", name, "", "eu-central-1", (("stream", "s"),)) for name in actions.KINESIS
    )
    yield from (Call("python", *pair, "") for pair in actions.EVERYWHERE)


def test_parliament_knows_every_action_of_the_table_on_its_resource():
    for call in calls_of_the_table():
        found = made(call)
        assert (objections(found.document), policies.faults(found.document), found.missing) == ([], [], ()), call
