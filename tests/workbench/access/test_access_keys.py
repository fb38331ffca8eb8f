"""Keys of the storage go to who may read all of a table, and open that table alone: on a real S3 with a real STS."""

import base64
import contextlib
import hashlib
import hmac
import json
import stat
import subprocess
import sys
import time
import urllib.error
import urllib.parse
import urllib.request
from types import SimpleNamespace

import access_cases
import pyarrow as pa
import pytest
from botocore.exceptions import ClientError
from pyiceberg.catalog.sql import SqlCatalog
from pyiceberg.table import StaticTable
from pyiceberg.table.update import RemoveSchemasUpdate
from typer.testing import CliRunner

from workbench import access
from workbench._base.errors import ArgumentError
from workbench.access import places, vending
from workbench_ops.cli import app
from workbench_standins import s3

POLICY = """
principals: {all: {}, cells: {}, rows: {}, nobody: {}, "a name": {}}
administrators: [owner]
tables: {TABLES}
filters: {FILTERS}
grants: [GRANTS]
"""
ROWS = pa.table({"id": [1, 2], "name": ["Ann", "Bo"], "state": ["UK", "FR"]})
HIDDEN = ("n.hidden", "n.none", "gone.none")


@pytest.fixture(scope="module")
def server():
    with s3.serve() as serving:
        yield serving


@pytest.fixture(scope="module")
def lake(server, tmp_path_factory):
    """A catalog whose tables lie in the server."""
    folder = tmp_path_factory.mktemp("lake")
    properties = server.properties("s3")
    catalog = SqlCatalog("lake", uri=f"sqlite:///{folder}/catalog.db", **properties)
    catalog.create_namespace("n")
    for name in ("people", "other", "hidden"):
        catalog.create_table(f"n.{name}", ROWS.schema).append(ROWS)
    return catalog


def policy_of(catalog, folder, *tables):
    """A policy that is bound to tables as they are now: `all` and `a name` read everything, others some."""
    declared, filters, grants = {}, {}, []
    for table in ("n.people", "n.other", *tables):
        loaded = catalog.load_table(table)
        columns = {field.name: {"id": field.field_id, "tags": {}} for field in loaded.schema().fields}
        declared[table] = {"uuid": str(loaded.metadata.table_uuid), "columns": columns}
        filters[f"uk of {table}"] = {"table": table, "where": "state = 'UK'"}
        grants += [{"to": to, "by": "owner", "table": table} for to in ("all", "a name")]
        grants += [{"to": "cells", "by": "owner", "table": table, "columns": ["id", "state"]}]
        grants += [{"to": "rows", "by": "owner", "table": table, "filter": f"uk of {table}"}]
    declared["n.hidden"] = {"columns": {"id": {"id": 1, "tags": {}}}}
    text = POLICY.replace("{TABLES}", json.dumps(declared)).replace("{FILTERS}", json.dumps(filters))
    return access_cases.written(folder, text.replace("[GRANTS]", json.dumps(grants)))


@pytest.fixture
def asked(server, lake, tmp_path):
    """A function that asks for keys by a policy that is bound to the tables as they are."""

    def ask(principal="all", table="n.people", *bound, sts=None, s3=None, catalog=None, **more):
        judged = access.read(policy_of(lake, tmp_path, *bound, *({table} - {"n.people", "n.other", *HIDDEN})))
        given = {"catalog": catalog or lake, "sts": sts or server.sts(), "s3": s3 or server.client()}
        return access.keys(judged, principal, table, **given | {"role": server.role} | more)

    return ask


@pytest.fixture(scope="module")
def given(server, lake, tmp_path_factory):
    """Keys of n.people."""
    judged = access.read(policy_of(lake, tmp_path_factory.mktemp("policy")))
    return access.keys(
        judged, "all", "n.people", catalog=lake, sts=server.sts(), s3=server.client(), role=server.role
    )


