"""A notebook as a job: where it is, which parameters it declares, which values it accepts."""

import ast
import io
import json
import keyword
import math
import re
import tokenize
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import nbformat

from workbench._base import secrets, settings, strict, yaml_files
from workbench._base.errors import ArgumentError
from workbench_ops.run import kernel as kernels

CELL_TYPES = ("code", "markdown", "raw")
TYPES: dict[str, type[Any]] = {"str": str, "int": int, "float": float, "bool": bool, "list": list, "dict": dict}
PATH_NAME = re.compile(r"(^|_)(PATH|DIR|FOLDER|FILE|PREFIX|LOCATION|URI|URL)$", re.IGNORECASE)


class Refused(ArgumentError):
    """A run is refused before a kernel starts; the message says what was wrong and what is expected."""


@dataclass(frozen=True)
class Parameter:
    """One line of a notebook's parameters cell; `type` is a name of TYPES, or None where none is declared."""

    name: str
    type: str | None
    default: Any
    help: str = ""


def find(named: Path | str) -> Path:
    """Return the path of a notebook: a name in notebooks/, or a path.

    Raises:
        Refused: there is none; the message lists those there are.
    """
    if re.search(r"[{}]", str(named)):
        raise Refused(f"{named}: braces in a path are not accepted (papermill would fill them in)")
    for path in (
        Path(named),
        settings.home() / "notebooks" / f"{Path(named).name.removesuffix('.ipynb')}.ipynb",
    ):
        if path.suffix == ".ipynb" and path.is_file() and (path == Path(named) or "/" not in str(named)):
            return path.resolve()
    names = [path.stem for path in every()]
    close = strict.nearest(str(named), names)
    raise Refused(
        f"no notebook {named}{f' (did you mean {close}?)' if close else ''}; "
        f"{settings.home().name}/notebooks has {', '.join(names) or 'none'}"
    )


def every() -> list[Path]:
    """Return the paths of the project's notebooks, sorted by name."""
    return sorted((settings.home() / "notebooks").glob("*.ipynb"))


def read(path: Path | str) -> nbformat.NotebookNode:
    """Read a notebook.

    Raises:
        Refused: the file is not a notebook of format 4.
    """
    try:
        document = json.loads(Path(path).read_text(encoding="utf-8"))
        if document.get("nbformat", 0) < 4:
            raise ArgumentError("its format is older than 4; open it in JupyterLab and save it")
        _complete(document)
        return nbformat.reads(json.dumps(document), as_version=4)
    except Exception as error:  # nbformat raises a dozen kinds for a file that is not a notebook
        wrong = (str(error).splitlines() or [""])[0][:200] or type(error).__name__
        raise Refused(f"{path} is not a notebook: {wrong}") from None


def _complete(document: dict[str, Any]) -> None:
    """Fill in what the format requires and some tools that write or strip notebooks leave out.

    A cell without an id is given one, as nbformat would warn and draw a new one each time. A cell without a source
    or a type is refused.
    """
    document["nbformat_minor"] = document.get("nbformat_minor", 5)
    document["metadata"] = document.get("metadata") or {}
    for number, cell in enumerate(document["cells"], 1):
        if not isinstance(cell.get("source"), str | list):
            raise ArgumentError(f"cell {number} has no source")
        if cell.get("cell_type") not in CELL_TYPES:
            raise ArgumentError(
                f"cell {number} has the type {cell.get('cell_type')!r}; expected {', '.join(CELL_TYPES)}"
            )
        cell["metadata"] = cell.get("metadata") or {}
        if cell["cell_type"] == "code":
            cell["outputs"] = cell.get("outputs") or []
            cell["execution_count"] = cell.get("execution_count")
        if document["nbformat_minor"] >= 5:
            cell["id"] = cell.get("id") or f"cell-{number}"


def runnable(notebook: nbformat.NotebookNode, *, kernel: str | None = None) -> None:
    """Validate that a notebook can run: it has code, its text is Unicode, and its kernel is installed.

    Args:
        notebook: as `read` returned it.
        kernel: name of the kernel that it is to run in; None for the notebook's own.

    Raises:
        Refused: with what is wrong.
    """
    if not any(cell.cell_type == "code" and cell.source.strip() for cell in notebook.cells):
        raise Refused("the notebook has no code to run")
    try:
        kernels.require(notebook, kernel)
    except ValueError as error:
        raise Refused(str(error)) from None
    try:
        nbformat.writes(notebook).encode("utf-8")
    except UnicodeEncodeError:
        raise Refused("the notebook holds half a character (a lone surrogate)") from None


