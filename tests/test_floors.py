"""The walls of the house: imports go downwards only, top modules do not know each other, import does nothing."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

LIB = Path(__file__).resolve().parents[1] / "lib" / "workbench"
GROUND = {
    "arguments",
    "settings",
    "yaml_files",
    "secrets",
    "hardware",
    "jars",
    "java",
    "children",
    "daemon",
    "scratch",
    "lake",
    "locks",
    "identifiers",
    "releases",
    "show",
    "plots",
    "checks",
    "results",
    "costs",
}
MIDDLE = {"account", "session", "data", "tables", "local"}
ALLOWED_ASIDE = {
    ("session", "local"), ("jars", "java"), ("settings", "secrets"), ("settings", "yaml_files"),
    ("scratch", "settings"),
    ("results", "identifiers"), ("results", "arguments"), ("checks", "results"), ("checks", "show"),
    ("plots", "show"), ("show", "identifiers"), ("show", "releases"),
}  # fmt: skip


def room(path):
    """The first part of a module's name under workbench: run/report.py is in the room run."""
    return path.relative_to(LIB).parts[0].removesuffix(".py")


def floor(name):
    return 0 if name in GROUND else 1 if name in MIDDLE else 2


def arrows(path):
    """The rooms that a module imports, functions' own imports included."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "workbench":
            parts = node.module.split(".")[1:]
            found |= {parts[0]} if parts else {alias.name for alias in node.names}
        elif isinstance(node, ast.Import):
            found |= {a.name.split(".")[1] for a in node.names if a.name.startswith("workbench.")}
    return found - {room(path)}


def wrong_arrows(lib=LIB):
    for path in sorted(lib.rglob("*.py")):
        here = room(path)
        if here in ("cli", "__init__"):  # the command knows every capability
            continue
        for there in arrows(path):
            down = floor(there) < floor(here)
            if not down and (here, there) not in ALLOWED_ASIDE:
                yield f"{path.relative_to(lib)} imports {there}"


def test_imports_go_downwards_only():
    assert list(wrong_arrows()) == []


def test_a_wrong_arrow_is_seen(tmp_path, monkeypatch):
    monkeypatch.setattr(sys.modules[__name__], "LIB", tmp_path)
    (tmp_path / "quality.py").write_text("def f():\n    from workbench import wap\n")
    (tmp_path / "show.py").write_text("import workbench.session\n")
    assert list(wrong_arrows(tmp_path)) == ["quality.py imports wap", "show.py imports session"]


def test_run_starts_no_spark():
    for path in (LIB / "run").glob("*.py"):
        assert not {"session", "tables", "data"} & arrows(path), path.name


MODULES = sorted(
    ".".join(("workbench", *path.relative_to(LIB).with_suffix("").parts)).removesuffix(".__init__")
    for path in LIB.rglob("*.py")
)


def test_nothing_happens_at_import(tmp_path):
    code = (
        "import sys, os, logging\nbefore = dict(os.environ), list(logging.getLogger().handlers)\n"
        f"for name in {MODULES!r}: __import__(name)\n"
        "assert (dict(os.environ), list(logging.getLogger().handlers)) == before\n"
        "assert 'pyspark' not in sys.modules and 'matplotlib' not in sys.modules\n"
    )
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=tmp_path)
    assert (said.returncode, said.stdout, said.stderr) == (0, "", "")
    assert list(tmp_path.iterdir()) == []


GENERATED = [*(LIB / "quality" / "dqdl").glob("DataQuality*.py")]  # by ANTLR
WRITTEN = sorted(set(LIB.rglob("*.py")) - set(GENERATED))


@pytest.mark.parametrize("path", WRITTEN, ids=lambda p: str(p.relative_to(LIB)))
def test_modules_and_functions_stay_small(path):
    """200 lines and 30 a function are the smell; this is where it stinks."""
    assert len(path.read_text().splitlines()) <= 320
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.FunctionDef):
            body = node.body[1:] if ast.get_docstring(node) else node.body
            lines = body[-1].end_lineno - body[0].lineno + 1 if body else 0
            assert lines <= 50, f"{node.name} has {lines} lines"


@pytest.mark.parametrize("name", ["utils", "helpers", "common", "manager", "misc"])
def test_no_drawer_for_everything(name):
    assert not [p for p in LIB.rglob(f"*{name}*.py")]
