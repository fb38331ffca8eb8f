"""The command `workbench` called in the process of the tests, which has loaded it: many calls in a second."""

import sys
from types import SimpleNamespace

import pytest

from workbench_ops import cli


def command(monkeypatch, capsys):
    """Return what calls the command as conftest.workbench does, without a process of its own."""

    def call(*arguments, cwd):
        monkeypatch.chdir(cwd)
        monkeypatch.setattr(sys, "argv", ["workbench", *map(str, arguments)])
        capsys.readouterr()
        with pytest.raises(SystemExit) as ended:
            cli.main()
        said = capsys.readouterr()
        return SimpleNamespace(returncode=ended.value.code, stdout=said.out, stderr=said.err)

    return call
