"""Why a definition does not run: the reasons, each with its place in the file."""

from dataclasses import dataclass
from pathlib import Path

from workbench._base.errors import ArgumentError
from workbench.maps import texts


@dataclass(frozen=True, order=True)
class Reason:
    """Why a definition does not run.

    Attributes:
        line: of the file, from 1.
        place: path within the definition, as in States.Read.Catch[0].Next.
        sentence: what is wrong there, and what was expected.
    """

    line: int
    place: str
    sentence: str

    def __str__(self) -> str:
        return f"line {self.line}: {self.place} {self.sentence}"


class DefinitionRefused(ArgumentError):
    """A definition does not run here, for the reasons that it has, in the order of their lines; nothing was done.

    Attributes:
        reasons: Reason each.
    """

    def __init__(self, file: Path | str, reasons: tuple[Reason, ...]) -> None:
        count = "one reason" if len(reasons) == 1 else f"{len(reasons)} reasons"
        super().__init__(
            f"{file} does not run here, for {count}:\n" + "\n".join(f"  {reason}" for reason in reasons)
        )
        self.reasons = reasons


class Gathered:
    """Gathers reasons while a definition is checked.

    Attributes:
        text: the definition's, which knows the lines.
        reasons: path and sentence of each.
    """

    def __init__(self, text: texts.Text) -> None:
        self.text = text
        self.reasons: list[tuple[texts.Path, str]] = []

    def add(self, path: texts.Path, sentence: str) -> None:
        """Note that something is wrong at a place."""
        if (path, sentence) not in self.reasons:
            self.reasons.append((path, sentence))

    def sorted(self) -> tuple[Reason, ...]:
        """Return the reasons, in the order of their lines."""
        return tuple(
            sorted(Reason(self.text.line(path), texts.spelled(path), sentence) for path, sentence in self.reasons)
        )
