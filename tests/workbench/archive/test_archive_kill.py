"""kill -9 in the middle of a restore of many objects, twice: run again, it asks for no object a second time."""

import shutil
import signal
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
from conftest import PROVE, ROOT

from workbench import archive
from workbench._base import worklist
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
    with worklist.opened(state, requests.STATE_TABLE) as table:
        noted = Counter(row["state"] for row in table.rows())
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


def test_a_restore_that_the_version_before_began_goes_on(tmp_path):
    """Its state table was left by a kill: four objects asked for, four that may have been (two were), two planned."""
    for name in ("state.db", "state.db-wal"):
        shutil.copy(ROOT / "tests" / "earlier" / name, tmp_path)
    with local.serve() as store:
        s3 = store.client()
        s3.create_bucket(Bucket="attic")
        store.plant("attic", "p/", 4)
        store.plant("attic", "q/", 6)
        asked = [f"p/{n:06d}" for n in range(4)] + ["q/000000", "q/000001"]
        for key in asked:
            s3.restore_object(Bucket="attic", Key=key, RestoreRequest={"Days": 3})
        plan = archive.plan(archive.inventory("s3://attic/", s3=s3), tier="Bulk", days=3, now=store.clock.now())
        outcome = archive.restore(
            plan, s3=s3, state=tmp_path / "state.db", now=store.clock.now, sleep=store.clock.advance
        )
        paid = Counter(request["key"] for request in store.restores() if request["status"] in (200, 202))
    assert (outcome.resumed, outcome.requested, outcome.ready, outcome.complete) == (8, 4, 10, True)
    assert paid == {key: 1 for key in [*asked, *(f"q/{n:06d}" for n in range(2, 6))]}
    with worklist.opened(tmp_path / "state.db", requests.STATE_TABLE) as table:
        assert Counter(row["state"] for row in table.rows()) == {"ready": 10}
