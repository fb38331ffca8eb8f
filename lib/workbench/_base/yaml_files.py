"""YAML written by hand, read by the safe loader and refused where it would silently be something else."""

import math
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NoReturn

import yaml

from workbench._base.errors import ArgumentError


def read(path: str | Path, *, texts: Sequence[str] = ()) -> Any:
    """Read a YAML file by the safe loader; duplicate keys and syntax errors are refused with the line.

    Args:
        path: the file.
        texts: as of `read_text`.
    """
    try:
        text = Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        why = getattr(error, "strerror", None) or error  # what an OSError says has the path once more
        raise ArgumentError(f"{path} cannot be read: {why}") from None
    return read_text(text, path, texts=texts)


def read_text(text: str, origin: object, *, texts: Sequence[str] = ()) -> Any:
    """Read YAML text by the safe loader.

    Refused, with the line, are duplicate keys, syntax errors, aliases (a few lines of them fill the memory),
    numbers that YAML reads in another base (010 is 8, 190:20:30 is 685230) or that 64 bits do not hold (1.5e+400
    is infinity), dates that there are not, and words that YAML takes for a boolean (of the countries NO and SE the
    first would be false), and the types that only YAML has (!!binary, !!set, !!omap, !!pairs). A date or a time is
    the text that stands in the file, wherever it stands, as it is for papermill: no other type, and not written
    anew.

    Args:
        text: the YAML.
        origin: where it stands, for what is said of it.
        texts: keys of mappings whose values are texts, with dots between (`spark.conf`): what stands there is
            taken letter by letter, also where YAML makes a number or a boolean of it (5.10 is not 5.1, and 010 is
            not refused).
    """
    try:
        return yaml.load(text, Loader=lambda stream: _Strict(stream, texts))
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        line = f", line {mark.line + 1}" if mark else ""
        raise ArgumentError(f"{origin}{line}: {getattr(error, 'problem', None) or error}") from None
    except (ValueError, LookupError, ArithmeticError, RecursionError, TypeError, AttributeError) as error:
        raise ArgumentError(f"{origin}: {error}") from None  # PyYAML lets some through


class _Strict(yaml.SafeLoader):
    """The safe loader, made to refuse what it would silently change or blow up."""

    def __init__(self, stream: Any, texts: Sequence[str] = ()) -> None:
        super().__init__(stream)
        self.texts = [path.split(".") for path in texts]

    def get_single_node(self) -> Any:
        node = super().get_single_node()
        for path in self.texts:
            _keep_texts(node, path)
        return node

    def compose_node(self, parent: Any, index: Any) -> Any:
        if self.check_event(yaml.events.AliasEvent):
            raise yaml.constructor.ConstructorError(
                None, None, "aliases are not accepted", self.peek_event().start_mark
            )
        return super().compose_node(parent, index)


REWRITTEN = {f"tag:yaml.org,2002:{kind}" for kind in ("int", "float", "bool", "timestamp", "value", "merge")}


def _keep_texts(node: Any, path: list[str]) -> None:
    """Let the values of a mapping be the texts that they are; nothing is done where there is no such mapping."""
    for key, value in node.value if isinstance(node, yaml.MappingNode) else ():
        if path and key.value == path[0]:
            _keep_texts(value, path[1:])
        elif not path and isinstance(value, yaml.ScalarNode) and value.tag in REWRITTEN:
            value.tag = yaml.resolver.BaseResolver.DEFAULT_SCALAR_TAG


def _unique(loader: Any, node: Any, deep: bool = False) -> dict[Any, Any]:
    seen = set()
    for key_node, _ in node.value:
        key = loader.construct_object(key_node, deep=True)
        if isinstance(key, dict | list):
            raise yaml.constructor.ConstructorError(None, None, "a key is a name, not a list", key_node.start_mark)
        if key in seen:
            raise yaml.constructor.ConstructorError(None, None, f"{key} is given twice", key_node.start_mark)
        seen.add(key)
    return loader.construct_mapping(node, deep)


# kind of YAML 1.1 to how it may be written, and what is said of all else that YAML takes for it
WRITTEN = {
    "int": (
        r"[-+]?(0|[1-9][0-9_]*)",
        "is not a decimal number; write it without leading zeros, or as text in quotes",
    ),
    "float": (
        r"[-+]?([0-9][0-9_]*\.?[0-9_]*|\.[0-9][0-9_]*)([eE][-+][0-9]+)?|[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)",
        "is not a decimal number of 64 bits; write one, or a text in quotes",
    ),
    "bool": (r"(?i)true|false", "may be a word or a boolean; write true or false, or the word in quotes"),
    "timestamp": (r"(?s).+", "is not a date of the calendar; a text that looks like one stands in quotes"),
}


def _add(kind: str, pattern: str, wrong: str) -> None:
    """Let the loader refuse, with its line, what is not written so or has no value."""
    own = getattr(yaml.SafeLoader, f"construct_yaml_{kind}")

    def construct(loader: Any, node: Any) -> Any:
        value = loader.construct_scalar(node)
        try:
            if re.fullmatch(pattern, value):
                parsed = own(loader, node)
                if kind == "float" and _lost(value, parsed):
                    raise ValueError
                return value if kind == "timestamp" else parsed
        except (ValueError, AttributeError):  # a 13th month, 5,000 digits, what a tag calls a date
            pass
        raise yaml.constructor.ConstructorError(None, None, f"{value[:40]} {wrong}", node.start_mark)

    _Strict.add_constructor(f"tag:yaml.org,2002:{kind}", construct)


def _lost(text: str, number: float) -> bool:
    """Tell whether digits became infinity, or zero: they are beyond what 64 bits hold."""
    return bool(re.match(r"[-+]?[0-9_.]*[1-9]", text)) and (math.isinf(number) or number == 0)


def _of_yaml_alone(loader: Any, node: Any) -> NoReturn:
    kind = node.tag.rpartition(":")[2]
    wrong = f"!!{kind} is not accepted; expected texts, numbers, booleans, lists and mappings"
    raise yaml.constructor.ConstructorError(None, None, wrong, node.start_mark)


for _kind, _how in WRITTEN.items():
    _add(_kind, *_how)
_Strict.add_constructor(yaml.resolver.BaseResolver.DEFAULT_MAPPING_TAG, _unique)
for _kind in ("binary", "set", "omap", "pairs"):
    _Strict.add_constructor(f"tag:yaml.org,2002:{_kind}", _of_yaml_alone)
