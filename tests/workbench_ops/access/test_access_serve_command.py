"""`workbench access serve` and `user`: what is refused before anything is served, and a page that answers."""

import signal
import socket
import subprocess
import sys
from pathlib import Path

import httpx
import lakes
import pytest
import waiting
from access_pages import access_cases

WORKBENCH = Path(sys.executable).parent / "workbench"
PASSWORD = "correct horse battery"


def workbench(*given, text="", cwd=None):
    return subprocess.run(
        [WORKBENCH, "access", *given], input=text, capture_output=True, text=True, cwd=cwd, check=False
    )


@pytest.fixture
def folder(tmp_path):
    """A folder with a policy, a table and an environment that names its catalog."""
    access_cases.users(access_cases.catalog(tmp_path))
    access_cases.written(tmp_path)
    lakes.environment(tmp_path, tmp_path / "warehouse")
    return tmp_path


def test_users_are_added_listed_and_removed(tmp_path):
    users = str(tmp_path / "users.yml")
    added = workbench("user", "add", users, "ann", "--principal", "user1", text=f"{PASSWORD}\n")
    assert (added.returncode, added.stdout) == (0, "ann may log in and reads as user1\n")
    assert workbench("user", "list", users).stdout == "NAME  READS AS\nann   user1\n"
    short = workbench("user", "add", users, "bob", "--principal", "user1", text="short\n")
    assert (short.returncode, "12 to 1024 characters, found 5" in short.stderr) == (2, True)
    assert workbench("user", "remove", users, "eve").returncode == 2
    assert workbench("user", "remove", users, "ann").stdout == "ann may not log in any more\n"
    assert workbench("user", "list", users).stdout == "NAME  READS AS\n"


def test_a_user_of_an_unknown_principal_is_refused_before_anything_is_served(folder):
    users = str(folder / "users.yml")
    workbench("user", "add", users, "ann", "--principal", "stranger", text=f"{PASSWORD}\n")
    done = workbench(
        "serve", str(folder / "policy.yml"), "--users", users, "--environment", str(folder / "own.yml")
    )
    assert done.returncode == 2
    assert "ann of" in done.stderr
    assert "reads as stranger, which is not a principal of" in done.stderr


def answer(port, process, log):
    """The answer of the page, None while it begins."""
    assert process.poll() is None, log.read_text()
    try:
        return httpx.get(f"http://127.0.0.1:{port}/", timeout=60)
    except httpx.ConnectError:
        return None


def test_a_page_is_served_until_it_is_ended(folder):
    users, log = str(folder / "users.yml"), folder / "log"
    workbench("user", "add", users, "ann", "--principal", "user1", text=f"{PASSWORD}\n")
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        command = [WORKBENCH, "access", "serve", str(folder / "policy.yml"), "--users", users, "--port", str(port)]
        command += ["--environment", str(folder / "own.yml")]
        taken = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (taken.returncode, f"port {port} of 127.0.0.1 cannot be listened on" in taken.stderr) == (2, True)
    with log.open("w") as output:
        process = subprocess.Popen(command, stderr=output, stdout=output)
    try:
        page = waiting.until(lambda: answer(port, process, log), "the page", 120)
        assert "Log in" in page.text
    finally:
        process.send_signal(signal.SIGINT)
        code = process.wait(60)
    assert (code, "Traceback" in log.read_text()) == (130, False)