def client(server, properties, service="s3"):
    import boto3
    from botocore.config import Config

    return boto3.client(
        service, endpoint_url=server.endpoint, region_name="us-east-1",
        aws_access_key_id=properties["s3.access-key-id"],
        aws_secret_access_key=properties["s3.secret-access-key"],
        aws_session_token=properties["s3.session-token"],
        config=Config(proxies={}, s3={"addressing_style": "path"}, retries={"total_max_attempts": 1}),
    )  # fmt: skip


def test_who_reads_all_reads_the_files(given):
    table = StaticTable.from_metadata(given.metadata_location, given.properties())
    assert table.scan().to_arrow().sort_by("id").to_pydict() == ROWS.to_pydict()
    assert 0 < given.expires.timestamp() - time.time() <= 901
    assert given.location.startswith("s3://plain/wh/") and given.metadata_location.startswith(given.location)


def refusals(server, properties, lake, which=()):
    """What is tried with keys of n.people beside reading it, by its words, and the status of the answer."""
    mine = client(server, properties)
    sts, iam = (client(server, properties, service) for service in ("sts", "iam"))
    people, other = (lake.load_table(f"n.{name}") for name in ("people", "other"))
    folder = people.location().partition("plain/")[2]
    beside = other.location().partition("plain/")[2]
    metadata = other.metadata_location.partition("plain/")[2]
    data = next(iter(other.scan().plan_files())).file.file_path.partition("plain/")[2]
    in_bucket = {"Bucket": "plain"}
    acts = {
        "PUT": lambda: mine.put_object(**in_bucket, Key=f"{folder}/data/x", Body=b"x"),
        "PUT of the metadata": lambda: mine.put_object(
            **in_bucket, Key=people.metadata_location.partition("plain/")[2], Body=b"x"
        ),
        "DELETE": lambda: mine.delete_object(**in_bucket, Key=f"{folder}/data/x"),
        "upload in parts": lambda: mine.create_multipart_upload(**in_bucket, Key=f"{folder}/x"),
        "copy into it": lambda: mine.copy_object(**in_bucket, Key=f"{folder}/x", CopySource=f"plain/{metadata}"),
        "DELETE of several": lambda: mine.delete_objects(
            **in_bucket, Delete={"Objects": [{"Key": f"{folder}/data/x"}, {"Key": data}]}
        ).get("Deleted"),
        "a form": lambda: posted(mine.generate_presigned_post("plain", f"{folder}/data/form")),
        "an address that is signed": lambda: fetched(
            mine.generate_presigned_url("get_object", Params={**in_bucket, "Key": data})
        ),
        "tags": lambda: mine.put_object_tagging(
            **in_bucket, Key=f"{folder}/data/x", Tagging={"TagSet": [{"Key": "a", "Value": "b"}]}
        ),
        "GET of another table": lambda: mine.get_object(**in_bucket, Key=data),
        "HEAD of another table": lambda: mine.head_object(**in_bucket, Key=data),
        "metadata of another table": lambda: mine.get_object(**in_bucket, Key=metadata),
        "another table by dots": lambda: mine.get_object(**in_bucket, Key=f"{folder}/../other/data/x"),
        "a table of a longer name": lambda: mine.get_object(**in_bucket, Key=f"{folder}2/data/x"),
        "list of the bucket": lambda: mine.list_objects_v2(**in_bucket),
        "list by a delimiter": lambda: mine.list_objects_v2(**in_bucket, Delimiter="/"),
        "list of the warehouse": lambda: mine.list_objects_v2(**in_bucket, Prefix="wh/"),
        "list of longer names": lambda: mine.list_objects_v2(**in_bucket, Prefix=folder),
        "list of another table": lambda: mine.list_objects_v2(**in_bucket, Prefix=f"{beside}/"),
        "list by dots": lambda: listed(mine, f"{folder}/../other/"),
        "list by dots and slashes": lambda: listed(mine, f"{folder}//..//other/"),
        "list by dots of one": lambda: listed(mine, f"{folder}/./../other/data/"),
        "list from another place": lambda: [
            key
            for key in listed(mine, f"{folder}/", StartAfter=f"{beside}/data/") or []
            if not key.startswith(folder)
        ],
        "attributes": lambda: mine.get_object_attributes(**in_bucket, Key=data, ObjectAttributes=["ObjectSize"]),
        "rights of an object": lambda: mine.get_object_acl(**in_bucket, Key=data),
        "buckets": lambda: mine.list_buckets()["Buckets"],
        "table buckets": lambda: client(server, properties, "s3tables").list_table_buckets().get("tableBuckets"),
        "versions": lambda: mine.list_object_versions(**in_bucket, Prefix=f"{folder}/"),
        "the table bucket": lambda: mine.list_objects_v2(Bucket="warehouse"),
        "a policy of the bucket": lambda: mine.get_bucket_policy(**in_bucket),
        "a new bucket": lambda: mine.create_bucket(Bucket="mine"),
        "the role anew, without a policy": lambda: sts.assume_role(RoleArn=server.role, RoleSessionName="me"),
        "a session of its own": lambda: sts.get_federation_token(Name="me"),
        "users": lambda: iam.list_users(),
        "a key of the owner's": lambda: iam.create_access_key(UserName="admin"),
    }
    return {what: outcome(act) for what, act in acts.items() if what in (which or acts)}


