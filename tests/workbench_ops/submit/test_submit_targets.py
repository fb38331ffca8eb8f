"""Targets: their files, and which of them a token goes to."""

import re
from collections import Counter
from pathlib import Path

import pytest

from workbench_ops.submit import TargetUnavailable, all_in, read, route
from workbench_ops.submit.targets import Process

ROOT = Path(__file__).resolve().parents[3]


def named(tmp_path, **targets):
    return {name: Process(name=name, type="process", folder=str(tmp_path / name), **options)
            for name, options in targets.items()}  # fmt: skip


def test_the_files_that_come_with_the_project_are_read():
    assert all_in(ROOT / "params" / "targets")["process"].queues == ("default",)


def test_a_token_stays_and_shares_follow_the_weights(tmp_path):
    targets = named(tmp_path, a={}, b={"weight": 3}, c={"queues": ("web",)})
    tokens = [f"load {n}" for n in range(400)]
    chosen = {token: route(targets, token, "default").name for token in tokens}
    assert chosen == {token: route(dict(reversed(targets.items())), token, "default").name for token in tokens}
    counts = Counter(chosen.values())
    assert set(counts) == {"a", "b"} and 270 < counts["b"] < 330
    assert {route(targets, token, "web").name for token in tokens} == {"c"}
    without = {name: target for name, target in targets.items() if name != "a"}
    moved = {token for token in tokens if route(without, token, "default").name != chosen[token]}
    assert moved == {token for token in tokens if chosen[token] == "a"}


def test_a_dead_target_is_passed_over_and_told(tmp_path):
    targets = named(tmp_path, a={}, b={"weight": 1000})
    (tmp_path / "b").write_text("no folder")
    assert {route(targets, f"load {n}").name for n in range(20)} == {"a"}
    (tmp_path / "a").rmdir()
    (tmp_path / "a").write_text("no folder")
    with pytest.raises(TargetUnavailable, match=r"no target answers; b: .*cannot be made: .*; a: "):
        route(targets, "load")


def test_a_queue_that_nobody_serves(tmp_path):
    targets = named(tmp_path, a={"queues": ("health", "web")})
    sentence = "no target serves the queue 'helth' (did you mean health?); there are health, web"
    with pytest.raises(ValueError, match=re.escape(sentence)):
        route(targets, "load", "helth")


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("- a", "expected keys and values, found list"),
        ("type: process\nweight: 0", "weight: Input should be greater than 0, found 0"),
        ("type: process\nqueues: []", "queues: "),
        ("type: process\ncolour: red", "colour: "),
        (
            "type: prozess",
            "type: expected 'process', 'standalone', 'emr-serverless', 'emr-containers', 'glue', found 'prozess'",
        ),
        (
            "weight: 1",
            "type: expected process, standalone, emr-serverless, emr-containers or glue, found none",
        ),
    ],
)
def test_a_file_that_is_wrong(tmp_path, text, sentence):
    (tmp_path / "a.yml").write_text(text)
    with pytest.raises(ValueError, match=re.escape(f"{tmp_path / 'a.yml'}: {sentence}")):
        read(tmp_path / "a.yml")


def test_a_folder_without_targets(tmp_path):
    with pytest.raises(
        ValueError, match=r"has no targets; a target is a file NAME\.yml with type, queues and weight"
    ):
        all_in(tmp_path)
