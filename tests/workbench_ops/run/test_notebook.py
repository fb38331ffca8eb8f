"""Parameters are read off the notebook's own cell, and every value is checked before anything starts."""

import json

import nbformat
import pytest
from conftest import write_notebook

from workbench_ops.run import kernel
from workbench_ops.run import notebook as notebooks
from workbench_ops.run.notebook import Parameter, Refused

CELL = """\
ENVIRONMENT: str = "local"        # where it runs
ROWS: int = 10_000                # rows to make
SHARE: float = 0.5
FAST: bool = False  # skip the slow part
RUN_DATE: str = "2026-01-31"
OUT_PATH: str = ""
"""


@pytest.fixture
def declared(tmp_path):
    return notebooks.parameters(notebooks.read(write_notebook(tmp_path / "x.ipynb", parameters=CELL)))


def test_the_parameters_cell_is_read_without_running_it(declared):
    assert list(declared.values())[:4] == [
        Parameter("ENVIRONMENT", "str", "local", "where it runs"),
        Parameter("ROWS", "int", 10_000, "rows to make"),
        Parameter("SHARE", "float", 0.5, ""),
        Parameter("FAST", "bool", False, "skip the slow part"),
    ]


def test_a_users_notebook_without_annotations_or_without_the_cell(tmp_path):
    nb = notebooks.read(write_notebook(tmp_path / "x.ipynb", parameters='n = 3\nwords = ["a"]\nnothing = None'))
    assert {p.name: p.type for p in notebooks.parameters(nb).values()} == {
        "n": "int",
        "words": "list",
        "nothing": None,
    }
    assert notebooks.parameters(notebooks.read(write_notebook(tmp_path / "y.ipynb", "1"))) == {}


@pytest.mark.parametrize(
    ("cell", "sentence"),
    [
        ("A: str = 'x'\nB: str = A + '1'", r"parameter B is computed \(`A \+ '1'`\)"),
        ("import os", "the parameters cell holds `import os`"),
        ("A: str", "the parameters cell holds `A: str`"),
        ("A: str = (", "the parameters cell is not Python: line 1"),
    ],
)
def test_what_is_no_literal_is_refused(tmp_path, cell, sentence):
    nb = notebooks.read(write_notebook(tmp_path / "x.ipynb", parameters=cell))
    with pytest.raises(Refused, match=sentence):
        notebooks.parameters(nb)


@pytest.mark.parametrize(
    "default",
    ["{'AT', 'CH'}", "b'x'", "...", "1j", "1e309", "-1e309", "[{'a'}]", "{'a': {1, 2}}", "(b'x',)", "{(1, 2): 3}"],
)
def test_a_default_that_no_record_holds_is_refused(tmp_path, default):
    """A set ended in TypeError: not JSON serializable, and left a folder without a record."""
    nb = notebooks.read(write_notebook(tmp_path / "x.ipynb", parameters=f"A = 1\nCOUNTRIES = {default}"))
    with pytest.raises(Refused) as refusal:
        notebooks.parameters(nb)
    assert str(refusal.value) == (
        f"the default of parameter COUNTRIES is `{default}`, which no record of a run can hold; expected text, "
        "finite numbers, True, False, None, and lists, tuples and mappings of them"
    )


@pytest.mark.parametrize("default", ["(1, 5)", "[(1, 2), None]", "-1.5", "{'a': (1,)}", "''"])
def test_a_default_that_a_record_holds_is_taken(tmp_path, default):
    nb = notebooks.read(write_notebook(tmp_path / "x.ipynb", parameters=f"A = {default}"))
    assert repr(notebooks.parameters(nb)["A"].default) == default


def test_cells_without_ids_are_given_some_without_a_word(tmp_path, recwarn):
    path = write_notebook(tmp_path / "x.ipynb", "1")
    found = json.loads(path.read_text())
    for cell in found["cells"]:
        del cell["id"]
    path.write_text(json.dumps(found))
    assert all(cell.id for cell in notebooks.read(path).cells)
    assert notebooks.read(path) == notebooks.read(path)
    assert list(recwarn) == []
    del found["cells"][0]["source"]
    path.write_text(json.dumps(found))
    with pytest.raises(Refused, match="is not a notebook: cell 1 has no source"):
        notebooks.read(path)
    found["cells"][0] |= {"source": "1", "cell_type": "cod"}
    path.write_text(json.dumps(found))
    with pytest.raises(Refused, match="cell 1 has the type 'cod'; expected code, markdown, raw"):
        notebooks.read(path)
    path.write_text(json.dumps(found | {"nbformat_minor": "x"}))
    with pytest.raises(Refused, match="is not a notebook: "):
        notebooks.read(path)