def listed(client, prefix, **more):
    """The keys that are listed below a prefix."""
    answer = client.list_objects_v2(Bucket="plain", Prefix=prefix, **more)
    return [item["Key"] for item in answer.get("Contents", [])]


def fetched(address, data=None, headers=None):
    """The status of an answer; an HTTPError where it is refused."""
    request = urllib.request.Request(address, data, headers or {})
    with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(request, timeout=20) as answer:
        return answer.status


def posted(form):
    """The status of a form of a browser, by which S3 takes an object."""
    line = "----line"
    parts = [
        f'--{line}\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{value}\r\n'
        for name, value in form["fields"].items()
    ]
    end = f'name="file"; filename="x"\r\n\r\nx\r\n--{line}--\r\n'
    parts.append(f"--{line}\r\nContent-Disposition: form-data; {end}")
    headers = {"Content-Type": f"multipart/form-data; boundary={line}"}
    return fetched(form["url"], "".join(parts).encode(), headers)


def outcome(act):
    """`refused`, also where nothing is answered; else what was."""
    try:
        return act() or "refused"
    except ClientError as error:
        status = error.response["ResponseMetadata"]["HTTPStatusCode"]
    except urllib.error.HTTPError as error:
        status = error.code
    return "refused" if status in (400, 403, 405) else status


def test_keys_open_nothing_else(server, given, lake):
    found = refusals(server, given.properties(), lake)
    assert len(found) == 35 and {what: answer for what, answer in found.items() if answer != "refused"} == {}
    # the same acts by the owner are not refused: it is the keys
    owner = {"s3.access-key-id": server.access_key, "s3.secret-access-key": server.secret_key}
    allowed = (
        "PUT", "copy into it", "GET of another table", "list of the bucket", "the role anew, without a policy",
        "a form", "an address that is signed", "buckets",
    )  # fmt: skip
    by_owner = refusals(server, owner | {"s3.session-token": None}, lake, allowed)
    assert {what for what, answer in by_owner.items() if answer == "refused"} == set()


def resigned(server, token, **claims):
    """A session's token with other claims, signed by the server's own key."""
    header, body, _ = token.split(".")
    content = json.loads(base64.urlsafe_b64decode(body + "=" * (-len(body) % 4))) | claims
    encoded = base64.urlsafe_b64encode(json.dumps(content).encode()).rstrip(b"=").decode()
    key = base64.b64decode(json.loads((server.folder / "iam.json").read_text())["sts"]["signingKey"])
    signature = hmac.digest(key, f"{header}.{encoded}".encode(), hashlib.sha256)
    return f"{header}.{encoded}.{base64.urlsafe_b64encode(signature).rstrip(b'=').decode()}"


