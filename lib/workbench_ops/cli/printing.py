"""What the command prints: rows in columns, and paths as people type them."""

from collections.abc import Sequence
from pathlib import Path


def columns(lines: Sequence[Sequence[object]]) -> None:
    """Print rows of values in columns, whatever signs are in them."""
    texts = [[printable(str(value)) for value in line] for line in lines]
    widths = [max(len(line[i]) for line in texts) for i in range(len(texts[0]))]
    for line in texts:
        print("  ".join(text.ljust(width) for text, width in zip(line, widths, strict=True)).rstrip())


def printable(text: str) -> str:
    """Return a text as it can be printed: no line ends and nothing that a terminal would obey."""
    return "".join(sign if sign.isprintable() else sign.encode("unicode_escape").decode() for sign in text)


def from_here(path: Path | str) -> str:
    """Return a path as people type it: from the working folder where it is in there."""
    path, here = Path(path), Path.cwd()
    return str(path.relative_to(here)) if path.is_relative_to(here) else str(path)
