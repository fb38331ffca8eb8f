"""The parts of a statement of Spark SQL, and what is read off them without Spark.

Literals, comments and names between backticks are told apart as Spark's grammar does it (SqlBaseLexer.g4); what is
inside of them is never taken for a name.
"""

import itertools
import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from workbench._base.errors import ArgumentError

_PARTS = re.compile(
    r"""(?P<space>\s+|--(?:\\\n|[^\n])*|/\*)
    |(?P<raw>[rR](?:'[^']*'|"[^"]*"))
    |(?P<literal>'(?:\\.|[^'\\])*'|"(?:\\.|[^"\\])*")
    |(?P<quoted>`(?:``|[^`])*`)
    |(?P<number>(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?\w*)
    |(?P<word>[^\W\d]\w*)
    |(?P<sign>=>|.)""",
    re.VERBOSE | re.DOTALL,
)
QUERIES = ("SELECT", "WITH", "FROM", "VALUES", "TABLE", "(", "MAP", "REDUCE")  # by which a statement asks for rows
_UNITS = {"YEAR", "QUARTER", "MONTH", "WEEK", "DAY", "HOUR", "MINUTE", "SECOND", "MILLISECOND", "MICROSECOND",
          "DAYOFYEAR", "YEARS", "MONTHS", "WEEKS", "DAYS", "HOURS", "MINUTES", "SECONDS"}  # fmt: skip
_BY_UNIT = {"DATEADD", "DATE_ADD", "DATEDIFF", "DATE_DIFF", "TIMEDIFF", "TIMESTAMPADD", "TIMESTAMPDIFF", "EXTRACT"}


@dataclass(frozen=True)
class Part:
    """A part of a statement: its kind (raw, literal, quoted, number, word, sign), its text, its place."""

    kind: str
    text: str
    begin: int


def parts(statement: str) -> list[Part]:
    """Return the parts of a statement without spaces and comments.

    Raises:
        ValueError: a comment is not closed.
    """
    return list(_parts(statement))


def _parts(statement: str) -> Iterator[Part]:
    place = 0
    while place < len(statement):
        match = _PARTS.match(statement, place)
        assert match is not None  # any sign is a part
        kind = str(match.lastgroup)
        if match.group() == "/*":
            place = _behind_comment(statement, place)
            continue
        if kind != "space":
            yield Part(kind, match.group(), place)
        place = match.end()


def _behind_comment(statement: str, begin: int) -> int:
    """Return where a comment ends; comments can be inside of it."""
    depth = 0
    for match in re.compile(r"/\*|\*/").finditer(statement, begin):
        depth += 1 if match.group() == "/*" else -1
        if not depth:
            return match.end()
    raise ArgumentError("a comment that begins with /* is not closed")


def single(statement: str) -> str:
    """Return the one statement of a text, without the semicolon behind it.

    Raises:
        ValueError: it is empty, or there are several statements.
    """
    several = parts(statement)
    ends = [n for n, part in enumerate(several) if part.text == ";"]
    if not several or several[0].text == ";":
        raise ArgumentError("the cell has no statement; expected one of Spark SQL")
    if ends and any(part.text != ";" for part in several[ends[0] :]):
        raise ArgumentError("the cell has several statements; write one a cell")
    return statement[: several[ends[0]].begin].strip() if ends else statement.strip()


def asks_for_rows(several: Sequence[Part]) -> bool:
    """Say whether a statement is a query, and not a command."""
    return bool(several) and several[0].text.upper() in QUERIES and not _writes(several)


def _writes(several: Sequence[Part]) -> bool:
    """Say whether a statement that begins as a query writes, as `WITH a AS (…) INSERT INTO …`."""
    depths = list(_depths(several))
    return any(
        part.kind == "word" and part.text.upper() in ("INSERT", "MERGE", "UPDATE", "DELETE")
        for part, depth in zip(several, depths, strict=True)
        if depth == 0
    )


def is_ordered(several: Sequence[Part]) -> bool:
    """Say whether a query states the order of its rows: ORDER BY, outside of all parentheses."""
    outside = [part.text.upper() for part, depth in zip(several, _depths(several), strict=True) if depth == 0]
    return ("ORDER", "BY") in itertools.pairwise(outside)


def _depths(several: Sequence[Part]) -> Iterator[int]:
    """Yield in how many parentheses each part is."""
    depth = 0
    for part in several:
        depth -= part.text == ")" and part.kind == "sign"
        yield depth
        depth += part.text == "(" and part.kind == "sign"


def unqualified(several: Sequence[Part], names: Collection[str]) -> Iterator[Part]:
    """Yield the names of values that a statement has without `session.` before them, each as often as it does.

    A column of that name would win over the value without an error. Names are told apart by upper and lower case,
    so that `day` is a column beside a value DAY; so is a name between backticks, whatever its case. A name that
    stands for no value there (a function, an alias, a unit of time) is passed over.
    """
    for n, part in enumerate(several):
        if part.kind == "word" and part.text in names and not _something_else(several, n):
            yield part


def with_system(statement: str, several: Sequence[Part], names: Collection[str]) -> str:
    """Return a statement that has `system.session.NAME` for each value's `session.NAME`.

    A table, an alias, a common table expression or a column that is called `session` would win over the values
    without an error; three parts can be nothing else.

    Raises:
        ValueError: the statement itself calls something `session`, so that what is meant is not certain.
    """
    known = {name.upper() for name in names}
    values, others = [], []
    for n, part in enumerate(several):
        if part.kind not in ("word", "quoted") or _bare(part) != "SESSION":
            continue
        before, dot, name = (
            several[at] if 0 <= at < len(several) else Part("sign", "", 0) for at in (n - 1, n + 1, n + 2)
        )
        if dot.text == "." and _bare(name) in known:
            if before.text != ".":
                values.append(part)
        else:
            others.append(part)
    if values and others:
        raise ArgumentError(
            "the statement calls something session, which would win over the values session.NAME: give it another "
            "name, or write system.session.NAME for the values"
        )
    for part in reversed(values):
        statement = f"{statement[: part.begin]}system.{statement[part.begin :]}"
    return statement


def _bare(part: Part) -> str:
    return part.text.strip("`").upper()


def _something_else(several: Sequence[Part], n: int) -> bool:
    """Say whether a word cannot be the name of a value or of a column where it stands."""
    nothing = Part("sign", "", 0)
    before, behind = (several[i] if 0 <= i < len(several) else nothing for i in (n - 1, n + 1))
    further = several[n - 2] if n > 1 else nothing
    if before.text == "." or behind.text in (".", "(", "=>"):
        return True
    if before.kind in ("literal", "raw", "number", "quoted") or before.text == ")":
        return True  # an alias, or the unit of an interval
    if before.text.upper() in ("AS", "VAR", "VARIABLE", "DESCRIBE", "DESC"):
        return True
    if several[n].text.upper() not in _UNITS:
        return False
    if "INTERVAL" in (before.text.upper(), further.text.upper()) or before.text.upper() == "TO":
        return True
    if before.text != "(" or further.text.upper() not in _BY_UNIT:
        return False
    # date_add(unit, count, time) beside date_add(day, count)
    return behind.text.upper() == "FROM" or _arguments(several, n) > 2


def _arguments(several: Sequence[Part], n: int) -> int:
    """Return how many arguments a call has, whose first begins at a part."""
    depth, commas = 0, 0
    for part in several[n:]:
        depth += (part.text == "(") - (part.text == ")")
        if depth < 0:
            break
        commas += part.text == "," and depth == 0
    return commas + 1
