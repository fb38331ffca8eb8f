"""`workbench class`: the predictions in many copies of a notebook; nothing is run."""

import ast
import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from workbench._base.errors import ArgumentError
from workbench_ops.cli.printing import columns

LARGEST = 50 * 1024**2  # bytes of a notebook that is read
LONGEST = 60  # characters of a guess that are shown


@dataclass(frozen=True)
class Guess:
    """A name of a prediction cell in one copy of a notebook; `wrong` says why its value is not a literal."""

    notebook: str
    name: str
    guess: Any
    wrong: str | None = None


def class_(
    notebooks: Annotated[list[str], typer.Argument(metavar="NOTEBOOKS", help="copies of a notebook, or folders")],
    as_json: Annotated[bool, typer.Option("--json", help="print one JSON document")] = False,
) -> None:
    """Read the predictions of a class, and run nothing (exit 1 where a copy cannot be read)."""
    guesses: list[Guess] = []
    damaged: list[str] = []
    for path in _paths(notebooks):
        try:
            guesses += _guesses(path)
        except ValueError as error:
            damaged.append(f"{path}: {error}")
    if as_json:
        document = {"guesses": [asdict(guess) for guess in guesses], "damaged": damaged}
        print(json.dumps(document, indent=1, ensure_ascii=False))
    else:
        _print(guesses)
        for line in damaged:
            print(f"cannot be read: {line}")
    raise typer.Exit(int(bool(damaged)))


def _paths(names: list[str]) -> Iterator[Path]:
    for name in names:
        path = Path(name)
        if path.is_dir():
            yield from sorted(path.rglob("*.ipynb"))
        elif path.is_file():
            yield path
        else:
            raise ArgumentError(f"{name} is neither a notebook nor a folder")


def _guesses(path: Path) -> Iterator[Guess]:
    """Yield the names and literals of a notebook's prediction cells, as they stand."""
    from workbench.predictions import TAG

    if path.stat().st_size > LARGEST:
        raise ValueError(f"it has more than {LARGEST:,} bytes")
    notebook = json.loads(path.read_text(encoding="utf-8"))
    cells = notebook.get("cells") if isinstance(notebook, dict) else None
    if not isinstance(cells, list):
        raise ValueError("it is not a notebook")
    for cell in cells:
        if cell.get("cell_type") == "code" and TAG in cell.get("metadata", {}).get("tags", ()):
            yield from _of_cell(str(path), "".join(cell.get("source", "")))


def _of_cell(notebook: str, source: str) -> Iterator[Guess]:
    try:
        statements = ast.parse(source).body
    except (SyntaxError, ValueError, RecursionError) as error:
        raise ValueError(f"a prediction cell is not Python: {error}") from None
    for statement in statements:
        targets = statement.targets if isinstance(statement, ast.Assign) else [getattr(statement, "target", None)]
        value = getattr(statement, "value", None)
        for target in targets:
            if isinstance(target, ast.Name) and value is not None:
                yield _guess(notebook, target.id, value)


def _guess(notebook: str, name: str, value: ast.expr) -> Guess:
    try:
        guess = ast.literal_eval(value)
        json.dumps(guess)
    except (ValueError, TypeError, RecursionError, MemoryError):
        return Guess(notebook, name, None, "not a literal")
    return Guess(notebook, name, guess)


def _print(guesses: list[Guess]) -> None:
    if not guesses:
        print("no prediction cells")
        return
    lines = [("PREDICTION", "GUESS", "NOTEBOOK")]
    for each in sorted(guesses, key=lambda each: (each.name, each.notebook)):
        text = each.wrong or ("no prediction" if each.guess is None else _shown(each.guess))
        lines.append((each.name, text, each.notebook))
    columns(lines)
    for name in sorted({each.name for each in guesses}):
        made = [each for each in guesses if each.name == name]
        count = sum(each.guess is not None for each in made)
        print(f"{name}: {count} of {len(made)} guessed")


def _shown(guess: object) -> str:
    text = repr(guess)
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"


globals()["class"] = class_  # the subcommand's name is no name of Python
