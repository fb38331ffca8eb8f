"""The job script: it compiles, has the code in order, and reads its parameters as getResolvedOptions gives them."""

import argparse
import re
import sys
import types

import nbformat
import pytest
from conftest import ROOT
from export_cases import declared, made, session

from workbench_ops import export
from workbench_ops.run import notebook as notebooks

OURS = [path.stem for path in sorted((ROOT / "notebooks").glob("*.ipynb"))]
PARAMETERS = """ENVIRONMENT: str = "local"  # where
ROWS: int = 1_000  # how many
ROWS_PER_BATCH: int = 10
SHARE: float = 0.5
EARLY: bool = False
DAYS: list = ["Mon"]"""


def resolved(prefixes):
    """AWS's published getResolvedOptions (awslabs/aws-glue-libs, awsglue/utils.py), as far as scripts see it.

    A stand-in, because awsglue needs Glue's own jars: argparse with an option for each name asked for, all of them
    required, unknown words passed over, texts returned, errors raised and not printed. Until Glue 5.1 the beginning
    of a name counts as the name (`prefixes`), in 6.0 it does not.
    """

    class Parser(argparse.ArgumentParser):
        def error(self, message):
            raise ValueError(f"GlueArgumentError: {message}")

    def get(args, options):
        parser = Parser(allow_abbrev=prefixes)
        for reserved in ("job-bookmark-option", "JOB_ID", "JOB_RUN_ID", "SECURITY_CONFIGURATION", "TempDir"):
            if reserved in options:
                raise RuntimeError(f"Using reserved arguments {reserved}")
            parser.add_argument(f"--{reserved}")
        for option in options:
            parser.add_argument(f"--{option}", required=True)
        return vars(parser.parse_known_args(args[1:])[0])

    return get


def parameters(script, words, monkeypatch, *, prefixes):
    """Run the part of a script that reads its parameters; returns its variables."""
    module = types.ModuleType("awsglue.utils")
    module.getResolvedOptions = resolved(prefixes)
    monkeypatch.setitem(sys.modules, "awsglue", types.ModuleType("awsglue"))
    monkeypatch.setitem(sys.modules, "awsglue.utils", module)
    monkeypatch.setattr(sys, "argv", ["script.py", *words])
    part = re.split(r"^# %% cell \d+\n", script, flags=re.M)[1]
    exec(compile(part, "parameters", "exec"), found := {})
    return {name: value for name, value in found.items() if name.isupper()}


def script(notebook, **options):
    return export.script(notebook, session(notebook), declared=declared(notebook), name="mine", **options)


DEFAULTS = {
    "ENVIRONMENT": "local",
    "ROWS": 1000,
    "ROWS_PER_BATCH": 10,
    "SHARE": 0.5,
    "EARLY": False,
    "DAYS": ["Mon"],
}
GLUES_OWN = [
    "--JOB_NAME",
    "x",
    "--job-bookmark-option",
    "job-bookmark-disable",
    "--TempDir",
    "s3://b/t",
    "--enable-metrics",
    "true",
]


@pytest.mark.parametrize("prefixes", [True, False], ids=["5.1", "6.0"])
@pytest.mark.parametrize(
    ("words", "changed"),
    [
        ([], {}),
        (GLUES_OWN, {}),
        (["--ROWS", "5", *GLUES_OWN], {"ROWS": 5}),
        (["--ROWS_PER_BATCH", "7", "--ROWS", "5"], {"ROWS": 5, "ROWS_PER_BATCH": 7}),
        (["--ROW", "5"], {}),  # the beginning of two names, and no name
        (["--SHAR", "5", "--EARLY=true"], {"EARLY": True}),  # the beginning of one, which argparse would take
        (["--ROWS", "-5", "--SHARE", "2", "--DAYS", '["Tue", 1]'], {"ROWS": -5, "SHARE": 2.0, "DAYS": ["Tue", 1]}),
        (["--ENVIRONMENT", "", "--EARLY", "FALSE"], {"ENVIRONMENT": ""}),
        (["--ENVIRONMENT", "--ROWS"], {"ENVIRONMENT": "--ROWS"}),
        (["--ROWS", "1", "--ROWS", "2"], {"ROWS": 2}),
    ],
)  # fmt: skip
def test_arguments_become_parameters_of_their_types(words, changed, prefixes, monkeypatch):
    found = parameters(script(made(parameters=PARAMETERS)), words, monkeypatch, prefixes=prefixes)
    assert found == DEFAULTS | changed
    assert {name: type(value) for name, value in found.items()} == {
        name: type(value) for name, value in DEFAULTS.items()
    }


