"""Text files as Step Functions reads them: CSV with a header, JSON Lines; items in order, each with its row."""

import json
import re
from collections.abc import Iterable, Iterator
from typing import Any

_NO_UTF8 = re.compile("[\udc80-\udcff]")  # as "surrogateescape" decodes what is not UTF-8
DELIMITERS = {"COMMA": ",", "PIPE": "|", "SEMICOLON": ";", "SPACE": " ", "TAB": "\t"}


class Unreadable(ValueError):
    """A record of a file cannot be read; the item fails."""


def split(text: str, delimiter: str) -> list[str]:
    """Return the fields of a CSV record.

    A field may stand in double quotes, and then hold delimiters, line ends, and quotes written twice. A backslash
    stands before a backslash, a quote or the delimiter, and is taken away before anything else.
    """
    if '"' not in text and "\\" not in text:
        return text.split(delimiter)
    fields, field, quoted, place = [], [], False, 0
    while place < len(text):
        sign, behind = text[place], text[place + 1 : place + 2]
        if sign == "\\":
            if behind in ("\\", '"', delimiter):
                field.append(behind)
                place += 1
        elif sign == '"' and quoted and behind == '"':
            field.append('"')
            place += 1
        elif sign == '"':
            quoted = not quoted
        elif sign == delimiter and not quoted:
            fields.append("".join(field))
            field = []
        else:
            field.append(sign)
        place += 1
    return [*fields, "".join(field)]


def records(lines: Iterable[str]) -> Iterator[str]:
    """Yield the records of a CSV file's lines: a line, or several where a quoted field goes on."""
    pending: list[str] = []
    quoted = False
    for line in lines:
        pending.append(line)
        quoted = _open(line, quoted) if quoted or '"' in line else False
        if not quoted:
            yield "\n".join(pending).removesuffix("\r")
            pending = []
    if pending:
        yield "\n".join(pending).removesuffix("\r")  # a quote that is never closed: the rest of the file


def _open(text: str, quoted: bool) -> bool:
    """Say whether a text ends within quotes."""
    escaped = False
    for sign in text:
        if escaped:
            escaped = False
        elif sign == "\\":
            escaped = True
        elif sign == '"':
            quoted = not quoted
    return quoted


def csv_items(lines: Iterable[str], headers: list[str] | None, delimiter: str) -> Iterator[Any]:
    """Yield the items of a CSV file: every value a text; missing ones are empty, others more are left out.

    Unreadable is in the place of one that is not UTF-8, and of each where two columns have one name.

    Args:
        lines: the file's, without their line ends.
        headers: names of the columns; None takes the first record for them.
        delimiter: one character.
    """
    twice = None if headers is None else _twice(headers)
    for record in records(lines):
        if not record:
            continue
        values = split(record, delimiter)
        if headers is None:
            headers = [name.removeprefix("\ufeff") for name in values]
            twice = _twice(headers)
            continue
        if unreadable := _unreadable(record) or twice:
            yield unreadable
            continue
        values += [""] * (len(headers) - len(values))
        yield dict(zip(headers, values, strict=False))


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
            yield json.loads(text, parse_constant=_constant)
        except (ValueError, RecursionError) as error:
            yield Unreadable(f"line {number + 1} is not JSON: {error}")


def _unreadable(text: str) -> Unreadable | None:
    """Return what is wrong with a record that holds bytes which are not UTF-8; None with any other."""
    if text.isascii() or (broken := _NO_UTF8.search(text)) is None:
        return None
    return Unreadable(f"it is not UTF-8: byte {ord(broken[0]) - 0xDC00:#x} at character {broken.start() + 1}")


def _twice(headers: list[str]) -> Unreadable | None:
    repeated = next((name for place, name in enumerate(headers) if name in headers[:place]), None)
    return None if repeated is None else Unreadable(f"the header names {repeated!r} twice")


def _constant(text: str) -> Any:
    raise Unreadable(f"{text} is not a JSON number")
