"""A lock that one holds: the second is told whose it is, and what goes wrong meanwhile is told as it is."""

import pytest
from filelock import Timeout

from workbench._base import locks


def test_a_lock_is_held_by_one_and_let_go_of(tmp_path):
    path = tmp_path / "new" / "lock"
    with locks.held(path, "first"), pytest.raises(ValueError, match="^second$"), locks.held(path, "second"):
        pass
    with locks.held(path, "third"):
        pass


def test_what_waits_in_vain_for_another_lock_is_not_told_as_this_one(tmp_path):
    path = tmp_path / "lock"
    with pytest.raises(Timeout), locks.held(path, "ours"):
        raise Timeout("another")
    with locks.held(path, "it was let go of"):
        pass
