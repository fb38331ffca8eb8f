"""Every notebook keeps to the anatomy, the normal form and the budget of the house; none is listed by hand."""

import ast
import json
import re
import statistics
from pathlib import Path

import nbformat
import pytest
import yaml
from conftest import ROOT, execute

from workbench import session
from workbench_ops.run import notebook as notebooks
from workbench_ops.run import refresh as refreshing

NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))
each = pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
FORBIDDEN = re.compile(
    r"^\s*[%!]|datetime\.now|time\.time\(|perf_counter|monotonic\(|\bsys\.exit|raises-exception", re.M
)


def read(path):
    return nbformat.read(path, 4)


def code(nb):
    return [cell for cell in nb.cells if cell.cell_type == "code"]


def lines(cell):
    return [line for line in cell.source.splitlines() if line.strip()]


def outputs(nb):
    texts = []
    for cell in code(nb):
        for output in cell.outputs:
            texts.append(output.get("text") or "".join(output.get("data", {}).get("text/plain", "")))
    return "\n".join(texts)


def requirements(nb):
    """The calls of checks.require in a notebook, as syntax trees."""
    for cell in code(nb):
        for node in ast.walk(ast.parse(cell.source)):
            if isinstance(node, ast.Call) and ast.unparse(node.func) == "checks.require":
                yield node


def problems(nb):
    """What is wrong with a notebook's anatomy, in sentences."""
    cells = nb.cells
    title = cells[0].source if cells and cells[0].cell_type == "markdown" else ""
    if not re.match(r"# [A-Z][a-z]+ \S+", title):
        yield "the first cell is no title `# Verb the noun`"
    for word in ("Reads", "Writes", "Takes"):
        if not re.search(rf"^\*{word}\* ", title, re.M):
            yield f"the title cell has no line *{word}*"
    if not code(nb) or "parameters" not in code(nb)[0].metadata.get("tags", []):
        yield "the first code cell is not tagged parameters"
    elif next(iter(notebooks.parameters(nb)), None) != "ENVIRONMENT":
        yield "the first parameter is not ENVIRONMENT"
    if len(code(nb)) > 1 and (code(nb)[1].outputs or len(lines(code(nb)[1])) > 12):
        yield "the setup cell prints or has more than 12 lines"
    headings = [
        m for cell in cells if cell.cell_type == "markdown" for m in re.findall(r"^## (.+)$", cell.source, re.M)
    ]
    numbered = [heading for heading in headings if re.match(r"\d+ ", heading)]
    if [int(h.split()[0]) for h in numbered] != list(range(1, len(numbered) + 1)) or not 3 <= len(numbered) <= 8:
        yield f"sections are not numbered 1 to 3…8: {numbered}"
    rest = [heading for heading in headings if heading not in numbered]
    if rest[:2] != ["Check", "What we learned"] or rest[2:] not in ([], ["Exercises"]):
        yield f"after the sections come Check, What we learned and at most Exercises, found {rest}"
    last = next((h for h in headings[::-1] if h in numbered), "")
    if headings and rest and headings.index(last) > headings.index(rest[0]):
        yield "a section stands after Check"


def style_problems(nb):
    """What breaks the figures behind *readable*."""
    lengths = [len(lines(cell)) for cell in code(nb)]
    words = sum(len(cell.source.split()) for cell in nb.cells if cell.cell_type == "markdown")
    if len(lengths) > 25:
        yield f"{len(lengths)} code cells, at most 25"
    if max(lengths) > 20 or statistics.median(lengths) > 4 or statistics.quantiles(lengths, n=10)[-1] > 12:
        yield f"cells too long: median {statistics.median(lengths)}, longest {max(lengths)}"
    if words / sum(lengths) < 4:
        yield f"{words / sum(lengths):.1f} words of prose a line of code, never under 4"
    images = sum("image/png" in output.get("data", {}) for cell in code(nb) for output in cell.outputs)
    if images > 3:
        yield f"{images} figures, at most 3"


def check_problems(nb):
    """Checks that could not fail, or that stand under no name."""
    names = []
    for call in requirements(nb):
        if not (call.args and isinstance(call.args[0], ast.Constant) and len(call.args) == 3):
            yield f"`{ast.unparse(call)}` is not checks.require('name', found, expected)"
            continue
        names.append(call.args[0].value)
        found, expected = call.args[1:]
        names_in = [n for n in ast.walk(found) if isinstance(n, ast.Name | ast.Call)]
        if not names_in or ast.unparse(found) == ast.unparse(expected):
            yield f"{names[-1]}: the condition is a constant"
    if not names:
        yield "no check"
    if len(names) != len(set(names)):
        yield "two checks of one name"


