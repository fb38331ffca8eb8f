"""Lowest and highest texts and bytes, cut as Iceberg cuts them for its metadata.

A Parquet footer has none that are longer than 4 KB: parquet-cpp, by which PyArrow writes, leaves them out, and so
does parquet-java. Iceberg's own writer does not read them from a footer, it has them from writing.
"""

import re

_SURROGATES = range(0xD800, 0xE000)
_LAST = 0x10FFFF


def kept(lowest, highest, mode, *, text):
    """Return the bounds that Iceberg keeps of a column: (lower, upper), each bytes, or None for none.

    The rules of its UnicodeUtil and BinaryUtil: a lower bound is cut; an upper one is cut and the last place that
    can be made greater is made greater.

    Args:
        lowest: of the column's values, bytes.
        highest: of them, bytes.
        mode: the column's metrics mode, as Iceberg writes it: `none`, `counts`, `truncate(16)` or `full`.
        text: whether they are texts, which are cut by characters.
    """
    if mode == "full":
        return lowest, highest
    if not (found := re.fullmatch(r"truncate\((\d+)\)", mode)):
        return None, None
    length = int(found[1])
    if not text:
        return lowest[:length], _greater(highest, length)
    try:
        lower, upper = lowest.decode()[:length], _greater_text(highest.decode(), length)
    except UnicodeDecodeError:  # Spark takes any bytes for a text; without bounds nobody is misled
        return None, None
    return lower.encode(), None if upper is None else upper.encode()


def _greater(value, length):
    if len(value) <= length:
        return value
    cut = value[:length].rstrip(b"\xff")
    return cut[:-1] + bytes([cut[-1] + 1]) if cut else None


def _greater_text(value, length):
    if len(value) <= length:
        return value
    cut = value[:length].rstrip(chr(_LAST))
    if not cut:
        return None
    following = ord(cut[-1]) + 1
    return cut[:-1] + chr(_SURROGATES.stop if following in _SURROGATES else following)