@pytest.mark.parametrize("gone", ["outputs", "execution_count", "metadata", "id"])
@pytest.mark.parametrize("how", ["left away", "null"])
def test_what_tools_leave_away_is_filled_in(tmp_path, gone, how, caplog):
    path = write_notebook(tmp_path / "x.ipynb", "print(1)")
    whole, found = notebooks.read(path), json.loads(path.read_text())
    found["cells"][0].pop(gone) if how == "left away" else found["cells"][0].update({gone: None})
    found.pop("metadata" if gone == "metadata" else "nbformat_minor")
    path.write_text(json.dumps(found))
    bare = notebooks.read(path)
    assert {**bare.cells[0], "id": ""} == {**whole.cells[0], "id": ""}
    nbformat.validate(bare)
    assert caplog.text == ""


def test_file_and_overrides_by_the_declared_type(declared, tmp_path):
    file = tmp_path / "p.yml"
    file.write_text("ROWS: 5\nSHARE: 1\nRUN_DATE: 2026-02-01\n")
    given = notebooks.values(declared, file=file, overrides=["ROWS=007", "FAST=true", "RUN_DATE=3"])
    assert given == {"ROWS": 7, "SHARE": 1.0, "RUN_DATE": "3", "FAST": True}


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (
            "ROW=1",
            r"ROW is not a parameter of this notebook \(did you mean ROWS\?\); it has ENVIRONMENT, ROWS, SHARE",
        ),
        ("os.system('true')=1", "is not an identifier"),
        ("class=1", "is not an identifier"),
        ("ROWS", "--set takes NAME=VALUE, found 'ROWS'"),
        ("ROWS=many", r"ROWS takes an int, found 'many' \(str\)"),
        ("ROWS=1.5", "ROWS takes an int"),
        ("FAST=yes", r"FAST takes a bool \(true or false\)"),
        ("SHARE=nan", "SHARE takes a finite number"),
        ("OUT_PATH=a/../b", "OUT_PATH is a path with '..' or braces"),
        ("OUT_PATH={ROWS}", "OUT_PATH is a path with '..' or braces"),
        ("RUN_DATE=s3://b/{x}", "RUN_DATE is a path with '..' or braces"),
        ("RUN_DATE=AKIAABCDEFGHIJKLMNOP", "RUN_DATE holds an AWS access key id"),
        ("RUN_DATE=https://me:hush@host/", "RUN_DATE holds a URL with a password"),
    ],
)
def test_wrong_overrides_are_refused(declared, text, sentence):
    with pytest.raises(Refused, match=sentence) as caught:
        notebooks.values(declared, overrides=[text])
    assert "hush" not in str(caught.value)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("CITIES=Wien", r"CITIES takes a list \(\[a, b\]\), found 'Wien' \(str\)"),
        ("CITIES=5", "CITIES takes a list"),
        ("PRICES=[1]", r"PRICES takes a mapping \(\{a: 1\}\), found \[1\] \(list\)"),
        ("WORDS={a: 1}", "WORDS takes a list"),
    ],
)
def test_a_text_is_no_list_and_a_list_no_mapping(tmp_path, text, sentence):
    """Its letters were taken for the list, and a table was written of them."""
    cell = 'CITIES: list = ["Rom"]\nPRICES: dict = {"a": 1}\nWORDS: list[str] = ["a"]'
    declared = notebooks.parameters(notebooks.read(write_notebook(tmp_path / "x.ipynb", parameters=cell)))
    with pytest.raises(Refused, match=sentence):
        notebooks.values(declared, overrides=[text])
    right = notebooks.values(declared, overrides=['CITIES=[Wien, "Graz"]', "PRICES={b: 2}", "WORDS=[]"])
    assert right == {"CITIES": ["Wien", "Graz"], "PRICES": {"b": 2}, "WORDS": []}


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("ROWS: '5'", "ROWS takes an int, found '5'"),
        ("ROWS: true", r"ROWS takes an int, found True \(bool\)"),
        ("ROWS: null", "ROWS takes an int, found None"),
        ("- ROWS", "holds a list; a params file is flat"),
        ("ROWS: {a: 1}", "ROWS takes an int"),
        ("1: 2", "1 is not an identifier"),
        ("ROWS: 1\nROWS: 2", "ROWS is given twice"),
    ],
)
def test_wrong_files_are_refused(declared, tmp_path, text, sentence):
    file = tmp_path / "p.yml"
    file.write_text(text)
    with pytest.raises(Refused, match=sentence):
        notebooks.values(declared, file=file)


