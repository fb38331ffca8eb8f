"""The Glue Studio variant of a notebook: magics first, Glue's session taken, parameters put in, outputs gone.

And what it needs on this machine: a kernel, under the name of Glue's, and the wheel.
"""

import ast
import copy
import json
import os
import sys
import tempfile
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from workbench._base import java
from workbench._base.door import checked
from workbench_ops.export import cells as code
from workbench_ops.export import magics
from workbench_ops.export.sessions import Session

KERNEL: dict[str, dict[str, str]] = {
    "kernelspec": {"display_name": "Glue PySpark", "language": "python", "name": "glue_pyspark"}
}
LANGUAGE = {
    "language_info": {
        "codemirror_mode": {"name": "python", "version": 3}, "file_extension": ".py", "mimetype": "text/x-python",
        "name": "Python_Glue_Session", "pygments_lexer": "python3",
    }
}  # fmt: skip


@checked
def variant(
    notebook: code.NotebookNode, session: Session, given: Mapping[str, Any] | None = None
) -> code.NotebookNode:
    """Return the Glue Studio variant of a notebook.

    Args:
        notebook: as it was read; it is not changed.
        session: how the session is started.
        given: parameters of the run, name to value, where they are not the defaults.

    Returns:
        NotebookNode: three cells of ours (line magics, %%configure, Glue's session), tagged `glue`; then all cells
        of the notebook, of which only the parameters cell has other text. No outputs, no counts.
    """
    import nbformat  # here: a kernel like Glue's has none of the tools for notebooks

    exported = nbformat.v4.new_notebook(metadata=KERNEL | LANGUAGE)
    texts = (session.line_magics(), session.configure_magic(), session.begin())
    for number, text in enumerate(texts, 1):
        tags = {"tags": [code.EXPORTED]}
        exported.cells.append(nbformat.v4.new_code_cell(text, id=f"glue-{number}", metadata=tags))
    notebook = copy.deepcopy(notebook)
    own = code.parameters_cell(notebook)
    for number, cell in enumerate(notebook.cells, 1):
        cell.setdefault("id", f"cell-{number}")  # before format 4.5 there are none
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = [], None
        if own is not None and cell is own:
            cell.source = with_values(cell.source, given or {})
        exported.cells.append(cell)
    exported.nbformat_minor = max(exported.nbformat_minor, notebook.nbformat_minor)
    nbformat.validate(exported)
    return exported


def with_values(source: str, given: Mapping[str, Any]) -> str:
    """Return the text of a parameters cell in which the given names have other literals; all else stays."""
    return with_texts(source, {name: literal(value) for name, value in given.items()})


def with_texts(source: str, texts: Mapping[str, str]) -> str:
    """Return the text of a parameters cell in which the given names have other expressions; all else stays."""
    lines = magics.lines_of(source)
    for name, old in reversed(list(assigned(source))):
        if name in texts:
            end = old.end_lineno or old.lineno
            first, last = lines[old.lineno - 1].encode(), lines[end - 1].encode()  # columns count bytes
            text = first[: old.col_offset].decode() + texts[name] + last[old.end_col_offset :].decode()
            lines[old.lineno - 1 : end] = [text]
    return "\n".join(lines)


def assigned(source: str) -> Iterator[tuple[str, ast.expr]]:
    """Yield (name, expression) of the assignments at the top of a source, in order."""
    for node in ast.parse(source).body:
        if isinstance(node, ast.Assign):
            target: ast.expr = node.targets[0]
        elif isinstance(node, ast.AnnAssign | ast.AugAssign):
            target = node.target
        else:
            continue
        if isinstance(target, ast.Name) and node.value is not None:
            yield target.id, node.value


def literal(value: Any) -> str:
    """Return a value as Python text, texts in double quotes as the house writes them."""
    text = repr(value)
    if isinstance(value, str) and text[0] == "'" and '"' not in text:
        return f'"{text[1:-1]}"'.replace("\\'", "'")
    return text


@contextmanager
def installed(built: Path, python: Path | str = sys.executable) -> Iterator[None]:
    """Let Jupyter find the kernel under the name of Glue's while the context is open.

    Args:
        built: path of the wheel; unpacked into a folder of its own, the only library that the kernel sees.
        python: interpreter of the kernel, with the Spark of the Glue version that is asked for.

    Raises:
        ArgumentError: there is no Java.
    """
    with tempfile.TemporaryDirectory(prefix="workbench-glue-") as folder:
        site = Path(folder) / "site"
        with zipfile.ZipFile(built) as packed:
            packed.extractall(site)
        name = KERNEL["kernelspec"]["name"]
        spec = Path(folder) / "kernels" / name / "kernel.json"
        spec.parent.mkdir(parents=True)
        spec.write_text(json.dumps(_spec(site, python)), encoding="utf-8")
        before = os.environ.get("JUPYTER_PATH")
        os.environ["JUPYTER_PATH"] = os.pathsep.join(filter(None, (folder, before)))
        try:
            yield
        finally:
            os.environ.pop("JUPYTER_PATH")
            if before is not None:
                os.environ["JUPYTER_PATH"] = before


def _spec(site: Path, python: Path | str) -> dict[str, Any]:
    alone = {"PYTHONPATH": str(site), "PYTHONSAFEPATH": "1", "WORKBENCH_GLUE_SITE": str(site)}
    alone["JAVA_HOME"] = str(java.find().parent.parent)  # a Java that pip installed is in our environment only
    return {
        "argv": [str(python), "-m", "workbench_ops.export.kernel", "-f", "{connection_file}"],
        "display_name": "like Glue PySpark, on this machine",
        "language": "python",
        "env": alone | {"MPLBACKEND": "agg"},  # the session draws, and nothing shows it
    }
