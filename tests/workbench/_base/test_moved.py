"""The names that modules had in version 0.1 are the modules of today."""

import importlib
import pickle
import subprocess
import sys
import warnings
from datetime import UTC, datetime

import pytest

from workbench import archive, checks, results, session
from workbench._base import moved
from workbench._base.errors import ArgumentError
from workbench.tables.doctor import Cured
from workbench.tables.doctor.findings import Finding
from workbench.tables.maintenance import Action, Done, Planned, Policy, Reason, Remark


@pytest.mark.parametrize("old", moved.MOVED)
def test_an_old_name_is_the_module_of_today(old):
    sys.modules.pop(old, None)
    with pytest.warns(FutureWarning, match=f"{old} is now {moved.MOVED[old]}; the old name goes with version 0.3"):
        module = importlib.import_module(old)
    assert module is importlib.import_module(moved.MOVED[old])
    assert (module.__name__, module.__spec__.name) == (moved.MOVED[old], moved.MOVED[old])
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # said once
        assert importlib.import_module(old) is module


def test_as_people_write_it_and_below_a_package(tmp_path):
    """In a process of its own: whatever comes first, no file is loaded under two names."""
    code = (
        "from workbench.local.kinesis import server\n"
        "from workbench.local import archive as local, kinesis\n"
        "from workbench import conflicts, tpcds, settings\n"
        "from workbench.streams import parsing, Json\n"
        "from workbench.schedules import times\n"
        "import workbench_standins.kinesis.server, workbench_proofs.conflicts, sys\n"
        "assert server is workbench_standins.kinesis.server and conflicts is workbench_proofs.conflicts\n"
        "files = {}\n"
        "for name, module in sys.modules.items():\n"
        "    if name.startswith('workbench') and getattr(module, '__file__', None):\n"
        "        files.setdefault(module.__file__, set()).add(id(module))\n"
        "print(max(map(len, files.values())), Json.__module__)\n"
    )
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code], capture_output=True, text=True, cwd=tmp_path
    )
    assert (done.returncode, done.stdout) == (0, "1 workbench.records.parsing\n"), done.stderr


def test_what_never_was_is_missing_as_before():
    with pytest.raises(ModuleNotFoundError, match="No module named 'workbench.nothing'"):
        importlib.import_module("workbench.nothing")
    with (
        pytest.raises(ModuleNotFoundError, match="No module named 'workbench_standins.nothing'"),
        warnings.catch_warnings(),
    ):
        warnings.simplefilter("ignore")
        importlib.import_module("workbench.local.nothing")


def test_one_finder_a_process_and_values_travel():
    moved.install()
    assert sum(isinstance(finder, moved.Finder) for finder in sys.meta_path) == 1
    from workbench.verdicts import Verdict

    assert pickle.loads(pickle.dumps(Verdict(True, "rules"))) == Verdict(True, "rules")


OBJECT = archive.Object("s3://attic/a", 1, "GLACIER", "archived", datetime(2026, 1, 1, tzinfo=UTC), "e")
RENAMED = {
    "found of require": (lambda: checks.require("rows", found=1, expected=1), "actual"),
    "found of check": (lambda: results.check("rows", found=1, expected=1, passed=True), "actual"),
    "found of plan": (lambda: archive.plan(found=[OBJECT]), "objects"),
    "found of decide": (lambda: archive.decide("READ_ALL", found=OBJECT), "entry"),
    "wanted of driver_memory": (lambda: session.driver_memory(wanted="2g"), "setting"),
}


@pytest.mark.parametrize("old", RENAMED)
def test_an_argument_goes_on_by_its_old_name(old):
    call, now = RENAMED[old]
    with pytest.warns(DeprecationWarning) as caught:
        call()
    sentence = f"the argument {old} is now {now}; the old name goes with version 0.3"
    assert [(str(warning.message), warning.filename) for warning in caught] == [(sentence, __file__)]


def test_both_names_are_no_way_to_give_one_argument():
    with pytest.raises(ArgumentError, match="actual was given twice"), pytest.warns(DeprecationWarning):
        checks.require("rows", 1, found=1, expected=1)
    with pytest.raises(ArgumentError, match="require has no argument found"):
        checks.require("rows", actual=1, found=1, expected=1)


EXPIRY = Action("expire_snapshots", snapshots=(1, 2))
LEFT = Remark(Reason.FILES_LEFT, limit="max_bytes", count=3)
DONE = Done("compact_data", remarks=(LEFT,))
SORT = Finding("unsorted_files", "high", "files overlap", "sort them")
SENTENCE = "max_bytes is reached: 3 files were left as they are"
FIELDS = {
    "what of Action": (lambda: EXPIRY.what, "2 snapshots go, and 0 data or delete files that only they needed"),
    "breaks of Action": (
        lambda: EXPIRY.breaks, ("2 snapshots can no longer be read, compared or gone back to",)
    ),
    "notes of Planned": (
        lambda: Planned("a.b", "u", 1, datetime.now(UTC), Policy(), (), (), (LEFT,)).notes, (SENTENCE,)
    ),
    "said of Done": (lambda: DONE.said, (SENTENCE,)),
    "left of Cured": (
        lambda: Cured((DONE,), (), (), (SORT,)).left,
        ("unsorted_files: sort them", f"compact_data: {SENTENCE}"),
    ),
}  # fmt: skip


@pytest.mark.parametrize("old", FIELDS)
def test_a_field_that_is_gone_still_answers(old):
    look, value = FIELDS[old]
    with pytest.warns(DeprecationWarning) as caught:
        assert look() == value
    assert [warning.filename for warning in caught] == [__file__]
    assert str(caught[0].message).startswith(f"the field {old} is gone; use ")