def parameters(notebook: nbformat.NotebookNode) -> dict[str, Parameter]:
    """Return the parameters a notebook declares: name to Parameter, in the order of its parameters cell.

    Raises:
        Refused: the cell holds anything but literals, one a line.
    """
    cell = next((c for c in notebook.cells if "parameters" in (c.metadata.get("tags") or [])), None)
    if cell is None or cell.cell_type != "code":
        return {}
    try:
        tree = ast.parse(cell.source)
    except SyntaxError as error:
        raise Refused(f"the parameters cell is not Python: line {error.lineno}: {error.msg}") from None
    helps = _comments(cell.source)
    return {p.name: p for p in (_declared(node, helps) for node in tree.body) if p}


def headings(notebook: nbformat.NotebookNode) -> list[str]:
    """Return for each cell the heading it stands under (text without #), empty before the first."""
    above, current = [], ""
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            titles = re.findall(r"^#{1,2} +(.+?) *#*$", cell.source, re.MULTILINE)
            current = titles[-1] if titles else current
        above.append(current)
    return above


def values(
    declared: Mapping[str, Parameter],
    *,
    file: Path | str | None = None,
    overrides: Iterable[str] = (),
    environment: str | None = None,
) -> dict[str, Any]:
    """Combine the values of a run and validate each of them against the notebook's own cell.

    Args:
        declared: what `parameters` returned.
        file: params file of flat names and values, or None.
        overrides: texts `NAME=VALUE`, parsed by the declared type.
        environment: value for ENVIRONMENT, or None.

    Returns:
        dict, name to value, of the given values.

    Raises:
        Refused: a name is unknown or not an identifier, a value has another type, looks like a secret or leads out
            of its folder, a file is missing, or two values for ENVIRONMENT contradict.
    """
    given = {name: _typed(declared, name, value) for name, value in _from_file(file).items()}
    for text in overrides:
        name, equals, value = text.partition("=")
        if not equals:
            raise Refused(f"--set takes NAME=VALUE, found {text!r}")
        given[name] = _typed(declared, name, _parsed(declared, name, value))
    if environment is not None:
        if given.get("ENVIRONMENT", environment) != environment:
            other = given["ENVIRONMENT"]
            raise Refused(f"--environment is {environment}, but the parameters say ENVIRONMENT={other}; name one")
        given["ENVIRONMENT"] = _typed(declared, "ENVIRONMENT", environment)
    for name, parameter in declared.items():
        if name not in given and (kind := secrets.kind(name, parameter.default)):
            raise Refused(
                f"the default of {name} holds {kind}; a secret goes into the environment: env:NAME refers to it"
            )
    return given


def _from_file(file: Path | str | None) -> dict[str, Any]:
    if file is None:
        return {}
    if not Path(file).is_file():
        raise Refused(f"there is no params file {file}")
    try:
        content = yaml_files.read(file)
    except ValueError as error:
        raise Refused(str(error)) from None
    if content is None:
        return {}
    if not isinstance(content, dict):
        raise Refused(f"{file} holds a {type(content).__name__}; a params file is flat: names and values")
    return content


def _typed(declared: Mapping[str, Parameter], name: Any, value: Any) -> Any:
    """Return the value as the notebook's type, where the notebook has such a parameter."""
    if not isinstance(name, str) or not name.isidentifier() or keyword.iskeyword(name):
        raise Refused(
            f"{name!r} is not an identifier, so it cannot be a parameter (papermill pastes names as code)"
        )
    if name not in declared:
        close = strict.nearest(name, declared)
        raise Refused(
            f"{name} is not a parameter of this notebook{f' (did you mean {close}?)' if close else ''}; "
            f"it has {', '.join(declared) or 'none'}"
        )
    kind = declared[name].type
    if kind == "float" and type(value) is int and abs(value) < 2**53:
        value = float(value)
    if kind and type(value) is not TYPES[kind]:
        raise Refused(f"{name} takes {_article(kind)}, found {value!r} ({type(value).__name__})")
    if isinstance(value, float) and not math.isfinite(value):
        raise Refused(f"{name} takes a finite number, found {value!r}")
    _plain_value(name, value)
    return value


