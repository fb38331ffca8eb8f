"""The text of a definition: JSON, with the line of each of its values."""

import bisect
import json
import math
import re
from dataclasses import dataclass, field
from typing import Any

Path = tuple[str | int, ...]  # keys and positions that lead to a value; () is the whole
_BLANK = re.compile(r"[ \t\n\r]*")
_HALF = re.compile("[\ud800-\udfff]")
_SCALAR = re.compile(r"true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?")


class NotJson(ValueError):
    """A text is not JSON; the message names line and reason."""

    def __init__(self, line: int, reason: str) -> None:
        super().__init__(f"line {line}: {reason}")
        self.line = line
        self.reason = reason


@dataclass(frozen=True)
class Text:
    """A JSON text that was read.

    Attributes:
        value: what it holds.
        lines: path of a value to the line, from 1, on which it begins; for a field, the line of its name.
        doubled: paths of fields that an object has twice.
    """

    value: Any
    lines: dict[Path, int] = field(repr=False)
    doubled: tuple[Path, ...] = ()

    def line(self, path: Path) -> int:
        """Return the line of a value, or that of the nearest value around it."""
        while path and path not in self.lines:
            path = path[:-1]
        return self.lines.get(path, 1)


def read(text: str) -> Text:
    """Read a JSON text.

    Raises:
        NotJson: it is not JSON.
    """
    reader = _Reader(text)
    try:
        value = reader.value((), reader.blank(0))
    except RecursionError:
        raise NotJson(1, "objects or arrays are nested too deeply") from None
    if reader.place != len(text):
        raise reader.wrong("something follows the first value")
    return Text(value, reader.lines, tuple(reader.doubled))


def spelled(path: Path) -> str:
    """Return a path as people write it: States.Read.Catch[0].Next."""
    text = ""
    for part in path:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else part
    return text or "the definition"


class _Reader:
    """Reads one text; `place` is how far it has read."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.place = 0
        self.lines: dict[Path, int] = {}
        self.doubled: list[Path] = []
        self.ends = [match.start() for match in re.finditer("\n", text)]

    def line(self) -> int:
        return bisect.bisect_left(self.ends, self.place) + 1

    def wrong(self, reason: str) -> NotJson:
        return NotJson(self.line(), reason)

    def blank(self, place: int) -> int:
        match = _BLANK.match(self.text, place)
        self.place = match.end() if match else place
        return self.place

    def value(self, path: Path, place: int) -> Any:
        self.place = place
        self.lines.setdefault(path, self.line())
        start = self.text[place : place + 1]
        if start == "{":
            return self._object(path)
        if start == "[":
            return self._array(path)
        if start == '"':
            text = self._string()
            self.blank(self.place)
            return text
        match = _SCALAR.match(self.text, place)
        if match is None:
            raise self.wrong(f"{start!r} where a value is expected" if start else "the text ends too early")
        self.blank(match.end())
        try:
            value = json.loads(match[0])
        except ValueError as error:  # a number of thousands of digits
            raise self.wrong(f"a number cannot be read: {error}") from None
        if isinstance(value, float) and not math.isfinite(value):
            raise self.wrong(f"the number {match[0]} is larger than any that is held")
        return value

    def _string(self) -> str:
        try:
            text, self.place = json.decoder.scanstring(self.text, self.place + 1, True)  # type: ignore[attr-defined]
        except json.JSONDecodeError as error:
            self.place = error.pos
            raise self.wrong(error.msg) from None
        if not text.isascii() and _HALF.search(text):
            raise self.wrong("a text has half a character, which no UTF-8 holds")
        return str(text)

    def _object(self, path: Path) -> dict[str, Any]:
        fields: dict[str, Any] = {}
        self.blank(self.place + 1)
        while not self._next("}", bool(fields)):
            if self.text[self.place : self.place + 1] != '"':
                raise self.wrong("the name of a field, in double quotes, is expected")
            line = self.line()
            name = self._string()
            if name in fields:
                self.doubled.append((*path, name))
            self.lines[(*path, name)] = line
            if self.text[self.blank(self.place) : self.place + 1] != ":":
                raise self.wrong(f"a colon is expected behind {name!r}")
            fields[name] = self.value((*path, name), self.blank(self.place + 1))
        return fields

    def _array(self, path: Path) -> list[Any]:
        values: list[Any] = []
        self.blank(self.place + 1)
        while not self._next("]", bool(values)):
            values.append(self.value((*path, len(values)), self.place))
        return values

    def _next(self, end: str, more: bool) -> bool:
        """Go to the next value of an object or array; say whether it has ended."""
        sign = self.text[self.place : self.place + 1]
        if sign == end:
            self.blank(self.place + 1)
            return True
        if more:
            if sign != ",":
                raise self.wrong(f"a comma or {end} is expected")
            self.blank(self.place + 1)
        return False
