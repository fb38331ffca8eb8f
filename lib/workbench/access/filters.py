"""The language of filters: what AWS Lake Formation has for row filters, and nothing else.

    state = 'united kingdom' AND (born_year BETWEEN 1970 AND 1980 OR NOT surname LIKE 'Mc%')

A comparison has a column on its left and constants on its right: =, <>, !=, <, <=, >, >=, BETWEEN, IN, LIKE, IS
NULL, each also with NOT; AND, OR, NOT and parentheses join them. Columns are named as in the policy, between
double quotes where a name is not a plain word. Source: Lake Formation's developer guide, "PartiQL support in row
filter expressions" (no functions, no column compared with another, less than 2,048 characters).
"""

import re
from decimal import Decimal
from typing import NoReturn

from workbench._base.door import checked
from workbench._base.errors import ArgumentError
from workbench.access.conditions import MOST_DIGITS, Combination, Condition, Predicate, Value

MOST_CHARACTERS = 2047
MOST_DEPTH = (
    50  # of parentheses and NOT; deeper ones would end in a recursion too deep for Python, or for an engine
)
_TOKEN = re.compile(
    r"\s*(?:(?P<text>'(?:[^']|'')*')|(?P<quoted>\"(?:[^\"]|\"\")+\")|(?P<word>[A-Za-z_][A-Za-z0-9_]*)"
    r"|(?P<number>[+-]?(?:[0-9]+(?:\.[0-9]+)?|\.[0-9]+)(?:[eE][+-]?[0-9]{1,3})?)(?![A-Za-z0-9_.])"
    r"|(?P<operator><=|>=|<>|!=|=|<|>)|(?P<mark>[(),]))"
)
_KEYWORDS = {"AND", "OR", "NOT", "IN", "LIKE", "BETWEEN", "IS", "NULL", "TRUE", "FALSE", "ESCAPE"}
Token = tuple[str, str, int]  # kind, text, place


@checked
def parse(text: str) -> Condition:
    """Read a filter.

    Args:
        text: the filter.

    Returns:
        Condition, its columns by the names that the text has.

    Raises:
        ArgumentError: it is not in the language; the message names the place.
    """
    if len(text) > MOST_CHARACTERS:
        raise ArgumentError(f"the filter has {len(text):,} characters; Lake Formation takes at most 2,047")
    if odd := next((sign for sign in text if not sign.isprintable()), None):
        raise ArgumentError(f"the filter has a character that is not printed, {odd!r}")
    reader = _Reader(text)
    condition = reader.alternatives(0)
    if reader.kind != "end":
        reader.refuse("AND, OR or the end")
    return condition


