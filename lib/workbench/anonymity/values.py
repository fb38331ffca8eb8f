"""Values that are looked for, and finding them in columns of Arrow and in texts.

A text is compared whole, and word by word: `call anna@x.org now` holds `anna@x.org`. Letters' case and blanks
around do not count. A value of several words is looked for as such. What is inside a word, as the 12345 in
`id12345x`, is not found.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

from workbench._base.errors import ArgumentError
from workbench._base.typing import Column

# written out, because `\s` is not the same to Python, RE2 and Java
_BLANKS = "\x0b\x1c-\x1f\x85\u00a0\u1680\u2000-\u200f\u2028-\u202f\u205f-\u2064\u3000\ufeff"
_MARKS = "\u00ab\u00bb\u2010-\u2015\u2018-\u201f\u2026\u2039\u203a"
_WIDE = "\u3001-\u3003\u3008-\u3011\uff01\uff08\uff09\uff0c\uff1a\uff1b\uff1f"  # of Chinese and Japanese
_BETWEEN_WORDS = r"[\s,;:()<>\[\]{}\"'|/\\=&?*`~$" + _BLANKS + _MARKS + _WIDE + "]+"
_ESCAPES = r"\\[nrtbf]"  # as JSON writes a line's end within a text
POINT_ZERO = r"(\.[0-9]*[1-9])0+$|\.0+$"  # what a decimal ends with and has no meaning
_AROUND_WORDS = ".-+_#!"
_UUID_BYTES = 16
WHOLE_FLOATS = 2.0**53  # below which each whole number is a double


@dataclass(frozen=True)
class Hits:
    """Where values were found in a column.

    Attributes:
        rows: numbers of rows.
        values: of each the number of the value.
    """

    rows: Any  # numpy, int64
    values: Any  # numpy, int64


class Sought:
    """Values that are looked for, by kind."""

    def __init__(self, values: Mapping[str, Iterable[object]], *, least: int) -> None:
        import numpy as np
        import pyarrow as pa

        self.kinds = list(values)
        owner: dict[str, int] = {}
        given: dict[str, str] = {}
        for number, kind in enumerate(self.kinds):
            texts = {
                form: text(value) for value in values[kind] if value is not None and (form := plain(kind, value))
            }
            if short := sum(len(text) < least for text in texts):
                raise ArgumentError(
                    f"{short} values of {kind} have fewer than {least} characters, which are everywhere by "
                    "chance; leave them out, or say least="
                )
            owner |= {text: number for text in texts if text not in owner}
            given |= texts
        if not owner:
            raise ArgumentError("values has none to look for")
        self.texts = list(owner)
        self.given = [given[text] for text in self.texts]  # as they came
        self.kind_of = np.array([owner[text] for text in self.texts], dtype="int64")
        self.array = pa.array(self.texts, pa.string())
        self.words = sorted({len(_split(text)) for text in self.texts})
        self.least = least
        self._beginnings: dict[int, dict[str, int]] = {}
        self._whole = {text: number for number, text in enumerate(self.texts)}

    def in_column(self, column: Any) -> Hits:
        """Return where values are in a column of texts or of what can be written as a text."""
        import numpy as np
        import pyarrow as pa
        import pyarrow.compute as pc

        texts = written(column)
        if texts is None:
            return Hits(np.array([], dtype="int64"), np.array([], dtype="int64"))
        texts = pc.replace_substring(pc.utf8_trim_whitespace(texts), pattern="\u0130", replacement="I")
        texts = pc.replace_substring(pc.utf8_lower(texts), pattern="\u03c2", replacement="\u03c3")
        numbers = np.arange(len(texts), dtype="int64")
        hits = [self._known(texts, numbers)]
        if pa.types.is_string(column.type) or pa.types.is_large_string(column.type) or _binary(column.type):
            hits += self._in_words(texts, numbers)
            escaped = pc.fill_null(pc.match_substring_regex(texts, pattern=_ESCAPES), False)
            plain_texts = pc.replace_substring_regex(texts.filter(escaped), pattern=_ESCAPES, replacement=" ")
            hits += self._in_words(plain_texts, numbers[escaped.to_numpy(zero_copy_only=False)])
        rows = np.concatenate([rows for rows, _ in hits])
        values = np.concatenate([values for _, values in hits])
        pairs = (
            np.unique(np.stack([rows, values], axis=1), axis=0) if len(rows) else np.empty((0, 2), dtype="int64")
        )
        return Hits(pairs[:, 0], pairs[:, 1])

    def in_texts(self, texts: Iterable[str]) -> set[int]:
        """Return the numbers of the values in some texts."""
        import pyarrow as pa

        return set(self.in_column(pa.array(list(texts), pa.string())).values.tolist())

    def in_bound(self, bound: str) -> int | None:
        """Return the number of a value that a bound in a manifest is, or begins; None where it is of none.

        Iceberg keeps the first characters of a text; as an upper bound, with the last of them raised by one.
        """
        words = _split(bound)
        runs = (
            " ".join(words[at : at + count])
            for count in reversed(self.words)
            for at in range(len(words) - count + 1)
        )
        if (whole := next((self._whole[run] for run in runs if run in self._whole), None)) is not None:
            return whole
        if not bound:
            return None
        before = bound[:-1] + chr(max(ord(bound[-1]) - 1, 0))
        forms = [form for text in (bound, before) for form in (_lower(text.strip()), " ".join(_split(text)))]
        beginnings = (self._of_length(len(form)).get(form) for form in forms if len(form) >= self.least)
        return next((number for number in beginnings if number is not None), None)

    def _of_length(self, length: int) -> dict[str, int]:
        if length not in self._beginnings:
            forms = [*enumerate(self.texts), *enumerate(_lower(text.strip()) for text in self.given)]
            self._beginnings[length] = {form[:length]: number for number, form in forms if len(form) > length}
        return self._beginnings[length]

    def _known(self, texts: Any, rows: Any) -> tuple[Any, Any]:
        import numpy as np
        import pyarrow.compute as pc

        numbers = pc.fill_null(pc.index_in(texts, value_set=self.array), -1).to_numpy(zero_copy_only=False)
        numbers = numbers.astype("int64")
        seen = np.nonzero(numbers >= 0)[0]
        return rows[seen], numbers[seen]

    def _in_words(self, texts: Any, numbers: Any) -> Iterator[tuple[Any, Any]]:
        """Yield what is known of the words of texts, and of so many in a row as values have."""
        import pyarrow as pa
        import pyarrow.compute as pc

        lists = pc.split_pattern_regex(texts, pattern=_BETWEEN_WORDS)
        rows = numbers[pc.list_parent_indices(lists).to_numpy(zero_copy_only=False)]
        words = pc.utf8_trim(pc.list_flatten(lists), characters=_AROUND_WORDS)
        keep = pc.not_equal(words, "")
        words, rows = words.filter(keep), rows[keep.to_numpy(zero_copy_only=False)]
        for count in self.words:
            if count == 1:
                yield self._known(words, rows)
                continue
            if len(words) < count:
                continue
            last = len(words) - count + 1
            same_text = rows[:last] == rows[count - 1 :]
            parts = [words.slice(shift, last).filter(pa.array(same_text)) for shift in range(count)]
            yield self._known(pc.binary_join_element_wise(*parts, pa.scalar(" ")), rows[:last][same_text])


def plain(kind: str, value: object) -> str:
    """Return a value as it is compared.

    Raises:
        ValueError: it is of a type that names nobody.
    """
    if isinstance(value, bool | float | list | tuple | set | dict):
        raise ArgumentError(
            f"{kind} holds {type(value).__name__} values, which identify nobody; expected texts or integers"
        )
    split = isinstance(value, str | bytes | bytearray | datetime)  # of numbers, the sign stays
    return " ".join(_split(text(value))) if split else text(value).lower()


def text(value: object) -> str:
    """Return a value that is looked for as a text, as `written` writes one of a column."""
    if isinstance(value, bytes | bytearray):
        return decoded(bytes(value)) or ""
    if isinstance(value, datetime):
        value = value.astimezone(UTC).replace(tzinfo=None) if value.tzinfo else value
        return value.isoformat(" ")
    if isinstance(value, Decimal):
        return re.sub(POINT_ZERO, r"\1", format(value, "f"))
    return str(value)


def _lower(text: str) -> str:
    """Return a text in lower case as each engine can: Python alone gives two letters for one, and a last sigma."""
    return text.replace("\u0130", "I").lower().replace("\u03c2", "\u03c3")


def _split(text: str) -> list[str]:
    words = (word.strip(_AROUND_WORDS) for word in re.split(_BETWEEN_WORDS, _lower(text.strip())))
    return [word for word in words if word]


def _binary(kind: Any) -> bool:
    import pyarrow as pa

    return bool(pa.types.is_binary(kind) or pa.types.is_large_binary(kind) or pa.types.is_fixed_size_binary(kind))


def written(column: Any) -> Any:
    """Return a column of Arrow as texts; None where its values identify nobody by themselves."""
    import pyarrow as pa
    import pyarrow.compute as pc

    kind = column.type
    if isinstance(kind, pa.BaseExtensionType):  # a UUID
        return written(column.storage)
    if pa.types.is_dictionary(kind):
        return written(column.dictionary_decode())
    if pa.types.is_boolean(kind) or pa.types.is_null(kind):
        return None
    if pa.types.is_floating(kind):  # a whole number, such as of a column that pandas wrote
        whole = pc.and_(pc.equal(column, pc.floor(column)), pc.less(pc.abs(column), WHOLE_FLOATS))
        return pc.cast(pc.cast(pc.if_else(whole, column, None), pa.int64()), pa.string())
    if pa.types.is_timestamp(kind):
        column = pc.cast(column, pa.timestamp("us", kind.tz), safe=False)
        texts = pc.replace_substring_regex(pc.cast(column, pa.string()), pattern=r"(\.0+)?Z?$", replacement="")
        return pc.replace_substring(texts, pattern=":", replacement=" ")  # as `plain` writes the value
    if pa.types.is_decimal(kind):
        return pc.replace_substring_regex(pc.cast(column, pa.string()), pattern=POINT_ZERO, replacement=r"\1")
    if pa.types.is_large_string(kind):
        return column.cast(pa.string())
    if _binary(kind):
        return pa.array([decoded(value) for value in column.to_pylist()], pa.string())
    return column if pa.types.is_string(kind) else pc.cast(column, pa.string())


def decoded(value: bytes | None) -> str | None:
    """Return bytes as a text: a UUID's as one is written, else as UTF-8."""
    if value is None:
        return None
    try:
        return value.decode()
    except UnicodeDecodeError:
        if len(value) == _UUID_BYTES:
            import uuid

            return str(uuid.UUID(bytes=value))
        return value.decode(errors="replace")


