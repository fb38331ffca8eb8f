"""YAML written by hand, read by the safe loader and refused where it would silently be something else."""

import re
from pathlib import Path

import yaml


def read(path):
    """Read a YAML file by the safe loader; duplicate keys and syntax errors are refused with the line."""
    try:
        text = Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        why = getattr(error, "strerror", None) or error  # what an OSError says has the path once more
        raise ValueError(f"{path} cannot be read: {why}") from None
    return read_text(text, path)


def read_text(text, origin):
    """Read YAML text by the safe loader.

    Refused, with the line, are duplicate keys, syntax errors, aliases (a few lines of them fill the memory),
    numbers that YAML reads in another base (010 is 8, 190:20:30 is 685230), dates that there are not, and words
    that YAML takes for a boolean (of the countries NO and SE the first would be false).
    """
    try:
        return yaml.load(text, Loader=_Strict)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        line = f", line {mark.line + 1}" if mark else ""
        raise ValueError(f"{origin}{line}: {getattr(error, 'problem', None) or error}") from None
    except (ValueError, RecursionError, TypeError, AttributeError) as error:  # PyYAML lets some through
        raise ValueError(f"{origin}: {error}") from None


class _Strict(yaml.SafeLoader):
    """The safe loader, made to refuse what it would silently change or blow up."""

    def compose_node(self, parent, index):
        if self.check_event(yaml.events.AliasEvent):
            raise yaml.constructor.ConstructorError(
                None, None, "aliases are not accepted", self.peek_event().start_mark
            )
        return super().compose_node(parent, index)


def _unique(loader, node, deep=False):
    seen = set()
    for key_node, _ in node.value:
        key = loader.construct_object(key_node, deep=True)
        if isinstance(key, dict | list):
            raise yaml.constructor.ConstructorError(None, None, "a key is a name, not a list", key_node.start_mark)
        if key in seen:
            raise yaml.constructor.ConstructorError(None, None, f"{key} stands twice", key_node.start_mark)
        seen.add(key)
    return loader.construct_mapping(node, deep)


def _decimal(loader, node):
    if not re.fullmatch(r"[-+]?(0|[1-9][0-9_]*)", node.value):
        problem = f"{node.value} is no decimal number; write it without leading zeros, or as text in quotes"
        raise yaml.constructor.ConstructorError(None, None, problem, node.start_mark)
    return loader.construct_yaml_int(node)


def _date(loader, node):
    try:
        return loader.construct_yaml_timestamp(node)
    except ValueError as error:
        problem = f"{node.value} is no date: {error}; a text that looks like one stands in quotes"
        raise yaml.constructor.ConstructorError(None, None, problem, node.start_mark) from None


def _boolean(loader, node):
    if node.value.lower() not in ("true", "false"):
        problem = f"{node.value} may be a word or a boolean; write true or false, or the word in quotes"
        raise yaml.constructor.ConstructorError(None, None, problem, node.start_mark)
    return loader.construct_yaml_bool(node)


_Strict.add_constructor(yaml.resolver.BaseResolver.DEFAULT_MAPPING_TAG, _unique)
_Strict.add_constructor("tag:yaml.org,2002:timestamp", _date)
_Strict.add_constructor("tag:yaml.org,2002:bool", _boolean)
_Strict.add_constructor("tag:yaml.org,2002:int", _decimal)