def _plain_value(name: str, value: Any) -> None:
    """Validate that a value can be pasted as a literal, and is not a secret or a path that leads elsewhere."""
    if not _recordable(value):
        raise Refused(f"{name} takes text, finite numbers, booleans, and lists and mappings of them")
    if isinstance(value, str):
        _safe_text(name, value)
    for key, item in value.items() if isinstance(value, dict) else ():
        if not isinstance(key, str):
            raise Refused(f"{name} holds a mapping with the key {key!r}; keys are text")
        _plain_value(key, item)
    for item in value if isinstance(value, list) else ():
        _plain_value(name, item)


def _recordable(value: Any) -> bool:
    """Say whether a value can be written to a run's record, which is JSON: a set, bytes or infinity cannot."""
    try:
        json.dumps(value, allow_nan=False).encode()
    except (TypeError, ValueError, RecursionError):
        return False
    return True


def _safe_text(name: str, value: str) -> None:
    if kind := secrets.kind(name, value):
        raise Refused(f"{name} holds {kind}; a secret goes into the environment, and env:NAME refers to it")
    is_path = PATH_NAME.search(name) or ("/" in value and not re.search(r"\s", value))
    if is_path and (re.search(r"(^|[/\\])\.\.([/\\]|$)", value) or re.search(r"[{}]", value)):
        raise Refused(f"{name} is a path with '..' or braces ({value!r}); give the path itself")
    if "\0" in value:
        raise Refused(f"{name} holds a NUL character")


def _parsed(declared: Mapping[str, Parameter], name: str, text: str) -> Any:
    """Parse the text of --set by the declared type; where none is declared, as YAML would."""
    kind = declared[name].type if name in declared else "str"
    if kind == "str":
        return text
    if kind == "bool":
        return {"true": True, "false": False}.get(text.lower(), text)
    if kind == "int" or kind == "float":
        try:
            return TYPES[kind](text)
        except ValueError:
            return text
    try:
        return yaml_files.read_text(text, f"--set {name}")
    except ValueError as error:
        raise Refused(str(error)) from None


def _declared(node: ast.stmt, helps: Mapping[int, str]) -> Parameter | None:
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
        return None  # a docstring
    targets = [node.target] if isinstance(node, ast.AnnAssign) else getattr(node, "targets", [])
    target = targets[0] if len(targets) == 1 else None
    value = node.value if isinstance(node, ast.Assign | ast.AnnAssign) else None
    if not isinstance(target, ast.Name) or value is None:
        raise Refused(f"the parameters cell holds `{ast.unparse(node)}`; expected NAME: type = literal")
    try:
        default = ast.literal_eval(value)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        raise Refused(
            f"parameter {target.id} is computed (`{ast.unparse(value)}`); expected a literal, because an "
            "injected value would not reach it"
        ) from None
    if not _recordable(default):
        raise Refused(
            f"the default of parameter {target.id} is `{ast.unparse(value)[:80]}`, which no record of a run "
            "can hold; expected text, finite numbers, True, False, None, and lists, tuples and mappings of them"
        )
    kind = ast.unparse(node.annotation) if isinstance(node, ast.AnnAssign) else type(default).__name__
    kind = kind.partition("[")[0]  # of list[str] the list
    fits = type(default) is TYPES.get(kind, type(default)) or (kind == "float" and type(default) is int)
    if not fits:
        raise Refused(f"parameter {target.id} is declared {kind}, but its default is {default!r}")
    return Parameter(target.id, kind if kind in TYPES else None, default, helps.get(node.lineno, ""))


def _comments(source: str) -> dict[int, str]:
    tokens = tokenize.generate_tokens(io.StringIO(source).readline)
    return {t.start[0]: t.string.lstrip("# ").strip() for t in tokens if t.type == tokenize.COMMENT}


def _article(kind: str) -> str:
    words = {
        "int": "an int", "bool": "a bool (true or false)", "list": "a list ([a, b])", "dict": "a mapping ({a: 1})",
    }  # fmt: skip
    return words.get(kind, f"a {kind}")
