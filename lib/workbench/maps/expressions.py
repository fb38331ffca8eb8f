"""JSONata in a definition: which texts are expressions, what they read, and what they give.

A text from `{%` to `%}` is an expression; every other value stands for itself. AWS's functions `$partition`,
`$range`, `$hash`, `$random(seed)`, `$uuid` and `$parse` are there, `$eval` is not. What would differ between two
runs of an item is fixed by the item: `$uuid()` and `$random()` draw by its key and by the field of the expression,
`$now()` and `$millis()` are the begin of the run.
"""

import hashlib
import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from workbench._base.errors import MissingPackageError
from workbench.maps import functions
from workbench.maps.texts import Path, spelled

MOST_BYTES = 262_144  # of an input, an output, a variable and a result, as UTF-8
_WIDE = re.compile("[0-9]{16}")
_LIMIT = "U1001"  # of jlens: the value is larger than allowed
OPENED, CLOSED = "{%", "%}"
ERROR = "States.QueryEvaluationError"
# JSONata's own functions, and those that AWS adds; AWS leaves out $eval
FUNCTIONS = frozenset(
    {
        "abs", "append", "assert", "average", "base64decode", "base64encode", "boolean", "ceil", "clone",
        "contains", "count", "decodeUrl", "decodeUrlComponent", "distinct", "each", "encodeUrl",
        "encodeUrlComponent", "error", "exists", "filter", "floor", "formatBase", "formatInteger",
        "formatNumber", "fromMillis", "join", "keys", "length", "lookup", "lowercase", "map", "match",
        "max", "merge", "millis", "min", "not", "now", "number", "pad", "parseInteger", "power",
        "random", "reduce", "replace", "reverse", "round", "shuffle", "sift", "single", "sort", "split",
        "spread", "sqrt", "string", "substring", "substringAfter", "substringBefore", "sum", "toMillis",
        "trim", "type", "uppercase", "zip", "partition", "range", "hash", "uuid", "parse",
    }
)  # fmt: skip


class EvaluationError(Exception):
    """An expression gave no value; to a state machine it is the error States.QueryEvaluationError.

    Attributes:
        too_large: whether its value is larger than a state machine takes, which is States.DataLimitExceeded.
    """

    too_large = False


class TooLargeError(EvaluationError):
    """The value of an expression is larger than a state machine takes."""

    too_large = True


def engine() -> Any:
    """Return the module jlens.

    Raises:
        MissingPackageError: it is not installed.
    """
    try:
        import jlens
    except ModuleNotFoundError as error:
        raise MissingPackageError(
            "maps need jlens, which runs JSONata: pip install 'iceberg-workbench[maps]'"
        ) from error
    return jlens


def is_expression(value: Any) -> bool:
    """Say whether a value is a text from {% to %}."""
    long_enough = isinstance(value, str) and len(value) >= len(OPENED + CLOSED)
    return long_enough and value.startswith(OPENED) and value.endswith(CLOSED)


def source(text: str) -> str:
    """Return the JSONata of an expression's text."""
    return text[len(OPENED) : -len(CLOSED)].strip()


def almost(text: str) -> str | None:
    """Say what a text lacks that was meant for an expression; None for any other text."""
    bare = text.strip()
    if is_expression(text) or not (bare.startswith(OPENED) or bare.endswith(CLOSED)):
        return None
    if not is_expression(bare):
        opened = "begins with {% and does not end with %}"
        return opened if bare.startswith(OPENED) else "ends with %} and does not begin with {%"
    return "has spaces around {% %}, by which it is a text and no expression"


def within(value: Any, path: Path = ()) -> Iterator[tuple[Path, str]]:
    """Yield the texts within a value, each with its path."""
    if isinstance(value, dict):
        for name, member in value.items():
            yield from within(member, (*path, name))
    elif isinstance(value, list):
        for place, element in enumerate(value):
            yield from within(element, (*path, place))
    elif isinstance(value, str):
        yield path, value


@dataclass(frozen=True)
class Reads:
    """What an expression reads.

    Attributes:
        names: variables and functions from outside of it, without their dollar signs.
        states: what it reads of $states: name to what is read of it; True where it is all of it.
        bare: whether it reads fields that no variable leads to, where a state machine has no document.
    """

    names: frozenset[str]
    states: Any
    bare: bool


def reads(text: str) -> Reads:
    """Return what the JSONata of an expression reads.

    Raises:
        EvaluationError: it is not JSONata; the message says why and where.
    """
    try:
        engine().Expression(text)
    except engine().JlensError as error:
        raise EvaluationError(f"{error} ({error.code}), at character {error.position}") from None
    analysis = _analysis(text, FUNCTIONS)
    bindings = analysis["bindings"]
    names = frozenset(bindings) - {"states"} | ({"eval"} if analysis.get("everyBinding") else set())
    return Reads(names - FUNCTIONS, bindings.get("states", {}), bool(analysis.get("input")))


def _analysis(text: str, known: frozenset[str]) -> dict[str, Any]:
    analysis: dict[str, Any] = engine().Expression(text).reads({name: _nothing for name in known})
    return analysis


