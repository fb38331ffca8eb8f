"""`workbench local s3`: by hand, with keys that a shell takes over, and with the ordering proxy before it."""

import os
import re
import signal
import subprocess
from contextlib import contextmanager

import pytest
from conftest import COMMAND

PATIENCE_SECONDS = 90


@contextmanager
def by_hand(*arguments):
    """Run the command; gives its process and what it said: first word to the rest of the line."""
    command = [COMMAND, "local", "s3", "--port", "0", "--catalog-port", "0", *map(str, arguments)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        try:
            said = {}
            for line in process.stdout:
                said |= dict([line.rstrip("\n").split(maxsplit=1)])
                if line.startswith("Ctrl-C"):
                    break
            yield process, said
        finally:
            process.kill()


def shell(said, code):
    """Run Python with what the shell takes over from the server's folder."""
    script = f'{said["keys"].split("  ")[0]} && exec "$0" -c "$1"'
    env = {name: value for name, value in os.environ.items() if not name.startswith("AWS_")}
    from sys import executable

    done = subprocess.run(
        ["bash", "-c", script, executable, code], capture_output=True, text=True, env=env, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


PUT = (
    "import boto3; from botocore.config import Config\n"
    "s3 = boto3.client('s3', config=Config(s3={'addressing_style': 'path'}, retries={'total_max_attempts': 1}))\n"
    "try: s3.put_object(Bucket='plain', Key='a', Body=b'x')\n"
    "except Exception as e: print(e.response['ResponseMetadata']['HTTPStatusCode'])\n"
    "print(s3.list_objects_v2(Bucket='plain')['KeyCount'], s3.meta.endpoint_url)"
)


INTERRUPTED = pytest.mark.proof("the other signal, SIGTERM, shows it")


@pytest.mark.parametrize("how", [pytest.param(signal.SIGINT, marks=INTERRUPTED), signal.SIGTERM])
def test_a_folder_by_hand_and_its_keys_in_a_shell(tmp_path, how):
    with by_hand("--folder", tmp_path / "mine") as (process, said):
        endpoint, bucket = said["S3"].split("  ")
        assert (bucket, said["Ctrl-C"]) == ("bucket plain", f"ends it; the data stay in {tmp_path / 'mine'}")
        assert shell(said, PUT) == f"1 {endpoint}"
        process.send_signal(how)
        assert process.wait(PATIENCE_SECONDS) == 0
        assert process.stderr.read() == ""
    secret = re.search(r"AWS_SECRET_ACCESS_KEY='?([^'\n]+)", (tmp_path / "mine" / "env").read_text())[1]
    assert secret not in str(said)


def test_the_proxy_stands_before_both(tmp_path):
    script = tmp_path / "faults.yml"
    script.write_text(
        "clients: [a]\nrules:\n  - {do: fail, status: 418, method: PUT, path: /plain/a}\n"
        "  - {do: fail, status: 418, method: GET, path: /v1/config}\n"
    )
    with by_hand("--faults", script) as (_, said):
        assert shell(said, PUT).split() == ["418", "0", said["S3"].split("  ")[0]]
        config = "import os, urllib.request as u\ntry: u.urlopen(os.environ['S3_CATALOG_URI'] + '/v1/config')\nexcept u.HTTPError as e: print(e.code)"
        assert shell(said, config) == "418"
        assert re.fullmatch(r"a: S3 http://127.0.0.1:\d+, catalog http://127.0.0.1:\d+", said["client"])
        assert said["Ctrl-C"] == "ends it; nothing stays"


def test_a_wrong_script_or_port_is_a_sentence(tmp_path):
    def refused(*arguments):
        done = subprocess.run(
            [COMMAND, "local", "s3", *map(str, arguments)], capture_output=True, text=True, check=False
        )
        assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1), done.stderr
        return done.stderr

    (tmp_path / "faults.yml").write_text("rules: [{do: explode}]\n")
    assert "explode" in refused("--faults", tmp_path / "faults.yml")
    (tmp_path / "other").touch()
    assert "holds other things" in refused("--folder", tmp_path)
