"""Once set up, a run reaches no network: it passes where there is only the loopback interface."""

import os
import shutil
import subprocess

import pytest
from conftest import ROOT

LOOPBACK_UP = (
    "import fcntl, socket, struct\n"
    "s = socket.socket()\n"
    "fcntl.ioctl(s, 0x8914, struct.pack('16sh14x', b'lo', 0x1 | 0x40))\n"  # SIOCSIFFLAGS: IFF_UP, IFF_RUNNING
)


def isolated(*command, **options):
    """Run a command in a network namespace that has nothing but loopback."""
    script = 'python3 -c "$0" && exec "$@"'
    return subprocess.run(
        ["unshare", "--net", "--map-root-user", "bash", "-c", script, LOOPBACK_UP, *command],
        capture_output=True,
        text=True,
        **options,
    )


@pytest.mark.proof(
    "test_a_run_that_passes runs in a network namespace that has loopback alone, where they are permitted"
)
def test_a_run_after_setup_needs_no_network(project):
    if not shutil.which("unshare") or isolated("true").returncode:
        pytest.skip("network namespaces are not permitted here")
    reach = "import socket; socket.create_connection(('192.0.2.1', 80), 2)"
    assert "Network is unreachable" in isolated("python3", "-c", reach).stderr
    if not (ROOT / ".venv" / ".ready").exists():
        pytest.skip("this checkout was not set up by make")
    shutil.copy(ROOT / "notebooks" / "00_template.ipynb", project / "notebooks")
    env = {name: value for name, value in os.environ.items() if not name.startswith("MAKE")}
    said = isolated("make", "run", "NB=00_template", cwd=ROOT, env=env)
    assert said.returncode == 0, said.stderr[-2000:]
    assert "00_template  passed" in said.stderr
