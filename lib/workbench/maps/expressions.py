"""JSONata in a definition: which texts are expressions, what they read, and what they give.

A text from `{%` to `%}` is an expression; every other value stands for itself. AWS's functions `$partition`,
`$range`, `$hash`, `$random(seed)`, `$uuid` and `$parse` are there, `$eval` is not. What would differ between two
runs of an item is fixed by the item: `$uuid()` and `$random()` draw from its key, `$now()` and `$millis()` are the
begin of the run.
"""

import hashlib
import json
import random
import re
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from workbench._base.errors import MissingPackageError
from workbench.maps.texts import Path

MOST_BYTES = 262_144  # of an input, an output, a variable and a result, as UTF-8
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
_DIGESTS = {"MD5": "md5", "SHA-1": "sha1", "SHA-256": "sha256", "SHA-384": "sha384", "SHA-512": "sha512"}


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
    return isinstance(value, str) and value.startswith(OPENED) and value.rstrip().endswith(CLOSED)


def source(text: str) -> str:
    """Return the JSONata of an expression's text."""
    return text.rstrip()[len(OPENED) : -len(CLOSED)].strip()


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
        expression = engine().Expression(text)
    except engine().JlensError as error:
        raise EvaluationError(f"{error} ({error.code}), at character {error.position}") from None
    known = {name: _nothing for name in FUNCTIONS}
    analysis = expression.reads(known)
    bindings = analysis["bindings"]
    names = frozenset(bindings) - {"states"} | ({"eval"} if analysis.get("everyBinding") else set())
    return Reads(names - FUNCTIONS, bindings.get("states", {}), bool(analysis.get("input")))


def _nothing(*_: Any) -> None:
    return None


@dataclass(frozen=True)
class Scope:
    """What expressions see.

    Attributes:
        bindings: names to values, `states` among them.
        key: what stands for the item: draws of chance come from it.
        now: milliseconds since 1970 that the clock stands at.
    """

    bindings: dict[str, Any]
    key: str
    now: int


class Template:
    """A value of a definition with the expressions in it, compiled; `evaluate` gives what it holds for a scope."""

    def __init__(self, value: Any) -> None:
        self._make = _compiled(value)

    def evaluate(self, scope: Scope) -> Any:
        """Return the value for a scope; expressions see none of each other's values.

        Raises:
            EvaluationError: an expression fails, or gives nothing, or a function.
        """
        return self._make(scope)


def _compiled(value: Any) -> Callable[[Scope], Any]:
    if is_expression(value):
        return _Expression(source(value))
    if isinstance(value, dict):
        fields = {name: _compiled(member) for name, member in value.items()}
        return lambda scope: {name: make(scope) for name, make in fields.items()}
    if isinstance(value, list):
        items = [_compiled(element) for element in value]
        return lambda scope: [make(scope) for make in items]
    return lambda scope: value


class _Expression:
    def __init__(self, text: str) -> None:
        jlens = engine()
        self.text = text
        self.refused = jlens.JlensError
        self.expression = jlens.Expression(text)
        self.kind: Any = None
        for name, function in _ADDED.items():
            if f"${name}" in text:  # jlens looks at each function that it is given, at each call
                self.expression.register_function(name, function)
        self.draws = re.search(r"\$(?:uuid|random|shuffle)\b", text) is not None

    def __call__(self, scope: Scope) -> Any:
        bindings, seed = scope.bindings, None
        if self.draws:
            seed = int.from_bytes(hashlib.sha256(f"{scope.key} {self.text}".encode()).digest()[:6], "big")
            bindings = {**bindings, **_drawing(seed)}
        try:
            value = self.expression.evaluate(None, bindings, now=scope.now, seed=seed, max_result_size=MOST_BYTES)
            if value is None:
                self._refuse_nothing(bindings, scope.now, seed)
        except (self.refused, _Failed) as error:
            code = getattr(error, "code", None)
            if code == _LIMIT:
                size = f"gave more than {MOST_BYTES:,} bytes"
                raise TooLargeError(f"the JSONata expression '{self.text}' {size}") from None
            code = f" ({code})" if code else ""
            raise EvaluationError(f"the JSONata expression '{self.text}' failed: {error}{code}") from None
        return value

    def _refuse_nothing(self, bindings: dict[str, Any], now: int, seed: int | None) -> None:
        """Tell null, which is a value, from nothing and from functions."""
        if self.kind is None:
            self.kind = engine().Expression(f"$type(({self.text}))")
            for name, function in _ADDED.items():
                self.kind.register_function(name, function)
        kind = self.kind.evaluate(None, bindings, now=now, seed=seed)
        if kind != "null":
            what = "returned nothing (undefined)" if kind is None else f"returned a {kind}"
            raise EvaluationError(f"the JSONata expression '{self.text}' {what}")


class _Failed(Exception):
    """A function of AWS was given arguments that it does not take."""


def _partition(array: Any, size: Any) -> Any:
    if not isinstance(array, list) or not isinstance(size, int) or size < 1:
        raise _Failed("$partition takes an array and a whole number of at least 1")
    return [array[at : at + size] for at in range(0, len(array), size)]


def _range(first: Any, last: Any, step: Any) -> Any:
    if not all(isinstance(number, int) for number in (first, last, step)) or step == 0:
        raise _Failed("$range takes three whole numbers, the third not 0")
    numbers = range(first, last + (1 if step > 0 else -1), step)
    if len(numbers) > 1000:
        raise _Failed(f"$range gives at most 1,000 numbers, not {len(numbers):,}")
    return list(numbers)


def _hash(data: Any, algorithm: Any) -> str:
    if algorithm not in _DIGESTS:
        raise _Failed(f"$hash knows {', '.join(_DIGESTS)}, not {algorithm!r}")
    text = data if isinstance(data, str) else json.dumps(data, separators=(",", ":"), ensure_ascii=False)
    return hashlib.new(_DIGESTS[algorithm], text.encode()).hexdigest()


def _parse(text: Any) -> Any:
    try:
        return json.loads(text)
    except (ValueError, TypeError) as error:
        raise _Failed(f"$parse was given a text that is not JSON: {error}") from None


def _drawing(seed: int) -> dict[str, Callable[..., Any]]:
    """Return the functions that draw by chance, from a seed: an item that is run again draws the same."""
    drawn = random.Random(seed)

    def chance(own: Any = None) -> float:
        return random.Random(own).random() if own is not None else drawn.random()

    return {
        "uuid": lambda: str(uuid.UUID(int=drawn.getrandbits(128), version=4)),
        "random": chance,
    }


_ADDED: dict[str, Any] = {"partition": _partition, "range": _range, "hash": _hash, "parse": _parse}
