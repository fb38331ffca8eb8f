"""Writing notebooks: executed in a fresh kernel, in normal form, byte for byte the same each time."""

import re
import uuid
from pathlib import Path

import nbformat

from workbench._base import files, settings
from workbench._base.errors import ArgumentError
from workbench_ops.run import kernel
from workbench_ops.run import notebook as notebooks

KERNEL = {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"}
NAME = re.compile(r"\d\d_[a-z][a-z0-9_]*")


def refresh(path: Path, *, timeout_seconds: int = 600) -> bool:
    """Execute a notebook top to bottom in a fresh kernel and store its outputs in normal form.

    Args:
        path: notebook file; replaced in one step, and only when every cell passed.
        timeout_seconds: bound on one cell.

    Returns:
        bool, whether the file changed.

    Raises:
        ArgumentError: a cell failed or wrote to stderr; the file is left as it was.
    """
    from nbclient import NotebookClient
    from nbclient.exceptions import CellExecutionError

    nb = notebooks.read(path)
    place = {"metadata": {"path": str(path.parent)}}
    try:
        with kernel.private(uuid.uuid4().hex) as config:
            NotebookClient(
                nb, timeout=timeout_seconds, kernel_name="python3", resources=place, config=config
            ).execute()
    except CellExecutionError as error:
        raise ArgumentError(f"{path.name} failed and was not refreshed: {error.ename}: {error.evalue}") from None
    text = normal(nb)
    changed = path.read_text(encoding="utf-8") != text
    if changed:
        with files.replacing(path) as new:
            new.write_text(text, encoding="utf-8")
    return changed


def normal(nb: nbformat.NotebookNode) -> str:
    """Return the text of an executed notebook in normal form.

    Kernelspec `python3`, cell metadata only tags, ids kept, execution counts 1…n, streams joined, no timing
    metadata, final newline.

    Raises:
        ArgumentError: a cell wrote to stderr, or holds an error output.
    """
    nb.metadata = nbformat.from_dict({"kernelspec": KERNEL, "language_info": {"name": "python"}})
    nb.nbformat, nb.nbformat_minor = 4, 5
    count = 0
    for cell in nb.cells:
        tags = cell.metadata.get("tags")
        cell.metadata = nbformat.from_dict({"tags": list(tags)} if tags else {})
        if cell.cell_type != "code":
            continue
        count += 1
        cell.execution_count = count
        cell.outputs = [_normal_output(cell, output, count) for output in _joined(cell.outputs)]
    return nbformat.writes(nb).rstrip("\n") + "\n"


def create(name: str) -> Path:
    """Copy the template notebook under a new name.

    Args:
        name: two digits, an underscore, lower case words: `25_find_duplicates`.

    Returns:
        Path of the new notebook, its outputs empty until it is refreshed.

    Raises:
        ArgumentError: the name is not of that form, or is taken.
    """
    if not NAME.fullmatch(name):
        raise ArgumentError(
            f"{name!r} is not a name for a notebook; expected two digits and words: 25_find_duplicates"
        )
    path = settings.home() / "notebooks" / f"{name}.ipynb"
    if path.exists():
        raise ArgumentError(f"{name} exists already")
    template = notebooks.read(_template())
    title = name[3:].replace("_", " ").capitalize()
    template.cells[0].source = re.sub(r"^# .*", f"# {title}", template.cells[0].source, count=1)
    for cell in template.cells:
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = [], None
    path.parent.mkdir(parents=True, exist_ok=True)
    nbformat.write(template, path)
    return path


def _template() -> Path:
    for folder in (settings.home() / "notebooks", Path(__file__).resolve().parents[3] / "notebooks"):
        if (folder / "00_template.ipynb").is_file():
            return folder / "00_template.ipynb"
    raise ArgumentError(f"there is no notebooks/00_template.ipynb in {settings.home()}")


def _joined(outputs: list[nbformat.NotebookNode]) -> list[nbformat.NotebookNode]:
    """Join consecutive pieces of one stream: where they were cut is chance."""
    joined: list[nbformat.NotebookNode] = []
    for output in outputs:
        if joined and output.output_type == "stream" == joined[-1].output_type and output.name == joined[-1].name:
            joined[-1].text += output.text
        else:
            joined.append(output)
    return joined


def _normal_output(
    cell: nbformat.NotebookNode, output: nbformat.NotebookNode, count: int
) -> nbformat.NotebookNode:
    first = cell.source.strip().splitlines()[0] if cell.source.strip() else ""
    if output.output_type == "error":
        raise ArgumentError(f"cell {count} ({first}) holds an error: {output.ename}")
    if output.output_type == "stream" and output.name == "stderr":
        raise ArgumentError(
            f"cell {count} ({first}) writes to stderr: {output.text.strip().splitlines()[0][:200]}"
        )
    if "execution_count" in output:
        output.execution_count = count
    return output