def test_keys_end(server, asked):
    given = asked()
    properties, now = given.properties(), int(time.time())
    key = given.metadata_location.partition("plain/")[2]
    for ends, expected in ((now + 60, 200), (now - 1, 403)):
        token = resigned(server, properties["s3.session-token"], exp=ends)
        mine = client(server, properties | {"s3.session-token": token})
        try:
            status = mine.get_object(Bucket="plain", Key=key)["ResponseMetadata"]["HTTPStatusCode"]
        except ClientError as error:
            status = error.response["ResponseMetadata"]["HTTPStatusCode"]
        assert status == expected, ends
    token = properties["s3.session-token"]
    unsigned = base64.urlsafe_b64encode(b'{"alg":"none","typ":"JWT"}').rstrip(b"=").decode()
    wide = wider(token, server)
    for other in (
        token[:-4] + "AAAA",
        None,
        "",
        f"{unsigned}.{token.split('.')[1]}.",
        wide,
        f"{unsigned}.{wide.split('.')[1]}.",
    ):
        with pytest.raises(ClientError) as error:
            client(server, properties | {"s3.session-token": other}).get_object(Bucket="plain", Key=key)
        assert error.value.response["ResponseMetadata"]["HTTPStatusCode"] == 403


def wider(token, server):
    """A session's token without its policy, signed by a key that somebody guessed."""
    header, body, _ = token.split(".")
    content = json.loads(base64.urlsafe_b64decode(body + "=" * (-len(body) % 4)))
    content.pop("spol")
    encoded = base64.urlsafe_b64encode(json.dumps(content).encode()).rstrip(b"=").decode()
    guessed = hmac.digest(b"workbench", f"{header}.{encoded}".encode(), hashlib.sha256)
    return f"{header}.{encoded}.{base64.urlsafe_b64encode(guessed).rstrip(b'=').decode()}"


def test_the_catalog_takes_no_keys_of_a_table(server, given):
    from pyiceberg.catalog import load_catalog

    properties = given.properties()
    pair = f"{properties['s3.access-key-id']}:{properties['s3.secret-access-key']}"
    own = server.properties("rest")
    assert load_catalog("rest", **own).list_namespaces() == []
    with pytest.raises(Exception, match="(?i)unauthorized|forbidden|invalid|denied"):
        load_catalog("rest", **own | {"credential": pair} | properties).list_namespaces()


@pytest.mark.parametrize(
    "action", ["AssumeRole", "AssumeRoleWithWebIdentity", "AssumeRoleWithLDAPIdentity", "GetFederationToken"]
)
def test_nobody_without_keys_is_given_some(server, action):
    unsigned = "eyJhbGciOiJub25lIiwidHlwIjoiSldUIn0.eyJpc3MiOiJ3b3JrYmVuY2giLCJzdWIiOiJtZSJ9."
    words = {
        "Action": action, "Version": "2011-06-15", "RoleArn": server.role, "RoleSessionName": "me", "Name": "me",
        "WebIdentityToken": unsigned, "LDAPUsername": "me", "LDAPPassword": "me",
    }  # fmt: skip
    request = urllib.request.Request(server.endpoint, urllib.parse.urlencode(words).encode())
    with pytest.raises(urllib.error.HTTPError) as error:
        urllib.request.build_opener(urllib.request.ProxyHandler({})).open(request, timeout=20)
    assert error.value.code in (400, 403, 501, 503) and b"SecretAccessKey" not in error.value.read()


def test_an_sts_in_the_clear_is_refused():
    with pytest.raises(ArgumentError, match="would send keys in the clear"):
        access.sts_client({"s3.endpoint": "http://store.example:9000", "client.region": "us-east-1"})
    of_aws = access.sts_client({"client.region": "eu-central-1"})
    assert of_aws.meta.endpoint_url == "https://sts.eu-central-1.amazonaws.com"


def no_sts(*_, **__):
    raise AssertionError("the STS was asked")