def test_a_missing_file_and_an_empty_one(declared, tmp_path):
    with pytest.raises(Refused, match="there is no params file nowhere.yml"):
        notebooks.values(declared, file="nowhere.yml")
    (tmp_path / "empty.yml").write_text("")
    assert notebooks.values(declared, file=tmp_path / "empty.yml") == {}


@pytest.mark.parametrize("text", ["2026-01-31", "2026-01-31 10:00:00", "2026-01-31T10:00:00.5Z"])
def test_a_time_is_the_same_text_by_file_and_by_set(tmp_path, text):
    """The file's 10:00:00 came as T10:00:00: another branch, another path than by --set."""
    cell = 'WHEN: str = ""\nDAYS: list = []\nANY = None'
    declared = notebooks.parameters(notebooks.read(write_notebook(tmp_path / "x.ipynb", parameters=cell)))
    file = tmp_path / "p.yml"
    file.write_text(f"WHEN: {text}\nDAYS: [{text}]\nANY: {text}\n")
    by_set = [f"WHEN={text}", f"DAYS=[{text}]", f"ANY={text}"]
    assert notebooks.values(declared, file=file) == {"WHEN": text, "DAYS": [text], "ANY": text}
    assert notebooks.values(declared, overrides=by_set) == notebooks.values(declared, file=file)


def test_text_with_braces_and_spaces_is_no_path(declared):
    rules = 'Rules = [ ColumnValues "a" matches "[0-9]{2}" ]'
    assert notebooks.values(declared, overrides=[f"RUN_DATE={rules}"]) == {"RUN_DATE": rules}


def test_environment_is_named_once(declared, tmp_path):
    assert notebooks.values(declared, environment="lake") == {"ENVIRONMENT": "lake"}
    with pytest.raises(Refused, match="--environment is lake, but the parameters say ENVIRONMENT=local; name one"):
        notebooks.values(declared, overrides=["ENVIRONMENT=local"], environment="lake")
    with pytest.raises(Refused, match="ENVIRONMENT is not a parameter"):
        notebooks.values({}, environment="lake")


def test_finding_a_notebook(project, tmp_path, monkeypatch):
    first = write_notebook(project / "notebooks" / "01_first.ipynb", "1")
    own = write_notebook(tmp_path / "elsewhere" / "own.ipynb", "1")
    monkeypatch.chdir(tmp_path)
    assert notebooks.find("01_first") == notebooks.find("01_first.ipynb") == first
    assert notebooks.find("elsewhere/own.ipynb") == own
    with pytest.raises(Refused, match=r"no notebook 01_frist \(did you mean 01_first\?\)"):
        notebooks.find("01_frist")
    with pytest.raises(Refused, match="braces in a path"):
        notebooks.find("{x}.ipynb")
    (tmp_path / "broken.ipynb").write_text("{")
    with pytest.raises(Refused, match="is not a notebook"):
        notebooks.read(tmp_path / "broken.ipynb")


@pytest.mark.parametrize(
    "text",
    [
        "[",
        "!!binary aGVs",
        "{a: !!set {b}}",
        "2026-02-30",
        "[.nan]",
        "010",
        "190:20:30",
        "{1: 2}",
        "{PASSWORD: hunter2}",
    ],
)
def test_odd_values_of_an_untyped_parameter_are_refused(tmp_path, text):
    declared = notebooks.parameters(notebooks.read(write_notebook(tmp_path / "x.ipynb", parameters="ANY = None")))
    with pytest.raises(Refused) as caught:
        notebooks.values(declared, overrides=[f"ANY={text}"])
    assert "hunter2" not in str(caught.value)
    assert notebooks.values(declared, overrides=["ANY={a: [1, x]}"]) == {"ANY": {"a": [1, "x"]}}


