"""A profile as `aws configure sso` writes it is one that Spark on aws-glue can use, too, and not only boto3."""

import hashlib
import http.server
import json
import os
import subprocess
import sys
import threading
from contextlib import contextmanager

import pytest

from workbench._base import files, settings

PROFILE = """
[profile me]
sso_session = mine
sso_account_id = 111122223333
sso_role_name = analyst
region = eu-central-1
[sso-session mine]
sso_region = eu-central-1
sso_start_url = https://mine.awsapps.com/start
sso_registration_scopes = sso:account:access
"""
STARTS = {
    "session": 'from workbench import session; spark = session.start("aws-glue")',
    "kernel like Glue's": 'from workbench_ops.export import kernel; spark = kernel.begin({"--datalake-formats": "iceberg"})',
}
SIGNED_IN = """
credentials = spark._jvm.software.amazon.awssdk.auth.credentials
try:
    print(credentials.DefaultCredentialsProvider.create().resolveCredentials().accessKeyId())
except Exception as error:
    print(error)
"""


class Portal(http.server.BaseHTTPRequestHandler):
    """What AWS's portal answers to a token: credentials of the role."""

    def do_GET(self):
        keys = {"accessKeyId": "ASIAOFTHEROLE", "secretAccessKey": "s", "sessionToken": "t"}
        body = json.dumps({"roleCredentials": keys | {"expiration": 4102444800000}}).encode()
        self.send_response(200 if self.headers["x-amz-sso_bearer_token"] == "signed-in" else 401)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


@contextmanager
def served():
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Portal) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}"
        server.shutdown()


@pytest.fixture
def signed_in(tmp_path, monkeypatch):
    """A home in which somebody has signed in; returns what asks Spark whose key it would use."""
    (tmp_path / ".aws" / "sso" / "cache").mkdir(parents=True)
    (tmp_path / ".aws" / "config").write_text(PROFILE)
    token = {"accessToken": "signed-in", "expiresAt": "2099-01-01T00:00:00Z", "region": "eu-central-1"}
    name = hashlib.sha1(b"mine").hexdigest()
    (tmp_path / ".aws" / "sso" / "cache" / f"{name}.json").write_text(json.dumps(token))
    given = {"HOME": tmp_path, "XDG_CACHE_HOME": files.cache().parent, "AWS_PROFILE": "me"}
    given |= {"AWS_EC2_METADATA_DISABLED": "true"}  # else it is asked, too, and there is nobody to answer
    given |= {"WORKBENCH_WAREHOUSE": "s3://mine/warehouse", "WORKBENCH_REGION": "eu-central-1"}
    for variable in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_ENDPOINT_URL"):
        monkeypatch.delenv(variable, raising=False)

    def ask(start="session", **more):
        with served() as portal:
            env = os.environ | {name: str(value) for name, value in (given | more).items()}
            env["AWS_ENDPOINT_URL_SSO"] = portal
            command = [sys.executable, "-c", STARTS[start] + SIGNED_IN]
            return subprocess.run(
                command, capture_output=True, text=True, check=False, timeout=300, env=env
            ).stdout

    return ask


KERNEL = pytest.mark.proof(
    "the session of aws-glue finds the same profile by the same jars in the first case of this test"
)
EACH = [pytest.param(start, marks=[KERNEL] if start != "session" else []) for start in STARTS]


@pytest.mark.parametrize("start", EACH)
def test_spark_uses_a_profile_with_an_sso_session(signed_in, start):
    assert signed_in(start) == "ASIAOFTHEROLE\n"


@pytest.mark.proof("test_spark_uses_a_profile_with_an_sso_session shows that the profile is found with the jar")
def test_without_its_jar_the_profile_is_none(signed_in, tmp_path):
    """Why it is there: the day Iceberg's bundle has it, this fails and the jar can go."""
    text = settings.environments()["aws-glue"].read_text()
    (tmp_path / "environments").mkdir()
    # with the jars of s3, whose class-data archive is there
    planted = text.replace("[iceberg, aws, aws-sso]", "[iceberg, sqlite, aws]")
    (tmp_path / "environments" / "aws-glue.yml").write_text(planted)
    said = signed_in(WORKBENCH_PARAMS=tmp_path)
    assert "ASIAOFTHEROLE" not in said
    # not of the jar: by what the bundle has, a token that is valid till 2099 has expired
    assert "The SSO session associated with this profile has expired or is otherwise invalid" in said
