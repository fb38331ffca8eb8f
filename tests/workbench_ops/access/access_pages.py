"""A page that is served, with users who may log in: fixtures that tests name by `pytest_plugins`."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "workbench" / "access"))  # its policy and tables
import access_cases

from workbench_ops.access.page import sharing, users
from workbench_ops.access.page.serving import serve

PASSWORDS = {"ann": "correct horse battery", "bob": "staple of another kind"}


@pytest.fixture
def shared(tmp_path, monkeypatch):
    monkeypatch.setattr(users, "N", 2**14)  # passwords in half the time
    catalog = access_cases.catalog(tmp_path)
    access_cases.users(catalog)
    people = tmp_path / "users.yml"
    users.add(people, "ann", principal="user1", password=PASSWORDS["ann"])
    users.add(people, "bob", principal="user2", password=PASSWORDS["bob"])
    users.add(people, "none", principal="nobody", password=PASSWORDS["bob"])
    return sharing.Shared(access_cases.written(tmp_path), people, lambda: access_cases.catalog(tmp_path))


@pytest.fixture
def address(shared):
    with serve(shared) as address:
        yield address
