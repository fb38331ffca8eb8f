"""Names that go into SQL text: checked and quoted, because a name cannot be a parameter marker.

Whoever gives a name writes it as in Spark SQL: `sales.orders`, with backticks where a part needs them. Letters of
any alphabet, digits, `_` and `-` go without, because many Glue databases have them: `my-db.2024-orders` is a name
here, though Spark's own parser asks for `` `my-db`.`2024-orders` ``. What goes into a statement is made anew from
the parts, so that nothing that was given is pasted.
"""

import re
import unicodedata
from typing import cast

from workbench._base.errors import ArgumentError

PART = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")  # what every release of Spark takes without backticks
MOST_PARTS = 16
MOST_CHARACTERS = 255  # of a part: as many as Glue and the tables of a JDBC catalog hold
# Iceberg takes a last part that begins so for a branch or tag of the table before it
SELECTORS = ("branch_", "tag_")
_PIECE = re.compile(r"`((?:[^`]|``)*)`|([^`.]*)")
_EXPECTED = " of letters, digits, _ and -, or with a part of other characters between backticks"


def parts(table: str, *, least: int = 2) -> tuple[str, ...]:
    """Return the parts of a table's name, without the backticks that they may be written in.

    Args:
        table: `namespace.name` or `catalog.namespace.name`; `` `my db`.orders ``, a backtick itself written twice.
        least: how many parts there must be; 1 for a namespace.

    Raises:
        ValueError: the text is not such a name, or Iceberg or Spark could not keep one of its parts apart.
    """
    pieces = _read(str(table))
    what = "a table name" if least > 1 else "the name of a namespace"
    if pieces is None or len(pieces) < least:
        expected = (
            "namespace.name or catalog.namespace.name" if least > 1 else "one part or more, divided by dots,"
        )
        raise ArgumentError(f"{table!r} is not {what}; expected {expected}{_EXPECTED}")
    if len(pieces) > MOST_PARTS:
        raise ArgumentError(f"{table!r} is not {what}: it has {len(pieces)} parts, at most {MOST_PARTS} are taken")
    for number, part in enumerate(pieces, 1):
        selects = number == len(pieces) > least > 1 and part.startswith(SELECTORS)
        if wrong := _wrong(part, dots=selects):
            raise ArgumentError(f"{table!r} is not {what}: its part {part!r} {wrong}")
    return tuple(pieces)


def _read(text: str) -> list[str] | None:
    """Return the parts of a text as they are written; None where it is not parts divided by dots."""
    pieces, place = [], 0
    while True:
        piece = cast("re.Match[str]", _PIECE.match(text, place))  # it matches the empty text too
        quoted, bare = piece.groups()
        pieces.append(quoted.replace("``", "`") if quoted is not None else bare)
        place = piece.end()
        if not pieces[-1] or (quoted is None and not all(map(_goes_bare, bare))):
            return None
        if place == len(text):
            return pieces
        if text[place] != ".":
            return None
        place += 1


def _goes_bare(character: str) -> bool:
    """Say whether a character needs no backticks: vowel signs and the like belong to the letters before them."""
    return character in "_-" or character.isalnum() or unicodedata.category(character).startswith("M")


def _wrong(part: str, *, dots: bool) -> str | None:
    """Say why a part or the name of a branch cannot be taken, whatever it is quoted by; None when it can."""
    if len(part) > MOST_CHARACTERS:
        return f"has {len(part)} characters, at most {MOST_CHARACTERS} are taken"
    if odd := next((character for character in part if not character.isprintable()), None):
        return f"has a character that is not printed, {odd!r}"
    if "${" in part:
        return "contains ${, where Spark substitutes a variable in every statement, even in quotes"
    if not dots and "." in part:
        return "holds a dot, and Iceberg, which joins parts by dots, could not tell it from two of them"
    return None


def quoted(table: str) -> str:
    """Return a table's name quoted for Spark SQL: `sales.orders` becomes `` `sales`.`orders` ``.

    Args:
        table: as of `parts`.

    Raises:
        ValueError: as `parts`.
    """
    return joined(parts(table))


def joined(parts: tuple[str, ...]) -> str:
    """Return parts as one name for Spark SQL, each between backticks."""
    return ".".join(map(column, parts))


def spelled(parts: tuple[str, ...]) -> str:
    """Return parts as one name for Spark SQL as people write it: between backticks is only what needs them."""
    return ".".join(part if PART.fullmatch(part) else column(part) for part in parts)


def shown(table: str) -> str:
    """Return a table's name as a statement that people are shown has it: `` `my-db`.orders ``.

    Args:
        table: as of `parts`.

    Raises:
        ValueError: as `parts`.
    """
    return spelled(parts(table))


def namespace(table: str) -> str:
    """Return the namespace of a table's name, quoted for Spark SQL.

    Args:
        table: as of `parts`.

    Raises:
        ValueError: as `parts`.
    """
    return joined(parts(table)[:-1])


def within(namespace: str, name: str) -> str:
    """Return the name of a table in a namespace, as `shown` has it.

    Args:
        namespace: `namespace` or `catalog.namespace`, written as of `parts`.
        name: the table's own, without backticks.

    Raises:
        ValueError: as `parts`.
    """
    return shown(spelled((*parts(namespace, least=1), name)))


def on_branch(table: str, branch: str) -> str:
    """Return the name by which a statement reads and writes a branch: `` `my-db`.orders.`branch_fix-1` ``.

    Args:
        table: as of `parts`.
        branch: the branch's name.

    Raises:
        ValueError: as `parts`, or as `ref`.
    """
    return spelled((*parts(table), f"branch_{ref(branch)}"))


def ref(name: str) -> str:
    """Return the name of a branch or tag as it is, if a statement can have it between backticks.

    Raises:
        ValueError: it is not a text, is empty or too long, or has characters that no statement can have.
    """
    if not isinstance(name, str) or not name:
        raise ArgumentError(
            f"{name!r} is not the name of a branch or tag; expected a text of printable characters"
        )
    if wrong := _wrong(name, dots=True):
        raise ArgumentError(f"{name!r} is not the name of a branch or tag: it {wrong}")
    return name


def literal(text: str) -> str:
    """Return a text as a literal of Spark SQL, whatever is in it."""
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'").replace("${", "\\u0024{") + "'"


def column(name: str) -> str:
    """Return the name of a column quoted for Spark, as it is: also one with dots, spaces or backticks in it.

    For frames. Into text that Spark parses as SQL goes `in_sql`.
    """
    return "`" + name.replace("`", "``") + "`"


def in_sql(name: str) -> str:
    """Return the name of a column quoted for text that Spark parses as SQL.

    Raises:
        ValueError: it contains `${`, where Spark substitutes a variable, so that another column, or none, would be
            named.
    """
    if "${" in name:
        raise ArgumentError(
            f"the column {name!r} contains ${{, where Spark substitutes a variable in every statement, even in "
            "quotes; rename it"
        )
    return column(name)
