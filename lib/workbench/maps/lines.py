"""Text files as Step Functions reads them: CSV with a header, JSON Lines; items in order, each with its row."""

import re
from collections.abc import Iterable, Iterator
from typing import Any

from workbench.maps import jsons

_NO_UTF8 = re.compile("[\udc80-\udcff]")  # as "surrogateescape" decodes what is not UTF-8
DELIMITERS = {"COMMA": ",", "PIPE": "|", "SEMICOLON": ";", "SPACE": " ", "TAB": "\t"}


class Unreadable(ValueError):
    """A record of a file cannot be read; the item fails."""


class Unclosed(ValueError):
    """A quote is never closed: nobody knows where the records end that follow it.

    Attributes:
        line: on which it was opened, from 1.
    """

    def __init__(self, line: int) -> None:
        super().__init__(f"the quote that line {line} opens is never closed")
        self.line = line


def split(text: str, delimiter: str) -> list[str]:
    """Return the fields of a CSV record.

    A field that begins with a double quote ends with one, and may hold delimiters, line ends, and quotes written
    twice; so may any other hold quotes written twice. A backslash stands before a backslash, a quote or the
    delimiter, and is taken away before anything else.

    Raises:
        Unreadable: a quote stands alone within a field, or something follows the one that ends it.
    """
    if '"' not in text and "\\" not in text:
        return text.split(delimiter)
    fields: list[str] = []
    field: list[str] = []
    for kind, signs in _signs(text, delimiter):
        if kind == _END:
            fields.append("".join(field))
            field = []
        elif kind == _WRONG:
            raise Unreadable(f"a quote stands alone in field {len(fields) + 1}: write it twice")
        else:
            field.append(signs)
    return [*fields, "".join(field)]


_TEXT, _END, _OPENED, _CLOSED, _WRONG = "text", "end", "opened", "closed", "wrong"


def _signs(text: str, delimiter: str, quoted: bool = False) -> Iterator[tuple[str, str]]:
    """Yield what a CSV text is made of: parts of fields, their ends, quotes that open and close, and wrong ones.

    Args:
        text: a record, or a line of one.
        delimiter: of fields.
        quoted: whether the text begins within quotes.
    """
    begins, closed, place = not quoted, False, 0
    while place < len(text):
        sign, behind = text[place], text[place + 1 : place + 2]
        place += 1
        if sign == delimiter and not quoted:
            begins, closed = True, False
            yield _END, ""
            continue
        if closed:
            closed = False
            yield _WRONG, sign
        if sign == "\\":
            if behind in ("\\", '"', delimiter):
                place += 1
                yield _TEXT, behind
        elif sign == '"' and quoted and behind != '"':
            quoted, closed = False, True
            yield _CLOSED, ""
        elif (
            sign == '"'
            and begins
            and not (behind == '"' and text[place + 1 : place + 2] not in ("", delimiter, '"'))
        ):
            quoted = True
            yield _OPENED, ""
        elif sign == '"' and behind == '"':
            place += 1
            yield _TEXT, sign
        elif sign == '"':
            yield _WRONG, sign
        else:
            yield _TEXT, sign
        begins = False


def records(lines: Iterable[str], delimiter: str) -> Iterator[str]:
    """Yield the CSV records of a file's lines: a line each, or several where a quoted field goes on.

    Raises:
        Unclosed: after the last whole record, where a quote is never closed.
    """
    pending: list[str] = []
    quoted, opened = False, 0
    for number, line in enumerate(lines, 1):
        text = line.removeprefix("\ufeff") if number == 1 else line
        pending.append(text)
        quoted = _open(text, delimiter, quoted) if quoted or '"' in text else False
        if quoted and len(pending) == 1:
            opened = number
        if not quoted:
            yield "\n".join(pending).removesuffix("\r")
            pending = []
    if pending:
        raise Unclosed(opened)


def _open(text: str, delimiter: str, quoted: bool) -> bool:
    """Say whether a text ends within quotes."""
    for kind, _ in _signs(text, delimiter, quoted):
        if kind in (_OPENED, _CLOSED):
            quoted = kind == _OPENED
    return quoted


def csv_items(lines: Iterable[str], headers: list[str] | None, delimiter: str) -> Iterator[Any]:
    """Yield the items of a CSV file: every value a text; missing ones are empty, others more are left out.

    Unreadable is in the place of one that cannot be read, and of each where the header is wrong.

    Args:
        lines: the file's, without their line ends.
        headers: names of the columns; None takes the first record for them.
        delimiter: one character.

    Raises:
        Unclosed: after the last whole record, where a quote is never closed.
    """
    wrong: Unreadable | None = None
    for record in records(lines, delimiter):
        if not record:
            continue
        values = _fields(record, delimiter)
        if headers is None:
            headers = values if isinstance(values, list) else []
            wrong = _wrong_header(values)
        elif wrong or isinstance(values, Unreadable):
            yield wrong or values
        else:
            values += [""] * (len(headers) - len(values))
            yield dict(zip(headers, values, strict=False))


def _fields(record: str, delimiter: str) -> list[str] | Unreadable:
    """Return the fields of a record, or why it cannot be read."""
    try:
        return _unreadable(record) or split(record, delimiter)
    except Unreadable as error:
        return error


def _wrong_header(values: list[str] | Unreadable) -> Unreadable | None:
    """Return why no record of a file can be read, by its header; None where they can."""
    if isinstance(values, Unreadable):
        return Unreadable(f"the header cannot be read: {values}")
    repeated = next((name for place, name in enumerate(values) if name in values[:place]), None)
    return None if repeated is None else Unreadable(f"the header names {repeated!r} twice")


def json_items(lines: Iterable[str]) -> Iterator[Any]:
    """Yield the items of a file of JSON lines; Unreadable in the place of one that is not JSON."""
    for number, line in enumerate(lines):
        text = line.strip().removeprefix("\ufeff") if number == 0 else line.strip()
        if not text:
            continue
        if unreadable := _unreadable(text):
            yield unreadable
            continue
        try:
            yield jsons.value(text)
        except (ValueError, RecursionError) as error:
            yield Unreadable(f"line {number + 1} is not JSON: {error}")


def _unreadable(text: str) -> Unreadable | None:
    """Return what is wrong with a record that holds bytes which are not UTF-8; None with any other."""
    if text.isascii() or (broken := _NO_UTF8.search(text)) is None:
        return None
    return Unreadable(f"it is not UTF-8: byte {ord(broken[0]) - 0xDC00:#x} at character {broken.start() + 1}")
