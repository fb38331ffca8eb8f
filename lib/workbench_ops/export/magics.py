"""Magics of the Glue kernel: which exist, which of a cell's lines the kernel takes for itself, what remains.

The rules are those of the published kernel (aws-glue-sessions 1.0.9): it reads a cell from the top, takes lines
that begin with % or !, passes over comments and blank lines, and stops at the first line of code. What stands
below goes to the session as it is. A cell magic takes all that follows; by AWS's documentation, a whole cell.
"""

import ast
import re
import warnings
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

# what the kernel knows: https://docs.aws.amazon.com/glue/latest/dg/interactive-sessions-magics.html
SESSION = (
    "additional_python_modules", "connections", "endpoint", "etl", "extra_jars", "extra_py_files", "glue_version",
    "iam_role", "idle_timeout", "number_of_workers", "profile", "region", "security_config", "session_id_prefix",
    "session_type", "spark_conf", "streaming", "timeout", "worker_type", "configure", "assume_role", "tags",
)  # fmt: skip
TAKEN_OVER = ("additional_python_modules", "extra_py_files")  # into the first cells of an exported notebook
ANY_TIME = ("help", "list_sessions", "reconnect", "session_id", "status", "stop_session", "sql")
AFTER_CODE = ("matplot", "plotly")  # these the session itself takes, at the end of a cell
_Marked = tuple[int, str, list[str]]
ASSIGNED = re.compile(r"^\s*[\w., ]+=\s*[%!]")


@dataclass(frozen=True)
class Magic:
    """A magic or shell line of a cell.

    Attributes:
        line: of the cell, from 1.
        name: without %; `!` for a shell line.
        value: the rest of the line; for a cell magic all the following lines.
        at_top: whether the kernel takes it: nothing but magics, comments and blank lines is above it.
        whole_cell: whether it begins with %%.
    """

    line: int
    name: str
    value: str
    at_top: bool
    whole_cell: bool = False


def split(source: str) -> tuple[tuple[Magic, ...], str | None]:
    """Return a cell's magics and its Python, in which a magic's lines are blank so that numbers of lines stay.

    Python's parser decides what is Python: a line that begins with % is a magic only where the parser stops at it,
    or below it, in what follows a cell magic: an apostrophe in SQL begins a text for the parser.

    Returns:
        (magics, source); the source is None where what remains is not Python.
    """
    lines = lines_of(source)
    marked: list[_Marked] = []
    for _ in range(len(lines) + 1):
        try:
            parse("\n".join(lines))
            break
        except SyntaxError as error:
            at = _cell_magic(lines, (error.lineno or 1) - 1)
            text = lines[at] if at < len(lines) else ""
            if not (text.lstrip().startswith(("%", "!")) or ASSIGNED.match(text)):
                return tuple(_placed(marked, source)), None
            whole = text.startswith("%%")
            marked.append((at, text, lines[at + 1 :] if whole else []))
            for number in range(at, len(lines) if whole else at + 1):
                lines[number] = ""
    return tuple(_placed(marked, source)), "\n".join(lines)


def parse(source: str) -> ast.Module:
    """Return the tree of a source, without Python's warnings, which come when the cell runs.

    Raises:
        SyntaxError: it is not Python by itself, such as an await outside of functions, which IPython takes.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        compile(source, "<cell>", "exec", dont_inherit=True)
        return ast.parse(source)


def lines_of(source: str) -> list[str]:
    """Return the lines of a source as Python counts them; other ends of lines may be inside its texts."""
    return re.split(r"\r\n?|\n", source.removesuffix("\n"))


def _cell_magic(lines: Sequence[str], at: int) -> int:
    """Return the index of the cell magic in whose body the parser stopped, or the index where it stopped."""
    for number, line in enumerate(lines[:at]):
        if line.startswith("%%"):
            try:
                parse("\n".join(lines[:number]))
            except SyntaxError:
                continue  # it is inside a text of several lines
            return number
    return at


def _placed(marked: Iterable[_Marked], source: str) -> Iterator[Magic]:
    """Yield the magics of the marked lines, in order, each with its place."""
    taken, top = {at for at, _, _ in marked}, 0
    for at, text in enumerate(lines_of(source)):
        if not (text == "" or text.startswith("#") or (at in taken and text[0] in "%!")):
            break
        top = at + 1
    for at, text, body in sorted(marked):
        _, mark, rest = re.split(r"(%%?|!)", text, maxsplit=1)
        name, _, value = rest.strip().partition(" ")
        shell, whole = mark == "!", mark == "%%"
        value = rest if shell else "\n".join(body) if whole else value
        yield Magic(at + 1, "!" if shell else name, value.strip(), at < top, whole)


def requirements(magics: Iterable[Magic]) -> dict[str, str]:
    """Return what magics install in the session: import name or distribution, in lower case with _, to its text.

    The texts are those of %additional_python_modules and %extra_py_files: `x==1.2`, `x`, or a file.
    """
    texts = [
        text.strip(" '\"")
        for magic in magics
        if magic.name in TAKEN_OVER
        for text in magic.value.strip("[]").split(",")
    ]
    return {_named(text): text for text in texts if text}


def pinned(requirement: str) -> bool:
    """Say whether a text of %additional_python_modules or %extra_py_files names one version, or one file."""
    return "==" in requirement or requirement.endswith((".whl", ".zip", ".py"))


def _named(text: str) -> str:
    """Return the name of a requirement, of a wheel (`name-version-…`), of a zip or a module."""
    name = text.rpartition("/")[2]
    if name.endswith((".whl", ".zip", ".py")):
        name = name.rpartition(".")[0].partition("-")[0]
    return re.split(r"[=<>!~\[ ]", name)[0].lower().replace("-", "_")
