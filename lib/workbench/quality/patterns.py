"""Regular expressions that Java and Rust read the same way, written so that both do.

Java has features that Rust lacks (looking around, references back, possessive quantifiers), and some that both
have differ without a word: digits are ASCII in one and Unicode in the other, the dot leaves out five characters in
Java and one in Rust, and `a++` is possessive in one and a quantifier of a quantifier in the other. What is common
is read, and written anew with all of it spelled out; anything else is refused.
"""

import re

from workbench._base.errors import ArgumentError

# what Java means by them, in the words of a class of either
_SHORT = {"d": "0-9", "w": "0-9A-Za-z_", "s": r" \t\n\x0B\f\r"}
_CONTROL = {"t": "\t", "n": "\n", "r": "\r", "f": "\f"}
_ANY = r"[^\n\r\x{85}\x{2028}\x{2029}]"
_QUANTIFIER = re.compile(r"[?*+]|\{(\d+)(?:(,)(\d*))?\}")
_MOST_TIMES = 1000
_SPACES = r"[\x00-\x20\x7F]*"  # what Spark leaves out around a text that it casts
WHITE = rf"\A[{_SHORT['s']}]+\z"  # white spaces alone, as Java's `\s` has them


def common(pattern: str) -> str:
    r"""Return a regular expression of Java, for a whole text, as Java and Rust read it alike.

    Args:
        pattern: as written; it is put between `\A` and `\z`.

    Raises:
        ArgumentError: it is invalid, or uses what the two may read differently.
    """
    reader = _Reader(pattern.removeprefix("^"), pattern)
    text = reader.alternation()
    if reader.place < len(reader.text):
        raise reader.refusal("it has a ) without a (")
    return text


def whole_numbers(most: int) -> str:
    """Return the regular expression of texts that Spark casts to whole numbers from -most - 1 to most."""
    positive, negative = (_up_to(limit) for limit in (most, most + 1))
    return rf"\A{_SPACES}(?:\+?0*(?:{positive})|-0*(?:{negative})){_SPACES}\z"


def truths() -> str:
    """Return the regular expression of texts that Spark casts to a boolean."""
    words = ("true", "t", "yes", "y", "1", "false", "f", "no", "n", "0")
    either = "|".join("".join(f"[{c.upper()}{c}]" if c.isalpha() else c for c in word) for word in words)
    return rf"\A{_SPACES}(?:{either}){_SPACES}\z"


def _up_to(limit: int) -> str:
    """Return the regular expression of numbers from 0 to a limit; zeros before them are the caller's."""
    digits = str(limit)
    texts = [f"[0-9]{{1,{len(digits) - 1}}}", digits]
    for place, digit in enumerate(digits):
        lowest = 0 if place else 1
        if int(digit) > lowest:
            texts.append(f"{digits[:place]}[{lowest}-{int(digit) - 1}][0-9]{{{len(digits) - place - 1}}}")
    return "|".join(texts)


class _Reader:
    """Reads a pattern from left to right, and returns it as both engines read it."""

    def __init__(self, text: str, pattern: str) -> None:
        self.text, self.pattern, self.place = text, pattern, 0

    def refusal(self, why: str) -> ArgumentError:
        return ArgumentError(f"a session without a JVM may read {self.pattern} otherwise than Java: {why}")

    def peek(self, ahead: int = 0) -> str:
        place = self.place + ahead
        return self.text[place] if place < len(self.text) else ""

    def take(self) -> str:
        self.place += 1
        return self.text[self.place - 1]

    def alternation(self) -> str:
        branches = [self.branch()]
        while self.peek() == "|":
            self.take()
            branches.append(self.branch())
        return "|".join(branches)

    def branch(self) -> str:
        pieces = []
        while (character := self.peek()) and character not in "|)":
            if character == "$" and self.place == len(self.text) - 1:
                self.take()  # the end of the text follows anyway
                break
            pieces.append(self.atom() + self.quantifier())
        return "".join(pieces)

    def atom(self) -> str:
        character = self.take()
        if character == "(":
            return self.group()
        if character == "[":
            return self.bracket()
        if character == ".":
            return _ANY
        if character == "\\":
            return self.escape()
        if character in "^$*+?{":
            raise self.refusal(f"{character} is not expected at character {self.place}")
        return _literal(character)

    def group(self) -> str:
        if self.peek() == "?":
            if self.peek(1) != ":":
                raise self.refusal(f"it has a group that begins with (?{self.peek(1)}")
            self.place += 2
        inner = self.alternation()
        if self.peek() != ")":
            raise self.refusal("it has a ( without a )")
        self.take()
        return f"(?:{inner})"

    def quantifier(self) -> str:
        match = _QUANTIFIER.match(self.text, self.place)
        if match is None:
            return ""
        least, _, most = match.groups()
        if least and max(int(least), int(most or least)) > _MOST_TIMES:
            raise self.refusal(f"{match[0]} repeats more than {_MOST_TIMES:,} times")
        if most and int(most) < int(least):
            raise self.refusal(f"{match[0]} has its bounds in the wrong order")
        self.place = match.end()
        if self.peek() == "?":
            self.take()  # as few as possible: of a whole text the same
        if self.peek() and self.peek() in "?*+{":
            raise self.refusal(f"{match[0]}{self.peek()} is a quantifier of a quantifier")
        return match[0]

    def escape(self) -> str:
        character = self.peek()
        if character.lower() in _SHORT and character:
            self.take()
            return f"[{'^' if character.isupper() else ''}{_SHORT[character.lower()]}]"
        return _literal(self.escaped())

    def escaped(self) -> str:
        """Return the character that an escape stands for."""
        if not self.peek():
            raise self.refusal("it ends in a backslash")
        character = self.take()
        if character in _CONTROL:
            return _CONTROL[character]
        if character.isascii() and not character.isalnum():
            return character
        raise self.refusal(f"it has the escape \\{character}")

    def bracket(self) -> str:
        begin = "[^" if self.peek() == "^" else "["
        self.place += len(begin) - 1
        items: list[str] = []
        while self.peek() != "]" or not items:
            items.append(self.member(bool(items)))
        self.take()
        return f"{begin}{''.join(items)}]"

    def member(self, inside: bool) -> str:
        """Return one character, range or short class of a bracket."""
        if self.peek() == "\\" and self.peek(1) in tuple(_SHORT):
            self.place += 2
            if self.peek() == "-" and self.peek(1) != "]":
                raise self.refusal("it has a range that begins with a class")
            return _SHORT[self.text[self.place - 1]]
        first = self.single(inside)
        if self.peek() != "-" or self.peek(1) in ("]", ""):
            return _literal(first)
        self.take()
        last = self.single(True)
        if last < first:
            raise self.refusal(f"the range {first}-{last} is in the wrong order")
        return f"{_literal(first)}-{_literal(last)}"

    def single(self, inside: bool) -> str:
        """Return one character of a bracket."""
        character = self.peek()
        if not character:
            raise self.refusal("it has a [ without a ]")
        self.take()
        if character == "\\":
            return self.escaped()
        if character in "[]&~^" or (character == "-" and inside and self.peek() != "]"):
            raise self.refusal(f"it has a {character} in a bracket; for itself it stands behind a backslash")
        return character


def _literal(character: str) -> str:
    return (
        character
        if character.isascii() and (character.isalnum() or character in "_ ")
        else f"\\x{{{ord(character):x}}}"
    )
