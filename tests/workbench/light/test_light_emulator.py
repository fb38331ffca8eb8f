"""The zip of a function under AWS's own emulator of Lambda's runtime, with its lake in a stand-in of an account."""

import json
import os
import signal
import subprocess
import urllib.error
import urllib.request
import zipfile
from contextlib import contextmanager

import aws_stand_in
import pyarrow as pa
import pytest
from conftest import ROOT
from waiting import until

from workbench import light
from workbench._base import children
from workbench_proofs import lambdas
from workbench_standins import account, ports

EMULATOR = ROOT / ".workbench" / "emulator"
CODE = (ROOT / "tests" / "soak" / "queue_function.py").read_text(encoding="utf-8")
SCHEMA = pa.schema([("message", pa.string()), ("row", pa.int64())])
INVOKED = "2015-03-31/functions/function/invocations"


@contextmanager
def emulated(function, folder):
    """Serve a function from its zip; yields a call of it, event to answer. Only the zip's own packages are there."""
    with zipfile.ZipFile(function.folder / "function.zip") as archive:
        archive.extractall(folder)
    chosen = ports.choose(("calls", "runtime"), {"calls": 0, "runtime": 0})
    python = EMULATOR / "venv" / "bin" / "python"
    words = [EMULATOR / "aws-lambda-rie", "--runtime-interface-emulator-address", f"127.0.0.1:{chosen['calls']}"]
    words += [
        "--runtime-api-address",
        f"127.0.0.1:{chosen['runtime']}",
        python,
        "-m",
        "awslambdaric",
        "app.handler",
    ]
    own = {"PATH": os.environ["PATH"], "LAMBDA_TASK_ROOT": str(folder), "AWS_LAMBDA_FUNCTION_TIMEOUT": "120"}
    with (function.folder / "log").open("wb") as log:
        process = subprocess.Popen(
            list(map(str, words)), env=own | function.variables, cwd=folder, stdin=subprocess.DEVNULL, stdout=log,
            stderr=log, start_new_session=True, preexec_fn=children.end_with_parent,
        )  # fmt: skip

    def call(*messages):
        records = [
            {"messageId": name, "body": body, "attributes": {"SentTimestamp": "1767225600000"}}
            for name, body in messages
        ]
        address = f"http://127.0.0.1:{chosen['calls']}/{INVOKED}"
        request = urllib.request.Request(address, data=json.dumps({"Records": records}).encode())
        with urllib.request.urlopen(request, timeout=180) as answer:
            return json.load(answer)

    try:
        until(lambda: answers(chosen["calls"]), "the emulator", 60)
        yield call
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def answers(port):
    """Say whether somebody serves at a port, without calling the function."""
    try:
        urllib.request.urlopen(f"http://127.0.0.1:{port}/", timeout=5)
    except urllib.error.HTTPError:
        return True
    except OSError:
        return False
    return True


def body(id, fault=None):
    return json.dumps({"id": id, "rows": 2, "fault": fault})


# emulator and stand-in are environments of their own, which `make prove PART=emulator` makes first
@pytest.mark.proof(
    "test_the_library_in_a_zip_stands_alone imports from the zip; test_light_functions.py has the handler"
)
def test_the_zip_under_awss_own_runtime(tmp_path):
    with account.serve(aws_stand_in.PYTHON) as served:
        served.client("s3").create_bucket(Bucket="lake")
        properties = {"name": "lake"} | served.properties("s3://lake/warehouse")
        catalog = light.catalogs.load(properties)
        catalog.create_namespace("q")
        catalog.create_table("q.t", SCHEMA)
        function = lambdas.written(
            CODE, tmp_path / "function", variables={"LAKE": json.dumps(properties)}, batch=3, concurrency=1,
            account=served,
        )  # fmt: skip
        with emulated(function, tmp_path / "task") as call:
            first = (("m1", body("a")), ("m2", "no json"), ("m3", body("b")))
            assert call(*first) == {"batchItemFailures": [{"itemIdentifier": "m2"}]}
            with pytest.raises(urllib.error.HTTPError, match="502"):  # it died; its commit is there by then
                call(("m4", body("c", "killed")))
            assert lambdas.struck(function) == {"c"}
            assert call(*first, ("m5", body("c", "killed"))) == {"batchItemFailures": [{"itemIdentifier": "m2"}]}
        rows = light.query(properties, "SELECT message, row FROM q.t ORDER BY ALL").to_pylist()
        assert rows == [{"message": id, "row": row} for id in "abc" for row in (0, 1)]
