"""The functions that AWS adds to JSONata: $partition, $range, $hash, $parse, and those that draw by chance."""

import hashlib
import json
import math
import random
import uuid
from collections.abc import Callable
from typing import Any

from workbench.maps import jsons

MOST_NUMBERS = 1_000  # that $range gives, as AWS has it
_DIGESTS = {"MD5": "md5", "SHA-1": "sha1", "SHA-256": "sha256", "SHA-384": "sha384", "SHA-512": "sha512"}


class WrongArguments(Exception):
    """A function of AWS was given arguments that it does not take."""


def is_exact(number: int) -> bool:
    """Say whether a double, JSONata's only number, holds a whole number exactly."""
    try:
        return float(number) == number
    except OverflowError:
        return False


def whole(value: Any) -> bool:
    """Say whether a value is a whole number, which true and false are not."""
    return isinstance(value, int) and not isinstance(value, bool)


# A function gets as many arguments as an expression gives it.
def _partition(array: Any = None, size: Any = None, *_: Any) -> Any:
    if not isinstance(array, list) or not whole(size) or size < 1:
        raise WrongArguments("$partition takes an array and a whole number of at least 1")
    return [array[at : at + size] for at in range(0, len(array), size)]


def _range(first: Any = None, last: Any = None, step: Any = None, *_: Any) -> Any:
    if not all(whole(number) for number in (first, last, step)) or step == 0:
        raise WrongArguments("$range takes three whole numbers, the third not 0")
    count = max(0, (last - first) // step + 1)
    if count > MOST_NUMBERS:
        raise WrongArguments(f"$range gives at most {MOST_NUMBERS:,} numbers, not {count:,}")
    return [first + step * place for place in range(count)]


def _hash(data: Any = None, algorithm: Any = None, *_: Any) -> str:
    if data is None:
        raise WrongArguments("$hash takes a value that is not null")
    if not isinstance(algorithm, str) or algorithm not in _DIGESTS:
        raise WrongArguments(f"$hash knows {', '.join(_DIGESTS)}, not {algorithm!r}")
    text = data if isinstance(data, str) else jsons.text(data)
    return hashlib.new(_DIGESTS[algorithm], text.encode()).hexdigest()


def _parse(text: Any = None, *_: Any) -> Any:
    if not isinstance(text, str):
        raise WrongArguments("$parse takes a text")
    try:
        return json.loads(text, parse_constant=jsons.no_constant, parse_float=_finite, parse_int=_exact)
    except (ValueError, RecursionError) as error:
        raise WrongArguments(f"$parse was given a text that is not JSON: {error}") from None


def _exact(text: str) -> int:
    number = int(text)
    if not is_exact(number):
        raise WrongArguments(f"$parse was given the number {text}, which JSONata would change; write it as a text")
    return number


def _finite(text: str) -> float:
    number = float(text)
    return number if math.isfinite(number) else jsons.no_constant(text)


def drawing(seed: int) -> dict[str, Callable[..., Any]]:
    """Return the functions that draw by chance, from a seed: an item that is run again draws the same."""
    drawn = random.Random(seed)

    def chance(*given: Any) -> float:
        if not given:
            return drawn.random()
        if not whole(given[0]):
            raise WrongArguments("$random takes nothing, or a whole number as its seed")
        return random.Random(given[0]).random()

    def unique(*_: Any) -> str:
        return str(uuid.UUID(int=drawn.getrandbits(128), version=4))

    return {"uuid": unique, "random": chance}


ADDED: dict[str, Any] = {"partition": _partition, "range": _range, "hash": _hash, "parse": _parse}
