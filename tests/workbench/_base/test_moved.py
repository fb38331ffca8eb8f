"""The names that modules had in version 0.1 are the modules of today."""

import importlib
import pickle
import subprocess
import sys
import warnings

import pytest

from workbench._base import moved


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
    assert (done.returncode, done.stdout) == (0, "1 workbench.streams.records.parsing\n"), done.stderr


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