@pytest.mark.parametrize("principal", ["cells", "rows"])
def test_a_reader_of_cells_gets_none(asked, principal, caplog):
    class Closed:
        assume_role = staticmethod(no_sts)

    with pytest.raises(access.NoKeys) as error:
        asked(principal, sts=Closed())
    assert str(error.value) == (
        f"there are no keys of n.people for {principal}: they are for who may read all of a table; "
        "ask the front or the page"
    )
    assert "name" in error.value.reason or "state" in error.value.reason


def test_hidden_and_missing_tables_are_refused_by_the_same_words(asked, lake):
    said = set()
    for table in ("n.hidden", "n.none", "gone.none"):
        with pytest.raises(access.NothingVisible) as error:
            asked("all", table)
        said.add(str(error.value).replace(table, "TABLE"))
    with pytest.raises(access.NothingVisible) as error:
        asked("nobody", "n.people")
    said.add(str(error.value).replace("n.people", "TABLE").replace("nobody", "all"))
    assert said == {"there is no table TABLE that all may read"}
    with pytest.raises(ArgumentError, match="'mallory' is not a principal"):
        asked("mallory")


def refused(ask, *arguments, **more):
    with pytest.raises(access.NoKeys) as error:
        ask(*arguments, **more)
    assert str(error.value).endswith("they are for who may read all of a table; ask the front or the page")
    return error.value.reason


def test_a_column_that_was_dropped_is_still_in_the_files(asked, lake):
    table = lake.create_table("n.grown", ROWS.schema)
    table.append(ROWS)
    assert asked("all", "n.grown").table == "n.grown"
    with table.update_schema() as change:
        change.delete_column("name")
    assert "sees name (field 2, which older files may hold too): never" in refused(asked, "all", "n.grown")
    # the schema is forgotten with the snapshots that refer to it, and the file that has the column stays
    table = lake.load_table("n.grown")
    table.append(ROWS.drop_columns("name"))
    table.maintenance.expire_snapshots().by_ids([table.snapshots()[0].snapshot_id]).commit()
    table = lake.load_table("n.grown")
    update = RemoveSchemasUpdate(schema_ids=[0])
    with contextlib.suppress(NotImplementedError):
        lake.commit_table(table, (), (update,))
    table = lake.load_table("n.grown")
    assert [schema.schema_id for schema in table.metadata.schemas] == [1]
    assert "no schema of n.grown has its fields 2 any more" in refused(asked, "all", "n.grown")
    lake.drop_table("n.grown")


def test_files_that_others_wrote_may_hold_more(server, asked, lake):
    import pyarrow.parquet as pq

    table = lake.create_table("n.added", ROWS.schema)
    table.append(ROWS)
    assert asked("all", "n.added").table == "n.added"
    file = f"{table.location()}/data/theirs.parquet"
    with table.io.new_output(file).create() as stream:
        pq.write_table(ROWS.append_column("secret", pa.array(["x", "y"])), stream)
    with contextlib.suppress(ValueError):
        table.add_files([file])
    table.transaction().set_properties({"schema.name-mapping.default": "[]"}).commit_transaction()
    assert "files that others than Iceberg wrote" in refused(asked, "all", "n.added")
    lake.drop_table("n.added")


def test_a_policy_of_another_table_and_of_none(server, lake, tmp_path):
    text = policy_of(lake, tmp_path).read_text()
    uuid = str(lake.load_table("n.people").metadata.table_uuid)
    given = {"catalog": lake, "sts": server.sts(), "s3": server.client(), "role": server.role}
    for old, new, reason in (
        (uuid, uuid.replace(uuid[:8], "00000000"), "another table n.people"),
        (f'"uuid": "{uuid}", ', "", "does not say which table n.people is"),
    ):
        assert old in text
        judged = access.read(access_cases.written(tmp_path, text.replace(old, new)))
        assert reason in refused(access.keys, judged, "all", "n.people", **given)


