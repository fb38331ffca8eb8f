"""Which snapshot was current at a time: right, or refused where an expiry leaves a doubt."""

from dataclasses import dataclass, field
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench._base import moments

CURRENT, BRANCH, BACK, EXPIRE = "commit", "commit to a branch", "roll back", "expire"


@dataclass
class Life:
    """A table's metadata as PyIceberg leaves them, and beside it what was current at each time."""

    log: list[tuple[int, int]] = field(default_factory=list)
    snapshots: dict[int, moments.Commit] = field(default_factory=dict)
    truth: list[int] = field(default_factory=list)  # the id that was current at each millisecond, 0 for none
    last: int = 0

    def step(self, act: str, choice: int) -> None:
        now, current = len(self.truth), self.truth[-1] if self.truth else 0
        others = sorted(id for id in self.snapshots if id != current)
        if act in (CURRENT, BRANCH):
            self.last += 1
            self.snapshots[self.last] = moments.Commit(now, current or None, self.last)
            current = self.last if act == CURRENT else current
        elif act == BACK and current and others:
            current = others[choice % len(others)]
        elif act == EXPIRE and others:
            self.expire(others[choice % len(others)])
        if current and (not self.truth or current != self.truth[-1]):
            self.log.append((now, current))
        self.truth.append(current)

    def expire(self, expired: int) -> None:
        del self.snapshots[expired]
        self.log = [entry for entry in self.log if entry[1] != expired]
        self.snapshots = {
            id: commit._replace(parent_id=None if commit.parent_id == expired else commit.parent_id)
            for id, commit in self.snapshots.items()
        }

    def current_at(self, milliseconds: int) -> int:
        moment = datetime.fromtimestamp(milliseconds / 1000, UTC)
        return moments.current_at(moment, self.log, self.snapshots, self.last, "n.t")


ACTS = st.tuples(st.sampled_from([CURRENT, CURRENT, BRANCH, BACK, EXPIRE]), st.integers(0, 9))


@given(st.lists(ACTS, min_size=1, max_size=14))
def test_a_time_is_answered_right_or_refused(acts):
    life = Life()
    for act, choice in acts:
        life.step(act, choice)
    expired = any(act == EXPIRE for act, _ in acts)
    for milliseconds, current in enumerate(life.truth):
        try:
            assert life.current_at(milliseconds) == current
        except ValueError as error:
            assert expired or (current == 0 and "or before" in str(error)), error


@pytest.mark.parametrize(
    ("acts", "milliseconds"),
    [
        ([(CURRENT, 0), (CURRENT, 0), (CURRENT, 0), (EXPIRE, 1)], 1),
        ([(CURRENT, 0), (CURRENT, 0), (BACK, 0), (EXPIRE, 0)], 1),
        ([(CURRENT, 0), (CURRENT, 0), (CURRENT, 0), (BACK, 0), (EXPIRE, 1)], 2),
    ],
    ids=["between two commits", "between a snapshot and itself", "before a rollback"],
)
def test_a_snapshot_that_pyiceberg_expired_is_not_answered_by_the_one_before(acts, milliseconds):
    life = Life()
    for act, choice in acts:
        life.step(act, choice)
    with pytest.raises(ValueError, match="that was current at 1970.* was expired; it has [12], from 1970"):
        life.current_at(milliseconds)


def test_a_rollback_behind_living_snapshots_is_answered():
    life = Life()
    for act in (CURRENT, CURRENT, BRANCH, BACK, CURRENT):
        life.step(act, 0)
    assert [life.current_at(milliseconds) for milliseconds in range(5)] == [1, 2, 2, 1, 4]


@given(st.integers(0, 4_000_000_000_000))
def test_a_time_as_it_is_written_names_its_own_snapshot(milliseconds):
    """As a float, one millisecond in six is a little less than itself, and the snapshot before would be taken."""
    log, commit = [(milliseconds - 1, 1), (milliseconds, 2)], moments.Commit
    known = {1: commit(milliseconds - 1, None, 1), 2: commit(milliseconds, 1, 2)}
    text = moments.written(moments.utc(milliseconds))
    assert moments.current_at(moments.moment(text), log, known, 2, "n.t") == 2