@pytest.mark.parametrize(
    ("words", "words_of_error"),
    [
        (["--ROWS", "many"], "--ROWS takes int, found 'many'"),
        (["--ROWS", "1.5"], "--ROWS takes int, found '1.5'"),
        (["--SHARE", "nan"], "--SHARE takes float, found 'nan'"),
        (["--EARLY", "yes"], "--EARLY takes bool, found 'yes'"),
        (["--DAYS", "Tue"], "--DAYS takes list, found 'Tue'"),
        (["--DAYS", '"Tue"'], "--DAYS takes list, found '\"Tue\"'"),
        (["--DAYS", "[1e999]"], "--DAYS takes list, found '[1e999]'"),
        (["--DAYS", "[" * 100_000], "--DAYS takes list, found '[[["),
        (["--DAYS", "[NaN]"], "--DAYS takes list, found '[NaN]'"),
    ],
)
def test_arguments_of_another_type_are_refused(words, words_of_error, monkeypatch):
    with pytest.raises(ValueError, match=re.escape(words_of_error)):
        parameters(script(made(parameters=PARAMETERS)), words, monkeypatch, prefixes=False)


def test_given_values_are_the_defaults_of_the_script(monkeypatch):
    text = script(made(parameters=PARAMETERS), given={"ROWS": 3, "ENVIRONMENT": "aws-glue"})
    found = parameters(text, ["--SHARE", "1"], monkeypatch, prefixes=True)
    assert found == DEFAULTS | {"ROWS": 3, "ENVIRONMENT": "aws-glue", "SHARE": 1.0}
    assert 'ROWS: int = _argument("ROWS", 3)  # how many' in text


def test_texts_with_characters_that_end_lines_elsewhere_arrive_as_they_are(monkeypatch):
    odd = "a\u2028b\x0cc\x85"
    notebook = made(f"x = '{odd}'", parameters=f'NOTE: str = "{odd}"\nROWS: int = 1')
    assert parameters(script(notebook), [], monkeypatch, prefixes=False) == {"NOTE": odd, "ROWS": 1}
    text = script(notebook, given={"ROWS": 2})
    assert parameters(text, ["--NOTE", odd], monkeypatch, prefixes=False) == {"NOTE": odd, "ROWS": 2}
    assert f"\nx = '{odd}'\n" in text


def test_a_name_that_goes_over_lines_stays_in_its_comment():
    notebook = made("x = 1")
    text = export.script(notebook, session(notebook), declared=[], name="mine\nraise SystemExit")
    assert text.startswith("# The notebook mine raise SystemExit as a job")


@pytest.mark.parametrize("name", OURS)
def test_each_of_our_notebooks_becomes_a_script_with_its_code_in_order(name):
    notebook = notebooks.read(ROOT / "notebooks" / f"{name}.ipynb")
    text = script(notebook)
    compile(text, name, "exec")
    code = [cell for cell in notebook.cells if cell.cell_type == "code" and cell.source.strip()]
    others = [cell.source for cell in code if "parameters" not in (cell.metadata.get("tags") or [])]
    parts = re.split(r"^# %% cell \d+\n", text, flags=re.M)[2:]
    assert len(parts) == len(others) and all(
        part.startswith(f"{own}\n") for part, own in zip(parts, others, strict=True)
    )
    words = [line for cell in notebook.cells if cell.cell_type == "markdown" for line in cell.source.splitlines()]
    assert all(f"\n# {line}".rstrip() + "\n" in text for line in words)


def test_markdown_and_magics_become_comments():
    notebook = made("%idle_timeout 5\nx = 1", "%%sql\n\nSELECT 1\nAS it", parameters="N: int = 1")
    text = script(notebook)
    assert text.endswith("# %% cell 2\n# %idle_timeout 5\nx = 1\n\n# %% cell 3\n# %%sql\n#\n# SELECT 1\n# AS it\n")
    assert "#   --datalake-formats" not in text and "\n# --datalake-formats: iceberg\n" in text


def test_the_first_cell_with_the_tag_has_the_parameters_as_in_a_run(monkeypatch):
    notebook = made("%time 1\nROWS = ROWS + 1", parameters="ROWS: int = 1")
    notebook.cells[1].metadata.tags = ["parameters"]  # papermill takes the first, this one is code
    text = script(notebook, given={"ROWS": 5})
    assert parameters(text, ["--ROWS", "7"], monkeypatch, prefixes=False) == {"ROWS": 7}
    assert text.endswith("# %% cell 2\n# %time 1\nROWS = ROWS + 1\n")
    assert export.variant(notebook, session(notebook), {"ROWS": 5}).cells[4].source == notebook.cells[1].source


def test_markdown_with_the_tag_has_none():
    notebook = made("x = 1")
    notebook.cells.insert(0, nbformat.v4.new_markdown_cell("It's **here**", metadata={"tags": ["parameters"]}))
    assert script(notebook).endswith("\n# It's **here**\n\n# %% cell 1\nx = 1\n")
    assert export.variant(notebook, session(notebook)).cells[3].source == "It's **here**"


def test_what_is_no_script_is_refused():
    for name in ("JOB_NAME", "mode"):
        wrong = f"Glue keeps the name {name} for itself; rename that parameter of mine"
        with pytest.raises(ValueError, match=wrong):
            script(made(parameters=f'{name}: str = "x"'))
    with pytest.raises(ValueError, match="mine: cell 1 is not Python"):
        script(made("x = = 1"))
    with pytest.raises(
        ValueError, match="mine cannot be a script: from __future__ imports must occur at the beginning"
    ):
        script(made("from __future__ import annotations"))
