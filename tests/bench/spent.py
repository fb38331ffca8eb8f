"""A pytest plugin that writes what each test spent: wall seconds, and CPU seconds of its process tree.

Loaded by `-p bench.spent`, with the folder that takes one file a worker (pytest-xdist) in BENCH_SPENT. The process tree is the
worker with all that it started: JVMs, Python workers, kernels, servers. What a process used whose end nobody waited
for counts until it was last looked at, which is before and behind each test and each fixture.
"""

import contextlib
import json
import os
import time
from pathlib import Path

import pytest

from workbench._base import repeating

VARIABLE = "BENCH_SPENT"
TICKS = os.sysconf("SC_CLK_TCK")


def times():
    """Return {process id: (CPU seconds of its own and of its ended children, those of its ended children)} of the tree."""
    parents, spent = {}, {}
    for name in os.listdir("/proc"):
        if name.isdigit():
            with contextlib.suppress(OSError):  # it ended meanwhile
                fields = Path("/proc", name, "stat").read_text().rsplit(")", 1)[1].split()
                own, ended = (sum(map(int, fields[start : start + 2])) / TICKS for start in (11, 13))
                parents.setdefault(int(fields[1]), []).append(int(name))
                spent[int(name)] = own + ended, ended
    tree, further = {}, [os.getpid()]
    while further:
        process = further.pop()
        if process in spent:
            tree[process] = spent[process]
        further += parents.get(process, [])
    return tree


class Clock:
    """CPU seconds of this process's tree since the clock was made; never goes back when a process disappears."""

    def __init__(self):
        self.seconds, self.tree = 0.0, times()

    def __call__(self):
        before, self.tree = self.tree, times()
        absorbed = sum(
            ended - before[process][1] for process, (_, ended) in self.tree.items() if process in before
        )
        gone = sum(total for process, (total, _) in before.items() if process not in self.tree)
        grown = sum(total for total, _ in self.tree.values()) - sum(total for total, _ in before.values())
        self.seconds += max(0.0, grown + max(0.0, gone - absorbed))
        return self.seconds


def measured(clock, run):
    """Return CPU and wall seconds of what runs processes, looked at from time to time: a JVM may end unseen."""
    before, begin = clock(), time.perf_counter()
    with repeating.every(0.5, clock):
        run()
    return round(clock() - before, 2), round(time.perf_counter() - begin, 2)


class Spent:
    """Two numbers for everything that is set up or run, the inner ones taken off the outer ones of a fixture."""

    def __init__(self, folder):
        self.path = Path(folder, f"{os.getpid()}.json")
        self.tests, self.fixtures, self.open, self.clock, self.call = [], {}, [], Clock(), 0.0

    def now(self):
        return time.perf_counter(), self.clock()

    @pytest.hookimpl(wrapper=True)
    def pytest_fixture_setup(self, fixturedef):
        start, inner = self.now(), [0.0, 0.0]
        self.open.append(inner)
        try:
            return (yield)
        finally:
            self.open.pop()
            whole = [after - before for after, before in zip(self.now(), start, strict=True)]
            row = self.fixtures.setdefault(f"{fixturedef.baseid}::{fixturedef.argname}", [0, 0.0, 0.0])
            row[0] += 1
            for place in (0, 1):
                row[place + 1] += whole[place] - inner[place]
                if self.open:
                    self.open[-1][place] += whole[place]

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self, item):
        start, self.call = self.now(), 0.0
        try:
            return (yield)
        finally:
            wall, cpu = (after - before for after, before in zip(self.now(), start, strict=True))
            self.tests.append([item.nodeid, round(wall, 3), round(cpu, 2), round(self.call, 2)])

    def pytest_runtest_logreport(self, report):
        if report.when == "call":
            self.call = report.duration

    def pytest_sessionfinish(self, session):
        if hasattr(session.config, "workerinput"):  # the process that starts the workers has no tests of its own
            self.path.write_text(json.dumps({"tests": self.tests, "fixtures": self.fixtures, "cpu": self.clock()}))


def pytest_configure(config):
    if folder := os.environ.get(VARIABLE):
        config.pluginmanager.register(Spent(folder), "spent")