def test_what_else_lies_in_the_location_is_not_opened(server, asked, lake):
    # a namespace of the name of a table, as JDBC's catalogs lay it out
    lake.create_namespace("n.team")
    location = "s3://plain/wh/n/team"
    lake.create_table("n.inner", ROWS.schema, location=f"{location}/secret")
    lake.create_table("n.team", ROWS.schema, location=location).append(ROWS)
    assert "n.inner are in one another" in refused(asked, "all", "n.team")
    # and the other way: a table where the data of another one are
    lake.drop_table("n.inner")
    lake.create_table("n.data", ROWS.schema, location=f"{location}/data").append(ROWS)
    assert "n.team are in one another" in refused(asked, "all", "n.data")
    lake.drop_table("n.data")
    # dropped, not purged: its metadata are there
    assert "is of an earlier table" in refused(asked, "all", "n.team")
    lake.drop_table("n.team")
    items = server.client().list_objects_v2(Bucket="plain", Prefix="wh/n/team/")["Contents"]
    lake.create_table("n.again", ROWS.schema, location=location).append(ROWS)
    assert "is of an earlier table" in refused(asked, "all", "n.again")
    server.client().delete_objects(Bucket="plain", Delete={"Objects": [{"Key": item["Key"]} for item in items]})
    assert asked("all", "n.again").location == f"{location}/"
    # what is no metadata of a table at all is no table's own
    server.client().put_object(Bucket="plain", Key="wh/n/team/metadata/0.metadata.json", Body=b"[1]")
    assert "is of an earlier table" in refused(asked, "all", "n.again")
    server.client().delete_object(Bucket="plain", Key="wh/n/team/metadata/0.metadata.json")
    # another table's properties
    lake.create_table("n.far", ROWS.schema, properties={"write.data.path": f"{location}/far"})
    assert "n.far are in one another" in refused(asked, "all", "n.again")
    assert "not in its location" in refused(asked, "all", "n.far")
    for name in ("n.again", "n.far"):
        lake.drop_table(name)


ODD = (
    "wh/*",
    "wh/a?",
    "wh/${aws:username}",
    "wh//a",
    "wh/../wh",
    "wh/./a",
    "",
    "wh/\u00e9",
    'wh/"',
    "wh/a\\b",
    "wh/a\n",
)


def at(location):
    """What `places.of` asks of a table whose files are somewhere."""
    metadata = f"{location}/metadata/0.metadata.json"
    return SimpleNamespace(location=lambda: location, metadata_location=metadata, properties={})


@pytest.mark.parametrize("prefix", ODD)
def test_a_location_that_a_policy_of_aws_takes_for_another(prefix):
    with pytest.raises(ArgumentError, match="keys are for a table in a folder of a bucket"):
        places.of(at(f"s3://plain/{prefix}".rstrip("/")))
    assert places.of(at("s3a://plain/wh/a b's (1)")).location == "s3://plain/wh/a b's (1)/"
    with pytest.raises(ArgumentError, match="its location is file:///lake/t"):
        places.of(at("file:///lake/t"))


def test_an_sts_that_does_not_keep_to_the_policy_is_found(server, asked):
    class Wide:
        """An STS that forgets the policy of a session."""

        def assume_role(self, *, Policy, **arguments):
            return server.sts().assume_role(**arguments)

    class Long(Wide):
        def assume_role(self, **arguments):
            return server.sts().assume_role(**arguments | {"DurationSeconds": 3600})

    class Own(Wide):
        """An STS that hands out the owner's own keys."""

        def assume_role(self, **arguments):
            given = server.sts().assume_role(**arguments)
            admin = {"AccessKeyId": server.access_key, "SecretAccessKey": server.secret_key, "SessionToken": ""}
            return {"Credentials": given["Credentials"] | admin}

    for sts, sentence in (
        (Wide(), "its keys list the bucket; they are not handed out"),
        (Long(), "live longer than was asked"),
        (Own(), "live longer than was asked"),
    ):
        with pytest.raises(ArgumentError, match=sentence):
            asked(sts=sts)
    with pytest.raises(ArgumentError, match="its keys list the bucket"):
        vending.require_narrow(server.client(), place_of(asked()))
    for role, sentence in (
        ("arn:aws:iam::000000000000:role/none", "AssumeRole was refused: AccessDenied"),
        ("arn:aws:iam::000000000000:user/admin", "role must be arn:aws:iam::ACCOUNT:role/NAME"),
        ("", "role must be arn:aws:iam::ACCOUNT:role/NAME"),
    ):
        with pytest.raises(ArgumentError, match=sentence):
            asked(role=role)
    with pytest.raises(ArgumentError, match="seconds must be"):
        asked(seconds=899)