def leaves(name: str, column: Any, rows: Any) -> Iterator[tuple[str, Any, Any]]:
    """Yield the plain columns in a column of Arrow: (dotted name, array, the number of the row of each value)."""
    import pyarrow as pa
    import pyarrow.compute as pc

    kind = column.type
    if isinstance(column, pa.ChunkedArray):
        column = column.combine_chunks()
    if pa.types.is_struct(kind):
        for number, part in enumerate(column.flatten()):
            yield from leaves(f"{name}.{kind.field(number).name}", part, rows)
    elif pa.types.is_map(kind):
        parents = pc.list_parent_indices(
            column.cast(pa.list_(pa.struct([("key", kind.key_type), ("value", kind.item_type)])))
        )
        part_rows = rows[parents.to_numpy(zero_copy_only=False)]
        yield from leaves(f"{name}.key", column.keys, part_rows)
        yield from leaves(f"{name}.value", column.items, part_rows)
    elif pa.types.is_list(kind) or pa.types.is_large_list(kind):
        part_rows = rows[pc.list_parent_indices(column).to_numpy(zero_copy_only=False)]
        yield from leaves(f"{name}.element", pc.list_flatten(column), part_rows)
    else:
        yield name, column, rows


def _joined(split: Column, count: int) -> Callable[[Column], Column]:
    from pyspark.sql import functions as F

    return lambda start: F.array_join(F.slice(split, start, count), " ")


def words(text: Column, counts: Iterable[int]) -> Column:
    """Return an array of a text and of its words, as many in a row as each of `counts`, as `Sought` compares."""
    from pyspark.sql import functions as F

    lowered = F.translate(F.lower(F.translate(F.trim(text), "\u0130", "I")), "\u03c2", "\u03c3")
    escapes = F.when(lowered.rlike(_ESCAPES), F.regexp_replace(lowered, _ESCAPES, " "))
    parts = F.split(F.concat_ws("\n\u0001\n", lowered, escapes), _BETWEEN_WORDS)
    split = F.transform(parts, lambda word: F.btrim(word, F.lit(_AROUND_WORDS)))
    split = F.filter(split, lambda word: word != "")
    arrays = [F.array(lowered)]
    for count in counts:
        starts = F.sequence(F.lit(1), F.greatest(F.size(split) - count + 1, F.lit(1)))
        arrays.append(F.transform(starts, _joined(split, count)))
    return F.array_distinct(F.concat(*arrays))
