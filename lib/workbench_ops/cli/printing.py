"""What the command prints: rows in columns, and paths as people type them."""

from collections.abc import Sequence
from pathlib import Path


def columns(lines: Sequence[Sequence[object]]) -> None:
    """Print rows of values in columns."""
    widths = [max(len(str(line[i])) for line in lines) for i in range(len(lines[0]))]
    for line in lines:
        print("  ".join(str(value).ljust(width) for value, width in zip(line, widths, strict=True)).rstrip())


def from_here(path: Path | str) -> str:
    """Return a path as people type it: from the working folder where it is in there."""
    path, here = Path(path), Path.cwd()
    return str(path.relative_to(here)) if path.is_relative_to(here) else str(path)