@each
def test_anatomy(path):
    nb = read(path)
    assert [*problems(nb), *style_problems(nb), *check_problems(nb)] == []
    assert path.stat().st_size <= 200 * 1024


@each
def test_what_it_says_at_the_end_stands_in_an_output(path):
    nb = read(path)
    learned = next(cell.source for cell in nb.cells if "## What we learned" in cell.source).split("## Exercises")[
        0
    ]
    learned = re.sub(r"`[^`]*`", "", learned)
    assert len(re.findall(r"^- ", learned, re.M)) <= 5
    shown = set(re.findall(r"\d+(?:\.\d+)?", outputs(nb).replace(",", "")))
    claimed = re.findall(r"\d+(?:\.\d+)?", learned.replace(",", ""))
    assert [number for number in claimed if number not in shown] == []


@each
def test_every_cell_has_a_count_and_its_output_is_stored(path):
    nb = read(path)
    assert [cell.execution_count for cell in code(nb)] == list(range(1, len(code(nb)) + 1))
    for cell in code(nb):
        if re.search(r"^(show|plots|print|checks\.require)\b", cell.source, re.M):
            assert cell.outputs, f"cell {cell.execution_count} shows something, and nothing is stored"


@each
def test_normal_form(path):
    assert refreshing.normal(read(path)) == path.read_text(encoding="utf-8")


@each
def test_no_clock_no_magic_no_secret(path):
    for cell in code(read(path)):
        assert not FORBIDDEN.search(cell.source), cell.source
    text = path.read_text()
    assert str(ROOT) not in text and "AKIA" not in text


@each
def test_every_parameter_is_used(path):
    nb = read(path)
    used = {n.id for cell in code(nb)[1:] for n in ast.walk(ast.parse(cell.source)) if isinstance(n, ast.Name)}
    used |= set(re.findall(r"@(\w+)", "\n".join(cell.source for cell in code(nb)[1:])))
    assert set(notebooks.parameters(nb)) - used == set()


@each
def test_params_files_match_names_and_types(path):
    declared = notebooks.parameters(read(path))
    files = sorted((ROOT / "params" / path.stem).glob("*.yml"))
    assert "check" in [file.stem for file in files]
    for file in files:
        given = notebooks.values(declared, file=file)
        assert any(given[name] != declared[name].default for name in given), f"{file.name} changes nothing"


def test_no_params_for_a_notebook_that_is_not_there():
    folders = {p.name for p in (ROOT / "params").iterdir() if p.is_dir()} - {"environments", "engines", "targets"}
    assert folders == {path.stem for path in NOTEBOOKS}
    assert {path.stem for path in (ROOT / "tests" / "faults").glob("*.yml")} == {path.stem for path in NOTEBOOKS}


@each
def test_every_check_has_a_planted_fault(path):
    nb = read(path)
    faults = yaml.safe_load((ROOT / "tests" / "faults" / f"{path.stem}.yml").read_text())
    for fault in faults:
        source = code(nb)[fault["cell"] - 1].source
        assert source.count(fault["old"]) == 1, fault
    names = {call.args[0].value for call in requirements(nb)}
    assert {fault["check"] for fault in faults} == names


@each
@pytest.mark.parametrize("page", ["README.md", "docs/notebooks.md"])
def test_the_pages_list_it(path, page):
    rows = [line for line in (ROOT / page).read_text().splitlines() if line.startswith("|")]
    assert sum(f"`{path.stem}`" in row or f"[{path.stem}]" in row for row in rows) == 1


def test_the_readme_is_short():
    assert (ROOT / "README.md").stat().st_size <= 8 * 1024


def test_decades():
    assert all(re.fullmatch(r"\d\d_[a-z0-9_]+", path.stem) for path in NOTEBOOKS)


BOUNDS = "expected FILES from 70 in sevens, 80 ROWS a file or more, SEED from 0"


@pytest.mark.parametrize(
    "values",
    [{"ROWS": 3000, "FILES": 14}, {"FILES": 30}, {"ROWS": 5000, "FILES": 70}, {"SEED": -1}, {"SEED": 2**63}],
)
def test_values_that_make_its_sentences_untrue_are_refused_before_the_session(values, tmp_path, monkeypatch):
    """Of two micro-batches each partition has one file, and of few readings a file small ones are all footer."""
    monkeypatch.setattr(session, "start", lambda _: pytest.fail("a session was started"))
    stopped = execute(ROOT / "notebooks" / "40_compact_small_files.ipynb", tmp_path, parameters=values)
    given = {"ROWS": 75_000, "FILES": 105, "SEED": 1} | values
    assert isinstance(stopped, ValueError)
    assert str(stopped) == ", ".join(f"{name} {value}" for name, value in given.items()) + f": {BOUNDS}"


