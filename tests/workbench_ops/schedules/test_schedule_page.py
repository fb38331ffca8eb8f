"""docs/schedules.md says of Airflow's picture what the run in its evidence was, and a clone can carry the picture."""

import json
import re
import struct

import typer
from conftest import ROOT

from workbench_ops import schedules
from workbench_ops.cli import app
from workbench_ops.cli.commands.schedule import _validated

TEXT = (ROOT / "docs" / "schedules.md").read_text(encoding="utf-8")
PAGE = " ".join(TEXT.split())
PICTURE = ROOT / "docs" / "images" / "airflow.png"
STATES = json.loads((ROOT / "docs" / "evidence" / "airflow.json").read_text(encoding="utf-8"))["states"]


def test_the_picture_shows_the_run_of_the_evidence():
    assert "failing failed at its second try, behind_failing is upstream failed and was not started" in PAGE
    assert "](images/airflow.png)" in PAGE
    assert {name: (STATES[name]["state"], STATES[name]["tries"]) for name in ("failing", "behind_failing")} == {
        "failing": ("failed", 2),
        "behind_failing": ("upstream_failed", 0),
    }


def test_the_picture_can_be_read_and_is_small():
    png = PICTURE.read_bytes()
    assert png[:8] == b"\x89PNG\r\n\x1a\n" and struct.unpack(">II", png[16:24]) == (1280, 610)
    assert len(png) < 200_000


def test_the_examples_are_ones_to_begin_with(tmp_path, monkeypatch):
    """A clone takes them as they stand: the notebooks are there, and the commands have such options."""
    (tmp_path / "schedules.yml").write_text("".join(re.findall("```yaml\n(.*?)```", TEXT, re.DOTALL)))
    monkeypatch.chdir(ROOT)
    found = schedules.read(tmp_path / "schedules.yml")
    assert list(found) == ["nightly_flights", "nightly_gate", "readings", "orders"]
    command = typer.main.get_command(app)
    assert list(_validated(found, command.context_class(command))) == ["nightly_flights", "nightly_gate"]


def test_the_examples_of_targets_and_updates_are_read(tmp_path):
    (tmp_path / "schedules.yml").write_text("".join(re.findall("```yml\n(.*?)```", TEXT, re.DOTALL)))
    found = schedules.read(tmp_path / "schedules.yml")
    assert [(name, entry.target, entry.updates, entry.after_update) for name, entry in found.items()] == [
        ("nightly_load", ("own",), (), ()),
        ("nightly_orders", (), ("sales.orders",), ()),
        ("orders_report", (), (), ("sales.orders",)),
    ]