@pytest.mark.parametrize(
    "text", ["A: &a [*a]", "? [a]\n: 1", "A: !!timestamp x", "A: " + "[" * 3000, "A: 2026-13-41"]
)
def test_odd_files_are_refused(declared, tmp_path, text):
    file = tmp_path / "p.yml"
    file.write_text(text)
    with pytest.raises(Refused):
        notebooks.values(declared, file=file)


@pytest.mark.parametrize("cell", ["x = {[]: 1}", "N: int = 'text'", "a = b = 1", "PASSWORD: str = 'hunter2'"])
def test_odd_defaults_are_refused(tmp_path, cell):
    nb = notebooks.read(write_notebook(tmp_path / "x.ipynb", parameters=cell))
    with pytest.raises(Refused) as caught:
        notebooks.values(notebooks.parameters(nb))
    assert "hunter2" not in str(caught.value)


def test_a_notebook_that_cannot_run_is_refused(tmp_path):
    def refused(change):
        nb = notebooks.read(write_notebook(tmp_path / "x.ipynb", "1"))
        change(nb)
        with pytest.raises(Refused) as caught:
            notebooks.runnable(nb)
        return str(caught.value)

    assert refused(lambda nb: nb.cells.clear()) == "the notebook has no code to run"
    other = refused(lambda nb: nb.metadata.kernelspec.update(name="scala"))
    assert other.startswith("the notebook names the kernel 'scala'; installed are ")
    assert other.endswith("; open it in JupyterLab, choose one of them (Kernel, Change Kernel) and save it")
    assert "half a character" in refused(lambda nb: nb.cells[0].update(source="'\ud800'"))
    old = tmp_path / "old.ipynb"
    old.write_text('{"nbformat": 3, "nbformat_minor": 0, "metadata": {}, "worksheets": []}')
    with pytest.raises(Refused, match="its format is older than 4"):
        notebooks.read(old)


PYTHON = {"python3": "python"}


@pytest.mark.parametrize(
    ("metadata", "installed", "name"),
    [
        ({}, PYTHON, "python3"),
        ({"kernelspec": {}}, PYTHON, "python3"),
        ({"kernelspec": {"display_name": "Python"}, "language_info": {"name": "Python"}}, PYTHON, "python3"),
        ({"language_info": {"name": "python"}}, {"ir": "R", "spark35": "python"}, "spark35"),
        ({}, PYTHON | {"glue_pyspark": "python", "ir": "R"}, "python3"),
        ({"language_info": {"name": "R"}}, PYTHON | {"ir": "R"}, "ir"),
    ],
)
def test_a_notebook_that_names_no_kernel_runs_in_the_one_of_its_language(
    tmp_path, monkeypatch, metadata, installed, name
):
    nb = notebooks.read(write_notebook(tmp_path / "x.ipynb", "1"))
    nb.metadata = nbformat.from_dict(metadata)
    monkeypatch.setattr(kernel, "installed", lambda: installed)
    assert (kernel.named(nb), kernel.default(nb)) == (None, name)
    assert notebooks.runnable(nb) is None


@pytest.mark.parametrize(
    ("language", "installed", "sentence"),
    [
        (
            "scala",
            PYTHON,
            "the notebook names no kernel, and none of scala is installed (installed are python3); open",
        ),
        (
            "python",
            {},
            "the notebook names no kernel, and none of python is installed (installed are none); open it",
        ),
        (
            "python",
            {"b": "python", "a": "python"},
            "the notebook names no kernel, and of python there are a, b; open",
        ),
    ],
)
def test_where_no_kernel_or_several_fit_it_is_refused(tmp_path, monkeypatch, language, installed, sentence):
    nb = notebooks.read(write_notebook(tmp_path / "x.ipynb", "1"))
    nb.metadata = nbformat.from_dict({"language_info": {"name": language}})
    monkeypatch.setattr(kernel, "installed", lambda: installed)
    with pytest.raises(Refused) as refusal:
        notebooks.runnable(nb)
    assert str(refusal.value).startswith(sentence)
