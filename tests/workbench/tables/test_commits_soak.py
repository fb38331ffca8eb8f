"""What the soak run of commits calls right: nothing lost or doubled, and every hard case has happened."""

import json

import pytest
from bench import evidence
from soak import commits as soak

LOCAL = {
    "commits": 100, "rows_lost": 0, "rows_doubled": 0, "rows_not_acknowledged": 0, "files_twice": 0,
    "compactions_that_replaced_files": 3, "manifest_lists_expired": 40, "begun_again_by_retrying": 0,
    "found_by_their_mark": 0, "minutes": 2.0, "kills_between_swap_and_return": 10, "killed_after_their_swap": 10,
    "killed_found_by_the_rerun": 10, "killed_rows_lost": 0, "killed_rows_doubled": 0,
}  # fmt: skip
REST = LOCAL | {
    "answers_cut_off": 5, "late_append_said_to_be": "OutcomeUnknown", "late_append_found_by_its_name": True,
    "late_update_tries": 2, "late_rows_lost": 0, "late_rows_doubled": 0,
}  # fmt: skip


@pytest.mark.parametrize(("environment", "figures"), [("local", LOCAL), ("s3", LOCAL), ("rest", REST)])
def test_figures_that_are_right(environment, figures):
    assert soak.wrong(environment, figures, 102, 10) == []


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("commits", 96), ("rows_lost", 1), ("rows_doubled", 1), ("rows_not_acknowledged", 1), ("files_twice", 1),
        ("compactions_that_replaced_files", 0), ("manifest_lists_expired", 0),
        ("kills_between_swap_and_return", 9), ("killed_after_their_swap", 9), ("killed_found_by_the_rerun", 9),
        ("killed_rows_lost", 1), ("killed_rows_doubled", 1), ("answers_cut_off", 0), ("answers_cut_off", None),
        ("late_append_said_to_be", None), ("late_append_said_to_be", 1), ("late_append_found_by_its_name", False),
        ("late_update_tries", 1), ("late_update_tries", None), ("late_rows_lost", 1), ("late_rows_doubled", 1),
    ],
)  # fmt: skip
def test_a_wrong_figure_and_a_case_that_did_not_happen_are_said(name, value):
    assert soak.wrong("rest", REST | {name: value}, 100, 10) == [f"rest: {name} is {value}"]
    without = {one: figure for one, figure in REST.items() if one != name}
    assert soak.wrong("rest", without, 100, 10) == [f"rest: {name} is None"]


def test_what_is_measured_has_the_names_that_are_asked_for(monkeypatch):
    seen = {"lost": 0, "doubled": 0, "not_acknowledged": 0, "files_twice": 0}
    told = {n: [[number, 1, False] for number in range(25)] for n in range(4)}
    monkeypatch.setattr(soak.processes, "make", lambda spark, table: None)
    monkeypatch.setattr(soak.processes, "everybody_at_once", lambda *given, **more: (told, 3, [40]))
    monkeypatch.setattr(soak.processes, "figures", lambda *given: seen)
    monkeypatch.setattr(soak.commits, "set_profile", lambda *given: None)
    monkeypatch.setattr(soak, "killed", lambda *given: seen | {"swapped": True, "found": True})
    assert soak.together(None, 100, None) | soak.again(None, 10) == LOCAL | {"minutes": 0.0}
    monkeypatch.setattr(soak, "killed", lambda *given: seen | {"swapped": False, "found": False})
    none = soak.again(None, 10)
    assert (none["killed_after_their_swap"], none["killed_found_by_the_rerun"]) == (0, 0)


def test_a_rest_catalog_without_its_hard_cases_is_wrong():
    assert len(soak.wrong("rest", LOCAL, 100, 10)) == 6


@pytest.mark.parametrize(("figures", "code"), [(REST, 0), (REST | {"late_update_tries": 1}, 1)])
def test_the_exit_code_says_so(tmp_path, monkeypatch, capsys, figures, code):
    """All environments are there, so nothing runs."""
    found = {"local": LOCAL, "s3": LOCAL, "rest": figures}
    about = {**soak.evidence.made_from(), "commits_expected": 100, "kills": 10}
    (tmp_path / "commits_soak.json").write_text(json.dumps(about | {"catalogs": found}))
    monkeypatch.setattr(evidence, "FOLDER", tmp_path)
    assert soak.main(100, 10) == code
    assert capsys.readouterr().out == ("wrong: rest: late_update_tries is 1\n" if code else "")