def _nothing(*_: Any) -> None:
    return None


def wide(text: str) -> bool:
    """Say whether a value's JSON text may hold a whole number that JSONata does not hold exactly."""
    return _WIDE.search(text) is not None


def _numbers(value: Any, read: Any) -> Iterator[int]:
    """Yield the whole numbers in what is read of a value: all of it where `read` is True, else its fields."""
    if isinstance(value, list):
        for element in value:
            yield from _numbers(element, read)
    elif isinstance(value, dict):
        for name, member in value.items():
            if read is True or name in read:
                yield from _numbers(member, True if read is True else read[name])
    elif functions.whole(value):
        yield value


@dataclass(frozen=True)
class Scope:
    """What expressions see.

    Attributes:
        bindings: names to values, `states` among them.
        key: what stands for the item and its state: draws of chance come from it.
        now: milliseconds since 1970 that the clock stands at.
        wide: whether the bindings may hold a whole number that JSONata does not (`wide`).
    """

    bindings: dict[str, Any]
    key: str
    now: int
    wide: bool = False


class Template:
    """A value of a definition with the expressions in it, compiled; `evaluate` gives what it holds for a scope.

    `path` says where in its state the value stands: two expressions of one text do not draw the same by chance.
    """

    def __init__(self, value: Any, path: Path) -> None:
        self._make = _compiled(value, path)

    def evaluate(self, scope: Scope) -> Any:
        """Return the value for a scope; expressions see none of each other's values.

        Raises:
            EvaluationError: an expression fails, or gives nothing, or a function.
        """
        return self._make(scope)


def _compiled(value: Any, path: Path) -> Callable[[Scope], Any]:
    if is_expression(value):
        return _Expression(source(value), path)
    if isinstance(value, dict):
        fields = {name: _compiled(member, (*path, name)) for name, member in value.items()}
        return lambda scope: {name: make(scope) for name, make in fields.items()}
    if isinstance(value, list):
        items = [_compiled(element, (*path, place)) for place, element in enumerate(value)]
        return lambda scope: [make(scope) for make in items]
    return lambda scope: value


class _Expression:
    def __init__(self, text: str, path: Path) -> None:
        self.text = text
        self.called = f"the JSONata expression '{text}' of {spelled(path)}"
        self.place = json.dumps(path)
        self.read: dict[str, Any] | None = None
        self.expression = engine().Expression(text)
        self.kind: Any = None
        for name, function in functions.ADDED.items():
            if f"${name}" in text:  # jlens looks at each function that it is given, at each call
                self.expression.register_function(name, function)
        self.draws = re.search(r"\$(?:uuid|random|shuffle)\b", text) is not None

    def __call__(self, scope: Scope) -> Any:
        bindings, seed = scope.bindings, None
        if self.draws:
            drawn_by = f"{scope.key} {self.place} {self.text}"
            seed = int.from_bytes(hashlib.sha256(drawn_by.encode()).digest()[:6], "big")
            bindings = functions.drawing(seed) | bindings  # a variable of a function's name is the variable
        if scope.wide:
            self._refuse_wide(bindings)
        try:
            value = self.expression.evaluate(None, bindings, now=scope.now, seed=seed, max_result_size=MOST_BYTES)
            if value is None:
                self._refuse_nothing(scope, seed)
        except EvaluationError:
            raise
        except Exception as error:  # whatever the engine raises is the item's, and no end of the run
            code = getattr(error, "code", None)
            if code == _LIMIT:
                size = f"gave more than {MOST_BYTES:,} bytes"
                raise TooLargeError(f"{self.called} {size}") from None
            code = f" ({code})" if code else ""
            raise EvaluationError(f"{self.called} failed: {error}{code}") from None
        return value

    def _refuse_wide(self, bindings: dict[str, Any]) -> None:
        """Refuse to read a whole number that JSONata would change without a word."""
        if self.read is None:
            self.read = _analysis(self.text, FUNCTIONS)["bindings"]
            # a variable may have the name of a function, and what is read of it is not known then
            self.read |= {name: True for name in FUNCTIONS if f"${name}" in self.text}
        for number in _numbers(bindings, self.read):
            if not functions.is_exact(number):
                raise EvaluationError(
                    f"{self.called} reads the number {number}, which JSONata would change: "
                    f"it is exact for whole numbers to {2**53}. Give it as a text"
                )

    def _refuse_nothing(self, scope: Scope, seed: int | None) -> None:
        """Tell null, which is a value, from nothing and from functions."""
        bindings = scope.bindings
        if seed is not None:  # from the begin, for the draws of the first evaluation
            bindings = functions.drawing(seed) | bindings
        if self.kind is None:
            self.kind = engine().Expression(f"$type(({self.text}))")
            for name, function in functions.ADDED.items():
                self.kind.register_function(name, function)
        kind = self.kind.evaluate(None, bindings, now=scope.now, seed=seed)
        if kind != "null":
            what = "returned nothing (undefined)" if kind is None else f"returned a {kind}"
            raise EvaluationError(f"{self.called} {what}")