def place_of(given):
    bucket, _, prefix = given.location.removeprefix("s3://").partition("/")
    return places.Place(bucket, prefix, given.metadata_location.partition(f"{bucket}/")[2])


def test_the_policy_of_a_session_is_one_of_aws():
    place = places.Place("lake", "wh/n/people/", "wh/n/people/metadata/0.metadata.json")
    assert json.loads(access.vending.session_policy(place, "aws-cn")) == {
        "Version": "2012-10-17",
        "Statement": [
            {
                "Effect": "Allow",
                "Action": ["s3:GetObject"],
                "Resource": ["arn:aws-cn:s3:::lake/wh/n/people/*"],
            },
            {
                "Effect": "Allow",
                "Action": ["s3:ListBucket"],
                "Resource": ["arn:aws-cn:s3:::lake"],
                "Condition": {"StringLike": {"s3:prefix": ["wh/n/people/*"]}},
            },
        ],
    }
    with pytest.raises(ArgumentError, match="too long for the policy of a session"):
        vending.session_policy(places.Place("lake", "x" * 1000 + "/", ""))
    assert vending.session_name("ann@example.org") == "ann@example.org"
    assert vending.session_name("a name") == f"reader-{hashlib.sha256(b'a name').hexdigest()[:24]}"
    for odd in ("é", "x", "y" * 65, "a/b", "a\n"):
        assert vending.SESSION_NAME.fullmatch(vending.session_name(odd)), odd


def test_a_name_that_sts_does_not_take(asked):
    assert asked("a name").principal == "a name"


def test_keys_are_in_no_text(asked, caplog):
    with caplog.at_level(1):  # every logger's every line, botocore's among them
        given = asked()
    secret = [given.properties()[f"s3.{name}"] for name in ("secret-access-key", "access-key-id")]
    assert "all got keys of n.people until" in caplog.text and "botocore" in caplog.text
    for text in (repr(given), str(given)):
        assert not [word for word in secret if word in text]
    assert secret[0] not in caplog.text
    with caplog.at_level(1), pytest.MonkeyPatch.context() as patch:  # seen where nothing keeps it out
        patch.setattr(vending, "_answers_unlogged", contextlib.nullcontext)
        told = asked().properties()["s3.secret-access-key"]
    assert told in caplog.text


ENVIRONMENT = """
description: a lake in S3
catalog:
  type: jdbc
  name: own
  uri: jdbc:sqlite:file:{folder}/catalog.db
  warehouse: s3://plain/wh
  properties:
    io-impl: org.apache.iceberg.aws.s3.S3FileIO
    s3.endpoint: {endpoint}
    s3.path-style-access: "true"
    client.region: us-east-1
    s3.region: us-east-1
    s3.access-key-id: env:READ_KEY
    s3.secret-access-key: env:READ_SECRET
{more}
jars: [iceberg, sqlite, aws]
"""
TOKEN = "    s3.session-token: env:READ_TOKEN"


