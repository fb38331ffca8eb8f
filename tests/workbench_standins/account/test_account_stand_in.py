"""The stand-in of an AWS account: there, on loopback, gone with whoever started it."""

import shutil
import time

import aws_stand_in
import parents
import pytest
from botocore.exceptions import EndpointConnectionError

from workbench_standins import account

SERVES = """
import sys
from pathlib import Path
from workbench_standins import account
with account.serve(Path(sys.argv[1])) as served:
    print(served.endpoint, served.folder, flush=True)
    sys.stdin.readline()
"""


def test_one_that_is_not_installed_is_refused(tmp_path):
    with pytest.raises(
        ModuleNotFoundError, match=r"ministack is not installed: make \.workbench/ministack/\.packages"
    ):
        account.require(tmp_path / "python")
    with pytest.raises(ModuleNotFoundError), account.serve(tmp_path / "python"):
        pass


def test_one_that_does_not_start_says_its_last_words(tmp_path):
    interpreter = tmp_path / "python"
    interpreter.write_text("#!/bin/sh\necho the last words >&2; exit 3\n")
    interpreter.chmod(0o755)
    with (
        pytest.raises(ChildProcessError, match="ministack did not start: the last words"),
        account.serve(interpreter),
    ):
        pass


# the stand-in is an environment of its own, which `make prove PART=account` makes first
@pytest.mark.proof("test_one_that_does_not_start_says_its_last_words has the child of a context and its end")
def test_it_serves_an_empty_account_and_ends_with_its_context():
    with account.serve(aws_stand_in.PYTHON) as served:
        assert served.endpoint.startswith("http://127.0.0.1:") and served.folder.is_dir()
        assert served.client("sts").get_caller_identity()["Account"] == account.ACCOUNT_ID
        assert served.client("sqs").list_queues().get("QueueUrls", []) == []
    assert not served.folder.exists()
    with pytest.raises(EndpointConnectionError):
        served.client("sts").get_caller_identity()


@pytest.mark.proof("test_one_that_does_not_start_says_its_last_words has the child of a context and its end")
def test_it_ends_with_a_parent_that_is_killed():
    with parents.serving(SERVES, aws_stand_in.PYTHON) as (_, said):
        endpoint, folder = said.split()
    shutil.rmtree(folder)  # which nobody is left to remove
    served = account.Account(endpoint, None)
    until = time.monotonic() + 20
    with pytest.raises(EndpointConnectionError):
        while time.monotonic() < until:
            served.client("sts").get_caller_identity()
            time.sleep(0.2)
