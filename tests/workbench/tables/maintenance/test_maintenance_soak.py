"""The soak run of maintenance: what was done is not done again, also what the version before it kept."""

import json

import pytest
from bench import evidence
from soak import maintenance as soak

NOW = {"versions": {"iceberg": "1.11.0"}, "digest": "d"}


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    monkeypatch.setattr(soak, "KEPT", tmp_path / "new" / "soak_maintenance.db")
    monkeypatch.setattr(evidence, "made_from", lambda: NOW)


def test_rounds_of_these_versions_and_this_code_count(monkeypatch):
    with soak.opened() as rounds:
        soak.keep(rounds, "history", 7, {"actions": 3})
        soak.keep(rounds, "history", 7, {"actions": 4})
        soak.keep(rounds, "kill", "plan", {"wrong": []})
    counted = {("history", "7"): {"actions": 4}, ("kill", "plan"): {"wrong": []}}
    for made_from, found in (
        (NOW, counted),
        ({"versions": NOW["versions"]}, counted),  # outside of the proof nobody asks for its files
        (NOW | {"digest": "e"}, {}),
        (NOW | {"versions": {"iceberg": "1.12.0"}}, {}),
    ):
        monkeypatch.setattr(evidence, "made_from", lambda made_from=made_from: made_from)
        with soak.opened() as rounds:
            assert soak.kept(rounds) == found


def test_lines_of_the_version_before_count(tmp_path):
    (tmp_path / "new").mkdir()
    lines = [{"what": "history", "which": str(n), "seen": {"actions": n}} | NOW for n in range(3)]
    text = "".join(json.dumps(line) + "\n" for line in lines)
    (tmp_path / "new" / "soak_maintenance.jsonl").write_text(text + '{"what": "hist')
    for _ in range(2):
        with soak.opened() as rounds:
            assert soak.kept(rounds) == {("history", str(n)): {"actions": n} for n in range(3)}