def test_the_command_writes_a_file_of_keys(server, lake, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("READ_KEY", server.access_key)
    monkeypatch.setenv("READ_SECRET", server.secret_key)
    own = SqlCatalog("own", uri=f"sqlite:///{tmp_path}/catalog.db", **server.properties("s3"))
    own.create_namespace("m")
    own.create_table("m.people", ROWS.schema, location="s3://plain/command/people").append(ROWS)
    (tmp_path / "own.yml").write_text(ENVIRONMENT.format(folder=tmp_path, endpoint=server.endpoint, more=""))
    path = tmp_path / "policy.yml"
    path.write_text(
        "principals: {all: {}, part: {}}\nadministrators: [owner]\n"
        "tables: {m.people: {columns: {id: {tags: {}}, name: {tags: {}}, state: {tags: {}}}}}\n"
        "grants:\n  - {to: all, by: owner, table: m.people}\n"
        "  - {to: part, by: owner, table: m.people, columns: [id]}\n"
    )
    access.bind(path, "m.people", own.load_table("m.people"))

    def run(*words):
        command = ["access", "keys", "policy.yml", "m.people", "--environment", "own.yml", *words]
        return CliRunner().invoke(app, command)

    done = run("--as", "all", "--to", "keys.json", "--role", server.role)
    assert done.exit_code == 0, done.output
    content = json.loads((tmp_path / "keys.json").read_text())
    assert stat.S_IMODE((tmp_path / "keys.json").stat().st_mode) == 0o600
    assert content["properties"]["s3.session-token"] not in done.output
    table = StaticTable.from_metadata(content["metadata_location"], content["properties"])
    assert table.scan().to_arrow().num_rows == 2
    again = run("--as", "all", "--to", "keys.json", "--role", server.role)
    assert "keys.json is there already" in str(again.exception)
    partly = run("--as", "part", "--to", "other.json", "--role", server.role)
    assert (partly.exit_code, (tmp_path / "other.json").exists()) == (1, False)
    assert "for the owner alone: part sees name (field 2" in partly.output
    assert "--role is missing" in str(run("--as", "all", "--to", "other.json").exception)


READS = """
import json, sys
from workbench import session

keys = json.loads(sys.stdin.read())
spark = session.start("reader.yml")
spark.sql("CREATE NAMESPACE own.n")
spark.sql(f"CALL own.system.register_table('n.people', '{keys['metadata_location']}')")
rows = [tuple(row) for row in spark.table("own.n.people").orderBy("id").collect()]
said = []
for statement in ("INSERT INTO own.n.people VALUES (3, 'x', 'y')", "DELETE FROM own.n.people WHERE id = 1"):
    try:
        spark.sql(statement)
        said.append("done")
    except Exception as error:
        said.append("refused" if "403" in str(error) or "Access Denied" in str(error) else str(error))
other = keys["other"]
try:
    spark.sql(f"CALL own.system.register_table('n.other', '{other}')")
    said.append("done")
except Exception as error:
    said.append("refused" if "403" in str(error) or "Access Denied" in str(error) else str(error))
print(json.dumps([rows, said]))
"""


@pytest.mark.proof("test_who_reads_all_reads_the_files shows it by PyIceberg")
def test_spark_reads_by_keys(server, given, lake, tmp_path):
    import os

    (tmp_path / "reader.yml").write_text(ENVIRONMENT.format(folder=tmp_path, endpoint=server.endpoint, more=TOKEN))
    properties = given.properties()
    names = {"READ_KEY": "access-key-id", "READ_SECRET": "secret-access-key", "READ_TOKEN": "session-token"}
    told = {name: properties[f"s3.{key}"] for name, key in names.items()}
    question = {
        "metadata_location": given.metadata_location,
        "other": lake.load_table("n.other").metadata_location,
    }
    done = subprocess.run(
        [sys.executable, "-c", READS], input=json.dumps(question), capture_output=True, text=True, cwd=tmp_path,
        env=os.environ | told, timeout=300, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]
    rows, said = json.loads(done.stdout.splitlines()[-1])
    assert [tuple(row) for row in rows] == [(1, "Ann", "UK"), (2, "Bo", "FR")]
    assert said == ["refused"] * 3
    assert lake.load_table("n.people").scan().to_arrow().num_rows == 2
