"""params/schedules.yml: what is accepted, what is refused and how it is said, what comes after what."""

import pytest
from conftest import ROOT

from workbench_ops.schedules import entries


def read(tmp_path, text):
    file = tmp_path / "schedules.yml"
    file.write_text(text)
    return entries.read(file)


WHOLE = """
load:
  notebook: 01_first_table
  params: params/01_first_table/check.yml
  environment: lake
  cron: "15 2 * * *"
  time_zone: Europe/Berlin
  timeout_seconds: 600
  retries: 2
  retry_wait_seconds: 5
  while_running: wait
  run_date: RUN_DATE
  metrics: keep
  on_failure: "./notify.sh 'to me'"
gate:
  notebook: 20_write_audit_publish
  after: load
"""


def test_a_whole_file(tmp_path):
    found = read(tmp_path, WHOLE)
    assert [one.model_dump() for one in found.values()] == [
        {
            "name": "load", "notebook": "01_first_table", "command": None, "script": None, "target": (),
            "claims": None, "updates": (), "after_update": (), "params": "params/01_first_table/check.yml",
            "environment": "lake", "cron": "15 2 * * *", "time_zone": "Europe/Berlin", "after": (),
            "timeout_seconds": 600, "retries": 2, "retry_wait_seconds": 5, "while_running": "wait",
            "metrics": "keep", "on_failure": "./notify.sh 'to me'", "run_date": "RUN_DATE",
        },
        {
            "name": "gate", "notebook": "20_write_audit_publish", "command": None, "script": None, "target": (),
            "claims": None, "updates": (), "after_update": (), "params": None, "environment": None, "cron": None,
            "time_zone": "UTC", "after": ("load",), "timeout_seconds": 3600, "retries": 0, "retry_wait_seconds": 60,
            "while_running": "refuse", "metrics": "off", "on_failure": None, "run_date": None,
        },
    ]  # fmt: skip
    assert read(tmp_path, "# nothing yet\n") == {}


A = 'a: {notebook: x, cron: "1 2 * * *"'


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("- a\n", "expected names of entries, found a list"),
        ("a: 1\n", "a: expected keys and values, found 1"),
        ("A-b: {notebook: x}\n", "'A-b' is not a name of an entry: small letters, digits, _, at most 60"),
        (f"{A}}}\n{A}}}\n", "a is given twice"),
        ('a: {cron: "1 2 * * *"}', "a: an entry has a notebook, a command of workbench or a script, found none"),
        (f"{A}, timeout: 5}}", "a: timeout is not a key (did you mean timeout_seconds?); there are notebook, command, script"),
        (f"{A}, name: b}}", "a: the name of an entry is its key"),
        (f"{A}, timeout_seconds: 0}}", "a: timeout_seconds: Input should be greater than or equal to 1, found 0"),
        (f"{A}, retries: 11}}", "a: retries: Input should be less than or equal to 10, found 11"),
        (f'{A}, retries: "1"}}', "a: retries: Input should be a valid integer, found '1'"),
        (f"{A}, time_zone: Europe/Berln}}", "'Europe/Berln' is not a time zone (did you mean Europe/Berlin?)"),
        ('a: {notebook: x, cron: "61 2 * * *"}', "a: minute: expected 0 to 59, found '61'"),
        ("a: {notebook: x}", "a: an entry has cron (it begins at a time), after (it follows others) or after_update (of tables), found none"),
        (f"{A}, after: a}}", "or after_update (of tables), found cron and after"),
        (f"{A}}}\nb: {{notebook: y, after: a, time_zone: UTC}}", "b: time_zone belongs to cron"),
        (f"{A}}}\nb: {{notebook: y, after: aa}}", "b: after names 'aa', which is not an entry (did you mean a?)"),
        (f"{A}}}\nb: {{notebook: y, after: [a, a]}}", "b: after names an entry twice: a, a"),
        ("a: {notebook: x, after: b}\nb: {notebook: y, after: a}", "a follows itself: a after b after a"),
        (f'{A}}}\nb: {{notebook: y, cron: "1 3 * * *"}}\nc: {{notebook: z, after: [a, b]}}',
         "c follows entries with times of their own: a, b; name one"),
        ('a: {notebook: "x\\ny", cron: "1 2 * * *"}', "a: notebook: expected one line without control characters"),
        (f'{A}, on_failure: "./x \'"}}', "a: on_failure: it is not a command line: no closing quotation"),
        ("a: https://me:secret@host/", "a: expected keys and values, found 'https://[secret]@host/'"),
        (f'{A}, on_failure: " "}}', "a: on_failure: a command line must name a program, found none"),
        (f'{A}, on_failure: "curl https://me:secret@host/"}}', "a: on_failure: it holds a URL with a password"),
    ],
)  # fmt: skip
def test_refused_with_a_sentence(tmp_path, text, sentence):
    with pytest.raises(ValueError) as refusal:
        read(tmp_path, text)
    assert sentence in str(refusal.value) and str(refusal.value).startswith(str(tmp_path / "schedules.yml"))
    assert "\n" not in str(refusal.value) and "secret@host" not in str(refusal.value)


def test_no_file_and_no_such_entry(tmp_path):
    with pytest.raises(ValueError, match="there is no file .*schedules.yml of schedules; docs/schedules.md"):
        entries.read(tmp_path / "schedules.yml")
    with pytest.raises(
        ValueError, match=r"no entry 'laod' in params/schedules.yml \(did you mean load\?\); it has load, gate"
    ):
        entries.named(read(tmp_path, WHOLE), "laod")


def test_what_comes_after_what(tmp_path):
    found = read(tmp_path, "\n".join([
        "last: {notebook: n, after: [left, right]}",
        "right: {notebook: n, after: first}",
        "left: {notebook: n, after: [first]}",
        'first: {notebook: n, cron: "1 2 * * *"}',
        'alone: {notebook: n, cron: "1 3 * * *"}',
    ]))  # fmt: skip
    assert entries.chain(found, "first") == ["first", "right", "left", "last"]
    assert entries.chain(found, "left") == ["left", "last"]
    assert entries.chain(found, "alone") == ["alone"]
    assert entries.roots(found) == {
        "last": "first", "right": "first", "left": "first", "first": "first", "alone": "alone",
    }  # fmt: skip


def test_the_example_of_the_project_is_valid():
    found = entries.read(ROOT / "params" / "schedules.yml")
    assert [(one.notebook, one.environment) for one in found.values()] == [
        ("01_first_table", "lake"), ("20_write_audit_publish", "lake"),
    ]  # fmt: skip
    assert entries.chain(found, "nightly_flights") == ["nightly_flights", "nightly_gate"]
