"""Java's properties files, by the rules of java.util.Properties.load."""

import re

_BLANK = " \t\f"
_LINE_END = re.compile(r"\r\n|\r|\n")
_BACKSLASHES = re.compile(r"\\*$")
_PAIR = re.compile(r"((?:[^\\=: \t\f]|\\.)*)[ \t\f]*[=:]?[ \t\f]*(.*)", re.DOTALL)
_ESCAPE = re.compile(r"\\(u[0-9A-Fa-f]{4}|.)", re.DOTALL)
_LETTERS = {"t": "\t", "n": "\n", "r": "\r", "f": "\f"}


def parsed(content: bytes) -> dict[str, str]:
    r"""Return what a file says; of a key that is there twice the last.

    Raises:
        ValueError: \u is not followed by four hexadecimal digits, or half a character stands alone.
    """
    pairs = {}
    lines = iter(_LINE_END.split(content.decode("latin-1")))
    for natural in lines:
        line = natural.lstrip(_BLANK)
        if not line or line[0] in "#!":
            continue
        while len(_BACKSLASHES.search(line)[0]) % 2:  # type: ignore[index]
            line = line[:-1] and line[:-1] + next(lines, "").lstrip(_BLANK)  # a lone backslash continues nothing
        if line:
            key, value = _PAIR.fullmatch(line).groups()  # type: ignore[union-attr]
            pairs[_plain(key)] = _plain(value)
    return pairs


def _plain(text: str) -> str:
    """Return a key or a value without escapes; a character of two halves is written as two of them."""
    return _ESCAPE.sub(_character, text).encode("utf-16", "surrogatepass").decode("utf-16")


def _character(escape: re.Match[str]) -> str:
    what = escape[1]
    if what == "u":
        raise ValueError(r"\u is not followed by four hexadecimal digits")
    return chr(int(what[1:], 16)) if len(what) > 1 else _LETTERS.get(what, what)
