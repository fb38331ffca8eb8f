"""The job script of a notebook: the code of its cells in order, its parameters by getResolvedOptions."""

import ast
from collections.abc import Iterable, Mapping
from typing import Any

from workbench._base.door import checked
from workbench._base.errors import ArgumentError
from workbench_ops.export import cells as code
from workbench_ops.export import magics, sessions, studio, wheel

UNDECLARED = "json"  # the type of a parameter that declares none: any JSON
# names that Glue keeps for itself: awsglue.utils.getResolvedOptions, what argparse makes of -h, and by
# https://docs.aws.amazon.com/glue/latest/dg/aws-glue-programming-etl-glue-arguments.html what it sets itself
RESERVED = (
    "JOB_ID", "JOB_NAME", "JOB_RUN_ID", "RedshiftTempDir", "SECURITY_CONFIGURATION", "TempDir", "conf", "debug",
    "endpoint", "h", "help", "mode", "scriptLocation",
)  # fmt: skip
OF_JOBS = {  # magics that a job has in another place
    "connections": "Connections", "iam_role": "IAM role", "security_config": "Security configuration",
    "timeout": "Job timeout, minutes", "extra_jars": "--extra-jars",
}  # fmt: skip
READ = '''
import json
import math
import sys

from awsglue.utils import getResolvedOptions

# getResolvedOptions wants every name that it is asked for, gives texts, and before Glue 6.0 takes the beginning of
# a name for the whole one: so it is asked for what is there, and sees nothing else
_declared = {declared}
_given, _rest = {{}}, sys.argv[1:]
while _rest:
    _name, _equals, _value = _rest.pop(0).partition("=")
    if _name[:2] == "--" and _name[2:] in _declared:
        _given[_name[2:]] = _value if _equals or not _rest else _rest.pop(0)
_words = [f"--{{_name}}={{_value}}" for _name, _value in _given.items()]
_texts = getResolvedOptions([sys.argv[0], *_words], list(_given))


def _argument(name, default):
    """Return a parameter: the job's argument as its type, else the notebook's value."""
    if name not in _given:
        return default
    kind, text = _declared[name], _texts[name]
    try:
        if kind == "bool":
            return {{"true": True, "false": False}}[text.lower()]
        if kind in ("list", "dict", "{undeclared}"):
            value = json.loads(text, parse_constant=int)  # which refuses NaN and Infinity
            json.dumps(value, allow_nan=False)  # 1e999 is infinite, too
            if kind not in (type(value).__name__, "{undeclared}"):
                raise ValueError(text)
            return value
        value = {{"int": int, "float": float, "str": str}}[kind](text)
        if kind == "float" and not math.isfinite(value):
            raise ValueError(text)
        return value
    except (KeyError, ValueError, RecursionError):
        raise ValueError(f"--{{name}} takes {{kind}}, found {{text!r}}") from None
'''


@checked
def script(
    notebook: code.NotebookNode,
    session: sessions.Session,
    *,
    declared: Iterable[code.Parameter],
    given: Mapping[str, Any] | None = None,
    name: str = "notebook",
) -> str:
    """Return the job script of a notebook.

    Args:
        notebook: as it was read.
        session: how the session is started.
        declared: the notebook's parameters.
        given: parameters of the run, name to value: they become the script's defaults.
        name: of the notebook.

    Returns:
        The text of a Python module that compiles.

    Raises:
        ArgumentError: a parameter has a name that Glue keeps for itself, or a cell is not Python by itself.
    """
    kinds = {parameter.name: parameter.type or UNDECLARED for parameter in declared}
    if taken := [known for known in kinds if known in RESERVED]:
        raise ArgumentError(f"Glue keeps the name {taken[0]} for itself; rename that parameter of {name}")
    parts, number, own = [_head(session, name), session.begin() + "\n"], 0, code.parameters_cell(notebook)
    for cell in notebook.cells:
        if cell.cell_type != "code":
            parts.append(_comment(cell.source))
        elif cell.source.strip():
            number += 1
            source, is_own = cell.source, cell is own
            text = _parameters(source, kinds, given or {}) if is_own else _code(source, name, number)
            parts.append(f"# %% cell {number}\n{text}\n")
    text = "\n".join(parts)
    try:
        compile(text, f"{name}.py", "exec")
    except SyntaxError as error:
        raise ArgumentError(f"{name} cannot be a script: {error.msg}: {(error.text or '').strip()}") from None
    return text


def _head(session: sessions.Session, name: str) -> str:
    needs = "\n".join(f"# {key}: {value}" for key, value in _settings(session).items())
    title = " ".join(name.split())  # a file's name may go over lines
    return (
        f"# The notebook {title} as a job for AWS Glue {session.glue.name}, written by `workbench export`:\n"
        f"# change the notebook, not this.\n# {session.price()}\n"
        f"# Before the first run: aws s3 cp {wheel.name()} {session.packages[0]}\n#\n# The job needs:\n{needs}\n"
    )


def _settings(session: sessions.Session) -> dict[str, str]:
    return {
        "Glue version": session.glue.name,
        "Worker type, number of workers": f"{session.worker}, {session.workers}",
        **{title: session.lines[name] for name, title in OF_JOBS.items() if name in session.lines},
        "--additional-python-modules": ",".join(session.packages),
        **session.arguments(),
    }


def _parameters(source: str, kinds: Mapping[str, str], given: Mapping[str, Any]) -> str:
    """Return the parameters cell with each value read from the job's arguments."""
    source = studio.with_values(source, given)
    calls = {}
    for name, value in studio.assigned(source):
        if name in kinds:
            calls[name] = f'_argument("{name}", {ast.get_source_segment(source, value)})'
    pairs = ", ".join(f'"{name}": "{kind}"' for name, kind in kinds.items())
    return (
        READ.format(declared=f"{{{pairs}}}", undeclared=UNDECLARED).strip()
        + "\n\n\n"
        + studio.with_texts(source, calls)
    )


def _code(source: str, name: str, number: int) -> str:
    """Return a cell's Python; magics become comments, since a job has its settings elsewhere."""
    lines_taken, python = magics.split(source)
    if python is None:
        raise ArgumentError(f"{name}: cell {number} is not Python, so it cannot be in a script")
    lines, original = magics.lines_of(python), magics.lines_of(source)
    for magic in lines_taken:
        taken = slice(magic.line - 1, None if magic.whole_cell else magic.line)
        lines[taken] = [f"# {line}".rstrip() for line in original[taken]]
    return "\n".join(lines)


def _comment(source: str) -> str:
    return "\n".join(f"# {line}".rstrip() for line in source.splitlines()) + "\n"
