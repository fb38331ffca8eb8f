"""Calls of the processes of a run are taken down, from three kinds of client, and nothing secret stays."""

import json
import os
import runpy
import socket
import subprocess
import sys
from pathlib import Path

import pytest
from moto.server import ThreadedMotoServer
from policy_cases import SIGNATURE, TOKEN, signed

from workbench.session import launch
from workbench_ops.policies import endpoints, recorded, recording, to_aws
from workbench_ops.policies.recording import HOOK, VARIABLE

CLIENTS = """
import os, boto3, pyarrow.fs
s3 = boto3.client("s3")
s3.create_bucket(Bucket="lake")
s3.put_object(Bucket="lake", Key="w/sales.db/t/1", Body=b"not to be told", Tagging="a=b")
s3.delete_objects(Bucket="lake", Delete={"Objects": [{"Key": f"w/sales.db/t/{n}"} for n in range(3)]})
s3.generate_presigned_url("get_object", Params={"Bucket": "lake", "Key": "w/never"})
boto3.client("glue").create_database(DatabaseInput={"Name": "sales", "Description": "not to be told"})
try:
    s3.delete_objects(Bucket="lake", Delete={"Quiet": True})
except Exception as error:
    assert "Missing required parameter" in str(error)  # what botocore says of it, not what we do
fs = pyarrow.fs.S3FileSystem(endpoint_override=os.environ["AWS_ENDPOINT_URL"], region="us-east-1")
fs.get_file_info("lake/w/gone")
with open(os.environ["WORKBENCH_AWS_CALLS"] + "/java", "a") as pipe:
    pipe.write(os.environ["SIGNED"])
"""


@pytest.fixture
def aws(monkeypatch):
    running = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    running.start()
    host, port = running.get_host_and_port()
    monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://{host}:{port}")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
    monkeypatch.setenv("AWS_SESSION_TOKEN", TOKEN)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    yield f"{host}:{port}"
    running.stop()


def python(code, **named):
    done = subprocess.run([sys.executable, "-c", code], env=os.environ | named, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def test_three_clients_are_recorded_without_anything_secret(aws):
    with recorded() as found:
        folder = Path(os.environ[VARIABLE])
        assert (folder.stat().st_mode & 0o777, (folder / "java").is_fifo()) == (0o700, True)
        python(CLIENTS, SIGNED=signed("GET", "/lake/w/sales.db/t/2", host=aws))
        kept = (folder / "python.jsonl").read_text()
        assert (folder / "python.jsonl").stat().st_mode & 0o777 == 0o600
    assert sorted((one.by, one.service, one.operation, one.names) for one in found) == [
        ("arrow", "s3", "HeadObject", ()),
        ("arrow", "s3", "ListObjectsV2", ()),
        ("python", "glue", "CreateDatabase", (("database", "sales"),)),
        ("python", "s3", "CreateBucket", (("bucket", "lake"),)),
        ("python", "s3", "DeleteObjects", (("bucket", "lake"), ("key", "w/sales.db/t/2"))),
        ("python", "s3", "PutObject", (("bucket", "lake"), ("key", "w/sales.db/t/1"), ("extra", "tagging"))),
        ("spark", "s3", "GetObject", (("bucket", "lake"), ("key", "w/sales.db/t/2"))),
    ]
    assert all(to_aws(one, endpoints()) for one in found)
    assert not any(secret in kept + repr(found) for secret in (TOKEN, SIGNATURE, "not to be told", "anything"))
    assert not folder.exists() and VARIABLE not in os.environ


def test_versions_of_a_copy_and_catalogs_of_another_account_are_told():
    given = {"Bucket": "lake", "Key": "a", "CopySource": {"Bucket": "other", "Key": "x/y", "VersionId": "1"}}
    names = runpy.run_path(str(HOOK / "sitecustomize.py"))["names"]
    assert ("source", "other/x/y?versionId=1") in names("s3", "CopyObject", given)
    theirs = {"CatalogId": "999999999999", "Name": "sales"}
    assert set(names("glue", "GetDatabase", theirs)) == {("catalog", "999999999999"), ("database", "sales")}


def test_the_folder_goes_when_the_run_breaks():
    with pytest.raises(KeyboardInterrupt), recorded():
        folder = Path(os.environ[VARIABLE])
        raise KeyboardInterrupt
    assert not folder.exists() and VARIABLE not in os.environ


def test_a_log_as_large_as_a_long_run_is_taken_whole():
    many = "".join(signed("GET", f"/lake/a/{n}") for n in range(2000))
    with recorded() as found:
        (Path(os.environ[VARIABLE]) / "java").open("w").write(many)  # the pipe holds a small part of it
    assert len(found) == 2000


def test_what_came_before_the_end_is_taken(tmp_path):
    listener = recording._Listener(tmp_path)
    told = {"Type": "ApiCallAttempt", "ClientId": listener.client_id, "Service": "S3", "Fqdn": "h"}
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
        for n in range(50):
            sender.sendto(json.dumps(told | {"Api": f"Op{n}"}).encode(), listener.socket.getsockname())
    os.write(listener.pipe, signed("GET", "/lake/a/b").encode())
    listener.over.set()
    listener._listen()
    assert len(listener.calls()) == 51
    os.close(listener.pipe)
    listener.socket.close()


def test_another_sitecustomize_is_loaded_too(tmp_path):
    (tmp_path / "sitecustomize.py").write_text("import builtins\nbuiltins.theirs = 'here'\n")
    both = os.pathsep.join((str(HOOK), str(tmp_path)))
    assert python("print(theirs)", PYTHONPATH=both, WORKBENCH_AWS_CALLS=str(tmp_path)) == "here\n"


def test_spark_is_asked_for_its_log_only_while_calls_are_recorded(monkeypatch, tmp_path):
    monkeypatch.setenv("WORKBENCH_RUN_DIR", str(tmp_path))
    plain = launch.log_options()
    assert "calls" not in " ".join(plain)
    monkeypatch.setenv(VARIABLE, str(tmp_path))
    config, *rest = launch.log_options()
    assert config.startswith(f"{plain[0]},file:") and rest == [plain[1], f"-Dworkbench.calls={tmp_path / 'java'}"]
    assert all(Path(part.partition("file:")[2]).is_file() for part in config.split(","))
