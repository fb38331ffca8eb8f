"""kill -9 in the middle of a restore of many objects, twice: run again, it asks for no object a second time."""

import signal
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
from conftest import PROVE

from workbench import archive
from workbench.archive import requests
from workbench_standins import archive as local

OBJECTS, FIRST, SECOND = (1_000, 400, 300) if PROVE else (120, 50, 30)  # and at which requests it is killed


@pytest.fixture
def attic():
    with local.serve() as store:
        s3 = store.client(max_pool_connections=16)
        s3.create_bucket(Bucket="attic")
        store.plant("attic", "p/", OBJECTS)
        yield store, s3


def killed(store, state, point, nth):
    child = subprocess.run(
        [sys.executable, str(Path(__file__).parent / "archive_child.py"), store.endpoint, "s3://attic/p/", str(state),
         point, str(nth)],
        capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
    assert (child.returncode, child.stdout) == (-signal.SIGKILL, ""), child.stderr[-2000:]


def test_killed_twice_and_resumed(attic, tmp_path):
    store, s3 = attic
    state = tmp_path / "state.db"
    killed(store, state, "after", FIRST)  # answered, and not noted
    asked = len(store.restores())
    assert FIRST <= asked < min(FIRST + 100, OBJECTS)
    with requests.open_state(state) as table:
        keys = {(one.uri, one.version) for one in archive.inventory("s3://attic/p/", s3=s3)}
        noted = Counter(row["state"] for row in table.rows(keys))
    assert noted["asking"] > 0 and noted["planned"] > 0 and sum(noted.values()) == OBJECTS

    killed(store, state, "before", SECOND)  # noted, and not sent
    # of each run up to sixteen requests were under way when it died, and may be answered after the count
    assert asked + SECOND - 16 <= len(store.restores()) < asked + 16 + SECOND

    plan = archive.plan(archive.inventory("s3://attic/p/", s3=s3), tier="Bulk", days=3, now=store.clock.now())
    found = archive.restore(plan, s3=s3, state=state, workers=16, now=store.clock.now, sleep=store.clock.advance)
    assert (found.ready, found.waiting, found.failed) == (OBJECTS, (), ())
    assert found.resumed > 0
    paid = Counter(told["key"] for told in store.restores() if told["status"] in (200, 202))
    assert paid == {f"p/{n:06d}": 1 for n in range(OBJECTS)}
    assert {one.state for one in archive.inventory("s3://attic/p/", s3=s3)} == {"restored"}
