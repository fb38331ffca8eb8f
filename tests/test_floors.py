"""The walls of the house: which package imports which, floors within `workbench`, and nothing happens at import."""

import ast
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
LIB = ROOT / "lib"
# what each package may import of the others, and the modules through which alone
WALLS = {
    "workbench": {"workbench_standins": {"workbench/session/services.py"}},
    "workbench_standins": {"workbench._base": None},
    "workbench_ops": {"workbench": None, "workbench_standins": None},
    "workbench_proofs": {"workbench": None, "workbench_standins": None},
}
# within `workbench`: rooms of a floor import those below, and of their own floor what stands here
FLOORS = (
    {"_base", "daemon"},
    {"verdicts", "records"},
    {"show", "plots", "checks", "results", "predictions", "errata", "costs"},
    {"session", "data", "tables", "engines"},
    {
        "wap",
        "quality",
        "history",
        "streams",
        "archive",
        "light",
        "anonymity",
        "access",
        "formats",
        "sql",
        "maps",
        "dbt",
        "pulls",
        "metrics",
    },
)
ALLOWED_ASIDE = {("checks", "results"), ("checks", "show"), ("plots", "show")}
PUBLIC = ("notebooks", "docs", "README.md")


def imported(path):
    """The dotted names that a module imports, functions' own imports included."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("workbench"):
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name.startswith("workbench"))


def within(name, package):
    return name == package or name.startswith(f"{package}.")


def wrong_arrows(lib=LIB):
    """Imports that a wall or a floor forbids."""
    for path in sorted(lib.rglob("*.py")):
        relative = path.relative_to(lib)
        for name in imported(path):
            if not (
                through_door(relative, name)
                if name.split(".")[0] != relative.parts[0]
                else downwards(relative, name)
            ):
                yield f"{relative} imports {name}"


def through_door(path, name):
    allowed = WALLS[path.parts[0]]
    return any(
        within(name, package) and (doors is None or str(path) in doors) for package, doors in allowed.items()
    )


def downwards(path, name):
    if path.parts[0] != "workbench" or len(path.parts) == 1:
        return True
    here, there = path.parts[1].removesuffix(".py"), name.split(".")[1] if "." in name else "__init__"
    if there in (here, "__init__", "__version__", "__file__"):
        return True
    if here == "__init__":
        return there == "_base"
    floors = [next((n for n, rooms in enumerate(FLOORS) if room in rooms), None) for room in (here, there)]
    assert None not in floors, f"{path} or what it imports, {name}, is on no floor"
    return floors[1] < floors[0] or (here, there) in ALLOWED_ASIDE


def test_imports_go_through_doors_and_downwards():
    assert list(wrong_arrows()) == []


@pytest.mark.parametrize(
    ("path", "code", "said"),
    [
        ("workbench/quality/x.py", "def f():\n    from workbench import wap\n", "workbench.wap"),
        ("workbench/show.py", "import workbench.session\n", "workbench.session"),
        ("workbench/records/x.py", "from workbench.streams import nulls\n", "workbench.streams.nulls"),
        ("workbench/maps/x.py", "from workbench.streams import nulls\n", "workbench.streams.nulls"),
        ("workbench/session/x.py", "from workbench_standins import s3\n", "workbench_standins.s3"),
        ("workbench/streams/x.py", "from workbench_proofs import x\n", "workbench_proofs.x"),
        ("workbench_standins/x.py", "from workbench import tables\n", "workbench.tables"),
        ("workbench_ops/x.py", "from workbench_proofs import tpcds\n", "workbench_proofs.tpcds"),
        ("workbench_proofs/x.py", "from workbench_ops.run import record\n", "workbench_ops.run.record"),
    ],
)
def test_a_wrong_arrow_is_seen(tmp_path, path, code, said):
    (tmp_path / path).parent.mkdir(parents=True)
    (tmp_path / path).write_text(code)
    assert list(wrong_arrows(tmp_path)) == [f"{path} imports {said}"]


def circles(lib=LIB):
    """Modules that import each other at their tops, which only their order of loading would keep from failing."""
    files = {
        ".".join(path.relative_to(lib).with_suffix("").parts).removesuffix(".__init__"): path
        for path in lib.rglob("*.py")
    }
    leads = {}
    for name, path in files.items():
        tops = [
            node for node in ast.parse(path.read_text(encoding="utf-8")).body if isinstance(node, ast.ImportFrom)
        ]
        names = {f"{node.module}.{alias.name}" for node in tops for alias in node.names}
        leads[name] = {one if one in files else one.rpartition(".")[0] for one in names} & set(files) - {name}
    while free := {name for name, others in leads.items() if not others & set(leads)}:
        leads = {name: others for name, others in leads.items() if name not in free}
    return sorted(leads)


def test_no_module_needs_itself():
    assert circles() == []


def test_a_circle_is_seen(tmp_path):
    for name, other in (("a", "b"), ("b", "c"), ("c", "a"), ("d", "a")):
        (tmp_path / f"{name}.py").write_text(f"from {other} import x\n")
    assert circles(tmp_path) == ["a", "b", "c", "d"]


def test_no_notebook_or_page_looks_behind_the_door():
    """`_base` is the library's own."""
    behind = re.compile(r"workbench\._base|from workbench import [^\n]*\b_base\b")
    seen = []
    for place in PUBLIC:
        paths = (
            [ROOT / place]
            if (ROOT / place).is_file()
            else [*(ROOT / place).glob("*.ipynb"), *(ROOT / place).glob("*.md")]
        )
        for path in paths:
            text = path.read_text(encoding="utf-8")
            if path.suffix == ".ipynb":
                text = "\n".join("".join(cell["source"]) for cell in json.loads(text)["cells"])
            seen += [f"{path.name}: {match[0]}" for match in behind.finditer(text)]
    assert seen == []


def test_run_starts_no_spark():
    for path in (LIB / "workbench_ops" / "run").glob("*.py"):
        rooms = {name.split(".")[1] for name in imported(path) if name.startswith("workbench.")}
        assert not {"tables", "data"} & rooms, path.name
        assert not [
            name for name in imported(path) if within(name, "workbench.session") and "services" not in name
        ], path.name


MODULES = sorted(
    ".".join(path.relative_to(LIB).with_suffix("").parts).removesuffix(".__init__") for path in LIB.rglob("*.py")
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


GENERATED = [*(LIB / "workbench" / "quality" / "dqdl").glob("DataQuality*.py")]  # by ANTLR
WRITTEN = sorted(set(LIB.rglob("*.py")) - set(GENERATED))


@pytest.mark.parametrize("path", WRITTEN, ids=lambda p: str(p.relative_to(LIB)))
def test_modules_and_functions_stay_small(path):
    """Less is better; a module of 400 lines can still be one thought, a larger one is several."""
    assert len(path.read_text().splitlines()) <= 400
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.FunctionDef):
            body = node.body[1:] if ast.get_docstring(node) else node.body
            lines = body[-1].end_lineno - body[0].lineno + 1 if body else 0
            assert lines <= 50, f"{node.name} has {lines} lines"


@pytest.mark.parametrize("name", ["utils", "helpers", "common", "manager", "misc"])
def test_no_drawer_for_everything(name):
    assert not [p for p in LIB.rglob(f"*{name}*.py")]