class _Reader:
    """The rest of a filter: a cursor, which is what a parser by hand is."""

    def __init__(self, text: str) -> None:
        self.text, self.tokens, self.at = text, _tokens(text), 0

    @property
    def kind(self) -> str:
        return self.tokens[self.at][0]

    def word(self, *words: str) -> bool:
        """Take a keyword, or a mark, if it is the next token."""
        kind, text, _ = self.tokens[self.at]
        if kind in ("keyword", "mark") and text in words:
            self.at += 1
            return True
        return False

    def refuse(self, expected: str) -> NoReturn:
        kind, text, place = self.tokens[self.at]
        actual = "its end" if kind == "end" else text
        raise ArgumentError(f"the filter has {actual} at character {place + 1}; expected {expected}")

    def require(self, word: str) -> None:
        if not self.word(word):
            self.refuse(word)

    def alternatives(self, depth: int) -> Condition:
        parts = [self.conjunction(depth)]
        while self.word("OR"):
            parts.append(self.conjunction(depth))
        return parts[0] if len(parts) == 1 else Combination("OR", tuple(parts))

    def conjunction(self, depth: int) -> Condition:
        parts = [self.negation(depth)]
        while self.word("AND"):
            parts.append(self.negation(depth))
        return parts[0] if len(parts) == 1 else Combination("AND", tuple(parts))

    def negation(self, depth: int) -> Condition:
        if depth > MOST_DEPTH:
            raise ArgumentError(f"the filter is nested more than {MOST_DEPTH} deep")
        if self.word("NOT"):
            return Combination("NOT", (self.negation(depth + 1),))
        if self.word("("):
            condition = self.alternatives(depth + 1)
            self.require(")")
            return condition
        return self.comparison()

    def comparison(self) -> Condition:
        kind, text, _ = self.tokens[self.at]
        if kind not in ("word", "quoted"):
            self.refuse("a column, NOT or (")
        self.at += 1
        column = text if kind == "word" else text[1:-1].replace('""', '"')
        if self.tokens[self.at][1] == "(" and kind == "word":
            raise ArgumentError(f"the filter calls {text}; functions are not part of the language")
        if self.word("IS"):
            negated = self.word("NOT")
            self.require("NULL")
            return _negated(Predicate(column, "IS NULL"), negated)
        negated = self.word("NOT")
        if self.word("BETWEEN"):
            low = self.value()
            self.require("AND")
            return _negated(Predicate(column, "BETWEEN", (low, self.value())), negated)
        if self.word("IN"):
            return _negated(Predicate(column, "IN", self.values()), negated)
        if self.word("LIKE"):
            return _negated(Predicate(column, "LIKE", (self.pattern(),)), negated)
        kind, operator, _ = self.tokens[self.at]
        if negated or kind != "operator":
            self.refuse("BETWEEN, IN or LIKE" if negated else "a comparison such as =")
        self.at += 1
        return Predicate(column, {"!=": "<>"}.get(operator, operator), (self.value(),))

    def values(self) -> tuple[Value, ...]:
        self.require("(")
        values = [self.value()]
        while self.word(","):
            values.append(self.value())
        self.require(")")
        return tuple(values)

    def value(self) -> Value:
        kind, text, _ = self.tokens[self.at]
        self.at += 1
        if kind == "text":
            return text[1:-1].replace("''", "'")
        if kind == "number":
            return int(text) if re.fullmatch("[+-]?[0-9]+", text) else Decimal(text)
        if kind == "keyword" and text in ("TRUE", "FALSE"):
            return text == "TRUE"
        self.at -= 1
        if kind == "keyword" and text == "NULL":
            self.refuse("a constant: nothing equals NULL, IS NULL asks for it")
        if kind in ("word", "quoted"):
            self.refuse("a constant: a column is not compared with another, and a text stands in single quotes")
        self.refuse("a constant")

    def pattern(self) -> str:
        if self.kind != "text":
            self.refuse("a text in single quotes")
        pattern = str(self.value())
        if "\\" in pattern:
            raise ArgumentError(
                "the filter has a pattern with a backslash, which escapes in Spark and is a sign like others in "
                "DuckDB and Trino; write it without"
            )
        if self.tokens[self.at][1] == "ESCAPE":
            self.refuse("no ESCAPE, which Lake Formation does not have")
        return pattern


def _negated(predicate: Predicate, negated: bool) -> Condition:
    return Combination("NOT", (predicate,)) if negated else predicate


def _tokens(text: str) -> list[Token]:
    tokens: list[Token] = []
    place, end = 0, len(text.rstrip())
    while place < end:
        match = _TOKEN.match(text, place)
        if match is None or match.lastgroup is None:
            rest = text[place:].lstrip()
            raise ArgumentError(
                f"the filter has {rest[:20]} at character {len(text) - len(rest) + 1}, which is not part of the "
                "language"
            )
        kind, value = match.lastgroup, match[match.lastgroup]
        if kind == "number" and len(value) > MOST_DIGITS:
            raise ArgumentError(f"the filter has a number of {len(value)} signs; at most {MOST_DIGITS} are taken")
        if kind == "word" and value.upper() in _KEYWORDS:
            kind, value = "keyword", value.upper()
        tokens.append((kind, value, match.start(match.lastgroup)))
        place = match.end()
    return [*tokens, ("end", "", end)]
