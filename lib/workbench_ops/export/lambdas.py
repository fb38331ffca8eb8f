"""A function of AWS Lambda from a notebook's cells or a module: its zip, beside what deploying it takes."""

import ast
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from workbench._base.errors import ArgumentError
from workbench.light import functions

TAG = "lambda"  # of a notebook's cells that are the function
HANDLER = "handler"
TIMEOUT_SECONDS, MEMORY_MB = 60, 1024


@dataclass(frozen=True)
class Exported:
    """A function that can be deployed.

    Attributes:
        package: its zip.
        handler: module.function, as Lambda names it.
    """

    package: functions.Package
    handler: str

    def steps(self, name: str) -> list[list[str]]:
        """Return the commands by which AWS takes it: words of each.

        Args:
            name: of the function; what is yours stands in them as YOUR-….
        """
        return [
            ["aws", "s3", "cp", str(self.package.path), f"s3://YOUR-BUCKET/{name}.zip"],
            [
                "aws", "lambda", "create-function", "--function-name", name, "--runtime", self.package.runtime,
                "--architectures", self.package.architecture, "--handler", self.handler, "--role", "YOUR-ROLE",
                "--code", f"S3Bucket=YOUR-BUCKET,S3Key={name}.zip", "--timeout", str(TIMEOUT_SECONDS),
                "--memory-size", str(MEMORY_MB),
            ],
            [
                "aws", "lambda", "create-event-source-mapping", "--function-name", name, "--event-source-arn",
                "YOUR-QUEUE", "--function-response-types", "ReportBatchItemFailures", "--batch-size", "10",
                "--scaling-config", "MaximumConcurrency=8",
            ],
        ]  # fmt: skip


def cells(notebook: Any, name: str) -> str:
    """Return the function of a notebook: the code of its cells with the tag `lambda`, in order.

    Args:
        notebook: nbformat's node.
        name: of the notebook, for messages.

    Raises:
        ValueError: no cell has the tag, or the code does not make a handler.
    """
    tagged = [
        cell.source for cell in notebook.cells if cell.cell_type == "code" and TAG in cell.metadata.get("tags", [])
    ]
    if not tagged:
        raise ArgumentError(f"no cell of {name} has the tag {TAG}: it marks those that are the function")
    code = "\n\n\n".join(source.strip() for source in tagged) + "\n"
    _check(code, name)
    return code


def of_module(path: Path, zip_path: Path, **options: Any) -> Exported:
    """Write the zip of a module: a file alone, or a folder with `app.py` in it.

    Args:
        path: of the file or folder.
        zip_path: of the zip.
        options: of `light.functions.package`.

    Raises:
        ValueError: there is no such module, it makes no handler, or the zip would be too large.
    """
    module = path / "app.py" if path.is_dir() else path
    if module.suffix != ".py" or not module.is_file():
        raise ArgumentError(f"{path} is not a module: expected a .py file, or a folder with app.py in it")
    code = module.read_text(encoding="utf-8")
    _check(code, str(path))
    if path.is_dir():
        return Exported(functions.package(path, zip_path, **options), f"app.{HANDLER}")
    return of_code(code, module.stem, zip_path, **options)


def of_code(code: str, name: str, zip_path: Path, **options: Any) -> Exported:
    """Write the zip of a text of Python.

    Args:
        code: of the module, which makes `handler`.
        name: of the module.
        zip_path: of the zip.
        options: of `light.functions.package`.

    Raises:
        ValueError: the name is not a module's, or the zip would be too large.
    """
    if not name.isidentifier():
        raise ArgumentError(
            f"{name!r} is not the name of a module, which Lambda imports; give the file another one"
        )
    folder = Path(tempfile.mkdtemp(prefix="workbench-lambda-"))
    try:
        (folder / f"{name}.py").write_text(code, encoding="utf-8")
        return Exported(functions.package(folder, zip_path, **options), f"{name}.{HANDLER}")
    finally:
        shutil.rmtree(folder)


def _check(code: str, name: str) -> None:
    """Refuse code that does not make a handler at its top level."""
    try:
        names = set(_names(ast.parse(code).body))
    except SyntaxError as error:
        raise ArgumentError(f"{name} is not Python alone, line {error.lineno}: {error.msg}") from None
    if HANDLER not in names:
        raise ArgumentError(f"{name} makes no {HANDLER}; it makes {', '.join(sorted(names)) or 'nothing'}")


def _names(body: Sequence[ast.stmt]) -> Iterator[str]:
    for node in body:
        if isinstance(node, ast.FunctionDef):
            yield node.name
        elif isinstance(node, ast.Assign):
            yield from (target.id for target in node.targets if isinstance(target, ast.Name))
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            yield node.target.id
