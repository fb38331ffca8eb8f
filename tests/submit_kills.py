"""Submitters that are killed, and racers; the oracle is the line that each job writes itself."""

import os
import random
import signal
import subprocess
import sys
import time
import traceback
from pathlib import Path

from workbench_ops.submit import Folder, job, start, targets, wait
from workbench_ops.submit.process import Processes

JOB = """
import os, sys, time
line = os.open(sys.argv[1], os.O_WRONLY | os.O_APPEND | os.O_CREAT)
os.write(line, f"{sys.argv[2]}\\n".encode())
time.sleep(float(sys.argv[3]))
"""


class Place:
    """A folder with a job, claims and a target of processes; `lines` counts what the jobs of a token wrote."""

    def __init__(self, folder: Path) -> None:
        self.script, self.out = folder / "job.py", folder / "out"
        self.script.write_text(JOB)
        self.claims = Folder(folder / "claims")
        self.targets = {"here": targets.Process(name="here", type="process", folder=str(folder / "runs"))}

    def start(self, token, claims=None, seconds="0", service=None):
        """Submit, as a submitter does."""
        named = {"here": service} if service else self.targets
        described = job(self.script, str(self.out), token, seconds)
        return start(described, named, token=token, claims=claims or self.claims)

    def passed(self, token):
        """Submit for the last time and wait; the state of the run."""
        return wait(self.start(token), timeout_seconds=120, poll_seconds=0.05)

    def lines(self):
        """How often each token's job ran, whoever started it."""
        written = self.out.read_text().splitlines() if self.out.exists() else []
        return {token: written.count(token) for token in written}


class Killing(Folder):
    """Claims whose user dies, by signal 9, before or after its n-th write."""

    def __init__(self, path, write, before):
        super().__init__(path)
        self.left, self.before = write, before

    def create(self, key, content):
        return self._write(super().create, key, content)

    def swap(self, key, content, mark):
        return self._write(super().swap, key, content, mark)

    def _write(self, write, *arguments):
        self.left -= 1
        if not self.left and self.before:
            os.kill(os.getpid(), signal.SIGKILL)
        written = write(*arguments)
        if not self.left:
            os.kill(os.getpid(), signal.SIGKILL)
        return written


class Unfenced(targets.Process):
    """The planted fault: a service that starts whatever it is asked to, and asks no fence."""

    def service(self):
        return _Unfenced(Path(self.folder))


class _Unfenced(Processes):
    def submit(self, job, *, token, given):
        subprocess.Popen([sys.executable, job.script, *job.arguments], start_new_session=True)
        return "no such run"


def forked(act):
    """Do something in a process of its own; its id."""
    if pid := os.fork():
        return pid
    try:
        act()
    except BaseException:
        traceback.print_exc()
        os._exit(1)
    os._exit(0)


def killed_at_random(place, token, rng, tries=3):
    """Submit several times and kill each submitter at a random moment."""
    for _ in range(tries):
        pid = forked(lambda: place.start(token))
        time.sleep(rng.uniform(0, 0.06))
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)


def raced(place, token, racers=4):
    """Submit by several at once, one of which is killed."""
    pids = [forked(lambda: place.start(token)) for _ in range(racers)]
    time.sleep(random.Random(token).uniform(0, 0.06))
    os.kill(pids[0], signal.SIGKILL)
    for pid in pids:
        os.waitpid(pid, 0)