@pytest.mark.parametrize(
    ("name", "values", "sentence"),
    [
        ("16_secure_a_topic", {"MESSAGES": 99}, "MESSAGES 99: expected 100 or more"),
        (
            "22_race_writers",
            {"REPEAT": 0},
            "repeat must be an integer of at least 1, found 0",
        ),
        (
            "22_race_writers",
            {"ISOLATION": "serialisable"},
            "'serialisable' is not a known isolation (did you mean serializable?); there are serializable, snapshot, both",
        ),
        (
            "22_race_writers",
            {"ISOLATION": "read", "OPERATIONS": "append"},
            "'read' is not a known isolation; there are serializable, snapshot, both",
        ),
        (
            "22_race_writers",
            {"MODES": "v2"},
            "'v2' is not a known mode; there are copy-on-write, merge-on-read, v3",
        ),
        (
            "24_stream_while_compacting",
            {"BATCHES": 2},
            "BATCHES 2, ROWS_PER_BATCH 100: expected 3 batches or more, of a row or more",
        ),
        (
            "24_stream_while_compacting",
            {"ROWS_PER_BATCH": 0},
            "BATCHES 3, ROWS_PER_BATCH 0: expected 3 batches or more, of a row or more",
        ),
        (
            "90_benchmark_tpcds",
            {"QUERIES": "q100,"},
            "'q100' is not a query of the set (did you mean q10?); it has 103, q1 to q99",
        ),
        (
            "90_benchmark_tpcds",
            {"LAYOUT": "star"},
            "no layout 'star'; there are flat, published, ours, truncated, sorted, row_groups, whole_bounds",
        ),
        ("90_benchmark_tpcds", {"ROUNDS": 0}, "rounds is 0; expected a number from 1"),
        (
            "90_benchmark_tpcds",
            {"ENGINES": "spark42"},
            "no engine 'spark42' (did you mean spark41?); there are baseline, dbt, duckdb, sail, spark35, spark41, trino",
        ),
        (
            "33_move_to_iceberg",
            {"SOURCE": "lake/../orders"},
            "SOURCE is lake/../orders, expected an absolute path or s3://bucket/key: a notebook runs in a folder of its own",
        ),
        (
            "72_watch_a_run",
            {"ROWS": 1000},
            "ROWS 1000, SEED 1: expected ROWS divisible by 32 from 320, SEED from 0",
        ),
        (
            "73_mitigate_incidents",
            {"INCIDENTS": 3},
            "INCIDENTS 3, HEALTHY 5, SEED 1: expected INCIDENTS from 9, HEALTHY from 1 to 20, SEED from 0",
        ),
        ("33_move_to_iceberg", {"SOURCE": "/nowhere/orders"}, "there is no folder /nowhere/orders"),
        ("90_benchmark_tpcds", {"SCALE_FACTOR": 100.0}, "a scale factor is a number from 0.01 to 10, not 100.0"),
    ],
)
def test_values_it_can_do_nothing_with_are_refused_before_the_session(
    name, values, sentence, tmp_path, monkeypatch
):
    monkeypatch.setattr(session, "start", lambda _: pytest.fail("a session was started"))
    stopped = execute(ROOT / "notebooks" / f"{name}.ipynb", tmp_path, parameters=values)
    assert isinstance(stopped, ValueError) and str(stopped) == sentence


GOOD = NOTEBOOKS[0]


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (lambda nb: nb.cells.pop(0), "the first cell is no title"),
        (lambda nb: code(nb)[0].metadata.pop("tags"), "is not tagged parameters"),
        (lambda nb: nb.cells.pop(-1), "after the sections come Check"),
        (lambda nb: code(nb)[2].update(source="x = 1\n" * 21), "cells too long"),
        (lambda nb: code(nb)[3].update(source="checks.require('x', 1, 1)"), "the condition is a constant"),
        (lambda nb: code(nb)[3].update(source="checks.require('x', a, a)"), "the condition is a constant"),
        (lambda nb: code(nb)[3].update(source="checks.require(name, a, b)"), "is not checks.require"),
    ],
)
def test_a_broken_notebook_is_seen(change, sentence):
    nb = read(GOOD)
    change(nb)
    found = [*problems(nb), *style_problems(nb), *check_problems(nb)]
    assert any(sentence in problem for problem in found), found


def test_normal_form_is_strict(tmp_path):
    nb = json.loads(GOOD.read_text())
    nb["cells"][1]["metadata"] = {"collapsed": True}
    other = tmp_path / "x.ipynb"
    other.write_text(json.dumps(nb, indent=1, ensure_ascii=False) + "\n")
    assert refreshing.normal(read(other)) != other.read_text()
    assert Path(other).exists()
